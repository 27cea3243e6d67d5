//! Values of one iteration that loops keep: of the last one in which a condition holds, or of the one with the least or
//! greatest value, with what else is known of that iteration.

use warpline_ir::{
    BinaryOp, Block, CallInfo, CastOp, Constant, Effects, FloatPred, IntPred, Op, Type, Value,
};

use super::loops::{Carry, Maker};

const INT: Type = Type::Int(32);

/// Code at the end of an iteration that keeps something of it: the φs of the header, which are made here.
pub(super) fn selections(m: &mut Maker<'_>, header: Block, x: Value, index: Value) -> Vec<Carry> {
    let mut carries = Vec::new();
    for _ in 0..1 + m.rng.below(2) {
        let payload = payload(m, x, index);
        let free = condition(m, x);
        // What decides: the values that are kept, what they begin with, and when they are taken.
        let mut kept: Vec<(Value, Value)> = Vec::new();
        let mut taken = free;
        match m.rng.below(3) {
            0 => {}
            k => {
                let value = if k == 1 { number(m, x) } else { float(m, x) };
                let start = start_of(m, value);
                kept.push((value, start));
            }
        }
        let has_rank = !kept.is_empty();
        if !has_rank || m.rng.chance(2, 3) {
            let start = start_of(m, payload);
            kept.push((payload, start));
        }
        if m.rng.chance(1, 3) {
            let seven = m.int(x, 7);
            let other = m.binary(BinaryOp::Xor, x, seven);
            let start = start_of(m, other);
            kept.push((other, start));
        }
        let phis: Vec<Value> = kept.iter().map(|&(v, _)| m.f.add_phi(header, m.f.ty(v))).collect();
        if has_rank {
            let better = compared(m, kept[0].0, phis[0]);
            taken = match m.rng.below(3) {
                0 => m.binary(BinaryOp::And, better, free),
                1 => {
                    let no = m.f.bool_const(false);
                    m.value(Op::Select, &[free, better, no], Type::BOOL)
                }
                _ => better,
            };
        }
        let values: Vec<Value> = kept.iter().map(|&(v, _)| v).collect();
        let mut nexts = chosen(m, taken, &values, &phis);
        if has_rank && let Some(extremum) = extremum(m, taken, [values[0], phis[0]]) {
            nexts[0] = extremum;
        }
        for ((phi, next), (_, start)) in phis.into_iter().zip(nexts).zip(kept) {
            carries.push(Carry { phi, next, start });
        }
    }
    carries
}

/// The new values where a condition holds, the old ones elsewhere: by `select`s or by a branch.
pub(super) fn chosen(m: &mut Maker<'_>, taken: Value, new: &[Value], old: &[Value]) -> Vec<Value> {
    let inverted = m.rng.chance(1, 4);
    if m.rng.chance(1, 2) {
        let select = |m: &mut Maker<'_>, (&new, &old): (&Value, &Value)| {
            let ty = m.f.ty(new);
            m.value(Op::Select, &[taken, new, old], ty)
        };
        return new.iter().zip(old).map(|pair| select(m, pair)).collect();
    }
    let (then, join) = (m.f.add_block("take"), m.f.add_block("taken"));
    let phis: Vec<Value> = new.iter().map(|&v| m.f.add_phi(join, m.f.ty(v))).collect();
    let condition = match inverted {
        true => {
            let yes = m.f.bool_const(true);
            m.binary(BinaryOp::Xor, taken, yes)
        }
        false => taken,
    };
    let targets = if inverted { [join, then] } else { [then, join] };
    let t = m.f.set_terminator(m.at, Op::CondBr, &[condition], &targets);
    let past = m.f.insts[t].edges[usize::from(!inverted)];
    for (k, &v) in old.iter().enumerate() {
        m.f.set_phi_arg(past, k, v);
    }
    m.at = then;
    m.br(join);
    let e = m.f.out_edges(then)[0];
    for (k, &v) in new.iter().enumerate() {
        m.f.set_phi_arg(e, k, v);
    }
    m.at = join;
    phis
}

/// A comparison that is true or false, depending on the iteration.
fn condition(m: &mut Maker<'_>, x: Value) -> Value {
    let mask = [1, 3, 0x80][m.rng.below(3)];
    let mask = m.int(x, mask);
    let bits = m.binary(BinaryOp::And, x, mask);
    let zero = m.int(x, 0);
    m.value(Op::ICmp(IntPred::Ne), &[bits, zero], Type::BOOL)
}

/// What is kept of the iteration: the index, a number made of it, or something else.
fn payload(m: &mut Maker<'_>, x: Value, index: Value) -> Value {
    match m.rng.below(4) {
        0 => index,
        1 => m.cast(index, 64),
        2 => {
            let three = m.int(index, 3);
            let by = m.binary(BinaryOp::Mul, index, three);
            m.cast(by, 32)
        }
        _ => x,
    }
}

/// A number that often is the same in several iterations.
fn number(m: &mut Maker<'_>, x: Value) -> Value {
    let mask = [7, 63, 0x8000_0003][m.rng.below(3)];
    let mask = m.int(x, mask);
    m.binary(BinaryOp::And, x, mask)
}

/// The better of two integers by an intrinsic, now and then, if one is taken by nothing but a comparison of them.
fn extremum(m: &mut Maker<'_>, taken: Value, [x, kept]: [Value; 2]) -> Option<Value> {
    let compared = &m.f.insts[m.f.def_inst(taken)?];
    let (&Op::ICmp(pred), swapped) = (&compared.op, compared.args[..] == [kept, x]) else { return None };
    if compared.args[..] != [x, kept] && !swapped || !m.rng.chance(1, 2) {
        return None;
    }
    let name = match (pred, swapped) {
        (IntPred::Slt | IntPred::Sle, false) | (IntPred::Sgt | IntPred::Sge, true) => "smin",
        (IntPred::Slt | IntPred::Sle, true) | (IntPred::Sgt | IntPred::Sge, false) => "smax",
        (IntPred::Ult | IntPred::Ule, false) | (IntPred::Ugt | IntPred::Uge, true) => "umin",
        _ => "umax",
    };
    let none = Effects::empty();
    let symbol = m.module.function_symbol(&format!("llvm.{name}.i32"), &[INT; 2], INT, none);
    let call = CallInfo { callee: Some(symbol), effects: none, variadic_fixed: None };
    Some(m.value(Op::Call(Box::new(call)), &[x, kept], INT))
}

/// A floating-point number that often is NaN, a zero of either sign, or the same in several iterations.
fn float(m: &mut Maker<'_>, x: Value) -> Value {
    let seven = m.int(x, 7);
    let small = m.binary(BinaryOp::And, x, seven);
    let four = m.int(x, 4);
    let signed = m.binary(BinaryOp::Sub, small, four);
    let mut value = m.value(Op::Cast(CastOp::SiToFp), &[signed], Type::F32);
    let special = [f32::NAN, -0.0, 0.0, f32::NEG_INFINITY];
    for (k, special) in special.into_iter().enumerate().skip(m.rng.below(3)) {
        let k = m.int(x, k as u128);
        let special = m.f.constant_value(Constant::number(Type::F32, special.to_bits().into()));
        let is_it = m.value(Op::ICmp(IntPred::Eq), &[small, k], Type::BOOL);
        value = m.value(Op::Select, &[is_it, special, value], Type::F32);
    }
    value
}

/// Something to begin with.
fn start_of(m: &mut Maker<'_>, like: Value) -> Value {
    match m.f.ty(like) {
        Type::F32 => {
            let of = [f32::NAN, 0.0, -0.0, 1.0e9, -1.0e9, f32::INFINITY, f32::NEG_INFINITY];
            let of = of[m.rng.below(7)];
            m.f.constant_value(Constant::number(Type::F32, of.to_bits().into()))
        }
        _ => {
            let of = [0, 3, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff][m.rng.below(5)];
            m.int(like, of)
        }
    }
}

/// Whether a value is better than what is kept so far.
fn compared(m: &mut Maker<'_>, x: Value, kept: Value) -> Value {
    let op = if m.f.ty(x) == INT {
        let preds = [IntPred::Slt, IntPred::Sle, IntPred::Sgt, IntPred::Sge, IntPred::Ult, IntPred::Uge];
        Op::ICmp(preds[m.rng.below(6)])
    } else {
        // Unordered comparisons take NaNs, and are refused.
        let preds = [FloatPred::Olt, FloatPred::Ole, FloatPred::Ogt, FloatPred::Oge, FloatPred::Ult];
        let known = if m.rng.chance(1, 8) { 5 } else { 4 };
        Op::FCmp(preds[m.rng.below(known)])
    };
    let args = if m.rng.chance(1, 2) { [x, kept] } else { [kept, x] };
    m.value(op, &args, Type::BOOL)
}
