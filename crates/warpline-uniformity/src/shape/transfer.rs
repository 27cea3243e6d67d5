//! The shape of an instruction's result from the shapes of its operands.

use cranelift_entity::SecondaryMap;

use super::{Exact, Num, Shape, Stepping, Stride, binary, icmp, int_cast};
use warpline_ir::{AggregateType, CastOp, Function, Inst, InstData, InstFlags, Module, Op, Type, Value};

/// The shape of result number `result` of an instruction, other than a φ, whose result is a function of its operands;
/// `shapes` are the operands' shapes at this use, one per operand, and `zeros` is what
/// [`low_zeros`](super::alignment::low_zeros) says of all values.
///
/// Only instructions that keep lanes in step are looked at; everything else varies unless all operands are
/// uniform.
pub fn transfer(
    module: &Module,
    func: &Function,
    inst: Inst,
    result: usize,
    shapes: &[Shape],
    zeros: &SecondaryMap<Value, u8>,
) -> Shape {
    let data = &func.insts[inst];
    if let Op::ParallelCopy = data.op {
        return shapes.get(result).copied().unwrap_or(Shape::Varying);
    }
    if let (Op::Sigma, &[x]) = (&data.op, shapes) {
        return x;
    }
    if shapes.iter().all(|s| s.is_uniform()) {
        return Shape::Uniform;
    }
    let Some(ty) = data.results.get(result).map(|&r| func.ty(r)) else { return Shape::Varying };
    match (&data.op, shapes) {
        (&Op::Binary(op), &[a, b]) => match ty {
            Type::Int(width) => {
                let num = |n: usize, shape| num(func, zeros, data.args[n], shape);
                let (a, b) = (num(0, a), num(1, b));
                binary(op, data.flags, width, a, b)
            }
            _ => Shape::Varying,
        },
        (&Op::ICmp(pred), &[a, b]) => match func.ty(data.args[0]) {
            Type::Int(_) => icmp(pred, data.flags, a, b),
            Type::Ptr(space) if plain_pointer(module, space).is_some() => icmp(pred, data.flags, a, b),
            _ => Shape::Varying,
        },
        (Op::Select, &[cond, a, b]) if cond.is_uniform() => a.join(b),
        (Op::Freeze, &[x]) => freeze(x),
        (&Op::Cast(op), &[x]) => cast(module, op, data.flags, func.ty(data.args[0]), ty, x),
        (&Op::Gep(elem), _) => gep(module, func, data, elem, ty, shapes),
        _ => Shape::Varying,
    }
}

fn num(func: &Function, zeros: &SecondaryMap<Value, u8>, v: Value, shape: Shape) -> Num {
    Num { shape, constant: func.as_int(v), zeros: zeros[v].into() }
}

/// Lanes that froze poison chose their values on their own; where either all lanes or none had poison, choosing
/// values that keep the step refines the program. Exactness is lost: the chosen values may wrap.
fn freeze(x: Shape) -> Shape {
    match x {
        Shape::Uniform => Shape::Uniform,
        Shape::Strided(s) if s.whole => {
            Shape::Strided(Stride { unsigned: Exact::No, signed: Exact::No, ..s })
        }
        _ => Shape::Varying,
    }
}

/// The width of a pointer whose bits are all address bits.
fn plain_pointer(module: &Module, space: u32) -> Option<u32> {
    let bits = module.layout.pointer_bits(space);
    (bits == module.layout.index_bits(space)).then_some(bits)
}

fn cast(module: &Module, op: CastOp, flags: InstFlags, from: Type, to: Type, x: Shape) -> Shape {
    match (op, from, to) {
        (_, Type::Int(f), Type::Int(t)) if op != CastOp::Bitcast => int_cast(op, flags, f, t, x),
        // The same bits: a change of name only.
        (CastOp::Bitcast, _, _) if from == to => x,
        (CastOp::PtrToInt | CastOp::PtrToAddr, Type::Ptr(space), Type::Int(width)) => {
            match plain_pointer(module, space) {
                Some(bits) => resized(x, bits, width),
                None => Shape::Varying,
            }
        }
        (CastOp::IntToPtr, Type::Int(width), Type::Ptr(space)) => match plain_pointer(module, space) {
            Some(bits) => without_exactness(resized(x, width, bits)),
            None => Shape::Varying,
        },
        // Address spaces need not be related linearly.
        _ => Shape::Varying,
    }
}

/// Zero extension or truncation between pointers and integers.
fn resized(x: Shape, from: u32, to: u32) -> Shape {
    match to.cmp(&from) {
        std::cmp::Ordering::Equal => x,
        std::cmp::Ordering::Less => int_cast(CastOp::Trunc, InstFlags::empty(), from, to, x),
        std::cmp::Ordering::Greater => int_cast(CastOp::ZExt, InstFlags::empty(), from, to, x),
    }
}

/// Pointers have no exactness: nothing reads them as numbers except a cast to an integer, where the address space
/// may wrap.
fn without_exactness(x: Shape) -> Shape {
    match x {
        Shape::Strided(s) => Shape::Strided(Stride { unsigned: Exact::No, signed: Exact::No, ..s }),
        _ => x,
    }
}

/// `getelementptr`: indices are sign-extended or truncated to the width of address arithmetic, multiplied by the
/// size of what they step over and added up, modulo 2^width.
fn gep(module: &Module, func: &Function, data: &InstData, elem: Type, ty: Type, shapes: &[Shape]) -> Shape {
    let Type::Ptr(space) = ty else { return Shape::Varying };
    let width = module.layout.index_bits(space);
    let (Some(&base), true) = (shapes.first(), func.ty(data.args[0]).is_ptr()) else {
        return Shape::Varying;
    };
    let mut total = match linear(base, width, width) {
        Some(t) => t,
        None => return Shape::Varying,
    };
    let mut current = Some(elem);
    for (position, (&index, &shape)) in data.args.iter().zip(shapes).enumerate().skip(1) {
        let Some(container) = current else { return Shape::Varying };
        // The first index steps over whole elements, a later one into the current type.
        let stepped = if position == 1 {
            Some(container)
        } else {
            current = indexed(module, func, container, index);
            current
        };
        if shape.is_uniform() {
            continue;
        }
        let (Type::Int(index_width), Some(size)) =
            (func.ty(index), stepped.and_then(|t| module.layout.alloc_size(&module.types, t)))
        else {
            return Shape::Varying;
        };
        let Some(term) = linear(shape, index_width, width) else { return Shape::Varying };
        let Some(step) = term.step.checked_mul(i128::from(size)).and_then(|s| total.step.checked_add(s))
        else {
            return Shape::Varying;
        };
        total.step = step;
        total.anchored &= term.anchored;
        total.whole &= term.whole;
    }
    total.whole &= !data.flags.intersects(InstFlags::INBOUNDS | InstFlags::NUSW | InstFlags::NUW);
    total.shape(width)
}

/// The type that an index into a type leads to.
fn indexed(module: &Module, func: &Function, container: Type, index: Value) -> Option<Type> {
    match container {
        Type::Vector(v) => Some(v.elem.into()),
        Type::Aggregate(a) => match module.types.get(a) {
            // Whatever the length: `[0 x T]` stands for an array of unknown length.
            AggregateType::Array { elem, .. } => Some(*elem),
            AggregateType::Struct { .. } => {
                module.types.member(container, u64::try_from(func.as_int(index)?).ok()?)
            }
        },
        _ => None,
    }
}

/// The congruence of a value of `from` bits, taken to `to` bits by sign extension or truncation.
fn linear(x: Shape, from: u32, to: u32) -> Option<Stepping> {
    let x = if from < to { int_cast(CastOp::SExt, InstFlags::empty(), from, to, x) } else { x };
    let (anchored, whole) = match x {
        Shape::Uniform => (true, true),
        Shape::Strided(s) => (s.anchored, s.whole),
        Shape::Varying => return None,
    };
    Some(Stepping { step: i128::from(x.step()?), unsigned: None, signed: None, anchored, whole })
}
