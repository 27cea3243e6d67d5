//! Lane programs of kernels whose lanes meet in memory, and the blocks that lanes visit.

use std::collections::BTreeMap;

use warpline::interp::{HashingHost, Inactive, LaneSet, Machine, Options as MachineOptions, Run, Trap};
use warpline::ir::{Block, Function};
use warpline::vectorize::{self, Linearize, NoMathLibrary, Options};
use warpline_testkit::differential::shape_of;
use warpline_testkit::programs::{
    Inputs, MemoryMode, Observed, Program, ProgramOptions, Reference, compare, generate, shrink,
};
use warpline_testkit::rng::SplitMix64;

const FUEL: u64 = 300_000;

/// A run of a function in a fresh machine.
fn observe(
    program: &Program,
    inputs: &Inputs,
    inactive: Inactive,
    run: impl FnOnce(&mut Machine<'_>, &[warpline::interp::LaneArg]) -> Result<Run, Trap>,
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

/// The normalized scalar function in lockstep, in the order of the lane program's blocks, against the lane program.
fn check(program: &Program, inputs: &Inputs, linearize: Linearize) -> Outcome {
    let options = Options {
        width: inputs.width,
        args: program.roles.iter().map(shape_of).collect(),
        name: "kernel_lanes".into(),
        masked: false,
        linearize,
        scalar_result: false,
        math: &NoMathLibrary,
    };
    let linearized = match vectorize::linearize_kernel(&program.module, program.function(), &options) {
        Ok(l) => l,
        Err(e) => return Outcome::Skipped(e.to_string()),
    };
    let (scalar, lanes): (&Function, &Function) = (&linearized.scalar, &linearized.program.func);
    let all = LaneSet::first(inputs.width);
    let order = execution_order(lanes);
    let reference = observe(program, inputs, Inactive::Poison, |m, args| {
        let code = m.prepare_ordered(scalar, Some(&order));
        m.run_lockstep(&code, inputs.width, all, args, None)
    });
    let Some(run) = &reference.run else {
        return Outcome::Skipped(reference.result.err().map(|t| t.kind.to_string()).unwrap_or_default());
    };
    let found = observe(program, inputs, Inactive::Poison, |m, args| {
        let code = m.prepare(lanes);
        m.run_lanes(&code, inputs.width, all, args, None)
    });
    if let Err(m) = compare(&reference, &found, Reference::Sequential) {
        return Outcome::Differ(format!("{m:?}"));
    }
    let Some(lane_run) = &found.run else { return Outcome::Differ("no run".into()) };
    for &b in scalar.layout.iter().filter(|b| lanes.layout.contains(b)) {
        if run.visited[b] != lane_run.visited[b] {
            let (a, b) = (run.visited[b], (b, lane_run.visited[b]));
            return Outcome::Differ(format!("{:?} is visited by {:?} instead of {a:?}", b.0, b.1));
        }
    }
    Outcome::Agree { raced: run.races.any() }
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
            lane_operations: rng.chance(1, 3),
            poison: rng.chance(1, 2),
            wide: seed % 4 == 0,
            ..ProgramOptions::default()
        };
        let program = generate(seed, &options);
        let width = *rng.pick(&[2, 4, 8]);
        let linearize = if rng.chance(1, 4) { Linearize::Full } else { Linearize::Partial };
        match check(&program, &Inputs::random(&program, width, seed), linearize) {
            Outcome::Agree { raced: r } => {
                agreed += 1;
                raced += u64::from(r);
            }
            Outcome::Skipped(why) => *reasons.entry(why).or_default() += 1,
            Outcome::Differ(why) => {
                let fails = |p: &Program| {
                    matches!(check(p, &Inputs::random(p, width, seed), linearize), Outcome::Differ(_))
                };
                let small = shrink(&program, fails);
                let now = match check(&small, &Inputs::random(&small, width, seed), linearize) {
                    Outcome::Differ(why) => why,
                    _ => String::new(),
                };
                panic!("seed {seed}, width {width}, {linearize:?}: {why}\nshrunk: {now}\n{}", small.text());
            }
        }
    }
    println!("{agreed} of {count} agree, {raced} raced; {reasons:#?}");
    assert!(agreed * 2 > count && raced * 4 > count, "vacuous: {agreed} agree, {raced} raced, {reasons:?}");
}
