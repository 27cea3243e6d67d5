//! Dead ends: code from which control never returns, such as the call of a panic function.
//!
//! A bounds check that one lane fails would, taken literally, take the other lanes' control flow apart. But the lane
//! that fails ends the program. So a branch into a dead end becomes a branch on whether *any* active lane goes there.
//! That branch is uniform, and in front of it nothing has diverged:
//!
//! ```text
//!     br %c, dead, rest                 %any = any %c
//!                                       br %any, entry, rest
//!                               entry:  br %c, dead, end          ; the lanes that do not go there wait
//!                               end:    unreachable
//! ```
//!
//! For a single lane both say the same. For several, the lanes that do not fail miss what they would have done before
//! the program ends, which no order of the lanes promises them.

use cranelift_entity::EntitySet;

use warpline_ir::{BinaryOp, Block, Constant, Edge, Function, IntPred, LaneOp, Op, Type, Value};

/// The blocks from which no `ret` can be reached; none if nothing returns at all.
pub(crate) fn find(func: &Function) -> EntitySet<Block> {
    let mut returns: EntitySet<Block> = EntitySet::with_capacity(func.blocks.len());
    let mut work: Vec<Block> =
        func.layout.iter().copied().filter(|&b| func.insts[func.terminator(b)].op == Op::Ret).collect();
    let mut dead = EntitySet::with_capacity(func.blocks.len());
    if work.is_empty() {
        return dead;
    }
    while let Some(b) = work.pop() {
        if returns.insert(b) {
            work.extend(func.predecessors(b).filter(|&p| !returns.contains(p)));
        }
    }
    for &b in func.layout.iter().filter(|&&b| !returns.contains(b)) {
        dead.insert(b);
    }
    dead
}

/// Removes conditional edges to blocks that do nothing but `unreachable`: to take one is undefined behaviour, so none
/// is taken.
pub(crate) fn drop_undefined_edges(func: &mut Function) {
    loop {
        let undefined = |func: &Function, b: Block| {
            func.insts[func.terminator(b)].op == Op::Unreachable
                && func.blocks[b].insts.iter().all(|&i| func.insts[i].effects().removable())
        };
        let mut changed = false;
        for b in func.layout.clone() {
            let dropped: Vec<bool> =
                func.out_edges(b).iter().map(|&e| undefined(func, func.edges[e].to)).collect();
            let Some(some) = dropped.iter().position(|d| !d) else { continue };
            if dropped.contains(&true) {
                changed |= keep_edges(func, b, &dropped, some);
            }
        }
        if !changed {
            break;
        }
        func.remove_unreachable_blocks();
    }
}

/// Removes the marked out-edges of a block; `some` is one that stays. False if its terminator is not one that can do
/// without.
fn keep_edges(func: &mut Function, b: Block, dropped: &[bool], some: usize) -> bool {
    let old = func.terminator(b);
    let data = func.insts[old].clone();
    let kept: Vec<usize> = (0..dropped.len()).filter(|&k| !dropped[k]).collect();
    let (op, args, order): (Op, &[Value], Vec<usize>) = match data.op {
        Op::Switch(ref cases) if kept.len() > 1 => {
            // The first edge is the default: if that goes, a case takes its place.
            let rest = kept[1..].iter().map(|&k| cases[k - 1]).collect();
            (Op::Switch(rest), &data.args, kept)
        }
        Op::CondBr | Op::Switch(_) => (Op::Br, &[], vec![some]),
        _ => return false,
    };
    let edges: Vec<(Block, _)> = order
        .iter()
        .map(|&k| (func.edges[data.edges[k]].to, func.edges[data.edges[k]].args.clone()))
        .collect();
    let targets: Vec<Block> = edges.iter().map(|&(t, _)| t).collect();
    let new = func.set_terminator(b, op, args, &targets);
    func.insts[new].loc = data.loc;
    func.insts[new].origin = data.origin;
    for (k, (_, args)) in edges.into_iter().enumerate() {
        let e = func.insts[new].edges[k];
        func.edges[e].args = args;
    }
    true
}

/// Turns branches into dead ends as the [module](self) says, and unifies `unreachable`.
pub(crate) fn isolate(func: &mut Function) {
    let dead = find(func);
    let mut ends: Vec<Block> = Vec::new();
    for &b in &func.layout {
        if dead.contains(b) && func.insts[func.terminator(b)].op == Op::Unreachable {
            ends.push(b);
        }
    }
    if ends.is_empty() {
        return;
    }
    let end = func.add_block("end");
    func.set_terminator(end, Op::Unreachable, &[], &[]);
    for b in ends {
        let loc = func.insts[func.terminator(b)].loc;
        let t = func.set_terminator(b, Op::Br, &[], &[end]);
        func.insts[t].loc = loc;
    }
    for b in func.layout.clone() {
        let leads = |&e: &Edge| dead.contains(func.edges[e].to);
        if !dead.contains(b) && b != end && func.out_edges(b).iter().any(leads) {
            isolate_branch(func, b, &dead, end);
        }
    }
}

fn isolate_branch(func: &mut Function, b: Block, dead: &EntitySet<Block>, end: Block) {
    let old = func.terminator(b);
    let data = func.insts[old].clone();
    let is_dead: Vec<bool> = data.edges.iter().map(|&e| dead.contains(func.edges[e].to)).collect();
    let Some(condition) = condition(func, b, &data.op, &data.args, &is_dead) else { return };
    // The original branch moves to the entry of the dead end, its live edges waiting there; a copy without the
    // dead edges goes on.
    let rest = func.split_block(b, func.blocks[b].insts.len(), "checked");
    let entry = func.add_block("failed");
    let old_edges = func.out_edges(rest).to_vec();
    let targets: Vec<Block> =
        old_edges.iter().zip(&is_dead).map(|(&e, &d)| if d { func.edges[e].to } else { end }).collect();
    let copy = func.set_terminator(entry, data.op.clone(), &data.args, &targets);
    func.insts[copy].loc = data.loc;
    for (k, &e) in old_edges.iter().enumerate() {
        if is_dead[k] {
            let new = func.insts[copy].edges[k];
            func.edges[new].args = func.edges[e].args.clone();
        }
    }
    if let Some(some) = is_dead.iter().position(|d| !d) {
        keep_edges(func, rest, &is_dead, some);
    }
    let any = func.append_value(b, Op::Lane(LaneOp::Any), &[condition], Type::BOOL);
    let t = func.set_terminator(b, Op::CondBr, &[any], &[entry, rest]);
    func.insts[t].loc = data.loc;
}

/// Whether a lane takes one of the marked edges, computed at the end of the block.
fn condition(func: &mut Function, b: Block, op: &Op, args: &[Value], marked: &[bool]) -> Option<Value> {
    match op {
        Op::CondBr if marked == [true, false] => Some(args[0]),
        Op::CondBr => {
            let yes = func.bool_const(true);
            Some(func.append_value(b, Op::Binary(BinaryOp::Xor), &[args[0], yes], Type::BOOL))
        }
        Op::Switch(cases) => {
            // With a marked default: no unmarked case. Otherwise: a marked case.
            let default = marked[0];
            let bits = func.ty(args[0]).int_bits()?;
            let mut hit: Option<Value> = None;
            for (k, &case) in cases.iter().enumerate() {
                if marked[k + 1] != default {
                    let c = func.constant_value(Constant::int(bits, case));
                    let eq = func.append_value(b, Op::ICmp(IntPred::Eq), &[args[0], c], Type::BOOL);
                    let or = Op::Binary(BinaryOp::Or);
                    hit = Some(match hit {
                        Some(h) => func.append_value(b, or, &[h, eq], Type::BOOL),
                        None => eq,
                    });
                }
            }
            let hit = hit?;
            if !default {
                return Some(hit);
            }
            let yes = func.bool_const(true);
            Some(func.append_value(b, Op::Binary(BinaryOp::Xor), &[hit, yes], Type::BOOL))
        }
        _ => None,
    }
}
