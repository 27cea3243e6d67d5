//! Branches inside a cycle that the head-rewired graph does not look into.
//!
//! In an irreducible cycle it depends on the choice of headers which instances of a node are converged (paper 2). There
//! are branches that do no harm for any choice: threads that part at the branch come together again before they
//! pass anything that is not strictly dominated by it. A node of a cycle that also contains the branch but is strictly
//! dominated by it is never the header, since every depth-first walk meets the branch earlier. So no header of a cycle
//! around the branch is passed in between, and the threads are converged where they meet, in every hierarchy. (Paper 2
//! asks this of each join of the branch by itself; here of all paths from the branch at once.)
//!
//! The same holds of what a dominator of the branch strictly dominates, if no cycle contains the branch and not the
//! dominator: threads that are together at the branch have passed one instance of it, and no header since.
//!
//! Threads that leave the cycle meanwhile are together with none that stay, whatever the headers are; behind the cycle
//! they are taken for threads that left it by any exit in any iteration.
//!
//! Cycles between the branch and the place where threads meet are passed over from the header to the exits, as in the
//! head-rewired graph, if they are reducible. Whether they are, and which they are, is the same in every hierarchy:
//! they are the strongly connected regions of what is left without the branch.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::cycles::{CycleForest, CycleId};
use crate::dom::DomTree;
use crate::graph::{EdgeId, Graph, Node};
use crate::order::DfsOrder;

/// A join, and the labels of the in-edges on which threads arrive.
pub(crate) type LabelledJoin = (Node, Vec<(EdgeId, u32)>);

/// What becomes of threads that part at a branch inside a region.
#[derive(Clone, Debug)]
pub(crate) struct Inside {
    /// Where they meet in the region.
    pub(crate) joins: Vec<LabelledJoin>,
    /// Whether some may leave the region while others stay or leave it elsewhere.
    pub(crate) leaves: bool,
    /// The node by whose dominance this is known.
    pub(crate) by: Node,
}

/// How many of the nearest dominators of a branch are tried.
const NEAREST: usize = 8;

/// What becomes of threads that part at `branch`, which lies in `region`; none if those that stay in it do not come
/// together again soon enough, whichever of the nearest dominators is asked.
pub(crate) fn joins<G: Graph>(
    graph: &G,
    cycles: &CycleForest,
    dfs: &DfsOrder,
    dom: &DomTree,
    region: CycleId,
    branch: Node,
) -> Option<Inside> {
    let up = core::iter::successors(Some(branch), |&n| dom.idom(n)).take(NEAREST);
    // Round a cycle without the dominator threads could pass its header.
    let mut asked = up.take_while(|&by| {
        cycles.contains(region, by) && (by == branch || cycles.outermost_without(branch, by).is_none())
    });
    asked.find_map(|by| joins_by(graph, cycles, dfs, dom, region, branch, by))
}

/// The same by what `by`, which dominates the branch, strictly dominates.
fn joins_by<G: Graph>(
    graph: &G,
    cycles: &CycleForest,
    dfs: &DfsOrder,
    dom: &DomTree,
    region: CycleId,
    branch: Node,
    by: Node,
) -> Option<Inside> {
    let (waiting, ends) = (BTreeMap::new(), BTreeMap::new());
    let mut walk = Walk { graph, cycles, dfs, dom, region, by, waiting, ends, leaves: false };
    for e in graph.out_edges(branch) {
        walk.arrive(e, e.0)?;
    }
    let mut found = Vec::new();
    while let Some((_, (at, edges))) = walk.waiting.pop_first() {
        let first = edges[0].1;
        let is_join = edges.iter().any(|&(_, label)| label != first);
        if is_join {
            found.push((at, edges));
        }
        if walk.waiting.is_empty() && walk.ends.is_empty() {
            return Some(Inside { joins: found, leaves: walk.leaves, by });
        }
        let label = if is_join { graph.edge_count() as u32 + at.0 } else { first };
        match walk.outermost_without(at) {
            Some(cycle) => cycles.exit_edges(graph, cycle).try_for_each(|e| walk.arrive(e, label))?,
            None => graph.out_edges(at).try_for_each(|e| walk.arrive(e, label))?,
        }
    }
    if walk.ends.len() > 1 {
        return None;
    }
    found.extend(walk.ends.into_iter().filter(|(_, edges)| edges.iter().any(|e| e.1 != edges[0].1)));
    Some(Inside { joins: found, leaves: walk.leaves, by })
}

struct Walk<'a, G> {
    graph: &'a G,
    cycles: &'a CycleForest,
    dfs: &'a DfsOrder,
    dom: &'a DomTree,
    region: CycleId,
    by: Node,
    /// Nodes that `by` strictly dominates, from the latest in post-order to the earliest.
    waiting: BTreeMap<core::cmp::Reverse<usize>, LabelledJoin>,
    /// Nodes that it does not dominate. Threads must meet at the first one.
    ends: BTreeMap<Node, Vec<(EdgeId, u32)>>,
    leaves: bool,
}

impl<G: Graph> Walk<'_, G> {
    fn outermost_without(&self, node: Node) -> Option<CycleId> {
        self.cycles.outermost_without(node, self.by)
    }

    /// A label arrives along an edge. None if the region is to be given up.
    fn arrive(&mut self, edge: EdgeId, label: u32) -> Option<()> {
        let to = self.graph.target(edge);
        let passable = |c: CycleId| self.cycles.header(c) == to && self.cycles.is_reducible(c);
        if !self.cycles.contains(self.region, to) {
            self.leaves = true;
            return Some(());
        }
        if self.dom.strictly_dominates(self.by, to) {
            let (from, at) = (self.dfs.post_number(self.graph.source(edge))?, self.dfs.post_number(to)?);
            if from <= at || !self.outermost_without(to).is_none_or(passable) {
                return None;
            }
            let new = || (to, Vec::new());
            self.waiting.entry(core::cmp::Reverse(at)).or_insert_with(new).1.push((edge, label));
        } else {
            self.ends.entry(to).or_default().push((edge, label));
        }
        Some(())
    }
}
