//! What can be chosen, and how lanes are passed: words that every part of the vectorizer shares.

use warpline_ir::Type;

pub use warpline_target::{Gathers, Masks, Packing};

/// The greatest number of lanes.
pub const MAX_WIDTH: u32 = 64;

/// How much control flow is folded.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Linearize {
    /// Divergent branches only.
    #[default]
    Partial,
    /// Every branch but those that ask whether a mask has any lane.
    Full,
}

/// Where branches are put around code that may turn out to have no active lane (paper 3, Sec. 6), besides where that
/// is needed for what the program does.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Boscc {
    /// Nowhere.
    #[default]
    Off,
    /// Wherever a divergent branch leads to a block of its own.
    On,
    /// Where a cost model expects a gain.
    Auto,
}

/// For which loops code is made for [iterations in which lanes agree](super::dynamic_uniformity), and for which guards
/// for when [all lanes pass](super::passed_guards).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Coherence {
    /// None.
    #[default]
    Off,
    /// All for which it can be made, whatever is saved.
    On,
    /// Those in which lanes are likely to agree and much is loaded.
    Auto,
}

/// What memory that several lanes or iterations access means, and who answers for it.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Contract {
    /// As if indices ran one after the other, in ascending order. Nothing is promised: what cannot be proved is
    /// checked at run time, serialized or refused.
    Sequential,
    /// The sequential meaning. The user promises that accesses do not conflict where that cannot be decided.
    Independent,
    /// Lanes are unordered threads. The user promises that they do not race; certain races are refused.
    #[default]
    Threads,
    /// Lanes are work-items of a group, which share memory between barriers. The user promises that they do not race
    /// there, as OpenCL asks for; certain races are refused, and updates that cannot be told apart are trusted.
    Groups,
    /// Like [`Contract::Groups`], and the lanes are a warp that executes one statement after the other together, as the
    /// user says: volatile accesses of one lane to what others access are in the order of the program.
    Warp,
    /// Lanes are unordered threads, and the user accepts whatever their races do.
    Racy,
}

/// How a parameter or result of the vectorized function is passed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Passing {
    /// One scalar, the same for all lanes.
    Uniform(Type),
    /// Lane 0's value as a scalar; lane *k* has `k` times the step more.
    Strided(Type, i64),
    /// A vector with one element per lane; the type is that of one lane.
    Varying(Type),
}
