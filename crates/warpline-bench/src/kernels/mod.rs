//! `warpline-bench kernels`: the kernels of paper 3, Sec. 7, and others from practice, measured as the paper does.
//!
//! Of each kernel there are, side by side in one module for each CPU: the scalar program after LLVM's O3 with its own
//! vectorizers; the kernel fully if-converted; partially linearized; and partially linearized with tests that skip
//! code without an active lane (BOSCC). Compared with them are, where gcc and clang are installed, what these make of the
//! kernel in C, and, where an `ispc` is named, the best of what that makes of the kernel as it is written for ISPC.
//! They run in turns on the same data, and each result is held against the scalar program's. Copies that count tell
//! how many lanes are active in the blocks that are executed.
//!
//! Each kernel is measured in a process of its own for each CPU: one that faults is reported, and the others go on.

mod chart;
mod compilers;
mod inputs;
mod ispc;
mod measure;
mod report;

use std::io::IsTerminal as _;
use std::process::Command;

use clap::ValueEnum;
use warpline_kernels::Kernel;

use crate::options::{BenchKernelsOptions, KernelsFormat};
use measure::Measurement;
use warpline_cli::Outcome;
use warpline_cli::output;
use warpline_compile::error::{Error, Result};
use warpline_compile::spec::Width;

/// Runs the command.
///
/// # Errors
/// Whatever is wrong with the options, or if a kernel cannot be vectorized or run.
pub(crate) fn kernels(options: &BenchKernelsOptions) -> Result<Outcome> {
    output::check(options.output.as_deref(), &[])?;
    if options.ispc.is_none() && options.format != KernelsFormat::Json {
        output::complain("ISPC is not compared with: name the program with --ispc PATH");
    }
    let chosen = choose(options)?;
    let one = matches!((&chosen[..], &options.cpu[..]), ([_], [_]));
    let mut all = Vec::new();
    for (kernel, data) in chosen {
        for cpu in &options.cpu {
            if one && options.format == KernelsFormat::Json {
                all.push(measure::measure(kernel, data, cpu, options)?);
                continue;
            }
            if std::io::stderr().is_terminal() {
                output::complain(&format!("{} on {cpu} …", kernel.name));
            }
            all.push(in_child(kernel, data, cpu, options)?);
        }
    }
    let text = match options.format {
        KernelsFormat::Table => report::text(&all),
        KernelsFormat::Markdown => report::markdown(&all),
        KernelsFormat::Json => output::json(&all),
        KernelsFormat::Svg => chart::svg(&all),
    };
    output::deliver(options.output.as_deref(), &text)?;
    Ok(if all.iter().all(|m| m.mismatches == 0) { Outcome::Clean } else { Outcome::Finding })
}

/// The kernels that are asked for, each with the number of a data set.
fn choose(options: &BenchKernelsOptions) -> Result<Vec<(&'static Kernel, usize)>> {
    let sets = |kernel: &Kernel| if options.all_data { kernel.data.len() } else { 1 };
    if options.names.is_empty() {
        return Ok(warpline_kernels::all().flat_map(|k| (0..sets(k)).map(move |d| (k, d))).collect());
    }
    let mut chosen = Vec::new();
    for name in &options.names {
        let (kernel, data) = name.split_once('/').map_or((name.as_str(), None), |(k, d)| (k, Some(d)));
        let Some(found) = warpline_kernels::all().find(|k| k.name == kernel) else {
            let names: Vec<&str> = warpline_kernels::all().map(|k| k.name).collect();
            return Err(Error::option(
                "bench kernels",
                format!("there is no `{kernel}`; there are {}", names.join(", ")),
            ));
        };
        match data.map(|d| found.data.iter().position(|&n| n == d).ok_or(d)) {
            None => chosen.extend((0..sets(found)).map(|d| (found, d))),
            Some(Ok(at)) => chosen.push((found, at)),
            Some(Err(unknown)) => {
                let sets = found.data.join(", ");
                let message = format!("`{kernel}` has no data set `{unknown}`; there are {sets}");
                return Err(Error::option("bench kernels", message));
            }
        }
    }
    Ok(chosen)
}

/// The name of a choice, as on the command line.
fn option(choice: impl ValueEnum) -> String {
    choice.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Measures in a process that does nothing else.
fn in_child(kernel: &Kernel, data: usize, cpu: &str, options: &BenchKernelsOptions) -> Result<Measurement> {
    let wrong = |reason: String| Error::Vectorize(format!("kernel {} on {cpu}: {reason}", kernel.name));
    let program = std::env::current_exe().map_err(|e| wrong(e.to_string()))?;
    let width = options.width.map(|width| match width {
        Width::Auto => "auto".to_owned(),
        Width::Lanes(lanes) => lanes.to_string(),
    });
    let output = Command::new(program)
        .args(["kernels", &format!("{}/{}", kernel.name, kernel.data[data]), "--cpu", cpu])
        .args(width.iter().flat_map(|width| ["--width", width]))
        .args(options.ispc.iter().flat_map(|ispc| ["--ispc".as_ref(), ispc.as_os_str()]))
        .args(["--boscc", &option(options.boscc), "--size", &option(options.size)])
        .args(["--seed", &options.seed.to_string(), "--time", &options.time.to_string(), "--format", "json"])
        .output()
        .map_err(|e| wrong(e.to_string()))?;
    let measured: Vec<Measurement> = serde_json::from_slice(&output.stdout).unwrap_or_default();
    measured.into_iter().next().ok_or_else(|| {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        wrong(if said.is_empty() { format!("the process ended by {}", output.status) } else { said })
    })
}
