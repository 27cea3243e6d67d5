//! What loops carry besides numbers that are combined: values that alternate, floating-point numbers combined in order,
//! and places of the best element, from which that is loaded anew.

use warpline_ir::{BinaryOp, Block, CastOp, FloatPred, InstFlags, IntPred, MemAccess, Op, Type, Value};

use super::loops::{Carry, Maker};
use super::selections::chosen;

const INT: Type = Type::Int(32);

/// A value that has the same again in every second iteration; it is seen.
pub(super) fn alternating(m: &mut Maker<'_>, header: Block, seen: &mut Vec<Value>) -> Carry {
    let ty = [INT, Type::Int(64), Type::F32, Type::BOOL][m.rng.below(4)];
    let phi = m.f.add_phi(header, ty);
    let by = match ty {
        Type::BOOL => 1,
        _ => [1, 0x55, u32::MAX.into()][m.rng.below(3)],
    };
    let by = m.int(phi, by);
    let next = match (ty, m.rng.below(2)) {
        (Type::F32, _) => m.value(Op::FNeg, &[phi], ty),
        (Type::Int(32 | 64), 0) => m.binary(BinaryOp::Sub, by, phi),
        (_, k) => {
            let [a, b] = if k == 0 { [phi, by] } else { [by, phi] };
            m.binary(BinaryOp::Xor, a, b)
        }
    };
    let start = match ty {
        Type::F32 => constant(m, 3, ty),
        Type::BOOL => m.f.bool_const(m.rng.chance(1, 2)),
        _ => m.int(phi, 9),
    };
    let bits = if ty == Type::F32 { m.value(Op::Cast(CastOp::Bitcast), &[phi], INT) } else { phi };
    let shown = m.cast(bits, 32);
    seen.push(shown);
    Carry { phi, next, start }
}

/// A number that is multiplied by what stays the same and to which something is added. What is added is another one in
/// each iteration, or the number is seen, before or after.
pub(super) fn recurrence(
    m: &mut Maker<'_>,
    header: Block,
    (x, invariant): (Value, Value),
    seen: &mut Vec<Value>,
) -> Carry {
    let bits = [8, 32, 32, 64][m.rng.below(4)];
    let phi = m.f.add_phi(header, Type::Int(bits));
    let fixed = |m: &mut Maker<'_>| match m.rng.below(4) {
        0 => before_loop(m, invariant, bits),
        _ => {
            let number = [3, 31, 0x19_660d, 0xffff_ffff_ffff_fffb][m.rng.below(4)];
            m.f.int_const(bits, number & (u128::MAX >> (128 - bits)))
        }
    };
    let a = fixed(m);
    let varies = m.rng.chance(1, 2);
    let added = if varies { m.cast(x, bits) } else { fixed(m) };
    let five = m.int(phi, 5);
    let next = match m.rng.below(5) {
        0 => {
            let product = m.binary(BinaryOp::Mul, a, phi);
            m.binary(BinaryOp::Add, added, product)
        }
        1 => {
            let sum = m.binary(BinaryOp::Sub, phi, added);
            m.binary(BinaryOp::Mul, sum, a)
        }
        2 => {
            let shifted = m.binary(BinaryOp::Shl, phi, five);
            let product = m.binary(BinaryOp::Add, shifted, phi);
            m.binary(BinaryOp::Add, product, added)
        }
        3 => {
            let product = m.binary(BinaryOp::Mul, phi, a);
            m.binary(BinaryOp::Sub, added, product)
        }
        _ => m.binary(BinaryOp::Mul, phi, a),
    };
    if !varies || m.rng.chance(1, 8) {
        let shown = if m.rng.chance(1, 2) { phi } else { next };
        seen.push(m.cast(shown, 32));
    }
    Carry { phi, next, start: m.int(phi, 77) }
}

/// A number of so many bits that is known before the loop.
fn before_loop(m: &mut Maker<'_>, invariant: Value, bits: u32) -> Value {
    let at = std::mem::replace(&mut m.at, m.f.layout[0]);
    let number = m.cast(invariant, bits);
    m.at = at;
    number
}

/// A sum or product of floating-point numbers in the order of the iterations, of all or of some of them.
pub(super) fn ordered(m: &mut Maker<'_>, header: Block, x: Value) -> Carry {
    let ty = [Type::F32, Type::F64][m.rng.below(2)];
    let phi = m.f.add_phi(header, ty);
    let few = m.int(x, 0xffff);
    let small = m.binary(BinaryOp::And, x, few);
    let number = m.value(Op::Cast(CastOp::SiToFp), &[small], ty);
    let third = constant(m, 3, ty);
    // Fractions, so that the order tells.
    let term = m.binary(BinaryOp::FDiv, number, third);
    let op = [BinaryOp::FAdd, BinaryOp::FAdd, BinaryOp::FSub, BinaryOp::FMul][m.rng.below(4)];
    let args = if op != BinaryOp::FSub && m.rng.chance(1, 2) { [term, phi] } else { [phi, term] };
    let combined = m.value(Op::Binary(op), &args, ty);
    let next = match m.rng.below(3) {
        0 => combined,
        1 => {
            let one = m.int(x, 1);
            let bit = m.binary(BinaryOp::And, x, one);
            let odd = m.value(Op::ICmp(IntPred::Eq), &[bit, one], Type::BOOL);
            m.value(Op::Select, &[odd, combined, phi], ty)
        }
        _ => {
            let limit = m.int(x, 1 << 31);
            let less = m.value(Op::ICmp(IntPred::Ult), &[x, limit], Type::BOOL);
            chosen(m, less, &[combined], &[phi])[0]
        }
    };
    let start = constant(m, 7, ty);
    Carry { phi, next, start }
}

/// What an `int` keeps of bytes or shorts: the least or greatest, or the sum of those of some iterations.
pub(super) fn of_bytes(m: &mut Maker<'_>, header: Block, x: Value) -> Carry {
    let phi = m.f.add_phi(header, INT);
    let bits = [8, 8, 16][m.rng.below(3)];
    let few = m.cast(x, bits);
    let extension = [CastOp::ZExt, CastOp::SExt][m.rng.below(2)];
    let number = m.value(Op::Cast(extension), &[few], INT);
    let is = |m: &mut Maker<'_>, k: u128| {
        let (mask, k) = (m.int(x, 3), m.int(x, k));
        let low = m.binary(BinaryOp::And, x, mask);
        m.value(Op::ICmp(IntPred::Ule), &[low, k], Type::BOOL)
    };
    if m.rng.chance(1, 2) {
        let preds = [IntPred::Slt, IntPred::Sgt, IntPred::Ult, IntPred::Uge];
        let pred = *m.rng.pick(&preds);
        let is_better = m.value(Op::ICmp(pred), &[number, phi], Type::BOOL);
        let better = m.value(Op::Select, &[is_better, number, phi], INT);
        let some = is(m, 1);
        let next = if m.rng.chance(1, 3) { chosen(m, some, &[better], &[phi])[0] } else { better };
        let start = [0, 255, u32::MAX.into(), 0x7fff][m.rng.below(4)];
        return Carry { phi, next, start: m.f.int_const(32, start) };
    }
    let sum = m.binary(BinaryOp::Add, phi, number);
    let (first, second) = (is(m, 0), is(m, 2));
    let some = chosen(m, first, &[sum], &[phi])[0];
    let next = match m.rng.below(3) {
        0 => some,
        1 => {
            let more = m.binary(BinaryOp::Add, number, some);
            chosen(m, second, &[more], &[some])[0]
        }
        _ => {
            let one = m.int(phi, 1);
            let more = m.binary(BinaryOp::Add, some, one);
            chosen(m, second, &[more], &[phi])[0]
        }
    };
    Carry { phi, next, start: m.int(phi, 9) }
}

/// A floating-point number, made of an integer.
fn constant(m: &mut Maker<'_>, number: u128, ty: Type) -> Value {
    let number = m.f.int_const(32, number);
    m.f.append_value(m.f.layout[0], Op::Cast(CastOp::SiToFp), &[number], ty)
}

/// So many elements has the array that places are in.
const ELEMENTS: u32 = 64;

/// The place of the best element so far, which is loaded anew in each iteration: an index, or a pointer.
pub(super) fn place(m: &mut Maker<'_>, header: Block, index: Value) -> Carry {
    let elem = [INT, Type::F32][m.rng.below(2)];
    let array = array(m, elem);
    let is_pointer = m.rng.chance(1, 3);
    let mask = m.int(index, u128::from(ELEMENTS) - 1);
    let here = m.binary(BinaryOp::And, index, mask);
    let at = |m: &mut Maker<'_>, k: Value| {
        let wide = m.cast(k, 64);
        m.value(Op::Gep(elem), &[array, wide], Type::PTR)
    };
    let address = at(m, here);
    let load = |m: &mut Maker<'_>, p: Value| m.value(Op::Load(MemAccess::plain(4)), &[p], elem);
    let (phi, other, start) = match is_pointer {
        true => (m.f.add_phi(header, Type::PTR), address, array),
        false => {
            let phi = m.f.add_phi(header, m.f.ty(index));
            let start = m.int(index, 2);
            (phi, here, start)
        }
    };
    let best_address = if is_pointer { phi } else { at(m, phi) };
    let best = load(m, best_address);
    let own = load(m, address);
    let better = match elem {
        Type::F32 => {
            let pred = *m.rng.pick(&[FloatPred::Ogt, FloatPred::Olt, FloatPred::Oge]);
            m.value(Op::FCmp(pred), &[own, best], Type::BOOL)
        }
        _ => {
            let pred = *m.rng.pick(&[IntPred::Sgt, IntPred::Slt, IntPred::Uge, IntPred::Ule]);
            m.value(Op::ICmp(pred), &[own, best], Type::BOOL)
        }
    };
    let next = if m.rng.chance(1, 3) {
        let yes = m.f.bool_const(true);
        let worse = m.binary(BinaryOp::Xor, better, yes);
        m.value(Op::Select, &[worse, phi, other], m.f.ty(phi))
    } else {
        m.value(Op::Select, &[better, other, phi], m.f.ty(phi))
    };
    Carry { phi, next, start }
}

/// An array with numbers in it, made before the loop.
fn array(m: &mut Maker<'_>, elem: Type) -> Value {
    let start = m.f.layout[0];
    let count = m.f.int_const(64, ELEMENTS.into());
    let array = m.f.append_value(start, Op::Alloca { ty: elem, align: 16 }, &[count], Type::PTR);
    for k in 0..ELEMENTS {
        // Some are equal, some negative.
        let number = (k.wrapping_mul(0x9e37_79b9) >> 27).wrapping_sub(13);
        let value = m.f.int_const(32, number.into());
        let value = match elem {
            Type::F32 => m.f.append_value(start, Op::Cast(CastOp::SiToFp), &[value], elem),
            _ => value,
        };
        let k = m.f.int_const(64, k.into());
        let p = m.f.append(start, Op::Gep(elem), &[array, k], Type::PTR);
        m.f.insts[p].flags = InstFlags::INBOUNDS;
        let p = m.f.insts[p].results[0];
        m.f.append(start, Op::Store(MemAccess::plain(4)), &[value, p], Type::Void);
    }
    array
}
