//! Functions with split live ranges, printed.

use serde::Serialize;
use warpline::dataflow::Code;
use warpline::ir::{Function, Module, Op, Value, ValueDef};
use warpline::ssa;
use warpline::ssi::{Materialized, materialize};
use warpline::text::{Names, print_function};
use warpline::verify::verify;

use crate::cli::{SsaFormat, SsiOptions};
use crate::error::Result;
use crate::forms::Form;
use crate::input::{Input, InputReport, not_in_form};
use crate::output;

/// Splits the live ranges of the functions that are asked for and prints them.
///
/// # Errors
/// If a function cannot be brought into LLVM's form.
pub(super) fn print(inputs: Vec<Input>, options: &SsiOptions) -> Result<String> {
    let several = inputs.len() > 1;
    let mut out = String::new();
    let mut report = Report { strategy: options.strategy.name(), inputs: Vec::new() };
    for mut input in inputs {
        let is_llvm = options.format == SsaFormat::Llvm;
        let all = input.replace(|module, func| {
            let added = split(module, func, options.strategy)?;
            if is_llvm {
                name_stack(module, func, &added);
            }
            Ok(added)
        })?;
        match options.format {
            SsaFormat::Text => input.print_to(&mut out, options.function.is_none(), several),
            SsaFormat::Json => report.inputs.push(input.report(&all, FunctionReport::new)),
            SsaFormat::Llvm => out += &input.llvm()?,
        }
    }
    Ok(if options.format == SsaFormat::Json { output::json(&report) } else { out })
}

/// What was added to a function: the values, and what of.
struct Added {
    counts: Materialized,
    values: Vec<(Value, Value)>,
}

/// Brings a function into SSA form and splits its live ranges.
fn split(module: &Module, func: &mut Function, form: Form) -> Result<Added> {
    ssa::promote_and_construct(module, func);
    let code = Code::of(func);
    let ssi = form.split(code.program());
    let counts = materialize(func, &code, &ssi);
    verify(module, func).map_err(|errors| not_in_form(module, func, "the form asked for", &errors))?;
    let added = func.values.keys().filter_map(|v| {
        let version = counts.version(v)?;
        Some((v, code.value(ssi.variable(version))?))
    });
    let values = added.collect();
    Ok(Added { counts, values })
}

/// Lets marks of lifetimes name memory on the stack itself, by no φ: LLVM asks for that.
fn name_stack(module: &Module, func: &mut Function, added: &Added) {
    let is_mark = |op: &Op| match op {
        Op::Call(info) => info.callee.is_some_and(|s| module.symbols[s].name.starts_with("llvm.lifetime.")),
        _ => false,
    };
    let insts = func.layout.iter().flat_map(|&b| func.block_insts(b));
    for inst in insts.filter(|&i| is_mark(&func.insts[i].op)).collect::<Vec<_>>() {
        for arg in &mut func.insts[inst].args {
            // In the order in which they were made.
            if let Ok(at) = added.values.binary_search_by_key(arg, |&(v, _)| v) {
                *arg = added.values[at].1;
            }
        }
    }
}

/// All inputs, for programs.
#[derive(Serialize)]
struct Report {
    strategy: &'static str,
    inputs: Vec<InputReport<FunctionReport>>,
}

#[derive(Serialize)]
struct FunctionReport {
    name: String,
    blocks: usize,
    phis: usize,
    sigmas: usize,
    copies: usize,
    versions: Vec<VersionReport>,
    text: String,
}

/// A value that was added.
#[derive(Serialize)]
struct VersionReport {
    value: String,
    /// What it is another name of.
    of: String,
    block: String,
    /// `phi`, `sigma` or `copy`.
    defined_by: &'static str,
    /// Of a σ: the block at the end of the edge.
    #[serde(skip_serializing_if = "Option::is_none")]
    on_edge_to: Option<String>,
}

impl FunctionReport {
    fn new(module: &Module, func: &Function, added: &Added) -> FunctionReport {
        let names = Names::new(func);
        FunctionReport {
            name: func.name.to_string(),
            blocks: func.layout.len(),
            phis: added.counts.phis,
            sigmas: added.counts.sigmas,
            copies: added.counts.copies,
            versions: added
                .values
                .iter()
                .filter_map(|&(v, of)| VersionReport::new(func, &names, v, of))
                .collect(),
            text: print_function(module, func),
        }
    }
}

impl VersionReport {
    fn new(func: &Function, names: &Names, v: Value, of: Value) -> Option<VersionReport> {
        let ValueDef::Inst(inst, _) = func.values[v].def else { return None };
        let edge = func.sigma_edge(v);
        Some(VersionReport {
            value: names.value(v),
            of: names.value(of),
            block: names.block(func.insts[inst].block),
            defined_by: match func.insts[inst].op {
                Op::Phi => "phi",
                Op::Sigma => "sigma",
                _ => "copy",
            },
            on_edge_to: edge.map(|e| names.block(func.edges[e].to)),
        })
    }
}
