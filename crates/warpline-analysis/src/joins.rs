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
//! * For the same purpose branches that leave one cycle are followed together, and where everything that
//!   can follow is known nothing is followed at all.
//!
//! A general bound that is linear is not to be expected: in a graph of three layers the question for all joins
//! contains that for a cycle of four edges, for which no linear algorithm is known.
//!
//! Besides joins there are two other facts about a branch that others build on: the *divergent exits* of a cycle are
//! the exit edges on which threads can leave it in different iterations, having parted at the branch; and an
//! irreducible cycle is *entered apart* if threads that parted at the branch can arrive at different entries of it. A
//! branch inside an irreducible cycle is analysed only as far as threads that part there come together again at once;
//! otherwise [`Joins::of_branch`] names the cycle in [`JoinSet::inside`]. Where so many edges leave so many cycles at
//! once that the rewired graph would outgrow the program, branches deep in the nest are not analysed either.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::cell::{Cell, OnceCell};

use crate::cycles::{CycleForest, CycleId};
use crate::dom::DomTree;
use crate::graph::{EdgeId, Graph, Node};
use crate::limits::Limits;
use crate::local::{self, Fate, Interior};
use crate::order::DfsOrder;
use crate::regions::Regions;
use crate::rewired::{Frontiers, Kind, Rewired};
use crate::structured::{self, Structured};
use breaks::Blame;
use known::Known;
use labels::{Contribution, From, Labels};

mod breaks;
mod known;
mod labels;

/// Where threads part.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
    /// A cycle that contains the branch, if threads that part there may not come together in it: an irreducible or very
    /// deep one, or one inside an irreducible cycle. Then the lists above are empty.
    pub inside: Option<CycleId>,
    /// The irreducible cycle around the branch that some of these threads may leave while others stay. They are taken
    /// to leave it by any exit in any iteration, and what follows is in no list.
    pub leaves: Option<CycleId>,
}

/// Working memory that is reused from one graph to the next.
#[derive(Default)]
pub(crate) struct Memory(Frontiers, Labels);

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
    /// What becomes these.
    memory: Memory,
    /// What only branches inside regions need.
    dom: OnceCell<DomTree>,
    inner_steps: Cell<usize>,
    blamed: Vec<EdgeId>,
    /// What is asked when many steps were made.
    known: Option<Known>,
    steps: usize,
    steps_unasked: usize,
}

impl<'a, G: Graph> Joins<'a, G> {
    /// Prepares queries on `graph`, whose cycles are `cycles` as found with the order `dfs`.
    /// Linear in the graph where there are cycles, else O(1); what queries need is made with the first that needs
    /// it.
    pub fn new(graph: &'a G, dfs: &'a DfsOrder, cycles: &'a CycleForest) -> Self {
        Self::within(graph, dfs, cycles, &Limits::of(graph))
    }

    /// The same within given limits. As [`new`](Self::new).
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
            memory: Memory::default(),
            dom: OnceCell::new(),
            inner_steps: Cell::new(0),
            blamed: Vec::new(),
            known: None,
            steps: 0,
            steps_unasked: limits.steps_unasked,
        }
    }

    /// The same in memory that was used before.
    pub(crate) fn with_memory(self, memory: Memory) -> Self {
        Joins { memory, ..self }
    }

    /// The memory, for another graph.
    pub(crate) fn into_memory(self) -> Memory {
        self.labels.map_or(self.memory, |(frontiers, labels)| Memory(frontiers, labels))
    }

    /// The joins of a branch, all edges of which threads may take. Empty if `branch` is unreachable or has
    /// fewer than two out-edges.
    /// O(1) for structured branches. For others the dominance frontiers that labels come to, at most quadratic in
    /// the graph with early exits counted as edges.
    pub fn of_branch(&mut self, branch: Node) -> JoinSet {
        self.of(Split::Branch(branch))
    }

    fn of(&mut self, split: Split) -> JoinSet {
        let mut set = JoinSet::default();
        match (self.inside(split), split) {
            (Some(region), Split::Branch(branch)) => match self.inside_region(region, branch) {
                Fate::Meet(found) => {
                    set.joins = found.joins.into_iter().map(|(node, _)| node).collect();
                    set.leaves = found.leaves.then_some(region);
                }
                Fate::GiveUp(cycle, _) => set.inside = Some(cycle),
            },
            _ => {
                let graph = self.graph;
                self.propagate(split, &mut Collect { graph, set: &mut set });
            }
        }
        set.joins.sort_unstable();
        set.joins.dedup();
        set.divergent_exits.sort_unstable();
        // An exit of a break may be found again, for the cycles around.
        set.divergent_exits.dedup();
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

    /// The region that contains a branch, or a cycle and more.
    pub(crate) fn inside(&self, split: Split) -> Option<CycleId> {
        match split {
            Split::Branch(node) => self.regions.region(node),
            Split::Cycle(cycle) => self.regions.region(self.cycles.header(cycle)).filter(|&r| r != cycle),
        }
    }

    /// What becomes of threads that part at a branch inside a region.
    pub(crate) fn inside_region(&self, region: CycleId, branch: Node) -> Fate {
        match self.cycles.is_reducible(region) {
            // It is a region for its depth; what is in it could be just as deep.
            true => Fate::GiveUp(region, None),
            false => self.interior(region).fate(branch),
        }
    }

    /// A region from inside.
    pub(crate) fn interior(&self, region: CycleId) -> Interior<'_, G> {
        let (dfs, dom) = self.inner();
        Interior { graph: self.graph, cycles: self.cycles, dfs, dom, region, steps: &self.inner_steps }
    }

    /// Whether so much was spent on branches inside regions that from now on whole regions are to be given up.
    pub(crate) fn is_tired(&self) -> bool {
        self.inner_steps.get()
            > local::STEPS.saturating_mul(self.graph.node_count() + self.graph.edge_count())
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
        let branch = match split {
            Split::Cycle(cycle) => return self.run(Sources::Cycle(cycle), sink),
            Split::Branch(branch) => branch,
        };
        let Some(cycle) = self.breaks_out_of(branch) else { return self.run(Sources::Branch(branch), sink) };
        let (graph, cycles) = (self.graph, self.cycles);
        let mut exits = graph.out_edges(branch).collect::<Vec<_>>();
        exits.retain(|&e| !cycles.contains(cycle, graph.target(e)));
        exits.sort_unstable();
        for &e in &exits {
            for c in cycles.around(branch).take_while(|&c| !cycles.contains(c, graph.target(e))) {
                sink.divergent_exit(c, e);
            }
        }
        if !sink.postpone(cycle, &exits) {
            self.follow_exits(cycle, &exits, sink);
        }
    }

    /// Reports what follows, beside the exits themselves, if threads leave a cycle apart by each of these exits,
    /// in increasing order, all of them edges of [postponed](JoinSink::postpone) branches.
    pub(crate) fn follow_exits(&mut self, cycle: CycleId, exits: &[EdgeId], sink: &mut impl JoinSink) {
        self.run(Sources::Exits(cycle, exits), sink);
    }

    /// How many nodes labels came to so far, on all walks.
    pub(crate) fn steps(&self) -> usize {
        self.steps
    }

    fn run(&mut self, sources: Sources<'_>, sink: &mut impl JoinSink) {
        self.rewired();
        let (graph, cycles, Some(rewired)) = (self.graph, self.cycles, self.rewired.get()) else { return };
        let nodes = rewired.node_count();
        let last = if self.steps <= self.steps_unasked {
            None
        } else {
            let known = self.known.get_or_insert_with(|| Known::new(rewired));
            Some(known.last(rewired, cycles, sources))
        };
        let make = || {
            let Memory(frontiers, labels) = core::mem::take(&mut self.memory);
            (frontiers.within(nodes, self.room), labels.within(nodes))
        };
        let (frontiers, labels) = self.labels.get_or_insert_with(make);
        labels.begin();
        let mut blame = match sources {
            Sources::Exits(cycle, exits) => {
                let header = cycles.header(cycle);
                Some(Blame::new(exits, header, graph.edge_count(), nodes, &mut self.blamed))
            }
            _ => None,
        };
        let mut start = |e: EdgeId| {
            let first = rewired.first_on(e, graph.target(e), cycles);
            let label = blame.as_ref().map_or(e.0, |b| b.label(e));
            labels.arrive(rewired, first, Contribution { label, from: From::Source(e) });
        };
        match sources {
            Sources::Branch(node) if !rewired.is_reachable(node) => {}
            Sources::Branch(node) => graph.out_edges(node).for_each(&mut start),
            Sources::Cycle(cycle) => cycles.exit_edges(graph, cycle).for_each(&mut start),
            // Early exits lead from the header to every passage, and nothing else does.
            Sources::Exits(cycle, _) => rewired
                .successors(cycles.header(cycle))
                .filter_map(|p| rewired.passage_edge(p))
                .for_each(&mut start),
        }
        while let Some(at) = labels.next() {
            self.steps += 1;
            if let (Some(last), Some(known)) = (last, &mut self.known) {
                let is_known = |n: Node| sink.is_known(rewired.kind(n));
                if known.all(rewired.position(at), last, is_known) {
                    break;
                }
            }
            let label = match labels.common_label(at) {
                Some(label) => label,
                None => {
                    report(graph, rewired, labels, at, blame.as_ref(), sink);
                    if let Some(blame) = &mut blame
                        && let Some(exit) = blame.among(labels.at(at).map(|c| c.label))
                    {
                        blame.note(at, exit);
                    }
                    graph.edge_count() as u32 + at.0
                }
            };
            if labels.is_done() || only_known_follows(rewired, labels, at, label, blame.as_ref(), sink) {
                break;
            }
            labels.depart(rewired, frontiers, at, label);
        }
    }
}

/// Where labels begin.
#[derive(Clone, Copy)]
enum Sources<'s> {
    /// On the edges of a branch.
    Branch(Node),
    /// On the exits of a cycle that was given up.
    Cycle(CycleId),
    /// On the exits of a cycle, those in the list having labels of their own.
    Exits(CycleId, &'s [EdgeId]),
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
    blame: Option<&Blame<'_>>,
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
                if let Some(exit) = blame.and_then(|b| b.among(labels.at(other).map(|c| c.label))) {
                    sink.blame(exit);
                }
                sink.join(node, &[]);
            }
            true
        }
        _ => false,
    }
}

/// Tells `sink` what it means that different labels meet at `at`.
fn report<G: Graph, S: JoinSink>(
    graph: &G,
    rewired: &Rewired<'_, G>,
    labels: &mut Labels,
    at: Node,
    blame: Option<&Blame<'_>>,
    sink: &mut S,
) {
    let meet = |labels: &mut dyn Iterator<Item = u32>, sink: &mut S| {
        if let Some(exit) = blame.and_then(|b| b.among(labels)) {
            sink.blame(exit);
        }
    };
    match rewired.kind(at) {
        Kind::Node(node) => {
            meet(&mut labels.at(at).map(|c| c.label), sink);
            if sink.wants_edges(node) {
                labels.edges(rewired, at);
                sink.join(node, &labels.on_edges);
            } else {
                sink.join(node, &[]);
            }
        }
        Kind::Exit(edge) => {
            labels.exits(rewired, at);
            if !labels.divergent.is_empty() {
                meet(&mut labels.apart.into_iter(), sink);
            }
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
                    meet(&mut here.iter().map(|&(_, l)| l), sink);
                    sink.join(entry, &here);
                }
            }
            if entries.len() > 1 {
                meet(&mut labels.on_edges.iter().map(|&(_, l)| l), sink);
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
    /// Whether nothing that can be reported of a node is new, of whatever split.
    fn is_known(&self, _: Kind) -> bool {
        false
    }
    /// Whether the branch at hand, which leaves `cycle` by `exits`, will be followed later, with others.
    fn postpone(&mut self, _cycle: CycleId, _exits: &[EdgeId]) -> bool {
        false
    }
    /// What is reported next follows from the branch that this exit leaves, one of several.
    fn blame(&mut self, _exit: EdgeId) {}
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
            walked.labels = Some((
                Frontiers::default().within(nodes, 1 + below(4) as usize),
                Labels::default().within(nodes),
            ));
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
