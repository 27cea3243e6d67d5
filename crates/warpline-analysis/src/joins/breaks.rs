//! Branches that leave the cycle around them, taken together.
//!
//! Let a branch have edges that leave the reducible cycle around it and one that stays. Threads that stay come to the
//! header, which in the head-rewired graph leads to every exit of the cycle, and nowhere do they have more than one
//! label before: what left does not come back. So each edge that leaves is a divergent exit of all cycles that it
//! leaves, and what follows is what follows where this exit has one label and all other exits of the cycle have
//! another one.
//!
//! For several such branches of one cycle, the union of this follows from a single propagation: each of their exits
//! has a label of its own, and all other exits share one. If two paths from exits with different labels lead to a
//! node and have nothing else in common, one of the two exits is that of a branch, say *b*, and the paths show that
//! the node is a join of *b*; and the other way round. So a cycle with many exits costs one walk and not one for
//! each.
//!
//! Which branch to name as the cause where labels meet is seen from any of the labels that is not the shared one. The
//! label of an exit names its branch. The label of a join names the branch of that join: in the propagation of this
//! branch alone the node is a join too and has that label, and whatever else arrives has another one.

use alloc::vec::Vec;

use crate::cycles::CycleId;
use crate::graph::{EdgeId, Graph, Node};

use super::Joins;

/// Which exits are in whose labels, in one propagation.
pub(super) struct Blame<'s> {
    exits: &'s [EdgeId],
    edges: u32,
    /// The label of the exits that are in no list.
    shared: u32,
    /// By node of the head-rewired graph: the exit that is to blame for the join there. Means nothing for nodes that
    /// are none.
    joins: &'s mut Vec<EdgeId>,
}

impl<'s> Blame<'s> {
    /// `exits` are edges that leave `header`'s cycle, in increasing order; `edges` and `nodes` are how many the graph
    /// and the head-rewired graph have, and `joins` is room for the latter.
    pub(super) fn new(
        exits: &'s [EdgeId],
        header: Node,
        edges: usize,
        nodes: usize,
        joins: &'s mut Vec<EdgeId>,
    ) -> Self {
        joins.resize(nodes, EdgeId(0));
        // Labels never come back to the header, so the label of a join there is free.
        Blame { exits, edges: edges as u32, shared: edges as u32 + header.0, joins }
    }

    /// The label of an exit.
    pub(super) fn label(&self, exit: EdgeId) -> u32 {
        if self.exits.binary_search(&exit).is_ok() { exit.0 } else { self.shared }
    }

    /// The exit that is to blame for the meeting of different labels.
    pub(super) fn among(&self, mut labels: impl Iterator<Item = u32>) -> Option<EdgeId> {
        let own = labels.find(|&l| l != self.shared)?;
        Some(if own < self.edges { EdgeId(own) } else { self.joins[(own - self.edges) as usize] })
    }

    /// Notes who is to blame for the join at a node.
    pub(super) fn note(&mut self, at: Node, exit: EdgeId) {
        self.joins[at.index()] = exit;
    }
}

impl<G: Graph> Joins<'_, G> {
    /// The cycle that all edges of a branch but one leave.
    pub(super) fn breaks_out_of(&self, branch: Node) -> Option<CycleId> {
        let cycle = self.cycles.innermost(branch)?;
        let out = self.graph.out_edges(branch);
        let staying = out.filter(|&e| self.cycles.contains(cycle, self.graph.target(e))).count();
        (staying == 1 && self.structured).then_some(cycle)
    }
}
