//! `warpline analyze --cost`: what each source line is expected to cost as vector code.

use serde_json::{Value, json};
use warpline::printable::line;
use warpline::vectorize::width::remarks::{Kind, Name, Remark};
use warpline_compile::loops::{self, LoopAt, LoopOptions};
use warpline_compile::remarks::Remarked;
use warpline_compile::vectorize::remarks_of_kernels;
use warpline_compile::{KernelOptions, VectorizeOptions, choice, kernel};

use crate::Outcome;
use crate::cli::{AnalysisFormat, AnalyzeOptions};
use crate::error::{Error, Result};
use crate::table::Table;
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
            remarks: true,
            ..KernelOptions::new(path)
        };
        let (remarked, refused) = of_input(options, asked)?;
        found.extend(remarked);
        for reason in refused {
            output::complain(&format!("error: {reason}"));
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

/// The kernels or loops of an input, and why others cannot be vectorized.
fn of_input(options: &AnalyzeOptions, asked: KernelOptions) -> Result<(Vec<Remarked>, Vec<Error>)> {
    let functions: Vec<String> = options.function.iter().cloned().collect();
    let at = match &options.assume.loops[..] {
        [] if asked.args.is_none() && loops::has_marks(&asked)? => vec![LoopAt::Marked],
        given => given.to_vec(),
    };
    if !at.is_empty() {
        let loops = LoopOptions { kernel: asked, functions, loops: at, any_order: false, independent: false };
        let (found, refused) = loops::remarks_of_loops(&loops)?;
        return Ok((found, refused.into_iter().map(|one| one.reason).collect()));
    }
    let imported = kernel::load_for_code(&asked.input, &asked.load_options())?.imported;
    let kernels = choice::choose(&imported, &asked.input, &functions, asked.args.is_some())?;
    let (found, refused) = remarks_of_kernels(&VectorizeOptions::new(asked), imported, &kernels)?;
    Ok((found, refused.into_iter().map(|one| one.reason).collect()))
}

/// A kernel or loop for people: a line of what it is, then a table of source lines.
fn text(one: &Remarked) -> String {
    let mut text = format!("{}: {} lanes for {}", line(&one.function), one.lanes, line(&one.cpu));
    if let Some(estimate) = &one.estimate {
        text += &format!(", {:.1} cycles a lane", estimate.vector);
        text += &estimate.scalar.map_or_else(String::new, |scalar| format!(" ({scalar:.1} as scalar code)"));
    }
    if one.scalar {
        text += "; stays scalar";
    }
    text.push('\n');
    let mut table = Table::new(1, &["line", "cycles a lane", "a vector", "share", "what"]);
    let mut lines: Vec<&Remark> = one.remarks.iter().filter(|remark| remark.name == Name::Cost).collect();
    lines.sort_by(|a, b| b.share().total_cmp(&a.share()));
    for remark in lines {
        let (Some(place), Some(cost)) = (&remark.place, remark.cost) else { continue };
        let here = |other: &&Remark| {
            other.kind != Kind::Passed
                && !matches!(other.name, Name::Cost | Name::Width | Name::ScalarLoop)
                && other.place.as_ref().is_some_and(|p| (&p.file, p.line) == (&place.file, place.line))
        };
        let what: Vec<&str> = one.remarks.iter().filter(here).map(|other| other.message.as_str()).collect();
        table.row(vec![
            place.short(),
            format!("{:.2}", cost.lane),
            format!("{:.1}", cost.vector),
            format!("{:.0} %", 100.0 * cost.share),
            what.join("; "),
        ]);
    }
    if one.remarks.is_empty() {
        return text + "  the function is too large to be looked at\n";
    }
    if one.lacks_lines() {
        return text + "  no lines are known: compile with -g to see them\n";
    }
    text + &table.text()
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
