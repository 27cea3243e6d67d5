//! Ends of disjoint paths in an acyclic graph, and the splits that are relevant for a node.
//!
//! Paper 1, Section 5, asks: are two nodes the ends of two paths that start at different nodes of a set *S* and have
//! no node in common? For a node *p* let *p\** be the first node that all paths from *S* to *p* share. Two nodes are
//! such ends iff *p\** ≠ *q\** (Theorem 5.6; the other direction holds since a common first node lies on every path
//! to both). One walk in topological order finds *p\** for all nodes, in time linear in the graph.
//!
//! Algorithm 1 as printed loses joins at sources: where one source reaches another, the label of the second, which is
//! itself, is overwritten with what arrives, and the test for two different labels does not count it. In
//! `if (c) {B}; C` both successors of the branch are sources and `B` reaches `C`: as printed, `C` takes `B`'s label
//! and is no join. Here a source keeps its label, and is a join when a labelled predecessor reaches it.

use crate::reference::head_rewired::HeadRewired;
use warpline_analysis::bitset::BitSet;
use warpline_analysis::graph::{Graph, Node};

/// For one set of sources, the first node that all paths from them to a node share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisjointPaths {
    label: Vec<Option<Node>>,
    joins: BitSet,
}

impl DisjointPaths {
    /// Labels the nodes of an acyclic graph. `order` lists the nodes in topological order; a source is listed once
    /// in `sources`, or more often to the same effect.
    pub fn from<G: Graph>(graph: &G, order: &[Node], sources: &[Node]) -> Self {
        let mut found =
            DisjointPaths { label: vec![None; graph.node_count()], joins: BitSet::new(graph.node_count()) };
        for &s in sources {
            found.label[s.index()] = Some(s);
        }
        for &p in order {
            let mut arriving = graph.predecessors(p).filter_map(|q| found.label[q.index()]);
            let Some(first) = arriving.next() else { continue };
            let is_source = found.label[p.index()].is_some();
            if is_source || arriving.any(|label| label != first) {
                found.label[p.index()] = Some(p);
                found.joins.insert(p.index());
            } else {
                found.label[p.index()] = Some(first);
            }
        }
        found
    }

    /// The first node that all paths from the sources to `node` share; none if there is no path.
    pub fn label(&self, node: Node) -> Option<Node> {
        self.label[node.index()]
    }

    /// Whether two paths that start at different sources and have no node in common end at `p` and at `q`. A path may
    /// consist of its source alone.
    pub fn are_ends(&self, p: Node, q: Node) -> bool {
        match (self.label(p), self.label(q)) {
            (Some(p), Some(q)) => p != q,
            _ => false,
        }
    }

    /// The nodes at which two paths that start at different sources and have nothing else in common end.
    pub fn joins(&self) -> &BitSet {
        &self.joins
    }
}

/// For each node of a normal form, the splits that are relevant for it.
///
/// Paper 1, Definition 4.18: *s* is relevant for *p* if two paths lead from the successors of *s* in the normal form
/// to *p* in the head-rewired graph that have only *p* in common. Takes time proportional to the graph for each
/// split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelevantSplits {
    splits: Vec<BitSet>,
    joins: Vec<Option<BitSet>>,
}

impl RelevantSplits {
    /// Labels the graph once for each split.
    pub fn new(rewired: &HeadRewired) -> Self {
        let graph = rewired.graph();
        let mut splits = vec![BitSet::new(graph.node_count()); graph.node_count()];
        let mut joins = vec![None; graph.node_count()];
        for s in graph.nodes().filter(|&s| rewired.starts(s).len() > 1) {
            let paths = DisjointPaths::from(graph, rewired.topological_order(), rewired.starts(s));
            for p in paths.joins.iter() {
                splits[p].insert(s.index());
            }
            joins[s.index()] = Some(paths.joins);
        }
        RelevantSplits { splits, joins }
    }

    /// The splits that are relevant for `node`, by number.
    pub fn of(&self, node: Node) -> &BitSet {
        &self.splits[node.index()]
    }

    /// The nodes for which `split` is relevant, by number; none if it is no split.
    pub fn joins_of(&self, split: Node) -> Option<&BitSet> {
        self.joins[split.index()].as_ref()
    }
}
