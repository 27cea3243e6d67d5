//! Which of two instructions of a lane program is executed first.

use std::cell::Cell;

use cranelift_entity::SecondaryMap;
use warpline_analysis::{BitSet, CsrGraph, CycleForest, DfsOrder, Graph, Node};

use crate::ir::{Block, Function, Inst};

/// How two instructions follow each other while one group of lanes runs.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// The first one is never executed after the second one.
    Before,
    /// The second one is never executed after the first one.
    After,
    /// They are one instruction, executed at most once.
    Once,
    /// They are in a common loop.
    Around,
    /// Never both.
    Never,
}

/// The order of a lane program.
pub(super) struct Schedule<'a> {
    func: &'a Function,
    graph: CsrGraph,
    cycles: CycleForest,
    order: DfsOrder,
    position: SecondaryMap<Inst, Option<u32>>,
    /// How many more blocks searches may visit.
    fuel: Cell<usize>,
}

/// So many blocks are visited to find out whether control comes from one instruction to another; then it is taken to.
const FUEL: usize = 1 << 20;

impl<'a> Schedule<'a> {
    pub(super) fn of(func: &'a Function) -> Schedule<'a> {
        let graph = func.graph().0;
        let mut position = SecondaryMap::new();
        for &b in &func.layout {
            for (n, i) in func.block_insts(b).enumerate() {
                position[i] = Some(n as u32);
            }
        }
        let (cycles, order) = (CycleForest::compute(&graph), DfsOrder::compute(&graph));
        Schedule { func, graph, cycles, order, position, fuel: Cell::new(FUEL) }
    }

    /// Whether an instruction is part of the lane program.
    pub(super) fn has(&self, i: Inst) -> bool {
        self.position[i].is_some() && self.order.is_reachable(self.func.insts[i].block.into())
    }

    /// How two instructions follow each other.
    pub(super) fn of_pair(&self, a: Inst, b: Inst) -> Order {
        let (x, y) = (self.func.insts[a].block, self.func.insts[b].block);
        if self.cycles.innermost_common(x.into(), y.into()).is_some() {
            return Order::Around;
        }
        if a == b {
            return Order::Once;
        }
        self.within_iteration(a, b)
    }

    /// How two instructions follow each other in one iteration of the loops around both.
    pub(super) fn within_iteration(&self, a: Inst, b: Inst) -> Order {
        let (x, y) = (self.func.insts[a].block, self.func.insts[b].block);
        if a == b {
            return Order::Once;
        }
        if x == y {
            return if self.position[a] < self.position[b] { Order::Before } else { Order::After };
        }
        let number = |b: Block| self.order.post_number(b.into());
        let before = number(x) > number(y);
        let (from, to) = if before { (x, y) } else { (y, x) };
        match (self.reaches(from, to), before) {
            (false, _) => Order::Never,
            (true, true) => Order::Before,
            (true, false) => Order::After,
        }
    }

    /// Whether control may come from one block to another that follows it in reverse post-order, without going back.
    fn reaches(&self, from: Block, to: Block) -> bool {
        let number = |n: Node| self.order.post_number(n);
        let (from, to) = (Node::from(from), Node::from(to));
        let mut seen = BitSet::new(self.graph.node_count());
        let mut work = vec![from];
        while let Some(n) = work.pop() {
            let left = self.fuel.get();
            if n == to || left == 0 {
                return true;
            }
            self.fuel.set(left - 1);
            let ahead = |m: &Node| number(*m) < number(n) && number(*m) >= number(to);
            for m in self.graph.successors(n).filter(ahead) {
                if seen.insert(m.index()) {
                    work.push(m);
                }
            }
        }
        false
    }
}
