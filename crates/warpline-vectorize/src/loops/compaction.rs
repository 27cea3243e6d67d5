//! Positions in a compacted stream: a counter that grows in those iterations in which a condition holds, and by which
//! these store one behind the other, as in `if (c) out[k++] = x;`.
//!
//! All lanes know what the counter was before their group. Where it is used, the lanes that are active are those that
//! count. Each gets the number from before the group and how many of them come before it: an exclusive scan of ones.
//! Behind the iteration, the counter has grown by the number of lanes that have counted.
//!
//! A store at the counter, which moves on by as much as it stores, becomes a packed store ([`LaneOp::Compact`]). Any
//! other goes to the address that each lane computes.
//!
//! Without a branch, `out[k] = x; k += c;`, every iteration stores, and one that does not count leaves what the next
//! one overwrites. So what is found behind a group is what those lanes have stored that count, and the last one.

use cranelift_entity::EntitySet;

use super::carried::Dependent;
use super::find::{Loop, dominates};
use super::put::resizing;
use super::selections::incoming;
use super::trips::number;
use crate::VectorizeError;
use crate::dependences::Growth;
use warpline_dataflow::linear::{Address, Extension, Term};
use warpline_ir::{
    BinaryOp, Block, CastOp, Combine, Edge, Function, Inst, InstFlags, IntPred, LaneOp, Module, Op, Type,
    Users, Value,
};

/// The next number is merged with the one before by so many φs at most.
const MAX_MERGES: usize = 32;

/// An address is computed from the counter by so many operations at most.
const MAX_STEPS: u32 = 8;

/// Appends an operation somewhere.
type Put<'a> = &'a mut dyn FnMut(&mut Function, Op, &[Value], Type) -> Value;

/// How a position in a compacted stream grows.
#[derive(Clone, Debug)]
pub(super) struct Compaction {
    /// What is added in iterations that count; to a pointer, in bytes.
    pub(super) step: i128,
    /// The number after it.
    counted: Value,
    /// The φs that merge the number of iterations that count with that of those that do not.
    merges: Vec<Inst>,
    /// A block that dominates all uses. All lanes that come to it count, and no other ones.
    at: Block,
    /// Stores that are packed.
    stores: Vec<Inst>,
    /// Stores of the next number at a place that stays the same: the last lane that counts says what is found there.
    told: Vec<Inst>,
    /// Whether an iteration counts, where all store.
    when: Option<Value>,
    /// Whether it is known not to wrap only since there are no more than 2^31 − 1 iterations.
    pub(super) is_bounded: bool,
}

impl Compaction {
    /// How a φ of the header counts, if it is such a position. `ends` are it and what it is in the next iteration.
    pub(super) fn find(
        l: &Loop,
        module: &Module,
        func: &Function,
        users: &Users,
        ends: (Value, Value),
    ) -> Option<Compaction> {
        Compaction::with_branch(l, module, func, users, ends)
            .or_else(|| Compaction::without_branch(l, module, func, users, ends))
    }

    /// How it counts in iterations that branch, where nobody else uses it.
    fn with_branch(
        l: &Loop,
        module: &Module,
        func: &Function,
        users: &Users,
        (phi, next): (Value, Value),
    ) -> Option<Compaction> {
        let counts = match func.ty(phi) {
            Type::Int(bits) => (8..=64).contains(&bits),
            Type::Ptr(space) => module.layout.index_bits(space) == 64,
            _ => false,
        };
        if !counts {
            return None;
        }
        let (merges, counted) = merges(l, func, phi, next)?;
        let by = func.def_inst(counted).filter(|_| !l.is_invariant(func, counted))?;
        let (of, Growth::Constant(step), flags) = l.addition(module, func, by)? else { return None };
        if of != phi || step == 0 || step.unsigned_abs() >= 1 << 28 {
            return None;
        }
        let mut found = Compaction {
            step,
            counted,
            merges,
            at: l.header,
            stores: Vec::new(),
            told: Vec::new(),
            when: None,
            is_bounded: false,
        };
        let uses = found.uses(l, func, users, phi)?;
        let blocks: Vec<Block> = uses.iter().map(|&u| func.insts[u].block).collect();
        let covers = |b: Block| blocks.iter().all(|&u| dominates(&l.dominators, b, u));
        found.at = blocks.iter().copied().find(|&b| covers(b))?;
        if !l.own.contains(found.at) || !found.all_count(l, func, phi) {
            return None;
        }
        let dependent = Dependent::of(func, users, phi);
        // It counts from 0 by 1, and as a number of 32 bits does not wrap in so many iterations.
        let start = func.edges[func.out_edges(l.preheader)[0]].args[l.position_of(func, phi)?];
        let counts_rounds = step == 1 && func.ty(phi) == Type::Int(32) && number(func, start) == Some(0);
        let exact = InstFlags::NSW | InstFlags::NUW;
        found.is_bounded = counts_rounds && !flags.contains(exact);
        let flags = if counts_rounds { exact } else { flags };
        let address = At { l, module, func, phi, step, flags };
        let is_packed = |&i: &Inst| address.is_packed(i) && found.is_for_all(l, func, func.insts[i].block);
        found.stores = dependent.insts.iter().copied().filter(is_packed).collect();
        let is_told = |&i: &Inst| {
            let data = &func.insts[i];
            let is_next = matches!(&data.op, Op::Store(a) if a.is_simple()) && data.args[0] == counted;
            let stays = func.accessed(i).is_some_and(|a| l.is_invariant(func, a.address));
            is_next && stays && found.is_for_all(l, func, data.block)
        };
        found.told = dependent.insts.iter().copied().filter(is_told).collect();
        Some(found)
    }

    /// How it counts where it grows without a branch, and every iteration stores by it.
    fn without_branch(
        l: &Loop,
        module: &Module,
        func: &Function,
        users: &Users,
        (phi, next): (Value, Value),
    ) -> Option<Compaction> {
        let counter = func.def_inst(next).filter(|_| l.breaks.is_empty())?;
        let (when, step) = counted_by(module, func, phi, counter)?;
        let dependent = Dependent::of(func, users, phi);
        let flags = func.insts[counter].flags;
        let address = At { l, module, func, phi, step, flags };
        let is_store = |i: Inst| {
            let is_other = |v: &Value| !dependent.values.contains(*v);
            l.is_always(func, func.insts[i].block)
                && func.insts[i].args.first().is_some_and(is_other)
                && address.is_packed(i)
        };
        let (stores, others): (Vec<Inst>, Vec<Inst>) =
            dependent.insts.iter().copied().partition(|&i| is_store(i));
        let leads = |&i: &Inst| matches!(func.insts[i].op, Op::Gep(_) | Op::Cast(_) | Op::Binary(_));
        let nexts = func.edges[l.back].args.iter().filter(|&&v| dependent.values.contains(v)).count();
        let fits = !dependent.values.contains(when)
            && l.is_always(func, func.insts[counter].block)
            && users.get(next).is_empty()
            && nexts == 1
            && !stores.is_empty()
            && others.iter().all(leads);
        fits.then(|| Compaction {
            step,
            counted: next,
            merges: Vec::new(),
            at: l.header,
            stores,
            told: Vec::new(),
            when: Some(when),
            is_bounded: false,
        })
    }

    /// Whether an iteration counts, where all store: known before they do.
    pub(super) fn when(&self) -> Option<Value> {
        self.when
    }

    /// Checks that stores of all iterations find out before whether their iteration counts.
    ///
    /// # Errors
    /// If one does not.
    pub(super) fn check(&self, body: &Function) -> Result<(), VectorizeError> {
        let Some(when) = self.when.and_then(|v| body.def_inst(v)) else { return Ok(()) };
        let block = body.insts[when].block;
        let place = |i: Inst| body.blocks[block].insts.iter().position(|&x| x == i);
        let is_behind = |&i: &Inst| body.insts[i].block == block && place(when) < place(i);
        match self.stores.iter().find(|i| !is_behind(i)) {
            None => Ok(()),
            Some(&store) => {
                let reason = "stores at a place that moves on only in some iterations, before it is known whether this \
                     is one of them; compute that first, or declare pointers `restrict`";
                Err(VectorizeError::at_inst(body, store, reason))
            }
        }
    }

    /// Who uses the number, or the next one, but for the φs that merge them. `None` if somebody else sees what these
    /// merge, or a φ of the loop or a branch is among the users.
    fn uses(&self, l: &Loop, func: &Function, users: &Users, phi: Value) -> Option<Vec<Inst>> {
        let is_merge = |i: &Inst| self.merges.contains(i);
        let hidden = |i: &Inst| users.get(func.insts[*i].results[0]).iter().all(is_merge);
        if !self.merges.iter().all(hidden) {
            return None;
        }
        let of = |v: Value| users.get(v).iter().copied().filter(|u| !is_merge(u)).collect::<Vec<Inst>>();
        let (mut all, behind) = (of(phi), of(self.counted));
        if behind.is_empty() {
            all.retain(|&u| Some(u) != func.def_inst(self.counted));
        }
        all.extend(behind);
        // Another φ of the header would see it in the next iteration.
        let dependent = Dependent::of(func, users, phi);
        let nexts = func.edges[l.back].args.iter().filter(|&&v| dependent.values.contains(v)).count();
        // What a panic is told is merged outside of the loop.
        let plain = |&u: &Inst| {
            let data = &func.insts[u];
            !data.op.is_terminator() && (data.op != Op::Phi || !l.blocks.contains(data.block))
        };
        (nexts == 1 && !all.is_empty() && all.iter().all(plain)).then_some(all)
    }

    /// Whether the lanes that come to the block of the uses are those that count.
    fn all_count(&self, l: &Loop, func: &Function, phi: Value) -> bool {
        let is_counting = |v: Value| v == self.counted && v != phi;
        let all = self.merges.iter().flat_map(|&i| incoming(func, i));
        let counting: Vec<Edge> = all.filter(|&(_, v)| is_counting(v)).map(|(e, _)| e).collect();
        counting.iter().all(|&e| dominates(&l.dominators, self.at, func.edges[e].from))
            && !reaches_latch(l, func, self.at, |e| counting.contains(&e), |_| false)
    }

    /// Whether all lanes that count come to a block, once.
    fn is_for_all(&self, l: &Loop, func: &Function, block: Block) -> bool {
        let dominated = dominates(&l.dominators, self.at, block);
        l.own.contains(block)
            && dominated
            && (block == self.at || !reaches_latch(l, func, self.at, |_| false, |b| b == block))
    }

    /// Makes lanes count, in the function of one iteration: `carry` is the number before the group, and `end` the
    /// block that ends the iteration. The number behind the group.
    pub(super) fn emit(
        &self,
        body: &mut Function,
        (phi, carry): (Value, Value),
        lane: Value,
        end: Block,
    ) -> Value {
        let counts = self.when.unwrap_or_else(|| self.merge_whether_counted(body, phi));
        for &store in &self.stores {
            let mask = match self.when {
                Some(when) => or_last(body, store, when, lane),
                None => body.bool_const(true),
            };
            pack(body, store, (phi, carry), mask);
        }
        for &store in &self.told {
            let yes = body.bool_const(true);
            let mut put = |body: &mut Function, op: Op, args: &[Value], ty: Type| {
                body.insert_value_before(store, op, args, ty, InstFlags::empty())
            };
            let many = put(body, Op::Lane(LaneOp::Popcount), &[yes], Type::Int(32));
            body.insts[store].args[0] = self.advanced(body, carry, many, &mut put);
        }
        drop_unused(body, self.counted);
        if is_used(body, phi) {
            let before = body.blocks[self.at].insts[0];
            let one = body.int_const(32, 1);
            let mut put = |body: &mut Function, op: Op, args: &[Value], ty: Type| {
                body.insert_value_before(before, op, args, ty, InstFlags::empty())
            };
            let scan = Op::Lane(LaneOp::ScanExclusive(Combine::Add));
            let rank = put(body, scan, &[one], Type::Int(32));
            let here = self.advanced(body, carry, rank, &mut put);
            body.map_operands(|v| if v == phi { here } else { v });
        }
        let mut put =
            |body: &mut Function, op: Op, args: &[Value], ty: Type| body.append_value(end, op, args, ty);
        let many = put(body, Op::Lane(LaneOp::Popcount), &[counts], Type::Int(32));
        self.advanced(body, carry, many, &mut put)
    }

    /// Makes φs that merge whether a lane has counted in place of those that merge the numbers. The one in place of
    /// the first.
    fn merge_whether_counted(&self, body: &mut Function, phi: Value) -> Value {
        let new: Vec<Value> =
            self.merges.iter().map(|&i| body.add_phi(body.insts[i].block, Type::BOOL)).collect();
        let [no, yes] = [false, true].map(|b| body.bool_const(b));
        for (&i, &flag) in self.merges.iter().zip(&new) {
            let at = body.def_inst(flag).and_then(|i| body.phi_position(i));
            let all: Vec<(Edge, Value)> = incoming(body, i).collect();
            for (e, v) in all {
                let other = self.merges.iter().position(|&m| body.insts[m].results[0] == v);
                let flag = match other {
                    Some(other) => new[other],
                    None if v == phi => no,
                    None => yes,
                };
                if let Some(at) = at {
                    body.set_phi_arg(e, at, flag);
                }
            }
        }
        for &i in &self.merges {
            body.retain_phis(body.insts[i].block, |p| p != i);
        }
        new[0]
    }

    /// A number so many steps later.
    fn advanced(&self, body: &mut Function, from: Value, count: Value, put: Put<'_>) -> Value {
        let ty = body.ty(from);
        let bits = ty.int_bits().unwrap_or(64);
        let count = match resizing(Type::Int(bits)) {
            Some(op) => put(body, Op::Cast(op), &[count], Type::Int(bits)),
            None => count,
        };
        let distance = match self.step {
            1 => count,
            step => {
                let step = body.int_const(bits, step as u128);
                put(body, Op::Binary(BinaryOp::Mul), &[count, step], Type::Int(bits))
            }
        };
        match ty.is_ptr() {
            true => put(body, Op::Gep(Type::Int(8)), &[from, distance], ty),
            false => put(body, Op::Binary(BinaryOp::Add), &[from, distance], ty),
        }
    }
}

/// The φs by which what a φ of the header is in the next iteration is merged from what it was and from one other
/// value, the first one first, and that value.
fn merges(l: &Loop, func: &Function, phi: Value, next: Value) -> Option<(Vec<Inst>, Value)> {
    let is_merge = |i: Inst| {
        let data = &func.insts[i];
        data.op == Op::Phi && data.block != l.header && l.blocks.contains(data.block)
    };
    let mut found: Vec<Inst> = Vec::new();
    let mut counted = None;
    let mut work = vec![next];
    while let Some(v) = work.pop() {
        let i = func.def_inst(v)?;
        if found.contains(&i) {
            continue;
        }
        if !is_merge(i) || !l.own.contains(func.insts[i].block) || found.len() == MAX_MERGES {
            return None;
        }
        found.push(i);
        for (_, from) in incoming(func, i) {
            if func.def_inst(from).is_some_and(is_merge) {
                work.push(from);
            } else if from != phi && *counted.get_or_insert(from) != from {
                return None;
            }
        }
    }
    Some((found, counted?))
}

/// Whether control comes from a block to the end of the iteration by other edges and other blocks than some.
fn reaches_latch(
    l: &Loop,
    func: &Function,
    from: Block,
    avoids_edge: impl Fn(Edge) -> bool,
    avoids: impl Fn(Block) -> bool,
) -> bool {
    let latch = func.edges[l.back].from;
    let mut seen: EntitySet<Block> = EntitySet::new();
    let mut work = vec![from];
    while let Some(b) = work.pop() {
        if b == latch {
            return true;
        }
        for &e in func.out_edges(b) {
            let to = func.edges[e].to;
            let goes = l.blocks.contains(to) && e != l.back && !avoids_edge(e) && !avoids(to);
            if goes && seen.insert(to) {
                work.push(to);
            }
        }
    }
    false
}

/// What addresses of stores are looked at by.
struct At<'a> {
    l: &'a Loop,
    module: &'a Module,
    func: &'a Function,
    phi: Value,
    step: i128,
    flags: InstFlags,
}

impl At<'_> {
    /// Whether a store goes to the counter, each one element behind the one before.
    fn is_packed(&self, i: Inst) -> bool {
        let (func, data) = (self.func, &self.func.insts[i]);
        let (Op::Store(access), Some(stored)) = (&data.op, func.accessed(i)) else { return false };
        let size = self.module.layout.store_size(&self.module.types, stored.ty);
        access.is_simple()
            && func.ty(stored.address) == Type::PTR
            && LaneOp::Compact.takes(func.ty(data.args[0]))
            && size.is_some_and(|size| self.moves_by(stored.address, size.into()))
            && self.is_formula(stored.address, MAX_STEPS)
    }

    /// Whether an address is the counter times something, and grows by so many bytes with it.
    fn moves_by(&self, address: Value, size: i128) -> bool {
        let Some(found) = Address::of(self.module, self.func, address) else { return false };
        let (own, others): (Vec<Term>, Vec<Term>) = found.terms.iter().partition(|t| t.value == self.phi);
        let stays = |v: Value| self.l.is_invariant(self.func, v);
        if !others.iter().all(|t| stays(t.value)) {
            return false;
        }
        match own[..] {
            [] => found.root == self.phi && self.step == size,
            [t] => {
                let exact = match t.extension {
                    Extension::None => self.func.ty(self.phi) == Type::Int(64),
                    Extension::Signed => self.flags.contains(InstFlags::NSW),
                    Extension::Unsigned => self.flags.contains(InstFlags::NUW),
                };
                exact && stays(found.root) && self.step.checked_mul(t.scale.into()) == Some(size)
            }
            _ => false,
        }
    }

    /// Whether a value is computed, by few operations without effects, from the counter and what stays the same.
    fn is_formula(&self, v: Value, depth: u32) -> bool {
        if v == self.phi || self.l.is_invariant(self.func, v) {
            return true;
        }
        let Some(i) = self.func.def_inst(v) else { return false };
        let data = &self.func.insts[i];
        let pure = matches!(data.op, Op::Gep(_) | Op::Cast(_) | Op::Binary(_)) && data.effects().is_empty();
        depth > 0 && pure && data.args.iter().all(|&a| self.is_formula(a, depth - 1))
    }
}

/// By what condition an instruction adds how much to a φ, nothing if it does not hold.
fn counted_by(module: &Module, func: &Function, phi: Value, i: Inst) -> Option<(Value, i128)> {
    let data = &func.insts[i];
    let (by, size) = match (&data.op, &data.args[..]) {
        (Op::Binary(BinaryOp::Add), &[x, y]) if (x == phi) != (y == phi) => (if x == phi { y } else { x }, 1),
        (&Op::Gep(of), &[base, by]) if base == phi => (by, module.layout.alloc_size(&module.types, of)?),
        _ => return None,
    };
    let by = &func.insts[func.def_inst(by)?];
    let (when, times) = match (&by.op, &by.args[..]) {
        (Op::Cast(CastOp::ZExt), &[when]) => (when, 1),
        (Op::Select, &[when, yes, no]) if func.as_int(no) == Some(0) => (when, func.as_int(yes)?),
        _ => return None,
    };
    let step = i128::try_from(times).ok()?.checked_mul(size.into())?;
    (func.ty(when) == Type::BOOL && (1..1 << 28).contains(&step)).then_some((when, step))
}

/// Whether a lane counts, or is the last one, before an instruction that all lanes execute. They are the first ones.
fn or_last(body: &mut Function, before: Inst, when: Value, lane: Value) -> Value {
    let [one, yes] = [body.int_const(32, 1), body.bool_const(true)];
    let mut put =
        |op: Op, args: &[Value], ty: Type| body.insert_value_before(before, op, args, ty, InstFlags::empty());
    let many = put(Op::Lane(LaneOp::Popcount), &[yes], Type::Int(32));
    let last = put(Op::Binary(BinaryOp::Sub), &[many, one], Type::Int(32));
    let is_last = put(Op::ICmp(IntPred::Eq), &[lane, last], Type::BOOL);
    put(Op::Binary(BinaryOp::Or), &[when, is_last], Type::BOOL)
}

/// Makes a packed store of a store at an address that is computed from `phi`, for which `carry` stands before the
/// group.
fn pack(body: &mut Function, store: Inst, (phi, carry): (Value, Value), mask: Value) {
    let Some(stored) = body.accessed(store) else { return };
    let to = rebuilt(body, stored.address, (phi, carry), store, MAX_STEPS);
    let data = body.insts[store].clone();
    let packed =
        body.make_inst(data.block, Op::Lane(LaneOp::Compact), &[to, data.args[0], mask], &[Type::Int(32)]);
    (body.insts[packed].loc, body.insts[packed].origin) = (data.loc, data.origin);
    for i in &mut body.blocks[data.block].insts {
        if *i == store {
            *i = packed;
        }
    }
    drop_unused(body, stored.address);
}

/// Removes what computes a value, as far as nothing uses it.
fn drop_unused(body: &mut Function, v: Value) {
    let Some(i) = body.def_inst(v).filter(|_| !is_used(body, v)) else { return };
    let data = body.insts[i].clone();
    if matches!(data.op, Op::Gep(_) | Op::Cast(_) | Op::Binary(_)) {
        body.blocks[data.block].insts.retain(|&other| other != i);
        data.args.iter().for_each(|&a| drop_unused(body, a));
    }
}

/// A value with another one in place of a φ, computed before an instruction. What is known of the operations need not
/// hold for it.
fn rebuilt(body: &mut Function, v: Value, (phi, carry): (Value, Value), before: Inst, depth: u32) -> Value {
    if v == phi {
        return carry;
    }
    let Some(i) = body.def_inst(v).filter(|_| depth > 0) else { return v };
    let data = body.insts[i].clone();
    if !matches!(data.op, Op::Gep(_) | Op::Cast(_) | Op::Binary(_)) {
        return v;
    }
    let args: Vec<Value> =
        data.args.iter().map(|&a| rebuilt(body, a, (phi, carry), before, depth - 1)).collect();
    match args == data.args[..] {
        true => v,
        false => body.insert_value_before(before, data.op, &args, body.ty(v), InstFlags::empty()),
    }
}

/// Whether anything uses a value.
pub(super) fn is_used(body: &Function, v: Value) -> bool {
    let of_inst = |i: Inst| body.insts[i].args.contains(&v);
    body.layout.iter().any(|&b| {
        body.block_insts(b).any(of_inst) || body.out_edges(b).iter().any(|&e| body.edges[e].args.contains(&v))
    })
}
