//! Operations on lanes that a kernel may call.
//!
//! A kernel is written for one lane; warpline runs it on W lanes at once. By these functions it can look at the other
//! lanes of its group. They speak of the lanes that are *active*: those that execute the call together. In a program
//! that is not vectorized, each means what one lane alone would see.
//!
//! These are declarations; warpline puts the operation in place of each call. For an ordinary scalar build, the
//! feature `scalar` defines the functions.

/// Declares functions, or defines them by what they mean for one lane alone.
macro_rules! functions {
    ($($(#[$doc:meta])* fn $name:ident($($param:ident: $ty:ty),*) -> $result:ty { $scalar:expr })*) => {
        #[cfg(not(feature = "scalar"))]
        unsafe extern "C" {
            $($(#[$doc])* pub safe fn $name($($param: $ty),*) -> $result;)*
        }
        #[cfg(feature = "scalar")]
        mod scalar {
            $($(#[$doc])* #[unsafe(no_mangle)] pub extern "C" fn $name($($param: $ty),*) -> $result { $scalar })*
        }
        #[cfg(feature = "scalar")]
        pub use scalar::*;
    };
}

functions! {
    /// Whether the condition holds in any active lane. The same for all of them. One lane alone: the condition itself.
    fn warpline_any(condition: bool) -> bool { condition }
    /// Whether the condition holds in all active lanes. The same for all of them. One lane alone: the condition itself.
    fn warpline_all(condition: bool) -> bool { condition }
    /// Bit *k* says whether lane *k* is active and its condition holds. The same for all active lanes. One lane
    /// alone: the condition as 0 or 1.
    fn warpline_ballot(condition: bool) -> u64 { condition as u64 }
    /// The number of active lanes in which the condition holds. The same for all of them. One lane alone: the
    /// condition as 0 or 1.
    fn warpline_popcount(condition: bool) -> u32 { condition as u32 }
    /// The number of the lane, from 0. One lane alone: 0.
    fn warpline_lane_index() -> u32 { 0 }
    /// The number of lanes W, active or not. One lane alone: 1.
    fn warpline_lane_count() -> u32 { 1 }
}

/// Functions on narrow integers of each lane, which need no others: for each a machine has one instruction.
macro_rules! narrow {
    ($($(#[$doc:meta])* fn $name:ident($($param:ident: $ty:ty),*) -> $result:ty { $value:expr })*) => {
        $($(#[$doc])* #[inline(always)] pub const fn $name($($param: $ty),*) -> $result { $value })*
    };
}

narrow! {
    /// `x + y`, or 255 if that is less.
    fn warpline_sat_add_u8(x: u8, y: u8) -> u8 { x.saturating_add(y) }
    /// `x + y`, or the nearest number that there is.
    fn warpline_sat_add_i8(x: i8, y: i8) -> i8 { x.saturating_add(y) }
    /// `x + y`, or 65535 if that is less.
    fn warpline_sat_add_u16(x: u16, y: u16) -> u16 { x.saturating_add(y) }
    /// `x + y`, or the nearest number that there is.
    fn warpline_sat_add_i16(x: i16, y: i16) -> i16 { x.saturating_add(y) }
    /// `x - y`, or 0 if that is greater.
    fn warpline_sat_sub_u8(x: u8, y: u8) -> u8 { x.saturating_sub(y) }
    /// `x - y`, or the nearest number that there is.
    fn warpline_sat_sub_i8(x: i8, y: i8) -> i8 { x.saturating_sub(y) }
    /// `x - y`, or 0 if that is greater.
    fn warpline_sat_sub_u16(x: u16, y: u16) -> u16 { x.saturating_sub(y) }
    /// `x - y`, or the nearest number that there is.
    fn warpline_sat_sub_i16(x: i16, y: i16) -> i16 { x.saturating_sub(y) }
    /// The mean of two numbers, rounded up.
    fn warpline_avg_u8(x: u8, y: u8) -> u8 { ((x as u16 + y as u16 + 1) >> 1) as u8 }
    /// The mean of two numbers, rounded up.
    fn warpline_avg_u16(x: u16, y: u16) -> u16 { ((x as u32 + y as u32 + 1) >> 1) as u16 }
    /// The upper half of the product.
    fn warpline_mulhi_u16(x: u16, y: u16) -> u16 { ((x as u32 * y as u32) >> 16) as u16 }
    /// The upper half of the product.
    fn warpline_mulhi_i16(x: i16, y: i16) -> i16 { ((x as i32 * y as i32) >> 16) as i16 }
    /// The distance of two numbers.
    fn warpline_abs_diff_u8(x: u8, y: u8) -> u8 { x.abs_diff(y) }
    /// The distance of two numbers.
    fn warpline_abs_diff_u16(x: u16, y: u16) -> u16 { x.abs_diff(y) }
    /// `sum + x·y`, which wraps. In a loop that adds up, several products are added at once.
    fn warpline_dot_u8(sum: u32, x: u8, y: u8) -> u32 { sum.wrapping_add(x as u32 * y as u32) }
    /// `sum + x·y`, which wraps. In a loop that adds up, several products are added at once.
    fn warpline_dot_i16(sum: i32, x: i16, y: i16) -> i32 { sum.wrapping_add(x as i32 * y as i32) }
}

/// What scans begin with, by type.
mod sealed {
    pub trait Limits {
        const ZERO: Self;
        const ONE: Self;
        const LEAST: Self;
        const GREATEST: Self;
    }
}
use sealed::Limits;

macro_rules! limits {
    ($zero:literal, $one:literal, $least:ident, $greatest:ident: $($t:ident)*) => {$(
        impl Limits for $t {
            const ZERO: $t = $zero;
            const ONE: $t = $one;
            const LEAST: $t = $t::$least;
            const GREATEST: $t = $t::$greatest;
        }
    )*};
}
limits!(0, 1, MIN, MAX: i8 i16 i32 i64 u8 u16 u32 u64);
limits!(0.0, 1.0, NEG_INFINITY, INFINITY: f32 f64);

/// A number that lanes can hand to each other: `i8` to `i64`, `u8` to `u64`, `f32`, `f64`.
pub trait Element: Copy + Limits {
    #[doc(hidden)]
    fn shuffle(self, lane: u32) -> Self;
    #[doc(hidden)]
    fn first(self, condition: bool) -> Self;
    #[doc(hidden)]
    fn uniform(self) -> Self;
    #[doc(hidden)]
    fn insert(self, lane: u32, y: Self) -> Self;
    /// # Safety
    /// As [`warpline_compact`].
    #[doc(hidden)]
    unsafe fn compact(self, to: *mut Self, active: bool) -> u32;
}

macro_rules! elements {
    ($($t:ident)*) => {$(
        impl Element for $t {
            elements!(@fn $t shuffle(lane: u32), |x| if lane == 0 { x } else { $t::ZERO });
            elements!(@fn $t first(condition: bool), |x| if condition { x } else { $t::ZERO });
            elements!(@fn $t uniform(), |x| x);
            elements!(@fn $t insert(lane: u32, y: $t), |x| if lane == 0 { y } else { x });

            #[inline(always)]
            unsafe fn compact(self, to: *mut $t, active: bool) -> u32 {
                #[cfg(not(feature = "scalar"))]
                unsafe extern "C" {
                    #[link_name = concat!("warpline_compact_", stringify!($t))]
                    fn compact(to: *mut $t, x: $t, active: bool) -> u32;
                }
                #[cfg(feature = "scalar")]
                unsafe fn compact(to: *mut $t, x: $t, active: bool) -> u32 {
                    if active {
                        // SAFETY: the caller has room for one number there.
                        unsafe { to.write_unaligned(x) }
                    }
                    active as u32
                }
                // SAFETY: as the caller promises.
                unsafe { compact(to, self, active) }
            }
        }
    )*};
    // An operation on a number, and what it means for one lane alone.
    (@fn $t:ident $name:ident($($param:ident: $ty:ty),*), |$x:ident| $alone:expr) => {
        #[inline(always)]
        fn $name(self, $($param: $ty),*) -> $t {
            #[cfg(not(feature = "scalar"))]
            unsafe extern "C" {
                #[link_name = concat!("warpline_", stringify!($name), "_", stringify!($t))]
                safe fn ask($x: $t, $($param: $ty),*) -> $t;
            }
            #[cfg(feature = "scalar")]
            fn ask($x: $t, $($param: $ty),*) -> $t {
                $alone
            }
            ask(self, $($param),*)
        }
    };
}
elements!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

/// The `x` of lane `lane`; 0 if there is no such lane or it is not active. If all active lanes ask for the same one,
/// they are known to get the same. One lane alone: its own `x` if it asks for lane 0.
#[inline(always)]
pub fn warpline_shuffle<T: Element>(x: T, lane: u32) -> T {
    x.shuffle(lane)
}

/// [`warpline_shuffle`] for a lane that is the same for all.
#[inline(always)]
pub fn warpline_broadcast<T: Element>(x: T, lane: u32) -> T {
    x.shuffle(lane)
}

/// Another name for [`warpline_broadcast`].
#[inline(always)]
pub fn warpline_extract<T: Element>(x: T, lane: u32) -> T {
    x.shuffle(lane)
}

/// The `x` of the first active lane in which the condition holds; 0 if it holds in none. The same for all active
/// lanes. One lane alone: its own `x` if the condition holds.
#[inline(always)]
pub fn warpline_first<T: Element>(x: T, condition: bool) -> T {
    x.first(condition)
}

/// `x`, of which you say that it is the same in all active lanes. What is computed from it is computed once for all of
/// them. `warpline run` checks it; elsewhere, lanes that have something else get what the first active one has. One
/// lane alone: `x`.
#[inline(always)]
pub fn warpline_uniform<T: Element>(x: T) -> T {
    x.uniform()
}

/// `x`, of which you say that it is public though it depends on secrets: for `warpline constant-time`, which looks for
/// this name. Nothing else comes of it.
#[inline(never)]
pub fn warpline_declassify<T>(x: T) -> T {
    x
}

/// The `x` of lane (own number + `n`) modulo W.
#[inline(always)]
pub fn warpline_rotate<T: Element>(x: T, n: i32) -> T {
    let count = warpline_lane_count() as i32;
    x.shuffle(((warpline_lane_index() as i32 + n % count + count) % count) as u32)
}

/// The `x` of lane own number + `n`; 0 if there is none.
#[inline(always)]
pub fn warpline_shift<T: Element>(x: T, n: i32) -> T {
    x.shuffle(warpline_lane_index().wrapping_add(n as u32))
}

/// The `x` of lane `lane`, or the `y` of lane `lane` − W if `lane` is not below W.
#[inline(always)]
pub fn warpline_shuffle2<T: Element>(x: T, y: T, lane: u32) -> T {
    let of_x = x.shuffle(lane);
    let of_y = y.shuffle(lane.wrapping_sub(warpline_lane_count()));
    if lane < warpline_lane_count() { of_x } else { of_y }
}

/// Whether all active lanes have the same `x`.
#[inline(always)]
pub fn warpline_reduce_equal<T: Element + PartialEq>(x: T) -> bool {
    warpline_all(x == x.first(true))
}

/// The counterpart of [`warpline_compact`]: the active lanes for which `active` holds load one number after another,
/// in their order, from `from` on; the others get 0.
///
/// # Safety
/// The numbers that are loaded must be there; `from` must be aligned.
#[inline(always)]
pub unsafe fn warpline_packed_load<T: Element>(from: *const T, active: bool) -> T {
    let at = warpline_scan_exclusive_add(active as u32);
    // SAFETY: as the caller promises.
    if active { unsafe { *from.add(at as usize) } } else { T::ZERO }
}

/// Does something for one active lane after the other: it is given the number of the lane.
#[inline(always)]
pub fn warpline_foreach_active(mut each: impl FnMut(u32)) {
    let mut left = warpline_ballot(true);
    while left != 0 {
        let lane = left.trailing_zeros();
        if lane == warpline_lane_index() {
            each(lane);
        }
        left &= left - 1;
    }
}

/// Does something once for each value that `x` has in active lanes, by the lanes that have it: it is given the value,
/// which is the same in these. Lanes with a NaN, which equals nothing, do nothing.
#[inline(always)]
pub fn warpline_foreach_unique<T: Element + PartialEq>(x: T, mut each: impl FnMut(T)) {
    let mut left = warpline_ballot(true);
    while left != 0 {
        let value = x.shuffle(left.trailing_zeros());
        let now = warpline_ballot(x == value);
        if x == value {
            each(value);
        }
        left &= !(now | (left & left.wrapping_neg()));
    }
}

/// `condition`, of which lanes mostly agree: what `if warpline_coherent(condition)` guards is skipped where no active
/// lane wants it.
#[inline(always)]
pub fn warpline_coherent(condition: bool) -> bool {
    warpline_any(condition) && condition
}

/// `y` in lane `lane`, `x` in the others.
#[inline(always)]
pub fn warpline_insert<T: Element>(x: T, lane: u32, y: T) -> T {
    x.insert(lane, y)
}

/// A packed store: the active lanes for which `active` holds store their `x` one after another, in their order, from
/// `to` on. How many did; the same for all active lanes. If `to` differs between lanes, the n-th of them, from 0,
/// stores at its own `to.add(n)`.
///
/// # Safety
/// There must be room for the numbers that are stored; `to` need not be aligned.
#[inline(always)]
pub unsafe fn warpline_compact<T: Element>(to: *mut T, x: T, active: bool) -> u32 {
    // SAFETY: as the caller promises.
    unsafe { x.compact(to, active) }
}

/// A trait with functions of one number, its implementations, and functions that call them.
macro_rules! combining {
    ($(#[$about:meta])* $trait:ident: $base:ident, $types:tt $functions:tt) => {
        combining!(@trait $(#[$about])* $trait: $base, $functions);
        combining!(@types $trait $types $functions);
    };
    (@trait $(#[$about:meta])* $trait:ident: $base:ident,
     { $($(#[$doc:meta])* $function:ident = $method:ident $symbol:literal, $alone:expr;)* }) => {
        $(#[$about])*
        pub trait $trait: $base {
            $(#[doc(hidden)] fn $method(self) -> Self;)*
        }
        $($(#[$doc])*
        #[inline(always)]
        pub fn $function<T: $trait>(x: T) -> T {
            x.$method()
        })*
    };
    (@types $trait:ident [$($t:ident)*] $functions:tt) => {
        $(combining!(@type $trait $t $functions);)*
    };
    (@type $trait:ident $t:ident
     { $($(#[$doc:meta])* $function:ident = $method:ident $symbol:literal, $alone:expr;)* }) => {
        impl $trait for $t {
            $(#[inline(always)]
            fn $method(self) -> $t {
                #[cfg(not(feature = "scalar"))]
                unsafe extern "C" {
                    #[link_name = concat!("warpline_", $symbol, "_", stringify!($t))]
                    safe fn ask(x: $t) -> $t;
                }
                #[cfg(feature = "scalar")]
                fn ask(x: $t) -> $t {
                    let alone: fn($t) -> $t = $alone;
                    alone(x)
                }
                ask(self)
            })*
        }
    };
}

combining! {
    /// Numbers that can be added, multiplied and compared. Integers wrap. Floating-point numbers are added and
    /// multiplied in the order of lanes, so that results are the same each time; the smallest and the greatest are
    /// NaN if one of the numbers is, and −0 is less than +0.
    Number: Element, [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64] {
        /// The sum of the active lanes' numbers. The same for all of them.
        warpline_reduce_add = reduce_add "reduce_add", |x| x;
        /// The product of the active lanes' numbers. The same for all of them.
        warpline_reduce_mul = reduce_mul "reduce_mul", |x| x;
        /// The smallest of the active lanes' numbers. The same for all of them.
        warpline_reduce_min = reduce_min "reduce_min", |x| x;
        /// The greatest of the active lanes' numbers. The same for all of them.
        warpline_reduce_max = reduce_max "reduce_max", |x| x;
        /// The sum of the numbers of the active lanes before this one, beginning with 0.
        warpline_scan_exclusive_add = scan_exclusive_add "scan_exclusive_add", |_| Limits::ZERO;
        /// The product of the numbers of the active lanes before this one, beginning with 1.
        warpline_scan_exclusive_mul = scan_exclusive_mul "scan_exclusive_mul", |_| Limits::ONE;
        /// The smallest number of the active lanes before this one; the greatest of the type (or infinity) if there
        /// is none.
        warpline_scan_exclusive_min = scan_exclusive_min "scan_exclusive_min", |_| Limits::GREATEST;
        /// The greatest number of the active lanes before this one; the least of the type (or minus infinity) if
        /// there is none.
        warpline_scan_exclusive_max = scan_exclusive_max "scan_exclusive_max", |_| Limits::LEAST;
        /// The sum of the numbers of the active lanes up to this one.
        warpline_scan_inclusive_add = scan_inclusive_add "scan_inclusive_add", |x| x;
        /// The product of the numbers of the active lanes up to this one.
        warpline_scan_inclusive_mul = scan_inclusive_mul "scan_inclusive_mul", |x| x;
        /// The smallest number of the active lanes up to this one.
        warpline_scan_inclusive_min = scan_inclusive_min "scan_inclusive_min", |x| x;
        /// The greatest number of the active lanes up to this one.
        warpline_scan_inclusive_max = scan_inclusive_max "scan_inclusive_max", |x| x;
    }
}

combining! {
    /// Numbers with bits.
    Integer: Number, [i8 i16 i32 i64 u8 u16 u32 u64] {
        /// The active lanes' numbers combined by bitwise and. The same for all of them.
        warpline_reduce_and = reduce_and "reduce_and", |x| x;
        /// The active lanes' numbers combined by bitwise or. The same for all of them.
        warpline_reduce_or = reduce_or "reduce_or", |x| x;
        /// The active lanes' numbers combined by bitwise exclusive or. The same for all of them.
        warpline_reduce_xor = reduce_xor "reduce_xor", |x| x;
        /// The numbers of the active lanes before this one combined by bitwise and, beginning with all bits set.
        warpline_scan_exclusive_and = scan_exclusive_and "scan_exclusive_and", |_| !0;
        /// The numbers of the active lanes before this one combined by bitwise or, beginning with 0.
        warpline_scan_exclusive_or = scan_exclusive_or "scan_exclusive_or", |_| 0;
        /// The numbers of the active lanes before this one combined by bitwise exclusive or, beginning with 0.
        warpline_scan_exclusive_xor = scan_exclusive_xor "scan_exclusive_xor", |_| 0;
        /// The numbers of the active lanes up to this one combined by bitwise and.
        warpline_scan_inclusive_and = scan_inclusive_and "scan_inclusive_and", |x| x;
        /// The numbers of the active lanes up to this one combined by bitwise or.
        warpline_scan_inclusive_or = scan_inclusive_or "scan_inclusive_or", |x| x;
        /// The numbers of the active lanes up to this one combined by bitwise exclusive or.
        warpline_scan_inclusive_xor = scan_inclusive_xor "scan_inclusive_xor", |x| x;
    }
}
