//! The examples of paper 5: Fig. 3, Fig. 4 with Table 1, and Fig. 5 with Examples 2 and 3.
//!
//! The drawings are rebuilt: from the prose of Section 3 the skeletons of Fig. 3, and from Table 1 the graph of Fig. 4.

use warpline_analysis::phi_placement::dominance_frontiers::{cytron, sreedhar_gao};
use warpline_analysis::phi_placement::reaching_definitions::{
    Case,
    Definition::{self, Abstract, Concrete},
    Trace, place,
};
use warpline_analysis::phi_placement::{Accesses, Dominators, Placement, Pruning};
use warpline_analysis::{CsrGraph, Graph, Node};
use warpline_testkit::graphs;

/// Accesses to one variable, by the nodes that write and read it.
fn accesses(graph: &CsrGraph, definitions: &[usize], exposed: &[usize], on_entry: bool) -> Accesses {
    let pairs = |list: &[usize]| list.iter().map(|&n| (0, Node::new(n))).collect::<Vec<_>>();
    let (definitions, exposed) = (pairs(definitions).into_iter(), pairs(exposed).into_iter());
    Accesses::new(graph.node_count(), 1, definitions, exposed, on_entry.then_some(0))
        .expect("nodes of the graph")
}

fn nodes(placement: &Placement) -> Vec<usize> {
    placement.of(0).iter().map(|n| n.index()).collect()
}

/// Where reaching definitions and dominance frontiers put φs, all of them and where the variable is live.
fn placed(graph: &CsrGraph, definitions: &[usize], exposed: &[usize]) -> [Vec<usize>; 3] {
    let accesses = accesses(graph, definitions, exposed, false);
    let dominators = Dominators::of(graph);
    let frontiers = |pruning| {
        let placement = cytron(&dominators, &accesses, pruning);
        assert_eq!(placement, sreedhar_gao(&dominators, &accesses, pruning));
        nodes(&placement)
    };
    [nodes(&place(graph, &accesses)), frontiers(Pruning::Minimal), frontiers(Pruning::Pruned)]
}

/// Fig. 3 (a), nodes 0 to 6 and the entry as node 7: cycles 0 1 2 3 0, 2 4 6 2 and 2 4 5 6 2.
fn figure_3a() -> CsrGraph {
    let cycles = [(0, 1), (1, 2), (2, 3), (3, 0), (2, 4), (4, 6), (6, 2), (4, 5), (5, 6)];
    let edges = cycles.into_iter().chain([(7, 0)]).map(|(s, t)| (Node::new(s), Node::new(t)));
    CsrGraph::new(8, Node(7), edges).expect("nodes exist")
}

/// `ix` is written by nodes 1 and 3 and live in the body of the loop only.
#[test]
fn figure_3a_the_variable_of_the_loop_body_needs_no_phi_at_the_header() {
    let [precise, frontiers, pruned] = placed(&figure_3a(), &[1, 3], &[2, 3]);
    assert_eq!(precise, []);
    assert_eq!(frontiers, [0]);
    assert_eq!(pruned, [], "liveness removes it");
}

/// `i`, `cx.n` and `si.n` are written by node 5, and live there only.
#[test]
fn figure_3a_variables_of_an_inner_branch_need_no_phi_behind_it() {
    let [precise, frontiers, pruned] = placed(&figure_3a(), &[5], &[]);
    assert_eq!(precise, []);
    assert!([2, 6].iter().all(|n| frontiers.contains(n)), "{frontiers:?}");
    assert_eq!(pruned, [], "liveness removes them");
}

/// Fig. 3 (b): `sv` is declared in node 0, written in nodes 1 and 5, and returned by node 6. The prose says that its
/// value in node 1 and the assumed one on entry meet at nodes 2, 3 and 4, and that it is live everywhere. So there
/// are ways round each of these nodes' predecessors, and one from node 4 to node 6 past node 5.
#[test]
fn figure_3b_live_phis_that_merge_a_definition_with_nothing() {
    let edges = [(0, 1), (0, 2), (1, 6), (1, 2), (2, 3), (0, 3), (3, 4), (0, 4), (4, 5), (5, 6), (4, 6)];
    let graph = graphs::build(7, edges.to_vec());
    let [precise, frontiers, pruned] = placed(&graph, &[1, 5], &[6]);
    assert_eq!(precise, [6]);
    assert_eq!(frontiers, [2, 3, 4, 6]);
    assert_eq!(pruned, [2, 3, 4, 6], "liveness removes nothing");
}

/// Fig. 4, with the variable written by nodes 0, 6 and 10. Node 0 is the paper's entry, which holds nothing but the
/// definitions on entry; here it is the virtual node.
fn figure_4() -> (CsrGraph, Accesses) {
    let edges = [
        (1, 2),
        (2, 3),
        (3, 4),
        (4, 5),
        (5, 3),
        (4, 12),
        (5, 6),
        (6, 7),
        (7, 8),
        (8, 9),
        (9, 10),
        (10, 7),
        (8, 11),
        (11, 2),
        (9, 12),
    ];
    let edges = edges.into_iter().map(|(s, t)| (Node::new(s), Node::new(t)));
    let graph = CsrGraph::new(13, Node(1), edges).expect("nodes exist");
    let accesses = accesses(&graph, &[6, 10], &[3, 7, 12], true);
    (graph, accesses)
}

/// The paper's name of a definition in Fig. 4: `7` or `7u`; the virtual node is 0.
fn name(definition: Definition) -> String {
    let number = |n: Node| n.index() % 13;
    match definition {
        Concrete(n) => number(n).to_string(),
        Abstract(n) => format!("{}u", number(n)),
    }
}

fn names(mut definitions: Vec<Definition>) -> String {
    definitions.sort_by_key(|d| d.node().index() % 13);
    definitions.into_iter().map(name).collect::<Vec<_>>().join(" ")
}

#[test]
fn table_1_reaching_definitions_of_figure_4() {
    let (graph, accesses) = figure_4();
    let trace = Trace::new(&graph, &accesses, 0);
    use Case::{Defines, Open, Passes};
    let rows = [
        (0, "", "0", Defines),
        (1, "0", "0", Passes),
        (2, "0 7u", "2u", Open),
        (3, "2u 3u", "3u", Open),
        (4, "3u", "3u", Passes),
        (5, "3u", "3u", Passes),
        (6, "3u", "6", Defines),
        (7, "6 10", "7u", Open),
        (8, "7u", "7u", Passes),
        (9, "7u", "7u", Passes),
        (11, "7u", "7u", Passes),
        (10, "7u", "10", Defines),
        (12, "3u 7u", "12u", Open),
    ];
    for (number, before, after, case) in rows {
        let node = if number == 0 { trace.virtual_entry() } else { Node(number) };
        let found =
            (names(trace.before(node)), names(trace.after(node).into_iter().collect()), trace.case(node));
        assert_eq!(found, (before.to_string(), after.to_string(), case), "row {number}");
    }
}

#[test]
fn figure_5_the_graph_for_node_12_and_the_first_flow() {
    let (graph, accesses) = figure_4();
    let found = Trace::new(&graph, &accesses, 0).concretize(Node(12));
    let mut edges: Vec<String> =
        found.edges.iter().map(|&(p, n)| format!("{} -> {}", name(p), name(n))).collect();
    edges.sort();
    let wanted =
        ["0 -> 2u", "10 -> 7u", "2u -> 3u", "3u -> 12u", "3u -> 3u", "6 -> 7u", "7u -> 12u", "7u -> 2u"];
    assert_eq!(edges, wanted);
    let mut sigma: Vec<String> = found.rounds[0]
        .sigma
        .iter()
        .map(|(n, set)| format!("{}: {}", name(*n), names(set.clone())))
        .collect();
    sigma.sort();
    let wanted = ["0: 0", "10: 10", "12u: 0 6 10", "2u: 0 6 10", "3u: 0 6 10", "6: 6", "7u: 6 10"];
    assert_eq!(sigma, wanted);
}

#[test]
fn example_3_nodes_2_and_7_come_first_and_node_3_gets_no_phi() {
    let (graph, accesses) = figure_4();
    let found = Trace::new(&graph, &accesses, 0).concretize(Node(12));
    let phis: Vec<String> = found.rounds.iter().map(|r| names(r.phis.clone())).collect();
    assert_eq!(phis, ["2u 7u", "12u", ""]);
    let in_round_2 = &found.rounds[1].sigma;
    let (_, of_3) = in_round_2.iter().find(|(n, _)| *n == Abstract(Node(3))).expect("a node of the graph");
    assert_eq!(of_3, &[Concrete(Node(2))]);
    assert_eq!(nodes(&place(&graph, &accesses)), [2, 7, 12]);
}
