//! SSA construction in all its forms: every choice of placement, entry, pruning and strictness.

use warpline_analysis::phi_placement::Pruning;
use warpline_dataflow::ssa::{ConstructOptions, Entry, Placement, construct_with};
use warpline_ir::text::{parse_module, print_function, print_module};
use warpline_ir::verify::{Rule, verify, verify_non_strict};
use warpline_ir::*;
use warpline_testkit::modules::{FunctionShape, module};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::walks::{agree, random_path, walk};

const PLACEMENTS: [Placement; 3] =
    [Placement::Precise, Placement::ReachingDefinitions, Placement::DominanceFrontier];
const PRUNINGS: [Pruning; 3] = [Pruning::Minimal, Pruning::SemiPruned, Pruning::Pruned];

fn all_options() -> Vec<ConstructOptions> {
    let mut all = Vec::new();
    for placement in PLACEMENTS {
        for entry in [Entry::All, Entry::Parameters] {
            for pruning in PRUNINGS {
                for strict in [true, false] {
                    all.push(ConstructOptions { placement, entry, pruning, strict });
                }
            }
        }
    }
    all
}

/// Whether the form is strict by what was asked for.
fn is_strict(options: &ConstructOptions) -> bool {
    options.strict || options.entry == Entry::All || options.placement == Placement::DominanceFrontier
}

fn shape() -> FunctionShape {
    FunctionShape { max_blocks: 9, max_insts: 7, max_vars: 6, accesses: 4, ..FunctionShape::default() }
}

fn for_each_function(seeds: std::ops::Range<u64>, mut check: impl FnMut(u64, &Module, &Function)) {
    let first: u64 = std::env::var("WARPLINE_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(seeds.start);
    let count = std::env::var("WARPLINE_PROGRAMS").ok().and_then(|s| s.parse().ok());
    for seed in first..first + count.unwrap_or(seeds.end - seeds.start) {
        let m = module(&mut SplitMix64::new(seed), &shape());
        m.functions.values().for_each(|f| check(seed, &m, f));
    }
}

fn constructed(func: &Function, options: &ConstructOptions) -> (Function, usize) {
    let mut after = func.clone();
    let vars: Vec<Var> = func.vars.keys().collect();
    let phis = construct_with(&mut after, &vars, options).stats.phis;
    (after, phis)
}

#[test]
fn every_form_verifies_and_shows_instructions_what_the_variables_held() {
    let (mut undominated, mut forms) = (0, 0);
    for_each_function(0..600, |seed, m, before| {
        let mut rng = SplitMix64::new(seed);
        for options in all_options() {
            let (after, _) = constructed(before, &options);
            let shown = || {
                format!(
                    "seed {seed}, {options:?}\n{}{}",
                    print_function(m, before),
                    print_function(m, &after)
                )
            };
            let strict = verify(m, &after);
            forms += 1;
            if is_strict(&options) {
                strict.unwrap_or_else(|e| panic!("{e}\n{}", shown()));
            } else if let Err(e) = strict {
                undominated += 1;
                let only_dominance = |rule| rule == Rule::Dominance || rule == Rule::Masks;
                assert!(e.errors.iter().all(|e| only_dominance(e.rule)), "{e}\n{}", shown());
                verify_non_strict(m, &after).unwrap_or_else(|e| panic!("{e}\n{}", shown()));
            }
            for _ in 0..3 {
                let path = random_path(before, &mut rng);
                let (known, blocks) = (before.insts.len(), before.blocks.len());
                let (a, b) = (walk(before, &path, known, blocks), walk(&after, &path, known, blocks));
                assert!(
                    agree(&a, &b, !is_strict(&options)),
                    "path {path:?}, {a:?} became {b:?}, {}",
                    shown()
                );
            }
        }
    });
    // One form in six may leave uses undominated.
    assert!(undominated * 40 > forms, "only {undominated} of {forms} forms were not strict");
}

#[test]
fn forms_that_are_not_strict_read_back_from_their_text() {
    for_each_function(300..400, |seed, m, before| {
        let options = ConstructOptions { strict: false, pruning: Pruning::Minimal, ..Default::default() };
        let mut changed = m.clone();
        changed.functions.clear();
        changed.functions.push(constructed(before, &options).0);
        let text = print_module(&changed);
        let back = parse_module(&text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        assert_eq!(print_module(&back), text, "seed {seed}");
    });
}

#[test]
fn numbers_of_phis_are_ordered_as_the_sets_are() {
    let mut totals = std::collections::BTreeMap::new();
    for_each_function(400..600, |seed, m, before| {
        let count = |placement, entry, pruning, strict| {
            let options = ConstructOptions { placement, entry, pruning, strict };
            constructed(before, &options).1
        };
        let shown = || format!("seed {seed}\n{}", print_function(m, before));
        for pruning in PRUNINGS {
            let frontier = count(Placement::DominanceFrontier, Entry::All, pruning, true);
            let precise = count(Placement::Precise, Entry::Parameters, pruning, false);
            let strict = count(Placement::Precise, Entry::Parameters, pruning, true);
            for placement in PLACEMENTS {
                let all = count(placement, Entry::All, pruning, false);
                assert_eq!(all, frontier, "{placement:?}, {pruning:?}, {}", shown());
            }
            let reference = count(Placement::ReachingDefinitions, Entry::Parameters, pruning, false);
            assert_eq!(precise, reference, "{pruning:?}, {}", shown());
            assert!(precise <= strict && strict <= frontier, "{pruning:?}, {}", shown());
            if pruning == Pruning::Pruned {
                assert_eq!(strict, frontier, "{}", shown());
            }
            for (name, n) in [("frontier", frontier), ("precise", precise), ("strict", strict)] {
                *totals.entry((name, pruning)).or_insert(0) += n;
            }
        }
        for (strict, placement) in [(false, Placement::Precise), (true, Placement::Precise)] {
            let [minimal, semi, pruned] =
                PRUNINGS.map(|pruning| count(placement, Entry::Parameters, pruning, strict));
            assert!(pruned <= semi && semi <= minimal, "strict {strict}, {}", shown());
        }
    });
    let total = |name, pruning| totals[&(name, pruning)];
    for pruning in PRUNINGS {
        assert!(total("precise", pruning) > 100, "{totals:?}");
        assert!(total("precise", pruning) < total("frontier", pruning), "{totals:?}");
    }
    assert!(total("precise", Pruning::Minimal) < total("strict", Pruning::Minimal), "{totals:?}");
    assert!(total("strict", Pruning::Minimal) < total("frontier", Pruning::Minimal), "{totals:?}");
}
