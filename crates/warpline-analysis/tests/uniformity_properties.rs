//! Uniformity against what threads of random programs are seen to disagree on.

use std::collections::BTreeSet;

use warpline_analysis::uniformity::{Cause, Fact, Rule, SsaProgram, Uniformity, Value};
use warpline_analysis::{CsrGraph, DfsOrder, DomTree, Graph, Joins};
use warpline_testkit::graph_oracles::is_reducible;
use warpline_testkit::lockstep::{self, Observed};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::tagged::Tags;
use warpline_testkit::{graphs, ssa_programs};

const THREADS: u64 = 6;
const STEPS: usize = 60;

/// What came out over many programs.
#[derive(Default, Debug)]
struct Tally {
    programs: usize,
    values: usize,
    divergent: usize,
    seen_divergent: usize,
    branches: usize,
    divergent_branches: usize,
    seen_divergent_branches: usize,
    /// Uses outside a loop of uniform values.
    outside_uses: usize,
    temporal: usize,
    seen_temporal: usize,
    by_join: usize,
    by_temporal: usize,
    given_up: usize,
}

/// Checks every claim of uniformity against what is observed, and that causes hold together.
fn check(
    graph: &CsrGraph,
    program: &SsaProgram,
    runs: u64,
    hierarchies: &[Tags],
    tally: &mut Tally,
) -> Result<(), String> {
    let uniformity = Uniformity::compute(graph, program);
    let mut seen = Observed::nothing(graph, program);
    for tags in hierarchies {
        for seed in 0..runs {
            lockstep::run(graph, program, tags, seed, THREADS, STEPS, &mut seen);
        }
    }
    let dom = DomTree::compute(graph);
    let cycles = uniformity.cycles();
    tally.programs += 1;
    for v in program.values() {
        let node = program.node(v);
        if node.is_some_and(|n| !dom.is_reachable(n)) {
            continue;
        }
        let (claimed, differs) = (uniformity.is_divergent(v), seen.divergent.contains(v.index()));
        if differs && !claimed {
            return Err(format!("{v} is claimed uniform and is not"));
        }
        let observable = node.is_none_or(|n| seen.shared.contains(n.index()));
        if program.rule(v) == Rule::Default && observable {
            tally.values += 1;
            tally.divergent += usize::from(claimed);
            tally.seen_divergent += usize::from(differs);
        }
        let cause = uniformity.cause(v);
        tally.by_join += usize::from(matches!(cause, Some(Cause::Join(_))));
        tally.by_temporal += usize::from(matches!(cause, Some(Cause::Temporal { .. })));
        chain_holds(&uniformity, v)?;
        let visible = |n| node.is_none_or(|d| dom.dominates(d, n));
        for n in graph.nodes().filter(|&n| dom.is_reachable(n) && visible(n)) {
            let (claimed, differs) = (uniformity.is_divergent_at(graph, v, n), seen.differs_at(v, n));
            if differs && !claimed {
                return Err(format!("the use of {v} at {n} is claimed uniform and is not"));
            }
            let outside = node.is_some_and(|d| cycles.innermost(d).is_some_and(|c| !cycles.contains(c, n)));
            if outside && !uniformity.is_divergent(v) && seen.shared.contains(n.index()) {
                tally.outside_uses += 1;
                tally.temporal += usize::from(claimed);
                tally.seen_temporal += usize::from(differs);
            }
            for &e in graph.out_edges(n) {
                if seen.differs_on(v, e) && !uniformity.is_divergent_on(graph, v, e) {
                    return Err(format!("the use of {v} on {e} is claimed uniform and is not"));
                }
            }
        }
    }
    for n in graph.nodes().filter(|&n| seen.shared.contains(n.index()) && graph.out_edges(n).len() > 1) {
        let (claimed, differs) = (uniformity.is_divergent_branch(n), seen.branches.contains(n.index()));
        if differs && !claimed {
            return Err(format!("the branch at {n} is claimed uniform and is not"));
        }
        tally.branches += 1;
        tally.divergent_branches += usize::from(claimed);
        tally.seen_divergent_branches += usize::from(differs);
    }
    if cycles.cycles().all(|c| uniformity.given_up(c).is_none()) {
        joins_are_those_of_the_divergent_branches(graph, &uniformity)?;
    }
    tally.given_up += cycles.cycles().filter(|&c| uniformity.given_up(c).is_some()).count();
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

fn describe(graph: &CsrGraph, program: &SsaProgram) -> String {
    let mut text = format!("{} nodes, edges {:?}\n", graph.node_count(), graphs::edge_list(graph));
    for v in program.values() {
        let operands: Vec<String> = program
            .operands(v)
            .map(|(o, e)| e.map_or_else(|| o.to_string(), |e| format!("{e}: {o}")))
            .collect();
        let kind = if program.is_phi(v) { "φ" } else { "" };
        let pure = if program.is_pure(v) { " pure" } else { "" };
        let at = program.node(v).map_or("argument".to_string(), |n| n.to_string());
        text += &format!("  {at}: {v} = {kind}({}) {:?}{pure}\n", operands.join(", "), program.rule(v));
    }
    for n in graph.nodes().filter(|&n| !program.terminator(n).is_empty()) {
        text += &format!("  {n}: branch on {:?}\n", program.terminator(n));
    }
    text
}

fn explore(
    first_seed: u64,
    count: u64,
    runs: u64,
    graph: impl Fn(&mut SplitMix64) -> CsrGraph,
    hierarchies: impl Fn(&mut SplitMix64, &CsrGraph) -> Vec<Tags>,
) -> Tally {
    let mut tally = Tally::default();
    for seed in first_seed..first_seed + count {
        let mut rng = SplitMix64::new(seed);
        let graph = graph(&mut rng);
        let program = ssa_programs::random(&mut rng, &graph);
        let tags = hierarchies(&mut rng, &graph);
        if let Err(message) = check(&graph, &program, runs, &tags, &mut tally) {
            panic!("seed {seed}: {message}\n{}", describe(&graph, &program));
        }
    }
    println!("{tally:#?}");
    tally
}

fn percent(part: usize, whole: usize) -> usize {
    100 * part / whole.max(1)
}

#[test]
fn claims_of_uniformity_hold_on_reducible_graphs() {
    let tally = explore(1, 2500, 5, |rng| graphs::reducible(rng, 10), |_, graph| vec![Tags::of(graph)]);
    assert_eq!(tally.given_up, 0);
    // Neither everything nor nothing is divergent, and most of what is claimed is seen.
    assert!((15..=60).contains(&percent(tally.divergent, tally.values)));
    assert!((15..=60).contains(&percent(tally.divergent_branches, tally.branches)));
    assert!((10..=50).contains(&percent(tally.temporal, tally.outside_uses)));
    assert!(percent(tally.seen_divergent, tally.divergent) >= 88);
    assert!(percent(tally.seen_divergent_branches, tally.divergent_branches) >= 88);
    assert!(percent(tally.seen_temporal, tally.temporal) >= 65);
    assert!(tally.by_join * 15 > tally.programs && tally.by_temporal * 10 > tally.programs);
}

#[test]
fn claims_of_uniformity_hold_on_irreducible_graphs_whatever_the_headers_are() {
    let irreducible = |rng: &mut SplitMix64| loop {
        let graph = graphs::arbitrary(rng, 10);
        if !is_reducible(&graph) {
            return graph;
        }
    };
    // Another order of the edges makes another walk and so other headers.
    let hierarchies = |rng: &mut SplitMix64, graph: &CsrGraph| {
        (0..3).map(|_| Tags::of_walk(graph, |_, out| rng.shuffle(out))).collect()
    };
    let tally = explore(50_000, 2000, 3, irreducible, hierarchies);
    assert!(tally.given_up * 3 > tally.programs && tally.given_up * 10 < tally.programs * 9);
    assert!((15..=90).contains(&percent(tally.divergent, tally.values)));
    assert!(percent(tally.seen_divergent, tally.divergent) >= 55);
}

#[test]
fn another_source_makes_nothing_uniform() {
    for seed in 0..300 {
        let mut rng = SplitMix64::new(seed);
        let graph = graphs::arbitrary(&mut rng, 10);
        let program = ssa_programs::random(&mut rng, &graph);
        let more = with_source(&graph, &program, Value::new(rng.below(program.value_count())));
        let (before, after) = (Uniformity::compute(&graph, &program), Uniformity::compute(&graph, &more));
        let always = |v: usize| more.rule(Value::new(v)) == Rule::AlwaysUniform;
        assert!(before.divergent_values().iter().all(|v| after.divergent_values().contains(v) || always(v)));
        assert!(before.divergent_branches().is_subset(after.divergent_branches()), "seed {seed}");
    }
}

/// The same program with one more source.
fn with_source(graph: &CsrGraph, program: &SsaProgram, source: Value) -> SsaProgram {
    let mut builder = SsaProgram::builder();
    for v in program.values() {
        let rule = if v == source { Rule::Source } else { program.rule(v) };
        let operands = program.operands(v);
        let copy = match program.node(v) {
            None => builder.argument(rule),
            Some(n) if program.is_phi(v) => {
                builder.phi(n, rule, operands.filter_map(|(o, e)| e.map(|e| (e, Some(o)))))
            }
            Some(n) => builder.plain(n, rule, operands.map(|(o, _)| o)),
        };
        if program.is_pure(v) {
            builder.set_pure(copy);
        }
    }
    for n in graph.nodes() {
        builder.terminator(n, program.terminator(n).iter().copied());
    }
    builder.build(graph).expect("a copy of a program")
}

#[test]
fn unreachable_code_has_no_influence() {
    for seed in 0..300 {
        let mut rng = SplitMix64::new(seed);
        let graph = graphs::arbitrary(&mut rng, 10);
        let program = ssa_programs::random(&mut rng, &graph);
        let dfs = DfsOrder::compute(&graph);
        let uniformity = Uniformity::compute(&graph, &program);
        let unreachable = |n: &usize| !dfs.is_reachable(warpline_analysis::Node::new(*n));
        assert_eq!(uniformity.divergent_branches().iter().find(unreachable), None, "seed {seed}");
    }
}
