//! `warpline-bench linearize`: how the cost of vectorizing grows with the size of the kernel (paper 3, Sec. 3:
//! linearization visits each block once).
//!
//! Kernels in the shapes of [`growing_kernels`] are vectorized with numbers of blocks that double. Each
//! is measured in a process of its own, so that the peak of its memory is known. The exponents are those of the power
//! of the number of blocks that fits the largest three sizes best: 1 is linear. The number of operands in the result,
//! φs included, stands beside them. Where that grows faster than the kernel, for as many masks live side by side as
//! there are blocks, time cannot grow less.

mod measure;

use std::io::IsTerminal as _;
use std::process::Command;

use serde::Serialize;
use warpline_testkit::growing_kernels;

use crate::options::BenchLinearizeOptions;
use measure::{Measurement, STAGES};
use warpline_cli::Outcome;
use warpline_cli::cli::TableFormat;
use warpline_cli::output;
use warpline_cli::table::Table;
use warpline_compile::error::{Error, Result};

/// The numbers of blocks, unless others are asked for.
const SIZES: [usize; 5] = [3_125, 6_250, 12_500, 25_000, 50_000];

/// How many of the largest sizes an exponent is fitted to.
const FITTED: usize = 3;

/// What was measured, for programs.
#[derive(Serialize)]
struct Report {
    runs: usize,
    measurements: Vec<Measurement>,
    growth: Vec<Growth>,
}

/// Exponents of one shape; none where there are not two sizes.
#[derive(Serialize)]
struct Growth {
    shape: String,
    time: Option<f64>,
    peak: Option<f64>,
    operands: Option<f64>,
    /// The stage that takes longest at the largest size.
    stage: String,
}

/// Runs the command.
///
/// # Errors
/// Whatever is wrong with the options, or if a kernel cannot be vectorized.
pub(crate) fn linearize(options: &BenchLinearizeOptions) -> Result<Outcome> {
    if let ([shape], [size], TableFormat::Json) =
        (options.shapes.as_slice(), options.sizes.as_slice(), options.format)
    {
        output::print(&output::json(&measure::measure(shape, *size, options.runs)?))?;
        return Ok(Outcome::Clean);
    }
    let sizes = if options.sizes.is_empty() { SIZES.to_vec() } else { options.sizes.clone() };
    let mut measurements = Vec::new();
    for (shape, _) in growing_kernels::SHAPES {
        if !options.shapes.is_empty() && !options.shapes.iter().any(|s| s == shape) {
            continue;
        }
        for &size in &sizes {
            if std::io::stderr().is_terminal() {
                output::complain(&format!("{shape}, {size} blocks …"));
            }
            let found = in_child(shape, size, options.runs)?;
            let too_long = found.total > options.patience as f64 * 1e3;
            measurements.push(found);
            if too_long {
                break;
            }
        }
    }
    let growth = measurements.chunk_by(|a, b| a.shape == b.shape).map(growth).collect();
    let report = Report { runs: options.runs, measurements, growth };
    output::print(&match options.format {
        TableFormat::Text => text(&report, Table::text),
        TableFormat::Markdown => text(&report, Table::markdown),
        TableFormat::Json => output::json(&report),
    })?;
    Ok(Outcome::Clean)
}

/// Measures in a process that does nothing else.
fn in_child(shape: &str, size: usize, runs: usize) -> Result<Measurement> {
    let wrong = |reason: String| Error::Vectorize(format!("{shape} of {size} blocks: {reason}"));
    let program = std::env::current_exe().map_err(|e| wrong(e.to_string()))?;
    let output = Command::new(program)
        .args(["linearize", "--format", "json", "--shape", shape])
        .args(["--sizes", &size.to_string(), "--runs", &runs.to_string()])
        .output()
        .map_err(|e| wrong(e.to_string()))?;
    if !output.status.success() {
        return Err(wrong(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    serde_json::from_slice(&output.stdout).map_err(|e| wrong(e.to_string()))
}

/// How a shape grows, given its measurements by increasing size.
fn growth(of: &[Measurement]) -> Growth {
    let fitted = &of[of.len().saturating_sub(FITTED)..];
    let points = |value: &dyn Fn(&Measurement) -> f64| -> Vec<(f64, f64)> {
        fitted.iter().map(|m| (m.blocks as f64, value(m))).collect()
    };
    let longest = of[of.len() - 1].stages.iter().max_by(|a, b| a.1.total_cmp(b.1));
    Growth {
        shape: of[0].shape.clone(),
        time: exponent(&points(&|m| m.total)),
        peak: exponent(&points(&|m| m.peak.unwrap_or(0) as f64)),
        operands: exponent(&points(&|m| m.operands as f64)),
        stage: longest.map_or_else(String::new, |(name, _)| name.clone()),
    }
}

/// The exponent *k* for which *x*ᵏ, times a constant, fits the points best, by least squares of logarithms; none for
/// fewer than two different *x* and for points that are not positive.
fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    if points.iter().any(|&(x, y)| x <= 0.0 || y <= 0.0) {
        return None;
    }
    let n = points.len() as f64;
    let logs = points.iter().map(|&(x, y)| (x.ln(), y.ln()));
    let (x, y) = logs.clone().fold((0.0, 0.0), |(x, y), (a, b)| (x + a / n, y + b / n));
    let (above, below) = logs
        .fold((0.0, 0.0), |(above, below), (a, b)| (above + (a - x) * (b - y), below + (a - x) * (a - x)));
    (below > 1e-9).then_some(above / below)
}

/// All tables, for people.
fn text(report: &Report, print: impl Fn(&Table) -> String) -> String {
    let mut all = Table::new(1, &["shape", "blocks", "edges", "operands", "ms", "ns/edge", "peak MiB"]);
    let mut headings = vec!["shape", "blocks"];
    headings.extend(STAGES.map(|(name, _)| name));
    let mut stages = Table::new(1, &headings);
    for m in &report.measurements {
        let per_edge = m.total * 1e6 / m.edges as f64;
        let peak = m.peak.map_or_else(|| "–".into(), |kib| format!("{:.1}", kib as f64 / 1024.0));
        all.row(vec![
            m.shape.clone(),
            m.blocks.to_string(),
            m.edges.to_string(),
            m.operands.to_string(),
            format!("{:.1}", m.total),
            format!("{per_edge:.0}"),
            peak,
        ]);
        let mut row = vec![m.shape.clone(), m.blocks.to_string()];
        row.extend(
            STAGES.iter().map(|(name, _)| format!("{:.1}", m.stages.get(*name).copied().unwrap_or(0.0))),
        );
        stages.row(row);
    }
    let mut exponents = Table::new(1, &["shape", "time", "peak", "operands", "longest stage"]);
    for g in &report.growth {
        let of = |e: Option<f64>| e.map_or_else(|| "–".to_owned(), |e| format!("{e:.2}"));
        exponents.row(vec![g.shape.clone(), of(g.time), of(g.peak), of(g.operands), g.stage.clone()]);
    }
    format!(
        "Milliseconds of processor time, medians of {} runs\n\n{}\nMilliseconds by stage\n\n{}\nExponents of \
         growth\n\n{}",
        report.runs,
        print(&all),
        print(&stages),
        print(&exponents),
    )
}

#[cfg(test)]
mod tests {
    use super::exponent;

    #[test]
    fn exponents_are_those_of_powers() {
        let squares: Vec<(f64, f64)> = [2.0, 4.0, 8.0].map(|x| (x, 5.0 * x * x)).to_vec();
        assert!((exponent(&squares).unwrap() - 2.0).abs() < 1e-9);
        assert_eq!(exponent(&[(3.0, 1.0)]), None);
        assert_eq!(exponent(&[(3.0, 1.0), (6.0, 0.0)]), None);
    }
}
