//! What a loop carries from one iteration to the next, by the φs of its header.
//!
//! * An *induction* grows by the same in each iteration: lane *k* gets `start + k·step`.
//! * A *number that goes around* begins anew after the greatest one ([`rings`](super::rings)).
//! * What grows by an induction (`j += k; k += 2`), lane *k* gets as a polynomial of its number, of the second degree.
//! * A *reduction* combines something with what it was, and nothing else looks at it: each lane combines its own
//!   iterations, and the lanes are combined behind the loop.
//! * An *ordered reduction* is one of floating-point numbers that may not be combined in any other order: each group
//!   combines those of its lanes, one after the other, with what it was before the group. The rest of the loop is for
//!   several iterations at once.
//! * A *linear recurrence* multiplies it by what stays the same and adds something
//!   ([`recurrences`](super::recurrences)).
//! * A *scan* is such a combination of which the loop sees the intermediate results: a prefix sum and similar.
//! * A *previous value* is what the iteration before computed: lane *k* gets it from lane *k* − 1.
//! * A *state* is a bit that iterations set, reset or toggle: all lanes' states follow from the bits that say what each
//!   iteration does ([`states`](super::states)).
//! * A *held value* stays, or grows by the same, until another one takes its place, and the loop looks at it
//!   ([`held`](super::held)).
//! * A *position in a compacted stream* counts the iterations in which a condition holds, and is used in these:
//!   each lane gets what it was before the group and how many lanes count before it ([`compaction`](super::compaction)).
//! * A *selected value* is one of some iteration: each lane selects among its own, and the lane that the loop would
//!   have selected from is found behind the loop ([`selections`](super::selections)).
//!
//! Nothing else can be computed for several iterations at once, and is refused by name.
//!
//! Combinations of integers are exact in any order, once the flags that forbid overflow are gone. Of floating-point
//! numbers sums and products need `reassoc`, minima and maxima that are told from comparisons `nsz`; or the caller says
//! that any order is welcome, of the loop or, by `reassoc` of a φ, of that one. `minimum`, `maximum`, `minnum`,
//! `maxnum` and similar are what they are by definition in any order.

use cranelift_entity::EntitySet;

use crate::VectorizeError;
use crate::dependences::Growth;
use crate::known_calls::vector_intrinsic;
use crate::lower::mangle;
use warpline_dataflow::linear::{self, Extension, Sum};
use warpline_ir::{
    BinaryOp, Block, Combine, Edge, FloatPred, Function, Inst, InstFlags, IntPred, LaneOp, Module, Op, Type,
    Users, Value,
};

use super::compaction::Compaction;
use super::find::Loop;
use super::held::Held;
use super::recurrences::{self, Affine};
use super::rings::Ring;
use super::selections::{self, Selection};
use super::states::State;
use super::{Carry, CarryKind};

/// A φ of a loop's header.
#[derive(Clone, Debug)]
pub(super) struct Carried {
    pub(super) phi: Value,
    /// What it is in the next iteration.
    pub(super) next: Value,
    pub(super) kind: Kind,
}

/// What a φ carries.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// It grows by a step; the flags say what is known of the addition.
    Induction { step: Growth, flags: InstFlags },
    /// It grows by a value that is linear in inductions, and itself grows by a step.
    Growing { by: Value, step: i128 },
    /// It grows by a step, and goes around.
    Around(Ring),
    /// It is multiplied and something is added, both the same in all iterations.
    Affine(Affine),
    /// It is multiplied by what stays the same, and what an iteration has is added; nobody sees it before the loop
    /// ends.
    Polynomial(Affine),
    /// It is combined with something; the instructions do so.
    Reduction { combiner: Combiner, insts: Vec<Inst> },
    /// The same, in the order of the iterations; at most one value of each.
    Ordered { combine: Combine, at: Inst },
    /// The same by one instruction, of which the results are used.
    Scan { combiner: Combiner, inst: Inst },
    /// It is what the iteration before computed.
    Previous,
    /// It is a bit that iterations set, reset or toggle.
    State(State),
    /// It is what it was, or another value takes its place.
    Held(Held),
    /// It counts iterations in which a condition holds.
    Compaction(Compaction),
    /// It is a value of one iteration, which a [selection](super::selections) chooses.
    Selected,
    /// The same, but computed from the number of that iteration; lanes do not carry it.
    Computed,
}

/// An operation that combines two values of one type, in any order and grouping.
#[derive(Clone, Debug)]
pub(super) struct Combiner {
    pub(super) combine: Combine,
    pub(super) how: How,
}

/// How a [`Combiner`] is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum How {
    /// As this operation.
    Binary(BinaryOp, InstFlags),
    /// As this operation, a call of an intrinsic.
    Call(Op, InstFlags),
    /// As `select (pred a, b), a, b`; the operation is the comparison.
    Pick(Op, InstFlags),
}

/// So deep is followed what a φ grows by.
const MAX_DEPTH: u32 = 6;

impl Loop {
    /// Whether a value is the same in all iterations.
    pub(super) fn is_invariant(&self, func: &Function, v: Value) -> bool {
        func.def_block(v).is_none_or(|b| !self.blocks.contains(b))
    }

    /// What an addition adds to what: a constant, or something that is the same in all iterations.
    pub(super) fn addition(
        &self,
        module: &Module,
        func: &Function,
        inst: Inst,
    ) -> Option<(Value, Growth, InstFlags)> {
        let data = &func.insts[inst];
        match (&data.op, &data.args[..]) {
            (Op::Binary(op @ (BinaryOp::Add | BinaryOp::Sub)), &[a, b]) => {
                let bits = func.ty(a).int_bits().filter(|&bits| bits <= 64)?;
                let subtract = *op == BinaryOp::Sub;
                let (of, by) = match (self.is_invariant(func, a), self.is_invariant(func, b)) {
                    (false, true) => (a, b),
                    (true, false) if !subtract => (b, a),
                    _ => return None,
                };
                let Some(number) = func.as_int(by) else {
                    return Some((
                        of,
                        if subtract { Growth::Minus(by) } else { Growth::Value(by) },
                        InstFlags::empty(),
                    ));
                };
                let signed = (number << (128 - bits)) as i128 >> (128 - bits);
                // The least number has no counterpart: its subtraction is its addition, but not as to flags.
                let least = signed == i128::MIN >> (128 - bits);
                let flags = if subtract || signed < 0 { data.flags & InstFlags::NSW } else { data.flags };
                let flags = if subtract && least { InstFlags::empty() } else { flags };
                Some((of, Growth::Constant(if subtract && !least { -signed } else { signed }), flags))
            }
            (Op::Gep(_), &[base, ..]) => {
                let (terms, bytes) = linear::step(module, func, inst)?;
                terms.is_empty().then_some((base, Growth::Constant(bytes.into()), data.flags))
            }
            _ => None,
        }
    }

    /// What the φs of the header carry, in their order. With `any_order`, floating-point numbers may be combined in
    /// any order. Selections get more φs.
    ///
    /// # Errors
    /// If one is none of what the [module](self) lists.
    pub(super) fn carried(
        &self,
        module: &Module,
        func: &mut Function,
        any_order: bool,
    ) -> Result<(Vec<Carried>, Vec<Selection>), VectorizeError> {
        let mut kinds = self.kinds(module, func, any_order);
        // What would be scanned for the sake of nothing but a selection (the greatest number so far, and where it is)
        // is part of that, which takes far less time.
        let may_select = |k: &usize| matches!(kinds[*k], Err(_) | Ok(Kind::Scan { .. }));
        let among = match kinds.iter().any(Result::is_err) {
            true => (0..kinds.len()).filter(may_select).collect(),
            false => Vec::new(),
        };
        let selections = selections::add(module, func, self, &among);
        if !selections.is_empty() {
            let again = self.kinds(module, func, any_order).into_iter().skip(kinds.len());
            kinds.extend(again);
        }
        let mut all = Vec::new();
        for (position, kind) in kinds.into_iter().enumerate() {
            let phi = func.insts[func.blocks[self.header].phis[position]].results[0];
            let next = func.edges[self.back].args[position];
            let kind = selections::kind_of(&selections, position).map_or(kind, Ok);
            // States take less time than scans, and than numbers that are passed on.
            let other = matches!(kind, Err(_) | Ok(Kind::Scan { .. } | Kind::Previous));
            let state = other.then(|| State::of(func, self, position));
            let kind = state.flatten().map(Kind::State).map_or(kind, Ok);
            let kind =
                kind.or_else(|error| Held::of(module, func, self, position).map(Kind::Held).ok_or(error))?;
            all.push(Carried { phi, next, kind });
        }
        Ok((all, selections))
    }

    /// What each φ of the header carries, selections apart.
    pub(super) fn kinds(
        &self,
        module: &Module,
        func: &Function,
        any_order: bool,
    ) -> Vec<Result<Kind, VectorizeError>> {
        let users = self.users(func);
        let phis = func.blocks[self.header].phis.iter().enumerate();
        let kind = |(position, &phi): (usize, &Inst)| {
            let next = func.edges[self.back].args[position];
            self.kind(module, func, &users, func.insts[phi].results[0], next, any_order)
        };
        phis.map(kind).collect()
    }

    /// The position of a φ among those of the header.
    pub(super) fn position_of(&self, func: &Function, phi: Value) -> Option<usize> {
        func.blocks[self.header].phis.iter().position(|&p| func.insts[p].results[0] == phi)
    }

    /// The position of a φ of the header that is an induction, and what it grows by.
    pub(super) fn induction(&self, module: &Module, func: &Function, phi: Value) -> Option<(usize, Growth)> {
        let position = self.position_of(func, phi)?;
        let next = func.edges[self.back].args[position];
        let by = func.def_inst(next).filter(|_| !self.is_invariant(func, next))?;
        let (of, step, _) = self.addition(module, func, by)?;
        (of == phi).then_some((position, step))
    }

    /// What an addition adds to a φ, if that is linear in inductions, and by how much that grows.
    fn growing(&self, module: &Module, func: &Function, add: Inst, phi: Value) -> Option<(Value, i128)> {
        let (Op::Binary(BinaryOp::Add), &[a, b]) = (&func.insts[add].op, &func.insts[add].args[..]) else {
            return None;
        };
        let by = if a == phi { b } else { a };
        let is_phi = |x: Value| self.position_of(func, x).is_some();
        let fits = (a == phi) != (b == phi) && self.is_polynomial(func, by, MAX_DEPTH);
        let sum = Sum::until(func, by, &|x| is_phi(x) || self.is_invariant(func, x)).filter(|_| fits)?;
        let mut step = 0;
        for term in sum.terms().iter().filter(|t| !self.is_invariant(func, t.value)) {
            let (_, Growth::Constant(grows)) = self.induction(module, func, term.value)? else { return None };
            if term.extension != Extension::None {
                return None;
            }
            step += grows.checked_mul(term.scale.into())?;
        }
        Some((by, step))
    }

    /// Whether a number is computed by sums and products from φs of the header and what stays the same.
    fn is_polynomial(&self, func: &Function, v: Value, depth: u32) -> bool {
        if self.is_invariant(func, v) || self.position_of(func, v).is_some() {
            return true;
        }
        let Some(i) = func.def_inst(v).filter(|_| depth > 0) else { return false };
        let plain = matches!(
            func.insts[i].op,
            Op::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl)
        );
        plain && func.insts[i].args.iter().all(|&a| self.is_polynomial(func, a, depth - 1))
    }

    fn kind(
        &self,
        module: &Module,
        func: &Function,
        users: &Users,
        phi: Value,
        next: Value,
        any_order: bool,
    ) -> Result<Kind, VectorizeError> {
        let by = func.def_inst(next).filter(|_| !self.is_invariant(func, next));
        if let Some((of, step, flags)) = by.and_then(|i| self.addition(module, func, i))
            && of == phi
        {
            return Ok(Kind::Induction { step, flags });
        }
        if let Some((by, step)) = by.and_then(|i| self.growing(module, func, i, phi)) {
            return Ok(Kind::Growing { by, step });
        }
        if let Some(ring) = Ring::of(func, self, phi, next).filter(|_| self.breaks.is_empty()) {
            return Ok(Kind::Around(ring));
        }
        match recurrences::of(func, self, users, phi, next) {
            Some((affine, false)) => return Ok(Kind::Affine(affine)),
            Some((affine, true)) => return Ok(Kind::Polynomial(affine)),
            None => {}
        }
        if next == phi {
            let flags = InstFlags::NSW | InstFlags::NUW;
            if matches!(func.ty(phi), Type::Int(1..=64)) {
                return Ok(Kind::Induction { step: Growth::Constant(0), flags });
            }
        }
        let dependent = Dependent::of(func, users, phi);
        if !dependent.values.contains(next) {
            return self.previous(func, phi, next);
        }
        let flags = func.def_inst(phi).map_or(InstFlags::empty(), |i| func.insts[i].flags);
        let any_order = any_order || flags.contains(InstFlags::REASSOC);
        let chain = Chain { l: self, module, func, phi, dependent: &dependent, any_order };
        let compaction = || Compaction::find(self, module, func, users, (phi, next)).map(Kind::Compaction);
        match (chain.reduction(), by.and_then(|i| chain.scan(i, next))) {
            (Ok(reduction), _) => Ok(reduction),
            // What is scanned may be a position that grows without a branch.
            (Err(_), Some(scan)) => Ok(compaction().unwrap_or(scan)),
            (Err(error), None) => chain.ordered(next).or_else(compaction).ok_or(error),
        }
    }

    fn previous(&self, func: &Function, phi: Value, next: Value) -> Result<Kind, VectorizeError> {
        let inst = func.def_inst(phi).expect("a φ is an instruction");
        let moves = LaneOp::Shuffle.takes(func.ty(phi));
        let always = func.def_block(next).is_none_or(|b| !self.blocks.contains(b) || self.is_always(func, b));
        match (moves, always) {
            (false, _) => Err(VectorizeError::at_inst(
                func,
                inst,
                "takes over a value of the iteration before, of a type that lanes cannot pass on to each other",
            )),
            (_, false) => Err(VectorizeError::at_inst(
                func,
                inst,
                "takes over a value of the iteration before that is computed in an inner loop or under a condition",
            )),
            _ => Ok(Kind::Previous),
        }
    }

    /// Who uses what within the loop; the φs of its header do not count.
    pub(super) fn users(&self, func: &Function) -> Users {
        let inside = |b: Block| self.blocks.contains(b) || self.dead.contains(b);
        let stays = |e: Edge| {
            let (from, to) = (func.edges[e].from, func.edges[e].to);
            inside(from) && (self.blocks.contains(to) && e != self.back || self.dead.contains(to))
        };
        Users::among(func, inside, stays)
    }
}

/// What depends on a value within an iteration.
pub(super) struct Dependent {
    pub(super) values: EntitySet<Value>,
    pub(super) insts: Vec<Inst>,
}

impl Dependent {
    pub(super) fn of(func: &Function, users: &Users, start: Value) -> Dependent {
        let (mut values, mut seen) = (EntitySet::new(), EntitySet::new());
        let mut insts = Vec::new();
        let mut work = vec![start];
        values.insert(start);
        while let Some(v) = work.pop() {
            for &i in users.get(v) {
                if seen.insert(i) {
                    insts.push(i);
                    work.extend(func.insts[i].results.iter().copied().filter(|&r| values.insert(r)));
                }
            }
        }
        Dependent { values, insts }
    }
}

/// What depends on a φ and leads back to it.
struct Chain<'a> {
    l: &'a Loop,
    module: &'a Module,
    func: &'a Function,
    phi: Value,
    dependent: &'a Dependent,
    any_order: bool,
}

impl Chain<'_> {
    fn has(&self, v: Value) -> bool {
        self.dependent.values.contains(v)
    }

    /// A reduction, if all that depends on the φ combines it, or chooses between what was combined and what was not.
    fn reduction(&self) -> Result<Kind, VectorizeError> {
        let mut combiner: Option<Combiner> = None;
        let mut insts = Vec::new();
        for &i in &self.dependent.insts {
            let found = match self.func.insts[i].op {
                Op::Phi if self.merges(i) => continue,
                Op::Select if self.chooses(i) => continue,
                // The comparison of a minimum is looked at with the `select` that it decides.
                Op::ICmp(_) | Op::FCmp(_) if self.decides_minimum(i) => continue,
                _ => self.combiner(i)?,
            };
            let Some(found) = found else { return Err(self.refusal(i)) };
            insts.push(i);
            match &combiner {
                Some(other) if !other.agrees_with(&found) => return Err(self.refusal(i)),
                _ => combiner = Some(found),
            }
        }
        // Another φ of the header would see it in the next iteration.
        let nexts = self.func.edges[self.l.back].args.iter().filter(|&&v| self.has(v)).count();
        match combiner.filter(|_| nexts == 1) {
            Some(combiner) => Ok(Kind::Reduction { combiner, insts }),
            None => Err(self.refusal(self.func.def_inst(self.phi).expect("a φ is an instruction"))),
        }
    }

    /// A reduction in the order of the iterations, if each combines the φ with no more than one value.
    fn ordered(&self, next: Value) -> Option<Kind> {
        // A group that a lane leaves would combine what the lanes behind it have.
        let (func, l) = (self.func, self.l);
        let nexts = func.edges[l.back].args.iter().filter(|&&v| self.has(v)).count();
        if !l.breaks.is_empty() || nexts != 1 || !matches!(func.ty(self.phi), Type::F32 | Type::F64) {
            return None;
        }
        let mut found: Option<(Combine, Inst)> = None;
        for &i in &self.dependent.insts {
            let data = &func.insts[i];
            let own = l.own.contains(data.block);
            match (&data.op, &data.args[..]) {
                (Op::Phi, _) if own && self.merges(i) => {}
                (Op::Select, _) if own && self.chooses(i) => {}
                (&Op::Binary(op), &[a, b]) if own && self.is_only_merged(a) != self.is_only_merged(b) => {
                    let combine = match op {
                        BinaryOp::FAdd => Combine::Add,
                        BinaryOp::FSub if self.has(a) => Combine::Add,
                        BinaryOp::FMul => Combine::Mul,
                        _ => return None,
                    };
                    if self.has(a) && self.has(b) || found.is_some_and(|(other, _)| other != combine) {
                        return None;
                    }
                    found = Some((combine, i));
                }
                _ => return None,
            }
        }
        let (combine, at) = found.filter(|_| self.has(next))?;
        Some(Kind::Ordered { combine, at })
    }

    /// Whether a value is the φ, or one of φs and `select`s between nothing else.
    fn is_only_merged(&self, v: Value) -> bool {
        let (mut work, mut seen) = (vec![v], EntitySet::new());
        while let Some(v) = work.pop() {
            if v == self.phi || !seen.insert(v) {
                continue;
            }
            let Some(i) = self.func.def_inst(v).filter(|_| self.has(v)) else { return false };
            match self.func.insts[i].op {
                Op::Select => work.extend(&self.func.insts[i].args[1..]),
                Op::Phi if self.merges(i) => work.extend(selections::incoming(self.func, i).map(|(_, v)| v)),
                _ => return false,
            }
        }
        true
    }

    /// A scan, if the φ is combined with something else by one instruction in every iteration.
    fn scan(&self, i: Inst, next: Value) -> Option<Kind> {
        let data = &self.func.insts[i];
        let own = data.args.contains(&self.phi);
        let other = data.args.iter().find(|&&a| a != self.phi)?;
        let combiner = self.combiner(i).ok()??;
        let op = LaneOp::ScanInclusive(combiner.combine);
        // Scans of floating-point numbers know another minimum than some intrinsics.
        let exact = matches!(combiner.how, How::Binary(..)) || !self.func.ty(next).is_float();
        let fits = own
            && !self.has(*other)
            && exact
            && !matches!(combiner.how, How::Pick(..))
            && op.takes(self.func.ty(next))
            && self.l.is_always(self.func, data.block);
        fits.then_some(Kind::Scan { combiner, inst: i })
    }

    /// Whether an instruction is a φ of nothing but what depends on the φ.
    fn merges(&self, i: Inst) -> bool {
        let func = self.func;
        let data = &func.insts[i];
        let Some(position) = func.phi_position(i) else { return false };
        data.block != self.l.header
            && func.blocks[data.block].preds.iter().all(|&e| self.has(func.edges[e].args[position]))
    }

    /// Whether a `select` chooses, by something else, between what depends on the φ.
    fn chooses(&self, i: Inst) -> bool {
        let args = &self.func.insts[i].args;
        !self.has(args[0]) && self.has(args[1]) && self.has(args[2])
    }

    /// Whether a comparison decides nothing but a minimum or maximum.
    fn decides_minimum(&self, i: Inst) -> bool {
        let Some(result) = self.func.insts[i].result() else { return false };
        let uses = |&&u: &&Inst| self.func.insts[u].args.contains(&result);
        let mut users = self.dependent.insts.iter().filter(uses);
        match (users.next(), users.next()) {
            (Some(&user), None) => {
                self.func.insts[user].op == Op::Select
                    && self.func.insts[user].args[0] == result
                    && self.minimum(user).is_some()
            }
            _ => false,
        }
    }

    /// What an instruction combines the φ by, if it does; an error if that needs a permission that is not there.
    fn combiner(&self, i: Inst) -> Result<Option<Combiner>, VectorizeError> {
        let data = &self.func.insts[i];
        let found = match (&data.op, &data.args[..]) {
            (&Op::Binary(op), &[a, b]) => self.arithmetic(op, data.flags, self.has(a), self.has(b)),
            (Op::Call(info), &[a, b]) if self.has(a) != self.has(b) => {
                let name = info.callee.map_or("", |s| &*self.module.symbols[s].name);
                intrinsic(name).map(|combine| (combine, How::Call(data.op.clone(), data.flags)))
            }
            (Op::Select, _) => self.minimum(i),
            _ => None,
        };
        let Some((combine, how)) = found else { return Ok(None) };
        if !matches!(self.func.ty(self.phi), Type::Int(1..=64) | Type::F32 | Type::F64) {
            return Ok(None);
        }
        if let Some(needed) = self.missing_permission(&how) {
            let reason = format!(
                "combines floating-point numbers, which in another order may give another result, and has not \
                 the flag {needed}; allow \
                 any order (`--any-order`, `//@ loop any-order`, a `reduction` clause of OpenMP), or compile \
                  with such flags (`#pragma clang fp reassociate(on)`, `-ffast-math`)"
            );
            return Err(VectorizeError::at_inst(self.func, i, reason));
        }
        Ok(Some(Combiner { combine, how }))
    }

    fn arithmetic(
        &self,
        op: BinaryOp,
        flags: InstFlags,
        first: bool,
        second: bool,
    ) -> Option<(Combine, How)> {
        if first == second {
            return None;
        }
        // The program may not combine anything, and what is combined in another order may be infinite where its own
        // results were not: of what it promises, only the permission for that order holds.
        let fast = flags & InstFlags::REASSOC;
        Some(match op {
            BinaryOp::Add => (Combine::Add, How::Binary(BinaryOp::Add, InstFlags::empty())),
            BinaryOp::Sub if first => (Combine::Add, How::Binary(BinaryOp::Add, InstFlags::empty())),
            BinaryOp::FAdd => (Combine::Add, How::Binary(BinaryOp::FAdd, fast)),
            BinaryOp::FSub if first => (Combine::Add, How::Binary(BinaryOp::FAdd, fast)),
            BinaryOp::Mul => (Combine::Mul, How::Binary(op, InstFlags::empty())),
            BinaryOp::FMul => (Combine::Mul, How::Binary(op, fast)),
            BinaryOp::And => (Combine::And, How::Binary(op, InstFlags::empty())),
            BinaryOp::Or => (Combine::Or, How::Binary(op, InstFlags::empty())),
            BinaryOp::Xor => (Combine::Xor, How::Binary(op, InstFlags::empty())),
            _ => return None,
        })
    }

    /// The minimum or maximum that a `select` by a comparison of its own operands is.
    fn minimum(&self, select: Inst) -> Option<(Combine, How)> {
        let data = &self.func.insts[select];
        let (cond, x, y) = (data.args[0], data.args[1], data.args[2]);
        if !self.has(cond) || self.has(x) == self.has(y) {
            return None;
        }
        let compared = &self.func.insts[self.func.def_inst(cond)?];
        let (a, b) = (*compared.args.first()?, *compared.args.get(1)?);
        if !((a, b) == (x, y) || (a, b) == (y, x)) {
            return None;
        }
        // `a < b ? a : b` is the minimum, `a < b ? b : a` the maximum.
        let first = a == x;
        let combine = match compared.op {
            Op::ICmp(IntPred::Slt | IntPred::Sle) => [Combine::Max, Combine::Min],
            Op::ICmp(IntPred::Sgt | IntPred::Sge) => [Combine::Min, Combine::Max],
            Op::ICmp(IntPred::Ult | IntPred::Ule) => [Combine::UMax, Combine::UMin],
            Op::ICmp(IntPred::Ugt | IntPred::Uge) => [Combine::UMin, Combine::UMax],
            Op::FCmp(FloatPred::Olt | FloatPred::Ole) => [Combine::Max, Combine::Min],
            Op::FCmp(FloatPred::Ogt | FloatPred::Oge) => [Combine::Min, Combine::Max],
            _ => return None,
        };
        let combine = combine[usize::from(first)];
        // What is not ordered keeps the second operand: only if that is what was found so far, is a NaN passed over.
        let float = self.func.ty(x).is_float();
        if float && !self.has(y) {
            return None;
        }
        let (op, flags) = (canonical(combine, float), compared.flags & data.flags);
        Some((combine, How::Pick(op, flags)))
    }

    /// The flag that is missing for another order.
    fn missing_permission(&self, how: &How) -> Option<&'static str> {
        let exact = !self.func.ty(self.phi).is_float() || self.any_order;
        let (flags, needed): (_, &[(InstFlags, &str)]) = match how {
            How::Binary(_, flags) => (flags, &[(InstFlags::REASSOC, "`reassoc`")]),
            How::Pick(_, flags) => (flags, &[(InstFlags::NSZ, "`nsz`")]),
            // A NaN is passed over by `minnum` and handed on by `minimum`, wherever it stands. Which of two zeros is
            // the minimum, `minnum` leaves open, and the others say.
            How::Call(_, flags) => (flags, &[]),
        };
        if exact {
            return None;
        }
        needed.iter().find(|(flag, _)| !flags.contains(*flag)).map(|&(_, name)| name)
    }

    fn refusal(&self, i: Inst) -> VectorizeError {
        let phi = self.func.value_name(self.phi);
        let op = &self.func.insts[i].op;
        let remedy = match op {
            Op::FCmp(_) | Op::ICmp(_) => {
                "; if it is a minimum or maximum, write `if (x < m) m = x`, with nothing else than what is kept of \
                 that iteration in its braces"
            }
            _ => {
                "; compute what does not depend on it in a loop of its own, or several such sequences side by side in \
                 a loop around this one"
            }
        };
        let nans = if matches!(op, Op::FCmp(_)) { ": a NaN is never taken then" } else { "" };
        let reason = format!(
            "uses what {phi} carries from one iteration to the next, which is neither an induction nor a \
             reduction, prefix sum or the like, nor a value selected from one iteration, nor just the value of the \
             iteration before{remedy}{nans}"
        );
        VectorizeError::at_inst(self.func, i, reason)
    }
}

impl Combiner {
    /// For values of a type, scalars or vectors: a call is one of the intrinsic for that type.
    pub(super) fn of_type(&self, module: &mut Module, ty: Type) -> Combiner {
        let mut own = self.clone();
        if let (How::Call(Op::Call(info), _), Type::Vector(_)) = (&mut own.how, ty)
            && let Some(symbol) = info.callee
            && let Some((base, _)) = vector_intrinsic(&module.symbols[symbol].name)
        {
            let name = format!("{base}.{}", mangle(ty));
            info.callee = Some(module.function_symbol(&name, &[ty, ty], ty, info.effects));
        }
        own
    }

    /// Combines two values of a type by instructions that `put` makes. No promise of the program's own stays but the
    /// permission for another order: where it combines on a condition, it may never have done so.
    pub(super) fn combine_with(
        &self,
        x: Value,
        y: Value,
        ty: Type,
        mut put: impl FnMut(Op, &[Value], Type, InstFlags) -> Value,
    ) -> Value {
        match &self.how {
            How::Binary(op, flags) => put(Op::Binary(*op), &[x, y], ty, *flags),
            How::Call(op, _) => put(op.clone(), &[x, y], ty, InstFlags::empty()),
            How::Pick(op, _) => {
                let truth = match ty {
                    Type::Vector(v) => Type::BOOL.vector(v.lanes).expect("truth values have vectors"),
                    _ => Type::BOOL,
                };
                let first = put(op.clone(), &[x, y], truth, InstFlags::empty());
                put(Op::Select, &[first, x, y], ty, InstFlags::empty())
            }
        }
    }

    /// Whether two instructions combine in the same way.
    fn agrees_with(&self, other: &Combiner) -> bool {
        let form = |how: &How| match how {
            How::Binary(op, _) => (Some(*op), None),
            How::Call(op, _) | How::Pick(op, _) => (None, Some(op.clone())),
        };
        self.combine == other.combine && form(&self.how) == form(&other.how)
    }
}

/// The comparison by which [`How::Pick`] picks its first operand.
fn canonical(combine: Combine, float: bool) -> Op {
    match (combine, float) {
        (Combine::Min, true) => Op::FCmp(FloatPred::Olt),
        (_, true) => Op::FCmp(FloatPred::Ogt),
        (Combine::Min, _) => Op::ICmp(IntPred::Slt),
        (Combine::Max, _) => Op::ICmp(IntPred::Sgt),
        (Combine::UMin, _) => Op::ICmp(IntPred::Ult),
        _ => Op::ICmp(IntPred::Ugt),
    }
}

/// What an intrinsic combines two values to.
fn intrinsic(name: &str) -> Option<Combine> {
    let stem = name.strip_prefix("llvm.")?.rsplit_once('.')?.0;
    Some(match stem {
        "smin" | "minnum" | "minimum" | "minimumnum" => Combine::Min,
        "smax" | "maxnum" | "maximum" | "maximumnum" => Combine::Max,
        "umin" => Combine::UMin,
        "umax" => Combine::UMax,
        _ => return None,
    })
}

/// What a loop combines over all iterations, or scans.
pub(super) fn combined(func: &Function, carried: &[Carried]) -> Vec<(Combine, Type)> {
    let found = carried.iter().filter_map(|c| match &c.kind {
        Kind::Reduction { combiner, .. } | Kind::Scan { combiner, .. } => {
            Some((combiner.combine, func.ty(c.phi)))
        }
        // A comparison decides, as it does about a minimum.
        Kind::Selected => Some((Combine::Min, func.ty(c.phi))),
        Kind::Induction { .. }
        | Kind::Growing { .. }
        | Kind::Around(_)
        | Kind::Ordered { .. }
        | Kind::Affine(_)
        | Kind::Polynomial(_)
        | Kind::Previous
        | Kind::State(_)
        | Kind::Held(_)
        | Kind::Compaction(_)
        | Kind::Computed => None,
    });
    found.collect()
}

/// What a loop combines in the order of the iterations.
pub(super) fn ordered(func: &Function, carried: &[Carried]) -> Vec<(Combine, Type)> {
    let found = carried.iter().filter_map(|c| match c.kind {
        Kind::Ordered { combine, .. } => Some((combine, func.ty(c.phi))),
        _ => None,
    });
    found.collect()
}

impl Carried {
    /// What is said of it.
    pub(super) fn public(&self, func: &Function) -> Carry {
        let (kind, combine) = match &self.kind {
            Kind::Induction { .. } | Kind::Growing { .. } | Kind::Around(_) => (CarryKind::Induction, None),
            Kind::Reduction { combiner, .. } => (CarryKind::Reduction, Some(combiner.combine)),
            Kind::Ordered { .. } => (CarryKind::Ordered, None),
            Kind::Affine(_) | Kind::Polynomial(_) => (CarryKind::Recurrence, None),
            Kind::Scan { combiner, .. } => (CarryKind::Scan, Some(combiner.combine)),
            Kind::Previous => (CarryKind::Previous, None),
            Kind::State(_) => (CarryKind::State, None),
            Kind::Held(_) => (CarryKind::Held, None),
            Kind::Compaction(_) => (CarryKind::Compaction, None),
            Kind::Selected | Kind::Computed => (CarryKind::Selected, None),
        };
        let rounds = combine.is_some_and(|c| c.is_in_order(func.ty(self.phi)));
        Carry { name: func.value_name(self.phi), kind, rounds_otherwise: rounds }
    }
}
