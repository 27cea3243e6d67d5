//! What a group of lanes spends most of its time on, by kind and place: the reasons in reports and remarks.

use std::collections::BTreeMap;

use warpline_analysis::Node;
use warpline_ir::{Function, Inst, LaneOp, Op, Place};

use super::work::divides_by_constant;
use super::{Machine, Program};
use crate::dependences::is_piece;
use crate::recipes::{Contiguous, How, Recipe, Rep};

/// Part of the estimate for a group of lanes.
#[derive(Clone, PartialEq, Debug)]
pub struct Burden {
    /// What is done.
    pub what: What,
    /// Where, if that is known.
    pub place: Option<Place>,
    /// Its part of all operations, from 0 to 1.
    pub share: f64,
}

/// A kind of work that vector code does badly.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum What {
    /// Loads from anywhere.
    Gather,
    /// Stores to anywhere.
    Scatter,
    /// Loads and stores a few elements apart.
    Strided,
    /// Loads and stores of neighbours for which the machine has no masks, so that there is a branch for each lane.
    MaskedByLane,
    /// Calls that are made for one lane after the other.
    Scalarized,
    /// Atomic operations, which are done for one lane after the other.
    Atomic,
    /// Updates of memory that lanes may share, made in their order.
    SharedUpdates,
    /// Divisions of integers.
    Division,
    /// Vector mathematics.
    Mathematics,
    /// Floating-point numbers combined in the order of the lanes.
    InOrder,
    /// What masks cost.
    Masks,
    /// Everything else.
    Arithmetic,
}

/// What to do where lanes update the same memory.
pub(super) const APART: &str = "put what does not depend on these updates into a loop of its own";

/// What to do instead of atomic operations.
pub(super) const FEWER_ATOMICS: &str =
    "update a copy of one's own, for each range or work-group, and add that up at its end";

impl What {
    /// It in words, in the plural.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            What::Gather => "gathers",
            What::Scatter => "scatters",
            What::Strided => "strided loads and stores",
            What::MaskedByLane => "loads and stores under masks, one lane after the other",
            What::Scalarized => "calls for one lane after the other",
            What::Atomic => "atomic operations, one lane after the other",
            What::SharedUpdates => "updates of memory that lanes may share, one lane after the other",
            What::Division => "integer divisions",
            What::Mathematics => "mathematics",
            What::InOrder => "sums or products of floating-point numbers in order",
            What::Masks => "masks",
            What::Arithmetic => "arithmetic",
        }
    }

    /// What a user can change about it.
    #[must_use]
    pub fn advice(self) -> Option<&'static str> {
        Some(match self {
            What::Gather | What::Scatter => {
                "neighbouring lanes should access neighbouring elements: exchange loops, or the order of the array"
            }
            What::Strided => "a structure of arrays instead of an array of structures has unit stride",
            What::MaskedByLane => {
                "promise `//@ exclusive NAME` (or `--exclusive NAME`), store a value that is chosen \
                 (`x = c ? new : x`), or take a CPU with masks"
            }
            What::Scalarized => {
                "let the function be seen (`static`, a header, LTO) so that it is vectorized, too"
            }
            What::Atomic => FEWER_ATOMICS,
            What::SharedUpdates => APART,
            What::Division => "divide by constants, or by floating-point numbers",
            What::Mathematics => "`--math-ulp`, `float` instead of `double`, or fewer calls",
            What::InOrder => {
                "allow any order if results may differ in the last places (`--any-order`, `//@ loop any-order`, a \
                 `reduction` clause of OpenMP)"
            }
            What::Masks => "fewer branches that lanes take apart",
            What::Arithmetic => return None,
        })
    }
}

/// The part that each instruction has in all operations of a group of so many lanes.
pub(super) fn shares(
    program: &Program<'_>,
    machine: &Machine,
    width: u32,
) -> impl Iterator<Item = (Inst, f64)> + use<> {
    let (mut operations, mut all) = (Vec::new(), 0.0);
    for &b in &program.func.layout {
        let is_outside = program.cycles.innermost(Node::from(b)).is_none();
        for &i in &program.func.blocks[b].insts {
            if is_outside && program.is_free(i) {
                continue;
            }
            let own = program.frequency[b] * program.work_of(machine, width, i).operations();
            operations.push((i, own));
            all += own;
        }
    }
    operations.into_iter().filter(|&(_, own)| own > 0.0).map(move |(i, own)| (i, own / all))
}

/// The heaviest burdens of a group of so many lanes, each kind and place once.
pub(super) fn heaviest(program: &Program<'_>, machine: &Machine, width: u32, most: usize) -> Vec<Burden> {
    let mut by_loc = BTreeMap::new();
    for (i, share) in shares(program, machine, width) {
        let loc = program.func.insts[i].loc.expand();
        *by_loc.entry((loc, what(program, machine, width, i))).or_insert(0.0) += share;
    }
    // Several locations are in one line.
    let mut by_line: BTreeMap<_, Burden> = BTreeMap::new();
    for ((loc, what), share) in by_loc {
        let place = Place::of(program.module, program.func, loc).map(|place| Place { column: 0, ..place });
        let key = (what, place.as_ref().map(|place| (place.file.clone(), place.line)));
        by_line.entry(key).or_insert(Burden { what, place, share: 0.0 }).share += share;
    }
    let mut found: Vec<Burden> = by_line.into_values().collect();
    found.sort_by(|a, b| b.share.total_cmp(&a.share));
    found.truncate(most);
    found
}

/// Whether an instruction calls what was cut out of the program so that lanes update memory one after the other.
fn is_update_in_order(program: &Program<'_>, i: Inst) -> bool {
    let callee = match &program.func.insts[i].op {
        Op::Call(info) => info.callee,
        _ => None,
    };
    callee.is_some_and(|symbol| is_piece(&program.module.symbols[symbol].name))
}

/// The kind of work that an instruction's recipe is.
pub(super) fn what(program: &Program<'_>, machine: &Machine, width: u32, i: Inst) -> What {
    let data = &program.func.insts[i];
    match program.plan(width).recipe(i) {
        Recipe::Contiguous(Contiguous::ByLane) => What::MaskedByLane,
        Recipe::Contiguous(Contiguous::Active) if matches!(data.op, Op::Store(_)) => What::MaskedByLane,
        Recipe::Contiguous(Contiguous::Masked) if !program.has_masks_for(machine, i) => What::MaskedByLane,
        // Whole registers, as neighbours are.
        Recipe::Group(id) if program.plan(width).group(*id).is_in_order() => What::Arithmetic,
        Recipe::Group(_) | Recipe::Overlapping(_) | Recipe::Elsewhere => What::Strided,
        Recipe::Gather(gather) => match program.func.accessed(i).map(|a| program.reps[a.address]) {
            Some(Rep::Strided(_)) if gather.how != How::ByLane => What::Strided,
            _ => What::Gather,
        },
        Recipe::Rows(..) => What::Gather,
        Recipe::Scatter(scatter) if scatter.how == How::Pick => What::Arithmetic,
        Recipe::Scatter(_) => match program.func.accessed(i).map(|a| program.reps[a.address]) {
            Some(Rep::Strided(_)) => What::Strided,
            _ => What::Scatter,
        },
        Recipe::Divide(_) | Recipe::Divided(_) => What::Division,
        Recipe::Widen if divides_by_constant(program.func, i) => What::Arithmetic,
        Recipe::Widen if matches!(data.op, Op::Binary(op) if op.is_int_division()) => What::Division,
        Recipe::Exact(_) | Recipe::Inline(_) | Recipe::Library { .. } => What::Mathematics,
        Recipe::Scalarize { .. } if is_update_in_order(program, i) => What::SharedUpdates,
        Recipe::Scalarize { .. } if is_atomic(&data.op) => What::Atomic,
        Recipe::Scalarize { .. } | Recipe::Targets(_) => What::Scalarized,
        Recipe::CrossLane if combines_in_order(program.func, i) => What::InOrder,
        Recipe::CrossLane if matches!(data.op, Op::Lane(op) if op.is_of_masks() || op == LaneOp::Blend) => {
            if data.args.iter().any(|&v| program.varies(v)) {
                What::Masks
            } else {
                What::Arithmetic
            }
        }
        _ => What::Arithmetic,
    }
}

fn is_atomic(op: &Op) -> bool {
    matches!(op, Op::Opaque(info) if info.atomic.is_some())
}

/// Whether an instruction combines floating-point numbers of the lanes in their order.
fn combines_in_order(func: &Function, i: Inst) -> bool {
    let data = &func.insts[i];
    let Op::Lane(LaneOp::Reduce(combine)) = data.op else { return false };
    data.result().is_some_and(|v| combine.is_in_order(func.ty(v)))
}
