//! What branches say of the lanes that come to an access: that a number is below a constant, or that some of its bits
//! are the same for all of them.
//!
//! In a step of a reduction, `if (l < 32) t[l] += t[l + 32]`, the lanes that load and those that store what is loaded
//! are 32 apart, and no two lanes that pass the guard are. In an exchange of neighbours, `if ((l & 1) == parity)`, two
//! lanes that pass the guard are an even number apart; in a step of fours, `if ((l & 2) == 0) t[l] += t[l + 2]`, they
//! are not 2 apart. Only conditions that are computed once count, outside of all
//! loops: then both accesses are under the same one.

use warpline_analysis::{DomTree, Node};
use warpline_dataflow::conditions::{both, inverse};
use warpline_ir::{BinaryOp, Block, CastOp, Function, Inst, InstFlags, IntPred, Op, Value, ValueDef};
use warpline_uniformity::Uniformity;

/// So many conditions around an access are looked at.
const MAX_CONDITIONS: usize = 32;

/// What is known of the lanes that execute an access.
#[derive(Clone, Debug)]
enum Guard {
    /// A number that moves by the same step from lane to lane is between two, both included.
    Between(Value, i128, i128),
    /// Some bits of such a number are what this condition compares them with, or a single one is not.
    Bits(Value, Bits),
}

/// Bits of a number that are known to be something.
#[derive(Copy, Clone, Debug)]
struct Bits {
    /// The number.
    of: Value,
    mask: u64,
    /// What they are; `None` for something that is the same for all lanes.
    are: Option<u64>,
    /// Whether they are something else instead. Then it is a single one.
    flipped: bool,
}

/// The guards of a kernel's accesses.
pub(super) struct Guards<'a> {
    pub(super) func: &'a Function,
    pub(super) uniformity: &'a Uniformity,
    pub(super) dominators: &'a DomTree,
}

impl Guards<'_> {
    /// Whether a lane that executes `a` and one that executes `b` can be so many lanes apart, as far as guards say.
    pub(super) fn allow(&self, a: Inst, b: Inst, lanes: i64) -> bool {
        let [mut of_a, mut of_b] = [a, b].map(|i| self.around(self.func.insts[i].block));
        let (always_of_a, always_of_b) = (self.naturals(&of_b), self.naturals(&of_a));
        of_a.extend(always_of_a);
        of_b.extend(always_of_b);
        of_a.iter().all(|x| of_b.iter().all(|y| self.fit(x, y, lanes)))
    }

    /// What always holds of the numbers of work-items that guards compare: they are not negative.
    fn naturals(&self, guards: &[Guard]) -> Vec<Guard> {
        let natural = |guard: &Guard| match *guard {
            Guard::Between(x, ..) if self.is_natural(x) => {
                self.turn(x).map(|turn| Guard::Between(x, 0, turn / 2 - 1))
            }
            _ => None,
        };
        guards.iter().filter_map(natural).collect()
    }

    /// Whether a constant says which lanes are the last ones that execute an access, so that there seem to be more,
    /// and more than this number: who lets the first two work-items load a halo does not say that there are 16.
    pub(super) fn are_bounded(&self, i: Inst, lanes: i64) -> bool {
        let counts = |x: Value| {
            let is_number = self.is_natural(x) || matches!(self.func.values[x].def, ValueDef::Param(_));
            is_number && self.apart(x, 1) == Some(1)
        };
        let is_bound = |guard: &Guard| match *guard {
            Guard::Between(x, from, to) if from >= 0 && counts(x) && to + 1 < lanes.into() => false,
            Guard::Between(x, _, to) => self.turn(x).is_none_or(|turn| to != turn - 1 && to != turn / 2 - 1),
            Guard::Bits(..) => false,
        };
        self.around(self.func.insts[i].block).iter().any(is_bound)
    }

    /// Whether lanes so far apart fit two guards.
    fn fit(&self, a: &Guard, b: &Guard, lanes: i64) -> bool {
        match (a, b) {
            (&Guard::Between(x, from_a, to_a), &Guard::Between(y, from_b, to_b)) if x == y => {
                let (Some(by), Some(turn)) = (self.apart(x, lanes), self.turn(x)) else { return true };
                // A number of `b` in a lane, and that of `a` so many lanes on.
                [by - turn, by, by + turn].iter().any(|by| from_b + by <= to_a && from_a <= to_b + by)
            }
            (&Guard::Bits(x, a), &Guard::Bits(y, b)) if a.of == b.of => {
                let (Some(by), Some(turn)) = (self.apart(a.of, lanes), self.turn(a.of)) else { return true };
                let digits = turn.ilog2();
                let by = by.rem_euclid(turn) as u64;
                match (a.are, b.are) {
                    (Some(_), Some(_)) => some_number_fits(digits, by, |_| [a.digits(), b.digits()]),
                    _ if x == y => {
                        let differ = a.flipped != b.flipped;
                        some_number_fits(digits, by, |own| {
                            let of_a = own ^ if differ { a.mask } else { 0 };
                            [(a.mask, of_a), (a.mask, own)]
                        })
                    }
                    _ => true,
                }
            }
            _ => true,
        }
    }

    /// By how much a number differs between lanes.
    fn apart(&self, v: Value, lanes: i64) -> Option<i128> {
        let step = self.uniformity.shape(v).step()?;
        Some(i128::from(step) * i128::from(lanes))
    }

    /// How many different numbers there are.
    fn turn(&self, v: Value) -> Option<i128> {
        self.func.ty(v).int_bits().filter(|&bits| bits <= 64).map(|bits| 1i128 << bits)
    }

    /// The guards around a block.
    fn around(&self, block: Block) -> Vec<Guard> {
        let mut guards = Vec::new();
        let mut at = Some(Node::from(block));
        let mut left = MAX_CONDITIONS;
        while let Some(node) = at.filter(|_| left > 0) {
            left -= 1;
            let above = self.dominators.idom(node);
            let (block, dominator) = (Block::from(node), above.map(Block::from));
            if let Some(d) = dominator
                && let [e] = self.func.blocks[block].preds[..]
                && self.func.edges[e].from == d
                && let Op::CondBr = self.func.insts[self.func.terminator(d)].op
                && let [yes, no] = *self.func.out_edges(d)
                && yes != no
            {
                let condition = self.func.insts[self.func.terminator(d)].args[0];
                self.add(&mut guards, condition, e == yes);
            }
            at = above;
        }
        guards
    }

    /// Adds what a condition says that holds or does not.
    fn add(&self, guards: &mut Vec<Guard>, condition: Value, holds: bool) {
        for (v, holds) in parts(self.func, condition, holds) {
            let Some(i) = self.func.def_inst(v).filter(|&i| self.is_once(i)) else { continue };
            let args = &self.func.insts[i].args;
            if let Op::ICmp(pred) = self.func.insts[i].op {
                guards.extend(self.between(pred, args[0], args[1], holds));
            }
            if let Some((bits, if_equal)) = self.bits(v)
                && (bits.mask.is_power_of_two() || if_equal == holds)
            {
                guards.push(Guard::Bits(v, Bits { flipped: if_equal != holds, ..bits }));
            }
            if guards.len() > MAX_CONDITIONS {
                return;
            }
        }
    }

    /// Whether an instruction is executed once.
    fn is_once(&self, i: Inst) -> bool {
        self.uniformity.cycles().innermost(Node::from(self.func.insts[i].block)).is_none()
    }

    fn is_stable(&self, v: Value) -> bool {
        self.func.def_inst(v).is_none_or(|i| self.is_once(i))
    }

    /// Where a number lies that is compared with a constant.
    fn between(&self, pred: IntPred, x: Value, limit: Value, holds: bool) -> Option<Guard> {
        let bits = self.func.ty(x).int_bits().filter(|&bits| bits > 1 && bits <= 64)?;
        let c = self.func.as_int(limit)? as i128;
        self.uniformity.shape(x).step()?;
        if !self.is_stable(x) {
            return None;
        }
        let signed = if c >> (bits - 1) & 1 == 1 { c - (1 << bits) } else { c };
        let (least, most) =
            (if self.is_natural(x) { 0 } else { -(1i128 << (bits - 1)) }, (1i128 << (bits - 1)) - 1);
        let whole = (1i128 << bits) - 1;
        let pred = if holds { pred } else { inverse(pred) };
        let (from, to) = match pred {
            IntPred::Ult => (0, c - 1),
            IntPred::Ule => (0, c),
            IntPred::Ugt => (c + 1, whole),
            IntPred::Uge => (c, whole),
            IntPred::Slt => (least, signed - 1),
            IntPred::Sle => (least, signed),
            IntPred::Sgt => (signed + 1, most),
            IntPred::Sge => (signed, most),
            IntPred::Eq => (signed, signed),
            IntPred::Ne => return None,
        };
        Some(Guard::Between(x, from, to))
    }

    /// Whether a number is the small number of a work-item in its group, which is not negative.
    fn is_natural(&self, x: Value) -> bool {
        self.func.def_inst(x).is_some_and(|i| {
            let data = &self.func.insts[i];
            data.op == Op::Cast(CastOp::Trunc) && data.flags.contains(InstFlags::NUW | InstFlags::NSW)
        })
    }

    /// The bits of a number that a condition compares with what is one for all lanes, and whether it holds if they are
    /// equal.
    fn bits(&self, condition: Value) -> Option<(Bits, bool)> {
        let i = self.func.def_inst(condition)?;
        let args = &self.func.insts[i].args;
        let (masked, mask, are, equal) = match self.func.insts[i].op {
            Op::ICmp(pred @ (IntPred::Eq | IntPred::Ne)) => {
                let (x, mask) = self.masked(args[0]).filter(|_| self.is_uniform(args[1]))?;
                (x, mask, self.func.as_int(args[1]).map(|c| c as u64), pred == IntPred::Eq)
            }
            Op::Cast(CastOp::Trunc) if self.func.ty(condition).int_bits() == Some(1) => {
                (args[0], 1, Some(0), false)
            }
            // Below a power of two if the bits from there on are 0.
            Op::ICmp(pred @ (IntPred::Ult | IntPred::Ugt)) => {
                let limit = u64::try_from(self.func.as_int(args[1])?).ok()?;
                let power = if pred == IntPred::Ult { limit } else { limit.checked_add(1)? };
                let (x, mask) = self.masked(args[0])?;
                power.is_power_of_two().then_some((x, mask & !(power - 1), Some(0), pred == IntPred::Ult))?
            }
            _ => return None,
        };
        // Exclusive or with what is one for all changes the same bits for all.
        let (of, are) =
            match self.func.def_inst(masked).map(|i| (&self.func.insts[i].op, &self.func.insts[i].args)) {
                Some((Op::Binary(BinaryOp::Xor), args)) if self.is_uniform(args[1]) => (args[0], None),
                Some((Op::Binary(BinaryOp::Xor), args)) if self.is_uniform(args[0]) => (args[1], None),
                _ => (masked, are),
            };
        let bits = Bits { of, mask, are, flipped: false };
        let is_known =
            self.turn(of).is_some() && self.is_stable(of) && self.uniformity.shape(of).step().is_some();
        is_known.then_some((bits, equal))
    }

    /// The number that a value is some bits of, and which.
    fn masked(&self, v: Value) -> Option<(Value, u64)> {
        let data = &self.func.insts[self.func.def_inst(v)?];
        match (&data.op, &data.args[..]) {
            (Op::Binary(BinaryOp::And), &[x, mask]) => Some((x, self.func.as_int(mask)? as u64)),
            _ => None,
        }
    }

    fn is_uniform(&self, v: Value) -> bool {
        self.func.constant(v).is_some() || self.uniformity.shape(v).is_uniform()
    }
}

impl Bits {
    /// Which bits are known, and what they are.
    fn digits(&self) -> (u64, u64) {
        let are = self.are.unwrap_or_default() ^ if self.flipped { self.mask } else { 0 };
        (self.mask, are)
    }
}

/// Whether there is a number of so many digits that has certain ones itself, and certain ones if `by` is added to it.
/// `known` says which, and what they are: of the sum and of the number, which may depend on the number's own digit (0 or
/// all ones).
fn some_number_fits(digits: u32, by: u64, known: impl Fn(u64) -> [(u64, u64); 2]) -> bool {
    // Whether there is one as far as the digits that were looked at, without and with a carry.
    let mut carries = [true, false];
    for digit in 0..digits {
        let mut next = [false, false];
        for (carry, own) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let total = own + (by >> digit & 1) + carry;
            let [of_sum, of_number] = known(if own == 1 { u64::MAX } else { 0 });
            let fits = |(mask, are): (u64, u64), is: u64| mask >> digit & 1 == 0 || are >> digit & 1 == is;
            if carries[carry as usize] && fits(of_number, own) && fits(of_sum, total & 1) {
                next[(total >> 1) as usize] = true;
            }
        }
        carries = next;
    }
    carries.contains(&true)
}

/// What holds, or does not, wherever a condition does (or does not): it, and the conditions that it is made of.
pub(super) fn parts(func: &Function, condition: Value, holds: bool) -> Vec<(Value, bool)> {
    let (mut all, mut work) = (Vec::new(), vec![(condition, holds)]);
    while let Some((v, holds)) = work.pop() {
        all.push((v, holds));
        let Some(i) = func.def_inst(v).filter(|_| all.len() < MAX_CONDITIONS) else { continue };
        work.extend(both(func, i, holds).into_iter().flatten().map(|part| (part, holds)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::some_number_fits;

    #[test]
    fn numbers_so_far_apart_that_have_certain_bits_are_found_as_trying_all_of_them_finds_them() {
        for mask in 0..32u64 {
            for (are, of_sum) in [(0, 0), (0, mask), (mask & 5, mask & 5), (mask & 6, mask & 3)] {
                for by in 0..32u64 {
                    let tried = (0..32u64).any(|x| x & mask == are && ((x + by) % 32) & mask == of_sum);
                    assert_eq!(
                        some_number_fits(5, by, |_| [(mask, of_sum), (mask, are)]),
                        tried,
                        "{mask} {are} {by}"
                    );
                    let same = (0..32u64).any(|x| x & mask == ((x + by) % 32) & mask);
                    let found = some_number_fits(5, by, |own| [(mask, own), (mask, own)]);
                    assert_eq!(found, same, "{mask} {by}");
                }
            }
        }
    }
}
