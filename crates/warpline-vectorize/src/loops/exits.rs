//! Exits that follow each other and lead to the same place, as one test.
//!
//! Of `for (a, b) in x.iter().zip(y.iter().rev())` come two tests in a row, of which each compares a pointer with its
//! end. A loop is counted by one test, which may ask for several things at once.

use cranelift_entity::EntitySet;
use warpline_analysis::{DomTree, Node};
use warpline_ir::{BinaryOp, Block, Edge, Function, Inst, IntPred, Module, Op, Type, Value};

use super::find::{compares_counter, dominates};
use super::trips::parts;
use crate::if_conversion::may_move_up;

/// Lets control leave a loop where every iteration gets to, instead of under a condition: of
/// `if (c == ')') { d--; if (d < 0) return false; }` the way out leads to behind the outer `if`, where it is asked
/// whether it was taken. `exits` are the edges in question, `latch` the last block of the loop, `is_own` says which
/// blocks are in no inner loop. Whether there was any.
pub(super) fn meet(
    func: &mut Function,
    exits: &[Edge],
    latch: Block,
    dominators: &DomTree,
    is_own: impl Fn(Block) -> bool,
) -> bool {
    let is_above = |a: Block, b: Block| dominates(dominators, a, b);
    let exit = exits.iter().copied().find(|&e| {
        let from = func.edges[e].from;
        is_own(from) && !is_above(from, latch) && func.insts[func.terminator(from)].op == Op::CondBr
    });
    let Some(exit) = exit else { return false };
    let from = func.edges[exit].from;
    // The first block behind the condition that every iteration gets to.
    let mut join = latch;
    while let Some(above) = dominators.idom(Node::from(join)).map(Block::from).filter(|&b| !is_above(b, from))
    {
        join = above;
    }
    if !is_own(join) {
        return false;
    }
    let is_there = |v: Value| func.def_block(v).is_none_or(|b| b != join && is_above(b, join));
    let (out, handed) = (func.edges[exit].to, func.edges[exit].args.to_vec());
    let kept: Vec<bool> = handed.iter().map(|&v| is_there(v)).collect();
    let meets = in_front_of(func, join);
    let (loc, [yes, no]) = (func.insts[func.terminator(from)].loc, [true, false].map(|b| func.bool_const(b)));
    // Where control would have gone there anyway, nothing but the answer is left of the branch.
    let direct = func.out_edges(from).iter().copied().find(|&e| leads_to(func, e, meets));
    let (way, answer) = match direct {
        Some(on) => {
            let (condition, leaves_if) = condition(func, from, exit);
            let answer = if leaves_if { condition } else { not(func, from, condition) };
            func.always_take(on);
            let on = func.out_edges(from)[0];
            let next = func.edges[on].to;
            (if next == meets { on } else { func.out_edges(next)[0] }, answer)
        }
        None => {
            func.redirect_edge(exit, meets);
            // Nobody looks at what the φs are then: one of the other ways' values, if it is there.
            for position in 0..func.blocks[meets].phis.len() {
                let of_others = func.blocks[meets].preds.iter().filter(|&&e| e != exit);
                let mut values = of_others.map(|&e| func.edges[e].args[position]);
                if let Some(v) = values.find(|&v| func.def_block(v).is_none_or(|b| is_above(b, from))) {
                    func.set_phi_arg(exit, position, v);
                }
            }
            (exit, yes)
        }
    };
    let hand_on = |func: &mut Function, v: Value| {
        let phi = func.add_phi(meets, func.ty(v));
        func.set_phi_arg(way, func.blocks[meets].phis.len() - 1, v);
        phi
    };
    let handed: Vec<Value> =
        handed.iter().zip(kept).map(|(&v, kept)| if kept { v } else { hand_on(func, v) }).collect();
    let leaves = hand_on(func, answer);
    let position = func.blocks[meets].phis.len() - 1;
    for e in func.blocks[meets].preds.clone().into_iter().filter(|&e| e != way) {
        func.set_phi_arg(e, position, no);
    }
    let test = func.set_terminator(meets, Op::CondBr, &[leaves], &[out, join]);
    func.insts[test].loc = loc;
    let leaving = func.insts[test].edges[0];
    func.edges[leaving].args = handed.into();
    true
}

/// Whether an edge leads to a block, at most over one where something is computed that may as well be computed if the
/// loop is left.
fn leads_to(func: &Function, edge: Edge, to: Block) -> bool {
    let next = func.edges[edge].to;
    if next == to {
        return true;
    }
    let computes = |&i: &Inst| {
        let plain =
            matches!(func.insts[i].op, Op::Binary(_) | Op::Cast(_) | Op::ICmp(_) | Op::FCmp(_) | Op::Select);
        plain && func.insts[i].effects().is_empty()
    };
    let data = &func.blocks[next];
    let &[on] = func.out_edges(next) else { return false };
    data.preds.len() == 1 && data.insts.iter().all(computes) && func.edges[on].to == to
}

/// Puts a block in front of another one, which takes over its φs and all ways to it, and does not end yet.
fn in_front_of(func: &mut Function, block: Block) -> Block {
    let new = func.add_block("meets");
    func.layout.pop();
    let place = func.layout.iter().position(|&b| b == block).unwrap_or(func.layout.len());
    func.layout.insert(place, new);
    let ways = func.blocks[block].preds.clone();
    let args: Vec<_> = ways.iter().map(|&e| func.edges[e].args.clone()).collect();
    let phis = std::mem::take(&mut func.blocks[block].phis);
    ways.iter().for_each(|&e| func.redirect_edge(e, new));
    phis.iter().for_each(|&phi| func.insts[phi].block = new);
    func.blocks[new].phis = phis;
    for (e, args) in ways.into_iter().zip(args) {
        func.edges[e].args = args;
    }
    new
}

/// So many instructions between two tests are computed before the first one.
const MAX_BETWEEN: usize = 12;

/// Joins tests of counters of the loop with this header that directly follow each other and leave it for the same place
/// with the same values. `own` are the loop's blocks in no inner loop.
pub(super) fn join(
    module: &Module,
    func: &mut Function,
    header: Block,
    (blocks, own): (&EntitySet<Block>, &EntitySet<Block>),
) {
    let all: Vec<Block> = func.layout.iter().copied().filter(|&b| own.contains(b)).collect();
    for first in all {
        let counts = |func: &Function, block: Block, exit: Edge| {
            let (condition, leaves_if) = condition(func, block, exit);
            let mut parts = parts(func, condition, !leaves_if).into_iter();
            parts.all(|part| compares_counter(func, header, blocks, part.condition))
        };
        let joins =
            |func: &Function, p: &Pair| counts(func, first, p.exits[0]) && counts(func, p.second, p.exits[1]);
        while let Some(pair) = Pair::of(module, func, blocks, first).filter(|pair| joins(func, pair)) {
            pair.join(func, first);
        }
    }
}

/// Two tests in a row.
struct Pair {
    /// The block of the second one.
    second: Block,
    exits: [Edge; 2],
    /// The edge by which the second one goes on.
    on: Edge,
}

impl Pair {
    fn of(module: &Module, func: &Function, blocks: &EntitySet<Block>, first: Block) -> Option<Pair> {
        let (exit, into) = exit_of(func, blocks, first)?;
        let second = func.edges[into].to;
        let alone =
            second != first && func.blocks[second].preds.len() == 1 && func.blocks[second].phis.is_empty();
        let (other, on) = exit_of(func, blocks, second).filter(|_| alone)?;
        let (x, y) = (&func.edges[exit], &func.edges[other]);
        let between = &func.blocks[second].insts;
        let pure = |&i: &Inst| may_move_up(module, func, i);
        let fits =
            x.to == y.to && x.args == y.args && between.len() <= MAX_BETWEEN && between.iter().all(pure);
        fits.then_some(Pair { second, exits: [exit, other], on })
    }

    fn join(&self, func: &mut Function, first: Block) {
        let moved = std::mem::take(&mut func.blocks[self.second].insts);
        for &i in &moved {
            func.insts[i].block = first;
        }
        func.blocks[first].insts.extend(moved);
        let (asked, leaves_if) = condition(func, first, self.exits[0]);
        let (then, also_if) = condition(func, self.second, self.exits[1]);
        let then = if leaves_if == also_if { then } else { not(func, first, then) };
        // Where the first one leaves the loop, the second one is not asked, and may be poison.
        let left = func.bool_const(leaves_if);
        let args = if leaves_if { [asked, left, then] } else { [asked, then, left] };
        let both = func.append_value(first, Op::Select, &args, Type::BOOL);
        let test = func.terminator(first);
        func.insts[test].args[0] = both;
        func.always_take(self.on);
    }
}

/// The edge by which a block's branch leaves a loop, and the one by which it stays, if it has one of each.
fn exit_of(func: &Function, blocks: &EntitySet<Block>, block: Block) -> Option<(Edge, Edge)> {
    let branch = func.terminator(block);
    let &[a, b] = func.out_edges(block) else { return None };
    let [stays_a, stays_b] = [a, b].map(|e| blocks.contains(func.edges[e].to));
    let is_branch = func.insts[branch].op == Op::CondBr;
    match (stays_a, stays_b) {
        (false, true) if is_branch => Some((a, b)),
        (true, false) if is_branch => Some((b, a)),
        _ => None,
    }
}

/// What a block's branch asks, and whether control takes an edge if it is true.
fn condition(func: &Function, block: Block, edge: Edge) -> (Value, bool) {
    let branch = &func.insts[func.terminator(block)];
    (branch.args[0], branch.edges[0] == edge)
}

/// Whether a number is one of these, asked at the end of a block.
pub(super) fn is_one_of(func: &mut Function, block: Block, number: Value, cases: &[u128]) -> Value {
    let bits = func.ty(number).int_bits().unwrap_or(64);
    let mut any = None;
    for &case in cases {
        let case = func.int_const(bits, case);
        let is = func.append_value(block, Op::ICmp(IntPred::Eq), &[number, case], Type::BOOL);
        any = Some(match any {
            None => is,
            Some(any) => func.append_value(block, Op::Binary(BinaryOp::Or), &[any, is], Type::BOOL),
        });
    }
    any.unwrap_or_else(|| func.bool_const(false))
}

/// The opposite of a truth value, at the end of a block.
pub(super) fn not(func: &mut Function, block: Block, value: Value) -> Value {
    let one = func.bool_const(true);
    func.append_value(block, Op::Binary(BinaryOp::Xor), &[value, one], Type::BOOL)
}

/// Gives the cases of switches by which control leaves a loop a test of their own, in front of the switch: of
/// `while (*s) { if (*s == ' ') … else if (*s == ',') … }` comes a switch with one case for the end. Whether there was
/// any.
pub(super) fn split_switches(
    func: &mut Function,
    (blocks, own): (&EntitySet<Block>, &EntitySet<Block>),
) -> bool {
    let all: Vec<Block> = func.layout.iter().copied().filter(|&b| own.contains(b)).collect();
    let found: Vec<Switch> = all.into_iter().filter_map(|b| Switch::of(func, blocks, b)).collect();
    found.iter().for_each(|switch| switch.split(func));
    !found.is_empty()
}

/// A switch of which some ways leave a loop, all for the same place with the same values.
struct Switch {
    block: Block,
    cases: Vec<u128>,
    /// For the default, and for each case.
    edges: Vec<Edge>,
    /// Which of them leave.
    leaves: Vec<bool>,
}

impl Switch {
    fn of(func: &Function, blocks: &EntitySet<Block>, block: Block) -> Option<Switch> {
        let Op::Switch(cases) = &func.insts[func.terminator(block)].op else { return None };
        let edges = func.out_edges(block).to_vec();
        let leaves: Vec<bool> = edges.iter().map(|&e| !blocks.contains(func.edges[e].to)).collect();
        let mut left = edges.iter().zip(&leaves).filter(|(_, leaves)| **leaves).map(|(&e, _)| &func.edges[e]);
        let first = left.next()?;
        let same = left.all(|e| e.to == first.to && e.args == first.args);
        let stays = leaves.contains(&false);
        (same && stays).then(|| Switch { block, cases: cases.to_vec(), edges, leaves })
    }

    fn split(&self, func: &mut Function) {
        let Switch { block, cases, edges, leaves } = self;
        let branch = func.terminator(*block);
        let (number, loc) = (func.insts[branch].args[0], func.insts[branch].loc);
        // Those that decide: the cases that leave, or, if the default does, those that do not.
        let asked = cases.iter().zip(&leaves[1..]).filter(|(_, leaves_too)| **leaves_too != leaves[0]);
        let asked: Vec<u128> = asked.map(|(&case, _)| case).collect();
        let any = is_one_of(func, *block, number, &asked);
        let way = |func: &Function, e: Edge| (func.edges[e].to, func.edges[e].args.clone());
        let ways: Vec<_> = edges.iter().map(|&e| way(func, e)).collect();
        let kept: Vec<usize> = (0..edges.len()).filter(|&k| !leaves[k]).collect();
        let (out, out_args) = ways[leaves.iter().position(|&leaves| leaves).expect("one way leaves")].clone();
        let rest = func.add_block("goes_on");
        func.layout.pop();
        let place = func.layout.iter().position(|b| b == block).map_or(func.layout.len(), |at| at + 1);
        func.layout.insert(place, rest);
        let targets = if leaves[0] { [rest, out] } else { [out, rest] };
        let test = func.set_terminator(*block, Op::CondBr, &[any], &targets);
        // The first of what is kept is the default; of a default that leaves, the first case is.
        let kept_cases: Box<[u128]> = kept[1..].iter().map(|&k| cases[k - 1]).collect();
        let targets: Vec<Block> = kept.iter().map(|&k| ways[k].0).collect();
        let again = match targets[..] {
            [only] => func.set_terminator(rest, Op::Br, &[], &[only]),
            _ => func.set_terminator(rest, Op::Switch(kept_cases), &[number], &targets),
        };
        (func.insts[test].loc, func.insts[again].loc) = (loc, loc);
        let to_out = func.insts[test].edges[usize::from(leaves[0])];
        func.edges[to_out].args = out_args;
        for (at, &k) in kept.iter().enumerate() {
            let e = func.insts[again].edges[at];
            func.edges[e].args = ways[k].1.clone();
        }
    }
}
