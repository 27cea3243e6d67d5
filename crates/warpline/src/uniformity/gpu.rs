//! Sources of divergence on GPUs: lanes are the threads of a wave (warp, subgroup).
//!
//! The facts are those by which LLVM's back ends seed its own analysis, with these differences, all towards
//! divergence: an atomic or volatile load is a source in any address space; an intrinsic that both reads and writes memory
//! is one unless it is known. On NVPTX, where LLVM takes every call for a source, intrinsics go by their effects
//! and special registers that are the same in a whole warp are uniform.

use super::rules::{Cause, Rule, by_effects};
use crate::ir::{CallInfo, Constant, Effects, Function, Inst, Module, Op, Type};

/// What distinguishes the machines.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Gpu {
    /// Address spaces in which each lane may have memory of its own: the private one, and the one that contains it.
    own_memory: [u32; 2],
    /// What the machine's intrinsics begin with.
    intrinsics: &'static str,
    /// Intrinsics that yield something different in each lane, by what follows.
    sources: &'static [&'static str],
    /// Intrinsics that yield the same in all lanes whatever the operands are.
    always_uniform: &'static [&'static str],
}

/// AMD GPUs. The intrinsics are those of LLVM 19, and `set.inactive` of LLVM 23.
pub const AMDGCN: Gpu = Gpu {
    own_memory: [5, 0],
    intrinsics: "llvm.amdgcn.",
    sources: &[
        "atomic.cond.sub",
        "ds.ordered",
        "ds.swizzle",
        "else",
        "flat.atomic",
        "global.atomic",
        "global.load.tr",
        "if",
        "image.atomic",
        "interp.mov",
        "interp.p1",
        "interp.p2",
        "inverse.ballot",
        "lds.direct.load",
        "lds.param.load",
        "live.mask",
        "loop",
        "mbcnt",
        "mfma",
        "mov.dpp",
        "mov.dpp8",
        "permlane16",
        "permlanex16",
        "ps.live",
        "raw.buffer.atomic",
        "raw.ptr.buffer.atomic",
        "set.inactive",
        "smfmac",
        "struct.buffer.atomic",
        "struct.ptr.buffer.atomic",
        "swmmac",
        "update.dpp",
        "wmma",
        "workitem.id",
        "writelane",
    ],
    always_uniform: &["ballot", "fcmp", "icmp", "if.break", "readfirstlane", "readlane"],
};

/// NVIDIA GPUs.
pub const NVPTX: Gpu = Gpu {
    own_memory: [5, 0],
    intrinsics: "llvm.nvvm.",
    sources: &[
        "read.ptx.sreg.clock",
        "read.ptx.sreg.clock64",
        "read.ptx.sreg.globaltimer",
        "read.ptx.sreg.laneid",
        "read.ptx.sreg.lanemask",
        "read.ptx.sreg.tid",
        "shfl",
    ],
    always_uniform: &[
        "read.ptx.sreg.ctaid",
        "read.ptx.sreg.gridid",
        "read.ptx.sreg.nctaid",
        "read.ptx.sreg.nsmid",
        "read.ptx.sreg.ntid",
        "read.ptx.sreg.nwarpid",
        "read.ptx.sreg.warpsize",
    ],
};

/// SPIR and SPIR-V: the address spaces and built-in functions of OpenCL, the built-in variables of SPIR-V.
pub const SPIRV: Gpu = Gpu {
    own_memory: [0, 4],
    intrinsics: "llvm.spv.",
    sources: &["flattened.thread.id.in.group", "thread.id"],
    always_uniform: &["group.id"],
};

/// OpenCL's built-in functions whose results are uniform in a subgroup if their operands are.
const UNIFORM_BUILTINS: &[&str] = &[
    "_Z12get_group_idj",
    "_Z12get_work_dimv",
    "_Z14get_local_sizej",
    "_Z14get_num_groupsj",
    "_Z15get_global_sizej",
    "_Z16get_sub_group_idv",
    "_Z17get_global_offsetj",
    "_Z18get_num_sub_groupsv",
    "_Z18get_sub_group_sizev",
    "_Z22get_max_sub_group_sizev",
    "_Z23get_enqueued_local_sizej",
];

/// Variables (or functions) of SPIR-V that differ between the invocations of a subgroup.
const VARYING_BUILTINS: &[&str] = &[
    "__spirv_BuiltInGlobalInvocationId",
    "__spirv_BuiltInGlobalLinearId",
    "__spirv_BuiltInLocalInvocationId",
    "__spirv_BuiltInLocalInvocationIndex",
    "__spirv_BuiltInSubgroupLocalInvocationId",
    "__spirv_BuiltInSubgroupEqMask",
    "__spirv_BuiltInSubgroupGeMask",
    "__spirv_BuiltInSubgroupGtMask",
    "__spirv_BuiltInSubgroupLeMask",
    "__spirv_BuiltInSubgroupLtMask",
];

/// Whether a dotted name begins with these parts.
fn begins_with(name: &str, parts: &str) -> bool {
    name.strip_prefix(parts).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn longest(name: &str, list: &[&str]) -> usize {
    list.iter().filter(|parts| begins_with(name, parts)).map(|parts| parts.len()).max().unwrap_or(0)
}

impl Gpu {
    /// The rule of an instruction that is no lane operation.
    pub(super) fn rule(&self, module: &Module, func: &Function, inst: Inst) -> Rule {
        let data = &func.insts[inst];
        match &data.op {
            // At the same place in each lane's own memory.
            Op::Alloca { .. } => Rule::Operands,
            Op::Load(access) if !access.is_simple() => Rule::Source(Cause::Synchronised),
            Op::Load(_) => self.load(module, func, inst),
            Op::Call(call) => self.call(call, super::rules::callee_name(module, call)),
            // The masks that structured control flow hands on are for the whole wave.
            Op::ExtractValue(path) if **path == [1] => {
                match data.args.first().and_then(|&a| func.def_inst(a)) {
                    Some(def) => match &func.insts[def].op {
                        Op::Call(call) => {
                            match super::rules::callee_name(module, call).strip_prefix("llvm.amdgcn.") {
                                Some(name)
                                    if begins_with(name, "else")
                                        || (begins_with(name, "if") && !begins_with(name, "if.break")) =>
                                {
                                    Rule::AlwaysUniform
                                }
                                _ => Rule::Operands,
                            }
                        }
                        _ => Rule::Operands,
                    },
                    None => Rule::Operands,
                }
            }
            Op::Opaque(o) | Op::OpaqueTerm(o) => super::rules::by_name_and_effects(&o.name, o.effects),
            _ => Rule::Operands,
        }
    }

    fn load(&self, module: &Module, func: &Function, inst: Inst) -> Rule {
        let Some(&address) = func.insts[inst].args.first() else { return Rule::Operands };
        if let Some(Constant::Address { symbol, .. }) = func.constant(address)
            && VARYING_BUILTINS.contains(&&*module.symbols[*symbol].name)
        {
            return Rule::Source(Cause::LaneNumber);
        }
        match func.ty(address) {
            Type::Ptr(space) if !self.own_memory.contains(&space) => Rule::Operands,
            _ => Rule::Source(Cause::OwnMemory),
        }
    }

    fn call(&self, call: &CallInfo, name: &str) -> Rule {
        if let Some(own) = name.strip_prefix(self.intrinsics) {
            let (source, uniform) = (longest(own, self.sources), longest(own, self.always_uniform));
            return match source.cmp(&uniform) {
                std::cmp::Ordering::Greater => Rule::Source(Cause::LaneNumber),
                std::cmp::Ordering::Less => Rule::AlwaysUniform,
                // Whether it talks to other lanes does not matter: of equal operands it makes equal results.
                _ => by_effects(call.effects.difference(Effects::CONVERGENT)),
            };
        }
        if super::rules::is_lane_number(name) || VARYING_BUILTINS.iter().any(|v| name.contains(v)) {
            return Rule::Source(Cause::LaneNumber);
        }
        if name.starts_with("llvm.") {
            return by_effects(call.effects);
        }
        if UNIFORM_BUILTINS.contains(&name) {
            return Rule::Operands;
        }
        Rule::Source(Cause::UnknownResult)
    }
}
