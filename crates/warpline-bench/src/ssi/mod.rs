//! `warpline-bench ssi`: Figures 11 to 13 of paper 4, for every strategy that has a name.
//!
//! All functions of every input are brought into pruned SSA form first, which is not measured. The time of a strategy
//! is that of splitting live ranges given a function's uses, definitions and tests, dominators included; what it
//! takes to collect these is shown beside it. Everything is relative to Singer's SSI form, which is made by the same
//! code for frontiers, renaming and cleaning. Strategies take turns in a changing order; a function's times are
//! medians over the samples, a program's the sums over its functions. LLVM's time is that of its pass manager with
//! `default<O1>` on the module as it was read; parsing is not counted. All are times of the processor.
//!
//! Some clients' problems are solved sparsely, splitting included, and densely, liveness included.

mod measure;
mod solvers;
mod tables;

use std::time::Duration;

use serde::Serialize;

use crate::files::{expand, line_name};
use crate::options::BenchSsiOptions;
use measure::{File, Sums};
use warpline_cli::Outcome;
use warpline_cli::cli::TableFormat;
use warpline_cli::output;
use warpline_cli::sampling::Sampling;
use warpline_cli::table::Table;
use warpline_compile::error::Result;

/// A sample lasts at least so long.
const LEAST: Duration = Duration::from_micros(10);

/// What was measured, for programs.
#[derive(Serialize)]
struct Report {
    runs: usize,
    o1_runs: usize,
    total: Sums,
    files: Vec<File>,
}

/// Runs the command.
///
/// # Errors
/// Whatever is wrong with inputs and options.
pub(crate) fn ssi(options: &BenchSsiOptions) -> Result<Outcome> {
    let sampling = Sampling { runs: options.runs, least: LEAST };
    let paths = expand(&options.inputs)?;
    let measure = |path| measure::file(path, sampling, options.o1_runs);
    let files = paths.iter().map(|path| measure(path)).collect::<Result<Vec<_>>>()?;
    let total = Sums::of(files.iter().map(|f| &f.sums));
    let report = Report { runs: options.runs, o1_runs: options.o1_runs, total, files };
    output::print(&match options.format {
        TableFormat::Text => text(&report, options, Table::text),
        TableFormat::Markdown => text(&report, options, Table::markdown),
        TableFormat::Json => output::json(&report),
    })?;
    Ok(Outcome::Clean)
}

/// One line for each file or program.
fn rows(files: &[File], by_program: bool) -> Vec<(String, Sums)> {
    let mut rows: Vec<(String, Sums)> = Vec::new();
    for file in files {
        let name = line_name(&file.name, by_program);
        match rows.iter_mut().find(|row| row.0 == name) {
            Some(row) => row.1.add(&file.sums),
            None => rows.push((name.to_owned(), file.sums.clone())),
        }
    }
    rows
}

/// All tables, with headings.
fn text(report: &Report, options: &BenchSsiOptions, print: impl Fn(&Table) -> String) -> String {
    let rows = rows(&report.files, options.by_program);
    let mut out = String::new();
    let mut section = |heading: &str, table: &Table| {
        let mark = if options.format == TableFormat::Markdown { "### " } else { "" };
        let between = if out.is_empty() { "" } else { "\n" };
        out += &format!("{between}{mark}{heading}\n\n{}", print(table));
    };
    section(
        "All programs together, beside the paper's averages",
        &tables::beside_the_paper(&rows, &report.total),
    );
    section("All strategies", &tables::strategies(&report.total));
    section("Figure 11: time, in per cent of Singer's SSI", &tables::times(&rows, &report.total));
    if report.o1_runs > 0 {
        section("Figure 12: time, in per cent of O1 and splitting", &tables::of_o1(&rows, &report.total));
    }
    section("Figure 13: growth, in per cent of instructions", &tables::growth(&rows, &report.total));
    section(
        "Solutions, sparse and dense: times, and how many times faster the sparse one is",
        &tables::solvers(&report.total),
    );
    section(
        "Edges that facts take before SSA form, and plain def-use chains",
        &tables::dependences(&rows, &report.total),
    );
    out += &format!("\n(medians of {} samples of at least {} µs)\n", report.runs, LEAST.as_micros());
    out
}
