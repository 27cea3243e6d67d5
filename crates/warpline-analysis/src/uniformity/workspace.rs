//! Working memory of the fixed point.
//!
//! What an analysis needs only while it runs is large where functions are, and there are many functions. A caller that
//! analyses several hands the same memory in again and again
//! ([`Uniformity::compute_in`](super::Uniformity::compute_in)).

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::tables::{ExitTable, MixedPhis, Users};
use super::{Algorithm, Value};
use crate::cycles::CycleId;
use crate::graph::EdgeId;
use crate::joins::{Memory, Split};
use crate::limits::Limits;
use crate::order::DfsOrder;

/// Working memory that is reused from one analysis to the next. It grows to what the largest of them needs; nothing
/// that an analysis leaves in it has an influence on another.
#[derive(Default)]
pub struct Workspace {
    pub(super) order: DfsOrder,
    pub(super) joins: Memory,
    pub(super) users: Users,
    pub(super) mixed: MixedPhis,
    pub(super) exits: ExitTable,
    pub(super) edge_label: Vec<(u32, u32)>,
    pub(super) walked: Vec<u32>,
    pub(super) values: Vec<Value>,
    pub(super) splits: VecDeque<Split>,
    pub(super) new_exits: VecDeque<(CycleId, EdgeId)>,
    /// By value, the innermost cycle in which it may change, as another program with the same values has it, over the
    /// same graph. What holds in one of them holds in both.
    pub(super) changing: Option<Vec<Option<CycleId>>>,
}

impl core::fmt::Debug for Workspace {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Workspace").finish_non_exhaustive()
    }
}

/// How a program is to be solved.
pub(super) struct Task<'t, C> {
    pub(super) algorithm: Algorithm,
    pub(super) limits: &'t Limits,
    pub(super) clock: &'t mut C,
    pub(super) workspace: &'t mut Workspace,
}
