//! Threads in lockstep, and calls that lanes make together.

use std::rc::Rc;

use cranelift_entity::SecondaryMap;

use super::code::{BlockCode, Call, Callee, Code, Ins, Kind, Slot, Term};
use super::cycles::Position;
use super::decode::{cell_count, is_function};
use super::exec::{Exec, Frame};
use super::host::{EffectKind, HostCall, HostResult};
use super::observe::Event;
use super::trap::{Trap, TrapKind};
use super::value::{Cell, LaneSet, Val};
use warpline_ir::{Block, FuncId, Inst, Type};

/// Lanes that wait at the start of a block.
struct Waiting {
    position: Position,
    block: u32,
    lanes: LaneSet,
}

/// Where the lanes of an activation are.
pub(super) struct Progress {
    now: Waiting,
    /// The instruction in the block that is executed next.
    at: usize,
    /// Those that wait for others.
    waiting: Vec<Waiting>,
    pub(super) returns: Vec<Option<Val>>,
    pub(super) ended: bool,
}

impl Progress {
    /// Lanes that are about to begin a function.
    pub(super) fn at_start(code: &Code, lanes: LaneSet, width: u32) -> Progress {
        let ended = lanes.is_empty() || code.blocks.is_empty();
        let now = Waiting { position: code.start.clone(), block: 0, lanes };
        Progress { now, at: 0, waiting: Vec::new(), returns: vec![None; width as usize], ended }
    }

    /// The lanes that are executed, if there are no others that have not ended.
    pub(super) fn together(&self) -> Option<LaneSet> {
        let lanes = if self.ended { LaneSet::default() } else { self.now.lanes };
        self.waiting.is_empty().then_some(lanes)
    }
}

impl Exec<'_, '_, '_> {
    /// Runs a function with converged lanes until all have returned. What each lane returned.
    pub(super) fn group(
        &mut self,
        code: &Rc<Code>,
        frame: &mut Frame,
        lanes: LaneSet,
        visited: Option<&mut SecondaryMap<Block, LaneSet>>,
    ) -> Result<Vec<Option<Val>>, Trap> {
        let mut progress = Progress::at_start(code, lanes, self.width);
        if !lanes.is_empty() && code.blocks.is_empty() {
            return Err(self.trap(code, None, None, TrapKind::UnsupportedCall(code.name.to_string())));
        }
        self.advance(code, frame, &mut progress, visited, |_| false)?;
        Ok(progress.returns)
    }

    /// Goes on until all lanes have returned, or up to an instruction at which to stop, which is told; it counts as
    /// executed.
    pub(super) fn advance<'c>(
        &mut self,
        code: &'c Rc<Code>,
        frame: &mut Frame,
        progress: &mut Progress,
        mut visited: Option<&mut SecondaryMap<Block, LaneSet>>,
        stops: impl Fn(&Ins) -> bool,
    ) -> Result<Option<&'c Ins>, Trap> {
        while !progress.ended {
            let block = &code.blocks[progress.now.block as usize];
            let lanes = progress.now.lanes;
            if progress.at == 0 {
                if let Some(v) = &mut visited {
                    v[block.block] = v[block.block].union(lanes);
                }
                self.burn(code, block, lanes)?;
                for &phi in &block.phis {
                    self.observe(code, frame, phi, lanes);
                }
            }
            while let Some(ins) = block.insts.get(progress.at) {
                progress.at += 1;
                if stops(ins) {
                    return Ok(Some(ins));
                }
                self.instruction(code, frame, ins, lanes)?;
                self.observe(code, frame, ins.inst, lanes);
            }
            progress.at = 0;
            self.part(code, frame, block, progress)?;
        }
        Ok(None)
    }

    /// Leaves a block: lanes that take one edge go on together, those first that are behind.
    fn part(
        &mut self,
        code: &Rc<Code>,
        frame: &mut Frame,
        block: &BlockCode,
        progress: &mut Progress,
    ) -> Result<(), Trap> {
        let Progress { now, waiting, returns, ended, .. } = progress;
        let stay = self.leave(code, frame, block, now.lanes, returns)?;
        // Usually all lanes stay together.
        if let Some(edge) = stay
            && waiting.is_empty()
        {
            let e = &code.edges[edge as usize];
            e.step.apply(&mut now.position);
            now.block = e.to;
            return Ok(());
        }
        let mut rest = now.lanes;
        for lane in now.lanes.iter() {
            if !rest.contains(lane) {
                continue;
            }
            let edge = frame.edges[lane as usize];
            let mut together = LaneSet::default();
            rest.iter().filter(|&l| frame.edges[l as usize] == edge).for_each(|l| together.insert(l));
            rest = rest.minus(together);
            if edge == u32::MAX {
                continue; // returned
            }
            let e = &code.edges[edge as usize];
            let mut position = now.position.clone();
            e.step.apply(&mut position);
            match waiting.iter_mut().find(|w| w.position == position) {
                Some(w) => w.lanes = w.lanes.union(together),
                None => waiting.push(Waiting { position, block: e.to, lanes: together }),
            }
        }
        let least = (0..waiting.len()).min_by(|&i, &j| waiting[i].position.cmp(&waiting[j].position));
        match least {
            Some(i) => *now = waiting.swap_remove(i),
            None => *ended = true,
        }
        Ok(())
    }

    /// Pays for a block.
    pub(super) fn burn(&mut self, code: &Code, block: &BlockCode, lanes: LaneSet) -> Result<(), Trap> {
        let cost = (block.insts.len() as u64 + 1) * u64::from(lanes.len().max(1));
        match self.m.fuel.checked_sub(cost) {
            Some(rest) => {
                self.m.fuel = rest;
                Ok(())
            }
            None => Err(self.trap(code, block.term_inst, None, TrapKind::OutOfFuel)),
        }
    }

    pub(super) fn observe(&mut self, code: &Rc<Code>, frame: &Frame, inst: Inst, lanes: LaneSet) {
        if let Some(observer) = &mut self.observer {
            let (cells, edges) = (&frame.cells[..], &frame.edges[..]);
            observer.executed(&Event { code, depth: self.depth, inst, lanes, cells, edges });
        }
    }

    /// Decides where each lane goes (`frame.edges`, `u32::MAX`: it returns) and takes the edges. The edge, if it is the
    /// same for all.
    pub(super) fn leave(
        &mut self,
        code: &Rc<Code>,
        frame: &mut Frame,
        block: &BlockCode,
        lanes: LaneSet,
        returns: &mut [Option<Val>],
    ) -> Result<Option<u32>, Trap> {
        let trap = |e: &Self, lane, kind| Err(e.trap(code, block.term_inst, lane, kind));
        match &block.term {
            Term::Br(e) => lanes.iter().for_each(|l| frame.edges[l as usize] = *e),
            Term::CondBr(..) | Term::Switch(..) => {
                for lane in lanes.iter() {
                    match decide(&block.term, frame, lane) {
                        Ok(e) => frame.edges[lane as usize] = e,
                        Err(kind) => return trap(self, Some(lane), kind),
                    }
                }
            }
            Term::Ret(slot) => {
                for lane in lanes.iter() {
                    frame.edges[lane as usize] = u32::MAX;
                    returns[lane as usize] = Some(Val::of_cells(frame.get(lane, *slot)));
                }
            }
            Term::Unreachable => return trap(self, lanes.lowest(), TrapKind::Unreachable),
            Term::Unsupported(what) => return trap(self, None, TrapKind::Unsupported(what.to_string())),
        }
        if let Some(inst) = block.term_inst {
            self.observe(code, frame, inst, lanes);
        }
        let first = lanes.lowest().map_or(u32::MAX, |l| frame.edges[l as usize]);
        if first != u32::MAX && lanes.iter().all(|l| frame.edges[l as usize] == first) {
            self.take_edge(code, frame, first, lanes);
            return Ok(Some(first));
        }
        for lane in lanes.iter() {
            let edge = frame.edges[lane as usize];
            if edge != u32::MAX {
                self.take_edge(code, frame, edge, LaneSet::one(lane));
            }
        }
        Ok(None)
    }

    /// Executes an instruction in converged lanes.
    pub(super) fn instruction(
        &mut self,
        code: &Rc<Code>,
        frame: &mut Frame,
        ins: &Ins,
        lanes: LaneSet,
    ) -> Result<(), Trap> {
        self.m.memory.next_execution();
        match &ins.kind {
            Kind::Call(call) => self.call(code, frame, ins, call, lanes),
            Kind::Lane(op) => {
                self.lane_op(frame, *op, [ins.a, ins.b, ins.c], ins.dst, lanes);
                Ok(())
            }
            Kind::LaneElements(op, elem) => self
                .lane_elements(frame, ins, *op, *elem, lanes)
                .map_err(|(lane, kind)| self.trap(code, Some(ins.inst), Some(lane), kind)),
            _ => {
                for lane in lanes.iter() {
                    self.one_lane(frame, ins, lane)
                        .map_err(|kind| self.trap(code, Some(ins.inst), Some(lane), kind))?;
                }
                Ok(())
            }
        }
    }

    fn call(
        &mut self,
        code: &Rc<Code>,
        frame: &mut Frame,
        ins: &Ins,
        call: &Call,
        lanes: LaneSet,
    ) -> Result<(), Trap> {
        match &call.callee {
            Callee::Function(id) => self.call_function(code, frame, ins, call, *id, lanes),
            Callee::Intrinsic(super::intrinsic::Intrinsic::Lane(op), _) => {
                let a = call.args.first().map_or(Slot::default(), |x| x.0);
                self.lane_op(frame, *op, [a, Slot::default(), Slot::default()], ins.dst, lanes);
                Ok(())
            }
            Callee::Intrinsic(f, types) => {
                for lane in lanes.iter() {
                    self.intrinsic(frame, ins, call, *f, types.as_ref(), lane)
                        .map_err(|kind| self.trap(code, Some(ins.inst), Some(lane), kind))?;
                }
                Ok(())
            }
            Callee::Mathematics(function, kind) => {
                self.compute(frame, ins, call, (*function, *kind), lanes);
                Ok(())
            }
            Callee::External(name) => self.call_host(code, frame, ins, call, name, lanes),
            Callee::Indirect(slot) => {
                let mut rest = lanes;
                while let Some(first) = rest.lowest() {
                    let target = frame.cell(first, *slot);
                    let mut together = LaneSet::default();
                    rest.iter().filter(|&l| frame.cell(l, *slot) == target).for_each(|l| together.insert(l));
                    rest = rest.minus(together);
                    self.call_address(code, frame, ins, call, target, together)?;
                }
                Ok(())
            }
        }
    }

    fn call_address(
        &mut self,
        code: &Rc<Code>,
        frame: &mut Frame,
        ins: &Ins,
        call: &Call,
        target: Cell,
        lanes: LaneSet,
    ) -> Result<(), Trap> {
        let trap = |e: &Self, kind| Err(e.trap(code, Some(ins.inst), lanes.lowest(), kind));
        let Some(address) = target.defined() else {
            return trap(self, TrapKind::UndefinedAddress(target.state));
        };
        let Some(symbol) = self.m.function_at(address as u64) else {
            return trap(self, TrapKind::BadCall(format!("{address:#x} is no function")));
        };
        let module = self.m.module;
        let data = &module.symbols[symbol];
        match self.m.function_named(&data.name) {
            Some(id) => self.call_function(code, frame, ins, call, id, lanes),
            None if is_function(&data.kind) => self.call_host(code, frame, ins, call, &data.name, lanes),
            None => trap(self, TrapKind::BadCall(format!("`{}` is no function", data.name))),
        }
    }

    fn call_function(
        &mut self,
        code: &Rc<Code>,
        frame: &mut Frame,
        ins: &Ins,
        call: &Call,
        id: FuncId,
        lanes: LaneSet,
    ) -> Result<(), Trap> {
        let callee = self.m.prepare_id(id);
        let fits = callee.params.len() <= call.args.len()
            && callee.params.iter().zip(&call.args).all(|(p, (a, _))| p.len == a.len);
        if !fits {
            let kind = TrapKind::BadCall(format!("the arguments do not fit `{}`", callee.name));
            return Err(self.trap(code, Some(ins.inst), lanes.lowest(), kind));
        }
        if self.depth >= self.m.options.recursion_limit {
            return Err(self.trap(code, Some(ins.inst), lanes.lowest(), TrapKind::RecursionLimit));
        }
        let mut inner = self.new_frame(&callee);
        for lane in lanes.iter() {
            for (param, (arg, _)) in callee.params.iter().zip(&call.args) {
                inner.set(lane, *param, frame.get(lane, *arg));
            }
        }
        self.depth += 1;
        let result = self.group(&callee, &mut inner, lanes, None);
        self.depth -= 1;
        self.release_frame(inner);
        for (lane, val) in result?.iter().enumerate() {
            if let Some(val) = val
                && val.cells.len() == ins.dst.len as usize
            {
                frame.set(lane as u32, ins.dst, &val.cells);
            }
        }
        Ok(())
    }

    fn call_host(
        &mut self,
        code: &Rc<Code>,
        frame: &mut Frame,
        ins: &Ins,
        call: &Call,
        name: &str,
        lanes: LaneSet,
    ) -> Result<(), Trap> {
        for lane in lanes.iter() {
            let args: Vec<Val> = call.args.iter().map(|(a, _)| Val::of_cells(frame.get(lane, *a))).collect();
            let ret_cells = match call.ret {
                Type::Void => 0,
                ty => cell_count(self.m.module, ty).unwrap_or(0) as usize,
            };
            let request = HostCall { name, args: &args, ret: call.ret, ret_cells, lane };
            let (result, logged) = match self.m.host.call(&request, &mut self.m.memory) {
                HostResult::Effect(v) => (v, true),
                HostResult::Pure(v) => (v, false),
                HostResult::Unknown => {
                    let kind = TrapKind::UnsupportedCall(name.to_string());
                    return Err(self.trap(code, Some(ins.inst), Some(lane), kind));
                }
                HostResult::Stop(why) => {
                    return Err(self.trap(code, Some(ins.inst), Some(lane), TrapKind::Host(why)));
                }
            };
            if result.cells.len() == ins.dst.len as usize {
                frame.set(lane, ins.dst, &result.cells);
            } else if ins.dst.len > 0 {
                let kind = TrapKind::Host(format!("`{name}` returned a value of another size"));
                return Err(self.trap(code, Some(ins.inst), Some(lane), kind));
            }
            if logged {
                self.log(lane, EffectKind::Call { name: name.into(), args, result });
            }
        }
        Ok(())
    }
}

/// The edge that a lane takes at a branch.
pub(super) fn decide(term: &Term, frame: &Frame, lane: u32) -> Result<u32, TrapKind> {
    let (slot, choose): (_, &dyn Fn(u128) -> u32) = match term {
        Term::CondBr(slot, yes, no) => (slot, &|v| if v & 1 == 1 { *yes } else { *no }),
        Term::Switch(slot, cases, default) => {
            (slot, &|v| cases.iter().find(|c| c.0 == v).map_or(*default, |c| c.1))
        }
        _ => return Err(TrapKind::Unsupported("a decision without condition".into())),
    };
    let cell = frame.cell(lane, *slot);
    match cell.defined() {
        Some(v) => Ok(choose(v)),
        None => Err(TrapKind::BranchOnUndefined(cell.state)),
    }
}
