//! What holds on the edges out of branches: comparisons of values, found behind the branch's condition.
//!
//! A branch on poison or undef is undefined behaviour, so on each edge out of a branch its condition has one value, whatever undefined
//! bits there are in what it was made of. Conjunctions hold where the branch is taken if true, disjunctions fail
//! where it is taken if false; a `freeze` hides what it freezes.

use smallvec::SmallVec;
use warpline_analysis::dataflow::TestKind;

use crate::ir::{BinaryOp, Block, Edge, Function, IntPred, Op, Value};

/// How deep conjunctions, disjunctions and negations are looked into.
const DEPTH: u32 = 6;

/// How many comparisons are looked at behind one branch.
const MANY: usize = 16;

/// A value that a branch tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tested {
    /// The value; no constant.
    pub value: Value,
    /// How.
    pub kind: TestKind,
}

/// Something that holds whenever an edge is taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Holds {
    /// A comparison of integers or pointers.
    Compare(IntPred, Value, Value),
    /// The value, of a `switch`, equals this number (zero-extended).
    Is(Value, u128),
    /// The value, of a `switch`, equals none of the cases of the terminator of this block.
    IsNone(Value, Block),
}

/// The values that the branch of a block tests, each once, into `out`: its condition, and what comparisons behind it compare.
pub fn tested(func: &Function, block: Block, out: &mut Vec<Tested>) {
    out.clear();
    let Some(term) = func.blocks[block].term.expand() else { return };
    let data = &func.insts[term];
    if data.edges.len() < 2 {
        return;
    }
    let mut add = |value: Value, kind: TestKind| {
        if func.constant(value).is_some() {
            return;
        }
        match out.iter_mut().find(|t| t.value == value) {
            Some(t) => t.kind = t.kind.min(kind),
            None => out.push(Tested { value, kind }),
        }
    };
    match data.op {
        Op::CondBr => {
            let condition = data.args[0];
            add(condition, TestKind::Equality);
            for wanted in [true, false] {
                let mut left = MANY;
                leaves(func, condition, wanted, DEPTH, &mut left, &mut |value, _| {
                    add(value, TestKind::Equality);
                    if let Some((pred, a, b)) = comparison(func, value) {
                        let is_equality = matches!(pred, IntPred::Eq | IntPred::Ne);
                        let kind = if is_equality { TestKind::Equality } else { TestKind::Other };
                        add(a, kind);
                        add(b, kind);
                    }
                });
            }
        }
        Op::Switch(_) => add(data.args[0], TestKind::Equality),
        _ => {}
    }
}

/// All that is known to hold when `edge` is taken.
pub fn on_edge(func: &Function, edge: Edge) -> SmallVec<[Holds; 4]> {
    let mut all = SmallVec::new();
    let block = func.edges[edge].from;
    let term = func.terminator(block);
    let data = &func.insts[term];
    let Some(at) = data.edges.iter().position(|&e| e == edge) else { return all };
    match &data.op {
        Op::CondBr if data.edges.len() == 2 => {
            let mut left = MANY;
            leaves(func, data.args[0], at == 0, DEPTH, &mut left, &mut |value, is| {
                all.push(Holds::Is(value, u128::from(is)));
                if let Some((pred, a, b)) = comparison(func, value) {
                    all.push(Holds::Compare(if is { pred } else { inverse(pred) }, a, b));
                }
            });
        }
        Op::Switch(cases) => match at.checked_sub(1) {
            Some(case) => all.push(Holds::Is(data.args[0], cases[case])),
            None => all.push(Holds::IsNone(data.args[0], block)),
        },
        _ => {}
    }
    all
}

/// Calls `f` with boolean values that have a known value if `condition` has the value `wanted`, and which: itself, and the
/// parts of conjunctions, disjunctions and negations.
fn leaves(
    func: &Function,
    condition: Value,
    wanted: bool,
    depth: u32,
    left: &mut usize,
    f: &mut impl FnMut(Value, bool),
) {
    if *left == 0 || func.constant(condition).is_some() {
        return;
    }
    *left -= 1;
    f(condition, wanted);
    let Some(inst) = func.def_inst(condition).filter(|_| depth > 0) else { return };
    let data = &func.insts[inst];
    let is = |k: usize, b: bool| func.as_int(data.args[k]) == Some(u128::from(b));
    let both = match data.op {
        Op::Binary(BinaryOp::And) => wanted.then_some([0, 1]),
        Op::Binary(BinaryOp::Or) => (!wanted).then_some([0, 1]),
        // `select a, b, false` and `select a, true, b`: what is not chosen may be poison, what is chosen is not.
        Op::Select if is(2, false) => wanted.then_some([0, 1]),
        Op::Select if is(1, true) => (!wanted).then_some([0, 2]),
        Op::Binary(BinaryOp::Xor) if is(1, true) => {
            return leaves(func, data.args[0], !wanted, depth - 1, left, f);
        }
        _ => None,
    };
    for k in both.into_iter().flatten() {
        leaves(func, data.args[k], wanted, depth - 1, left, f);
    }
}

/// The comparison of scalar integers or pointers that a value is.
fn comparison(func: &Function, v: Value) -> Option<(IntPred, Value, Value)> {
    let data = &func.insts[func.def_inst(v)?];
    match data.op {
        Op::ICmp(pred) => Some((pred, data.args[0], data.args[1])),
        _ => None,
    }
}

/// The comparison that holds where this one does not.
pub fn inverse(pred: IntPred) -> IntPred {
    match pred {
        IntPred::Eq => IntPred::Ne,
        IntPred::Ne => IntPred::Eq,
        IntPred::Ugt => IntPred::Ule,
        IntPred::Uge => IntPred::Ult,
        IntPred::Ult => IntPred::Uge,
        IntPred::Ule => IntPred::Ugt,
        IntPred::Sgt => IntPred::Sle,
        IntPred::Sge => IntPred::Slt,
        IntPred::Slt => IntPred::Sge,
        IntPred::Sle => IntPred::Sgt,
    }
}

/// The comparison that holds with its operands exchanged.
pub fn swapped(pred: IntPred) -> IntPred {
    match pred {
        IntPred::Eq | IntPred::Ne => pred,
        IntPred::Ugt => IntPred::Ult,
        IntPred::Uge => IntPred::Ule,
        IntPred::Ult => IntPred::Ugt,
        IntPred::Ule => IntPred::Uge,
        IntPred::Sgt => IntPred::Slt,
        IntPred::Sge => IntPred::Sle,
        IntPred::Slt => IntPred::Sgt,
        IntPred::Sle => IntPred::Sge,
    }
}
