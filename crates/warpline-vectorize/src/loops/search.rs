//! Loops that are left in the middle: searches, and whatever else ends by a `break`.
//!
//! ```c
//! for (int i = 0; i < n; i++) if (a[i] == x) return i;
//! ```
//!
//! The scalar loop executes nothing of an iteration behind the first one that leaves it. A group of iterations finds
//! out, at each branch that leaves the loop, whether any of its lanes would do so. If one would, the group ends there,
//! having done nothing that is seen, and the scalar loop goes on from where the group began; where nothing but
//! inductions is carried and nothing is stored, from the lane in question. Otherwise all lanes do what the scalar
//! program does.
//!
//! Up to the last such branch, lanes behind the first one that leaves the loop compute what the program never does. So
//! * nothing may be called or divided there, and no inner loop be entered; stores of every iteration move to behind the
//!   last branch, past loads that they do not change;
//! * what is computed there may be poison: conditions are frozen, and promises of the instructions (that nothing wraps)
//!   are dropped. If a lane that computes rubbish says that it leaves the loop, an earlier one says so too;
//! * what is loaded must be there ([`Speculated`]). What was found does not matter.
//!
//! # Loads
//!
//! The first lane of a group executes what the scalar program does, as long as control gets past each branch only if
//! no lane leaves the loop by it. A load of it in every iteration, at an address that moves by a constant step,
//! * is there for all lanes if it lies between two pointers into one object (`getelementptr inbounds`), as in loops
//!   over iterators, or in an object of known size;
//! * can be executed for the lanes that load from the first one's page of memory, which are not more than those. The
//!   object may end before. So this is a load of a kind of its own ([`MemAccess::is_speculative`]), of which nothing
//!   can be concluded, and groups end with pages.
//!
//! Both need that nothing in the loop frees memory.
//!
//! [`MemAccess::is_speculative`]: warpline_ir::MemAccess::is_speculative

use warpline_dataflow::linear::{Address, Extension, Term};
use warpline_ir::{
    BinaryOp, Block, CastOp, Effects, Function, Inst, InstData, InstFlags, LaneOp, Module, Op, Type, Value,
};

use super::carried::{Carried, Kind};
use super::find::{Loop, dominates};
use super::hoist::{distance_is_open, may_meet};
use super::safe_divisors;
use super::trips::Counter;
use crate::VectorizeError;
use crate::dependences::{Apart, Growth};
use crate::if_conversion::is_pure;
use crate::known_calls::is_annotation;
use crate::objects::{Objects, may_free};

/// What is known of a loop that is left in the middle.
#[derive(Clone, Debug)]
pub(super) struct Search {
    /// Loads that groups may execute within a page only.
    pub(super) paged: Vec<Speculated>,
    /// Whether iterations do nothing but look, so that the scalar loop may go on from any lane: they store nothing,
    /// carry nothing but inductions, and do not end the program.
    pub(super) only_looks: bool,
    /// Whether whole groups may be executed at the end of the loop, where fewer iterations are left: nothing is done
    /// but to load what pages have, and to compute.
    pub(super) looks_beyond: bool,
    /// Objects are this many iterations long at most: more of them are a sign that the bounds are the wrong way round.
    pub(super) most: Option<i64>,
    /// Inductions, by position, that must not wrap, as they are extended, in any iteration of a group.
    pub(super) exact: Vec<(usize, Extension)>,
    /// Stores that move to behind the last branch that leaves the loop, in their order.
    pub(super) stores: Vec<Inst>,
    /// Those, with loads that they move past and that must be checked to be elsewhere.
    pub(super) moved: Vec<(Inst, Inst)>,
}

/// A load that lanes execute although the program may not.
#[derive(Copy, Clone, Debug)]
pub(super) struct Speculated {
    pub(super) inst: Inst,
    pub(super) address: Value,
    /// By how many bytes the address moves in each iteration; not 0.
    pub(super) step: i64,
    /// How many bytes are loaded.
    pub(super) bytes: u64,
}

/// So many instructions compute an address from what the loop carries.
const MAX_DEPTH: u32 = 12;

impl Search {
    /// Whether groups must end with pages of memory.
    pub(super) fn is_paged(&self) -> bool {
        !self.paged.is_empty()
    }

    /// Looks at a loop that is left in the middle; `None` if it is not.
    ///
    /// # Errors
    /// If lanes cannot look ahead.
    pub(super) fn of(
        module: &Module,
        func: &Function,
        l: &Loop,
        carried: &[Carried],
        counter: &Counter,
    ) -> Result<Option<Search>, VectorizeError> {
        if l.breaks.is_empty() {
            return Ok(None);
        }
        let inside = || func.layout.iter().copied().filter(|&b| l.blocks.contains(b));
        let mut insts = inside().flat_map(|b| func.block_insts(b));
        if let Some(i) = insts.find(|&i| may_free(module, &func.insts[i]) && !is_store(func, i)) {
            let reason =
                "this loop is left in the middle, and what it calls may free the memory that lanes look at";
            return Err(VectorizeError::at_inst(func, i, reason));
        }
        let seen = |i: Inst| !may_repeat(module, &func.insts[i]);
        let plain = |c: &Carried| matches!(c.kind, Kind::Induction { .. } | Kind::Growing { .. });
        // What stands behind the last branch is passed over for lanes before the one that leaves.
        let behind = || inside().filter(|&b| !l.is_before_last_break(func, b));
        let only_looks = carried.iter().all(plain)
            && !inside().flat_map(|b| func.block_insts(b)).any(seen)
            && behind().all(|b| goes_on(func, l, b));
        let (paged, exact, stores, moved) = Default::default();
        let looks_beyond = only_looks && behind().all(|b| computes(module, func, b));
        let mut search = Search { paged, only_looks, looks_beyond, most: None, exact, stores, moved };
        search.exact.extend(counter.extended().map(|extension| (counter.phi, extension)));
        let looking = Looking { module, func, l, carried, counter, objects: Objects::of(module, func) };
        for block in inside().filter(|&b| l.is_before_last_break(func, b)) {
            if !l.own.contains(block) {
                let reason = "this loop is entered before it is known whether an earlier iteration leaves the one \
                              around it";
                return Err(VectorizeError::at_block(func, block, reason));
            }
            for i in func.block_insts(block) {
                looking.instruction(i, &mut search)?;
            }
        }
        search.looks_beyond &= search.is_paged();
        looking.move_stores(&mut search)?;
        if l.is_endless && search.paged.is_empty() {
            let reason = "this loop looks for nothing in memory, and has no counter";
            return Err(VectorizeError::at_block(func, l.header, reason));
        }
        Ok(Some(search))
    }
}

/// Whether control goes on in the loop behind a block, and does not stay in an inner one.
fn goes_on(func: &Function, l: &Loop, block: Block) -> bool {
    l.own.contains(block) && func.successors(block).all(|to| !l.dead.contains(to))
}

/// Whether a block does nothing but compute.
fn computes(module: &Module, func: &Function, block: Block) -> bool {
    let silent = |&i: &Inst| is_annotation(module, &func.insts[i]) || func.insts[i].effects().is_empty();
    func.blocks[block].insts.iter().all(silent)
}

/// Whether nobody sees it if an instruction is executed once more, or not at all.
pub(super) fn may_repeat(module: &Module, data: &InstData) -> bool {
    let harmless = Effects::READS | Effects::TRAPS | Effects::ARG_MEMORY_ONLY;
    is_annotation(module, data) || data.effects().difference(harmless).is_empty()
}

fn is_store(func: &Function, i: Inst) -> bool {
    matches!(&func.insts[i].op, Op::Store(access) if access.is_simple())
}

struct Looking<'a> {
    module: &'a Module,
    func: &'a Function,
    l: &'a Loop,
    carried: &'a [Carried],
    counter: &'a Counter,
    objects: Objects<'a>,
}

impl Looking<'_> {
    /// Looks at an instruction that lanes execute before it is known whether one leaves the loop.
    fn instruction(&self, i: Inst, search: &mut Search) -> Result<(), VectorizeError> {
        let func = self.func;
        let data = &func.insts[i];
        if matches!(&data.op, Op::Load(access) if access.is_simple()) {
            return self.load(i, search);
        }
        if is_store(func, i) && self.l.is_always(func, data.block) {
            search.stores.push(i);
            return Ok(());
        }
        let harmless = data.op == Op::Phi
            || matches!(
                data.op,
                Op::Br | Op::CondBr | Op::Switch(_) | Op::ExtractValue(_) | Op::InsertValue(_)
            )
            || is_annotation(self.module, data)
            || is_pure(self.module, func, i)
            || safe_divisors::divides_safely(func, i);
        if harmless {
            return Ok(());
        }
        let reason =
            "is executed in an iteration before it is known whether that, or an earlier one, leaves the loop";
        Err(VectorizeError::at_inst(func, i, reason))
    }

    /// Sees which loads stores move past.
    fn move_stores(&self, search: &mut Search) -> Result<(), VectorizeError> {
        let (func, l) = (self.func, self.l);
        let Some(last) = l.breaks.last().filter(|_| !search.stores.is_empty()) else { return Ok(()) };
        let stays = func.insts[last.branch].edges[usize::from(last.leaves_if)];
        if func.blocks[func.edges[stays].to].preds.len() > 1 {
            let reason = "this leaves the loop behind a store, and other ways lead to where it goes on";
            return Err(VectorizeError::at_inst(func, last.branch, reason));
        }
        // What is executed in every iteration has an order.
        let precedes = |a: Inst, b: Inst| {
            let [of_a, of_b] = [a, b].map(|i| func.insts[i].block);
            match of_a == of_b {
                true => func.block_insts(of_a).find(|&i| i == a || i == b) == Some(a),
                false => dominates(&l.dominators, of_a, of_b),
            }
        };
        search.stores.sort_by(|&a, &b| precedes(b, a).cmp(&precedes(a, b)));
        let apart = Apart::new(self.module, func, None);
        let early = func.layout.iter().copied().filter(|&b| l.is_before_last_break(func, b));
        for load in
            early.flat_map(|b| func.block_insts(b)).filter(|&i| matches!(func.insts[i].op, Op::Load(_)))
        {
            for &store in search.stores.iter().filter(|&&store| !precedes(load, store)) {
                if !may_meet(self.module, func, &apart, store, load) {
                    continue;
                }
                if !distance_is_open(self.module, func, store, load) {
                    let reason =
                        "loads, before it is known whether the iteration leaves the loop, what it has stored";
                    return Err(VectorizeError::at_inst(func, load, reason));
                }
                search.moved.push((store, load));
            }
        }
        Ok(())
    }

    fn load(&self, i: Inst, search: &mut Search) -> Result<(), VectorizeError> {
        let func = self.func;
        let refuse = |reason: &str| Err(VectorizeError::at_inst(func, i, reason));
        let Some(accessed) = func.accessed(i) else { return refuse("loads in a way that is not understood") };
        let bytes = self.module.layout.store_size(&self.module.types, accessed.ty);
        let address = Address::of(self.module, func, accessed.address);
        let plain = self.is_computable(accessed.address, MAX_DEPTH);
        let address = address.filter(|_| plain);
        let moving = address.and_then(|address| Some((self.step(&address, &mut search.exact)?, address)));
        let (Some(bytes), Some((step, address))) = (bytes, moving) else {
            return refuse(
                "loads, before it is known whether an earlier iteration leaves the loop, from an address that does \
                 not move by a constant step",
            );
        };
        if self.is_in_object(&address, bytes) {
            search.looks_beyond &= step == 0;
            return Ok(());
        }
        if !self.l.is_always(func, func.insts[i].block) {
            return refuse(
                "loads under a condition, before it is known whether an earlier iteration leaves the loop, what may \
                 not be there",
            );
        }
        // The first lane loads from there, too.
        if step == 0 {
            return Ok(());
        }
        if let Some(most) = self.lies_between(&address, bytes, step) {
            search.looks_beyond = false;
            search.most = Some(search.most.map_or(most, |known| known.min(most)));
            return Ok(());
        }
        if func.is_sanitized {
            return refuse(
                "loads what may not be there if an earlier iteration leaves the loop, which sanitizers report",
            );
        }
        let plain = matches!(func.ty(accessed.address), Type::Ptr(0));
        if !plain || !(1..=PAGE).contains(&bytes) {
            return refuse("loads what may not be there if an earlier iteration leaves the loop");
        }
        search.paged.push(Speculated { inst: i, address: accessed.address, step, bytes });
        Ok(())
    }

    /// By how much an address moves in each iteration, also in lanes that compute what the program does not.
    fn step(&self, address: &Address, exact: &mut Vec<(usize, Extension)>) -> Option<i64> {
        let mut step = self.growth(address.root, Extension::None, exact)?;
        for &Term { value, extension, scale } in &address.terms {
            step = step.checked_add(self.growth(value, extension, exact)?.checked_mul(scale.into())?)?;
        }
        i64::try_from(step).ok().filter(|s| s.unsigned_abs() < 1 << 31)
    }

    fn growth(&self, v: Value, extension: Extension, exact: &mut Vec<(usize, Extension)>) -> Option<i128> {
        if self.l.is_invariant(self.func, v) {
            return Some(0);
        }
        let k = self.carried.iter().position(|c| c.phi == v)?;
        let Kind::Induction { step: Growth::Constant(by), .. } = self.carried[k].kind else { return None };
        if extension != Extension::None && !exact.contains(&(k, extension)) {
            exact.push((k, extension));
        }
        Some(by)
    }

    /// Whether an address is in an object of known size in all iterations that might be executed.
    fn is_in_object(&self, address: &Address, bytes: u64) -> bool {
        let Some(extent) = self.objects.extent(address.root) else { return false };
        let Some(rounds) = self.counter.constant_rounds(self.func, self.l) else { return false };
        let start = self.counter.constant_start(self.func, self.l);
        let phi = self.carried[self.counter.phi].phi;
        let (mut least, mut greatest) = (i128::from(address.offset), i128::from(address.offset));
        for term in &address.terms {
            let Kind::Induction { step: Growth::Constant(by), .. } = self.carried[self.counter.phi].kind
            else {
                return false;
            };
            let (Some(start), true) = (start, term.value == phi) else { return false };
            let last = start + by * (i128::from(rounds) - 1).max(0);
            let [a, b] = [start, last].map(|x| x.saturating_mul(term.scale.into()));
            least = least.saturating_add(a.min(b));
            greatest = greatest.saturating_add(a.max(b));
        }
        least >= 0 && greatest.saturating_add(bytes.into()) <= extent.bytes.into()
    }

    /// Whether what is loaded is what the counter of the loop points to on its way from one pointer into an object to
    /// another one. How many iterations that can be.
    fn lies_between(&self, address: &Address, bytes: u64, step: i64) -> Option<i64> {
        let phi = self.carried[self.counter.phi].phi;
        let size = u64::try_from(step).ok()?;
        let within = u64::try_from(address.offset).ok()?.checked_add(bytes)? <= size;
        if address.root != phi || !address.terms.is_empty() || !within {
            return None;
        }
        let (start, end) = self.counter.ends_of_pointer(self.func, self.l, step)?;
        let common = self.inbounds_roots(start);
        let same = self.inbounds_roots(end).iter().any(|r| common.contains(r));
        (same && start != end).then_some(i64::MAX / step)
    }

    /// A pointer, and those before it in a chain of sums that stay within an object.
    fn inbounds_roots(&self, mut v: Value) -> Vec<Value> {
        let mut roots = vec![v];
        while let Some(i) = self.func.def_inst(v)
            && matches!(self.func.insts[i].op, Op::Gep(_))
            && self.func.insts[i].flags.contains(InstFlags::INBOUNDS)
            && roots.len() < MAX_DEPTH as usize
        {
            v = self.func.insts[i].args[0];
            roots.push(v);
        }
        roots
    }

    fn is_phi(&self, v: Value) -> bool {
        let def = self.func.def_inst(v);
        def.is_some_and(|i| self.func.insts[i].op == Op::Phi && self.func.insts[i].block == self.l.header)
    }

    /// Whether a value can be computed from what the loop carries and what stays the same, in 64 bits.
    fn is_computable(&self, v: Value, depth: u32) -> bool {
        let func = self.func;
        if self.l.is_invariant(func, v) {
            return true;
        }
        let Some(i) = func.def_inst(v) else { return false };
        let data = &func.insts[i];
        match data.op {
            Op::Phi => self.is_phi(v),
            Op::Cast(op) if self.is_phi(data.args[0]) => {
                matches!(op, CastOp::SExt | CastOp::ZExt | CastOp::PtrToInt | CastOp::IntToPtr)
            }
            // What is narrower may wrap where the program does not get to.
            Op::Binary(_) | Op::Gep(_) => {
                depth > 0
                    && (func.ty(v).is_ptr() || func.ty(v) == Type::Int(64))
                    && data.effects().is_empty()
                    && data.args.iter().all(|&a| self.is_computable(a, depth - 1))
            }
            _ => false,
        }
    }
}

/// Memory that one byte can be read of can be read in steps of so many bytes.
pub(super) const PAGE: u64 = 4096;

/// The type of what an iteration that is a kernel returns beside all else: a bit for each lane that leaves the loop.
pub(super) const LEAVING: Type = Type::Int(64);

/// Lets lanes agree at each branch that leaves the loop, in the kernel of its iterations, which has its instructions
/// under the same numbers: if any of them leaves, control leaves the kernel. The blocks that it does so by, each with
/// bits of lanes, of which those before the first one that is set are known to go on.
pub(super) fn lanes_agree(
    source: &Function,
    l: &Loop,
    search: &Search,
    body: &mut Function,
) -> Vec<(Block, Value)> {
    for load in &search.paged {
        if let Op::Load(access) = &mut body.insts[load.inst].op {
            access.is_speculative = true;
        }
    }
    let early: Vec<Block> =
        source.layout.iter().copied().filter(|&b| l.is_before_last_break(source, b)).collect();
    let wrapping = InstFlags::FAST - InstFlags::NNAN - InstFlags::NINF;
    for &b in &early {
        for i in body.block_insts(b).collect::<Vec<_>>() {
            let data = &mut body.insts[i];
            data.flags &= wrapping | InstFlags::DISJOINT;
        }
        let branch = body.terminator(b);
        let leaves = l.breaks.iter().any(|at| at.branch == branch);
        if matches!(body.insts[branch].op, Op::CondBr | Op::Switch(_)) && !leaves {
            let condition = body.insts[branch].args[0];
            let frozen = body.append_value(b, Op::Freeze, &[condition], body.ty(condition));
            body.insts[branch].args[0] = frozen;
        }
    }
    if let Some(last) = l.breaks.last() {
        let stays = body.edges[body.insts[last.branch].edges[usize::from(last.leaves_if)]].to;
        for &store in &search.stores {
            let from = body.insts[store].block;
            body.blocks[from].insts.retain(|&i| i != store);
            body.insts[store].block = stays;
        }
        body.blocks[stays].insts.splice(0..0, search.stores.iter().copied());
    }
    let mut ways_out = Vec::new();
    let yes = body.bool_const(true);
    for (k, at) in l.breaks.iter().enumerate() {
        let data = &body.insts[at.branch];
        let (block, condition, exit) = (data.block, data.args[0], data.edges[usize::from(!at.leaves_if)]);
        let negated = |body: &mut Function, x: Value| match at.leaves_if {
            true => x,
            false => body.append_value(block, Op::Binary(BinaryOp::Xor), &[x, yes], Type::BOOL),
        };
        let leaves = negated(body, condition);
        let leaves = body.append_value(block, Op::Freeze, &[leaves], Type::BOOL);
        let any = body.append_value(block, Op::Lane(LaneOp::Any), &[leaves], Type::BOOL);
        let any = negated(body, any);
        body.insts[at.branch].args[0] = any;
        let out = body.add_block("leaves");
        body.redirect_edge(exit, out);
        let leaving = match k + 1 == l.breaks.len() {
            true => body.append_value(out, Op::Lane(LaneOp::Ballot), &[leaves], LEAVING),
            // A lane before it may leave the loop by a later branch.
            false => body.int_const(64, 1),
        };
        ways_out.push((out, leaving));
    }
    ways_out
}
