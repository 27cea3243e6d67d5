//! Ranges that include their end, with a flag that says that the end has been passed.
//!
//! What Rust makes of `for i in a..=n` cannot count beyond `n`, which may be the greatest number that there is:
//!
//! ```text
//!   exhausted = false; i = a;
//!   while !exhausted && i <= n { …; exhausted = !(i < n); i = if i < n { i + 1 } else { i } }
//! ```
//!
//! Where the loop goes on, `i` has grown by 1, so that it is an induction; and the flag is false as long as `i` was not
//! `n` one iteration before, which a [counter](super::trips) knows that goes up to `n`. Where the loop ends, `i` may be
//! what it likes: nobody looks at it any more.

use cranelift_entity::EntitySet;
use warpline_dataflow::conditions::{inverse, swapped};
use warpline_ir::{BinaryOp, Block, CastOp, Function, Inst, InstFlags, IntPred, Module, Op, Type, Value};

use super::carried::Dependent;
use super::find::{Loop, dominates};
use super::flags;
use super::trips::{number, parts};
use crate::if_conversion::is_pure;

/// A flag that says that a range has come to its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exhausted {
    /// What of the loop's test asks for the flag.
    pub(super) condition: Value,
    /// The φ that counts.
    pub(super) counts: Value,
    /// By how much: 1 or −1.
    pub(super) step: i128,
    /// The loop goes on behind iterations in which `counts pred end` held and was not equal.
    pub(super) pred: IntPred,
    pub(super) end: Value,
}

/// So deep is followed what a flag and a counter become.
const MAX_DEPTH: u32 = 6;

/// What a value is where a condition is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    Number(u128),
    /// The value, and a number more.
    Plus(Value, i128),
}

/// Makes an induction of what such a flag watches. The flag is a number from then on, of the iteration before.
pub(super) fn settle(module: &Module, func: &mut Function, l: &Loop) -> Option<Exhausted> {
    let test = func.insts[l.test].args[0];
    let all = parts(func, test, l.stays_if);
    let found = all.iter().find_map(|part| {
        let flag = flag_of(func, part.condition)?;
        let position = l.position_of(func, flag).filter(|_| !part.holds)?;
        let start = func.edges[func.out_edges(l.preheader)[0]].args[position];
        if number(func, start) != Some(0) {
            return None;
        }
        Range::of(module, func, l, flag, position)
    })?;
    let end_is_compared = all.iter().find_map(|part| found.comparison(func, part.condition, part.holds));
    found.apply(func, l, end_is_compared)
}

/// The flag that a condition asks for: itself, or of which it is the last bit.
fn flag_of(func: &Function, condition: Value) -> Option<Value> {
    let data = &func.insts[func.def_inst(condition)?];
    match data.op {
        Op::Phi => Some(condition),
        // Of a flag in a byte no other bit is ever set.
        Op::Cast(CastOp::Trunc) if data.flags.contains(InstFlags::NUW) => Some(data.args[0]),
        _ => None,
    }
}

/// What has been found of a range.
struct Range {
    flag: Value,
    counts: Value,
    step: i128,
    /// The comparison that ends it.
    last: Inst,
    /// The end, and how what counts compares with it in the last iteration.
    end: Value,
    ends_if: IntPred,
}

impl Range {
    fn of(module: &Module, func: &Function, l: &Loop, flag: Value, position: usize) -> Option<Range> {
        let nexts = &func.edges[l.back].args;
        let mut seen = Vec::new();
        conditions_of(func, nexts[position], MAX_DEPTH, &mut seen);
        seen.iter().find_map(|&last| {
            let under = |v: Value, truth: bool| Case { module, func, last, truth }.of(v, MAX_DEPTH);
            let set = matches!(under(nexts[position], true), Some(Known::Number(1)));
            let kept = under(nexts[position], false);
            let kept = kept == Some(Known::Number(0)) || kept == Some(Known::Plus(flag, 0));
            // Written the other way round, it says when the range goes on.
            let (ends, goes_on) = match (set, kept) {
                (true, true) => (true, false),
                _ if under(nexts[position], false) == Some(Known::Number(1))
                    && under(nexts[position], true) == Some(Known::Number(0)) =>
                {
                    (false, true)
                }
                _ => return None,
            };
            let (pred, [a, b]) = compared(func, last)?;
            let (counts, end, pred) = match (l.position_of(func, a), l.is_invariant(func, b)) {
                (Some(_), true) => (a, b, pred),
                _ if l.position_of(func, b).is_some() && l.is_invariant(func, a) => (b, a, swapped(pred)),
                _ => return None,
            };
            let at = l.position_of(func, counts)?;
            let Some(Known::Plus(of, step @ (1 | -1))) = under(nexts[at], goes_on) else { return None };
            let ends_if = if ends { pred } else { inverse(pred) };
            let right = match ends_if {
                IntPred::Eq => true,
                IntPred::Uge | IntPred::Sge => step == 1,
                IntPred::Ule | IntPred::Sle => step == -1,
                _ => false,
            };
            let found = Range { flag, counts, step, last, end, ends_if };
            (of == counts && right && found.is_private(module, func, l)).then_some(found)
        })
    }

    /// Whether nobody looks at what counts, or at the flag, where the loop has ended.
    fn is_private(&self, module: &Module, func: &Function, l: &Loop) -> bool {
        let stays = func.edges[func.insts[l.test].edges[usize::from(!l.stays_if)]].to;
        let latch = func.edges[l.back].from;
        let made = func.insts[self.last].block;
        if func.insts[l.test].block != l.header
            || func.blocks[stays].preds.len() != 1
            || !dominates(&l.dominators, made, latch)
        {
            return false;
        }
        let behind = |b: Block| dominates(&l.dominators, stays, b);
        let users = l.users(func);
        let mut hidden: EntitySet<Value> = EntitySet::new();
        for phi in [self.flag, self.counts] {
            let dependent = Dependent::of(func, &users, phi);
            hidden.insert(phi);
            for &i in dependent.insts.iter().filter(|&&i| !behind(func.insts[i].block)) {
                if func.insts[i].op.is_terminator() && i == l.test {
                    continue;
                }
                if !is_pure(module, func, i) {
                    return false;
                }
                func.insts[i].results.iter().for_each(|&r| {
                    hidden.insert(r);
                });
            }
        }
        func.layout.iter().filter(|&&b| !behind(b)).all(|&b| {
            let outside = b != l.header;
            let mut insts = func.block_insts(b);
            let used = insts.any(|i| outside && func.insts[i].args.iter().any(|&a| hidden.contains(a)));
            let passed =
                func.out_edges(b).iter().any(|&e| func.edges[e].args.iter().any(|&a| hidden.contains(a)));
            !used && !passed
        })
    }

    /// The comparison of what counts with the same end, if a part of the loop's test is one.
    fn comparison(&self, func: &Function, condition: Value, holds: bool) -> Option<IntPred> {
        let (pred, [a, b]) = compared(func, func.def_inst(condition)?)?;
        let pred = if holds { pred } else { inverse(pred) };
        match (a == self.counts && b == self.end, b == self.counts && a == self.end) {
            (true, _) => Some(pred),
            (_, true) => Some(swapped(pred)),
            _ => None,
        }
    }

    /// Lets what counts be an induction, and the flag a byte that is computed anew in each iteration.
    fn apply(&self, func: &mut Function, l: &Loop, compared: Option<IntPred>) -> Option<Exhausted> {
        let pred = match (self.ends_if, self.step) {
            (IntPred::Uge, _) => IntPred::Ule,
            (IntPred::Ule, _) => IntPred::Uge,
            (IntPred::Sge, _) => IntPred::Sle,
            (IntPred::Sle, _) => IntPred::Sge,
            (_, step) => match compared {
                Some(pred @ (IntPred::Ule | IntPred::Sle)) if step == 1 => pred,
                Some(pred @ (IntPred::Uge | IntPred::Sge)) if step == -1 => pred,
                _ if step == 1 => IntPred::Ule,
                _ => IntPred::Uge,
            },
        };
        let latch = func.edges[l.back].from;
        let ty = func.ty(self.counts);
        let bits = ty.int_bits()?;
        let by = func.int_const(bits, self.step as u128);
        let next = func.append_value(latch, Op::Binary(BinaryOp::Add), &[self.counts, by], ty);
        func.set_phi_arg(l.back, l.position_of(func, self.counts)?, next);
        let compared = Op::ICmp(self.ends_if);
        let ended = func.append_value(latch, compared, &[self.counts, self.end], Type::BOOL);
        let flag = self.flag;
        let position = l.position_of(func, flag)?;
        let flag_ty = func.ty(flag);
        let set = match flag_ty {
            Type::BOOL => ended,
            _ => func.append_value(latch, Op::Cast(CastOp::ZExt), &[ended], flag_ty),
        };
        func.set_phi_arg(l.back, position, set);
        let phi = func.def_inst(flag)?;
        let flag = if flag_ty == Type::BOOL { flags::widen_alone(func, l, phi)? } else { flag };
        let test = func.insts[l.test].args[0];
        let all = parts(func, test, l.stays_if);
        let asks =
            |condition: Value| func.def_inst(condition).is_some_and(|i| func.insts[i].args.contains(&flag));
        let condition = all.iter().map(|part| part.condition).find(|&c| asks(c))?;
        Some(Exhausted { condition, counts: self.counts, step: self.step, pred, end: self.end })
    }
}

/// The comparisons that decide what a flag becomes.
fn conditions_of(func: &Function, v: Value, depth: u32, found: &mut Vec<Inst>) {
    let Some(i) = func.def_inst(v).filter(|_| depth > 0) else { return };
    match func.insts[i].op {
        Op::ICmp(_) => found.push(i),
        Op::Select | Op::Cast(CastOp::ZExt) | Op::Binary(BinaryOp::Xor) => {
            conditions_of(func, func.insts[i].args[0], depth - 1, found);
        }
        _ => {}
    }
}

fn compared(func: &Function, i: Inst) -> Option<(IntPred, [Value; 2])> {
    match (&func.insts[i].op, &func.insts[i].args[..]) {
        (&Op::ICmp(pred), &[a, b]) => Some((pred, [a, b])),
        _ => None,
    }
}

/// What values are where a comparison holds, or does not.
struct Case<'a> {
    module: &'a Module,
    func: &'a Function,
    last: Inst,
    truth: bool,
}

impl Case<'_> {
    fn of(&self, v: Value, depth: u32) -> Option<Known> {
        let func = self.func;
        if let Some(number) = func.as_int(v) {
            return Some(Known::Number(number));
        }
        let as_it_is = Known::Plus(v, 0);
        let Some(i) = func.def_inst(v).filter(|_| depth > 0) else { return Some(as_it_is) };
        if i == self.last {
            return Some(Known::Number(self.truth.into()));
        }
        let data = &func.insts[i];
        let of = |k: usize| self.of(data.args[k], depth - 1);
        match data.op {
            Op::ICmp(pred) => Some(match compared(func, self.last) {
                Some((own, args)) if args[..] == data.args[..] && inverse(own) == pred => {
                    Known::Number((!self.truth).into())
                }
                _ => as_it_is,
            }),
            Op::Select => match of(0)? {
                Known::Number(n) => of(if n != 0 { 1 } else { 2 }),
                Known::Plus(..) => Some(as_it_is),
            },
            Op::Cast(CastOp::ZExt) => match of(0)? {
                number @ Known::Number(_) => Some(number),
                Known::Plus(..) => Some(as_it_is),
            },
            Op::Cast(CastOp::SExt) if func.ty(data.args[0]) == Type::BOOL => match of(0)? {
                Known::Number(n) => Some(Known::Number(if n != 0 { all_ones(func.ty(v))? } else { 0 })),
                Known::Plus(..) => Some(as_it_is),
            },
            Op::Binary(BinaryOp::Xor) if func.ty(v) == Type::BOOL => match (of(0)?, of(1)?) {
                (Known::Number(a), Known::Number(b)) => Some(Known::Number(a ^ b)),
                _ => Some(as_it_is),
            },
            Op::Binary(op @ (BinaryOp::Add | BinaryOp::Sub)) => match (of(0)?, of(1)?) {
                (Known::Plus(x, by), Known::Number(n)) => {
                    let n = signed(n, func.ty(v))?;
                    Some(Known::Plus(x, if op == BinaryOp::Add { by + n } else { by - n }))
                }
                _ => Some(as_it_is),
            },
            // A difference that would be less than 0, of a number that is not 0.
            Op::Call(_) if self.is_less_one(i) => match of(0)? {
                Known::Plus(x, 0) => Some(Known::Plus(x, -1)),
                _ => Some(as_it_is),
            },
            _ => Some(as_it_is),
        }
    }

    /// Whether a call computes 1 less than a number that is known not to be 0.
    fn is_less_one(&self, i: Inst) -> bool {
        let data = &self.func.insts[i];
        let Op::Call(call) = &data.op else { return false };
        let is = |v: Value, n: u128| self.func.as_int(v) == Some(n);
        let named = call.callee.is_some_and(|s| self.module.symbols[s].name.starts_with("llvm.usub.sat."));
        let zero = compared(self.func, self.last).is_some_and(|(pred, [a, b])| {
            let not_zero = if self.truth { IntPred::Ne } else { IntPred::Eq };
            pred == not_zero && a == data.args[0] && is(b, 0)
        });
        named && zero && is(data.args[1], 1)
    }
}

fn all_ones(ty: Type) -> Option<u128> {
    ty.int_bits().map(|bits| u128::MAX >> (128 - bits))
}

fn signed(n: u128, ty: Type) -> Option<i128> {
    let bits = ty.int_bits().filter(|&bits| bits <= 64)?;
    Some((n << (128 - bits)) as i128 >> (128 - bits))
}
