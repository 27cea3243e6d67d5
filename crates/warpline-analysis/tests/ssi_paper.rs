//! Paper 4's examples, its Figure 7 taken literally, and its Theorem 3.
//!
//! The figures themselves are not at hand; their programs are reconstructed from the text, which names their labels,
//! splits and versions. `WARPLINE_GRAPHS` is the number of random graphs, `WARPLINE_SEED` the first one's seed.

use std::collections::BTreeSet;

use warpline_analysis::dataflow::{Instruction, Program, ProgramBuilder, TestKind, Variable};
use warpline_analysis::ssi::{
    Counts, Point, SplitSet, Ssi, Strategy, VersionDef, singer_ssi, ssify, ssify_with,
};
use warpline_analysis::{CsrGraph, EdgeId, Graph, Node};
use warpline_testkit::graph_oracles::Dominance;
use warpline_testkit::graphs;
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::ssi_figure::{Figure, Site, out_of, with_entry};

const V: Variable = Variable(0);

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

fn for_each_graph(count: u64, check: impl Fn(&CsrGraph) -> Result<(), String>) {
    let (first, count) = (setting("WARPLINE_SEED", 0), setting("WARPLINE_GRAPHS", count));
    graphs::for_each_seed(first, count, |rng| graphs::arbitrary(rng, 9), |_| {}, |g| check(&with_entry(g)));
}

/// What an instruction of an example does with the variable.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    Define,
    Use,
    Update,
}

use Does::{Define, Update, Use};

/// A program with one variable.
fn example(edges: &[(usize, usize)], blocks: &[&[Does]], tests: &[usize]) -> Program {
    let mut builder = ProgramBuilder::new(graphs::build(blocks.len(), edges.to_vec()), 1);
    for (n, block) in blocks.iter().enumerate() {
        builder.begin(Node::new(n));
        for does in *block {
            let is = |list: &[Does]| list.contains(does).then_some(V);
            builder.instruction(is(&[Use, Update]), is(&[Define, Update]));
        }
    }
    tests.iter().for_each(|&n| builder.test(Node::new(n), V, TestKind::Other));
    builder.build().expect("a well-formed program")
}

fn added(ssi: &Ssi) -> Vec<VersionDef> {
    let all = (0..ssi.versions() as u32).map(|v| ssi.definition(warpline_analysis::ssi::Version(v)));
    let mut added: Vec<VersionDef> = all.filter(|d| *d != VersionDef::Actual).collect();
    added.sort();
    added
}

#[test]
fn class_inference_splits_behind_calls_and_where_they_meet() {
    // Figure 1: l1 defines, l2 branches, l4 (then) uses, l5 and l6 (else) define and use, l7 uses.
    let program =
        example(&[(0, 1), (0, 2), (1, 3), (2, 3)], &[&[Define], &[Use], &[Define, Use], &[Use]], &[]);
    let ssi = ssify(&program, &Strategy::SSU);
    // The paper also has a σ at Out(l2), though the variable is live on one edge only.
    assert_eq!(
        added(&ssi),
        [VersionDef::Phi(Node(3)), VersionDef::Copy(Instruction(1)), VersionDef::Copy(Instruction(3)),]
    );
    // v1, v3 and the added v4, v5, v6.
    assert_eq!(ssi.versions(), 5);
}

#[test]
fn constant_propagation_is_ssa_form() {
    // Figure 2, variable b: l2 defines, the loop at l3 uses, l5 updates.
    let program = example(&[(0, 1), (1, 2), (2, 1), (1, 3)], &[&[Define], &[Use], &[Update], &[]], &[]);
    let ssi = ssify(&program, &Strategy::SSA);
    assert_eq!(added(&ssi), [VersionDef::Phi(Node(1))]);
    assert_eq!(ssi.versions(), 3);
}

#[test]
fn taint_is_split_where_it_is_tested() {
    // Figure 3: l1 and l3, l2 and l4 define and use, l5 tests, l6 and l7 use.
    let program = example(
        &[(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5)],
        &[&[], &[Define, Use], &[Define, Use], &[], &[Use], &[Use]],
        &[3],
    );
    let ssi = ssify(&program, &Strategy::E_SSA);
    assert_eq!(
        added(&ssi),
        [VersionDef::Phi(Node(3)), VersionDef::Sigma(EdgeId(4)), VersionDef::Sigma(EdgeId(5))]
    );
    // v1 … v5 as in the paper.
    assert_eq!(ssi.versions(), 5);
    assert_eq!(ssi.counts(&program), Counts { phis: 1, sigmas: 1, copies: 0 });
}

#[test]
fn null_pointers_are_split_behind_uses() {
    // Figure 4: l1 defines, l2 and l3 use on one of two paths, l4 uses where both meet.
    let program = example(&[(0, 1), (0, 2), (1, 2)], &[&[Define], &[Use, Use], &[Use]], &[]);
    let ssi = ssify(&program, &Strategy::NULL_POINTERS);
    assert_eq!(
        added(&ssi),
        [VersionDef::Phi(Node(2)), VersionDef::Copy(Instruction(1)), VersionDef::Copy(Instruction(2)),]
    );
    // v4 is the meet of v3 and v1.
    let phi = ssi.phis_at(Node(2))[0];
    let operands: Vec<_> = ssi.operands(phi).collect();
    let v3 = ssi.copies_at(Instruction(2))[0];
    assert_eq!(operands, [Some(warpline_analysis::ssi::Version(0)), Some(v3)]);
}

#[test]
fn an_edge_that_dominates_a_loop_needs_no_phi_at_its_header() {
    // if (v) do { use v } while (…): what the test tells holds in the whole loop.
    let program = example(&[(0, 1), (0, 2), (1, 1), (1, 3)], &[&[Define], &[Use], &[Use], &[]], &[0]);
    let ssi = ssify(&program, &Strategy::E_SSA);
    assert_eq!(added(&ssi), [VersionDef::Sigma(EdgeId(0)), VersionDef::Sigma(EdgeId(1))]);
}

#[test]
fn a_use_behind_the_only_exit_of_a_loop_is_told_from_one_that_comes_to_the_definition_first() {
    // Node 1 defines in each round; node 3 uses on the way round, node 2 behind the exit; only that one is a source.
    let program = example(&[(0, 1), (1, 2), (1, 3), (3, 1)], &[&[], &[Define], &[Use], &[Use]], &[]);
    let set = SplitSet { down: Vec::new(), up: vec![Point::At(Instruction(1))] };
    let ssi = ssify_with(&program, |_| set.clone());
    assert_eq!(added(&ssi), [VersionDef::Sigma(EdgeId(1)), VersionDef::Sigma(EdgeId(2))]);
    // The figure's line 9 sees no fork: every path that ends goes through node 2.
    let figure = Figure::of(program.graph());
    assert_eq!(figure.post_frontier([Site::In(Node(2))]), BTreeSet::new());
}

#[test]
fn a_use_behind_a_definition_on_one_of_two_ways_is_told_apart_without_a_loop_too() {
    // One way from node 0 reads and defines again, so what the use in node 3 tells holds on the other way alone.
    let edges = [(0, 1), (0, 2), (1, 3), (2, 3)];
    let program = example(&edges, &[&[Define], &[Use, Define], &[], &[Use]], &[]);
    let set = SplitSet { down: Vec::new(), up: vec![Point::At(Instruction(3))] };
    let ssi = ssify_with(&program, |_| set.clone());
    for edge in [EdgeId(0), EdgeId(1)] {
        assert!(added(&ssi).contains(&VersionDef::Sigma(edge)), "{:?}", added(&ssi));
    }
    // The figure's line 9 sees no fork: the use is on every path.
    let figure = Figure::of(program.graph());
    assert_eq!(figure.post_frontier([Site::In(Node(3))]), BTreeSet::new());
}

#[test]
fn singers_form_has_sigmas_at_branches_between_uses() {
    let edges = [(0, 1), (0, 2), (1, 3), (2, 3)];
    let program = example(&edges, &[&[Define], &[Use], &[Use], &[Use]], &[]);
    let ssi = singer_ssi(&program);
    assert_eq!(ssi.counts(&program), Counts { phis: 1, sigmas: 1, copies: 0 });
}

/// A program over a graph with one variable that is defined on entry and live everywhere: every block has an
/// instruction that stands for it, and one that uses the variable at its end.
fn everywhere(graph: &CsrGraph) -> Program {
    let mut builder = ProgramBuilder::new(graph.clone(), 1);
    builder.on_entry(V);
    for n in graph.nodes() {
        builder.begin(n);
        builder.instruction([], []);
        builder.instruction([V], []);
    }
    builder.build().expect("a well-formed program")
}

/// The instruction that stands for a block.
fn of_block(program: &Program, n: Node) -> Instruction {
    Instruction(program.block(n).start)
}

/// Each reachable node with a chance of one in three.
fn some_nodes(graph: &CsrGraph) -> Vec<Node> {
    let mut rng = SplitMix64::new(graph.edge_count() as u64 * 31 + graph.node_count() as u64);
    let dominance = Dominance::of(graph);
    graph.nodes().filter(|n| dominance.is_reachable(n.index()) && rng.chance(1, 3)).collect()
}

fn phis(ssi: &Ssi, graph: &CsrGraph) -> BTreeSet<Node> {
    graph.nodes().filter(|&n| !ssi.phis_at(n).is_empty()).collect()
}

fn sigmas(ssi: &Ssi, graph: &CsrGraph) -> BTreeSet<Node> {
    let has = |n: &Node| graph.out_edges(*n).iter().any(|&e| !ssi.sigmas_at(e).is_empty());
    graph.nodes().filter(has).collect()
}

fn same(what: &str, ours: &BTreeSet<Node>, figure: &BTreeSet<Node>) -> Result<(), String> {
    if ours == figure { Ok(()) } else { Err(format!("{what}: {ours:?}, by the figure {figure:?}")) }
}

#[test]
fn frontiers_of_edges_are_those_of_nodes_in_their_middle() {
    for_each_graph(3_000, |graph| {
        let program = everywhere(graph);
        let exits = some_nodes(graph);
        let down = exits.iter().map(|&n| Point::Out(n)).collect();
        let set = SplitSet { down, up: Vec::new() };
        let ssi = ssify_with(&program, |_| set.clone());
        let exits = exits.into_iter().collect();
        let figure = Figure::of(graph).frontier(out_of(graph, &exits));
        same("φs", &phis(&ssi, graph), &figure)
    });
}

#[test]
fn post_frontiers_of_edges_are_those_of_nodes_in_their_middle() {
    for_each_graph(3_000, |graph| {
        let dominance = Dominance::of(graph);
        let program = everywhere(graph);
        let joins: Vec<Node> = some_nodes(graph).into_iter().filter(|&n| n != graph.entry()).collect();
        let up = joins.iter().map(|&n| Point::In(n)).collect();
        let set = SplitSet { down: Vec::new(), up };
        let ssi = ssify_with(&program, |_| set.clone());
        let edges = joins.iter().flat_map(|&n| graph.in_edges(n));
        let edges = edges.filter(|&&e| dominance.is_reachable(graph.source(e).index()));
        let mut figure = Figure::of(graph).post_frontier(edges.map(|&e| Site::On(e)));
        figure.retain(|n| dominance.is_reachable(n.index()) && graph.out_edges(*n).len() > 1);
        same("σs", &sigmas(&ssi, graph), &figure)
    });
}

#[test]
fn frontiers_of_backward_sources_are_covered_by_those_of_their_sigmas() {
    for_each_graph(3_000, |graph| {
        let dominance = Dominance::of(graph);
        let figure = Figure::of(graph);
        let sources: Vec<Site> = some_nodes(graph).into_iter().map(Site::In).collect();
        let mut sigmas = figure.post_frontier(sources.iter().copied());
        sigmas.retain(|n| dominance.is_reachable(n.index()));
        // Line 11 as printed, with the definition on entry.
        let printed = figure.frontier(out_of(graph, &sigmas));
        let with_sources = figure.frontier(out_of(graph, &sigmas).chain(sources.iter().copied()));
        same("with I↑ in line 11", &with_sources, &printed)?;
        // What is made: σs at forks only, for which the sources are needed.
        sigmas.retain(|n| graph.out_edges(*n).len() > 1);
        let made = figure.frontier(out_of(graph, &sigmas).chain(sources));
        match made.is_subset(&printed) {
            true => Ok(()),
            false => Err(format!("{made:?} beyond the figure's {printed:?}")),
        }
    });
}

#[test]
fn sigmas_at_forks_alone_do_not_cover_the_frontiers_of_backward_sources() {
    // An infinite loop with a use: the only fork of the figure is a single edge, which leads to the virtual exit too.
    let graph = graphs::build(2, vec![(0, 1), (1, 1)]);
    let figure = Figure::of(&graph);
    let source = Site::In(Node(1));
    assert_eq!(figure.post_frontier([source]), BTreeSet::from([Node(1)]));
    assert_eq!(graph.out_edges(Node(1)).len(), 1);
    assert_eq!(figure.frontier([source]), BTreeSet::from([Node(1)]));
}

/// A node of a sparse evaluation graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Seg {
    Start,
    Meet(Node),
    Transfer(Node),
}

/// A sparse evaluation graph: its edges, and the node that each edge of the program is mapped to.
#[derive(PartialEq, Debug)]
struct SparseEvaluationGraph {
    nodes: BTreeSet<Seg>,
    edges: BTreeSet<(Seg, Seg)>,
    map: BTreeSet<(EdgeId, Seg)>,
}

/// Choi et al.'s graph for the blocks `p` with transfer functions, by the definition in paper 4, Appendix A. A block
/// that is both a meet and has a transfer function is a node for each, the meet first.
fn by_definition(graph: &CsrGraph, p: &[Node]) -> SparseEvaluationGraph {
    let dominance = Dominance::of(graph);
    let reached = |n: Node| dominance.is_reachable(n.index());
    let meets = Figure::of(graph).frontier(p.iter().map(|&n| Site::In(n)));
    let at_entry = |n: Node| meets.contains(&n).then_some(Seg::Meet(n));
    let transfer = |n: Node| p.contains(&n).then_some(Seg::Transfer(n));
    // The immediate dominator of the end of a block, or of the place before its transfer function, among all nodes of
    // the graph.
    let above = |n: Node| {
        let mut at = n;
        loop {
            match dominance.idom(at.index()) {
                None => return Seg::Start,
                Some(up) => at = Node::new(up),
            }
            if let Some(found) = transfer(at).or(at_entry(at)) {
                return found;
            }
        }
    };
    let before = |n: Node| at_entry(n).unwrap_or_else(|| above(n));
    let behind = |n: Node| transfer(n).unwrap_or_else(|| before(n));
    let mut seg = SparseEvaluationGraph {
        nodes: BTreeSet::from([Seg::Start]),
        edges: BTreeSet::new(),
        map: BTreeSet::new(),
    };
    for &m in &meets {
        seg.nodes.insert(Seg::Meet(m));
        for q in graph.predecessors(m).filter(|&q| reached(q)) {
            seg.edges.insert((behind(q), Seg::Meet(m)));
        }
    }
    for &n in p {
        seg.nodes.insert(Seg::Transfer(n));
        seg.edges.insert((before(n), Seg::Transfer(n)));
    }
    seg.map.extend(graph.edges().filter(|&e| reached(graph.source(e))).map(|e| (e, behind(graph.source(e)))));
    seg
}

/// The split live range as such a graph: versions are nodes, what they read are edges.
fn by_splitting(graph: &CsrGraph, p: &[Node]) -> SparseEvaluationGraph {
    let program = everywhere(graph);
    let down: Vec<Point> = p.iter().map(|&n| Point::At(of_block(&program, n))).collect();
    let set = SplitSet { down, up: Vec::new() };
    let ssi = ssify_with(&program, |_| set.clone());
    let node = |v| match ssi.definition(v) {
        VersionDef::Actual => Seg::Start,
        VersionDef::Phi(n) => Seg::Meet(n),
        VersionDef::Copy(at) => Seg::Transfer(program.block_of(at)),
        VersionDef::Sigma(e) => panic!("a σ on {e} for a forward problem"),
    };
    let versions = (0..ssi.versions() as u32).map(warpline_analysis::ssi::Version);
    let dominance = Dominance::of(graph);
    let at_end = |n: Node| {
        let last = Instruction(program.block(n).end - 1);
        ssi.used(program.use_slots(last).start).expect("the variable holds something everywhere")
    };
    let from = graph.edges().filter(|&e| dominance.is_reachable(graph.source(e).index()));
    SparseEvaluationGraph {
        nodes: versions.clone().map(node).collect(),
        edges: versions
            .flat_map(|v| ssi.operands(v).flatten().map(move |o| (o, v)).collect::<Vec<_>>())
            .map(|(o, v)| (node(o), node(v)))
            .collect(),
        map: from.map(|e| (e, node(at_end(graph.source(e))))).collect(),
    }
}

#[test]
fn splitting_for_a_partitioned_variable_problem_is_isomorphic_to_the_sparse_evaluation_graph() {
    // Theorem 3.
    for_each_graph(3_000, |graph| {
        let mut p = some_nodes(graph);
        p.retain(|&n| n != graph.entry());
        let (ours, theirs) = (by_splitting(graph, &p), by_definition(graph, &p));
        if ours == theirs { Ok(()) } else { Err(format!("{p:?}: {ours:?}\nby definition {theirs:?}")) }
    });
}

#[test]
fn reaching_uses_have_the_sparse_evaluation_graph_of_choi_et_al() {
    // Figure 14 after Figure 11 of Choi et al. Only the nodes with transfer functions, {S, 4, 5, 7, 11, 12}, are in
    // the text; the flow between them is made up: two branches and a loop.
    let edges = [
        (0, 1),
        (1, 2),
        (1, 3),
        (2, 4),
        (3, 5),
        (4, 6),
        (5, 6),
        (6, 7),
        (6, 8),
        (7, 9),
        (8, 9),
        (9, 10),
        (10, 11),
        (11, 10),
        (10, 12),
    ];
    let graph = graphs::build(13, edges.to_vec());
    let p = [4, 5, 7, 11, 12].map(Node);
    let seg = by_splitting(&graph, &p);
    let (start, meet, transfer) = (Seg::Start, |n| Seg::Meet(Node(n)), |n| Seg::Transfer(Node(n)));
    let expected = [
        (start, transfer(4)),
        (start, transfer(5)),
        (transfer(4), meet(6)),
        (transfer(5), meet(6)),
        (meet(6), transfer(7)),
        (transfer(7), meet(9)),
        (meet(6), meet(9)),
        (meet(9), meet(10)),
        (transfer(11), meet(10)),
        (meet(10), transfer(11)),
        (meet(10), transfer(12)),
    ];
    assert_eq!(seg.edges, BTreeSet::from(expected));
    assert_eq!(seg, by_definition(&graph, &p));
}
