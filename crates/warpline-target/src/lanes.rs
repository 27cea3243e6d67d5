//! Numbers of lanes.

use std::num::NonZeroU32;

/// A number of lanes: fixed, or a multiple that the machine at hand decides.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Lanes {
    min: NonZeroU32,
    scalable: bool,
}

impl Lanes {
    /// One lane: scalar code.
    pub const ONE: Lanes = Lanes { min: NonZeroU32::MIN, scalable: false };

    /// So many; 0 counts as 1.
    #[must_use]
    pub fn fixed(lanes: u32) -> Lanes {
        Lanes { min: NonZeroU32::new(lanes).unwrap_or(NonZeroU32::MIN), scalable: false }
    }

    /// So many times what the machine has in 128 bits of its scalable registers; 0 counts as 1.
    #[must_use]
    pub fn scalable(min: u32) -> Lanes {
        Lanes { scalable: true, ..Lanes::fixed(min) }
    }

    /// How many there are at least.
    #[must_use]
    pub fn min(self) -> u32 {
        self.min.get()
    }

    /// Whether the machine decides how many there are.
    #[must_use]
    pub fn is_scalable(self) -> bool {
        self.scalable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_always_a_lane_and_scalable_numbers_differ_from_fixed_ones() {
        assert_eq!(Lanes::fixed(0), Lanes::ONE);
        assert_eq!(Lanes::scalable(4).min(), 4);
        assert_ne!(Lanes::scalable(4), Lanes::fixed(4));
    }
}
