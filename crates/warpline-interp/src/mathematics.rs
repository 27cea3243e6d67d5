//! Mathematics that is computed elsewhere: where a program is compared bit for bit with one that computes elementary
//! functions otherwise than the C library, the interpreter must compute them so, too.

use super::code::{Call, Ins};
use super::exec::{Exec, Frame};
use super::scalar::{check_fast_math, propagate};
use super::value::{Cell, LaneSet};
use warpline_ir::{FloatKind, Function, Type, Value};

/// Functions of `float` or `double` numbers that somebody else computes.
pub trait Mathematics {
    /// The number of the function that calls by this name mean, if it is one of them.
    fn find(&self, name: &str) -> Option<usize>;

    /// The bits of what a function yields for numbers with these bits.
    fn compute(&mut self, function: usize, args: &[u64]) -> u64;
}

/// The format that all operands and the result of a call share, if there are any and it is `float` or `double`.
pub(super) fn format(func: &Function, args: &[Value], result: Option<Value>) -> Option<FloatKind> {
    let Type::Float(kind @ (FloatKind::Float | FloatKind::Double)) = func.ty(result?) else { return None };
    let same = args.iter().all(|&v| func.ty(v) == Type::Float(kind));
    (same && !args.is_empty()).then_some(kind)
}

impl Exec<'_, '_, '_> {
    /// Calls one of these functions in each lane.
    pub(super) fn compute(
        &mut self,
        frame: &mut Frame,
        ins: &Ins,
        call: &Call,
        (function, kind): (usize, FloatKind),
        lanes: LaneSet,
    ) {
        for lane in lanes.iter() {
            let mut cells: Vec<Cell> = call.args.iter().map(|(a, _)| frame.cell(lane, *a)).collect();
            let result = match (propagate(&cells), &mut self.m.mathematics) {
                (Some(undefined), _) => undefined,
                (None, None) => Cell::POISON,
                (None, Some(mathematics)) => {
                    let args: Vec<u64> = cells.iter().map(|c| c.bits as u64).collect();
                    cells.push(Cell::new(mathematics.compute(function, &args).into()));
                    check_fast_math(ins.flags, kind, &cells)
                }
            };
            frame.set(lane, ins.dst, &[result]);
        }
    }
}
