//! Kernels that ask which work-item they are: OpenCL's index functions, and the registers of NVIDIA's and AMD's GPUs.
//!
//! [`warpline_ir::group_functions`] says which functions these are. Such a kernel becomes one with parameters in their
//! place ([`with_parameters`]), which is then like any other. Neighbouring lanes are neighbours along one dimension, so
//! the number of the work-item in this dimension is the index; whatever else can be asked is one for all lanes, since
//! a driver over a range of work-items ([`ndrange`](super::driver::ndrange)) runs each row of a work-group by itself.
//! This dimension is 0 here and in drivers: where lanes are neighbours [along another one](along), the two change
//! places in what is asked, and again where the caller's numbers are read.
//!
//! A work-group is more than the lanes that run together, so kernels with barriers are cut there ([`groups`](super::groups)).

use std::cell::OnceCell;

use cranelift_entity::EntitySet;

use warpline_ir::group_functions::{GroupFunction, Query, demangle};
use warpline_ir::group_operations::{GroupOp, GroupOperation, Scope};
use warpline_ir::{
    BinaryOp, CastOp, Constant, Effects, FuncId, Function, Inst, InstFlags, IntPred, Module, Op,
    PointerFacts, Scalar, Symbol, SymbolKind, Type, Value,
};
use warpline_uniformity::shape::ArgShape;

use super::warps::{self, Warps};
use super::{Callees, VectorizeError, call_graph, refused_calls, sub_groups};

/// The type of numbers of work-items.
const NUMBER: Type = Type::Int(64);

/// What a parameter that was added stands for. All are integers of 64 bits but for narrow indices.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Added {
    /// The index: the number of the work-item among all in the dimension of lanes, as an integer of so many bits.
    Index(u32),
    /// The number of the first work-item of the group in dimension 0.
    GroupStart,
    /// The number of the work-item in its group in dimension 0, in kernels that run over work-groups.
    LocalIndex,
    /// The address of one of [`WorkItems::locals`].
    Local(usize),
    /// The address of one of [`WorkItems::scratch`].
    Scratch(usize),
    /// What a query yields in a dimension, of which 0 is that of [the lanes](WorkItems::lanes). Numbers of work-items
    /// are of the others only.
    Answer(Query, u32),
}

/// A kernel whose questions have become parameters.
#[derive(Clone, Debug)]
pub struct WorkItems {
    /// The function, which was added to the module.
    pub func: FuncId,
    /// The dimension in which lanes are neighbours. It is dimension 0 in [`Added`], and 0 is this one.
    pub lanes: u32,
    /// The parameters that were added, behind the kernel's own.
    pub added: Vec<Added>,
    /// The variables of which each group has its own, in kernels with barriers.
    pub locals: Vec<Local>,
    /// Arrays over a group by which its work-items exchange values: the bytes of an element.
    pub scratch: Vec<u64>,
    /// Whether the kernel runs over work-groups, [cut](crate::groups::cut) where work-items meet at barriers or in
    /// collective functions: it has such, or memory of which each group has its own.
    pub runs_over_groups: bool,
    /// Whether it does something by sub-groups.
    pub has_sub_groups: bool,
    /// Whose warps it does something by, if it does. They say how many lanes there are.
    pub warps: Option<Warps>,
}

/// A variable of which each work-group has its own.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Local {
    /// The variable.
    pub symbol: Symbol,
    /// Its size.
    pub bytes: u64,
    /// Its alignment.
    pub align: u64,
}

impl WorkItems {
    /// Which dimension of the caller's a dimension of [`Added`] is, and the other way round.
    pub fn dimension(&self, d: usize) -> usize {
        swapped(self.lanes, d as u32) as usize
    }

    /// The shapes of the parameters that were added.
    pub fn shapes(&self) -> impl Iterator<Item = ArgShape> + '_ {
        self.added.iter().map(|a| match a {
            Added::Index(_) => ArgShape::Index,
            Added::LocalIndex => ArgShape::Consecutive,
            Added::GroupStart | Added::Local(_) | Added::Scratch(_) | Added::Answer(..) => ArgShape::Uniform,
        })
    }

    /// The shapes of all parameters if lanes are the work-items of a whole group, and those of the parameters for
    /// lanes in a row are these.
    pub(crate) fn group_shapes(&self, of_row: &[ArgShape]) -> Vec<ArgShape> {
        let own = &of_row[..of_row.len() - self.added.len()];
        let added = self.added.iter().map(|a| match a {
            // A group is not cut where an index wraps.
            Added::Index(_) | Added::LocalIndex | Added::Answer(Query::GlobalId | Query::LocalId, _) => {
                ArgShape::Varying
            }
            Added::GroupStart | Added::Local(_) | Added::Scratch(_) | Added::Answer(..) => ArgShape::Uniform,
        });
        own.iter().copied().chain(added).collect()
    }

    /// Whether it uses nothing in which work-items of a row differ, so that all of these do the same.
    pub fn are_alike(&self, module: &Module) -> bool {
        let func = &module.functions[self.func];
        let added = func.params[func.params.len() - self.added.len()..].iter().zip(self.shapes());
        let differ: Vec<Value> =
            added.filter(|(_, shape)| *shape != ArgShape::Uniform).map(|(&p, _)| p).collect();
        let uses = |args: &[Value]| args.iter().any(|v| differ.contains(v));
        !func.layout.iter().any(|&b| {
            func.block_insts(b).any(|i| uses(&func.insts[i].args))
                || func.out_edges(b).iter().any(|&e| uses(&func.edges[e].args))
        })
    }

    /// Whether it asks which work-item it is in another dimension than 0. Its groups have several rows then, which are
    /// shorter than a group of as many work-items in one row is.
    pub fn has_rows(&self) -> bool {
        let asks = |a: &Added| matches!(a, Added::Answer(Query::LocalId | Query::GlobalId, d) if *d > 0);
        self.added.iter().any(asks)
    }

    /// Whether it matters where groups begin and end in dimension 0.
    pub(crate) fn has_groups(&self) -> bool {
        self.runs_over_groups
            || self.added.iter().any(|a| match a {
                Added::GroupStart => true,
                Added::Answer(query, 0) => !matches!(query, Query::GlobalSize | Query::GlobalOffset),
                _ => false,
            })
    }
}

/// Makes a copy of a function in which index functions have become parameters; nothing if it asks for none.
///
/// Numbers of work-items in a group are taken to fit 31 bits, and numbers of work-items the types that the kernel
/// gives them, signed or unsigned.
///
/// # Errors
/// If the function, or one of the module that it calls, makes a call that no lanes can make, such as one of a
/// barrier; or if one that it
/// calls asks.
pub fn with_parameters(module: &mut Module, kernel: FuncId) -> Result<Option<WorkItems>, VectorizeError> {
    along(module, kernel, 0, None, false)
}

/// [`with_parameters`] for lanes that are neighbours in this dimension, which must be 0 for kernels that have
/// sub-groups or combine values of a group in the order of its work-items, or whose user has warps of so many lanes in
/// mind. A function that `is_kernel` for certain has work-items even if it asks for nothing: all do the same then.
///
/// # Errors
/// As [`with_parameters`].
pub fn along(
    module: &mut Module,
    kernel: FuncId,
    lanes: u32,
    warp: Option<u32>,
    is_kernel: bool,
) -> Result<Option<WorkItems>, VectorizeError> {
    let func = &module.functions[kernel];
    let mut asked = questions(module, func);
    for (_, _, dimension) in &mut asked {
        *dimension = dimension.map(|d| swapped(lanes, d));
    }
    let warps = warps::of_kernel(module, func).or(warp.map(Warps::Asked));
    let has_sub_groups =
        warps.is_some() || insts(func).any(|i| sub_groups::sub_group_function(module, func, i).is_some());
    // Groups that run at once must not share an array, wherever it is.
    let runs_over_groups =
        has_sub_groups || insts(func).any(|i| meets(module, func, i)) || has_local_memory(module, func);
    if lanes != 0 && (warp.is_some() || numbers_work_items(module, func)) {
        let reason = "what work-items of sub-groups and groups combine is in the order of dimension 0, so lanes are \
                      neighbours in it";
        return Err(VectorizeError::in_function(func, reason));
    }
    let mut answers = Answers {
        func: func.clone(),
        lanes,
        added: Vec::new(),
        params: Vec::new(),
        locals: Vec::new(),
        scratch: Vec::new(),
        over_groups: runs_over_groups,
        has_sub_groups,
    };
    forget_prefetches(module, &mut answers.func);
    let has_items = is_kernel || !asked.is_empty() || runs_over_groups;
    if has_items {
        answers.param(Added::Index(64));
    }
    if runs_over_groups {
        answers.param(Added::GroupStart);
    }
    for &(i, query, dimension) in &asked {
        answers.answer(i, query, dimension);
    }
    if runs_over_groups {
        answers.own_locals(module)?;
        answers.exchange(module);
        sub_groups::replace(module, &mut answers);
        warps::replace(module, &mut answers)?;
        answers.sizes_for_arrays();
        answers.begins_of_groups();
        check_callees(module, &answers.func)?;
    }
    let Answers { mut func, added, locals, scratch, .. } = answers;
    match runs_over_groups {
        true => refused_calls::check(module, &without_barriers(module, &func), &ByName)?,
        false => refused_calls::check(module, &func, &ByName)?,
    }
    if !has_items {
        return Ok(None);
    }
    func.name = format!("{}.items", func.name).into();
    let params: Vec<Type> = func.params.iter().map(|&p| func.ty(p)).collect();
    module.function_symbol(&func.name, &params, func.ret, Effects::UNKNOWN);
    Ok(Some(WorkItems {
        func: module.functions.push(func),
        lanes,
        added,
        locals,
        scratch,
        runs_over_groups,
        has_sub_groups,
        warps,
    }))
}

/// A dimension once that of lanes and 0 have changed places. There are no others than three.
fn swapped(lanes: u32, d: u32) -> u32 {
    match d {
        0 => lanes,
        d if d == lanes => 0,
        d => d,
    }
}

/// Whether a kernel does what depends on the numbers of work-items along dimension 0.
pub(crate) fn numbers_work_items(module: &Module, func: &Function) -> bool {
    warps::of_kernel(module, func).is_some()
        || insts(func).any(|i| {
            sub_groups::sub_group_function(module, func, i).is_some()
                || group_operation(module, func, i).is_some_and(|o| !o.op.copies())
        })
}

/// Whether a kernel asks which work-item it is in this dimension.
pub(crate) fn asks_for_item(module: &Module, func: &Function, d: u32) -> bool {
    let asks = |&(_, query, of): &(Inst, Query, Option<u32>)| {
        matches!(query, Query::GlobalId | Query::LocalId) && of == Some(d)
    };
    questions(module, func).iter().any(asks)
}

/// Whether a kernel has memory of which each work-group has its own: a parameter for it, or a variable of its own or of
/// a function that it calls.
fn has_local_memory(module: &Module, func: &Function) -> bool {
    func.params.iter().any(|&p| func.pointers[p].local)
        || has_variables_of_groups(module, func)
        || callee_with_variables_of_groups(module, func).is_some()
}

/// Whether a function has a variable of which each work-group has its own.
fn has_variables_of_groups(module: &Module, func: &Function) -> bool {
    let is_local = |v: Value| match func.constant(v) {
        Some(Constant::Address { symbol, .. }) => module.of_groups.contains(*symbol),
        _ => false,
    };
    !module.of_groups.is_empty() && func.values.keys().any(is_local)
}

/// A function with such a variable that is called.
fn callee_with_variables_of_groups(module: &Module, func: &Function) -> Option<FuncId> {
    if module.of_groups.is_empty() {
        return None;
    }
    let bodies = call_graph::bodies(module);
    let (mut seen, mut work) = (EntitySet::new(), call_graph::calls(module, func).collect::<Vec<_>>());
    while let Some(symbol) = work.pop() {
        let Some(&id) = bodies.get(&symbol).filter(|&&id| seen.insert(id)) else { continue };
        let callee = &module.functions[id];
        if has_variables_of_groups(module, callee) {
            return Some(id);
        }
        work.extend(call_graph::calls(module, callee));
    }
    None
}

/// Checks that no function that a kernel with barriers calls has variables of groups: they would be others there.
fn check_callees(module: &Module, func: &Function) -> Result<(), VectorizeError> {
    match callee_with_variables_of_groups(module, func) {
        Some(id) => {
            let callee = &module.functions[id].name;
            let reason = format!("it calls `{callee}`, which has local memory and is not inlined");
            Err(VectorizeError::in_function(func, reason))
        }
        None => Ok(()),
    }
}

/// The function without barriers, to be looked at for calls that are refused.
fn without_barriers(module: &Module, func: &Function) -> Function {
    let mut rest = func.clone();
    for &b in &func.layout {
        rest.blocks[b].insts.retain(|&i| !meets(module, func, i));
    }
    rest
}

/// Whether an instruction is a barrier of work-groups.
pub(crate) fn is_barrier(module: &Module, func: &Function, i: Inst) -> bool {
    let is_one = match &func.insts[i].op {
        Op::Call(info) => {
            func.insts[i].results.is_empty()
                && info.callee.is_some_and(|symbol| {
                    GroupFunction::is_work_group_barrier(module, symbol)
                        && is_of_group(&module.symbols[symbol].name, func, i)
                })
        }
        _ => false,
    };
    is_one || warps::is_barrier(module, func, i)
}

/// Whether the first operand of a barrier lets all work-items of a group wait for each other, if it can say otherwise.
fn is_of_group(barrier: &str, func: &Function, i: Inst) -> bool {
    let first = || func.insts[i].args.first().and_then(|&v| func.as_int(v));
    if barrier.starts_with("llvm.nvvm.barrier.cta.") {
        // Which of several barriers it is: the same for all.
        return first().is_some();
    }
    // Scopes of SPIR-V: the work-group, or a sub-group, for which it does no harm that all wait.
    !barrier.contains("__spirv_") || matches!(first(), Some(2 | 3))
}

/// What work-items compute together by a call, if it is one of a collective function without a body.
pub(crate) fn group_operation(module: &Module, func: &Function, i: Inst) -> Option<GroupOperation> {
    let Op::Call(info) = &func.insts[i].op else { return None };
    let data = &module.symbols[info.callee?];
    let SymbolKind::Function { params, ret, variadic: false } = &data.kind else { return None };
    GroupOperation::of(&data.name, params, *ret).filter(|_| module.function(&data.name).is_none())
}

/// Whether the work-items of a group meet at an instruction.
pub(crate) fn meets(module: &Module, func: &Function, i: Inst) -> bool {
    is_barrier(module, func, i)
        || group_operation(module, func, i).is_some_and(|o| o.scope == Scope::WorkGroup)
}

/// The bytes of an element of a type that work-items exchange.
pub(crate) fn scratch_bytes(ty: Type) -> u64 {
    match ty {
        Type::Int(bits) => u64::from(bits.div_ceil(8)),
        Type::F64 => 8,
        _ => 4,
    }
}

/// All instructions but φs and terminators.
fn insts(func: &Function) -> impl Iterator<Item = Inst> + '_ {
    func.layout.iter().flat_map(|&b| func.blocks[b].insts.iter().copied())
}

/// Takes out what only says which memory is soon read.
fn forget_prefetches(module: &Module, func: &mut Function) {
    let is_one = |func: &Function, i: Inst| match &func.insts[i].op {
        Op::Call(info) => info.callee.is_some_and(|symbol| {
            let name = &module.symbols[symbol].name;
            let is_opencl =
                demangle(name).is_some_and(|(plain, types)| plain == "prefetch" && types.starts_with('P'));
            is_opencl && func.insts[i].results.is_empty() && module.function(name).is_none()
        }),
        _ => false,
    };
    for b in func.layout.clone() {
        let insts = std::mem::take(&mut func.blocks[b].insts);
        func.blocks[b].insts = insts.into_iter().filter(|&i| !is_one(func, i)).collect();
    }
}

/// Whether a function asks which work-item it is, so that it becomes one with parameters.
pub fn asks(module: &Module, func: &Function) -> bool {
    !questions(module, func).is_empty()
}

/// Calls as far as names say what is called.
struct ByName;

impl Callees for ByName {
    fn may_be_vectorized(&self, _module: &Module, _function: FuncId) -> bool {
        true
    }

    fn has_address_taken(&self, _module: &Module, _function: FuncId) -> bool {
        false
    }
}

/// What a function asks by plain calls, each with the dimension if that is constant, 3 for one that there is not.
fn questions(module: &Module, func: &Function) -> Vec<(Inst, Query, Option<u32>)> {
    // Most functions ask nothing, so bodies are looked for only where a name is one of these.
    let bodies = OnceCell::new();
    let question = |i: Inst| {
        let Op::Call(info) = &func.insts[i].op else { return None };
        let symbol = info.callee?;
        let Some(GroupFunction::Query(query, named)) = GroupFunction::of(module, symbol) else { return None };
        if bodies.get_or_init(|| call_graph::bodies(module)).contains_key(&symbol) {
            return None;
        }
        let given = || func.as_int(*func.insts[i].args.first()?).map(|d| d.min(3) as u32);
        func.insts[i].result()?;
        Some((i, query, named.or_else(given)))
    };
    func.layout.iter().flat_map(|&b| func.block_insts(b)).filter_map(question).collect()
}

/// A kernel in which parameters take the place of questions.
pub(crate) struct Answers {
    pub(crate) func: Function,
    /// The dimension that lanes are neighbours in.
    lanes: u32,
    added: Vec<Added>,
    params: Vec<Value>,
    locals: Vec<Local>,
    scratch: Vec<u64>,
    /// Whether the kernel runs over work-groups.
    over_groups: bool,
    /// Whether it does something by sub-groups. Its rows are never cut where a narrow index wraps, since this would
    /// part the work-items of a sub-group: truncated indices are computed.
    has_sub_groups: bool,
}

impl Answers {
    /// Puts the begin of the group in the place of the work-item's number among all less that in its group: a whole
    /// group agrees on it.
    fn begins_of_groups(&mut self) {
        let index = |bits| self.added.iter().position(|a| *a == Added::Index(bits)).map(|k| self.params[k]);
        let (wide, narrow) = (index(64), index(32));
        let start = self.param(Added::GroupStart);
        let is_truncated = |func: &Function, v: Value, of: &dyn Fn(Value) -> bool| {
            func.def_inst(v)
                .is_some_and(|i| func.insts[i].op == Op::Cast(CastOp::Trunc) && of(func.insts[i].args[0]))
        };
        let own_index = self.added.iter().position(|a| *a == Added::LocalIndex).map(|k| self.params[k]);
        let is_own = |v: Value| Some(v) == own_index;
        for i in insts(&self.func).collect::<Vec<_>>() {
            let data = &self.func.insts[i];
            let (Op::Binary(BinaryOp::Sub), &[all, own]) = (&data.op, &data.args[..]) else { continue };
            let func = &self.func;
            let found = match func.ty(all) {
                NUMBER => (Some(all) == wide && is_own(own)).then_some(start),
                Type::Int(32)
                    if (Some(all) == narrow || is_truncated(func, all, &|v| Some(v) == wide))
                        && is_truncated(func, own, &is_own) =>
                {
                    Some(self.narrowed(i, start, Type::Int(32), InstFlags::empty()))
                }
                _ => None,
            };
            if let Some(found) = found {
                let result = self.func.insts[i].results[0];
                self.func.map_operands(|v| if v == result { found } else { v });
            }
        }
    }

    /// Adds what calls need by which the work-items of a group exchange values: an array over the group for each size
    /// of these, and the place of a work-item in it.
    fn exchange(&mut self, module: &Module) {
        let mut sizes = Vec::new();
        for i in insts(&self.func) {
            let Some(GroupOperation { scope: Scope::WorkGroup, op }) = group_operation(module, &self.func, i)
            else {
                continue;
            };
            match op {
                GroupOp::Copy { .. } | GroupOp::WaitForCopies => {}
                GroupOp::Any | GroupOp::All | GroupOp::Count => sizes.push(1),
                _ => sizes.push(scratch_bytes(self.func.ty(self.func.insts[i].args[0]))),
            }
        }
        sizes.sort_unstable();
        sizes.dedup();
        if sizes.is_empty() {
            return;
        }
        self.param(Added::LocalIndex);
        for (query, d) in [(Query::LocalId, 1), (Query::LocalId, 2)]
            .into_iter()
            .chain((0..3).map(|d| (Query::LocalSize, d)))
        {
            self.param(Added::Answer(query, d));
        }
        for (k, bytes) in sizes.into_iter().enumerate() {
            self.scratch.push(bytes);
            let base = self.param(Added::Scratch(k));
            self.func.pointers[base] =
                PointerFacts { align: 64, noalias: true, local: true, ..PointerFacts::default() };
        }
    }

    /// Adds the sizes of groups if there are arrays of work-items: equal elements of all lie side by side.
    fn sizes_for_arrays(&mut self) {
        if insts(&self.func).any(|i| matches!(self.func.insts[i].op, Op::Alloca { .. })) {
            for d in 0..3 {
                self.param(Added::Answer(Query::EnqueuedLocalSize, d));
            }
        }
    }

    /// Puts parameters in the place of variables of which each group has its own.
    fn own_locals(&mut self, module: &Module) -> Result<(), VectorizeError> {
        let constants: Vec<(Value, Constant)> =
            self.func.values.keys().filter_map(|v| Some((v, self.func.constant(v)?.clone()))).collect();
        let mut places: Vec<(Value, Value)> = Vec::new();
        for (v, constant) in constants {
            let Constant::Address { symbol, offset, .. } = constant else {
                if matches!(constant, Constant::Opaque { .. } | Constant::Composite { .. })
                    && !module.of_groups.is_empty()
                    && matches!(constant.ty().elem(), Some(Scalar::Ptr(_)) | None)
                {
                    let reason = "it has an address in a constant of a kind that cannot be looked into, which may be \
                                  that of local memory";
                    return Err(VectorizeError::in_function(&self.func, reason));
                }
                continue;
            };
            if !module.of_groups.contains(symbol) {
                continue;
            }
            let SymbolKind::Global { ty, align, .. } = module.symbols[symbol].kind else { continue };
            let Some(bytes) = module.layout.alloc_size(&module.types, ty) else {
                let reason = format!("the size of `{}` is not known", module.symbols[symbol].name);
                return Err(VectorizeError::in_function(&self.func, reason));
            };
            let known = self.locals.iter().position(|l| l.symbol == symbol);
            let number = known.unwrap_or(self.locals.len());
            if known.is_none() {
                self.locals.push(Local { symbol, bytes, align });
            }
            let base = self.param(Added::Local(number));
            let facts = PointerFacts {
                align: align.min(64),
                dereferenceable: bytes,
                noalias: true,
                local: true,
                ..PointerFacts::default()
            };
            self.func.pointers[base] = facts;
            let place = match offset {
                0 => base,
                _ => {
                    let offset = self.func.int_const(64, i128::from(offset) as u128);
                    let first = self.func.block_insts(self.func.entry()).next().expect("blocks end");
                    let ty = self.func.ty(base);
                    self.func.insert_value_before(
                        first,
                        Op::Gep(Type::Int(8)),
                        &[base, offset],
                        ty,
                        InstFlags::empty(),
                    )
                }
            };
            places.push((v, place));
        }
        self.func.map_operands(|v| places.iter().find(|(old, _)| *old == v).map_or(v, |(_, new)| *new));
        Ok(())
    }
    /// Whether there is a parameter for this.
    pub(crate) fn asks(&self, wanted: Added) -> bool {
        self.added.contains(&wanted)
    }

    /// The parameter for this, which is added if it is not there.
    pub(crate) fn param(&mut self, wanted: Added) -> Value {
        if let Some(k) = self.added.iter().position(|a| *a == wanted) {
            return self.params[k];
        }
        let lanes = self.lanes;
        let (ty, name) = match wanted {
            Added::Index(64) => (NUMBER, format!("global_id_{lanes}")),
            Added::Index(bits) => (Type::Int(bits), format!("global_id_{lanes}_i{bits}")),
            Added::GroupStart => (NUMBER, format!("group_start_{lanes}")),
            Added::LocalIndex => (NUMBER, format!("local_id_{lanes}")),
            Added::Local(number) => (Type::PTR, format!("local{number}")),
            Added::Scratch(number) => (Type::PTR, format!("scratch{number}")),
            Added::Answer(query, dimension) => {
                (NUMBER, format!("{}_{}", query.short_name(), swapped(lanes, dimension)))
            }
        };
        let param = self.func.add_param(ty, &name);
        self.added.push(wanted);
        self.params.push(param);
        param
    }

    /// Puts something in the place of a question.
    fn answer(&mut self, i: Inst, query: Query, dimension: Option<u32>) {
        let result = self.func.insts[i].results[0];
        if (query, dimension) == (Query::GlobalId, Some(0)) && !self.has_sub_groups {
            self.narrow_uses(result);
        }
        if query == Query::LocalId {
            // A group has not very many.
            for k in self.truncations(result) {
                if is_to_32_bits(&self.func, k) {
                    self.func.insts[k].flags |= InstFlags::NUW | InstFlags::NSW;
                }
            }
        }
        let answer = match dimension {
            Some(d) => self.value(i, query, d),
            None => self.chosen(i, query),
        };
        self.func.map_operands(|v| if v == result { answer } else { v });
        let block = self.func.insts[i].block;
        self.func.blocks[block].insts.retain(|&x| x != i);
    }

    /// The answer in one dimension, made in front of the question.
    fn value(&mut self, i: Inst, query: Query, dimension: u32) -> Value {
        let ty = self.func.ty(self.func.insts[i].results[0]);
        match (query, dimension) {
            (_, 3..) => self.func.int_const(ty.int_bits().unwrap_or(64), query.in_no_dimension()),
            (Query::GlobalId, 0) if ty == Type::Int(32) && !self.has_sub_groups => {
                self.param(Added::Index(32))
            }
            (Query::GlobalId, 0) => {
                let index = self.param(Added::Index(64));
                self.narrowed(i, index, ty, InstFlags::empty())
            }
            (Query::LocalId, 0) if self.over_groups => {
                let local = self.param(Added::LocalIndex);
                self.narrowed(i, local, ty, InstFlags::NUW | InstFlags::NSW)
            }
            (Query::LocalId, 0) => {
                let (index, start) = (self.param(Added::Index(64)), self.param(Added::GroupStart));
                // The group begins at or before the work-item.
                let small = InstFlags::NUW | InstFlags::NSW;
                let local = self.func.insert_value_before(
                    i,
                    Op::Binary(BinaryOp::Sub),
                    &[index, start],
                    NUMBER,
                    small,
                );
                self.narrowed(i, local, ty, small)
            }
            _ => {
                let param = self.param(Added::Answer(query, dimension));
                self.narrowed(i, param, ty, InstFlags::empty())
            }
        }
    }

    /// The answer in the dimension that the question's operand says.
    fn chosen(&mut self, i: Inst, query: Query) -> Value {
        let asked = self.func.insts[i].args[0];
        let bits = self.func.ty(asked).int_bits().unwrap_or(32);
        let mut answer = self.value(i, query, 3);
        for d in (0..3).rev() {
            let this = self.value(i, query, swapped(self.lanes, d));
            let number = self.func.int_const(bits, d.into());
            let is_it = self.func.insert_value_before(
                i,
                Op::ICmp(IntPred::Eq),
                &[asked, number],
                Type::BOOL,
                InstFlags::empty(),
            );
            let ty = self.func.ty(this);
            answer =
                self.func.insert_value_before(i, Op::Select, &[is_it, this, answer], ty, InstFlags::empty());
        }
        answer
    }

    /// A number as one of this type, made in front of an instruction.
    fn narrowed(&mut self, i: Inst, x: Value, ty: Type, flags: InstFlags) -> Value {
        if ty == NUMBER {
            x
        } else {
            self.func.insert_value_before(i, Op::Cast(CastOp::Trunc), &[x], ty, flags)
        }
    }

    /// The truncations of a value.
    fn truncations(&self, v: Value) -> Vec<Inst> {
        let of = |&i: &Inst| {
            let data = &self.func.insts[i];
            data.op == Op::Cast(CastOp::Trunc) && data.args[0] == v
        };
        self.func.layout.iter().flat_map(|&b| &self.func.blocks[b].insts).copied().filter(of).collect()
    }

    /// Indices of their own in place of a number's truncations to 32 bits: drivers make no group of lanes in which one
    /// of them wraps.
    fn narrow_uses(&mut self, v: Value) {
        for i in self.truncations(v) {
            let narrow = self.func.insts[i].results[0];
            if is_to_32_bits(&self.func, i) {
                let index = self.param(Added::Index(32));
                self.func.map_operands(|x| if x == narrow { index } else { x });
                let block = self.func.insts[i].block;
                self.func.blocks[block].insts.retain(|&x| x != i);
            }
        }
    }
}

/// Whether a truncation is one to 32 bits.
fn is_to_32_bits(func: &Function, i: Inst) -> bool {
    func.ty(func.insts[i].results[0]) == Type::Int(32)
}
