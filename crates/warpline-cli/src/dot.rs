//! `analyze --format dot`: control-flow graphs for Graphviz, with what diverges in them.

use std::fmt::Write as _;

use warpline::demangle;
use warpline::ir::{Function, Module};
use warpline::printable::line;
use warpline::uniformity::Uniformity;
use warpline::uniformity::report::FunctionReport;

use crate::chain::Place;

/// The graph of a function: divergent branches are red, edges by which lanes leave a loop apart dashed.
pub(crate) fn graph(module: &Module, func: &Function, result: &Uniformity) -> String {
    let names = result.names(func);
    let cycles = result.cycles();
    let name = quoted(&demangle(&func.name));
    let shares =
        quoted(&format!("{}: {}", demangle(&func.name), FunctionReport::new(module, func, result).shares()));
    let mut out = format!(
        "digraph {name} {{\n  label={shares};\n  node [shape=box, fontname=\"sans-serif\", style=filled, \
         fillcolor=\"#eef3f8\", color=\"#9db3c8\"];\n"
    );
    for &b in &func.layout {
        let place =
            Place::of_block(module, func, b).map_or(String::new(), |place| format!("\n{}", place.short()));
        let label = quoted(&format!("{}{place}", names.block(func, b)));
        let color = match result.is_divergent_branch(b) {
            true => ", fillcolor=\"#ffdedb\", color=\"#a3261c\"",
            false => "",
        };
        let _ = writeln!(out, "  {b} [label={label}{color}];");
    }
    for (b, t) in func.layout.iter().flat_map(|&b| func.successors(b).map(move |t| (b, t))) {
        let mut left = cycles.around(b.into()).take_while(|&c| !cycles.contains(c, t.into()));
        let apart = left.any(|c| result.is_left_apart_between(c, b, t));
        let _ =
            writeln!(out, "  {b} -> {t}{};", if apart { " [color=\"#a3261c\", style=dashed]" } else { "" });
    }
    out + "}\n"
}

/// A text between quotation marks.
fn quoted(text: &str) -> String {
    let lines: Vec<String> =
        text.split('\n').map(|part| line(part).replace('\\', "\\\\").replace('"', "\\\"")).collect();
    format!("\"{}\"", lines.join("\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_inputs_do_not_end_a_text() {
        assert_eq!(quoted("a\"b\\\nc"), "\"a\\\"b\\\\\\nc\"");
    }
}
