//! Numbers of which only the low bits count from one iteration to the next: sums modulo 256, prefix sums of shorts.
//!
//! ```c
//! s = (s + x[i]) & 0xff;                  // a checksum
//! short p; … p += x[i]; o[i] = p;         // 32 bits by the rules of C, of which 16 are kept
//! ```
//!
//! What stands between the number and its next value, and keeps its low bits or extends them, hides that it is a sum.
//! So the φ becomes one of as many bits as count, and sums and products are computed in these: modulo a power of two
//! they are what they were.

use std::cmp::Ordering;
use std::collections::HashMap;

use warpline_ir::{BinaryOp, Block, CastOp, Edge, Function, Inst, InstFlags, Module, Op, Type, Users, Value};

use super::carried::Dependent;
use super::decided;
use super::find::Loop;
use crate::unused;

/// Operations whose low bits are made of the low bits of their operands.
const LOW: [BinaryOp; 6] =
    [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::And, BinaryOp::Or, BinaryOp::Xor];
/// So deep is a next value looked through.
const MAX_DEPTH: u32 = 12;

/// Gives φs of the header as few bits as count, where nothing else is known of what they carry. Whether there was any;
/// then the function has another block behind the loop.
pub(super) fn settle(module: &Module, func: &mut Function, l: &Loop) -> bool {
    if l.is_endless {
        return false;
    }
    let users = l.users(func);
    let all = 0..func.blocks[l.header].phis.len();
    let fits: Vec<usize> =
        all.rev().filter(|&position| Narrow::of(func, l, &users, position).is_some()).collect();
    if fits.is_empty() {
        return false;
    }
    let kinds = l.kinds(module, func, false);
    let mut changed = false;
    for position in fits.into_iter().filter(|&position| kinds[position].is_err()) {
        if let Some(narrow) = Narrow::of(func, l, &l.users(func), position) {
            narrow.rewrite(func, l);
            changed = true;
        }
    }
    if changed {
        unused::remove(module, func, &[]);
    }
    changed
}

/// A φ of which low bits count.
struct Narrow {
    position: usize,
    phi: Value,
    bits: u32,
    /// Whether all that it carries is no more than these bits.
    is_whole: bool,
    /// What depends on it.
    dependent: Dependent,
    is_used_outside: bool,
}

impl Narrow {
    fn of(func: &Function, l: &Loop, users: &Users, position: usize) -> Option<Narrow> {
        let phi = func.insts[func.blocks[l.header].phis[position]].results[0];
        let all = func.ty(phi).int_bits().filter(|bits| (16..=64).contains(bits))?;
        let start = func.edges[func.out_edges(l.preheader)[0]].args[position];
        let next = func.edges[l.back].args[position];
        let is_used_outside = is_used_outside(func, l, phi);
        // What is extended is no more than these bits.
        let kept = func.def_inst(next).and_then(|i| kept_bits(func, i)).filter(|&bits| {
            let fits = func.as_int(start).is_some_and(|n| n >> bits == 0);
            fits && matches!(bits, 8 | 16 | 32) && bits < all
        });
        let asked = || {
            let looks_at = users.get(phi).iter().map(|&i| asked_bits(func, i, phi));
            let most = looks_at.reduce(|a, b| Some(a?.max(b?)))??;
            let bits = most.next_power_of_two().max(8);
            (!is_used_outside && bits < all).then_some(bits)
        };
        let bits = kept.or_else(asked)?;
        let dependent = Dependent::of(func, users, phi);
        let is_whole = kept.is_some();
        let narrow = Narrow { position, phi, bits, is_whole, dependent, is_used_outside };
        let is_sum = narrow.dependent.values.contains(next) && narrow.is_low(func, next, MAX_DEPTH);
        // Behind the loop the number is extended in one place.
        let dead_ends = func.layout.iter().any(|&b| l.dead.contains(b));
        let one_exit = !is_used_outside || l.breaks.is_empty() && !dead_ends;
        (is_sum && one_exit).then_some(narrow)
    }

    /// Whether the low bits of a value can be computed from those of what it is made of.
    fn is_low(&self, func: &Function, v: Value, depth: u32) -> bool {
        if v == self.phi || !self.dependent.values.contains(v) {
            return true;
        }
        let Some(i) = func.def_inst(v).filter(|_| depth > 0) else { return false };
        let args = &func.insts[i].args;
        let low = |a: &Value| self.is_low(func, *a, depth - 1);
        match func.insts[i].op {
            Op::Cast(CastOp::ZExt | CastOp::SExt | CastOp::Trunc) => {
                let from = func.ty(args[0]).int_bits().unwrap_or(0);
                let to = func.ty(v).int_bits().unwrap_or(0);
                from.min(to) >= self.bits && low(&args[0])
            }
            Op::Binary(op) if LOW.contains(&op) => args.iter().all(low),
            Op::Binary(BinaryOp::AShr | BinaryOp::LShr) => {
                self.extended(func, i).is_some_and(|from| low(&from))
            }
            _ => false,
        }
    }

    /// What a shift to the right, of what was shifted to the left by as many places, has the low bits of.
    fn extended(&self, func: &Function, right: Inst) -> Option<Value> {
        let &[shifted, by] = &func.insts[right].args[..] else { return None };
        let places = func.as_int(by)?;
        let left = func.def_inst(shifted).filter(|&i| func.insts[i].op == Op::Binary(BinaryOp::Shl))?;
        let same = func.as_int(func.insts[left].args[1]) == Some(places);
        let left_over = u128::from(func.ty(shifted).int_bits()?).checked_sub(places)?;
        (same && left_over >= self.bits.into()).then(|| func.insts[left].args[0])
    }

    fn rewrite(&self, func: &mut Function, l: &Loop) {
        let narrow = Type::Int(self.bits);
        let entering = func.out_edges(l.preheader)[0];
        let start = func.edges[entering].args[self.position];
        let next = func.edges[l.back].args[self.position];
        let start = match func.as_int(start) {
            Some(n) => func.int_const(self.bits, n),
            None => func.append_value(l.preheader, Op::Cast(CastOp::Trunc), &[start], narrow),
        };
        let new = func.add_phi(l.header, narrow);
        let at = func.blocks[l.header].phis.len() - 1;
        let mut lows = Lows { narrow: self, made: HashMap::from([(self.phi, new)]) };
        let end = func.terminator(func.edges[l.back].from);
        let low = lows.of(func, next, end);
        if self.is_whole {
            let whole = func.def_inst(next).expect("it extends something");
            let ty = func.ty(next);
            let again =
                func.insert_value_before(whole, Op::Cast(CastOp::ZExt), &[low], ty, InstFlags::empty());
            func.map_operands(|v| if v == next { again } else { v });
        }
        // What was promised of the number does not hold of its low bits.
        for &i in &self.dependent.insts {
            if func.insts[i].args.contains(&self.phi) {
                func.insts[i].flags -= InstFlags::NSW | InstFlags::NUW;
            }
        }
        func.set_phi_arg(entering, at, start);
        func.set_phi_arg(l.back, at, low);
        // Who wants no more than these bits gets them.
        let truncated: Vec<(Value, Value)> = self
            .dependent
            .insts
            .iter()
            .filter(|&&i| func.insts[i].op == Op::Cast(CastOp::Trunc))
            .filter_map(|&i| Some((func.insts[i].result()?, *lows.made.get(&func.insts[i].args[0])?)))
            .filter(|&(v, _)| func.ty(v) == narrow)
            .collect();
        let (ty, phi) = (func.ty(self.phi), self.phi);
        let place = func.blocks[l.header].insts.first().copied().unwrap_or(func.terminator(l.header));
        let wide = func.insert_value_before(place, Op::Cast(CastOp::ZExt), &[new], ty, InstFlags::empty());
        if self.is_used_outside {
            let out = func.insts[l.test].edges[usize::from(l.stays_if)];
            let out = func.split_edge(out, "widened");
            let outside = func.append_value(out, Op::Cast(CastOp::ZExt), &[new], ty);
            let extended = HashMap::from([(phi, outside)]);
            for b in func.layout.clone().into_iter().filter(|&b| !l.blocks.contains(b)) {
                decided::replace_in(func, b, &extended);
            }
        }
        func.map_operands(|v| if v == phi { wide } else { v });
        func.map_operands(|v| truncated.iter().find(|&&(old, _)| old == v).map_or(v, |&(_, low)| low));
        let position = self.position;
        let old = func.blocks[l.header].phis[position];
        func.retain_phis(l.header, |phi| phi != old);
    }
}

/// Makes the low bits of values.
struct Lows<'a> {
    narrow: &'a Narrow,
    made: HashMap<Value, Value>,
}

impl Lows<'_> {
    /// The low bits of a value, computed where it is; of what does not depend on the φ, in front of an instruction.
    fn of(&mut self, func: &mut Function, v: Value, before: Inst) -> Value {
        if let Some(&known) = self.made.get(&v) {
            return known;
        }
        let ty = Type::Int(self.narrow.bits);
        let inst = func.def_inst(v).filter(|_| self.narrow.dependent.values.contains(v));
        let Some(i) = inst else { return self.low_of_other(func, v, before) };
        let args = func.insts[i].args.clone();
        let low = match func.insts[i].op {
            Op::Cast(_) => self.of(func, args[0], i),
            Op::Binary(BinaryOp::AShr | BinaryOp::LShr) => {
                let from = self.narrow.extended(func, i).expect("it has been looked at");
                self.of(func, from, i)
            }
            ref op => {
                let op = op.clone();
                let [a, b] = [args[0], args[1]].map(|a| self.of(func, a, i));
                let keeps = op == Op::Binary(BinaryOp::And) && mask_bits(func, b) == Some(self.narrow.bits);
                if keeps { a } else { func.insert_value_before(i, op, &[a, b], ty, InstFlags::empty()) }
            }
        };
        self.made.insert(v, low);
        low
    }

    fn low_of_other(&self, func: &mut Function, v: Value, before: Inst) -> Value {
        let (bits, ty) = (self.narrow.bits, Type::Int(self.narrow.bits));
        if let Some(n) = func.as_int(v) {
            return func.int_const(bits, n);
        }
        if func.ty(v) == ty {
            return v;
        }
        let made = func.def_inst(v).map(|i| (func.insts[i].op.clone(), func.insts[i].args.clone()));
        let (cast, of) = match made {
            Some((Op::Cast(cast @ (CastOp::ZExt | CastOp::SExt)), args)) => {
                match func.ty(args[0]).int_bits().map(|from| from.cmp(&bits)) {
                    Some(Ordering::Equal) => return args[0],
                    Some(Ordering::Less) => (cast, args[0]),
                    _ => (CastOp::Trunc, v),
                }
            }
            _ => (CastOp::Trunc, v),
        };
        func.insert_value_before(before, Op::Cast(cast), &[of], ty, InstFlags::empty())
    }
}

/// How many bits an instruction's result has at most, since it extends or keeps no more.
fn kept_bits(func: &Function, i: Inst) -> Option<u32> {
    let data = &func.insts[i];
    match (&data.op, &data.args[..]) {
        (Op::Cast(CastOp::ZExt), &[x]) => func.ty(x).int_bits(),
        (Op::Binary(BinaryOp::And), &[_, mask]) => mask_bits(func, mask),
        _ => None,
    }
}

/// How many low bits an instruction looks at of an operand.
fn asked_bits(func: &Function, i: Inst, of: Value) -> Option<u32> {
    let data = &func.insts[i];
    match (&data.op, &data.args[..]) {
        (Op::Cast(CastOp::Trunc), _) => func.ty(data.result()?).int_bits(),
        (Op::Binary(BinaryOp::And), &[x, mask]) if x == of => mask_bits(func, mask),
        (Op::Binary(BinaryOp::Shl), &[x, by]) if x == of && by != of => {
            func.ty(x).int_bits()?.checked_sub(u32::try_from(func.as_int(by)?).ok()?)
        }
        _ => None,
    }
}

/// How many low bits a mask keeps, if it keeps no others.
fn mask_bits(func: &Function, mask: Value) -> Option<u32> {
    let mask = func.as_int(mask)?;
    (mask & (mask.wrapping_add(1)) == 0).then(|| mask.count_ones())
}

/// Whether a value of the loop is used outside of it.
fn is_used_outside(func: &Function, l: &Loop, v: Value) -> bool {
    let is_outside = |b: Block| !l.blocks.contains(b);
    func.layout.iter().any(|&b| {
        let by_insts = is_outside(b) && func.block_insts(b).any(|i| func.insts[i].args.contains(&v));
        let leaves = |e: Edge| is_outside(b) || is_outside(func.edges[e].to);
        by_insts || func.out_edges(b).iter().any(|&e| leaves(e) && func.edges[e].args.contains(&v))
    })
}
