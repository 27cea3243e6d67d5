//! `warpline analyze`: uniformity and shapes of every function of the inputs.

use warpline::uniformity::report::{FunctionReport, RefusedReport, Report};
use warpline::uniformity::{Uniformity, Workspace, tokens};

use crate::Outcome;
use crate::chain::Sources;
use crate::cli::{AnalysisFormat, AnalyzeOptions};
use crate::cost;
use crate::error::{Error, Result};
use crate::html::Page;
use crate::output;
use crate::subject::{Asked, Unit};

/// Runs the command. A function that cannot be analysed is reported as such, and the others are all the same.
///
/// # Errors
/// Whatever is wrong with inputs and options.
pub(crate) fn analyze(options: &AnalyzeOptions) -> Result<Outcome> {
    output::check(options.output.as_deref(), &options.inputs)?;
    if let Some(cpu) = &options.cost {
        return cost::analyze(options, cpu);
    }
    if !options.assume.algorithm.is_sound() {
        output::complain(&format!(
            "warning: `--algorithm {}` is not sound: it may call uniform what is divergent; it is for comparison",
            options.assume.algorithm.name()
        ));
    }
    let mut report = Report::default();
    let mut printed = String::new();
    let mut page = Page::default();
    for path in &options.inputs {
        let unit = match options.format {
            // LLVM's analysis knows functions only.
            AnalysisFormat::Llvm => Unit::open(path, options.assume.target, &options.compilers)?,
            _ => {
                Unit::open_with_loops(path, options.function.as_deref(), &options.assume, &options.compilers)?
            }
        };
        let mut sources = Sources::beside(path);
        let functions = unit.functions(options.function.as_deref())?;
        // The list is about one function; it need not fit the others.
        if options.assume.args.is_some() && functions.len() > 1 {
            let message = "it is about one function: say which with --function";
            return Err(Error::option("--args", message));
        }
        if functions.is_empty() && options.format == AnalysisFormat::Text {
            output::complain(&format!("{}: it defines no function", path.display()));
        }
        let mut workspace = Workspace::default();
        for id in functions {
            let (ir, func) = (&unit.imported.ir, &unit.imported.ir.functions[id]);
            // LLVM's analysis knows of no facts, nor of what vector code does with memory.
            let as_vectorized = options.format != AnalysisFormat::Llvm;
            let facts = !options.assume.no_facts && as_vectorized;
            let (args, algorithm, work_group) =
                (options.assume.args.as_deref(), options.assume.algorithm, options.assume.work_group);
            let asked = unit.options(id, &Asked { args, algorithm, facts, work_group, as_vectorized })?;
            let result = Uniformity::compute_in(ir, func, &asked, &mut workspace);
            if let Err(refusal) = tokens::check(ir, func, result.cycles()) {
                output::complain(&format!("error: {}", refusal.describe(ir)));
                report.refused.push(RefusedReport::new(ir, &refusal));
            } else if options.format == AnalysisFormat::Llvm {
                printed += &unit.imported.print_uniformity(id, &result);
            } else if options.format == AnalysisFormat::Html {
                page.add(ir, func, &result, &mut sources);
            } else {
                let region = unit.place(id).map(str::to_owned);
                report.functions.push(FunctionReport { region, ..FunctionReport::new(ir, func, &result) });
            }
        }
    }
    let text = match options.format {
        AnalysisFormat::Text => report.text(),
        AnalysisFormat::Json => output::json(&report),
        AnalysisFormat::Llvm => printed,
        AnalysisFormat::Html => page.finish(),
    };
    output::deliver(options.output.as_deref(), &text)?;
    Ok(if report.refused.is_empty() { Outcome::Clean } else { Outcome::Refused })
}
