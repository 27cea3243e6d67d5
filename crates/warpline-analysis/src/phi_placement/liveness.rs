//! Where one variable is live, for pruning.

use alloc::vec::Vec;

use crate::graph::{Graph, Node};

/// The nodes at whose beginning a variable is live, for one variable after the other: a variable costs what its live
/// range and its accesses cost.
pub(super) struct Liveness {
    /// The round in which a node was last found to write the variable, and to be live.
    written: Vec<u32>,
    live: Vec<u32>,
    round: u32,
    work: Vec<Node>,
}

impl Liveness {
    pub(super) fn new(node_count: usize) -> Self {
        Liveness { written: vec![0; node_count], live: vec![0; node_count], round: 0, work: Vec::new() }
    }

    /// Finds the live range of the next variable: from the nodes that read it first backwards to its definitions.
    pub(super) fn of<G: Graph>(&mut self, graph: &G, definitions: &[Node], exposed: &[Node]) {
        self.round += 1;
        for d in definitions {
            self.written[d.index()] = self.round;
        }
        self.work.extend_from_slice(exposed);
        while let Some(n) = self.work.pop() {
            if core::mem::replace(&mut self.live[n.index()], self.round) == self.round {
                continue;
            }
            for p in graph.predecessors(n) {
                if self.written[p.index()] != self.round && self.live[p.index()] != self.round {
                    self.work.push(p);
                }
            }
        }
    }

    /// Whether the variable is live at the beginning of `node`.
    pub(super) fn at(&self, node: Node) -> bool {
        self.live[node.index()] == self.round
    }
}
