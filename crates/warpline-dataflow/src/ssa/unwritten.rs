//! Reads of variables that may not have been written.
//!
//! A read is reported if control can come to it without a write before: *certainly* unwritten if no write reaches it
//! at all, else maybe. Facts about branch conditions are not used. Reads in unreachable blocks are not reported.
//!
//! Where every variable counts as written on entry, dominance frontiers say where that write meets others. One walk
//! finds what reaches each read: a write, the entry, or such a meeting point; and what reaches the meeting points.
//! What the entry reaches among these is found along their edges. So the cost is that of pruned placement, which
//! grows with the blocks in which variables are live, plus the function's size; no sets of variables are kept for
//! blocks.

use cranelift_entity::EntitySet;
use warpline_analysis::phi_placement::{Dominators, Pruning, dominance_frontiers};
use warpline_analysis::{CsrGraph, DfsOrder, Graph, Lists, Node};

use super::access_list::{AccessList, Slot, Slots};
use super::undo::UndoWalk;
use warpline_ir::{Block, Function, Inst, Op, Var};

/// A read of a variable that may not have been written.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct UnwrittenRead {
    /// The read. Its `loc` says where it stands in the source.
    pub inst: Inst,
    /// The variable.
    pub var: Var,
    /// Whether no write reaches the read on any path.
    pub certain: bool,
}

impl UnwrittenRead {
    /// A shortest path that shows it: blocks from the entry to that of the read, none of which writes the variable
    /// before the read. Time is linear in the function's size.
    pub fn path(&self, func: &Function) -> Vec<Block> {
        let goal = func.insts[self.inst].block;
        let writes =
            |b: Block| func.blocks[b].insts.iter().any(|&i| func.insts[i].op == Op::WriteVar(self.var));
        let mut seen = EntitySet::with_capacity(func.blocks.len());
        // Blocks in the order in which they were reached, each with the place of the one before.
        let mut queue: Vec<(Block, usize)> = vec![(func.entry(), 0)];
        seen.insert(func.entry());
        let mut at = 0;
        while let Some(&(b, _)) = queue.get(at).filter(|q| q.0 != goal) {
            if !writes(b) {
                queue.extend(func.successors(b).filter(|&s| seen.insert(s)).map(|s| (s, at)));
            }
            at += 1;
        }
        let mut path = Vec::new();
        while let Some(&(b, before)) = queue.get(at) {
            path.push(b);
            if at == 0 {
                break;
            }
            at = before;
        }
        path.reverse();
        path
    }
}

/// What a variable holds.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Held {
    /// What the entry left there.
    Nothing,
    Something,
    /// What meets at the point with this number.
    Either(usize),
}

/// Finds the reads of variables that may not have been written, in the order of the layout.
pub fn unwritten_reads(func: &Function) -> Vec<UnwrittenRead> {
    let (graph, _) = func.graph();
    let dfs = DfsOrder::compute(&graph);
    let vars: Vec<Var> = func.vars.keys().collect();
    let slots = Slots::new(&vars);
    let accesses = AccessList::collect(func, |n| dfs.is_reachable(n), &slots);
    let meetings = dominance_frontiers::sreedhar_gao(
        &Dominators::of(&graph),
        &accesses.for_placement(0..slots.len(), &[]),
        Pruning::Pruned,
    );
    let of_variable = |s: usize| meetings.of(s).iter().map(move |n| (n.index(), Slot(s as u32)));
    let places = Places {
        meetings: Lists::group(graph.node_count(), (0..slots.len()).flat_map(of_variable)),
        writes: by_node(&graph, accesses.writes.iter().map(|w| (w.slot, w.node))),
        reads: by_node(&graph, accesses.exposed.iter().map(|e| (e.0, e.1))),
    };
    let certain = places.unwritten(&graph, &dfs, slots.len());
    report(func, &slots, &places.reads, &certain)
}

fn by_node(graph: &CsrGraph, pairs: impl Iterator<Item = (Slot, Node)> + Clone) -> Lists<Slot> {
    Lists::group(graph.node_count(), pairs.map(|(s, n)| (n.index(), s)))
}

/// By block, the variables that are written there, read there before, or held differently by its predecessors.
struct Places {
    meetings: Lists<Slot>,
    writes: Lists<Slot>,
    reads: Lists<Slot>,
}

impl Places {
    /// For each of `reads` that the entry reaches, whether nothing else does.
    fn unwritten(&self, graph: &CsrGraph, dfs: &DfsOrder, variables: usize) -> Vec<Option<bool>> {
        let mut held = vec![Held::Nothing; variables];
        let mut at_reads = vec![Held::Something; self.reads.item_count()];
        let mut from_entry: Vec<usize> = Vec::new();
        let mut flows: Vec<(usize, usize)> = Vec::new();
        let mut walk = UndoWalk::new();
        for &node in dfs.pre_order() {
            walk.enter(dfs, node, &mut held);
            for k in self.meetings.range(node.index()) {
                walk.set(&mut held, self.meetings.item(k).index(), Held::Either(k));
            }
            for k in self.reads.range(node.index()) {
                at_reads[k] = held[self.reads.item(k).index()];
            }
            for s in self.writes.get(node.index()) {
                walk.set(&mut held, s.index(), Held::Something);
            }
            for k in graph.successors(node).flat_map(|to| self.meetings.range(to.index())) {
                match held[self.meetings.item(k).index()] {
                    Held::Nothing => from_entry.push(k),
                    Held::Either(from) => flows.push((from, k)),
                    Held::Something => {}
                }
            }
        }
        let maybe = reachable(self.meetings.item_count(), from_entry, &flows);
        let certain = |h: &Held| match *h {
            Held::Nothing => Some(true),
            Held::Either(m) => maybe[m].then_some(false),
            Held::Something => None,
        };
        at_reads.iter().map(certain).collect()
    }
}

/// Which of `count` numbers the `work` leads to, along `flows`.
fn reachable(count: usize, mut work: Vec<usize>, flows: &[(usize, usize)]) -> Vec<bool> {
    let flows = Lists::group(count, flows.iter().copied());
    let mut reached = vec![false; count];
    while let Some(at) = work.pop() {
        if !std::mem::replace(&mut reached[at], true) {
            work.extend_from_slice(flows.get(at));
        }
    }
    reached
}

/// The reads before the first write of their block, which `certain` has one of for each block and variable.
fn report(
    func: &Function,
    slots: &Slots,
    reads: &Lists<Slot>,
    certain: &[Option<bool>],
) -> Vec<UnwrittenRead> {
    let mut found = Vec::new();
    // By variable, while it is not written in the present block.
    let mut here: Vec<Option<bool>> = vec![None; slots.len()];
    for &b in &func.layout {
        let range = reads.range(Node::from(b).index());
        if range.clone().all(|k| certain[k].is_none()) {
            continue;
        }
        range.clone().for_each(|k| here[reads.item(k).index()] = certain[k]);
        for &inst in &func.blocks[b].insts {
            match func.insts[inst].op {
                Op::ReadVar(var) => {
                    let certain = slots.of(var).and_then(|s| here[s.index()]);
                    found.extend(certain.map(|certain| UnwrittenRead { inst, var, certain }));
                }
                Op::WriteVar(var) => slots.of(var).into_iter().for_each(|s| here[s.index()] = None),
                _ => {}
            }
        }
        range.for_each(|k| here[reads.item(k).index()] = None);
    }
    found
}
