//! How often loops go round, where constants or weights of edges say.

use std::collections::HashMap;

use cranelift_entity::SecondaryMap;
use warpline_analysis::{CycleForest, CycleId, DfsOrder};

use warpline_dataflow::conditions::inverse;
use warpline_dataflow::linear::{Counter, addition, rounds};
use warpline_ir::{Block, Edge, Function, Op};

use super::frequency::{self, dead_ends};

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

/// The iterations of the loops of a scalar function that weights of edges speak of, by their headers. A lane program
/// has the same headers, but branches of its own where lanes leave a loop apart.
pub(super) fn by_header(func: &Function) -> HashMap<Block, f64> {
    let (graph, _) = func.graph();
    let cycles = CycleForest::compute(&graph);
    let order: Vec<Block> = DfsOrder::compute(&graph).reverse_post_order().map(Block::from).collect();
    let weighed = by_weights(func, &cycles, &order);
    let headers = cycles.cycles().map(|c| Block::from(cycles.header(c)));
    headers.zip(weighed).filter_map(|(header, trips)| Some((header, trips?))).collect()
}

/// As many iterations as are counted, of those that weights speak of.
pub(super) fn counted(trips: f64) -> f64 {
    trips.min(f64::from(MOST))
}

/// The iterations of each loop that weights of edges speak of; `order` is reverse post-order.
///
/// For each time that control comes to the header of a loop, so much of it leaves; the iterations are the reciprocal
/// of that. Weights count where all branches out of the loop have them, but for those into dead ends.
pub(super) fn by_weights(func: &Function, cycles: &CycleForest, order: &[Block]) -> Vec<Option<f64>> {
    let dead = dead_ends(func, order);
    let mut leaving = vec![1.0; cycles.len()];
    let mut trips = vec![None; cycles.len()];
    let innermost_first: Vec<CycleId> = cycles.cycles().collect();
    for &cycle in innermost_first.iter().rev() {
        let (leaves, known) = leaving_share(func, cycles, cycle, order, (&dead, &leaving));
        leaving[cycle.index()] = leaves;
        trips[cycle.index()] = known.then_some(1.0 / leaves);
    }
    trips
}

/// The part of what comes to the header of a loop that leaves it before it comes there again, and whether weights say
/// so. `leaving` has these parts of the loops within.
fn leaving_share(
    func: &Function,
    cycles: &CycleForest,
    cycle: CycleId,
    order: &[Block],
    (dead, leaving): (&SecondaryMap<Block, bool>, &[f64]),
) -> (f64, bool) {
    let inside = |b: Block| cycles.contains(cycle, b.into());
    let mut flow: SecondaryMap<Edge, f64> = SecondaryMap::with_default(0.0);
    let (mut leaves, mut exits, mut known) = (0.0, 0, true);
    for &b in order.iter().filter(|&&b| inside(b)) {
        let mut share: f64 = func.blocks[b].preds.iter().map(|&e| flow[e]).sum();
        if cycles.header(cycle) == b.into() {
            share = 1.0;
        } else if let Some(c) = cycles.innermost(b.into()).filter(|&c| cycles.header(c) == b.into()) {
            share /= leaving[c.index()];
        }
        let out: Vec<Edge> = func.out_edges(b).iter().copied().filter(|&e| !dead[func.edges[e].to]).collect();
        for &e in &out {
            flow[e] = share * frequency::by_weights(func, e, &out);
            if !inside(func.edges[e].to) {
                leaves += flow[e];
                exits += 1;
                known &= out.iter().all(|&e| func.weights[e].is_some()) || out.len() == 1;
            }
        }
    }
    (leaves.clamp(f64::MIN_POSITIVE, 1.0), known && exits > 0)
}
