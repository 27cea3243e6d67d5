//! Random and enumerated control-flow graphs.

use warpline_analysis::{CsrGraph, Graph, Node};

use crate::graph_oracles::Dominance;
use crate::rng::SplitMix64;

/// Every graph with `nodes` nodes, entry 0 and no parallel edges: 2^(nodes²) of them.
pub fn all_simple(nodes: usize) -> impl Iterator<Item = CsrGraph> {
    assert!(nodes * nodes < 32, "too many graphs to enumerate");
    (0..1u32 << (nodes * nodes)).map(move |bits| simple(nodes, bits))
}

/// The graph without parallel edges whose adjacency matrix is `bits`, row by row.
pub fn simple(nodes: usize, bits: u32) -> CsrGraph {
    let pairs = (0..nodes * nodes).filter(|i| bits >> i & 1 != 0);
    build(nodes, pairs.map(|i| (i / nodes, i % nodes)).collect())
}

/// A graph with the given edges and entry 0.
pub fn build(nodes: usize, edges: Vec<(usize, usize)>) -> CsrGraph {
    CsrGraph::new(nodes, Node(0), edges.into_iter().map(|(s, t)| (Node::new(s), Node::new(t))))
        .expect("edges were drawn between existing nodes")
}

/// Any graph with 1 to `max_nodes` nodes: parallel edges, self loops, unreachable nodes, and mostly
/// irreducible cycles.
pub fn arbitrary(rng: &mut SplitMix64, max_nodes: usize) -> CsrGraph {
    let nodes = rng.between(1, max_nodes);
    let edges = rng.below(nodes * 5 / 2 + 2);
    let mut list: Vec<(usize, usize)> = (0..edges).map(|_| (rng.below(nodes), rng.below(nodes))).collect();
    if rng.chance(3, 4) {
        // A random tree makes every node reachable.
        list.extend((1..nodes).map(|n| (rng.below(n), n)));
    }
    if !list.is_empty() && rng.chance(1, 4) {
        list.push(*rng.pick(&list));
    }
    rng.shuffle(&mut list);
    build(nodes, list)
}

/// A reducible graph with 1 to `max_nodes` nodes, all reachable: a random acyclic graph with back edges to
/// dominators of their sources. Every reducible graph without unreachable nodes can come out.
pub fn reducible(rng: &mut SplitMix64, max_nodes: usize) -> CsrGraph {
    let nodes = rng.between(1, max_nodes);
    // Short edges make deep structure, long ones make jumps.
    let reach = *rng.pick(&[2, 3, nodes.max(2)]);
    let mut list: Vec<(usize, usize)> =
        (1..nodes).map(|n| (rng.between(n.saturating_sub(reach), n - 1), n)).collect();
    for _ in 0..rng.below(nodes + 1) {
        let from = rng.below(nodes);
        let to = rng.between(from, (from + reach).min(nodes - 1));
        if from < to {
            list.push((from, to));
        }
    }
    let dominance = Dominance::of(&build(nodes, list.clone()));
    for _ in 0..rng.below(nodes / 2 + 2) {
        let from = rng.below(nodes);
        let heads: Vec<usize> = (0..nodes).filter(|&h| dominance.dominates(h, from)).collect();
        list.push((from, *rng.pick(&heads)));
    }
    if !list.is_empty() && rng.chance(1, 4) {
        list.push(*rng.pick(&list));
    }
    rng.shuffle(&mut list);
    build(nodes, list)
}

/// The edges of a graph, as pairs of node numbers.
pub fn edge_list<G: Graph>(graph: &G) -> Vec<(usize, usize)> {
    graph.edges().map(|e| (graph.source(e).index(), graph.target(e).index())).collect()
}

/// Takes away edges as long as `check` still fails, so that a failure is easy to read. Returns the smallest
/// failing graph found and its message; `graph` must fail.
pub fn shrink(
    graph: &CsrGraph,
    message: String,
    check: impl Fn(&CsrGraph) -> Result<(), String>,
) -> (CsrGraph, String) {
    let mut best = (graph.clone(), message);
    let mut at = 0;
    while at < best.0.edge_count() {
        let mut edges = edge_list(&best.0);
        edges.remove(at);
        let smaller = build(best.0.node_count(), edges);
        match check(&smaller) {
            Err(message) => {
                best = (smaller, message);
                at = 0;
            }
            Ok(()) => at += 1,
        }
    }
    best
}

/// Runs `check` on graph number 0, 1, … of `count` that `generate` makes from a seed; panics with the seed and
/// a shrunk graph at the first that fails.
pub fn for_each_seed(
    first_seed: u64,
    count: u64,
    generate: impl Fn(&mut SplitMix64) -> CsrGraph,
    mut observe: impl FnMut(&CsrGraph),
    check: impl Fn(&CsrGraph) -> Result<(), String>,
) {
    for seed in first_seed..first_seed + count {
        let graph = generate(&mut SplitMix64::new(seed));
        observe(&graph);
        if let Err(message) = check(&graph) {
            let (small, message) = shrink(&graph, message, &check);
            panic!("seed {seed}: {message}\n{} nodes, edges {:?}", small.node_count(), edge_list(&small));
        }
    }
}
