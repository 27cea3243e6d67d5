//! Instructions that are put into a block, each behind the one before.

use warpline_ir::{Block, CastOp, Function, Op, Type, Value};

/// How a number of 32 bits, which is not negative, becomes one of a type; `None` if it is one.
pub(super) fn resizing(ty: Type) -> Option<CastOp> {
    match ty.int_bits()? {
        32 => None,
        33.. => Some(CastOp::ZExt),
        _ => Some(CastOp::Trunc),
    }
}

/// Where the next instruction of a block goes.
pub(super) struct Put<'a> {
    pub(super) body: &'a mut Function,
    block: Block,
    place: usize,
}

impl<'a> Put<'a> {
    /// At a place among the instructions of a block.
    pub(super) fn at(body: &'a mut Function, (block, place): (Block, usize)) -> Put<'a> {
        Put { body, block, place }
    }

    /// Goes on behind all of these values that the block defines; at its beginning if it defines none.
    pub(super) fn go_behind(&mut self, values: &[Value]) {
        let insts = &self.body.blocks[self.block].insts;
        let place = |&v: &Value| {
            let i = self.body.def_inst(v)?;
            insts.iter().position(|&x| x == i).map(|at| at + 1)
        };
        self.place = values.iter().filter_map(place).max().unwrap_or(0);
    }

    /// A number of 32 bits, which is not negative, in another type of integers.
    pub(super) fn resized(&mut self, number: Value, ty: Type) -> Value {
        match resizing(ty) {
            Some(op) => self.value(Op::Cast(op), &[number], ty),
            None => number,
        }
    }

    /// What an instruction yields.
    pub(super) fn value(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        let i = self.body.make_inst(self.block, op, args, &[ty]);
        self.body.blocks[self.block].insts.insert(self.place, i);
        self.place += 1;
        self.body.insts[i].results[0]
    }
}
