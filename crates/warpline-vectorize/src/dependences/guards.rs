//! What branches say of the lanes that come to an access: that a number is below a constant, or that its low bits are
//! the same for all of them.
//!
//! In a step of a reduction, `if (l < 32) t[l] += t[l + 32]`, the lanes that load and those that store what is loaded
//! are 32 apart, and no two lanes that pass the guard are. In an exchange of neighbours, `if ((l & 1) == parity)`, two
//! lanes that pass the guard are an even number apart. Only conditions that are computed once count, outside of all
//! loops: then both accesses are under the same one.

use warpline_analysis::{DomTree, Node};
use warpline_dataflow::conditions::{both, inverse};
use warpline_ir::{BinaryOp, Block, CastOp, Function, Inst, InstFlags, IntPred, Op, Value};
use warpline_uniformity::Uniformity;

/// So many conditions around an access are looked at.
const MAX_CONDITIONS: usize = 32;

/// What is known of the lanes that execute an access.
#[derive(Clone, Debug)]
enum Guard {
    /// A number that moves by the same step from lane to lane is between two, both included.
    Between(Value, i128, i128),
    /// The remainder of such a number by a power of two is the one that this condition compares with, or, by 2, the
    /// other one.
    SameRemainder(Value, i128, bool),
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
        let [of_a, of_b] = [a, b].map(|i| self.around(self.func.insts[i].block));
        of_a.iter().all(|x| of_b.iter().all(|y| self.fit(x, y, lanes)))
    }

    /// Whether a constant says which lanes are the last ones that execute an access.
    pub(super) fn are_bounded(&self, i: Inst) -> bool {
        let is_bound = |guard: &Guard| match *guard {
            Guard::Between(x, _, to) => self.turn(x).is_none_or(|turn| to != turn - 1 && to != turn / 2 - 1),
            Guard::SameRemainder(..) => false,
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
            (&Guard::SameRemainder(x, count, of_a), &Guard::SameRemainder(y, _, of_b)) if x == y => {
                self.apart(x, lanes).is_none_or(|by| (by % count == 0) == (of_a == of_b))
            }
            _ => true,
        }
    }

    /// By how much a number differs between lanes.
    fn apart(&self, v: Value, lanes: i64) -> Option<i128> {
        let step = self.uniformity.shape(self.number(v)?).step()?;
        Some(i128::from(step) * i128::from(lanes))
    }

    /// How many different numbers there are.
    fn turn(&self, v: Value) -> Option<i128> {
        self.func.ty(v).int_bits().filter(|&bits| bits <= 64).map(|bits| 1i128 << bits)
    }

    /// The number whose remainder a condition compares, or the value itself if it is a number.
    fn number(&self, v: Value) -> Option<Value> {
        if self.func.ty(v).int_bits() != Some(1) {
            return Some(v);
        }
        Some(self.remainder(v)?.0)
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
            if let Some((_, count, if_equal)) = self.remainder(v)
                && (count == 2 || if_equal == holds)
            {
                guards.push(Guard::SameRemainder(v, count, if_equal == holds));
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

    /// The number whose remainder by a power of two a condition compares with what is one for all lanes: it, the power,
    /// and whether the condition holds if they are equal.
    fn remainder(&self, condition: Value) -> Option<(Value, i128, bool)> {
        let i = self.func.def_inst(condition)?;
        let args = &self.func.insts[i].args;
        let (masked, count, equal) = match self.func.insts[i].op {
            Op::ICmp(pred @ (IntPred::Eq | IntPred::Ne)) => {
                let uniform = self.func.constant(args[1]).is_some() || self.is_uniform(args[1]);
                let and = self.func.def_inst(args[0]).filter(|_| uniform)?;
                let mask = match (&self.func.insts[and].op, &self.func.insts[and].args[..]) {
                    (Op::Binary(BinaryOp::And), &[_, mask]) => self.func.as_int(mask)? as i128,
                    _ => return None,
                };
                (self.func.insts[and].args[0], mask + 1, pred == IntPred::Eq)
            }
            Op::Cast(CastOp::Trunc) if self.func.ty(condition).int_bits() == Some(1) => (args[0], 2, false),
            _ => return None,
        };
        if !(2..=1 << 32).contains(&count) || count & (count - 1) != 0 {
            return None;
        }
        // Exclusive or with what is one for all changes the same bits for all.
        let x = match self.func.def_inst(masked).map(|i| (&self.func.insts[i].op, &self.func.insts[i].args)) {
            Some((Op::Binary(BinaryOp::Xor), args)) if self.is_uniform(args[1]) => args[0],
            Some((Op::Binary(BinaryOp::Xor), args)) if self.is_uniform(args[0]) => args[1],
            _ => masked,
        };
        (self.is_stable(x) && self.uniformity.shape(x).step().is_some()).then_some((x, count, equal))
    }

    fn is_uniform(&self, v: Value) -> bool {
        self.func.constant(v).is_some() || self.uniformity.shape(v).is_uniform()
    }
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
