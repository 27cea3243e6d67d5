//! What data an instruction passes on: from which operands, cells and calls into which results and cells.
//!
//! Each conclusion has one premise, so what is tainted is what a chain of these leads to from a source.

use smallvec::SmallVec;

use super::calls::{Callee, Calls};
use super::cells::{Cell, Cells, pairs};
use super::spec::{At, Spot};
use crate::memory;
use warpline_ir::{Constant, Effects, FuncId, Function, Inst, Module, Op, SymbolKind, Value};

/// Where data comes to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Conclusion {
    /// The results of the instruction.
    Result,
    /// Memory.
    Cell(Cell),
    /// A parameter of a function.
    Param(FuncId, u32),
    /// What the function returns that the instruction is in.
    Returned,
}

/// Where data comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Premise {
    /// It is a source.
    Source,
    /// An operand of the instruction.
    Operand(usize),
    /// Memory that an operand leads to directly.
    Behind(usize, Cell),
    /// Other memory.
    Cell(Cell),
    /// What a function returns.
    Returned(FuncId),
}

/// The flows of a module.
pub(super) struct Flows<'a> {
    pub module: &'a Module,
    pub calls: &'a Calls,
    pub cells: &'a Cells,
}

impl Flows<'_> {
    /// The memory over `depth` pointers from an operand.
    fn behind(&self, id: FuncId, inst: Inst, operand: usize, depth: u8) -> Option<Premise> {
        let func = &self.module.functions[id];
        let v = func.insts[inst].args[operand];
        if depth == 1 && self.is_constant_memory(func, v) {
            return None;
        }
        let cell = self.cells.behind(id, v, depth)?;
        Some(if depth == 1 { Premise::Behind(operand, cell) } else { Premise::Cell(cell) })
    }

    /// Whether a pointer leads to a constant of the module, in which nothing is ever stored.
    fn is_constant_memory(&self, func: &Function, v: Value) -> bool {
        match func.constant(v) {
            Some(Constant::Address { symbol, .. }) => {
                matches!(self.module.symbols[*symbol].kind, SymbolKind::Global { constant: true, .. })
            }
            Some(Constant::Null(_)) => true,
            _ => false,
        }
    }

    /// Tells `emit` what flows at an instruction.
    pub(super) fn at(&self, id: FuncId, inst: Inst, emit: &mut dyn FnMut(Conclusion, Premise)) {
        let func = &self.module.functions[id];
        let data = &func.insts[inst];
        let all = 0..data.args.len();
        match &data.op {
            Op::Load(_) => {
                emit(Conclusion::Result, Premise::Operand(0));
                self.behind(id, inst, 0, 1).into_iter().for_each(|p| emit(Conclusion::Result, p));
            }
            Op::Store(_) => {
                if let Some(cell) = self.cells.behind(id, data.args[1], 1) {
                    all.for_each(|k| emit(Conclusion::Cell(cell), Premise::Operand(k)));
                }
            }
            Op::Alloca { .. } | Op::Phi => {}
            Op::Ret => all.for_each(|k| emit(Conclusion::Returned, Premise::Operand(k))),
            Op::Call(_) | Op::OpaqueTerm(_) => self.call(id, func, inst, emit),
            Op::Opaque(o) => self.opaque(id, inst, o.effects, emit),
            _ => all.for_each(|k| emit(Conclusion::Result, Premise::Operand(k))),
        }
    }

    /// An instruction that is not modelled: it may pass on whatever it is given, what lies there, and, if it reaches
    /// further, what lies elsewhere.
    fn opaque(&self, id: FuncId, inst: Inst, effects: Effects, emit: &mut dyn FnMut(Conclusion, Premise)) {
        let func = &self.module.functions[id];
        let data = &func.insts[inst];
        let mut premises: Vec<Premise> = (0..data.args.len()).map(Premise::Operand).collect();
        let touches = effects.intersects(Effects::READS | Effects::WRITES | Effects::UNKNOWN_RESULT);
        let mut reached: Vec<Cell> = Vec::new();
        if touches {
            for k in (0..data.args.len()).filter(|&k| !self.is_constant_memory(func, data.args[k])) {
                let cells = self.cells.reachable(id, data.args[k]);
                premises.extend(cells.first().map(|&c| Premise::Behind(k, c)));
                premises.extend(cells.iter().skip(1).map(|&c| Premise::Cell(c)));
                reached.extend(cells);
            }
            let confined = matches!(self.calls.callee(self.module, func, inst), Callee::Confined)
                || matches!(data.op, Op::Opaque(_)) && !reached.is_empty();
            if !confined {
                premises.push(Premise::Cell(self.cells.elsewhere()));
                reached.push(self.cells.elsewhere());
            }
        }
        for &p in &premises {
            emit(Conclusion::Result, p);
            if effects.contains(Effects::WRITES) {
                reached.iter().for_each(|&c| emit(Conclusion::Cell(c), p));
            }
        }
    }

    fn call(&self, id: FuncId, func: &Function, inst: Inst, emit: &mut dyn FnMut(Conclusion, Premise)) {
        let data = &func.insts[inst];
        let args = memory::arguments(func, inst).len();
        self.sources(id, func, inst, emit);
        match self.calls.callee(self.module, func, inst) {
            Callee::Nothing | Callee::Sanitizer(_) => {}
            Callee::Copies => {
                let to = self.cells.behind(id, data.args[0], 1);
                let from = self.behind(id, inst, 1, 1);
                for (to, from) in to.into_iter().flat_map(|to| from.map(|from| (to, from))) {
                    emit(Conclusion::Cell(to), from);
                }
                to.into_iter().for_each(|to| {
                    (0..3).for_each(|k| emit(Conclusion::Cell(to), Premise::Operand(k)));
                });
            }
            Callee::Body(callee) => {
                let params = self.module.functions[callee].params.len();
                for k in 0..args {
                    match k < params {
                        true => emit(Conclusion::Param(callee, k as u32), Premise::Operand(k)),
                        // What `va_arg` finds there.
                        false => emit(Conclusion::Cell(self.cells.elsewhere()), Premise::Operand(k)),
                    }
                }
                emit(Conclusion::Result, Premise::Returned(callee));
            }
            Callee::Modelled(index) => {
                for flow in self.calls.flows(index) {
                    for (from, to) in pairs(flow.from, flow.to, args) {
                        let from = self.premise(id, inst, from, args);
                        let to = self.conclusion(id, func, inst, to);
                        for (to, from) in to.into_iter().flat_map(|to| from.map(|from| (to, from))) {
                            emit(to, from);
                        }
                    }
                }
            }
            Callee::Pure | Callee::Confined | Callee::Unknown => {
                self.opaque(id, inst, data.op.effects(), emit);
            }
        }
    }

    /// What a place at a call holds.
    pub(super) fn premise(&self, id: FuncId, inst: Inst, spot: Spot, args: usize) -> Option<Premise> {
        match spot.at {
            At::Argument(k) | At::From(k) if k < args => match spot.depth {
                0 => Some(Premise::Operand(k)),
                depth => self.behind(id, inst, k, depth),
            },
            _ => None,
        }
    }

    fn conclusion(&self, id: FuncId, func: &Function, inst: Inst, spot: Spot) -> Option<Conclusion> {
        let value = match spot.at {
            At::Result | At::Whole => func.insts[inst].results.first(),
            At::Argument(k) | At::From(k) => memory::arguments(func, inst).get(k),
        }?;
        match spot.depth {
            0 => matches!(spot.at, At::Result | At::Whole).then_some(Conclusion::Result),
            depth => self.cells.behind(id, *value, depth).map(Conclusion::Cell),
        }
    }

    /// The spots that the entry of a list means.
    fn spots(spot: Spot, func: &Function, inst: Inst) -> SmallVec<[Spot; 4]> {
        let args = memory::arguments(func, inst).len();
        match spot.at {
            At::From(k) => (k..args).map(|k| Spot { at: At::Argument(k), ..spot }).collect(),
            // The result, what it leads to, and where a large result is written: behind the first argument of a call
            // without one.
            At::Whole => {
                let at = if func.insts[inst].results.is_empty() { At::Argument(0) } else { At::Result };
                (0..=2).map(|depth| Spot { at, depth }).collect()
            }
            _ => [spot].into_iter().collect(),
        }
    }

    fn sources(&self, id: FuncId, func: &Function, inst: Inst, emit: &mut dyn FnMut(Conclusion, Premise)) {
        for entry in self.calls.sources(self.module, func, inst) {
            for spot in Flows::spots(entry.spot, func, inst) {
                if let Some(to) = self.conclusion(id, func, inst, spot) {
                    emit(to, Premise::Source);
                }
            }
        }
    }

    /// The sinks at a call: which places must not be tainted, with the numbers of their arguments.
    pub(super) fn sinks(&self, id: FuncId, inst: Inst) -> Vec<(usize, Premise)> {
        let func = &self.module.functions[id];
        let args = memory::arguments(func, inst).len();
        let mut found = Vec::new();
        for entry in self.calls.sinks(self.module, func, inst) {
            let spots: Vec<Spot> = match entry.spot.at {
                At::Whole => (0..args)
                    .flat_map(|k| (0..2).map(move |depth| Spot { at: At::Argument(k), depth }))
                    .collect(),
                At::From(from) => (from..args).map(|k| Spot { at: At::Argument(k), ..entry.spot }).collect(),
                At::Argument(_) => vec![entry.spot],
                At::Result => Vec::new(),
            };
            for spot in spots {
                let At::Argument(k) = spot.at else { continue };
                found.extend(self.premise(id, inst, spot, args).map(|p| (k, p)));
                // A pointer that is tainted itself leads to what others choose.
                if spot.depth > 0 {
                    let itself = Spot { depth: 0, ..spot };
                    found.extend(self.premise(id, inst, itself, args).map(|p| (k, p)));
                }
            }
        }
        found
    }
}
