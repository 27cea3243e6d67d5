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

use std::cell::OnceCell;

use super::access::is_silent;
use crate::better::Better;
use crate::known_calls::is_annotation;
use warpline_dataflow::linear::same_address;
use warpline_ir::{
    BinaryOp, Block, Combine, Constant, Edge, Effects, FloatPred, Function, Inst, InstFlags, IntPred, LaneOp,
    Module, Op, Type, Users, Value,
};

/// A value in memory, and what is stored where it is beaten.
pub(super) struct Record {
    /// The block that compares, and the one behind.
    pub(super) block: Block,
    behind: Block,
    pub(super) load: Inst,
    /// The store of the record itself, and all stores with it.
    pub(super) store: Inst,
    stores: Vec<Inst>,
    x: Value,
    better: Better,
    /// Whether `behind` is where control goes if the comparison fails.
    if_not: bool,
}

/// Finds the records of a function, wherever they are in memory.
pub(super) fn find(module: &Module, func: &Function) -> Vec<Record> {
    let users = OnceCell::new();
    func.layout.iter().filter_map(|&b| Record::of(module, func, b, &users)).collect()
}

impl Record {
    /// The record that a block asks for. The users of values are found once somebody asks.
    fn of(module: &Module, func: &Function, block: Block, users: &OnceCell<Users>) -> Option<Record> {
        let branch = func.terminator(block);
        let &[on_true, on_false] = func.out_edges(block) else { return None };
        let condition = *func.insts[branch].args.first().filter(|_| func.insts[branch].op == Op::CondBr)?;
        let compare = func.def_inst(condition).filter(|&i| func.insts[i].block == block)?;
        // Both ways come together at once, and nothing there tells them apart.
        let comes_back = |e: Edge, other: Edge| {
            let to = func.edges[e].to;
            let is_own = func.blocks[to].preds.len() == 1 && func.blocks[to].phis.is_empty();
            let joined = |out: Edge| {
                let (a, b) = (&func.edges[out], &func.edges[other]);
                a.to == b.to && a.args == b.args
            };
            is_own && matches!(*func.out_edges(to), [out] if joined(out))
        };
        let if_not = match (comes_back(on_true, on_false), comes_back(on_false, on_true)) {
            (true, _) => false,
            (false, true) => true,
            (false, false) => return None,
        };
        let behind = func.edges[if if_not { on_false } else { on_true }].to;
        let stores = stores(module, func, behind)?;
        let (load, x, better, store) = [0, 1].into_iter().find_map(|n| {
            let (load, x, better) = compared(func, compare, n, !if_not)?;
            let loaded = func.accessed(load).filter(|a| !a.writes && a.access.is_simple())?;
            let is_record = |&i: &Inst| {
                let stored = func.accessed(i).filter(|a| func.insts[i].args[0] == x && a.ty == loaded.ty);
                stored.is_some_and(|a| same_address(module, func, a.address, loaded.address))
            };
            let store = stores.iter().copied().find(is_record)?;
            (func.insts[load].block == block).then_some((load, x, better, store))
        })?;
        // What was loaded is compared and nothing else, and is what is there when control comes to the branch.
        let users = users.get_or_init(|| Users::of(func));
        let only = |v: Value, user: Inst| users.get(v) == [user];
        let quiet = |i: &Inst| {
            let data = &func.insts[*i];
            let loud = Effects::WRITES | Effects::CONVERGENT | Effects::ATOMIC | Effects::NO_RETURN;
            !data.effects().intersects(loud) || is_annotation(module, data) || is_silent(module, func, *i)
        };
        let insts = &func.blocks[block].insts;
        let from = insts.iter().position(|&i| i == load)?;
        let stays = only(func.insts[load].results[0], compare) && insts[from..].iter().all(quiet);
        (stays && only(condition, branch)).then_some(Record {
            block,
            behind,
            load,
            store,
            stores,
            x,
            better,
            if_not,
        })
    }

    /// Whether what is loaded and stored is at places of which that is true.
    pub(super) fn is_at(&self, func: &Function, is_meant: impl Fn(Value) -> bool) -> bool {
        let mut all = self.stores.iter().chain([&self.load]);
        all.all(|&i| func.accessed(i).is_some_and(|a| is_meant(a.address)))
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
        let combine = self.better.order.combine();
        let neutral = func.constant_value(Constant::number(ty, combine.neutral(ty)));
        let own = func.insert_value_before(before, Op::Select, &[beats, self.x, neutral], ty, none);
        let best = func.insert_value_before(before, Op::Lane(LaneOp::Reduce(combine)), &[own], ty, none);
        let is = if ty.is_float() { Op::FCmp(FloatPred::Oeq) } else { Op::ICmp(IntPred::Eq) };
        let equal = func.insert_value_before(before, is, &[self.x, best], Type::BOOL, none);
        let no = func.bool_const(false);
        let has_it = func.insert_value_before(before, Op::Select, &[beats, equal, no], Type::BOOL, none);
        if !self.better.last_of_equals {
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
}

enum Chosen {
    /// The first one in which this is true.
    First(Value),
    /// The one with this number.
    Lane(Value),
}

/// The load whose result is this operand of a comparison, what that is compared with, and how the other one is better
/// where the comparison holds, or fails.
fn compared(func: &Function, compare: Inst, n: usize, when: bool) -> Option<(Inst, Value, Better)> {
    let data = &func.insts[compare];
    let &[a, b] = &data.args[..] else { return None };
    let [loaded, x] = if n == 0 { [a, b] } else { [b, a] };
    let load = func.def_inst(loaded).filter(|&i| matches!(func.insts[i].op, Op::Load(_)))?;
    let (better, takes_nans) = Better::of(&data.op, n == 1, when)?;
    let (ty, combine) = (func.ty(x), better.order.combine());
    let serves = !takes_nans && combine.fits(ty) && LaneOp::Reduce(combine).takes(ty);
    serves.then_some((load, x, better))
}

/// The stores of a block in which nothing else happens that may not be done for lanes that do not come there.
fn stores(module: &Module, func: &Function, block: Block) -> Option<Vec<Inst>> {
    let mut found = Vec::new();
    for &i in &func.blocks[block].insts {
        let data = &func.insts[i];
        match func.accessed(i) {
            Some(a) if a.writes && a.access.is_simple() => {
                let ty = func.ty(data.args[0]);
                let moves = LaneOp::First.takes(ty) && LaneOp::Shuffle.takes(ty);
                moves.then(|| found.push(i))?;
            }
            None if data.effects().is_empty() || is_annotation(module, data) => {}
            _ => return None,
        }
    }
    Some(found)
}
