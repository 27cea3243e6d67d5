//! Pairs of runs of a program that differ in some of its inputs.

use warpline_interp::{HashingHost, LaneArg, LaneSet, Machine, Observer, Options};

use crate::programs::{Inputs, ParamRole, Program};

/// Runs the kernel as one thread; the parameters for which `other` says so come from the second inputs, of a buffer
/// what is in it. A run that traps has been observed as far as it went.
pub fn run_mixed(program: &Program, inputs: [&Inputs; 2], other: &[bool], observer: &mut dyn Observer) {
    let options = Options { fuel: 20_000, ..Options::default() };
    let mut machine = Machine::with_options(&program.module, options);
    machine.set_host(HashingHost);
    let (mut args, buffers) = inputs[0].bind(&mut machine);
    // The other inputs in a machine of their own: buffers have the same addresses there.
    let mut scratch = Machine::new(&program.module);
    let (others, _) = inputs[1].bind(&mut scratch);
    let mut buffers = buffers.into_iter();
    for (i, role) in program.roles.iter().enumerate() {
        let buffer = match role {
            ParamRole::Buffer { .. } => buffers.next(),
            _ => None,
        };
        match buffer {
            _ if !other[i] => {}
            None => args[i] = others[i].clone(),
            Some(address) => {
                let (start, size) = scratch.memory.extent(address).expect("a buffer was allocated");
                let bytes = scratch.memory.read(start, size).expect("a buffer can be read");
                let bytes: Vec<u8> = bytes.into_iter().map(Option::unwrap_or_default).collect();
                machine.memory.write(start, &bytes).expect("a buffer can be written");
            }
        }
    }
    let code = machine.prepare_id(program.kernel);
    let args: Vec<LaneArg> = args
        .into_iter()
        .map(|a| match a {
            LaneArg::Each(list) => LaneArg::Same(list[0].clone()),
            same @ LaneArg::Same(_) => same,
        })
        .collect();
    let _ = machine.run_lockstep(&code, 1, LaneSet::one(0), &args, Some(observer));
}
