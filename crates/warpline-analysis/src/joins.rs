//! Joins of a branch: where threads that part at it can meet again without having come the same way.
//!
//! A node is a join of a branch if two paths that start along different edges of it arrive at the node and have
//! no instance of a node in common in between, where an instance is a node in one iteration of every cycle
//! around it (paper 1, Definition 4.5). So a node behind a loop is a join of a branch in the loop that lets some
//! threads leave earlier than others, even if it has only one predecessor.
//!
//! The answer is found by labels on the head-rewired graph (paper 1, Section 5), with three differences from
//! Algorithm 1 as printed:
//!
//! * The sources are the *edges* of the branch, not its successors. The algorithm as printed overwrites the label of
//!   a source that another source reaches and so misses the join in `if (c) {B}; C`; here that is an ordinary
//!   meeting of two edges, as are parallel edges.
//! * A label holds for the whole subtree of the rewired graph's dominator tree below the node where it
//!   arises, so it is carried from dominance frontier to dominance frontier and the regions between are not
//!   walked.
//! * The work stops as soon as no more than one node waits for labels: from there on all paths have one label.
//!   (On an acyclic graph this is exact. Where labels can come round a cycle it would not be.) Who needs only the
//!   union over many branches can also let it stop where two nodes with different labels wait at which two
//!   different labels waited before: what follows is known.
//!
//! Besides joins there are two other facts about a branch that others build on: the *divergent exits* of a cycle
//! are the exit edges on which threads can leave it in different iterations, having parted at the branch; and an
//! irreducible cycle is *entered apart* if threads that parted at the branch can arrive at different entries of
//! it. A branch inside an irreducible cycle is analysed only as far as threads that part there come together again
//! at once; otherwise [`Joins::of_branch`] names the cycle in [`JoinSet::inside`]. Where so many edges leave so
//! many cycles at once that the rewired graph would outgrow the program, branches deep in the nest are not analysed either.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::cycles::{CycleForest, CycleId};
use crate::dom::DomTree;
use crate::graph::{EdgeId, Graph, Node};
use crate::limits::Limits;
use crate::local::{self, LabelledJoin};
use crate::order::DfsOrder;
use crate::regions::Regions;
use crate::rewired::{Frontiers, Kind, Origin, Rewired};
use crate::structured::{self, Structured};

/// Where threads part.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Split {
    /// At a branch.
    Branch(Node),
    /// In a cycle that was given up: they leave it by any of its exits, in any order.
    Cycle(CycleId),
}

/// All about the joins of one branch. Lists are in increasing order.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct JoinSet {
    /// The joins.
    pub joins: Vec<Node>,
    /// Cycles that threads can leave in different iterations on the given edge.
    pub divergent_exits: Vec<(CycleId, EdgeId)>,
    /// Irreducible cycles that threads can enter at different entries.
    pub entered_apart: Vec<CycleId>,
    /// The irreducible or very deep cycle that contains the branch, if threads that part there may not come together in
    /// it. Then the lists above are empty.
    pub inside: Option<CycleId>,
}

/// Answers queries for joins on one control-flow graph.
pub struct Joins<'a, G> {
    graph: &'a G,
    dfs: Cow<'a, DfsOrder>,
    cycles: &'a CycleForest,
    regions: Regions,
    /// How many entries of dominance frontiers are kept.
    room: usize,
    /// Whether structured branches are treated as such.
    structured: bool,
    /// What only other branches need.
    rewired: OnceCell<Rewired<'a, G>>,
    labels: Option<(Frontiers, Labels)>,
    /// What only branches inside regions need.
    dom: OnceCell<DomTree>,
}

impl<'a, G: Graph> Joins<'a, G> {
    /// Prepares queries on `graph`, whose cycles are `cycles` as found with the order `dfs`.
    pub fn new(graph: &'a G, dfs: &'a DfsOrder, cycles: &'a CycleForest) -> Self {
        Self::within(graph, dfs, cycles, &Limits::of(graph))
    }

    /// The same within given limits.
    pub fn within(graph: &'a G, dfs: &'a DfsOrder, cycles: &'a CycleForest, limits: &Limits) -> Self {
        Self::with_order(graph, Cow::Borrowed(dfs), cycles, limits)
    }

    /// The same, with an order that it may keep.
    pub(crate) fn with_order(
        graph: &'a G,
        dfs: Cow<'a, DfsOrder>,
        cycles: &'a CycleForest,
        limits: &Limits,
    ) -> Self {
        Joins {
            graph,
            regions: Regions::new(graph, &dfs, cycles, limits.early_exits),
            dfs,
            cycles,
            room: limits.frontiers,
            structured: true,
            rewired: OnceCell::new(),
            labels: None,
            dom: OnceCell::new(),
        }
    }

    /// The joins of a branch, all edges of which threads may take. Empty if `branch` is unreachable or has
    /// fewer than two out-edges.
    pub fn of_branch(&mut self, branch: Node) -> JoinSet {
        self.of(Split::Branch(branch))
    }

    /// The joins of threads that leave a cycle apart that was given up: one that [`JoinSet::inside`] or
    /// [`JoinSet::entered_apart`] has named.
    pub fn of_cycle(&mut self, cycle: CycleId) -> JoinSet {
        self.of(Split::Cycle(cycle))
    }

    fn of(&mut self, split: Split) -> JoinSet {
        let mut set = JoinSet::default();
        match (self.inside(split), split) {
            (Some(region), Split::Branch(branch)) => match self.inside_region(region, branch) {
                Some(joins) => set.joins = joins.into_iter().map(|(node, _)| node).collect(),
                None => set.inside = Some(region),
            },
            _ => {
                let graph = self.graph;
                self.propagate(split, &mut Collect { graph, set: &mut set });
            }
        }
        set.joins.sort_unstable();
        set.joins.dedup();
        set.divergent_exits.sort_unstable();
        set.entered_apart.sort_unstable();
        set
    }

    /// What the answers are found on.
    pub(crate) fn parts(&self) -> (&'a G, &'a CycleForest, &Rewired<'a, G>) {
        (self.graph, self.cycles, self.rewired())
    }

    fn rewired(&self) -> &Rewired<'a, G> {
        self.rewired.get_or_init(|| Rewired::new(self.graph, &self.dfs, self.cycles, &self.regions))
    }

    /// The region that contains a node.
    pub(crate) fn region(&self, node: Node) -> Option<CycleId> {
        self.regions.region(node)
    }

    /// The region that contains a branch.
    pub(crate) fn inside(&self, split: Split) -> Option<CycleId> {
        match split {
            Split::Branch(node) => self.regions.region(node),
            Split::Cycle(_) => None,
        }
    }

    /// The joins of a branch inside a region; none if the region is to be given up.
    pub(crate) fn inside_region(&self, region: CycleId, branch: Node) -> Option<Vec<LabelledJoin>> {
        if self.cycles.is_reducible(region) {
            return None; // It is a region for its depth; what is in it could be just as deep.
        }
        let (dfs, dom) = self.inner();
        local::joins(self.graph, self.cycles, dfs, dom, region, branch)
    }

    /// An order and the dominators of the control-flow graph.
    pub(crate) fn inner(&self) -> (&DfsOrder, &DomTree) {
        (&self.dfs, self.dom.get_or_init(|| DomTree::compute_with(self.graph, &self.dfs)))
    }

    /// Carries the labels of a split that is not [inside](Self::inside) a region, and reports what
    /// happens where different ones meet.
    pub(crate) fn propagate(&mut self, split: Split, sink: &mut impl JoinSink) {
        if self.at_once(split, sink) {
            return;
        }
        self.rewired();
        let (graph, Some(rewired)) = (self.graph, self.rewired.get()) else { return };
        let nodes = rewired.node_count();
        let make = || (Frontiers::new(nodes, self.room), Labels::new(nodes));
        let (frontiers, labels) = self.labels.get_or_insert_with(make);
        labels.begin();
        let mut start = |e: EdgeId| {
            let first = rewired.first_on(e, graph.target(e), self.cycles);
            labels.arrive(rewired, first, Contribution { label: e.0, from: From::Source(e) });
        };
        match split {
            Split::Branch(node) if !rewired.is_reachable(node) => {}
            Split::Branch(node) => graph.out_edges(node).iter().copied().for_each(&mut start),
            Split::Cycle(cycle) => self.cycles.exit_edges(graph, cycle).for_each(&mut start),
        }
        while let Some(at) = labels.next() {
            let label = match labels.common_label(at) {
                Some(label) => label,
                None => {
                    report(graph, rewired, labels, at, sink);
                    graph.edge_count() as u32 + at.0
                }
            };
            if labels.is_done() || only_known_follows(rewired, labels, at, label, sink) {
                break;
            }
            labels.depart(rewired, frontiers, at, label);
        }
    }
}

impl<G: Graph> Joins<'_, G> {
    /// Reports what follows from a split if that can be seen at once; says whether it can.
    fn at_once(&self, split: Split, sink: &mut impl JoinSink) -> bool {
        let Split::Branch(branch) = split else { return false };
        if !self.dfs.is_reachable(branch) {
            return true;
        }
        let found = structured::look(self.graph, self.cycles, &self.regions, branch);
        match found.filter(|_| self.structured) {
            None => return false,
            Some(Structured::Apart) => {}
            Some(Structured::Meet(node, edges)) => {
                // Any labels will do that are different.
                sink.join(node, &edges.map(|e| (e, e.0)));
            }
            Some(Structured::Leave(cycle, exit)) => sink.divergent_exit(cycle, exit),
        }
        true
    }
}

/// Whether only one node waits besides `at`, which has got `label`, and what follows is nothing or known.
fn only_known_follows<G: Graph>(
    rewired: &Rewired<'_, G>,
    labels: &mut Labels,
    at: Node,
    label: u32,
    sink: &mut impl JoinSink,
) -> bool {
    let Some(other) = labels.only_other() else { return false };
    let there = labels.common_label(other);
    if there == Some(label) {
        return true;
    }
    // Whatever still arrives at the other node, its label will not be the one of `at`. So from here on it is the
    // same as the last time, but for what concerns the edges into the other node.
    let seen = labels.pairs.has_seen(at, other);
    match rewired.kind(other) {
        Kind::Node(node) if seen && sink.is_settled(node) => {
            if there.is_none() {
                sink.join(node, &[]);
            }
            true
        }
        _ => false,
    }
}

/// Tells `sink` what it means that different labels meet at `at`.
fn report<G: Graph>(
    graph: &G,
    rewired: &Rewired<'_, G>,
    labels: &mut Labels,
    at: Node,
    sink: &mut impl JoinSink,
) {
    match rewired.kind(at) {
        Kind::Node(node) => {
            if sink.wants_edges(node) {
                labels.edges(rewired, at);
                sink.join(node, &labels.on_edges);
            } else {
                sink.join(node, &[]);
            }
        }
        Kind::Exit(edge) => {
            labels.exits(rewired, at);
            for &c in &labels.divergent {
                sink.divergent_exit(c, edge);
            }
        }
        Kind::Region(cycle) => {
            labels.edges(rewired, at);
            let mut entries: Vec<Node> = labels.on_edges.iter().map(|&(e, _)| graph.target(e)).collect();
            entries.sort_unstable();
            entries.dedup();
            for &entry in &entries {
                let here: Vec<(EdgeId, u32)> =
                    labels.on_edges.iter().copied().filter(|&(e, _)| graph.target(e) == entry).collect();
                if here.iter().any(|&(_, l)| l != here[0].1) {
                    sink.join(entry, &here);
                }
            }
            if entries.len() > 1 {
                sink.entered_apart(cycle);
            }
        }
        Kind::Departure => {}
    }
}

/// Receives what the labels of a split show.
pub(crate) trait JoinSink {
    /// Whether the edges on which threads arrive at `node` are of no interest, and what was reported of another split
    /// before need not be reported again.
    fn is_settled(&self, node: Node) -> bool;
    /// Whether [`join`](Self::join) at `node` needs the labels of the in-edges.
    fn wants_edges(&self, node: Node) -> bool;
    /// `node` is a join. `edges` are the in-edges on which threads arrive, with labels: threads can arrive apart on
    /// two of them if their labels differ.
    fn join(&mut self, node: Node, edges: &[(EdgeId, u32)]);
    /// Threads can leave `cycle` by `edge` in different iterations.
    fn divergent_exit(&mut self, cycle: CycleId, edge: EdgeId);
    /// Threads can arrive at different entries of the irreducible `cycle`.
    fn entered_apart(&mut self, cycle: CycleId);
}

struct Collect<'a, G> {
    graph: &'a G,
    set: &'a mut JoinSet,
}

impl<G: Graph> JoinSink for Collect<'_, G> {
    fn is_settled(&self, _: Node) -> bool {
        false
    }
    fn wants_edges(&self, _: Node) -> bool {
        false
    }
    fn join(&mut self, node: Node, _: &[(EdgeId, u32)]) {
        self.set.joins.push(node);
    }
    fn divergent_exit(&mut self, cycle: CycleId, edge: EdgeId) {
        self.set.joins.push(self.graph.target(edge));
        self.set.divergent_exits.push((cycle, edge));
    }
    fn entered_apart(&mut self, cycle: CycleId) {
        self.set.entered_apart.push(cycle);
    }
}

/// From where a label arrives at a node.
#[derive(Clone, Copy, Debug)]
enum From {
    /// On this edge of the split.
    Source(EdgeId),
    /// On every edge from a node with a number from the first to the second in the dominator tree.
    Interval(u32, u32),
}

#[derive(Clone, Copy, Debug)]
struct Contribution {
    label: u32,
    from: From,
}

/// The state of one propagation; kept between them so that each costs only what it touches.
struct Labels {
    round: u32,
    /// By node: the round in which `head` was set, and the first of its contributions.
    head: Vec<(u32, u32)>,
    contributions: Vec<(Contribution, u32)>,
    waiting: BinaryHeap<Reverse<(u32, Node)>>,
    /// Pairs of nodes that alone have waited with different labels, in any round.
    pairs: Pairs,
    intervals: Vec<(u32, u32, u32)>,
    on_edges: Vec<(EdgeId, u32)>,
    divergent: Vec<CycleId>,
}

const NONE: u32 = u32::MAX;

/// Remembers pairs of nodes; forgets a pair when it needs its place for another one, which costs a walk but is not wrong.
struct Pairs {
    places: Vec<(u32, u32)>,
}

impl Pairs {
    fn new(nodes: usize) -> Self {
        Pairs { places: vec![(0, 0); nodes.next_power_of_two()] }
    }

    /// Whether the pair is remembered from before. Now it is.
    fn has_seen(&mut self, a: Node, b: Node) -> bool {
        // Numbers from 1, since 0 is an empty place.
        let pair = (a.0 + 1, b.0 + 1);
        let spread = pair.0.wrapping_mul(0x9e37_79b1) ^ pair.1.wrapping_mul(0x85eb_ca6b);
        let place = (spread ^ (spread >> 15)) as usize & (self.places.len() - 1);
        std::mem::replace(&mut self.places[place], pair) == pair
    }
}

impl Labels {
    fn new(nodes: usize) -> Self {
        Labels {
            round: 0,
            head: vec![(0, NONE); nodes],
            contributions: Vec::new(),
            waiting: BinaryHeap::new(),
            pairs: Pairs::new(nodes),
            intervals: Vec::new(),
            on_edges: Vec::new(),
            divergent: Vec::new(),
        }
    }

    fn begin(&mut self) {
        self.round += 1;
        self.contributions.clear();
        self.waiting.clear();
    }

    fn arrive<G: Graph>(&mut self, rewired: &Rewired<'_, G>, at: Node, what: Contribution) {
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
    fn next(&mut self) -> Option<Node> {
        self.waiting.pop().map(|Reverse((_, at))| at)
    }

    /// The waiting node, if there is exactly one.
    fn only_other(&self) -> Option<Node> {
        let &Reverse((_, at)) = self.waiting.peek()?;
        (self.waiting.len() == 1).then_some(at)
    }

    fn is_done(&self) -> bool {
        self.waiting.is_empty()
    }

    fn at(&self, at: Node) -> impl Iterator<Item = Contribution> + '_ {
        let head = self.head[at.index()].1;
        let item = |i: u32| self.contributions.get(i as usize);
        std::iter::successors(item(head), move |(_, next)| item(*next)).map(|&(c, _)| c)
    }

    /// The label that arrives at `at`, if there is only one.
    fn common_label(&self, at: Node) -> Option<u32> {
        let mut labels = self.at(at).map(|c| c.label);
        let first = labels.next()?;
        labels.all(|l| l == first).then_some(first)
    }

    /// Carries `label` on from `at`.
    fn depart<G: Graph>(
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
    fn sort_intervals(&mut self, at: Node) {
        let mut intervals = std::mem::take(&mut self.intervals);
        intervals.clear();
        intervals.extend(self.at(at).filter_map(|c| match c.from {
            From::Interval(first, last) => Some((first, last, c.label)),
            From::Source(_) => None,
        }));
        intervals.sort_unstable();
        self.intervals = intervals;
    }

    /// The label on one edge of the rewired graph into `at`.
    fn on_edge<G: Graph>(&self, rewired: &Rewired<'_, G>, at: Node, edge: EdgeId) -> Option<u32> {
        if let Origin::Edge(real) = rewired.origin(edge) {
            let is_source = |c: &Contribution| matches!(c.from, From::Source(e) if e == real);
            if let Some(c) = self.at(at).find(is_source) {
                return Some(c.label);
            }
        }
        let number = rewired.dom().number(rewired.source(edge))?;
        let behind = self.intervals.partition_point(|&(first, _, _)| first <= number);
        let &(_, last, label) = self.intervals[..behind].last()?;
        (number <= last).then_some(label)
    }

    /// Fills `on_edges` with the labelled edges of the control-flow graph into `at`.
    fn edges<G: Graph>(&mut self, rewired: &Rewired<'_, G>, at: Node) {
        self.sort_intervals(at);
        let mut on_edges = std::mem::take(&mut self.on_edges);
        on_edges.clear();
        for &edge in rewired.in_edges(at) {
            if let (Origin::Edge(real), Some(label)) = (rewired.origin(edge), self.on_edge(rewired, at, edge))
            {
                on_edges.push((real, label));
            }
        }
        self.on_edges = on_edges;
    }

    /// Fills `divergent` with the cycles that threads leave in different iterations through the exit `at`.
    fn exits<G: Graph>(&mut self, rewired: &Rewired<'_, G>, at: Node) {
        self.sort_intervals(at);
        let mut divergent = std::mem::take(&mut self.divergent);
        divergent.clear();
        // From the edge itself outwards: what comes from inside a cycle against what comes round by its header.
        let mut inside = None;
        for &edge in rewired.in_edges(at) {
            let Some(label) = self.on_edge(rewired, at, edge) else { continue };
            match (inside, rewired.origin(edge)) {
                (None, _) => inside = Some(label),
                (Some(l), Origin::EarlyExit(cycle)) if l != label => {
                    divergent.push(cycle);
                    inside = Some(NONE);
                }
                _ => {}
            }
        }
        self.divergent = divergent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::CsrGraph;

    #[test]
    fn joins_do_not_depend_on_whether_frontiers_are_kept_or_branches_taken_for_structured() {
        let mut state = 1u64;
        let mut below = |bound: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) as u32) % bound
        };
        let mut joins_found = 0;
        for _ in 0..2000 {
            let n = 2 + below(14);
            let tree: Vec<_> = (1..n).map(|t| (Node(below(t)), Node(t))).collect();
            let more: Vec<_> = (0..n).map(|_| (Node(below(n)), Node(below(n)))).collect();
            let graph = CsrGraph::new(n as usize, Node(0), tree.into_iter().chain(more)).unwrap();
            let dfs = DfsOrder::compute(&graph);
            let cycles = CycleForest::compute_with(&graph, &dfs);
            let mut kept = Joins::new(&graph, &dfs, &cycles);
            let mut walked = Joins::new(&graph, &dfs, &cycles);
            let nodes = walked.rewired().node_count();
            walked.structured = false;
            walked.labels = Some((Frontiers::new(nodes, 1 + below(4) as usize), Labels::new(nodes)));
            for branch in graph.nodes() {
                let set = kept.of_branch(branch);
                joins_found += set.joins.len();
                assert_eq!(
                    set,
                    walked.of_branch(branch),
                    "{branch} {:?}",
                    graph.edges().map(|e| (graph.source(e).0, graph.target(e).0)).collect::<Vec<_>>()
                );
            }
        }
        assert!(joins_found > 4000, "{joins_found}");
    }
}
