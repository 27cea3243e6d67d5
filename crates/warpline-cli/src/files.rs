//! `analyze --summary`: a line for each input, and one for all.

use std::path::Path;

use serde::Serialize;
use warpline::printable::line;
use warpline::uniformity::report::FunctionReport;

/// What there is in an input, and what of it is divergent.
#[derive(Clone, Default, Debug, Serialize)]
pub(crate) struct FileSummary {
    path: String,
    functions: usize,
    divergent_functions: usize,
    branches: usize,
    divergent_branches: usize,
    loops: usize,
    divergent_loops: usize,
    refused: usize,
}

impl FileSummary {
    pub(crate) fn of(path: &Path, functions: &[FunctionReport], refused: usize) -> FileSummary {
        let mut sum = FileSummary { path: path.display().to_string(), refused, ..FileSummary::default() };
        for one in functions {
            let apart = one.cycles.iter().filter(|cycle| cycle.divergent_exit).count();
            sum.functions += 1;
            sum.divergent_functions += usize::from(apart + one.divergent.branches.len() > 0);
            sum.branches += one.branches;
            sum.divergent_branches += one.divergent.branches.len();
            sum.loops += one.cycles.len();
            sum.divergent_loops += apart;
        }
        sum
    }

    fn add(&mut self, other: &FileSummary) {
        self.functions += other.functions;
        self.divergent_functions += other.divergent_functions;
        self.branches += other.branches;
        self.divergent_branches += other.divergent_branches;
        self.loops += other.loops;
        self.divergent_loops += other.divergent_loops;
        self.refused += other.refused;
    }

    fn cells(&self) -> [String; 5] {
        let of = |some: usize, all: usize| format!("{some} of {all}");
        [
            line(&self.path).into_owned(),
            of(self.divergent_functions, self.functions),
            of(self.divergent_branches, self.branches),
            of(self.divergent_loops, self.loops),
            self.refused.to_string(),
        ]
    }
}

/// A table for people: what is divergent of what there is.
pub(crate) fn text(files: &[FileSummary]) -> String {
    let head = ["divergent of all", "functions", "branches", "loops", "refused"].map(str::to_owned);
    let mut rows = vec![head];
    rows.extend(files.iter().map(FileSummary::cells));
    if files.len() > 1 {
        let mut all = FileSummary { path: "in all".into(), ..FileSummary::default() };
        files.iter().for_each(|file| all.add(file));
        rows.push(all.cells());
    }
    // Nobody wants a column of nothing.
    let columns = if files.iter().any(|file| file.refused > 0) { 5 } else { 4 };
    let width = |k: usize| rows.iter().map(|row| row[k].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let shown = |row: &[String; 5]| {
        let cell = |k: usize| match k {
            0 => format!("{:<width$}", row[0], width = widths[0]),
            _ => format!("{:>width$}", row[k], width = widths[k]),
        };
        (0..columns).map(cell).collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(shown).collect()
}
