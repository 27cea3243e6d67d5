//! Static single information form by Singer's iterative construction, the baseline of paper 4, Section 5.
//!
//! φs are inserted at the iterated dominance frontiers of all definitions, σs at the iterated post-dominance
//! frontiers of all uses; a σ defines on its edges and a φ uses on its edges, so both steps alternate until nothing
//! is new. Frontiers are those that [`ssify`](super::ssify) uses, only what is new is searched from, and splits are
//! made where the variable is live only; renaming and cleaning are the same. (Paper 4 cites Singer's thesis; its text
//! of the algorithm is followed.)

use alloc::vec::Vec;

use super::occurrences::{Occurrence, Place};
use super::plan::Plan;
use super::split::{Definitions, Splitter};
use super::{Ssi, add_used, split};
use crate::graph::Node;
use crate::program::Program;

/// Static single information form by Singer's iterative construction: φs where definitions meet, σs where uses part.
/// Linear in the graph for each variable and each turn, at most.
pub fn singer_ssi(program: &Program) -> Ssi {
    let mut wanted = program.with_several_definitions().clone();
    add_used(program, &mut wanted);
    split(program, wanted, |splitter, variable, occurrences| {
        splitter.split(
            variable,
            occurrences,
            |plan, _| plan.add_uses(occurrences),
            |splitter, plan, definitions| splitter.place_by_turns(plan, definitions),
        );
    })
}

impl Splitter<'_> {
    /// Everything that static single information form asks for, into the plan, whose sources are the uses.
    pub(super) fn place_by_turns(&mut self, plan: &mut Plan, definitions: &Definitions) {
        let graph = self.program.graph();
        let mut defining = definitions.that_meet();
        loop {
            let mut found = Vec::new();
            self.extend_sigmas(&plan.up, &plan.up_edges, &mut found);
            let sigmas = merge(&mut plan.sigmas, found);
            let mut found = Vec::new();
            self.extend_phis(defining, &sigmas, &mut found);
            let phis = merge(&mut plan.phis, found);
            if phis.is_empty() {
                break;
            }
            plan.up.clear();
            plan.up_edges.clear();
            plan.up_edges.extend(phis.iter().flat_map(|&n| graph.in_edges(n)));
            defining = &[];
        }
    }
}

impl Plan {
    /// Information flows backward from every use.
    pub(super) fn add_uses(&mut self, occurrences: &[Occurrence]) {
        for o in occurrences {
            match o.place {
                Place::Use(_) | Place::Test => self.up.push(o.node),
                Place::Operand(edge) => self.up_edges.push(edge),
                Place::Phi(_) | Place::Definition(_) => {}
            }
        }
        self.up.dedup();
        self.up_edges.dedup();
    }
}

/// Adds to a sorted list what is new in another one; returns that.
fn merge(all: &mut Vec<Node>, mut found: Vec<Node>) -> Vec<Node> {
    found.sort_unstable();
    found.dedup();
    found.retain(|n| all.binary_search(n).is_err());
    all.extend_from_slice(&found);
    all.sort_unstable();
    found
}
