//! Whether anything new can follow from a split.
//!
//! Who needs only the union over many splits knows more and more of it. A split has its joins between itself and its
//! nearest post-dominator in the head-rewired graph, where all paths from it come together; in a topological order
//! they stand between these two as well. If all that stands there is known, the split need not be followed, and where
//! that is so for the rest of the way the walk can end.

use alloc::vec::Vec;

use crate::cycles::CycleForest;
use crate::dag_dom::DagDom;
use crate::graph::{Graph, Node, Reversed};
use crate::rewired::Rewired;

use super::Sources;

/// Which nodes of the head-rewired graph may still turn out to be something that they were not, by topological
/// position.
pub(super) struct Known {
    /// By position: the node.
    at: Vec<Node>,
    /// By position: itself if the node there may be new, or a later position; one more than there are for the end.
    next: Vec<u32>,
    post: DagDom,
}

impl Known {
    pub(super) fn new<G: Graph>(rewired: &Rewired<'_, G>) -> Self {
        let mut at: Vec<Node> = rewired.nodes().filter(|&n| rewired.is_reached(n)).collect();
        at.sort_unstable_by_key(|&n| rewired.position(n));
        // Only where several edges arrive can different labels.
        let first = |(i, &n): (usize, &Node)| i as u32 + u32::from(rewired.in_edges(n).len() < 2);
        let mut next: Vec<u32> = at.iter().enumerate().map(first).collect();
        next.push(at.len() as u32);
        let reversed = Reversed::new(rewired);
        let order: Vec<Node> = at.iter().copied().chain([reversed.virtual_exit()]).rev().collect();
        Known { post: DagDom::compute(&reversed, order.into_iter()), at, next }
    }

    /// The last position where paths from the sources can meet that have not met before.
    pub(super) fn last<G: Graph>(
        &self,
        rewired: &Rewired<'_, G>,
        cycles: &CycleForest,
        sources: Sources<'_>,
    ) -> u32 {
        let from = match sources {
            Sources::Branch(node) => rewired.departure(node, cycles),
            Sources::Cycle(cycle) | Sources::Exits(cycle, _) => cycles.header(cycle),
        };
        match self.post.parent(from) {
            Some(p) if p.index() < rewired.node_count() => rewired.position(p),
            _ => self.at.len() as u32 - 1,
        }
    }

    /// Whether `is_known` holds for all nodes from one position to another.
    pub(super) fn all(&mut self, first: u32, last: u32, is_known: impl Fn(Node) -> bool) -> bool {
        let mut p = self.find(first);
        while p <= last && is_known(self.at[p as usize]) {
            self.next[p as usize] = p + 1;
            p = self.find(p + 1);
        }
        p > last
    }

    /// The first position from `p` on where something may be new.
    fn find(&mut self, mut p: u32) -> u32 {
        while self.next[p as usize] != p {
            // Every other step is shortened on the way.
            let next = self.next[self.next[p as usize] as usize];
            self.next[p as usize] = next;
            p = next;
        }
        p
    }
}
