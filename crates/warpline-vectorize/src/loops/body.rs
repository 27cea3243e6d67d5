//! One iteration of a loop as a function: the kernel of which W-lane forms are made.
//!
//! Its parameters are what the loop takes from outside, and, for each φ of the header, what the state of the loop is
//! when a group of iterations begins; it returns what the next group needs of it. What [`Kind`] says becomes:
//! * an induction, from its value in lane 0 and the number of the lane;
//! * a reduction, a parameter that varies;
//! * the value of the iteration before, that of the lane before, and in lane 0 a parameter; it can be used behind the
//!   place where it is computed only;
//! * a selected value, a parameter that varies, unless it is computed behind the loop;
//! * a position in a compacted stream, the parameter and how many lanes count before this one;
//! * a scan, the parameter combined with the scan over the lanes, and for those who look at what there was before,
//!   the value of the lane before.
//!
//! Values that are linear in the counter and known not to wrap ([`no_wrap`](super::no_wrap)) are made like inductions.
//!
//! The test of the loop is gone: a group has iterations only in which the loop goes on. Objects on the stack that
//! nothing outside of the loop knows of become each iteration's own.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

use crate::VectorizeError;
use crate::dependences::Growth;
use crate::objects::Objects as Extents;
use warpline_dataflow::ssa;
use warpline_ir::{
    BinaryOp, Block, CastOp, Combine, Constant, FloatPred, Function, Inst, InstFlags, IntPred, LaneOp,
    Module, Op, Type, Value,
};
use warpline_uniformity::shape::ArgShape;

use super::carried::{Carried, Kind};
use super::find::{Loop, dominates};
use super::hoist::hoist;
use super::inputs::Input;
use super::no_wrap::Exact;
use super::objects::Objects;
use super::outside;
use super::put::{Put, resizing};
use super::recurrences::Affine;
use super::search::{self, Search};
use crate::unused;
use warpline_dataflow::linear::Sum;

/// The kernel of a loop.
pub(super) struct Body {
    pub(super) func: Function,
    /// The shapes of its parameters.
    pub(super) args: Vec<ArgShape>,
    /// What is passed for each.
    pub(super) inputs: Vec<Input>,
    /// What it returns: what these φs are in the next iteration.
    pub(super) outputs: Vec<usize>,
    /// Whether what it returns has one more member: bits of lanes, from the first of which on the scalar loop goes on.
    pub(super) goes_back: bool,
    /// Stores, with loads that have moved up past them.
    pub(super) moved: Vec<(Inst, Inst)>,
}

/// Values that the kernel is to make of the number of the lane.
#[derive(Copy, Clone)]
pub(super) struct Lines<'a> {
    /// The position of the φ of which they are linear expressions.
    pub(super) counter: usize,
    pub(super) exact: &'a [Exact],
}

/// What is special about iterations.
#[derive(Copy, Clone)]
pub(super) struct Special<'a> {
    pub(super) lines: Lines<'a>,
    /// How lanes look ahead, if the loop is left in the middle.
    pub(super) search: Option<&'a Search>,
    /// Values of which none may be a NaN, or the scalar loop goes on.
    pub(super) no_nans: &'a [Value],
}

/// Makes the kernel of a loop.
///
/// # Errors
/// If the value of an iteration before is used where it cannot be had yet, or an object that each iteration must have
/// for itself is known outside.
pub(super) fn outline(
    module: &mut Module,
    func: &Function,
    l: &Loop,
    carried: &[Carried],
    special: Special<'_>,
    width: u32,
    name: &str,
) -> Result<Body, VectorizeError> {
    let Special { lines, search, no_nans } = special;
    let mut body = func.clone();
    body.name = name.into();
    body.params.clear();
    let entry = body.add_block("entry");
    body.layout.pop();
    body.layout.insert(0, entry);
    let nexts = carried.iter().map(|c| c.next).collect();
    let (args, inputs) = (Vec::new(), Vec::new());
    let mut o = Outline {
        source: func,
        l,
        carried,
        width,
        body,
        entry,
        args,
        inputs,
        inner: SecondaryMap::new(),
        nexts,
        scanned: vec![None; carried.len()],
        moved: Vec::new(),
    };
    o.take_from_outside(module)?;
    let lane = o.body.append_value(entry, Op::Lane(LaneOp::LaneIndex), &[], Type::Int(32));
    let leaves = search.map(|s| search::lanes_agree(func, l, s, &mut o.body));
    o.moved.extend(search.iter().flat_map(|s| s.moved.iter().copied()));
    let end = o.cut_out(leaves.as_deref().unwrap_or_default());
    unused::remove(module, &mut o.body, &o.nexts);
    let carries = o.states(module, lane, end)?;
    o.lines(lines, lane);
    o.scans(&carries);
    o.held_values(module, lane, &carries);
    o.previous_values(module, lane, &carries)?;
    let outputs = o.give_back(module, end, leaves.as_deref(), no_nans);
    let Outline { mut body, args, inputs, moved, .. } = o;
    // Shapes see through arithmetic, not through φs.
    ssa::remove_trivial_phis(&mut body);
    ssa::remove_dead_phis(&mut body);
    let goes_back = leaves.is_some() || !no_nans.is_empty();
    Ok(Body { func: body, args, inputs, outputs, goes_back, moved })
}

struct Outline<'a> {
    source: &'a Function,
    l: &'a Loop,
    carried: &'a [Carried],
    width: u32,
    body: Function,
    entry: Block,
    args: Vec<ArgShape>,
    inputs: Vec<Input>,
    /// What stands in the kernel for values from outside of the loop.
    inner: SecondaryMap<Value, PackedOption<Value>>,
    /// What each φ of the header is in the next iteration.
    nexts: Vec<Value>,
    /// Of scans, what the lanes up to each one hold, without what was there before the group; of states, the next ones
    /// of all lanes; of held values, what is held behind the group.
    scanned: Vec<Option<Value>>,
    /// Stores, with loads that have moved up past them.
    moved: Vec<(Inst, Inst)>,
}

impl Outline<'_> {
    fn param(&mut self, like: Value, shape: ArgShape, input: Input) -> Value {
        let new = self.body.add_param(self.source.ty(like), &self.source.values[like].name);
        self.args.push(shape);
        self.inputs.push(input);
        new
    }

    /// What stands in the kernel for a value of the function.
    fn inner(&self, v: Value) -> Value {
        self.inner[v].expand().unwrap_or(v)
    }

    fn is_kept(&self, b: Block) -> bool {
        self.l.blocks.contains(b) || self.l.dead.contains(b)
    }

    /// Makes parameters of the values that the loop takes from outside, and objects of its own of those on the stack
    /// that only it knows.
    fn take_from_outside(&mut self, module: &Module) -> Result<(), VectorizeError> {
        let objects = Objects::find(module, self.source, |b| self.is_kept(b));
        let kept = self.source.layout.iter().copied().filter(|&b| self.is_kept(b));
        let into_kept = |e| self.is_kept(self.source.edges[e].to);
        for v in outside::taken(self.source, kept, |b| self.is_kept(b), into_kept) {
            self.take(v, &objects)?;
        }
        // What one parameter points to could be reached through another one that was made of it before the loop.
        let is_derived = |(&input, &param): (&Input, &Value)| match input {
            Input::Value(v) => outside::is_derived(self.source, v),
            Input::Carried(_) => self.body.ty(param).is_ptr(),
        };
        if self.inputs.iter().zip(&self.body.params).any(is_derived) {
            for &param in &self.body.params {
                self.body.pointers[param].noalias = false;
            }
        }
        // What was promised of memory when the function began may have been freed before the loop does.
        let known = Extents::of(module, self.source);
        for (k, &input) in self.inputs.iter().enumerate() {
            if let Input::Value(v) = input
                && known.extent(v).is_none()
            {
                self.body.pointers[self.body.params[k]].dereferenceable = 0;
            }
        }
        let inner = std::mem::take(&mut self.inner);
        self.body.map_operands(|v| inner[v].expand().unwrap_or(v));
        for next in &mut self.nexts {
            *next = inner[*next].expand().unwrap_or(*next);
        }
        self.inner = inner;
        Ok(())
    }

    /// Says what stands in the kernel for a value: a parameter, or if it is an object of the loop's own, an address in
    /// one, or [a weight that is the rest of another one](outside::is_other_weight), the same instruction in the entry.
    fn take(&mut self, v: Value, objects: &Objects) -> Result<Value, VectorizeError> {
        if self.source.constant(v).is_some() {
            return Ok(v);
        }
        if let Some(inner) = self.inner[v].expand() {
            return Ok(inner);
        }
        let func = self.source;
        let inside = |b: Block| self.l.blocks.contains(b);
        let is_made_again = objects.own.contains(v) || outside::is_other_weight(func, v, inside);
        let inner = match (is_made_again, func.def_inst(v)) {
            (true, Some(i)) => {
                let data = func.insts[i].clone();
                let mut args = Vec::new();
                for &a in &data.args {
                    args.push(self.take(a, objects)?);
                }
                let own = self.body.append(self.entry, data.op, &args, func.ty(v));
                (self.body.insts[own].loc, self.body.insts[own].flags) = (data.loc, data.flags);
                self.body.insts[own].results[0]
            }
            (_, Some(i)) if objects.begun.contains(v) => {
                let reason = "is made anew in each iteration, but its address is used outside of the loop, so \
                 that each lane cannot have its \
                              own";
                return Err(VectorizeError::at_inst(func, i, reason));
            }
            _ => {
                let param = self.param(v, ArgShape::Uniform, Input::Value(v));
                self.body.pointers[param] = func.pointers[v];
                param
            }
        };
        self.inner[v] = inner.into();
        Ok(inner)
    }

    /// Leaves nothing but the loop: the entry leads to its header, the back edge to a new block, which is returned,
    /// and the test on into the loop.
    fn cut_out(&mut self, leaves: &[(Block, Value)]) -> Block {
        let end = self.body.add_block("next");
        self.body.redirect_edge(self.l.back, end);
        let stays = self.body.insts[self.l.test].edges[usize::from(!self.l.stays_if)];
        self.body.always_take(stays);
        let (l, entry) = (self.l, self.entry);
        let is_new = |b: Block| b == entry || b == end || leaves.iter().any(|&(out, _)| out == b);
        let is_kept = |b: Block| l.blocks.contains(b) || l.dead.contains(b) || is_new(b);
        for b in self.body.layout.clone().into_iter().filter(|&b| !is_kept(b)) {
            self.body.clear_terminator(b);
        }
        self.body.layout.retain(|&b| is_kept(b));
        self.body.set_terminator(self.entry, Op::Br, &[], &[self.l.header]);
        for &(out, _) in leaves {
            self.body.set_terminator(out, Op::Ret, &[], &[]);
        }
        // Dead ends that no lane comes to any more.
        if !leaves.is_empty() {
            self.body.remove_unreachable_blocks();
        }
        end
    }

    fn inner_affine(&self, affine: Affine) -> Affine {
        Affine { a: self.inner(affine.a), t: affine.t.map(|t| self.inner(t)) }
    }

    /// Combines what the lanes have with what there was before the group, in their order: lane 0 is always active.
    fn in_order(&mut self, combine: Combine, carry: Value, of_lane: Value, lane: Value, end: Block) -> Value {
        let ty = self.body.ty(carry);
        let zero = self.body.int_const(32, 0);
        let op = if combine == Combine::Mul { BinaryOp::FMul } else { BinaryOp::FAdd };
        let is_first = self.body.append_value(end, Op::ICmp(IntPred::Eq), &[lane, zero], Type::BOOL);
        let with = self.body.append_value(end, Op::Binary(op), &[carry, of_lane], ty);
        let begun = self.body.append_value(end, Op::Select, &[is_first, with, of_lane], ty);
        self.body.append_value(end, Op::Lane(LaneOp::Reduce(combine)), &[begun], ty)
    }

    /// Gives the header's φs what they are in each lane. Those that the lanes pass on to each other get it later;
    /// here is the parameter for lane 0.
    fn states(
        &mut self,
        module: &Module,
        lane: Value,
        end: Block,
    ) -> Result<Vec<Option<Value>>, VectorizeError> {
        let into_header = self.body.out_edges(self.entry)[0];
        let mut carries = vec![None; self.carried.len()];
        for (k, c) in self.carried.iter().enumerate() {
            let here = match c.kind {
                Kind::Induction { step, flags } => {
                    let start = self.param(c.phi, ArgShape::Uniform, Input::Carried(k));
                    self.induction(start, step, flags, lane)
                }
                Kind::Growing { .. } => self.param(c.phi, ArgShape::Uniform, Input::Carried(k)),
                Kind::Reduction { ref insts, .. } => {
                    for &i in insts {
                        // In another order they may overflow where the program's own did not.
                        let data = &mut self.body.insts[i];
                        data.flags -= InstFlags::NSW | InstFlags::NUW | InstFlags::DISJOINT;
                        if matches!(data.op, Op::Binary(_)) {
                            data.flags -= InstFlags::NNAN | InstFlags::NINF;
                        }
                    }
                    self.param(c.phi, ArgShape::Varying, Input::Carried(k))
                }
                Kind::Selected => self.param(c.phi, ArgShape::Varying, Input::Carried(k)),
                Kind::Computed => {
                    let ty = self.body.ty(c.phi);
                    self.body.poison(ty)
                }
                Kind::Compaction(ref compaction) => {
                    let carry = self.param(c.phi, ArgShape::Uniform, Input::Carried(k));
                    if let Some(when) = compaction.when() {
                        let above = hoist(module, self.source, &mut self.body, when, c.phi);
                        self.moved.extend(above);
                        compaction.check(&self.body)?;
                    }
                    self.nexts[k] = compaction.emit(&mut self.body, (c.phi, carry), lane, end);
                    let ty = self.body.ty(c.phi);
                    self.body.poison(ty)
                }
                Kind::Around(ring) => {
                    let start = self.param(c.phi, ArgShape::Uniform, Input::Carried(k));
                    let sum = self.induction(start, Growth::Constant(ring.step), InstFlags::empty(), lane);
                    let mask = self.body.int_const(self.body.ty(start).int_bits().unwrap_or(64), ring.mask);
                    self.binary(BinaryOp::And, sum, mask, InstFlags::empty())
                }
                Kind::Affine(affine) => {
                    let carry = self.param(c.phi, ArgShape::Uniform, Input::Carried(k));
                    let affine = self.inner_affine(affine);
                    let entry = self.entry;
                    let of_lane = affine.power(&mut self.body, entry, lane);
                    of_lane.apply(&mut self.body, entry, carry)
                }
                Kind::Polynomial(affine) => {
                    let carry = self.param(c.phi, ArgShape::Uniform, Input::Carried(k));
                    let affine = self.inner_affine(affine);
                    self.nexts[k] = affine.behind_group(&mut self.body, carry, (self.nexts[k], lane), end);
                    // What an iteration adds is left.
                    let bits = self.body.ty(c.phi).int_bits().unwrap_or(64);
                    self.body.int_const(bits, 0)
                }
                Kind::Ordered { combine, at } => {
                    let carry = self.param(c.phi, ArgShape::Uniform, Input::Carried(k));
                    self.nexts[k] = self.in_order(combine, carry, self.nexts[k], lane, end);
                    let made = self.body.def_inst(self.nexts[k]).expect("it has just been made");
                    self.body.insts[made].loc = self.source.insts[at].loc;
                    let ty = self.body.ty(c.phi);
                    // Combined with this, what an iteration has is left.
                    self.body.constant_value(Constant::number(ty, combine.neutral(ty)))
                }
                Kind::Scan { .. } | Kind::Previous | Kind::State(_) | Kind::Held(_) => {
                    carries[k] = Some(self.param(c.phi, ArgShape::Uniform, Input::Carried(k)));
                    let ty = self.body.ty(c.phi);
                    self.body.poison(ty)
                }
            };
            self.body.set_phi_arg(into_header, k, here);
        }
        // What something grows by is known when all inductions are.
        for (k, c) in self.carried.iter().enumerate() {
            if let Kind::Growing { by, step } = c.kind {
                let here = self.growing(k, by, step, lane);
                self.body.set_phi_arg(into_header, k, here);
            }
        }
        Ok(carries)
    }

    /// `start + lane·by + step·lane·(lane − 1)/2`, where `by` is what it grows by in lane 0.
    fn growing(&mut self, k: usize, by: Value, step: i128, lane: Value) -> Value {
        let start = self.body.params[self.parameter_of(k)];
        let bits = self.body.ty(start).int_bits().unwrap_or(64);
        let none = InstFlags::empty();
        let by = self.in_lane_0(by);
        let one = self.body.int_const(32, 1);
        let before = self.binary(BinaryOp::Sub, lane, one, none);
        let product = self.binary(BinaryOp::Mul, lane, before, none);
        let pairs = self.binary(BinaryOp::LShr, product, one, none);
        let pairs = match resizing(Type::Int(bits)) {
            Some(op) => self.body.append_value(self.entry, Op::Cast(op), &[pairs], Type::Int(bits)),
            None => pairs,
        };
        let lane = self.lane_in(lane, bits);
        let linear = self.binary(BinaryOp::Mul, lane, by, none);
        let step = self.body.int_const(bits, step as u128);
        let square = self.binary(BinaryOp::Mul, pairs, step, none);
        let sum = self.binary(BinaryOp::Add, linear, square, none);
        self.binary(BinaryOp::Add, start, sum, none)
    }

    /// The position of the parameter that is the state of a φ.
    fn parameter_of(&self, k: usize) -> usize {
        let at = self.inputs.iter().position(|&i| i == Input::Carried(k));
        at.expect("what is needed of the loop's state is a parameter")
    }

    /// A polynomial of inductions, computed from what they are when a group begins.
    fn in_lane_0(&mut self, v: Value) -> Value {
        if self.l.is_invariant(self.source, v) {
            return self.inner(v);
        }
        if let Some(k) = self.carried.iter().position(|c| c.phi == v) {
            return self.body.params[self.parameter_of(k)];
        }
        let i = self.source.def_inst(v).expect("an instruction of the loop computes it");
        let op = self.source.insts[i].op.clone();
        let args: Vec<Value> = self.source.insts[i].args.to_vec();
        let args: Vec<Value> = args.into_iter().map(|a| self.in_lane_0(a)).collect();
        self.body.append_value(self.entry, op, &args, self.source.ty(v))
    }

    /// `start + lane·step`.
    fn induction(&mut self, start: Value, step: Growth, flags: InstFlags, lane: Value) -> Value {
        let ty = self.body.ty(start);
        let bits = ty.int_bits().unwrap_or(64);
        let lane = self.lane_in(lane, bits);
        match step {
            Growth::Constant(0) => start,
            Growth::Constant(by) => {
                // The greatest product must fit, or the flags say nothing of the sum.
                let greatest = u128::from(self.width - 1) * by.unsigned_abs();
                let fits = greatest < 1 << (bits - 1);
                let exact = if fits { flags } else { InstFlags::empty() };
                let of_product = if fits { InstFlags::NSW | InstFlags::NUW } else { InstFlags::empty() };
                if ty.is_ptr() {
                    let flags = if by > 0 { of_product } else { of_product - InstFlags::NUW };
                    let distance = self.times(lane, by, bits, flags);
                    let i = self.body.append(self.entry, Op::Gep(Type::Int(8)), &[start, distance], ty);
                    self.body.insts[i].flags = exact & (InstFlags::INBOUNDS | InstFlags::NUSW);
                    return self.body.insts[i].results[0];
                }
                // Of what shrinks, it is the difference that does not wrap as an unsigned number.
                let op = if by > 0 { BinaryOp::Add } else { BinaryOp::Sub };
                let distance = self.times(lane, by.abs(), bits, of_product);
                self.binary(op, start, distance, exact & (InstFlags::NSW | InstFlags::NUW))
            }
            Growth::Value(by) | Growth::Minus(by) => {
                let subtract = step == Growth::Minus(by);
                let step = self.inner(by);
                let distance = self.binary(BinaryOp::Mul, lane, step, InstFlags::empty());
                let op = if subtract { BinaryOp::Sub } else { BinaryOp::Add };
                self.binary(op, start, distance, InstFlags::empty())
            }
        }
    }

    /// The number of the lane, in so many bits, times a number.
    fn times(&mut self, lane: Value, by: i128, bits: u32, flags: InstFlags) -> Value {
        if by == 1 {
            return lane;
        }
        let by = self.body.int_const(bits, by as u128);
        self.binary(BinaryOp::Mul, lane, by, flags)
    }

    /// Makes the values that do not wrap of what they are in lane 0, so that this can be seen.
    fn lines(&mut self, lines: Lines<'_>, lane: Value) {
        let start = self.inputs.iter().position(|&i| i == Input::Carried(lines.counter));
        let Some(start) = start.map(|at| self.body.params[at]) else { return };
        for Exact { value, base, scale, flags } in lines.exact {
            let bits = base.bits();
            let greatest = u128::from(self.width - 1).checked_mul(scale.unsigned_abs());
            if greatest.is_none_or(|greatest| greatest >= 1 << (bits - 1)) {
                continue;
            }
            let first = self.in_first_lane(base, start, *scale);
            let lane = self.lane_in(lane, bits);
            let distance = self.times(lane, scale.abs(), bits, InstFlags::NSW | InstFlags::NUW);
            let op = if *scale > 0 { BinaryOp::Add } else { BinaryOp::Sub };
            let new = self.binary(op, first, distance, *flags);
            self.replace(*value, new);
        }
    }

    /// `base + scale · start`, modulo the width.
    fn in_first_lane(&mut self, base: &Sum, start: Value, scale: i128) -> Value {
        let bits = base.bits();
        let none = InstFlags::empty();
        let mut sum = None;
        for (x, factor) in
            std::iter::once((start, scale)).chain(base.terms().iter().map(|t| (t.value, t.scale.into())))
        {
            let x = self.inner(x);
            let by = match factor {
                1 | -1 => x,
                _ => {
                    let factor = self.body.int_const(bits, factor.unsigned_abs());
                    self.binary(BinaryOp::Mul, x, factor, none)
                }
            };
            let op = if factor > 0 { BinaryOp::Add } else { BinaryOp::Sub };
            sum = Some(match (sum, factor > 0) {
                (None, true) => by,
                (sum, _) => {
                    let so_far = sum.unwrap_or_else(|| self.body.int_const(bits, 0));
                    self.binary(op, so_far, by, none)
                }
            });
        }
        let sum = sum.unwrap_or(start);
        match base.constant() {
            0 => sum,
            n => {
                let n = self.body.int_const(bits, n as u128);
                self.binary(BinaryOp::Add, sum, n, none)
            }
        }
    }

    /// The number of the lane in so many bits.
    fn lane_in(&mut self, lane: Value, bits: u32) -> Value {
        let (op, flags) = match bits {
            32 => return lane,
            33.. => (CastOp::ZExt, InstFlags::NNEG),
            // Numbers of lanes are below 64.
            8.. => (CastOp::Trunc, InstFlags::NSW | InstFlags::NUW),
            _ => (CastOp::Trunc, InstFlags::empty()),
        };
        let i = self.body.append(self.entry, Op::Cast(op), &[lane], Type::Int(bits));
        self.body.insts[i].flags = flags;
        self.body.insts[i].results[0]
    }

    fn binary(&mut self, op: BinaryOp, a: Value, b: Value, flags: InstFlags) -> Value {
        let ty = self.body.ty(a);
        let i = self.body.append(self.entry, Op::Binary(op), &[a, b], ty);
        self.body.insts[i].flags = flags;
        self.body.insts[i].results[0]
    }

    /// Makes scans of what is combined in every iteration. What there was before is left to
    /// [`Outline::previous_values`].
    fn scans(&mut self, carries: &[Option<Value>]) {
        for (k, c) in self.carried.iter().enumerate() {
            let (Kind::Scan { combiner, inst }, Some(carry)) = (&c.kind, carries[k]) else { continue };
            let data = self.body.insts[*inst].clone();
            let others = data.args.iter().copied().find(|&a| a != c.phi);
            let mut x = others.unwrap_or(carry);
            let (ty, none) = (self.body.ty(x), InstFlags::empty());
            let negates = data.op == Op::Binary(BinaryOp::Sub);
            let zero = negates.then(|| self.body.constant_value(Constant::number(ty, 0)));
            let mut put = |op: Op, args: &[Value], ty: Type, flags: InstFlags| {
                self.body.insert_value_before(*inst, op, args, ty, flags)
            };
            x = match (zero, data.op) {
                (Some(zero), op) => put(op, &[zero, x], ty, none),
                (_, Op::Binary(BinaryOp::FSub)) => put(Op::FNeg, &[x], ty, none),
                _ => x,
            };
            let scan = put(Op::Lane(LaneOp::ScanInclusive(combiner.combine)), &[x], ty, none);
            let whole = combiner.combine_with(carry, scan, ty, put);
            self.scanned[k] = Some(scan);
            self.replace(c.next, whole);
            let block = data.block;
            self.body.blocks[block].insts.retain(|i| i != inst);
        }
    }

    /// Makes what lanes hold. What there was before is left to [`Outline::previous_values`].
    fn held_values(&mut self, module: &Module, lane: Value, carries: &[Option<Value>]) {
        for (k, c) in self.carried.iter().enumerate() {
            if let (Kind::Held(held), Some(carry)) = (&c.kind, carries[k])
                && self.width > 1
            {
                let only = held.only().map(|v| self.inner(v));
                let [made, behind] = held.emit(&mut self.body, (c.next, only), carry, lane);
                self.replace(c.next, made);
                self.scanned[k] = Some(behind);
                // The choices themselves, and what they have chosen from.
                let kept = [&self.nexts[..], &[behind]].concat();
                unused::remove(module, &mut self.body, &kept);
                held.remove_unused(&mut self.body, &kept);
                unused::remove(module, &mut self.body, &kept);
            }
        }
    }

    /// Gives φs that take over the value of the iteration before that of the lane before.
    fn previous_values(
        &mut self,
        module: &Module,
        lane: Value,
        carries: &[Option<Value>],
    ) -> Result<(), VectorizeError> {
        let passed_on = (0..carries.len()).filter_map(|k| Some((k, carries[k]?)));
        let (states, mut waiting): (Vec<_>, Vec<_>) = passed_on.partition(|&(k, _)| self.is_state(k));
        // A single lane gets what was there when the group began.
        if self.width == 1 {
            waiting.drain(..).for_each(|(k, carry)| self.replace(self.carried[k].phi, carry));
        }
        if !waiting.is_empty() {
            let one = self.body.int_const(32, 1);
            let zero = self.body.int_const(32, 0);
            let before = self.binary(BinaryOp::Sub, lane, one, InstFlags::empty());
            let is_first =
                self.body.append_value(self.entry, Op::ICmp(IntPred::Eq), &[lane, zero], Type::BOOL);
            while !waiting.is_empty() {
                let phis: Vec<Value> = waiting.iter().map(|&(k, _)| self.carried[k].phi).collect();
                let Some(at) = waiting.iter().position(|&(k, _)| !phis.contains(&self.nexts[k])) else {
                    let phi = self.source.def_inst(phis[0]).expect("a φ is an instruction");
                    let reason = "is exchanged with other values from one iteration to the next";
                    return Err(VectorizeError::at_inst(self.source, phi, reason));
                };
                let (k, carry) = waiting.remove(at);
                self.previous_value(module, k, carry, before, is_first)?;
            }
        }
        states.into_iter().try_for_each(|(k, carry)| self.state(module, k, carry))
    }

    fn is_state(&self, k: usize) -> bool {
        matches!(self.carried[k].kind, Kind::State(_))
    }

    /// Gives a φ that is a state what it is in each lane.
    fn state(&mut self, module: &Module, k: usize, carry: Value) -> Result<(), VectorizeError> {
        let (phi, next) = (self.carried[k].phi, self.nexts[k]);
        let Kind::State(state) = &self.carried[k].kind else { return Ok(()) };
        let place = self.behind(next);
        let (source, moved) = (self.source, &mut self.moved);
        let mut moves_up = |body: &mut Function, v: Value| moved.extend(hoist(module, source, body, v, phi));
        let [mine, nexts] = state.emit(&mut self.body, (phi, next), carry, self.width, place, &mut moves_up);
        self.scanned[k] = Some(nexts);
        self.replace(phi, mine);
        self.check_uses(phi, mine)
    }

    fn previous_value(
        &mut self,
        module: &Module,
        k: usize,
        carry: Value,
        before: Value,
        is_first: Value,
    ) -> Result<(), VectorizeError> {
        let (phi, next) = (self.carried[k].phi, self.nexts[k]);
        self.moved.extend(hoist(module, self.source, &mut self.body, next, phi));
        let (place, ty) = (self.behind(next), self.body.ty(phi));
        let mut put = Put::at(&mut self.body, place);
        let moved = put.value(Op::Lane(LaneOp::Shuffle), &[next, before], ty);
        let mine = put.value(Op::Select, &[is_first, carry, moved], ty);
        self.replace(phi, mine);
        self.check_uses(phi, mine)
    }

    /// The place behind the definition of a value, within the loop.
    fn behind(&self, v: Value) -> (Block, usize) {
        match self.body.def_inst(v) {
            Some(i) if self.body.insts[i].block != self.entry => {
                let block = self.body.insts[i].block;
                let at = self.body.blocks[block].insts.iter().position(|&x| x == i);
                (block, at.map_or(0, |at| at + 1))
            }
            _ => (self.l.header, 0),
        }
    }

    /// Lets everybody use `new` for `old`.
    fn replace(&mut self, old: Value, new: Value) {
        self.body.map_operands(|v| if v == old { new } else { v });
        for next in &mut self.nexts {
            if *next == old {
                *next = new;
            }
        }
    }

    /// Checks that a value is used only where it has been computed. The uses are those of the φ that it replaces.
    fn check_uses(&self, phi: Value, mine: Value) -> Result<(), VectorizeError> {
        let made = self.body.def_inst(mine).expect("it has just been made");
        let block = self.body.insts[made].block;
        for &b in &self.body.layout {
            let mut computed = false;
            for i in self.body.block_insts(b) {
                computed |= i == made;
                let used = self.body.insts[i].args.contains(&mine);
                if used && !computed && (b == block || !dominates(&self.l.dominators, block, b)) {
                    let phi = self.source.value_name(phi);
                    let reason = format!(
                        "uses {phi}, the value of the iteration before, before this iteration has computed its \
                         own, so that lanes cannot pass it on; compute that first, or declare pointers \
                          `restrict` so that it may be"
                    );
                    return Err(VectorizeError::at_inst(&self.body, i, reason));
                }
            }
            for &e in self.body.out_edges(b) {
                let used = self.body.edges[e].args.contains(&mine);
                if used && b != block && !dominates(&self.l.dominators, block, b) {
                    let reason = "the value of the iteration before is used before this iteration has computed its own";
                    return Err(VectorizeError::at_block(&self.body, b, reason));
                }
            }
        }
        Ok(())
    }

    /// Returns what the φs are in the next iteration, but for what is computed without: which, in the order of members.
    /// Of scans it is what the group has: combined with what was there before behind the group, one operation is all
    /// that groups wait for. If lanes may leave the loop, or find a NaN, the last member is about those that do.
    fn give_back(
        &mut self,
        module: &mut Module,
        end: Block,
        leaves: Option<&[(Block, Value)]>,
        no_nans: &[Value],
    ) -> Vec<usize> {
        let outputs: Vec<usize> = (0..self.carried.len())
            .filter(|&k| {
                !matches!(
                    self.carried[k].kind,
                    Kind::Induction { .. }
                        | Kind::Growing { .. }
                        | Kind::Around(_)
                        | Kind::Affine(_)
                        | Kind::Computed
                )
            })
            .collect();
        let mut values: Vec<Value> =
            outputs.iter().map(|&k| self.scanned[k].unwrap_or(self.nexts[k])).collect();
        let goes_back = self.any_nan(end, no_nans);
        if leaves.is_some() || goes_back.is_some() {
            values.push(goes_back.unwrap_or_else(|| self.body.int_const(64, 0)));
        }
        for &(out, leaving) in leaves.unwrap_or_default() {
            let mut unknown: Vec<Value> = Vec::new();
            for &v in &values[..outputs.len()] {
                let ty = self.body.ty(v);
                unknown.push(self.body.poison(ty));
            }
            unknown.push(leaving);
            self.give(module, out, &unknown);
        }
        self.give(module, end, &values);
        outputs
    }

    /// Whether any of these values is a NaN in any lane: 1, or 0.
    fn any_nan(&mut self, end: Block, values: &[Value]) -> Option<Value> {
        let one = |o: &mut Self, v: Value| {
            let v = o.inner(v);
            o.body.append_value(end, Op::FCmp(FloatPred::Uno), &[v, v], Type::BOOL)
        };
        let each: Vec<Value> = values.iter().map(|&v| one(self, v)).collect();
        let or = Op::Binary(BinaryOp::Or);
        let all =
            each.into_iter().reduce(|x, y| self.body.append_value(end, or.clone(), &[x, y], Type::BOOL))?;
        let any = self.body.append_value(end, Op::Lane(LaneOp::Any), &[all], Type::BOOL);
        Some(self.body.append_value(end, Op::Cast(CastOp::ZExt), &[any], search::LEAVING))
    }

    /// Ends a block by returning values.
    fn give(&mut self, module: &mut Module, block: Block, values: &[Value]) {
        let result = match *values {
            [] => None,
            [one] => Some(one),
            _ => {
                let types: Vec<Type> = values.iter().map(|&v| self.body.ty(v)).collect();
                let ty = module.types.structure(types, false);
                let mut whole = self.body.constant_value(Constant::Poison(ty));
                for (k, &v) in values.iter().enumerate() {
                    let op = Op::InsertValue([k as u32].into());
                    whole = self.body.append_value(block, op, &[whole, v], ty);
                }
                Some(whole)
            }
        };
        self.body.ret = result.map_or(Type::Void, |v| self.body.ty(v));
        self.body.set_terminator(block, Op::Ret, result.as_slice(), &[]);
    }
}
