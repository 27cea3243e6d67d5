//! Where φ-functions are needed, and where variables are live, from the definitions (paper 5, Section 2).

use warpline_analysis::Graph;

use crate::disjoint::two_disjoint_paths;
use crate::graph_oracles::reachable;
use crate::graphs::edge_list;

/// The sets J⁰(*S*), J¹(*S*), … up to the first that is equal to its predecessor, each in increasing order; *S* holds
/// the nodes of `definitions` that the entry reaches, and a virtual node before the entry if `on_entry` holds.
pub fn iterated_join_sets<G: Graph>(graph: &G, definitions: &[usize], on_entry: bool) -> Vec<Vec<usize>> {
    let virtual_node = graph.node_count();
    let mut edges = edge_list(graph);
    edges.push((virtual_node, graph.entry().index()));
    let reached = reachable(graph, graph.entry().index(), |_| false);
    let mut set: Vec<usize> = definitions.iter().copied().filter(|&d| reached[d]).collect();
    set.extend(on_entry.then_some(virtual_node));
    let mut sets: Vec<Vec<usize>> = Vec::new();
    loop {
        let phis = sets.last().cloned().unwrap_or_default();
        let sources: Vec<usize> =
            (0..=virtual_node).filter(|n| set.contains(n) || phis.contains(n)).collect();
        let next = join_set(virtual_node + 1, &edges, &sources);
        let last = sets.last() == Some(&next);
        sets.push(next);
        if last {
            return sets;
        }
    }
}

/// The nodes at which two nontrivial paths from different nodes of `sources` converge. A path that ends at a node may
/// also begin there; so the end is a copy of the node with its in-edges only.
fn join_set(nodes: usize, edges: &[(usize, usize)], sources: &[usize]) -> Vec<usize> {
    let converge = |&m: &usize| {
        let mut with_end = edges.to_vec();
        with_end.extend(edges.iter().filter(|e| e.1 == m).map(|&(p, _)| (p, nodes)));
        two_disjoint_paths(nodes + 1, &with_end, sources, (nodes, nodes))
    };
    (0..nodes).filter(converge).collect()
}

/// The nodes at whose beginning a variable is live: a path leads from there to a node of `exposed` on which no node
/// before the last one is in `definitions`. In increasing order.
pub fn live_nodes<G: Graph>(graph: &G, definitions: &[usize], exposed: &[usize]) -> Vec<usize> {
    let successors = |n: usize| edge_list(graph).into_iter().filter(move |e| e.0 == n).map(|e| e.1);
    let is_live = |&n: &usize| {
        let mut seen = vec![n];
        let mut at = 0;
        while at < seen.len() {
            if exposed.contains(&seen[at]) {
                return true;
            }
            if !definitions.contains(&seen[at]) {
                for t in successors(seen[at]) {
                    if !seen.contains(&t) {
                        seen.push(t);
                    }
                }
            }
            at += 1;
        }
        false
    };
    (0..graph.node_count()).filter(is_live).collect()
}
