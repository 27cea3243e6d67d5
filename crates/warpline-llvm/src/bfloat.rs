//! What LLVM's code calls for conversions to `bfloat` that it has no instructions for. Compilers have these functions
//! in libraries of their own, which this process need not be linked with.
//!
//! Results are returned in the lowest 16 bits of a register for floats.

/// `__truncsfbf2`: rounds to nearest, ties to even.
pub(crate) extern "C" fn from_float(x: f32) -> f32 {
    f32::from_bits(nearest(x.to_bits(), x.is_nan()))
}

/// `__truncdfbf2`: rounds to nearest, ties to even.
pub(crate) extern "C" fn from_double(x: f64) -> f32 {
    f32::from_bits(nearest(rounded_to_odd(x).to_bits(), x.is_nan()))
}

fn nearest(bits: u32, is_nan: bool) -> u32 {
    // What is in front of the lowest bit that stays decides ties.
    (if is_nan { bits | 0x0040_0000 } else { bits.wrapping_add(0x7fff + (bits >> 16 & 1)) }) >> 16
}

/// The number as a float; if it is none, that one of its neighbours which has an odd last bit, so that rounding again
/// sees no tie that was none.
fn rounded_to_odd(x: f64) -> f32 {
    let near = x as f32;
    if x.is_nan() || f64::from(near) == x {
        return near;
    }
    let towards_zero = near.to_bits() - u32::from(f64::from(near).abs() > x.abs());
    f32::from_bits(towards_zero | 1)
}

#[cfg(test)]
mod tests {
    use super::{from_double, from_float};

    fn float(x: f32) -> f32 {
        f32::from_bits(from_float(x).to_bits() << 16)
    }

    fn double(x: f64) -> f32 {
        f32::from_bits(from_double(x).to_bits() << 16)
    }

    #[test]
    fn ties_go_to_even() {
        assert_eq!(float(1.0 + 1.0 / 256.0), 1.0);
        assert_eq!(float(1.0 + 3.0 / 256.0), 1.0 + 4.0 / 256.0);
        assert_eq!(float(f32::MAX), f32::INFINITY);
    }

    #[test]
    fn subnormal_numbers_stay() {
        let smallest = f32::from_bits(1 << 16);
        assert_eq!(float(smallest), smallest);
        assert_eq!(double(f64::from(smallest)), smallest);
    }

    #[test]
    fn numbers_near_a_tie_are_not_rounded_twice() {
        let tie = 1.0 + 1.0 / 256.0;
        assert_eq!(double(tie + 1e-15), 1.0 + 2.0 / 256.0);
        assert_eq!(double(tie), 1.0);
        assert_eq!(double(-tie - 1e-15), -1.0 - 2.0 / 256.0);
        assert_eq!(double(f64::MAX), f32::INFINITY);
    }

    #[test]
    fn not_a_number_stays_one() {
        assert!(float(f32::NAN).is_nan() && double(f64::NAN).is_nan());
    }
}
