//! Conditions of a uniform and a varying part: `if (U && V)` keeps the branch on U.
//!
//! Simplification makes one condition of two where the second is cheap to compute. Where lanes agree on U and not on
//! V, that makes one divergent branch, which is folded, of two of which one stays (paper 3 folds divergent branches
//! alone). So it is undone before anything else: `br (U & V), T, F` becomes `br U, L, F` and, in L, `br V, T, F`;
//! likewise with `|`.
//!
//! A `select` is the form that does not look at its second part where the first decides. If that one is to come first,
//! it is frozen: where it is poison, the first part decides, whatever the second is then. Of an `and` or `or` any part
//! may come first: where it is poison, so is the whole, and to branch on that is undefined already.

use crate::Linearize;
use crate::Options;
use crate::VectorizeError;
use crate::pass::{Context, Unit};
use warpline_ir::{BinaryOp, Block, Function, Op, Type, Value};

/// Branches that one condition is split into at most: parts can be shared, so that a short expression has very many.
const MAX_PARTS: usize = 8;
/// How deep a uniform part may be.
const MAX_DEPTH: usize = 6;

/// A condition of two parts.
#[derive(Copy, Clone)]
struct Parts {
    first: Value,
    second: Value,
    /// What the first part is where it decides alone: false for *and*.
    decides: bool,
    /// Whether the first part may be poison where the second decides.
    freezes: bool,
}

/// Whether a function branches on a condition of several parts.
fn has_conditions_of_parts(func: &Function) -> bool {
    func.layout.iter().any(|&b| condition(func, b).is_some_and(|c| !all_parts(func, c).is_empty()))
}

/// The pass. Full if-conversion folds uniform branches too, so that nothing would come of it.
pub(crate) fn run(unit: &mut Unit, cx: &Context<'_>) -> Result<bool, VectorizeError> {
    let Options { width, linearize, .. } = *cx.options;
    if width == 1 || linearize != Linearize::Partial || !has_conditions_of_parts(&unit.func) {
        return Ok(false);
    }
    let uniformity = cx.uniformity(unit);
    Ok(split_conditions(&mut unit.func, |v| !uniformity.is_divergent(v)))
}

/// Gives the uniform parts of divergent conditions branches of their own. Whether there were any.
fn split_conditions(func: &mut Function, is_uniform: impl Fn(Value) -> bool) -> bool {
    let mut changed = false;
    for b in func.layout.clone() {
        let mut work = vec![b];
        let mut parts_of_this = 1;
        while let Some(b) = work.pop() {
            let parts = condition(func, b).and_then(|c| to_split(func, c, &is_uniform, MAX_DEPTH));
            let Some(parts) = parts.filter(|_| parts_of_this < MAX_PARTS) else { continue };
            work.extend([split(func, b, parts), b]);
            changed = true;
            parts_of_this += 1;
        }
    }
    changed
}

/// What a block with two different successors branches on.
fn condition(func: &Function, b: Block) -> Option<Value> {
    let t = &func.insts[func.terminator(b)];
    let mut targets = func.successors(b);
    (t.op == Op::CondBr && targets.next() != targets.next()).then(|| t.args[0])
}

/// The ways to take a condition apart, each with the part that a branch can be on first.
fn all_parts(func: &Function, c: Value) -> Vec<Parts> {
    let Some(inst) = func.def_inst(c) else { return Vec::new() };
    let args = &func.insts[inst].args;
    match func.insts[inst].op {
        Op::Binary(op @ (BinaryOp::And | BinaryOp::Or)) => {
            let (x, y, decides) = (args[0], args[1], op == BinaryOp::Or);
            both_ways(x, y, decides, false)
        }
        Op::Select => match (func.as_int(args[1]), func.as_int(args[2])) {
            (None, Some(0)) => both_ways(args[0], args[1], false, true),
            (Some(1), None) => both_ways(args[0], args[2], true, true),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Parts in their order and the other way round, for which the one that then is the first may have to be frozen.
fn both_ways(x: Value, y: Value, decides: bool, freezes: bool) -> Vec<Parts> {
    vec![
        Parts { first: x, second: y, decides, freezes: false },
        Parts { first: y, second: x, decides, freezes },
    ]
}

/// The parts of a divergent condition, if the first is uniform or has such a part itself.
fn to_split(func: &Function, c: Value, is_uniform: &impl Fn(Value) -> bool, depth: usize) -> Option<Parts> {
    if depth == 0 || is_uniform(c) {
        return None;
    }
    let parts = all_parts(func, c);
    let uniform_first = parts.iter().find(|p| is_uniform(p.first) && !is_uniform(p.second));
    let within = |p: &&Parts| {
        let may_be_split = !p.freezes && !is_uniform(p.second);
        may_be_split && to_split(func, p.first, is_uniform, depth - 1).is_some()
    };
    uniform_first.or_else(|| parts.iter().find(within)).copied()
}

/// `br (first op second)` becomes a branch on the first part, and one on the second in a new block, which is
/// returned.
fn split(func: &mut Function, b: Block, parts: Parts) -> Block {
    let old = func.terminator(b);
    let below = func.split_block(b, usize::MAX, "and");
    func.insts[old].args[0] = parts.second;
    // Where the first part decides, control goes where it would go if the second were the same.
    let decided = usize::from(!parts.decides);
    let skipping = func.out_edges(below)[decided];
    let (to, args) = (func.edges[skipping].to, func.edges[skipping].args.clone());
    let mut targets = [below; 2];
    targets[decided] = to;
    let first = match parts.freezes {
        true => func.append_value(b, Op::Freeze, &[parts.first], Type::BOOL),
        false => parts.first,
    };
    let t = func.set_terminator(b, Op::CondBr, &[first], &targets);
    func.insts[t].loc = func.insts[old].loc;
    let e = func.out_edges(b)[decided];
    func.edges[e].args = args;
    below
}
