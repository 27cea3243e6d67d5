//! From variables to SSA form and back.
//!
//! * [`accesses`]: which blocks write and read variables.
//! * [`promote`]: `alloca`s become variables.
//! * [`construct`](mod@construct): SSA construction for chosen variables: with φs by joins of definitions or by
//!   dominance frontiers, minimal or pruned, strict or not.
//! * [`unwritten`]: reads of variables that may not have been written.
//! * [`close_loops`](mod@close_loops): loop-closed SSA, for all cycles.
//! * [`phis`]: φs that nobody needs, and φs that stand for a single value.
//! * [`destruct`](mod@destruct): φs become variables that are written where their in-edges begin.
//! * [`coalesce`]: φs become few variables, shared with their operands.
//! * [`copies`]: parallel copies, dissolved or brought into a sequence.

mod access_list;
pub mod accesses;
mod aliases;
pub mod close_loops;
pub mod coalesce;
pub mod construct;
pub mod copies;
pub mod destruct;
pub mod phis;
mod place;
pub mod promote;
mod ranges;
mod rename;
mod undo;
pub mod unwritten;

pub use accesses::{accesses_of, accesses_to};
pub use close_loops::close_loops;
pub use coalesce::{Coalesced, NotStrict, destruct_coalesced};
pub use construct::{
    ConstructOptions, Construction, Entry, Placement, SsaStats, construct, construct_vars, construct_with,
};
pub use destruct::destruct;
pub use phis::{remove_dead_phis, remove_redundant_phis, remove_trivial_phis};
pub use promote::{
    Kept, Lifetimes, Promoted, Promotion, Refusal, Registers, promote_allocas, promote_allocas_with,
    promote_and_construct,
};

pub use unwritten::{UnwrittenRead, unwritten_reads};

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

use warpline_ir::{Function, Value};

/// Values that are to be replaced by others, with chains of replacements shortened as they are followed.
#[derive(Default)]
struct Replacements(SecondaryMap<Value, PackedOption<Value>>);

impl Replacements {
    /// What stands for `v` in the end.
    fn find(&mut self, v: Value) -> Value {
        let mut root = v;
        while let Some(next) = self.0[root].expand() {
            root = next;
        }
        let mut at = v;
        while let Some(next) = self.0[at].expand() {
            self.0[at] = root.into();
            at = next;
            if at == root {
                break;
            }
        }
        root
    }

    /// Lets `by` stand for `v`. Neither may be replaced already, and they must differ.
    fn set(&mut self, v: Value, by: Value) {
        debug_assert!(v != by && self.0[v].is_none() && self.0[by].is_none());
        self.0[v] = by.into();
    }

    /// Rewrites all operands of a function.
    fn apply(mut self, func: &mut Function) {
        func.map_operands(|v| self.find(v));
    }
}
