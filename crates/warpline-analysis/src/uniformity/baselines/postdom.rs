//! Divergence by immediate post-dominators: Coutinho et al., *Divergence Analysis and Optimizations* (PACT 2011), as
//! it was in LLVM before it had an analysis of disjoint paths; paper 1 calls it `llvm`.
//!
//! Of a divergent branch at `b` with the immediate post-dominator `p` two things follow:
//!
//! * the φs of `p` are divergent, unless all their operands are one value;
//! * the *influence region* is what `b` reaches without passing `p`. Users outside it of values that are defined in
//!   it are divergent.
//!
//! **This is not sound**, and is here for comparison only. It holds where threads that part at `b` come together at
//! `p` and nowhere before. In paper 1's Figure 5b they do so earlier: the φ at `D` merges lanes that part at `A`, whose
//! post-dominator is `F`. Nor are uses in the region noticed that are reached from a loop in different iterations.
//! If control need not come to one place behind `b` (several returns, code that never returns), `b` has no immediate
//! post-dominator, and nothing follows from it at all. Irreducible cycles are not looked at.
//!
//! Users are marked as LLVM marked them, one by one. So that [`Uniformity`](crate::Uniformity) also answers for uses
//! that the program does not have, every cycle around `b` that does not contain `p` is left apart as seen from `p`
//! on.

use alloc::vec::Vec;

use crate::cycles::{CycleForest, CycleId};
use crate::dom::DomTree;
use crate::graph::{EdgeId, Graph, Node, Reversed};
use crate::joins::{JoinSink as _, Split};
use crate::uniformity::Cause;
use crate::uniformity::engine::{Control, State};

/// Post-dominators, and what is needed to walk influence regions.
pub(in crate::uniformity) struct PostDominators<'a, G> {
    graph: &'a G,
    cycles: &'a CycleForest,
    tree: DomTree,
    /// By node, the number of the last region that it was found in.
    region: Vec<u32>,
    regions: u32,
}

impl<'a, G: Graph> PostDominators<'a, G> {
    pub(in crate::uniformity) fn new(graph: &'a G, cycles: &'a CycleForest) -> Self {
        let tree = DomTree::compute(&Reversed::new(graph));
        PostDominators { graph, cycles, tree, region: vec![0; graph.node_count()], regions: 0 }
    }

    /// The immediate post-dominator, if it is a node of the graph.
    fn post_dominator(&self, node: Node) -> Option<Node> {
        self.tree.idom(node).filter(|p| p.index() < self.graph.node_count())
    }

    /// The influence region of a branch.
    fn influence_region(&mut self, branch: Node, end: Node) -> Vec<Node> {
        self.regions += 1;
        let mut found: Vec<Node> = Vec::new();
        let mut next = 0;
        let mut at = branch;
        loop {
            for n in self.graph.successors(at) {
                if n != end && core::mem::replace(&mut self.region[n.index()], self.regions) != self.regions {
                    found.push(n);
                }
            }
            let Some(&n) = found.get(next) else { return found };
            (at, next) = (n, next + 1);
        }
    }
}

impl<'a, G: Graph> Control<'a, G> for PostDominators<'a, G> {
    fn region(&self, _: Node) -> Option<CycleId> {
        None
    }

    fn follow(&mut self, split: Split, state: &mut State<'a, G>) {
        let Split::Branch(branch) = split else { return };
        let Some(end) = self.post_dominator(branch) else { return };
        state.join(end, &apart(self.graph, end));
        let region = self.influence_region(branch, end);
        let left: Vec<CycleId> =
            self.cycles.around(branch).take_while(|&c| !self.cycles.contains(c, end)).collect();
        for &cycle in &left {
            for exit in self.cycles.exit_edges(self.graph, cycle).filter(|&e| self.graph.target(e) == end) {
                state.divergent_exit(cycle, exit);
            }
            state.leave_before(cycle, end);
        }
        let (inside, now) = (&self.region, self.regions);
        for node in region {
            let cycle = left.iter().copied().find(|&c| self.cycles.contains(c, node));
            state.mark_users(
                node,
                |user| inside[user.index()] != now,
                |operand| match cycle {
                    Some(cycle) => Cause::Temporal { operand, cycle, exit: None },
                    None => Cause::Join(split),
                },
            );
        }
    }
}

/// The edges into a node, as if threads arrived apart on any two of them.
pub(super) fn apart<G: Graph>(graph: &G, node: Node) -> Vec<(EdgeId, u32)> {
    graph.in_edges(node).map(|e| (e, e.0)).collect()
}
