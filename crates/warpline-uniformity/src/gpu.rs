//! Sources of divergence on GPUs: lanes are the threads of a wave (warp, subgroup).
//!
//! For AMD's GPUs the facts are those by which LLVM 22's back end seeds its own analysis: its lists of intrinsics,
//! and its rules for loads, assembly and registers. The differences are these.
//!
//! Towards divergence, where LLVM's rule is not sound:
//! * An atomic or volatile load is a source in any address space: each lane's access counts for itself, and others may
//!   write between them. LLVM takes the load from global memory as uniform if the address is, on NVPTX too.
//! * An intrinsic that reads memory through a pointer into private or generic memory, such as a masked load, is one,
//!   as the plain load is.
//! * An intrinsic that both reads and writes memory, or whose result its operands do not determine, is one unless it
//!   is known to be executed once for the wave. So is `set.inactive` (as in LLVM 23).
//!
//! Towards uniformity:
//! * `ds.bpermute` and `wave.shuffle` from one lane, `wave.shuffle` of one value, and reductions over the wave, are the
//!   same in all lanes; a query about a dimension of a work-group that has one work-item only is; `workitem.id.y` and
//!   `.z` are where whole waves fit into the dimensions before them (as in LLVM 23).
//! * On NVPTX, where LLVM takes every call for a source, intrinsics go by their effects; special registers, votes and
//!   reductions that are the same in a whole warp are uniform (those with a mask of members only if the mask is: a
//!   warp may vote in parts).
//! * Functions of the module go by their [summaries](super::summary), OpenCL's built-in functions by their meaning
//!   ([`super::opencl`]).

use super::facts::{Facts, Note, assembly_outputs, is_scalar_register, is_scalar_register_name};
use super::opencl;
use super::rules::{Called, Cause, OperandSet, Rule, by_effects, by_name_and_effects, called};
use warpline_ir::group_functions::GroupFunction;
use warpline_ir::{Block, CastOp, Constant, Effects, Function, Inst, Module, Op, Scalar, Type, Value};

/// What distinguishes the machines.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Gpu {
    kind: Kind,
    /// Address spaces in which each lane may have memory of its own: the private one, and the one that contains it.
    own_memory: [u32; 2],
    /// What the machine's intrinsics begin with.
    intrinsics: &'static str,
    /// Intrinsics that yield something different in each lane, by what follows.
    sources: &'static [&'static str],
    /// Intrinsics that yield the same in all lanes whatever the operands are.
    always_uniform: &'static [&'static str],
    /// Intrinsics that yield the same in all lanes if these operands are, whatever the others are.
    only: &'static [(&'static str, usize)],
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
enum Kind {
    Amdgcn,
    Nvptx,
    Spirv,
}

/// AMD GPUs.
pub(crate) const AMDGCN: Gpu = Gpu {
    kind: Kind::Amdgcn,
    own_memory: [5, 0],
    intrinsics: "llvm.amdgcn.",
    sources: &[
        "atomic.cond.sub",
        "call.whole.wave",
        "dead",
        "ds.load.tr16",
        "ds.load.tr4",
        "ds.load.tr6",
        "ds.load.tr8",
        "ds.ordered",
        "ds.read.tr16",
        "ds.read.tr4",
        "ds.read.tr6",
        "ds.read.tr8",
        "ds.swizzle",
        "else",
        "flat.atomic",
        "global.atomic",
        "global.load.tr",
        "global.load.tr4",
        "global.load.tr6",
        "if",
        "image.atomic",
        "init.whole.wave",
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
        "permlane.bcast",
        "permlane.down",
        "permlane.idx.gen",
        "permlane.up",
        "permlane.xor",
        "permlane16",
        "permlane32.swap",
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
    always_uniform: &[
        "ballot",
        "cluster.workgroup",
        "fcmp",
        "icmp",
        "if.break",
        "readfirstlane",
        "readlane",
        "s.getpc",
        "s.getreg",
        "s.memrealtime",
        "s.memtime",
        "wave.reduce",
        "workgroup.id",
    ],
    only: &[("ds.bpermute", 0), ("wave.shuffle", 1)],
};

/// NVIDIA GPUs.
pub(crate) const NVPTX: Gpu = Gpu {
    kind: Kind::Nvptx,
    own_memory: [5, 0],
    intrinsics: "llvm.nvvm.",
    sources: &["activemask", "elect.sync", "match.any.sync", "read.ptx.sreg", "shfl"],
    always_uniform: &[
        "barrier.cta.red.and.aligned",
        "barrier.cta.red.or.aligned",
        "barrier.cta.red.popc.aligned",
        "barrier0.and",
        "barrier0.or",
        "barrier0.popc",
        "is_explicit_cluster",
        "read.ptx.sreg.aggr_smem_size",
        "read.ptx.sreg.cluster",
        "read.ptx.sreg.clusterid",
        "read.ptx.sreg.ctaid",
        "read.ptx.sreg.dynamic_smem_size",
        "read.ptx.sreg.gridid",
        "read.ptx.sreg.nclusterid",
        "read.ptx.sreg.nctaid",
        "read.ptx.sreg.nsmid",
        "read.ptx.sreg.ntid",
        "read.ptx.sreg.nwarpid",
        "read.ptx.sreg.total_smem_size",
        "read.ptx.sreg.warpsize",
        "vote.all",
        "vote.any",
        "vote.ballot",
        "vote.uni",
    ],
    only: &[
        ("barrier.cta.red", 0),
        ("match.all.sync", 0),
        ("redux.sync", 1),
        ("vote.all.sync", 0),
        ("vote.any.sync", 0),
        ("vote.ballot.sync", 0),
        ("vote.uni.sync", 0),
    ],
};

/// SPIR and SPIR-V: the address spaces and built-in functions of OpenCL, the built-in variables of SPIR-V.
pub(crate) const SPIRV: Gpu = Gpu {
    kind: Kind::Spirv,
    own_memory: [0, 4],
    intrinsics: "llvm.spv.",
    sources: &[
        "flattened.thread.id.in.group",
        "subgroup.local.invocation.id",
        "thread.id",
        "wave.is.first.lane",
    ],
    always_uniform: &[
        "global.offset",
        "global.size",
        "group.id",
        "num.subgroups",
        "num.workgroups",
        "subgroup.id",
        "subgroup.max.size",
        "subgroup.size",
        "wave.active.countbits",
        "wave.all",
        "wave.any",
        "wave.ballot",
        "wave.get.lane.count",
        "wave.reduce",
        "workgroup.size",
    ],
    only: &[("wave.readlane", 1)],
};

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

/// Those that do not, unless their operand (a dimension) does.
const UNIFORM_BUILTINS: &[&str] = &[
    "__spirv_BuiltInEnqueuedWorkgroupSize",
    "__spirv_BuiltInGlobalOffset",
    "__spirv_BuiltInGlobalSize",
    "__spirv_BuiltInNumEnqueuedSubgroups",
    "__spirv_BuiltInNumSubgroups",
    "__spirv_BuiltInNumWorkgroups",
    "__spirv_BuiltInSubgroupId",
    "__spirv_BuiltInSubgroupMaxSize",
    "__spirv_BuiltInSubgroupSize",
    "__spirv_BuiltInWorkDim",
    "__spirv_BuiltInWorkgroupId",
    "__spirv_BuiltInWorkgroupSize",
];

/// Whether a dotted name begins with these parts.
fn begins_with(name: &str, parts: &str) -> bool {
    name.strip_prefix(parts).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The rule of the entry with the most parts among three lists.
fn longest(name: &str, gpu: &Gpu) -> Option<Rule> {
    let entries = (gpu.sources.iter().map(|&parts| (parts, Rule::Source(Cause::LaneNumber))))
        .chain(gpu.always_uniform.iter().map(|&parts| (parts, Rule::AlwaysUniform)))
        .chain(gpu.only.iter().map(|&(parts, position)| (parts, Rule::Only(OperandSet::of([position])))));
    entries.filter(|(parts, _)| begins_with(name, parts)).max_by_key(|(p, _)| p.len()).map(|(_, rule)| rule)
}

impl Gpu {
    /// The rule of an instruction that is no call and no lane operation.
    pub(super) fn rule(&self, module: &Module, func: &Function, inst: Inst, facts: &Facts) -> Rule {
        let data = &func.insts[inst];
        match &data.op {
            // At the same place in each lane's own memory.
            Op::Alloca { .. } if facts.private_addresses_differ => Rule::Operands,
            Op::Cast(CastOp::AddrSpaceCast) if facts.private_addresses_differ => {
                match data.args.first().map(|&a| func.ty(a)) {
                    Some(Type::Ptr(space)) if space == self.own_memory[0] => {
                        Rule::Source(Cause::PrivateMemory)
                    }
                    _ => Rule::Operands,
                }
            }
            Op::Load(access) if !access.is_simple() => Rule::Source(Cause::Synchronised),
            Op::Load(_) => self.load(module, func, inst),
            Op::Opaque(o) | Op::OpaqueTerm(o) if o.name.ends_with(" asm") => self.assembly(inst, facts),
            Op::Opaque(o) | Op::OpaqueTerm(o) => by_name_and_effects(&o.name, o.effects),
            _ => Rule::Operands,
        }
    }

    /// Uniform if every output is in a register that all lanes share.
    fn assembly(&self, inst: Inst, facts: &Facts) -> Rule {
        match facts.note_of(inst) {
            Some(Note::Assembly(constraints)) if self.kind == Kind::Amdgcn => {
                match assembly_outputs(constraints).all(is_scalar_register) {
                    true => Rule::AlwaysUniform,
                    false => Rule::Source(Cause::Assembly),
                }
            }
            _ => Rule::Source(Cause::Assembly),
        }
    }

    pub(super) fn member_of_assembly(&self, constraints: &str, member: u32) -> Option<Rule> {
        let output = assembly_outputs(constraints).nth(member as usize)?;
        (self.kind == Kind::Amdgcn).then_some(match is_scalar_register(output) {
            true => Rule::AlwaysUniform,
            false => Rule::Source(Cause::Assembly),
        })
    }

    pub(super) fn member_of_call(&self, name: &str, member: u32) -> Option<Rule> {
        let own = name.strip_prefix(self.intrinsics)?;
        match (self.kind, member) {
            // The masks that structured control flow hands on are for the whole wave.
            (Kind::Amdgcn, 1) if own == "else" || begins_with(own, "else") => Some(Rule::AlwaysUniform),
            (Kind::Amdgcn, 1) if begins_with(own, "if") && !begins_with(own, "if.break") => {
                Some(Rule::AlwaysUniform)
            }
            // The number of the elected lane; who asks whether it is that lane gets different answers.
            (Kind::Nvptx, 0) if own == "elect.sync" => Some(Rule::Only(OperandSet::of([0]))),
            _ => None,
        }
    }

    fn load(&self, module: &Module, func: &Function, inst: Inst) -> Rule {
        let Some(&address) = func.insts[inst].args.first() else { return Rule::Operands };
        if self.kind == Kind::Spirv && may_be_varying_builtin(module, func, address) {
            return Rule::Source(Cause::LaneNumber);
        }
        match self.is_own_memory(func.ty(address)) {
            true => Rule::Source(Cause::OwnMemory),
            false => Rule::Operands,
        }
    }

    /// Whether a pointer, or one in a vector of pointers, may lead each lane to memory of its own.
    fn is_own_memory(&self, ty: Type) -> bool {
        matches!(ty.elem(), Some(Scalar::Ptr(space)) if self.own_memory.contains(&space))
    }

    /// The rule of a call of a function that has no summary.
    pub(super) fn call(
        &self,
        module: &Module,
        func: &Function,
        inst: Inst,
        called: &Called,
        facts: &Facts,
    ) -> Rule {
        let (name, effects) = (called.name(), called.effects);
        if let Some(own) = name.strip_prefix(self.intrinsics) {
            return self.intrinsic(func, inst, own, effects, facts);
        }
        if GroupFunction::is_lane_register(name) || VARYING_BUILTINS.iter().any(|v| name.contains(v)) {
            return Rule::Source(Cause::LaneNumber);
        }
        if name.starts_with("llvm.experimental.convergence.") {
            return Rule::AlwaysUniform;
        }
        if name.starts_with("llvm.read_register.") || name.starts_with("llvm.read_volatile_register.") {
            return self.register(func, inst, facts);
        }
        if name.starts_with("llvm.") {
            return self.by_effects(func, inst, effects);
        }
        if UNIFORM_BUILTINS.iter().any(|v| name.contains(v)) {
            return Rule::Operands;
        }
        let builtin = called.callee.and_then(|(symbol, _)| opencl::builtin(module, symbol, effects));
        builtin.unwrap_or(Rule::Source(Cause::UnknownCall))
    }

    fn by_effects(&self, func: &Function, inst: Inst, effects: Effects) -> Rule {
        let own = |&a: &Value| self.is_own_memory(func.ty(a));
        match by_effects(effects) {
            Rule::Operands if effects.contains(Effects::READS) && func.insts[inst].args.iter().any(own) => {
                Rule::Source(Cause::OwnMemory)
            }
            rule => rule,
        }
    }

    fn intrinsic(&self, func: &Function, inst: Inst, own: &str, effects: Effects, facts: &Facts) -> Rule {
        if self.kind == Kind::Amdgcn
            && let Some(dimension) = own.strip_prefix("workitem.id.")
            && let Some(dimension) = ["x", "y", "z"].iter().position(|&d| d == dimension)
            && is_one_in_wave(dimension, facts)
        {
            return Rule::AlwaysUniform;
        }
        if let Some(rule) = longest(own, self) {
            return rule;
        }
        match self.kind {
            // Whether it talks to other lanes does not matter: of equal operands it makes equal results. What the
            // scalar unit executes, it executes once.
            Kind::Amdgcn => match self.by_effects(func, inst, effects.difference(Effects::CONVERGENT)) {
                Rule::Source(_) if own.starts_with("s.") => Rule::Operands,
                rule => rule,
            },
            Kind::Nvptx => self.by_effects(func, inst, effects),
            // What has nothing to compute from may ask for something of the lane's own.
            Kind::Spirv => {
                let constant = |&a: &Value| func.constant(a).is_some();
                match func.insts[inst].args.iter().all(constant) {
                    true => Rule::Source(Cause::LaneNumber),
                    false => self.by_effects(func, inst, effects),
                }
            }
        }
    }

    fn register(&self, func: &Function, inst: Inst, facts: &Facts) -> Rule {
        let is_bool = func.insts[inst].results.iter().any(|&r| func.ty(r) == Type::BOOL);
        match facts.note_of(inst) {
            Some(Note::Register(name))
                if self.kind == Kind::Amdgcn && !is_bool && is_scalar_register_name(name) =>
            {
                Rule::AlwaysUniform
            }
            _ => Rule::Source(Cause::LaneNumber),
        }
    }
}

/// The results of instructions for which it is enough that *either* operand is uniform, and of which the one that the
/// rule does not speak of is: `wave.shuffle` yields a uniform value from whatever lanes. (Of the permutes only it has no
/// value of its own for lanes that are not active: `permlane*` and `ds.bpermute` yield zero or an old value there.)
pub(super) fn uniform_by_either<'a>(
    module: &'a Module,
    func: &'a Function,
    is_uniform_at: impl Fn(Value, Block) -> bool + 'a,
) -> impl Iterator<Item = Value> + 'a {
    func.layout.iter().flat_map(|&b| func.block_insts(b)).filter_map(move |inst| {
        let data = &func.insts[inst];
        let shuffled = *data.args.first()?;
        (is_by_either(module, func, inst) && is_uniform_at(shuffled, data.block))
            .then(|| data.results.first().copied())?
    })
}

/// Whether an instruction is uniform if either of two operands is.
pub(super) fn is_by_either(module: &Module, func: &Function, inst: Inst) -> bool {
    called(module, func, inst).is_some_and(|called| called.name().starts_with("llvm.amdgcn.wave.shuffle"))
}

/// Whether the number of a work-item in a dimension is one for all lanes of a wave: there is only one work-item in
/// it, or every wave fits into the dimensions before it.
fn is_one_in_wave(dimension: usize, facts: &Facts) -> bool {
    let Some(group) = facts.work_group else { return false };
    if group.size[dimension] == 1 {
        return true;
    }
    let before: u64 = group.size[..dimension].iter().map(|&n| u64::from(n)).product();
    dimension > 0 && group.whole && facts.wave_size.is_some_and(|wave| before.is_multiple_of(u64::from(wave)))
}

/// Whether an address may lie in a variable of SPIR-V that differs between invocations. If a module has such a
/// variable, every address whose origin is not seen may.
fn may_be_varying_builtin(module: &Module, func: &Function, address: Value) -> bool {
    let is_builtin = |name: &str| VARYING_BUILTINS.contains(&name);
    let base = func.address_base(address);
    match func.constant(base) {
        Some(Constant::Address { symbol, .. }) => is_builtin(&module.symbols[*symbol].name),
        Some(Constant::Null(_)) => false,
        _ => !func.is_alloca(base) && module.symbols.values().any(|s| is_builtin(&s.name)),
    }
}
