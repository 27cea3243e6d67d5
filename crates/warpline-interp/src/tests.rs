//! Tests of whole programs.

mod convergence;
mod lane_programs;
mod lockstep;
mod scalar_programs;

use super::*;
use warpline_ir::{FuncId, Module};

/// The module of a text.
fn parse(text: &str) -> Module {
    warpline_ir::text::parse_module(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The first function of the module.
fn main() -> FuncId {
    FuncId::from_u32(0)
}

/// What the first function of a text returns.
fn run(text: &str, args: &[Val]) -> Result<Val, TrapKind> {
    let module = parse(text);
    let mut machine = Machine::new(&module);
    let code = machine.prepare_id(main());
    machine.run_scalar(&code, args).map_err(|t| t.kind)
}

/// Runs the first function of a text in lockstep.
fn lockstep(text: &str, width: u32, args: &[LaneArg]) -> Result<(Run, Vec<Effect>), TrapKind> {
    let module = parse(text);
    let mut machine = Machine::new(&module);
    machine.set_host(HashingHost);
    let code = machine.prepare_id(main());
    let run = machine.run_lockstep(&code, width, LaneSet::first(width), args, None).map_err(|t| t.kind)?;
    Ok((run, std::mem::take(&mut machine.effects)))
}

/// A different integer for each lane.
fn each(values: impl IntoIterator<Item = u128>) -> LaneArg {
    LaneArg::Each(values.into_iter().map(Val::int).collect())
}

/// The integers that the lanes returned.
fn returned(run: &Run) -> Vec<Option<u128>> {
    run.returns.iter().map(|r| r.as_ref().and_then(Val::bits)).collect()
}
