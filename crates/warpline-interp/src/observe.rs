//! Watching a run: what converged lanes compute.

use super::code::Code;
use super::value::{Cell, LaneSet};
use warpline_ir::{Edge, FuncId, Inst, Value};

/// A dynamic instance of an instruction, executed together by converged lanes. φs and terminators are seen too.
pub struct Event<'a> {
    pub(super) code: &'a Code,
    /// How many calls lie between the function and the one that is run.
    pub depth: u32,
    /// The instruction.
    pub inst: Inst,
    /// The lanes that execute it together: in a lane program, the active ones.
    pub lanes: LaneSet,
    pub(super) cells: &'a [Cell],
    /// The edge that each lane came by (for φs) or leaves by (for terminators); by lane.
    pub(super) edges: &'a [u32],
}

impl Event<'_> {
    /// The function of the module that is executing; `None` if it was prepared from outside of the module.
    pub fn function(&self) -> Option<FuncId> {
        self.code.function
    }

    /// What a lane's value is now, after the instruction. Empty if the function does not use it.
    pub fn value(&self, v: Value, lane: u32) -> &[Cell] {
        let frame = self.code.template.len();
        &self.cells[lane as usize * frame..][self.code.slots[v].range()]
    }

    /// The edge by which a lane came to a φ or leaves by a terminator; `None` for `ret` and for other
    /// instructions.
    pub fn edge(&self, lane: u32) -> Option<Edge> {
        let e = *self.edges.get(lane as usize)?;
        self.code.edges.get(e as usize).map(|c| c.edge)
    }
}

/// Sees every dynamic instance of a run, right after its execution (terminators: before the edge is taken).
pub trait Observer {
    /// Converged lanes have executed an instruction.
    fn executed(&mut self, event: &Event<'_>);
}
