//! Sums to which only some iterations add: `if (c) s += x` becomes `s += c ? x : 0`.
//!
//! Then every iteration adds something, which is narrow where `x` is narrow, and the instructions that add up many
//! narrow numbers at once take it ([`sums`](crate::recipes)). Counts become sums of truth values. Integers only: adding
//! nothing to a floating-point number may change its sign.
//!
//! The next value of a header's φ must be that φ, sums with it, and φs of such, and nobody else in the loop may see
//! any of these. Where the loop looks at it (the depth of parentheses) as it begins or becomes in the end, the same
//! makes a prefix sum of what is not understood otherwise.

use std::collections::{HashMap, HashSet};

use warpline_ir::{BinaryOp, Function, Inst, InstFlags, Module, Op, Type, Users, Value, ValueDef};

use super::find::Loop;
use super::put::Put;
use crate::unused;

/// Makes all iterations add to integer sums.
pub(super) fn settle(module: &Module, func: &mut Function, l: &Loop) {
    let of_integers = |&phi: &Inst| matches!(func.ty(func.insts[phi].results[0]), Type::Int(8..=64));
    let phis: Vec<Inst> = func.blocks[l.header].phis.iter().copied().filter(of_integers).collect();
    for &phi in &phis {
        if let Some(sum) = Sum::of(func, l, phi, Looks::Outside) {
            sum.rewrite(func);
        }
    }
    // Those that the loop looks at, and that are not understood as they are.
    if phis.iter().all(|&phi| Sum::of(func, l, phi, Looks::Inside).is_none()) {
        return;
    }
    let kinds = l.kinds(module, func, false);
    for phi in phis {
        let is_open = func.phi_position(phi).is_some_and(|position| kinds[position].is_err());
        if is_open && let Some(sum) = Sum::of(func, l, phi, Looks::Inside) {
            sum.rewrite(func);
        }
    }
    unused::remove(module, func, &[]);
}

/// Who looks at a sum.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Looks {
    /// Nobody but those behind the loop.
    Outside,
    /// The loop does, too: then choices are looked through as φs are.
    Inside,
}

/// What a header's φ becomes in an iteration that branches.
struct Sum {
    start: Value,
    /// The φs behind branches, and choices.
    joins: HashSet<Inst>,
    /// The last of them.
    last: Inst,
    /// The sums and differences on the ways to that.
    before: HashSet<Inst>,
    /// Those of them that somebody may look at.
    kept: HashSet<Inst>,
}

impl Sum {
    fn of(func: &Function, l: &Loop, phi: Inst, looks: Looks) -> Option<Sum> {
        let start = func.insts[phi].results[0];
        let position = func.phi_position(phi)?;
        let nexts = &func.edges[l.back].args;
        let mut finder = Finder { func, l, start, looks, parts: HashMap::new() };
        finder.leads(nexts[position]).then_some(())?;
        let parts: HashSet<Value> =
            finder.parts.iter().filter(|(_, leads)| **leads).map(|(&v, _)| v).collect();
        // The sums behind the last join stay as they are.
        let mut behind = HashSet::from([start]);
        let mut v = nexts[position];
        let last = loop {
            let i = func.def_inst(v).filter(|_| v != start)?;
            behind.insert(v);
            if is_join(&func.insts[i].op) {
                break i;
            }
            v = *func.insts[i].args.iter().find(|a| parts.contains(a))?;
        };
        let is_direct = |v: &Value| {
            let mut v = *v;
            while let Some(i) = func.def_inst(v).filter(|&i| v != start && !is_join(&func.insts[i].op)) {
                let Some(&on) = func.insts[i].args.iter().find(|a| parts.contains(a)) else { break };
                v = on;
            }
            v == start
        };
        let is_open = |v: &Value| looks == Looks::Inside && (behind.contains(v) || is_direct(v));
        let is_hidden = |v: &Value| parts.contains(v) && !is_open(v);
        let is_next_of_other = nexts.iter().enumerate().any(|(k, v)| k != position && is_hidden(v));
        let users = Users::of(func);
        let is_own = |v: Value, user: Inst| {
            let is_part = func.insts[user].result().is_some_and(|r| parts.contains(&r));
            is_part || behind.contains(&v) && !l.blocks.contains(func.insts[user].block)
        };
        let is_unseen =
            parts.iter().filter(|v| is_hidden(v)).all(|&v| users.get(v).iter().all(|&user| is_own(v, user)));
        (is_unseen && !is_next_of_other).then_some(())?;
        let inner = parts.iter().filter(|v| **v != start && !behind.contains(v));
        let (mut joins, before): (HashSet<Inst>, HashSet<Inst>) =
            inner.filter_map(|&v| func.def_inst(v)).partition(|&i| is_join(&func.insts[i].op));
        joins.insert(last);
        let kept = before.iter().copied().filter(|&i| is_open(&func.insts[i].results[0])).collect();
        Some(Sum { start, joins, last, before, kept })
    }

    fn rewrite(&self, func: &mut Function) {
        let v = func.insts[self.last].results[0];
        let added = self.added(func, v, &mut HashMap::new());
        let (block, ty) = (func.insts[self.last].block, func.ty(v));
        let at = func.blocks[block].insts.iter().position(|&i| i == self.last);
        let mut put = Put::at(func, (block, at.unwrap_or(0)));
        let sum =
            added.into_iter().fold(self.start, |sum, x| put.value(Op::Binary(BinaryOp::Add), &[sum, x], ty));
        func.map_operands(|u| if u == v { sum } else { u });
        for &part in self.joins.iter().chain(self.before.difference(&self.kept)) {
            let block = func.insts[part].block;
            match func.insts[part].op {
                Op::Phi => func.retain_phis(block, |phi| phi != part),
                _ => func.blocks[block].insts.retain(|&i| i != part),
            }
        }
    }

    fn is_part(&self, func: &Function, v: Value) -> bool {
        let inner = func.def_inst(v).is_some_and(|i| self.joins.contains(&i) || self.before.contains(&i));
        v == self.start || inner
    }

    /// What is added to the φ on the way to a part of the sum.
    fn added(&self, func: &mut Function, v: Value, made: &mut HashMap<Value, Vec<Value>>) -> Vec<Value> {
        if let Some(known) = made.get(&v) {
            return known.clone();
        }
        let Some(i) = func.def_inst(v).filter(|_| v != self.start) else { return Vec::new() };
        let added = match func.insts[i].op {
            Op::Phi => self.added_at(func, i, made),
            Op::Select => self.added_by_choice(func, i, made),
            ref op => {
                let subtracts = *op == Op::Binary(BinaryOp::Sub);
                let [x, y] = [func.insts[i].args[0], func.insts[i].args[1]];
                let (on, what) = if self.is_part(func, x) { (x, y) } else { (y, x) };
                let mut all = self.added(func, on, made);
                all.push(if subtracts { negated(func, i, what) } else { what });
                all
            }
        };
        made.insert(v, added.clone());
        added
    }

    /// What a choice adds: choices between that, or nothing.
    fn added_by_choice(
        &self,
        func: &mut Function,
        choice: Inst,
        made: &mut HashMap<Value, Vec<Value>>,
    ) -> Vec<Value> {
        let [condition, x, y] = [0, 1, 2].map(|k| func.insts[choice].args[k]);
        let ty = func.ty(x);
        let [x, y] = [x, y].map(|v| self.added(func, v, made));
        let nothing = func.int_const(ty.int_bits().unwrap_or(64), 0);
        let of = |way: &[Value], k: usize| way.get(k).copied().unwrap_or(nothing);
        let all = (0..x.len().max(y.len())).map(|k| [condition, of(&x, k), of(&y, k)]);
        let mut put =
            |args: [Value; 3]| func.insert_value_before(choice, Op::Select, &args, ty, InstFlags::empty());
        all.map(&mut put).collect()
    }

    /// What is added on the ways to a join: φs of that, or of nothing.
    fn added_at(&self, func: &mut Function, join: Inst, made: &mut HashMap<Value, Vec<Value>>) -> Vec<Value> {
        let (block, ty) = (func.insts[join].block, func.ty(func.insts[join].results[0]));
        let Some(position) = func.phi_position(join) else { return Vec::new() };
        let preds = func.blocks[block].preds.clone();
        let ways: Vec<Vec<Value>> = preds
            .iter()
            .map(|&e| {
                let on = func.edges[e].args[position];
                self.added(func, on, made)
            })
            .collect();
        let most = ways.iter().map(Vec::len).max().unwrap_or(0);
        let nothing = func.int_const(ty.int_bits().unwrap_or(64), 0);
        let mut phis = Vec::new();
        for k in 0..most {
            let phi = func.add_phi(block, ty);
            let new = func.blocks[block].phis.len() - 1;
            for (&e, way) in preds.iter().zip(&ways) {
                func.set_phi_arg(e, new, way.get(k).copied().unwrap_or(nothing));
            }
            phis.push(phi);
        }
        phis
    }
}

fn is_join(op: &Op) -> bool {
    matches!(op, Op::Phi | Op::Select)
}

/// What adds as much as another number takes away, before an instruction.
fn negated(func: &mut Function, before: Inst, x: Value) -> Value {
    let ty = func.ty(x);
    let zero = func.int_const(ty.int_bits().unwrap_or(64), 0);
    func.insert_value_before(before, Op::Binary(BinaryOp::Sub), &[zero, x], ty, InstFlags::empty())
}

/// Finds the parts of a sum.
struct Finder<'a> {
    func: &'a Function,
    l: &'a Loop,
    start: Value,
    looks: Looks,
    /// What has been looked at, and whether it leads to the φ. While it is looked at, it does not: φs of inner loops
    /// are no joins.
    parts: HashMap<Value, bool>,
}

impl Finder<'_> {
    /// Whether a value is the φ, a sum of that and something else, or a φ of such; where the loop looks at it, also a
    /// difference or a choice.
    fn leads(&mut self, v: Value) -> bool {
        if v == self.start {
            self.parts.insert(v, true);
            return true;
        }
        if let Some(&known) = self.parts.get(&v) {
            return known;
        }
        self.parts.insert(v, false);
        let (func, l) = (self.func, self.l);
        let inst = match func.values[v].def {
            ValueDef::Inst(i, _) if l.blocks.contains(func.insts[i].block) => i,
            _ => return false,
        };
        let data = &func.insts[inst];
        let leads = match (&data.op, &data.args[..]) {
            (Op::Binary(BinaryOp::Add), &[x, y]) => self.leads(x) != self.leads(y),
            (Op::Binary(BinaryOp::Sub), &[x, y]) if self.looks == Looks::Inside => {
                self.leads(x) && !self.leads(y)
            }
            (Op::Select, &[condition, x, y]) if self.looks == Looks::Inside => {
                self.leads(x) && self.leads(y) && !self.leads(condition)
            }
            (Op::Phi, _) if data.block != l.header => {
                let Some(position) = func.phi_position(inst) else { return false };
                func.blocks[data.block].preds.iter().all(|&e| self.leads(func.edges[e].args[position]))
            }
            _ => false,
        };
        self.parts.insert(v, leads);
        leads
    }
}
