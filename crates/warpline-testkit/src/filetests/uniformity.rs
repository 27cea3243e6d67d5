//! The command that shows the uniformity analysis.

use std::fmt::Write as _;

use warpline_uniformity::report::{FunctionReport, Report};
use warpline_uniformity::shape::{ArgShape, Shape, parse_args};
use warpline_uniformity::{Options, Uniformity};

use super::Case;

/// The report, and behind it the shapes of all values that are not uniform. The arguments are a list of shapes as on
/// the command line; parameters that are not mentioned vary.
pub(super) fn uniformity(case: &Case<'_>) -> String {
    let args = match parse_args(case.args, case.module, case.func) {
        Ok(args) => args.into_iter().map(|a| a.unwrap_or(ArgShape::Varying)).collect(),
        Err(e) => return format!("error: {e}\n"),
    };
    let result = Uniformity::compute(case.module, case.func, &Options::with_args(args));
    let report = FunctionReport::new(case.module, case.func, &result);
    let mut out = Report { functions: vec![report], ..Report::default() }.text();
    let insts = case.func.layout.iter().flat_map(|&b| case.func.block_insts(b));
    for v in insts.flat_map(|i| case.func.insts[i].results.iter().copied()) {
        let shape = result.shape(v);
        let scalar = match shape {
            Shape::Uniform => continue,
            Shape::Strided(s) if !s.anchored => ", not from lane 0",
            Shape::Strided(_) | Shape::Varying => "",
        };
        let _ = writeln!(out, "{}: {shape}{scalar}", case.func.value_name(v));
    }
    out
}
