//! `warpline ssa --uninitialized`: reads of variables that were never, or maybe not, written before.
//!
//! Variables that clang makes for itself are left out, where it gives names: `retval`, the result of a function with
//! several `return`s, and `cleanup.dest.slot`, which says how a scope was left. The one is read where the other says
//! that it was written.

use serde::Serialize;
use warpline::ir::{Function, Module, Names, Var};
use warpline::ssa::{self, UnwrittenRead};

use super::form::variable_name;
use crate::Outcome;
use crate::chain::Place;
use crate::cli::{SsaFormat, SsaOptions};
use crate::error::{Error, Result};
use crate::input::Input;
use crate::output;
use crate::placements::with_variables;

/// A read that should not be.
#[derive(Serialize)]
struct Finding {
    input: String,
    function: String,
    variable: String,
    /// Whether no write reaches the read at all.
    certain: bool,
    block: String,
    location: Option<Place>,
    /// The blocks of a way from the entry on which the variable is not written.
    path: Vec<String>,
}

#[derive(Default, Serialize)]
struct Report {
    functions: usize,
    findings: Vec<Finding>,
}

/// The report on these inputs, in the format asked for; a finding if there is any.
///
/// # Errors
/// If the format is LLVM's.
pub(super) fn report(inputs: &[Input], options: &SsaOptions) -> Result<(String, Outcome)> {
    if options.format == SsaFormat::Llvm {
        let message = "there is no such form of --uninitialized; use text or json";
        return Err(Error::option("--format llvm", message));
    }
    let mut report = Report::default();
    for input in inputs {
        let module = &input.imported.ir;
        for &id in &input.functions {
            report.functions += 1;
            let func = with_variables(module, &module.functions[id]);
            let names = Names::new(&module.functions[id]);
            let reads = ssa::unwritten_reads(&func);
            let reads = reads.iter().filter(|read| !is_clangs_own(&func, read.var));
            report.findings.extend(reads.map(|read| finding(input, module, &func, &names, read)));
        }
    }
    let outcome = if report.findings.is_empty() { Outcome::Clean } else { Outcome::Finding };
    let text = match options.format {
        SsaFormat::Json => output::json(&report),
        _ => text(&report),
    };
    Ok((text, outcome))
}

/// Whether clang made a variable for itself. In a function with a result, a variable that the program calls `retval`
/// has a number behind its name.
fn is_clangs_own(func: &Function, x: Var) -> bool {
    match &*func.vars[x].name {
        "retval" => !func.ret.is_void(),
        name => name == "cleanup.dest.slot",
    }
}

/// `names` are those of the function as it was imported.
fn finding(input: &Input, module: &Module, func: &Function, names: &Names, read: &UnwrittenRead) -> Finding {
    let inst = &func.insts[read.inst];
    Finding {
        input: input.path.display().to_string(),
        function: func.name.to_string(),
        variable: variable_name(func, read.var),
        certain: read.certain,
        block: names.block(func, inst.block),
        location: Place::of(module, func, inst.loc.expand()),
        path: read.path(func).iter().map(|&b| names.block(func, b)).collect(),
    }
}

fn text(report: &Report) -> String {
    let mut out = String::new();
    for f in &report.findings {
        out += &match &f.location {
            Some(Place { file, line, column }) => format!("{file}:{line}:{column}: "),
            None => format!("{}: block {}: ", f.input, f.block),
        };
        out += &match f.certain {
            true => format!("`{}` is read and never written before, in `{}`\n", f.variable, f.function),
            false => {
                let path = f.path.join(" → ");
                format!("`{}` may be read before it is written, in `{}`, by {path}\n", f.variable, f.function)
            }
        };
    }
    let certain = report.findings.iter().filter(|f| f.certain).count();
    let maybe = report.findings.len() - certain;
    out += &format!(
        "{certain} reads of what is never written, {maybe} of what may not be written, in {} functions\n",
        report.functions
    );
    out
}
