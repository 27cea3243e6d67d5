//! Records: what beats a value in memory takes its place, `if (x < *least) *least = x`.
//!
//! Every iteration loads what an earlier one may have stored. Lanes need not wait for each other, though: of those that
//! beat what was there before their group, the best one's value is what is there behind it, and if a later value only
//! takes the place if it is better, the first lane that has the best value is the one that stored last. So, at an
//! address that all lanes agree on, the branch asks whether any lane beats what was there, and behind it all is stored
//! that this one lane stores. Groups that beat nothing only compare.
//!
//! In a loop within an iteration, lanes that are ahead of others store what these would have stored first: there only
//! the record itself may be stored, and equal ones must be the same.
//!
//! Comparisons of floating-point numbers are ordered ones, so no lane with a NaN is among those that beat something.
//! Of zeros with both signs, which are equal, the lane decides.

use super::access::is_silent;
use crate::known_calls::is_annotation;
use warpline_dataflow::conditions::{inverse, swapped};
use warpline_dataflow::linear::Address;
use warpline_ir::{
    BinaryOp, Block, Combine, Constant, Effects, FloatPred, Function, Inst, InstFlags, IntPred, LaneOp,
    Module, Op, Type, Value,
};

/// A value in memory, and what is stored where it is beaten.
pub(super) struct Record {
    /// The block that compares, and the one behind.
    pub(super) block: Block,
    behind: Block,
    pub(super) load: Inst,
    /// Where the record is.
    address: Value,
    /// The store of the record, and others.
    pub(super) stores: Vec<Inst>,
    x: Value,
    order: Order,
    /// Whether the lane that is the last to have the best value stores last.
    last_of_equals: bool,
    /// Whether `behind` is where control goes if the comparison fails.
    if_not: bool,
}

/// By which comparison the best one is found.
#[derive(Copy, Clone)]
enum Order {
    Int(IntPred),
    Float(FloatPred),
}

impl Order {
    fn combine(self) -> Combine {
        match self {
            Order::Int(IntPred::Slt | IntPred::Sle) | Order::Float(FloatPred::Olt | FloatPred::Ole) => {
                Combine::Min
            }
            Order::Int(IntPred::Ult | IntPred::Ule) => Combine::UMin,
            Order::Int(IntPred::Ugt | IntPred::Uge) => Combine::UMax,
            _ => Combine::Max,
        }
    }

    fn takes_equals(self) -> bool {
        match self {
            Order::Int(p) => matches!(p, IntPred::Sle | IntPred::Sge | IntPred::Ule | IntPred::Uge),
            Order::Float(p) => matches!(p, FloatPred::Ole | FloatPred::Oge),
        }
    }
}

/// Finds the records of a function whose addresses are the same for all lanes.
pub(super) fn find(module: &Module, func: &Function, is_uniform: impl Fn(Value) -> bool) -> Vec<Record> {
    let all = func.layout.iter().filter_map(|&b| Record::of(module, func, b));
    let at_one_place = |i: &Inst| func.accessed(*i).is_some_and(|a| is_uniform(a.address));
    all.filter(|r| r.stores.iter().chain([&r.load]).all(at_one_place)).collect()
}

impl Record {
    /// The record that a block asks for.
    fn of(module: &Module, func: &Function, block: Block) -> Option<Record> {
        let branch = func.terminator(block);
        let &[on_true, on_false] = func.out_edges(block) else { return None };
        let condition = *func.insts[branch].args.first().filter(|_| func.insts[branch].op == Op::CondBr)?;
        let compare = func.def_inst(condition).filter(|&i| func.insts[i].block == block)?;
        let (edge, _) = [(on_true, on_false), (on_false, on_true)].into_iter().find(|&(e, other)| {
            let (to, joined) = (func.edges[e].to, func.edges[other].to);
            // Both ways come together at once, and nothing there tells them apart.
            let out = func.out_edges(to);
            func.blocks[to].preds.len() == 1
                && func.blocks[to].phis.is_empty()
                && out.len() == 1
                && func.edges[out[0]].to == joined
                && func.edges[out[0]].args == func.edges[other].args
        })?;
        let (behind, if_not) = (func.edges[edge].to, edge == on_false);
        let stores = stores(module, func, behind)?;
        let (load, x, order) = [0, 1].into_iter().find_map(|n| {
            let (load, x, order) = compared(func, compare, n, if_not)?;
            let loaded = func.accessed(load).filter(|a| !a.writes && a.access.is_simple())?;
            let is_record = |&i: &Inst| {
                let stored = func.accessed(i).filter(|a| func.insts[i].args[0] == x && a.ty == loaded.ty);
                stored.is_some_and(|a| same(module, func, a.address, loaded.address))
            };
            (func.insts[load].block == block && stores.iter().any(is_record)).then_some((load, x, order))
        })?;
        let loaded = func.accessed(load)?;
        // What was loaded is compared and nothing else, and is what is there when control comes to the branch.
        let seen = |v: Value, user: Inst| uses(func, v).all(|i| i == user);
        let quiet = |i: Inst| {
            let data = &func.insts[i];
            let loud = Effects::WRITES | Effects::CONVERGENT | Effects::ATOMIC | Effects::NO_RETURN;
            !data.effects().intersects(loud) || is_annotation(module, data) || is_silent(module, func, i)
        };
        let insts = &func.blocks[block].insts;
        let from = insts.iter().position(|&i| i == load)?;
        let passes = |v: Value| {
            let mut edges = func.layout.iter().flat_map(|&b| func.out_edges(b));
            edges.any(|&e| func.edges[e].args.contains(&v))
        };
        let own = [(func.insts[load].results[0], compare), (condition, branch)];
        if !own.iter().all(|&(v, user)| seen(v, user) && !passes(v))
            || !insts[from..].iter().all(|&i| quiet(i))
        {
            return None;
        }
        let last_of_equals = order.takes_equals();
        Some(Record {
            block,
            behind,
            load,
            address: loaded.address,
            stores,
            x,
            order,
            last_of_equals,
            if_not,
        })
    }

    /// Has lanes ask and store together.
    pub(super) fn combine(&self, func: &mut Function) {
        let branch = func.terminator(self.block);
        let condition = func.insts[branch].args[0];
        let none = InstFlags::empty();
        let beats = match self.if_not {
            true => {
                let yes = func.bool_const(true);
                let xor = Op::Binary(BinaryOp::Xor);
                func.insert_value_before(branch, xor, &[condition, yes], Type::BOOL, none)
            }
            false => condition,
        };
        let any = func.insert_value_before(branch, Op::Lane(LaneOp::Any), &[beats], Type::BOOL, none);
        func.insts[branch].args[0] = any;
        if self.if_not {
            func.insts[branch].edges.reverse();
        }
        let chosen = self.chosen(func, beats);
        for &store in &self.stores {
            let v = func.insts[store].args[0];
            let ty = func.ty(v);
            let one = match chosen {
                Chosen::First(condition) => {
                    func.insert_value_before(store, Op::Lane(LaneOp::First), &[v, condition], ty, none)
                }
                Chosen::Lane(lane) => {
                    func.insert_value_before(store, Op::Lane(LaneOp::Shuffle), &[v, lane], ty, none)
                }
            };
            func.insts[store].args[0] = one;
        }
    }

    /// The lane whose value is the record, computed where that is stored.
    fn chosen(&self, func: &mut Function, beats: Value) -> Chosen {
        let before = func.blocks[self.behind].insts[0];
        let ty = func.ty(self.x);
        let none = InstFlags::empty();
        let combine = self.order.combine();
        let neutral = func.constant_value(Constant::number(ty, combine.neutral(ty)));
        let own = func.insert_value_before(before, Op::Select, &[beats, self.x, neutral], ty, none);
        let best = func.insert_value_before(before, Op::Lane(LaneOp::Reduce(combine)), &[own], ty, none);
        let is = if ty.is_float() { Op::FCmp(FloatPred::Oeq) } else { Op::ICmp(IntPred::Eq) };
        let equal = func.insert_value_before(before, is, &[self.x, best], Type::BOOL, none);
        let no = func.bool_const(false);
        let has_it = func.insert_value_before(before, Op::Select, &[beats, equal, no], Type::BOOL, none);
        if !self.last_of_equals {
            return Chosen::First(has_it);
        }
        let number = Type::Int(32);
        let lane = func.insert_value_before(before, Op::Lane(LaneOp::LaneIndex), &[], number, none);
        let zero = func.int_const(32, 0);
        let lane = func.insert_value_before(before, Op::Select, &[has_it, lane, zero], number, none);
        let last = Op::Lane(LaneOp::Reduce(Combine::UMax));
        Chosen::Lane(func.insert_value_before(before, last, &[lane], number, none))
    }

    /// Whether nothing but the record is stored, and it does not matter which one of equal values that is.
    pub(super) fn is_whole(&self, func: &Function) -> bool {
        self.stores.len() == 1 && func.ty(self.x).is_int()
    }

    /// The store of the record itself.
    pub(super) fn own_store(&self, module: &Module, func: &Function) -> Option<Inst> {
        let own = |&&i: &&Inst| func.accessed(i).is_some_and(|a| same(module, func, a.address, self.address));
        self.stores.iter().find(own).copied()
    }
}

enum Chosen {
    /// The first one in which this is true.
    First(Value),
    /// The one with this number.
    Lane(Value),
}

/// The load whose result is this operand of a comparison, what that is compared with, and how: the other one is better
/// where the comparison holds, or fails.
fn compared(func: &Function, compare: Inst, n: usize, if_not: bool) -> Option<(Inst, Value, Order)> {
    let data = &func.insts[compare];
    let load = func.def_inst(*data.args.get(n)?).filter(|&i| matches!(func.insts[i].op, Op::Load(_)))?;
    let x = data.args[1 - n];
    let order = match data.op {
        Op::ICmp(pred) => {
            let pred = if n == 1 { pred } else { swapped(pred) };
            let pred = if if_not { inverse(pred) } else { pred };
            (!matches!(pred, IntPred::Eq | IntPred::Ne)).then_some(Order::Int(pred))
        }
        Op::FCmp(pred) => {
            // What fails for NaNs, or holds for them where the branch asks for the contrary.
            let pred = match (pred, if_not) {
                (FloatPred::Olt, false) | (FloatPred::Uge, true) => FloatPred::Olt,
                (FloatPred::Ole, false) | (FloatPred::Ugt, true) => FloatPred::Ole,
                (FloatPred::Ogt, false) | (FloatPred::Ule, true) => FloatPred::Ogt,
                (FloatPred::Oge, false) | (FloatPred::Ult, true) => FloatPred::Oge,
                _ => return None,
            };
            Some(Order::Float(match (pred, n) {
                (_, 1) => pred,
                (FloatPred::Olt, _) => FloatPred::Ogt,
                (FloatPred::Ole, _) => FloatPred::Oge,
                (FloatPred::Ogt, _) => FloatPred::Olt,
                _ => FloatPred::Ole,
            }))
        }
        _ => None,
    }?;
    let ty = func.ty(x);
    let serves = order.combine().fits(ty) && LaneOp::Reduce(order.combine()).takes(ty);
    serves.then_some((load, x, order))
}

/// The stores of a block in which nothing else happens that may not be done for lanes that do not come there.
fn stores(module: &Module, func: &Function, block: Block) -> Option<Vec<Inst>> {
    let mut found = Vec::new();
    for &i in &func.blocks[block].insts {
        let data = &func.insts[i];
        match func.accessed(i) {
            Some(a) if a.writes && a.access.is_simple() => {
                let moves = LaneOp::First.takes(func.ty(data.args[0]))
                    && LaneOp::Shuffle.takes(func.ty(data.args[0]));
                moves.then(|| found.push(i))?;
            }
            None if data.effects().is_empty() || is_annotation(module, data) => {}
            _ => return None,
        }
    }
    Some(found)
}

/// Whether two addresses are the same, if they are the same for all lanes.
fn same(module: &Module, func: &Function, a: Value, b: Value) -> bool {
    let place = |v: Value| Address::of(module, func, v);
    a == b || place(a).zip(place(b)).is_some_and(|(a, b)| a.distance(&b) == Some(0))
}

/// The instructions that use a value.
fn uses(func: &Function, v: Value) -> impl Iterator<Item = Inst> + '_ {
    let all = func.layout.iter().flat_map(|&b| func.block_insts(b));
    all.filter(move |&i| func.insts[i].args.contains(&v))
}
