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
        let ty = self.src.ty(result);
        let found = self.as_value(found, byte, ty);
        self.define(result, found);
        Ok(())
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
        let nothing = self.out.poison(ty);
        let place = |k: u32| Some(k % TABLE_BLOCK as u32).filter(|&k| k < has).map_or(-1, |k| k as i32);
        let whole = Type::Int(8).vector(together).expect("an integer is a scalar");
        self.emit(Op::Shuffle((0..together).map(place).collect()), &[loaded, nothing], whole)
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
        let name = NAMES[usize::from(together == 16)];
        let pick = |lower: &mut Self, &block: &Value| {
            let picked = lower.call_named(name, &[block, control], ty, Effects::empty());
            picked.expect("it has a result")
        };
        let mut left: Vec<Value> = blocks.iter().map(|block| pick(self, block)).collect();
        let zero = self.all_bytes(0, together);
        for bit in 4.. {
            if left.len() == 1 {
                break;
            }
            // Blends look at the topmost bit of each byte.
            let by = self.all_bytes(7 - bit, together);
            let top = self.emit(Op::Binary(BinaryOp::Shl), &[index, by], ty);
            let upper = self.emit(Op::ICmp(IntPred::Slt), &[top, zero], bools);
            let pairs = left.chunks(2).map(|pair| match *pair {
                [low, high] => self.emit(Op::Select, &[upper, high, low], ty),
                _ => pair[0],
            });
            left = pairs.collect();
        }
        left[0]
    }

    fn all_bytes(&mut self, x: u8, lanes: u32) -> Value {
        let all = Constant::vector(vec![Constant::int(8, u128::from(x)); lanes as usize]);
        self.out.constant_value(all)
    }
}
