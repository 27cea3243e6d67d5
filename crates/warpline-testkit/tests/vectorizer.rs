//! The vectorizer against the lane interpreter on random programs.

use std::collections::BTreeMap;

use warpline_analysis::CycleForest;
use warpline_interp::LaneSet;
use warpline_ir::Type;
use warpline_testkit::census::{Rates, constructs};
use warpline_testkit::differential::{Form, Outcome, Setup, compare_all, describe_failure};
use warpline_testkit::programs::{Inputs, ParamRole, Program, ProgramOptions, generate};
use warpline_testkit::rng::SplitMix64;
use warpline_vectorize::Linearize;

/// How many programs a test tries; `WARPLINE_PROGRAMS` overrides it.
fn programs(default: u64) -> u64 {
    std::env::var("WARPLINE_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

fn has_irreducible_loop(program: &Program) -> bool {
    let (graph, _) = program.function().graph();
    let cycles = CycleForest::compute(&graph);
    cycles.cycles().any(|c| !cycles.is_reducible(c))
}

#[test]
fn vectorized_random_programs_do_what_lanes_in_lockstep_do() {
    let start = std::env::var("WARPLINE_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1u64);
    let mut agreed = 0usize;
    let mut divergent = 0;
    let mut divergent_loops = 0;
    let mut lost = 0;
    let mut irreducible = 0;
    let (mut tested, mut coherent) = (0, 0);
    let (mut small_enough, mut promised) = (0, 0);
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let mut rates = Rates::default();
    let count = programs(400);
    for seed in start..start + count {
        let mut rng = SplitMix64::new(seed);
        let options = ProgramOptions::random(&mut rng);
        let program = generate(seed, &options);
        let width = [1, 2, 3, 4, 8, 16][rng.below(6)];
        let inputs = Inputs::random(&program, width, seed);
        let mask = (rng.below(3) == 0).then(|| LaneSet(rng.next_u64() & LaneSet::first(width).0));
        let setup = Setup { mask, form: Form::random(&mut rng), fuel: 300_000 };
        match compare_all(&program, &inputs, &setup) {
            Outcome::Agree(report) => {
                agreed += 1;
                divergent += usize::from(report.divergent_branches > 0);
                divergent_loops += usize::from(report.divergent_loops > 0);
                irreducible += usize::from(has_irreducible_loop(&program));
                // Full if-conversion loses them all.
                lost += if setup.form.linearize == Linearize::Partial { report.uniform_lost } else { 0 };
                tested += usize::from(report.chosen_tests > 0);
                coherent += usize::from(report.coherent > 0);
                small_enough += usize::from(report.promised_edges.is_some());
                promised += report.promised_edges.unwrap_or(0);
                rates.add(constructs(&program).union(&report.forms).copied());
            }
            Outcome::Skipped(why) => *reasons.entry(format!("skipped: {why}")).or_default() += 1,
            Outcome::Refused(why) => {
                let why = why.split(';').next().unwrap_or(&why);
                *reasons.entry(format!("refused: {why}")).or_default() += 1;
            }
            Outcome::Differ(why) => panic!("{}", describe_failure(&program, (width, seed), &setup, &why)),
        }
    }
    println!("{rates}");
    println!(
        "{agreed} of {count} agree; {divergent} have divergent branches, {divergent_loops} divergent loops, \
         {tested} tests for \
         speed, {coherent} bodies for lanes that agree; {lost} uniform branches lost; {irreducible} \
          irreducible; theorems checked on the graphs of {small_enough} with {promised} promised edges; \
         {reasons:#?}"
    );
    assert!(agreed as u64 * 2 > count, "too few programs were compared: {reasons:#?}");
    assert!(divergent * 3 > agreed, "too few programs diverge");
    assert!(small_enough * 2 > agreed && promised > agreed, "too few graphs are checked");
    assert!(tested * 5 > agreed, "too few programs skip code without an active lane");
    assert!(coherent * 40 > agreed, "too few programs have loops in which lanes may agree");
    // Edges of uniform branches lead to blocks of their own, so Theorem 4.5 keeps them all.
    assert_eq!(lost, 0, "uniform branches were folded");
    assert!(divergent_loops * 10 > agreed, "too few programs have divergent loops");
    assert!(irreducible * 25 > agreed, "too few programs have loops with several entries");
}

#[test]
fn private_memory_of_a_size_at_run_time_is_made_for_active_lanes_only() {
    let text = r#"module "size"

func @kernel(%i: i64, %u: i32) -> i32 {
entry:
  br loop
loop:
  %low: i32 = and %u, 1
  %always: i1 = icmp ule %low, 1
  br %always, out, more
out:
  ret 0
more:
  %size: i32 = and %u, 7
  %odd: i64 = and %i, 1
  %c: i1 = icmp ne %odd, 0
  br %c, loop, exit
exit:
  %count: i32 = add %size, 1
  %p: ptr = alloca i16, %count, align 8
  store i16 5, %p, align 2
  %x: i16 = load %p, align 2
  %r: i32 = zext %x
  ret %r
}
"#;
    let module = warpline_ir::text::parse_module(text).unwrap_or_else(|e| panic!("{e}"));
    let kernel = module.function("kernel").expect("a kernel");
    let program = Program { module, kernel, roles: vec![ParamRole::Index, ParamRole::Uniform] };
    for width in [1, 2, 4] {
        for mask in [None, Some(LaneSet::first(width)), Some(LaneSet(0))] {
            let setup = Setup { mask, form: Form::default(), fuel: 300_000 };
            let found = compare_all(&program, &Inputs::random(&program, width, 1), &setup);
            assert!(matches!(found, Outcome::Agree(_)), "{width} lanes, {mask:?}: {found:?}");
        }
    }
}

#[test]
fn a_load_that_is_safe_since_an_earlier_one_reads_the_same_may_have_its_address_from_a_loop() {
    let text = r#"module "behind"

func @kernel(%i: i64, %x: i32, %in: ptr) -> i32 {
entry:
  br loop
loop:
  %p: ptr = getelementptr i32, %in, i64 250
  %leaves: i1 = icmp uge i32 0, 0
  br %leaves, behind, loop
behind:
  %a: i32 = load %p, align 4
  %odd: i32 = and %x, 1
  %c: i1 = icmp eq %odd, 0
  br %c, some, others
some:
  %b: i32 = load %p, align 4
  ret %b
others:
  ret %a
}
"#;
    let module = warpline_ir::text::parse_module(text).unwrap_or_else(|e| panic!("{e}"));
    let kernel = module.function("kernel").expect("a kernel");
    let buffer = ParamRole::Buffer { elem: Type::Int(32), len: 256, written: false };
    let roles = vec![ParamRole::Index, ParamRole::Varying, buffer];
    let program = Program { module, kernel, roles };
    for linearize in [Linearize::Partial, Linearize::Full] {
        for mask in [None, Some(LaneSet(5)), Some(LaneSet(0))] {
            let form = Form { linearize, ..Form::default() };
            let setup = Setup { mask, form, fuel: 300_000 };
            let found = compare_all(&program, &Inputs::random(&program, 4, 1), &setup);
            assert!(matches!(found, Outcome::Agree(_)), "{linearize:?}, {mask:?}: {found:?}");
        }
    }
}
