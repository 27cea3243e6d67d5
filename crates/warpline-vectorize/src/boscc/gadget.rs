//! The BOSCC gadget of paper 3, Sec. 6.1, Fig. 13 (a) to (c).
//!
//! Let the divergent branch of block *a* lead to *b*, which has no other predecessor, and to *c*. The gadget is a new
//! branch at the end of *a* (which is the paper's any(*b*) from now on) to a block that has nothing but the divergent
//! branch (the paper's new *a*) if any lane goes to *b*, and to *c* otherwise. The new branch is uniform, and the
//! edges to the divergent branch and from it to *b* are kept (Thm. 4.5), so *b* and what it dominates run only if a
//! lane wants them.
//!
//! Masks are those without the gadget: what the edges of the divergent branch write is written in any(*b*), before
//! the new branch asks for the mask of its edge to *b*. So the edge from any(*b*) to *c* writes nothing, and the φs
//! of *c* take from it what they take from *a*: if it is taken, all lanes of *a* go to *c*.

use crate::linearize_state::{Branch, LinearizeState};
use warpline_ir::{Block, Edge, Op};

/// The edge that a gadget for a block stands on: its only in-edge, if that is one of the two of a divergent branch.
pub(crate) fn edge_to(state: &LinearizeState, b: Block) -> Option<Edge> {
    let &[e] = state.func.blocks[b].preds.as_slice() else { return None };
    let from = state.func.edges[e].from;
    let two_way = state.func.insts[state.func.terminator(from)].op == Op::CondBr && state.branches(from);
    if state.branch[from] != Branch::Divergent || !two_way {
        return None;
    }
    // Neither side of a divergent branch leaves or closes a loop after the loop transform; this does not rest on it.
    let level = state.loop_of[from];
    let plain = |b: Block| {
        let ends =
            state.loop_at(b).is_some() || state.func.out_edges(b).iter().any(|&e| state.is_back_edge(e));
        state.loop_of[b] == level && !state.dead_ends.contains(b) && !ends
    };
    // What leads to a header is its loop's latch or preheader.
    let to_header = state.func.successors(from).any(|s| state.loop_at(s).is_some());
    (plain(b) && !to_header && state.loop_of[other_side(state, e)] == level).then_some(e)
}

/// The target of the other edge of a two-way branch.
fn other_side(state: &LinearizeState, e: Edge) -> Block {
    let edges = state.func.out_edges(state.func.edges[e].from);
    let other = edges.iter().copied().find(|&o| o != e).unwrap_or(e);
    state.func.edges[other].to
}

/// Puts a gadget on an edge that [`edge_to`] found. The condition of the new branch is filled in when the masks are
/// written. Returns the block that ends in it.
pub(crate) fn insert(state: &mut LinearizeState, e: Edge) -> Block {
    let test = state.func.edges[e].from;
    let other = other_side(state, e);
    let rest = state.split_before_branch(test, "rest");
    let unknown = state.func.bool_const(true);
    state.func.set_terminator(test, Op::CondBr, &[unknown], &[rest, other]);
    state.branch[test] = Branch::AnyLane;
    state.tested_above[rest] = test.into();
    test
}
