//! The maximal converged-with relation: its definition, its characterization by cases, and tags say the same.

use warpline_analysis::{CsrGraph, Graph, Node};
use warpline_testkit::convergence::relation::{Execution, Relation};
use warpline_testkit::convergence::{Trace, m_converged};
use warpline_testkit::graph_oracles::is_reducible;
use warpline_testkit::hierarchies::{self, Hierarchy};
use warpline_testkit::lockstep::{self, Observed};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::tagged::Tags;
use warpline_testkit::{control_flow, graphs, ssa_programs};

/// What came out over many executions.
#[derive(Default, Debug)]
struct Tally {
    graphs: usize,
    irreducible: usize,
    hierarchies: usize,
    executions: usize,
    converged: usize,
    /// Pairs of instances of one node that are not converged.
    apart: usize,
}

/// The relation of an execution, after everything that is said of it has been checked.
fn checked(
    hierarchy: &Hierarchy,
    traces: &[Trace],
    word_for_word: bool,
    tally: &mut Tally,
) -> Result<Relation, String> {
    let execution = Execution::of(traces);
    let defined = execution.by_definition(hierarchy);
    let by_cases = execution.by_cases(hierarchy)?;
    if defined != by_cases {
        return Err(format!("by definition {defined:?}\nby cases {by_cases:?}"));
    }
    let by_tags = execution.by_tags(&Tags::of_hierarchy(hierarchy));
    if defined != by_tags {
        return Err(format!("by definition {defined:?}\nby tags {by_tags:?}"));
    }
    if let Some(i) = execution.before_itself(&defined) {
        return Err(format!("instance {i} is convergence-before itself"));
    }
    if let Some(three) = execution.intransitive(&defined) {
        return Err(format!("{three:?} are not transitive"));
    }
    if word_for_word && let Some(pair) = execution.misfit(hierarchy, &defined) {
        return Err(format!("the definition does not hold for {pair:?}"));
    }
    tally.executions += 1;
    tally.converged += defined.len();
    tally.apart += execution.candidates().len() - defined.len();
    Ok(defined)
}

/// Checks executions of `graph` in every one of some hierarchies.
fn check_graph(rng: &mut SplitMix64, graph: &CsrGraph, runs: usize, tally: &mut Tally) {
    let hierarchies = hierarchies::all_or_sample(rng, graph, 200);
    tally.graphs += 1;
    tally.irreducible += usize::from(!is_reducible(graph));
    tally.hierarchies += hierarchies.len();
    assert!(hierarchies.len() == 1 || !is_reducible(graph), "a reducible graph has one hierarchy");
    for run in 0..runs {
        let divergent: Vec<bool> = graph.nodes().map(|_| rng.chance(2, 3)).collect();
        let tags = Tags::of_hierarchy(rng.pick(&hierarchies));
        let traces = m_converged::traces(rng, graph, &tags, &divergent, 3, 14);
        for hierarchy in &hierarchies {
            if let Err(message) = checked(hierarchy, &traces, run == 0, tally) {
                panic!("{message}\n{:?}\n{hierarchy:?}\n{traces:?}", graphs::edge_list(graph));
            }
        }
    }
}

#[test]
fn definition_cases_and_tags_agree_on_all_graphs_of_three_nodes() {
    let (mut rng, mut tally) = (SplitMix64::new(1), Tally::default());
    for graph in graphs::all_simple(3) {
        check_graph(&mut rng, &graph, 4, &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.irreducible >= 16 && tally.apart > tally.executions);
}

#[test]
fn definition_cases_and_tags_agree_on_random_graphs() {
    let (mut rng, mut tally) = (SplitMix64::new(2), Tally::default());
    while tally.graphs < 150 {
        let graph = graphs::arbitrary(&mut rng, 8);
        if !is_reducible(&graph) {
            check_graph(&mut rng, &graph, 2, &mut tally);
        }
    }
    println!("{tally:?}");
    assert!(tally.hierarchies > 2 * tally.graphs);
    assert!(tally.converged > 2 * tally.executions && tally.apart > tally.executions);
}

#[test]
fn threads_of_random_programs_are_together_by_definition_where_the_judge_compares_them() {
    let (mut rng, mut tally) = (SplitMix64::new(4), Tally::default());
    while tally.graphs < 60 {
        let graph = control_flow::with_jumps(&mut rng, 9);
        let program = ssa_programs::random(&mut rng, &graph);
        let hierarchies = hierarchies::all_or_sample(&mut rng, &graph, 6);
        let mut observed = Observed::nothing(&graph, &program);
        for hierarchy in &hierarchies {
            let tags = Tags::of_hierarchy(hierarchy);
            let traces = lockstep::run(&graph, &program, &tags, 1, 4, 25, &mut observed);
            if let Err(message) = checked(hierarchy, &traces, false, &mut tally) {
                panic!("{message}\n{:?}\n{hierarchy:?}\n{traces:?}", graphs::edge_list(&graph));
            }
        }
        tally.graphs += 1;
    }
    println!("{tally:?}");
    assert!(tally.converged > 5 * tally.executions && tally.apart > tally.executions);
}

#[test]
fn an_irreducible_graph_has_a_hierarchy_for_each_entry() {
    // 0 enters the cycle 1 ⇄ 2 at both nodes.
    let graph = graphs::build(3, vec![(0, 1), (0, 2), (1, 2), (2, 1)]);
    let found = hierarchies::all(&graph, 10).expect("there are two walks");
    let headers: Vec<usize> = found.iter().map(|h| h.cycles()[0].header).collect();
    assert_eq!(headers, [1, 2]);
    assert_eq!(hierarchies::all(&graph, 1), None);
}

#[test]
fn random_walks_find_the_hierarchies_that_there_are() {
    let mut rng = SplitMix64::new(3);
    for _ in 0..200 {
        let graph = graphs::arbitrary(&mut rng, 5);
        let all = hierarchies::all(&graph, 1000).expect("five nodes have at most 24 walks");
        assert_eq!(hierarchies::sample(&mut rng, &graph, 400), all, "{:?}", graphs::edge_list(&graph));
    }
}

/// Traces from letters, each the node with the letter's position in `names`.
fn traces(names: &str, lines: &[&str]) -> Vec<Trace> {
    let node = |c| Node::new(names.find(c).expect("a letter of the graph"));
    lines.iter().map(|line| line.chars().map(node).collect()).collect()
}

/// The hierarchy of paper 2's figures with the given headers.
fn with_headers(graph: &CsrGraph, headers: &[usize]) -> Hierarchy {
    let all = hierarchies::all(graph, 1000).expect("a small graph");
    let of = |h: &Hierarchy| h.cycles().iter().map(|c| c.header).collect::<Vec<_>>();
    all.into_iter().find(|h| of(h) == headers).expect("a hierarchy with these headers")
}

/// Whether the `a`-th letter of one trace is converged with the `b`-th of the next.
fn together(traces: &[Trace], relation: &Relation, a: usize, b: usize) -> bool {
    relation.contains(a, traces[0].len() + b)
}

#[test]
fn the_natural_loop_of_paper_2_converges_by_iterations() {
    // E → H; H → B, L; B → L; L → H, X.
    let graph = graphs::build(5, vec![(0, 1), (1, 2), (1, 3), (2, 3), (3, 1), (3, 4)]);
    let traces = traces("EHBLX", &["EHBLHLX", "EHLHBLHBLX"]);
    let hierarchy = with_headers(&graph, &[1]);
    let relation = checked(&hierarchy, &traces, true, &mut Tally::default()).unwrap();
    let is = |a, b| together(&traces, &relation, a, b);
    assert!(is(0, 0) && is(1, 1) && is(3, 2) && is(4, 3) && is(5, 5) && is(6, 9));
    assert!(!is(2, 4) && !is(4, 6) && !is(5, 8));
}

#[test]
fn nested_irreducible_cycles_of_paper_2_converge_at_the_outer_header() {
    // E → P, R; P → Q; Q → R, S; R → S; S → P, X, with headers R and S.
    let edges = vec![(0, 1), (0, 3), (1, 2), (2, 3), (2, 4), (3, 4), (4, 1), (4, 5)];
    let graph = graphs::build(6, edges);
    let traces = traces("EPQRSX", &["EPQSPQRSX", "EPQRSX", "ERSX"]);
    let hierarchy = with_headers(&graph, &[3, 4]);
    let relation = checked(&hierarchy, &traces, true, &mut Tally::default()).unwrap();
    let is = |a, b| together(&traces, &relation, a, b);
    assert!(is(1, 1) && is(2, 2) && is(6, 3) && is(7, 4) && is(8, 5));
    assert!(!is(4, 1) && !is(5, 2) && !is(3, 4));
    // With R in the third thread as well.
    assert!(relation.contains(6, 16) && relation.contains(7, 17) && !relation.contains(3, 17));
}

#[test]
fn a_diverged_entry_changes_convergence_with_the_header() {
    // E → P, R; P → Q; Q → R, S; R → S; S → P, X: paper 2, "Divergent Branch inside a Cycle".
    let edges = vec![(0, 1), (0, 3), (1, 2), (2, 3), (2, 4), (3, 4), (4, 1), (4, 5)];
    let graph = graphs::build(6, edges);
    let traces = traces("EPQRSX", &["EPQRSPQRSX", "EPQSPQRSX"]);
    let by_p = checked(&with_headers(&graph, &[1]), &traces, true, &mut Tally::default()).unwrap();
    let by_r = checked(&with_headers(&graph, &[3, 4]), &traces, true, &mut Tally::default()).unwrap();
    assert!(together(&traces, &by_p, 4, 3) && !together(&traces, &by_r, 4, 3));
    let all: Vec<Tags> = hierarchies::all(&graph, 1000).unwrap().iter().map(Tags::of_hierarchy).collect();
    let same = m_converged::same_in_all(6, &traces, &all);
    assert!(same[0] && same[5] && !same[4]);
}
