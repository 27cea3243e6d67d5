//! Live ranges split as a client asks for, so that every fact about a variable holds in its whole live range.
//!
//! Paper 4: Tavares, Boissinot, Pereira, Rastello, *Parameterized Construction of Program Representations for Sparse
//! Dataflow Analyses*, Inria RR-8491, 2014.
//!
//! * [`Strategy`], [`SplitSet`]: where live ranges are to be split; [`NAMED`]: the paper's strategies and which
//!   analyses use them.
//! * [`ssify`], [`ssify_with`]: splits them (Figures 6 to 9).
//! * [`singer_ssi`]: the form that splits at all definitions and uses, by the construction that the paper compares
//!   with.
//! * [`Ssi`]: the outcome, laid over the program (Section 6).
//!
//! A variable costs what it occurs, what its live range covers and what frontiers are searched for it; one that is
//! split nowhere but at its only definition costs nothing. Dominators and post-dominators are computed when first
//! needed.

mod assembly;
mod live_range;
mod named;
mod occurrences;
mod plan;
mod points;
#[cfg(feature = "baselines")]
mod singer;
mod single_entry;
mod split;
mod strategy;
mod versions;

pub use named::{Direction, Kind, NAMED, NamedStrategy};
pub use points::{Point, SplitSet};
#[cfg(feature = "baselines")]
pub use singer::singer_ssi;
pub use strategy::{Conditions, Strategy};
pub use versions::{Counts, Ssi, Version, VersionDef};

use crate::bitset::BitSet;
use crate::program::{Program, Variable};
use assembly::Assembly;
use split::{Splitter, Trees};

/// Splits the live ranges of all variables by a strategy (paper 4, Figure 6).
///
/// A variable with several definitions always gets a version for each, and φs where they meet: as in the paper SSA
/// form is part of every strategy.
/// Linear in what the live ranges that are split cover, and in their φs, σs and copies.
pub fn ssify(program: &Program, strategy: &Strategy) -> Ssi {
    let mut wanted = program.with_several_definitions().clone();
    if strategy.uses_down || strategy.uses_up || strategy.last_uses_up {
        add_used(program, &mut wanted);
    }
    let conditions = strategy.conditions_down.max(strategy.conditions_up);
    for test in program.all_tests().iter().filter(|t| conditions.include(t.kind)) {
        wanted.insert(test.variable.index());
    }
    split(program, wanted, |splitter, variable, occurrences| {
        let program = splitter.program;
        splitter.split(
            variable,
            occurrences,
            |plan, range| plan.follow(program, strategy, occurrences, range),
            |splitter, plan, definitions| splitter.place(plan, definitions),
        );
    })
}

/// Splits the live ranges of all variables where `points` says for each.
/// Linear in what the live ranges that are split cover, and in their φs, σs and copies.
pub fn ssify_with(program: &Program, mut points: impl FnMut(Variable) -> SplitSet) -> Ssi {
    let mut wanted = program.with_several_definitions().clone();
    let mut sets = vec![SplitSet::default(); program.variables()];
    for variable in (0..program.variables() as u32).map(Variable) {
        if !program.is_fixed(variable) {
            let set = points(variable);
            if !(set.down.is_empty() && set.up.is_empty()) {
                wanted.insert(variable.index());
            }
            sets[variable.index()] = set;
        }
    }
    split(program, wanted, |splitter, variable, occurrences| {
        let program = splitter.program;
        splitter.split(
            variable,
            occurrences,
            |plan, range| plan.follow_points(program, &sets[variable.index()], occurrences, range),
            |splitter, plan, definitions| splitter.place(plan, definitions),
        );
    })
}

fn split(
    program: &Program,
    mut wanted: BitSet,
    mut each: impl FnMut(&mut Splitter, Variable, &[occurrences::Occurrence]),
) -> Ssi {
    wanted.subtract(program.all_fixed());
    let assembly = Assembly::new(program);
    if wanted.is_empty() {
        return assembly.finish();
    }
    let trees = Trees::new(program.graph());
    let occurrences = occurrences::collect(program, &wanted);
    let mut splitter = Splitter::new(program, &trees, assembly);
    for (place, v) in wanted.iter().enumerate() {
        each(&mut splitter, Variable(v as u32), occurrences.get(place));
    }
    splitter.finish().finish()
}

fn add_used(program: &Program, wanted: &mut BitSet) {
    program.all_uses().iter().for_each(|v| _ = wanted.insert(v.index()));
    program.all_phis().iter().for_each(|phi| _ = wanted.insert(phi.operand.index()));
    program.all_tests().iter().for_each(|test| _ = wanted.insert(test.variable.index()));
}
