//! How often loops go round, where constants or weights of edges say.

use std::collections::HashMap;

use cranelift_entity::SecondaryMap;
use warpline_analysis::{CycleForest, CycleId, DfsOrder};

use warpline_dataflow::conditions::inverse;
use warpline_dataflow::linear::{Counter, addition, rounds};
use warpline_ir::{Block, Edge, Function, Op};

use super::TRIPS;
use super::frequency::{self, dead_ends};

/// Iterations that are counted; loops of more count as if they had as many.
const MOST: u32 = 256;

/// The least part of what comes to a header that leaves its loop: none has more iterations than the reciprocal.
const LEAST_LEAVING: f64 = 1e-9;
/// Inner loops count as at most so many times as often as the outer one.
const OFTEN: f64 = 1e100;

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
    if !has_weights(func) {
        return HashMap::new();
    }
    let (graph, _) = func.graph();
    let cycles = CycleForest::compute(&graph);
    let order: Vec<Block> = DfsOrder::compute(&graph).reverse_post_order().map(Block::from).collect();
    let weighed = by_weights(func, &cycles, &order);
    let headers = cycles.cycles().map(|c| Block::from(cycles.header(c)));
    headers.zip(weighed).filter_map(|(header, trips)| Some((header, trips?))).collect()
}

/// The iterations of each loop of a scalar function; `order` is reverse post-order.
pub(super) fn of_all(func: &Function, cycles: &CycleForest, order: &[Block]) -> Vec<f64> {
    let weighed = by_weights(func, cycles, order);
    let of = |c: CycleId| {
        let known = of_loop(func, cycles, c).map(f64::from);
        known.or(weighed[c.index()].map(counted)).unwrap_or(TRIPS)
    };
    cycles.cycles().map(of).collect()
}

fn has_weights(func: &Function) -> bool {
    func.layout.iter().any(|&b| func.out_edges(b).iter().any(|&e| func.weights[e].is_some()))
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
    let mut trips = vec![None; cycles.len()];
    if !has_weights(func) {
        return trips;
    }
    let mut blocks: Vec<Vec<Block>> = vec![Vec::new(); cycles.len()];
    for &b in order {
        cycles.around(b.into()).for_each(|c| blocks[c.index()].push(b));
    }
    let mut flows = Flows { func, cycles, dead: dead_ends(func, order), leaving: vec![1.0; cycles.len()] };
    let outermost_first: Vec<CycleId> = cycles.cycles().collect();
    for &cycle in outermost_first.iter().rev() {
        let (leaves, known) = flows.leaving(cycle, &blocks[cycle.index()]);
        flows.leaving[cycle.index()] = leaves;
        trips[cycle.index()] = known.then_some(1.0 / leaves);
    }
    trips
}

/// Where control goes within loops.
struct Flows<'a> {
    func: &'a Function,
    cycles: &'a CycleForest,
    dead: SecondaryMap<Block, bool>,
    /// The part of what comes to the header of a loop that leaves it before it comes there again, of loops that have
    /// been looked at.
    leaving: Vec<f64>,
}

impl Flows<'_> {
    /// That part for a loop of these blocks, of which the inner loops have been looked at, and whether weights say so.
    fn leaving(&self, cycle: CycleId, blocks: &[Block]) -> (f64, bool) {
        let Flows { func, cycles, .. } = *self;
        let mut flow: HashMap<Edge, f64> = HashMap::new();
        let (mut leaves, mut exits, mut known) = (0.0, 0, true);
        for &b in blocks {
            let into = func.blocks[b].preds.iter().filter_map(|e| flow.get(e)).sum::<f64>();
            let headed = cycles.innermost(b.into()).filter(|&c| cycles.header(c) == b.into());
            let share = match headed {
                Some(own) if own == cycle => 1.0,
                Some(inner) => (into / self.leaving[inner.index()]).min(OFTEN),
                None => into,
            };
            let goes_on = |e: &Edge| !self.dead[func.edges[*e].to];
            let out: Vec<Edge> = func.out_edges(b).iter().copied().filter(goes_on).collect();
            for &e in &out {
                let part = share * frequency::by_weights(func, e, &out);
                if cycles.contains(cycle, func.edges[e].to.into()) {
                    flow.insert(e, part);
                } else {
                    leaves += part;
                    exits += 1;
                    known &= out.len() == 1 || out.iter().all(|&e| func.weights[e].is_some());
                }
            }
        }
        (leaves.clamp(LEAST_LEAVING, 1.0), known && exits > 0)
    }
}
