//! Linear recurrences of integers: `x = a·x + t`, with an `a` that is the same in all iterations.
//!
//! ```c
//! seed = seed * 1664525 + 1013904223;      // t is the same in all iterations, too: an affine recurrence
//! hash = hash * 31 + s[i];                 // t is another one in each: a polynomial in a
//! ```
//!
//! Modulo the width of the numbers, *k* iterations of an affine recurrence are one with other coefficients, the *k*-th
//! power of the map: lane *k* computes its value from that before the group. Of a polynomial only the value behind the
//! loop is known: a group of *n* iterations multiplies what there was before by *aⁿ* and adds the sum of
//! `a^(n-1-k)·t` over its lanes. Powers come from squares, one bit of the exponent after the other; where `a` and `t`
//! are constants they are, too, in vector code.

use warpline_ir::{BinaryOp, Block, Combine, Function, Inst, IntPred, LaneOp, Op, Type, Users, Value};

use super::carried::Dependent;
use super::find::{Loop, dominates};

/// `x = a·x + t`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Affine {
    pub(super) a: Value,
    /// None for 0.
    pub(super) t: Option<Value>,
}

/// So many instructions lead from one value to the next.
const MAX_DEPTH: u32 = 8;

/// Exponents are less than 2 to the power of this: a group has 64 lanes at most.
const BITS: u32 = 7;

/// Writes the recurrences among a header's φs as one multiplication and one addition.
pub(super) fn settle(func: &mut Function, l: &Loop) {
    let users = l.users(func);
    for (position, phi) in func.blocks[l.header].phis.clone().into_iter().enumerate() {
        let phi = func.insts[phi].results[0];
        if !matches!(func.ty(phi), Type::Int(8..=64)) || func.edges[l.back].args[position] == phi {
            continue;
        }
        settle_one(func, l, &users, position, phi);
    }
}

fn settle_one(func: &mut Function, l: &Loop, users: &Users, position: usize, phi: Value) -> Option<()> {
    let next = func.edges[l.back].args[position];
    let dependent = Dependent::of(func, users, phi);
    let mut recurrence = Recurrence { l, phi, dependent, chain: Vec::new() };
    if !recurrence.multiplies(func, next) || !recurrence.fits(func, next, MAX_DEPTH) {
        return None;
    }
    let latch = func.edges[l.back].from;
    let others = func.edges[l.back].args.iter().filter(|&&v| recurrence.dependent.values.contains(v)).count();
    let private = others == 1 && recurrence.dependent.insts.iter().all(|i| recurrence.chain.contains(i));
    let varies = recurrence.varies(func);
    if varies && !private {
        return None;
    }
    let Terms { a, t } = recurrence.terms(func, latch, next);
    let a = a?;
    let product = binary(func, latch, BinaryOp::Mul, phi, a);
    let sum = t.map_or(product, |t| binary(func, latch, BinaryOp::Add, product, t));
    func.set_phi_arg(l.back, position, sum);
    Some(())
}

/// The recurrence that a φ is, as [`settle`] or the program writes it, and whether what is added is another in each
/// iteration; then nothing but the next value is computed from it.
pub(super) fn of(
    func: &Function,
    l: &Loop,
    users: &Users,
    phi: Value,
    next: Value,
) -> Option<(Affine, bool)> {
    let product_of = |v: Value| {
        let data = &func.insts[func.def_inst(v)?];
        let fits =
            data.op == Op::Binary(BinaryOp::Mul) && data.args[0] == phi && l.is_invariant(func, data.args[1]);
        fits.then(|| data.args[1])
    };
    if let Some(a) = product_of(next) {
        return Some((Affine { a, t: None }, false));
    }
    let sum = func.def_inst(next).filter(|&i| func.insts[i].op == Op::Binary(BinaryOp::Add))?;
    let (product, t) = (func.insts[sum].args[0], func.insts[sum].args[1]);
    let affine = Affine { a: product_of(product)?, t: Some(t) };
    let varies = !l.is_invariant(func, t);
    let is_left = || {
        let dependent = Dependent::of(func, users, phi);
        let others = func.edges[l.back].args.iter().filter(|&&v| dependent.values.contains(v)).count();
        // What was written otherwise is still there, but nothing comes of it.
        let arithmetic = [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Shl].map(Op::Binary);
        others == 1 && dependent.insts.iter().all(|&i| arithmetic.contains(&func.insts[i].op))
    };
    (!varies || is_left()).then_some((affine, varies))
}

/// How a φ becomes its next value.
struct Recurrence<'a> {
    l: &'a Loop,
    phi: Value,
    dependent: Dependent,
    /// The instructions in between.
    chain: Vec<Inst>,
}

/// `a·x + t`; none for 0.
struct Terms {
    a: Option<Value>,
    t: Option<Value>,
}

impl Recurrence<'_> {
    fn has(&self, v: Value) -> bool {
        self.dependent.values.contains(v)
    }

    /// Whether anything is multiplied on the way: sums alone are inductions or reductions.
    fn multiplies(&self, func: &Function, next: Value) -> bool {
        let mut work = vec![(next, MAX_DEPTH)];
        while let Some((v, depth)) = work.pop() {
            let Some(i) = func.def_inst(v).filter(|_| v != self.phi && depth > 0 && self.has(v)) else {
                continue;
            };
            if matches!(func.insts[i].op, Op::Binary(BinaryOp::Mul | BinaryOp::Shl)) {
                return true;
            }
            work.extend(func.insts[i].args.iter().map(|&a| (a, depth - 1)));
        }
        false
    }

    /// Whether nothing but sums, differences, and products with what stays the same lead to a value.
    fn fits(&mut self, func: &Function, v: Value, depth: u32) -> bool {
        if v == self.phi {
            return true;
        }
        let Some(i) = func.def_inst(v).filter(|_| self.has(v)) else { return self.is_always_there(func, v) };
        let data = &func.insts[i];
        let invariant = |v: Value| self.l.is_invariant(func, v);
        let (x, y) = match (&data.op, &data.args[..]) {
            (Op::Binary(BinaryOp::Add | BinaryOp::Sub), &[x, y]) => (x, y),
            (Op::Binary(BinaryOp::Mul), &[x, y]) if invariant(x) != invariant(y) => (x, y),
            (Op::Binary(BinaryOp::Shl), &[x, y]) if self.shifted(func, y).is_some() => (x, y),
            _ => return false,
        };
        if depth == 0 || !self.l.is_always(func, data.block) {
            return false;
        }
        self.chain.push(i);
        self.fits(func, x, depth - 1) && self.fits(func, y, depth - 1)
    }

    /// The factor that a shift to the left by a constant is.
    fn shifted(&self, func: &Function, by: Value) -> Option<u128> {
        let bits = func.ty(self.phi).int_bits()?;
        func.as_int(by).filter(|&by| by < u128::from(bits)).map(|by| 1 << by)
    }

    /// Whether a value is there at the end of every iteration.
    fn is_always_there(&self, func: &Function, v: Value) -> bool {
        let latch = func.edges[self.l.back].from;
        let inside = func.def_block(v).filter(|&b| self.l.blocks.contains(b));
        inside.is_none_or(|b| dominates(&self.l.dominators, b, latch))
    }

    /// Whether the chain takes up what differs between iterations.
    fn varies(&self, func: &Function) -> bool {
        let args = self.chain.iter().flat_map(|&i| func.insts[i].args.iter().copied());
        args.into_iter().any(|v| !self.has(v) && !self.l.is_invariant(func, v))
    }

    /// The coefficients of a value, computed before the loop where they are the same in all iterations, or in a block.
    fn terms(&self, func: &mut Function, latch: Block, v: Value) -> Terms {
        let bits = func.ty(self.phi).int_bits().unwrap_or(64);
        if v == self.phi {
            return Terms { a: Some(func.int_const(bits, 1)), t: None };
        }
        let Some(i) = func.def_inst(v).filter(|_| self.has(v)) else { return Terms { a: None, t: Some(v) } };
        let (op, x, y) = (func.insts[i].op.clone(), func.insts[i].args[0], func.insts[i].args[1]);
        let put = |func: &mut Function, op: BinaryOp, x: Value, y: Value| {
            let fixed = self.l.is_invariant(func, x) && self.l.is_invariant(func, y);
            binary(func, if fixed { self.l.preheader } else { latch }, op, x, y)
        };
        match op {
            Op::Binary(op @ (BinaryOp::Add | BinaryOp::Sub)) => {
                let [x, y] = [x, y].map(|v| self.terms(func, latch, v));
                let mut both = |x: Option<Value>, y: Option<Value>| match (x, y) {
                    (x, None) => x,
                    (None, Some(y)) if op == BinaryOp::Add => Some(y),
                    (x, Some(y)) => {
                        let x = x.unwrap_or_else(|| func.int_const(bits, 0));
                        Some(put(func, op, x, y))
                    }
                };
                Terms { a: both(x.a, y.a), t: both(x.t, y.t) }
            }
            _ => {
                let (of, by) = match op {
                    Op::Binary(BinaryOp::Shl) => {
                        (x, func.int_const(bits, self.shifted(func, y).unwrap_or_default()))
                    }
                    _ if self.has(x) => (x, y),
                    _ => (y, x),
                };
                let Terms { a, t } = self.terms(func, latch, of);
                let mut times = |v: Option<Value>| v.map(|v| put(func, BinaryOp::Mul, v, by));
                Terms { a: times(a), t: times(t) }
            }
        }
    }
}

/// A sum, difference or product at the end of a block, or the constant that it is.
fn binary(func: &mut Function, at: Block, op: BinaryOp, x: Value, y: Value) -> Value {
    let ty = func.ty(x);
    let bits = ty.int_bits().unwrap_or(64);
    let known = match (func.as_int(x), func.as_int(y), op) {
        (Some(x), Some(y), BinaryOp::Add) => Some(x.wrapping_add(y)),
        (Some(x), Some(y), BinaryOp::Sub) => Some(x.wrapping_sub(y)),
        (Some(x), Some(y), BinaryOp::Mul) => Some(x.wrapping_mul(y)),
        (Some(0), _, BinaryOp::Mul) | (_, Some(0), BinaryOp::Mul) => Some(0),
        _ => None,
    };
    match (func.as_int(x), func.as_int(y), op) {
        _ if known.is_some() => func.int_const(bits, known.unwrap_or_default() & (u128::MAX >> (128 - bits))),
        (_, Some(0), BinaryOp::Add | BinaryOp::Sub) | (_, Some(1), BinaryOp::Mul) => x,
        (Some(0), _, BinaryOp::Add) | (Some(1), _, BinaryOp::Mul) => y,
        _ => func.append_value(at, Op::Binary(op), &[x, y], ty),
    }
}

impl Affine {
    /// Computes, at the end of a block, the coefficients of so many iterations at once, a number of 32 bits.
    pub(super) fn power(self, func: &mut Function, at: Block, exponent: Value) -> Affine {
        let ty = func.ty(self.a);
        let bits = ty.int_bits().unwrap_or(64);
        let zero = func.int_const(bits, 0);
        let (mut a, mut t) = (func.int_const(bits, 1), zero);
        let (mut square, mut twice) = (self.a, self.t.unwrap_or(zero));
        for k in 0..BITS {
            let bit = Bit::of(func, at, exponent, k);
            if bit != Bit::Known(false) {
                let product = binary(func, at, BinaryOp::Mul, a, square);
                a = bit.choose(func, at, product, a);
                if self.t.is_some() {
                    let product = binary(func, at, BinaryOp::Mul, t, square);
                    let sum = binary(func, at, BinaryOp::Add, product, twice);
                    t = bit.choose(func, at, sum, t);
                }
            }
            let product = binary(func, at, BinaryOp::Mul, square, twice);
            twice = binary(func, at, BinaryOp::Add, product, twice);
            square = binary(func, at, BinaryOp::Mul, square, square);
        }
        Affine { a, t: self.t.map(|_| t) }
    }

    /// Computes `a·x + t` at the end of a block.
    pub(super) fn apply(self, func: &mut Function, at: Block, x: Value) -> Value {
        let product = binary(func, at, BinaryOp::Mul, x, self.a);
        self.t.map_or(product, |t| binary(func, at, BinaryOp::Add, product, t))
    }

    /// What a polynomial is behind a group, at the end of a block: what it was, and what each lane adds, times a power
    /// for each iteration that follows.
    pub(super) fn behind_group(
        self,
        body: &mut Function,
        carry: Value,
        (of_lane, lane): (Value, Value),
        end: Block,
    ) -> Value {
        let (ty, number) = (body.ty(carry), Type::Int(32));
        let powers = Affine { t: None, ..self };
        let yes = body.bool_const(true);
        let active = body.append_value(end, Op::Lane(LaneOp::Popcount), &[yes], number);
        let one = body.int_const(32, 1);
        let last = body.append_value(end, Op::Binary(BinaryOp::Sub), &[active, one], number);
        let behind = body.append_value(end, Op::Binary(BinaryOp::Sub), &[last, lane], number);
        let of_each = powers.power(body, end, behind);
        let added = of_each.apply(body, end, of_lane);
        let sum = body.append_value(end, Op::Lane(LaneOp::Reduce(Combine::Add)), &[added], ty);
        let of_all = powers.power(body, end, active);
        let before = of_all.apply(body, end, carry);
        body.append_value(end, Op::Binary(BinaryOp::Add), &[before, sum], ty)
    }
}

/// A bit of an exponent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bit {
    Known(bool),
    /// Whether it is set.
    Asked(Value),
}

impl Bit {
    fn of(func: &mut Function, at: Block, exponent: Value, k: u32) -> Bit {
        if let Some(known) = func.as_int(exponent) {
            return Bit::Known(known >> k & 1 == 1);
        }
        let [bit, none] = [1 << k, 0].map(|n| func.int_const(32, n));
        let with = func.append_value(at, Op::Binary(BinaryOp::And), &[exponent, bit], Type::Int(32));
        Bit::Asked(func.append_value(at, Op::ICmp(IntPred::Ne), &[with, none], Type::BOOL))
    }

    /// One value if it is set, another one if not.
    fn choose(self, func: &mut Function, at: Block, set: Value, clear: Value) -> Value {
        match self {
            Bit::Known(true) => set,
            Bit::Known(false) => clear,
            Bit::Asked(is_set) => {
                let ty = func.ty(set);
                func.append_value(at, Op::Select, &[is_set, set, clear], ty)
            }
        }
    }
}
