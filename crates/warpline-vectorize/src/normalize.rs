//! Normal form of a function before vectorization (paper 3, Sec. 2.1).
//!
//! Afterwards: every block is reachable; there is at most one `ret` and one `unreachable`, and the latter is reached
//! from [dead ends](super::no_return_paths) only; every loop is reducible, has a preheader whose only successor is the
//! header, a single back edge, at least one exit edge, and exit blocks all of whose in-edges come from inside
//! the loop; values that leave a loop do so through φs of its exit blocks (loop-closed SSA); parallel edges carry the
//! same φ operands.
//!
//! An infinite loop gets an exit that is never taken (`br true`), so that post-dominance has something to hold on
//! to.

use cranelift_entity::SecondaryMap;
use warpline_analysis::{CycleForest, CycleId, Node};

use warpline_dataflow::ssa;
use warpline_ir::{Block, Edge, Function, Op, OpaqueInfo, Type, Value};

use super::{VectorizeError, no_return_paths, reducible};

/// Brings a function into normal form.
///
/// # Errors
/// If it has terminators that cannot be vectorized or convergent operations in irreducible loops, or if it never
/// returns.
pub fn normalize(func: &mut Function) -> Result<(), VectorizeError> {
    func.remove_unreachable_blocks();
    for &b in &func.layout {
        let t = func.terminator(b);
        if let Op::OpaqueTerm(info) = &func.insts[t].op {
            return Err(VectorizeError::at_inst(func, t, refusal(info)));
        }
    }
    no_return_paths::drop_undefined_edges(func);
    reducible::make_reducible(func)?;
    separate_parallel_edges(func);
    unify_returns(func);
    add_false_exits(func);
    if !func.layout.iter().any(|&b| func.insts[func.terminator(b)].op == Op::Ret) {
        let reason = "control never returns from it, so there is nothing to do in several lanes";
        return Err(VectorizeError::in_function(func, reason));
    }
    no_return_paths::isolate(func);
    shape_loops(func)?;
    ssa::close_loops(func);
    ssa::remove_dead_phis(func);
    Ok(())
}

/// Why a terminator that the IR does not model cannot be vectorized, and what to do.
fn refusal(info: &OpaqueInfo) -> String {
    let name = &*info.name;
    let reason = match name.split_whitespace().next().unwrap_or(name) {
        "invoke" => {
            "calls a function with a landing pad: simplify the module first, which makes a plain call of it if \
             it does not unwind"
        }
        "resume" | "cleanupret" | "catchret" | "catchswitch" => {
            "is for code that unwinds, and lanes cannot unwind separately"
        }
        "indirectbr" => "jumps to a computed address; use a `switch`",
        "callbr" => "is assembly that jumps; use a function call",
        _ => "cannot be vectorized",
    };
    format!("`{name}` {reason}")
}

/// Parallel edges with different φ operands get a block each; a branch all of whose edges are the same becomes a jump.
fn separate_parallel_edges(func: &mut Function) {
    // Emptied behind each block: a fresh map would cost as much as the function is long.
    let mut seen: SecondaryMap<Block, Option<Edge>> = SecondaryMap::new();
    let mut touched: Vec<Block> = Vec::new();
    for b in func.layout.clone() {
        let edges = func.out_edges(b).to_vec();
        let Some((&first, rest)) = edges.split_first() else { continue };
        let same = |func: &Function, a: Edge, b: Edge| {
            func.edges[a].to == func.edges[b].to && func.edges[a].args == func.edges[b].args
        };
        if rest.is_empty() {
            continue;
        }
        if rest.iter().all(|&e| same(func, e, first)) {
            func.always_take(first);
            continue;
        }
        for to in touched.drain(..) {
            seen[to] = None;
        }
        for e in edges {
            let to = func.edges[e].to;
            match seen[to] {
                None => {
                    seen[to] = Some(e);
                    touched.push(to);
                }
                Some(other) if func.edges[other].args != func.edges[e].args => {
                    func.split_edge(e, "edge");
                }
                Some(_) => {}
            }
        }
    }
}

/// Makes a single `ret`.
fn unify_returns(func: &mut Function) {
    let ends: Vec<Block> =
        func.layout.iter().copied().filter(|&b| func.insts[func.terminator(b)].op == Op::Ret).collect();
    if ends.len() <= 1 {
        return;
    }
    let exit = func.add_block("exit");
    let result = (!func.ret.is_void()).then(|| func.add_phi(exit, func.ret));
    for b in ends {
        jump_to_exit(func, b, exit);
    }
    func.set_terminator(exit, Op::Ret, result.as_slice(), &[]);
}

/// Turns the `ret` of a block into a jump to `exit`, whose φ, if there is one, takes the result.
fn jump_to_exit(func: &mut Function, b: Block, exit: Block) {
    let old = func.terminator(b);
    let value = func.insts[old].args.first().copied();
    let loc = func.insts[old].loc;
    let new = func.set_terminator(b, Op::Br, &[], &[exit]);
    func.insts[new].loc = loc;
    if let Some(v) = value {
        func.set_phi_arg(func.insts[new].edges[0], 0, v);
    }
}

/// Gathers `edges`, which all lead to `to`, in a new block with φs that leads to `to` alone.
pub(super) fn merge_edges(func: &mut Function, edges: &[Edge], to: Block, name: &str) -> Block {
    let merged = func.add_block(name);
    // Keep the layout readable: the new block stands before the one it leads to.
    func.layout.pop();
    func.insert_before(to, merged);
    let types: Vec<Type> = func.blocks[to].phis.iter().map(|&p| func.ty(func.insts[p].results[0])).collect();
    let phis: Vec<Value> = types.into_iter().map(|ty| func.add_phi(merged, ty)).collect();
    for &e in edges {
        let args = func.edges[e].args.clone();
        func.redirect_edge(e, merged);
        func.edges[e].args = args;
    }
    let t = func.set_terminator(merged, Op::Br, &[], &[to]);
    let out = func.insts[t].edges[0];
    func.edges[out].args = phis.into();
    merged
}

/// Unique latches, preheaders, exits.
fn shape_loops(func: &mut Function) -> Result<(), VectorizeError> {
    let (graph, _) = func.graph();
    let cycles = CycleForest::compute(&graph);
    let back_edge = |e: Edge, f: &Function, c: CycleId| cycles.contains(c, Node::from(f.edges[e].from));
    for c in cycles.cycles() {
        if !cycles.is_reducible(c) {
            let header = Block::from(cycles.header(c));
            return Err(VectorizeError::at_block(func, header, "a loop has several entries").internal());
        }
    }
    for c in cycles.cycles() {
        let header = Block::from(cycles.header(c));
        // The blocks that merging adds are not known to `cycles`; loops that share a header are one cycle,
        // so each header is visited once.
        let preds = func.blocks[header].preds.clone();
        let (back, entering): (Vec<Edge>, Vec<Edge>) =
            preds.into_iter().partition(|&e| back_edge(e, func, c));
        if back.len() > 1 {
            merge_edges(func, &back, header, "latch");
        }
        let dedicated = |&e: &Edge| func.out_edges(func.edges[e].from).len() == 1;
        if entering.len() != 1 || !entering.iter().all(dedicated) {
            merge_edges(func, &entering, header, "preheader");
        }
    }
    make_exits_dedicated(func);
    Ok(())
}

/// Gives infinite loops an exit that is never taken.
fn add_false_exits(func: &mut Function) {
    let (graph, _) = func.graph();
    let cycles = CycleForest::compute(&graph);
    let infinite: Vec<(Block, Vec<Edge>)> = cycles
        .cycles()
        .filter(|&c| cycles.is_reducible(c) && cycles.exit_edges(&graph, c).next().is_none())
        .map(|c| {
            let header = Block::from(cycles.header(c));
            let back = |&e: &Edge| cycles.contains(c, Node::from(func.edges[e].from));
            (header, func.blocks[header].preds.iter().copied().filter(back).collect())
        })
        .collect();
    if infinite.is_empty() {
        return;
    }
    // A block of its own: what the block that returned uses need not be available at these exits.
    let returning = func.layout.iter().copied().find(|&b| func.insts[func.terminator(b)].op == Op::Ret);
    let exit = func.add_block("exit");
    let result = (!func.ret.is_void()).then(|| func.add_phi(exit, func.ret));
    func.set_terminator(exit, Op::Ret, result.as_slice(), &[]);
    if let Some(b) = returning {
        jump_to_exit(func, b, exit);
    }
    for (header, back) in infinite {
        let latch = merge_edges(func, &back, header, "latch");
        let args = func.edges[func.out_edges(latch)[0]].args.clone();
        let yes = func.bool_const(true);
        let t = func.set_terminator(latch, Op::CondBr, &[yes], &[header, exit]);
        let (again, out) = (func.insts[t].edges[0], func.insts[t].edges[1]);
        func.edges[again].args = args;
        if result.is_some() {
            let poison = func.poison(func.ret);
            func.set_phi_arg(out, 0, poison);
        }
    }
}

/// Splits exit edges whose target has in-edges from outside the loop too, innermost loops first.
fn make_exits_dedicated(func: &mut Function) {
    let (graph, ids) = func.graph();
    let cycles = CycleForest::compute(&graph);
    for leaving in cycles.all_exit_edges(&graph).into_iter().rev() {
        let mut by_target: Vec<(Block, Vec<Edge>)> = Vec::new();
        for e in leaving {
            let e = ids[e.index()];
            let to = func.edges[e].to;
            match by_target.iter_mut().find(|(t, _)| *t == to) {
                Some((_, list)) => list.push(e),
                None => by_target.push((to, vec![e])),
            }
        }
        for (to, edges) in by_target {
            if edges.len() != func.blocks[to].preds.len() {
                merge_edges(func, &edges, to, "loop.exit");
            }
        }
    }
}
