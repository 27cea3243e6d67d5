//! Values that are the same since the same operations compute them of the same values, and how they are computed
//! once more, in a block where not all of them are.

use std::collections::BTreeMap;

use warpline_ir::{Block, Function, Inst, Module, Op, Value};

use super::if_conversion::is_pure;

/// How deep values are compared.
pub(super) const MAX_DEPTH: u32 = 6;

/// Whether values that are computed in different blocks are the same.
pub(super) fn is_same(module: &Module, func: &Function, a: Value, b: Value, depth: u32) -> bool {
    if a == b {
        return true;
    }
    let (Some(i), Some(k)) = (func.def_inst(a), func.def_inst(b)) else { return false };
    let (x, y) = (&func.insts[i], &func.insts[k]);
    depth > 0
        && x.op == y.op
        // Two executions of this one need not agree.
        && x.op != Op::Freeze
        && is_pure(module, func, i)
        && func.ty(a) == func.ty(b)
        && x.args.len() == y.args.len()
        && x.args.iter().zip(&y.args).all(|(&a, &b)| is_same(module, func, a, b, depth - 1))
}

/// A block in which values that are the same are computed once more.
pub(super) struct Again<F> {
    block: Block,
    /// Whether a value is there, so that it is not computed once more.
    is_there: F,
    known: BTreeMap<Vec<Value>, Value>,
    /// The new instructions, in their order. They are in no list of the block yet.
    pub(super) made: Vec<Inst>,
}

impl<F: Fn(&Function, Value) -> bool> Again<F> {
    pub(super) fn new(block: Block, is_there: F) -> Again<F> {
        Again { block, is_there, known: BTreeMap::new(), made: Vec::new() }
    }

    /// One value for these, which are [the same](is_same). Its flags are those that all have.
    pub(super) fn value(&mut self, func: &mut Function, same: &[Value]) -> Value {
        let first = same[0];
        if same.iter().all(|&v| v == first) && (self.is_there)(func, first) {
            return first;
        }
        if let Some(&v) = self.known.get(same) {
            return v;
        }
        let insts: Vec<Inst> = same.iter().filter_map(|&v| func.def_inst(v)).collect();
        let count = func.insts[insts[0]].args.len();
        let args: Vec<Value> = (0..count)
            .map(|n| {
                let operands: Vec<Value> = insts.iter().map(|&i| func.insts[i].args[n]).collect();
                self.value(func, &operands)
            })
            .collect();
        let flags = insts.iter().map(|&i| func.insts[i].flags).reduce(|a, b| a & b).unwrap_or_default();
        let (op, ty, loc) = (func.insts[insts[0]].op.clone(), func.ty(first), func.insts[insts[0]].loc);
        let new = func.make_inst(self.block, op, &args, &[ty]);
        (func.insts[new].flags, func.insts[new].loc) = (flags, loc);
        self.made.push(new);
        self.known.insert(same.to_vec(), func.insts[new].results[0]);
        func.insts[new].results[0]
    }
}
