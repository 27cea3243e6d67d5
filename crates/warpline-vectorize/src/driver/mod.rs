//! Drivers: functions that run a kernel over a range of indices, and the entries by which machine code is called.
//!
//! A *range driver* has the parameters `begin: i64, end: i64`, then one for each parameter of the kernel that is not an
//! index, in order, then `out: ptr` if the kernel returns something. Its range is half-open; nothing happens if
//! `begin >= end`. What becomes of a kernel's parameter:
//! * `index` is made from the position in the range; there is no parameter for it;
//! * `uniform` is passed on;
//! * `stride(N)` is passed the value for `begin`, and each next index gets N more;
//! * `varying` becomes a pointer to an array with one element per index, element 0 for `begin`.
//!
//! A returned value becomes such an array too. Booleans are bytes in arrays; structures, arrays and vectors lie in
//! them as the target's data layout says.
//!
//! # Groups
//!
//! The range is cut into [`groups`]: the first starts at `begin`, each has W indices but the last, and none contains
//! both −1 and 0, nor both 2^(N−1) − 1 and 2^(N−1) for an N-bit index: within a group, the index wraps neither as a
//! signed nor as an unsigned number, which is what [`Shape::INDEX`](warpline_uniformity::shape::Shape::INDEX)
//! promises. A group of W indices is one call of the unmasked function, one of fewer a call of the masked one; its
//! arrays are copied element by element, so that nothing outside of the range is read or written. Of a kernel that
//! does not ask which lanes are in its group, a group of fewer may be executed by smaller [`BodyVariants`] instead, one
//! after another, and what is left at last by the scalar kernel ([`Tail`]). If these have a [prologue](make_prologue)
//! and the kernel's range is long enough, whole groups begin behind it. Loops are taken in groups in the same way (`skeleton`). What is too short to be worth a group is executed
//! by the scalar program, which a driver of its own sees to first ([`short_range`]).
//!
//! An [`ndrange`] driver runs a kernel that asks which work-item it is over up to three dimensions, row by row by a
//! range driver; [`groups_of_regions`] runs one that was cut at barriers, region by region. Drivers of [`some_groups`]
//! are for threads that share a range.
//!
//! The caller sees to it that every index of the range fits the kernel's parameter, signed or unsigned
//! ([`index_fits`]).

pub(super) mod entry;
mod groups;
mod members;
mod ndrange;
mod prologue;
mod range;
pub(crate) mod skeleton;
mod variants;

pub use entry::{bitmask_entry, slots_entry};
pub use groups::{OfSize, all_groups, groups_by_size, groups_of_regions, workspace_size};
pub use ndrange::{ndrange, some_groups};
pub(crate) use prologue::make_prologue;
pub use range::{Extent, scalar_over, scalar_range, short_range, vector_over, vector_range};
pub use variants::{Division, MadeVariants};

use warpline_ir::{FuncId, Function, Module};
use warpline_uniformity::shape::ArgShape;

use crate::builder::element_bytes;

use super::VectorizeError;

/// A variant of a kernel for several lanes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct BodyVariant {
    /// The function.
    pub func: FuncId,
    /// Its lanes.
    pub lanes: u32,
}

/// What executes the indices or iterations that no whole group is left for.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Tail {
    /// A variant with a mask, all at once.
    Masked,
    /// The scalar program, one after the other.
    Scalar,
}

impl Tail {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Tail::Masked => "masked",
            Tail::Scalar => "scalar",
        }
    }
}

/// Where fewer indices or iterations than these are executed at once by scalar code, it is not to be unrolled or
/// vectorized again.
pub(crate) const FEW: u32 = 16;

/// The variants by which many indices or iterations are executed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BodyVariants {
    /// Those for whole groups, the widest first: at least one, and each with a divisor of the lanes of the one before.
    pub groups: Vec<BodyVariant>,
    /// The one for what is left over then, which has a mask of type `<W x i1>` (`i1` where W is 1) as last parameter,
    /// and as many lanes as the last of the others; `None`: the scalar program.
    pub tail: Option<BodyVariant>,
    /// The one that takes the place of all behind the widest where there has been a group of that: all lanes execute,
    /// and the last parameter says which of them count. As many lanes as the widest.
    pub counting: Option<BodyVariant>,
    /// The function that says how many indices there are before the first whole group: one that [`make_prologue`] made.
    pub prologue: Option<FuncId>,
    /// What has fewer indices or iterations is executed by the scalar program.
    pub least: u32,
}

impl BodyVariants {
    /// Two variants of W lanes, the second with a mask.
    pub fn of_one_width(full: FuncId, masked: FuncId, lanes: u32) -> BodyVariants {
        let of = |func: FuncId| BodyVariant { func, lanes };
        BodyVariants {
            groups: vec![of(full)],
            tail: Some(of(masked)),
            counting: None,
            prologue: None,
            least: 0,
        }
    }
}

/// The widths of a kernel's index parameters, in bits.
pub fn index_widths(kernel: &Function, args: &[ArgShape]) -> Vec<u32> {
    let mut widths: Vec<u32> = kernel
        .params
        .iter()
        .zip(args)
        .filter(|&(_, &a)| a == ArgShape::Index)
        .filter_map(|(&p, _)| kernel.ty(p).int_bits())
        .collect();
    widths.sort_unstable();
    widths.dedup();
    widths
}

/// Whether every index of the range `begin..end` fits an integer of `bits` bits, signed or unsigned.
pub fn index_fits(begin: i64, end: i64, bits: u32) -> bool {
    if begin >= end || bits >= 64 {
        return true;
    }
    let (begin, last) = (i128::from(begin), i128::from(end) - 1);
    begin >= -(1i128 << (bits - 1)) && last < 1i128 << bits
}

/// The first index behind `at` at which a group must end, if there is one: where an index of one of these widths
/// changes its sign or wraps.
fn boundary(at: i64, widths: &[u32]) -> Option<i64> {
    if widths.is_empty() {
        return None;
    }
    if at < 0 {
        return Some(0);
    }
    widths.iter().filter(|&&w| w < 64).map(|&w| 1i64 << (w - 1)).filter(|&b| b > at).min()
}

/// The groups that a range driver without a prologue makes of `begin..end` with [`BodyVariants`] of so many lanes, the
/// most first, and index parameters of these widths in bits: first index and number of indices of each.
pub fn groups(begin: i64, end: i64, lanes: &[u32], index_widths: &[u32]) -> impl Iterator<Item = (i64, u32)> {
    let (lanes, widths) = (lanes.to_vec(), index_widths.to_vec());
    let mut at = begin;
    std::iter::from_fn(move || {
        if at >= end {
            return None;
        }
        let limit = boundary(at, &widths).map_or(end, |b| b.min(end));
        let left = limit.abs_diff(at);
        let whole = lanes.iter().copied().find(|&w| w > 0 && u64::from(w) <= left);
        let count = whole.unwrap_or(left as u32);
        let start = at;
        at = at.saturating_add(i64::from(count));
        Some((start, count))
    })
}

/// Checks that the kernel's arguments and result can be passed by a driver.
fn check(module: &Module, kernel: &Function, args: &[ArgShape]) -> Result<(), VectorizeError> {
    if kernel.variadic {
        return Err(VectorizeError::in_function(kernel, "a variadic function has no range driver"));
    }
    for (&p, &shape) in kernel.params.iter().zip(args) {
        if shape == ArgShape::Varying && element_bytes(module, kernel.ty(p)).is_none() {
            let reason = format!("parameter {} cannot vary: its type has no arrays", kernel.value_name(p));
            return Err(VectorizeError::in_function(kernel, reason));
        }
    }
    if !kernel.ret.is_void() && element_bytes(module, kernel.ret).is_none() {
        return Err(VectorizeError::in_function(kernel, "its result cannot be an element of an array"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
