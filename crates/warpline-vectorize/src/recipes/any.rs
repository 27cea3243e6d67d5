//! Whether any lane is in a mask that compares what lanes have at equal distances with what all lanes share.
//!
//! Where all lanes are active and such a value does not wrap from lane to lane, its least and its greatest are those
//! of the first and the last lane, so that one comparison of scalars answers for all lanes. That is what the checks of
//! bounds of an index are: `i < n` fails for any lane if it fails for the last.

use warpline_dataflow::conditions::{inverse, swapped};
use warpline_ir::{BinaryOp, Inst, IntPred, LaneOp, Op, Type, Value};
use warpline_uniformity::shape::{Exact, Shape};

use super::{Planner, Recipe, Rep};

/// So many operations of masks are looked through.
const DEPTH: u32 = 4;

/// A comparison that holds for any lane if it holds for one that is known.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct OfOneLane {
    /// The comparison.
    pub pred: IntPred,
    /// At equal distances between lanes.
    pub left: Value,
    /// The same in all lanes.
    pub right: Value,
    /// The lane whose value is compared.
    pub lane: u32,
}

impl Planner<'_> {
    /// The recipe of the question whether a mask has any lane, also if it is one to choose between scalars by.
    pub(super) fn mask_any(&self, i: Inst) -> Recipe {
        let data = &self.func.insts[i];
        let mask = data.args[0];
        let is_scalar = data.result().is_some_and(|v| self.rep(v).is_scalar());
        let mut found = Vec::new();
        if is_scalar
            && !self.is_uniform(mask)
            && self.alternatives(mask, false, DEPTH, &mut found)
            && !found.is_empty()
        {
            return Recipe::AnyOfOne(found);
        }
        Recipe::CrossLane
    }

    /// Collects comparisons of which one holds if and only if some lane is in the mask, or is not in it where
    /// `negated`. Whether there are such.
    fn alternatives(&self, m: Value, negated: bool, depth: u32, found: &mut Vec<OfOneLane>) -> bool {
        let Some(i) = self.func.def_inst(m).filter(|_| depth > 0) else { return false };
        let data = &self.func.insts[i];
        if self.func.blocks[data.block].mask.is_some() {
            return false;
        }
        let is_true = |v: Value| self.func.as_int(v).is_some_and(|x| x & 1 == 1);
        let mut both = |a: Value, b: Value| {
            self.alternatives(a, negated, depth - 1, found) && self.alternatives(b, negated, depth - 1, found)
        };
        match (&data.op, &data.args[..]) {
            (Op::Binary(BinaryOp::Xor), &[a, b]) if is_true(b) && self.func.ty(a) == Type::BOOL => {
                self.alternatives(a, !negated, depth - 1, found)
            }
            (Op::Lane(LaneOp::MaskAndNot), &[a, b]) if is_true(a) => {
                self.alternatives(b, !negated, depth - 1, found)
            }
            (Op::Binary(BinaryOp::Or) | Op::Lane(LaneOp::MaskOr), &[a, b]) if !negated => both(a, b),
            (Op::Binary(BinaryOp::And) | Op::Lane(LaneOp::MaskAnd), &[a, b]) if negated => both(a, b),
            (&Op::ICmp(pred), &[a, b]) => {
                let pred = if negated { inverse(pred) } else { pred };
                let one = self.of_one_lane(pred, a, b).or_else(|| self.of_one_lane(swapped(pred), b, a));
                let is_known = one.is_some();
                found.extend(one);
                is_known
            }
            _ => false,
        }
    }

    /// A comparison of lanes with what they share, as that of one lane. All lanes are active.
    fn of_one_lane(&self, pred: IntPred, left: Value, right: Value) -> Option<OfOneLane> {
        let (Rep::Strided(_), Rep::Uniform) = (self.rep(left), self.rep(right)) else { return None };
        // What was added since shapes were found is not known to be exact.
        let Shape::Strided(stride) = self.input.shapes[left] else { return None };
        if !self.input.known.contains(left) || !self.func.ty(left).is_int() {
            return None;
        }
        let (exact, wants_greatest) = match pred {
            IntPred::Ult | IntPred::Ule => (stride.unsigned, false),
            IntPred::Ugt | IntPred::Uge => (stride.unsigned, true),
            IntPred::Slt | IntPred::Sle => (stride.signed, false),
            IntPred::Sgt | IntPred::Sge => (stride.signed, true),
            IntPred::Eq | IntPred::Ne => return None,
        };
        let is_last = wants_greatest == (stride.step > 0);
        let lane = if is_last { self.width - 1 } else { 0 };
        (exact != Exact::No).then_some(OfOneLane { pred, left, right, lane })
    }
}
