//! What became of a kernel, counted: the columns of paper 3, Table 1.

use serde::{Deserialize, Serialize};

use warpline_ir::{Block, Function};

use super::linearize_state::{Branch, Facts, LinearizeState, LoopId};
use super::no_return_paths;

/// The columns of paper 3, Table 1.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Branches of the kernel.
    pub branches: BranchCounts,
    /// Its loops.
    pub loops: LoopCounts,
    /// Exits of the divergent loops.
    pub exits: LoopCounts,
    /// Predicates of its loads and stores.
    pub masks: MaskCounts,
    /// Tests whether a mask has any lane, to skip code without an active lane.
    pub boscc: TestCounts,
    /// Loops with code for [iterations in which lanes agree](super::dynamic_uniformity). What else is counted is
    /// counted in both bodies.
    #[serde(default)]
    pub coherent: usize,
    /// Guards with a path for when [all lanes pass](super::passed_guards), likewise.
    #[serde(default)]
    pub guards: usize,
}

/// Branches that the vectorizer made to skip code without an active lane (paper 3, Sec. 6). Latches of transformed
/// loops and branches into dead ends are not among them.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TestCounts {
    /// Without them, something would be executed without a lane that wants it and could do harm.
    pub mandatory: usize,
    /// They save time.
    pub chosen: usize,
}

/// What became of the branches. Those that the vectorizer made itself, to ask whether a mask has any lane, are not
/// among them.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct BranchCounts {
    /// Divergent branches, all folded (or, those that leave a loop at its latch, part of its condition).
    pub divergent: usize,
    /// Uniform branches that stayed.
    pub uniform_kept: usize,
    /// Uniform branches that were folded nevertheless.
    pub uniform_lost: usize,
}

/// Loops that lanes leave together or apart; exits that all lanes or some lanes take.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LoopCounts {
    /// All lanes that are there agree.
    pub uniform: usize,
    /// Some may go, others stay.
    pub divergent: usize,
}

/// Predicates of loads and stores.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MaskCounts {
    /// Executed by every lane, whatever happens.
    #[serde(rename = "true")]
    pub always: usize,
    /// Executed by every lane or by none.
    pub uniform: usize,
    /// Executed by some lanes.
    pub varying: usize,
}

impl BranchCounts {
    /// The branches of a function in normal form, but for those into dead ends and those on constants, which normal
    /// form has added to infinite loops. None is lost so far.
    pub(super) fn of(func: &Function, facts: &Facts) -> BranchCounts {
        let dead = no_return_paths::find(func);
        let mut counts = BranchCounts::default();
        for &b in &func.layout {
            let mut targets = func.successors(b);
            let first = targets.next();
            let branches = targets.any(|t| Some(t) != first);
            let asks_any = func.successors(b).any(|t| dead.contains(t));
            let term = &func.insts[func.terminator(b)];
            let constant = term.args.first().is_some_and(|&c| func.as_int(c).is_some());
            match facts.divergent_branches.contains(b) {
                _ if !branches || asks_any || constant => {}
                true => counts.divergent += 1,
                false => counts.uniform_kept += 1,
            }
        }
        counts
    }

    /// After `lost` uniform branches have been folded.
    pub(super) fn after_losing(self, lost: usize) -> BranchCounts {
        let lost = lost.min(self.uniform_kept);
        BranchCounts { uniform_kept: self.uniform_kept - lost, uniform_lost: lost, ..self }
    }
}

impl LoopCounts {
    /// The loops of a state.
    pub(super) fn loops(state: &LinearizeState) -> LoopCounts {
        let divergent = state.loops.values().filter(|l| l.divergent).count();
        LoopCounts { uniform: state.loops.len() - divergent, divergent }
    }

    /// Counts exits by what was found of the blocks that they leave.
    pub(super) fn exits(state: &LinearizeState, exits: &[Exit]) -> LoopCounts {
        let mut counts = LoopCounts::default();
        for exit in exits {
            // Under a divergent branch not every lane of the loop is there.
            let all = state.class_of(exit.from) == state.class_of(state.loops[exit.left].header);
            match state.branch[exit.from] {
                Branch::Uniform | Branch::AnyLane if all => counts.uniform += 1,
                _ => counts.divergent += 1,
            }
        }
        counts
    }
}

/// An edge out of a divergent loop, before the loop is transformed.
pub(super) struct Exit {
    /// The block that it leaves.
    from: Block,
    /// The innermost divergent loop that it leaves.
    left: LoopId,
}

impl Exit {
    /// The exits of divergent loops, each once.
    pub(super) fn all(state: &LinearizeState) -> Vec<Exit> {
        let edges = state.loops.values().flat_map(|l| &l.exits).map(|&e| &state.func.edges[e]);
        let left = |from, to| {
            let mut left = state.loops_around(from).take_while(|&l| !state.contains(l, to));
            left.find(|&l| state.loops[l].divergent)
        };
        edges.filter_map(|e| Some(Exit { from: e.from, left: left(e.from, e.to)? })).collect()
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
