//! Functions that are exact or rounded once: their vector code has the bits of the scalar function, NaNs aside.
//!
//! **`fmod`.** Of sizes a and b, one step takes `trunc(a / c)` times c away from a, where c = b · 2ᵏ is such that the
//! quotient has at most as many bits as a number. A quotient that was rounded to the next whole number is one too
//! large, and never too small; then the difference is negative, and c comes back. Both operations are exact: what is
//! left is a multiple of c's last place, and less than c in size. Without a k to speak of one step does; numbers whose
//! exponents are far apart take a step for as many bits as a number has. Where multiplication and addition do not fuse,
//! the product is split in two numbers (Dekker, *A floating-point technique for extending the available precision*,
//! Numer. Math. 18, 1971), after large numbers were made smaller, so that nothing overflows.
//!
//! **`remainder`** is `fmod` by 2 |y|, less |y| up to twice. Differences that are compared are exact or far from equal.
//!
//! **`ldexp`.** Steps of powers of two that keep what is multiplied above the subnormal numbers until the last one,
//! which alone rounds.

use crate::VectorizeError;
use crate::exact::{Exact, Function};
use warpline_ir::{BinaryOp, CastOp, Constant, FloatPred, Inst, IntPred, Op, Type, Value};

use super::Floats;
use crate::lower::Lower;

impl Lower<'_> {
    /// Writes a function out for all lanes of an instruction: a call, or a division's remainder.
    pub(in crate::lower) fn exact(&mut self, i: Inst, called: Exact) -> Result<Value, VectorizeError> {
        let args = self.src.insts[i].args.clone();
        let mut values = Vec::with_capacity(args.len());
        for &a in &args {
            values.push(self.vector(a, i)?);
        }
        if called.has_loop() {
            // There is a branch on what these are: inactive lanes and poison must not decide it.
            let mask = self.mask_vector(i)?;
            for x in &mut values {
                let ty = self.out.ty(*x);
                *x = self.emit(Op::Freeze, &[*x], ty);
                if let Some(mask) = mask {
                    let one = self.floats(called.kind).number(1.0);
                    *x = self.select(mask, *x, one);
                }
            }
        }
        let mut floats = self.floats(called.kind);
        Ok(match (called.function, &values[..]) {
            (Function::Fmod, &[x, y]) => floats.fmod(x, y),
            (Function::Remainder, &[x, y]) => floats.remainder(x, y),
            (Function::Fdim, &[x, y]) => floats.fdim(x, y),
            (Function::Nextafter, &[x, y]) => floats.nextafter(x, y),
            (Function::Logb, &[x]) => floats.logb(x),
            (Function::Ldexp, &[x, n]) => floats.ldexp(x, n),
            _ => return Err(self.internal(i, "a mathematics function with other operands")),
        })
    }
}

impl Floats<'_, '_> {
    /// How many bits of a number are behind its first one.
    fn fraction_bits(&self) -> u32 {
        if self.is_double() { 52 } else { 23 }
    }

    /// The exponent of 1 as it is stored.
    fn bias(&self) -> u64 {
        if self.is_double() { 1023 } else { 127 }
    }

    fn infinity(&mut self) -> Value {
        self.number(f64::INFINITY)
    }

    fn size(&mut self, x: Value) -> Value {
        let ty = self.float_type();
        self.intrinsic("llvm.fabs", &[x], ty)
    }

    fn signed_like(&mut self, size: Value, x: Value) -> Value {
        let ty = self.float_type();
        self.intrinsic("llvm.copysign", &[size, x], ty)
    }

    fn shift_right(&mut self, x: Value, by: u32) -> Value {
        let by = self.integer(by.into());
        self.binary(BinaryOp::LShr, x, by)
    }

    fn choose(&mut self, pred: IntPred, a: Value, b: Value) -> Value {
        let ty = self.of(Type::BOOL);
        let cond = self.lower.emit(Op::ICmp(pred), &[a, b], ty);
        self.select(cond, a, b)
    }

    /// 2ⁿ for whole numbers n of the number's width, from the least to the greatest normal exponent.
    fn power_of_two(&mut self, n: Value) -> Value {
        let bias = self.integer(self.bias());
        let biased = self.binary(BinaryOp::Add, n, bias);
        let by = self.integer(self.fraction_bits().into());
        let bits = self.binary(BinaryOp::Shl, biased, by);
        self.as_float(bits)
    }

    /// The exponent of positive finite numbers, as it is stored; it goes on below the normal ones.
    fn stored_exponent(&mut self, x: Value) -> Value {
        let up = self.fraction_bits() + 1;
        let least =
            self.number(if self.is_double() { f64::MIN_POSITIVE } else { f64::from(f32::MIN_POSITIVE) });
        let scale = self.number(2f64.powi(up as i32));
        let scaled = self.mul(x, scale);
        let small = self.compare(FloatPred::Olt, x, least);
        let normal = self.select(small, scaled, x);
        let bits = self.bits(normal);
        let stored = self.shift_right(bits, self.fraction_bits());
        let up = self.integer(up.into());
        let less = self.binary(BinaryOp::Sub, stored, up);
        self.select(small, less, stored)
    }

    /// NaN where `x` or `y` is one, `x` is infinite or `y` is 0, as the C library makes it; and where that is so.
    fn invalid(&mut self, x: Value, y: Value) -> (Value, Value) {
        let product = self.mul(x, y);
        let nan = self.binary(BinaryOp::FDiv, product, product);
        let (infinity, zero) = (self.infinity(), self.number(0.0));
        let (a, b) = (self.size(x), self.size(y));
        // Comparisons that NaNs fail, too.
        let finite = self.compare(FloatPred::Olt, a, infinity);
        let divides = self.compare(FloatPred::Ogt, b, zero);
        let ty = self.of(Type::BOOL);
        let fine = self.lower.emit(Op::Binary(BinaryOp::And), &[finite, divides], ty);
        (fine, nan)
    }

    fn fmod(&mut self, x: Value, y: Value) -> Value {
        let (fine, nan) = self.invalid(x, y);
        let (a, b) = (self.size(x), self.size(y));
        let (zero, one) = (self.number(0.0), self.number(1.0));
        let a = self.select(fine, a, zero);
        let b = self.select(fine, b, one);
        let rest = self.rest(a, b);
        let signed = self.signed_like(rest, x);
        self.select(fine, signed, nan)
    }

    /// What b leaves of a: a finite, not negative; b positive.
    fn rest(&mut self, a: Value, b: Value) -> Value {
        let ty = self.float_type();
        let before = self.lower.block;
        let head = self.lower.out.add_block("rest");
        let step = self.lower.out.add_block("");
        let after = self.lower.out.add_block("");
        self.lower.out.set_terminator(before, Op::Br, &[], &[head]);
        let left = self.lower.out.add_phi(head, ty);
        let enter = self.lower.out.blocks[head].preds[0];
        self.lower.out.set_phi_arg(enter, 0, a);
        self.lower.block = head;
        let more = self.compare(FloatPred::Oge, left, b);
        let any = self.lower.any_of(more);
        self.lower.out.set_terminator(head, Op::CondBr, &[any], &[step, after]);
        self.lower.block = step;
        let less = self.step(left, b);
        let next = self.select(more, less, left);
        let end = self.lower.block;
        self.lower.out.set_terminator(end, Op::Br, &[], &[head]);
        for e in self.lower.out.blocks[head].preds.clone() {
            if self.lower.out.edges[e].from == end {
                self.lower.out.set_phi_arg(e, 0, next);
            }
        }
        self.lower.block = after;
        left
    }

    /// One step, where b ≤ a.
    fn step(&mut self, a: Value, b: Value) -> Value {
        let (ea, eb) = (self.stored_exponent(a), self.stored_exponent(b));
        let apart = self.binary(BinaryOp::Sub, ea, eb);
        let bits = self.integer(u64::from(self.fraction_bits() - 1));
        let beyond = self.binary(BinaryOp::Sub, apart, bits);
        let none = self.integer(0);
        let k = self.choose(IntPred::Sgt, beyond, none);
        // Twice half of it, for the whole may be more than a power of two can have.
        let half = self.shift_right(k, 1);
        let other = self.binary(BinaryOp::Sub, k, half);
        let (p, q) = (self.power_of_two(half), self.power_of_two(other));
        let c = self.mul(b, p);
        let c = self.mul(c, q);
        let quotient = self.binary(BinaryOp::FDiv, a, c);
        let ty = self.float_type();
        let whole = self.intrinsic("llvm.trunc", &[quotient], ty);
        let left = match self.lower.plan.fused {
            true => {
                let minus = self.neg(whole);
                self.fma(minus, c, a)
            }
            false => self.less_product(a, whole, c),
        };
        let zero = self.number(0.0);
        let negative = self.compare(FloatPred::Olt, left, zero);
        let back = self.add(left, c);
        self.select(negative, back, left)
    }

    /// a − q · c where that is a number and |a − q · c| ≤ c ≤ a, without fused multiplication and addition.
    fn less_product(&mut self, a: Value, q: Value, c: Value) -> Value {
        // Numbers above the bound are much larger than the least normal one: the scaled ones have all their bits.
        let (bound, down, up) = if self.is_double() { (900, -100, 100) } else { (64, -40, 40) };
        let [bound, down, up, one] = [bound, down, up, 0].map(|exponent| self.number(2f64.powi(exponent)));
        let large = self.compare(FloatPred::Ogt, a, bound);
        let scale = self.select(large, down, one);
        let (a, c) = (self.mul(a, scale), self.mul(c, scale));
        let product = self.mul(q, c);
        let ((q_high, q_low), (c_high, c_low)) = (self.split(q), self.split(c));
        let error = self.mul(q_high, c_high);
        let mut error = self.sub(error, product);
        for (x, y) in [(q_high, c_low), (q_low, c_high), (q_low, c_low)] {
            let part = self.mul(x, y);
            error = self.add(error, part);
        }
        let left = self.sub(a, product);
        let left = self.sub(left, error);
        let back = self.select(large, up, one);
        self.mul(left, back)
    }

    /// The sum of two numbers of half as many bits (Veltkamp's splitting).
    fn split(&mut self, x: Value) -> (Value, Value) {
        let factor = self.number(f64::from(if self.is_double() { (1u32 << 27) + 1 } else { (1 << 12) + 1 }));
        let multiple = self.mul(x, factor);
        let rest = self.sub(multiple, x);
        let high = self.sub(multiple, rest);
        let low = self.sub(x, high);
        (high, low)
    }

    fn remainder(&mut self, x: Value, y: Value) -> Value {
        let (fine, nan) = self.invalid(x, y);
        let (a, b) = (self.size(x), self.size(y));
        let (zero, one) = (self.number(0.0), self.number(1.0));
        let a = self.select(fine, a, zero);
        let b = self.select(fine, b, one);
        let twice = self.add(b, b);
        let left = self.rest(a, twice);
        let other = self.sub(b, left);
        let above = self.compare(FloatPred::Ogt, left, other);
        let less = self.sub(left, b);
        let left = self.select(above, less, left);
        let other = self.sub(b, left);
        let not_below = self.compare(FloatPred::Oge, left, other);
        let less = self.sub(left, b);
        // Half of b stays where nothing was taken away: the quotient is even then.
        let ty = self.of(Type::BOOL);
        let twice = self.lower.emit(Op::Binary(BinaryOp::And), &[above, not_below], ty);
        let left = self.select(twice, less, left);
        // An infinite y leaves all of x, and takes part in no difference that counts.
        let bits = self.bits(left);
        let of_x = self.bits(x);
        let sign = self.integer(1 << (self.width() - 1));
        let flip = self.binary(BinaryOp::And, of_x, sign);
        let bits = self.binary(BinaryOp::Xor, bits, flip);
        let signed = self.as_float(bits);
        self.select(fine, signed, nan)
    }

    fn fdim(&mut self, x: Value, y: Value) -> Value {
        let zero = self.number(0.0);
        let difference = self.sub(x, y);
        let below = self.compare(FloatPred::Ole, x, y);
        self.select(below, zero, difference)
    }

    fn nextafter(&mut self, x: Value, y: Value) -> Value {
        let zero = self.number(0.0);
        let (bits, one) = (self.bits(x), self.integer(1));
        let (up, down) = (self.binary(BinaryOp::Add, bits, one), self.binary(BinaryOp::Sub, bits, one));
        let rises = self.compare(FloatPred::Olt, x, y);
        let positive = self.compare(FloatPred::Ogt, x, zero);
        let ty = self.of(Type::BOOL);
        let apart = self.lower.emit(Op::Binary(BinaryOp::Xor), &[rises, positive], ty);
        let beside = self.select(apart, down, up);
        let beside = self.as_float(beside);
        let least = self.as_float(one);
        let least = self.signed_like(least, y);
        let is_zero = self.compare(FloatPred::Oeq, x, zero);
        let beside = self.select(is_zero, least, beside);
        let same = self.compare(FloatPred::Oeq, x, y);
        let found = self.select(same, y, beside);
        let nan = self.add(x, y);
        let unordered = self.compare(FloatPred::Uno, x, y);
        self.select(unordered, nan, found)
    }

    fn logb(&mut self, x: Value) -> Value {
        let (zero, infinity) = (self.number(0.0), self.infinity());
        let size = self.size(x);
        let stored = self.stored_exponent(size);
        let bias = self.integer(self.bias());
        let exponent = self.binary(BinaryOp::Sub, stored, bias);
        let exponent = self.cast(CastOp::SiToFp, exponent, Type::Float(self.kind));
        let finite = self.compare(FloatPred::Olt, size, infinity);
        // Infinities and NaNs.
        let square = self.mul(x, x);
        let found = self.select(finite, exponent, square);
        let minus = self.number(f64::NEG_INFINITY);
        let is_zero = self.compare(FloatPred::Oeq, size, zero);
        self.select(is_zero, minus, found)
    }

    fn ldexp(&mut self, x: Value, n: Value) -> Value {
        // Any more or less has the same result.
        let (most, back) = if self.is_double() { (1023, 1022 - 53) } else { (127, 126 - 24) };
        let ints = self.of(Type::Int(32));
        let number = |floats: &mut Self, n: i32| floats.constant(Constant::int(32, u128::from(n as u32)));
        let mut left = n;
        let mut result = x;
        for _ in 0..2 {
            let bools = self.of(Type::BOOL);
            let (high, low) = (number(self, most), number(self, 1 - most));
            let down = number(self, -back);
            let none = number(self, 0);
            let above = self.lower.emit(Op::ICmp(IntPred::Sgt), &[left, high], bools);
            let below = self.lower.emit(Op::ICmp(IntPred::Slt), &[left, low], bools);
            let taken = self.select(below, down, none);
            let taken = self.select(above, high, taken);
            left = self.lower.emit(Op::Binary(BinaryOp::Sub), &[left, taken], ints);
            let factor = self.power_of_int(taken);
            result = self.mul(result, factor);
        }
        let (high, low) = (number(self, most), number(self, 1 - most));
        let left = self.choose(IntPred::Slt, left, high);
        let left = self.choose(IntPred::Sgt, left, low);
        let factor = self.power_of_int(left);
        self.mul(result, factor)
    }

    /// 2ⁿ for integers of 32 bits.
    fn power_of_int(&mut self, n: Value) -> Value {
        let n = if self.is_double() { self.cast(CastOp::SExt, n, Type::Int(64)) } else { n };
        self.power_of_two(n)
    }
}
