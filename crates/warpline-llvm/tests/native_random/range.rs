//! The range driver of a random program: groups of lanes one after the other, the last one partial.

use std::ops::Range;

use warpline_interp::{HashingHost, LaneArg, LaneSet, Machine, Options as MachineOptions};
use warpline_llvm::Jit;
use warpline_testkit::programs::{Inputs, ParamRole, Program};

use crate::check::{
    Bound, Expected, FUEL, Found, Memories, bind, call_range, calls_of, contents, guard, slot, value_bytes,
};
use crate::guarded::Guarded;
use crate::nan::SawNan;
use crate::setup::Setup;

/// Entry of the range driver.
pub const RANGE: &str = "range.entry";

/// The arguments of the indices `group` of the range.
fn group_args(args: &[LaneArg], group: Range<usize>) -> Vec<LaneArg> {
    let of = |a: &LaneArg| match a {
        LaneArg::Same(v) => LaneArg::Same(v.clone()),
        LaneArg::Each(list) => LaneArg::Each(list[group.clone()].to_vec()),
    };
    args.iter().map(of).collect()
}

/// Interprets the groups, each in lockstep.
pub fn interpret(program: &Program, inputs: &Inputs, setup: &Setup) -> Result<Expected, String> {
    let options = MachineOptions { fuel: FUEL, ..MachineOptions::default() };
    let mut machine = Machine::with_options(&program.module, options);
    machine.set_host(HashingHost);
    let (args, addresses) = inputs.bind(&mut machine);
    let code = machine.prepare_id(program.kernel);
    let mut observer = SawNan::new(&program.module);
    let (mut returns, mut effects) = (Vec::new(), Vec::new());
    let indices = inputs.width as usize;
    for start in (0..indices).step_by(setup.width as usize) {
        let lanes = (indices - start).min(setup.width as usize);
        let mut args = group_args(&args, start..start + lanes);
        // Lanes behind the end are there, but not active: their arguments mean nothing.
        for arg in &mut args {
            if let LaneArg::Each(list) = arg {
                list.resize(setup.width as usize, list[0].clone());
            }
        }
        let active = LaneSet::first(lanes as u32);
        let run = machine.run_lockstep(&code, setup.width, active, &args, Some(&mut observer));
        let run = run.map_err(|t| t.kind.to_string())?;
        returns.extend(run.returns.into_iter().take(lanes));
        effects.append(&mut machine.effects);
    }
    if machine.froze {
        return Err("freezes poison".into());
    }
    let buffers = contents(&machine.memory, &addresses);
    Ok(Expected { returns, buffers, effects: calls_of(effects), nan: observer.saw })
}

/// Runs the driver.
pub fn run(jit: &Jit, program: &Program, inputs: &Inputs, setup: &Setup) -> Result<Found, String> {
    let bound: Bound = bind(program, inputs);
    let buffers = guard(&bound, setup.at_end);
    let entry = jit.function(RANGE).map_err(|e| e.to_string())?;
    let func = program.function();
    let mut arrays: Vec<Guarded> = Vec::new();
    let mut pointers = buffers.iter();
    let mut slots = vec![0, 0];
    for (k, (arg, role)) in bound.args.iter().zip(&program.roles).enumerate() {
        let ty = func.ty(func.params[k]);
        match (arg, role) {
            (_, ParamRole::Buffer { .. }) => {
                slots.push(pointers.next().expect("a buffer for each").address())
            }
            (LaneArg::Each(list), ParamRole::Index) => {
                slots[0] = list[0].bits().expect("arguments are defined") as u64;
                slots[1] = slots[0] + u64::from(inputs.width);
            }
            (LaneArg::Each(list), _) => {
                let bytes: Vec<u8> = list.iter().flat_map(|v| value_bytes(&program.module, ty, v)).collect();
                arrays.push(Guarded::new(&bytes, setup.at_end));
                slots.push(arrays[arrays.len() - 1].address());
            }
            (LaneArg::Same(v), _) => {
                let bytes = value_bytes(&program.module, ty, v);
                slots.push(slot(ty, &bytes, &mut arrays, setup));
            }
        }
    }
    let count = inputs.width as usize;
    call_range(&entry, slots, program, count, setup, Memories { buffers, arguments: arrays })
}
