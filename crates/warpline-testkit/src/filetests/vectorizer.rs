//! Commands that show stages of the vectorizer.
//!
//! Parameters whose names begin with `u` are uniform, with `i` (and of an integer type) indices; all others vary.

use std::fmt::Write as _;

use warpline_ir::text::print_function;
use warpline_ir::verify::verify;
use warpline_ir::{Function, Module};
use warpline_uniformity::shape::ArgShape;
use warpline_vectorize::width::Machine;
use warpline_vectorize::{
    self as vectorize, Boscc, Coherence, Contract, Gathers, Linearize, Masks, Options, loops,
};

use super::Case;
use crate::theorems::check_theorems;

fn shapes(func: &Function) -> Vec<ArgShape> {
    func.params
        .iter()
        .map(|&p| {
            let data = &func.values[p];
            match data.name.chars().next() {
                Some('u') => ArgShape::Uniform,
                Some('i') if data.ty.is_int() => ArgShape::Index,
                _ => ArgShape::Varying,
            }
        })
        .collect()
}

fn options(func: &Function, linearize: Linearize) -> Options<'static> {
    // What passes make of a function is shown, whatever its lanes do to each other.
    let contract = Contract::Racy;
    Options { linearize, contract, ..Options::new(4, shapes(func), format!("{}_x4", func.name)) }
}

fn lane_program(case: &Case<'_>, mode: Linearize) -> String {
    lane_program_with(case, &options(case.func, mode))
}

fn lane_program_with(case: &Case<'_>, options: &Options<'_>) -> String {
    match vectorize::linearize_kernel(case.module, case.func, options) {
        Err(e) => format!("error: {e}\n"),
        Ok(linearized) => {
            let p = &linearized.program;
            let (b, l) = (p.counts.branches, p.counts.loops);
            let mut out = String::new();
            let _ = write!(
                out,
                "branches: {} divergent, {} kept, {} lost; loops: {} uniform, {} divergent",
                b.divergent, b.uniform_kept, b.uniform_lost, l.uniform, l.divergent
            );
            let tests = p.counts.boscc;
            if tests.mandatory + tests.chosen > 0 {
                let _ = write!(out, "; tests: {} mandatory, {} chosen", tests.mandatory, tests.chosen);
            }
            out.push('\n');
            out += &print_function(case.module, &p.func);
            out += &verified(case.module, &p.func);
            if let Err(why) = check_theorems(&p.linearization) {
                let _ = writeln!(out, "error: what the theorems promise does not hold: {why}");
            }
            out
        }
    }
}

/// Partial linearization: the lane program.
pub(super) fn linearize(case: &Case<'_>) -> String {
    lane_program(case, Linearize::Partial)
}

/// Partial linearization with a test wherever one can stand: the lane program.
pub(super) fn linearize_boscc(case: &Case<'_>) -> String {
    let options = Options { boscc: Boscc::On, ..options(case.func, Linearize::Partial) };
    lane_program_with(case, &options)
}

/// Partial linearization with tests where the cost model wants them: the lane program.
pub(super) fn linearize_boscc_auto(case: &Case<'_>) -> String {
    let options = Options { boscc: Boscc::Auto, ..options(case.func, Linearize::Partial) };
    lane_program_with(case, &options)
}

/// Partial linearization with code for iterations in which lanes agree: the lane program.
pub(super) fn linearize_coherent(case: &Case<'_>) -> String {
    let options = Options { coherence: Coherence::On, ..options(case.func, Linearize::Partial) };
    lane_program_with(case, &options)
}

/// Full if-conversion: the lane program.
pub(super) fn linearize_full(case: &Case<'_>) -> String {
    lane_program(case, Linearize::Full)
}

/// The function for four lanes.
pub(super) fn lower(case: &Case<'_>) -> String {
    lower_with(case, &options(case.func, Linearize::Partial))
}

/// The function for four lanes, on a machine that cannot gather under masks.
pub(super) fn lower_one_by_one(case: &Case<'_>) -> String {
    lower_with(
        case,
        &Options {
            machine: Machine { gathers: Gathers::Nothing, masks: Masks::Nothing, ..Machine::default() },
            ..options(case.func, Linearize::Partial)
        },
    )
}

/// The function for four lanes, on a machine with AVX2.
pub(super) fn lower_avx2(case: &Case<'_>) -> String {
    lower_with(
        case,
        &Options {
            machine: Machine { gathers: Gathers::Avx2, masks: Masks::Wide, ..Machine::default() },
            ..options(case.func, Linearize::Partial)
        },
    )
}

fn lower_with(case: &Case<'_>, options: &Options<'_>) -> String {
    let mut module = case.module.clone();
    let Some(id) = module.function(&case.func.name) else { return String::new() };
    match vectorize::vectorize(&mut module, id, options) {
        Err(e) => format!("error: {e}\n"),
        Ok(made) => {
            let func = &module.functions[made.func];
            print_function(&module, func) + &verified(&module, func)
        }
    }
}

/// The function with its first loop vectorized for four lanes, and the form for whole groups. Floating-point numbers
/// are combined in the program's order unless flags allow others.
pub(super) fn loops(case: &Case<'_>) -> String {
    loops_with(case, |unit| unit)
}

/// The same, with what is left over in groups of two.
pub(super) fn loops_smaller(case: &Case<'_>) -> String {
    loops_with(case, |unit| loops::Unit { epilogue: 2, ..unit })
}

/// The same, with whole groups that begin to store at multiples of sixteen bytes, and what says with which iteration.
pub(super) fn loops_aligned(case: &Case<'_>) -> String {
    loops_with(case, |unit| loops::Unit { prologue: 16, ..unit })
}

/// The same, with what the loop may overwrite loaded before it.
pub(super) fn loops_holding(case: &Case<'_>) -> String {
    loops_with(case, |unit| loops::Unit { holds: loops::Holds::Awaited, ..unit })
}

/// With the first loop as a unit that was changed.
fn loops_with(case: &Case<'_>, change: impl Fn(loops::Unit) -> loops::Unit) -> String {
    let mut module = case.module.clone();
    let Some(id) = module.function(&case.func.name) else { return String::new() };
    let Some(header) = loops::Nest::of(case.func).headers().next() else {
        return "error: no loop\n".to_owned();
    };
    let options = Options::new(4, Vec::new(), format!("{}_x4", case.func.name));
    match loops::vectorize_loop(
        &mut module,
        id,
        // What is made of a loop is shown, without checks of its pointers.
        &change(loops::Unit { contract: Contract::Independent, ..loops::Unit::new(header, 4) }),
        &options,
    ) {
        Err(e) => format!("error: {e}\n"),
        Ok(made) => {
            let mut out = String::new();
            for c in &made.carried {
                let _ = writeln!(out, "{}: {}", c.name, c.kind.name());
            }
            for func in [id, made.variants.full.func].into_iter().chain(made.variants.prologue) {
                let func = &module.functions[func];
                out += &(print_function(&module, func) + &verified(&module, func));
            }
            out
        }
    }
}

fn verified(module: &Module, func: &Function) -> String {
    match verify(module, func) {
        Ok(()) => String::new(),
        Err(errors) => errors.to_string(),
    }
}

/// Passes by name, separated by commas: the function behind them.
pub(super) fn passes(case: &Case<'_>) -> String {
    let options =
        Options { coherence: Coherence::On, boscc: Boscc::Off, ..options(case.func, Linearize::Partial) };
    let names: Vec<&str> = case.args.split(',').map(str::trim).collect();
    match vectorize::passes::run_named(case.module, case.func, &names, &options) {
        Ok(func) => print_function(case.module, &func),
        Err(e) => format!("error: {e}\n"),
    }
}
