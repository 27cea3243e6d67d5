//! Dominance frontiers, single and iterated, without storing a frontier for every node.
//!
//! The iterated frontier is computed as Sreedhar and Gao do: nodes are taken from the deepest dominator-tree
//! level upwards; from each, the part of its subtree that no earlier one has walked is searched for edges to
//! nodes that are not deeper than it. A query costs no more than the union of the subtrees that it walks.

use crate::bitset::BitSet;
use crate::dom::DomTree;
use crate::graph::{Graph, Node};

/// The dominance frontier of `node`: the targets of edges that leave the region it dominates, where `node`
/// itself, and so the entry, counts as outside. In increasing order; empty if `node` is unreachable.
pub fn dominance_frontier<G: Graph>(graph: &G, dom: &DomTree, node: Node) -> Vec<Node> {
    let mut frontier: Vec<Node> = dom
        .subtree(node)
        .iter()
        .flat_map(|&n| graph.successors(n))
        .filter(|&t| !dom.strictly_dominates(node, t))
        .collect();
    frontier.sort_unstable();
    frontier.dedup();
    frontier
}

/// Computes iterated dominance frontiers; keeps its tables between queries.
pub struct IteratedFrontier<'a, G> {
    graph: &'a G,
    dom: &'a DomTree,
    walked: BitSet,
    found: BitSet,
    queued: BitSet,
    by_level: Vec<Vec<Node>>,
}

impl<'a, G: Graph> IteratedFrontier<'a, G> {
    /// Prepares queries on `graph`, whose dominator tree is `dom`.
    pub fn new(graph: &'a G, dom: &'a DomTree) -> Self {
        let n = graph.node_count();
        let levels = dom.pre_order().iter().map(|&v| dom.level(v) as usize + 1).max().unwrap_or(0);
        IteratedFrontier {
            graph,
            dom,
            walked: BitSet::new(n),
            found: BitSet::new(n),
            queued: BitSet::new(n),
            by_level: vec![Vec::new(); levels],
        }
    }

    /// The iterated dominance frontier of `definitions`, in increasing order. Unreachable nodes are passed
    /// over.
    pub fn compute(&mut self, definitions: impl IntoIterator<Item = Node>) -> Vec<Node> {
        self.compute_where(definitions, |_| true)
    }

    /// The same, except that a node for which `keep` is false is left out and is no definition either. With
    /// liveness at the start of a node as `keep` this is pruned placement.
    pub fn compute_where(
        &mut self,
        definitions: impl IntoIterator<Item = Node>,
        mut keep: impl FnMut(Node) -> bool,
    ) -> Vec<Node> {
        let (graph, dom) = (self.graph, self.dom);
        let mut deepest = 0;
        for n in definitions {
            if dom.is_reachable(n) && self.queued.insert(n.index()) {
                deepest = deepest.max(dom.level(n) as usize);
                self.by_level[dom.level(n) as usize].push(n);
            }
        }
        let mut result = Vec::new();
        let mut touched = Vec::new();
        let mut subtree = Vec::new();
        for level in (0..=deepest.min(self.by_level.len().saturating_sub(1))).rev() {
            while let Some(root) = self.by_level[level].pop() {
                touched.push(root);
                if self.walked.insert(root.index()) {
                    subtree.push(root);
                }
                while let Some(n) = subtree.pop() {
                    touched.push(n);
                    for t in graph.successors(n) {
                        if dom.level(t) as usize > level || !self.found.insert(t.index()) {
                            continue;
                        }
                        touched.push(t);
                        if keep(t) {
                            result.push(t);
                            if self.queued.insert(t.index()) {
                                self.by_level[dom.level(t) as usize].push(t);
                            }
                        }
                    }
                    for &c in dom.children(n) {
                        if self.walked.insert(c.index()) {
                            subtree.push(c);
                        }
                    }
                }
            }
        }
        for n in touched {
            self.walked.remove(n.index());
            self.found.remove(n.index());
            self.queued.remove(n.index());
        }
        result.sort_unstable();
        result
    }
}
