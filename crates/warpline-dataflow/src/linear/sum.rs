//! Integers as linear expressions, modulo a power of two.

use smallvec::{SmallVec, smallvec};

use warpline_ir::{BinaryOp, CastOp, Function, InstFlags, Op, Type, Value};

/// How deep definitions are looked through.
const MAX_DEPTH: u32 = 12;

/// How many terms a sum may have.
pub(super) const MAX_TERMS: usize = 8;

/// How many terms are collected before equal ones are put together.
const MAX_COLLECTED: usize = 64;

/// How a narrow number enters wide arithmetic.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Extension {
    /// It is at least as wide as the sum and taken modulo its width.
    None,
    /// Sign-extended.
    Signed,
    /// Zero-extended.
    Unsigned,
}

/// A number of the program times a constant.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Term {
    /// The number.
    pub value: Value,
    /// How it is brought to the width of the sum.
    pub extension: Extension,
    /// What it is multiplied by; in addresses, in bytes.
    pub scale: i64,
}

/// `Σ term + constant`, modulo 2^`bits`. Scales and the constant are kept as signed numbers of so many bits, so that
/// two sums that are the same are equal. Holds wherever the value is not poison.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sum {
    /// At most 64.
    bits: u32,
    /// In order of values and extensions, each once, no scale 0.
    terms: SmallVec<[Term; 4]>,
    constant: i64,
}

impl Sum {
    /// A number.
    pub fn number(bits: u32, n: i64) -> Sum {
        Sum { bits, terms: SmallVec::new(), constant: wrapped(n, bits) }
    }

    /// Takes an integer of at most 64 bits apart, modulo its width. `None` if there are too many terms.
    pub fn of(func: &Function, v: Value) -> Option<Sum> {
        Self::until(func, v, &|_| false)
    }

    /// A number times a factor.
    pub fn term(bits: u32, term: Term) -> Sum {
        let scale = wrapped(term.scale, bits);
        let terms = if scale == 0 { SmallVec::new() } else { smallvec![Term { scale, ..term }] };
        Sum { bits, terms, constant: 0 }
    }

    /// The same, but values of which `is_leaf` is true are not taken apart.
    pub fn until(func: &Function, v: Value, is_leaf: &dyn Fn(Value) -> bool) -> Option<Sum> {
        let bits = func.ty(v).int_bits().filter(|&bits| bits <= 64)?;
        let mut reader =
            Reader { func, is_leaf, sum: Self::number(bits, 0), arithmetic: Arithmetic::Modular };
        reader.add(v, Extension::None, 1, MAX_DEPTH);
        reader.finish()
    }

    /// Takes an integer of at most 64 bits, sign-extended to 64, apart. `None` if there are too many terms.
    pub fn widened(func: &Function, v: Value) -> Option<Sum> {
        let bits = func.ty(v).int_bits().filter(|&bits| bits <= 64)?;
        let extension = if bits < 64 { Extension::Signed } else { Extension::None };
        Self::number(64, 0).and(func, v, extension, 1)
    }

    /// This sum and a number times a factor. `None` if there are too many terms.
    pub fn and(self, func: &Function, v: Value, extension: Extension, scale: i64) -> Option<Sum> {
        self.and_by(Arithmetic::Modular, func, v, extension, scale)
    }

    /// The same in this arithmetic. `None` if there are too many terms, or, exactly, if one may be huge.
    pub(super) fn and_by(
        self,
        arithmetic: Arithmetic,
        func: &Function,
        v: Value,
        extension: Extension,
        scale: i64,
    ) -> Option<Sum> {
        let mut reader = Reader { func, is_leaf: &|_| false, sum: self, arithmetic };
        reader.add(v, extension, scale, MAX_DEPTH);
        reader.finish()
    }

    /// The same with all terms taken apart. `None` if there are too many.
    pub fn expanded(&self, func: &Function) -> Option<Sum> {
        let whole = Self::number(self.bits, self.constant);
        self.terms.iter().try_fold(whole, |sum, t| sum.and(func, t.value, t.extension, t.scale))
    }

    /// `self + other · factor`, both of the same width. `None` if it has too many terms.
    pub fn plus(&self, other: &Sum, factor: i64) -> Option<Sum> {
        let mut sum = self.clone();
        sum.constant = sum.constant.wrapping_add(other.constant.wrapping_mul(factor));
        let scaled = other.terms.iter().map(|t| Term { scale: t.scale.wrapping_mul(factor), ..*t });
        sum.terms.extend(scaled);
        sum.normalized()
    }

    /// The same with a number added.
    #[must_use]
    pub fn offset(mut self, by: i64) -> Sum {
        self.constant = wrapped(self.constant.wrapping_add(by), self.bits);
        self
    }

    /// Takes out the term of a value that is as wide as the sum: what that is multiplied by.
    pub fn take(&mut self, v: Value) -> i64 {
        match self.terms.iter().position(|t| t.value == v && t.extension == Extension::None) {
            Some(at) => self.terms.remove(at).scale,
            None => 0,
        }
    }

    /// The width of the arithmetic.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The numbers, and what they are multiplied by.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// What is added to the terms.
    pub fn constant(&self) -> i64 {
        self.constant
    }

    /// The terms and the constant.
    pub fn into_parts(self) -> (SmallVec<[Term; 4]>, i64) {
        (self.terms, self.constant)
    }

    /// The number that it is, if it is one, read as a signed or an unsigned one.
    pub fn as_number(&self, is_signed: bool) -> Option<i128> {
        let n = i128::from(self.constant);
        let n = if is_signed { n } else { n & ((1 << self.bits) - 1) };
        self.terms.is_empty().then_some(n)
    }

    /// What must be added to another one to get this one, if that is a number.
    pub fn distance_from(&self, other: &Sum) -> Option<i128> {
        let same = self.bits == other.bits && self.terms == other.terms;
        same.then(|| wrapped(self.constant.wrapping_sub(other.constant), self.bits).into())
    }

    /// Puts equal terms together. `None` if there are too many.
    fn normalized(mut self) -> Option<Sum> {
        self.terms.sort_unstable_by_key(|t| (t.value, t.extension));
        let mut terms: SmallVec<[Term; 4]> = smallvec![];
        for t in self.terms {
            match terms.last_mut() {
                Some(last) if (last.value, last.extension) == (t.value, t.extension) => {
                    last.scale = last.scale.wrapping_add(t.scale);
                }
                _ => terms.push(t),
            }
        }
        for t in &mut terms {
            t.scale = wrapped(t.scale, self.bits);
        }
        terms.retain(|t| t.scale != 0);
        let constant = wrapped(self.constant, self.bits);
        (terms.len() <= MAX_TERMS).then_some(Sum { bits: self.bits, terms, constant })
    }
}

/// The signed number of so many bits that is congruent modulo 2^bits.
pub(super) fn wrapped(x: i64, bits: u32) -> i64 {
    x << (64 - bits) >> (64 - bits)
}

/// What a sum is equal to.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Arithmetic {
    /// What is taken apart, modulo 2^bits.
    Modular,
    /// That number itself, read as a signed one: only what promises not to wrap is taken apart.
    Exact,
}

/// Scales and constants of exact sums are less: so many terms with them do not wrap.
const MAX_EXACT: u64 = 1 << 32;

/// Collects the terms of a sum.
struct Reader<'a> {
    func: &'a Function,
    is_leaf: &'a dyn Fn(Value) -> bool,
    sum: Sum,
    arithmetic: Arithmetic,
}

impl Reader<'_> {
    /// Adds a number times a factor.
    fn add(&mut self, value: Value, extension: Extension, scale: i64, depth: u32) {
        let Type::Int(width) = self.func.ty(value) else { unreachable!("terms are integers") };
        if let Some(c) = self.func.as_int(value).filter(|_| width <= 64) {
            let c = match extension {
                Extension::Unsigned => c as i64,
                _ => wrapped(c as i64, width.min(64)),
            };
            let huge = (i128::from(c) * i128::from(scale)).unsigned_abs() >= MAX_EXACT.into();
            if self.arithmetic == Arithmetic::Exact && huge {
                self.sum.terms.push(Term { value, extension, scale: i64::MAX });
                return;
            }
            self.sum.constant = self.sum.constant.wrapping_add(c.wrapping_mul(scale));
            return;
        }
        // What is shared in a tower of sums would be collected many times.
        let looked_through = depth > 0
            && self.sum.terms.len() < MAX_COLLECTED
            && !(self.is_leaf)(value)
            && self.add_parts(value, extension, scale, depth - 1);
        if !looked_through {
            self.sum.terms.push(Term { value, extension, scale });
        }
    }

    /// Adds the operands of an instruction instead of its result, if that is the same.
    fn add_parts(&mut self, value: Value, extension: Extension, scale: i64, depth: u32) -> bool {
        let Some(inst) = self.func.def_inst(value) else { return false };
        let data = &self.func.insts[inst];
        let constant = |n: usize| {
            let &v = data.args.get(n)?;
            let width = self.func.ty(v).int_bits().filter(|&w| w <= 64)?;
            self.func.as_int(v).map(|c| wrapped(c as i64, width))
        };
        // Whether wide arithmetic on extended operands yields the extended result.
        let exact = match extension {
            Extension::None => self.arithmetic == Arithmetic::Modular || data.flags.contains(InstFlags::NSW),
            Extension::Signed => data.flags.contains(InstFlags::NSW),
            Extension::Unsigned => data.flags.contains(InstFlags::NUW),
        };
        match data.op {
            Op::Cast(op @ (CastOp::SExt | CastOp::ZExt)) if extension == Extension::None => {
                let inner = if op == CastOp::SExt { Extension::Signed } else { Extension::Unsigned };
                // An extension that is wider than the sum keeps the bits that count, too.
                let narrow = self.func.ty(data.args[0]).int_bits().is_some_and(|w| w < self.sum.bits);
                let inner = if narrow { inner } else { Extension::None };
                self.add(data.args[0], inner, scale, depth);
            }
            Op::Binary(BinaryOp::Add) if exact => {
                self.add(data.args[0], extension, scale, depth);
                self.add(data.args[1], extension, scale, depth);
            }
            // No bits in common: the sum, without a carry.
            Op::Binary(BinaryOp::Or) if data.flags.contains(InstFlags::DISJOINT) => {
                self.add(data.args[0], extension, scale, depth);
                self.add(data.args[1], extension, scale, depth);
            }
            Op::Binary(BinaryOp::Sub) if exact => {
                let Some(negative) = scale.checked_neg() else { return false };
                self.add(data.args[0], extension, scale, depth);
                self.add(data.args[1], extension, negative, depth);
            }
            // All bits turned over: −1 − x, also if both are read as signed numbers.
            Op::Binary(BinaryOp::Xor) if extension != Extension::Unsigned && constant(1) == Some(-1) => {
                let Some(negative) = scale.checked_neg() else { return false };
                self.sum.constant = self.sum.constant.wrapping_sub(scale);
                self.add(data.args[0], extension, negative, depth);
            }
            Op::Binary(BinaryOp::Mul) if exact => {
                let factor = |n: usize| match extension {
                    // Read as unsigned, the constant may be another number.
                    Extension::Unsigned => constant(n).filter(|&c| c >= 0),
                    _ => constant(n),
                };
                let (of, factor) = match (factor(1), factor(0)) {
                    (Some(c), _) => (data.args[0], c),
                    (_, Some(c)) => (data.args[1], c),
                    _ => return false,
                };
                let Some(scale) = scale.checked_mul(factor) else { return false };
                self.add(of, extension, scale, depth);
            }
            Op::Binary(BinaryOp::Shl) if exact => {
                let factor = constant(1).and_then(|c| u32::try_from(c).ok()).filter(|&c| c < 63);
                let Some(scale) = factor.and_then(|c| scale.checked_mul(1 << c)) else { return false };
                self.add(data.args[0], extension, scale, depth);
            }
            _ => return false,
        }
        true
    }

    fn finish(self) -> Option<Sum> {
        let sum = self.sum;
        let small = |n: i64| n.unsigned_abs() < MAX_EXACT;
        let narrow = |t: &Term| self.func.ty(t.value).int_bits().is_some_and(|bits| bits <= 64);
        let exact = || small(sum.constant) && sum.terms.iter().all(|t| small(t.scale) && narrow(t));
        (self.arithmetic == Arithmetic::Modular || exact()).then(|| sum.normalized()).flatten()
    }
}
