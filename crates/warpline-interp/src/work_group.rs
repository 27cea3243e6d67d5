//! Work-groups by definition: each work-item is a thread of its own, and runs to its next barrier.
//!
//! Between two barriers the work-items run one after the other, in an order that a seed chooses. A barrier begins a new
//! epoch for races: what was accessed before it is forgotten. All work-items that have not ended must wait at one
//! barrier. Work-items share 64 numbers by which races are told, chosen anew for each run: two that have one number by
//! chance are not seen to race.

use std::rc::Rc;

use warpline_ir::Inst;
use warpline_ir::group_functions::GroupFunction;

use super::code::{Callee, Code, Kind, Term};
use super::exec::{Exec, Frame};
use super::machine::Machine;
use super::race::RaceLog;
use super::trap::{Trap, TrapKind};
use super::value::{LaneSet, Val};

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

/// A work-item.
struct Item {
    frame: Frame,
    /// Where it goes on: block and instruction.
    block: u32,
    at: usize,
    ended: bool,
}

impl Machine<'_> {
    /// Runs a function with barriers as a group of work-items, each with these arguments.
    ///
    /// # Errors
    /// The first [`Trap`] of any work-item, or that work-items wait at different barriers.
    pub fn run_work_group(
        &mut self,
        code: &Rc<Code>,
        items: &[Vec<Val>],
        seed: u64,
    ) -> Result<GroupRun, Trap> {
        let mut random = Random(seed);
        self.memory.watch_races(items.len() > 1);
        let mut exec = Exec::new(self, 1, None);
        let mut all = Vec::with_capacity(items.len());
        for args in items {
            let mut frame = exec.new_frame(code);
            let fit = args.len() == code.params.len()
                && code.params.iter().zip(args).all(|(slot, v)| v.cells.len() == slot.len as usize);
            if !fit {
                return Err(Trap::bare(TrapKind::BadArguments("a value does not fit its parameter".into())));
            }
            code.params.iter().zip(args).for_each(|(slot, v)| frame.set(0, *slot, &v.cells));
            all.push(Item { frame, block: 0, at: 0, ended: code.blocks.is_empty() });
        }
        let numbers: Vec<u32> = shuffled(items.len(), &mut random).iter().map(|n| *n as u32 % 64).collect();
        let mut run = GroupRun { races: RaceLog::default(), barriers: 0, returned_early: false };
        loop {
            let mut waits: Option<Inst> = None;
            for k in shuffled(all.len(), &mut random) {
                if all[k].ended {
                    continue;
                }
                exec.m.memory.set_item(Some(numbers[k]));
                let stopped = exec.run_to_barrier(code, &mut all[k]);
                exec.m.memory.set_item(None);
                match (stopped?, waits) {
                    (Some(inst), Some(other)) if inst != other => {
                        let why = "work-items of a group wait at different barriers".to_owned();
                        return Err(exec.trap(code, Some(inst), None, TrapKind::BadBarrier(why)));
                    }
                    (Some(inst), _) => waits = Some(inst),
                    (None, _) => {}
                }
            }
            if waits.is_none() {
                break;
            }
            run.barriers += 1;
            run.returned_early |= all.iter().any(|item| item.ended);
            exec.m.memory.begin_epoch();
        }
        all.into_iter().for_each(|item| exec.release_frame(item.frame));
        run.races = self.memory.races.take().unwrap_or_default();
        Ok(run)
    }
}

impl Exec<'_, '_, '_> {
    /// Runs a work-item to its next barrier, which is told, or to its end.
    fn run_to_barrier(&mut self, code: &Rc<Code>, item: &mut Item) -> Result<Option<Inst>, Trap> {
        let me = LaneSet::one(0);
        loop {
            let block = &code.blocks[item.block as usize];
            if item.at == 0 {
                self.burn(code, block, me)?;
            }
            while let Some(ins) = block.insts.get(item.at) {
                item.at += 1;
                if let Kind::Call(call) = &ins.kind
                    && let Callee::External(name) = &call.callee
                    && GroupFunction::may_be_barrier(name, call.args.len())
                {
                    return Ok(Some(ins.inst));
                }
                self.instruction(code, &mut item.frame, ins, me)?;
            }
            let mut returns = vec![None; 1];
            self.leave(code, &mut item.frame, block, me, &mut returns)?;
            if matches!(block.term, Term::Ret(_)) {
                item.ended = true;
                return Ok(None);
            }
            (item.block, item.at) = (code.edges[item.frame.edges[0] as usize].to, 0);
        }
    }
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
        let run = machine.run_work_group(&code, &items, seed).map_err(|e| e.to_string())?;
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
