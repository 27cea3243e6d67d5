//! Operations on lanes that a kernel may call.
//!
//! A kernel is written for one lane; warpline runs it on W lanes at once. By these functions it can look at the other lanes
//! of its group. They speak of the lanes that are *active*: those that execute the call together. In a program that is not
//! vectorized, each means what one lane alone would see.
//!
//! These are declarations; warpline puts the operation in place of each call. For an ordinary scalar build, the
//! feature `scalar` defines the functions.
//!
//! ```
//! # #[cfg(feature = "scalar")]
//! assert!(warpline_lanes::warpline_any(true) && warpline_lanes::warpline_lane_count() == 1);
//! ```
#![no_std]

#[cfg(not(feature = "scalar"))]
unsafe extern "C" {
    /// Whether the condition holds in any active lane. The same for all of them. One lane alone: the condition itself.
    pub safe fn warpline_any(condition: bool) -> bool;
    /// Whether the condition holds in all active lanes. The same for all of them. One lane alone: the condition itself.
    pub safe fn warpline_all(condition: bool) -> bool;
    /// Bit *k* says whether lane *k* is active and its condition holds. The same for all active lanes. One lane alone: the
    /// condition as 0 or 1.
    pub safe fn warpline_ballot(condition: bool) -> u64;
    /// The number of active lanes in which the condition holds. The same for all of them. One lane alone: the condition as 0
    /// or 1.
    pub safe fn warpline_popcount(condition: bool) -> u32;
    /// The number of the lane, from 0. One lane alone: 0.
    pub safe fn warpline_lane_index() -> u32;
    /// The number of lanes W, active or not. One lane alone: 1.
    pub safe fn warpline_lane_count() -> u32;
}

#[cfg(feature = "scalar")]
mod scalar {
    /// Whether the condition holds in any active lane: here, the condition itself.
    #[unsafe(no_mangle)]
    pub extern "C" fn warpline_any(condition: bool) -> bool {
        condition
    }

    /// Whether the condition holds in all active lanes: here, the condition itself.
    #[unsafe(no_mangle)]
    pub extern "C" fn warpline_all(condition: bool) -> bool {
        condition
    }

    /// Bit *k* says whether lane *k* is active and its condition holds: here, the condition as 0 or 1.
    #[unsafe(no_mangle)]
    pub extern "C" fn warpline_ballot(condition: bool) -> u64 {
        u64::from(condition)
    }

    /// The number of active lanes in which the condition holds: here, the condition as 0 or 1.
    #[unsafe(no_mangle)]
    pub extern "C" fn warpline_popcount(condition: bool) -> u32 {
        u32::from(condition)
    }

    /// The number of the lane, from 0: here, 0.
    #[unsafe(no_mangle)]
    pub extern "C" fn warpline_lane_index() -> u32 {
        0
    }

    /// The number of lanes W, active or not: here, 1.
    #[unsafe(no_mangle)]
    pub extern "C" fn warpline_lane_count() -> u32 {
        1
    }
}

#[cfg(feature = "scalar")]
pub use scalar::*;
