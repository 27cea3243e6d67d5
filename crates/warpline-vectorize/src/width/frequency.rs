//! How often control comes to the blocks of a function, for each time that it comes to the function.
//!
//! One pass in reverse post-order: what comes in over edges that do not lead back, times the iterations of the loop
//! whose header a block is. In a loop, each edge out of a block gets its chance; what leaves a loop is as much as came
//! in, in equal parts for its exits. Blocks from which the program only ends are never reached.

use cranelift_entity::SecondaryMap;
use warpline_analysis::{CycleForest, CycleId, DfsOrder, Node};

use warpline_ir::{Block, Edge, Function, Op};

use super::{MAX_DEPTH, trips};

/// How often control comes to each block of a scalar function, as far as constants and weights of edges say.
pub(crate) fn of_scalar(func: &Function) -> SecondaryMap<Block, f64> {
    let (graph, _) = func.graph();
    let cycles = &CycleForest::compute(&graph);
    let order: &[Block] =
        &DfsOrder::compute(&graph).reverse_post_order().map(Block::from).collect::<Vec<_>>();
    let trips = &trips::of_all(func, cycles, order);
    Frequencies { func, cycles, trips, order }.of_blocks(|e, among| by_weights(func, e, among))
}

/// A function with its loops.
pub(super) struct Frequencies<'a> {
    pub(super) func: &'a Function,
    pub(super) cycles: &'a CycleForest,
    /// The iterations of each loop.
    pub(super) trips: &'a [f64],
    /// Its blocks in reverse post-order.
    pub(super) order: &'a [Block],
}

impl Frequencies<'_> {
    /// How often control comes to each block. `chance` is that of an edge among some of its block that stay in the
    /// loop.
    pub(super) fn of_blocks(&self, chance: impl Fn(Edge, &[Edge]) -> f64) -> SecondaryMap<Block, f64> {
        let func = self.func;
        let dead = dead_ends(func, self.order);
        let exits: Vec<f64> = self.cycles.cycles().map(|c| self.exits(c)).collect();
        let mut blocks: SecondaryMap<Block, f64> = SecondaryMap::with_default(0.0);
        let mut edges: SecondaryMap<Edge, f64> = SecondaryMap::with_default(0.0);
        let mut entered = vec![0.0; self.cycles.len()];
        for (at, &b) in self.order.iter().enumerate() {
            let into: f64 = func.blocks[b].preds.iter().map(|&e| edges[e]).sum();
            let into = if at == 0 { 1.0 } else { into };
            let own = self.cycles.innermost(Node::from(b));
            blocks[b] = match own.filter(|&c| self.cycles.header(c) == Node::from(b)) {
                Some(c) => {
                    entered[c.index()] = into;
                    into * self.trips[c.index()]
                }
                None => into,
            };
            let out = func.out_edges(b);
            let stays: Vec<Edge> = out
                .iter()
                .copied()
                .filter(|&e| self.left_by(e, own).is_none() && !dead[func.edges[e].to])
                .collect();
            for &e in out {
                edges[e] = match self.left_by(e, own) {
                    Some(c) => entered[c.index()] / exits[c.index()],
                    None if dead[func.edges[e].to] => 0.0,
                    None => blocks[b] * chance(e, &stays),
                };
            }
        }
        blocks
    }

    /// The outermost loop that an edge leaves.
    fn left_by(&self, e: Edge, own: Option<CycleId>) -> Option<CycleId> {
        let to = Node::from(self.func.edges[e].to);
        let around = std::iter::successors(own, |&c| self.cycles.parent(c)).take(MAX_DEPTH);
        around.take_while(|&c| !self.cycles.contains(c, to)).last()
    }

    /// How many edges leave a loop.
    fn exits(&self, c: CycleId) -> f64 {
        let inside = |b: Block| self.cycles.contains(c, Node::from(b));
        let blocks = self.order.iter().filter(|&&b| inside(b));
        let exits = blocks.flat_map(|&b| self.func.successors(b)).filter(|&s| !inside(s)).count();
        exits.max(1) as f64
    }
}

/// Blocks from which control only comes to where the program ends.
pub(super) fn dead_ends(func: &Function, order: &[Block]) -> SecondaryMap<Block, bool> {
    let mut dead = SecondaryMap::with_default(false);
    for &b in order.iter().rev() {
        dead[b] = match func.insts[func.terminator(b)].op {
            Op::Unreachable => true,
            Op::Ret => false,
            _ => func.successors(b).all(|s| dead[s]),
        };
    }
    dead
}

/// The chance of an edge by the weights of some edges of its block, if each has one; else they are as likely.
pub(super) fn by_weights(func: &Function, e: Edge, among: &[Edge]) -> f64 {
    let weight = |e: Edge| func.weights[e].map(f64::from);
    let sum: Option<f64> = among.iter().map(|&e| weight(e)).sum();
    match (weight(e), sum) {
        (Some(own), Some(sum)) if sum > 0.0 => own / sum,
        _ => 1.0 / among.len().max(1) as f64,
    }
}
