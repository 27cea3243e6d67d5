//! What is reported of ranges.

use std::fmt::Write as _;

use serde::Serialize;
use warpline_analysis::Node;

use super::{Assumptions, Ranges};
use crate::Code;
use crate::at_definitions::AtDefinitions;
use crate::report::{Report, Solver, Work};
use warpline_ir::Place;
use warpline_ir::{Function, Module};

/// The range of an integer where it is defined.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ValueRange {
    /// The value.
    pub name: String,
    /// Its width in bits.
    pub bits: u32,
    /// The least and the greatest unsigned number, in decimal.
    pub unsigned: [String; 2],
    /// The least and the greatest signed number, in decimal.
    pub signed: [String; 2],
    /// The range for people.
    pub range: String,
    /// Where it is computed, if known.
    pub place: Option<Place>,
}

/// The ranges of one function.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct RangesReport {
    /// The integers of which something is known, in the order of the code. Truth values that are not constant are
    /// none of them.
    pub values: Vec<ValueRange>,
    /// How many integers there are in blocks that are reached.
    pub integers: usize,
}

/// How many sweeps of narrowing are made.
const SWEEPS: usize = 2;

/// Finds the ranges of a function in SSA form, with what is assumed of its surroundings.
pub fn analyze<A: Assumptions>(
    module: &Module,
    func: &Function,
    assumptions: A,
    solver: Solver,
) -> (RangesReport, Work) {
    let code = Code::with_makers(func);
    let problem = Ranges::with(module, func, &code, assumptions);
    let (found, solution) =
        AtDefinitions::forward(code.program(), &Ranges::<()>::STRATEGY, &problem, solver, SWEEPS);
    let mut report = RangesReport::default();
    let reached = func.layout.iter().filter(|&&b| solution.is_reached(Node::from(b)));
    for i in reached.flat_map(|&b| func.block_insts(b)) {
        for &v in &func.insts[i].results {
            let Some(range) = found.fact(v).range() else { continue };
            report.integers += 1;
            if range.is_full() {
                continue;
            }
            report.values.push(ValueRange {
                name: func.value_name(v),
                bits: range.bits(),
                unsigned: [range.low(), range.high()].map(|n| n.to_string()),
                signed: [range.least(), range.greatest()].map(|n| n.to_string()),
                range: range.to_string(),
                place: Place::of(module, func, func.insts[i].loc.expand()),
            });
        }
    }
    (report, found.work())
}

impl Report for RangesReport {
    fn write_text(&self, out: &mut String) {
        for v in &self.values {
            let place = v.place.as_ref().map_or(String::new(), |p| format!(" ({})", p.short()));
            let _ = writeln!(out, "  {} is in {}{place}", v.name, v.range);
        }
    }
}
