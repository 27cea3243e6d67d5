//! Integers of up to 128 bits, kept zero-extended in a `u128`.

/// All ones in the low `bits` bits; `bits` is at most 128.
#[inline]
pub fn mask(bits: u32) -> u128 {
    if bits == 0 { 0 } else { u128::MAX >> (128 - bits) }
}

/// The signed number that the low `bits` bits are; `bits` is between 1 and 128.
#[inline]
pub fn signed(value: u128, bits: u32) -> i128 {
    let unused = 128 - bits;
    ((value << unused) as i128) >> unused
}

/// The low `bits` bits of a signed number.
#[inline]
pub fn unsigned(value: i128, bits: u32) -> u128 {
    value as u128 & mask(bits)
}

/// The least signed number of `bits` bits.
#[inline]
pub fn least(bits: u32) -> i128 {
    i128::MIN >> (128 - bits)
}

/// The greatest signed number of `bits` bits.
#[inline]
pub fn greatest(bits: u32) -> i128 {
    i128::MAX >> (128 - bits)
}
