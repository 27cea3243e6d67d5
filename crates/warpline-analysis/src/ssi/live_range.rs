//! Where one variable is live.

use alloc::vec::Vec;

use super::occurrences::{Occurrence, Place};
use crate::graph::{EdgeId, Graph, Node};

/// The live range of one variable after the other, each at the cost of its own size and its occurrences.
///
/// A variable is live at the entry of a block if what it holds on an in-edge is read in or behind the block; φs of
/// the block that define it end the range before, φs that use it read it on the edge.
pub(super) struct LiveRange<'a, G> {
    graph: &'a G,
    /// The round in which a node, or an edge, was last found to have the property.
    live: Vec<u32>,
    defined: Vec<u32>,
    read_on: Vec<u32>,
    /// Nodes from whose entry the variable is live up to a source of information, and edges with one.
    heard: Vec<u32>,
    heard_on: Vec<u32>,
    round: u32,
    crosses: bool,
    work: Vec<Node>,
}

impl<'a, G: Graph> LiveRange<'a, G> {
    pub(super) fn new(graph: &'a G) -> Self {
        let nodes = || vec![0; graph.node_count()];
        LiveRange {
            graph,
            live: nodes(),
            defined: nodes(),
            read_on: vec![0; graph.edge_count()],
            heard: Vec::new(),
            heard_on: Vec::new(),
            round: 0,
            crosses: false,
            work: Vec::new(),
        }
    }

    /// Finds the live range of the variable with these occurrences.
    pub(super) fn find(&mut self, occurrences: &[Occurrence]) {
        self.round += 1;
        self.crosses = false;
        let round = self.round;
        let mut last = None;
        for o in occurrences {
            if o.defines() {
                self.defined[o.node.index()] = round;
            } else if last != Some(o.node) {
                self.work.push(o.node);
            }
            last = Some(o.node);
            if let Place::Operand(edge) = o.place {
                self.read_on[edge.index()] = round;
                self.crosses = true;
            }
        }
        self.crosses |= !self.work.is_empty();
        let graph = self.graph;
        while let Some(n) = self.work.pop() {
            if core::mem::replace(&mut self.live[n.index()], round) == round {
                continue;
            }
            for p in graph.predecessors(n) {
                if self.defined[p.index()] != round && self.live[p.index()] != round {
                    self.work.push(p);
                }
            }
        }
    }

    /// Whether the variable is live on any edge, or at the entry of the program.
    #[inline]
    pub(super) fn crosses_blocks(&self) -> bool {
        self.crosses
    }

    /// Whether it is live at the entry of a block.
    #[inline]
    pub(super) fn at_entry(&self, node: Node) -> bool {
        self.live[node.index()] == self.round
    }

    /// Whether it is live on an edge.
    #[inline]
    pub(super) fn on_edge(&self, edge: EdgeId) -> bool {
        self.read_on[edge.index()] == self.round || self.at_entry(self.graph.target(edge))
    }

    /// Whether it is live at the exit of a block.
    #[inline]
    pub(super) fn at_exit(&self, node: Node) -> bool {
        self.graph.out_edges(node).any(|e| self.on_edge(e))
    }

    /// Whether it is live on two or more of the edges out of a block.
    pub(super) fn forks(&self, node: Node) -> bool {
        self.graph.out_edges(node).filter(|&e| self.on_edge(e)).nth(1).is_some()
    }

    /// Whether it is live at a point of `node` behind which the `rest` of its occurrences begins.
    pub(super) fn behind(&self, node: Node, rest: &[Occurrence]) -> bool {
        match rest.first() {
            Some(next) if next.node == node => !next.defines(),
            _ => self.at_exit(node),
        }
    }

    /// Finds from where the variable is live up to one of these sources of information, in blocks and on edges. Where
    /// a block also defines the variable, what comes before is taken not to be.
    pub(super) fn find_sources(&mut self, nodes: &[Node], edges: &[EdgeId]) {
        let (graph, round) = (self.graph, self.round);
        if self.heard.is_empty() {
            self.heard = vec![0; graph.node_count()];
            self.heard_on = vec![0; graph.edge_count()];
        }
        edges.iter().for_each(|e| self.heard_on[e.index()] = round);
        self.work.extend_from_slice(nodes);
        self.work.extend(edges.iter().map(|&e| graph.source(e)));
        while let Some(n) = self.work.pop() {
            let passes = self.defined[n.index()] != round && self.at_entry(n);
            if passes && core::mem::replace(&mut self.heard[n.index()], round) != round {
                self.work.extend(graph.predecessors(n));
            }
        }
    }

    /// Whether on an edge the variable is live up to a source.
    pub(super) fn leads_to_source(&self, edge: EdgeId) -> bool {
        self.heard_on[edge.index()] == self.round || self.heard[self.graph.target(edge).index()] == self.round
    }

    /// Whether everything in a block is live up to a source behind it.
    pub(super) fn leads_on_to_source(&self, node: Node) -> bool {
        self.defined[node.index()] != self.round
            && self.graph.out_edges(node).any(|e| self.leads_to_source(e))
    }
}
