//! `warpline analyze --cost`: what each source line is expected to cost as vector code.

use std::sync::Arc;

use serde_json::{Value, json};
use warpline::demangle;
use warpline::printable::line;
use warpline::vectorize::width::remarks::{Kind, Name, Remark};
use warpline_compile::loops::{self, LoopAt, LoopOptions, RefusedLoop};
use warpline_compile::profile::Profile;
use warpline_compile::remarks::Remarked;
use warpline_compile::unasked;
use warpline_compile::vectorize::remarks_of_kernels;
use warpline_compile::{KernelOptions, VectorizeOptions, choice, kernel};

use crate::Outcome;
use crate::cli::{AnalysisFormat, AnalyzeOptions};
use crate::error::{Error, Result};
use crate::{output, remarks, summary};

/// Runs the command. What cannot be vectorized is reported as such, and the others are all the same.
///
/// # Errors
/// Whatever is wrong with inputs and options.
pub(crate) fn analyze(options: &AnalyzeOptions, cpu: &str) -> Result<Outcome> {
    if !matches!(options.format, AnalysisFormat::Text | AnalysisFormat::Json) {
        return Err(Error::option("--cost", "costs are printed as text or JSON"));
    }
    let (mut found, mut outcome) = (Vec::new(), Outcome::Clean);
    for path in &options.inputs {
        let asked = KernelOptions {
            flags: options.compilers.flags(path)?,
            args: options.assume.args.clone(),
            cpu: cpu.to_owned(),
            profile: options.profile.as_deref().map(Profile::read).transpose()?.map(Arc::new),
            remarks: true,
            ..KernelOptions::new(path)
        };
        let functions: Vec<String> = options.function.iter().cloned().collect();
        let at = match &options.assume.loops[..] {
            [] => unasked::loops(&asked, &functions)?,
            given => given.to_vec(),
        };
        let (remarked, refused) = of_input(asked, &functions, &at)?;
        found.extend(remarked);
        for one in refused {
            output::complain(&format!("error: {}", one.reason));
            outcome = Outcome::Refused;
        }
    }
    let text = match options.format {
        AnalysisFormat::Json => {
            output::json(&json!({ "costs": found.iter().map(as_json).collect::<Vec<_>>() }))
        }
        _ => found.iter().map(text).collect::<Vec<_>>().join("\n"),
    };
    output::deliver(options.output.as_deref(), &text)?;
    Ok(outcome)
}

/// A kernel or loop that cannot be vectorized.
pub(crate) struct Refused {
    /// The function.
    pub function: String,
    /// Where it begins, if it is a loop.
    pub place: Option<String>,
    /// Why.
    pub reason: Error,
}

/// The loops of an input that are meant, or its kernels if none are, and those that cannot be vectorized.
///
/// # Errors
/// Whatever is wrong with the input.
pub(crate) fn of_input(
    asked: KernelOptions,
    functions: &[String],
    at: &[LoopAt],
) -> Result<(Vec<Remarked>, Vec<Refused>)> {
    if !at.is_empty() {
        let (functions, loops) = (functions.to_vec(), at.to_vec());
        let loops = LoopOptions { functions, loops, ..LoopOptions::marked(asked) };
        let (found, refused) = loops::remarks_of_loops(&loops)?;
        let refused = refused.into_iter().map(|RefusedLoop { function, place, reason, .. }| Refused {
            function,
            place: Some(place),
            reason,
        });
        return Ok((found, refused.collect()));
    }
    let imported = kernel::load_for_code(&asked.input, &asked.load_options(), asked.told())?.imported;
    let kernels = choice::choose(&imported, &asked.input, functions, asked.args.is_some())?;
    kernels.iter().try_for_each(|one| one.is_meant(&asked.input))?;
    let (found, refused) = remarks_of_kernels(&VectorizeOptions::new(asked), imported, &kernels)?;
    let refused =
        refused.into_iter().map(|one| Refused { function: one.kernel.name, place: None, reason: one.reason });
    Ok((found, refused.collect()))
}

/// A kernel or loop for people: a line of what it is, then a table of source lines.
fn text(one: &Remarked) -> String {
    let mut text = format!("{}: {} lanes for {}", line(&demangle(&one.function)), one.lanes, line(&one.cpu));
    if let Some(estimate) = &one.estimate {
        text += &format!(", {:.1} cycles a lane", estimate.vector);
        text += &estimate.scalar.map_or_else(String::new, |scalar| format!(" ({scalar:.1} as scalar code)"));
    }
    if one.scalar {
        text += "; stays scalar";
    }
    text.push('\n');
    if one.remarks.is_empty() {
        return text + "  the function is too large to be looked at\n";
    }
    if one.lacks_lines() {
        return text + "  no lines are known: compile with -g to see them\n";
    }
    let mut lines: Vec<&Remark> = one.remarks.iter().filter(|remark| remark.name == Name::Cost).collect();
    lines.sort_by(|a, b| b.share().total_cmp(&a.share()));
    let all: f64 = lines.iter().map(|remark| remark.share()).sum();
    let places: Vec<String> =
        lines.iter().filter_map(|remark| Some(remark.place.as_ref()?.short())).collect();
    let width = places.iter().map(|place| place.chars().count()).max().unwrap_or(0);
    text += "   share  cycles a lane  a vector  line\n";
    for (remark, place) in lines.iter().zip(&places) {
        let Some(cost) = remark.cost else { continue };
        let what = at_line(one, remark);
        let (share, lane, vector) = (100.0 * cost.share, cost.lane, cost.vector);
        let row = format!("  {share:4.0} %  {lane:13.2}  {vector:8.1}  {place:width$}  {what}");
        text += &format!("{}\n", row.trim_end());
    }
    let rest = 100.0 * (1.0 - all);
    if rest >= 1.0 {
        text += &format!("  {rest:4.0} %  of no line\n");
    }
    text
}

/// What is said about the line of a remark.
pub(crate) fn at_line(one: &Remarked, line: &Remark) -> String {
    let place = |remark: &Remark| remark.place.as_ref().map(|place| (place.file.clone(), place.line));
    let is_cause = |other: &&Remark| {
        let of_whole = matches!(other.name, Name::Cost | Name::Width | Name::ScalarLoop);
        other.kind != Kind::Passed && !of_whole && place(other) == place(line)
    };
    let causes: Vec<&str> = one.remarks.iter().filter(is_cause).map(|other| other.message.as_str()).collect();
    causes.join("; ")
}

fn as_json(one: &Remarked) -> Value {
    json!({
        "function": one.function,
        "cpu": one.cpu,
        "lanes": one.lanes,
        "scalar": one.scalar,
        "cycles": one.estimate.as_ref().map(summary::cycles),
        "remarks": remarks::as_json(one),
    })
}
