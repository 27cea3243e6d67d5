//! Uniformity against what threads of random programs are seen to disagree on, in every cycle hierarchy.
//!
//! `WARPLINE_PROGRAMS` is the number of programs, shared out among the families; `WARPLINE_SEED` is the first seed of
//! each family. Two hundred thousand:
//! `WARPLINE_PROGRAMS=200000 cargo test --release -p warpline-analysis --test uniformity_properties -- --nocapture`

use std::collections::BTreeSet;

use warpline_analysis::uniformity::{Cause, Fact, Rule, SsaProgram, Uniformity, Value};
use warpline_analysis::{CsrGraph, DfsOrder, Graph, Joins, Limits, Node, Split};
use warpline_testkit::claims::{Seen, Shapes, Tally, violation};
use warpline_testkit::convergence::m_converged;
use warpline_testkit::graph_oracles::{Dominance, is_reducible};
use warpline_testkit::hierarchies;
use warpline_testkit::lockstep::{self, Observed};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::tagged::Tags;
use warpline_testkit::{control_flow, graphs, ssa_programs};

const THREADS: u64 = 6;
const STEPS: usize = 60;
const FAMILIES: u64 = 5;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// How a family of programs is made and judged.
struct Family {
    graph: fn(&mut SplitMix64) -> CsrGraph,
    /// How many programs in `cargo test`.
    programs: u64,
    /// How often a program runs in each hierarchy.
    runs: u64,
    /// All hierarchies of graphs with at most so many depth-first walks, those of so many walks of others.
    walks: usize,
}

/// Checks programs of a family, as many as the environment says.
fn explore(name: &str, family: &Family) -> Tally {
    let count = number("WARPLINE_PROGRAMS", family.programs * FAMILIES).div_ceil(FAMILIES);
    check_seeds(name, family, number("WARPLINE_SEED", 1), count)
}

/// Checks programs of a family; panics at the first claim that does not hold.
fn check_seeds(name: &str, family: &Family, first: u64, count: u64) -> Tally {
    let mut tally = Tally::default();
    for seed in first..first + count {
        let mut rng = SplitMix64::new(seed);
        let graph = (family.graph)(&mut rng);
        let of_phis = rng.chance(1, 3);
        let make = if of_phis { ssa_programs::of_phis } else { ssa_programs::random };
        let program = make(&mut rng, &graph);
        let hierarchies = hierarchies::all_or_sample(&mut rng, &graph, family.walks);
        let hierarchies: Vec<Tags> = hierarchies.iter().map(Tags::of_hierarchy).collect();
        if let Err(message) = check(&mut rng, &graph, &program, family.runs, &hierarchies, &mut tally) {
            panic!("{name}, seed {seed}: {message}\n{}", ssa_programs::describe(&graph, &program));
        }
    }
    println!("{name}, seeds {first} to {}: {tally}", first + count - 1);
    tally
}

/// Checks every claim of uniformity against what is observed, that claims do not depend on the order of edges, and
/// that causes hold together.
fn check(
    rng: &mut SplitMix64,
    graph: &CsrGraph,
    program: &SsaProgram,
    runs: u64,
    hierarchies: &[Tags],
    tally: &mut Tally,
) -> Result<(), String> {
    let uniformity = Uniformity::compute(graph, program);
    let mut observed = Observed::nothing(graph, program);
    let steps = STEPS.max(4 * graph.node_count());
    for tags in hierarchies {
        for seed in 0..runs {
            let traces = lockstep::run(graph, program, tags, seed, THREADS, steps, &mut observed);
            let same = m_converged::same_in_all(graph.node_count(), &traces, hierarchies);
            if let Some(n) = graph.nodes().find(|&n| uniformity.is_m_converged(n) && !same[n.index()]) {
                return Err(format!("{n} is claimed m-converged and is not: {traces:?}"));
            }
        }
    }
    let dominance = Dominance::of(graph);
    let seen = Seen { graph, dominance: &dominance, program, observed: &observed };
    if let Some(message) = violation(seen, &uniformity, graph, |e| e) {
        return Err(message);
    }
    let (shuffled, same_program, there) = ssa_programs::with_shuffled_edges(rng, graph, program);
    let otherwise = Uniformity::compute(&shuffled, &same_program);
    if let Some(message) = violation(seen, &otherwise, &shuffled, |e| there[e.index()]) {
        return Err(format!("with edges in another order {message}"));
    }
    let (early_exits, reach) = (rng.below(4), rng.below(20));
    let (frontiers, near, steps_unasked) = (rng.below(10), rng.below(3), rng.below(30));
    let limits = Limits { early_exits, reach, frontiers, near, steps_unasked };
    let hasty = Uniformity::compute_within(graph, program, &limits);
    if let Some(message) = violation(seen, &hasty, graph, |e| e) {
        return Err(format!("within {limits:?} {message}"));
    }
    tally.hasty_given_up += hasty.cycles().cycles().filter(|&c| hasty.given_up(c).is_some()).count();
    let without_tables = Limits { frontiers, near, steps_unasked, ..Limits::of(graph) };
    let plain = Uniformity::compute_within(graph, program, &without_tables);
    if plain.divergent_values() != uniformity.divergent_values()
        || plain.divergent_branches() != uniformity.divergent_branches()
    {
        return Err(format!("something else is divergent within {without_tables:?}"));
    }
    for v in program.values().filter(|&v| program.node(v).is_none_or(|n| dominance.is_reachable(n.index()))) {
        chain_holds(&uniformity, v)?;
    }
    // What follows where threads leave an irreducible cycle is asked of no single branch.
    let left_apart = |c| uniformity.left_apart(c).is_some();
    if graph.nodes().all(|n| uniformity.is_m_converged(n)) && !uniformity.cycles().cycles().any(left_apart) {
        joins_are_those_of_the_divergent_branches(graph, &uniformity)?;
        joins_are_those_of_the_divergent_branches(graph, &plain)?;
    }
    tally.count(seen, &uniformity, hierarchies.len());
    Ok(())
}

/// Nothing is lost or added by stopping early where the union over many branches is known.
fn joins_are_those_of_the_divergent_branches(
    graph: &CsrGraph,
    uniformity: &Uniformity,
) -> Result<(), String> {
    let dfs = DfsOrder::compute(graph);
    let cycles = uniformity.cycles();
    let mut joins = Joins::new(graph, &dfs, cycles);
    let (mut nodes, mut exits) = (BTreeSet::new(), BTreeSet::new());
    for branch in graph.nodes().filter(|&n| uniformity.branch_cause(n).is_some()) {
        let set = joins.of_branch(branch);
        let named = |split: Split| split == Split::Branch(branch);
        for n in graph.nodes().filter(|&n| uniformity.divergent_join(n).is_some_and(named)) {
            if !set.joins.contains(&n) {
                return Err(format!("{n} is said to be a join of {branch}, which has {set:?}"));
            }
        }
        for c in cycles.cycles() {
            for &(e, _) in uniformity.divergent_exits(c).iter().filter(|&&(_, split)| named(split)) {
                if !set.divergent_exits.contains(&(c, e)) {
                    return Err(format!("{e} is said to be an exit for {branch}, which has {set:?}"));
                }
            }
        }
        nodes.extend(set.joins);
        exits.extend(set.divergent_exits);
    }
    let found: BTreeSet<_> = graph.nodes().filter(|&n| uniformity.divergent_join(n).is_some()).collect();
    if found != nodes {
        return Err(format!("joins {found:?}, branch by branch {nodes:?}"));
    }
    let found = |c| uniformity.divergent_exits(c).iter().map(move |&(e, _)| (c, e));
    let found: BTreeSet<_> = cycles.cycles().flat_map(found).collect();
    if found != exits {
        return Err(format!("divergent exits {found:?}, branch by branch {exits:?}"));
    }
    Ok(())
}

/// A chain of causes visits no fact twice and ends at a source.
fn chain_holds(uniformity: &Uniformity, value: Value) -> Result<(), String> {
    let chain = uniformity.explain(value);
    if chain.is_empty() == uniformity.is_divergent(value) {
        return Err(format!("{value} is divergent without a cause, or has a cause and is uniform"));
    }
    for (i, fact) in chain.iter().enumerate() {
        if chain[..i].contains(fact) {
            return Err(format!("the causes of {value} go in circles: {chain:?}"));
        }
    }
    match chain.last() {
        None | Some(Fact::Value(_, Cause::Source)) => Ok(()),
        Some(last) => Err(format!("the causes of {value} end at {last:?}")),
    }
}

#[test]
fn claims_of_uniformity_hold_on_reducible_graphs() {
    let family = Family { graph: |rng| graphs::reducible(rng, 10), programs: 1500, runs: 5, walks: 1 };
    let tally = explore("reducible", &family);
    most_of_what_is_claimed_is_seen(&tally);
}

/// What must come out of reducible graphs: neither everything nor nothing is divergent, all causes there are occur, and
/// claims of divergence are precise.
fn most_of_what_is_claimed_is_seen(tally: &Tally) {
    assert_eq!((tally.given_up, tally.ambiguous), (0, 0));
    assert!(tally.hasty_given_up * 8 > tally.programs, "limits have no influence");
    if tally.programs >= 1000 {
        assert!((10..=60).contains(&tally.values.claimed_percent()));
        assert!((15..=60).contains(&tally.branches.claimed_percent()));
        assert!((10..=50).contains(&tally.outside_uses.claimed_percent()));
        assert!(tally.values.seen_percent() >= 88);
        assert!(tally.branches.seen_percent() >= 90);
        assert!(tally.outside_uses.seen_percent() >= 55);
        assert!(tally.by_join.all * 4 > tally.programs && tally.by_temporal.all * 10 > tally.programs);
    }
}

#[test]
fn nearly_all_that_is_claimed_divergent_is_seen_if_threads_run_often() {
    let reducible: fn(&mut SplitMix64) -> CsrGraph = |rng| graphs::reducible(rng, 10);
    let structured: fn(&mut SplitMix64) -> CsrGraph = |rng| control_flow::structured(rng, 14);
    for (name, graph) in [("reducible, often", reducible), ("structured, often", structured)] {
        let family = Family { graph, programs: 250, runs: 60, walks: 1 };
        let tally = check_seeds(name, &family, 1, family.programs);
        assert!(tally.values.seen_percent() >= 95, "values");
        assert!(tally.branches.seen_percent() >= 95, "branches");
        assert!(tally.outside_uses.seen_percent() >= 90, "uses outside their cycle");
        assert!(tally.by_join.unseen * 20 <= tally.by_join.all, "φs");
    }
}

/// A graph with an irreducible cycle.
fn irreducible(rng: &mut SplitMix64, draw: impl Fn(&mut SplitMix64) -> CsrGraph) -> CsrGraph {
    loop {
        let graph = draw(rng);
        if !is_reducible(&graph) {
            return graph;
        }
    }
}

/// What must come out of graphs with irreducible cycles, lest the checks are empty.
fn irreducible_cycles_are_given_up_and_kept(tally: &Tally) {
    if tally.programs >= 400 {
        assert!(tally.given_up * 4 > tally.programs && tally.kept * 20 > tally.programs);
        assert!(tally.ambiguous * 5 > tally.programs * 4);
        assert!((15..=90).contains(&tally.values.claimed_percent()));
        assert!(tally.values.seen_percent() >= 48);
    }
}

#[test]
fn claims_of_uniformity_hold_on_small_irreducible_graphs_in_every_hierarchy() {
    let graph = |rng: &mut SplitMix64| irreducible(rng, |rng| graphs::arbitrary(rng, 6));
    let tally = explore("small", &Family { graph, programs: 800, runs: 3, walks: 120 });
    irreducible_cycles_are_given_up_and_kept(&tally);
}

#[test]
fn claims_of_uniformity_hold_on_irreducible_graphs_whatever_the_headers_are() {
    let graph = |rng: &mut SplitMix64| irreducible(rng, |rng| graphs::arbitrary(rng, 10));
    let tally = explore("irreducible", &Family { graph, programs: 600, runs: 2, walks: 8 });
    irreducible_cycles_are_given_up_and_kept(&tally);
}

#[test]
fn claims_of_uniformity_hold_on_structured_programs() {
    let graph = |rng: &mut SplitMix64| {
        let size = *rng.pick(&[10, 14, 14, 14, 40]);
        control_flow::structured(rng, size)
    };
    let tally = explore("structured", &Family { graph, programs: 1000, runs: 4, walks: 1 });
    most_of_what_is_claimed_is_seen(&tally);
    let Shapes { several_ends, endless, switches, parallel, nested, early_exits, always_uniform } =
        tally.shapes;
    if tally.programs >= 1000 {
        for count in [several_ends, endless, switches, parallel, nested, early_exits, always_uniform] {
            assert!(count * 15 > tally.programs, "some control flow is rare");
        }
    }
}

#[test]
fn claims_of_uniformity_hold_on_structured_programs_with_jumps() {
    let graph = |rng: &mut SplitMix64| {
        let size = *rng.pick(&[9, 12, 12, 25]);
        irreducible(rng, |rng| control_flow::with_jumps(rng, size))
    };
    let tally = explore("jumps", &Family { graph, programs: 600, runs: 2, walks: 8 });
    irreducible_cycles_are_given_up_and_kept(&tally);
}

#[test]
fn another_source_makes_nothing_uniform() {
    for seed in 0..300 {
        let mut rng = SplitMix64::new(seed);
        let graph = graphs::arbitrary(&mut rng, 10);
        let program = ssa_programs::random(&mut rng, &graph);
        let source = Value::new(rng.below(program.value_count()));
        let rule = |v| if v == source { Rule::Source } else { program.rule(v) };
        let more = ssa_programs::copy(&graph, &program, rule, |e| e);
        let (before, after) = (Uniformity::compute(&graph, &program), Uniformity::compute(&graph, &more));
        let always = |v: usize| more.rule(Value::new(v)) == Rule::AlwaysUniform;
        assert!(before.divergent_values().iter().all(|v| after.divergent_values().contains(v) || always(v)));
        assert!(before.divergent_branches().is_subset(after.divergent_branches()), "seed {seed}");
    }
}

#[test]
fn unreachable_code_has_no_influence() {
    for seed in 0..300 {
        let mut rng = SplitMix64::new(seed);
        let graph = graphs::arbitrary(&mut rng, 10);
        let program = ssa_programs::random(&mut rng, &graph);
        let dfs = DfsOrder::compute(&graph);
        let uniformity = Uniformity::compute(&graph, &program);
        let unreachable = |n: &usize| !dfs.is_reachable(Node::new(*n));
        assert_eq!(uniformity.divergent_branches().iter().find(unreachable), None, "seed {seed}");
    }
}
