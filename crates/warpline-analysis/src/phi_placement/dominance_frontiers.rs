//! φ placement by iterated dominance frontiers: every variable counts as defined on entry.
//!
//! [`cytron`] is the algorithm of Cytron et al. (*Efficiently computing static single assignment form and the control
//! dependence graph*, 1991): the frontiers of all nodes are stored, and a worklist closes each variable's definitions
//! under them. Frontiers are found as Cooper, Harvey and Kennedy do, from the joins upwards. Their total size can be
//! quadratic. [`sreedhar_gao`] stores none and walks subtrees of the dominator tree instead (*A linear time algorithm
//! for placing φ-nodes*, 1995).

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::liveness::Liveness;
use super::{Accesses, Dominators, Placement, Pruning, is_unentered};
use crate::dom::DomTree;
use crate::frontier::IteratedFrontier;
use crate::graph::{Graph, Node};

/// The dominance frontiers of all nodes.
pub(super) enum Frontiers<'a, G> {
    /// As linked lists: per node the first of its entries and, while they are made, the last join that was entered; per
    /// entry a member and the next entry.
    Stored { nodes: Vec<(u32, u32)>, entries: Vec<(Node, u32)> },
    /// Found by walks over the dominator tree when they are needed: the one that was asked for last.
    Walks { search: Box<IteratedFrontier<'a, G>>, entries: Vec<Node> },
}

const END: u32 = u32::MAX;

impl<'a, G: Graph> Frontiers<'a, G> {
    /// Stores the frontiers of all nodes, unless they have more than `room` members together.
    pub(super) fn new(graph: &'a G, dom: &'a DomTree, room: usize) -> Self {
        let mut nodes = vec![(END, END); graph.node_count()];
        let mut entries: Vec<(Node, u32)> = Vec::with_capacity(graph.edge_count());
        for &join in dom.pre_order() {
            if graph.in_edges(join).len() < 2 && join != graph.entry() {
                continue;
            }
            let top = dom.idom(join);
            for p in graph.predecessors(join).filter(|&p| dom.is_reachable(p)) {
                let mut runner = Some(p);
                while let Some(n) = runner.filter(|_| runner != top) {
                    let (first, last) = &mut nodes[n.index()];
                    if core::mem::replace(last, join.0) == join.0 {
                        break;
                    }
                    entries.push((join, *first));
                    *first = entries.len() as u32 - 1;
                    runner = dom.idom(n);
                }
            }
            if entries.len() > room {
                let search = Box::new(IteratedFrontier::new(graph, dom));
                return Frontiers::Walks { search, entries: Vec::new() };
            }
        }
        Frontiers::Stored { nodes, entries }
    }

    /// Whether [`of`](Self::of) leaves out what is below nodes for which its `stop` holds.
    pub(super) fn stops_at_marks(&self) -> bool {
        matches!(self, Frontiers::Walks { .. })
    }

    /// Where the frontier of `node` begins, for [`next`](Self::next). Only the frontier that was asked for last can
    /// be read. A walk does not go below nodes for which `stop` holds.
    #[inline]
    pub(super) fn of(&mut self, node: Node, stop: impl Fn(Node) -> bool) -> u32 {
        match self {
            Frontiers::Stored { nodes, .. } => nodes[node.index()].0,
            Frontiers::Walks { search, entries } => {
                search.leave(node, stop, entries);
                if entries.is_empty() { END } else { 0 }
            }
        }
    }

    /// The member at a place in a frontier, and the next place; none behind the last one.
    #[inline]
    pub(super) fn next(&self, place: u32) -> Option<(Node, u32)> {
        if place == END {
            return None;
        }
        Some(match self {
            Frontiers::Stored { entries, .. } => entries[place as usize],
            Frontiers::Walks { entries, .. } => {
                let next = if place as usize + 1 < entries.len() { place + 1 } else { END };
                (entries[place as usize], next)
            }
        })
    }
}

/// Whether a variable gets φs at all: not if nothing is written but on entry, or if nobody reads where reads count.
pub(super) fn is_trivial<G: Graph>(
    graph: &G,
    accesses: &Accesses,
    variable: usize,
    pruning: Pruning,
) -> bool {
    accesses.definitions(variable).iter().all(|&d| is_unentered(graph, d))
        || pruning != Pruning::Minimal && accesses.exposed(variable).is_empty()
}

/// How many members of frontiers [`cytron`] stores: far more than any program has that people write, but they fit
/// into memory.
const ROOM: usize = 1 << 25;

/// Places φs by stored dominance frontiers. Linear in graph, frontiers and φs; frontiers can be quadratic.
pub fn cytron<G: Graph>(dominators: &Dominators<G>, accesses: &Accesses, pruning: Pruning) -> Placement {
    let graph = dominators.graph();
    accesses.expect_graph(graph);
    let mut frontiers: Option<Frontiers<G>> = None;
    let mut liveness = (pruning == Pruning::Pruned).then(|| Liveness::new(graph.node_count()));
    // The last variable for which a node was found to need a φ, and the last for which it stood on the worklist.
    let mut seen: Vec<(u32, u32)> = Vec::new();
    let mut work: Vec<Node> = Vec::new();
    let mut found: Vec<Node> = Vec::new();
    let mut placement = Placement::with_capacity(accesses.variables());
    for x in 0..accesses.variables() {
        if is_trivial(graph, accesses, x, pruning) {
            placement.push([]);
            continue;
        }
        let frontiers = frontiers.get_or_insert_with(|| {
            seen.resize(graph.node_count(), (END, END));
            Frontiers::new(graph, dominators.tree(), ROOM)
        });
        if let Some(liveness) = &mut liveness {
            liveness.of(graph, accesses.definitions(x), accesses.exposed(x));
        }
        let round = x as u32;
        for &d in accesses.definitions(x) {
            seen[d.index()].1 = round;
            work.push(d);
        }
        while let Some(n) = work.pop() {
            let mut place = frontiers.of(n, |_| false);
            while let Some((t, next)) = frontiers.next(place) {
                place = next;
                let (placed, listed) = &mut seen[t.index()];
                if *placed == round || liveness.as_ref().is_some_and(|l| !l.at(t)) {
                    continue;
                }
                *placed = round;
                found.push(t);
                if core::mem::replace(listed, round) != round {
                    work.push(t);
                }
            }
        }
        placement.push(found.drain(..));
    }
    placement
}

/// Places φs by walks over subtrees of the dominator tree. Linear in the graph, for each variable.
pub fn sreedhar_gao<G: Graph>(
    dominators: &Dominators<G>,
    accesses: &Accesses,
    pruning: Pruning,
) -> Placement {
    let graph = dominators.graph();
    accesses.expect_graph(graph);
    let mut search: Option<IteratedFrontier<G>> = None;
    let mut liveness = (pruning == Pruning::Pruned).then(|| Liveness::new(graph.node_count()));
    let mut placement = Placement::with_capacity(accesses.variables());
    for x in 0..accesses.variables() {
        if is_trivial(graph, accesses, x, pruning) {
            placement.push([]);
            continue;
        }
        let search = search.get_or_insert_with(|| IteratedFrontier::new(graph, dominators.tree()));
        let definitions = accesses.definitions(x).iter().copied();
        placement.push(match &mut liveness {
            Some(liveness) => {
                liveness.of(graph, accesses.definitions(x), accesses.exposed(x));
                search.compute_live(definitions, |n| liveness.at(n))
            }
            None => search.compute(definitions),
        });
    }
    placement
}
