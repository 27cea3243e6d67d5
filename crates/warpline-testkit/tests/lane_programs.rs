//! Lane programs of kernels whose lanes meet in memory, and the blocks that lanes visit.

use std::collections::BTreeMap;

use warpline_interp::{HashingHost, Inactive, LaneSet, Machine, Options as MachineOptions, Run, Trap};
use warpline_ir::verify::verify;
use warpline_ir::{Block, Function, Inst, LaneOp, Module, Op, Type, Value};
use warpline_testkit::differential::{self, Form, Setup, compare_all, run_vector_code, shape_of};
use warpline_testkit::paths::check_paths;
use warpline_testkit::programs::{
    Inputs, MemoryMode, Observed, Program, ProgramOptions, Reference, compare, generate, shrink,
};
use warpline_testkit::rng::SplitMix64;
use warpline_vectorize::{self as vectorize, Boscc, Contract, Options};

const FUEL: u64 = 300_000;

/// A run of a function in a fresh machine.
fn observe(
    program: &Program,
    inputs: &Inputs,
    inactive: Inactive,
    run: impl FnOnce(&mut Machine<'_>, &[warpline_interp::LaneArg]) -> Result<Run, Trap>,
) -> Observed {
    let options = MachineOptions { fuel: FUEL, inactive, ..MachineOptions::default() };
    let mut machine = Machine::with_options(&program.module, options);
    machine.set_host(HashingHost);
    let (args, buffers) = inputs.bind(&mut machine);
    let (result, run) = match run(&mut machine, &args) {
        Ok(r) => (Ok(r.returns.clone()), Some(r)),
        Err(t) => (Err(t), None),
    };
    Observed { result, buffers, effects: machine.effects, froze: machine.froze, run, memory: machine.memory }
}

/// Reverse post-order: a lane program executes its blocks in it.
fn execution_order(f: &Function) -> Vec<Block> {
    let mut done = vec![false; f.blocks.len()];
    let mut order = Vec::new();
    let mut stack = vec![(f.entry(), 0)];
    done[f.entry().as_u32() as usize] = true;
    while let Some((b, next)) = stack.pop() {
        match f.successors(b).nth(next) {
            None => order.push(b),
            Some(s) => {
                stack.push((b, next + 1));
                if !std::mem::replace(&mut done[s.as_u32() as usize], true) {
                    stack.push((s, 0));
                }
            }
        }
    }
    order.reverse();
    order
}

enum Outcome {
    Agree { raced: bool },
    Skipped(String),
    Differ(String),
}

/// A kernel with its lane program and the reference run: the normalized scalar function in lockstep, in the order of
/// the lane program's blocks.
struct Case<'a> {
    program: &'a Program,
    inputs: &'a Inputs,
    scalar: Function,
    lanes: Function,
    reference: Observed,
}

fn options(program: &Program, inputs: &Inputs, form: Form) -> Options<'static> {
    Options {
        linearize: form.linearize,
        boscc: form.boscc,
        coherence: form.coherence,
        contract: Contract::Racy,
        ..Options::new(inputs.width, program.roles.iter().map(shape_of).collect(), "kernel_lanes")
    }
}

fn prepare<'a>(program: &'a Program, inputs: &'a Inputs, form: Form) -> Result<Case<'a>, String> {
    let options = options(program, inputs, form);
    let linearized = vectorize::linearize_kernel(&program.module, program.function(), &options)
        .map_err(|e| e.to_string())?;
    let (scalar, lanes) = (linearized.scalar, linearized.program.func);
    let order = execution_order(&lanes);
    let reference = observe(program, inputs, Inactive::Poison, |m, args| {
        let code = m.prepare_ordered(&scalar, Some(&order));
        m.run_lockstep(&code, inputs.width, LaneSet::first(inputs.width), args, None)
    });
    // Another run may freeze another value, and go another way.
    if reference.froze {
        return Err("it freezes poison".to_owned());
    }
    match &reference.result {
        Err(t) => Err(t.kind.to_string()),
        Ok(_) => Ok(Case { program, inputs, scalar, lanes, reference }),
    }
}

impl Case<'_> {
    /// Whether a lane program does what the reference does: results, memory, effects, and which lanes visit which
    /// of the scalar function's blocks.
    fn judge(&self, lanes: &Function, inactive: Inactive) -> Result<(), String> {
        let width = self.inputs.width;
        let found = observe(self.program, self.inputs, inactive, |m, args| {
            let code = m.prepare(lanes);
            m.run_lanes(&code, width, LaneSet::first(width), args, None)
        });
        compare(&self.reference, &found, Reference::Sequential).map_err(|m| format!("{m:?}"))?;
        let (Some(run), Some(lane_run)) = (&self.reference.run, &found.run) else {
            return Err("no run".into());
        };
        for &b in self.scalar.layout.iter().filter(|b| lanes.layout.contains(b)) {
            let (expected, visitors) = (run.visited[b], lane_run.visited[b]);
            if expected != visitors {
                return Err(format!("{b} is visited by {visitors:?} instead of {expected:?}"));
            }
        }
        Ok(())
    }
}

fn check(program: &Program, inputs: &Inputs, form: Form) -> Outcome {
    let case = match prepare(program, inputs, form) {
        Ok(case) => case,
        Err(why) => return Outcome::Skipped(why),
    };
    for inactive in [Inactive::Poison, Inactive::Random(3)] {
        if let Err(why) = case.judge(&case.lanes, inactive) {
            return Outcome::Differ(format!("{inactive:?}: {why}"));
        }
    }
    if let Err(why) = judge_vector_code(&case, form) {
        return Outcome::Differ(format!("vector code: {why}"));
    }
    Outcome::Agree { raced: case.reference.run.is_some_and(|r| r.races.any()) }
}

/// The lowered code against the reference; effects are left to another test.
fn judge_vector_code(case: &Case, form: Form) -> Result<(), String> {
    let mut module = case.program.module.clone();
    let options = options(case.program, case.inputs, form);
    let Ok(made) = vectorize::vectorize(&mut module, case.program.kernel, &options) else { return Ok(()) };
    let setup = Setup { mask: None, form, fuel: FUEL };
    let mut found = run_vector_code(case.inputs, &setup, &module, &module.functions[made.func], &made.params);
    found.effects.clone_from(&case.reference.effects);
    compare(&case.reference, &found, Reference::Sequential).map_err(|m| format!("{m:?}"))
}

#[test]
fn lane_programs_of_racy_kernels_do_what_lanes_in_lockstep_do() {
    let count = std::env::var("WARPLINE_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(300u64);
    let (mut agreed, mut raced) = (0, 0);
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for seed in 0..count {
        let mut rng = SplitMix64::new(seed);
        let options = ProgramOptions {
            size: rng.between(2, 12),
            memory: MemoryMode::Racy,
            lane_operations: rng.chance(1, 3) && seed % 8 != 0,
            poison: rng.chance(1, 2),
            wide: seed % 4 == 0,
            irreducible: seed % 8 == 0,
            ..ProgramOptions::default()
        };
        let program = generate(seed, &options);
        let width = *rng.pick(&[2, 4, 8]);
        let form = Form::random(&mut rng);
        match check(&program, &Inputs::random(&program, width, seed), form) {
            Outcome::Agree { raced: r } => {
                agreed += 1;
                raced += u64::from(r);
            }
            Outcome::Skipped(why) => *reasons.entry(why).or_default() += 1,
            Outcome::Differ(why) => {
                let fails = |p: &Program| {
                    matches!(check(p, &Inputs::random(p, width, seed), form), Outcome::Differ(_))
                };
                let small = shrink(&program, fails);
                let now = match check(&small, &Inputs::random(&small, width, seed), form) {
                    Outcome::Differ(why) => why,
                    _ => String::new(),
                };
                panic!("seed {seed}, width {width}, {form:?}: {why}\nshrunk: {now}\n{}", small.text());
            }
        }
    }
    println!("{agreed} of {count} agree, {raced} raced; {reasons:#?}");
    assert!(agreed * 2 > count && raced * 5 > count, "vacuous: {agreed} agree, {raced} raced, {reasons:?}");
}

/// What can go wrong in a lane program.
#[derive(Copy, Clone, Debug)]
enum Mutation {
    DropMask,
    NegateMask,
    SwapBlend,
    StuckMaskAny(bool),
    /// A test asks for another block's mask.
    OtherMaskAny,
    FlipInitialMask,
}

/// Applies a mutation to a random place; `false` if there is none.
fn mutate(module: &Module, f: &mut Function, mutation: Mutation, rng: &mut SplitMix64) -> bool {
    let lane_op = |f: &Function, i: Inst| match f.insts[i].op {
        Op::Lane(op) => Some(op),
        _ => None,
    };
    let insts: Vec<Inst> = f.layout.iter().flat_map(|&b| f.blocks[b].insts.clone()).collect();
    let find = |f: &Function, rng: &mut SplitMix64, wanted: &dyn Fn(LaneOp) -> bool| {
        let places: Vec<Inst> =
            insts.iter().copied().filter(|&i| lane_op(f, i).is_some_and(wanted)).collect();
        (!places.is_empty()).then(|| *rng.pick(&places))
    };
    match mutation {
        Mutation::DropMask => {
            let masked: Vec<Block> =
                f.layout.iter().copied().filter(|&b| f.blocks[b].mask.is_some()).collect();
            if masked.is_empty() {
                return false;
            }
            f.blocks[*rng.pick(&masked)].mask = None.into();
        }
        Mutation::NegateMask => {
            let is = |op| matches!(op, LaneOp::MaskAnd | LaneOp::MaskAndNot);
            let Some(i) = find(f, rng, &is) else { return false };
            let and = lane_op(f, i) == Some(LaneOp::MaskAnd);
            f.insts[i].op = Op::Lane(if and { LaneOp::MaskAndNot } else { LaneOp::MaskAnd });
        }
        Mutation::SwapBlend => {
            let Some(i) = find(f, rng, &|op| op == LaneOp::Blend) else { return false };
            f.insts[i].args.swap(1, 2);
        }
        Mutation::StuckMaskAny(value) => {
            let Some(i) = find(f, rng, &|op| op == LaneOp::MaskAny) else { return false };
            let (result, constant) = (f.insts[i].results[0], f.bool_const(value));
            f.map_operands(|v| if v == result { constant } else { v });
        }
        Mutation::OtherMaskAny => {
            let is = |&i: &Inst| lane_op(f, i) == Some(LaneOp::MaskAny);
            let tests: Vec<Inst> = insts.iter().copied().filter(is).collect();
            let masks: Vec<Value> = f.layout.iter().filter_map(|&b| f.blocks[b].mask.expand()).collect();
            let mut pairs: Vec<(Inst, Value)> =
                tests.iter().flat_map(|&i| masks.iter().map(move |&m| (i, m))).collect();
            rng.shuffle(&mut pairs);
            // Most masks are not known where the test is.
            return pairs.into_iter().any(|(i, mask)| {
                let was = std::mem::replace(&mut f.insts[i].args[0], mask);
                let changed = was != mask && verify(module, f).is_ok();
                if !changed {
                    f.insts[i].args[0] = was;
                }
                changed
            });
        }
        Mutation::FlipInitialMask => {
            let mut places = Vec::new();
            for &b in &f.layout {
                for &e in f.out_edges(b) {
                    let constant = |v| f.ty(v) == Type::BOOL && f.as_int(v).is_some();
                    places.extend(
                        (0..f.edges[e].args.len()).filter(|&k| constant(f.edges[e].args[k])).map(|k| (e, k)),
                    );
                }
            }
            if places.is_empty() {
                return false;
            }
            let (e, k) = *rng.pick(&places);
            let was = f.as_int(f.edges[e].args[k]) == Some(1);
            f.edges[e].args[k] = f.bool_const(!was);
        }
    }
    true
}

#[test]
fn the_judge_notices_broken_masks_blends_and_loops() {
    use Mutation::*;
    let kinds = [
        DropMask,
        NegateMask,
        SwapBlend,
        StuckMaskAny(true),
        StuckMaskAny(false),
        OtherMaskAny,
        FlipInitialMask,
    ];
    let mut rng = SplitMix64::new(1);
    for kind in kinds {
        let (mut made, mut noticed, mut found) = (0, 0, None);
        for seed in 0..60 {
            let program = generate(seed, &ProgramOptions::default());
            let boscc = if seed % 2 == 0 { Boscc::On } else { Boscc::Off };
            let form = Form { boscc, ..Form::default() };
            let all: Vec<Inputs> = (0..3).map(|k| Inputs::random(&program, 8, seed + 1000 * k)).collect();
            let cases: Vec<Case> = all.iter().filter_map(|i| prepare(&program, i, form).ok()).collect();
            let Some(first) = cases.first() else { continue };
            let mut broken = first.lanes.clone();
            if mutate(&program.module, &mut broken, kind, &mut rng) {
                made += 1;
                let fails = |c: &Case| c.judge(&broken, Inactive::Poison).is_err();
                if cases.iter().any(fails) {
                    noticed += 1;
                    found.get_or_insert(seed + 1);
                }
            }
        }
        println!("{kind:?}: {noticed} of {made} noticed, the first after {found:?} programs");
        // The others sit where nothing goes, or where no lane differs.
        assert!(made >= 15 && noticed * 10 > made, "{kind:?}: {noticed} of {made} noticed");
    }
}

#[test]
fn a_lane_that_goes_another_way_is_noticed() {
    let mut rng = SplitMix64::new(2);
    let (mut made, mut noticed, mut instructions) = (0, 0, 0);
    let setup = Setup { mask: None, form: Form::default(), fuel: FUEL };
    for seed in 0..80 {
        let program =
            generate(seed, &ProgramOptions { irreducible: seed % 2 == 0, ..ProgramOptions::default() });
        // The lanes of one run may all go where the change does not matter.
        let inputs: Vec<Inputs> = (0..3).map(|k| Inputs::random(&program, 8, seed + 80 * k)).collect();
        let Some(case) = inputs.iter().find_map(|inputs| prepare(&program, inputs, Form::default()).ok())
        else {
            continue;
        };
        let check = |lanes: &Function| -> Result<u64, String> {
            inputs.iter().map(|inputs| check_paths(&program, inputs, &setup, &case.scalar, lanes)).sum()
        };
        instructions += check(&case.lanes).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", program.text()));
        let mut broken = case.lanes.clone();
        let mutation = if seed % 4 < 2 { Mutation::DropMask } else { Mutation::NegateMask };
        if mutate(&program.module, &mut broken, mutation, &mut rng) {
            made += 1;
            noticed += usize::from(check(&broken).is_err());
        }
    }
    println!("{noticed} of {made} noticed, {instructions} instructions");
    assert!(made > 50 && noticed * 3 > made && instructions > 10_000, "{noticed} of {made} noticed");
}

#[test]
fn every_mask_of_four_lanes_keeps_the_others_out() {
    let (mut agreed, mut runs) = (0, 0);
    for seed in 0..20 {
        // Calls of functions with lane operations are refused.
        let lane_operations = seed % 2 == 0;
        let options =
            ProgramOptions { lane_operations, helpers: !lane_operations, ..ProgramOptions::default() };
        let program = generate(seed, &options);
        let inputs = Inputs::random(&program, 4, seed);
        let boscc = [Boscc::Off, Boscc::On, Boscc::Auto][seed as usize % 3];
        for mask in 0..16 {
            let form = Form { boscc, ..Form::default() };
            let setup = Setup { mask: Some(LaneSet(mask)), form, fuel: FUEL };
            runs += 1;
            match compare_all(&program, &inputs, &setup) {
                differential::Outcome::Differ(why) => {
                    panic!("seed {seed}, mask {mask:#06b}: {why}\n{}", program.text())
                }
                differential::Outcome::Agree(_) => agreed += 1,
                _ => {}
            }
        }
    }
    assert!(agreed * 10 > runs * 9, "vacuous: {agreed} of {runs} runs compared");
}
