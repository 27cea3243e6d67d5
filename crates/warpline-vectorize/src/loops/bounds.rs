//! Checks of bounds that pass in all iterations, told by a few comparisons before the loop.
//!
//! Rust asks `i < len` before each `a[i]`, and panics if not. Where `i` is linear in the counter of the loop, but may
//! wrap as far as anybody knows (`a[(y - 1) * w + x]`), each group would compare the indices of all lanes. Whether all
//! of them pass is known when the loop begins:
//!
//! In iteration *k* of *R*, the index is *f* + *d*·*k* modulo 2^n, *d* being 1 or −1. If *R* − 1 < 2^n, the numbers
//! *f* + *d*·*k* of ℤ leave the range 0 … 2^n − 1 at one end at most, and do so if and only if the last one of them,
//! *l* modulo 2^n, is on the other side of *f*: below it for *d* = 1. So if *f* ≤ *l* (*l* ≤ *f* for *d* = −1) all
//! indices lie between *f* and *l*, and are below the length if both are.
//!
//! Groups are executed if that holds, without the checks; else the scalar loop is, which panics where the program does.
//! Only checks that every iteration makes are looked at: one that does not hold ends the program then, and no loop is
//! scalar for a check that is never made.

use warpline_ir::{BinaryOp, Block, CastOp, Function, Inst, InstFlags, IntPred, Op, Type, Value};

use super::carried::Carried;
use super::find::Loop;
use super::trips::Counter;
use crate::builder::Builder;
use warpline_dataflow::linear::{Extension, Sum, Term};

/// So many checks of a loop are made before it; others stay.
const MAX_BOUNDS: usize = 32;

/// A check that an index, linear in the counter, is below a bound.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    /// The branch that makes it.
    pub(super) branch: Inst,
    /// Whether the loop goes on if the condition is true.
    stays_if: bool,
    /// The index without the counter's part: of what is the same in all iterations.
    base: Sum,
    /// Whether the counter is subtracted.
    is_subtracted: bool,
    /// What the index must be below.
    limit: Value,
}

/// The checks that every iteration of a loop makes before it goes on.
pub(super) fn find(func: &Function, l: &Loop, carried: &[Carried], counter: &Counter) -> Vec<Bound> {
    if l.is_endless || !l.breaks.is_empty() || counter.step().unsigned_abs() != 1 {
        return Vec::new();
    }
    let phi = carried[counter.phi].phi;
    let blocks = func.layout.iter().copied().filter(|&b| l.is_always(func, b));
    blocks.filter_map(|b| bound(func, l, phi, b)).take(MAX_BOUNDS).collect()
}

/// The check that ends a block.
fn bound(func: &Function, l: &Loop, phi: Value, block: Block) -> Option<Bound> {
    let branch = func.terminator(block);
    let data = &func.insts[branch];
    let [on_true, on_false] = data.edges[..] else { return None };
    let [dies, other] = [on_true, on_false].map(|e| l.dead.contains(func.edges[e].to));
    if data.op != Op::CondBr || dies == other {
        return None;
    }
    let compared = &func.insts[func.def_inst(data.args[0])?];
    let (Op::ICmp(pred), &[a, b]) = (&compared.op, &compared.args[..]) else { return None };
    let stays_if = other;
    let (index, limit) = match (pred, stays_if) {
        (IntPred::Ult, true) | (IntPred::Uge, false) => (a, b),
        (IntPred::Ugt, true) | (IntPred::Ule, false) => (b, a),
        _ => return None,
    };
    let is_number = matches!(func.ty(index), Type::Int(8 | 16 | 32 | 64));
    if !is_number || !l.is_invariant(func, limit) || func.ty(index) != func.ty(phi) {
        return None;
    }
    let mut base = Sum::until(func, index, &|x| x == phi || l.is_invariant(func, x))?;
    let scale = base.take(phi);
    let fixed = |t: &Term| t.extension == Extension::None && l.is_invariant(func, t.value);
    (scale.abs() == 1 && base.terms().iter().all(fixed)).then_some(Bound {
        branch,
        stays_if,
        base,
        is_subtracted: scale < 0,
        limit,
    })
}

impl Bound {
    /// Takes the check out of an iteration, which has the instructions of the loop.
    pub(super) fn take_out(&self, body: &mut Function) {
        let stays = body.insts[self.branch].edges[usize::from(!self.stays_if)];
        body.always_take(stays);
    }

    /// Code that says whether the check passes in all of so many iterations, at least one, of which the first one has
    /// the counter `start`.
    pub(super) fn passes(&self, b: &mut Builder, start: Value, step: i128, rounds: Value) -> Value {
        let ty = b.func.ty(start);
        let bits = ty.int_bits().unwrap_or(64);
        let none = InstFlags::empty();
        let goes_down = self.is_subtracted != (step < 0);
        let one = b.int(64, 1);
        let further = b.binary(BinaryOp::Sub, rounds, one, none);
        let distance = if bits < 64 { b.cast(CastOp::Trunc, further, ty) } else { further };
        let first = self.first(b, start);
        let op = if goes_down { BinaryOp::Sub } else { BinaryOp::Add };
        let last = b.binary(op, first, distance, none);
        let (low, high) = if goes_down { (last, first) } else { (first, last) };
        let in_order = b.icmp(IntPred::Ule, low, high);
        let below = b.icmp(IntPred::Ult, high, self.limit);
        let mut all = b.binary(BinaryOp::And, in_order, below, none);
        if bits < 64 {
            let greatest = b.int(64, (1i64 << bits) - 1);
            let fits = b.icmp(IntPred::Ule, further, greatest);
            all = b.binary(BinaryOp::And, all, fits, none);
        }
        // Of a loop that has no iteration, and of checks that are not come to, it may be poison.
        b.value(Op::Freeze, &[all], Type::BOOL)
    }

    /// The index in the first iteration.
    fn first(&self, b: &mut Builder, start: Value) -> Value {
        let bits = b.func.ty(start).int_bits().unwrap_or(64);
        let none = InstFlags::empty();
        let constant = b.int(bits, self.base.constant());
        let op = if self.is_subtracted { BinaryOp::Sub } else { BinaryOp::Add };
        let mut sum = b.binary(op, constant, start, none);
        for term in self.base.terms() {
            let factor = b.int(bits, term.scale);
            let product = b.binary(BinaryOp::Mul, term.value, factor, none);
            sum = b.binary(BinaryOp::Add, sum, product, none);
        }
        sum
    }
}
