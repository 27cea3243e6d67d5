//! `warpline vectorize`: the W-lane form of a kernel as a file.

use std::path::{Path, PathBuf};

use serde_json::json;
use warpline::printable::line;
use warpline::vectorize::Elementary;
use warpline_compile::dispatch::{self, Dispatched};
use warpline_compile::header;
use warpline_compile::libmvec::MAX_ULP;
use warpline_compile::math;
use warpline_compile::vectorize::Compiled;
use warpline_compile::{KernelOptions, VectorizeOptions as Asked};
use warpline_llvm::worker::Output;

use crate::Outcome;
use crate::cli::{Format, VectorizeOptions};
use crate::error::{Error, Result};
use crate::loops;
use crate::output::{self, Outputs};

/// Runs the command.
///
/// # Errors
/// Whatever is wrong with input and options, or the reason why the kernel cannot be vectorized.
pub fn vectorize(options: &VectorizeOptions) -> Result<Outcome> {
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
        kernel: KernelOptions { triple: options.triple.clone(), ..(&options.kernel).into() },
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
    let text = match options.format {
        Format::Json => output::json(&json_of(options, compiled)),
        Format::Text => format!("{}: {}", options.output.display(), text_of(compiled)),
    };
    output::report(options.outputs(), &text)
}

fn report_all(options: &VectorizeOptions, dispatched: &Dispatched) -> Result<()> {
    let versions = || dispatched.versions.iter().map(|one| &one.compiled);
    let text = match options.format {
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
            let mut text = format!(
                "{}: {}, which choose among {} CPUs\n",
                options.output.display(),
                line(&drivers.join(", ")),
                dispatched.versions.len()
            );
            text.extend(versions().map(text_of));
            text
        }
    };
    output::report(options.outputs(), &text)
}

fn json_of(options: &VectorizeOptions, compiled: &Compiled) -> serde_json::Value {
    let Compiled { kernel, made, .. } = compiled;
    json!({
        "function": kernel.name,
        "width": kernel.width,
        "rest": compiled.range.as_ref().map(|_| kernel.rest),
        "aligned": compiled.range.is_some() && kernel.lead > 0,
        "width_because": kernel.chosen.as_ref().map(ToString::to_string),
        "cpu": kernel.cpu.name,
        "symbols": std::iter::once(compiled.lanes()).chain(compiled.drivers()).collect::<Vec<_>>(),
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

fn text_of(compiled: &Compiled) -> String {
    let Compiled { kernel, made, .. } = compiled;
    let mut text = format!("{} on {} lanes for {}", line(compiled.lanes()), kernel.width, kernel.cpu.name);
    for driver in compiled.drivers() {
        text += &format!(", and {}", line(driver));
    }
    if compiled.range.is_some() && kernel.rest < kernel.width {
        text += &format!("; the end of a range on {}", kernel.rest);
    }
    if compiled.range.is_some() && kernel.lead > 0 {
        text += "; groups aligned";
    }
    text += &format!("\n{}\n", output::lines_on(kernel, &made.counts, &made.dependences).join("\n"));
    if made.approximate {
        text += &approximate(&math::libraries(&kernel.imported.ir));
    }
    text
}

/// What code with mathematics of limited accuracy is linked with.
pub fn approximate(libraries: &[&str]) -> String {
    if libraries.is_empty() {
        return format!("  mathematics is written out (errors up to {} ulp)\n", Elementary::LARGEST_ULP);
    }
    let described = |library: &&str| match *library {
        "mvec" => format!("glibc's libmvec (errors up to {MAX_ULP} ulp)"),
        _ => "SLEEF (errors up to 1.5 ulp)".to_owned(),
    };
    let flags: Vec<String> = libraries.iter().map(|library| format!("-l{library}")).collect();
    let words: Vec<String> = libraries.iter().map(described).collect();
    format!("  calls vector functions of {}: link with {} -lm\n", words.join(" and "), flags.join(" "))
}
