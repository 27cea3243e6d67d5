//! What the uniformity and the shape analysis claim, held against lockstep runs of random programs.
//!
//! The programs are of random control flow (reducible or not), on a few narrow variables, so that arithmetic wraps,
//! loops are left apart and φs merge what they should not. The lane interpreter, which has its own cycles and its own
//! convergence, executes them in lockstep; every claim on a value at its definition, on an operand where it is used,
//! and on a branch is checked at every instance that two lanes execute together.

mod generator;

use generator::{Kind, WAVE, WORK_ITEM, WorkItems, program, program_with_variables};
use warpline_analysis::{CsrGraph, Graph};
use warpline_dataflow::ssa::construct;
use warpline_interp::{
    ChildOrder, Event, LaneArg, LaneSet, Machine, Observer, Options as MachineOptions, Val,
};
use warpline_ir::*;
use warpline_testkit::differential::shape_of;
use warpline_testkit::graphs;
use warpline_testkit::programs::{Inputs, MemoryMode, ProgramOptions, generate, run_lockstep};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::uniformity_checker::{Claim, UniformityChecker};
use warpline_uniformity::facts::WorkGroup;
use warpline_uniformity::shape::{ArgShape, Exact, Shape};
use warpline_uniformity::summary::{Input, Summaries};
use warpline_uniformity::{Facts, Options, Target, Uniformity};
use warpline_vectorize::widen::widen_indices;

const WIDTHS: [u32; 5] = [8, 8, 8, 16, 64];
const BYTES: u64 = 64;

// ---- claims ---------------------------------------------------------------------------------------------

fn claim(module: &Module, ty: Type, shape: Shape) -> Claim {
    let bits = match ty {
        Type::Int(w) => w,
        Type::Ptr(space) => module.layout.index_bits(space),
        _ => return if shape.is_uniform() { Claim::Uniform } else { Claim::Varying },
    };
    match shape {
        Shape::Uniform => Claim::Uniform,
        Shape::Strided(s) => Claim::Strided { stride: s.step.into(), bits },
        Shape::Varying => Claim::Varying,
    }
}

/// The interpreter's checker with all claims of an analysis, and a check of exactness besides.
struct Judge<'f> {
    func: &'f Function,
    result: &'f Uniformity,
    checker: UniformityChecker<'f>,
    inexact: Vec<Value>,
}

impl<'f> Judge<'f> {
    fn new(module: &Module, func: &'f Function, result: &'f Uniformity) -> Judge<'f> {
        let mut checker = UniformityChecker::new(func);
        for v in func.values.keys() {
            checker.values[v] = claim(module, func.ty(v), result.shape(v));
        }
        for &b in &func.layout {
            for inst in func.block_insts(b) {
                let uses = func.insts[inst].args.iter();
                checker.uses[inst] =
                    uses.map(|&a| claim(module, func.ty(a), result.shape_at(a, b))).collect();
            }
            for &e in &func.blocks[b].preds {
                let uses = func.edges[e].args.iter();
                checker.phi_uses[e] =
                    uses.map(|&a| claim(module, func.ty(a), result.shape_on(a, e))).collect();
            }
            // What is claimed is that lanes go on to one block, and what is seen is which edges they take.
            let mut targets: Vec<Block> = func.successors(b).collect();
            targets.sort_unstable();
            let parts = targets.len() > 1 && targets.windows(2).all(|pair| pair[0] != pair[1]);
            checker.uniform_branches[b] = parts && !result.is_divergent_branch(b);
        }
        Judge { func, result, checker, inexact: Vec::new() }
    }
}

impl Observer for Judge<'_> {
    fn executed(&mut self, event: &Event<'_>) {
        self.checker.executed(event);
        if event.depth > 0 {
            return;
        }
        for &r in &self.func.insts[event.inst].results {
            let (Shape::Strided(s), Type::Int(width)) = (self.result.shape(r), self.func.ty(r)) else {
                continue;
            };
            let known = |lane: u32| event.value(r, lane).first().and_then(|c| c.defined());
            let signed = |x: u128| ((x << (128 - width)) as i128) >> (128 - width);
            let mut lanes = event.lanes.iter().filter_map(|l| Some((l, known(l)?)));
            let Some((first, a)) = lanes.next() else { continue };
            for (lane, b) in lanes {
                let expected = i128::from(lane - first) * i128::from(s.step);
                let wrong = (s.unsigned != Exact::No && b as i128 - a as i128 != expected)
                    || (s.signed != Exact::No && signed(b) - signed(a) != expected);
                if wrong && !self.inexact.contains(&r) {
                    self.inexact.push(r);
                }
            }
        }
    }
}

#[derive(Default, Debug)]
struct Rates {
    runs: usize,
    returned: usize,
    trapped: usize,
    out_of_fuel: usize,
    froze: usize,
    diverged_branches: usize,
    uniform_observed: usize,
    strided_observed: usize,
    exact_observed: usize,
    varying_diverged: usize,
    varying_observed: usize,
    temporal: usize,
    irreducible: usize,
    widened: usize,
    wave_values: usize,
    wave_branches: usize,
    known_values: usize,
    known_lost: usize,
    known_branches: usize,
}

const ARGS: [ArgShape; 5] =
    [ArgShape::Index, ArgShape::Uniform, ArgShape::Varying, ArgShape::Stride(4), ArgShape::Uniform];

/// What each lane returned, if the run came to its end.
type Returned = Option<Vec<Option<Val>>>;

/// Runs a program with random arguments. What was claimed and did not hold is an error.
fn run(
    module: &Module,
    result: &Uniformity,
    rng: &mut SplitMix64,
    rates: &mut Rates,
) -> Result<Returned, String> {
    let func = &module.functions[FuncId::from_u32(0)];
    let is_wave = module.symbol(WORK_ITEM).is_some();
    let width = *rng.pick(if is_wave { &[2, 3, WAVE] } else { &[2, 4, 7] });
    let options = MachineOptions {
        fuel: 6_000,
        child_order: *rng.pick(&[ChildOrder::Forward, ChildOrder::Backward, ChildOrder::Shuffled(1)]),
        ..MachineOptions::default()
    };
    let mut machine = Machine::with_options(module, options);
    let memory: Vec<u8> = (0..BYTES).map(|_| rng.below(5) as u8).collect();
    let Ok(address) = machine.memory.allocate_bytes(&memory, 1) else { return Err("no memory".into()) };
    let int8 = |x: u128| Val::int(x & 0xff);
    // Neither reading wraps between base and base + width − 1.
    let start = *rng.pick(&[0, 1, 3, 121, 128, 240]);
    let (u, s) = (rng.below(256) as u128, rng.below(256) as u128);
    let lanes = || 0..u128::from(width);
    machine.set_host(WorkItems(start & !u128::from(WAVE - 1)));
    let args = [
        LaneArg::Each(lanes().map(|l| int8(start + l)).collect()),
        LaneArg::Same(int8(*rng.pick(&[0, 1, 5, u]))),
        LaneArg::Each(lanes().map(|_| int8(rng.below(256) as u128)).collect()),
        LaneArg::Each(lanes().map(|l| int8(s + 4 * l)).collect()),
        LaneArg::Same(Val::ptr(address)),
    ];
    let mut entry = LaneSet::first(width);
    if rng.chance(1, 4) {
        entry = entry.minus(LaneSet::one(0));
    }
    let code = machine.prepare(func);
    let mut judge = Judge::new(module, func, result);
    let outcome = machine.run_lockstep(&code, width, entry, &args, Some(&mut judge));
    rates.runs += 1;
    if machine.froze {
        // `freeze` of poison made an arbitrary choice, which the analysis may make differently.
        rates.froze += 1;
        return Ok(None);
    }
    let returned = match outcome {
        Ok(run) => {
            rates.returned += 1;
            Some(run.returns)
        }
        Err(t) => {
            let out_of_fuel = t.kind == warpline_interp::TrapKind::OutOfFuel;
            rates.out_of_fuel += usize::from(out_of_fuel);
            rates.trapped += usize::from(!out_of_fuel);
            None
        }
    };
    for v in func.values.keys().filter(|&v| judge.checker.observed[v]) {
        match result.shape(v) {
            Shape::Uniform => rates.uniform_observed += 1,
            Shape::Strided(s) => {
                rates.strided_observed += 1;
                rates.exact_observed += usize::from(s.unsigned != Exact::No || s.signed != Exact::No);
            }
            Shape::Varying => {
                rates.varying_observed += 1;
                rates.varying_diverged += usize::from(judge.checker.diverged[v]);
            }
        }
    }
    rates.diverged_branches += judge.checker.diverged_branches.values().filter(|&&d| d).count();
    match (judge.checker.violations.first(), judge.inexact.first()) {
        (Some(v), _) => Err(format!("width {width}: {v:?}")),
        (None, Some(v)) => Err(format!("width {width}: {v} is {}, but not exactly", result.shape(*v))),
        (None, None) => Ok(returned),
    }
}

fn check(seed: u64, graph: &CsrGraph, kind: Kind, rates: &mut Rates) -> Result<(), String> {
    let mut rng = SplitMix64::new(seed);
    let module = program(&mut rng, graph, kind);
    let func = &module.functions[FuncId::from_u32(0)];
    let group = WorkGroup { size: [256, 1, 1], whole: false };
    let mut facts = Facts::default();
    (facts.wave_size, facts.work_group) = (Some(WAVE), Some(group));
    let target = if kind == Kind::Waves { Target::Amdgcn } else { Target::Simd };
    let plain = Options { target, ..Options::with_args(ARGS.to_vec()) };
    let options = Options { facts: facts.into(), ..plain.clone() };
    let unknown_waves = Uniformity::compute(&module, func, &plain);
    let plain = Uniformity::compute(&module, func, &options);
    let gains = |v: &Value| unknown_waves.is_divergent(*v) && !plain.is_divergent(*v);
    rates.wave_values += func.values.keys().filter(gains).count();
    let gains = |b: &&Block| unknown_waves.is_divergent_branch(**b) && !plain.is_divergent_branch(**b);
    rates.wave_branches += func.layout.iter().filter(gains).count();
    let options = options.with_known(&module, func, None);
    let result = Uniformity::compute(&module, func, &options);
    for v in func.values.keys().filter(|&v| plain.is_divergent(v) != result.is_divergent(v)) {
        // A φ all of whose live operands are poison may look like one that changes.
        if result.is_divergent(v) {
            rates.known_lost += 1;
            continue;
        }
        rates.known_values += 1;
    }
    let differs = |b: &&Block| plain.is_divergent_branch(**b) && !result.is_divergent_branch(**b);
    rates.known_branches += func.layout.iter().filter(differs).count();
    rates.temporal += result.temporal_uses(func).len();
    rates.irreducible += result.cycles().cycles().filter(|&c| !result.cycles().is_reducible(c)).count();
    let mut widened = module.clone();
    let widened_func = &mut widened.functions[FuncId::from_u32(0)];
    rates.widened += widen_indices(&module, widened_func, &result);
    let widened_result = Uniformity::compute(&widened, &widened.functions[FuncId::from_u32(0)], &options);
    for _ in 0..4 {
        let text = |m: &Module, e: String| format!("{e}\n{}", warpline_ir::text::print_module(m));
        let mut same = rng.clone();
        let plain = run(&module, &result, &mut rng, rates).map_err(|e| text(&module, e))?;
        if let Some(plain) = plain {
            let wide = run(&widened, &widened_result, &mut same, &mut Rates::default());
            let Some(wide) = wide.map_err(|e| text(&widened, e))? else { continue };
            let refined = plain.iter().zip(&wide).all(|(a, b)| match (a, b) {
                (Some(a), Some(b)) => a.refined_by(b),
                (a, b) => a.is_none() && b.is_none(),
            });
            if !refined {
                let e = format!("{plain:?} became {wide:?} by widening\n");
                return Err(text(&module, text(&widened, e)));
            }
        }
    }
    Ok(())
}

/// The graph with one more node, the exit, to which some of the others have an edge.
fn with_exits(rng: &mut SplitMix64, graph: &CsrGraph) -> CsrGraph {
    let exit = graph.node_count();
    let mut edges = graphs::edge_list(graph);
    let more: Vec<(usize, usize)> = (0..exit).filter(|_| rng.chance(1, 3)).map(|n| (n, exit)).collect();
    edges.extend(more);
    rng.shuffle(&mut edges);
    graphs::build(exit + 1, edges)
}

fn check_many(
    seeds: std::ops::Range<u64>,
    kind: Kind,
    generate: impl Fn(&mut SplitMix64) -> CsrGraph,
) -> Rates {
    let mut rates = Rates::default();
    for seed in seeds {
        let mut rng = SplitMix64::new(seed);
        let graph = generate(&mut rng);
        let graph = with_exits(&mut rng, &graph);
        if let Err(message) = check(seed, &graph, kind, &mut rates) {
            let again = |g: &CsrGraph| check(seed, g, kind, &mut Rates::default());
            let (_, message) = graphs::shrink(&graph, message, again);
            panic!("seed {seed}: {message}");
        }
    }
    rates
}

/// The seeds of a test: `WARPLINE_PROGRAMS` of them from `WARPLINE_SEED` on.
fn seeds(count: u64) -> std::ops::Range<u64> {
    let number = |name| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let first = number("WARPLINE_SEED").unwrap_or(0);
    first..first + number("WARPLINE_PROGRAMS").unwrap_or(count)
}

fn assert_not_vacuous(rates: &Rates) {
    assert!(rates.known_lost * 1000 < rates.runs, "{rates:?}");
    let enough = rates.returned > rates.runs / 4
        && rates.uniform_observed > rates.runs / 2
        && rates.strided_observed > rates.runs / 4
        && rates.exact_observed > rates.runs / 20
        && rates.diverged_branches > rates.runs / 8
        && rates.temporal > rates.runs / 20;
    assert!(enough, "{rates:?}");
}

#[test]
fn claims_hold_in_lockstep_runs_of_reducible_programs() {
    let rates = check_many(seeds(800), Kind::Mixed, |rng| graphs::reducible(rng, 11));
    assert_not_vacuous(&rates);
}

#[test]
fn claims_hold_in_lockstep_runs_of_programs_with_any_control_flow() {
    let rates = check_many(seeds(800), Kind::Mixed, |rng| graphs::arbitrary(rng, 11));
    assert_not_vacuous(&rates);
    assert!(rates.irreducible > 100, "{rates:?}");
}

#[test]
fn claims_about_the_work_items_of_a_wave_hold_in_lockstep_runs() {
    let rates = check_many(seeds(800), Kind::Waves, |rng| graphs::reducible(rng, 11));
    assert!(rates.returned > rates.runs / 4 && rates.diverged_branches > rates.runs / 8, "{rates:?}");
    println!("{rates:?}");
    assert!(rates.wave_values > rates.runs / 4 && rates.wave_branches > rates.runs / 80, "{rates:?}");
    assert!(rates.known_values > rates.runs / 160, "{rates:?}");
}

#[test]
fn claims_hold_and_results_stay_when_indices_are_widened() {
    let rates = check_many(seeds(800), Kind::Indices, |rng| graphs::reducible(rng, 4));
    assert!(rates.widened > rates.runs / 10 && rates.returned > rates.runs / 4, "{rates:?}");
}

/// What is found of a function with variables is what is found of it in SSA form: of a read, as of a use of the value
/// that takes its place.
fn answers_are_those_of_the_ssa_form(module: &Module) -> Result<(usize, usize), String> {
    let shapes =
        [ArgShape::Varying, ArgShape::Uniform, ArgShape::Varying, ArgShape::Varying, ArgShape::Uniform];
    let options = Options::with_args(shapes.to_vec());
    let func = &module.functions[FuncId::from_u32(0)];
    let mut ssa = module.clone();
    let built = construct(&mut ssa.functions[FuncId::from_u32(0)], |_| true);
    let in_ssa = Uniformity::compute(&ssa, &ssa.functions[FuncId::from_u32(0)], &options);
    let direct = Uniformity::compute(module, func, &options);
    let (mut reads, mut divergent) = (0, 0);
    for &b in &func.layout {
        if direct.is_divergent_branch(b) != in_ssa.is_divergent_branch(b) {
            return Err(format!("the branch of {b} differs from its SSA form"));
        }
        for v in func.block_insts(b).flat_map(|i| func.insts[i].results.iter().copied()) {
            let expected = match built.value_of(v) {
                Some(value) => in_ssa.is_divergent_at(value, b),
                None => in_ssa.is_divergent(v),
            };
            if direct.is_divergent(v) != expected {
                return Err(format!("{v} differs from its SSA form, where it is divergent: {expected}"));
            }
            reads += usize::from(built.value_of(v).is_some());
            divergent += usize::from(built.value_of(v).is_some() && expected);
        }
    }
    Ok((reads, divergent))
}

#[test]
fn claims_hold_in_functions_with_variables_and_are_those_of_their_ssa_form() {
    let (mut rates, mut reads, mut divergent) = (Rates::default(), 0, 0);
    for seed in 0..600 {
        let mut rng = SplitMix64::new(seed);
        let arbitrary = rng.chance(1, 2);
        let graph = if arbitrary { graphs::arbitrary(&mut rng, 11) } else { graphs::reducible(&mut rng, 11) };
        let graph = with_exits(&mut rng, &graph);
        let module = program_with_variables(&mut rng, &graph, Kind::Mixed);
        let fail = |e: String| panic!("seed {seed}: {e}\n{}", warpline_ir::text::print_module(&module));
        let (r, d) = answers_are_those_of_the_ssa_form(&module).unwrap_or_else(fail);
        (reads, divergent) = (reads + r, divergent + d);
        let func = &module.functions[FuncId::from_u32(0)];
        let result = Uniformity::compute(&module, func, &Options::with_args(ARGS.to_vec()));
        for _ in 0..3 {
            let fail = |e: String| panic!("seed {seed}: {e}\n{}", warpline_ir::text::print_module(&module));
            run(&module, &result, &mut rng, &mut rates).unwrap_or_else(fail);
        }
    }
    println!("{reads} reads, {divergent} divergent; {rates:?}");
    assert!(divergent * 5 > reads && divergent * 5 < reads * 4, "{divergent} of {reads} reads diverge");
    assert!(rates.returned > rates.runs / 4 && rates.uniform_observed > rates.runs / 2, "{rates:?}");
    assert!(rates.diverged_branches > rates.runs / 8, "{rates:?}");
}

/// Structured programs with memory, calls, lane operations and values that are used outside of their loops.
#[test]
fn claims_hold_in_lockstep_runs_of_kernels() {
    let (mut judged, mut uniform, mut strided, mut parted) = (0, 0, 0, 0);
    for seed in 0..300 {
        let mut rng = SplitMix64::new(seed);
        let options = ProgramOptions {
            size: 2 + rng.below(10),
            memory: *rng.pick(&[MemoryMode::None, MemoryMode::Private, MemoryMode::Racy]),
            lane_operations: rng.chance(1, 2),
            effects: rng.chance(1, 2),
            traps: rng.chance(1, 3),
            ..ProgramOptions::default()
        };
        let program = generate(seed, &options);
        let func = program.function();
        let args = program.roles.iter().map(shape_of).collect();
        let result = Uniformity::compute(&program.module, func, &Options::with_args(args));
        let width = *rng.pick(&[2, 5, 8]);
        let inputs = Inputs::random(&program, width, seed);
        let machine = MachineOptions {
            fuel: 100_000,
            child_order: *rng.pick(&[ChildOrder::Forward, ChildOrder::Backward]),
            ..MachineOptions::default()
        };
        let mut judge = Judge::new(&program.module, func, &result);
        let run = run_lockstep(&program, &inputs, LaneSet::first(width), &machine, Some(&mut judge));
        if run.froze {
            continue;
        }
        judged += 1;
        let violations = (&judge.checker.violations, &judge.inexact);
        assert!(
            violations.0.is_empty() && violations.1.is_empty(),
            "seed {seed}: {violations:?}\n{}",
            program.text()
        );
        for v in func.values.keys().filter(|&v| judge.checker.observed[v]) {
            uniform += usize::from(result.shape(v).is_uniform());
            strided += usize::from(matches!(result.shape(v), Shape::Strided(_)));
        }
        parted += judge.checker.diverged_branches.values().filter(|&&d| d).count();
    }
    let rates = format!("{judged} judged, {uniform} uniform, {strided} strided, {parted} parted");
    assert!(judged > 200 && uniform > 2000 && strided > 200 && parted > 100, "{rates}");
}

/// Calls of functions of the module, whose results are known by summaries.
#[test]
fn claims_about_results_of_functions_hold_in_lockstep_runs() {
    let (mut calls, mut uniform, mut differed) = (0, 0, 0);
    for seed in 0..600 {
        let mut rng = SplitMix64::new(seed);
        let options = ProgramOptions {
            size: 2 + rng.below(10),
            memory: *rng.pick(&[MemoryMode::None, MemoryMode::Private]),
            lane_operations: false,
            effects: false,
            ..ProgramOptions::default()
        };
        let program = generate(seed, &options);
        if program.module.functions.len() < 2 {
            continue;
        }
        let func = program.function();
        let summaries = Summaries::compute(&program.module, Target::Simd, |_| Input::default());
        let asked = Options {
            args: program.roles.iter().map(shape_of).collect(),
            summaries: Some(summaries.into()),
            ..Options::default()
        };
        let result = Uniformity::compute(&program.module, func, &asked);
        let width = *rng.pick(&[2, 5, 8]);
        let inputs = Inputs::random(&program, width, seed);
        let machine = MachineOptions { fuel: 100_000, ..MachineOptions::default() };
        let mut judge = Judge::new(&program.module, func, &result);
        let run = run_lockstep(&program, &inputs, LaneSet::first(width), &machine, Some(&mut judge));
        if run.froze {
            continue;
        }
        assert!(
            judge.checker.violations.is_empty(),
            "seed {seed}: {:?}\n{}",
            judge.checker.violations,
            program.text()
        );
        let insts = func.layout.iter().flat_map(|&b| func.block_insts(b));
        for v in
            insts.filter(|&i| matches!(func.insts[i].op, Op::Call(_))).flat_map(|i| &func.insts[i].results)
        {
            if judge.checker.observed[*v] {
                calls += 1;
                uniform += usize::from(!result.is_divergent(*v));
                differed += usize::from(result.is_divergent(*v));
            }
        }
    }
    assert!(calls > 200 && uniform > 40 && differed > 40, "{calls} calls, {uniform} uniform, {differed} not");
}
