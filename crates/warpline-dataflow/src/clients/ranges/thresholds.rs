//! Where bounds stop when they grow around a loop.
//!
//! At the headers of loops, bounds are moved outwards to the next threshold. This depends on the new range alone, is
//! monotone and the same when done twice, so the solution does not depend on the order in which a solver works. There
//! are finitely many thresholds and therefore few steps.

use super::range::Range;
use crate::clients::numbers::{greatest, least, mask, signed};
use warpline_ir::{BinaryOp, Constant, Function, Op, Type, Value};

/// How many constants of the program of one width are thresholds at most.
const MANY: usize = 24;

/// The thresholds for one width, in ascending order.
#[derive(Clone, Debug)]
struct Steps {
    bits: u32,
    unsigned: Vec<u128>,
    signed: Vec<i128>,
}

/// The thresholds of a function.
#[derive(Clone, Debug)]
pub struct Thresholds {
    /// One entry per width that has constants, in ascending order.
    widths: Vec<Steps>,
}

impl Thresholds {
    /// Constants that values are compared with or that φs start from, their neighbours, and the bounds of types; and
    /// the bounds of what is known of parameters.
    pub fn of(func: &Function, known: impl IntoIterator<Item = Range>) -> Thresholds {
        let bounds = |range: Range| [(range.bits(), range.low()), (range.bits(), range.high())];
        let mut found: Vec<(u32, u128)> = known.into_iter().flat_map(bounds).collect();
        let mut add = |v: Value| {
            if let Some(&Constant::Int { bits, value }) = func.constant(v) {
                found.push((bits, value));
            }
        };
        for &b in &func.layout {
            for i in func.block_insts(b) {
                let data = &func.insts[i];
                if matches!(data.op, Op::ICmp(_) | Op::Select | Op::Binary(BinaryOp::URem | BinaryOp::And)) {
                    data.args.iter().for_each(|&a| add(a));
                }
                data.edges.iter().flat_map(|&e| &func.edges[e].args).for_each(|&a| add(a));
            }
        }
        for &b in &func.layout {
            let data = &func.insts[func.terminator(b)];
            if let (Op::Switch(cases), Some(Type::Int(bits @ ..=128))) =
                (&data.op, data.args.first().map(|&a| func.ty(a)))
            {
                found.extend(cases.iter().map(|&c| (bits, c)));
            }
        }
        found.sort_unstable();
        found.dedup();
        let widths = found.chunk_by(|a, b| a.0 == b.0);
        Thresholds {
            widths: widths.map(|list| Steps::new(list[0].0, list.iter().map(|&(_, v)| v))).collect(),
        }
    }

    /// The range with its bounds moved outwards to thresholds.
    pub fn widen(&self, range: &Range) -> Range {
        match self.widths.binary_search_by_key(&range.bits(), |s| s.bits) {
            Ok(at) => self.widths[at].widen(range),
            Err(_) => Steps::new(range.bits(), std::iter::empty()).widen(range),
        }
    }
}

impl Steps {
    fn new(bits: u32, constants: impl ExactSizeIterator<Item = u128>) -> Steps {
        // Of very many, some, evenly.
        let every = constants.len().div_ceil(MANY).max(1);
        let some = constants.step_by(every);
        let near = some.flat_map(|c| [c.wrapping_sub(1) & mask(bits), c, c.wrapping_add(1) & mask(bits)]);
        let smaller = [1, 8, 16, 31, 32, 63, 64].into_iter().filter(|&w| w < bits).map(mask);
        let limits = [0, mask(bits), mask(bits - 1), mask(bits - 1) + 1];
        let mut all: Vec<u128> = near.chain(smaller).chain(limits).collect();
        all.sort_unstable();
        all.dedup();
        let mut in_order: Vec<i128> = all.iter().map(|&v| signed(v, bits)).collect();
        in_order.sort_unstable();
        Steps { bits, unsigned: all, signed: in_order }
    }

    fn widen(&self, range: &Range) -> Range {
        let (low, high) = around(&self.unsigned, range.low(), range.high(), 0, mask(self.bits));
        let limits = (least(self.bits), greatest(self.bits));
        let (from, to) = around(&self.signed, range.least(), range.greatest(), limits.0, limits.1);
        Range::between(self.bits, (low, high), (from, to)).unwrap_or(Range::full(self.bits))
    }
}

/// The last step that is not above `low`, and the first one that is not below `high`.
fn around<T: Ord + Copy>(steps: &[T], low: T, high: T, first: T, last: T) -> (T, T) {
    let below = steps.partition_point(|&s| s <= low).checked_sub(1).map_or(first, |k| steps[k]);
    let above = steps.get(steps.partition_point(|&s| s < high)).copied().unwrap_or(last);
    (below, above)
}
