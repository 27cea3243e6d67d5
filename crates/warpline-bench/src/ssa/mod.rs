//! `warpline-bench ssa`: Tables 2 to 5 of paper 5, for the precise placement and three baselines.
//!
//! φs are placed in every function of every input: by the paper's reaching definitions, by the fast precise
//! placement, by dominance frontiers stored (Cytron et al.) and found on the fly (Sreedhar and Gao), and by Braun et
//! al. Memory that can be promoted counts as variables; for precise placements none holds a value on entry
//! (parameters are stored there), for the others all do.
//!
//! Every sample starts with the graph and the accesses alone: dominators are part of it wherever a method needs them.
//! Methods take turns in a changing order; a function's times are medians over the samples, a program's the sums over
//! its functions.
//!
//! The exit code is 1 if the fast precise placement is not that by reaching definitions.

mod exit;
mod measure;
mod paper;
mod tables;

use std::time::Duration;

use serde::Serialize;

use crate::files::{expand, line_name};
use crate::options::BenchSsaOptions;
use measure::{File, Sums};
use tables::Row;
use warpline_cli::Outcome;
use warpline_cli::cli::TableFormat;
use warpline_cli::output;
use warpline_cli::sampling::Sampling;
use warpline_cli::table::Table;
use warpline_compile::error::Result;

/// A sample lasts at least so long.
const LEAST: Duration = Duration::from_micros(20);

/// What was measured, for programs.
#[derive(Serialize)]
struct Report {
    runs: usize,
    total: Sums,
    files: Vec<File>,
}

/// Runs the command.
///
/// # Errors
/// Whatever is wrong with inputs and options.
pub(crate) fn ssa(options: &BenchSsaOptions) -> Result<Outcome> {
    let sampling = Sampling { runs: options.runs, least: LEAST };
    let paths = expand(&options.inputs)?;
    let files = paths.iter().map(|path| measure::file(path, sampling)).collect::<Result<Vec<_>>>()?;
    let report =
        Report { runs: options.runs, total: Sums::of(files.iter().flat_map(|f| &f.procedures)), files };
    output::print(&match options.format {
        TableFormat::Text => text(&report, options, Table::text),
        TableFormat::Markdown => text(&report, options, Table::markdown),
        TableFormat::Json => output::json(&report),
    })?;
    let agree = report.files.iter().flat_map(|f| &f.procedures).all(|p| p.agrees);
    Ok(if agree { Outcome::Clean } else { Outcome::Finding })
}

/// The rows of Tables 2 to 4.
fn rows(files: &[File], by_program: bool) -> Vec<Row<'_>> {
    let mut rows: Vec<Row> = Vec::new();
    for file in files {
        let name = line_name(&file.name, by_program);
        match rows.iter_mut().find(|row| by_program && row.name == name) {
            Some(row) => {
                row.procedures.extend(&file.procedures);
                row.lines = row.lines.zip(file.lines).map(|(a, b)| a + b);
            }
            None => rows.push(Row {
                name: name.to_owned(),
                lines: file.lines,
                procedures: file.procedures.iter().collect(),
                sums: Sums::default(),
            }),
        }
    }
    for row in &mut rows {
        row.sums = Sums::of(row.procedures.iter().copied());
    }
    rows
}

/// All tables, with headings.
fn text(report: &Report, options: &BenchSsaOptions, print: impl Fn(&Table) -> String) -> String {
    let rows = rows(&report.files, options.by_program);
    let mut out = String::new();
    let mut section = |heading: &str, table: &Table| {
        let mark = if options.format == TableFormat::Markdown { "### " } else { "" };
        let between = if out.is_empty() { "" } else { "\n" };
        out += &format!("{between}{mark}{heading}\n\n{}", print(table));
    };
    section("Table 2: sizes", &tables::sizes(&rows));
    section("Table 3: φs, at the exit too and without", &tables::counts(&rows));
    section("φs by the other placements", &tables::prunings(&rows));
    section(
        "Table 4: procedures by time, reaching definitions to Cytron's dominance frontiers",
        &tables::shares(&rows, "reaching definitions", |t| t.reaching_definitions),
    );
    section(
        "Table 4: procedures by time, precise to Cytron's dominance frontiers",
        &tables::shares(&rows, "precise", |t| t.precise),
    );
    section(
        &format!(
            "Procedures of more than {} blocks: precise to the faster of Cytron and Sreedhar–Gao",
            measure::SMALL
        ),
        &tables::worst(&rows, "minimal", |t| (t.precise, t.baseline())),
    );
    section(
        "The same, all pruned",
        &tables::worst(&rows, "pruned", |t| (t.precise_pruned, t.cytron_pruned.min(t.sreedhar_gao_pruned))),
    );
    section(
        "The same, pruned, with Braun among the baselines",
        &tables::worst(&rows, "pruned", |t| (t.precise_pruned, t.pruned_baseline())),
    );
    section("Times, minimal (Braun's placement is pruned)", &tables::totals(&rows, false));
    section("Times, pruned", &tables::totals(&rows, true));
    section("Table 5: by file, times in µs", &tables::files(&report.files, options.rows));
    section("Table 5: by function, times in µs", &tables::functions(&report.files, options.rows));
    if let Some(table) = tables::beside_the_paper(&report.files) {
        section("Table 5: Perl, beside the paper's figures", &table);
    }
    let differing: Vec<&str> =
        report.files.iter().flat_map(|f| &f.procedures).filter(|p| !p.agrees).map(|p| &*p.name).collect();
    out += "\n";
    out += &match differing[..] {
        [] => "precise placement is that by reaching definitions, φ by φ\n".to_owned(),
        _ => format!("precise placement and reaching definitions DIFFER in {}\n", differing.join(", ")),
    };
    out += &format!("(medians of {} samples of at least {} µs)\n", report.runs, LEAST.as_micros());
    out
}
