//! Integers as linear expressions, modulo their width.

use smallvec::{SmallVec, smallvec};

use crate::ir::{BinaryOp, Function, InstFlags, Op, Value};

/// How deep definitions are looked through.
const MAX_DEPTH: u32 = 8;

/// How many terms a sum may have.
const MAX_TERMS: usize = 8;

/// `Σ term + constant`, modulo 2^`bits`. All numbers are kept as signed ones of so many bits, so that two that are the same modulo
/// 2^`bits` are equal. Holds wherever the value is not poison.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Linear {
    bits: u32,
    /// Values and what they are multiplied by, which is not 0; in order, each once.
    terms: SmallVec<[(Value, i128); 4]>,
    constant: i128,
}

impl Linear {
    /// Takes an integer of at most 64 bits apart as far as its arithmetic is understood, but not those values of which `is_leaf` is true. `None` if there are
    /// too many terms.
    pub(super) fn of(func: &Function, v: Value, is_leaf: &dyn Fn(Value) -> bool) -> Option<Linear> {
        let bits = func.ty(v).int_bits().filter(|&bits| bits <= 64)?;
        Self::at(func, v, bits, is_leaf, MAX_DEPTH)
    }

    /// A number.
    pub(super) fn number(bits: u32, n: i128) -> Linear {
        Linear { bits, terms: SmallVec::new(), constant: signed(n, bits) }
    }

    fn at(
        func: &Function,
        v: Value,
        bits: u32,
        is_leaf: &dyn Fn(Value) -> bool,
        depth: u32,
    ) -> Option<Linear> {
        if let Some(n) = func.as_int(v) {
            return Some(Self::number(bits, n as i128));
        }
        let leaf = || Some(Linear { bits, terms: smallvec![(v, 1)], constant: 0 });
        let Some(inst) = func.def_inst(v).filter(|_| depth > 0 && !is_leaf(v)) else { return leaf() };
        let data = &func.insts[inst];
        let Op::Binary(op) = data.op else { return leaf() };
        let of = |k: usize| Self::at(func, data.args[k], bits, is_leaf, depth - 1);
        let number = |k: usize| func.as_int(data.args[k]);
        match op {
            BinaryOp::Add => of(0)?.plus(&of(1)?, 1),
            // No bit is set in both: the sum.
            BinaryOp::Or if data.flags.contains(InstFlags::DISJOINT) => of(0)?.plus(&of(1)?, 1),
            BinaryOp::Sub => of(0)?.plus(&of(1)?, -1),
            BinaryOp::Xor if number(1).is_some_and(|n| signed(n as i128, bits) == -1) => {
                Self::number(bits, -1).plus(&of(0)?, -1)
            }
            BinaryOp::Mul => match (number(0), number(1)) {
                (_, Some(n)) => Some(of(0)?.times(n as i128)),
                (Some(n), _) => Some(of(1)?.times(n as i128)),
                _ => leaf(),
            },
            BinaryOp::Shl => match number(1) {
                Some(by) if by < u128::from(bits) => Some(of(0)?.times(1 << by)),
                _ => leaf(),
            },
            _ => leaf(),
        }
    }

    /// `self + other · factor`. `None` if it has too many terms.
    pub(super) fn plus(&self, other: &Linear, factor: i128) -> Option<Linear> {
        let bits = self.bits;
        let mut sum = self.clone();
        sum.constant = signed(sum.constant.wrapping_add(other.constant.wrapping_mul(factor)), bits);
        for &(v, scale) in &other.terms {
            let scale = scale.wrapping_mul(factor);
            match sum.terms.binary_search_by_key(&v, |t| t.0) {
                Ok(at) => sum.terms[at].1 = signed(sum.terms[at].1.wrapping_add(scale), bits),
                Err(at) => sum.terms.insert(at, (v, signed(scale, bits))),
            }
        }
        sum.terms.retain(|t| t.1 != 0);
        (sum.terms.len() <= MAX_TERMS).then_some(sum)
    }

    fn times(mut self, factor: i128) -> Linear {
        let bits = self.bits;
        let factor = signed(factor, bits);
        for (_, scale) in &mut self.terms {
            *scale = signed(scale.wrapping_mul(factor), bits);
        }
        self.terms.retain(|t| t.1 != 0);
        self.constant = signed(self.constant.wrapping_mul(factor), bits);
        self
    }

    /// The same with a number added.
    pub(super) fn offset(mut self, by: i128) -> Linear {
        self.constant = signed(self.constant.wrapping_add(by), self.bits);
        self
    }

    /// Takes out the term of a value: what that is multiplied by.
    pub(super) fn take(&mut self, v: Value) -> i128 {
        match self.terms.binary_search_by_key(&v, |t| t.0) {
            Ok(at) => self.terms.remove(at).1,
            Err(_) => 0,
        }
    }

    /// The width of the arithmetic.
    pub(super) fn bits(&self) -> u32 {
        self.bits
    }

    /// The values, and what they are multiplied by.
    pub(super) fn terms(&self) -> &[(Value, i128)] {
        &self.terms
    }

    /// What is added to the terms.
    pub(super) fn constant(&self) -> i128 {
        self.constant
    }

    /// The number that it is, if it is one, read as a signed or an unsigned one.
    pub(super) fn as_number(&self, is_signed: bool) -> Option<i128> {
        let n = if is_signed { self.constant } else { self.constant & ((1 << self.bits) - 1) };
        self.terms.is_empty().then_some(n)
    }

    /// What must be added to another one to get this one, if that is a number.
    pub(super) fn distance_from(&self, other: &Linear) -> Option<i128> {
        let same = self.bits == other.bits && self.terms == other.terms;
        same.then(|| signed(self.constant - other.constant, self.bits))
    }
}

/// The signed number of so many bits that is the same modulo 2^`bits`.
fn signed(n: i128, bits: u32) -> i128 {
    (n << (128 - bits)) >> (128 - bits)
}
