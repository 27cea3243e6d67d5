//! `warpline analyze`: uniformity and shapes of every function of the inputs.

use warpline::uniformity::report::{FunctionReport, Report};
use warpline::uniformity::{Options, Uniformity};

use crate::Outcome;
use crate::cli::{AnalyzeOptions, Format};
use crate::directives;
use crate::error::{Error, Result};
use crate::kernel::{analysis_args, load};
use crate::output::{self, Outputs};

/// Runs the command.
///
/// # Errors
/// Whatever is wrong with inputs and options.
pub fn analyze(options: &AnalyzeOptions) -> Result<Outcome> {
    if let Some(path) = &options.output {
        output::check(path)?;
    }
    if !options.algorithm.is_sound() {
        eprintln!(
            "warning: `--algorithm {}` is not sound: it may call uniform what is divergent; it is for comparison",
            options.algorithm.name()
        );
    }
    let mut report = Report::default();
    for path in &options.inputs {
        let imported = load(path, None)?;
        let groups = directives::read(path)?;
        if let Some(name) = &options.function {
            imported.bridge.module().require_function(name)?;
        }
        let mut found = false;
        for func in imported.ir.functions.values() {
            if options.function.as_deref().is_some_and(|name| name != &*func.name) {
                continue;
            }
            // The list is about one function; it need not fit the others.
            if options.args.is_some() && options.function.is_none() && imported.ir.functions.len() > 1 {
                let message = "it is about one function: say which with --function";
                return Err(Error::option("--args", message));
            }
            found = true;
            let args =
                analysis_args(&imported, path, &groups, func, options.args.as_deref(), options.target)?;
            let asked =
                Options { args, target: options.target, algorithm: options.algorithm, ..Options::default() };
            let result = Uniformity::compute(&imported.ir, func, &asked);
            report.functions.push(FunctionReport::new(&imported.ir, func, &result));
        }
        if !found && options.function.is_none() && options.format == Format::Text {
            eprintln!("{}: it defines no function", path.display());
        }
    }
    let text = match options.format {
        Format::Text => report.text(),
        Format::Json => json(&report),
    };
    match &options.output {
        Some(path) => {
            let mut outputs = Outputs::default();
            outputs.add(path, text.as_bytes())?;
            outputs.commit()?;
        }
        None => output::print(&text),
    }
    Ok(Outcome::Clean)
}

/// Pretty JSON with a line end.
pub fn json(report: &impl serde::Serialize) -> String {
    // Plain data with string keys always serialises.
    serde_json::to_string_pretty(report).unwrap_or_default() + "\n"
}
