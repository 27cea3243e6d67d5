//! What became of a kernel, counted: the columns of paper 3, Table 1.

use cranelift_entity::EntitySet;
use serde::Serialize;

use crate::ir::{Block, Edge};

use super::plan::{Branch, Plan};

/// The columns of paper 3, Table 1.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Counts {
    /// Branches of the kernel.
    pub branches: BranchCounts,
    /// Its loops.
    pub loops: LoopCounts,
    /// Exits of the loops that lanes leave apart.
    pub exits: LoopCounts,
    /// Predicates of its loads and stores.
    pub masks: MaskCounts,
}

/// What became of the branches. Those that the vectorizer made itself, to ask whether a mask has any lane, are not
/// among them.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct BranchCounts {
    /// Divergent branches, all folded.
    pub divergent: usize,
    /// Uniform branches that stayed.
    pub uniform_kept: usize,
    /// Uniform branches that were folded nevertheless.
    pub uniform_lost: usize,
}

/// Loops that lanes leave together or apart; exits that all lanes or some lanes take.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct LoopCounts {
    /// All lanes that are there agree.
    pub uniform: usize,
    /// Some may go, others stay.
    pub divergent: usize,
}

/// Predicates of loads and stores.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct MaskCounts {
    /// Executed by every lane, whatever happens.
    #[serde(rename = "true")]
    pub always: usize,
    /// Executed by every lane or by none.
    pub uniform: usize,
    /// Executed by some lanes.
    pub varying: usize,
}

impl LoopCounts {
    /// The loops of a plan.
    pub(super) fn loops(plan: &Plan) -> LoopCounts {
        let divergent = plan.loops.values().filter(|l| l.divergent).count();
        LoopCounts { uniform: plan.loops.len() - divergent, divergent }
    }

    /// The exits that leave at least one divergent loop, before these are transformed.
    pub(super) fn exits(plan: &Plan) -> LoopCounts {
        let mut seen: EntitySet<Edge> = EntitySet::new();
        let mut counts = LoopCounts::default();
        for &e in plan.loops.values().flat_map(|l| &l.exits) {
            let (from, to) = (plan.func.edges[e].from, plan.func.edges[e].to);
            let apart = plan.loops_around(from).any(|l| plan.loops[l].divergent && !plan.contains(l, to));
            if apart && seen.insert(e) {
                match plan.branch[from] {
                    Branch::Divergent => counts.divergent += 1,
                    _ => counts.uniform += 1,
                }
            }
        }
        counts
    }
}

impl MaskCounts {
    /// Counts a load or store. `mask` says whether its block has a mask and whether that is uniform, `always` whether
    /// every lane comes to the block, whatever happens.
    pub(super) fn add(&mut self, mask: Option<bool>, always: bool) {
        match mask {
            None if always => self.always += 1,
            None | Some(true) => self.uniform += 1,
            Some(false) => self.varying += 1,
        }
    }
}

/// Whether a block's predicate is constantly true: every lane that comes to its loop, or to the function, comes by.
pub type Always = EntitySet<Block>;
