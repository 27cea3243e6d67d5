//! Control dependence (Ferrante, Ottenstein, Warren 1987) and its transitive closure.

use std::collections::BTreeSet;

use warpline_analysis::dom::DomTree;
use warpline_analysis::graph::{EdgeId, Graph, Node, Reversed};

/// Which branches a node depends on.
pub(super) struct ControlDependence<'a, G> {
    graph: &'a G,
    direct: Vec<BTreeSet<Node>>,
}

impl<'a, G: Graph> ControlDependence<'a, G> {
    /// A node depends on a branch if it post-dominates a successor and does not strictly post-dominate the branch.
    pub(super) fn of(graph: &'a G) -> Self {
        let tree = DomTree::compute(&Reversed::new(graph));
        let mut direct = vec![BTreeSet::new(); graph.node_count()];
        for branch in graph.nodes().filter(|&n| graph.out_edges(n).len() > 1) {
            let end = tree.idom(branch);
            for successor in graph.successors(branch) {
                let upwards = std::iter::successors(Some(successor), |&n| tree.idom(n));
                for n in { upwards }.take_while(|&n| Some(n) != end && n.index() < graph.node_count()) {
                    direct[n.index()].insert(branch);
                }
            }
        }
        ControlDependence { graph, direct }
    }

    /// The branches that a node depends on, directly or through other branches.
    pub(super) fn of_node(&self, node: Node) -> BTreeSet<Node> {
        let mut found = BTreeSet::new();
        let mut work = vec![node];
        while let Some(n) = work.pop() {
            work.extend(self.direct[n.index()].iter().copied().filter(|&b| found.insert(b)));
        }
        found
    }

    /// The branches that an assignment on an edge depends on: its source, if that is a branch, and what that depends
    /// on.
    pub(super) fn of_edge(&self, edge: EdgeId) -> BTreeSet<Node> {
        let source = self.graph.source(edge);
        let mut found = self.of_node(source);
        if self.graph.out_edges(source).len() > 1 {
            found.insert(source);
        }
        found
    }

    /// What the assignments on all edges into a node depend on.
    pub(super) fn of_arrivals(&self, join: Node) -> BTreeSet<Node> {
        self.graph.in_edges(join).flat_map(|e| self.of_edge(e)).collect()
    }
}
