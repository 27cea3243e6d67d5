//! What holds on the edges out of branches: comparisons of values, found behind the branch's condition.
//!
//! A branch on poison or undef is undefined behaviour, so on each edge out of a branch its condition has one value,
//! whatever undefined bits there are in what it was made of. Conjunctions hold where the branch is taken if true,
//! disjunctions fail where it is taken if false; a `freeze` hides what it freezes. What holds of a sum `x + 1` tells
//! of `x`: see [`Made`].

use smallvec::SmallVec;
use warpline_analysis::dataflow::TestKind;

use warpline_ir::{BinaryOp, Block, CastOp, Edge, Function, Inst, IntPred, Op, Value};

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

/// How a value that a branch tests was made from others, so that what is known of it on an edge tells of these.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Made {
    /// The first value is computed from the second and a constant, or is an extension or a part of it.
    From(Value, Value),
    /// The first value is the second part of what a call returns, a boolean; the second one is the first part of the
    /// same.
    Flag(Value, Value),
}

/// How deep the values that made a tested one are looked for.
const MADE_DEPTH: u32 = 3;

/// The first parts of what calls return, by the call; for the booleans that calls return as second parts.
#[derive(Clone, Debug, Default)]
pub struct FirstParts {
    parts: Vec<(Inst, Value)>,
}

impl FirstParts {
    /// Finds them; of two for one call, the one in the call's block that comes first, which is there whenever a block
    /// behind is.
    pub fn of(func: &Function) -> FirstParts {
        let mut parts = Vec::new();
        for &b in &func.layout {
            for &i in &func.blocks[b].insts {
                let data = &func.insts[i];
                if let (Op::ExtractValue(path), [first]) = (&data.op, &data.results[..])
                    && **path == [0]
                    && let Some(call) = call_of(func, data.args[0]).filter(|&c| func.insts[c].block == b)
                {
                    parts.push((call, *first));
                }
            }
        }
        parts.sort_by_key(|&(call, _)| call);
        parts.dedup_by_key(|&mut (call, _)| call);
        FirstParts { parts }
    }

    fn get(&self, call: Inst) -> Option<Value> {
        let at = self.parts.binary_search_by_key(&call, |&(c, _)| c).ok()?;
        Some(self.parts[at].1)
    }
}

/// The call whose result a value is.
fn call_of(func: &Function, v: Value) -> Option<Inst> {
    func.def_inst(v).filter(|&i| matches!(func.insts[i].op, Op::Call(_)))
}

/// How the value was made, if what is known of it may tell of the value that it was made from.
fn made_from(func: &Function, v: Value) -> Option<Value> {
    let data = &func.insts[func.def_inst(v)?];
    match data.op {
        Op::Cast(CastOp::ZExt | CastOp::SExt | CastOp::Trunc) => Some(data.args[0]),
        Op::Binary(
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Xor | BinaryOp::Or | BinaryOp::LShr | BinaryOp::UDiv,
        ) => match (func.as_int(data.args[0]), func.as_int(data.args[1])) {
            (None, Some(_)) => Some(data.args[0]),
            (Some(_), None) => Some(data.args[1]),
            _ => None,
        },
        _ => None,
    }
    .filter(|&x| func.constant(x).is_none() && func.ty(x).is_int())
}

/// How a value was made, and how those were that it was made from, outermost first. The values are there wherever `v`
/// is.
pub fn made(func: &Function, parts: &FirstParts, v: Value) -> SmallVec<[Made; 2]> {
    let mut all = SmallVec::new();
    if let Some(flag) = func.def_inst(v)
        && let Op::ExtractValue(path) = &func.insts[flag].op
    {
        let call = call_of(func, func.insts[flag].args[0]).filter(|_| **path == [1]);
        all.extend(call.and_then(|c| parts.get(c)).map(|first| Made::Flag(v, first)));
    }
    let mut at = v;
    for _ in 0..MADE_DEPTH {
        let Some(from) = made_from(func, at) else { break };
        all.push(Made::From(at, from));
        at = from;
    }
    all
}

/// Calls `f` for the values that a tested value was made from: not for itself.
fn makers(func: &Function, parts: &FirstParts, v: Value, f: &mut impl FnMut(Value)) {
    for made in made(func, parts, v) {
        match made {
            Made::From(_, from) => f(from),
            Made::Flag(_, first) => {
                f(first);
                let call = func.def_inst(v).and_then(|i| call_of(func, func.insts[i].args[0]));
                call.iter().flat_map(|&c| &func.insts[c].args).for_each(|&a| {
                    if func.ty(a) == func.ty(first) {
                        f(a);
                    }
                });
            }
        }
    }
}

/// The values that the branch of a block tests, each once, into `out`: its condition, and what comparisons behind it
/// compare.
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

/// Adds to the values that the branch of a block tests what these were [made](Made) from, as [`TestKind::Other`].
pub(crate) fn add_makers(func: &Function, parts: &FirstParts, out: &mut Vec<Tested>) {
    for k in 0..out.len() {
        makers(func, parts, out[k].value, &mut |value| {
            if func.constant(value).is_none() && out.iter().all(|t| t.value != value) {
                out.push(Tested { value, kind: TestKind::Other });
            }
        });
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

/// Calls `f` with boolean values that have a known value if `condition` has the value `wanted`, and which: itself,
/// and the parts of conjunctions, disjunctions and negations.
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
    if let Some(opposite) = negated(func, inst) {
        return leaves(func, opposite, !wanted, depth - 1, left, f);
    }
    for part in both(func, inst, wanted).into_iter().flatten() {
        leaves(func, part, wanted, depth - 1, left, f);
    }
}

/// The condition that another one is the opposite of.
pub fn negated(func: &Function, condition: Inst) -> Option<Value> {
    let data = &func.insts[condition];
    let is_not = data.op == Op::Binary(BinaryOp::Xor) && func.as_int(data.args[1]) == Some(1);
    is_not.then(|| data.args[0])
}

/// The two conditions that both have the value `wanted` if a condition has that: those of a conjunction that holds or a
/// disjunction that does not. Of `select a, b, false` and `select a, true, b` the second one may be poison where the
/// first one decides.
pub fn both(func: &Function, condition: Inst, wanted: bool) -> Option<[Value; 2]> {
    let data = &func.insts[condition];
    let is = |k: usize, b: bool| func.as_int(data.args[k]) == Some(u128::from(b));
    let parts = match data.op {
        Op::Binary(BinaryOp::And) => wanted.then_some([0, 1]),
        Op::Binary(BinaryOp::Or) => (!wanted).then_some([0, 1]),
        Op::Select if is(2, false) => wanted.then_some([0, 1]),
        Op::Select if is(1, true) => (!wanted).then_some([0, 2]),
        _ => None,
    };
    parts.map(|parts| parts.map(|k| data.args[k]))
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
