//! How often loops go round, where constants say.

use warpline_analysis::{CycleForest, CycleId, Node};

use crate::ir::{BinaryOp, Block, Edge, Function, IntPred, Op, Value};

/// Iterations that are counted; loops of more count as if they had as many.
const MOST: u32 = 256;

/// The number of iterations of a loop that control leaves at one place, by comparing a counter with a constant.
pub(super) fn of_loop(func: &Function, cycles: &CycleForest, cycle: CycleId) -> Option<u32> {
    let inside = |b: Block| cycles.contains(cycle, Node::from(b));
    let header = Block::from(cycles.header(cycle));
    let mut exits = func.layout.iter().filter(|&&b| inside(b)).flat_map(|&b| func.out_edges(b));
    let mut exits = exits.by_ref().filter(|&&e| !inside(func.edges[e].to));
    let (&exit, None) = (exits.next()?, exits.next()) else { return None };
    let term = &func.insts[func.terminator(func.edges[exit].from)];
    let (Op::CondBr, Some(test)) = (&term.op, func.def_inst(*term.args.first()?)) else { return None };
    let test = &func.insts[test];
    let Op::ICmp(pred) = test.op else { return None };
    let counter = Counter::of(func, header, &inside, test.args[0])?;
    let bound = func.as_int(test.args[1])?;
    let stays_if = term.edges.first() != Some(&exit);
    (1..=MOST)
        .find(|&n| pred_holds(pred, counter.value(n - 1), bound, counter.bits) != stays_if)
        .or(Some(MOST))
}

/// A number that grows by a constant in every iteration.
struct Counter {
    start: u128,
    step: u128,
    bits: u32,
}

impl Counter {
    /// The counter that a value is, in the header or after its step.
    fn of(func: &Function, header: Block, inside: &impl Fn(Block) -> bool, v: Value) -> Option<Counter> {
        let bits = func.ty(v).int_bits().filter(|&bits| bits <= 64)?;
        let stepped = |v: Value| {
            let data = &func.insts[func.def_inst(v)?];
            let step = func.as_int(*data.args.get(1)?)?;
            match data.op {
                Op::Binary(BinaryOp::Add) => Some((data.args[0], step)),
                Op::Binary(BinaryOp::Sub) => Some((data.args[0], step.wrapping_neg())),
                _ => None,
            }
        };
        let position = |v: Value| {
            let phis = &func.blocks[header].phis;
            phis.iter().position(|&phi| func.insts[phi].results[0] == v)
        };
        let (phi, behind) = match position(v) {
            Some(phi) => (phi, 0),
            None => stepped(v).and_then(|(from, step)| Some((position(from)?, step)))?,
        };
        let of = |is_back: bool| {
            let mut args = func.blocks[header]
                .preds
                .iter()
                .filter(move |&&e: &&Edge| inside(func.edges[e].from) == is_back)
                .map(|&e| func.edges[e].args[phi]);
            let first = args.next()?;
            args.all(|x| x == first).then_some(first)
        };
        let start = func.as_int(of(false)?)?;
        let (from, step) = stepped(of(true)?)?;
        (position(from) == Some(phi)).then_some(Counter { start: start.wrapping_add(behind), step, bits })
    }

    /// Its value after so many steps.
    fn value(&self, steps: u32) -> u128 {
        self.start.wrapping_add(self.step.wrapping_mul(u128::from(steps)))
    }
}

fn pred_holds(pred: IntPred, a: u128, b: u128, bits: u32) -> bool {
    let unsigned = |x: u128| x & ((1 << bits) - 1);
    let signed = |x: u128| (x << (128 - bits)) as i128 >> (128 - bits);
    let ((ua, ub), (sa, sb)) = ((unsigned(a), unsigned(b)), (signed(a), signed(b)));
    match pred {
        IntPred::Eq => ua == ub,
        IntPred::Ne => ua != ub,
        IntPred::Ult => ua < ub,
        IntPred::Ule => ua <= ub,
        IntPred::Ugt => ua > ub,
        IntPred::Uge => ua >= ub,
        IntPred::Slt => sa < sb,
        IntPred::Sle => sa <= sb,
        IntPred::Sgt => sa > sb,
        IntPred::Sge => sa >= sb,
    }
}
