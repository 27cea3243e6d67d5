//! What a kernel computes, computed before the loop that it is an iteration of, for a given iteration.

use super::region::{Growth, Region, Stands};
use crate::builder::Builder;
use warpline_ir::{BinaryOp, CastOp, Constant, Function, InstFlags, LaneOp, Op, Type, Value, ValueDef};

/// So many operations are computed again at most.
const MAX_SIZE: usize = 24;

/// A value of a kernel as a tree of operations on what is known before the loop.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Tree {
    Constant(Constant),
    /// A value of the function around.
    Outer(Value),
    /// What is this value in the first iteration and grows.
    Grows(Value, Growth),
    /// The number of the lane: iterations are looked at one by one.
    Lane,
    Operation(Op, Vec<Tree>, Type),
}

impl Tree {
    /// The tree of a value, if it is computed by arithmetic alone.
    pub(crate) fn of(func: &Function, region: &Region<'_>, v: Value) -> Option<Tree> {
        let mut left = MAX_SIZE;
        Self::within(func, region, v, &mut left)
    }

    fn within(func: &Function, region: &Region<'_>, v: Value, left: &mut usize) -> Option<Tree> {
        *left = left.checked_sub(1)?;
        match func.values[v].def {
            ValueDef::Const(_) => {
                func.constant(v).filter(|c| c.as_int().is_some()).cloned().map(Tree::Constant)
            }
            ValueDef::Param(n) => match *region.params.get(n as usize)? {
                Stands::For(v) => Some(Tree::Outer(v)),
                Stands::StartsAt(v, growth) => Some(Tree::Grows(v, growth)),
                // No more than that.
                Stands::Counts(v, by) => Some(Tree::Grows(v, Growth::Constant(by))),
                Stands::Anything => None,
            },
            ValueDef::Inst(inst, _) => {
                let data = &func.insts[inst];
                let plain = match &data.op {
                    Op::Lane(LaneOp::LaneIndex) => return Some(Tree::Lane),
                    Op::Binary(op) => !op.is_float() && !op.is_int_division(),
                    Op::Cast(CastOp::SExt | CastOp::ZExt | CastOp::Trunc) => true,
                    Op::ICmp(_) | Op::Select | Op::Freeze => true,
                    _ => false,
                };
                let ty = func.ty(v);
                if !plain || ty.int_bits().is_none() {
                    return None;
                }
                let args = data.args.iter().map(|&a| Self::within(func, region, a, left));
                Some(Tree::Operation(data.op.clone(), args.collect::<Option<Vec<Tree>>>()?, ty))
            }
        }
    }

    /// What is added to the value from one iteration to the next, as long as nothing wraps. `None` if that is not
    /// always the same: only sums with what stays, products with constants and casts of one number that grows are
    /// followed.
    pub(crate) fn growth(&self) -> Option<i128> {
        let (op, args) = match self {
            Tree::Constant(_) | Tree::Outer(_) | Tree::Lane => return Some(0),
            Tree::Grows(_, Growth::Constant(by)) => return Some(*by),
            Tree::Grows(..) => return None,
            Tree::Operation(op, args, _) => (op, args),
        };
        let all: Option<Vec<i128>> = args.iter().map(Tree::growth).collect();
        let all = all?;
        if all.iter().all(|&g| g == 0) {
            return Some(0);
        }
        let constant = |k: usize| match &args[k] {
            Tree::Constant(c) => c.as_int().map(|n| signed(n, c.ty())),
            _ => None,
        };
        match (op, &all[..]) {
            (Op::Binary(BinaryOp::Add), &[x, y]) if x == 0 || y == 0 => Some(x + y),
            (Op::Binary(BinaryOp::Sub), &[x, y]) if x == 0 || y == 0 => Some(x - y),
            (Op::Binary(BinaryOp::Xor), &[x, 0]) if constant(1) == Some(-1) => Some(-x),
            (Op::Binary(BinaryOp::Mul), &[x, 0]) => x.checked_mul(constant(1)?),
            (Op::Binary(BinaryOp::Mul), &[0, y]) => y.checked_mul(constant(0)?),
            (Op::Binary(BinaryOp::Shl), &[x, 0]) => {
                x.checked_mul(1i128.checked_shl(u32::try_from(constant(1)?).ok()?)?)
            }
            (Op::Cast(_) | Op::Freeze, &[x]) => Some(x),
            _ => None,
        }
    }

    /// Whether it may wrap on its way, as narrow numbers do that enter wide arithmetic.
    pub(crate) fn is_narrow(&self) -> bool {
        match self {
            Tree::Operation(Op::Cast(_), ..) => true,
            Tree::Operation(_, args, ty) => ty.int_bits() != Some(64) || args.iter().any(Tree::is_narrow),
            Tree::Grows(..) | Tree::Constant(_) | Tree::Outer(_) | Tree::Lane => false,
        }
    }

    /// Makes the code for the value in iteration number `iteration`, of 64 bits; nothing if it is the first one. No
    /// promise of the program's own stays, since the iteration may not reach what it computes.
    pub(crate) fn emit(&self, b: &mut Builder<'_>, iteration: Option<Value>) -> Value {
        match self {
            Tree::Constant(c) => b.func.constant_value(c.clone()),
            Tree::Outer(v) => *v,
            Tree::Lane => b.int(32, 0),
            Tree::Grows(start, growth) => grown(b, *start, *growth, iteration),
            Tree::Operation(op, args, ty) => {
                let args: Vec<Value> = args.iter().map(|a| a.emit(b, iteration)).collect();
                b.value(op.clone(), &args, *ty)
            }
        }
    }
}

/// What a value that grows is in an iteration.
fn grown(b: &mut Builder<'_>, start: Value, growth: Growth, iteration: Option<Value>) -> Value {
    let Some(iteration) = iteration else { return start };
    let none = InstFlags::empty();
    let ty = b.func.ty(start);
    let bits = ty.int_bits().unwrap_or(64);
    let count = if bits < 64 { b.cast(CastOp::Trunc, iteration, Type::Int(bits)) } else { iteration };
    let (by, op) = match growth {
        Growth::Constant(by) => (b.func.int_const(bits, by as u128), BinaryOp::Add),
        Growth::Value(v) => (v, BinaryOp::Add),
        Growth::Minus(v) => (v, BinaryOp::Sub),
    };
    let distance = b.binary(BinaryOp::Mul, count, by, none);
    match ty {
        Type::Ptr(_) => b.value(Op::Gep(Type::Int(8)), &[start, distance], ty),
        _ => b.binary(op, start, distance, none),
    }
}

/// A number of a type, read as a signed one.
fn signed(n: u128, ty: Type) -> i128 {
    let unused = 128 - ty.int_bits().unwrap_or(128).min(128);
    ((n << unused) as i128) >> unused
}
