//! Which of two instructions of a lane program is executed first.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use cranelift_entity::SecondaryMap;
use warpline_analysis::order::reachable_from;
use warpline_analysis::{BitSet, CsrGraph, CycleForest, Graph, Node};

use warpline_ir::{Block, Function, Inst};

/// How two instructions follow each other while one group of lanes runs.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// The first one is never executed after the second one.
    Before,
    /// The second one is never executed after the first one.
    After,
    /// They are one instruction, executed at most once.
    Once,
    /// They are in a common loop, or nobody has found out.
    Around,
    /// Never both.
    Never,
}

/// The order of a lane program.
pub(super) struct Schedule<'a> {
    func: &'a Function,
    graph: CsrGraph,
    cycles: CycleForest,
    position: SecondaryMap<Inst, Option<u32>>,
    /// What control can come to from a block.
    reached: RefCell<HashMap<Block, BitSet>>,
    /// The same without passing the header of a loop.
    within: RefCell<HashMap<(Block, Node), BitSet>>,
    /// How many more blocks searches may visit.
    fuel: Cell<usize>,
}

/// So many blocks are visited to find out where control comes to.
const FUEL: usize = 1 << 24;

impl<'a> Schedule<'a> {
    pub(super) fn of(func: &'a Function) -> Schedule<'a> {
        let graph = func.graph().0;
        let live = reachable_from(&graph, [graph.entry()]);
        let mut position = SecondaryMap::new();
        for &b in func.layout.iter().filter(|&&b| live.contains(Node::from(b).index())) {
            for (n, i) in func.block_insts(b).enumerate() {
                position[i] = Some(n as u32);
            }
        }
        let cycles = CycleForest::compute(&graph);
        let (reached, within) = (RefCell::default(), RefCell::default());
        Schedule { func, graph, cycles, position, reached, within, fuel: Cell::new(FUEL) }
    }

    /// Whether an instruction is part of the lane program.
    pub(super) fn has(&self, i: Inst) -> bool {
        self.position[i].is_some()
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
        if x == y {
            return self.in_block(a, b);
        }
        match (self.reaches(x, y), self.reaches(y, x)) {
            (Some(true), Some(false)) => Order::Before,
            (Some(false), Some(true)) => Order::After,
            (Some(false), Some(false)) => Order::Never,
            _ => Order::Around,
        }
    }

    /// How two instructions follow each other in one iteration of the only loop around both.
    pub(super) fn within_iteration(&self, a: Inst, b: Inst) -> Order {
        let (x, y) = (self.func.insts[a].block, self.func.insts[b].block);
        if a == b {
            return Order::Once;
        }
        if x == y {
            return self.in_block(a, b);
        }
        let Some(common) = self.cycles.innermost_common(x.into(), y.into()) else {
            return self.of_pair(a, b);
        };
        let header = self.cycles.header(common);
        match (self.reaches_without(x, y, header), self.reaches_without(y, x, header)) {
            (true, false) => Order::Before,
            (false, true) => Order::After,
            (false, false) => Order::Never,
            (true, true) => Order::Around,
        }
    }

    fn in_block(&self, a: Inst, b: Inst) -> Order {
        if self.position[a] < self.position[b] { Order::Before } else { Order::After }
    }

    /// Whether control may come from one block to another. `None` if searches have taken too long.
    fn reaches(&self, from: Block, to: Block) -> Option<bool> {
        let mut all = self.reached.borrow_mut();
        let reached = match all.entry(from) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let left = self.fuel.get().checked_sub(self.graph.node_count())?;
                self.fuel.set(left);
                new.insert(reachable_from(&self.graph, [Node::from(from)]))
            }
        };
        Some(reached.contains(Node::from(to).index()))
    }

    /// Whether control may come from one block to another without passing the header of a loop.
    fn reaches_without(&self, from: Block, to: Block, header: Node) -> bool {
        let mut all = self.within.borrow_mut();
        let to = Node::from(to).index();
        match all.entry((from, header)) {
            Entry::Occupied(known) => known.get().contains(to),
            Entry::Vacant(new) => {
                let reached = self.reached_without(from, header);
                let is_reached = reached.contains(to);
                // What is kept takes memory.
                if let Some(left) = self.fuel.get().checked_sub(self.graph.node_count()) {
                    self.fuel.set(left);
                    new.insert(reached);
                }
                is_reached
            }
        }
    }

    /// Where control may come to from a block, itself included, without passing the header of a loop.
    fn reached_without(&self, from: Block, header: Node) -> BitSet {
        let from = Node::from(from);
        let mut seen = BitSet::new(self.graph.node_count());
        seen.insert(from.index());
        let mut work = vec![from];
        while let Some(n) = work.pop() {
            work.extend(self.graph.successors(n).filter(|&m| m != header && seen.insert(m.index())));
        }
        seen
    }
}
