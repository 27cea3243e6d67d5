//! Node splitting: the blocks between the other entries of an irreducible loop and its header are copied.
//!
//! One entry of the cycle is chosen as its header. The *side* is what can be reached in the cycle from the other
//! entries without passing the header. Its copy is entered from outside of the cycle, the original from inside: so
//! the header is the only entry that is left. A value of the side that is used elsewhere (behind the cycle: what the
//! side defines does not dominate the rest of the cycle) becomes a variable that original and copy write, and SSA
//! construction joins them.

use cranelift_entity::SecondaryMap;
use warpline_analysis::{CsrGraph, CycleForest, CycleId, Graph, Node};

use crate::copies::{Blocks, Use, Values, copy_blocks, join, uses_in};
use warpline_dataflow::ssa;
use warpline_ir::{Block, Edge, Function, Op, Type, Value};

use super::dispatch_cost;

/// With more entries than this, splitting is not tried.
const MAX_ENTRIES: usize = 4;

/// What is to be copied.
struct Side {
    cycle: CycleId,
    blocks: Vec<Block>,
    /// The entries other than the header.
    entries: Vec<Block>,
    cost: usize,
    /// What dispatch would cost.
    limit: usize,
    /// Uses of its values elsewhere.
    uses: Vec<(Value, Use)>,
}

/// Splits nodes of irreducible cycles without irreducible ones inside where that adds fewer instructions than a new
/// header, as long as the instructions that are copied are within `budget`. Whether anything was split.
pub(super) fn split_nodes(
    func: &mut Function,
    graph: &CsrGraph,
    cycles: &CycleForest,
    budget: &mut usize,
) -> bool {
    let mut inner = vec![false; cycles.len()];
    let mut sides: Vec<Side> = Vec::new();
    for c in cycles.cycles().rev() {
        let irreducible = !cycles.is_reducible(c);
        if let Some(p) = cycles.parent(c)
            && (irreducible || inner[c.index()])
        {
            inner[p.index()] = true;
        }
        if irreducible && !inner[c.index()] {
            sides.extend(smallest_side(func, graph, cycles, c));
        }
    }
    let mut side_of: SecondaryMap<Block, u32> = SecondaryMap::new();
    for (k, side) in sides.iter().enumerate() {
        side.blocks.iter().for_each(|&b| side_of[b] = k as u32 + 1);
    }
    find_uses(func, &side_of, &mut sides);
    let (mut copies, mut values, mut vars) = (Blocks::new(), Values::new(), Vec::new());
    let mut changed = false;
    for k in 0..sides.len() {
        let (done, later) = sides.split_at_mut(k + 1);
        let side = &mut done[k];
        if side.cost <= side.limit && side.cost <= *budget {
            *budget -= side.cost;
            changed = true;
            copy(func, cycles, graph.node_count(), side, &mut copies, &mut values);
            // The copies use what sides define that are still to be copied. What others define is read from variables
            // already.
            for b in side.blocks.iter().filter_map(|&b| copies[b].expand()) {
                uses_in(func, b, |v, u| {
                    let other = func.def_block(v).map_or(0, |b| side_of[b]) as usize;
                    if other > k + 1 {
                        later[other - k - 2].uses.push((v, u));
                    }
                });
            }
            join(func, &mut side.uses, &values, &mut vars);
        }
    }
    ssa::construct_vars(func, &vars);
    changed
}

/// The side with the fewest instructions, if one may be copied and has no more than the limit.
fn smallest_side(func: &Function, graph: &CsrGraph, cycles: &CycleForest, c: CycleId) -> Option<Side> {
    let entries: Vec<Block> = cycles.entries(graph, c).into_iter().map(Block::from).collect();
    if entries.len() > MAX_ENTRIES {
        return None;
    }
    let limit = dispatch_cost(func, &entries);
    let sides = entries.iter().filter_map(|&header| {
        let others: Vec<Block> = entries.iter().copied().filter(|&e| e != header).collect();
        let (blocks, cost) = side_of(func, cycles, c, header, &others, limit)?;
        Some(Side { cycle: c, blocks, entries: others, cost, limit, uses: Vec::new() })
    });
    sides.min_by_key(|s| s.cost)
}

/// What can be reached in the cycle from `entries` without passing the header, with the number of its
/// instructions; nothing if these are too many or must stay single.
fn side_of(
    func: &Function,
    cycles: &CycleForest,
    c: CycleId,
    header: Block,
    entries: &[Block],
    limit: usize,
) -> Option<(Vec<Block>, usize)> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut work: Vec<Block> = entries.iter().rev().copied().collect();
    let mut cost = 0;
    while let Some(b) = work.pop() {
        // There are no more blocks than the limit, which is small.
        if b == header || !cycles.contains(c, Node::from(b)) || blocks.contains(&b) {
            continue;
        }
        cost += func.block_insts(b).count();
        if cost > limit || func.block_insts(b).any(|i| matches!(func.insts[i].op, Op::Alloca { .. })) {
            return None;
        }
        blocks.push(b);
        work.extend(func.successors(b));
    }
    Some((blocks, cost))
}

/// Finds the uses elsewhere of what the sides define, and counts the φs that they will need. Sides do not overlap;
/// `side_of` has their numbers, from 1.
fn find_uses(func: &Function, side_of: &SecondaryMap<Block, u32>, sides: &mut [Side]) {
    for &b in &func.layout {
        uses_in(func, b, |v, u| {
            let side = func.def_block(v).map_or(0, |b| side_of[b]);
            if side != 0 && side != side_of[b] {
                sides[side as usize - 1].uses.push((v, u));
            }
        });
    }
    for side in sides {
        side.uses.sort_by_key(|u| u.0);
        let values = || side.uses.chunk_by(|a, b| a.0 == b.0);
        side.cost += values().count();
        if values().any(|u| matches!(func.ty(u[0].0), Type::Other(_))) {
            // Tokens cannot be joined.
            side.cost = usize::MAX;
        }
    }
}

/// Copies the blocks of a side and leads its entries from outside to the copies. `cycles` speaks of the first `known`
/// blocks.
fn copy(
    func: &mut Function,
    cycles: &CycleForest,
    known: usize,
    side: &Side,
    copies: &mut Blocks,
    values: &mut Values,
) {
    copy_blocks(func, &side.blocks, copies, values);
    for &b in &side.entries {
        // Copies of other sides are outside, as their originals are: sides belong to cycles apart.
        let outside = |&e: &Edge| {
            let from = func.edges[e].from;
            from.as_u32() as usize >= known || !cycles.contains(side.cycle, Node::from(from))
        };
        let entering: Vec<Edge> = func.blocks[b].preds.iter().copied().filter(outside).collect();
        for e in entering {
            // The copies of edges to the block lead to its copy already.
            if copies_contain(copies, side, func.edges[e].from) {
                continue;
            }
            let args = func.edges[e].args.clone();
            func.redirect_edge(e, copies[b].expect("entries belong to the side"));
            func.edges[e].args = args;
        }
    }
}

fn copies_contain(copies: &Blocks, side: &Side, b: Block) -> bool {
    side.blocks.iter().any(|&x| copies[x] == b.into())
}
