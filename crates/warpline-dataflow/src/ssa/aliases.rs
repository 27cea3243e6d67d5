//! What variables hold where only one definition reaches, but not on all ways.
//!
//! Where placement by dominance frontiers has a φ that is not at a join, one definition at most reaches on all ways
//! that write the variable at all, and the variable holds that. So the definition is found by following any of these
//! ways back: the places without φ are points of a graph, which the definitions flow into.

use warpline_analysis::phi_placement::precise::Alias;
use warpline_analysis::{CsrGraph, DfsOrder, Graph, Lists, Node};

use super::access_list::{AccessList, Slot};
use super::undo::UndoWalk;

/// What a variable holds on the walk.
#[derive(Copy, Clone)]
enum Held {
    Nothing,
    /// What this block writes, or the φ there.
    Definition(Node),
    /// What arrives at this point.
    Point(usize),
}

/// The aliases at `frontier`, where a definition and "unwritten" meet if they are no joins. `phis` are the joins.
/// Both are ordered by variable and block. The cost is that of the graph, the accesses and the in-edges of the
/// frontier.
pub(super) fn aliases(
    graph: &CsrGraph,
    dfs: &DfsOrder,
    accesses: &AccessList,
    phis: &[(Slot, Node)],
    frontier: &[(Slot, Node)],
) -> Vec<Alias> {
    let point = |&(s, n): &(Slot, Node)| (n.index(), (s, phis.binary_search(&(s, n)).is_ok()));
    let points = Lists::group(graph.node_count(), frontier.iter().map(point));
    let writes = Lists::group(graph.node_count(), accesses.writes.iter().map(|w| (w.node.index(), w.slot)));
    let mut held = vec![Held::Nothing; accesses.variables()];
    let mut arrived: Vec<(usize, Node)> = Vec::new();
    let mut flows: Vec<(usize, usize)> = Vec::new();
    let mut walk = UndoWalk::new();
    for &node in dfs.pre_order() {
        walk.enter(dfs, node, &mut held);
        for k in points.range(node.index()) {
            let (slot, is_join) = points.item(k);
            let now = if is_join { Held::Definition(node) } else { Held::Point(k) };
            walk.set(&mut held, slot.index(), now);
        }
        for slot in writes.get(node.index()) {
            walk.set(&mut held, slot.index(), Held::Definition(node));
        }
        for k in graph.successors(node).flat_map(|to| points.range(to.index())) {
            match (points.item(k), held[points.item(k).0.index()]) {
                ((_, true), _) | (_, Held::Nothing) => {}
                (_, Held::Definition(d)) => arrived.push((k, d)),
                (_, Held::Point(from)) => flows.push((from, k)),
            }
        }
    }
    let flows = Lists::group(points.item_count(), flows.iter().copied());
    let mut definition: Vec<Option<Node>> = vec![None; points.item_count()];
    while let Some((k, d)) = arrived.pop() {
        if definition[k].is_none() {
            definition[k] = Some(d);
            arrived.extend(flows.get(k).iter().map(|&to| (to, d)));
        }
    }
    let alias = |n: Node, k: usize| {
        Some(Alias { variable: points.item(k).0.index(), node: n, definition: definition[k]? })
    };
    graph.nodes().flat_map(|n| points.range(n.index()).filter_map(move |k| alias(n, k))).collect()
}
