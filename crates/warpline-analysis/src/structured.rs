//! Branches whose joins can be seen at once.
//!
//! Most branches of real programs are structured: an `if`, with or without `else`, the arms of which are straight
//! lines; a guard that ends the function; the only exit of a loop. Their joins follow from a look at the arms, and
//! the head-rewired graph is not needed. Where a program has no other divergent branches it is not even built. What
//! is found here is what the labels would show; random graphs check this.

use crate::cycles::{CycleForest, CycleId};
use crate::graph::{EdgeId, Graph, Node};
use crate::regions::Regions;

/// What becomes of threads that part at a structured branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Structured {
    /// They do not meet again: both arms end, or one ends that no other way leads to.
    Apart,
    /// They meet at a node, having arrived on these edges, which lead to it, along the first and the second edge of the
    /// branch, in this order.
    Meet(Node, [EdgeId; 2]),
    /// They leave a cycle by its only exit, in different iterations.
    Leave(CycleId, EdgeId),
}

/// How long an arm may be.
const LENGTH: usize = 8;

/// What follows from a branch with two edges, outside all regions, if that can be seen at once.
pub(crate) fn look<G: Graph>(
    graph: &G,
    cycles: &CycleForest,
    regions: &Regions,
    branch: Node,
) -> Option<Structured> {
    let mut edges = graph.out_edges(branch);
    let (Some(first), Some(second), None) = (edges.next(), edges.next(), edges.next()) else { return None };
    let around = cycles.innermost(branch);
    if let Some(cycle) = around {
        let leaves = |e: EdgeId| !cycles.contains(cycle, graph.target(e));
        match (leaves(first), leaves(second)) {
            // Threads that stay come to the header, from there to this exit in a later iteration, and nowhere else.
            (true, false) if regions.has_one_exit(cycle) => return Some(Structured::Leave(cycle, first)),
            (false, true) if regions.has_one_exit(cycle) => return Some(Structured::Leave(cycle, second)),
            (false, false) => {}
            _ => return None,
        }
    }
    let one = Arm::new(graph, cycles, around, first)?;
    let other = Arm::new(graph, cycles, around, second)?;
    for &edge in one.edges() {
        let node = graph.target(edge);
        if let Some(&meets) = other.edges().iter().find(|&&e| graph.target(e) == node) {
            return Some(Structured::Meet(node, [edge, meets]));
        }
    }
    // No other way leads to what lies on an arm of its own.
    let alone = |arm: &Arm| arm.edges().iter().all(|&e| graph.in_edges(graph.target(e)).len() == 1);
    (one.ends && (other.ends || alone(&one)) || other.ends && alone(&other)).then_some(Structured::Apart)
}

/// A path without a choice: the edge of the branch, and those behind it as long as there is one way to go.
struct Arm {
    edges: [EdgeId; LENGTH],
    len: usize,
    /// Whether it ends where control ends.
    ends: bool,
}

impl Arm {
    /// The arm that begins with an edge; none if it leaves the cycle around the branch, enters another one, or comes
    /// to a header.
    fn new<G: Graph>(graph: &G, cycles: &CycleForest, around: Option<CycleId>, first: EdgeId) -> Option<Arm> {
        let mut arm = Arm { edges: [first; LENGTH], len: 0, ends: false };
        let mut edge = first;
        while arm.len < LENGTH {
            let node = graph.target(edge);
            // A region has cycles of its own around all its nodes, so this keeps out of regions as well.
            let level = cycles.innermost(node) == around;
            if !level || around.is_some_and(|c| cycles.header(c) == node) {
                // What lies before may still be a place to meet.
                return (arm.len > 0).then_some(arm);
            }
            arm.edges[arm.len] = edge;
            arm.len += 1;
            let mut next = graph.out_edges(node);
            match (next.next(), next.next()) {
                (Some(only), None) => edge = only,
                (None, _) => {
                    arm.ends = true;
                    break;
                }
                _ => break,
            }
        }
        Some(arm)
    }

    fn edges(&self) -> &[EdgeId] {
        &self.edges[..self.len]
    }
}
