//! Which of two values is the better one, as a comparison says: what [selections](crate::loops) of a loop and records
//! in memory (`dependences::records`) go by.

use warpline_dataflow::conditions::{inverse, swapped};
use warpline_ir::{Combine, FloatPred, IntPred, Op};

/// A strict comparison, and what happens to values that are equal.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Better {
    /// The comparison.
    pub(crate) order: Order,
    /// Whether a value also replaces an equal one.
    pub(crate) last_of_equals: bool,
}

/// A strict order of values.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// Of integers.
    Int(IntPred),
    /// Of floating-point numbers.
    Float(FloatPred),
}

impl Better {
    /// How a value is better than another one where a comparison of the two holds, or, if `when` is false, fails. It is
    /// the comparison's first operand or, if `is_first` is false, its second one. Also whether NaNs, which are neither
    /// better nor worse, are taken or replaced.
    pub(crate) fn of(op: &Op, is_first: bool, when: bool) -> Option<(Better, bool)> {
        match *op {
            Op::ICmp(pred) => {
                let pred = if when { pred } else { inverse(pred) };
                let pred = if is_first { pred } else { swapped(pred) };
                let (strict, last_of_equals) = match pred {
                    IntPred::Slt | IntPred::Sgt | IntPred::Ult | IntPred::Ugt => (pred, false),
                    IntPred::Sle => (IntPred::Slt, true),
                    IntPred::Sge => (IntPred::Sgt, true),
                    IntPred::Ule => (IntPred::Ult, true),
                    IntPred::Uge => (IntPred::Ugt, true),
                    IntPred::Eq | IntPred::Ne => return None,
                };
                Some((Better { order: Order::Int(strict), last_of_equals }, false))
            }
            Op::FCmp(pred) => {
                // An ordered comparison that fails is an unordered one that holds: a NaN would be taken.
                let takes_nans = match pred {
                    FloatPred::Olt | FloatPred::Ole | FloatPred::Ogt | FloatPred::Oge => !when,
                    _ => when,
                };
                let (strict, last_of_equals) = match (pred, when) {
                    (FloatPred::Olt | FloatPred::Ult, true) => (FloatPred::Olt, false),
                    (FloatPred::Ole | FloatPred::Ule, true) => (FloatPred::Olt, true),
                    (FloatPred::Ogt | FloatPred::Ugt, true) => (FloatPred::Ogt, false),
                    (FloatPred::Oge | FloatPred::Uge, true) => (FloatPred::Ogt, true),
                    // What is not unordered and greater or equal is less.
                    (FloatPred::Oge | FloatPred::Uge, false) => (FloatPred::Olt, false),
                    (FloatPred::Ogt | FloatPred::Ugt, false) => (FloatPred::Olt, true),
                    (FloatPred::Ole | FloatPred::Ule, false) => (FloatPred::Ogt, false),
                    (FloatPred::Olt | FloatPred::Ult, false) => (FloatPred::Ogt, true),
                    _ => return None,
                };
                let strict = match (is_first, strict) {
                    (true, strict) => strict,
                    (false, FloatPred::Olt) => FloatPred::Ogt,
                    (false, _) => FloatPred::Olt,
                };
                Some((Better { order: Order::Float(strict), last_of_equals }, takes_nans))
            }
            _ => None,
        }
    }
}

impl Order {
    /// What finds the best of several values.
    pub(crate) fn combine(self) -> Combine {
        match self {
            Order::Int(IntPred::Slt) | Order::Float(FloatPred::Olt) => Combine::Min,
            Order::Int(IntPred::Ult) => Combine::UMin,
            Order::Int(IntPred::Ugt) => Combine::UMax,
            _ => Combine::Max,
        }
    }
}
