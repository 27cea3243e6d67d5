//! Large graphs of shapes that break recursion or invite quadratic work.

use warpline_analysis::{
    CsrGraph, CycleForest, DfsOrder, DomTree, Graph, IteratedFrontier, Node, Reversed, Sccs,
};
use warpline_testkit::graphs;

const N: usize = 100_000;

fn analyse(graph: &CsrGraph) -> (DomTree, CycleForest) {
    let dfs = DfsOrder::compute(graph);
    assert_eq!(dfs.reachable_count(), graph.node_count());
    let sccs = Sccs::compute(graph);
    assert!(!sccs.is_empty());
    let post = DomTree::compute(&Reversed::new(graph));
    assert!(graph.nodes().all(|n| post.is_reachable(n)));
    let dom = DomTree::compute_with(graph, &dfs);
    let mut frontier = IteratedFrontier::new(graph, &dom);
    frontier.compute(graph.nodes());
    (dom, CycleForest::compute_with(graph, &dfs))
}

#[test]
fn a_chain_of_a_hundred_thousand_nodes() {
    let (dom, cycles) = analyse(&graphs::build(N, (1..N).map(|i| (i - 1, i)).collect()));
    assert_eq!(dom.level(Node::new(N - 1)), N as u32 - 1);
    assert!(cycles.is_empty());
}

#[test]
fn a_ladder_of_early_exits() {
    let mut edges: Vec<_> = (1..N).map(|i| (i - 1, i)).collect();
    edges.extend((0..N - 2).map(|i| (i, N - 1)));
    let (dom, _) = analyse(&graphs::build(N, edges));
    assert_eq!(dom.idom(Node::new(N - 1)), Some(Node(0)));
}

#[test]
fn many_leaves_at_the_foot_of_a_chain_that_its_top_enters_too() {
    let half = N / 2;
    let mut edges: Vec<_> = (1..half).map(|i| (i - 1, i)).collect();
    for leaf in half..N {
        edges.push((half - 1, leaf));
        edges.push((1, leaf));
    }
    let (dom, _) = analyse(&graphs::build(N, edges));
    assert!((half..N).all(|leaf| dom.idom(Node::new(leaf)) == Some(Node(1))));
}

#[test]
fn a_nest_of_fifty_thousand_loops() {
    // Headers 0, 1, … go down, latches come back up.
    let half = N / 2;
    let mut edges: Vec<_> = (1..N).map(|i| (i - 1, i)).collect();
    edges.extend((0..half).map(|i| (N - 1 - i, i)));
    let (_, cycles) = analyse(&graphs::build(N, edges));
    assert_eq!(cycles.len(), half);
    assert_eq!(cycles.node_depth(Node::new(half)), half as u32);
    assert!(cycles.cycles().all(|c| cycles.is_reducible(c)));
}
