//! One kernel, run as scalar threads in lockstep, as a lane program and as lowered vector code: all must agree.
//!
//! The lockstep run is the reference: what it returns and leaves in memory must be refined by the others.
//! If it traps, the program has undefined behaviour and anything is right.

use warpline_interp::{
    Cell, HashingHost, Inactive, LaneArg, LaneSet, Machine, Options as MachineOptions, Trap, Val,
};
use warpline_ir::verify::verify;
use warpline_ir::{Function, Module};
use warpline_uniformity::shape::ArgShape;
use warpline_vectorize::{
    self as vectorize, Boscc, Coherence, Contract, Gathers, Linearize, Masks, Options, Packing, Passing,
    VectorizeError, width,
};

use crate::census::{Names, access_forms};
use crate::paths::check_paths;
use crate::programs::{
    Inputs, Mismatch, Observed, ParamRole, Program, Reference, compare, run_lockstep, shrink,
};
use crate::rng::SplitMix64;
use crate::theorems::check_theorems;

/// Which of several correct forms the vectorizer makes.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Form {
    /// How much is folded.
    pub linearize: Linearize,
    /// Where tests skip code without an active lane.
    pub boscc: Boscc,
    /// What it is told that the machine gathers.
    pub gathers: Gathers,
    /// For which loops it makes code for iterations in which lanes agree.
    pub coherence: Coherence,
}

impl Form {
    /// A machine that gathers so, and loads and stores under masks as such machines do.
    pub fn machine(&self) -> width::Machine {
        let masks = match self.gathers {
            Gathers::Nothing => Masks::Nothing,
            Gathers::Avx2 => Masks::Wide,
            Gathers::Everything => Masks::Everything,
        };
        let byte_sums = match self.gathers {
            Gathers::Nothing => 0,
            Gathers::Avx2 => 256,
            Gathers::Everything => 128,
        };
        let byte_shuffles = self.gathers != Gathers::Nothing;
        let packing = match self.gathers {
            Gathers::Nothing => Packing::Nothing,
            Gathers::Avx2 => Packing::Permuted,
            Gathers::Everything => Packing::Everything,
        };
        let gathers = self.gathers;
        width::Machine { gathers, masks, byte_sums, byte_shuffles, packing, ..width::Machine::default() }
    }

    /// All divergent branches folded, or one time in four every branch; each kind of tests as often as the others.
    pub fn random(rng: &mut SplitMix64) -> Form {
        let linearize = if rng.below(4) == 0 { Linearize::Full } else { Linearize::Partial };
        let boscc = *rng.pick(&[Boscc::Off, Boscc::On, Boscc::Auto]);
        // Not drawn from the generator itself, so that seeds keep their meaning.
        let mut more = rng.clone();
        let gathers = *more.pick(&[Gathers::Nothing, Gathers::Everything, Gathers::Avx2]);
        let coherence = *more.pick(&[Coherence::Off, Coherence::On]);
        Form { linearize, boscc, gathers, coherence }
    }
}

/// So many times as many instructions as the lockstep run may the vectorized forms execute: with folded branches they
/// execute both sides.
const FOLDED: u64 = 16;

/// How a kernel is vectorized and run.
#[derive(Copy, Clone, Debug)]
pub struct Setup {
    /// The lanes that take part; `None`: all, and no mask parameter is made.
    pub mask: Option<LaneSet>,
    /// What the vectorizer makes.
    pub form: Form,
    /// Instructions that the lockstep run may execute, all lanes together.
    pub fuel: u64,
}

impl Setup {
    /// The fuel of the vectorized forms.
    pub(crate) fn fuel_of_lanes(&self) -> u64 {
        self.fuel.saturating_mul(FOLDED)
    }
}

/// How a comparison ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// All agree.
    Agree(Report),
    /// The reference trapped or ran out of fuel.
    Skipped(String),
    /// The vectorizer refused the kernel.
    Refused(String),
    /// They differ: what, and where.
    Differ(String),
}

/// What a comparison saw.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Divergent branches in the kernel.
    pub divergent_branches: usize,
    /// Uniform branches that were kept.
    pub uniform_kept: usize,
    /// Uniform branches that were folded.
    pub uniform_lost: usize,
    /// Divergent loops.
    pub divergent_loops: usize,
    /// Tests that skip code without an active lane, for speed alone.
    pub chosen_tests: usize,
    /// Loops with code for iterations in which lanes agree.
    pub coherent: usize,
    /// Whether lanes met in memory.
    pub raced: bool,
    /// Edges of which Theorem 4.5 says that they stay; `None` if the kernel was too large to check.
    pub promised_edges: Option<usize>,
    /// The forms of accesses to memory in the vector code.
    pub forms: Names,
}

/// The shape that a parameter of this role has.
pub fn shape_of(role: &ParamRole) -> ArgShape {
    match role {
        ParamRole::Index => ArgShape::Index,
        ParamRole::Uniform | ParamRole::Buffer { .. } => ArgShape::Uniform,
        ParamRole::Varying => ArgShape::Varying,
    }
}

/// What is to be known of a program that runs differ on: the smallest one that still does so.
pub fn describe_failure(program: &Program, (width, seed): (u32, u64), setup: &Setup, why: &str) -> String {
    let run = |p: &Program| compare_all(p, &Inputs::random(p, width, seed), setup);
    let small = shrink(program, |p: &Program| matches!(run(p), Outcome::Differ(_)));
    let now = run(&small);
    format!("seed {seed}, width {width}, {setup:?}\n{why}\nshrunk: {now:?}\n{}", small.text())
}

/// Compares all three runs, and the ways of the lanes through the lane program with those through the scalar function.
pub fn compare_all(program: &Program, inputs: &Inputs, setup: &Setup) -> Outcome {
    let active = setup.mask.unwrap_or(LaneSet::first(inputs.width));
    let machine = MachineOptions { fuel: setup.fuel, ..MachineOptions::default() };
    let reference = run_lockstep(program, inputs, active, &machine, None);
    if let Err(trap) = &reference.result {
        return Outcome::Skipped(trap.kind.to_string());
    }
    if reference.froze {
        return Outcome::Skipped("the program freezes poison, so it has several results".into());
    }
    match differs(program, inputs, setup, &reference) {
        Ok(report) => Outcome::Agree(report),
        Err(outcome) => outcome,
    }
}

fn differs(
    program: &Program,
    inputs: &Inputs,
    setup: &Setup,
    reference: &Observed,
) -> Result<Report, Outcome> {
    let func = program.function();
    let options = Options {
        masked: setup.mask.is_some(),
        linearize: setup.form.linearize,
        boscc: setup.form.boscc,
        machine: setup.form.machine(),
        coherence: setup.form.coherence,
        // The lockstep run is the reference, whatever lanes do to each other.
        contract: Contract::Racy,
        ..Options::new(
            inputs.width,
            program.roles.iter().map(shape_of).collect(),
            format!("{}_vectorized", func.name),
        )
    };
    let linearized = vectorize::linearize_kernel(&program.module, func, &options).map_err(refusal)?;
    let lane_program = &linearized.program.func;
    valid("lane program", &program.module, lane_program)?;
    let theorems = check_theorems(&linearized.program.linearization)
        .map_err(|why| Outcome::Differ(format!("theorems: {why}")))?;
    let mut effects = Vec::new();
    for inactive in [Inactive::Poison, Inactive::Random(7)] {
        let stage = format!("lane program, inactive lanes {inactive:?}");
        let found = run_lane_program(program, inputs, setup, lane_program, inactive);
        judge(&stage, compare(reference, &found, Reference::Sequential))?;
        effects = found.effects;
    }
    let raced = reference.run.as_ref().is_some_and(|r| r.races.any());
    if !raced {
        check_paths(program, inputs, setup, &linearized.scalar, lane_program)
            .map_err(|why| Outcome::Differ(format!("lane program: {why}")))?;
    }
    let mut module = program.module.clone();
    let made = vectorize::vectorize(&mut module, program.kernel, &options).map_err(refusal)?;
    let lowered = &module.functions[made.func];
    valid("vector function", &module, lowered)?;
    let mut found = run_vector_code(inputs, setup, &module, lowered, &made.params);
    // One thread does everything, in the order of the lane program: instruction by instruction, and each of them for
    // one lane after the other.
    effects.iter_mut().for_each(|e| e.lane = 0);
    if program.module.functions.len() > 1 {
        // Each lane calls a function by itself, and all of the function's effects come at once.
        found.effects.clone_from(&effects);
    }
    let reference = &Observed { effects, ..reference.clone() };
    judge("vector code", compare(reference, &found, Reference::Lockstep))?;
    Ok(Report {
        divergent_branches: made.counts.branches.divergent,
        uniform_kept: made.counts.branches.uniform_kept,
        uniform_lost: made.counts.branches.uniform_lost,
        divergent_loops: made.counts.loops.divergent,
        chosen_tests: made.counts.boscc.chosen,
        coherent: made.counts.coherent,
        raced,
        promised_edges: theorems.map(|seen| seen.promised_edges),
        forms: access_forms(&module, lowered, inputs.width),
    })
}

fn refusal(e: VectorizeError) -> Outcome {
    let defect = e.is_internal();
    if defect { Outcome::Differ(e.to_string()) } else { Outcome::Refused(e.problem().reason.clone()) }
}

fn valid(what: &str, module: &Module, func: &Function) -> Result<(), Outcome> {
    verify(module, func).map_err(|e| Outcome::Differ(format!("the {what} is broken:\n{e}")))
}

fn judge(stage: &str, result: Result<(), Mismatch>) -> Result<(), Outcome> {
    result.map_err(|m| Outcome::Differ(format!("{stage}: {m:?}")))
}

/// Runs a lane program; lanes outside the mask get poison for what varies.
fn run_lane_program(
    program: &Program,
    inputs: &Inputs,
    setup: &Setup,
    func: &Function,
    inactive: Inactive,
) -> Observed {
    let options = MachineOptions { fuel: setup.fuel_of_lanes(), inactive, ..MachineOptions::default() };
    let mut machine = Machine::with_options(&program.module, options);
    machine.set_host(HashingHost);
    let (mut args, buffers) = inputs.bind(&mut machine);
    let all = LaneSet::first(inputs.width);
    let code = machine.prepare(func);
    if let Some(mask) = setup.mask {
        poison_inactive(&mut args, mask);
        let bits = (0..inputs.width).map(|k| Val::bool(mask.contains(k)));
        args.push(LaneArg::Each(bits.collect()));
    }
    // The lowered function looks at an empty mask itself; a lane program need not.
    let result = if setup.mask.is_some_and(LaneSet::is_empty) {
        Ok(vec![None; inputs.width as usize])
    } else {
        machine.run_lanes(&code, inputs.width, all, &args, None).map(|run| run.returns)
    };
    observed(machine, buffers, result)
}

fn poison_inactive(args: &mut [LaneArg], mask: LaneSet) {
    for arg in args {
        if let LaneArg::Each(lanes) = arg {
            for (k, v) in lanes.iter_mut().enumerate().filter(|&(k, _)| !mask.contains(k as u32)) {
                // Lane 0's index is the base of the others and is passed in any case.
                if k > 0 {
                    *v = Val::poison(v.cells.len());
                }
            }
        }
    }
}

/// Runs lowered code as the single thread that it is; all effects are lane 0's.
pub fn run_vector_code(
    inputs: &Inputs,
    setup: &Setup,
    module: &Module,
    func: &Function,
    params: &[Passing],
) -> Observed {
    let options = MachineOptions { fuel: setup.fuel_of_lanes(), ..MachineOptions::default() };
    let mut machine = Machine::with_options(module, options);
    machine.set_host(HashingHost);
    let (mut lanes, buffers) = inputs.bind(&mut machine);
    if let Some(mask) = setup.mask {
        poison_inactive(&mut lanes, mask);
    }
    let mut args: Vec<Val> = Vec::new();
    for (arg, passing) in lanes.into_iter().zip(params) {
        args.push(match (arg, passing) {
            (LaneArg::Same(v), Passing::Varying(_)) => concat(&vec![v; inputs.width as usize]),
            (LaneArg::Each(list), Passing::Varying(_)) => concat(&list),
            (LaneArg::Same(v), _) => v,
            (LaneArg::Each(list), _) => list[0].clone(),
        });
    }
    if let Some(mask) = setup.mask {
        let bits: Vec<Val> = (0..inputs.width).map(|k| Val::bool(mask.contains(k))).collect();
        args.push(concat(&bits));
    }
    let code = machine.prepare(func);
    let result = machine.run_scalar(&code, &args).map(|v| {
        let width = inputs.width as usize;
        let lane = |k: usize| {
            let cells: Vec<Cell> = v.cells.iter().copied().skip(k).step_by(width).collect();
            Some(Val::of_cells(&cells))
        };
        (0..width).map(lane).collect()
    });
    observed(machine, buffers, result)
}

fn observed(machine: Machine<'_>, buffers: Vec<u64>, result: Result<Vec<Option<Val>>, Trap>) -> Observed {
    Observed {
        result,
        froze: machine.froze,
        effects: machine.effects,
        memory: machine.memory,
        buffers,
        run: None,
    }
}

/// The lanes' values as the vector function takes them: of each scalar in them, all lanes' one after the other.
fn concat(values: &[Val]) -> Val {
    let scalars = values.first().map_or(0, |v| v.cells.len());
    let cells: Vec<Cell> = (0..scalars).flat_map(|k| values.iter().map(move |v| v.cells[k])).collect();
    Val::of_cells(&cells)
}
