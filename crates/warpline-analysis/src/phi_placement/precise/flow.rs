//! The joins of few variables, without dominators.

use alloc::vec::Vec;

use super::super::liveness::Liveness;
use crate::bitset::BitSet;
use crate::graph::{Graph, Node};
use crate::order::reachable_from;

/// What stands for a definition on entry.
const ON_ENTRY: u32 = u32::MAX;

/// What is known about a node. Numbers of variables and rounds run on.
#[derive(Clone, Copy, Default)]
struct State {
    /// The last variable that it was found to write, and the last of which it was found to be a join.
    writes: u32,
    joins: u32,
    /// The last round in which a definition arrived, and which one: the node at whose end it is.
    round: u32,
    label: u32,
    /// The last round in which another one arrived as well.
    met: u32,
}

/// Lets definitions flow along the edges, one variable after the other.
///
/// In a round every node keeps the first definition that arrives and passes it on. Where another one arrives there is a
/// join: whatever these two become when more joins are known, they never become the same. All joins that were found
/// are definitions in the next round. After a round in which nothing met, one definition reaches every other node.
pub(super) struct Flow<'a, G> {
    graph: &'a G,
    reachable: BitSet,
    nodes: Vec<State>,
    variable: u32,
    round: u32,
    /// How many more edges may be followed, and how many more each variable adds.
    budget: usize,
    share: usize,
    sources: Vec<Node>,
    work: Vec<Node>,
    met: Vec<Node>,
    joins: Vec<Node>,
}

impl<'a, G: Graph> Flow<'a, G> {
    /// Prepares for the variables of `graph`; gives up when more than `share` edges were followed for each so far.
    pub(super) fn new(graph: &'a G, share: usize) -> Self {
        Flow {
            graph,
            reachable: reachable_from(graph, [graph.entry()]),
            nodes: vec![State::default(); graph.node_count()],
            variable: 0,
            round: 0,
            budget: 0,
            share,
            sources: Vec::new(),
            work: Vec::new(),
            met: Vec::new(),
            joins: Vec::new(),
        }
    }

    /// The joins of a variable, at those nodes where it is live if liveness is given. None if that takes too long.
    pub(super) fn variable(
        &mut self,
        definitions: &[Node],
        on_entry: bool,
        liveness: Option<&Liveness>,
    ) -> Option<&[Node]> {
        self.variable += 1;
        self.budget += self.share;
        self.joins.clear();
        self.sources.clear();
        for &d in definitions.iter().filter(|d| self.reachable.contains(d.index())) {
            self.nodes[d.index()].writes = self.variable;
            self.sources.push(d);
        }
        while self.flow(on_entry, liveness) {
            if self.budget == 0 {
                return None;
            }
            for &m in &self.met {
                let node = &mut self.nodes[m.index()];
                node.joins = self.variable;
                if node.writes != self.variable {
                    self.sources.push(m);
                }
            }
            self.joins.append(&mut self.met);
        }
        Some(&self.joins)
    }

    /// One round. Returns whether joins were found.
    fn flow(&mut self, on_entry: bool, liveness: Option<&Liveness>) -> bool {
        self.round += 1;
        let graph = self.graph;
        if on_entry {
            self.arrive(graph.entry(), ON_ENTRY, liveness);
        }
        for k in 0..self.sources.len() {
            let source = self.sources[k];
            let successors = graph.successors(source);
            self.budget = self.budget.saturating_sub(successors.len());
            successors.for_each(|t| self.arrive(t, source.0, liveness));
        }
        while let Some(n) = self.work.pop() {
            let label = self.nodes[n.index()].label;
            let successors = graph.successors(n);
            self.budget = self.budget.saturating_sub(successors.len());
            successors.for_each(|t| self.arrive(t, label, liveness));
        }
        !self.met.is_empty()
    }

    #[inline]
    fn arrive(&mut self, node: Node, label: u32, liveness: Option<&Liveness>) {
        let state = &mut self.nodes[node.index()];
        if state.round != self.round {
            if state.joins == self.variable || liveness.is_some_and(|l| !l.at(node)) {
                return;
            }
            (state.round, state.label) = (self.round, label);
            if state.writes != self.variable {
                self.work.push(node);
            }
        } else if state.label != label && state.met != self.round {
            state.met = self.round;
            self.met.push(node);
        }
    }
}
