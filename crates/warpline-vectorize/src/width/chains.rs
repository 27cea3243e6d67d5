//! What iterations of a loop hand on: the greatest mean number of cycles, per iteration, of a chain of operations
//! that goes from φ to φ of its header and comes back. A processor begins no iteration's part of the chain before the
//! one before has ended.
//!
//! The chains are circles in a graph with the φs as nodes, and for φs *p* and *q* the longest way from *p* to what
//! *q* gets in the next iteration as an edge; the greatest mean is found as Karp (1978) does.

use cranelift_entity::SecondaryMap;
use warpline_analysis::{CycleForest, CycleId, Node};

use warpline_ir::{BinaryOp, Block, CastOp, Combine, Function, Inst, Op, Type, Value};
use warpline_target::Op as Costly;

use super::{Machine, element_of};

/// A function whose chains are looked at.
pub(super) struct Chained<'a, L> {
    pub(super) func: &'a Function,
    pub(super) cycles: &'a CycleForest,
    /// Its blocks in reverse post-order.
    pub(super) order: &'a [Block],
    /// The cycles until an instruction's result is there.
    pub(super) latency: L,
}

/// Cycles that it takes to move one half of a vector onto the other.
const MOVE: f64 = 1.0;
/// Of more φs none is looked at.
const MAX_PHIS: usize = 64;

impl<L: Fn(Inst) -> f64> Chained<'_, L> {
    /// The cycles that an iteration of an innermost loop waits for the one before; 0 for other loops.
    pub(super) fn of_loop(&self, cycle: CycleId) -> f64 {
        let Chained { func, cycles, .. } = *self;
        let header = Block::from(cycles.header(cycle));
        let phis = &func.blocks[header].phis;
        if !cycles.children(cycle).is_empty() || phis.len() > MAX_PHIS {
            return 0.0;
        }
        let inside = |b: Block| cycles.contains(cycle, Node::from(b));
        let order: Vec<Block> = self.order.iter().copied().filter(|&b| inside(b)).collect();
        let back: Vec<_> =
            func.blocks[header].preds.iter().copied().filter(|&e| inside(func.edges[e].from)).collect();
        let ways: Vec<Vec<f64>> = phis
            .iter()
            .map(|&from| {
                let reached = self.longest_ways(func.insts[from].results[0], header, &order);
                let reached = &reached;
                let next = |q: usize| back.iter().map(move |&e| reached[func.edges[e].args[q]]);
                (0..phis.len()).map(|q| next(q).fold(f64::NEG_INFINITY, f64::max)).collect()
            })
            .collect();
        greatest_mean(&ways).max(0.0)
    }

    /// The longest way from a φ of the header to each value of the loop, in cycles; −∞ to what does not depend on it.
    fn longest_ways(&self, from: Value, header: Block, order: &[Block]) -> SecondaryMap<Value, f64> {
        let func = self.func;
        let mut reached = SecondaryMap::with_default(f64::NEG_INFINITY);
        reached[from] = 0.0;
        for &b in order {
            if b != header {
                for (position, &phi) in func.blocks[b].phis.iter().enumerate() {
                    let preds = &func.blocks[b].preds;
                    let latest = preds.iter().map(|&e| reached[func.edges[e].args[position]]);
                    reached[func.insts[phi].results[0]] = latest.fold(f64::NEG_INFINITY, f64::max);
                }
            }
            for &i in &func.blocks[b].insts {
                let data = &func.insts[i];
                let Some(result) = data.result() else { continue };
                let latest = data.args.iter().map(|&a| reached[a]).fold(f64::NEG_INFINITY, f64::max);
                reached[result] = latest + (self.latency)(i);
            }
        }
        reached
    }

    /// The cycles of the longest chain of operations in the blocks of which `own` is the innermost loop, or in those
    /// outside all loops, if everything else is there.
    pub(super) fn of_blocks(&self, own: Option<CycleId>) -> f64 {
        let func = self.func;
        let mut reached = SecondaryMap::with_default(0.0);
        let mut longest: f64 = 0.0;
        let blocks = self.order.iter().filter(|&&b| self.cycles.innermost(Node::from(b)) == own);
        for i in blocks.flat_map(|&b| func.blocks[b].insts.iter().copied()) {
            let data = &func.insts[i];
            let latest = data.args.iter().map(|&a| reached[a]).fold(0.0, f64::max);
            let there = latest + (self.latency)(i);
            longest = longest.max(there);
            data.results.iter().for_each(|&v| reached[v] = there);
        }
        longest
    }
}

/// Cycles until a result is there, if a gather takes so many times as long as from the nearest cache. `varies` says
/// which values are in vectors.
pub(super) fn latency(
    machine: &Machine,
    func: &Function,
    i: Inst,
    gather: f64,
    varies: impl Fn(Value) -> bool,
) -> f64 {
    let data = &func.insts[i];
    let ty = data.result().map_or(Type::Void, |v| func.ty(v));
    let of = |op| machine.latency(op, element_of(ty));
    match &data.op {
        Op::Binary(op) if op.is_int_division() => match data.args.iter().any(|&a| varies(a)) {
            true => of(Costly::Divide),
            false => machine.scalar_division_latency(),
        },
        Op::Binary(BinaryOp::FDiv) => of(Costly::Divide),
        Op::Binary(BinaryOp::FRem) => of(Costly::Remainder),
        Op::Binary(BinaryOp::FAdd | BinaryOp::FSub) => of(Costly::Add),
        Op::Binary(BinaryOp::FMul | BinaryOp::Mul) => of(Costly::Multiply),
        Op::FCmp(_) | Op::ICmp(_) => of(Costly::Compare),
        Op::Cast(CastOp::Bitcast | CastOp::PtrToInt | CastOp::IntToPtr) => 0.0,
        Op::Cast(_) => of(Costly::Convert),
        Op::Load(_) if varies(data.args[0]) => gather * of(Costly::Gather),
        Op::Load(_) => of(Costly::Load),
        Op::Call(_) | Op::Opaque(_) => of(Costly::Call),
        _ => 1.0,
    }
}

/// The cycles that a scalar iteration and a group of lanes wait for the one before, which they combine something with.
/// The chain of a group is that of one operation: more lanes are more accumulators. Scalar integers are combined as
/// fast as iterations begin.
pub(super) fn of_combined(machine: &Machine, combined: &[(Combine, Type)]) -> (f64, f64) {
    let sum = |(_, ty): &(Combine, Type)| machine.latency(Costly::Add, element_of(*ty));
    let floats = combined.iter().filter(|(_, ty)| ty.is_float());
    (floats.map(sum).fold(0.0, f64::max), longest(machine, combined))
}

/// The cycles that it takes to combine lanes behind the last group, each time that their number doubles: a half is
/// moved onto the other one, and the operation waited for. What is combined at once overlaps. A selection finds the
/// best value, the first iteration that has it, and the lane of that, one after the other.
pub(super) fn of_combining(machine: &Machine, combined: &[(Combine, Type)], selects: bool) -> f64 {
    let searches = if selects { 3.0 } else { 1.0 };
    if combined.is_empty() { 0.0 } else { searches * (MOVE + longest(machine, combined)) }
}

/// The latency of the slowest of these operations; 0 of none.
pub(super) fn longest(machine: &Machine, combined: &[(Combine, Type)]) -> f64 {
    let of = |(combine, ty): &(Combine, Type)| {
        let op = match combine {
            Combine::Mul => Costly::Multiply,
            Combine::Min | Combine::Max if ty.is_float() => Costly::Compare,
            _ => Costly::Add,
        };
        machine.latency(op, element_of(*ty))
    };
    combined.iter().map(of).fold(0.0, f64::max)
}

/// The greatest mean weight of a circle; −∞ if there is none.
fn greatest_mean(weights: &[Vec<f64>]) -> f64 {
    let n = weights.len();
    // By number of edges: the heaviest walk to each node, from anywhere.
    let mut walks = vec![vec![0.0; n]];
    for k in 0..n {
        let heaviest = |to: usize| {
            (0..n).map(|from| walks[k][from] + weights[from][to]).fold(f64::NEG_INFINITY, f64::max)
        };
        let next: Vec<f64> = (0..n).map(heaviest).collect();
        walks.push(next);
    }
    let mean_at = |v: usize| {
        let last = walks[n][v];
        let means = (0..n).map(|k| (last - walks[k][v]) / (n - k) as f64);
        if last == f64::NEG_INFINITY { last } else { means.fold(f64::INFINITY, f64::min) }
    };
    (0..n).map(mean_at).fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO: f64 = f64::NEG_INFINITY;

    #[test]
    fn the_greatest_mean_is_that_of_the_heaviest_circle_for_its_length() {
        assert_eq!(greatest_mean(&[]), NO);
        assert_eq!(greatest_mean(&[vec![NO, 9.0], vec![NO, NO]]), NO);
        assert_eq!(greatest_mean(&[vec![4.0]]), 4.0);
        // 0 → 1 → 0 has the mean 5, 1 → 1 alone 3.
        assert_eq!(greatest_mean(&[vec![NO, 8.0], vec![2.0, 3.0]]), 5.0);
        // A way from one circle to another counts in neither.
        assert_eq!(greatest_mean(&[vec![1.0, 100.0], vec![NO, 2.0]]), 2.0);
    }
}
