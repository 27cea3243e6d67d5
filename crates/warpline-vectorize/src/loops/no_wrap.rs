//! Values that are linear in the counter of a loop, and of which the test of the loop and the tests before it tell
//! that they do not wrap.
//!
//! Compilers make loops count from 0 by 1, whatever the program counted, and compute its variable: clang makes
//!
//! ```text
//!   if (x0 < x1) for (unsigned k = 0; k < x1 - x0; ++k) { x = k + x0; … a[x] … }
//! ```
//!
//! of `for (int x = x0; x < x1; ++x)` under `#pragma omp simd`, with sums that may wrap as far as their flags say. No
//! two lanes could be told to be neighbours in memory, if `x` might pass from the greatest number to the least
//! between them.
//!
//! # The rule
//!
//! Let all arithmetic be modulo 2^n, and *k* count from 0 by 1 while *k* <ᵤ *N*, where *N* stays the same. In an
//! iteration in which the test lets the loop go on, *k* is the number of the iteration, and 0 ≤ *k* ≤ *N* − 1 in ℤ,
//! *N* > 0; of *N* = `c ? n : 0`, it is `n`. (The same holds of *k* <ₛ *N*, since that ends at the latest where *k*
//! would wrap, and of *k* ≠ *N*.) Let *N* = ⌊*M* / *s*⌋, unsigned, where *s* = 1 if *N* is no quotient. So
//! *s*·*k* ≤ *s*·(*N* − 1) ≤ *M* − *s* in ℤ, and 0 ≤ *M* − *s* < 2^n.
//!
//! * A value *b* + *s*·*k* with *b* the same in all iterations: let *l* be the number that *b* + *M* − *s* is modulo
//!   2^n. In ℤ, *b* + (*M* − *s*) is either *l*, or *l* + 2^n since that much is added at most. If *b* ≤ *l* it is
//!   not the latter, for *b* + (*M* − *s*) < *b* + 2^n ≤ *l* + 2^n. Hence *b* ≤ *b* + *s*·*k* ≤ *l*: no such value
//!   leaves the range, and the values of the iterations differ by *s* in ℤ.
//! * A value *b* − *s*·*k*: the same downwards, if *l* ≤ *b* where *l* is *b* − (*M* − *s*) modulo 2^n.
//!
//! A loop that counts *i* from *S* by 1 while *i* < *E*, as signed or as unsigned numbers, is one of these: in an
//! iteration in which the test lets it go on, *S* ≤ *i* < *E* in ℤ, so that *k* = *i* − *S* counts from 0 and stays
//! below *N* = *E* − *S*, which is a number between 0 and 2^n. A value *b* + *s*·*i* is *b* + *s*·*S* + *s*·*k*. That
//! *S* < *E* is a comparison that holds as well as those before the loop.
//!
//! Both hold for numbers read as signed ones and as unsigned ones, if the comparison of *b* and *l* is of the same
//! kind. So all that is left to show is one comparison, of two linear expressions. It follows from one that holds on
//! an edge that every way to the loop takes: *A* + *p* ≤ *B*, where *p* is 1 for `<` and 0 for `≤`. If what is to be
//! compared is *A* + *c* and *B* − *d* modulo 2^n, where *c* and *d* are not negative and *c* + *d* ≤ *p*, then *A* ≤
//! *A* + *c* ≤ *B* − *d* ≤ *B* in ℤ, so that nothing wraps there either. Of constants it is enough that they are as
//! far apart.
//!
//! The loop and its guard branch on what is compared, which is undefined behaviour if that is poison or undef: it is
//! one number wherever it is used.
//!
//! # What is made of it
//!
//! Flags of the program's own instruction would not do: where *k* as a signed number wraps, from 2^(n−1) − 1,
//! `add nsw` is poison although the sum is right, as in a loop from the least number to the greatest. So the value of
//! lane *ℓ* is made anew, of that in the first iteration of the group: *t* ± *s*·*ℓ*, and of this it is known that it
//! does not wrap. See [`Exact`].

use warpline_analysis::Node;
use warpline_dataflow::conditions::{Holds, on_edge};
use warpline_ir::{BinaryOp, Block, Function, Inst, InstFlags, IntPred, Op, Type, Value};

use super::carried::{Carried, Kind};
use super::find::Loop;
use super::trips::{Counter, Counting, number};
use warpline_dataflow::linear::{Extension, Sum, Term};

/// How many blocks that dominate the loop are looked at.
const MAX_GUARDS: usize = 64;

/// A value of the loop that is `base + scale · counter` and does not wrap, from one iteration to the next.
#[derive(Clone, Debug)]
pub(super) struct Exact {
    pub(super) value: Value,
    /// The same in all iterations: of operands of the loop's instructions.
    pub(super) base: Sum,
    /// Not 0, nor the least number.
    pub(super) scale: i128,
    /// `NSW` if the values of all iterations are as far apart when read as signed numbers, `NUW` if when read as
    /// unsigned ones.
    pub(super) flags: InstFlags,
}

/// The values of a loop that are found not to wrap though their instructions do not say so, in the order of the
/// instructions; the counter first, if it is among them.
pub(super) fn find(func: &Function, l: &Loop, carried: &[Carried], counter: &Counter) -> Vec<Exact> {
    let Some(rounds) = Rounds::of(func, l, carried, counter) else { return Vec::new() };
    let mut guards = guards(func, l);
    guards.extend(rounds.guard.clone());
    let prover = Prover { rounds, guards };
    let mut found = Vec::new();
    found.extend(prover.exact(func, l, prover.rounds.phi));
    for &b in func.layout.iter().filter(|&&b| l.blocks.contains(b)) {
        for &i in &func.blocks[b].insts {
            if let (Op::Binary(_), Some(v)) = (&func.insts[i].op, func.insts[i].result())
                && let Some(mut exact) = prover.exact(func, l, v)
            {
                exact.flags |= kept(func, i, &carried[counter.phi]);
                if tells_more(func, i, exact.flags) {
                    found.push(exact);
                }
            }
        }
    }
    found
}

/// What an instruction says itself and stays true of the first lane's value and the number of the lane: the counter
/// does not wrap, nor does this, which is the counter and something that stays the same.
fn kept(func: &Function, inst: Inst, counter: &Carried) -> InstFlags {
    let data = &func.insts[inst];
    let Kind::Induction { flags, .. } = counter.kind else { return InstFlags::empty() };
    let direct = matches!(data.op, Op::Binary(BinaryOp::Add | BinaryOp::Sub))
        && data.args.first() == Some(&counter.phi);
    let flags = data.flags & flags & (InstFlags::NSW | InstFlags::NUW);
    if direct { flags } else { InstFlags::empty() }
}

/// Whether flags say more than an instruction's own, and nothing less.
fn tells_more(func: &Function, inst: Inst, proven: InstFlags) -> bool {
    let own = func.insts[inst].flags & (InstFlags::NSW | InstFlags::NUW);
    proven.contains(own) && proven != own
}

/// How often the loop goes round: `of / by`, unsigned, where the counter goes from `from` by 1.
struct Rounds {
    phi: Value,
    bits: u32,
    from: Sum,
    /// What is divided by what; the number of iterations itself, divided by 1, is the first one.
    quotients: Vec<(Sum, i128)>,
    /// That the first number is below the bound.
    guard: Option<Guard>,
}

impl Rounds {
    fn of(func: &Function, l: &Loop, carried: &[Carried], counter: &Counter) -> Option<Rounds> {
        let Counting { phi, from, from_zero, bound, is_signed } = counter.counts_by_one(func, l)?;
        let phi = carried[phi].phi;
        let bits = func.ty(phi).int_bits().filter(|&bits| bits <= 64)?;
        let bound = if from_zero { unless_zero(func, bound) } else { bound };
        let last = Sum::of(func, bound)?;
        if from_zero {
            let mut quotients = vec![(last, 1)];
            quotients.extend(quotient(func, bound));
            return Some(Rounds { phi, bits, from: Sum::number(bits, 0), quotients, guard: None });
        }
        let from = match number(func, from) {
            Some(number) => Sum::number(bits, ((number << (128 - bits)) as i128 >> (128 - bits)) as i64),
            None => Sum::of(func, from)?,
        };
        let quotients = vec![(last.plus(&from, -1)?, 1)];
        let guard = Guard { is_signed, low: from.clone(), high: last, apart: 1 };
        Some(Rounds { phi, bits, from, quotients, guard: Some(guard) })
    }
}

/// What a number of iterations is where there are any: `n` of `c ? n : 0`.
fn unless_zero(func: &Function, v: Value) -> Value {
    let chosen = func.def_inst(v).map(|i| &func.insts[i]).filter(|data| data.op == Op::Select);
    match chosen.map(|data| &data.args[..]) {
        Some(&[_, x, zero] | &[_, zero, x]) if func.as_int(zero) == Some(0) => x,
        _ => v,
    }
}

/// What a value is the unsigned quotient of, by a constant.
fn quotient(func: &Function, v: Value) -> Option<(Sum, i128)> {
    let data = &func.insts[func.def_inst(v)?];
    let by = func.as_int(*data.args.get(1)?)?;
    let bits = func.ty(v).int_bits()?;
    let by = match data.op {
        Op::Binary(BinaryOp::UDiv) if by > 0 => i128::try_from(by).ok()?,
        Op::Binary(BinaryOp::LShr) if by < u128::from(bits) => 1 << by,
        _ => return None,
    };
    Some((Sum::of(func, data.args[0])?, by))
}

/// `low + apart ≤ high` in ℤ, of numbers read in one way.
#[derive(Clone)]
struct Guard {
    is_signed: bool,
    low: Sum,
    high: Sum,
    /// 0 or 1.
    apart: i128,
}

/// The comparisons that hold whenever the loop is entered.
fn guards(func: &Function, l: &Loop) -> Vec<Guard> {
    let mut guards = Vec::new();
    let mut at = Some(Node::from(l.preheader));
    for _ in 0..MAX_GUARDS {
        let Some(node) = at else { break };
        // Who gets to the block came along its only edge, and nothing that was compared has been computed anew since.
        if let [edge] = func.blocks[Block::from(node)].preds[..] {
            guards.extend(on_edge(func, edge).iter().filter_map(|holds| guard(func, holds)));
        }
        at = l.dominators.idom(node);
    }
    guards
}

fn guard(func: &Function, holds: &Holds) -> Option<Guard> {
    let &Holds::Compare(pred, a, b) = holds else { return None };
    let (is_signed, low, high, apart) = match pred {
        IntPred::Slt => (true, a, b, 1),
        IntPred::Sle => (true, a, b, 0),
        IntPred::Sgt => (true, b, a, 1),
        IntPred::Sge => (true, b, a, 0),
        IntPred::Ult => (false, a, b, 1),
        IntPred::Ule => (false, a, b, 0),
        IntPred::Ugt => (false, b, a, 1),
        IntPred::Uge => (false, b, a, 0),
        IntPred::Eq | IntPred::Ne => return None,
    };
    let linear = |v: Value| Sum::of(func, v);
    Some(Guard { is_signed, low: linear(low)?, high: linear(high)?, apart })
}

impl Guard {
    /// Whether `low ≤ high` follows.
    fn implies(&self, low: &Sum, high: &Sum) -> bool {
        let number = |x: &Sum| x.as_number(self.is_signed);
        // `self.low + above ≤ …` and `… ≤ self.high − below`, modulo 2^n so far.
        let above = low.distance_from(&self.low);
        let below = self.high.distance_from(high);
        if let (Some(above), Some(below)) = (above, below)
            && above >= 0
            && below >= 0
            && above + below <= self.apart
        {
            return true;
        }
        if let (Some(low), Some(least), Some(below)) = (number(low), number(&self.low), below)
            && below >= 0
            && low <= least + self.apart - below
        {
            return true;
        }
        if let (Some(high), Some(greatest), Some(above)) = (number(high), number(&self.high), above)
            && above >= 0
            && greatest - self.apart + above <= high
        {
            return true;
        }
        false
    }
}

struct Prover {
    rounds: Rounds,
    guards: Vec<Guard>,
}

impl Prover {
    /// What is known of a value, if it is linear in the counter and anything is.
    fn exact(&self, func: &Function, l: &Loop, v: Value) -> Option<Exact> {
        let Rounds { phi, bits, .. } = self.rounds;
        if func.ty(v) != Type::Int(bits) {
            return None;
        }
        let mut base = Sum::until(func, v, &|x| x == phi || l.is_invariant(func, x))?;
        let scale = i128::from(base.take(phi));
        if scale == 0 || scale == i128::MIN >> (128 - bits) {
            return None;
        }
        let fixed = |t: &Term| t.extension == Extension::None && l.is_invariant(func, t.value);
        if !base.terms().iter().all(fixed) {
            return None;
        }
        let whole = base.expanded(func)?.plus(&self.rounds.from, i64::try_from(scale).ok()?)?;
        let mut flags = InstFlags::empty();
        for (is_signed, flag) in [(true, InstFlags::NSW), (false, InstFlags::NUW)] {
            if self.does_not_wrap(&whole, scale, is_signed) {
                flags |= flag;
            }
        }
        (!flags.is_empty()).then_some(Exact { value: v, base, scale, flags })
    }

    /// Whether `base + scale · k` stays within the range of numbers, where `k` is the number of the iteration.
    fn does_not_wrap(&self, base: &Sum, scale: i128, is_signed: bool) -> bool {
        let of_step = self.rounds.quotients.iter().filter(|q| q.1 == scale.abs());
        let mut lasts =
            of_step.filter_map(|(of, by)| base.plus(&of.clone().offset(-by as i64), scale.signum() as i64));
        lasts.any(|last| {
            let (low, high) = if scale > 0 { (base, &last) } else { (&last, base) };
            self.is_at_most(low, high, is_signed)
        })
    }

    /// Whether one number is at most another one.
    fn is_at_most(&self, low: &Sum, high: &Sum, is_signed: bool) -> bool {
        let (least, greatest) = (low.as_number(is_signed), high.as_number(is_signed));
        if least.zip(greatest).is_some_and(|(low, high)| low <= high) || (!is_signed && least == Some(0)) {
            return true;
        }
        self.guards.iter().any(|g| g.is_signed == is_signed && g.implies(low, high))
    }
}

#[cfg(test)]
mod tests;
