//! The code around groups of iterations of a loop that is left in the middle ([`search`](super::search)): where the
//! scalar loop goes on, and where groups end with a page of memory.
//!
//! ```text
//!   page:       φs of the state, left; now = as many as load from the same pages as the first one, or left
//!               the groups of the skeleton, for as many as now      ; a lane leaves the loop: br stopped
//!               br left − now != 0, page, …
//!   stopped:    the state that the scalar loop goes on with;  br scalar
//! ```

use std::cell::RefCell;
use std::collections::HashMap;

use super::carried::Kind;
use super::rewrite::Parts;
use super::search::{PAGE, Speculated};
use super::selections::MAX_NUMBER;
use crate::builder::Builder;
use crate::choices::MAX_WIDTH;
use crate::dependences::Growth;
use crate::driver::BodyVariant;
use crate::driver::skeleton::{self, Skeleton, phis};
use warpline_dataflow::linear::Extension;
use warpline_ir::{BinaryOp, Block, CastOp, InstFlags, IntPred, Op, Type, Value};

/// Where groups end since a lane leaves the loop.
#[derive(Default)]
pub(super) struct Stops {
    all: RefCell<Vec<Stop>>,
    /// Blocks between those of the skeleton.
    between: RefCell<Vec<Block>>,
}

struct Stop {
    block: Block,
    /// The variant of the group.
    variant: BodyVariant,
    /// The state before it.
    before: Vec<Value>,
    /// Bits of lanes: from the first one on that is set, the scalar loop may go on.
    leaving: Value,
    /// If lanes may be of iterations that the loop does not get to: how many are not.
    limit: Option<Value>,
}

impl Stops {
    /// Ends the current block by going on, or to a new block if a group says that a lane leaves the loop.
    pub(super) fn add(&self, b: &mut Builder, variant: BodyVariant, before: &[Value], leaving: Value) {
        self.add_limited(b, variant, before, (leaving, None));
    }

    /// Ends the current block as [`add`](Self::add) does; of the lanes no more than the limit count, if there is one.
    fn add_limited(
        &self,
        b: &mut Builder,
        variant: BodyVariant,
        before: &[Value],
        (leaving, limit): (Value, Option<Value>),
    ) {
        let (block, on) = (b.block("stopped"), b.block("on"));
        let zero = b.int(64, 0);
        let leaves = b.icmp(IntPred::Ne, leaving, zero);
        b.cond_br(leaves, block, on);
        self.all.borrow_mut().push(Stop { block, variant, before: before.to_vec(), leaving, limit });
        self.between.borrow_mut().push(on);
        b.at = on;
    }
}

impl Parts<'_> {
    /// Makes the code of the blocks in which groups end, which leads to the scalar loop. All blocks that there are.
    pub(super) fn end_stops(&self, b: &mut Builder, starts: &[Value], scalar: Block) -> Vec<Block> {
        let mut blocks = self.stops.between.take();
        for Stop { block, variant, before, leaving, limit } in self.stops.all.take() {
            blocks.push(block);
            b.at = block;
            let undefined = b.func.bool_const(true);
            let first = b.intrinsic("llvm.cttz.i64", &[leaving, undefined], Type::Int(64));
            let first = limit.map_or(first, |limit| lesser(b, first, limit));
            if self.search.is_some_and(|s| s.only_looks) {
                let state: Vec<Value> = (0..before.len())
                    .map(|k| self.advanced(b, k, &before, Some(first), variant.lanes))
                    .collect();
                b.br(scalar);
                b.pass(&state);
                continue;
            }
            // Without a search, lanes leave at once.
            let masked = self.variants.tail.filter(|t| self.search.is_some() && t.lanes == variant.lanes);
            if let Some(tail) = masked {
                let (some, none) = (b.block("before"), b.block("at_once"));
                blocks.extend([some, none]);
                let zero = b.int(64, 0);
                let is_some = b.icmp(IntPred::Ne, first, zero);
                b.cond_br(is_some, some, none);
                b.at = some;
                let (behind, _) = self.group_of(b, tail, &before, Some(first));
                let state = self.state_behind(b, starts, &behind);
                b.br(scalar);
                b.pass(&state);
                b.at = none;
            }
            let state = self.state_behind(b, starts, &before);
            b.br(scalar);
            b.pass(&state);
        }
        blocks
    }

    /// Of so many iterations, those in which nothing wraps that must not, and none if objects are not that long.
    pub(super) fn within_search(&self, b: &mut Builder, mut rounds: Value, starts: &[Value]) -> Value {
        let Some(search) = self.search else { return rounds };
        // What is checked before the loop are stretches that no product may leave the address space for, though the
        // bound may be far from where the loop ends.
        if !self.checks.is_empty() {
            let most = b.int(64, MAX_NUMBER);
            rounds = lesser(b, rounds, most);
        }
        if let Some(most) = search.most {
            let (most, none) = (b.int(64, most), b.int(64, 0));
            let less = b.icmp(IntPred::Ule, rounds, most);
            rounds = b.value(Op::Select, &[less, rounds, none], Type::Int(64));
        }
        for &(k, extension) in &search.exact {
            let Kind::Induction { step: Growth::Constant(by), .. } = self.carried[k].kind else { continue };
            let ty = b.func.ty(starts[k]);
            let Some(bits) = ty.int_bits().filter(|&bits| bits < 64 && by != 0) else { continue };
            let start = b.value(Op::Freeze, &[starts[k]], ty);
            let end = match (extension, by > 0) {
                (Extension::Signed, true) => u128::MAX >> (129 - bits),
                (Extension::Signed, false) => 1 << (bits - 1),
                (_, true) => u128::MAX >> (128 - bits),
                (_, false) => 0,
            };
            let end = b.func.int_const(bits, end);
            let (far, near) = if by > 0 { (end, start) } else { (start, end) };
            let distance = b.binary(BinaryOp::Sub, far, near, InstFlags::empty());
            let distance = b.cast(CastOp::ZExt, distance, Type::Int(64));
            let step = b.func.int_const(64, by.unsigned_abs());
            let room = b.binary(BinaryOp::UDiv, distance, step, InstFlags::empty());
            // Groups may be more than the iterations that are left.
            let slack = b.int(64, MAX_WIDTH.into());
            let slack = lesser(b, room, slack);
            let room = b.binary(BinaryOp::Sub, room, slack, InstFlags::empty());
            let less = b.icmp(IntPred::Ult, room, rounds);
            rounds = b.value(Op::Select, &[less, room, rounds], Type::Int(64));
        }
        rounds
    }

    /// Makes the groups for so many iterations, as [`skeleton::emit`] does.
    pub(super) fn groups(&self, b: &mut Builder, before: &[Value], rounds: Value) -> Skeleton {
        let paged: &[Speculated] = self.search.map_or(&[], |s| &s.paged);
        if paged.is_empty() {
            return skeleton::emit(b, self.variants, self, before, rounds);
        }
        if self.search.is_some_and(|s| s.looks_beyond) {
            return self.looking_groups(b, before, rounds, paged);
        }
        let page = b.block("page");
        let state = phis(b, page, before);
        let left = b.func.add_phi(page, Type::Int(64));
        b.br(page);
        b.pass(&[before, &[rounds]].concat());
        b.at = page;
        let room = self.on_these_pages(b, paged, &state);
        let now = lesser(b, room, left);
        let made = skeleton::emit(b, self.variants, self, &state, now);
        let finish = b.block("finish");
        let later = b.binary(BinaryOp::Sub, left, now, InstFlags::NUW);
        let zero = b.int(64, 0);
        let more = b.icmp(IntPred::Ne, later, zero);
        b.cond_br(more, page, finish);
        b.pass(&[&made.state[..], &[later]].concat());
        b.at = finish;
        let blocks = [&[page][..], &made.blocks, &[finish]].concat();
        Skeleton { blocks, state: made.state }
    }

    /// The groups of a loop whose iterations only look. Whole groups are executed as long as pages have all of what they
    /// load, also if fewer iterations are left, of which then no others count; what pages end in, under a mask.
    ///
    /// ```text
    ///   page:    φs of the state, left; groups = room / W or (left − 1) / W + 1;     br groups != 0, lanes, tail
    ///   lanes:   φs of the state, left, groups; the W-lane variant;                  br groups − 1 != 0, lanes, after
    ///   after:                                                                       br left <= W, finish, page
    ///   tail:    the variant under a mask;                                           br left != 0, page, finish
    /// ```
    fn looking_groups(
        &self,
        b: &mut Builder,
        before: &[Value],
        rounds: Value,
        paged: &[Speculated],
    ) -> Skeleton {
        let i64_ = Type::Int(64);
        let (variant, none) = (self.variants.groups[0], InstFlags::empty());
        let [page, lanes, after, tail, finish] =
            ["page", "lanes", "after", "tail", "finish"].map(|name| b.block(name));
        let (state, left) = (phis(b, page, before), b.func.add_phi(page, i64_));
        b.br(page);
        b.pass(&[before, &[rounds]].concat());

        b.at = page;
        let (zero, one, width) = (b.int(64, 0), b.int(64, 1), b.int(64, variant.lanes.into()));
        let room = self.on_these_pages(b, paged, &state);
        let fitting = b.binary(BinaryOp::UDiv, room, width, none);
        let last = b.binary(BinaryOp::Sub, left, one, none);
        let wanted = b.binary(BinaryOp::UDiv, last, width, none);
        let wanted = b.binary(BinaryOp::Add, wanted, one, none);
        let groups = lesser(b, fitting, wanted);
        let some = b.icmp(IntPred::Ne, groups, zero);
        b.cond_br(some, lanes, tail);
        let (here, ahead) = (phis(b, lanes, before), b.func.add_phi(lanes, i64_));
        let count = b.func.add_phi(lanes, i64_);
        b.pass(&[&state[..], &[left, groups]].concat());

        b.at = lanes;
        let (behind, leaving) = self.group_of(b, variant, &here, None);
        let leaving = leaving.unwrap_or(zero);
        self.stops.add_limited(b, variant, &here, (leaving, Some(ahead)));
        let later = b.binary(BinaryOp::Sub, ahead, width, none);
        let fewer = b.binary(BinaryOp::Sub, count, one, none);
        let more = b.icmp(IntPred::Ne, fewer, zero);
        b.cond_br(more, lanes, after);
        b.pass(&[&behind[..], &[later, fewer]].concat());

        b.at = after;
        let over = b.icmp(IntPred::Ule, ahead, width);
        let end: Vec<Value> =
            (0..here.len()).map(|k| self.advanced(b, k, &here, Some(ahead), variant.lanes)).collect();
        b.cond_br(over, finish, page);
        let found = phis(b, finish, before);
        skeleton::pass_from(b, after, finish, &end);
        skeleton::pass_from(b, after, page, &[&behind[..], &[later]].concat());

        b.at = tail;
        let masked = self.variants.tail.unwrap_or(variant);
        let now = lesser(b, room, left);
        let (behind, leaving) = self.group_of(b, masked, &state, Some(now));
        self.stops.add(b, masked, &state, leaving.unwrap_or(zero));
        let later = b.binary(BinaryOp::Sub, left, now, none);
        let more = b.icmp(IntPred::Ne, later, zero);
        b.cond_br(more, page, finish);
        let at = b.at;
        skeleton::pass_from(b, at, page, &[&behind[..], &[later]].concat());
        skeleton::pass_from(b, at, finish, &behind);
        b.at = finish;
        Skeleton { blocks: vec![page, lanes, after, tail, finish], state: found }
    }

    /// In how many iterations from this state on all of these loads are from the pages that the first of them loads
    /// from.
    fn on_these_pages(&self, b: &mut Builder, paged: &[Speculated], state: &[Value]) -> Value {
        let rooms: Vec<Value> = paged.iter().map(|load| self.on_this_page(b, load, state)).collect();
        rooms.into_iter().reduce(|x, y| lesser(b, x, y)).expect("there is such a load")
    }

    /// In how many iterations from this state on a load is from the page that the first of them loads from; one at
    /// least.
    fn on_this_page(&self, b: &mut Builder, load: &Speculated, state: &[Value]) -> Value {
        let i64_ = Type::Int(64);
        let address = AtState::new(self, state).value(b, load.address);
        let address = b.cast(CastOp::PtrToInt, address, i64_);
        let address = b.value(Op::Freeze, &[address], i64_);
        let none = InstFlags::empty();
        let below = b.int(64, PAGE as i64 - 1);
        let offset = b.binary(BinaryOp::And, address, below, none);
        // What is left of the page behind the first load.
        let last = b.int(64, (PAGE - load.bytes) as i64);
        let room = b.binary(BinaryOp::Sub, last, offset, none);
        let zero = b.int(64, 0);
        let fits = b.icmp(IntPred::Sge, room, zero);
        let stretch = if load.step > 0 { room } else { offset };
        let stretch = b.value(Op::Select, &[fits, stretch, zero], i64_);
        let step = b.int(64, load.step.unsigned_abs() as i64);
        let more = b.binary(BinaryOp::UDiv, stretch, step, none);
        let one = b.int(64, 1);
        b.binary(BinaryOp::Add, more, one, none)
    }
}

/// The lesser of two numbers of 64 bits, unsigned.
fn lesser(b: &mut Builder, x: Value, y: Value) -> Value {
    let less = b.icmp(IntPred::Ult, x, y);
    b.value(Op::Select, &[less, x, y], Type::Int(64))
}

/// Values of the loop, computed from what it carries before a group.
pub(super) struct AtState<'a> {
    parts: &'a Parts<'a>,
    state: &'a [Value],
    made: HashMap<Value, Value>,
}

impl<'a> AtState<'a> {
    pub(super) fn new(parts: &'a Parts<'a>, state: &'a [Value]) -> AtState<'a> {
        AtState { parts, state, made: HashMap::new() }
    }

    pub(super) fn value(&mut self, b: &mut Builder, v: Value) -> Value {
        if let Some(&known) = self.made.get(&v) {
            return known;
        }
        let inside = b.func.def_inst(v).filter(|&i| self.parts.l.blocks.contains(b.func.insts[i].block));
        let Some(i) = inside else { return v };
        let carried = self.parts.carried.iter().position(|c| c.phi == v);
        let new = match carried {
            Some(k) => {
                debug_assert!(matches!(self.parts.carried[k].kind, Kind::Induction { .. }));
                self.state[k]
            }
            None => {
                let op = b.func.insts[i].op.clone();
                let args: Vec<Value> = b.func.insts[i].args.to_vec();
                let args: Vec<Value> = args.into_iter().map(|a| self.value(b, a)).collect();
                // Without its promises: they hold for what the program executes.
                b.value(op, &args, b.func.ty(v))
            }
        };
        self.made.insert(v, new);
        new
    }
}
