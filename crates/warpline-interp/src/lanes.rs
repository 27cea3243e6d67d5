//! Lane programs: uniform control flow, every value in all lanes, instructions under the masks of their blocks.

use std::rc::Rc;

use cranelift_entity::SecondaryMap;

use super::code::{BlockCode, Code, Ins, Kind, Slot, Term};
use super::cycles::next_random;
use super::exec::{Exec, Frame};
use super::group::decide;
use super::machine::Inactive;
use super::trap::{Trap, TrapKind};
use super::value::{Cell, LaneSet, Val};
use warpline_ir::{Block, LaneOp};

impl Exec<'_, '_, '_> {
    /// Runs a lane program. What each lane of `entry` returned.
    pub(super) fn lane_program(
        &mut self,
        code: &Rc<Code>,
        frame: &mut Frame,
        entry: LaneSet,
        visited: &mut SecondaryMap<Block, LaneSet>,
    ) -> Result<Vec<Option<Val>>, Trap> {
        let all = LaneSet::first(self.width);
        let mut random = match self.m.options.inactive {
            Inactive::Poison => None,
            Inactive::Random(seed) => Some(seed),
        };
        if code.blocks.is_empty() {
            return Err(self.trap(code, None, None, TrapKind::UnsupportedCall(code.name.to_string())));
        }
        let mut at = 0;
        loop {
            let block = &code.blocks[at as usize];
            self.burn(code, block, all)?;
            let mut active = match block.mask {
                None => Some(entry),
                Some((_, later)) if later > 0 => None,
                Some((slot, _)) => Some(self.mask(code, frame, block, slot, entry)?),
            };
            for &phi in &block.phis {
                if let Some(lanes) = active {
                    self.observe(code, frame, phi, lanes);
                }
            }
            for (i, ins) in block.insts.iter().enumerate() {
                if let Some((slot, known_from)) = block.mask
                    && known_from == i
                    && i > 0
                {
                    active = Some(self.mask(code, frame, block, slot, entry)?);
                }
                self.masked_instruction(code, frame, ins, active, &mut random)?;
            }
            if let Some((slot, known_from)) = block.mask
                && known_from == block.insts.len()
            {
                active = Some(self.mask(code, frame, block, slot, entry)?);
            }
            let Some(active) = active else {
                return Err(self.trap(code, block.term_inst, None, TrapKind::MaskNotComputed));
            };
            visited[block.block] = visited[block.block].union(active);
            let edge = match &block.term {
                Term::Br(e) => *e,
                Term::CondBr(..) | Term::Switch(..) => self.uniform_decision(code, frame, block, active)?,
                Term::Ret(slot) => {
                    let value = |lane| Val::of_cells(frame.get(lane, *slot));
                    return Ok((0..self.width).map(|l| entry.contains(l).then(|| value(l))).collect());
                }
                Term::Unreachable if active.is_empty() => {
                    return Err(self.trap(code, block.term_inst, None, TrapKind::NoActiveLane));
                }
                Term::Unreachable => {
                    return Err(self.trap(code, block.term_inst, active.lowest(), TrapKind::Unreachable));
                }
                Term::Unsupported(what) => {
                    let kind = TrapKind::Unsupported(what.to_string());
                    return Err(self.trap(code, block.term_inst, None, kind));
                }
            };
            frame.edges.fill(edge);
            if let Some(inst) = block.term_inst {
                self.observe(code, frame, inst, active);
            }
            self.take_edge(code, frame, edge, all);
            at = code.edges[edge as usize].to;
        }
    }

    /// The lanes of `entry` in which a block's mask is true. It must be defined in all lanes.
    fn mask(
        &self,
        code: &Code,
        frame: &Frame,
        block: &BlockCode,
        slot: Slot,
        entry: LaneSet,
    ) -> Result<LaneSet, Trap> {
        let mut active = LaneSet::default();
        for lane in 0..self.width {
            let cell = frame.cell(lane, slot);
            match cell.defined() {
                Some(1) => active.insert(lane),
                Some(_) => {}
                None => {
                    let kind = TrapKind::UndefinedMask(cell.state);
                    return Err(self.trap(code, block.term_inst, Some(lane), kind));
                }
            }
        }
        Ok(active.intersection(entry))
    }

    fn masked_instruction(
        &mut self,
        code: &Rc<Code>,
        frame: &mut Frame,
        ins: &Ins,
        active: Option<LaneSet>,
        random: &mut Option<u64>,
    ) -> Result<(), Trap> {
        let all = LaneSet::first(self.width);
        if ins.kind.ignores_mask() || ins.on_variable {
            if let Kind::Lane(LaneOp::MaskAny) = ins.kind
                && let Some(lane) = all.iter().find(|&l| !frame.cell(l, ins.a).is_defined())
            {
                let kind = TrapKind::UndefinedMask(frame.cell(lane, ins.a).state);
                return Err(self.trap(code, Some(ins.inst), Some(lane), kind));
            }
            self.instruction(code, frame, ins, all)?;
            self.observe(code, frame, ins.inst, active.unwrap_or_default());
            return Ok(());
        }
        let Some(active) = active else {
            return Err(self.trap(code, Some(ins.inst), None, TrapKind::MaskNotComputed));
        };
        self.instruction(code, frame, ins, active)?;
        for lane in all.minus(active).iter() {
            for cell in &mut frame.lane(lane)[ins.dst.range()] {
                *cell = match random {
                    None => Cell::POISON,
                    Some(state) => Cell::new(ins.random_bits(next_random(state), next_random(state))),
                };
            }
        }
        self.observe(code, frame, ins.inst, active);
        Ok(())
    }

    /// Where a uniform branch goes: all active lanes agree; if none is active, all lanes do.
    fn uniform_decision(
        &self,
        code: &Code,
        frame: &Frame,
        block: &BlockCode,
        active: LaneSet,
    ) -> Result<u32, Trap> {
        let trap = |lane, kind| Err(self.trap(code, block.term_inst, lane, kind));
        let deciding = if active.is_empty() { LaneSet::first(self.width) } else { active };
        let mut chosen = None;
        for lane in deciding.iter() {
            match (decide(&block.term, frame, lane), chosen) {
                (Ok(e), None) => chosen = Some(e),
                (Ok(e), Some(first)) if e == first => {}
                (Ok(_) | Err(_), _) if active.is_empty() => return trap(None, TrapKind::NoActiveLane),
                (Ok(_), _) => return trap(Some(lane), TrapKind::DivergentBranch),
                (Err(kind), _) => return trap(Some(lane), kind),
            }
        }
        chosen.map_or_else(|| trap(None, TrapKind::NoActiveLane), Ok)
    }
}
