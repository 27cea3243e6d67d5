//! What work-items of a group ask about themselves and do together: one table of functions, by name and by signature.
//!
//! A function counts if the module only declares it, with the signature that the language gives it. A function with a
//! body, or one of this name with other types, is the program's own. Names are as in the source, as OpenCL and C++
//! mangle them, or an intrinsic's.
//!
//! `get_global_id` and similar under their plain names are words that any program may use. They count in modules for
//! a GPU only, by the module's triple; elsewhere the mangled name does (OpenCL's compilers mangle). Names of barriers
//! count everywhere: a barrier that is taken for an ordinary call gives wrong results, an ordinary call that is taken
//! for a barrier is refused.

use crate::{Module, Scalar, Symbol, SymbolKind, Type};

/// What is called in the place of `printf` with vectors that the format does not say: nobody defines it.
pub const PRINTF_OF_OTHER_VECTORS: &str = "printf of vectors";

/// A number of a work-item, in a dimension, that a kernel can get as a parameter.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Query {
    /// The number of the work-item among all.
    GlobalId,
    /// The number of the work-item in its group.
    LocalId,
    /// The number of the group.
    GroupId,
    /// The number of work-items.
    GlobalSize,
    /// The number of work-items of this group.
    LocalSize,
    /// The number of work-items of a group that is not the last one.
    EnqueuedLocalSize,
    /// The number of groups.
    NumGroups,
    /// The least number of a work-item.
    GlobalOffset,
}

/// Queries by OpenCL's names, behind `get_`, and SPIR-V's, behind `__spirv_BuiltIn`.
const QUERIES: [(&str, &str, Query); 8] = [
    ("global_id", "GlobalInvocationId", Query::GlobalId),
    ("local_id", "LocalInvocationId", Query::LocalId),
    ("group_id", "WorkgroupId", Query::GroupId),
    ("global_size", "GlobalSize", Query::GlobalSize),
    ("local_size", "WorkgroupSize", Query::LocalSize),
    ("enqueued_local_size", "EnqueuedWorkgroupSize", Query::EnqueuedLocalSize),
    ("num_groups", "NumWorkgroups", Query::NumGroups),
    ("global_offset", "GlobalOffset", Query::GlobalOffset),
];

/// Queries by the names of registers, before the dimension.
const REGISTERS: [(&str, Query); 6] = [
    ("llvm.nvvm.read.ptx.sreg.tid.", Query::LocalId),
    ("llvm.nvvm.read.ptx.sreg.ntid.", Query::LocalSize),
    ("llvm.nvvm.read.ptx.sreg.ctaid.", Query::GroupId),
    ("llvm.nvvm.read.ptx.sreg.nctaid.", Query::NumGroups),
    ("llvm.amdgcn.workitem.id.", Query::LocalId),
    ("llvm.amdgcn.workgroup.id.", Query::GroupId),
];

/// Intrinsics that yield something else of a work-item's own, by how they begin. They are declared without memory
/// effects, so their effects do not tell.
const LANE_REGISTERS: [&str; 7] = [
    "llvm.amdgcn.workitem.id.",
    "llvm.amdgcn.mbcnt.",
    "llvm.nvvm.read.ptx.sreg.tid.",
    "llvm.nvvm.read.ptx.sreg.laneid",
    "llvm.nvvm.read.ptx.sreg.lanemask",
    "llvm.spv.thread.id",
    "llvm.dx.thread.id",
];

/// What stands behind the name of a query whose result the program narrows to 32 bits at once.
pub const NARROW: &str = ".i32";

/// Other numbers that differ between the work-items of a group, with what they yield.
const LANE_NUMBERS: [(&str, Yields); 9] = [
    ("get_enqueued_local_linear_id", Yields::Size),
    ("get_global_linear_id", Yields::Size),
    ("get_local_linear_id", Yields::Size),
    ("get_sub_group_local_id", Yields::Number),
    ("get_sub_group_eq_mask", Yields::Mask),
    ("get_sub_group_ge_mask", Yields::Mask),
    ("get_sub_group_gt_mask", Yields::Mask),
    ("get_sub_group_le_mask", Yields::Mask),
    ("get_sub_group_lt_mask", Yields::Mask),
];

/// Other numbers that the lanes that run together agree on.
const GROUP_NUMBERS: [(&str, Yields); 7] = [
    ("get_enqueued_num_sub_groups", Yields::Number),
    ("get_max_sub_group_size", Yields::Number),
    ("get_num_sub_groups", Yields::Number),
    ("get_sub_group_id", Yields::Number),
    ("get_sub_group_size", Yields::Number),
    ("get_work_dim", Yields::Number),
    ("get_linear_group_id", Yields::Size),
];

/// What a question without operands yields.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Yields {
    /// `size_t`
    Size,
    /// `uint`
    Number,
    /// `uint4`
    Mask,
}

/// A parameter or result of a function in the table.
#[derive(Copy, Clone)]
enum Is {
    Nothing,
    Int,
    Long,
    Bool,
    Pointer,
}

/// Functions at which the work-items of a group, or the threads of a team, wait for each other: name, result,
/// parameters, and the mangled types of the parameters if they can tell more.
const BARRIERS: [(&str, Is, &[Is], &[&str]); 21] = [
    ("barrier", Is::Nothing, &[Is::Int], &["j"]),
    ("work_group_barrier", Is::Nothing, &[Is::Int], &["j"]),
    ("work_group_barrier", Is::Nothing, &[Is::Int, Is::Int], &["j12memory_scope", "ji", "jj"]),
    ("sub_group_barrier", Is::Nothing, &[Is::Int], &["j"]),
    ("sub_group_barrier", Is::Nothing, &[Is::Int, Is::Int], &["j12memory_scope", "ji", "jj"]),
    ("work_group_named_barrier", Is::Nothing, &[Is::Pointer, Is::Int], &[]),
    ("work_group_named_barrier", Is::Nothing, &[Is::Pointer, Is::Int, Is::Int], &[]),
    ("__syncthreads", Is::Nothing, &[], &["v"]),
    ("__syncthreads_count", Is::Int, &[Is::Int], &["i"]),
    ("__syncthreads_and", Is::Int, &[Is::Int], &["i"]),
    ("__syncthreads_or", Is::Int, &[Is::Int], &["i"]),
    ("__syncwarp", Is::Nothing, &[Is::Int], &["j"]),
    ("__syncwarp", Is::Nothing, &[], &["v"]),
    ("__spirv_ControlBarrier", Is::Nothing, &[Is::Int, Is::Int, Is::Int], &[]),
    ("__spirv_ControlBarrierArriveINTEL", Is::Nothing, &[Is::Int, Is::Int, Is::Int], &[]),
    ("__spirv_ControlBarrierWaitINTEL", Is::Nothing, &[Is::Int, Is::Int, Is::Int], &[]),
    ("__kmpc_barrier", Is::Nothing, &[Is::Pointer, Is::Int], &[]),
    ("__kmpc_cancel_barrier", Is::Int, &[Is::Pointer, Is::Int], &[]),
    ("__kmpc_syncwarp", Is::Nothing, &[Is::Long], &[]),
    ("GOMP_barrier", Is::Nothing, &[], &[]),
    ("GOMP_barrier_cancel", Is::Bool, &[], &[]),
];

/// More barriers, whose names are nobody else's, by how they begin.
const RESERVED_BARRIERS: [&str; 9] = [
    "llvm.nvvm.barrier",
    "llvm.nvvm.bar.",
    "llvm.amdgcn.s.barrier",
    "llvm.amdgcn.s.cluster.barrier",
    "llvm.amdgcn.wave.barrier",
    "llvm.amdgcn.ds.gws.barrier",
    "__kmpc_barrier_simple_",
    "__ockl_gws_barrier",
    "__ockl_grid_sync",
];

/// Those among them at which exactly the work-items of a group wait, and that do nothing else. Operands say which
/// memory is in order behind them: all of it is. Barriers of sub-groups are among them: where all work-items of a group
/// come to one, it does no harm that all wait.
const OF_WORK_GROUPS: [&str; 9] = [
    "barrier",
    "work_group_barrier",
    "sub_group_barrier",
    "__syncthreads",
    "llvm.nvvm.barrier0",
    // What newer versions of LLVM make of it. The operand is which of several barriers it is.
    "llvm.nvvm.barrier.cta.sync.aligned.all",
    "llvm.nvvm.barrier.cta.sync.all",
    // If the first operand says so.
    "__spirv_ControlBarrier",
    "llvm.amdgcn.s.barrier",
];

/// And by how they end.
const WITH_GROUP_SYNC: &str = ".with.group.sync";

/// What the names of OpenCL's collective functions begin with.
const GROUPS: [&str; 4] = ["work_group_", "sub_group_", "intel_sub_group_", "intel_work_group_"];

/// And what follows, or what that begins with; whether all work-items of the group get the same.
const COLLECTIVES: [(&str, bool); 27] = [
    ("all", true),
    ("any", true),
    ("all_equal", true),
    ("ballot", true),
    ("ballot_bit_count", false),
    ("ballot_bit_extract", false),
    ("ballot_exclusive_scan", false),
    ("ballot_find_lsb", false),
    ("ballot_find_msb", false),
    ("ballot_inclusive_scan", false),
    ("broadcast", true),
    ("broadcast_first", true),
    ("clustered_reduce_*", false),
    ("clustered_rotate", false),
    ("elect", false),
    ("inverse_ballot", false),
    ("non_uniform_*", false),
    ("reduce_*", true),
    ("rotate", false),
    ("scan_exclusive_*", false),
    ("scan_inclusive_*", false),
    ("shuffle", false),
    ("shuffle_down", false),
    ("shuffle_up", false),
    ("shuffle_xor", false),
    ("block_read*", false),
    ("block_write*", false),
];

/// Collective functions whose names are nobody else's, by how they begin.
const RESERVED_COLLECTIVES: [&str; 16] = [
    "__spirv_Group",
    "__spirv_Subgroup",
    "__spirv_WaitGroupEvents",
    "__ockl_wg",
    "__ockl_wf",
    "__ockl_activelane",
    "__shfl",
    "__ballot",
    "__any_sync",
    "__all_sync",
    "__activemask",
    "__match_any_sync",
    "__match_all_sync",
    "__reduce_",
    "__kmpc_shuffle_",
    "__kmpc_warp_active_thread_mask",
];

/// And by their whole names.
const VOTES: [&str; 2] = ["__any", "__all"];

/// Copies that a whole group makes, by their names; they take pointers of any kind.
const GROUP_COPIES: [&str; 3] =
    ["async_work_group_copy", "async_work_group_strided_copy", "wait_group_events"];

/// What a function is to the work-items of a group.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum GroupFunction {
    /// It yields a number of the work-item in a dimension: in this one if the name says it, else in the one that the
    /// operand says.
    Query(Query, Option<u32>),
    /// It yields something else that each work-item has of its own.
    LaneNumber,
    /// It yields something else that is one for all lanes that run together.
    GroupNumber,
    /// The work-items wait for each other.
    Barrier,
    /// The work-items exchange values, or do something once for all.
    Collective {
        /// Whether all of them get the same result.
        uniform: bool,
    },
}

impl Query {
    /// OpenCL's name without `get_`.
    pub fn short_name(self) -> &'static str {
        QUERIES.iter().find(|(.., query)| *query == self).map_or("", |(name, ..)| name)
    }

    /// Whether it differs between work-items of one group.
    pub fn is_of_work_item(self) -> bool {
        matches!(self, Query::GlobalId | Query::LocalId)
    }

    /// What work-items have in dimensions that there are not.
    pub fn in_no_dimension(self) -> u128 {
        match self {
            Query::GlobalId | Query::LocalId | Query::GroupId | Query::GlobalOffset => 0,
            Query::GlobalSize | Query::LocalSize | Query::EnqueuedLocalSize | Query::NumGroups => 1,
        }
    }
}

impl GroupFunction {
    /// What a symbol is, provided that the module has no body of it; `None` for any other function.
    pub fn of(module: &Module, symbol: Symbol) -> Option<GroupFunction> {
        let data = &module.symbols[symbol];
        let SymbolKind::Function { params, ret, variadic: false } = &data.kind else { return None };
        let signature = Signature {
            params,
            ret: *ret,
            size: Type::Int(module.layout.pointer_bits(0)),
            plain_names: is_gpu(&module.triple),
        };
        signature.function(&data.name)
    }

    /// Whether a symbol is a barrier of work-groups, which has no other effect than that all work-items of a group wait.
    pub fn is_work_group_barrier(module: &Module, symbol: Symbol) -> bool {
        let data = &module.symbols[symbol];
        let plain = demangle(&data.name).map_or(&*data.name, |(plain, _)| plain);
        OF_WORK_GROUPS.contains(&plain) && GroupFunction::of(module, symbol) == Some(GroupFunction::Barrier)
    }

    /// Whether a function of this name with so many parameters may be a barrier, as far as these can say.
    pub fn may_be_barrier(name: &str, count: usize) -> bool {
        let plain = demangle(name).map_or(name, |(plain, _)| plain);
        BARRIERS.iter().any(|(barrier, _, params, _)| *barrier == plain && params.len() == count)
            || RESERVED_BARRIERS.iter().any(|p| plain.starts_with(p))
            || plain.starts_with("llvm.") && plain.ends_with(WITH_GROUP_SYNC)
    }

    /// Whether a function of this name may be one that work-items call together, as far as the name can say.
    pub fn may_be_collective(name: &str) -> bool {
        let plain = demangle(name).map_or(name, |(plain, _)| plain);
        GROUPS.iter().any(|p| plain.starts_with(p))
            || GROUP_COPIES.contains(&plain)
            || RESERVED_COLLECTIVES.iter().any(|p| plain.starts_with(p))
            || VOTES.contains(&plain)
    }

    /// Whether a function of this name may yield a number of the work-item, its group or its sub-group, as far as the
    /// name can say.
    pub fn may_be_question(name: &str) -> bool {
        let plain = demangle(name).map_or(name, |(plain, _)| plain);
        let asked = |query: &str| QUERIES.iter().any(|(q, ..)| *q == query);
        plain.strip_prefix("__spirv_BuiltIn").is_some_and(|n| QUERIES.iter().any(|(_, q, _)| *q == n))
            || plain.strip_prefix("__ockl_get_").or_else(|| plain.strip_prefix("get_")).is_some_and(asked)
            || LANE_NUMBERS.iter().chain(&GROUP_NUMBERS).any(|(n, _)| *n == plain)
            || REGISTERS.iter().any(|(register, _)| plain.starts_with(register))
            || GroupFunction::is_lane_register(plain)
    }

    /// Whether a function of this name, if it takes a `uint`, yields a `size_t` and has no body, is OpenCL's
    /// `get_global_id`, in a module that is not for a GPU.
    pub fn is_global_id(name: &str) -> bool {
        name == "_Z13get_global_idj"
    }

    /// The same of `get_local_id`.
    pub fn is_local_id(name: &str) -> bool {
        name == "_Z12get_local_idj"
    }

    /// The mangled name of OpenCL's function of this plain name, for those that any program may use; they count in
    /// modules of which it is known that they are OpenCL's.
    pub fn mangled_question(name: &str) -> Option<String> {
        let query = name.strip_prefix("get_").is_some_and(|n| QUERIES.iter().any(|(q, ..)| *q == n));
        let without_operand = || LANE_NUMBERS.iter().chain(&GROUP_NUMBERS).any(|(n, _)| *n == name);
        let types = if query { "j" } else { "v" };
        (query || without_operand()).then(|| format!("_Z{}{name}{types}", name.len()))
    }

    /// Whether an intrinsic of this name yields the number of a work-item or lane.
    pub fn is_lane_register(name: &str) -> bool {
        LANE_REGISTERS.iter().any(|p| name.starts_with(p))
    }
}

/// Whether a triple is that of a GPU.
pub fn is_gpu(triple: &str) -> bool {
    ["spir", "amdgcn", "nvptx"].iter().any(|gpu| triple.starts_with(gpu))
}

/// Name and parameter types of `_Z<length><name><types>`.
pub fn demangle(mangled: &str) -> Option<(&str, &str)> {
    let rest = mangled.strip_prefix("_Z")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let length: usize = rest.get(..digits)?.parse().ok()?;
    rest[digits..].split_at_checked(length).filter(|(_, types)| !types.is_empty())
}

/// What a declaration says besides its name.
struct Signature<'a> {
    params: &'a [Type],
    ret: Type,
    /// `size_t`
    size: Type,
    /// Whether names that any program may use count.
    plain_names: bool,
}

impl Signature<'_> {
    fn function(&self, name: &str) -> Option<GroupFunction> {
        let narrowed = name.strip_suffix(NARROW);
        let (plain, types) = match demangle(narrowed.unwrap_or(name)) {
            Some((plain, types)) => (plain, Some(types)),
            None => (name, None),
        };
        if narrowed.is_some() {
            let is_it = types == Some("j") && self.takes(&[Is::Int]) && self.yields(Is::Int);
            let (query, _) = self.query_of_name(plain, types)?;
            return is_it.then_some(GroupFunction::Query(query, None));
        }
        self.register(name)
            .or_else(|| self.question(plain, types))
            .or_else(|| self.is_barrier(plain, types).then_some(GroupFunction::Barrier))
            .or_else(|| self.collective(plain))
    }

    fn register(&self, name: &str) -> Option<GroupFunction> {
        let int = self.params.is_empty() && self.yields(Is::Int);
        for (prefix, query) in REGISTERS {
            if let Some(dimension) = name.strip_prefix(prefix)
                && let Some(d) = ["x", "y", "z"].iter().position(|d| *d == dimension)
                && int
            {
                return Some(GroupFunction::Query(query, Some(d as u32)));
            }
        }
        GroupFunction::is_lane_register(name).then_some(GroupFunction::LaneNumber)
    }

    /// The query of a name without regard to the function's IR types, and whether its operand is `int`.
    fn query_of_name(&self, plain: &str, types: Option<&str>) -> Option<(Query, bool)> {
        let found = |is: &dyn Fn(&(&str, &str, Query)) -> bool| QUERIES.iter().find(|q| is(q)).map(|q| q.2);
        if let Some(name) = plain.strip_prefix("__spirv_BuiltIn") {
            return Some((found(&|q| q.1 == name)?, true));
        }
        let device = plain.strip_prefix("__ockl_get_");
        let name = device.or_else(|| plain.strip_prefix("get_"))?;
        let counts = types.is_some() || device.is_some() || self.plain_names;
        Some((found(&|q| q.0 == name)?, false)).filter(|_| counts)
    }

    fn question(&self, plain: &str, types: Option<&str>) -> Option<GroupFunction> {
        if let Some((query, int)) = self.query_of_name(plain, types) {
            let operand = if int { ["i", "j"].as_slice() } else { &["j"] };
            let is_it = self.takes(&[Is::Int])
                && self.ret == self.size
                && types.is_none_or(|types| operand.contains(&types));
            return is_it.then_some(GroupFunction::Query(query, None));
        }
        if !self.params.is_empty() || !types.map_or(self.plain_names, |types| types == "v") {
            return None;
        }
        let among = |list: &[(&str, Yields)]| {
            list.iter().any(|&(name, yields)| {
                name == plain
                    && match yields {
                        Yields::Size => self.ret == self.size,
                        Yields::Number => self.yields(Is::Int),
                        Yields::Mask => Some(self.ret) == Type::Int(32).vector(4),
                    }
            })
        };
        if among(&LANE_NUMBERS) {
            return Some(GroupFunction::LaneNumber);
        }
        among(&GROUP_NUMBERS).then_some(GroupFunction::GroupNumber)
    }

    fn is_barrier(&self, plain: &str, types: Option<&str>) -> bool {
        let listed = BARRIERS.iter().any(|&(name, ret, params, mangled)| {
            name == plain
                && self.yields(ret)
                && self.takes(params)
                && types.is_none_or(|types| mangled.is_empty() || mangled.contains(&types))
        });
        let intrinsic = plain.starts_with("llvm.") && plain.ends_with(WITH_GROUP_SYNC);
        listed || intrinsic || RESERVED_BARRIERS.iter().any(|p| plain.starts_with(p))
    }

    fn collective(&self, plain: &str) -> Option<GroupFunction> {
        if RESERVED_COLLECTIVES.iter().any(|p| plain.starts_with(p)) || VOTES.contains(&plain) {
            return Some(GroupFunction::Collective { uniform: false });
        }
        if GROUP_COPIES.contains(&plain) && self.params.iter().any(|p| p.is_ptr()) {
            return Some(GroupFunction::Collective { uniform: false });
        }
        let what = GROUPS.iter().find_map(|group| plain.strip_prefix(group))?;
        let is = |name: &str| match name.strip_suffix('*') {
            Some(start) => what.starts_with(start) && what.len() > start.len() || what == start,
            None => what == name,
        };
        let &(_, uniform) = COLLECTIVES.iter().find(|(name, _)| is(name))?;
        self.exchanges().then_some(GroupFunction::Collective { uniform })
    }

    /// Whether the types are those of a function that exchanges values: `T f(T, …)` with integers behind the value,
    /// `int f(T)` for predicates, `uint4` for ballots, and pointers for blocks.
    fn exchanges(&self) -> bool {
        let integers = |types: &[Type]| types.iter().all(|t| matches!(t, Type::Int(_)));
        let ballot = |t: Type| Some(t) == Type::Int(32).vector(4);
        match self.params {
            [] => self.yields(Is::Int),
            [first, ..] if first.is_ptr() => true,
            [first, rest @ ..] => {
                let value =
                    *first == self.ret || ballot(*first) || *first == Type::Int(32) && ballot(self.ret);
                let predicate = self.yields(Is::Int) && rest.is_empty();
                (value && (integers(rest) || rest.iter().all(|t| t == first))) || predicate
            }
        }
    }

    fn takes(&self, wanted: &[Is]) -> bool {
        self.params.len() == wanted.len() && self.params.iter().zip(wanted).all(|(&ty, &is)| fits(ty, is))
    }

    fn yields(&self, wanted: Is) -> bool {
        fits(self.ret, wanted)
    }
}

fn fits(ty: Type, is: Is) -> bool {
    match is {
        Is::Nothing => ty.is_void(),
        Is::Int => ty == Type::Int(32),
        Is::Long => ty == Type::Int(64),
        Is::Bool => matches!(ty, Type::Int(1 | 8)),
        Is::Pointer => matches!(ty.scalar(), Some(Scalar::Ptr(_))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse_module;

    /// What the declarations of a module are, in its order.
    fn all(triple: &str, declarations: &str) -> Vec<(String, Option<GroupFunction>)> {
        let mut module = parse_module(declarations).unwrap_or_else(|e| panic!("{e}"));
        module.triple = triple.to_owned();
        module
            .symbols
            .keys()
            .map(|s| (module.symbols[s].name.to_string(), GroupFunction::of(&module, s)))
            .collect()
    }

    #[test]
    fn barriers_count_under_every_name_with_the_exact_signature_everywhere() {
        let barriers = "declare @barrier(i32) []
            declare @_Z7barrierj(i32) [convergent]
            declare @_Z18work_group_barrierj12memory_scope(i32, i32) []
            declare @sub_group_barrier(i32) []
            declare @__syncthreads() []
            declare @_Z13__syncthreadsv() []
            declare @__syncthreads_or(i32) -> i32 []
            declare @__syncwarp(i32) []
            declare @_Z22__spirv_ControlBarrieriii(i32, i32, i32) []
            declare @__spirv_ControlBarrier(i32, i32, i32) []
            declare @__kmpc_barrier(ptr, i32) []
            declare @__kmpc_cancel_barrier(ptr, i32) -> i32 []
            declare @GOMP_barrier() []
            declare @llvm.nvvm.barrier0() []
            declare @llvm.nvvm.barrier.cta.sync.aligned.all(i32) []
            declare @llvm.nvvm.barrier.cta.sync.aligned.count(i32, i32) []
            declare @llvm.nvvm.bar.warp.sync(i32) []
            declare @llvm.amdgcn.s.barrier() []
            declare @llvm.spv.group.memory.barrier.with.group.sync() []";
        for (name, found) in all("", barriers) {
            assert_eq!(found, Some(GroupFunction::Barrier), "{name}");
        }
        let own = "declare @barrier() []
            declare @_Z7barrieri(i32) []
            declare @_Z7barrierf(float) []
            declare @work_group_barrier(i32) -> i32 []
            declare @__syncthreads(i32) []
            declare @__kmpc_barrier(i32) []
            declare @pthread_barrier_wait(ptr) -> i32 []
            declare @my_barrier(i32) []
            declare @work_group_size(i32) -> i32 []
            declare @sub_group_total(float) -> float []";
        for triple in ["", "spir64"] {
            for (name, found) in all(triple, own) {
                assert_eq!(found, None, "{name}");
            }
        }
    }

    #[test]
    fn collective_functions_count_by_the_types_that_they_exchange() {
        let uniform = |uniform| Some(GroupFunction::Collective { uniform });
        let found = all(
            "",
            "declare @_Z20work_group_broadcastfm(float, i64) -> float []
            declare @_Z13sub_group_alli(i32) -> i32 []
            declare @_Z16sub_group_ballotj(i32) -> <4 x i32> []
            declare @_Z15sub_group_totald(double) -> double []
            declare @_Z31work_group_scan_exclusive_add_xi(i32) -> i32 []
            declare @intel_sub_group_shuffle(float, i32) -> float []
            declare @_Z17__spirv_GroupIAddjjj(i32, i32, i32) -> i32 []
            declare @__shfl_sync(i32, i32, i32, i32) -> i32 []
            declare @_Z21async_work_group_copyPU3AS3fPU3AS1Kfm9ocl_event(ptr, ptr, i64, ptr) -> ptr []",
        );
        let found: Vec<_> = found.into_iter().map(|(_, f)| f).collect();
        assert_eq!(
            found,
            [
                uniform(true),
                uniform(true),
                uniform(true),
                None,
                uniform(false),
                uniform(false),
                uniform(false),
                uniform(false),
                uniform(false)
            ]
        );
    }

    #[test]
    fn plain_names_of_questions_are_the_program_s_own_unless_it_is_for_a_gpu() {
        let plain = "declare @get_global_id(i32) -> i64 []
            declare @get_work_dim() -> i32 []
            declare @get_sub_group_local_id() -> i32 []";
        assert!(all("x86_64-linux-gnu", plain).iter().all(|(_, f)| f.is_none()));
        let found: Vec<_> = all("spir64-unknown-unknown", plain).into_iter().map(|(_, f)| f).collect();
        let query = |q| Some(GroupFunction::Query(q, None));
        assert_eq!(
            found,
            [query(Query::GlobalId), Some(GroupFunction::GroupNumber), Some(GroupFunction::LaneNumber)]
        );
    }

    #[test]
    fn questions_with_odd_signatures_are_the_program_s_own() {
        let odd = "declare @_Z13get_global_idf(float) -> i64 []
            declare @_Z13get_global_idj(float) -> i64 []
            declare @_Z14get_local_sizev() -> i64 []
            declare @_Z12get_group_idjj(i32, i32) -> i32 []
            declare @_Z12get_local_idj(i32) -> double []
            declare @_Z14get_num_groupsj(i32) -> i32 []
            declare @llvm.nvvm.read.ptx.sreg.tid.x(i32) -> float []
            declare @get_global_id(i32, i32) -> i64 []
            declare @_Z13get_global_idj.i32(float) -> i32 []";
        for triple in ["", "nvptx64"] {
            for (name, found) in all(triple, odd) {
                // A register of this name is nobody's own, but no number in a dimension either.
                let expected = name.starts_with("llvm.").then_some(GroupFunction::LaneNumber);
                assert_eq!(found, expected, "{name}");
            }
        }
    }

    #[test]
    fn questions_have_other_names_in_other_languages() {
        let found = all(
            "",
            "declare @_Z13get_global_idj(i32) -> i64 []
            declare @_Z13get_global_idj.i32(i32) -> i32 []
            declare @_Z33__spirv_BuiltInGlobalInvocationIdi(i32) -> i64 []
            declare @__ockl_get_local_id(i32) -> i64 []
            declare @llvm.amdgcn.workgroup.id.z() -> i32 []",
        );
        let found: Vec<_> = found.into_iter().map(|(_, f)| f).collect();
        let query = |q, d| Some(GroupFunction::Query(q, d));
        assert_eq!(
            found,
            [
                query(Query::GlobalId, None),
                query(Query::GlobalId, None),
                query(Query::GlobalId, None),
                query(Query::LocalId, None),
                query(Query::GroupId, Some(2))
            ]
        );
    }
}
