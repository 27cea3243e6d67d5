//! New headers that dispatch to the entries of irreducible loops.
//!
//! The blocks of a cycle *C* with header *h* (one of its entries, [`CycleForest::header`]) get a new header *d*. All
//! edges that enter *C*, and the edges from inside *C* to *h*, lead to *d*, which leads to all entries. Then *d*
//! dominates *C*, and the cycles in *C* without *h* are what they were: *h* is entered from *d* only. So one forest
//! serves all levels, from the outside in, and an edge is moved once for each cycle that it enters.
//!
//! Dominance between the old blocks stays as it was. A new path leads by an edge to *d* and from there to an entry
//! *e* that this edge did not lead to. A block *x* of *C* does not dominate *e*, since *e* can be entered from
//! outside. (If *x* dominated the source *p* of that edge, *x* would be on the way from the header of the cycle
//! around *C* to *p*, and *p* in *C*.) So what is behind *e* could be reached past *x* before. A block outside of *C*
//! dominates all entries or none. So values need no repair; the φs of the entries get their operands by way of φs of
//! *d*.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use warpline_analysis::{CsrGraph, CycleForest, CycleId, Graph, Node};

use warpline_ir::{Block, Edge, Function, Op, Type, Value};

/// Adds the headers. The forest is that of the graph, which is the function's.
pub(super) fn add_headers(func: &mut Function, graph: &CsrGraph, cycles: &CycleForest) {
    let mut headers = Headers { cycles, home: SecondaryMap::new() };
    for &b in &func.layout {
        headers.home[b] = slot(cycles.innermost(Node::from(b)));
    }
    let mut entries: Vec<Vec<Block>> = vec![Vec::new(); cycles.len()];
    for &n in cycles.cycles().filter(|&c| cycles.parent(c).is_none()).flat_map(|c| cycles.nodes(c)) {
        let header = cycles.innermost(n).filter(|&c| cycles.header(c) == n);
        header.into_iter().for_each(|c| entries[c.index()].push(Block::from(n)));
        for p in graph.predecessors(n) {
            for c in cycles.around(n).take_while(|&c| !cycles.contains(c, p)) {
                let known = &mut entries[c.index()];
                // The blocks come one after the other, the header first.
                if known.last() != Some(&Block::from(n)) && cycles.header(c) != n {
                    known.push(Block::from(n));
                }
            }
        }
    }
    let mut before: SecondaryMap<Block, PackedOption<Block>> = SecondaryMap::new();
    for c in cycles.cycles().filter(|&c| !cycles.is_reducible(c)) {
        let dispatch = headers.add(func, c, &entries[c.index()]);
        before[entries[c.index()][0]] = dispatch.into();
    }
    let layout = std::mem::take(&mut func.layout);
    let old = |b: &Block| b.as_u32() < graph.node_count() as u32;
    func.layout =
        layout.into_iter().filter(old).flat_map(|b| before[b].expand().into_iter().chain([b])).collect();
}

fn slot(c: Option<CycleId>) -> u32 {
    c.map_or(0, |c| c.0 + 1)
}

struct Headers<'a> {
    cycles: &'a CycleForest,
    /// The innermost cycle of each block, the new ones included, plus one; 0 if there is none.
    home: SecondaryMap<Block, u32>,
}

impl Headers<'_> {
    fn contains(&self, c: CycleId, b: Block) -> bool {
        self.home[b].checked_sub(1).is_some_and(|home| self.cycles.contains_cycle(c, CycleId(home)))
    }

    fn add(&mut self, func: &mut Function, c: CycleId, entries: &[Block]) -> Block {
        let dispatch = func.add_block("entries");
        self.home[dispatch] = slot(Some(c));
        let two = entries.len() == 2;
        let which = func.add_phi(dispatch, if two { Type::BOOL } else { Type::Int(32) });
        let phis: Vec<Vec<Value>> = entries.iter().map(|&e| copies_of_phis(func, e, dispatch)).collect();
        let mut first = 1;
        for (k, &entry) in entries.iter().enumerate() {
            let back = k == 0;
            let moved: Vec<Edge> = func.blocks[entry]
                .preds
                .iter()
                .copied()
                .filter(|&e| back || !self.contains(c, func.edges[e].from))
                .collect();
            let chosen = match two {
                true => func.bool_const(k == 0),
                false => func.int_const(32, k as u128),
            };
            for e in moved {
                let args = func.edges[e].args.clone();
                func.redirect_edge(e, dispatch);
                func.set_phi_arg(e, 0, chosen);
                for (position, v) in (first..).zip(args) {
                    func.set_phi_arg(e, position, v);
                }
            }
            first += phis[k].len();
        }
        let header = func.terminator(entries[0]);
        let loc = func.insts[header].loc;
        let cases: Box<[u128]> = (1..entries.len() as u128).collect();
        let op = if two { Op::CondBr } else { Op::Switch(cases) };
        let t = func.set_terminator(dispatch, op, &[which], entries);
        func.insts[t].loc = loc;
        for (k, phis) in phis.iter().enumerate() {
            let e = func.insts[t].edges[k];
            func.edges[e].args = phis.as_slice().into();
        }
        dispatch
    }
}

/// φs like those of `entry`, in another block.
fn copies_of_phis(func: &mut Function, entry: Block, other: Block) -> Vec<Value> {
    let types: Vec<Type> =
        func.blocks[entry].phis.iter().map(|&p| func.ty(func.insts[p].results[0])).collect();
    types.into_iter().map(|ty| func.add_phi(other, ty)).collect()
}
