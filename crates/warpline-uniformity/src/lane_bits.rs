//! Which low bits of a value differ between the lanes of a wave: ranges of lane numbers.
//!
//! Where waves are made of neighbouring work-items, and begin at multiples of their size 2^k, all lanes of a wave
//! agree on all but the k lowest bits of a work-item's number: on `tid >> k`, on `tid & -2^k`, on `tid / 2^k`, on
//! `tid < 3 * 2^k`. Here a value is abstracted by the number of low bits in which lanes that compute it together may
//! differ; 0 says that it is uniform. This is followed through arithmetic from the work-item's number on; what turns
//! out uniform is a fact for the engine.
//!
//! The promise is that of a uniform [shape](crate::shape): in all these lanes or in none the value is poison. So an
//! instruction whose flags make poison of differing low bits promises nothing.

use cranelift_entity::SecondaryMap;

use super::facts::Facts;
use super::rules::{Context, Target, called};
use crate::shape::{Convergence, phi_positions};
use warpline_dataflow::conditions::swapped;
use warpline_ir::{BinaryOp, CastOp, Function, Inst, InstFlags, IntPred, Module, Op, Type, Value};

/// Sweeps over a function after which what still changes is given up. Each lowers some value by a bit at least; loops
/// need two or three.
const SWEEPS: usize = 8;

/// How deep trailing zeros are looked for.
const DEPTH: u32 = 6;

/// The values that are uniform for their high bits though the engine calls them divergent.
pub(super) fn uniform_by_high_bits(
    module: &Module,
    func: &Function,
    context: Context<'_>,
    control: &impl Convergence,
) -> Vec<Value> {
    let Some(wave) = wave_size(context) else { return Vec::new() };
    let lanes = wave.trailing_zeros();
    let insts = || func.layout.iter().flat_map(|&b| func.block_insts(b));
    let is_number = |i: Inst| is_lane_number(module, func, i, context.facts, wave);
    if !insts().any(is_number) {
        return Vec::new();
    }
    let mut solver = Solver {
        func,
        control,
        is_number: &is_number,
        low: SecondaryMap::new(),
        positions: phi_positions(func),
    };
    // Nothing is known of arguments, nor of what has several results.
    for v in func.values.keys() {
        let alone = func.def_inst(v).is_some_and(|i| func.insts[i].results.len() == 1);
        if let (Type::Int(width), false) = (func.ty(v), alone) {
            solver.low[v] = Some(width);
        }
    }
    for sweep in 0.. {
        let mut changed = false;
        for inst in insts() {
            let [result] = func.insts[inst].results[..] else { continue };
            let Type::Int(width) = func.ty(result) else { continue };
            if control.is_uniform(result) {
                continue;
            }
            let found = match is_number(inst) {
                true => Some(lanes),
                false => solver.evaluate(inst, width),
            };
            let Some(found) = found.map(|low| low.min(width)) else { continue };
            let new = solver.low[result].map_or(found, |old| old.max(found));
            if solver.low[result] != Some(new) {
                solver.low[result] = Some(if sweep < SWEEPS { new } else { width });
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    let results = insts().flat_map(|i| func.insts[i].results.iter().copied());
    results.filter(|&v| !control.is_uniform(v) && solver.low[v] == Some(0)).collect()
}

/// The number of lanes of a wave, a power of two, where waves are made of neighbouring work-items.
fn wave_size(context: Context<'_>) -> Option<u32> {
    let wave = match context.target {
        Target::Nvptx => 32,
        _ => context.facts.wave_size?,
    };
    wave.is_power_of_two().then_some(wave)
}

/// Whether an instruction yields a number by which neighbouring lanes are neighbours, from a multiple of the wave's
/// size on: the lane's number, or that of the work-item in the first dimension where whole waves fit into it or there
/// is no other.
fn is_lane_number(module: &Module, func: &Function, inst: Inst, facts: &Facts, wave: u32) -> bool {
    let Some(called) = called(module, func, inst) else { return false };
    let is_in_rows = || {
        facts.work_group.is_some_and(|group| {
            group.size[1..] == [1, 1] || (group.whole && group.size[0].is_multiple_of(wave))
        })
    };
    let first = || func.insts[inst].args.first().is_some_and(|&a| func.as_int(a) == Some(0));
    match called.name() {
        "llvm.nvvm.read.ptx.sreg.laneid" | "_Z22get_sub_group_local_idv" => true,
        "llvm.nvvm.read.ptx.sreg.tid.x" | "llvm.amdgcn.workitem.id.x" => is_in_rows(),
        // `get_local_id(0)`
        "_Z12get_local_idj" => first() && is_in_rows(),
        _ => false,
    }
}

struct Solver<'a, C> {
    func: &'a Function,
    control: &'a C,
    is_number: &'a dyn Fn(Inst) -> bool,
    /// `None`: no execution has been seen that defines the value.
    low: SecondaryMap<Value, Option<u32>>,
    positions: SecondaryMap<Inst, u32>,
}

impl<C: Convergence> Solver<'_, C> {
    /// How many low bits of a divergent result differ; its width if nothing is known.
    fn evaluate(&self, inst: Inst, width: u32) -> Option<u32> {
        let data = &self.func.insts[inst];
        if self.control.is_unconverged(data.block) || self.control.source(inst).is_some() {
            return Some(width);
        }
        if data.op == Op::Phi {
            return self.phi(inst, width);
        }
        let mut low = smallvec::SmallVec::<[u32; 3]>::new();
        for &a in &data.args {
            let Type::Int(bits) = self.func.ty(a) else { return Some(width) };
            low.push(match self.control.is_uniform(a) {
                _ if self.control.is_temporal_at(a, data.block) => bits,
                true => 0,
                false => self.low[a]?,
            });
        }
        // Divergent, though all operands are uniform: for a reason that is not in the operands.
        if low.iter().all(|&l| l == 0) {
            return Some(width);
        }
        // Signed division of what is never negative is the unsigned one.
        let op = match data.op {
            Op::Binary(BinaryOp::SDiv) if is_non_negative(self.func, data.args[0], self.is_number, DEPTH) => {
                Op::Binary(BinaryOp::UDiv)
            }
            ref op => op.clone(),
        };
        Some(transfer(self.func, inst, &op, width, &low).unwrap_or(width))
    }

    /// As for shapes: lanes that come over one edge agree as far as that edge's operand does.
    fn phi(&self, phi: Inst, width: u32) -> Option<u32> {
        let block = self.func.insts[phi].block;
        let is_join = self.control.is_join(block);
        let position = self.positions[phi] as usize;
        let (mut low, mut seen) = (None, [None, None]);
        for &e in self.func.blocks[block].preds.iter().filter(|&&e| !self.control.is_never_taken(e)) {
            let Some(&a) = self.func.edges[e].args.get(position) else { return Some(width) };
            let own = match self.control.is_uniform(a) {
                _ if self.control.is_temporal_on(a, e) => width,
                true => 0,
                false => match self.low[a] {
                    Some(own) => own,
                    None => continue,
                },
            };
            let seen = &mut seen[usize::from(self.control.is_back_edge(e))];
            if is_join && seen.is_some_and(|b| b != a) {
                return Some(width);
            }
            *seen = Some(a);
            low = Some(low.map_or(own, |l: u32| l.max(own)));
        }
        // Divergent, though all operands are uniform: for a reason that is not in the operands.
        if low == Some(0) { Some(width) } else { low }
    }
}

/// How many low bits of the result differ if so many of the operands do; `None` if nothing is known.
fn transfer(func: &Function, inst: Inst, op: &Op, width: u32, low: &[u32]) -> Option<u32> {
    let data = &func.insts[inst];
    let has = |flags: InstFlags| data.flags.intersects(flags);
    match *op {
        Op::Binary(op) => binary(func, inst, op, width, low),
        Op::Cast(CastOp::ZExt) if !has(InstFlags::NNEG) || low[0] < bits(func, data.args[0]) => Some(low[0]),
        Op::Cast(CastOp::SExt) if low[0] < bits(func, data.args[0]) => Some(low[0]),
        Op::Cast(CastOp::Trunc) => {
            let kept = width - u32::from(has(InstFlags::NSW));
            (!has(InstFlags::NSW | InstFlags::NUW) || low[0] <= kept).then(|| low[0].min(width))
        }
        // The condition is uniform: each lane has the same of both.
        Op::Select if low[0] == 0 => Some(low[1].max(low[2])),
        Op::ICmp(pred) if !has(InstFlags::SAMESIGN) => match *low {
            [l, 0] => compares_high_bits(func, pred, data.args[1], l).then_some(0),
            [0, l] => compares_high_bits(func, swapped(pred), data.args[0], l).then_some(0),
            _ => None,
        },
        _ => None,
    }
}

fn binary(func: &Function, inst: Inst, op: BinaryOp, width: u32, low: &[u32]) -> Option<u32> {
    let data = &func.insts[inst];
    let (a, b) = (data.args[0], data.args[1]);
    let has = |flags: InstFlags| data.flags.intersects(flags);
    let overflow = InstFlags::NUW | InstFlags::NSW;
    let by = func.as_int(b);
    match op {
        // What is added has zeros where lanes differ: no carry comes out of these bits, and whether it overflows is
        // for the others.
        BinaryOp::Add if low[1] == 0 && zeros(func, b, DEPTH) >= low[0] => Some(low[0]),
        BinaryOp::Add if low[0] == 0 && zeros(func, a, DEPTH) >= low[1] => Some(low[1]),
        BinaryOp::Sub if low[1] == 0 && zeros(func, b, DEPTH) >= low[0] => Some(low[0]),
        BinaryOp::Shl => {
            let by = u32::try_from(by?).ok().filter(|&by| by < width)?;
            let lost = by + u32::from(has(InstFlags::NSW));
            (!has(overflow) || low[0] + lost <= width).then(|| (low[0] + by).min(width))
        }
        BinaryOp::Mul => {
            let by = by.filter(|by| by.is_power_of_two())?.trailing_zeros();
            (!has(overflow)).then(|| (low[0] + by).min(width))
        }
        BinaryOp::LShr | BinaryOp::AShr if !has(InstFlags::EXACT) && low[1] == 0 => {
            let by = u32::try_from(by?).ok().filter(|&by| by < width)?;
            let sign_differs = op == BinaryOp::AShr && low[0] == width;
            (!sign_differs).then(|| low[0].saturating_sub(by))
        }
        BinaryOp::UDiv if !has(InstFlags::EXACT) => {
            // As a signed number it is positive too.
            let by = by.filter(|&by| by > 0 && by >> (width - 1) == 0)?;
            (by.trailing_zeros() >= low[0]).then_some(0)
        }
        BinaryOp::And | BinaryOp::Or if !has(InstFlags::DISJOINT) => {
            // The bits of a mask that keep what the other operand has.
            let kept = |m: u128| if op == BinaryOp::And { m } else { !m };
            let mask = |v: Value, low: u32| func.as_int(v).map(|m| significant(kept(m), low));
            match *low {
                [l, 0] => Some(mask(b, l).unwrap_or(l)),
                [0, l] => Some(mask(a, l).unwrap_or(l)),
                [l, m] => Some(l.max(m)),
                _ => None,
            }
        }
        BinaryOp::Or if low[1] == 0 && zeros(func, b, DEPTH) >= low[0] => Some(low[0]),
        BinaryOp::Or if low[0] == 0 && zeros(func, a, DEPTH) >= low[1] => Some(low[1]),
        BinaryOp::Xor => Some(low[0].max(low[1])),
        _ => None,
    }
}

/// The position behind the highest bit that is set among the `low` lowest.
fn significant(mask: u128, low: u32) -> u32 {
    let kept = mask & 1u128.checked_shl(low).map_or(u128::MAX, |bit| bit - 1);
    u128::BITS - kept.leading_zeros()
}

fn bits(func: &Function, v: Value) -> u32 {
    match func.ty(v) {
        Type::Int(bits) => bits,
        _ => 0,
    }
}

/// How many low bits of a value are zero in every lane, at least. All of them for 0.
fn zeros(func: &Function, v: Value, depth: u32) -> u32 {
    let width = bits(func, v);
    if let Some(n) = func.as_int(v) {
        return n.trailing_zeros().min(width);
    }
    let Some(inst) = func.def_inst(v).filter(|_| depth > 0) else { return 0 };
    let data = &func.insts[inst];
    let of = |k: usize| zeros(func, data.args[k], depth - 1);
    let found = match data.op {
        Op::Binary(BinaryOp::Mul) => of(0) + of(1),
        Op::Binary(BinaryOp::Shl) => {
            of(0) + func.as_int(data.args[1]).and_then(|by| u32::try_from(by).ok()).unwrap_or(0).min(width)
        }
        Op::Binary(BinaryOp::And) => of(0).max(of(1)),
        Op::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Or | BinaryOp::Xor) => of(0).min(of(1)),
        Op::Cast(CastOp::ZExt | CastOp::SExt | CastOp::Trunc) => of(0),
        Op::Select => of(1).min(of(2)),
        _ => 0,
    };
    found.min(width)
}

/// Whether a comparison of a value whose `low` lowest bits differ with another, uniform one asks about the other bits
/// only.
fn compares_high_bits(func: &Function, pred: IntPred, with: Value, low: u32) -> bool {
    let width = bits(func, with);
    if low >= width {
        return false;
    }
    // x < n is x >> low < n >> low if n is a multiple of 2^low; x <= n is x < n + 1, which is no number of this width
    // for the largest n.
    let before_multiple =
        |largest: u128| func.as_int(with).is_some_and(|n| n != largest && (n + 1).trailing_zeros() >= low);
    match pred {
        IntPred::Ult | IntPred::Uge | IntPred::Slt | IntPred::Sge => zeros(func, with, DEPTH) >= low,
        IntPred::Ule | IntPred::Ugt => before_multiple(u128::MAX >> (128 - width)),
        IntPred::Sle | IntPred::Sgt => before_multiple((u128::MAX >> (128 - width)) >> 1),
        IntPred::Eq | IntPred::Ne => false,
    }
}

/// Whether a value is never negative: a work-item's number, something zero-extended, shifted or masked.
fn is_non_negative(func: &Function, v: Value, is_number: &dyn Fn(Inst) -> bool, depth: u32) -> bool {
    let width = bits(func, v);
    if let Some(n) = func.as_int(v) {
        return width > 0 && n >> (width - 1) == 0;
    }
    let Some(inst) = func.def_inst(v).filter(|_| depth > 0) else { return false };
    let data = &func.insts[inst];
    let of = |k: usize| is_non_negative(func, data.args[k], is_number, depth - 1);
    match data.op {
        Op::Cast(CastOp::ZExt) => true,
        Op::Cast(CastOp::SExt) => of(0),
        Op::Binary(BinaryOp::And) => of(0) || of(1),
        Op::Binary(BinaryOp::LShr | BinaryOp::UDiv) => {
            of(0)
                || func
                    .as_int(data.args[1])
                    .is_some_and(|n| n > u128::from(data.op != Op::Binary(BinaryOp::LShr)))
        }
        Op::Binary(BinaryOp::URem) => of(0) || of(1),
        // Work-groups have fewer work-items than that.
        Op::Cast(CastOp::Trunc) => width > 16 && func.def_inst(data.args[0]).is_some_and(is_number),
        _ => width > 16 && is_number(inst),
    }
}
