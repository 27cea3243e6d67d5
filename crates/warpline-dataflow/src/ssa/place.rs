//! Where construction puts φs, and what variables hold where uses need not be dominated.

use warpline_analysis::phi_placement::{
    self, Dominators, Pruning, dominance_frontiers, precise, reaching_definitions,
};
use warpline_analysis::{CsrGraph, DfsOrder, Node};

use super::access_list::{AccessList, Slot};
use super::aliases::aliases;
use super::construct::{ConstructOptions, Placement};

/// The outcome of placement.
pub(super) struct Placed {
    /// The φs: variable by variable, blocks in increasing order.
    pub phis: Vec<(Slot, Node)>,
    pub aliases: Vec<precise::Alias>,
}

/// Places φs for the variables of `accesses`.
pub(super) fn place(
    graph: &CsrGraph,
    dfs: &DfsOrder,
    accesses: &AccessList,
    options: &ConstructOptions,
) -> Placed {
    let dominators = Dominators::of(graph);
    let strict = |phis| Placed { phis, aliases: Vec::new() };
    if options.writes_all_on_entry() {
        return strict(joins(&dominators, &accesses.for_placement(0..accesses.variables(), &[]), options));
    }
    if !options.strict {
        return with_aliases(&dominators, dfs, accesses, options);
    }
    // What is read and what other φs need; a pruned φ is read anyway.
    let needed = match options.pruning {
        Pruning::Pruned => Vec::new(),
        _ => joins(&dominators, &accesses.for_placement([], &[]), options),
    };
    let read = accesses.for_placement([], &needed);
    let accesses = accesses.for_placement(unwritten_somewhere(&dominators, &read), &needed);
    strict(pairs(&precise::place(&dominators, &accesses, Pruning::Pruned)))
}

/// How many variables there are at least before it is asked which of them can be read unwritten.
const MANY: usize = 16;

/// The variables that may be read, or joined, before they are written, as far as that is looked at. If the only node
/// that writes a variable dominates all that read it, the variable needs no φ, and nobody need look where it is live.
/// Of functions with few variables it is not asked, since dominators may cost more than that.
fn unwritten_somewhere(dominators: &Dominators<CsrGraph>, accesses: &phi_placement::Accesses) -> Vec<usize> {
    let all = 0..accesses.variables();
    if all.len() < MANY {
        return all.collect();
    }
    let dom = dominators.tree();
    let is_written_first = |&x: &usize| match *accesses.definitions(x) {
        [write] => accesses.exposed(x).iter().all(|&read| dom.strictly_dominates(write, read)),
        _ => false,
    };
    all.filter(|x| !is_written_first(x)).collect()
}

/// A placement as pairs of variable and node.
fn pairs(placement: &phi_placement::Placement) -> Vec<(Slot, Node)> {
    let mut pairs = Vec::with_capacity(placement.count());
    for x in 0..placement.variables() {
        pairs.extend(placement.of(x).iter().map(|&n| (Slot(x as u32), n)));
    }
    pairs
}

/// The joins of the definitions in `accesses`, by the method asked for.
fn joins(
    dominators: &Dominators<CsrGraph>,
    accesses: &phi_placement::Accesses,
    options: &ConstructOptions,
) -> Vec<(Slot, Node)> {
    let pruning = options.pruning;
    match options.placement {
        Placement::DominanceFrontier => {
            pairs(&dominance_frontiers::sreedhar_gao(dominators, accesses, pruning))
        }
        Placement::Precise => pairs(&precise::place(dominators, accesses, pruning)),
        Placement::ReachingDefinitions => {
            let all = reaching_definitions::place(dominators.graph(), accesses);
            prune(pairs(&all), dominators, accesses, pruning)
        }
    }
}

/// Those of the φs that are wanted.
fn prune(
    mut phis: Vec<(Slot, Node)>,
    dominators: &Dominators<CsrGraph>,
    accesses: &phi_placement::Accesses,
    pruning: Pruning,
) -> Vec<(Slot, Node)> {
    match pruning {
        Pruning::Minimal => {}
        Pruning::SemiPruned => phis.retain(|p| !accesses.exposed(p.0.index()).is_empty()),
        Pruning::Pruned => {
            // Joins are in the iterated frontier, which here has the nodes where the variable is live.
            let live = dominance_frontiers::sreedhar_gao(dominators, accesses, pruning);
            phis.retain(|p| live.of(p.0.index()).binary_search(&p.1).is_ok());
        }
    }
    phis
}

/// The joins of the definitions, and what variables hold elsewhere.
fn with_aliases(
    dominators: &Dominators<CsrGraph>,
    dfs: &DfsOrder,
    list: &AccessList,
    options: &ConstructOptions,
) -> Placed {
    let accesses = list.for_placement([], &[]);
    if options.placement == Placement::Precise {
        let (phis, aliases) = precise::place_with_aliases(dominators, &accesses, options.pruning);
        return Placed { phis: pairs(&phis), aliases };
    }
    let phis = joins(dominators, &accesses, options);
    let written_on_entry = list.for_placement(0..list.variables(), &[]);
    let frontier = dominance_frontiers::sreedhar_gao(dominators, &written_on_entry, options.pruning);
    let aliases = aliases(dominators.graph(), dfs, list, &phis, &pairs(&frontier));
    Placed { phis, aliases }
}
