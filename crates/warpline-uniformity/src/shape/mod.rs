//! Shapes: how the value of one lane relates to the values of the others (paper 3, Sec. 2.3, with the strided
//! shapes of the divergence analyses that it cites).
//!
//! # What a shape promises
//!
//! All promises are about lanes that execute the defining instruction *together* (converged, in the sense of
//! paper 2), and only about those of them whose value is not poison. *ℓ* is the lane's number.
//!
//! * [`Shape::Uniform`]: all these values are equal, and either all lanes have poison or none has.
//! * [`Shape::Strided`] with step *s*: there is a *b* with value(ℓ) ≡ *b* + ℓ·*s* (mod 2^N), where N is the
//!   width of the integer, or the width of the address arithmetic for a pointer (then *s* is in bytes).
//!   The congruence says nothing about overflow: it holds for an `i8` that wraps between two lanes. What the
//!   other fields of [`Stride`] add to it is needed wherever the value enters wider arithmetic.
//! * [`Shape::Varying`] promises nothing.
//!
//! # The base, and lanes that are not there
//!
//! A code generator wants to keep one scalar, the *base*, and derive the lanes from it. The obvious base is lane
//! 0's. But lane 0 may be inactive where the value is defined, or its value may be poison, and the promises above
//! do not speak of it: for `zext (sub nuw i, u)` executed under `i >= u`, lane 0 may have wrapped where the active
//! lanes have not. The *ghost* of a value is what its instruction yields for lane 0 when evaluated whether or not
//! lane 0 is active, on the ghosts of the operands, without poison-generating flags (`or disjoint` as `add`); the
//! ghost of a parameter is lane 0's argument, that of a φ is the ghost of the operand whose edge the active
//! lanes take. A stride is [`anchored`](Stride::anchored) if its *b* is the ghost. An anchored value is computed
//! by scalar instructions alone; for one that is not, take the base from a lane that is active *and* whose value is
//! not poison, or compute the lanes one by one.
//!
//! # Arithmetic
//!
//! Steps are kept in 64 bits and computed in 128, reduced modulo 2^N; so `tid * 2^32` in `i64` has step 2^32
//! and is not uniform, while in `i32` it has step 0 and is. A step of an integer wider than 64 bits that leaves 64
//! bits is given up.

pub mod alignment;
mod analysis;
mod args;
mod arith;
mod transfer;

use std::fmt;

pub(crate) use analysis::phi_positions;
pub use analysis::{Convergence, Shapes};
pub use args::{ArgError, ArgShape, parse_args};
pub(crate) use arith::int_cast;
pub use arith::{Num, binary, icmp};
pub use transfer::transfer;

/// How far a stride is known to be exact in ℤ, and not only modulo 2^N.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Exact {
    /// Not known: the value may wrap between two lanes.
    No,
    /// For any two active, non-poison lanes, the difference of their values is the difference of their numbers
    /// times the step, in ℤ.
    Lanes,
    /// As `Lanes`, and the ghost counts as such a lane.
    Ghost,
}

/// The regular relation between the lanes of a strided value.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Stride {
    /// Difference between the values of neighbouring lanes; in bytes for pointers. Never 0; for a width N ≤ 64 it is
    /// in −2^(N−1) .. 2^(N−1).
    pub step: i64,
    /// Whether the differences are exact for the values read as unsigned integers.
    pub unsigned: Exact,
    /// Whether the differences are exact for the values read as signed integers.
    pub signed: Exact,
    /// Whether the ghost (see the [module](self)) is the value that lane 0 would have.
    pub anchored: bool,
    /// Whether either all active lanes have poison or none has.
    pub whole: bool,
}

/// How the values of the lanes relate; see the [module](self).
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Shape {
    /// The same value in all lanes.
    Uniform,
    /// Values at equal distances.
    Strided(Stride),
    /// No relation is known.
    Varying,
}

impl Shape {
    /// `index`: lane 0's value plus the lane number, without wrapping. What a driver over a range guarantees for
    /// the lanes that it activates.
    pub const INDEX: Shape = Shape::Strided(Stride {
        step: 1,
        unsigned: Exact::Ghost,
        signed: Exact::Ghost,
        anchored: true,
        whole: true,
    });

    /// `stride(step)` for a value of `width` bits: lane 0's value plus the lane number times `step`, which may
    /// wrap. Uniform if the step is 0 modulo 2^width.
    pub fn stride(step: i64, width: u32) -> Shape {
        Stepping { step: i128::from(step), unsigned: None, signed: None, anchored: true, whole: true }
            .shape(width)
    }

    /// Whether all lanes have the same value.
    pub fn is_uniform(self) -> bool {
        self == Shape::Uniform
    }

    /// Whether nothing is known.
    pub(crate) fn is_varying(self) -> bool {
        self == Shape::Varying
    }

    /// The difference between neighbouring lanes: 0 for a uniform value, `None` if there is no fixed one.
    pub fn step(self) -> Option<i64> {
        match self {
            Shape::Uniform => Some(0),
            Shape::Strided(s) => Some(s.step),
            Shape::Varying => None,
        }
    }

    /// The step of a value whose lanes can be derived from the scalar evaluation of lane 0 (the ghost): 0 for a
    /// uniform value, `None` if it varies or is not anchored.
    pub fn anchored_step(self) -> Option<i64> {
        match self {
            Shape::Uniform => Some(0),
            Shape::Strided(s) if s.anchored => Some(s.step),
            _ => None,
        }
    }

    /// The least shape that promises no more than either. Width-independent: both are shapes of values of
    /// one type.
    pub fn join(self, other: Shape) -> Shape {
        match (self, other) {
            (Shape::Uniform, Shape::Uniform) => Shape::Uniform,
            (Shape::Strided(a), Shape::Strided(b)) if a.step == b.step => Shape::Strided(Stride {
                step: a.step,
                unsigned: a.unsigned.min(b.unsigned),
                signed: a.signed.min(b.signed),
                anchored: a.anchored && b.anchored,
                whole: a.whole && b.whole,
            }),
            _ => Shape::Varying,
        }
    }

    fn unsigned(self) -> Exact {
        match self {
            Shape::Uniform => Exact::Ghost,
            Shape::Strided(s) => s.unsigned,
            Shape::Varying => Exact::No,
        }
    }

    fn signed(self) -> Exact {
        match self {
            Shape::Uniform => Exact::Ghost,
            Shape::Strided(s) => s.signed,
            Shape::Varying => Exact::No,
        }
    }

    fn anchored(self) -> bool {
        match self {
            Shape::Uniform => true,
            Shape::Strided(s) => s.anchored,
            Shape::Varying => false,
        }
    }

    fn whole(self) -> bool {
        match self {
            Shape::Uniform => true,
            Shape::Strided(s) => s.whole,
            Shape::Varying => false,
        }
    }
}

impl fmt::Display for Shape {
    /// The command line's words, with what is known beyond them: `uniform`, `varying`, `stride(4) nuw nsw`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Uniform => f.write_str("uniform"),
            Shape::Varying => f.write_str("varying"),
            Shape::Strided(s) => {
                write!(f, "stride({})", s.step)?;
                if s.unsigned != Exact::No {
                    f.write_str(" nuw")?;
                }
                if s.signed != Exact::No {
                    f.write_str(" nsw")?;
                }
                Ok(())
            }
        }
    }
}

/// A stride before it is reduced to a width: the step modulo 2^N as any representative, and the steps in ℤ of the
/// unsigned and the signed reading where they are exact.
#[derive(Copy, Clone)]
struct Stepping {
    step: i128,
    unsigned: Option<(i128, Exact)>,
    signed: Option<(i128, Exact)>,
    anchored: bool,
    whole: bool,
}

impl Stepping {
    /// The shape at a width. Exactness survives only if the exact step is the reduced one. A step of 0 is uniform
    /// if the ghost stands for all lanes and poison is in all of them or none, else nothing is promised.
    fn shape(self, width: u32) -> Shape {
        let Some(step) = reduce(self.step, width) else { return Shape::Varying };
        let exact = |e: Option<(i128, Exact)>| match e {
            Some((s, level)) if s == i128::from(step) => {
                if self.anchored {
                    level
                } else {
                    level.min(Exact::Lanes)
                }
            }
            _ => Exact::No,
        };
        match step {
            0 if self.anchored && self.whole => Shape::Uniform,
            0 => Shape::Varying,
            _ => Shape::Strided(Stride {
                step,
                unsigned: exact(self.unsigned),
                signed: exact(self.signed),
                anchored: self.anchored,
                whole: self.whole,
            }),
        }
    }
}

/// The representative of `step` modulo 2^width in −2^(width−1) .. 2^(width−1), if it fits 64 bits. For widths above 64
/// the step itself if it fits.
fn reduce(step: i128, width: u32) -> Option<i64> {
    match width {
        0 => None,
        1..=64 => Some(((step << (128 - width)) >> (128 - width)) as i64),
        _ => i64::try_from(step).ok(),
    }
}

#[cfg(test)]
mod tests;
