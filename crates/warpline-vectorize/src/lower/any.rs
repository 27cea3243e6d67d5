//! Whether any lane is in a mask that compares what lanes have at equal distances with what all lanes share.
//!
//! Where all lanes are active and such a value does not wrap from lane to lane, its least and its greatest are those
//! of the first and the last lane, so that one comparison of scalars answers for all lanes. That is what the checks of
//! bounds of an index are: `i < n` fails for any lane if it fails for the last.

use warpline_dataflow::conditions::{inverse, swapped};
use warpline_ir::{BinaryOp, Inst, IntPred, LaneOp, Op, Type, Value};
use warpline_uniformity::shape::{Exact, Shape};

use super::{Lower, Rep};
use crate::VectorizeError;

/// So many operations of masks are looked through.
const DEPTH: u32 = 4;

/// A comparison that holds for any lane if it holds for one that is known.
struct OfOneLane {
    pred: IntPred,
    /// At equal distances between lanes.
    left: Value,
    /// The same in all lanes.
    right: Value,
    lane: u32,
}

impl Lower<'_> {
    /// Whether any lane is in a mask, of which nothing is computed in vectors; none if that takes the mask itself.
    pub(super) fn any_by_one_lane(&mut self, m: Value, at: Inst) -> Result<Option<Value>, VectorizeError> {
        let mut found = Vec::new();
        if !self.alternatives(m, false, DEPTH, &mut found) {
            return Ok(None);
        }
        let mut any = None;
        for OfOneLane { pred, left, right, lane } in found {
            let (left, right) = (self.lane(left, lane, at)?, self.scalar(right, at)?);
            let one = self.emit(Op::ICmp(pred), &[left, right], Type::BOOL);
            any = Some(match any {
                Some(others) => self.emit(Op::Binary(BinaryOp::Or), &[others, one], Type::BOOL),
                None => one,
            });
        }
        Ok(any)
    }

    /// Collects comparisons of which one holds if and only if some lane is in the mask, or is not in it where
    /// `negated`. Whether there are such.
    fn alternatives(&self, m: Value, negated: bool, depth: u32, found: &mut Vec<OfOneLane>) -> bool {
        let Some(i) = self.src.def_inst(m).filter(|_| depth > 0) else { return false };
        let data = &self.src.insts[i];
        if self.src.blocks[data.block].mask.is_some() {
            return false;
        }
        let is_true = |v: Value| self.src.as_int(v).is_some_and(|x| x & 1 == 1);
        let mut both = |a: Value, b: Value| {
            self.alternatives(a, negated, depth - 1, found) && self.alternatives(b, negated, depth - 1, found)
        };
        match (&data.op, &data.args[..]) {
            (Op::Binary(BinaryOp::Xor), &[a, b]) if is_true(b) && self.src.ty(a) == Type::BOOL => {
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
        let (Rep::Strided(_), Rep::Uniform) = (self.reps[left], self.reps[right]) else { return None };
        // What was added since shapes were found is not known to be exact.
        let Shape::Strided(stride) = self.shapes[left] else { return None };
        if !self.known.contains(left) || !self.src.ty(left).is_int() {
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
