//! The vector loop skeleton: the code that takes a number of indices or iterations in groups of as many as vector
//! code has lanes. Range drivers and vectorized loops differ in what a group is given and leaves behind, not in this.
//!
//! ```text
//!   start:      φs of the state, left = φ count; now = prologue or left          ; alignment prologue, if there is one
//!   here:       br groups != 0, lanes, left                                  ; groups = now / W
//!   lanes:      φs of the state; the W-lane variant;       br more groups, lanes, left          ; vector body
//!   left:       φs of the state;                        br groups != 0, smaller, last
//!   smaller:    φs of the state; the smaller variant;      br more groups, smaller, last        ; vector epilogue
//!   last:       φs of the state;                        br something left, tail, done
//!   tail:       the variant under a mask;                  br done                              ; masked tail
//!   done:       φs of the state;                        br left - now != 0, start, finish
//! ```
//!
//! Where the last group of the last variant may be [executed once more](Groups::once_more), that takes the place of the
//! masked tail wherever there has been a group, and executes some indices again:
//!
//! ```text
//!   whole:      φs of the state, of how many groups and of how many indices behind them;  br groups != 0, lanes, left
//!   lanes, left: the loop over groups;                     br something left, repeat, behind
//!   repeat:     what must hold, some of it checked here;   br whole with 1 group, which ends with the last index
//!   behind:     `last`
//! ```
//!
//! Where there are sums, it is a group of a variant that only adds what the last indices add, in blocks of its own
//! behind the widest groups.
//!
//! Without a smaller variant, `left` is also `last`. Without a prologue, there are neither `start` nor `finish`. Where
//! the scalar program executes what is left at last, it stands in the place of `tail` and `done`, or behind all.

use warpline_ir::{BinaryOp, Block, FuncId, InstFlags, IntPred, Op, Type, Value};

use super::prologue::MIN_GROUPS;
use super::{BodyVariant, BodyVariants};
use crate::builder::{self, Builder};

/// What groups are given and leave behind, in a state of some values whose types never change.
pub(crate) trait Groups {
    /// Executes a group with a variant: all of its lanes, or the first `count` of them, which is not 0, if that is
    /// given. The variant has a mask then. The state behind it, as long as another group follows.
    fn group(
        &self,
        b: &mut Builder,
        variant: BodyVariant,
        before: &[Value],
        count: Option<Value>,
    ) -> Vec<Value>;

    /// The state as groups of this variant take it.
    fn resized(&self, b: &mut Builder, variant: BodyVariant, state: &[Value]) -> Vec<Value>;

    /// Executes what is left, so many that may be none, by the scalar program, unless that follows anyway.
    fn rest(&self, b: &mut Builder, state: &[Value], count: Value) -> Vec<Value>;

    /// What the function that says where whole groups begin is given for a group that would begin here.
    fn lead_arguments(&self, b: &mut Builder, state: &[Value]) -> Vec<Value>;

    /// Whether indices may be executed once more, at least where something holds that is checked when they are.
    fn may_repeat(&self) -> bool {
        false
    }

    /// Executes a group of which the last `count` lanes count; the others have been executed before. The state behind
    /// it. Only asked for where there is a variant for it.
    fn group_counting(&self, _: &mut Builder, _: BodyVariant, before: &[Value], _: Value) -> Vec<Value> {
        before.to_vec()
    }

    /// The state so many indices earlier, which is a negative number, of `count` in all. Control goes to a block
    /// instead if what must hold for them to be executed once more does not. Also the blocks that were made.
    fn once_more(&self, _: &mut Builder, state: &[Value], _: Again) -> (Vec<Value>, Vec<Block>) {
        (state.to_vec(), Vec::new())
    }
}

/// What indices are executed again.
#[derive(Copy, Clone)]
pub(crate) struct Again {
    /// By how many the state goes on: a negative number.
    pub(crate) by: Value,
    /// How many there are in all.
    pub(crate) count: Value,
    /// Where control goes if that cannot be.
    pub(crate) otherwise: Block,
}

/// What was made. The builder stands behind all of it.
pub(crate) struct Skeleton {
    /// The blocks that the skeleton consists of, in the order of execution.
    pub(crate) blocks: Vec<Block>,
    /// The state behind the last group.
    pub(crate) state: Vec<Value>,
}

/// Makes the code for so many indices, which is a 64-bit number and not 0, that begin with this state.
pub(crate) fn emit(
    b: &mut Builder,
    variants: &BodyVariants,
    groups: &dyn Groups,
    initial: &[Value],
    count: Value,
) -> Skeleton {
    let mut blocks = Vec::new();
    let prologue =
        variants.prologue.map(|prologue| Prologue::begin(b, variants, groups, prologue, initial, count));
    let (mut state, mut over) = (initial.to_vec(), count);
    if let Some(prologue) = &prologue {
        blocks.push(prologue.block);
        (state, over) = (prologue.state.clone(), prologue.now);
    }
    for (k, &variant) in variants.groups.iter().enumerate() {
        let names = if k == 0 { ["lanes", "left"] } else { ["smaller", "last"] };
        let [lanes, left] = names.map(|name| b.block(name));
        state = groups.resized(b, variant, &state);
        if let Some(counting) = variants.counting.filter(|_| k == 0 && prologue.is_none()) {
            let (number, rest) = divided(b, over, variant);
            state = whole_groups(b, groups, variant, &state, number, [lanes, left]);
            blocks.extend([lanes, left]);
            (state, over) = counted_once_more(b, groups, counting, &state, [rest, count], &mut blocks);
            continue;
        }
        let is_last = k + 1 == variants.groups.len();
        if is_last && groups.may_repeat() {
            let now = prologue.as_ref().map_or(count, |prologue| prologue.now);
            let counts = [over, now, count];
            (state, over) =
                groups_and_once_more(b, groups, variant, &state, counts, [lanes, left], &mut blocks);
            continue;
        }
        let (number, rest) = divided(b, over, variant);
        state = whole_groups(b, groups, variant, &state, number, [lanes, left]);
        over = rest;
        blocks.extend([lanes, left]);
    }
    let last = match variants.tail {
        Some(tail) => masked_tail(b, groups, tail, &state, over, &mut blocks),
        None => groups.rest(b, &state, over),
    };
    if let Some(prologue) = prologue {
        let finish = b.block("finish");
        blocks.push(finish);
        prologue.end(b, &last, finish);
    }
    Skeleton { blocks, state: last }
}

/// The last so many indices, which may be none, under a mask. The state behind them.
fn masked_tail(
    b: &mut Builder,
    groups: &dyn Groups,
    variant: BodyVariant,
    state: &[Value],
    count: Value,
    blocks: &mut Vec<Block>,
) -> Vec<Value> {
    let (tail, done) = (b.block("tail"), b.block("done"));
    blocks.extend([tail, done]);
    let left = b.at;
    let zero = b.int(64, 0);
    let some = b.icmp(IntPred::Ne, count, zero);
    b.cond_br(some, tail, done);
    let last = phis(b, done, state);
    pass_from(b, left, done, state);

    b.at = tail;
    let behind = groups.group(b, variant, state, Some(count));
    b.br(done);
    b.pass(&behind);
    b.at = done;
    last
}

/// How many whole groups so many indices are, and how many are left over.
fn divided(b: &mut Builder, count: Value, variant: BodyVariant) -> (Value, Value) {
    let width = b.int(64, variant.lanes.into());
    let number = b.binary(BinaryOp::UDiv, count, width, InstFlags::empty());
    (number, b.binary(BinaryOp::URem, count, width, InstFlags::empty()))
}

/// The loop over so many whole groups, which may be none, in the first of two blocks. The state behind it, in the
/// second block, where the builder goes on.
fn whole_groups(
    b: &mut Builder,
    groups: &dyn Groups,
    variant: BodyVariant,
    initial: &[Value],
    number: Value,
    [lanes, left]: [Block; 2],
) -> Vec<Value> {
    let begin = b.at;
    let (zero, one) = (b.int(64, 0), b.int(64, 1));
    let whole = b.icmp(IntPred::Ne, number, zero);
    b.cond_br(whole, lanes, left);
    let group = b.func.add_phi(lanes, Type::Int(64));
    let before = phis(b, lanes, initial);
    let passed: Vec<Value> = std::iter::once(zero).chain(initial.iter().copied()).collect();
    b.pass(&passed);

    b.at = lanes;
    let behind = groups.group(b, variant, &before, None);
    let next = b.binary(BinaryOp::Add, group, one, InstFlags::NUW);
    let more = b.icmp(IntPred::Ult, next, number);
    b.cond_br(more, lanes, left);
    let passed: Vec<Value> = std::iter::once(next).chain(behind.iter().copied()).collect();
    b.pass(&passed);
    let latch = b.at;

    b.at = left;
    let state = phis(b, left, initial);
    pass_from(b, begin, left, initial);
    pass_from(b, latch, left, &behind);
    state
}

/// The whole groups of a number of indices, then, if any are left over and there are enough now, one group that ends
/// with the last one. How many there are with those that smaller groups than before are left for, now, and in all, is
/// given. The state behind, and how many indices are left over then.
fn groups_and_once_more(
    b: &mut Builder,
    groups: &dyn Groups,
    variant: BodyVariant,
    initial: &[Value],
    [left_over, now, count]: [Value; 3],
    loop_blocks: [Block; 2],
    blocks: &mut Vec<Block>,
) -> (Vec<Value>, Value) {
    let [whole, repeat, enough, behind] = ["whole", "repeat", "enough", "behind"].map(|name| b.block(name));
    let (number, rest) = divided(b, left_over, variant);
    let first: Vec<Value> = [number, rest].into_iter().chain(initial.iter().copied()).collect();
    b.br(whole);
    let carried = phis(b, whole, &first);
    b.pass(&first);

    b.at = whole;
    let (number, over) = (carried[0], carried[1]);
    let state = whole_groups(b, groups, variant, &carried[2..], number, loop_blocks);
    let (zero, one, width) = (b.int(64, 0), b.int(64, 1), b.int(64, variant.lanes.into()));
    let some = b.icmp(IntPred::Ne, over, zero);
    b.cond_br(some, repeat, behind);

    b.at = repeat;
    let many = b.icmp(IntPred::Uge, now, width);
    b.cond_br(many, enough, behind);
    b.at = enough;
    let by = b.binary(BinaryOp::Sub, over, width, InstFlags::empty());
    let (earlier, checks) = groups.once_more(b, &state, Again { by, count, otherwise: behind });
    b.br(whole);
    let again: Vec<Value> = [one, zero].into_iter().chain(earlier).collect();
    b.pass(&again);

    b.at = behind;
    blocks.push(whole);
    blocks.extend(loop_blocks);
    blocks.extend([repeat, enough]);
    blocks.extend(checks);
    blocks.push(behind);
    (state, over)
}

/// If any indices are left over and there are enough in all, one group that ends with the last one, of which those that
/// are left over count. The state behind, and how many indices are left over then.
fn counted_once_more(
    b: &mut Builder,
    groups: &dyn Groups,
    variant: BodyVariant,
    state: &[Value],
    [over, count]: [Value; 2],
    blocks: &mut Vec<Block>,
) -> (Vec<Value>, Value) {
    let [some, enough, behind] = ["repeat", "enough", "behind"].map(|name| b.block(name));
    let (zero, width) = (b.int(64, 0), b.int(64, variant.lanes.into()));
    let as_it_is: Vec<Value> = std::iter::once(over).chain(state.iter().copied()).collect();
    let carried = phis(b, behind, &as_it_is);
    let is_left = b.icmp(IntPred::Ne, over, zero);
    let left = b.at;
    b.cond_br(is_left, some, behind);
    pass_from(b, left, behind, &as_it_is);

    b.at = some;
    let many = b.icmp(IntPred::Uge, count, width);
    b.cond_br(many, enough, behind);
    pass_from(b, some, behind, &as_it_is);

    b.at = enough;
    let failed = b.block("failed");
    let by = b.binary(BinaryOp::Sub, over, width, InstFlags::empty());
    let (earlier, checks) = groups.once_more(b, state, Again { by, count, otherwise: failed });
    let last = groups.group_counting(b, variant, &earlier, over);
    b.br(behind);
    let done: Vec<Value> = std::iter::once(zero).chain(last).collect();
    b.pass(&done);

    b.at = failed;
    b.br(behind);
    b.pass(&as_it_is);
    b.at = behind;
    blocks.extend([some, enough]);
    blocks.extend(checks);
    blocks.extend([failed, behind]);
    (carried[1..].to_vec(), carried[0])
}

/// φs for values of these types; in-edges are given their operands later.
pub(crate) fn phis(b: &mut Builder, block: Block, like: &[Value]) -> Vec<Value> {
    like.iter()
        .map(|&v| {
            let ty = b.func.ty(v);
            b.func.add_phi(block, ty)
        })
        .collect()
}

/// Sets the operands on the edges between two blocks.
pub(crate) fn pass_from(b: &mut Builder, from: Block, to: Block, args: &[Value]) {
    let edges = b.func.out_edges(from).to_vec();
    for e in edges {
        if b.func.edges[e].to != to {
            continue;
        }
        for (k, &v) in args.iter().enumerate() {
            b.func.set_phi_arg(e, k, v);
        }
    }
}

/// The indices before the first whole group that begins where stores are aligned, and in a second round the others.
struct Prologue {
    /// Where both rounds begin.
    block: Block,
    state: Vec<Value>,
    /// How many indices are left, and how many of these are executed in this round.
    left: Value,
    now: Value,
}

impl Prologue {
    /// Begins both rounds. In the first are all indices if there is no prologue or too few groups follow it.
    fn begin(
        b: &mut Builder,
        variants: &BodyVariants,
        groups: &dyn Groups,
        prologue: FuncId,
        initial: &[Value],
        count: Value,
    ) -> Prologue {
        let block = b.block("start");
        let state = phis(b, block, initial);
        let left = b.func.add_phi(block, Type::Int(64));
        b.br(block);
        let passed: Vec<Value> = initial.iter().copied().chain([count]).collect();
        b.pass(&passed);
        b.at = block;
        let args = groups.lead_arguments(b, &state);
        let prologue = b.call(prologue, &args).expect("a prologue is a number");
        let least = b.int(64, MIN_GROUPS * i64::from(variants.groups[0].lanes));
        let zero = b.int(64, 0);
        let many = b.icmp(IntPred::Uge, left, least);
        let some = b.icmp(IntPred::Ne, prologue, zero);
        let prologue = b.value(Op::Select, &[some, prologue, left], builder::I64);
        let now = b.value(Op::Select, &[many, prologue, left], builder::I64);
        Prologue { block, state, left, now }
    }

    /// Goes back for what is left, or else on to this block.
    fn end(&self, b: &mut Builder, state: &[Value], finish: Block) {
        let later = b.binary(BinaryOp::Sub, self.left, self.now, InstFlags::NUW);
        let zero = b.int(64, 0);
        let more = b.icmp(IntPred::Ne, later, zero);
        b.cond_br(more, self.block, finish);
        let passed: Vec<Value> = state.iter().copied().chain([later]).collect();
        b.pass(&passed);
        b.at = finish;
    }
}
