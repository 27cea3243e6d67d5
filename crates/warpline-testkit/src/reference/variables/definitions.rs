//! Definite reaching definitions: paper 1, Section 6.
//!
//! A program point *q* is in *rd p x* if every path to *p* passes *q* and *x* is not assigned between the last
//! passage of *q* and the arrival at *p* (Definitions 6.1 to 6.4). In the paper effects belong to edges and points
//! are nodes. A node that has assignments of its own stands for two of them: where control arrives, and where it
//! leaves with the assignments done.
//!
//! All points of a set dominate *p*, and with *q* each point between *q* and *p* in the dominator tree is in the set.
//! So the set is a piece of *p*'s way up the dominator tree, and its upper end is all that has to be kept: one point
//! per node and variable. The fixed point of Definition 6.4 is found from above, node by node in reverse post-order
//! until nothing changes; upper ends only move down.

use warpline_analysis::bitset::BitSet;
use warpline_analysis::dom::DomTree;
use warpline_analysis::graph::{CsrGraph, Graph, Node};
use warpline_analysis::order::DfsOrder;

use super::program::Var;

/// A program point.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Point {
    /// Control arrives at the node.
    At(Node),
    /// Control leaves the node, whose assignments are done.
    After(Node),
}

impl Point {
    /// The node.
    pub fn node(self) -> Node {
        match self {
            Point::At(n) | Point::After(n) => n,
        }
    }
}

/// What may be assigned where.
pub(super) struct Assigned {
    /// By node: between arriving and leaving.
    pub at_node: Vec<BitSet>,
    /// By edge.
    pub on_edge: Vec<BitSet>,
}

/// For each node and variable, the program points that reach it on every path.
#[derive(Clone, Debug)]
pub struct DefiniteDefinitions {
    dom: DomTree,
    variables: usize,
    /// By node and variable, the highest point of the dominator tree in the set.
    top: Vec<Point>,
}

impl DefiniteDefinitions {
    /// Solves Definition 6.4 on `graph`.
    pub(super) fn compute(graph: &CsrGraph, variables: usize, assigned: &Assigned) -> Self {
        let dfs = DfsOrder::compute(graph);
        let dom = DomTree::compute_with(graph, &dfs);
        // Where nothing is known yet, a set is everything: the way up to the root.
        let root = graph.entry();
        let top = vec![Point::At(root); graph.node_count() * variables];
        let mut found = DefiniteDefinitions { dom, variables, top };
        let order: Vec<Node> = dfs.reverse_post_order().filter(|&n| n != root).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for &p in &order {
                for x in 0..variables {
                    let top = found.transfer(graph, assigned, &dfs, p, x);
                    let known = &mut found.top[p.index() * variables + x];
                    changed |= *known != top;
                    *known = top;
                }
            }
        }
        found
    }

    /// The upper end of the set that the predecessors' sets make.
    fn transfer(&self, graph: &CsrGraph, assigned: &Assigned, dfs: &DfsOrder, p: Node, x: usize) -> Point {
        let Some(above) = self.dom.idom(p) else { return Point::At(p) };
        let mut top = Point::At(self.dom.root());
        for &e in graph.in_edges(p) {
            let q = graph.source(e);
            if !dfs.is_reachable(q) {
                continue;
            }
            if assigned.on_edge[e.index()].contains(x) {
                return Point::At(p);
            }
            let reached = match assigned.at_node[q.index()].contains(x) {
                true => Point::After(q),
                false => self.top[q.index() * self.variables + x],
            };
            if self.depth(reached) > self.depth(top) {
                top = reached;
            }
        }
        // What all predecessors have in common dominates `p`.
        if self.depth(top) <= self.depth(Point::After(above)) { top } else { Point::At(p) }
    }

    /// The number of points above one in the dominator tree of points.
    fn depth(&self, point: Point) -> u32 {
        2 * self.dom.level(point.node()) + u32::from(matches!(point, Point::After(_)))
    }

    /// The points from which a variable comes unchanged to where control arrives at `node`, on every path; from this
    /// point itself upwards in the dominator tree. Empty if `node` is unreachable.
    pub fn of(&self, node: Node, var: Var) -> impl Iterator<Item = Point> + '_ {
        let top = self.top[node.index() * self.variables + var.index()];
        let first = self.dom.is_reachable(node).then_some(Point::At(node));
        let above = |point| match point {
            Point::After(n) => Some(Point::At(n)),
            Point::At(n) => self.dom.idom(n).map(Point::After),
        };
        std::iter::successors(first, move |&point| if point == top { None } else { above(point) })
    }

    /// The nodes that `node` dominates, itself included: those whose sets its points may be in.
    pub(super) fn below(&self, node: Node) -> &[Node] {
        self.dom.subtree(node)
    }
}
