//! What is known of the numbers of work-items from how a kernel is launched: ranges for data-flow analyses.

use super::facts::Facts;
use super::rules::{Target, called};
use warpline_dataflow::clients::interprocedural::FunctionConstants;
use warpline_dataflow::clients::ranges::Range;
use warpline_dataflow::clients::{constants, ranges};
use warpline_ir::{Function, Inst, Module, Type, Value};

/// Work-items in a work-group, at most, on the machines that have intrinsics for their numbers.
const MOST: u32 = 1024;

/// What is known of a function besides its own code.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The module.
    pub module: &'a Module,
    /// The function.
    pub func: &'a Function,
    /// The machine.
    pub target: Target,
    /// How it is launched.
    pub facts: &'a Facts,
    /// What it is called with, and what functions return.
    pub constants: Option<FunctionConstants<'a>>,
}

impl constants::Assumptions for Surroundings<'_> {
    fn parameter(&self, number: u32) -> constants::Fact {
        self.constants.map_or(constants::Fact::Anything, |c| c.parameter(number))
    }

    fn call(&self, inst: Inst) -> constants::Fact {
        self.constants.map_or(constants::Fact::Anything, |c| c.call(inst))
    }
}

impl ranges::Assumptions for Surroundings<'_> {
    fn parameter(&self, number: u32) -> Option<Range> {
        let known = constants::Assumptions::parameter(self, number).known()?;
        self.single(*self.func.params.get(number as usize)?, known.as_int()?)
    }

    fn result(&self, inst: Inst) -> Option<Range> {
        let result = self.func.insts[inst].result()?;
        if let Some((low, high)) = self.number(inst) {
            let Type::Int(bits @ ..=128) = self.func.ty(result) else { return None };
            return Range::unsigned(bits, low.into(), high.into());
        }
        let known = constants::Assumptions::call(self, inst).known()?;
        self.single(result, known.as_int()?)
    }
}

impl Surroundings<'_> {
    fn single(&self, value: Value, number: u128) -> Option<Range> {
        match self.func.ty(value) {
            Type::Int(bits @ ..=128) => Some(Range::single(bits, number)),
            _ => None,
        }
    }

    /// The least and greatest number that a call yields, if it asks how the kernel was launched.
    fn number(&self, inst: Inst) -> Option<(u32, u32)> {
        let called = called(self.module, self.func, inst)?;
        let group = self.facts.work_group;
        let below = |n: u32| Some((0, n.saturating_sub(1)));
        let name = called.name();
        let dimension = |letter: &str| ["x", "y", "z"].iter().position(|&d| d == letter);
        if let Some(d) = name.strip_prefix("llvm.amdgcn.workitem.id.").and_then(dimension) {
            return below(group.map_or(MOST, |g| g.size[d]));
        }
        if let Some(register) = name.strip_prefix("llvm.nvvm.read.ptx.sreg.") {
            if let Some(d) = register.strip_prefix("tid.").and_then(dimension) {
                return below(group.map_or(if d == 2 { 64 } else { MOST }, |g| g.size[d]));
            }
            if let Some(d) = register.strip_prefix("ntid.").and_then(dimension) {
                return Some(group.map_or((1, MOST), |g| (g.size[d], g.size[d])));
            }
            return match register {
                "laneid" => below(32),
                "warpsize" => Some((32, 32)),
                _ => None,
            };
        }
        let d = *self.func.insts[inst].args.first()?;
        let size = group?.size.get(usize::try_from(self.func.as_int(d)?).ok()?).copied()?;
        match name {
            "_Z12get_local_idj" => below(size),
            // The last group of a range may be smaller.
            "_Z14get_local_sizej" => Some((if group?.whole { size } else { 1 }, size)),
            _ => None,
        }
    }
}
