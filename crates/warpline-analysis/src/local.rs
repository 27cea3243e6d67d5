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
//!
//! For the same reason it need not be the outermost irreducible cycle that is conservatively treated as divergent. The
//! largest cycle around the branch without one of its dominators is a cycle in every hierarchy. If threads that leave
//! it by any exit in any iteration, and stay in the cycle around it, come together before they pass anything that the
//! dominator does not strictly dominate, nothing else is.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cell::Cell;

use crate::cycles::{CycleForest, CycleId};
use crate::dom::DomTree;
use crate::graph::{EdgeId, Graph, Node};
use crate::order::DfsOrder;

/// A join, and the labels of the in-edges on which threads arrive.
pub(crate) type LabelledJoin = (Node, Vec<(EdgeId, u32)>);

/// What becomes of threads that part inside a region.
#[derive(Clone, Debug)]
pub(crate) struct Inside {
    /// Where they meet in the region.
    pub(crate) joins: Vec<LabelledJoin>,
    /// Whether some may leave the region while others stay or leave it elsewhere.
    pub(crate) leaves: bool,
    /// The node by whose dominance this is known.
    pub(crate) by: Node,
}

/// What follows from a branch inside a region.
#[derive(Clone, Debug)]
pub(crate) enum Fate {
    /// Those threads that stay in the region come together in time.
    Meet(Inside),
    /// This cycle around the branch is conservatively treated as divergent; if it is not the region, with what becomes
    /// of threads that leave it by any exit in any iteration.
    GiveUp(CycleId, Option<Inside>),
}

/// How many of the nearest dominators are tried.
const NEAREST: usize = 8;

/// How many dominators of a branch are looked at for the cycles around it that do not contain them.
const LOOKED_AT: usize = 64;

/// For each node and edge of the graph, how many steps may be spent on branches that do harm before whole regions are
/// given up.
pub(crate) const STEPS: usize = 64;

/// A region of a graph.
pub(crate) struct Interior<'a, G> {
    pub(crate) graph: &'a G,
    pub(crate) cycles: &'a CycleForest,
    pub(crate) dfs: &'a DfsOrder,
    pub(crate) dom: &'a DomTree,
    pub(crate) region: CycleId,
    /// How many steps branches took that do harm.
    pub(crate) steps: &'a Cell<usize>,
}

impl<G: Graph> Interior<'_, G> {
    /// What becomes of threads that part at `branch`.
    pub(crate) fn fate(&self, branch: Node) -> Fate {
        // Round a cycle without the dominator threads could pass its header.
        let own = |by: Node| by == branch || self.cycles.outermost_without(branch, by).is_none();
        let mut asked = self.dominators(branch).take(NEAREST).take_while(|&by| own(by));
        let before = self.steps.get();
        match asked.find_map(|by| self.meet(&mut self.graph.out_edges(branch), by)) {
            Some(found) => {
                self.steps.set(before);
                Fate::Meet(found)
            }
            None => self.smallest(branch),
        }
    }

    /// The smallest cycle around `branch` that it is enough to treat as divergent.
    fn smallest(&self, branch: Node) -> Fate {
        let mut last = None;
        for by in self.dominators(branch).take(LOOKED_AT) {
            let Some(cycle) = self.cycles.outermost_without(branch, by) else { continue };
            if last.replace(cycle) != Some(cycle)
                && let Some(found) = self.behind(cycle)
            {
                return Fate::GiveUp(cycle, Some(found));
            }
        }
        Fate::GiveUp(self.region, None)
    }

    /// What becomes of threads that leave a cycle inside the region by any exit in any iteration; none if those that
    /// stay in the region do not come together in time.
    pub(crate) fn behind(&self, cycle: CycleId) -> Option<Inside> {
        let header = self.cycles.header(cycle);
        let without = |&by: &Node| self.cycles.outermost_without(header, by) == Some(cycle);
        let mut asked =
            self.dominators(header).skip_while(|by| !without(by)).take(NEAREST).take_while(without);
        asked.find_map(|by| {
            self.count(self.cycles.nodes(cycle).len());
            self.meet(&mut self.cycles.exit_edges(self.graph, cycle), by)
        })
    }

    /// The dominators of a node that lie in the region, from the nearest on.
    fn dominators(&self, node: Node) -> impl Iterator<Item = Node> + '_ {
        let up = core::iter::successors(Some(node), |&n| self.dom.idom(n));
        up.take_while(|&by| self.cycles.contains(self.region, by))
    }

    fn count(&self, steps: usize) {
        self.steps.set(self.steps.get().saturating_add(steps));
    }

    /// What becomes of threads that part on `edges`, by what `by`, which dominates where they start, strictly
    /// dominates.
    fn meet(&self, edges: &mut dyn Iterator<Item = EdgeId>, by: Node) -> Option<Inside> {
        let (graph, cycles) = (self.graph, self.cycles);
        let (waiting, ends) = (BTreeMap::new(), BTreeMap::new());
        let mut walk = Walk { within: self, by, waiting, ends, leaves: false };
        for e in edges {
            walk.arrive(e, e.0)?;
        }
        let mut found = Vec::new();
        while let Some((_, (at, edges))) = walk.waiting.pop_first() {
            self.count(edges.len());
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
                Some(cycle) => {
                    self.count(cycles.nodes(cycle).len());
                    cycles.exit_edges(graph, cycle).try_for_each(|e| walk.arrive(e, label))?;
                }
                None => graph.out_edges(at).try_for_each(|e| walk.arrive(e, label))?,
            }
        }
        found.extend(walk.ends.into_iter().filter(|(_, edges)| edges.iter().any(|e| e.1 != edges[0].1)));
        Some(Inside { joins: found, leaves: walk.leaves, by })
    }
}

struct Walk<'i, 'a, G> {
    within: &'i Interior<'a, G>,
    by: Node,
    /// Nodes that `by` strictly dominates, from the latest in post-order to the earliest.
    waiting: BTreeMap<core::cmp::Reverse<usize>, LabelledJoin>,
    /// The node that it does not dominate, at which threads must meet, if they came to one.
    ends: BTreeMap<Node, Vec<(EdgeId, u32)>>,
    leaves: bool,
}

impl<G: Graph> Walk<'_, '_, G> {
    fn outermost_without(&self, node: Node) -> Option<CycleId> {
        self.within.cycles.outermost_without(node, self.by)
    }

    /// The post-order of a node, or of the cycle without `by` around it.
    fn position(&self, node: Node) -> Option<usize> {
        let first = self.outermost_without(node).map_or(node, |c| self.within.cycles.header(c));
        self.within.dfs.post_number(first)
    }

    /// A label arrives along an edge. None if threads may not come together in time.
    fn arrive(&mut self, edge: EdgeId, label: u32) -> Option<()> {
        let Interior { graph, cycles, dom, region, .. } = *self.within;
        let to = graph.target(edge);
        let passable = |c: CycleId| cycles.header(c) == to && cycles.is_reducible(c);
        if !cycles.contains(region, to) {
            self.leaves = true;
            return Some(());
        }
        if dom.strictly_dominates(self.by, to) {
            let (from, at) = (self.position(graph.source(edge))?, self.position(to)?);
            if from <= at || !self.outermost_without(to).is_none_or(passable) {
                return None;
            }
            let new = || (to, Vec::new());
            self.waiting.entry(core::cmp::Reverse(at)).or_insert_with(new).1.push((edge, label));
        } else {
            self.ends.entry(to).or_default().push((edge, label));
            if self.ends.len() > 1 {
                return None;
            }
        }
        Some(())
    }
}
