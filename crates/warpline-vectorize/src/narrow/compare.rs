//! Comparisons of integers that fit fewer bits.
//!
//! Where both sides fit, they are compared as they are in fewer bits. Where one is the same in all lanes and may be
//! any number, such as a threshold that is a parameter, it is brought to the nearest number that fits, and the result
//! is corrected by whether it had to be: computed once for all lanes. A difference that is compared with zero needs a
//! bit more than what it is of: that is compared instead.

use warpline_ir::{BinaryOp, Function, Inst, InstFlags, IntPred, Op, Type, Value};

use super::bounds::{Bounds, operands};
use super::plan::mask;

/// How a comparison is done in fewer bits.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Compared {
    pub(super) pred: IntPred,
    pub(super) args: [Value; 2],
    /// Which operand is brought to the nearest number that fits, if one is.
    pub(super) clamped: Option<usize>,
}

/// Whether an order is one of signed numbers.
fn is_signed(pred: IntPred) -> bool {
    matches!(pred, IntPred::Sgt | IntPred::Sge | IntPred::Slt | IntPred::Sle)
}

/// The same order of unsigned numbers.
fn unsigned(pred: IntPred) -> IntPred {
    match pred {
        IntPred::Sgt => IntPred::Ugt,
        IntPred::Sge => IntPred::Uge,
        IntPred::Slt => IntPred::Ult,
        IntPred::Sle => IntPred::Ule,
        other => other,
    }
}

impl Compared {
    /// How a comparison is done in so many bits, fewer than its operands have. `is_uniform` says of an operand whether
    /// all lanes have the same.
    pub(super) fn of(
        bounds: &Bounds<'_>,
        func: &Function,
        inst: Inst,
        bits: u32,
        is_uniform: impl Fn(Value) -> bool,
    ) -> Option<Compared> {
        let data = &func.insts[inst];
        let (Op::ICmp(pred), &[x, y]) = (&data.op, &data.args[..]) else { return None };
        let fitting = fitting(bounds, *pred, inst, [x, y], bits);
        let difference = || {
            let (made, args) = difference(bounds, func, *pred, [x, y])?;
            self::fitting(bounds, *pred, made, args, bits)
        };
        fitting.or_else(difference).or_else(|| {
            let natural = |v: Value| bounds.fits_unsigned((v, inst), bits);
            let at = [(x, y), (y, x)].iter().position(|&(u, v)| is_uniform(u) && natural(v))?;
            Some(Compared { pred: unsigned(*pred), args: [x, y], clamped: Some(at) })
        })
    }
}

/// The comparison of two numbers that fit, as an instruction sees them.
fn fitting(bounds: &Bounds<'_>, pred: IntPred, by: Inst, args: [Value; 2], bits: u32) -> Option<Compared> {
    // The order of numbers that fit is the same for signed and unsigned readings of the wide ones; negative ones keep
    // the order that they are compared in.
    let pred = if args.iter().all(|&v| bounds.fits_unsigned((v, by), bits)) {
        unsigned(pred)
    } else {
        args.iter().all(|&v| bounds.fits_signed((v, by), bits)).then_some(pred)?
    };
    Some(Compared { pred, args, clamped: None })
}

/// What is compared where a difference that does not wrap is compared with zero, and the difference.
fn difference(
    bounds: &Bounds<'_>,
    func: &Function,
    pred: IntPred,
    [x, y]: [Value; 2],
) -> Option<(Inst, [Value; 2])> {
    let in_order = is_signed(pred) || matches!(pred, IntPred::Eq | IntPred::Ne);
    let args = operands(func, x, BinaryOp::Sub).filter(|_| in_order && func.as_int(y) == Some(0))?;
    let made = func.def_inst(x)?;
    let has_flag = func.insts[made].flags.contains(InstFlags::NSW);
    (has_flag || args.iter().all(|&v| bounds.has_room((v, made)))).then_some((made, args))
}

/// What a clamped operand becomes.
pub(super) struct Clamped {
    /// The nearest number that fits, in the width that the operand has.
    pub(super) nearest: Value,
    /// The result where the operand is too small, where the comparison of the nearest does not say the same.
    pub(super) below: Option<(Value, bool)>,
    /// The same where it is too great.
    pub(super) above: Option<(Value, bool)>,
}

/// Makes the nearest unsigned number of `bits` bits of a value that is compared with such numbers, in front of the
/// comparison.
pub(super) fn clamp(
    func: &mut Function,
    put: &mut impl FnMut(&mut Function, Op, &[Value], Type) -> Value,
    inst: Inst,
    (at, bits): (usize, u32),
) -> Option<Clamped> {
    let Op::ICmp(pred) = func.insts[inst].op else { return None };
    let x = func.insts[inst].args[at];
    let ty = func.ty(x);
    let own = ty.int_bits()?;
    // Each use of what is undefined may be another number.
    let x = if func.constant(x).is_some() { x } else { put(func, Op::Freeze, &[x], ty) };
    let zero = func.int_const(own, 0);
    let greatest = func.int_const(own, mask(bits));
    let is_signed = is_signed(pred);
    let too_great =
        put(func, Op::ICmp(if is_signed { IntPred::Sgt } else { IntPred::Ugt }), &[x, greatest], Type::BOOL);
    let mut nearest = put(func, Op::Select, &[too_great, greatest, x], ty);
    let too_small = is_signed.then(|| put(func, Op::ICmp(IntPred::Slt), &[x, zero], Type::BOOL));
    if let Some(too_small) = too_small {
        nearest = put(func, Op::Select, &[too_small, zero, nearest], ty);
    }
    let (if_small, if_great) = outside(pred, at == 0);
    // What the nearest number gives for all others: only with those that are equal to it is that another result.
    let told = |pred: IntPred, first: bool, result: bool, least: bool| {
        let holds = |a: u32, b: u32| if first { compare(pred, a, b) } else { compare(pred, b, a) };
        // The nearest number is 0 or 2, what it is compared with lies between 0 and 2.
        let nearest = if least { 0 } else { 2 };
        (0..=2).all(|other| holds(nearest, other) == result)
    };
    let first = at == 0;
    let below = too_small.filter(|_| !told(pred, first, if_small, true)).map(|c| (c, if_small));
    let above = (!told(pred, first, if_great, false)).then_some((too_great, if_great));
    Some(Clamped { nearest, below, above })
}

/// The results of a comparison with a number that is smaller, and with one that is greater than all others. `first`
/// says whether that is the first operand.
fn outside(pred: IntPred, first: bool) -> (bool, bool) {
    let (small, great) = if first { (0, 2) } else { (2, 0) };
    (compare(pred, small, 1), compare(pred, great, 1))
}

/// A comparison of numbers that are not negative.
fn compare(pred: IntPred, a: u32, b: u32) -> bool {
    match unsigned(pred) {
        IntPred::Eq => a == b,
        IntPred::Ne => a != b,
        IntPred::Ugt => a > b,
        IntPred::Uge => a >= b,
        IntPred::Ult => a < b,
        _ => a <= b,
    }
}
