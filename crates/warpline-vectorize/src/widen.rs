//! Extensions of narrow indices, moved to where they do no harm.
//!
//! In `a[i - 1]` with an `i32` index the sum does not wrap in any lane that uses it, so the extended index is
//! strided; but lane 0 may be the one that wraps and is not there, so its extension is no base for the others (see
//! [`shape`](warpline_uniformity::shape), *anchored*). Extended before the addition, lane 0's value is right in any
//! case: wide arithmetic has room for what the narrow one has not. So `sext (add nsw x, y)` becomes
//! `add nsw (sext x), (sext y)`, and likewise for `sub`, `mul`, `shl` by a constant, for `zext` and `nuw`, and for
//! indices of a `getelementptr`, which are extended implicitly.
//!
//! The new instructions yield what the old ones do wherever those do not yield poison. The old ones stay: others may
//! use them, and what nobody uses disappears later.

use crate::VectorizeError;
use crate::pass::{Context, Unit};
use warpline_ir::{BinaryOp, Block, CastOp, Constant, Function, Inst, InstFlags, Module, Op, Type, Value};
use warpline_uniformity::Uniformity;
use warpline_uniformity::shape::{Exact, Shape};

/// How many arithmetic instructions an extension is moved over at most.
const MAX_DEPTH: u32 = 8;

/// Moves the extensions in a function whose results are strided but not anchored. How many were moved. `uniformity` is
/// that of the function as it is given.
pub fn widen_indices(module: &Module, func: &mut Function, uniformity: &Uniformity) -> usize {
    let mut widener = Widener { func, uniformity, new: Vec::new() };
    let mut moved = 0;
    for block in widener.func.layout.clone() {
        let old = std::mem::take(&mut widener.func.blocks[block].insts);
        for inst in old {
            moved += widener.instruction(module, block, inst);
            widener.new.push(inst);
        }
        widener.func.blocks[block].insts = std::mem::take(&mut widener.new);
    }
    moved
}

/// The pass.
pub(crate) fn run(unit: &mut Unit, cx: &Context<'_>) -> Result<bool, VectorizeError> {
    let uniformity = cx.uniformity(unit);
    Ok(widen_indices(cx.module, &mut unit.func, &uniformity) > 0)
}

struct Widener<'a> {
    func: &'a mut Function,
    uniformity: &'a Uniformity,
    /// The instructions of the present block so far.
    new: Vec<Inst>,
}

impl Widener<'_> {
    /// Looks at one instruction; new ones are put before it.
    fn instruction(&mut self, module: &Module, block: Block, inst: Inst) -> usize {
        let data = &self.func.insts[inst];
        let Some(result) = data.result() else { return 0 };
        let adrift = matches!(self.uniformity.shape(result), Shape::Strided(s) if !s.anchored);
        if !adrift {
            return 0;
        }
        match (&data.op, self.func.ty(result)) {
            (&Op::Cast(op @ (CastOp::ZExt | CastOp::SExt)), Type::Int(to)) => {
                let x = data.args[0];
                // A non-negative value may be extended either way.
                let signed = op == CastOp::SExt || data.flags.contains(InstFlags::NNEG);
                for signed in [signed, op == CastOp::SExt] {
                    if self.is_movable(x, block, signed) {
                        let (a, b, op) = self.parts(x, block, signed, to, MAX_DEPTH);
                        let flag = if signed { InstFlags::NSW } else { InstFlags::NUW };
                        let data = &mut self.func.insts[inst];
                        data.op = Op::Binary(op);
                        data.args = [a, b].into_iter().collect();
                        data.flags = flag;
                        data.origin = None.into();
                        return 1;
                    }
                }
                0
            }
            (Op::Gep(_), Type::Ptr(space)) => {
                let to = module.layout.index_bits(space);
                let mut moved = 0;
                for k in 1..self.func.insts[inst].args.len() {
                    let x = self.func.insts[inst].args[k];
                    let narrow = matches!(self.func.ty(x), Type::Int(w) if w < to);
                    if narrow && self.is_movable(x, block, true) {
                        self.func.insts[inst].args[k] = self.extended(x, block, true, to, MAX_DEPTH);
                        moved += 1;
                    }
                }
                moved
            }
            _ => 0,
        }
    }

    /// Whether a value is arithmetic that does not wrap in the reading, on operands with known steps, and lane 0's
    /// value may yet wrap.
    fn is_movable(&self, x: Value, block: Block, signed: bool) -> bool {
        let Shape::Strided(s) = self.uniformity.shape_at(x, block) else { return false };
        let exact = if signed { s.signed } else { s.unsigned };
        if exact != Exact::Lanes || !s.anchored {
            return false;
        }
        let Some(inst) = self.func.def_inst(x) else { return false };
        let data = &self.func.insts[inst];
        let flag = if signed { InstFlags::NSW } else { InstFlags::NUW };
        match data.op {
            Op::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul) => data.flags.contains(flag),
            Op::Binary(BinaryOp::Shl) => {
                data.flags.contains(flag) && self.func.as_int(data.args[1]).is_some()
            }
            Op::Binary(BinaryOp::Or) => data.flags.contains(InstFlags::DISJOINT),
            _ => false,
        }
    }

    /// The operands and the operation of a movable value in `to` bits.
    fn parts(
        &mut self,
        x: Value,
        block: Block,
        signed: bool,
        to: u32,
        depth: u32,
    ) -> (Value, Value, BinaryOp) {
        let inst = self.func.def_inst(x).expect("a movable value is an instruction's");
        let data = &self.func.insts[inst];
        let (a, b) = (data.args[0], data.args[1]);
        let op = match data.op {
            // No bits in common: the sum.
            Op::Binary(BinaryOp::Or) => BinaryOp::Add,
            Op::Binary(op) => op,
            _ => BinaryOp::Add,
        };
        let a = self.extended(a, block, signed, to, depth - 1);
        // A shift amount is a number of its own.
        let b = self.extended(b, block, signed && op != BinaryOp::Shl, to, depth - 1);
        (a, b, op)
    }

    /// A value extended to `to` bits.
    fn extended(&mut self, x: Value, block: Block, signed: bool, to: u32, depth: u32) -> Value {
        if let (Some(c), Type::Int(from)) = (self.func.as_int(x), self.func.ty(x))
            && to <= 128
        {
            let wide = if signed { ((c << (128 - from)) as i128 >> (128 - from)) as u128 } else { c };
            return self.func.constant_value(Constant::int(to, wide));
        }
        let (op, flags, args) = if depth > 0 && self.is_movable(x, block, signed) {
            let (a, b, op) = self.parts(x, block, signed, to, depth);
            (Op::Binary(op), if signed { InstFlags::NSW } else { InstFlags::NUW }, vec![a, b])
        } else {
            let op = if signed { CastOp::SExt } else { CastOp::ZExt };
            (Op::Cast(op), InstFlags::empty(), vec![x])
        };
        let inst = self.func.make_inst(block, op, &args, &[Type::Int(to)]);
        self.func.insts[inst].flags = flags;
        self.func.insts[inst].loc =
            self.func.def_inst(x).and_then(|i| self.func.insts[i].loc.expand()).into();
        self.new.push(inst);
        self.func.insts[inst].results[0]
    }
}
