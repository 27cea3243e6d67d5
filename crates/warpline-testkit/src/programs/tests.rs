//! The generator's rates, and what must hold for any program.

use crate::uniformity_checker::UniformityChecker;
use warpline_interp::{ChildOrder, LaneSet, Options};
use warpline_ir::verify::verify_module;

use super::*;

fn options() -> Options {
    Options { fuel: 2_000_000, ..Options::default() }
}

#[test]
fn programs_are_valid_and_a_seed_gives_one_program() {
    for seed in 0..300 {
        let o = ProgramOptions {
            memory: [MemoryMode::None, MemoryMode::Private, MemoryMode::Racy][seed as usize % 3],
            lane_operations: seed % 2 == 0,
            traps: seed % 5 == 0,
            wide: seed % 4 == 0,
            irreducible: seed % 7 == 0,
            ..ProgramOptions::default()
        };
        let p = generate(seed, &o);
        if let Err(e) = verify_module(&p.module) {
            panic!("seed {seed}: {e}");
        }
        if seed % 20 == 0 {
            assert_eq!(p.text(), generate(seed, &o).text(), "seed {seed}");
        }
    }
}

#[test]
fn one_lane_in_lockstep_is_the_scalar_program() {
    for seed in 0..400 {
        let o = ProgramOptions {
            lane_operations: seed % 3 == 0,
            memory: if seed % 2 == 0 { MemoryMode::Private } else { MemoryMode::Racy },
            traps: seed % 4 == 0,
            irreducible: seed % 5 == 0,
            ..ProgramOptions::default()
        };
        let p = generate(seed, &o);
        let inputs = Inputs::random(&p, 1, seed);
        let scalar = run_sequential(&p, &inputs, &options());
        let lockstep = run_lockstep(&p, &inputs, LaneSet::one(0), &options(), None);
        compare(&scalar, &lockstep, Reference::Lockstep)
            .unwrap_or_else(|e| panic!("seed {seed}: {e:?}\n{}", p.text()));
    }
}

#[test]
fn tangles_are_irreducible_and_entered_and_end() {
    let (mut irreducible, mut nested, mut entered, mut timeouts) = (0, 0, 0, 0);
    const COUNT: u64 = 300;
    for seed in 0..COUNT {
        let o = ProgramOptions { irreducible: true, ..ProgramOptions::default() };
        let p = generate(seed, &o);
        let (graph, _) = p.function().graph();
        let cycles = warpline_analysis::CycleForest::compute(&graph);
        let several = |c: &warpline_analysis::CycleId| !cycles.is_reducible(*c);
        irreducible += u64::from(cycles.cycles().any(|c| several(&c)));
        let inside = |c| cycles.parent(c).is_some_and(|p| several(&p));
        nested += u64::from(cycles.cycles().any(|c| several(&c) && inside(c)));
        let inputs = Inputs::random(&p, 4, seed);
        let found = run_lockstep(&p, &inputs, LaneSet::first(4), &options(), None);
        timeouts += u64::from(found.result.is_err());
        let visited = |n: &warpline_analysis::Node| {
            found.run.as_ref().is_some_and(|r| !r.visited[warpline_ir::Block::from(*n)].is_empty())
        };
        entered += u64::from(cycles.cycles().filter(several).any(|c| cycles.nodes(c).iter().all(visited)));
    }
    println!("{irreducible} irreducible, {nested} nested, {entered} run all over, {timeouts} not ended");
    assert!(irreducible * 3 > COUNT && nested * 12 > COUNT && entered * 6 > COUNT && timeouts * 50 < COUNT);
}

fn options_of(seed: u64) -> ProgramOptions {
    ProgramOptions {
        traps: seed.is_multiple_of(5),
        wide: seed.is_multiple_of(4),
        ..ProgramOptions::default()
    }
}

/// Lockstep runs of programs that do not communicate are *W* scalar runs, whatever the cycle hierarchy.
#[test]
fn lockstep_runs_without_races_are_sequential_runs() {
    let (mut divergent, mut loops, mut trapped, mut timeouts, mut effects, mut compared) = (0, 0, 0, 0, 0, 0);
    const COUNT: u64 = 1000;
    for seed in 0..COUNT {
        let p = generate(seed, &options_of(seed));
        let width = [3, 4, 8, 16][seed as usize % 4];
        let inputs = Inputs::random(&p, width, seed);
        let sequential = run_sequential(&p, &inputs, &options());
        let order =
            [ChildOrder::Forward, ChildOrder::Backward, ChildOrder::Shuffled(seed)][seed as usize % 3];
        let mut checker = UniformityChecker::new(p.function());
        let o = Options { child_order: order, ..options() };
        let lockstep = run_lockstep(&p, &inputs, LaneSet::first(width), &o, Some(&mut checker));
        divergent += u64::from(checker.diverged_branches.values().any(|&d| d));
        match &lockstep.result {
            Ok(_) => {
                let run = lockstep.run.as_ref().expect("no trap");
                assert!(!run.races.any(), "seed {seed}: {:?}\n{}", run.races, p.text());
                loops += u64::from(run.steps > 40 * u64::from(width));
                effects += u64::from(!lockstep.effects.is_empty());
            }
            Err(t) if t.kind == warpline_interp::TrapKind::OutOfFuel => timeouts += 1,
            Err(t) => {
                assert!(t.kind.is_undefined_behaviour(), "seed {seed}: {t}\n{}", p.text());
                assert!(seed % 5 == 0, "seed {seed} traps unasked: {t}\n{}", p.text());
                trapped += 1;
            }
        }
        compared += u64::from(!sequential.froze);
        compare(&sequential, &lockstep, Reference::Sequential)
            .unwrap_or_else(|e| panic!("seed {seed}: {e:?}\n{}", p.text()));
    }
    println!(
        "{COUNT} programs: {divergent} divergent, {loops} long, {trapped} trapped, {timeouts} timed out, \
         {effects} with effects, {compared} compared"
    );
    assert!(divergent > COUNT / 2, "too few diverge: {divergent}");
    assert!(loops > COUNT / 5, "too few loop: {loops}");
    assert!(trapped > 5, "too few trap: {trapped}");
    assert!(timeouts < COUNT / 100, "too many time out: {timeouts}");
    assert!(effects > COUNT / 10, "too few effects: {effects}");
    assert!(compared > COUNT * 9 / 10, "too few compared: {compared}");
}

#[test]
fn racy_programs_race_and_lane_operations_see_other_lanes() {
    let (mut races, mut differ) = (0, 0);
    for seed in 0..200 {
        let o = ProgramOptions { memory: MemoryMode::Racy, ..ProgramOptions::default() };
        let p = generate(seed, &o);
        let inputs = Inputs::random(&p, 4, seed);
        let lockstep = run_lockstep(&p, &inputs, LaneSet::first(4), &options(), None);
        races += u64::from(lockstep.run.is_some_and(|r| r.races.any()));
        let o = ProgramOptions { lane_operations: true, ..ProgramOptions::default() };
        let p = generate(seed, &o);
        let inputs = Inputs::random(&p, 4, seed);
        let lockstep = run_lockstep(&p, &inputs, LaneSet::first(4), &options(), None);
        let sequential = run_sequential(&p, &inputs, &options());
        differ += u64::from(compare(&sequential, &lockstep, Reference::Sequential).is_err());
    }
    assert!(races > 50, "too few race: {races}");
    assert!(differ > 20, "too few depend on other lanes: {differ}");
}

#[test]
fn shrinking_keeps_what_the_predicate_wants_and_little_else() {
    use warpline_ir::{BinaryOp, Op};
    let wants = |p: &Program| {
        let f = p.function();
        let divides = |i| matches!(f.insts[i].op, Op::Binary(BinaryOp::UDiv));
        f.layout.iter().flat_map(|&b| f.block_insts(b)).any(divides)
    };
    let mut shrunk = 0;
    for seed in 0..30 {
        let p = generate(seed, &ProgramOptions::default());
        if !wants(&p) {
            continue;
        }
        let small = shrink(&p, wants);
        assert!(wants(&small));
        verify_module(&small.module).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let f = small.function();
        assert!(f.layout.len() == 1 && f.inst_count() <= 3, "seed {seed}:\n{}", small.text());
        shrunk += 1;
    }
    assert!(shrunk > 3);
}
