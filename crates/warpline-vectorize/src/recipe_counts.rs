//! How many instructions have each kind of [recipe](super::recipes): what reports say of a plan.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A kind of recipe, in the words of reports.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RecipeKind {
    /// Once for all lanes.
    Uniform,
    /// One vector instruction.
    Widened,
    /// A load or store of neighbouring elements, all of them.
    Contiguous,
    /// The same under a mask.
    ContiguousMasked,
    /// The same, one element after the other, for lack of masks.
    ContiguousByLane,
    /// A wide access and shuffles, for accesses a fixed step apart.
    Interleaved,
    /// A wide load and a shuffle, for offsets that the number of the lane says.
    Permuted,
    /// A short vector for each lane and a transpose, for neighbours that lanes load from anywhere.
    GroupedRows,
    /// One of few elements that all are loaded.
    Picked,
    /// A load from a small table by shuffles.
    Table,
    /// A load from anywhere by gather instructions.
    Gather,
    /// A load from anywhere, one element after the other.
    GatherByLane,
    /// A store to anywhere by scatter instructions.
    Scatter,
    /// A store to anywhere, one element after the other.
    ScatterByLane,
    /// One instruction for each lane.
    Scalarized,
    /// A call of the vector variant of a function.
    VariantCall,
    /// A call through a pointer, compared with the functions that it may run.
    IndirectCall,
    /// A call of a vector mathematics library.
    LibraryCall,
    /// A function or conversion that is expanded inline.
    InlineExpansion,
    /// An integer division by floating-point arithmetic.
    Division,
    /// Private memory.
    PrivateMemory,
    /// An operation on masks or across lanes.
    CrossLane,
}

impl RecipeKind {
    /// It in words.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            RecipeKind::Uniform => "uniform",
            RecipeKind::Widened => "widened",
            RecipeKind::Contiguous => "contiguous",
            RecipeKind::ContiguousMasked => "contiguous under masks",
            RecipeKind::ContiguousByLane => "contiguous by lane",
            RecipeKind::Interleaved => "interleaved",
            RecipeKind::Permuted => "permuted",
            RecipeKind::GroupedRows => "grouped with a transpose",
            RecipeKind::Picked => "picked",
            RecipeKind::Table => "tables",
            RecipeKind::Gather => "gathers",
            RecipeKind::GatherByLane => "gathers by lane",
            RecipeKind::Scatter => "scatters",
            RecipeKind::ScatterByLane => "scatters by lane",
            RecipeKind::Scalarized => "scalarized",
            RecipeKind::VariantCall => "calls of variants",
            RecipeKind::IndirectCall => "indirect calls",
            RecipeKind::LibraryCall => "library calls",
            RecipeKind::InlineExpansion => "inline expansions",
            RecipeKind::Division => "divisions by reciprocals",
            RecipeKind::PrivateMemory => "private memory",
            RecipeKind::CrossLane => "masks and cross-lane operations",
        }
    }
}

/// How many instructions of a lane program have each kind of recipe.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecipeCounts(pub BTreeMap<RecipeKind, usize>);

impl std::fmt::Display for RecipeCounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (k, (kind, count)) in self.0.iter().enumerate() {
            let comma = if k > 0 { ", " } else { "" };
            write!(f, "{comma}{count} {}", kind.describe())?;
        }
        Ok(())
    }
}
