//! How often loops go round, where constants say.

use warpline_analysis::{CycleForest, CycleId};

use warpline_dataflow::conditions::inverse;
use warpline_dataflow::linear::{Counter, addition, rounds};
use warpline_ir::{Block, Function, Op};

/// Iterations that are counted; loops of more count as if they had as many.
const MOST: u32 = 256;

/// The number of iterations of a loop that control leaves at one place, by comparing a counter with a constant.
pub(super) fn of_loop(func: &Function, cycles: &CycleForest, cycle: CycleId) -> Option<u32> {
    let inside = |b: Block| cycles.contains(cycle, b.into());
    let mut exits = func.layout.iter().filter(|&&b| inside(b)).flat_map(|&b| func.out_edges(b));
    let mut exits = exits.by_ref().filter(|&&e| !inside(func.edges[e].to));
    let (&exit, None) = (exits.next()?, exits.next()) else { return None };
    let term = &func.insts[func.terminator(func.edges[exit].from)];
    let (Op::CondBr, Some(test)) = (&term.op, func.def_inst(*term.args.first()?)) else { return None };
    let test = &func.insts[test];
    let Op::ICmp(pred) = test.op else { return None };
    let (compared, bound) = (test.args[0], func.as_int(test.args[1])?);
    let own = |v| {
        let header = func.def_block(v).filter(|&b| cycles.header(cycle) == b.into());
        header.and_then(|_| Counter::of(func, cycles, v))
    };
    let (counter, behind) = match own(compared) {
        Some(counter) => (counter, 0),
        None => addition(func, compared).and_then(|(of, by, _)| Some((own(of)?, by)))?,
    };
    let first = func.as_int(counter.start)?.wrapping_add(i128::from(behind) as u128);
    let pred = if term.edges.first() == Some(&exit) { inverse(pred) } else { pred };
    let first = first & ((1 << counter.bits) - 1);
    let tests = rounds(pred, first, counter.step, bound, counter.bits)
        .map_or(MOST, |n| n.saturating_add(1).min(MOST.into()) as u32);
    Some(tests)
}
