//! What paper 3 promises, checked on the graph of a real kernel, tests that skip code included.
//!
//! The kernel's own graph is judged as the random ones of [`crate::linearized`] are: by deleting nodes and by the
//! paper's definitions. Dead ends are left out, since nothing is promised of them and nothing is deferred into them.

use warpline_analysis::{CsrGraph, Graph, Node};
use warpline_vectorize::linearize::{Linearization, Linearized, NewBranch};

use crate::graphs;
use crate::linearized::{Kernel, Seen, check_graph, check_run};

/// Blocks up to which a kernel is judged: the definitions are cubic.
pub const MAX_BLOCKS: usize = 64;

/// Checks that dominance survives, that no branch appears and no edge goes of which Theorem 4.5 says that it stays,
/// that no loop is left that lanes could leave apart, and on some random walks that the paths of all lanes are
/// embedded (Theorem 3.2) and that blocks with uniform predicates are visited if and only if these are true (Theorem
/// 4.1). `None` for larger kernels.
///
/// # Errors
/// What is wrong; nodes are numbered in the order of the blocks that are not in dead ends.
pub fn check_theorems(made: &Linearization) -> Result<Option<Seen>, String> {
    let (graph, divergent, result) = without_dead_ends(made);
    if graph.node_count() > MAX_BLOCKS {
        return Ok(None);
    }
    let kernel = Kernel::of_uniform_loops(graph, divergent)?;
    let seen = check_graph(&kernel, &result)?;
    for seed in 0..2 {
        check_run(&kernel, &result, 3, seed)?;
    }
    Ok(Some(seen))
}

/// The part of the graph that the exit is reached from, renumbered, with divergent branches and what was made of it.
fn without_dead_ends(made: &Linearization) -> (CsrGraph, Vec<bool>, Linearized) {
    let graph = &made.graph;
    let mut reached = vec![false; graph.node_count()];
    let mut work = vec![graph.entry()];
    while let Some(b) = work.pop() {
        if !made.dead_ends[b.index()] && !std::mem::replace(&mut reached[b.index()], true) {
            work.extend(graph.successors(b));
        }
    }
    let kept: Vec<Node> = graph.nodes().filter(|b| reached[b.index()]).collect();
    let mut number = vec![usize::MAX; graph.node_count()];
    for (k, b) in kept.iter().enumerate() {
        number[b.index()] = k;
    }
    let renumbered = |b: Node| Node::new(number[b.index()]);
    let lives = |b: &Node| number[b.index()] != usize::MAX;
    let mut edges = Vec::new();
    for &b in &kept {
        edges.extend(graph.successors(b).filter(lives).map(|t| (number[b.index()], number[t.index()])));
    }
    let branch = |&b: &Node| {
        let old: Vec<Node> = graph.successors(b).collect();
        match &made.result.branches[b.index()] {
            // Both ways led to the same block before.
            NewBranch::Folded(t) if old.iter().all(|x| Some(x) == old.first()) => {
                NewBranch::Kept(vec![renumbered(*t); old.len()])
            }
            NewBranch::Folded(t) => NewBranch::Folded(renumbered(*t)),
            NewBranch::Kept(new) => {
                let stays = old.iter().zip(new).filter(|(old, _)| lives(old));
                NewBranch::Kept(stays.map(|(_, &new)| renumbered(new)).collect())
            }
        }
    };
    let result = Linearized { branches: kept.iter().map(branch).collect() };
    let divergent = kept.iter().map(|b| made.divergent[b.index()]).collect();
    (graphs::build(kept.len(), edges), divergent, result)
}
