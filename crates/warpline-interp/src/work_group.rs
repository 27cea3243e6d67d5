//! Work-groups by definition: each work-item is a thread of its own, and runs to its next barrier.
//!
//! Between two barriers the work-items run one after the other, in an order that a seed chooses. A barrier begins a new
//! epoch for races: what was accessed before it is forgotten. All work-items that have not ended must wait at one
//! barrier. Work-items share 64 numbers by which races are told, chosen anew for each run: two that have one number by
//! chance are not seen to race. In collective functions (`work_group_reduce_add`) all work-items meet as at a barrier,
//! and what they compute is computed when all have come.
//!
//! Where work-items are in sub-groups, those of a sub-group are lanes in lockstep.

use std::rc::Rc;

use warpline_ir::group_functions::GroupFunction;
use warpline_ir::group_operations::{GroupOp, GroupOperation, Scope};
use warpline_ir::{Combine, Type};

use super::access::address_of;
use super::code::{Call, Callee, Code, Ins, Kind};
use super::exec::{Exec, Frame};
use super::group::Progress;
use super::lane_ops::combined;
use super::machine::Machine;
use super::race::RaceLog;
use super::trap::{Trap, TrapKind};
use super::value::{Cell, LaneSet, Val};

/// What a run of a group yields.
#[derive(Clone, Debug)]
pub struct GroupRun {
    /// How work-items met in memory between two barriers.
    pub races: RaceLog,
    /// How often all waited.
    pub barriers: u64,
    /// Whether work-items had ended when others waited.
    pub returned_early: bool,
}

/// How work-items run together.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct SubGroups {
    /// How many in a row along dimension 0 are a sub-group, 1 to 64; the last of a row may be smaller.
    pub lanes: u32,
    /// Whether it is part of the meaning that they execute one statement after the other together, as in a warp: then
    /// they do not race with each other.
    pub in_step: bool,
}

impl SubGroups {
    /// Each work-item by itself.
    pub const NONE: SubGroups = SubGroups { lanes: 1, in_step: false };
}

/// Work-items that run together.
struct SubGroup {
    frame: Frame,
    progress: Progress,
    /// All of them.
    lanes: LaneSet,
    /// By which numbers they are known.
    numbers: Vec<u32>,
}

impl Machine<'_> {
    /// Runs a function with barriers as a group of work-items, each with these arguments, in the order of their
    /// numbers.
    /// `shape` says how many there are by dimension, and of which of them sub-groups are.
    ///
    /// # Errors
    /// The first [`Trap`] of any work-item, or that work-items wait at different barriers.
    pub fn run_work_group(
        &mut self,
        code: &Rc<Code>,
        items: &[Vec<Val>],
        (shape, SubGroups { lanes, in_step }): ([u64; 3], SubGroups),
        seed: u64,
    ) -> Result<GroupRun, Trap> {
        let mut random = Random(seed);
        let count = items.len();
        if shape.iter().product::<u64>() != count as u64 || !(1..=64).contains(&lanes) {
            return Err(Trap::bare(TrapKind::BadArguments("a group has another shape".into())));
        }
        let rows = items.chunks(shape[0].max(1) as usize);
        let sub_groups = rows.flat_map(|row| row.chunks(lanes as usize));
        self.memory.watch_races(count > 1);
        let mut numbers = shuffled(count, &mut random).into_iter().map(|n| n as u32 % 64);
        let mut exec = Exec::new(self, lanes, None);
        let mut all = Vec::new();
        for items in sub_groups {
            let mut own: Vec<u32> = numbers.by_ref().take(items.len()).collect();
            if in_step {
                // Accesses that have one number do not race.
                let one = own[0];
                own.fill(one);
            }
            all.push(exec.sub_group(code, items, own)?);
        }
        let mut run = GroupRun { races: RaceLog::default(), barriers: 0, returned_early: false };
        loop {
            let mut waits: Option<&Ins> = None;
            for k in shuffled(all.len(), &mut random) {
                exec.m.memory.set_items(&all[k].numbers);
                let stopped = exec.run_to_barrier(code, &mut all[k]);
                exec.m.memory.set_items(&[]);
                match (stopped?, waits) {
                    (Some(ins), Some(other)) if ins.inst != other.inst => {
                        let why = "work-items of a group wait at different barriers".to_owned();
                        return Err(exec.trap(code, Some(ins.inst), None, TrapKind::BadBarrier(why)));
                    }
                    (Some(ins), _) => waits = Some(ins),
                    (None, _) => {}
                }
            }
            let Some(meeting) = waits else { break };
            run.barriers += 1;
            run.returned_early |= all.iter().any(|one| one.progress.together() != Some(one.lanes));
            exec.m.memory.begin_epoch();
            exec.collective(meeting, &mut all, shape)
                .map_err(|kind| exec.trap(code, Some(meeting.inst), None, kind))?;
            exec.m.memory.begin_epoch();
        }
        all.into_iter().for_each(|one| exec.release_frame(one.frame));
        run.races = self.memory.races.take().unwrap_or_default();
        Ok(run)
    }
}

impl Exec<'_, '_, '_> {
    /// Work-items that are about to begin.
    fn sub_group(
        &mut self,
        code: &Rc<Code>,
        items: &[Vec<Val>],
        numbers: Vec<u32>,
    ) -> Result<SubGroup, Trap> {
        let mut frame = self.new_frame(code);
        let mut lanes = LaneSet::default();
        for (lane, args) in (0..).zip(items) {
            let fit = args.len() == code.params.len()
                && code.params.iter().zip(args).all(|(slot, v)| v.cells.len() == slot.len as usize);
            if !fit {
                return Err(Trap::bare(TrapKind::BadArguments("a value does not fit its parameter".into())));
            }
            code.params.iter().zip(args).for_each(|(slot, v)| frame.set(lane, *slot, &v.cells));
            lanes.insert(lane);
        }
        let progress = Progress::at_start(code, lanes, self.width);
        Ok(SubGroup { frame, progress, lanes, numbers })
    }

    /// Runs work-items to their next barrier, which is told, or to their end.
    fn run_to_barrier<'c>(
        &mut self,
        code: &'c Rc<Code>,
        one: &mut SubGroup,
    ) -> Result<Option<&'c Ins>, Trap> {
        let found = self.advance(code, &mut one.frame, &mut one.progress, None, is_meeting)?;
        match found {
            Some(ins) if one.progress.together().is_none() => {
                let why = "work-items of a sub-group come to a barrier that others do not come to".to_owned();
                Err(self.trap(code, Some(ins.inst), None, TrapKind::BadBarrier(why)))
            }
            found => Ok(found),
        }
    }

    /// What work-items compute together where all have met, if it is no plain barrier.
    fn collective(&mut self, meeting: &Ins, all: &mut [SubGroup], shape: [u64; 3]) -> Result<(), TrapKind> {
        let Some((call, op)) = operation(meeting) else { return Ok(()) };
        let of_all = |all: &[SubGroup], k: usize| -> Vec<Cell> {
            let slot = call.args[k].0;
            all.iter().flat_map(|one| one.lanes.iter().map(|l| one.frame.cell(l, slot))).collect()
        };
        // What all pass that have come.
        let agreed = |all: &[SubGroup], k: usize| -> Result<Cell, TrapKind> {
            let here = all.iter().filter_map(|one| Some((one, one.progress.together()?)));
            let mut cells = here.flat_map(|(one, lanes)| {
                let (frame, slot) = (&one.frame, call.args[k].0);
                lanes.iter().map(move |l| frame.cell(l, slot)).collect::<Vec<_>>()
            });
            let first = cells.next().unwrap_or(Cell::POISON);
            let different = || TrapKind::BadBarrier("work-items pass different operands".to_owned());
            if cells.all(|c| c == first) { Ok(first) } else { Err(different()) }
        };
        if !op.copies() && all.iter().any(|one| one.progress.together() != Some(one.lanes)) {
            let why = "work-items have returned before others combine their values".to_owned();
            return Err(TrapKind::BadBarrier(why));
        }
        let ty = call.args[0].1;
        let holds = |all: &[SubGroup]| -> Result<usize, TrapKind> {
            let last = call.args.len() - 1;
            (0..last).try_for_each(|k| agreed(all, k).map(|_| ()))?;
            let cells = of_all(all, last);
            match cells.iter().find(|c| !c.is_defined()) {
                Some(c) => Err(TrapKind::UndefinedOperand(c.state)),
                None => Ok(cells.iter().filter(|c| c.bits != 0).count()),
            }
        };
        let count: usize = all.iter().map(|one| one.lanes.len() as usize).sum();
        let results: Vec<Cell> = match op {
            GroupOp::WaitForCopies => return Ok(()),
            GroupOp::Copy { element, strided, to_local } => {
                let [to, from, number] = [agreed(all, 0)?, agreed(all, 1)?, agreed(all, 2)?];
                let by = if strided { number_of(agreed(all, 3)?)? } else { 1 };
                let (to, from) = (address_of(to)?, address_of(from)?);
                let (to_by, from_by) = if to_local { (1, by) } else { (by, 1) };
                for k in 0..number_of(number)? {
                    let [to, from] = [(to, to_by), (from, from_by)].map(|(base, by)| base + k * by * element);
                    self.m.memory.copy(0, to, from, element)?;
                }
                for one in all {
                    for lane in one.lanes.iter() {
                        one.frame.set(lane, meeting.dst, &[Cell::ZERO]);
                    }
                }
                return Ok(());
            }
            GroupOp::Any => vec![Cell::bool(holds(all)? > 0); count],
            GroupOp::All => vec![Cell::bool(holds(all)? == count); count],
            GroupOp::Count => vec![Cell::new(holds(all)? as u128); count],
            GroupOp::Reduce(c) => vec![combined(c, ty, c.neutral(ty), &of_all(all, 0))?; count],
            GroupOp::ScanInclusive(c) => scan(c, ty, &of_all(all, 0), true)?,
            GroupOp::ScanExclusive(c) => scan(c, ty, &of_all(all, 0), false)?,
            GroupOp::Broadcast => {
                let named: Result<Vec<u64>, _> =
                    (1..call.args.len()).map(|k| agreed(all, k).and_then(number_of)).collect();
                vec![named_item(all, call, &named?, shape)?; count]
            }
        };
        let mut results = results.into_iter();
        for one in all {
            for lane in one.lanes.iter() {
                one.frame.set(lane, meeting.dst, &[results.next().unwrap_or(Cell::POISON)]);
            }
        }
        Ok(())
    }
}

/// The value of the work-item with these numbers in the group.
fn named_item(all: &[SubGroup], call: &Call, named: &[u64], shape: [u64; 3]) -> Result<Cell, TrapKind> {
    let [x, y, z] = [0, 1, 2].map(|d| named.get(d).copied().unwrap_or(0));
    let wanted = (z * shape[1] + y) * shape[0] + x;
    let slot = call.args[0].0;
    let mut items = all.iter().flat_map(|one| one.lanes.iter().map(move |l| one.frame.cell(l, slot)));
    let none = || TrapKind::BadBarrier("there is no work-item with these numbers".to_owned());
    items.nth(wanted as usize).ok_or_else(none)
}

fn number_of(cell: Cell) -> Result<u64, TrapKind> {
    cell.defined().map(|n| n as u64).ok_or(TrapKind::UndefinedOperand(cell.state))
}

fn scan(c: Combine, ty: Type, all: &[Cell], inclusive: bool) -> Result<Vec<Cell>, TrapKind> {
    let start = if inclusive { c.neutral(ty) } else { c.beginning(ty) };
    (0..all.len()).map(|k| combined(c, ty, start, &all[..k + usize::from(inclusive)])).collect()
}

/// Whether work-items of a group meet at an instruction.
fn is_meeting(ins: &Ins) -> bool {
    match &ins.kind {
        Kind::Call(call) => match &call.callee {
            Callee::External(name) => {
                GroupFunction::may_be_barrier(name, call.args.len()) || operation(ins).is_some()
            }
            _ => false,
        },
        _ => false,
    }
}

/// What a call computes in all work-items of a group together.
fn operation(ins: &Ins) -> Option<(&Call, GroupOp)> {
    let Kind::Call(call) = &ins.kind else { return None };
    let Callee::External(name) = &call.callee else { return None };
    let params: Vec<Type> = call.args.iter().map(|(_, ty)| *ty).collect();
    let found = GroupOperation::of(name, &params, call.ret)?;
    (found.scope == Scope::WorkGroup).then_some((&**call, found.op))
}

/// Pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
}

/// The numbers below one in some order.
fn shuffled(count: usize, random: &mut Random) -> Vec<usize> {
    let mut all: Vec<usize> = (0..count).collect();
    for k in (1..count).rev() {
        all.swap(k, (random.next() % (k as u64 + 1)) as usize);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_ir::text::parse_module;

    /// Runs four work-items with their numbers and a buffer of 16 bytes; what is in it then.
    fn run(body: &str, seed: u64) -> Result<(GroupRun, Vec<Option<u8>>), String> {
        let text =
            format!("declare @_Z7barrierj(i32) [convergent]\nfunc @k(%p: ptr, %i: i64) {{\n{body}\n}}");
        let module = parse_module(&text).unwrap_or_else(|e| panic!("{e}"));
        let mut machine = Machine::new(&module);
        let at = machine.memory.allocate_bytes(&[9; 16], 16).expect("there is memory");
        let code = machine.prepare_id(module.function("k").expect("it is there"));
        let items: Vec<Vec<Val>> = (0..4).map(|i| vec![Val::ptr(at), Val::int(i)]).collect();
        let run = machine
            .run_work_group(&code, &items, ([4, 1, 1], SubGroups::NONE), seed)
            .map_err(|e| e.to_string())?;
        Ok((run, machine.memory.read(at, 16).expect("it is readable")))
    }

    const EXCHANGE: &str = "b0:
        %q: ptr = getelementptr i8, %p, %i
        %x: i8 = trunc %i
        store %x, %q, align 1
        BARRIER
        %j: i64 = xor %i, 3
        %r: ptr = getelementptr i8, %p, %j
        %y: i8 = load %r, align 1
        %t: ptr = getelementptr i8, %q, i64 4
        store %y, %t, align 1
        ret";

    #[test]
    fn what_was_written_before_a_barrier_is_seen_behind_it_in_any_order() {
        for seed in 0..20 {
            let (run, memory) = run(&EXCHANGE.replace("BARRIER", "call @_Z7barrierj(i32 1)"), seed).unwrap();
            let expected: Vec<Option<u8>> = [0, 1, 2, 3, 3, 2, 1, 0].map(Some).to_vec();
            assert_eq!((run.barriers, &memory[..8]), (1, &expected[..]));
            assert!(run.races.matters().is_none() && !run.returned_early, "{run:?}");
        }
    }

    #[test]
    fn without_the_barrier_it_is_a_race() {
        let (run, _) = run(&EXCHANGE.replace("BARRIER", ""), 1).unwrap();
        assert!(run.races.matters().is_some(), "{run:?}");
    }

    #[test]
    fn waiting_at_different_barriers_is_an_error_and_an_early_end_is_noted() {
        let different = "b0:
            %c: i1 = icmp ult %i, 2
            br %c, b1, b2
            b1:
            call @_Z7barrierj(i32 1)
            ret
            b2:
            call @_Z7barrierj(i32 1)
            ret";
        assert!(run(different, 1).unwrap_err().contains("wait at different barriers"));
        let early = different.replacen("call @_Z7barrierj(i32 1)\n", "\n", 1);
        assert!(run(&early, 1).unwrap().0.returned_early);
    }
}
