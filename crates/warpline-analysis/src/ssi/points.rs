//! Control-flow nodes in the sense of paper 4: entries of blocks, instructions, exits of blocks.

use alloc::vec::Vec;

use crate::graph::Node;
use crate::program::Instruction;

/// A control-flow node, at which a live range can be split (paper 4, Section 2.1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Point {
    /// The entry of a block; split by a φ, which may have a single operand. At the entry of the program there is
    /// nothing to split.
    In(Node),
    /// An instruction; split by a copy in parallel with it.
    At(Instruction),
    /// The exit of a block, behind its instructions and tests; split by a σ.
    ///
    /// Where one edge leaves the block paper 4 has an interior node and a copy; here a σ has one result for each
    /// out-edge, be it a single one.
    Out(Node),
}

/// A live range splitting strategy for one variable: *I↓ ∪ I↑* in paper 4, Section 3. Definitions of the variable
/// need not be named, as they always begin a version.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SplitSet {
    /// Where information is produced that flows forward.
    pub down: Vec<Point>,
    /// Where information is produced that flows backward.
    pub up: Vec<Point>,
}
