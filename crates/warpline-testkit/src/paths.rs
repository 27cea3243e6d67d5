//! What lanes do on their way: the judge of linearization on whole kernels (paper 3, Theorem 4.1 and the embedding of
//! paths).
//!
//! Linearization leaves the instructions of a block where they are. So if every path of the scalar function is
//! embedded in the lane program, and exactly the lanes that come to a block have mask 1 there, then each lane
//! executes under its mask the same instructions, in the same order, as its thread of the scalar function in normal
//! form. That is what is compared, along with the lanes that come to each block. φs and terminators are left out:
//! these are what linearization changes.

use warpline_interp::{
    Event, HashingHost, LaneArg, LaneSet, Machine, Observer, Options as MachineOptions, Val,
};
use warpline_ir::{Block, Function, LaneOp, Op};

use crate::differential::Setup;
use crate::programs::{Inputs, Program};

/// What one lane has executed.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
struct Way {
    instructions: u64,
    digest: u64,
}

/// Follows the lanes through the instructions of a scalar function.
struct Ways<'a> {
    scalar: &'a Function,
    ways: Vec<Way>,
}

impl<'a> Ways<'a> {
    fn new(scalar: &'a Function, width: u32) -> Ways<'a> {
        Ways { scalar, ways: vec![Way::default(); width as usize] }
    }
}

impl Observer for Ways<'_> {
    fn executed(&mut self, event: &Event<'_>) {
        let Some(data) = self.scalar.insts.get(event.inst).filter(|_| event.depth == 0) else { return };
        // The question whether any lane goes into a dead end is asked of masks later.
        if data.op == Op::Phi || data.op.is_terminator() || data.op == Op::Lane(LaneOp::Any) {
            return;
        }
        for lane in event.lanes.iter() {
            let way = &mut self.ways[lane as usize];
            way.instructions += 1;
            way.digest = (way.digest.rotate_left(7) ^ u64::from(event.inst.as_u32()))
                .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }
}

/// Compares the ways of the lanes through `lanes`, the lane program, with those through `scalar`, the normalized
/// function that it was made from. Runs that end in a trap or freeze poison, which another run may freeze to
/// something else, are not compared. For kernels whose lanes do not meet in memory. Returns how many instructions all
/// lanes have executed.
///
/// # Errors
/// Which lane, or which block, differs.
pub fn check_paths(
    program: &Program,
    inputs: &Inputs,
    setup: &Setup,
    scalar: &Function,
    lanes: &Function,
) -> Result<u64, String> {
    let width = inputs.width;
    let active = setup.mask.unwrap_or(LaneSet::first(width));
    if active.is_empty() {
        return Ok(0);
    }
    let options = MachineOptions { fuel: setup.fuel, ..MachineOptions::default() };
    let mut machine = Machine::with_options(&program.module, options.clone());
    machine.set_host(HashingHost);
    let (args, _) = inputs.bind(&mut machine);
    let code = machine.prepare(scalar);
    let mut expected = Ways::new(scalar, width);
    let Ok(reference) = machine.run_lockstep(&code, width, active, &args, Some(&mut expected)) else {
        return Ok(0);
    };
    if machine.froze {
        return Ok(0);
    }
    let options = MachineOptions { fuel: setup.fuel_of_lanes(), ..options };
    let mut machine = Machine::with_options(&program.module, options);
    machine.set_host(HashingHost);
    let (mut args, _) = inputs.bind(&mut machine);
    if setup.mask.is_some() {
        args.push(LaneArg::Each((0..width).map(|k| Val::bool(active.contains(k))).collect()));
    }
    let code = machine.prepare(lanes);
    let mut found = Ways::new(scalar, width);
    let run = machine
        .run_lanes(&code, width, LaneSet::first(width), &args, Some(&mut found))
        .map_err(|t| format!("the lane program traps: {}", t.kind))?;
    if let Some(lane) = active.iter().find(|&l| expected.ways[l as usize] != found.ways[l as usize]) {
        let (a, b) = (expected.ways[lane as usize], found.ways[lane as usize]);
        return Err(format!("lane {lane} goes another way: {a:?} in the scalar function, {b:?} here"));
    }
    let kept = |b: &&Block| lanes.layout.contains(b);
    for &b in scalar.layout.iter().filter(kept) {
        let (a, b_lanes) = (reference.visited[b], run.visited[b]);
        if a != b_lanes {
            return Err(format!("{b} is visited by {b_lanes:?} instead of {a:?}"));
        }
    }
    Ok(expected.ways.iter().map(|w| w.instructions).sum())
}
