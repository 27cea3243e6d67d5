//! `warpline-bench uniformity`: the table of paper 1, Figure 4, for the product and the two baselines.
//!
//! Every function of every input is analysed by the three algorithms in turn, several times over; the order changes
//! from run to run. A function's times are medians over the runs, an input's are the sums over its functions. Only
//! the analysis is timed, not reading the input.
//!
//! Without inputs the table is about paper 1, Figure 5: which branches decide, by earlier criteria.

mod figure;
mod measure;

use std::io::IsTerminal as _;

use serde::Serialize;
use warpline::uniformity::Algorithm;

use crate::options::BenchUniformityOptions;
use measure::{Counts, Suite, Timing};
use warpline_cli::Outcome;
use warpline_cli::cli::Format;
use warpline_cli::output;
use warpline_cli::table::{Table, difference, geometric_mean, quotient, ratio};
use warpline_compile::error::Result;

/// What was measured, for programs.
#[derive(Serialize)]
struct Report {
    runs: usize,
    suites: Vec<Suite>,
    geometric_means: Means,
}

/// Geometric means over the inputs.
#[derive(Serialize)]
struct Means {
    control_postdom_to_joins: Option<f64>,
    control_strong_postdom_to_joins: Option<f64>,
    control_to_full: Option<f64>,
    full_postdom_to_joins: Option<f64>,
    full_strong_postdom_to_joins: Option<f64>,
}

/// Runs the command.
///
/// # Errors
/// Whatever is wrong with inputs and options.
pub(crate) fn uniformity(options: &BenchUniformityOptions) -> Result<Outcome> {
    if options.inputs.is_empty() {
        output::print(&match options.format {
            Format::Text => figure::text(),
            Format::Json => figure::json(),
        })?;
        return Ok(Outcome::Clean);
    }
    let mut suites = Vec::new();
    for path in &options.inputs {
        if std::io::stderr().is_terminal() {
            output::complain(&format!("{} …", path.display()));
        }
        suites.push(measure::suite(path, options.target, options.runs)?);
    }
    let report = Report { runs: options.runs, geometric_means: means(&suites), suites };
    output::print(&match options.format {
        Format::Text => text(&report),
        Format::Json => output::json(&report),
    })?;
    let worse = report.suites.iter().any(|s| !s.less_precise().is_empty());
    Ok(if worse { Outcome::Finding } else { Outcome::Clean })
}

fn full(suite: &Suite, algorithm: Algorithm) -> Option<f64> {
    quotient(suite.times.of(algorithm).full, suite.times.of(Algorithm::Joins).full)
}

/// What an algorithm takes for control flow. An algorithm may prepare only when the first branch is divergent, so
/// this is with what it prepares before.
fn spent(suite: &Suite, algorithm: Algorithm) -> f64 {
    let Timing { setup, control, .. } = *suite.times.of(algorithm);
    setup + control
}

fn control(suite: &Suite, algorithm: Algorithm) -> Option<f64> {
    quotient(spent(suite, algorithm), spent(suite, Algorithm::Joins))
}

fn share(suite: &Suite) -> Option<f64> {
    quotient(spent(suite, Algorithm::Joins), suite.times.of(Algorithm::Joins).full)
}

fn means(suites: &[Suite]) -> Means {
    let mean = |of: &dyn Fn(&Suite) -> Option<f64>| geometric_mean(suites.iter().map(of));
    Means {
        control_postdom_to_joins: mean(&|s| control(s, Algorithm::PostDom)),
        control_strong_postdom_to_joins: mean(&|s| control(s, Algorithm::StrongPostDom)),
        control_to_full: mean(&share),
        full_postdom_to_joins: mean(&|s| full(s, Algorithm::PostDom)),
        full_strong_postdom_to_joins: mean(&|s| full(s, Algorithm::StrongPostDom)),
    }
}

/// All that is printed for people.
fn text(report: &Report) -> String {
    let mut out = String::from("Uniform by joins, and how many more than by strong-postdom (Δ)\n\n");
    out += &counts(&report.suites).text();
    out +=
        &format!("\nTimes in µs, medians of {} runs; ratios to joins; control with set-up\n\n", report.runs);
    out += &times(report).text();
    out.push('\n');
    for suite in &report.suites {
        let worse = suite.less_precise();
        if !worse.is_empty() {
            out += &format!("{}: less precise than strong-postdom in {}\n", suite.name, worse.join(", "));
        }
        let unsound = suite.claimed_by_postdom_alone();
        if unsound > 0 {
            out += &format!(
                "{}: postdom alone calls {unsound} instructions, branches and loops uniform\n",
                suite.name
            );
        }
    }
    if report.suites.iter().all(|s| s.less_precise().is_empty()) {
        out += "nowhere is joins less precise than strong-postdom\n";
    }
    out
}

fn counts(suites: &[Suite]) -> Table {
    let mut table = Table::new(
        2,
        &[
            "input",
            "target",
            "functions",
            "instr.",
            "uniform",
            "Δ",
            "branches",
            "uniform",
            "Δ",
            "loops",
            "uniform",
            "Δ",
        ],
    );
    let row = |name: &str, target: &str, functions: usize, counts: [&Counts; 3]| {
        let mut cells = vec![name.to_owned(), target.to_owned(), functions.to_string()];
        for c in counts {
            cells.extend([c.total.to_string(), c.joins.to_string(), difference(c.gain())]);
        }
        cells
    };
    let mut sums = [Counts::default(), Counts::default(), Counts::default()];
    for s in suites {
        let counts = [&s.instructions, &s.branches, &s.loops];
        sums.iter_mut().zip(counts).for_each(|(sum, c)| *sum += *c);
        table.row(row(&s.name, s.target, s.functions.len(), counts));
    }
    let functions = suites.iter().map(|s| s.functions.len()).sum();
    table.row(row("total", "", functions, sums.each_ref()));
    table
}

fn times(report: &Report) -> Table {
    let mut table = Table::new(
        2,
        &[
            "input",
            "target",
            "control",
            "postdom",
            "strong",
            "control/full",
            "set-up",
            "postdom",
            "strong",
            "full",
            "postdom",
            "strong",
        ],
    );
    let micros = |v: f64| format!("{v:.0}");
    for s in &report.suites {
        let [joins, postdom, strong] = Algorithm::ALL.map(|a| s.times.of(a));
        table.row(vec![
            s.name.clone(),
            s.target.to_owned(),
            micros(spent(s, Algorithm::Joins)),
            ratio(control(s, Algorithm::PostDom)),
            ratio(control(s, Algorithm::StrongPostDom)),
            ratio(share(s)),
            micros(joins.setup),
            micros(postdom.setup),
            micros(strong.setup),
            micros(joins.full),
            ratio(full(s, Algorithm::PostDom)),
            ratio(full(s, Algorithm::StrongPostDom)),
        ]);
    }
    let m = &report.geometric_means;
    let none = String::new;
    table.row(vec![
        "geometric mean".to_owned(),
        none(),
        none(),
        ratio(m.control_postdom_to_joins),
        ratio(m.control_strong_postdom_to_joins),
        ratio(m.control_to_full),
        none(),
        none(),
        none(),
        none(),
        ratio(m.full_postdom_to_joins),
        ratio(m.full_strong_postdom_to_joins),
    ]);
    table
}
