//! Minima and maxima over all iterations in as few bits as they have.
//!
//! C's `int most = 0; for (…) if (a[i] > most) most = a[i];` keeps the greatest of bytes in an `int`, so that every
//! byte would be widened to be compared. Where a header's φ is nothing but the least or greatest of numbers of
//! which the ranges say that they fit 8 or 16 bits, the φ and what is combined become numbers of so few bits, and are
//! extended behind the loop.

use std::collections::{HashMap, HashSet};

use warpline_dataflow::clients::intrinsics::Intrinsic;
use warpline_ir::{Block, CastOp, Function, Inst, InstFlags, IntPred, Module, Op, Type, Users, Value};

use super::carried::Dependent;
use super::decided::replace_in;
use super::find::Loop;
use crate::narrow::{Bounds, called_or_chosen};

/// The widths that are tried.
const WIDTHS: [u32; 2] = [8, 16];

/// Narrows the φs of a loop with one exit. Whether there were any; then the loop has another exit.
pub(super) fn settle(module: &Module, func: &mut Function, l: &Loop) -> bool {
    let is_wide = |&phi: &Inst| matches!(func.ty(func.insts[phi].results[0]), Type::Int(9..=64));
    let phis: Vec<Inst> = func.blocks[l.header].phis.iter().copied().filter(is_wide).collect();
    if l.is_endless || !l.breaks.is_empty() || phis.is_empty() {
        return false;
    }
    let users = l.users(func);
    let extremes: Vec<Extreme> =
        phis.iter().filter_map(|&phi| Extreme::of(module, func, l, &users, phi)).collect();
    if extremes.is_empty() {
        return false;
    }
    let behind = used_behind(func, l);
    let bounds = Bounds::of(module, func, &[]);
    let fitted = |e: Extreme| {
        let form = e.fitted(func, &bounds).filter(|_| e.decides_nothing_else(func, &behind))?;
        Some((e, form))
    };
    let found: Vec<(Extreme, Form)> = extremes.into_iter().filter_map(fitted).collect();
    if found.is_empty() {
        return false;
    }
    let exit = func.insts[l.test].edges[usize::from(l.stays_if)];
    let out = func.split_edge(exit, "");
    for (extreme, form) in &found {
        extreme.narrow(func, l, *form, (out, &behind));
    }
    func.retain_phis(l.header, |phi| !found.iter().any(|(e, _)| e.phi == phi));
    true
}

/// What somebody outside of a loop uses.
fn used_behind(func: &Function, l: &Loop) -> HashSet<Value> {
    let behind = || func.layout.iter().copied().filter(|&b| !l.blocks.contains(b));
    let edges = behind().flat_map(|b| func.out_edges(b)).flat_map(|&e| &func.edges[e].args);
    // What leaves the loop as an operand of a φ is on an edge from within.
    let exit = func.insts[l.test].edges[usize::from(l.stays_if)];
    let insts = behind().flat_map(|b| func.block_insts(b)).flat_map(|i| &func.insts[i].args);
    edges.chain(&func.edges[exit].args).chain(insts).copied().collect()
}

/// So few bits, and whether the numbers are signed.
#[derive(Copy, Clone)]
struct Form {
    bits: u32,
    is_signed: bool,
}

/// The least or greatest number of all iterations.
struct Extreme {
    phi: Inst,
    /// What combines, with the function that it is and what it combines the φ with.
    combined: Vec<(Inst, Intrinsic, [Value; 2])>,
    /// The comparisons that decide it.
    compared: Vec<Inst>,
    /// The φs that merge it.
    merged: Vec<Inst>,
    /// All values that depend on the φ.
    values: Vec<Value>,
}

impl Extreme {
    fn of(module: &Module, func: &Function, l: &Loop, users: &Users, phi: Inst) -> Option<Extreme> {
        let position = func.phi_position(phi)?;
        let start = func.insts[phi].results[0];
        let dependent = Dependent::of(func, users, start);
        let has = |v: Value| dependent.values.contains(v);
        let (mut combined, mut merged) = (Vec::new(), Vec::new());
        let mut compared = Vec::new();
        for &i in &dependent.insts {
            let data = &func.insts[i];
            match data.op {
                Op::Phi if data.block != l.header && l.blocks.contains(data.block) => {
                    let at = func.phi_position(i)?;
                    func.blocks[data.block]
                        .preds
                        .iter()
                        .all(|&e| has(func.edges[e].args[at]))
                        .then_some(())?;
                    merged.push(i);
                }
                Op::ICmp(_) => compared.push(i),
                Op::Select | Op::Call(_) => {
                    let (what, args) = called_or_chosen(module, func, i)?;
                    let is_extreme =
                        matches!(what, Intrinsic::SMin | Intrinsic::SMax | Intrinsic::UMin | Intrinsic::UMax);
                    let &[x, y] = args else { return None };
                    (is_extreme && has(x) != has(y)).then_some(())?;
                    combined.push((i, what, [x, y]));
                }
                _ => return None,
            }
        }
        // A comparison decides nothing but what is kept.
        let decides = |i: &Inst| {
            let c = func.insts[*i].results[0];
            let is_decided =
                |u: &Inst| combined.iter().any(|(at, ..)| at == u && func.insts[*u].args[0] == c);
            users.get(c).iter().all(is_decided)
        };
        let nexts = &func.edges[l.back].args;
        let alone = nexts.iter().filter(|&&v| has(v)).count() == 1 && has(nexts[position]);
        (alone && !combined.is_empty() && compared.iter().all(decides)).then_some(())?;
        let of_type = |v: &Value| func.ty(*v) == func.ty(start);
        let values: Vec<Value> = func.values.keys().filter(|&v| has(v)).filter(of_type).collect();
        Some(Extreme { phi, combined, compared, merged, values })
    }

    /// Whether nobody behind the loop asks for one of the comparisons.
    fn decides_nothing_else(&self, func: &Function, behind: &HashSet<Value>) -> bool {
        !self.compared.iter().any(|&i| behind.contains(&func.insts[i].results[0]))
    }

    /// The fewest bits that all of it fits.
    fn fitted(&self, func: &Function, bounds: &Bounds<'_>) -> Option<Form> {
        let own = func.ty(func.insts[self.phi].results[0]).int_bits()?;
        // The least and the greatest of numbers that fit do, too.
        let at = func.phi_position(self.phi)?;
        let starts = func.blocks[func.insts[self.phi].block].preds.iter().map(|&e| func.edges[e].args[at]);
        let others = self.combined.iter().flat_map(|c| c.2);
        let all: Vec<Value> = starts.chain(others).filter(|v| !self.values.contains(v)).collect();
        let all = || all.iter().copied();
        let in_signed_order = self.combined.iter().all(|c| matches!(c.1, Intrinsic::SMin | Intrinsic::SMax));
        WIDTHS.into_iter().filter(|&bits| bits < own).find_map(|bits| {
            if all().all(|v| bounds.fits_unsigned(v, bits)) {
                return Some(Form { bits, is_signed: false });
            }
            let fits = in_signed_order && all().all(|v| bounds.fits_signed(v, bits));
            fits.then_some(Form { bits, is_signed: true })
        })
    }

    /// Gives it so many bits in the loop, and as many as it had to those who use it behind the loop, in the block that
    /// the loop is left for.
    fn narrow(&self, func: &mut Function, l: &Loop, form: Form, (out, behind): (Block, &HashSet<Value>)) {
        let (start, ty) = (func.insts[self.phi].results[0], Type::Int(form.bits));
        let mut narrow: HashMap<Value, Value> = HashMap::new();
        for &phi in self.merged.iter().chain([&self.phi]) {
            narrow.insert(func.insts[phi].results[0], func.add_phi(func.insts[phi].block, ty));
        }
        // In the order in which they are computed.
        let mut left: Vec<&(Inst, Intrinsic, [Value; 2])> = self.combined.iter().collect();
        while !left.is_empty() {
            let ready = |c: &(Inst, Intrinsic, [Value; 2])| {
                c.2.iter().all(|v| !self.values.contains(v) || narrow.contains_key(v))
            };
            let Some(at) = left.iter().position(|c| ready(c)) else { break };
            let (i, what, args) = *left.remove(at);
            let made = combine(func, i, (what, args), form, &narrow);
            narrow.insert(func.insts[i].results[0], made);
        }
        for &phi in self.merged.iter().chain([&self.phi]) {
            fill(func, phi, ty, &narrow);
        }
        let op = Op::Cast(if form.is_signed { CastOp::SExt } else { CastOp::ZExt });
        let mut wide: HashMap<Value, Value> = HashMap::new();
        for &v in self.values.iter().filter(|v| behind.contains(v)) {
            let Some(&n) = narrow.get(&v) else { continue };
            let extended = func.append_value(out, op.clone(), &[n], func.ty(start));
            wide.insert(v, extended);
        }
        self.remove(func, l, &wide);
    }

    /// Takes away the wide numbers; who asked for them behind the loop gets the extended ones.
    fn remove(&self, func: &mut Function, l: &Loop, wide: &HashMap<Value, Value>) {
        let gone = |i: &Inst| self.compared.contains(i) || self.combined.iter().any(|c| c.0 == *i);
        for &phi in &self.merged {
            let block = func.insts[phi].block;
            func.retain_phis(block, |other| other != phi);
        }
        for b in func.layout.clone() {
            match l.blocks.contains(b) {
                true => func.blocks[b].insts.retain(|i| !gone(i)),
                false => replace_in(func, b, wide),
            }
        }
    }
}

/// Combines two numbers in front of what combined them.
fn combine(
    func: &mut Function,
    i: Inst,
    (what, args): (Intrinsic, [Value; 2]),
    form: Form,
    narrow: &HashMap<Value, Value>,
) -> Value {
    let flags = InstFlags::empty();
    let ty = Type::Int(form.bits);
    let args = args.map(|v| match narrow.get(&v) {
        Some(&n) => n,
        None => func.insert_value_before(i, Op::Cast(CastOp::Trunc), &[v], ty, flags),
    });
    let is_less = matches!(what, Intrinsic::SMin | Intrinsic::UMin);
    let pred = match (form.is_signed, is_less) {
        (true, true) => IntPred::Slt,
        (true, false) => IntPred::Sgt,
        (false, true) => IntPred::Ult,
        (false, false) => IntPred::Ugt,
    };
    let c = func.insert_value_before(i, Op::ICmp(pred), &args, Type::BOOL, flags);
    func.insert_value_before(i, Op::Select, &[c, args[0], args[1]], ty, flags)
}

/// Gives the narrow φ in place of a wide one its operands.
fn fill(func: &mut Function, phi: Inst, ty: Type, narrow: &HashMap<Value, Value>) {
    let (block, old) = (func.insts[phi].block, func.insts[phi].results[0]);
    let (Some(at), Some(&new)) = (func.phi_position(phi), narrow.get(&old)) else { return };
    let Some(position) = func.def_inst(new).and_then(|i| func.phi_position(i)) else { return };
    for e in func.blocks[block].preds.clone() {
        let v = func.edges[e].args[at];
        let value = match narrow.get(&v) {
            Some(&n) => n,
            // What it starts with, before the loop.
            None => func.append_value(func.edges[e].from, Op::Cast(CastOp::Trunc), &[v], ty),
        };
        func.set_phi_arg(e, position, value);
    }
}
