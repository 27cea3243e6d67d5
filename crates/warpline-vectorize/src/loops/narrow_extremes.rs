//! Minima and maxima over all iterations in as few bits as they have.
//!
//! C's `int most = 0; for (…) if (a[i] > most) most = a[i];` keeps the greatest of bytes in an `int`, so that every
//! byte would be widened to be compared. Where a header's φ is nothing but the least or greatest of numbers of
//! which the ranges say that they fit 8 or 16 bits, the φ and what is combined become numbers of so few bits, and are
//! extended behind the loop.

use std::collections::{HashMap, HashSet};

use warpline_dataflow::clients::intrinsics::{self, Intrinsic};
use warpline_ir::{Block, CastOp, Edge, Function, Inst, InstFlags, IntPred, Module, Op, Type, Users, Value};

use super::carried::Dependent;
use super::find::Loop;
use crate::narrow::{Bounds, chosen};

/// The widths that are tried.
const WIDTHS: [u32; 2] = [8, 16];

/// Narrows the φs of a loop with one exit. Whether there were any; then the loop has another exit.
pub(super) fn settle(module: &Module, func: &mut Function, l: &Loop) -> bool {
    let is_wide = |&phi: &Inst| matches!(func.ty(func.insts[phi].results[0]), Type::Int(9..=64));
    let phis: Vec<Inst> = func.blocks[l.header].phis.iter().copied().filter(is_wide).collect();
    if l.is_endless || !l.breaks.is_empty() || phis.is_empty() {
        return false;
    }
    let found: Vec<Extreme> = {
        let users = l.users(func);
        let chains: Vec<Extreme> =
            phis.iter().filter_map(|&phi| Extreme::of(module, func, l, &users, phi)).collect();
        if chains.is_empty() {
            return false;
        }
        let bounds = Bounds::of(module, func, &[]);
        chains.into_iter().filter_map(|chain| chain.fitted(func, &bounds)).collect()
    };
    if found.is_empty() {
        return false;
    }
    let exit = func.insts[l.test].edges[usize::from(l.stays_if)];
    let out = func.split_edge(exit, "");
    for extreme in &found {
        extreme.narrow(func, l, out);
    }
    func.retain_phis(l.header, |phi| !found.iter().any(|e| e.phi == phi));
    true
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
    bits: u32,
    is_signed: bool,
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
                    let what = intrinsics::called(module, func, data).or_else(|| chosen(func, data))?;
                    let is_extreme =
                        matches!(what, Intrinsic::SMin | Intrinsic::SMax | Intrinsic::UMin | Intrinsic::UMax);
                    is_extreme.then_some(())?;
                    let n = data.args.len();
                    let args = [data.args[n - 2], data.args[n - 1]];
                    (has(args[0]) != has(args[1])).then_some(())?;
                    combined.push((i, what, args));
                }
                _ => return None,
            }
        }
        // A comparison decides nothing but what is kept.
        let decides = |i: &Inst| {
            let c = func.insts[*i].results[0];
            users
                .get(c)
                .iter()
                .all(|u| combined.iter().any(|(at, ..)| at == u && func.insts[*u].args[0] == c))
        };
        let nexts = &func.edges[l.back].args;
        let alone = nexts.iter().filter(|&&v| has(v)).count() == 1 && has(nexts[position]);
        (alone && !combined.is_empty() && compared.iter().all(decides)).then_some(())?;
        let of_type = |v: &Value| func.ty(*v) == func.ty(start);
        let values: Vec<Value> = func.values.keys().filter(|&v| has(v)).filter(of_type).collect();
        Some(Extreme { phi, combined, compared, merged, values, bits: 0, is_signed: false })
    }

    /// The same in the fewest bits that all of it fits.
    fn fitted(self, func: &Function, bounds: &Bounds<'_>) -> Option<Extreme> {
        let own = func.ty(func.insts[self.phi].results[0]).int_bits()?;
        // The least and the greatest of numbers that fit do, too.
        let at = func.phi_position(self.phi)?;
        let starts = func.blocks[func.insts[self.phi].block].preds.iter().map(|&e| func.edges[e].args[at]);
        let others = self.combined.iter().flat_map(|c| c.2);
        let all: Vec<Value> = starts.chain(others).filter(|v| !self.values.contains(v)).collect();
        let all = || all.iter().copied();
        let in_signed_order = self.combined.iter().all(|c| matches!(c.1, Intrinsic::SMin | Intrinsic::SMax));
        let (bits, is_signed) = WIDTHS.into_iter().filter(|&bits| bits < own).find_map(|bits| {
            if all().all(|v| bounds.fits_unsigned(v, bits)) {
                return Some((bits, false));
            }
            (in_signed_order && all().all(|v| bounds.fits_signed(v, bits))).then_some((bits, true))
        })?;
        Some(Extreme { bits, is_signed, ..self })
    }

    fn narrow(&self, func: &mut Function, l: &Loop, out: Block) {
        let (start, ty) = (func.insts[self.phi].results[0], Type::Int(self.bits));
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
            let made = self.combine(func, i, what, args, &narrow);
            narrow.insert(func.insts[i].results[0], made);
        }
        for &phi in self.merged.iter().chain([&self.phi]) {
            self.fill(func, l, phi, &narrow);
        }
        let op = Op::Cast(if self.is_signed { CastOp::SExt } else { CastOp::ZExt });
        let mut wide: HashMap<Value, Value> = HashMap::new();
        for v in self.used_behind(func, l) {
            let Some(&n) = narrow.get(&v) else { continue };
            let extended = func.make_inst(out, op.clone(), &[n], &[func.ty(start)]);
            func.blocks[out].insts.insert(0, extended);
            wide.insert(v, func.insts[extended].results[0]);
        }
        self.remove(func, l, &wide);
    }

    /// The numbers that somebody behind the loop uses.
    fn used_behind(&self, func: &Function, l: &Loop) -> Vec<Value> {
        let behind = || func.layout.iter().copied().filter(|&b| !l.blocks.contains(b));
        let edges =
            behind().flat_map(|b| func.out_edges(b)).flat_map(|&e| func.edges[e].args.iter().copied());
        let insts =
            behind().flat_map(|b| func.block_insts(b)).flat_map(|i| func.insts[i].args.iter().copied());
        let used: HashSet<Value> = edges.chain(insts).collect();
        self.values.iter().copied().filter(|v| used.contains(v)).collect()
    }

    /// Combines two numbers in front of what combined them.
    fn combine(
        &self,
        func: &mut Function,
        i: Inst,
        what: Intrinsic,
        args: [Value; 2],
        narrow: &HashMap<Value, Value>,
    ) -> Value {
        let flags = InstFlags::empty();
        let ty = Type::Int(self.bits);
        let args = args.map(|v| match narrow.get(&v) {
            Some(&n) => n,
            None => func.insert_value_before(i, Op::Cast(CastOp::Trunc), &[v], ty, flags),
        });
        let is_less = matches!(what, Intrinsic::SMin | Intrinsic::UMin);
        let pred = match (self.is_signed, is_less) {
            (true, true) => IntPred::Slt,
            (true, false) => IntPred::Sgt,
            (false, true) => IntPred::Ult,
            (false, false) => IntPred::Ugt,
        };
        let c = func.insert_value_before(i, Op::ICmp(pred), &args, Type::BOOL, flags);
        func.insert_value_before(i, Op::Select, &[c, args[0], args[1]], ty, flags)
    }

    /// Gives the narrow φ its operands.
    fn fill(&self, func: &mut Function, l: &Loop, phi: Inst, narrow: &HashMap<Value, Value>) {
        let (block, old) = (func.insts[phi].block, func.insts[phi].results[0]);
        let (Some(at), Some(&new)) = (func.phi_position(phi), narrow.get(&old)) else { return };
        let Some(position) = func.def_inst(new).and_then(|i| func.phi_position(i)) else { return };
        for e in func.blocks[block].preds.clone() {
            let v = func.edges[e].args[at];
            let value = match narrow.get(&v) {
                Some(&n) => n,
                // What it starts with, before the loop.
                None => {
                    let from = func.edges[e].from;
                    debug_assert!(!l.blocks.contains(from));
                    func.append_value(from, Op::Cast(CastOp::Trunc), &[v], Type::Int(self.bits))
                }
            };
            func.set_phi_arg(e, position, value);
        }
    }

    /// Takes away the wide numbers; who asked for them behind the loop gets the extended ones.
    fn remove(&self, func: &mut Function, l: &Loop, wide: &HashMap<Value, Value>) {
        let gone = |i: &Inst| self.compared.contains(i) || self.combined.iter().any(|c| c.0 == *i);
        for &b in &func.layout.clone() {
            if l.blocks.contains(b) {
                func.blocks[b].insts.retain(|i| !gone(i));
            }
        }
        for &phi in &self.merged {
            let block = func.insts[phi].block;
            func.retain_phis(block, |other| other != phi);
        }
        let edges: Vec<Edge> = func
            .layout
            .iter()
            .filter(|&&b| !l.blocks.contains(b))
            .flat_map(|&b| func.out_edges(b).to_vec())
            .collect();
        for e in edges {
            for k in 0..func.edges[e].args.len() {
                if let Some(&v) = wide.get(&func.edges[e].args[k]) {
                    func.edges[e].args[k] = v;
                }
            }
        }
        for b in func.layout.clone().into_iter().filter(|&b| !l.blocks.contains(b)) {
            for i in func.block_insts(b).collect::<Vec<Inst>>() {
                for k in 0..func.insts[i].args.len() {
                    if let Some(&v) = wide.get(&func.insts[i].args[k]) {
                        func.insts[i].args[k] = v;
                    }
                }
            }
        }
    }
}
