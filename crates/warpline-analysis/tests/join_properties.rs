//! Joins and divergent exits against maximum flow on the tagged graph.

use warpline_analysis::{CsrGraph, CycleForest, DfsOrder, Graph, Joins, Node, Split, Step, Witness};
use warpline_testkit::graphs;
use warpline_testkit::tagged::Unrolled;

/// Rounds of each loop: enough for two threads to leave it one after the other.
const ROUNDS: u32 = 3;

/// The graph with a node in the middle of each edge; the middle of edge `e` is node `node_count + e`.
fn subdivided(graph: &CsrGraph) -> CsrGraph {
    let n = graph.node_count();
    let halves = graphs::edge_list(graph).into_iter().enumerate();
    let edges = halves.flat_map(|(e, (s, t))| [(s, n + e), (n + e, t)]).collect();
    graphs::build(n + graph.edge_count(), edges)
}

fn joins_agree_with_maximum_flow(graph: &CsrGraph) -> Result<(), String> {
    let dfs = DfsOrder::compute(graph);
    let cycles = CycleForest::compute_with(graph, &dfs);
    if cycles.cycles().any(|c| !cycles.is_reducible(c)) {
        return Ok(());
    }
    let n = graph.node_count();
    let tagged = Unrolled::new(graph, ROUNDS);
    let tagged_edges = Unrolled::new(&subdivided(graph), ROUNDS);
    let mut joins = Joins::new(graph, &dfs, &cycles);
    for branch in graph.nodes() {
        let found = joins.of_branch(branch);
        let truth = tagged.joins(branch);
        if found.joins != truth {
            return Err(format!("joins of {branch}: {:?}, by maximum flow {truth:?}", found.joins));
        }
        for node in graph.nodes() {
            let witness = joins.witness(Split::Branch(branch), node);
            match (&witness, found.joins.contains(&node)) {
                (Some(witness), true) => witness_holds(graph, &cycles, branch, node, witness)?,
                (None, false) => {}
                _ => return Err(format!("witness of {node} as a join of {branch}: {witness:?}")),
            }
        }
        // The middle of an edge has one predecessor, so threads meet there apart only in different iterations.
        let exits: Vec<usize> =
            tagged_edges.joins(branch).iter().filter_map(|j| j.index().checked_sub(n)).collect();
        let mut found_exits: Vec<usize> = found.divergent_exits.iter().map(|(_, e)| e.index()).collect();
        found_exits.sort_unstable();
        found_exits.dedup();
        if found_exits != exits {
            return Err(format!("divergent exits of {branch}: {found_exits:?}, by maximum flow {exits:?}"));
        }
    }
    Ok(())
}

/// Two paths along edges of the graph from different edges of the branch to the join, without a node in common.
fn witness_holds(
    graph: &CsrGraph,
    cycles: &CycleForest,
    branch: Node,
    join: Node,
    witness: &Witness,
) -> Result<(), String> {
    let mut arrived_at: Vec<Vec<Node>> = Vec::new();
    for path in &witness.paths {
        let (mut at, mut passed, mut rounds) = (branch, Vec::new(), None);
        for (i, &step) in path.iter().enumerate() {
            let connected = match (step, rounds) {
                (Step::Edge(e), None) => graph.source(e) == at,
                (Step::Edge(e), Some(c)) => {
                    cycles.contains(c, graph.source(e)) && !cycles.contains(c, graph.target(e))
                }
                (Step::Round(c), _) => i > 0 && cycles.header(c) == at,
                (Step::Through(_), _) => false,
            };
            if !connected {
                return Err(format!("a path to {join} breaks at step {i}: {witness:?}"));
            }
            rounds = match step {
                Step::Edge(e) => {
                    at = graph.target(e);
                    passed.push(at);
                    None
                }
                Step::Round(c) | Step::Through(c) => Some(c),
            };
        }
        if passed.pop() != Some(join) || rounds.is_some() {
            return Err(format!("a path does not end at {join}: {witness:?}"));
        }
        arrived_at.push(passed);
    }
    let same_start = witness.paths[0][0] == witness.paths[1][0];
    if same_start || arrived_at[0].iter().any(|n| arrived_at[1].contains(n)) {
        return Err(format!("paths to {join} are not disjoint: {witness:?}"));
    }
    Ok(())
}

#[test]
fn joins_and_divergent_exits_of_reducible_graphs_are_exactly_those_of_the_tagged_graph() {
    let (mut with_joins, mut with_divergent_exits, mut behind_one_edge) = (0, 0, 0);
    let observe = |graph: &CsrGraph| {
        let dfs = DfsOrder::compute(graph);
        let cycles = CycleForest::compute_with(graph, &dfs);
        let mut joins = Joins::new(graph, &dfs, &cycles);
        let sets: Vec<_> = graph.nodes().map(|n| joins.of_branch(n)).collect();
        with_joins += usize::from(sets.iter().any(|s| !s.joins.is_empty()));
        with_divergent_exits += usize::from(sets.iter().any(|s| !s.divergent_exits.is_empty()));
        let one_edge = |n: &Node| graph.in_edges(*n).len() == 1;
        behind_one_edge += usize::from(sets.iter().flat_map(|s| &s.joins).any(one_edge));
    };
    let count = 600;
    graphs::for_each_seed(1, count, |rng| graphs::reducible(rng, 8), observe, joins_agree_with_maximum_flow);
    println!("{count}: {with_joins} joins, {with_divergent_exits} exits, {behind_one_edge} behind one edge");
    assert!(with_joins * 10 > count as usize * 6);
    assert!(with_divergent_exits * 10 > count as usize * 2);
    assert!(behind_one_edge * 10 > count as usize);
}

#[test]
fn joins_of_every_reducible_graph_of_up_to_three_nodes_are_exactly_those_of_the_tagged_graph() {
    for nodes in 1..=3 {
        for graph in graphs::all_simple(nodes) {
            if let Err(message) = joins_agree_with_maximum_flow(&graph) {
                panic!("{message}\n{nodes} nodes, edges {:?}", graphs::edge_list(&graph));
            }
        }
    }
}

#[test]
fn a_source_reached_by_another_source_is_a_join() {
    // if (c) {1}; 2
    let graph = graphs::build(3, vec![(0, 1), (0, 2), (1, 2)]);
    let dfs = DfsOrder::compute(&graph);
    let cycles = CycleForest::compute_with(&graph, &dfs);
    assert_eq!(Joins::new(&graph, &dfs, &cycles).of_branch(Node(0)).joins, [Node(2)]);
}

#[test]
fn the_exit_of_a_loop_is_a_join_though_it_has_one_predecessor() {
    // Figure 2 of paper 1: A → B → C → S, S → B, S → P.
    let graph = graphs::build(5, vec![(0, 1), (1, 2), (2, 3), (3, 1), (3, 4)]);
    let dfs = DfsOrder::compute(&graph);
    let cycles = CycleForest::compute_with(&graph, &dfs);
    let set = Joins::new(&graph, &dfs, &cycles).of_branch(Node(3));
    assert_eq!(set.joins, [Node(4)]);
    assert_eq!(set.divergent_exits.len(), 1);
}
