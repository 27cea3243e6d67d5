//! Kinds of recipes, counted.

use warpline_ir::{Function, Inst};

use super::{Contiguous, How, Plan, Recipe};
use crate::recipe_counts::{RecipeCounts, RecipeKind};

impl Plan {
    /// How many instructions of the lane program have each kind of recipe.
    pub(crate) fn counts(&self, func: &Function) -> RecipeCounts {
        let mut counts = RecipeCounts::default();
        for &b in &func.layout {
            for kind in func.blocks[b].insts.iter().filter_map(|&i| self.kind_of(i)) {
                *counts.0.entry(kind).or_insert(0) += 1;
            }
        }
        counts
    }

    fn kind_of(&self, i: Inst) -> Option<RecipeKind> {
        match self.recipe(i) {
            // Elements stay in the order of memory.
            Recipe::Group(id) if self.group(*id).alike => Some(RecipeKind::Contiguous),
            recipe => kind_of(recipe),
        }
    }
}

/// The kind of a recipe; `None` if nothing is made in the instruction's place.
fn kind_of(recipe: &Recipe) -> Option<RecipeKind> {
    Some(match recipe {
        Recipe::Nothing | Recipe::Known(_) | Recipe::Elsewhere | Recipe::Divided(_) => return None,
        Recipe::Once
        | Recipe::Stack
        | Recipe::Speculated(_)
        | Recipe::OnceIfAny
        | Recipe::FirstLane
        | Recipe::AnyOfOne(_) => RecipeKind::Uniform,
        Recipe::Widen
        | Recipe::WidenThenFirst
        | Recipe::Truncate
        | Recipe::Intrinsic(..)
        | Recipe::Fold(_)
        | Recipe::Sum(_)
        | Recipe::HighProduct(_)
        | Recipe::UnpackBytes(_)
        | Recipe::Weighted(_)
        | Recipe::Pack8 { .. } => RecipeKind::Widened,
        Recipe::Divide(_) => RecipeKind::Division,
        Recipe::LongConversion | Recipe::Exact(_) | Recipe::Inline(_) => RecipeKind::InlineExpansion,
        Recipe::Private => RecipeKind::PrivateMemory,
        Recipe::Contiguous(Contiguous::Whole | Contiguous::Speculated(_)) => RecipeKind::Contiguous,
        Recipe::Contiguous(Contiguous::Masked | Contiguous::Blended) => RecipeKind::ContiguousMasked,
        Recipe::Contiguous(Contiguous::ByLane | Contiguous::Active) => RecipeKind::ContiguousByLane,
        Recipe::Window(_) => RecipeKind::Permuted,
        Recipe::Ring(_) => RecipeKind::ContiguousMasked,
        Recipe::Table(..) => RecipeKind::Table,
        Recipe::Group(_) | Recipe::Overlapping(_) => RecipeKind::Interleaved,
        Recipe::Rows(..) => RecipeKind::GroupedRows,
        Recipe::Gather(gather) => match gather.how {
            How::Pick => RecipeKind::Picked,
            How::Between(_) => RecipeKind::Interleaved,
            How::Avx2(_) | How::Native => RecipeKind::Gather,
            How::ByLane | How::Stepped(_) => RecipeKind::GatherByLane,
        },
        Recipe::Scatter(scatter) => match scatter.how {
            How::Pick => RecipeKind::Picked,
            How::ByLane | How::Stepped(_) => RecipeKind::ScatterByLane,
            _ => RecipeKind::Scatter,
        },
        Recipe::Scalarize { .. } => RecipeKind::Scalarized,
        Recipe::Variant(_) | Recipe::Simd(_) => RecipeKind::VariantCall,
        Recipe::Targets(_) => RecipeKind::IndirectCall,
        Recipe::Library { .. } => RecipeKind::LibraryCall,
        Recipe::CrossLane | Recipe::Pack(_) => RecipeKind::CrossLane,
    })
}
