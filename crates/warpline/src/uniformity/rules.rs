//! What makes an instruction's result differ between lanes, apart from its operands.
//!
//! The rules speak of lanes that execute the instruction together and in lockstep: no other instruction of any lane
//! comes between their executions. So a plain load from one address gives all of them the same value, whatever was
//! stored before.

use super::gpu::{self, Gpu};
use crate::ir::{CallInfo, Effects, Function, Inst, LaneOp, Module, Op};

/// The machine whose rules decide what is a source of divergence.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Target {
    /// Lanes of a SIMD unit of a CPU: all lanes share one address space and one thread; a lane's `alloca` is its own.
    #[default]
    Simd,
    /// Threads of a wave of an AMD GPU.
    Amdgcn,
    /// Threads of a warp of an NVIDIA GPU.
    Nvptx,
    /// Invocations of a subgroup, in SPIR or SPIR-V.
    Spirv,
}

impl Target {
    /// All targets.
    pub const ALL: &'static [Target] = &[Target::Simd, Target::Amdgcn, Target::Nvptx, Target::Spirv];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Target::Simd => "simd",
            Target::Amdgcn => "amdgcn",
            Target::Nvptx => "nvptx",
            Target::Spirv => "spirv",
        }
    }

    /// The target of this name.
    pub fn from_name(name: &str) -> Option<Target> {
        Self::ALL.iter().copied().find(|t| t.name() == name)
    }

    fn gpu(self) -> Option<&'static Gpu> {
        match self {
            Target::Simd => None,
            Target::Amdgcn => Some(&gpu::AMDGCN),
            Target::Nvptx => Some(&gpu::NVPTX),
            Target::Spirv => Some(&gpu::SPIRV),
        }
    }
}

/// How the result of an instruction depends on its operands.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Rule {
    /// Uniform if all operands are.
    Operands,
    /// Different in each lane, for this reason.
    Source(Cause),
    /// The same in all lanes.
    AlwaysUniform,
}

/// Why an instruction is a source of divergence.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Cause {
    /// It yields the number of the lane or work-item, or something else that each lane has of its own.
    LaneNumber,
    /// It yields the address of memory of which each lane has its own.
    PrivateMemory,
    /// It is atomic or volatile: each lane's execution counts for itself.
    Synchronised,
    /// It may read what the execution for another lane has written.
    ReadsWhatItWrites,
    /// Its result is not a function of its operands and of memory.
    UnknownResult,
    /// It talks to other lanes.
    Convergent,
    /// It reads a variable: only values in SSA form are followed.
    Variable,
    /// It receives an exception.
    Exception,
    /// It reads an address space in which each lane may have memory of its own.
    OwnMemory,
    /// The caller of the analysis says so.
    Given,
}

impl Cause {
    /// The reason as the end of a sentence whose subject is the instruction.
    pub fn describe(self) -> &'static str {
        match self {
            Cause::LaneNumber => "yields what differs from lane to lane",
            Cause::PrivateMemory => "is the address of memory that each lane has of its own",
            Cause::Synchronised => "is atomic or volatile, and executed for each lane by itself",
            Cause::ReadsWhatItWrites => "may read what it has written for another lane",
            Cause::UnknownResult => "has a result that its operands do not determine",
            Cause::Convergent => "depends on the other lanes",
            Cause::Variable => "reads a variable (the function is not in SSA form)",
            Cause::Exception => "receives an exception",
            Cause::OwnMemory => "reads memory that may be each lane's own",
            Cause::Given => "is a source by decree",
        }
    }
}

/// OpenCL and back-end functions that yield the number of a work-item or lane, by prefix. They are declared as
/// functions without memory effects, so their effects do not tell.
const LANE_NUMBERS: &[&str] = &[
    "_Z13get_global_idj",
    "_Z12get_local_idj",
    "_Z20get_global_linear_idv",
    "_Z19get_local_linear_idv",
    "_Z22get_sub_group_local_idv",
    "llvm.amdgcn.workitem.id.",
    "llvm.amdgcn.mbcnt.",
    "llvm.nvvm.read.ptx.sreg.tid.",
    "llvm.nvvm.read.ptx.sreg.laneid",
    "llvm.spv.thread.id",
    "llvm.dx.thread.id",
];

/// The rule of an instruction's results.
pub fn rule(module: &Module, func: &Function, inst: Inst, target: Target) -> Rule {
    let op = &func.insts[inst].op;
    if let Op::ReadVar(_) = op {
        return Rule::Source(Cause::Variable);
    }
    if let Some(op) = lane_op(module, func, inst) {
        return by_lane_op(op);
    }
    if let Some(gpu) = target.gpu() {
        return gpu.rule(module, func, inst);
    }
    match op {
        Op::Alloca { .. } => Rule::Source(Cause::PrivateMemory),
        Op::Load(access) if !access.is_simple() => Rule::Source(Cause::Synchronised),
        Op::Call(call) => by_call(module, call),
        Op::Opaque(o) => by_name_and_effects(&o.name, o.effects),
        Op::OpaqueTerm(o) => by_name_and_effects(&o.name, o.effects),
        _ => Rule::Operands,
    }
}

fn by_lane_op(op: LaneOp) -> Rule {
    match op {
        LaneOp::LaneIndex => Rule::Source(Cause::LaneNumber),
        LaneOp::Any
        | LaneOp::All
        | LaneOp::Ballot
        | LaneOp::Popcount
        | LaneOp::LaneCount
        | LaneOp::MaskAny => Rule::AlwaysUniform,
        LaneOp::MaskAnd | LaneOp::MaskAndNot | LaneOp::MaskOr | LaneOp::Blend | LaneOp::BlendAny => {
            Rule::Operands
        }
    }
}

/// The lane operation that an instruction performs, be it an operation of the IR or the call of a function
/// `warpline_…`.
pub fn lane_op(module: &Module, func: &Function, inst: Inst) -> Option<LaneOp> {
    match &func.insts[inst].op {
        Op::Lane(op) => Some(*op),
        Op::Call(call) => lane_call(callee_name(module, call)),
        _ => None,
    }
}

fn lane_call(name: &str) -> Option<LaneOp> {
    let op = LaneOp::from_name(name.strip_prefix("warpline_")?)?;
    (by_lane_op(op) != Rule::Operands && op != LaneOp::MaskAny).then_some(op)
}

/// The name of what is called; empty for an indirect call.
pub(super) fn callee_name<'m>(module: &'m Module, call: &CallInfo) -> &'m str {
    call.callee.map(|s| &*module.symbols[s].name).unwrap_or_default()
}

fn by_call(module: &Module, call: &CallInfo) -> Rule {
    if is_lane_number(callee_name(module, call)) {
        return Rule::Source(Cause::LaneNumber);
    }
    by_effects(call.effects)
}

/// Whether a function of this name yields the number of a work-item or lane.
pub(super) fn is_lane_number(name: &str) -> bool {
    LANE_NUMBERS.iter().any(|p| name.starts_with(p))
}

pub(super) fn by_name_and_effects(name: &str, effects: Effects) -> Rule {
    match name {
        // Which exception it is, and whether there is one, is no function of the operands.
        "landingpad" | "catchpad" | "cleanuppad" | "catchswitch" => Rule::Source(Cause::Exception),
        _ => by_effects(effects),
    }
}

/// An instruction that only reads gives equal results for equal operands: nothing is written between the lanes'
/// executions. One that only writes cannot tell what is there. One that does both may see its own traces.
pub(super) fn by_effects(effects: Effects) -> Rule {
    if effects.contains(Effects::UNKNOWN_RESULT) {
        Rule::Source(Cause::UnknownResult)
    } else if effects.intersects(Effects::VOLATILE | Effects::ATOMIC) {
        Rule::Source(Cause::Synchronised)
    } else if effects.contains(Effects::CONVERGENT) {
        Rule::Source(Cause::Convergent)
    } else if effects.contains(Effects::READS | Effects::WRITES) {
        Rule::Source(Cause::ReadsWhatItWrites)
    } else {
        Rule::Operands
    }
}

/// Whether lanes that execute a terminator together with equal operands may nevertheless leave by different edges,
/// and why.
pub fn splits_lanes(module: &Module, func: &Function, inst: Inst, target: Target) -> Option<Cause> {
    let data = &func.insts[inst];
    match (&data.op, rule(module, func, inst, target)) {
        (Op::OpaqueTerm(_), Rule::Source(cause)) if data.edges.len() > 1 => Some(cause),
        _ => None,
    }
}
