//! Loads from small tables of bytes, as their [recipe](crate::recipes) says.

use crate::VectorizeError;
use crate::alignment::at_distance;
use crate::recipes::{TABLE_BLOCK, Table};
use warpline_ir::{BinaryOp, Constant, Effects, Inst, IntPred, MemAccess, Op, Type, Value};

use super::super::Lower;

/// The names of the instruction that picks bytes of blocks, for two blocks and for one.
const NAMES: [&str; 2] = ["llvm.x86.avx2.pshuf.b", "llvm.x86.ssse3.pshuf.b.128"];

impl Lower<'_> {
    /// Loads a byte for each lane, for so many lanes at once.
    pub(in crate::lower) fn load_table(
        &mut self,
        i: Inst,
        table: &Table,
        together: u32,
    ) -> Result<(), VectorizeError> {
        let result = self.src.insts[i].results[0];
        let byte = Type::Int(8);
        let bytes = byte.vector(self.width).expect("an integer is a scalar");
        let index = self.vector(table.index.value, i)?;
        let mut index = self.term(index, table.index.extension, 1, bytes);
        if table.plus != 0 {
            let plus = self.all_bytes(table.plus as u8, self.width);
            index = self.emit(Op::Binary(BinaryOp::Add), &[index, plus], bytes);
        }
        if self.mask_vector(i)?.is_some() {
            // A lane that is not active may have computed anything.
            index = self.emit(Op::Freeze, &[index], bytes);
        }
        let root = self.scalar(table.root, i)?;
        let blocks = (0..table.blocks()).map(|block| self.table_block(table, root, block, together, i));
        let blocks: Vec<Value> = blocks.collect();
        let part = byte.vector(together).expect("an integer is a scalar");
        let mut parts = Vec::new();
        for first in (0..self.width).step_by(together as usize) {
            let index = self.lanes_from(index, first, part);
            parts.push(self.look_up(&blocks, index, together));
        }
        let found = self.joined(parts);
        self.define_loaded(i, found, byte, result)
    }

    /// A block of a table, as often as so many lanes have blocks.
    fn table_block(&mut self, table: &Table, root: Value, block: u64, together: u32, at: Inst) -> Value {
        let begins = (block * TABLE_BLOCK) as i64;
        let has = (table.bytes - block * TABLE_BLOCK).min(TABLE_BLOCK) as u32;
        let offset = table.start + begins;
        let ptr = self.offset_by(root, offset);
        let access = MemAccess::plain(at_distance(table.align, offset));
        let ty = Type::Int(8).vector(has).expect("an integer is a scalar");
        let new = self.out.append(self.block, Op::Load(access), &[ptr], ty);
        self.copy_metadata(at, new);
        let loaded = self.out.insts[new].results[0];
        if has == together {
            return loaded;
        }
        // Zeros are behind the end of a table, which no active lane asks for.
        let zeros = self.out.constant_value(Constant::Zero(ty));
        let place = |k: u32| (k % TABLE_BLOCK as u32).min(has) as i32;
        let whole = Type::Int(8).vector(together).expect("an integer is a scalar");
        self.emit(Op::Shuffle((0..together).map(place).collect()), &[loaded, zeros], whole)
    }

    /// Picks a byte of blocks for each of so many lanes.
    fn look_up(&mut self, blocks: &[Value], index: Value, together: u32) -> Value {
        let ty = self.out.ty(index);
        let bools = Type::BOOL.vector(together).expect("a truth value is a scalar");
        let mut control = index;
        if blocks.len() > 8 {
            // The topmost bit of what picks would make zeros.
            let low = self.all_bytes(15, together);
            control = self.emit(Op::Binary(BinaryOp::And), &[index, low], ty);
        }
        let zero = self.all_bytes(0, together);
        let upper = (4..4 + blocks.len().next_power_of_two().ilog2()).map(|bit| {
            // Blends look at the topmost bit of each byte.
            let by = self.all_bytes(7 - bit as u8, together);
            let top = self.emit(Op::Binary(BinaryOp::Shl), &[index, by], ty);
            self.emit(Op::ICmp(IntPred::Slt), &[top, zero], bools)
        });
        let upper: Vec<Value> = upper.collect();
        self.pick_from(blocks, control, &upper)
    }

    /// Picks from some blocks, given which bits of the blocks' numbers lanes' indices have. Of the blocks, the second
    /// part is where the topmost bit counts. What is picked is blended at once, so that little is kept in registers.
    fn pick_from(&mut self, blocks: &[Value], control: Value, upper: &[Value]) -> Value {
        let ty = self.out.ty(control);
        if let &[block] = blocks {
            let is_one = matches!(ty, Type::Vector(v) if u64::from(v.lanes) == TABLE_BLOCK);
            let name = NAMES[usize::from(is_one)];
            let picked = self.call_named(name, &[block, control], ty, Effects::empty());
            return picked.expect("it has a result");
        }
        let bits = blocks.len().next_power_of_two().ilog2() as usize;
        let (low, high) = blocks.split_at(1 << (bits - 1));
        let [low, high] = [low, high].map(|part| self.pick_from(part, control, upper));
        self.emit(Op::Select, &[upper[bits - 1], high, low], ty)
    }

    fn all_bytes(&mut self, x: u8, lanes: u32) -> Value {
        let all = Constant::vector(vec![Constant::int(8, u128::from(x)); lanes as usize]);
        self.out.constant_value(all)
    }
}
