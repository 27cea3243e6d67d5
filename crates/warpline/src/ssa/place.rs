//! Where construction puts φs, and what variables hold where uses need not be dominated.

use warpline_analysis::phi_placement::{self, Dominators, dominance_frontiers};
use warpline_analysis::{CsrGraph, Node};

use super::access_list::{AccessList, Slot};
use super::construct::ConstructOptions;

/// What a variable holds at the beginning of a block that has no φ for it, although its dominators do not say so.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Alias {
    pub slot: Slot,
    pub node: Node,
    /// The block at whose end the variable holds the same.
    pub definition: Node,
}

/// The outcome of placement.
pub(super) struct Placed {
    /// The φs: variable by variable, blocks in increasing order.
    pub phis: Vec<(Slot, Node)>,
    pub aliases: Vec<Alias>,
}

/// Places φs for the variables of `accesses`. All methods give dominance frontiers for now.
pub(super) fn place(graph: &CsrGraph, accesses: &AccessList, options: &ConstructOptions) -> Placed {
    let dominators = Dominators::of(graph);
    let accesses = accesses.for_placement(true, &[]);
    let phis = pairs(&dominance_frontiers::sreedhar_gao(&dominators, &accesses, options.pruning));
    Placed { phis, aliases: Vec::new() }
}

/// A placement as pairs of variable and node.
fn pairs(placement: &phi_placement::Placement) -> Vec<(Slot, Node)> {
    let mut pairs = Vec::with_capacity(placement.count());
    for x in 0..placement.variables() {
        pairs.extend(placement.of(x).iter().map(|&n| (Slot(x as u32), n)));
    }
    pairs
}
