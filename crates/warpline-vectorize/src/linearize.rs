//! Partial control-flow linearization: paper 3, Fig. 5, on the bare graph.
//!
//! Blocks are visited in the order of the [block index](super::block_index). A uniform branch keeps its edges, each
//! rebound to the least of its target and the blocks deferred so far; a divergent one keeps a single edge
//! to the least of its targets and the deferred blocks. What is not the next block is deferred further along
//! the edges. Back edges are left out and re-inserted as they were (Sec. 3.3): the latch is unique and has
//! the greatest index of its loop, and what is deferred there was already deferred at the header, so it is
//! carried by the loop's exits.
//!
//! The deferral relation `D` is a sorted list per block. A list is shared while it is passed on unchanged, so
//! that a block that neither defers nor executes anything costs nothing for what is deferred across it.

use std::rc::Rc;

use warpline_analysis::{CsrGraph, EdgeId, Graph, Node};

use super::block_index::BlockIndex;

/// The outcome of linearization for one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewBranch {
    /// The branch stays; the new targets of its edges, in the order of the original edges.
    Kept(Vec<Node>),
    /// The branch is folded into a jump to this block.
    Folded(Node),
}

/// The partially linearized graph G_ℓ: what becomes of each block's branch, by node. Blocks without successors
/// and unreachable blocks have an empty `Kept`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linearized {
    /// By node index.
    pub branches: Vec<NewBranch>,
}

impl Linearized {
    /// The edges of G_ℓ that leave a block.
    pub fn targets(&self, node: Node) -> &[Node] {
        match &self.branches[node.index()] {
            NewBranch::Kept(t) => t,
            NewBranch::Folded(t) => std::slice::from_ref(t),
        }
    }
}

/// What was linearized in a kernel, and how: the graph of the function with all tests in it, as the algorithm saw it.
/// Nothing in the vectorizer reads it; it is for those who check what the theorems promise.
#[derive(Clone, Debug)]
pub struct Linearization {
    /// G.
    pub graph: CsrGraph,
    /// By node index: whether the branch is divergent.
    pub divergent: Vec<bool>,
    /// By node index: whether control never returns from the block.
    pub dead_ends: Vec<bool>,
    /// G_ℓ.
    pub result: Linearized,
}

/// Deferred blocks as index positions, greatest first: the first `len` elements of a shared list, so that the
/// least element is taken away without copying.
#[derive(Clone, Default)]
struct Deferred {
    list: Rc<Vec<u32>>,
    len: usize,
}

/// Runs the algorithm. `is_divergent` says of a block whether its branch must be folded; `is_back_edge` says of
/// an edge whether it closes a loop.
///
/// Blocks that are still deferred at a block without forward successors are dropped: for a latch they are
/// carried by the loop's exits; elsewhere there are none when the function has a single exit. `is_dead_end` says of a
/// block that control never returns from it: nothing is deferred into dead ends, since nothing deferred would
/// be executed behind them.
pub fn linearize<G: Graph>(
    graph: &G,
    index: &BlockIndex,
    is_divergent: impl Fn(Node) -> bool,
    is_back_edge: impl Fn(EdgeId) -> bool,
    is_dead_end: impl Fn(Node) -> bool,
) -> Linearized {
    let mut deferred = vec![Deferred::default(); graph.node_count()];
    let mut branches = vec![NewBranch::Kept(Vec::new()); graph.node_count()];
    for &b in index.order() {
        let t = std::mem::take(&mut deferred[b.index()]);
        let edges = graph.out_edges(b);
        let mut go_to_least = |(next, rest): (u32, Deferred)| {
            let next = index.at(next);
            let slot = &mut deferred[next.index()];
            *slot = std::mem::take(slot).union(rest);
            next
        };
        branches[b.index()] = if is_divergent(b) && edges.len() > 0 {
            let mut s: Vec<u32> = edges.map(|e| index.position(graph.target(e))).collect();
            s.sort_unstable_by(|a, b| b.cmp(a));
            s.dedup();
            let all = t.union(Deferred::new(s));
            NewBranch::Folded(go_to_least(all.split_least().expect("a branch has a target")))
        } else {
            let keep = |e: EdgeId| {
                let s = graph.target(e);
                let leaves = is_back_edge(e) || (is_dead_end(s) && !is_dead_end(b));
                if leaves { s } else { go_to_least(t.split_least_with(index.position(s))) }
            };
            NewBranch::Kept(edges.map(keep).collect())
        };
    }
    Linearized { branches }
}

impl Deferred {
    /// From a list that is sorted, greatest first, without duplicates.
    fn new(list: Vec<u32>) -> Deferred {
        Deferred { len: list.len(), list: Rc::new(list) }
    }

    fn elements(&self) -> &[u32] {
        &self.list[..self.len]
    }

    /// The least element and the others.
    fn split_least(self) -> Option<(u32, Deferred)> {
        let &least = self.elements().last()?;
        Some((least, Deferred { len: self.len - 1, list: self.list }))
    }

    /// The least element of this set and `x`, and the others.
    fn split_least_with(&self, x: u32) -> (u32, Deferred) {
        match self.clone().split_least() {
            Some((least, rest)) if least < x => (least, rest.with(x)),
            Some((least, rest)) if least == x => (x, rest),
            _ => (x, self.clone()),
        }
    }

    /// This set and `x`.
    fn with(&self, x: u32) -> Deferred {
        match self.elements().binary_search_by(|y| x.cmp(y)) {
            Ok(_) => self.clone(),
            Err(at) => {
                let (greater, less) = self.elements().split_at(at);
                Deferred::new([greater, &[x], less].concat())
            }
        }
    }

    fn union(self, other: Deferred) -> Deferred {
        if other.len == 0 || (Rc::ptr_eq(&self.list, &other.list) && self.len >= other.len) {
            return self;
        }
        if self.len == 0 || Rc::ptr_eq(&self.list, &other.list) {
            return other;
        }
        let (a, b) = (self.elements(), other.elements());
        let mut merged = Vec::with_capacity(a.len() + b.len());
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            let (x, y) = (a[i], b[j]);
            merged.push(x.max(y));
            i += usize::from(x >= y);
            j += usize::from(y >= x);
        }
        merged.extend_from_slice(&a[i..]);
        merged.extend_from_slice(&b[j..]);
        Deferred::new(merged)
    }
}
