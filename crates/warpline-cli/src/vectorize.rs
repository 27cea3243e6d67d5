//! `warpline vectorize`: the W-lane form of a kernel as a file.

use std::path::Path;

use serde_json::json;
use warpline_compile::VectorizeOptions as Asked;
use warpline_compile::header;
use warpline_compile::libmvec::MAX_ULP;
use warpline_compile::vectorize::Compiled;
use warpline_llvm::worker::Output;

use crate::Outcome;
use crate::cli::{Format, VectorizeOptions};
use crate::error::{Error, Result};
use crate::output::{self, Outputs};

/// Runs the command.
///
/// # Errors
/// Whatever is wrong with input and options, or the reason why the kernel cannot be vectorized.
pub fn vectorize(options: &VectorizeOptions) -> Result<Outcome> {
    let kind = output_kind(&options.output)?;
    output::check(&options.output)?;
    if let Some(path) = &options.header {
        output::check(path)?;
    }
    let asked = Asked {
        kernel: (&options.kernel).into(),
        returns: options.returns.clone(),
        name: options.name.clone(),
        mask: options.mask,
    };
    let compiled = warpline_compile::vectorize::vectorize(&asked, kind)?;
    let mut outputs = Outputs::default();
    outputs.add(&options.output, &compiled.code)?;
    if let Some(path) = &options.header {
        outputs.add(path, header::text(&compiled, &file_name(path)).as_bytes())?;
    }
    outputs.commit()?;
    report(options, &compiled);
    Ok(Outcome::Clean)
}

/// What an output file is to contain, by its suffix.
fn output_kind(path: &Path) -> Result<Output> {
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

fn report(options: &VectorizeOptions, compiled: &Compiled) {
    let Compiled { kernel, made, .. } = compiled;
    let text = match options.format {
        Format::Json => {
            let value = json!({
                "function": kernel.name,
                "width": kernel.width,
                "cpu": kernel.cpu.name,
                "symbols": std::iter::once(compiled.lanes()).chain(compiled.drivers()).collect::<Vec<_>>(),
                "output": options.output.display().to_string(),
                "approximate_math": made.approximate,
                "branches": made.counts.branches,
                "loops": made.counts.loops,
                "exits": made.counts.exits,
                "masks": made.counts.masks,
                "boscc": made.counts.boscc,
            });
            format!("{value:#}\n")
        }
        Format::Text => {
            let mut text = format!(
                "{}: {} on {} lanes for {}",
                options.output.display(),
                compiled.lanes(),
                kernel.width,
                kernel.cpu.name
            );
            for driver in compiled.drivers() {
                text += &format!(", and {driver}");
            }
            text += &format!("\n{}\n", output::counts(&made.counts).join("\n"));
            if made.approximate {
                text += &format!(
                    "  calls vector functions of glibc's libmvec (errors up to {MAX_ULP} ulp): link with -lmvec -lm\n"
                );
            }
            text
        }
    };
    output::print(&text);
}
