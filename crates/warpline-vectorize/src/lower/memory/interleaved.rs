//! Interleaved narrow elements as blocks, between which and the lanes' elements the shuffles of a
//! [network](crate::recipes::Network) stand.

use crate::VectorizeError;
use crate::alignment::at_distance;
use crate::recipes::{Blocks, Group, Network};
use warpline_ir::{Inst, MemAccess, Op, Value};

use super::super::Lower;
use super::wide::Range;

impl Lower<'_> {
    /// Loads of a group as blocks.
    pub(super) fn load_blocks(&mut self, group: &Group, blocks: &Blocks) -> Result<(), VectorizeError> {
        let first = group.members[0].inst;
        let range = self.range(group)?;
        let inputs = (0..group.factor().unsigned_abs()).map(|j| {
            let column = |column: u64| self.load_block(group, blocks, (column, j), &range, first);
            let parts = (0..blocks.columns).map(column).collect();
            self.joined(parts)
        });
        let inputs = inputs.collect();
        let parts = self.run_network(&group.network(blocks), inputs);
        for (m, part) in group.members.iter().zip(parts) {
            let result = self.src.insts[m.inst].results[0];
            let part = self.as_value(part, range.elem, self.src.ty(result));
            self.define(result, part);
        }
        Ok(())
    }

    /// A block of the range; anything if no lane has an element there.
    fn load_block(
        &mut self,
        group: &Group,
        blocks: &Blocks,
        place: (u64, u64),
        range: &Range,
        at: Inst,
    ) -> Value {
        let ty = range.elem.vector(blocks.elements as u32).expect("memory elements are scalars");
        let Some(block) = group.block(blocks, place) else { return self.out.poison(ty) };
        let (ptr, access) = self.in_range(range, group.size, block.at);
        let new = self.out.append(self.block, Op::Load(access), &[ptr], ty);
        self.copy_metadata(at, new);
        let loaded = self.out.insts[new].results[0];
        if block.earlier == 0 {
            return loaded;
        }
        let nothing = self.out.poison(ty);
        let moved =
            |k: u64| if k + block.earlier < blocks.elements { (k + block.earlier) as i32 } else { -1 };
        let places = (0..blocks.elements).map(moved).collect();
        self.emit(Op::Shuffle(places), &[loaded, nothing], ty)
    }

    /// Stores of a group as blocks.
    pub(super) fn store_blocks(&mut self, group: &Group, blocks: &Blocks) -> Result<(), VectorizeError> {
        let last = group.members[group.members.len() - 1].inst;
        let range = self.range(group)?;
        let (low, high) = group.extent();
        let mut inputs = Vec::new();
        for offset in low..=high {
            // Of members at one place the later wins.
            let Some(m) = group.members.iter().rev().find(|m| m.offset == offset) else {
                return Err(self.internal(last, "a group that is stored as blocks has a gap"));
            };
            let value = self.src.insts[m.inst].args[0];
            let x = self.vector(value, m.inst)?;
            inputs.push(self.as_element(x, self.src.ty(value), range.elem));
        }
        let outputs = self.run_network(&group.network(blocks), inputs);
        let block_ty = range.elem.vector(blocks.elements as u32).expect("memory elements are scalars");
        let mut parts = Vec::new();
        for column in 0..blocks.columns {
            for &output in &outputs {
                parts.push(self.lanes_from(output, (column * blocks.elements) as u32, block_ty));
            }
        }
        for (k, together) in parts.chunks(blocks.stored as usize).enumerate() {
            let whole = self.joined(together.to_vec());
            let (ptr, access) = self.in_range(&range, group.size, k as u64 * blocks.stored * blocks.elements);
            let new = self.emit_void(Op::Store(access), &[whole, ptr]);
            self.copy_metadata(last, new);
        }
        Ok(())
    }

    /// An access that begins at an element of a range.
    fn in_range(&mut self, range: &Range, size: u64, element: u64) -> (Value, MemAccess) {
        let bytes = (element * size) as i64;
        let align = at_distance(range.access.align, bytes);
        (self.offset_by(range.start, bytes), MemAccess { align, ..range.access })
    }

    /// Shuffles within each block of vectors of all lanes' elements.
    fn run_network(&mut self, network: &Network, inputs: Vec<Value>) -> Vec<Value> {
        let mut all = inputs;
        for step in &network.steps {
            let [a, b] = step.from.map(|v| all[v]);
            let ty = self.out.ty(a);
            let (n, width) = (step.pick.len() as u32, self.width);
            let alone = step.from[0] == step.from[1];
            let second = if alone { self.out.poison(ty) } else { b };
            let place = |lane: u32| match step.pick[(lane % n) as usize] {
                Some(p) if u32::from(p) < n => (lane / n * n + u32::from(p)) as i32,
                Some(p) => (width + lane / n * n + u32::from(p) - n) as i32,
                None => -1,
            };
            let places = (0..width).map(place).collect();
            all.push(self.emit(Op::Shuffle(places), &[a, second], ty));
        }
        network.outputs.iter().map(|&v| all[v]).collect()
    }
}
