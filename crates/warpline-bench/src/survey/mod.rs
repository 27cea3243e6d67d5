//! `warpline-bench survey`: ordinary functions as people write them, vectorized, against scalar code and the
//! vectorizers of other compilers.
//!
//! Each function of `kernels/survey` is made by several compilers, and by warpline with the number of lanes that it
//! chooses and with each one. A program runs all of them in turns on the same data, and compares what they leave with
//! what scalar code leaves. What it reports: how much is gained, what is slower than scalar code or than other
//! compilers, and how far the chosen number of lanes is from the best one.

pub(crate) mod child;
mod driver;
mod items;
mod measure;
mod model;
mod objects;
mod report;
mod row;
mod sources;
mod statistics;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::files::progress;
use crate::options::{BenchSurveyOptions, SurveyFormat, SurveyWidths};
use measure::Row;
use objects::{Made, Tools, WIDTHS};
use row::Source;
use warpline_cli::Outcome;
use warpline_cli::output;
use warpline_compile::error::{Error, Result};

/// Runs the command.
///
/// # Errors
/// If an input cannot be read or has no header, or no row is asked for.
pub(crate) fn survey(options: &BenchSurveyOptions) -> Result<Outcome> {
    output::check(options.output.as_deref(), &[])?;
    if options.list {
        let labels = asked(options)?.into_iter().flat_map(|(_, rows)| rows).map(|(_, label)| label + "\n");
        output::deliver(options.output.as_deref(), &labels.collect::<String>())?;
        return Ok(Outcome::Clean);
    }
    let all = match options.from.is_empty() {
        true => measured(options)?,
        false => earlier(&options.from)?,
    };
    let wrong = report::wrong(&all);
    let text = match options.format {
        SurveyFormat::Markdown => report::markdown(&all),
        SurveyFormat::Json => output::json(&json!({
            "summaries": report::summaries(&all),
            "wrong": wrong,
            "others_wrong": report::others(&all),
            "rows": all,
        })),
    };
    output::deliver(options.output.as_deref(), &text)?;
    for line in &wrong {
        output::complain(&format!("wrong: {line}"));
    }
    Ok(if wrong.is_empty() { Outcome::Clean } else { Outcome::Finding })
}

/// A function and those of its rows that are asked for, as [`Source::rows`] has them.
type Asked = (Source, Vec<(usize, String)>);

/// The functions and rows that are asked for.
fn asked(options: &BenchSurveyOptions) -> Result<Vec<Asked>> {
    let matches =
        |label: &str| options.filter.is_empty() || options.filter.iter().any(|f| label.contains(f.as_str()));
    let with_rows = |source: Source| {
        let rows: Vec<_> = source.rows().into_iter().filter(|(_, label)| matches(label)).collect();
        (source, rows)
    };
    let mut asked: Vec<_> = sources(&options.inputs)?.into_iter().map(with_rows).collect();
    asked.retain(|(_, rows)| !rows.is_empty());
    match asked.is_empty() {
        true => Err(Error::option("--filter", "no row has such a name")),
        false => Ok(asked),
    }
}

/// Measures all that is asked for.
fn measured(options: &BenchSurveyOptions) -> Result<Vec<Row>> {
    let asked = asked(options)?;
    let tools = Tools::find(options.warpline.clone());
    let cpus = if options.cpu.is_empty() { levels() } else { options.cpu.clone() };
    let mut all = Vec::new();
    for cpu in &cpus {
        for (source, rows) in &asked {
            progress(&format!("{} for {cpu}", source.name));
            measure_source(source, rows, cpu, options, &tools, &mut all)?;
        }
    }
    progress("");
    Ok(all)
}

/// The rows of earlier runs.
fn earlier(paths: &[PathBuf]) -> Result<Vec<Row>> {
    let mut all = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(path).map_err(|e| Error::input(path, e.to_string()))?;
        let mut report: Value = serde_json::from_str(&text).map_err(|e| Error::input(path, e.to_string()))?;
        let rows: Vec<Row> =
            serde_json::from_value(report["rows"].take()).map_err(|e| Error::input(path, e.to_string()))?;
        all.extend(rows);
    }
    Ok(all)
}

/// Makes the variants of a function for a CPU, and measures its rows.
fn measure_source(
    source: &Source,
    rows: &[(usize, String)],
    cpu: &str,
    options: &BenchSurveyOptions,
    tools: &Tools,
    all: &mut Vec<Row>,
) -> Result<()> {
    let temporary =
        tempfile::tempdir().map_err(|e| Error::input(Path::new("the temporary folder"), e.to_string()))?;
    let folder = temporary.path();
    let widths: &[u32] = if options.widths == SurveyWidths::All { &WIDTHS } else { &[] };
    let variants = objects::make(source, cpu, widths, tools, folder);
    for (row, label) in rows {
        let run = driver::Run { row: *row, seed: options.seed, rounds: options.rounds };
        all.push(measure::measure(source, label, cpu, &variants, &run, tools, folder));
    }
    if let Some(keep) = &options.keep {
        for variant in &variants {
            if let Made::Object { path, .. } = &variant.made {
                let to = keep.join(format!("{}-{cpu}-{}.o", source.name, variant.name));
                std::fs::copy(path, &to).map_err(|e| Error::input(&to, e.to_string()))?;
            }
        }
    }
    Ok(())
}

/// The files of the survey, by name; a folder stands for all in it.
fn sources(inputs: &[PathBuf]) -> Result<Vec<Source>> {
    let mut paths = Vec::new();
    for input in inputs {
        if !input.is_dir() {
            paths.push(input.clone());
            continue;
        }
        let entries = std::fs::read_dir(input).map_err(|e| Error::input(input, e.to_string()))?;
        let known = |p: &PathBuf| p.extension().is_some_and(|e| e == "c" || e == "rs" || e == "cl");
        paths.extend(entries.flatten().map(|entry| entry.path()).filter(known));
    }
    paths.sort();
    paths.iter().map(|path| Source::read(path)).collect()
}

/// The levels of x86-64 that this machine has.
fn levels() -> Vec<String> {
    let mut levels = vec!["x86-64-v2"];
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            levels.push("x86-64-v3");
        }
        if std::arch::is_x86_feature_detected!("avx512bw") && std::arch::is_x86_feature_detected!("avx512vl")
        {
            levels.push("x86-64-v4");
        }
    }
    levels.into_iter().map(str::to_owned).collect()
}
