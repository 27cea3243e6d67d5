//! Promotion of stack memory, held against the lane interpreter: the function with values must be a refinement of the
//! one with memory.

use warpline_dataflow::ssa::{
    Lifetimes, construct_vars, destruct, promote_allocas_with, promote_and_construct, remove_dead_phis,
};
use warpline_interp::{Machine, Options, TrapKind, Val};
use warpline_ir::text::print_function;
use warpline_ir::verify::verify;
use warpline_ir::{Function, Module, Op, Unwritten};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::stack_programs::{StackOptions, stack_program};

const ARGS: [[u128; 2]; 4] = [[0, 0], [1, 12345], [77, 3], [0xdead_beef, 0x1234_5678]];

fn run(module: &Module, func: &Function, args: &[u128; 2]) -> Result<Val, TrapKind> {
    let mut machine = Machine::with_options(module, Options { fuel: 20_000, ..Options::default() });
    let code = machine.prepare(func);
    machine.run_scalar(&code, &args.map(Val::int)).map_err(|trap| trap.kind)
}

fn count(func: &Function, pred: impl Fn(&Op) -> bool) -> usize {
    func.layout.iter().flat_map(|&b| func.block_insts(b)).filter(|&i| pred(&func.insts[i].op)).count()
}

fn programs() -> u64 {
    std::env::var("WARPLINE_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(600)
}

fn first_seed() -> u64 {
    std::env::var("WARPLINE_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// What the runs were like, so that tests can say that they were not vacuous.
#[derive(Default, Debug)]
struct Seen {
    runs: usize,
    /// Runs in which the program with values returned something more defined.
    chosen: usize,
    undefined: usize,
    trapped: usize,
    promoted: usize,
    kept: usize,
    phis: usize,
    more_rounds: usize,
}

/// Checks that `after` does what `before` does, as far as `before` is defined.
fn refines(module: &Module, before: &Function, after: &Function, seed: u64, step: &str, seen: &mut Seen) {
    let shown = || format!("{}\n{}", print_function(module, before), print_function(module, after));
    if let Err(errors) = verify(module, after) {
        panic!("seed {seed}, {step}: {errors}\n{}", shown());
    }
    for args in &ARGS {
        let expected = match run(module, before, args) {
            Ok(value) => value,
            Err(TrapKind::OutOfFuel) => panic!("seed {seed}: runs end"),
            Err(_) => {
                seen.trapped += 1;
                continue;
            }
        };
        let found = run(module, after, args)
            .unwrap_or_else(|trap| panic!("seed {seed}, {step}, {args:?}: {trap:?}\n{}", shown()));
        assert!(
            expected.refined_by(&found),
            "seed {seed}, {step}, {args:?}: {expected:?} became {found:?}\n{}",
            shown()
        );
        seen.runs += 1;
        seen.undefined += usize::from(expected.cells.iter().any(|c| !c.is_defined()));
        seen.chosen += usize::from(expected != found);
    }
}

/// Promotes, constructs, destructs and constructs again, with a look after each step.
fn all_steps(module: &Module, lifetimes: Lifetimes, seed: u64, seen: &mut Seen) {
    for before in module.functions.values() {
        let mut func = before.clone();
        let allocas = count(before, |op| matches!(op, Op::Alloca { .. }));
        let promotion = promote_allocas_with(module, &mut func, lifetimes);
        refines(module, before, &func, seed, "promote", seen);
        assert_eq!(
            promotion.promoted.len() + promotion.kept.len(),
            allocas,
            "seed {seed}: each has an answer"
        );
        assert_eq!(count(&func, |op| matches!(op, Op::Alloca { .. })), promotion.kept.len(), "seed {seed}");
        seen.promoted += promotion.promoted.len();
        seen.kept += promotion.kept.len();
        seen.more_rounds += usize::from(promotion.again);
        construct_vars(&mut func, &promotion.vars());
        refines(module, before, &func, seed, "construct", seen);
        assert_eq!(count(&func, |op| matches!(op, Op::ReadVar(_) | Op::WriteVar(_))), 0, "seed {seed}");
        seen.phis += count(&func, |op| *op == Op::Phi);
        destruct(&mut func, |_, _| true);
        refines(module, before, &func, seed, "destruct", seen);
        let vars: Vec<_> = func.vars.keys().collect();
        construct_vars(&mut func, &vars);
        remove_dead_phis(&mut func);
        refines(module, before, &func, seed, "construct again", seen);
    }
}

#[test]
fn values_are_what_memory_held_with_exact_lifetimes() {
    let mut seen = Seen::default();
    for seed in first_seed()..first_seed() + programs() {
        let mut rng = SplitMix64::new(seed);
        let options = StackOptions { addresses: seed % 2 == 0, ..StackOptions::default() };
        all_steps(&stack_program(&mut rng, &options), Lifetimes::Exact, seed, &mut seen);
    }
    println!("{seen:?}");
    let n = programs() as usize;
    assert!(seen.runs > 10 * n && seen.undefined > n, "vacuous: {seen:?}");
    assert_eq!(seen.chosen, 0, "nothing is more defined than it was");
    assert!(
        seen.promoted > 3 * n && seen.kept > n / 4 && seen.phis > n && seen.more_rounds > n / 20,
        "{seen:?}"
    );
}

/// A slot that keeps its contents over the beginning of a lifetime is a refinement as long as no contents are poison.
#[test]
fn values_refine_memory_with_forgotten_lifetimes_where_nothing_is_poison() {
    let mut seen = Seen::default();
    for seed in first_seed()..first_seed() + programs() {
        let mut rng = SplitMix64::new(seed);
        let options = StackOptions { poison: false, addresses: seed % 2 == 0, ..StackOptions::default() };
        all_steps(&stack_program(&mut rng, &options), Lifetimes::Forgotten, seed, &mut seen);
    }
    println!("{seen:?}");
    let n = programs() as usize;
    assert!(seen.runs > 10 * n && seen.undefined > n && seen.chosen > n / 10, "vacuous: {seen:?}");
}

#[test]
fn rounds_of_promotion_and_construction_refine_memory() {
    let (mut seen, mut rounds) = (Seen::default(), 0);
    for seed in first_seed()..first_seed() + programs() {
        let mut rng = SplitMix64::new(seed);
        let module = stack_program(&mut rng, &StackOptions { lifetimes: false, ..StackOptions::default() });
        for before in module.functions.values() {
            let mut func = before.clone();
            let registers = promote_and_construct(&module, &mut func);
            refines(&module, before, &func, seed, "rounds", &mut seen);
            assert_eq!(count(&func, |op| matches!(op, Op::Alloca { .. })), registers.kept.len());
            rounds = rounds.max(registers.rounds);
        }
    }
    println!("{seen:?}, at most {rounds} rounds");
    assert!(rounds > 1 && seen.runs > programs() as usize, "vacuous: {seen:?}");
}

/// What the tests above rest on: with variables that hold poison instead of undef they would fail.
#[test]
fn poison_in_place_of_undef_is_noticed() {
    let noticed = (0..200).any(|seed| {
        let module = stack_program(&mut SplitMix64::new(seed), &StackOptions::default());
        module.functions.values().any(|before| {
            let mut func = before.clone();
            let promotion = promote_allocas_with(&module, &mut func, Lifetimes::Exact);
            for var in promotion.vars() {
                func.vars[var].unwritten = Unwritten::Poison;
            }
            construct_vars(&mut func, &promotion.vars());
            ARGS.iter().any(|args| match (run(&module, before, args), run(&module, &func, args)) {
                (Ok(expected), Ok(found)) => !expected.refined_by(&found),
                _ => false,
            })
        })
    });
    assert!(noticed);
}

/// The same for lifetimes that are forgotten, with poison about.
#[test]
fn old_poison_in_a_new_lifetime_is_noticed() {
    let noticed = (0..2000).any(|seed| {
        let module = stack_program(&mut SplitMix64::new(seed), &StackOptions::default());
        module.functions.values().any(|before| {
            let mut func = before.clone();
            promote_allocas_with(&module, &mut func, Lifetimes::Forgotten);
            ARGS.iter().any(|args| match (run(&module, before, args), run(&module, &func, args)) {
                (Ok(expected), Ok(found)) => !expected.refined_by(&found),
                _ => false,
            })
        })
    });
    assert!(noticed);
}
