//! Narrowing: integers are computed with in as few bits as their ranges and uses allow.
//!
//! C promotes bytes and shorts to `int`, and programs in Rust write `as u32`, so that most arithmetic on pixels and
//! samples is done in 32 bits, in vectors of a fourth or half as many elements as registers have room for. Here it is
//! brought back to 8 or 16 bits, with the operations that processors have for these: saturating sums and differences,
//! distances, minima and maxima. The number of lanes is chosen by the narrowed types then.
//!
//! * `bounds`: between which numbers values lie;
//! * `plan`: how the low bits of a value are computed in fewer bits; `idioms`: what has an operation of its own;
//! * `compare`: comparisons in fewer bits;
//! * `choose`: which values are worth it;
//! * `emit`: the new instructions, each where the one was that it stands for, and the removal of those that nobody
//!   uses any more;
//! * `functions`: the functions that are called.
//!
//! Where narrowing begins (a *root*): a truncation; a comparison; and a value that fits fewer bits than it has and that
//! others use as it is, which becomes an extension. Only what differs between lanes without a known step is narrowed:
//! indices keep their steps. Flags that make poison are dropped. Where an operand is used more often than before, it is
//! frozen, since each use of what is undefined may be another number.

mod bounds;
mod choose;
mod compare;
mod emit;
mod functions;
mod idioms;
mod plan;

use crate::VectorizeError;
use crate::pass::{Context, Unit};
use warpline_dataflow::clients::ranges::Range;
use warpline_ir::{Function, Module, Value};
use warpline_uniformity::shape::Shape;

pub(crate) use bounds::{Bounds, operands};
use choose::Chosen;
pub(crate) use idioms::called_or_chosen;
use plan::Planner;
pub(crate) use plan::mask;

pub(crate) use functions::has_narrow_integers;

pub use functions::declare_narrow_functions;

/// The pass.
pub(crate) fn run(unit: &mut Unit, cx: &Context<'_>) -> Result<bool, VectorizeError> {
    if cx.options.width == 1 || !has_narrow_integers(&unit.func) {
        return Ok(false);
    }
    let uniformity = cx.uniformity(unit);
    Ok(narrow_integers(cx.module, &mut unit.func, cx.options.known, |v| uniformity.shape(v)))
}

/// Narrows the integers that vary. Whether there were any.
fn narrow_integers(
    module: &Module,
    func: &mut Function,
    known: &[Option<Range>],
    shape: impl Fn(Value) -> Shape,
) -> bool {
    let bounds = Bounds::of(module, func, known);
    let planner = Planner::new(module, func, &bounds, shape);
    let chosen: Chosen = choose::choose(planner);
    let changed = !chosen.roots.is_empty();
    emit::emit(module, func, chosen);
    changed
}
