//! The function with the loop, rewritten: groups of iterations first, then the loop as it was.
//!
//! ```text
//!   preheader:  rounds = how often the test lets the loop go on; br rounds >= the least, many, scalar
//!   many:       strides and rings are what they are taken for?    br all are, unit, scalar
//!   unit:       checks of bounds pass in all iterations?          br all, within, scalar
//!   within:     rounds = 0 if a check of pointers fails;          br rounds != 0, begin, scalar
//!   begin:      the groups of the skeleton, in W-lane variants         ; crate::driver::skeleton
//!   done:       φs of the state; lanes of reductions combined;    br scalar
//!   scalar:     φs of the state;                                  br header
//! ```
//!
//! The state of an induction is its value in the next iteration, that of a reduction a vector, that of what lanes
//! pass on to each other the value of the last iteration. The scalar loop goes on from there: as a rule it executes
//! nothing but the part of the last iteration that precedes the test, or, without a masked tail, the iterations that no
//! group was left for; all that leaves the loop leaves it as before.
//!
//! Where the loop takes for granted what is checked (`assumed`), all that is tested before `begin` leads to a loop
//! beside it instead of `scalar`.
//!
//! Where the least is more than one iteration, what stands from `many` to `done` is moved into a function of its own
//! (`move_out`), unless the loop is in another one.

use crate::builder::Builder;
use crate::dependences::{Check, span};
use crate::driver::skeleton::{Again, Groups, pass_from, phis};
use crate::driver::{BodyVariant, BodyVariants, FEW};
use warpline_ir::{
    BinaryOp, Block, CastOp, Combine, Constant, FuncId, Function, InstFlags, IntPred, Loc, Module, Op, Type,
    Value,
};

use cranelift_entity::packed_option::PackedOption;

use super::assumed::Assumed;
use super::body::Body;
use super::bounds::Bound;
use super::carried::{Carried, Combiner, Kind};
use super::find::Loop;
use super::inputs::Input;
use super::move_out::move_out;
use super::search::{LEAVING, Search};
use super::selections::{MAX_NUMBER, Selection};
use super::stop::{AtState, Stops};
use super::trips::Counter;
use super::{Nest, is_bounded};
use crate::dependences::Growth;

/// What the rewriting puts together.
pub(super) struct Parts<'a> {
    pub(super) l: &'a Loop,
    pub(super) counter: &'a Counter,
    pub(super) carried: &'a [Carried],
    /// What must be 1, or the loop runs as it was.
    pub(super) strides: &'a [Value],
    /// Checks that must pass in all iterations, or the loop runs as it was.
    pub(super) bounds: &'a [Bound],
    pub(super) selections: &'a [Selection],
    pub(super) body: &'a Body,
    pub(super) variants: &'a BodyVariants,
    /// What must hold, or the loop runs as it was.
    pub(super) checks: &'a [Check],
    /// What must hold beside for iterations to be executed once more, if they ever may be.
    pub(super) repeatable: Option<&'a [Check]>,
    /// How lanes look ahead, if the loop is left in the middle.
    pub(super) search: Option<&'a Search>,
    /// What the loop takes for granted, if anything: the loop as it was is another one.
    pub(super) assumed: Option<&'a Assumed>,
    pub(super) stops: Stops,
}

/// The function, rewritten.
pub(super) struct Rewritten {
    /// What takes its place.
    pub(super) func: Function,
    /// How many arrays of indices it looks through before the loop.
    pub(super) inspected: usize,
    /// The function that has the vector code, where short loops are to be spared what that begins with.
    pub(super) apart: Option<FuncId>,
}

/// Rewrites the function. The function that the vector code is moved to, if it is, gets this name.
pub(super) fn rewrite(module: &mut Module, func: Function, parts: &Parts<'_>, name: &str) -> Rewritten {
    let preheader = parts.l.preheader;
    let into = func.out_edges(preheader)[0];
    let starts: Vec<Value> = func.edges[into].args.to_vec();
    let mut b = Builder { module, func, at: preheader };
    let scalar = b.block("scalar");
    let finals = phis(&mut b, scalar, &starts);
    let counts: Vec<Value> = parts.carried.iter().map(|c| c.phi).collect();
    let rounds = parts.counter.rounds(&mut b, parts.l, &starts, &counts);
    let bounded = is_bounded(parts.carried, parts.selections);
    let rounds = if bounded { at_most(&mut b, rounds, MAX_NUMBER) } else { rounds };
    let rounds = parts.within_search(&mut b, rounds, &starts);
    parts.assumed.inspect(|assumed| assumed.decide(&mut b.func));
    let otherwise = match parts.assumed {
        Some(assumed) => Otherwise { block: assumed.otherwise, state: &[] },
        None => Otherwise { block: scalar, state: &starts },
    };
    let mut new = Vec::new();
    if parts.variants.least > 1 {
        let many = b.block("many");
        let least = b.int(64, parts.variants.least.into());
        let enough = b.icmp(IntPred::Uge, rounds, least);
        otherwise.unless(&mut b, enough, many);
        b.at = many;
        new.push(many);
    }
    new.extend(parts.test_values(&mut b, &otherwise, &starts));
    new.extend(parts.test_bounds(&mut b, &otherwise, rounds, &starts));
    let checking = span::emit(&mut b, parts.checks, rounds, otherwise.block);
    for &block in &checking.failing {
        pass_from(&mut b, block, otherwise.block, otherwise.state);
    }
    let begin = b.block("begin");
    let zero = b.int(64, 0);
    let some = b.icmp(IntPred::Ne, rounds, zero);
    otherwise.unless(&mut b, some, begin);

    b.at = begin;
    let before: Vec<Value> = (0..starts.len()).map(|k| parts.initial(&mut b, k, starts[k])).collect();
    new.extend(checking.blocks);
    new.push(begin);
    let made = parts.groups(&mut b, &before, rounds);
    new.extend(made.blocks);
    let last = made.state;
    let values = parts.state_behind(&mut b, &starts, &last);
    b.br(scalar);
    b.pass(&values);
    new.extend(parts.end_stops(&mut b, &starts, scalar));
    new.push(scalar);

    b.at = scalar;
    b.br(parts.l.header);
    b.pass(&finals);
    place_before(&mut b.func, parts.l.header, &new);
    let loc = b.func.insts[parts.l.test].loc;
    locate(&mut b.func, &new, loc);
    locate(&mut b.func, &[preheader], loc);
    let is_outermost = Nest::of(&b.func).around(parts.l.header).nth(1).is_none();
    let may_move = is_outermost && parts.assumed.is_none();
    let apart = (parts.variants.least > 1 && may_move).then(|| {
        // The copy of the scalar loop that stands behind the vector code.
        b.func.blocks[parts.l.header].few |= parts.variants.tail.is_none();
        let vector = &new[..new.len() - 1];
        move_out(b.module, &mut b.func, vector, (scalar, parts.l.header), name)
    });
    if apart.is_some() {
        locate(&mut b.func, &new[..1], loc);
    }
    let short_only = apart.is_some_and(|(_, short_only)| short_only) && parts.variants.least <= FEW;
    let tail_only = apart.is_none_or(|(_, short_only)| !short_only) && parts.variants.tail.is_none();
    b.func.blocks[parts.l.header].few = short_only || tail_only;
    Rewritten { func: b.func, inspected: checking.inspected, apart: apart.map(|(func, _)| func) }
}

/// The scalar loop, with the state that it begins with.
struct Otherwise<'a> {
    block: Block,
    state: &'a [Value],
}

impl Otherwise<'_> {
    /// Branches there unless a condition holds.
    fn unless(&self, b: &mut Builder, condition: Value, then: Block) {
        let at = b.at;
        b.cond_br(condition, then, self.block);
        pass_from(b, at, self.block, self.state);
    }

    /// Branches there unless all conditions hold. The block behind, of this name, if there is any condition.
    fn unless_all(&self, b: &mut Builder, conditions: Vec<Value>, name: &str) -> Option<Block> {
        let and = Op::Binary(BinaryOp::And);
        let all = conditions.into_iter().reduce(|x, y| b.value(and.clone(), &[x, y], Type::BOOL))?;
        let behind = b.block(name);
        self.unless(b, all, behind);
        b.at = behind;
        Some(behind)
    }
}

/// Gives instructions of blocks that have no place in the source this one.
fn locate(func: &mut Function, blocks: &[Block], loc: PackedOption<Loc>) {
    for &block in blocks {
        for i in func.block_insts(block).collect::<Vec<_>>() {
            let own = &mut func.insts[i].loc;
            *own = own.expand().or(loc.expand()).into();
        }
    }
}

/// Moves new blocks to where they are executed.
fn place_before(func: &mut Function, header: Block, blocks: &[Block]) {
    func.layout.retain(|b| !blocks.contains(b));
    let at = func.layout.iter().position(|&b| b == header).unwrap_or(func.layout.len());
    func.layout.splice(at..at, blocks.iter().copied());
}

impl Groups for Parts<'_> {
    fn group(
        &self,
        b: &mut Builder,
        variant: BodyVariant,
        before: &[Value],
        count: Option<Value>,
    ) -> Vec<Value> {
        let (behind, leaving) = self.group_of(b, variant, before, count);
        if let Some(leaving) = leaving {
            self.stops.add(b, variant, before, leaving);
        }
        behind
    }

    fn resized(&self, b: &mut Builder, variant: BodyVariant, state: &[Value]) -> Vec<Value> {
        let lanes = |b: &Builder, k: usize| match self.param_type(b, variant.func, k) {
            Type::Vector(v) => Some(v.lanes),
            _ => None,
        };
        (0..state.len())
            .map(|k| match (&self.carried[k].kind, lanes(b, k)) {
                (Kind::Reduction { combiner, .. }, Some(lanes)) => {
                    narrowed(b, state[k], lanes, &mut |b, x, y| combined(b, combiner, x, y))
                }
                _ => state[k],
            })
            .collect()
    }

    /// The scalar loop follows.
    fn rest(&self, _: &mut Builder, state: &[Value], _: Value) -> Vec<Value> {
        state.to_vec()
    }

    fn lead_arguments(&self, _: &mut Builder, state: &[Value]) -> Vec<Value> {
        self.arguments(state)
    }

    fn may_repeat(&self) -> bool {
        self.repeatable.is_some() && self.variants.counting.is_none()
    }

    fn group_counting(
        &self,
        b: &mut Builder,
        variant: BodyVariant,
        before: &[Value],
        count: Value,
    ) -> Vec<Value> {
        let counts = b.last_lanes(count, variant.lanes);
        let mut args = self.arguments(before);
        args.push(b.mask_argument(counts, variant.lanes));
        let result = b.call(variant.func, &args);
        self.behind_group(
            b,
            before,
            result,
            Executed { mask: Some(counts), count: None, width: variant.lanes },
        )
    }

    fn once_more(
        &self,
        b: &mut Builder,
        state: &[Value],
        Again { by, count, otherwise }: Again,
    ) -> (Vec<Value>, Vec<Block>) {
        let checked = span::emit(b, self.repeatable.unwrap_or(&[]), count, otherwise);
        let earlier = (0..state.len()).map(|k| self.advanced(b, k, state, Some(by), 0)).collect();
        (earlier, checked.blocks)
    }
}

/// What of a group has been executed.
#[derive(Copy, Clone)]
struct Executed {
    /// The lanes that count, if not all do.
    mask: Option<Value>,
    /// How many there are, from the first one on, if not all were executed.
    count: Option<Value>,
    width: u32,
}

impl Parts<'_> {
    /// Executes a group. The state behind it, and the lanes that leave the loop if it may be left in the middle.
    pub(super) fn group_of(
        &self,
        b: &mut Builder,
        variant: BodyVariant,
        before: &[Value],
        count: Option<Value>,
    ) -> (Vec<Value>, Option<Value>) {
        let width = variant.lanes;
        let mut args = self.arguments(before);
        let mask = count.map(|count| b.first_lanes(count, variant.func, width));
        if let Some(mask) = mask {
            args.push(b.mask_argument(mask, width));
        }
        let result = b.call(variant.func, &args);
        let leaving = result.filter(|_| self.body.goes_back).map(|result| {
            let leaving = self.member(b, result, self.body.outputs.len());
            let lane = b.int(64, 0);
            match b.func.ty(leaving) {
                Type::Vector(_) => b.value(Op::ExtractElement, &[leaving, lane], LEAVING),
                _ => leaving,
            }
        });
        (self.behind_group(b, before, result, Executed { mask, count, width }), leaving)
    }

    /// The state behind a group that gave a result.
    fn behind_group(
        &self,
        b: &mut Builder,
        before: &[Value],
        result: Option<Value>,
        Executed { mask, count, width }: Executed,
    ) -> Vec<Value> {
        let last = match count {
            Some(count) => {
                let one = b.int(64, 1);
                b.binary(BinaryOp::Sub, count, one, InstFlags::empty())
            }
            None => b.int(64, i64::from(width) - 1),
        };
        // Inactive lanes have added nothing to these.
        let sums = self.body.sums(&b.func, self.carried);
        (0..before.len())
            .map(|k| {
                let given = self.body.outputs.iter().position(|&o| o == k).zip(result);
                let Some((member, result)) = given else {
                    return self.advanced(b, k, before, count, width);
                };
                let new = self.member(b, result, member);
                let is_sum = sums.iter().any(|sum| sum.result == member);
                match (&self.carried[k].kind, mask) {
                    (Kind::Reduction { .. }, Some(_)) if is_sum => new,
                    (Kind::Reduction { .. } | Kind::Selected, Some(mask)) => {
                        where_active(b, mask, new, before[k], width)
                    }
                    (Kind::Reduction { .. } | Kind::Selected, None) => new,
                    (Kind::Scan { combiner, .. }, _) => {
                        let of_group = lane_of(b, new, last);
                        combined(b, combiner, before[k], of_group)
                    }
                    (Kind::State(_), _) => {
                        let bits = lane_of(b, new, last);
                        bit_of(b, bits, last, b.func.ty(before[k]))
                    }
                    _ => lane_of(b, new, last),
                }
            })
            .collect()
    }

    /// Branches to the scalar loop unless all strides are 1, and what goes around begins with one of its numbers. The
    /// block behind, if there is anything to ask.
    fn test_values(&self, b: &mut Builder, otherwise: &Otherwise<'_>, starts: &[Value]) -> Option<Block> {
        let holds = |b: &mut Builder, v: Value, pred: IntPred, number: u128| {
            let ty = b.func.ty(v);
            // Of a loop that has no iteration, it may be poison.
            let v = b.value(Op::Freeze, &[v], ty);
            let number = b.func.int_const(ty.int_bits().unwrap_or(64), number);
            b.icmp(pred, v, number)
        };
        let mut each: Vec<Value> = self.strides.iter().map(|&v| holds(b, v, IntPred::Eq, 1)).collect();
        for (c, &start) in self.carried.iter().zip(starts) {
            if let Kind::Around(ring) = c.kind
                && !ring.has(&b.func, start)
            {
                each.push(holds(b, start, IntPred::Ule, ring.mask));
            }
        }
        otherwise.unless_all(b, each, "unit")
    }

    /// Branches to the scalar loop unless all checks pass in each of so many iterations. The block behind, if there is
    /// any check.
    fn test_bounds(
        &self,
        b: &mut Builder,
        otherwise: &Otherwise<'_>,
        rounds: Value,
        starts: &[Value],
    ) -> Option<Block> {
        let (start, step) = (starts[self.counter.phi], self.counter.step());
        let each: Vec<Value> = self.bounds.iter().map(|bound| bound.passes(b, start, step, rounds)).collect();
        otherwise.unless_all(b, each, "within")
    }

    /// What the variants are given.
    fn arguments(&self, state: &[Value]) -> Vec<Value> {
        let inputs = self.body.inputs.iter();
        inputs
            .map(|&i| match i {
                Input::Value(v) => v,
                Input::Carried(k) => state[k],
            })
            .collect()
    }

    /// The type of the parameter of a variant that takes the state of a φ.
    fn param_type(&self, b: &Builder, variant: FuncId, k: usize) -> Type {
        let at = self.body.inputs.iter().position(|&i| i == Input::Carried(k));
        let variant = &b.module.functions[variant];
        at.map_or(Type::Void, |at| variant.ty(variant.params[at]))
    }

    /// The state before the first group.
    fn initial(&self, b: &mut Builder, k: usize, start: Value) -> Value {
        let ty = b.func.ty(start);
        let combiner = match &self.carried[k].kind {
            Kind::Reduction { combiner, .. } => Some(combiner),
            Kind::Selected => None,
            _ => return start,
        };
        if self.param_type(b, self.variants.groups[0].func, k) == ty {
            return start;
        }
        // Nothing is selected yet.
        let Some(combiner) = combiner else { return b.splat(start, self.variants.groups[0].lanes) };
        // What may be combined with itself needs no neutral element.
        let neutral = match combiner.combine {
            Combine::Add | Combine::Mul | Combine::Xor => {
                b.func.constant_value(Constant::number(ty, combiner.combine.neutral(ty)))
            }
            _ => return b.splat(start, self.variants.groups[0].lanes),
        };
        let all = b.splat(neutral, self.variants.groups[0].lanes);
        let first = b.int(32, 0);
        let vector = b.func.ty(all);
        b.value(Op::InsertElement, &[all, start, first], vector)
    }

    /// One of the values that a W-lane variant returns.
    fn member(&self, b: &mut Builder, result: Value, member: usize) -> Value {
        if self.body.outputs.len() + usize::from(self.body.goes_back) == 1 {
            return result;
        }
        let ty = b.func.ty(result);
        let ty = b.module.types.member(ty, member as u64).expect("it returns what the body does");
        b.value(Op::ExtractValue([member as u32].into()), &[result], ty)
    }

    /// An induction so many iterations later, as many as there are lanes if nothing is said.
    pub(super) fn advanced(
        &self,
        b: &mut Builder,
        k: usize,
        state: &[Value],
        count: Option<Value>,
        width: u32,
    ) -> Value {
        let x = state[k];
        let step = match self.carried[k].kind {
            Kind::Induction { step, .. } => step,
            Kind::Around(ring) => {
                let sum = self.moved(b, x, Growth::Constant(ring.step), count, width);
                let mask = b.func.int_const(b.func.ty(x).int_bits().unwrap_or(64), ring.mask);
                return b.binary(BinaryOp::And, sum, mask, InstFlags::empty());
            }
            Kind::Growing { by, step } => return self.grown(b, state, (k, by, step), count, width),
            Kind::Affine(affine) => {
                let count = match count {
                    Some(count) => b.cast(CastOp::Trunc, count, Type::Int(32)),
                    None => b.int(32, width.into()),
                };
                let affine = affine.power(&mut b.func, b.at, count);
                return affine.apply(&mut b.func, b.at, x);
            }
            _ => return x,
        };
        self.moved(b, x, step, count, width)
    }

    /// So many steps further, or as many as there are lanes.
    fn moved(&self, b: &mut Builder, x: Value, step: Growth, count: Option<Value>, width: u32) -> Value {
        let ty = b.func.ty(x);
        let bits = ty.int_bits().unwrap_or(64);
        let op = match step {
            Growth::Minus(_) => BinaryOp::Sub,
            _ => BinaryOp::Add,
        };
        let distance = match (step, count) {
            (Growth::Constant(0), _) => return x,
            (Growth::Constant(by), None) => b.func.int_const(bits, (by * i128::from(width)) as u128),
            (step, count) => {
                let count = match count {
                    Some(count) if bits < 64 => b.cast(CastOp::Trunc, count, Type::Int(bits)),
                    Some(count) => count,
                    None => b.func.int_const(bits, width.into()),
                };
                let by = match step {
                    Growth::Constant(by) => b.func.int_const(bits, by as u128),
                    Growth::Value(v) | Growth::Minus(v) => v,
                };
                b.binary(BinaryOp::Mul, count, by, InstFlags::empty())
            }
        };
        match ty.is_ptr() {
            true => b.value(Op::Gep(Type::Int(8)), &[x, distance], ty),
            false => b.binary(op, x, distance, InstFlags::empty()),
        }
    }

    /// What grows by an induction, so many iterations later.
    fn grown(
        &self,
        b: &mut Builder,
        state: &[Value],
        (k, by, step): (usize, Value, i128),
        count: Option<Value>,
        width: u32,
    ) -> Value {
        let none = InstFlags::empty();
        let by = AtState::new(self, state).value(b, by);
        let bits = b.func.ty(state[k]).int_bits().unwrap_or(64);
        let count = count.unwrap_or_else(|| b.int(64, width.into()));
        let one = b.int(64, 1);
        let before = b.binary(BinaryOp::Sub, count, one, none);
        let product = b.binary(BinaryOp::Mul, count, before, none);
        let pairs = b.binary(BinaryOp::LShr, product, one, none);
        let [count, pairs] = [count, pairs].map(|x| b.cast(CastOp::Trunc, x, Type::Int(bits)));
        let linear = b.binary(BinaryOp::Mul, count, by, none);
        let step = b.func.int_const(bits, step as u128);
        let square = b.binary(BinaryOp::Mul, pairs, step, none);
        let sum = b.binary(BinaryOp::Add, linear, square, none);
        b.binary(BinaryOp::Add, state[k], sum, none)
    }

    /// The state behind the last group as the scalar loop takes it: the lanes of a reduction combined.
    pub(super) fn whole(&self, b: &mut Builder, k: usize, state: Value) -> Value {
        match &self.carried[k].kind {
            Kind::Reduction { combiner, .. } => {
                all_lanes(b, state, &mut |b, x, y| combined(b, combiner, x, y))
            }
            _ => state,
        }
    }
}

/// Combines two vectors, or scalars, of one type.
type Combining<'a> = &'a mut dyn FnMut(&mut Builder, Value, Value) -> Value;

/// All lanes of a vector combined to one value.
pub(super) fn all_lanes(b: &mut Builder, x: Value, combine: Combining<'_>) -> Value {
    let one = narrowed(b, x, 1, combine);
    let first = b.int(32, 0);
    match b.func.ty(one) {
        Type::Vector(v) => b.value(Op::ExtractElement, &[one, first], v.elem.into()),
        _ => one,
    }
}

/// The lanes of a vector combined to so many, a divisor of their number.
fn narrowed(b: &mut Builder, mut x: Value, lanes: u32, combine: Combining<'_>) -> Value {
    while let Type::Vector(v) = b.func.ty(x)
        && v.lanes > lanes
    {
        // In halves, as long as these consist of as many; then each of the parts that are left with the next.
        let halves = v.lanes.is_multiple_of(2 * lanes);
        let (size, count) = if halves { (v.lanes / 2, 2) } else { (lanes, v.lanes / lanes) };
        let first = part(b, x, 0, size);
        let rest: Vec<Value> = (1..count).map(|k| part(b, x, k * size, size)).collect();
        x = rest.into_iter().fold(first, |all, one| combine(b, all, one));
    }
    x
}

/// So many lanes of a vector from one on.
fn part(b: &mut Builder, x: Value, first: u32, lanes: u32) -> Value {
    let Type::Vector(v) = b.func.ty(x) else { return x };
    let elem = Type::from(v.elem);
    let ty = elem.vector(lanes).expect("it is the element of a vector");
    let poison = b.func.poison(b.func.ty(x));
    let chosen: Vec<i32> = (first..first + lanes).map(|lane| lane as i32).collect();
    b.value(Op::Shuffle(chosen.into()), &[x, poison], ty)
}

/// A bit, as a number of a type.
fn bit_of(b: &mut Builder, bits: Value, place: Value, ty: Type) -> Value {
    let moved = b.binary(BinaryOp::LShr, bits, place, InstFlags::empty());
    let one = b.int(64, 1);
    let bit = b.binary(BinaryOp::And, moved, one, InstFlags::empty());
    if ty == Type::Int(64) { bit } else { b.value(Op::Cast(CastOp::Trunc), &[bit], ty) }
}

/// A lane of a vector; what is the same in all lanes as it is.
fn lane_of(b: &mut Builder, x: Value, lane: Value) -> Value {
    match b.func.ty(x) {
        Type::Vector(v) => b.value(Op::ExtractElement, &[x, lane], v.elem.into()),
        _ => x,
    }
}

fn where_active(b: &mut Builder, mask: Value, new: Value, old: Value, width: u32) -> Value {
    let ty = b.func.ty(new);
    let mask = if matches!(ty, Type::Vector(_)) { mask } else { b.mask_argument(mask, width) };
    b.value(Op::Select, &[mask, new, old], ty)
}

fn combined(b: &mut Builder, combiner: &Combiner, x: Value, y: Value) -> Value {
    let ty = b.func.ty(x);
    combiner.of_type(b.module, ty).combine_with(x, y, ty, |op, args, ty, flags| {
        let i = b.func.append(b.at, op, args, ty);
        b.func.insts[i].flags = flags;
        b.func.insts[i].results[0]
    })
}

/// The less of a number of 64 bits, unsigned, and a constant.
fn at_most(b: &mut Builder, x: Value, most: i64) -> Value {
    let most = b.int(64, most);
    let less = b.icmp(IntPred::Ult, x, most);
    b.value(Op::Select, &[less, x, most], Type::Int(64))
}
