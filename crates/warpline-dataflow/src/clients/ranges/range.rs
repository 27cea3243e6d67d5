//! Sets of integers of one width by their least and greatest numbers, both as unsigned and as signed numbers.

use crate::clients::numbers::{greatest, least as least_of, mask, signed, unsigned};

/// A set of integers of one width, 1 to 128 bits: those that lie between two unsigned *and* between two signed
/// numbers. Never empty, and each of the four bounds is in the set; so equal sets are equal.
///
/// A pair of intervals, where an interval that may wrap around would not be a lattice: the meet of two of those is
/// not unique.
#[derive(Copy, Clone, PartialEq, Eq, Hash)]
pub struct Range {
    bits: u32,
    low: u128,
    high: u128,
    least: i128,
    greatest: i128,
}

impl Range {
    /// All integers of a width.
    pub fn full(bits: u32) -> Range {
        Range { bits, low: 0, high: mask(bits), least: least_of(bits), greatest: greatest(bits) }
    }

    /// One integer (zero-extended).
    pub fn single(bits: u32, value: u128) -> Range {
        let number = signed(value, bits);
        Range { bits, low: value, high: value, least: number, greatest: number }
    }

    /// A truth value: one that is known, or both.
    pub fn truth(known: Option<bool>) -> Range {
        known.map_or(Range::full(1), |b| Range::single(1, u128::from(b)))
    }

    /// The integers between two unsigned and two signed numbers, bounds included; `None` if there are none. Bounds
    /// beyond the width's are moved to these.
    pub fn between(bits: u32, (low, high): (u128, u128), (from, to): (i128, i128)) -> Option<Range> {
        // Those that are not negative, and those that are, as unsigned numbers.
        let above = (low.max(from.max(0) as u128), high.min(to.min(greatest(bits)).max(0) as u128));
        let below = (
            low.max(unsigned(from.clamp(least_of(bits), -1), bits)),
            high.min(unsigned(to.clamp(least_of(bits), -1), bits)),
        );
        let above = (to >= 0 && above.0 <= above.1).then_some(above);
        let below = (from < 0 && to >= least_of(bits) && below.0 <= below.1).then_some(below);
        let (first, last) = (above.or(below)?, below.or(above)?);
        Some(Range {
            bits,
            low: first.0,
            high: last.1,
            least: signed(last.0, bits),
            greatest: signed(first.1, bits),
        })
    }

    /// The integers between two unsigned numbers; `None` if there are none.
    pub fn unsigned(bits: u32, low: u128, high: u128) -> Option<Range> {
        Range::between(bits, (low, high), (least_of(bits), greatest(bits)))
    }

    /// The integers between two signed numbers; `None` if there are none.
    pub fn signed(bits: u32, low: i128, high: i128) -> Option<Range> {
        Range::between(bits, (0, mask(bits)), (low, high))
    }

    /// What the numbers from `low` to `high` are modulo 2^`bits`.
    pub fn modulo(bits: u32, low: i128, high: i128) -> Range {
        let (full, window) = (Range::full(bits), mask(bits));
        if low > high || high.wrapping_sub(low) as u128 >= window {
            return full;
        }
        let (u, v) = (unsigned(low, bits), unsigned(high, bits));
        let (s, t) = (signed(u, bits), signed(v, bits));
        let unsigned = if u <= v { (u, v) } else { (full.low, full.high) };
        let signed = if s <= t { (s, t) } else { (full.least, full.greatest) };
        Range::between(bits, unsigned, signed).unwrap_or(full)
    }

    /// The width in bits.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The least unsigned number.
    pub fn low(&self) -> u128 {
        self.low
    }

    /// The greatest unsigned number.
    pub fn high(&self) -> u128 {
        self.high
    }

    /// The least signed number.
    pub fn least(&self) -> i128 {
        self.least
    }

    /// The greatest signed number.
    pub fn greatest(&self) -> i128 {
        self.greatest
    }

    /// Whether the integer (zero-extended) is in the set.
    pub fn contains(&self, value: u128) -> bool {
        let number = signed(value, self.bits);
        (self.low..=self.high).contains(&value) && (self.least..=self.greatest).contains(&number)
    }

    /// Whether it is all integers of the width.
    pub fn is_full(&self) -> bool {
        *self == Range::full(self.bits)
    }

    /// The only integer of the set (zero-extended), if it has one.
    pub fn only(&self) -> Option<u128> {
        (self.low == self.high).then_some(self.low)
    }

    /// Whether no number is negative.
    pub fn is_not_negative(&self) -> bool {
        self.least >= 0
    }

    /// The least set that contains both. Of one width.
    pub fn hull(&self, other: &Range) -> Range {
        Range {
            bits: self.bits,
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            least: self.least.min(other.least),
            greatest: self.greatest.max(other.greatest),
        }
    }

    /// What is in both sets; `None` if nothing is. Of one width.
    pub fn intersection(&self, other: &Range) -> Option<Range> {
        Range::between(
            self.bits,
            (self.low.max(other.low), self.high.min(other.high)),
            (self.least.max(other.least), self.greatest.min(other.greatest)),
        )
    }

    /// The set without an integer, as far as it can be told: only bounds move.
    pub fn without(&self, value: u128) -> Option<Range> {
        let number = signed(value, self.bits);
        if self.only() == Some(value) {
            return None;
        }
        // Neither bound moves beyond the other, since there are other integers in the set.
        let low = if self.low == value { self.low + 1 } else { self.low };
        let high = if self.high == value { self.high - 1 } else { self.high };
        let from = if self.least == number { self.least + 1 } else { self.least };
        let to = if self.greatest == number { self.greatest - 1 } else { self.greatest };
        Range::between(self.bits, (low, high), (from, to))
    }

    /// The numbers of the set that are not negative and those that are, each an interval of unsigned numbers.
    pub fn halves(&self) -> impl Iterator<Item = (u128, u128)> {
        let half = mask(self.bits - 1);
        let above = (self.greatest >= 0).then_some((self.low, self.greatest as u128 & half));
        let below = (self.least < 0).then_some((unsigned(self.least, self.bits), self.high));
        above.into_iter().chain(below)
    }
}

impl std::fmt::Debug for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "i{} {self}", self.bits)
    }
}

/// `5`, `0..=9` in unsigned numbers, `-1..=9` in signed ones where that says more, `any`, or both intervals.
impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_full() {
            return f.write_str("any");
        }
        let unsigned = Range::unsigned(self.bits, self.low, self.high);
        let signed = Range::signed(self.bits, self.least, self.greatest);
        match self.only() {
            Some(_) if self.bits == 1 => write!(f, "{}", self.low == 1),
            Some(_) => write!(f, "{}", self.least),
            _ if signed == Some(*self) => write!(f, "{}..={}", self.least, self.greatest),
            _ if unsigned == Some(*self) => write!(f, "{}..={}", self.low, self.high),
            _ => write!(f, "{}..={} and {}..={}", self.low, self.high, self.least, self.greatest),
        }
    }
}
