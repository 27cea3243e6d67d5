//! Dominance frontiers, single and iterated, without storing a frontier for every node.
//!
//! The iterated frontier is computed as Sreedhar and Gao do: nodes are taken from the deepest dominator-tree
//! level upwards; from each, the part of its subtree that no earlier one has walked is searched for edges to
//! nodes that are not deeper than it. Subtrees with no such edge are passed over, which one number per node tells. A
//! query costs no more than the union of the subtrees that it walks.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::mem;

use crate::dom::DomTree;
use crate::graph::{Graph, Node};

/// The dominance frontier of `node`: the targets of edges that leave the region it dominates, where `node`
/// itself, and so the entry, counts as outside. In increasing order; empty if `node` is unreachable.
/// Linear in the graph and the result, which can be quadratic.
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

/// Some bits for each node.
struct Marks(Vec<u8>);

impl Marks {
    const WALKED: u8 = 1;
    const FOUND: u8 = 2;
    const QUEUED: u8 = 4;
    /// A definition stands before the node, so that edges back to it lead nowhere new.
    const BEFORE: u8 = 8;

    /// Sets one; says whether it is new.
    #[inline]
    fn set(&mut self, node: Node, mark: u8) -> bool {
        let marks = &mut self.0[node.index()];
        let new = *marks & mark == 0;
        *marks |= mark;
        new
    }

    #[inline]
    fn has(&self, node: Node, mark: u8) -> bool {
        self.0[node.index()] & mark != 0
    }

    #[inline]
    fn clear(&mut self, node: Node) {
        self.0[node.index()] = 0;
    }
}

/// Computes iterated dominance frontiers; keeps its tables between queries.
pub struct IteratedFrontier<'a, G> {
    graph: &'a G,
    dom: &'a DomTree,
    /// Per node the least level that an edge from its subtree leads to.
    reach: Vec<u32>,
    /// By node, what is so of it in the query at hand.
    marks: Marks,
    /// Levels and nodes, deepest first.
    queue: BinaryHeap<(u32, Node)>,
    subtree: Vec<Node>,
    touched: Vec<Node>,
}

impl<'a, G: Graph> IteratedFrontier<'a, G> {
    /// Prepares queries on `graph`, whose dominator tree is `dom`. Linear in the graph.
    pub fn new(graph: &'a G, dom: &'a DomTree) -> Self {
        let n = graph.node_count();
        let mut reach = vec![u32::MAX; n];
        for &node in dom.pre_order().iter().rev() {
            let own = graph.successors(node).map(|t| dom.level(t)).min().unwrap_or(u32::MAX);
            reach[node.index()] = own.min(reach[node.index()]);
            if let Some(above) = dom.idom(node) {
                reach[above.index()] = reach[above.index()].min(reach[node.index()]);
            }
        }
        IteratedFrontier {
            graph,
            dom,
            reach,
            marks: Marks(vec![0; n]),
            queue: BinaryHeap::new(),
            subtree: Vec::new(),
            touched: Vec::new(),
        }
    }

    /// The iterated dominance frontier of `definitions`, in increasing order. Unreachable nodes are passed
    /// over. Linear in the nodes that are reached below the given ones, at most in the graph.
    pub fn compute(&mut self, definitions: impl IntoIterator<Item = Node>) -> Vec<Node> {
        let mut result = Vec::new();
        self.search(definitions, [], |_| true, true, &mut result);
        result
    }

    /// The targets of edges that lead out of a part of the subtree of `node` to a level not deeper than its own, in
    /// no particular order, into `targets`: the part that is not below nodes for which `stop` holds. If it holds for
    /// none this is the frontier of `node`. Empty if `node` is unreachable.
    pub(crate) fn leave(&mut self, node: Node, stop: impl Fn(Node) -> bool, targets: &mut Vec<Node>) {
        let (graph, dom) = (self.graph, self.dom);
        targets.clear();
        let level = dom.level(node);
        let mut subtree = if dom.is_reachable(node) { vec![node] } else { Vec::new() };
        while let Some(n) = subtree.pop() {
            for t in graph.successors(n) {
                if dom.level(t) <= level && self.marks.set(t, Marks::FOUND) {
                    targets.push(t);
                }
            }
            let children = dom.children(n).iter().copied();
            subtree.extend(children.filter(|&c| self.reach[c.index()] <= level && !stop(c)));
        }
        targets.iter().for_each(|&t| self.marks.clear(t));
    }

    /// Pruned placement of φ-functions: the iterated frontier, except that a node where the variable is not live is
    /// left out and is no definition either. `live` says whether the variable is live at the start of a node;
    /// `definitions` are all the nodes that write it. The search stays where the variable is live, so its cost does
    /// not grow with the rest of the graph.
    ///
    /// That this finds all: let an edge lead from `u` to a live `t` in the frontier of a definition `d`, and let
    /// `w` lie between `d` and `u` in the tree, neither live nor a definition. Then every path from `w` to `u` writes
    /// the variable, so a definition or a member of the frontier lies below `w` and dominates `u`; it is
    /// deeper than `d`, and `t` is in its frontier too.
    ///
    /// Linear in the nodes below the given ones where the variable is live.
    pub fn compute_live(
        &mut self,
        definitions: impl IntoIterator<Item = Node>,
        live: impl FnMut(Node) -> bool,
    ) -> Vec<Node> {
        let mut result = Vec::new();
        self.search(definitions, [], live, false, &mut result);
        result
    }

    /// As [`compute_live`](Self::compute_live), with further definitions on edges that dominate their targets, which
    /// are given: as if each stood in a node of its own in the middle of the edge. So a target is in the frontier
    /// only for the sake of other definitions. The frontier is added to `result`, which is sorted.
    pub(crate) fn extend_live(
        &mut self,
        definitions: impl IntoIterator<Item = Node>,
        on_edges_to: impl IntoIterator<Item = Node>,
        live: impl FnMut(Node) -> bool,
        result: &mut Vec<Node>,
    ) {
        self.search(definitions, on_edges_to, live, false, result);
    }

    fn search(
        &mut self,
        definitions: impl IntoIterator<Item = Node>,
        on_edges_to: impl IntoIterator<Item = Node>,
        mut keep: impl FnMut(Node) -> bool,
        everywhere: bool,
        result: &mut Vec<Node>,
    ) {
        let (graph, dom) = (self.graph, self.dom);
        for n in definitions {
            if dom.is_reachable(n) && self.marks.set(n, Marks::QUEUED) {
                self.queue.push((dom.level(n), n));
            }
        }
        for n in on_edges_to {
            if dom.is_reachable(n) && self.marks.set(n, Marks::QUEUED) {
                self.marks.set(n, Marks::BEFORE);
                self.queue.push((dom.level(n), n));
            }
        }
        let (mut subtree, mut touched) = (mem::take(&mut self.subtree), mem::take(&mut self.touched));
        while let Some((level, root)) = self.queue.pop() {
            touched.push(root);
            if self.marks.set(root, Marks::WALKED) {
                subtree.push(root);
            }
            // What is deeper than the root was searched before, so an edge to the root comes from its own definition.
            let enclosed = self.marks.has(root, Marks::BEFORE).then_some(root);
            while let Some(n) = subtree.pop() {
                touched.push(n);
                for t in graph.successors(n) {
                    if dom.level(t) > level || Some(t) == enclosed || !self.marks.set(t, Marks::FOUND) {
                        continue;
                    }
                    touched.push(t);
                    if keep(t) {
                        result.push(t);
                        if self.marks.set(t, Marks::QUEUED) {
                            self.queue.push((dom.level(t), t));
                        }
                    }
                }
                for &c in dom.children(n) {
                    if self.reach[c.index()] <= level
                        && (everywhere || keep(c))
                        && self.marks.set(c, Marks::WALKED)
                    {
                        subtree.push(c);
                    }
                }
            }
        }
        for n in touched.drain(..) {
            self.marks.clear(n);
        }
        (self.subtree, self.touched) = (subtree, touched);
        result.sort_unstable();
    }
}
