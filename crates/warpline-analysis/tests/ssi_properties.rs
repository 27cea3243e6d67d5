//! Split live ranges against the definition of the static single information property (paper 4, Definition 6).
//!
//! `WARPLINE_PROGRAMS` is the number of random programs of each form, `WARPLINE_SEED` the first one's seed.

use std::collections::BTreeSet;

use warpline_analysis::dataflow::{Instruction, Program, Variable};
use warpline_analysis::ssi::{
    Conditions, NAMED, Point, SplitSet, Ssi, Strategy, Version, VersionDef, singer_ssi, ssify, ssify_with,
};
use warpline_analysis::{Graph, Node};
use warpline_testkit::dataflow_programs::{self, Form, for_each_program};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::ssi_oracles::{self, Sources};

const FORMS: [Form; 2] = [Form::Ssa, Form::Variables];

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

fn for_each(count: u64, check: impl Fn(&Program) -> Result<(), String>) {
    let (first, count) = (setting("WARPLINE_SEED", 0), setting("WARPLINE_PROGRAMS", count));
    for form in FORMS {
        for_each_program(first, count, 8, form, &check);
    }
}

/// A generator that depends on the program alone, so that a program that was made smaller is judged with choices of
/// its own.
fn rng_of(program: &Program) -> SplitMix64 {
    let size = program.instructions() * 31 + program.graph().edge_count();
    SplitMix64::new((size * 31 + program.variables()) as u64)
}

fn random_strategy(rng: &mut SplitMix64) -> Strategy {
    let conditions = [Conditions::None, Conditions::Equalities, Conditions::All];
    Strategy {
        definitions_down: rng.chance(1, 2),
        uses_down: rng.chance(1, 2),
        uses_up: rng.chance(1, 2),
        last_uses_up: rng.chance(1, 2),
        conditions_down: *rng.pick(&conditions),
        conditions_up: *rng.pick(&conditions),
    }
}

fn random_points(rng: &mut SplitMix64, program: &Program) -> Vec<Point> {
    let graph = program.graph();
    let mut points = Vec::new();
    for _ in 0..rng.below(4) {
        let node = Node::new(rng.below(graph.node_count()));
        points.push(match rng.below(3) {
            0 => Point::In(node),
            1 => Point::Out(node),
            _ if program.instructions() > 0 => {
                Point::At(Instruction(rng.below(program.instructions()) as u32))
            }
            _ => continue,
        });
    }
    points
}

fn check_strategy(program: &Program, strategy: &Strategy) -> Result<(), String> {
    let ssi = ssify(program, strategy);
    let sources = Sources::of_strategy(program, strategy);
    ssi_oracles::check(program, &ssi, &sources).map_err(|m| format!("{}: {m}", strategy.notation()))
}

#[test]
fn named_strategies_have_the_single_information_property() {
    let mut strategies: Vec<Strategy> = NAMED.iter().map(|row| row.strategy).collect();
    let mut seen = Vec::new();
    strategies.retain(|s| {
        !seen.contains(s) && {
            seen.push(*s);
            true
        }
    });
    assert_eq!(strategies.len(), 9);
    for_each(500, |program| strategies.iter().try_for_each(|s| check_strategy(program, s)));
}

#[test]
fn random_strategies_have_the_single_information_property() {
    for_each(1_000, |program| check_strategy(program, &random_strategy(&mut rng_of(program))));
}

#[test]
fn random_points_have_the_single_information_property() {
    for_each(1_000, |program| {
        let rng = &mut rng_of(program);
        let set = |rng: &mut SplitMix64| SplitSet {
            down: random_points(rng, program),
            up: random_points(rng, program),
        };
        let sets: Vec<SplitSet> = (0..program.variables()).map(|_| set(rng)).collect();
        let ssi = ssify_with(program, |v| sets[v.index()].clone());
        ssi_oracles::check(program, &ssi, &Sources::of_points(program, &sets))
    });
}

#[test]
fn the_iterative_construction_has_sigmas_wherever_uses_part() {
    for_each(1_000, |program| ssi_oracles::check_ssi_form(program, &singer_ssi(program)));
}

/// Which variables have added versions where; not the numbers of versions.
fn splits(program: &Program, ssi: &Ssi) -> BTreeSet<(Variable, VersionDef)> {
    let added = (program.variables()..ssi.versions()).map(|v| Version(v as u32));
    added
        .filter(|&v| ssi.definition(v) != VersionDef::Actual)
        .map(|v| (ssi.variable(v), ssi.definition(v)))
        .collect()
}

#[test]
fn splitting_at_definitions_and_last_uses_needs_nothing_that_the_iterative_construction_does_not() {
    for_each(2_000, |program| {
        let ours = splits(program, &ssify(program, &Strategy::SSI));
        let iterative = splits(program, &singer_ssi(program));
        match ours.difference(&iterative).find(|s| !matches!(s.1, VersionDef::Copy(_))) {
            Some(more) => Err(format!("only ours: {more:?}")),
            None => Ok(()),
        }
    });
}

#[test]
fn a_program_in_ssa_form_is_not_split_at_definitions_alone() {
    for_each_program(0, setting("WARPLINE_PROGRAMS", 500), 8, Form::Ssa, |program| {
        match ssify(program, &Strategy::SSA).versions() == program.variables() {
            true => Ok(()),
            false => Err("a variable was split".into()),
        }
    });
}

/// How many of the first programs of a form the judge rejects, split for `given` and judged for `asked`; and how many
/// are split at all for what is asked.
fn rejected(form: Form, given: &Strategy, asked: &Strategy) -> (usize, usize) {
    let programs = (0..300).map(|seed| dataflow_programs::of_seed(seed, 8, form).program());
    programs.fold((0, 0), |(rejected, split), program| {
        let sources = Sources::of_strategy(&program, asked);
        let is_wrong = ssi_oracles::check(&program, &ssify(&program, given), &sources).is_err();
        let is_split = ssify(&program, asked).counts(&program).total() > 0;
        (rejected + usize::from(is_wrong), split + usize::from(is_split))
    })
}

#[test]
fn the_judge_rejects_most_programs_that_are_split_for_another_analysis() {
    let pairs = [
        (Strategy::SSA, Strategy::E_SSA),
        (Strategy::CONDITIONAL_CONSTANTS, Strategy::E_SSA),
        (Strategy::SSA, Strategy::SSU),
        (Strategy::NULL_POINTERS, Strategy::SSU),
        (Strategy::SSU, Strategy::HOCHSTADT),
        (Strategy::SSA, Strategy::SSI),
    ];
    for (given, asked) in pairs {
        let (rejected, split) = rejected(Form::Ssa, &given, &asked);
        let names = (given.notation(), asked.notation());
        assert!(split > 30 && rejected * 4 > split, "{names:?}: {rejected} of {split}");
    }
}
