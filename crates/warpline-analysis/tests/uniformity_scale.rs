//! Large programs: nothing recurses, and nothing takes time or memory out of proportion.

use std::time::Instant;

use warpline_analysis::Graph;
use warpline_analysis::uniformity::{Algorithm, Rule, SsaProgram, Uniformity};
use warpline_analysis::{CsrGraph, Node};
use warpline_testkit::scaling::SHAPES;

/// Prints how long each shape takes; run it with `--release --nocapture` to see.
#[test]
fn every_shape_of_thousands_of_nodes_is_analysed() {
    for (name, make) in SHAPES {
        let scaled = make(1_000);
        let begin = Instant::now();
        let uniformity = Uniformity::compute(&scaled.graph, &scaled.program);
        println!(
            "{name}: {} nodes, {} divergent values, {} divergent branches, {:?}",
            scaled.graph.node_count(),
            uniformity.divergent_values().count(),
            uniformity.divergent_branches().count(),
            begin.elapsed()
        );
        assert!(uniformity.divergent_values().count() > 1, "{name}");
    }
}

#[test]
fn a_ladder_a_nest_of_ifs_and_a_nest_of_loops_of_a_hundred_thousand_nodes() {
    let size = [("nested ifs", 33_333), ("ladder", 100_000), ("loop nest", 50_000)];
    for (name, n) in size {
        let (_, make) = SHAPES.into_iter().find(|(known, _)| *known == name).expect("a known shape");
        let scaled = make(n);
        assert!(scaled.graph.node_count() >= 100_000);
        let uniformity = Uniformity::compute(&scaled.graph, &scaled.program);
        assert!(uniformity.divergent_branches().count() * 3 >= n, "{name}");
    }
}

#[test]
fn thousands_of_cycles_inside_an_irreducible_one_are_given_up_one_by_one() {
    // Each of d → p, r; p → q; q → r, s; r → s; s → p and on; threads part at each q. Around them all is a cycle with
    // entries 1 and 2.
    let count = 4_000;
    let first = |i: usize| 3 + 5 * i;
    let last = first(count);
    let outer = [(0, 1), (0, 2), (1, 2), (2, 3), (last, 1), (last, last + 1)];
    let inner = (0..count).map(first).flat_map(|d| {
        let [p, q, r, s] = [1, 2, 3, 4].map(|k| d + k);
        [(d, p), (d, r), (p, q), (q, r), (q, s), (r, s), (s, p), (s, d + 5)]
    });
    let edges = outer.into_iter().chain(inner).map(|(s, t)| (Node::new(s), Node::new(t)));
    let graph = CsrGraph::new(last + 2, Node(0), edges).expect("edges are between its nodes");
    let mut builder = SsaProgram::builder();
    let lane = builder.argument(Rule::Source);
    for q in (0..count).map(|i| first(i) + 2) {
        builder.terminator(Node::new(q), [lane]);
    }
    let program = builder.build(&graph).expect("values and nodes exist");
    let uniformity = Uniformity::compute(&graph, &program);
    let kept = |n: Node| n.index() < 3 || n.index() >= last || (n.index() - 3).is_multiple_of(5);
    assert!(graph.nodes().all(|n| uniformity.is_m_converged(n) == kept(n)));
}

/// How many steps the walks take on a graph every `spare`-th node of which branches on the thread, from the entry on,
/// and how large it is.
fn steps(nodes: usize, edges: impl Iterator<Item = (usize, usize)>, spare: usize) -> (usize, usize) {
    let edges: Vec<_> = edges.map(|(s, t)| (Node::new(s), Node::new(t))).collect();
    let graph = CsrGraph::new(nodes, Node(0), edges).expect("edges are between its nodes");
    let mut builder = SsaProgram::builder();
    let lane = builder.argument(Rule::Source);
    for n in graph.nodes().filter(|n| n.index() % spare == 0) {
        builder.terminator(n, [lane]);
    }
    let program = builder.build(&graph).expect("values and nodes exist");
    let (_, times) = Uniformity::compute_timed(&graph, &program, Algorithm::Joins);
    (times.steps, nodes + graph.edge_count())
}

#[test]
fn walks_to_joins_do_not_outgrow_loops_with_many_exits_and_long_runs_of_jumps_ahead() {
    for n in [500, 4_000] {
        // A loop, each node of which can leave it: to one place, and each to a place of its own.
        let chain = || (0..n).map(move |i| (i, (i + 1) % n));
        let early = steps(n + 1, chain().chain((0..n).map(|i| (i, n))), 2);
        let own = (0..n).flat_map(|i| [(i, n + i), (n + i, 2 * n)]);
        let own = steps(2 * n + 1, chain().chain(own), 2);
        // A chain, each node of which can jump to some node of another chain behind it.
        let chains = (1..2 * n).map(|i| (i - 1, i));
        let ahead = steps(2 * n, chains.chain((0..n).map(|i| (i, n + i))), 2);
        for (name, (steps, size)) in [("early", early), ("own", own), ("ahead", ahead)] {
            assert!(steps > 0 && steps < 12 * size + 1024, "{name}: {steps} steps, {size} nodes and edges");
        }
    }
}
