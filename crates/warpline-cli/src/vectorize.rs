//! `warpline vectorize`: the W-lane variant of a kernel as a file.

use std::path::{Path, PathBuf};

use serde_json::json;
use warpline::printable::line;
use warpline::vectorize::counts::Counts;
use warpline_compile::dispatch::{self, Dispatched};
use warpline_compile::header;
use warpline_compile::math;
use warpline_compile::vectorize::Compiled;
use warpline_compile::{KernelOptions, VectorizeOptions as Asked};
use warpline_llvm::worker::Output;

use crate::Outcome;
use crate::cli::{Format, VectorizeOptions};
use crate::error::{Error, Result};
use crate::loops;
use crate::output::{self, Outputs};
use crate::summary::{self, Summary};

/// Runs the command.
///
/// # Errors
/// Whatever is wrong with input and options, or the reason why the kernel cannot be vectorized.
pub(crate) fn vectorize(options: &VectorizeOptions) -> Result<Outcome> {
    let kind = output_kind(&options.output)?;
    output::check(options.outputs(), std::slice::from_ref(&options.kernel.input))?;
    if let Some(mut loops) = options.loops.options(&options.kernel)? {
        loops.kernel.triple.clone_from(&options.triple);
        return loops::vectorize(options, &loops, kind);
    }
    let cpus: Vec<String> = match options.kernel.cpu.contains(',') {
        true => options.kernel.cpu.split(',').map(|name| name.trim().to_owned()).collect(),
        false => Vec::new(),
    };
    let asked = Asked {
        kernel: KernelOptions { triple: options.triple.clone(), ..options.kernel.asked()? },
        returns: options.returns.clone(),
        name: options.name.clone(),
        mask: options.mask,
        panic: None,
        strip: false,
    };
    let header =
        |text: &dyn Fn(&str) -> String| options.header.as_ref().map(|path| (path, text(&file_name(path))));
    if cpus.is_empty() {
        let compiled = warpline_compile::vectorize::vectorize(&asked, kind)?;
        write(options, &compiled.code, header(&|file| header::text(&compiled, file)))?;
        report(options, &compiled)?;
    } else {
        let dispatched = dispatch::vectorize(&asked, &cpus, kind)?;
        write(options, &dispatched.code, header(&|file| header::dispatched_text(&dispatched, file)))?;
        report_all(options, &dispatched)?;
    }
    Ok(Outcome::Clean)
}

/// Writes the code and, if there is to be one, the header.
fn write(options: &VectorizeOptions, code: &[u8], header: Option<(&PathBuf, String)>) -> Result<()> {
    let mut outputs = Outputs::default();
    outputs.add(&options.output, code)?;
    if let Some((path, text)) = header {
        outputs.add(path, text.as_bytes())?;
    }
    outputs.commit()
}

/// What an output file is to contain, by its suffix.
fn output_kind(path: &Path) -> Result<Output> {
    // Standard output has no suffix.
    if output::is_stdout(path) {
        return Ok(Output::Text);
    }
    match path.extension().and_then(|e| e.to_str()) {
        Some("ll") => Ok(Output::Text),
        Some("bc") => Ok(Output::Bitcode),
        Some("s") => Ok(Output::Assembly),
        Some("o") => Ok(Output::Object),
        _ => Err(Error::option(
            format!("-o {}", path.display()),
            "the suffix says what to write: .ll, .bc, .s or .o",
        )),
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

fn report(options: &VectorizeOptions, compiled: &Compiled) -> Result<()> {
    let text = match options.report.format {
        Format::Json => output::json(&json_of(options, compiled)),
        Format::Text => summary(options, compiled).text(&options.report),
    };
    output::report(options.outputs(), &text)
}

fn report_all(options: &VectorizeOptions, dispatched: &Dispatched) -> Result<()> {
    let versions = || dispatched.versions.iter().map(|one| &one.compiled);
    let text = match options.report.format {
        Format::Json => {
            let value = json!({
                "function": versions().next().map(|best| &best.kernel.name),
                "symbols": dispatched.drivers().collect::<Vec<_>>(),
                "output": options.output.display().to_string(),
                "versions": versions().map(|one| json_of(options, one)).collect::<Vec<_>>(),
            });
            output::json(&value)
        }
        Format::Text => {
            let drivers: Vec<&str> = dispatched.drivers().collect();
            let lanes = |one: &Compiled| format!("{} lanes for {}", one.kernel.width, one.kernel.cpu.name);
            let all = Summary {
                done: format!(
                    "{} in {}: chooses among {} CPUs when called",
                    line(&drivers.join(", ")),
                    options.output.display(),
                    dispatched.versions.len()
                ),
                result: versions().map(lanes).collect::<Vec<_>>().join(", "),
                warnings: versions().next().map(|one| summary(options, one).warnings).unwrap_or_default(),
                details: versions().flat_map(|one| details(one, true)).collect(),
                explain: versions().next().and_then(|one| explain(options, &one.made.counts)),
                ..Summary::default()
            };
            all.text(&options.report)
        }
    };
    output::report(options.outputs(), &text)
}

fn json_of(options: &VectorizeOptions, compiled: &Compiled) -> serde_json::Value {
    let Compiled { kernel, made, .. } = compiled;
    json!({
        "function": kernel.name,
        "width": kernel.width,
        "rest": compiled.range.as_ref().map(|_| compiled.rest),
        "aligned": compiled.aligned,
        "width_because": kernel.chosen.as_ref().map(ToString::to_string),
        "cpu": kernel.cpu.name,
        "symbols": std::iter::once(compiled.lanes.as_str()).chain(compiled.drivers()).collect::<Vec<_>>(),
        "output": options.output.display().to_string(),
        "approximate_math": made.approximate,
        "libraries": math::libraries(&kernel.imported.ir),
        "branches": made.counts.branches,
        "loops": made.counts.loops,
        "exits": made.counts.exits,
        "masks": made.counts.masks,
        "boscc": made.counts.boscc,
        "coherent": made.counts.coherent,
        "warnings": made.dependences.warnings,
        "trusted": made.dependences.trusted,
    })
}

/// What was made, for people.
fn summary(options: &VectorizeOptions, compiled: &Compiled) -> Summary {
    let Compiled { kernel, made, .. } = compiled;
    let symbols: Vec<_> =
        std::iter::once(compiled.lanes.as_str()).chain(compiled.drivers()).map(line).collect();
    let mut result = summary::shares(&made.counts);
    if made.approximate {
        result += &format!("; {}", summary::mathematics(&math::libraries(&kernel.imported.ir)));
    }
    Summary {
        done: format!(
            "{}: vectorized with {} lanes for {}: {} in {}",
            line(&kernel.name),
            kernel.width,
            kernel.cpu.name,
            symbols.join(", "),
            options.output.display()
        ),
        result,
        warnings: made.dependences.warnings.clone(),
        details: details(compiled, false),
        explain: explain(options, &made.counts),
        ..Summary::default()
    }
}

/// Details of a kernel; `of_several`: one among those for other CPUs.
fn details(compiled: &Compiled, of_several: bool) -> Vec<String> {
    let kernel = &compiled.kernel;
    let mut details = Vec::new();
    if of_several {
        details.push(format!(
            "{} with {} lanes for {}:",
            line(&compiled.lanes),
            kernel.width,
            kernel.cpu.name
        ));
    }
    if compiled.rest < kernel.width {
        details.push(format!("vector epilogue: {} lanes", compiled.rest));
    }
    if compiled.aligned {
        details.push("alignment prologue: stores begin at a cache line".to_owned());
    }
    details.extend(summary::details(kernel, &compiled.made.counts));
    details
}

/// The command that says why something diverges, if anything does.
pub(crate) fn explain(options: &VectorizeOptions, counts: &Counts) -> Option<String> {
    let diverges = counts.branches.divergent + counts.loops.divergent > 0;
    diverges.then(|| format!("warpline analyze {}", options.kernel.input.display()))
}
