//! φ placement by iterated dominance frontiers: every variable counts as defined on entry.
//!
//! [`cytron`] is the algorithm of Cytron et al. (*Efficiently computing static single assignment form and the control
//! dependence graph*, 1991): the frontiers of all nodes are stored, and a worklist closes each variable's definitions under
//! them. Frontiers are found as Cooper, Harvey and Kennedy do, from the joins upwards. Their total size can
//! be quadratic. [`sreedhar_gao`] stores none and walks subtrees of the dominator tree instead (*A linear time
//! algorithm for placing φ-nodes*, 1995).

use super::liveness::Liveness;
use super::{Accesses, Dominators, Placement, Pruning};
use crate::dom::DomTree;
use crate::frontier::IteratedFrontier;
use crate::graph::{Graph, Lists, Node};

/// The dominance frontiers of all nodes.
pub(super) fn frontiers<G: Graph>(graph: &G, dom: &DomTree) -> Lists<Node> {
    let mut pairs: Vec<(usize, Node)> = Vec::new();
    let mut last: Vec<u32> = vec![u32::MAX; graph.node_count()];
    for &join in dom.pre_order() {
        if graph.in_edges(join).len() < 2 && join != graph.entry() {
            continue;
        }
        for p in graph.predecessors(join).filter(|&p| dom.is_reachable(p)) {
            let mut runner = Some(p);
            while let Some(n) = runner.filter(|&n| Some(n) != dom.idom(join)) {
                if std::mem::replace(&mut last[n.index()], join.0) == join.0 {
                    break;
                }
                pairs.push((n.index(), join));
                runner = dom.idom(n);
            }
        }
    }
    Lists::group(graph.node_count(), pairs.iter().copied())
}

/// Whether a variable gets φs at all: not if nothing is written but on entry, or if nobody reads where reads count.
pub(super) fn is_trivial<G: Graph>(
    graph: &G,
    accesses: &Accesses,
    variable: usize,
    pruning: Pruning,
) -> bool {
    let from_entry = |&d: &Node| d == graph.entry() && graph.in_edges(d).is_empty();
    accesses.definitions(variable).iter().all(from_entry)
        || pruning != Pruning::Minimal && accesses.exposed(variable).is_empty()
}

/// Places φs by stored dominance frontiers.
pub fn cytron<G: Graph>(dominators: &Dominators<G>, accesses: &Accesses, pruning: Pruning) -> Placement {
    let graph = dominators.graph();
    let mut stored: Option<Lists<Node>> = None;
    let mut liveness = (pruning == Pruning::Pruned).then(|| Liveness::new(graph.node_count()));
    // The last variable for which a node was found to need a φ, and for which it was put on the worklist.
    let mut placed: Vec<u32> = vec![u32::MAX; graph.node_count()];
    let mut listed: Vec<u32> = vec![u32::MAX; graph.node_count()];
    let mut work: Vec<Node> = Vec::new();
    let mut found: Vec<Node> = Vec::new();
    let mut placement = Placement::with_capacity(accesses.variables());
    for x in 0..accesses.variables() {
        if !is_trivial(graph, accesses, x, pruning) {
            let frontiers = stored.get_or_insert_with(|| frontiers(graph, dominators.tree()));
            if let Some(liveness) = &mut liveness {
                liveness.of(graph, accesses.definitions(x), accesses.exposed(x));
            }
            for &d in accesses.definitions(x) {
                listed[d.index()] = x as u32;
                work.push(d);
            }
            while let Some(n) = work.pop() {
                for &t in frontiers.get(n.index()) {
                    if placed[t.index()] == x as u32 || liveness.as_ref().is_some_and(|l| !l.at(t)) {
                        continue;
                    }
                    placed[t.index()] = x as u32;
                    found.push(t);
                    if std::mem::replace(&mut listed[t.index()], x as u32) != x as u32 {
                        work.push(t);
                    }
                }
            }
        }
        placement.push(found.drain(..));
    }
    placement
}

/// Places φs by walks over subtrees of the dominator tree.
pub fn sreedhar_gao<G: Graph>(
    dominators: &Dominators<G>,
    accesses: &Accesses,
    pruning: Pruning,
) -> Placement {
    let graph = dominators.graph();
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
