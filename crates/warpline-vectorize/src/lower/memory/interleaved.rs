//! Interleaved narrow elements as blocks, between which and the lanes' elements the shuffles of a
//! [network](crate::recipes::Network) stand.

use crate::VectorizeError;
use crate::alignment::at_distance;
use crate::recipes::{Blocks, Group, GroupCopy, GroupId, LoadedBlock, Network, Order, are_loaded_whole};
use warpline_ir::{BinaryOp, CastOp, Constant, Inst, MemAccess, Op, Type, Value};

use super::super::Lower;
use super::wide::Range;

impl Lower<'_> {
    /// The accesses of a group whose members are computed alike: as many elements for each member, as they lie in
    /// memory.
    pub(super) fn group_in_order(&mut self, group: &Group) -> Result<(), VectorizeError> {
        let range = self.masked_range(group)?;
        let (low, _) = group.extent();
        let ty = range.elem.vector(self.width).expect("memory elements are scalars");
        for m in &group.members {
            let element = (m.offset - low) as u64 * u64::from(self.width);
            if group.stores {
                let value = self.src.insts[m.inst].args[0];
                let x = self.vector(value, m.inst)?;
                let x = self.as_element(x, self.src.ty(value), range.elem);
                self.store_at(group, &range, element, x);
            } else {
                let result = self.src.insts[m.inst].results[0];
                let loaded = self.load_at(group, &range, element, ty, m.inst);
                let loaded = self.as_value(loaded, range.elem, self.src.ty(result));
                self.define(result, loaded);
            }
        }
        Ok(())
    }

    /// The range of a group's elements, with the mask of the lanes that access them.
    fn masked_range(&mut self, group: &Group) -> Result<Range, VectorizeError> {
        let mut range = self.range(group)?;
        range.mask = self.mask_vector(group.members[0].inst)?;
        Ok(range)
    }

    /// The mask of a vector of elements of the range, from one on: each that a member has is accessed if its lane is
    /// active, and no other one.
    fn mask_of(&mut self, group: &Group, range: &Range, element: u64, vector: Type) -> Option<Value> {
        let (mask, Type::Vector(v)) = (range.mask?, vector) else { return None };
        let (low, _) = group.extent();
        let factor = group.factor().unsigned_abs();
        let lane = |k: u64| {
            let (lane, place) = ((element + k) / factor, ((element + k) % factor) as i64);
            let is_a_members = group.members.iter().any(|m| m.offset - low == place);
            (is_a_members && lane < u64::from(self.width)).then_some(lane as i32)
        };
        let lanes: Vec<Option<i32>> = (0..u64::from(v.lanes)).map(lane).collect();
        let ty = self.mask_type();
        let other = match lanes.iter().all(Option::is_some) {
            true => self.out.poison(ty),
            false => {
                let none = vec![Constant::bool(false); self.width as usize];
                self.out.constant_value(Constant::vector(none))
            }
        };
        let lanes = lanes.into_iter().map(|lane| lane.unwrap_or(self.width as i32)).collect();
        let ty = Type::BOOL.vector(v.lanes).expect("a boolean is a scalar");
        Some(self.emit(Op::Shuffle(lanes), &[mask, other], ty))
    }

    /// Loads of a group as blocks.
    pub(super) fn load_blocks(&mut self, id: GroupId, blocks: &Blocks) -> Result<(), VectorizeError> {
        let group = self.plan.group(id);
        let range = self.masked_range(group)?;
        if let Some(at_once) = group.words {
            self.load_words(id, blocks, at_once, &range);
            return Ok(());
        }
        if let Some(copy) = &group.copy {
            let inputs = match &copy.order {
                Order::Memory(at_once) => self.load_in_order(group, blocks, *at_once, &range),
                Order::Columns(windows) => {
                    let block = |column, &at: &u64| Some(group.block_at(blocks, column, at));
                    windows
                        .iter()
                        .map(|at| self.load_column(group, blocks, &range, |c| block(c, at)))
                        .collect()
                }
            };
            self.copied.insert(copy.from, inputs);
            return Ok(());
        }
        let inputs = self.load_columns(group, blocks, &range);
        let parts = self.run_network(&group.network(blocks), inputs);
        for (m, part) in group.members.iter().zip(parts) {
            let result = self.src.insts[m.inst].results[0];
            let part = self.as_value(part, range.elem, self.src.ty(result));
            self.define(result, part);
        }
        Ok(())
    }

    /// For each block of a column, the vector of these blocks of all columns.
    fn load_columns(&mut self, group: &Group, blocks: &Blocks, range: &Range) -> Vec<Value> {
        if let Some(network) = group.regrouped(blocks) {
            let registers = self.load_in_order(group, blocks, blocks.stored, range);
            let of_columns: Vec<Vec<Value>> = registers
                .chunks(network.inputs)
                .map(|registers| self.run_on_blocks(&network, registers.to_vec()))
                .collect();
            let of_block = |j: usize| of_columns.iter().map(|columns| columns[j]).collect();
            return (0..network.outputs.len()).map(|j| self.joined(of_block(j))).collect();
        }
        let all = 0..group.factor().unsigned_abs();
        all.map(|j| self.load_column(group, blocks, range, |column| group.block(blocks, (column, j))))
            .collect()
    }

    /// A vector of one block of each column.
    fn load_column(
        &mut self,
        group: &Group,
        blocks: &Blocks,
        range: &Range,
        block: impl Fn(u64) -> Option<LoadedBlock>,
    ) -> Value {
        let first = group.members[0].inst;
        let parts =
            (0..blocks.columns).map(|column| self.load_block(group, blocks, block(column), range, first));
        let parts = parts.collect();
        self.joined(parts)
    }

    /// The blocks in the order of memory, so many to a vector.
    fn load_in_order(&mut self, group: &Group, blocks: &Blocks, at_once: u64, range: &Range) -> Vec<Value> {
        let first = group.members[0].inst;
        let ty = range.elem.vector((at_once * blocks.elements) as u32).expect("memory elements are scalars");
        let vectors = group.in_order(blocks, at_once).into_iter().map(|vector| match vector[..] {
            [Some(block), ..] if are_loaded_whole(&vector) => self.load_at(group, range, block.at, ty, first),
            _ => {
                let parts =
                    vector.iter().map(|&block| self.load_block(group, blocks, block, range, first)).collect();
                self.joined(parts)
            }
        });
        vectors.collect()
    }

    /// Loads each lane's elements as one word, and takes the members out of it.
    fn load_words(&mut self, id: GroupId, blocks: &Blocks, at_once: u64, range: &Range) {
        let group = self.plan.group(id);
        let vectors = self.load_in_order(group, blocks, at_once, range);
        let all = self.joined(vectors);
        let bits = group.size as u32 * 8;
        let factor = group.factor().unsigned_abs() as u32;
        let word = Type::Int(bits * factor);
        // A byte that is poison is not to make its neighbours poison, which are parts of the same word.
        let all = self.emit(Op::Freeze, &[all], self.out.ty(all));
        let words = self.cast_vector(CastOp::Bitcast, all, word);
        let vty = self.out.ty(words);
        self.words.insert(id, words);
        let (low, _) = group.extent();
        for m in &group.members {
            let place = (m.offset - low) as u32;
            let place = if self.module.layout.big_endian() { factor - 1 - place } else { place };
            let result = self.src.insts[m.inst].results[0];
            let shift = Constant::int(factor * bits, (place * bits).into());
            let shift = vec![shift; self.width as usize];
            let shift = self.out.constant_value(Constant::vector(shift));
            let shifted = match place {
                0 => words,
                _ => self.emit(Op::Binary(BinaryOp::LShr), &[words, shift], vty),
            };
            let part = self.cast_vector(CastOp::Trunc, shifted, range.elem);
            self.define(result, part);
        }
    }

    /// A block of the range; anything if no lane has an element there.
    fn load_block(
        &mut self,
        group: &Group,
        blocks: &Blocks,
        block: Option<LoadedBlock>,
        range: &Range,
        at: Inst,
    ) -> Value {
        let ty = range.elem.vector(blocks.elements as u32).expect("memory elements are scalars");
        let Some(block) = block else { return self.out.poison(ty) };
        let loaded = self.load_at(group, range, block.at, ty, at);
        if block.earlier == 0 {
            return loaded;
        }
        let nothing = self.out.poison(ty);
        let moved =
            |k: u64| if k + block.earlier < blocks.elements { (k + block.earlier) as i32 } else { -1 };
        let places = (0..blocks.elements).map(moved).collect();
        self.emit(Op::Shuffle(places), &[loaded, nothing], ty)
    }

    /// A vector of elements from one of the range on.
    fn load_at(&mut self, group: &Group, range: &Range, element: u64, ty: Type, at: Inst) -> Value {
        let mask = self.mask_of(group, range, element, ty);
        let (ptr, access) = self.in_range(range, group.size, element);
        if let Some(mask) = mask {
            return self.masked_load("llvm.masked.load", ptr, access, mask, ty, at);
        }
        let new = self.out.append(self.block, Op::Load(access), &[ptr], ty);
        self.copy_metadata(at, new);
        self.out.insts[new].results[0]
    }

    /// Stores of a group as blocks.
    pub(super) fn store_blocks(&mut self, group: &Group, blocks: &Blocks) -> Result<(), VectorizeError> {
        let last = group.members[group.members.len() - 1].inst;
        let range = self.masked_range(group)?;
        if let Some(copy) = &group.copy {
            return self.store_copy(group, blocks, copy, &range);
        }
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
        self.store_columns(group, blocks, &range, &outputs);
        Ok(())
    }

    /// Stores, of each vector, one block of each column.
    fn store_columns(&mut self, group: &Group, blocks: &Blocks, range: &Range, outputs: &[Value]) {
        if let Some(network) = group.regrouped(blocks) {
            let elements = (blocks.stored * blocks.elements) as u32;
            let register = range.elem.vector(elements).expect("memory elements are scalars");
            let mut stored = 0;
            for first in (0..self.width).step_by(elements as usize) {
                let columns =
                    outputs.iter().map(|&output| self.lanes_from(output, first, register)).collect();
                for whole in self.run_on_blocks(&network, columns) {
                    self.store_at(group, range, stored, whole);
                    stored += u64::from(elements);
                }
            }
            return;
        }
        let block_ty = range.elem.vector(blocks.elements as u32).expect("memory elements are scalars");
        let mut parts = Vec::new();
        for column in 0..blocks.columns {
            for &output in outputs {
                parts.push(self.lanes_from(output, (column * blocks.elements) as u32, block_ty));
            }
        }
        for (k, together) in parts.chunks(blocks.stored as usize).enumerate() {
            let whole = self.joined(together.to_vec());
            self.store_at(group, range, k as u64 * blocks.stored * blocks.elements, whole);
        }
    }

    /// Stores what a group of loads has loaded, and what is the same for all lanes.
    fn store_copy(
        &mut self,
        group: &Group,
        blocks: &Blocks,
        copy: &GroupCopy,
        range: &Range,
    ) -> Result<(), VectorizeError> {
        let last = group.members[group.members.len() - 1].inst;
        let Some(loaded) = self.copied.get(&copy.from).cloned() else {
            return Err(self.internal(last, "a copy is stored before it is loaded"));
        };
        let same = self.in_all_places(&copy.same, self.out.ty(loaded[0]), last)?;
        let Some(at_once) = copy.in_order() else {
            let outputs = self.run_network(&copy.network, [loaded, same].concat());
            self.store_columns(group, blocks, range, &outputs);
            return Ok(());
        };
        for (k, vector) in loaded.into_iter().enumerate() {
            let inputs = [vec![vector], same.clone()].concat();
            for whole in self.run_network(&copy.network, inputs) {
                self.store_at(group, range, k as u64 * at_once * blocks.elements, whole);
            }
        }
        Ok(())
    }

    /// Vectors of a type, all elements of which are one uniform value each.
    fn in_all_places(&mut self, values: &[Value], ty: Type, at: Inst) -> Result<Vec<Value>, VectorizeError> {
        let Type::Vector(v) = ty else { return Err(self.internal(at, "blocks are no vectors")) };
        let splat = |this: &mut Self, &value: &Value| {
            let x = this.vector(value, at)?;
            if v.lanes == this.width {
                return Ok(x);
            }
            let nothing = this.out.poison(this.out.ty(x));
            Ok(this.emit(Op::Shuffle(vec![0; v.lanes as usize].into()), &[x, nothing], ty))
        };
        values.iter().map(|value| splat(self, value)).collect()
    }

    /// Stores a vector of elements from one of the range on.
    fn store_at(&mut self, group: &Group, range: &Range, element: u64, whole: Value) {
        let last = group.members[group.members.len() - 1].inst;
        let mask = self.mask_of(group, range, element, self.out.ty(whole));
        let (ptr, access) = self.in_range(range, group.size, element);
        if let Some(mask) = mask {
            self.masked_store("llvm.masked.store", whole, ptr, access, mask, last);
            return;
        }
        let new = self.emit_void(Op::Store(access), &[whole, ptr]);
        self.copy_metadata(last, new);
    }

    /// An access that begins at an element of a range.
    fn in_range(&mut self, range: &Range, size: u64, element: u64) -> (Value, MemAccess) {
        let bytes = (element * size) as i64;
        let align = at_distance(range.access.align, bytes);
        (self.offset_by(range.start, bytes), MemAccess { align, ..range.access })
    }

    /// Shuffles of whole blocks, as words of 64 bits: of shuffles of bytes, and then of blocks of these, LLVM makes one
    /// of bytes, which few processors have.
    fn run_on_blocks(&mut self, network: &Network, inputs: Vec<Value>) -> Vec<Value> {
        let Some(Type::Vector(v)) = inputs.first().map(|&x| self.out.ty(x)) else { return inputs };
        let bits = self.module.layout.scalar_bits(v.elem) * v.lanes;
        let words = Type::Int(64).vector(bits / 64).expect("words are scalars");
        let as_words = |this: &mut Self, x: Value| {
            // A byte that is poison is not to make its neighbours poison, which are parts of the same word.
            let x = this.emit(Op::Freeze, &[x], Type::Vector(v));
            this.emit(Op::Cast(CastOp::Bitcast), &[x], words)
        };
        let inputs = inputs.into_iter().map(|x| as_words(self, x)).collect();
        let outputs = self.run_network(network, inputs);
        outputs.into_iter().map(|x| self.emit(Op::Cast(CastOp::Bitcast), &[x], Type::Vector(v))).collect()
    }

    /// Shuffles within each block of vectors of as many blocks.
    fn run_network(&mut self, network: &Network, inputs: Vec<Value>) -> Vec<Value> {
        let mut all = inputs;
        for step in &network.steps {
            let [a, b] = step.from.map(|v| all[v]);
            let ty = self.out.ty(a);
            let n = step.pick.len() as u32;
            let width = if let Type::Vector(v) = ty { v.lanes } else { self.width };
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
