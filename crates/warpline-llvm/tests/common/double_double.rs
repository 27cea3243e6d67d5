//! Exponential functions and logarithms of `double`, as sums of two `double`s: about 100 bits of the true value,
//! against which functions are measured.
//!
//! e^x is 2ⁿ e^r; e^(r / 16) is a Taylor series, squared four times. A logarithm near 1 is the series of the inverse
//! hyperbolic tangent; elsewhere it is the C library's with one step of Newton's method. The methods have nothing in
//! common with those that are measured but the reduction of e^x.

use std::f64::consts;

/// A sum of two numbers, the second one at most half a unit in the last place of the first.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct DoubleDouble {
    pub high: f64,
    pub low: f64,
}

const fn two(high: f64, low: f64) -> DoubleDouble {
    DoubleDouble { high, low }
}

/// `a + b` for |a| ≥ |b|.
fn ordered_sum(a: f64, b: f64) -> DoubleDouble {
    let high = a + b;
    two(high, b - (high - a))
}

fn sum(a: f64, b: f64) -> DoubleDouble {
    let high = a + b;
    let b_of_it = high - a;
    two(high, (a - (high - b_of_it)) + (b - b_of_it))
}

fn product(a: f64, b: f64) -> DoubleDouble {
    let high = a * b;
    two(high, a.mul_add(b, -high))
}

impl DoubleDouble {
    fn plus(self, other: DoubleDouble) -> DoubleDouble {
        let (high, low) = (sum(self.high, other.high), sum(self.low, other.low));
        let once = ordered_sum(high.high, high.low + low.high);
        ordered_sum(once.high, once.low + low.low)
    }

    fn times(self, other: DoubleDouble) -> DoubleDouble {
        let all = product(self.high, other.high);
        ordered_sum(all.high, all.low + (self.high * other.low + self.low * other.high))
    }

    fn over(self, other: DoubleDouble) -> DoubleDouble {
        let mut rest = self;
        let mut quotient = two(0.0, 0.0);
        for _ in 0..3 {
            let part = two(rest.high / other.high, 0.0);
            rest = rest.plus(part.times(two(-other.high, -other.low)));
            quotient = quotient.plus(part);
        }
        quotient
    }

    /// Times a power of two.
    fn by(self, power: f64) -> DoubleDouble {
        two(self.high * power, self.low * power)
    }
}

/// What a function's value is.
#[derive(Copy, Clone, Debug)]
pub enum Exact {
    /// Exactly this, or so far from other numbers.
    Special(f64),
    /// A number times a power of two: it may be out of range.
    Number(DoubleDouble, i32),
}

/// 2ᵏ
fn power_of_two(k: i32) -> f64 {
    f64::from_bits(((k + 1023) as u64) << 52)
}

/// x · 2ᵏ, exact where the result is a normal number.
fn scaled(x: f64, k: i32) -> f64 {
    x * power_of_two(k / 2) * power_of_two(k - k / 2)
}

/// The exponent of the power of two that is at most |x|, for normal x.
fn exponent(x: f64) -> i32 {
    ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023
}

impl Exact {
    /// How far a result is from the value, in units in the last place of that; infinity counts as the number that
    /// would be next to the largest one.
    pub fn error(&self, found: f64) -> f64 {
        let (value, scale) = match *self {
            Exact::Special(x) => {
                let same = x.is_nan() && found.is_nan() || x.to_bits() == found.to_bits();
                return if same { 0.0 } else { f64::INFINITY };
            }
            Exact::Number(value, scale) => (value, scale),
        };
        let is_below = value.low != 0.0 && (value.low < 0.0) != (value.high < 0.0);
        let is_power = value.high.to_bits() << 12 == 0;
        let exponent = exponent(value.high) - i32::from(is_below && is_power) + scale;
        if found.is_nan() {
            return f64::INFINITY;
        }
        if exponent >= 1024 {
            return if found == f64::INFINITY.copysign(value.high) { 0.0 } else { f64::INFINITY };
        }
        let found = if found.is_infinite() {
            scaled(1f64.copysign(found), 1024 - scale)
        } else {
            scaled(found, -scale)
        };
        let unit = exponent.max(-1022) - 52 - scale;
        (((found - value.high) - value.low) * scaled(1.0, -unit)).abs()
    }
}

const LN_2: [f64; 3] = [consts::LN_2, 2.319_046_813_846_299_6e-17, 5.707_708_438_416_209e-34];
const ONE_BY_LN_2: DoubleDouble = two(consts::LOG2_E, 2.035_527_374_093_103_3e-17);
const ONE_BY_LN_10: DoubleDouble = two(consts::LOG10_E, 1.098_319_650_216_765e-17);

/// The functions, with the coefficients of their series.
pub struct Functions {
    /// 1 / k!
    exponential: [DoubleDouble; 14],
    /// 1 / (2 k + 1)
    hyperbolic: [DoubleDouble; 12],
}

/// The polynomial with these coefficients; from the term `exact` on, one number is enough.
fn polynomial(x: DoubleDouble, coefficients: &[DoubleDouble], exact: usize) -> DoubleDouble {
    let (first, last) = coefficients.split_at(exact);
    let rest = last.iter().rev().fold(0.0, |sum, c| sum * x.high + c.high);
    first.iter().rev().fold(two(rest, 0.0), |sum, &c| sum.times(x).plus(c))
}

impl Functions {
    pub fn new() -> Functions {
        let one = two(1.0, 0.0);
        let mut factorial = 1.0;
        let exponential = std::array::from_fn(|k| {
            factorial *= k.max(1) as f64;
            one.over(two(factorial, 0.0))
        });
        let hyperbolic = std::array::from_fn(|k| one.over(two(2.0 * k as f64 + 1.0, 0.0)));
        Functions { exponential, hyperbolic }
    }

    /// e^r for |r| < 0.36
    fn exp_of_fraction(&self, r: DoubleDouble) -> DoubleDouble {
        let mut power = polynomial(r.by(1.0 / 16.0), &self.exponential, 7);
        for _ in 0..4 {
            power = power.times(power);
        }
        power
    }

    /// e^x, for x of less than 800 in size
    fn exp_in_parts(&self, x: f64) -> (DoubleDouble, i32) {
        let n = (x * consts::LOG2_E).round_ties_even();
        let high = two(x, 0.0).plus(product(-n, LN_2[0]));
        let r = high.plus(product(-n, LN_2[1])).plus(two(-n * LN_2[2], 0.0));
        (self.exp_of_fraction(r), n as i32)
    }

    pub fn exp(&self, x: f64) -> Exact {
        if x.is_nan() || x > 720.0 {
            return Exact::Special(x + f64::INFINITY);
        }
        if x < -760.0 {
            return Exact::Special(0.0);
        }
        let (value, scale) = self.exp_in_parts(x);
        Exact::Number(value, scale)
    }

    pub fn exp2(&self, x: f64) -> Exact {
        if x.is_nan() || x > 1030.0 {
            return Exact::Special(x + f64::INFINITY);
        }
        if x < -1080.0 {
            return Exact::Special(0.0);
        }
        let n = x.round_ties_even();
        let r = two(x - n, 0.0);
        let value = self.exp_of_fraction(r.times(two(LN_2[0], LN_2[1])));
        Exact::Number(value, n as i32)
    }

    /// ln x for positive, finite x
    fn ln(&self, x: f64) -> DoubleDouble {
        let f = x - 1.0;
        if f.abs() < 1.0 / 16.0 {
            let s = two(f, 0.0).over(sum(2.0, f));
            let series = polynomial(s.times(s), &self.hyperbolic, 6);
            return s.by(2.0).times(series);
        }
        let near = x.ln();
        let (inverse, scale) = self.exp_in_parts(-near);
        let left = inverse.times(two(scaled(x, scale), 0.0)).plus(two(-1.0, 0.0));
        two(near, 0.0).plus(left).plus(two(-0.5 * left.high * left.high, 0.0))
    }

    /// A logarithm, where that of e is this.
    fn logarithm(&self, x: f64, of_e: DoubleDouble) -> Exact {
        if x == 0.0 {
            Exact::Special(f64::NEG_INFINITY)
        } else if x == 1.0 {
            Exact::Special(0.0)
        } else if x > 0.0 && x < f64::INFINITY {
            Exact::Number(self.ln(x).times(of_e), 0)
        } else {
            Exact::Special(if x > 0.0 { x } else { f64::NAN })
        }
    }

    pub fn log(&self, x: f64) -> Exact {
        self.logarithm(x, two(1.0, 0.0))
    }

    pub fn log2(&self, x: f64) -> Exact {
        self.logarithm(x, ONE_BY_LN_2)
    }

    pub fn log10(&self, x: f64) -> Exact {
        self.logarithm(x, ONE_BY_LN_10)
    }
}
