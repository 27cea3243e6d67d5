//! Common divisors.

/// The greatest number that divides both; the other one where one is 0.
pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
