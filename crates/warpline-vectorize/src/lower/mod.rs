//! Lowering: from a lane program and its [plan](crate::recipes) to vector instructions.
//!
//! Every value of the lane program has a representation ([`Rep`]): one scalar for a uniform value, lane 0's scalar
//! for a strided one, a vector for a varying one. Vectors of uniform and strided values are made where they are used.
//! What becomes of an instruction says its [`Recipe`]: it is carried out here, and nothing is decided. The result is
//! ordinary IR over vector types, so it can be printed, verified and interpreted like any other.
//!
//! * `values`: operands as scalars, as vectors, as one lane's scalar;
//! * `ops`: arithmetic and all other elementwise instructions;
//! * `memory`: loads, stores, private memory;
//! * `calls`: calls; `lanes`: operations on masks and across lanes;
//! * `elementary`: functions such as `expf`, expanded inline;
//! * `pointers`: calls through pointers;
//! * `variants`: calls of vector variants that the user supplies;
//! * `replicate`: what has no vector form, once per active lane in lane order.

mod calls;
mod elementary;
mod high_products;
mod lanes;
mod memory;
mod ops;
mod pointers;
mod replicate;
mod sums;
mod unpacked;
mod values;
mod variants;

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

use warpline_ir::{
    AggregateType, Block, Effects, Function, Inst, Module, Op, Phase, PointerFacts, Symbol, Type, TypeTable,
    Value,
};

pub(crate) use memory::mangle;

use super::VectorizeError;
use super::alignment::{self, at_distance};
use super::choices::Passing;
use super::counts::MaskCounts;
use super::linearize_state::Always;
use super::options::{Form, Options};
use super::recipes::{GroupId, Input, Plan, Recipe, Rep};

/// What lowering made.
pub(crate) struct Lowered {
    /// The W-lane function.
    pub func: Function,
    /// How the parameters are passed.
    pub params: Vec<Passing>,
    /// How the result is passed.
    pub result: Option<Passing>,
    /// Whether a math function of limited accuracy is called.
    pub approximate: bool,
    /// Under which masks memory is accessed.
    pub masks: MaskCounts,
}

/// Lowers a lane program to the plan's number of lanes. Intrinsics are declared in the module. The options say how
/// the function is called and what it returns.
///
/// # Errors
/// If a type has no lowering yet.
pub(crate) fn lower(
    module: &mut Module,
    input: &Input<'_>,
    plan: &Plan,
    options: &Options<'_>,
) -> Result<Lowered, VectorizeError> {
    let mut lower = Lower {
        src: input.func,
        always: input.always,
        plan,
        reps: &plan.reps,
        out: Function::new(&options.name, Type::Void),
        width: plan.width,
        count_lanes: options.count_lanes,
        mask_registers: options.machine.mask_registers,
        nobodys_place: None.into(),
        zeros: None,
        saved: BTreeMap::new(),
        copied: BTreeMap::new(),
        words: BTreeMap::new(),
        divided: elementary::Divided::new(),
        module,
        scalars: SecondaryMap::new(),
        vectors: SecondaryMap::new(),
        vector_home: SecondaryMap::new(),
        block: Block::from_u32(0),
        mask: None,
        starts: SecondaryMap::new(),
        ends: SecondaryMap::new(),
        allocas: Vec::new(),
        approximate: false,
        masks: MaskCounts::default(),
    };
    lower.out.phase = Phase::Vector;
    lower.out.origin = input.func.origin;
    lower.out.loc = input.func.loc;
    let params = lower.signature(options)?;
    if options.masked {
        lower.skip_if_empty();
    }
    lower.blocks()?;
    let result = lower.returns(options)?;
    lower.phi_operands()?;
    lower.write_zeros();
    lower.place_allocas();
    lower.keep_stack_aligned();
    alignment::raise(lower.module, &mut lower.out);
    Ok(Lowered { func: lower.out, params, result, approximate: lower.approximate, masks: lower.masks })
}

/// The type of one lane's value as a vector of all lanes: vectors of scalars, structures and arrays of vectors. Of a
/// lane's vector it is the array of its elements, each a vector of all lanes. `None` for types that have no such
/// form.
pub(crate) fn vector_form(types: &mut TypeTable, ty: Type, width: u32) -> Option<Type> {
    match ty {
        Type::Vector(v) if !v.scalable => {
            let elem = Type::from(v.elem).vector(width)?;
            Some(types.array(elem, v.lanes.into()))
        }
        Type::Aggregate(a) => match types.get(a).clone() {
            AggregateType::Array { elem, len } => {
                let elem = vector_form(types, elem, width)?;
                Some(types.array(elem, len))
            }
            AggregateType::Struct { fields, packed, .. } => {
                let fields: Option<Vec<Type>> =
                    fields?.into_iter().map(|f| vector_form(types, f, width)).collect();
                Some(types.structure(fields?, packed))
            }
        },
        _ => ty.vector(width),
    }
}

/// The state of lowering one function.
struct Lower<'a> {
    module: &'a mut Module,
    src: &'a Function,
    always: &'a Always,
    plan: &'a Plan,
    reps: &'a SecondaryMap<Value, Rep>,
    out: Function,
    width: u32,
    count_lanes: Option<&'a str>,
    /// Whether the machine has registers for masks.
    mask_registers: bool,
    /// What lanes that are not active store to.
    nobodys_place: PackedOption<Value>,
    /// What they load.
    zeros: Option<memory::Zeros>,
    /// What the kept calls of `llvm.stacksave` returned.
    saved: BTreeMap<Inst, Value>,
    /// What the loads of copies have loaded.
    copied: BTreeMap<GroupId, Vec<Value>>,
    /// The words that groups of loads have loaded.
    words: BTreeMap<GroupId, Value>,
    /// Quotients and remainders of integers that are there already.
    divided: elementary::Divided,
    /// The scalar of a uniform or strided value.
    scalars: SecondaryMap<Value, PackedOption<Value>>,
    /// The vector of a value; for one that is not varying it is valid in block `vector_home` only.
    vectors: SecondaryMap<Value, PackedOption<Value>>,
    vector_home: SecondaryMap<Value, PackedOption<Block>>,
    /// The block that instructions are appended to.
    block: Block,
    /// The mask of the present block, as a value of the lane program; `None`: all lanes.
    mask: Option<Value>,
    /// First block of each block's lowering.
    starts: SecondaryMap<Block, PackedOption<Block>>,
    /// Last block of each block's lowering.
    ends: SecondaryMap<Block, PackedOption<Block>>,
    /// Private memory, to be put at the start of the entry block.
    allocas: Vec<Inst>,
    approximate: bool,
    masks: MaskCounts,
}

impl Lower<'_> {
    fn error(&self, inst: Inst, reason: impl Into<String>) -> VectorizeError {
        VectorizeError::at_inst(self.src, inst, reason)
    }

    /// An error about what only a defect of the stages before can cause.
    fn internal(&self, inst: Inst, reason: impl Into<String>) -> VectorizeError {
        self.error(inst, reason).internal()
    }

    fn vector_type(&mut self, ty: Type) -> Option<Type> {
        vector_form(&mut self.module.types, ty, self.width)
    }

    fn vector_type_of(&mut self, v: Value, at: Inst) -> Result<Type, VectorizeError> {
        let ty = self.src.ty(v);
        self.vector_type(ty).ok_or_else(|| self.error(at, "a value of this type has no vector form yet"))
    }

    fn signature(&mut self, options: &Options<'_>) -> Result<Vec<Passing>, VectorizeError> {
        let mut params = Vec::new();
        for &p in &self.src.params {
            let data = &self.src.values[p];
            let (name, ty) = (data.name.clone(), data.ty);
            params.push(match self.reps[p] {
                Rep::Uniform => Passing::Uniform(ty),
                Rep::Strided(step) => Passing::Strided(ty, step),
                Rep::Varying => Passing::Varying(ty),
            });
            if self.reps[p] == Rep::Varying {
                let vty = self.vector_type(ty).ok_or_else(|| {
                    VectorizeError::in_function(
                        self.src,
                        format!(
                            "parameter {} cannot be varying: its type has no vector form yet",
                            self.src.value_name(p)
                        ),
                    )
                })?;
                self.vectors[p] = self.out.add_param(vty, &name).into();
            } else {
                let new = self.out.add_param(ty, &name);
                let step = if let Rep::Strided(step) = self.reps[p] { step } else { 0 };
                let align = at_distance(self.src.pointers[p].align, step);
                if align > 1 {
                    self.out.pointers[new] = PointerFacts { align, ..PointerFacts::default() };
                }
                self.scalars[p] = new.into();
            }
        }
        if options.form() != Form::Whole {
            params.pop();
            if self.width == 1 {
                self.mask_of_one_lane();
            }
        }
        Ok(params)
    }

    /// The mask of a single lane is passed as a boolean: LLVM 22 cannot select instructions for a parameter of type
    /// `<1 x i1>` that comes on the stack.
    fn mask_of_one_lane(&mut self) {
        let mask = self.src.params.last().and_then(|&mask| self.vectors[mask].expand());
        if let Some(mask) = mask {
            self.out.values[mask].ty = Type::BOOL;
        }
    }

    /// The function of a masked kernel returns at once if no lane is active.
    fn skip_if_empty(&mut self) {
        let param = *self.src.params.last().expect("a masked kernel has its mask as last parameter");
        let mut mask = self.vectors[param].expect("the mask is varying");
        self.block = self.out.add_block("");
        if self.width == 1 {
            let ty = self.mask_type();
            let nothing = self.out.poison(ty);
            mask = self.insert_lane(nothing, mask, 0);
            self.vectors[param] = mask.into();
        }
        let any = self.any_of(mask);
        let empty = self.out.add_block("empty");
        self.out.set_terminator(empty, Op::Ret, &[], &[]);
        let start = self.out.add_block("");
        self.out.set_terminator(self.block, Op::CondBr, &[any], &[start, empty]);
        self.starts[self.src.entry()] = start.into();
    }

    fn mask_type(&self) -> Type {
        Type::BOOL.vector(self.width).expect("a boolean is a scalar")
    }

    fn blocks(&mut self) -> Result<(), VectorizeError> {
        for &b in &self.src.layout {
            if self.starts[b].is_none() {
                let name = self.src.blocks[b].name.clone();
                self.starts[b] = self.out.add_block(&name).into();
            }
        }
        // Definitions before uses: dominator-tree order would do, reverse post-order is as good.
        let (graph, _) = self.src.graph();
        let order = warpline_analysis::DfsOrder::compute(&graph);
        for n in order.reverse_post_order() {
            self.lower_block(Block::from(n))?;
        }
        Ok(())
    }

    fn lower_block(&mut self, b: Block) -> Result<(), VectorizeError> {
        self.block = self.starts[b].expect("every block was given a start");
        self.mask = self.src.blocks[b].mask.expand();
        for &phi in &self.src.blocks[b].phis {
            let v = self.src.insts[phi].results[0];
            let ty = if self.reps[v].is_scalar() { self.src.ty(v) } else { self.vector_type_of(v, phi)? };
            let new = self.out.add_phi(self.block, ty);
            let inst = self.out.def_inst(new).expect("a φ is an instruction");
            self.copy_metadata(phi, inst);
            self.define(v, new);
        }
        let mut untold = self.count_lanes;
        for &i in &self.src.blocks[b].insts {
            if self.is_own(i)
                && let Some(name) = untold.take()
            {
                self.tell_lanes(name, i)?;
            }
            self.lower_inst(i)?;
        }
        self.ends[b] = self.block.into();
        self.lower_terminator(b)
    }

    fn lower_inst(&mut self, i: Inst) -> Result<(), VectorizeError> {
        if matches!(self.src.insts[i].op, Op::Load(_) | Op::Store(_)) {
            let mask = self.mask.map(|m| self.reps[m] == Rep::Uniform);
            self.masks.add(mask, self.always.contains(self.src.insts[i].block));
        }
        match self.plan.recipe(i) {
            Recipe::Nothing | Recipe::Elsewhere => Ok(()),
            Recipe::Once => self.lower_once(i),
            Recipe::Stack => self.stack_call(i),
            Recipe::Speculated(safe) => self.load_once(i, Some(*safe)),
            Recipe::OnceIfAny => self.call_once_if_any(i),
            Recipe::FirstLane => self.call_of_first_lane(i),
            Recipe::Widen => self.widen(i),
            Recipe::WidenThenFirst => self.widen_then_first(i),
            Recipe::Divide(division) => self.divide(i, *division),
            Recipe::Divided(before) => self.define_divided(i, *before),
            Recipe::Truncate => self.truncate(i),
            Recipe::LongConversion => self.long_conversion(i),
            Recipe::Private => self.alloca(i),
            Recipe::Contiguous(how) => match self.src.insts[i].op {
                Op::Store(_) => self.store_contiguous(i, *how),
                _ => self.load_contiguous(i, *how),
            },
            Recipe::Group(id) => self.group(*id),
            Recipe::Rows(id, split) => self.rows(*id, split.as_ref()),
            Recipe::Gather(gather) => self.load_anywhere(i, gather),
            Recipe::Window(window) => self.load_window(i, window),
            Recipe::Ring(ring) => match self.src.insts[i].op {
                Op::Store(_) => self.store_in_ring(i, ring),
                _ => self.load_in_ring(i, ring),
            },
            Recipe::Known(lanes) => self.define_known(i, lanes),
            Recipe::Table(table, together) => self.load_table(i, table, *together),
            Recipe::UnpackBytes(register) => self.unpack_bytes(i, *register),
            Recipe::Weighted(sum) => self.weighted(i, sum),
            &Recipe::Pack8 { of, from, saturates, register } => {
                self.pack_bytes(i, (of, from), saturates, register)
            }
            Recipe::Overlapping(how) => match self.src.insts[i].op {
                Op::Store(_) => self.store_overlapping(i, how),
                _ => self.load_overlapping(i, how),
            },
            Recipe::Scatter(scatter) => self.store_anywhere(i, scatter),
            Recipe::Scalarize { branch } => self.scalarize(i, *branch),
            Recipe::Variant(variant) => self.call_of_variant(i, variant),
            Recipe::Targets(targets) => self.call_through_pointer(i, targets),
            Recipe::Simd(variant) => self.call_of_supplied(i, variant),
            Recipe::Intrinsic(base, form) => self.vector_intrinsic(i, base, *form),
            Recipe::Fold(fold) => self.reduction(i, *fold),
            Recipe::Sum(sum) => self.sum(i, sum),
            Recipe::HighProduct(product) => self.high_product(i, product),
            Recipe::Exact(function) => self.exact_call(i, *function),
            Recipe::Inline(function) => self.inline_expansion(i, *function),
            Recipe::Library { symbol, lanes } => self.vector_math(i, symbol, *lanes),
            Recipe::Pack(packed) => self.pack(i, *packed),
            Recipe::CrossLane | Recipe::AnyOfOne(_) => self.lane_op(i),
        }
    }

    /// An instruction that is executed once for all lanes.
    fn lower_once(&mut self, i: Inst) -> Result<(), VectorizeError> {
        match &self.src.insts[i].op {
            Op::Load(_) => self.load_once(i, None),
            Op::Store(_) => self.store_once(i),
            Op::Opaque(_) => {
                self.fence(i);
                Ok(())
            }
            Op::Call(_) => self.call_once(i),
            _ => self.once(i),
        }
    }

    fn lower_terminator(&mut self, b: Block) -> Result<(), VectorizeError> {
        let t = self.src.terminator(b);
        let data = &self.src.insts[t];
        let args: Vec<Value> = match data.op {
            // The operand of `ret` is dealt with when the return type is known.
            Op::Ret => Vec::new(),
            _ => data.args.iter().map(|&a| self.scalar(a, t)).collect::<Result<_, _>>()?,
        };
        let targets: Vec<Block> =
            self.src.successors(b).map(|s| self.starts[s].expect("every block was given a start")).collect();
        let new = self.out.set_terminator(self.block, data.op.clone(), &args, &targets);
        self.copy_metadata(t, new);
        Ok(())
    }

    fn returns(&mut self, options: &Options<'_>) -> Result<Option<Passing>, VectorizeError> {
        let Some((b, value)) = self.src.layout.iter().find_map(|&b| {
            let t = &self.src.insts[self.src.terminator(b)];
            (t.op == Op::Ret).then(|| t.args.first().map(|&v| (b, v))).flatten()
        }) else {
            return Ok(None);
        };
        let t = self.src.terminator(b);
        self.block = self.ends[b].expect("every block was lowered");
        let ty = self.src.ty(value);
        let scalar = options.scalar_result && self.reps[value] == Rep::Uniform;
        let (new, passing) = if scalar {
            (self.scalar(value, t)?, Passing::Uniform(ty))
        } else {
            (self.vector(value, t)?, Passing::Varying(ty))
        };
        self.out.ret = self.out.ty(new);
        let nothing = self.out.poison(self.out.ret);
        for b in self.out.layout.clone() {
            let term = self.out.terminator(b);
            if self.out.insts[term].op == Op::Ret {
                let value = if b == self.block { new } else { nothing };
                self.out.insts[term].args.push(value);
            }
        }
        Ok(Some(passing))
    }

    /// Gives the φs their operands, once every value has been lowered.
    fn phi_operands(&mut self) -> Result<(), VectorizeError> {
        for &b in &self.src.layout {
            let (Some(start), Some(_)) = (self.starts[b].expand(), self.ends[b].expand()) else { continue };
            let phis = &self.src.blocks[b].phis;
            if phis.is_empty() {
                continue;
            }
            for &e in &self.src.blocks[b].preds {
                let from = self.src.edges[e].from;
                let Some(end) = self.ends[from].expand() else { continue };
                let which = self.src.out_edges(from).iter().position(|&x| x == e).unwrap_or(0);
                let edge = self.out.out_edges(end)[which];
                debug_assert_eq!(self.out.edges[edge].to, start);
                self.block = end;
                for (k, &phi) in phis.iter().enumerate() {
                    let (result, operand) = (self.src.insts[phi].results[0], self.src.edges[e].args[k]);
                    let new = if self.reps[result].is_scalar() {
                        self.scalar(operand, phi)?
                    } else {
                        self.vector(operand, phi)?
                    };
                    self.out.set_phi_arg(edge, k, new);
                }
            }
        }
        Ok(())
    }

    fn place_allocas(&mut self) {
        let entry = self.out.entry();
        let allocas = std::mem::take(&mut self.allocas);
        for &i in &allocas {
            self.out.insts[i].block = entry;
        }
        self.out.blocks[entry].insts.splice(0..0, allocas);
    }

    /// Memory that is not reserved when the function begins moves the end of the stack. Calls put vectors there that
    /// find no room in registers, and LLVM takes for granted that it is aligned for them; so such memory is.
    fn keep_stack_aligned(&mut self) {
        const LARGEST_REGISTER: u64 = 64;
        let entry = self.out.entry();
        for b in self.out.layout.clone() {
            for k in 0..self.out.blocks[b].insts.len() {
                let i = self.out.blocks[b].insts[k];
                let Op::Alloca { ty, align } = self.out.insts[i].op else { continue };
                if b != entry || self.out.as_int(self.out.insts[i].args[0]).is_none() {
                    self.out.insts[i].op = Op::Alloca { ty, align: align.max(LARGEST_REGISTER) };
                }
            }
        }
    }

    // ---- helpers ------------------------------------------------------------------------------------------

    fn copy_metadata(&mut self, from: Inst, to: Inst) {
        self.out.insts[to].loc = self.src.insts[from].loc;
    }

    /// Records the lowered form of a value, by its representation.
    fn define(&mut self, v: Value, new: Value) {
        if self.reps[v].is_scalar() {
            self.scalars[v] = new.into();
        } else {
            self.vectors[v] = new.into();
        }
    }

    fn emit(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        self.out.append_value(self.block, op, args, ty)
    }

    fn emit_void(&mut self, op: Op, args: &[Value]) -> Inst {
        self.out.append(self.block, op, args, Type::Void)
    }

    /// Declares an intrinsic or library function and calls it.
    fn call_named(&mut self, name: &str, args: &[Value], ret: Type, effects: Effects) -> Option<Value> {
        let types: Vec<Type> = args.iter().map(|&a| self.out.ty(a)).collect();
        let callee = self.module.function_symbol(name, &types, ret, effects);
        let op = self.call_op(callee, effects);
        let inst = self.out.append(self.block, op, args, ret);
        self.out.insts[inst].result()
    }

    fn call_op(&self, callee: Symbol, effects: Effects) -> Op {
        Op::Call(Box::new(warpline_ir::CallInfo { callee: Some(callee), effects, variadic_fixed: None }))
    }
}
