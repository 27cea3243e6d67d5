//! What conditions tell of the ranges of their operands. `None`: the condition cannot hold.

use super::arithmetic::{binary, compare};
use super::functions::{cast, no_wrap};
use super::range::Range;
use crate::clients::numbers::mask;
use warpline_ir::{BinaryOp, CastOp, Function, InstFlags, IntPred, Op, Value};

/// Both operands of a comparison that holds.
pub fn compared(pred: IntPred, a: &Range, b: &Range) -> Option<[Range; 2]> {
    if compare(pred, a, b) == Some(false) {
        return None;
    }
    let bits = a.bits();
    match pred {
        IntPred::Eq => a.intersection(b).map(|both| [both; 2]),
        IntPred::Ne => {
            let x = b.only().map_or(Some(*a), |v| a.without(v))?;
            let y = a.only().map_or(Some(*b), |v| b.without(v))?;
            Some([x, y])
        }
        IntPred::Ult => Some([
            a.intersection(&Range::unsigned(bits, 0, b.high().checked_sub(1)?)?)?,
            b.intersection(&Range::unsigned(bits, a.low().checked_add(1)?, u128::MAX)?)?,
        ]),
        IntPred::Ule => Some([
            a.intersection(&Range::unsigned(bits, 0, b.high())?)?,
            b.intersection(&Range::unsigned(bits, a.low(), u128::MAX)?)?,
        ]),
        IntPred::Slt => Some([
            a.intersection(&Range::signed(bits, i128::MIN, b.greatest().checked_sub(1)?)?)?,
            b.intersection(&Range::signed(bits, a.least().checked_add(1)?, i128::MAX)?)?,
        ]),
        IntPred::Sle => Some([
            a.intersection(&Range::signed(bits, i128::MIN, b.greatest())?)?,
            b.intersection(&Range::signed(bits, a.least(), i128::MAX)?)?,
        ]),
        IntPred::Ugt | IntPred::Uge | IntPred::Sgt | IntPred::Sge => {
            let [y, x] = compared(crate::conditions::swapped(pred), b, a)?;
            Some([x, y])
        }
    }
}

/// A value that is none of these numbers, as far as bounds tell.
pub(crate) fn none_of(a: &Range, numbers: &[u128]) -> Option<Range> {
    // A bound moves at most once for each number.
    let mut range = *a;
    for _ in numbers {
        let before = range;
        for &n in numbers.iter().filter(|&&n| n <= mask(a.bits())) {
            range = range.without(n)?;
        }
        if range == before {
            break;
        }
    }
    Some(range)
}

/// The value that `result` was made from, from what is known of both. See
/// [`Made::From`](crate::conditions::Made::From).
pub(crate) fn made_from(
    func: &Function,
    result: Value,
    known: &Range,
    from: Value,
    of: &Range,
) -> Option<Range> {
    let Some(inst) = func.def_inst(result) else { return Some(*of) };
    let data = &func.insts[inst];
    let (bits, none) = (of.bits(), InstFlags::empty());
    let other = data.args.iter().find(|&&a| a != from).and_then(|&a| func.as_int(a));
    let constant = |bits| other.map(|c| Range::single(bits, c));
    let told = match (&data.op, constant(bits)) {
        (Op::Binary(BinaryOp::Add), Some(c)) => binary(BinaryOp::Sub, none, known, &c),
        (Op::Binary(BinaryOp::Sub), Some(c)) if data.args[0] == from => {
            binary(BinaryOp::Add, none, known, &c)
        }
        (Op::Binary(BinaryOp::Sub), Some(c)) => binary(BinaryOp::Sub, none, &c, known),
        (Op::Binary(BinaryOp::Xor), Some(c)) => binary(BinaryOp::Xor, none, known, &c),
        (Op::Binary(BinaryOp::Or), Some(c)) if data.flags.contains(InstFlags::DISJOINT) => {
            binary(BinaryOp::Xor, none, known, &c)
        }
        // What is shifted out may be anything.
        (Op::Binary(BinaryOp::LShr), Some(c)) if data.args[0] == from && c.high() < u128::from(bits) => {
            let by = c.low() as u32;
            let (low, high) = (known.low() << by & mask(bits), known.high() << by & mask(bits) | mask(by));
            if known.high() > mask(bits - by) { Some(*of) } else { Range::unsigned(bits, low, high) }
        }
        (Op::Binary(BinaryOp::UDiv), Some(c)) if data.args[0] == from && c.low() > 0 => {
            let low = known.low().checked_mul(c.low());
            let high = known.high().checked_mul(c.low()).and_then(|v| v.checked_add(c.low() - 1));
            low.and_then(|low| Range::unsigned(bits, low, high.unwrap_or(u128::MAX)))
        }
        (Op::Cast(CastOp::ZExt), _) => {
            let fits = known.intersection(&Range::unsigned(known.bits(), 0, mask(bits))?)?;
            cast(CastOp::Trunc, none, &fits, bits)
        }
        (Op::Cast(CastOp::SExt), _) => {
            let (low, high) = (crate::clients::numbers::least(bits), mask(bits - 1) as i128);
            let fits = known.intersection(&Range::signed(known.bits(), low, high)?)?;
            cast(CastOp::Trunc, none, &fits, bits)
        }
        (Op::Cast(CastOp::Trunc), _) if data.flags.contains(InstFlags::NUW) => {
            cast(CastOp::ZExt, none, known, bits)
        }
        (Op::Cast(CastOp::Trunc), _) if data.flags.contains(InstFlags::NSW) => {
            cast(CastOp::SExt, none, known, bits)
        }
        _ => Some(*of),
    };
    of.intersection(&told?)
}

/// Result and operands of an operation that is known not to wrap.
pub fn exact(op: BinaryOp, is_signed: bool, [result, a, b]: [&Range; 3]) -> Option<[Range; 3]> {
    let flag = no_wrap(is_signed);
    let result = result.intersection(&binary(op, flag, a, b)?)?;
    Some(match op {
        BinaryOp::Add => {
            let x = a.intersection(&binary(BinaryOp::Sub, flag, &result, b)?)?;
            let y = b.intersection(&binary(BinaryOp::Sub, flag, &result, &x)?)?;
            [result, x, y]
        }
        BinaryOp::Sub => {
            let x = a.intersection(&binary(BinaryOp::Add, flag, &result, b)?)?;
            let y = b.intersection(&binary(BinaryOp::Sub, flag, &x, &result)?)?;
            [result, x, y]
        }
        _ => [result, *a, *b],
    })
}
