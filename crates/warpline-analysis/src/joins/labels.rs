//! Labels on the way along the head-rewired graph.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::cycles::CycleId;
use crate::graph::{EdgeId, Graph, Node};
use crate::order::filled;
use crate::rewired::{Frontiers, Origin, Rewired};

/// From where a label arrives at a node.
#[derive(Clone, Copy, Debug)]
pub(super) enum From {
    /// On this edge of the split.
    Source(EdgeId),
    /// On every edge from a node with a number from the first to the second in the dominator tree.
    Interval(u32, u32),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Contribution {
    pub(super) label: u32,
    pub(super) from: From,
}

/// The state of one propagation; kept between them so that each costs only what it touches.
#[derive(Default)]
pub(super) struct Labels {
    round: u32,
    /// By node: the round in which `head` was set, and the first of its contributions.
    head: Vec<(u32, u32)>,
    contributions: Vec<(Contribution, u32)>,
    waiting: BinaryHeap<Reverse<(u32, Node)>>,
    /// Pairs of nodes that alone have waited with different labels, in any round.
    pub(super) pairs: Pairs,
    intervals: Vec<(u32, u32, u32)>,
    /// Edges of the split that lead to the node that is looked at, sorted, with their labels.
    sources: Vec<(EdgeId, u32)>,
    pub(super) on_edges: Vec<(EdgeId, u32)>,
    pub(super) divergent: Vec<CycleId>,
    /// The labels of the innermost of these cycles: from inside, and on the early exit.
    pub(super) apart: [u32; 2],
}

const NONE: u32 = u32::MAX;

/// Remembers pairs of nodes; forgets a pair when it needs its place for another one, which costs a walk but is not
/// wrong.
#[derive(Default)]
pub(super) struct Pairs {
    places: Vec<(u32, u32)>,
}

impl Pairs {
    fn within(self, nodes: usize) -> Self {
        Pairs { places: filled(self.places, (0, 0), nodes.next_power_of_two()) }
    }

    /// Whether the pair is remembered from before. Now it is.
    pub(super) fn has_seen(&mut self, a: Node, b: Node) -> bool {
        // Numbers from 1, since 0 is an empty place.
        let pair = (a.0 + 1, b.0 + 1);
        let spread = pair.0.wrapping_mul(0x9e37_79b1) ^ pair.1.wrapping_mul(0x85eb_ca6b);
        let place = (spread ^ (spread >> 15)) as usize & (self.places.len() - 1);
        core::mem::replace(&mut self.places[place], pair) == pair
    }
}

impl Labels {
    /// For so many nodes, in the memory of other labels. What else is in that is cleared where it is used.
    pub(super) fn within(self, nodes: usize) -> Self {
        Labels {
            round: 0,
            head: filled(self.head, (0, NONE), nodes),
            pairs: self.pairs.within(nodes),
            apart: [NONE; 2],
            ..self
        }
    }

    pub(super) fn begin(&mut self) {
        self.round += 1;
        self.contributions.clear();
        self.waiting.clear();
    }

    pub(super) fn arrive<G: Graph>(&mut self, rewired: &Rewired<'_, G>, at: Node, what: Contribution) {
        let (round, head) = &mut self.head[at.index()];
        if *round != self.round {
            *round = self.round;
            *head = NONE;
            self.waiting.push(Reverse((rewired.position(at), at)));
        }
        self.contributions.push((what, *head));
        *head = self.contributions.len() as u32 - 1;
    }

    /// The waiting node that comes first in topological order: nothing more can arrive at it.
    pub(super) fn next(&mut self) -> Option<Node> {
        self.waiting.pop().map(|Reverse((_, at))| at)
    }

    /// The waiting node, if there is exactly one.
    pub(super) fn only_other(&self) -> Option<Node> {
        let &Reverse((_, at)) = self.waiting.peek()?;
        (self.waiting.len() == 1).then_some(at)
    }

    pub(super) fn is_done(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn at(&self, at: Node) -> impl Iterator<Item = Contribution> + '_ {
        let head = self.head[at.index()].1;
        let item = |i: u32| self.contributions.get(i as usize);
        core::iter::successors(item(head), move |(_, next)| item(*next)).map(|&(c, _)| c)
    }

    /// The label that arrives at `at`, if there is only one.
    pub(super) fn common_label(&self, at: Node) -> Option<u32> {
        let mut labels = self.at(at).map(|c| c.label);
        let first = labels.next()?;
        labels.all(|l| l == first).then_some(first)
    }

    /// Carries `label` on from `at`.
    pub(super) fn depart<G: Graph>(
        &mut self,
        rewired: &Rewired<'_, G>,
        frontiers: &mut Frontiers,
        at: Node,
        label: u32,
    ) {
        let (first, last) = rewired.dom().subtree(at);
        if let Some(frontier) = frontiers.get(rewired, at) {
            for &to in frontier {
                self.arrive(rewired, to, Contribution { label, from: From::Interval(first, last) });
            }
        } else {
            for to in rewired.successors(at) {
                self.arrive(rewired, to, Contribution { label, from: From::Interval(first, first) });
            }
        }
    }

    /// Prepares [`on_edge`](Self::on_edge) for the edges into `at`.
    fn prepare(&mut self, at: Node) {
        let mut intervals = core::mem::take(&mut self.intervals);
        intervals.clear();
        intervals.extend(self.at(at).filter_map(|c| match c.from {
            From::Interval(first, last) => Some((first, last, c.label)),
            From::Source(_) => None,
        }));
        intervals.sort_unstable();
        self.intervals = intervals;
        let mut sources = core::mem::take(&mut self.sources);
        sources.clear();
        sources.extend(self.at(at).filter_map(|c| match c.from {
            From::Source(edge) => Some((edge, c.label)),
            From::Interval(..) => None,
        }));
        // Of one edge the first one counts.
        sources.sort_by_key(|&(edge, _)| edge);
        self.sources = sources;
    }

    /// The label on one edge of the rewired graph into the node that was prepared.
    fn on_edge<G: Graph>(&self, rewired: &Rewired<'_, G>, edge: EdgeId) -> Option<u32> {
        if let Origin::Edge(real) = rewired.origin(edge) {
            let first = self.sources.partition_point(|&(e, _)| e < real);
            if let Some(&(_, label)) = self.sources.get(first).filter(|&&(e, _)| e == real) {
                return Some(label);
            }
        }
        let number = rewired.dom().number(rewired.source(edge))?;
        let behind = self.intervals.partition_point(|&(first, _, _)| first <= number);
        let &(_, last, label) = self.intervals[..behind].last()?;
        (number <= last).then_some(label)
    }

    /// Fills `on_edges` with the labelled edges of the control-flow graph into `at`.
    pub(super) fn edges<G: Graph>(&mut self, rewired: &Rewired<'_, G>, at: Node) {
        self.prepare(at);
        let mut on_edges = core::mem::take(&mut self.on_edges);
        on_edges.clear();
        for edge in rewired.in_edges(at) {
            if let (Origin::Edge(real), Some(label)) = (rewired.origin(edge), self.on_edge(rewired, edge)) {
                on_edges.push((real, label));
            }
        }
        self.on_edges = on_edges;
    }

    /// Fills `divergent` with the cycles that threads leave in different iterations through the exit `at`.
    pub(super) fn exits<G: Graph>(&mut self, rewired: &Rewired<'_, G>, at: Node) {
        self.prepare(at);
        let mut divergent = core::mem::take(&mut self.divergent);
        divergent.clear();
        // From the edge itself outwards: what comes from inside a cycle against what comes round by its header.
        let mut inside = None;
        for edge in rewired.in_edges(at) {
            let Some(label) = self.on_edge(rewired, edge) else { continue };
            match (inside, rewired.origin(edge)) {
                (None, _) => inside = Some(label),
                (Some(l), Origin::EarlyExit(cycle)) if l != label => {
                    if divergent.is_empty() {
                        self.apart = [l, label];
                    }
                    divergent.push(cycle);
                    inside = Some(NONE);
                }
                _ => {}
            }
        }
        self.divergent = divergent;
    }
}
