//! Functions in SSA form, printed.

use serde::Serialize;
use warpline::ir::{Function, Module, Names, Var};
use warpline::ssa::construct::{ConstructOptions, Entry, Placement};
use warpline::ssa::{self, Construction};
use warpline::text::print_function;
use warpline::verify::{verify, verify_non_strict};
use warpline_analysis::phi_placement::Pruning;

use crate::cli::{EntryChoice, PlacementChoice, SsaFormat, SsaOptions};
use crate::error::{Error, Result};
use crate::input::{Input, InputReport, not_in_form};
use crate::output;

/// Refuses what does not fit together, before anything is read.
///
/// # Errors
/// If a form is asked for that needs another, or LLVM's form of what has none.
pub(super) fn check(options: &SsaOptions) -> Result<()> {
    if options.loop_closed && !is_strict(options) {
        let message = "values pass through the φs at a loop's exits if they are defined on all ways there: add \
         --strict";
        return Err(Error::option("--loop-closed", message));
    }
    if options.format != SsaFormat::Llvm || options.stats || options.uninitialized {
        return Ok(());
    }
    if options.inputs.len() > 1 {
        return Err(Error::option("--format llvm", "it makes one module: give one input"));
    }
    if !is_strict(options) {
        let message = "in LLVM every definition dominates its uses: add --strict";
        return Err(Error::option("--format llvm", message));
    }
    Ok(())
}

/// Whether all definitions dominate their uses in the form asked for. Where everything is defined on entry they do so
/// anyway.
fn is_strict(options: &SsaOptions) -> bool {
    options.strict
        || options.entry == EntryChoice::All
        || options.placement == PlacementChoice::DominanceFrontier
}

fn construct_options(options: &SsaOptions) -> ConstructOptions {
    ConstructOptions {
        placement: match options.placement {
            PlacementChoice::Precise => Placement::Precise,
            PlacementChoice::ReachingDefinitions => Placement::ReachingDefinitions,
            PlacementChoice::DominanceFrontier => Placement::DominanceFrontier,
        },
        entry: match options.entry {
            EntryChoice::All => Entry::All,
            EntryChoice::Parameters => Entry::Parameters,
        },
        pruning: match (options.semi_pruned, options.pruned) {
            (true, _) => Pruning::SemiPruned,
            (_, true) => Pruning::Pruned,
            _ => Pruning::Minimal,
        },
        strict: options.strict,
    }
}

/// What was done to a function.
#[derive(Default)]
struct Done {
    variables: Vec<Var>,
    memory: Vec<String>,
    placed: Vec<(warpline::ir::Value, Var)>,
}

impl Done {
    fn add(&mut self, vars: Vec<Var>, construction: &Construction) {
        self.variables.extend(vars);
        self.placed.extend(construction.placed());
    }
}

/// Brings a function into SSA form: what can be promoted becomes variables, these become values, and again while that
/// lets more be promoted.
fn bring(module: &Module, func: &mut Function, options: &SsaOptions) -> Result<Done> {
    let mut done = Done::default();
    let mut vars: Vec<Var> = func.vars.keys().collect();
    loop {
        let promotion = ssa::promote_allocas(module, func);
        vars.extend(promotion.vars());
        done.memory = promotion.kept.iter().map(|kept| kept.describe(module, func)).collect();
        let construction = ssa::construct_with(func, &vars, &construct_options(options));
        done.add(std::mem::take(&mut vars), &construction);
        if !promotion.again {
            break;
        }
    }
    if options.loop_closed {
        ssa::close_loops(func);
    }
    let checked = if is_strict(options) { verify(module, func) } else { verify_non_strict(module, func) };
    checked.map_err(|errors| not_in_form(module, func, "SSA form", &errors))?;
    Ok(done)
}

/// Brings the functions that are asked for into SSA form and prints them.
///
/// # Errors
/// If a function cannot be brought into the form or into LLVM's.
pub(super) fn print(inputs: Vec<Input>, options: &SsaOptions) -> Result<String> {
    let several = inputs.len() > 1;
    let mut out = String::new();
    let mut report = Report { inputs: Vec::new() };
    for mut input in inputs {
        let all = input.replace(|module, func| bring(module, func, options))?;
        match options.format {
            SsaFormat::Text => input.print_to(&mut out, options.function.is_none(), several),
            SsaFormat::Json => report.inputs.push(input.report(&all, FunctionReport::new)),
            SsaFormat::Llvm => out += &input.llvm()?,
        }
    }
    Ok(if options.format == SsaFormat::Json { output::json(&report) } else { out })
}

/// All inputs, for programs.
#[derive(Serialize)]
struct Report {
    inputs: Vec<InputReport<FunctionReport>>,
}

#[derive(Serialize)]
struct FunctionReport {
    name: String,
    blocks: usize,
    /// The variables that became values.
    variables: Vec<String>,
    /// What stays memory, and why.
    memory: Vec<String>,
    phis: Vec<PhiReport>,
    text: String,
}

#[derive(Serialize)]
struct PhiReport {
    block: String,
    value: String,
    variable: String,
    operands: Vec<Operand>,
}

/// What a φ is when control comes from a block.
#[derive(Serialize)]
struct Operand {
    from: String,
    value: String,
}

impl FunctionReport {
    fn new(module: &Module, func: &Function, done: &Done) -> FunctionReport {
        let names = Names::new(func);
        FunctionReport {
            name: func.name.to_string(),
            blocks: func.layout.len(),
            variables: done.variables.iter().map(|&x| variable_name(func, x)).collect(),
            memory: done.memory.clone(),
            phis: done
                .placed
                .iter()
                .filter_map(|&(v, x)| PhiReport::new(module, func, &names, v, x))
                .collect(),
            text: print_function(module, func),
        }
    }
}

impl PhiReport {
    /// A φ that was placed; `None` if it is none any more.
    fn new(
        module: &Module,
        func: &Function,
        names: &Names,
        v: warpline::ir::Value,
        x: Var,
    ) -> Option<PhiReport> {
        let phi = func.def_inst(v)?;
        let position = func.phi_position(phi)?;
        let block = func.insts[phi].block;
        let value = |v| match func.constant(v) {
            Some(c) => warpline::text::constant_text(module, c),
            None => names.value(func, v),
        };
        let edges = func.blocks[block].preds.iter();
        let operand = |&e: &warpline::ir::Edge| Operand {
            from: names.block(func, func.edges[e].from),
            value: value(func.edges[e].args[position]),
        };
        Some(PhiReport {
            block: names.block(func, block),
            value: names.value(func, v),
            variable: variable_name(func, x),
            operands: edges.map(operand).collect(),
        })
    }
}

/// What a variable is called: by its name, or as the text form calls it if it has none.
pub(super) fn variable_name(func: &Function, x: Var) -> String {
    match &*func.vars[x].name {
        "" => x.to_string(),
        name => name.to_owned(),
    }
}
