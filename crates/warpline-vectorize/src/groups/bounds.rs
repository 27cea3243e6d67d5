//! Regions that do nothing for most work-items of a group.
//!
//! The steps of a reduction are regions like `if (l < s) tmp[l] += tmp[l + s]`: with each step, fewer work-items have
//! anything to do, and behind the last one it is a single one (`if (l == 0)`). Running such a region for all work-items
//! under masks that are empty for most takes as long as the whole reduction should. Where a region begins with a
//! comparison of the work-item's number in its group, and does nothing for those that it turns away, a function says how
//! many of a row there is something to do for, and the driver ends the row there.
//!
//! Only the first comparison counts. All work-items come to it, so whatever it compares with may be computed wherever
//! the region begins: it is as defined there as it is for them.

use std::collections::HashMap;

use warpline_dataflow::conditions::{inverse, swapped};
use warpline_ir::{
    BinaryOp, Block, CastOp, Effects, FuncId, Function, Inst, InstFlags, IntPred, Module, Op, Type, Value,
    ValueDef,
};
use warpline_uniformity::shape::ArgShape;

use super::{Region, Work};
use crate::builder::{Builder, I64};

/// Instructions that are worth it to compute a bound.
const MOST: usize = 16;

/// Adds a function with the parameters of a region that says for how many work-items of a row, from the first one on,
/// it does anything; nothing if that is not known, or each may have something to do. `local` is the parameter for the
/// number of the work-item in its group, and those in `differ` differ between work-items.
pub(super) fn find(module: &mut Module, region: &Region, local: Value, differ: &[Value]) -> Option<FuncId> {
    if region.work != Work::Lanes {
        return None;
    }
    let func = &module.functions[region.func];
    let by_lanes = |i: Inst| {
        matches!(func.insts[i].op, Op::Lane(_)) || func.insts[i].effects().contains(Effects::CONVERGENT)
    };
    if func.layout.iter().flat_map(|&b| func.block_insts(b)).any(by_lanes) {
        return None;
    }
    let is_same =
        |k: usize| region.args.get(k) == Some(&ArgShape::Uniform) && !differ.contains(&func.params[k]);
    let mut search = Search { func, local, is_same: &is_same, entered: HashMap::new() };
    let test = search.first_test()?;
    let (yes, no) = {
        let mut targets = func.successors(func.insts[test].block);
        (targets.next()?, targets.next()?)
    };
    let holds = match (search.is_idle(yes), search.is_idle(no)) {
        (_, true) => true,
        (true, false) => false,
        _ => return None,
    };
    let bound = search.of_condition(func.insts[test].args[0], holds)?;
    let entered = search.entered;
    let func = func.clone();
    Some(make(module, &func, &entered, &bound))
}

/// Work-items have something to do only if their number in the group, and what is added to it, are below.
struct Bound {
    /// A number that no work-item differs in.
    below: Value,
    /// How it becomes one of 64 bits.
    widen: CastOp,
    /// What is added to the number of the work-item.
    added: Option<Value>,
    /// Whether it is included.
    included: bool,
}

struct Search<'a> {
    func: &'a Function,
    local: Value,
    is_same: &'a dyn Fn(usize) -> bool,
    /// The φs that were passed, and their values.
    entered: HashMap<Value, Value>,
}

impl Search<'_> {
    /// The first branch, to which all work-items come without doing anything.
    fn first_test(&mut self) -> Option<Inst> {
        let func = self.func;
        let mut at = func.entry();
        for _ in 0..func.layout.len() {
            let term = func.terminator(at);
            match func.insts[term].op {
                _ if self.does_something(at) => return None,
                Op::CondBr => return Some(term),
                Op::Br => {}
                _ => return None,
            }
            let &edge = func.out_edges(at).first()?;
            at = func.edges[edge].to;
            for (&phi, &v) in func.blocks[at].phis.iter().zip(&func.edges[edge].args) {
                let v = self.known(v);
                self.entered.insert(func.insts[phi].result()?, v);
            }
        }
        None
    }

    fn does_something(&self, b: Block) -> bool {
        let noticed = Effects::WRITES
            | Effects::ATOMIC
            | Effects::VOLATILE
            | Effects::NO_RETURN
            | Effects::UNWINDS
            | Effects::DIVERGES
            | Effects::CONVERGENT;
        self.func.block_insts(b).any(|i| self.func.insts[i].effects().intersects(noticed))
    }

    /// Whether nothing is done from a block on.
    fn is_idle(&self, mut at: Block) -> bool {
        let func = self.func;
        for _ in 0..func.layout.len() {
            if self.does_something(at) {
                return false;
            }
            match (&func.insts[func.terminator(at)].op, func.successors(at).next()) {
                (Op::Ret, _) => return true,
                (Op::Br, Some(to)) => at = to,
                _ => return false,
            }
        }
        false
    }

    /// What a value is at the first test.
    fn known(&self, v: Value) -> Value {
        self.entered.get(&v).copied().unwrap_or(v)
    }

    fn op(&self, v: Value) -> Option<(&Op, InstFlags, &[Value])> {
        let data = &self.func.insts[self.func.def_inst(v)?];
        Some((&data.op, data.flags, &data.args))
    }

    /// What must hold of a work-item for which a condition is as given.
    fn of_condition(&self, condition: Value, holds: bool) -> Option<Bound> {
        let condition = self.known(condition);
        let (op, _, args) = self.op(condition)?;
        match (op, args) {
            (&Op::ICmp(pred), &[a, b]) => self.of_comparison(pred, self.known(a), self.known(b), holds),
            (Op::Binary(BinaryOp::And), &[a, b]) if holds => {
                self.of_condition(a, true).or_else(|| self.of_condition(b, true))
            }
            (Op::Binary(BinaryOp::Or), &[a, b]) if !holds => {
                self.of_condition(a, false).or_else(|| self.of_condition(b, false))
            }
            // The second condition means something only if the first one holds.
            (Op::Select, &[a, _, otherwise]) if holds && self.func.as_int(otherwise) == Some(0) => {
                self.of_condition(a, true)
            }
            (Op::Select, &[a, then, _]) if !holds && self.func.as_int(then) == Some(1) => {
                self.of_condition(a, false)
            }
            (Op::Binary(BinaryOp::Xor), &[a, one]) if self.func.as_int(one) == Some(1) => {
                self.of_condition(a, !holds)
            }
            _ => None,
        }
    }

    fn of_comparison(&self, pred: IntPred, a: Value, b: Value, holds: bool) -> Option<Bound> {
        // As one that holds, with the number of the work-item at the left.
        let pred = if holds { pred } else { inverse(pred) };
        let (added, below, pred) = match (self.number(a), self.number(b)) {
            (Some(added), None) => (added, b, pred),
            (None, Some(added)) => (added, a, swapped(pred)),
            _ => return None,
        };
        let (included, widen) = match pred {
            IntPred::Slt => (false, CastOp::SExt),
            IntPred::Sle | IntPred::Eq => (true, CastOp::SExt),
            IntPred::Ult => (false, CastOp::ZExt),
            IntPred::Ule => (true, CastOp::ZExt),
            _ => return None,
        };
        let mut left = MOST;
        if !self.is_one(below, &mut left) || added.is_some_and(|v| !self.is_one(v, &mut left)) {
            return None;
        }
        // Numbers of 64 bits leave no room to compute with them.
        let has_room =
            |v: Value| self.func.ty(v).int_bits().is_some_and(|bits| bits <= 32) || self.is_small(v);
        if (included || added.is_some()) && ![Some(below), added].into_iter().flatten().all(has_room) {
            return None;
        }
        // A sum is a signed number.
        (added.is_none() || widen == CastOp::SExt).then_some(Bound { below, widen, added, included })
    }

    fn is_small(&self, v: Value) -> bool {
        self.func.as_int(v).is_some_and(|x| x < 1 << 31)
    }

    /// If a value is the number of the work-item in its group: what is added to it, if anything is. Numbers of
    /// work-items in a group fit 31 bits.
    fn number(&self, v: Value) -> Option<Option<Value>> {
        let v = self.known(v);
        if v == self.local {
            return Some(None);
        }
        if self.func.ty(v).int_bits().is_none_or(|bits| bits < 32) {
            return None;
        }
        let (op, flags, args) = self.op(v)?;
        match (op, args) {
            (Op::Cast(CastOp::Trunc | CastOp::ZExt), &[x]) => self.number(x).filter(Option::is_none),
            (Op::Cast(CastOp::SExt), &[x]) => self.number(x),
            (Op::Binary(BinaryOp::Add), &[a, b]) if flags.contains(InstFlags::NSW) => {
                let added = match (self.number(a), self.number(b)) {
                    (Some(None), None) => b,
                    (None, Some(None)) => a,
                    _ => return None,
                };
                Some(Some(self.known(added)))
            }
            _ => None,
        }
    }

    /// Whether a value is made of parameters that no work-item differs in, by few instructions.
    fn is_one(&self, v: Value, left: &mut usize) -> bool {
        let v = self.known(v);
        if self.func.ty(v).int_bits().is_none_or(|bits| bits > 64) {
            return false;
        }
        match self.func.values[v].def {
            ValueDef::Const(_) => return self.func.as_int(v).is_some(),
            ValueDef::Param(k) => return (self.is_same)(k as usize),
            ValueDef::Inst(..) => {}
        }
        if *left == 0 {
            return false;
        }
        *left -= 1;
        let Some((op, _, args)) = self.op(v) else { return false };
        let is_simple = match op {
            Op::Binary(op) => !op.is_int_division() && !op.is_float(),
            Op::ICmp(_) | Op::Select | Op::Cast(CastOp::Trunc | CastOp::ZExt | CastOp::SExt) => true,
            _ => false,
        };
        is_simple && args.iter().all(|&a| self.is_one(a, left))
    }
}

/// Makes the function that says where a row ends.
fn make(module: &mut Module, func: &Function, entered: &HashMap<Value, Value>, bound: &Bound) -> FuncId {
    let mut b = Builder::new(module, &format!("{}.bound", func.name));
    b.func.ret = I64;
    let mut copies: HashMap<Value, Value> = HashMap::new();
    for &p in &func.params {
        copies.insert(p, b.func.add_param(func.ty(p), &func.values[p].name));
    }
    let wide = |b: &mut Builder, copies: &mut HashMap<Value, Value>, v: Value| {
        let v = copy(b, func, entered, copies, v);
        b.cast(bound.widen, v, I64)
    };
    let mut limit = wide(&mut b, &mut copies, bound.below);
    if let Some(added) = bound.added {
        let added = wide(&mut b, &mut copies, added);
        limit = b.binary(BinaryOp::Sub, limit, added, InstFlags::empty());
    }
    if bound.included {
        let one = b.int(64, 1);
        limit = b.binary(BinaryOp::Add, limit, one, InstFlags::empty());
    }
    if bound.widen == CastOp::SExt {
        let zero = b.int(64, 0);
        let some = b.icmp(IntPred::Sgt, limit, zero);
        limit = b.value(Op::Select, &[some, limit, zero], I64);
    }
    b.func.set_terminator(b.at, Op::Ret, &[limit], &[]);
    b.finish()
}

/// Computes a value of another function here.
fn copy(
    b: &mut Builder,
    func: &Function,
    entered: &HashMap<Value, Value>,
    copies: &mut HashMap<Value, Value>,
    v: Value,
) -> Value {
    let v = entered.get(&v).copied().unwrap_or(v);
    if let Some(&known) = copies.get(&v) {
        return known;
    }
    let new = if let Some(i) = func.def_inst(v) {
        let data = &func.insts[i];
        let args: Vec<Value> = data.args.iter().map(|&a| copy(b, func, entered, copies, a)).collect();
        let ty: Type = func.ty(v);
        let new = b.func.append(b.at, data.op.clone(), &args, ty);
        b.func.insts[new].flags = data.flags;
        b.func.insts[new].results[0]
    } else {
        let constant = func.constant(v).expect("it is no parameter and nothing computes it").clone();
        b.func.constant_value(constant)
    };
    copies.insert(v, new);
    new
}
