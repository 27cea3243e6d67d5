//! Edges that dominate their targets.

use alloc::vec::Vec;

use crate::dom::DomTree;
use crate::graph::{EdgeId, Graph, Node};

const UNKNOWN: u32 = u32::MAX;
const NO_EDGE: u32 = u32::MAX - 1;

/// Finds for nodes the edge that every path to them takes, if there is one: all their other in-edges come from nodes
/// that they dominate. In the reversed graph this is the edge that every path from a node takes in the end.
pub(super) struct SingleEntries {
    known: Vec<u32>,
}

impl SingleEntries {
    pub(super) fn new(nodes: usize) -> Self {
        SingleEntries { known: vec![UNKNOWN; nodes] }
    }

    /// Whether `edge`, whose target is `node`, dominates it. A node's in-edges are looked at once.
    pub(super) fn dominates<G: Graph>(&mut self, graph: &G, dom: &DomTree, edge: EdgeId, node: Node) -> bool {
        let known = &mut self.known[node.index()];
        if *known == UNKNOWN {
            let from_outside = |e: &EdgeId| {
                let source = graph.source(*e);
                dom.is_reachable(source) && !dom.dominates(node, source)
            };
            let mut entries = graph.in_edges(node).filter(from_outside);
            *known = match (entries.next(), entries.next()) {
                (Some(e), None) => e.0,
                _ => NO_EDGE,
            };
        }
        *known == edge.0
    }
}
