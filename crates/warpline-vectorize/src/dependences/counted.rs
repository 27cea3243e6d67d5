//! Between which numbers a counter of a loop within the kernel is, by the test of that loop.

use warpline_analysis::{CycleForest, CycleId};

use warpline_dataflow::conditions::{inverse, swapped};
use warpline_dataflow::linear::{Counter, Extension};
use warpline_ir::{Block, Function, InstFlags, IntPred, Op, Value};

/// What bounds a counter: it is at least `from`, and at most `bound + beyond - 1` or `from`.
#[derive(Copy, Clone, Debug)]
pub(super) struct Counted {
    pub(super) from: Value,
    pub(super) bound: Value,
    pub(super) beyond: i64,
    /// Whether that holds only if `from` is not greater than `bound + beyond`.
    pub(super) upwards: bool,
    /// How its test reads both.
    pub(super) extension: Reading,
}

/// How a test reads numbers.
#[derive(Copy, Clone, Debug)]
pub(super) struct Reading(Option<Extension>);

impl Reading {
    /// The reading of the test, or this one if it does not tell.
    pub(super) fn or(self, other: Extension) -> Extension {
        self.0.unwrap_or(other)
    }
}

/// What bounds a number, in a block, that counts upwards in the loop that it is computed in.
pub(super) fn range(func: &Function, cycles: &CycleForest, v: Value, at: Block) -> Option<Counted> {
    let counter = Counter::of(func, cycles, v)?;
    let Counter { start: from, next, step: by, flags, .. } = counter;
    if !(1..=1 << 20).contains(&by) {
        return None;
    }
    let header = func.def_block(v)?;
    let cycle = cycles.innermost(header.into())?;
    let preds = func.blocks[header].preds.iter().map(|&e| func.edges[e].from);
    let latches: Vec<Block> = preds.filter(|&b| cycles.contains(cycle, b.into())).collect();
    let &[latch] = &latches[..] else { return None };
    // One latch: then a test that dominates it is made in every iteration.
    let tests = if latch == header { vec![header] } else { vec![header, latch] };
    tests.into_iter().find_map(|block| {
        let (pred, bound, of_next) = test(func, cycles, cycle, block, v, next)?;
        let (signed, inclusive, equality) = match pred {
            IntPred::Slt => (Some(Extension::Signed), 0, false),
            IntPred::Sle => (Some(Extension::Signed), 1, false),
            IntPred::Ult => (Some(Extension::Unsigned), 0, false),
            IntPred::Ule => (Some(Extension::Unsigned), 1, false),
            IntPred::Ne if by == 1 => (None, 0, true),
            _ => return None,
        };
        let no_wrap = match signed {
            Some(Extension::Signed) => flags.contains(InstFlags::NSW),
            Some(_) => flags.contains(InstFlags::NUW),
            None => true,
        };
        // Behind the test of the counter itself, or before it; a test of the next number is as good as one behind.
        let tested = of_next || block == header && at != header;
        let beyond = inclusive + if tested { 0 } else { by };
        let exact = no_wrap || by == 1 && inclusive == 0;
        exact.then_some(Counted { from, bound, beyond, upwards: equality, extension: Reading(signed) })
    })
}

/// The test at the end of a block by which a loop goes on: the counter, or what it is next, against what.
fn test(
    func: &Function,
    cycles: &CycleForest,
    cycle: CycleId,
    block: Block,
    v: Value,
    next: Value,
) -> Option<(IntPred, Value, bool)> {
    let branch = &func.insts[func.terminator(block)];
    if branch.op != Op::CondBr {
        return None;
    }
    let stays = |k: usize| cycles.contains(cycle, func.edges[branch.edges[k]].to.into());
    let stays_if = match (stays(0), stays(1)) {
        (true, false) => true,
        (false, true) => false,
        _ => return None,
    };
    let compared = &func.insts[func.def_inst(branch.args[0])?];
    let Op::ICmp(pred) = compared.op else { return None };
    let (a, b) = (compared.args[0], compared.args[1]);
    let is_counter = |x: Value| x == v || x == next;
    let (x, bound, pred) = match (is_counter(a), is_counter(b)) {
        (true, false) => (a, b, pred),
        (false, true) => (b, a, swapped(pred)),
        _ => return None,
    };
    Some((if stays_if { pred } else { inverse(pred) }, bound, x == next))
}
