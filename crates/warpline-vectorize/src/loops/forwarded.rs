//! What an iteration loads that the one before has stored.
//!
//! ```c
//! for (int i = 1; i < n; i++) x[i] += x[i - 1];
//! ```
//!
//! Lanes cannot wait for each other in memory, but pass values on: `x[i - 1]` becomes a φ of what is stored, which is
//! a prefix sum here. The first iteration loads what was there before, and is executed before the loop.

use warpline_dataflow::linear::{Address, Extension};
use warpline_ir::{CastOp, Function, Inst, InstFlags, Module, Op, Type, Value};

use super::find::Loop;
use super::invariant::Accesses;
use super::peel::{self, MAX_INSTS};
use crate::dependences::{Apart, Growth};
use crate::unused;

/// Makes φs of such loads. Whether there are any; then the loop has another preheader.
pub(super) fn settle(module: &Module, func: &mut Function, l: &Loop) -> bool {
    let found = find(module, func, l);
    if found.is_empty() || peel::size(func, l) > MAX_INSTS {
        return false;
    }
    let mut made = Vec::new();
    for &(load, store) in &found {
        let ty = func.ty(func.insts[load].results[0]);
        let phi = func.add_phi(l.header, ty);
        let (stored, unknown) = (func.insts[store].args[0], func.poison(ty));
        l.hand_on(func, phi, unknown, stored);
        made.push((load, phi));
    }
    peel::peel(module, func, l, &[]);
    for (load, phi) in made {
        func.replace(load, phi);
    }
    unused::remove(module, func, &[]);
    true
}

/// Loads, each with the store of the iteration before.
fn find(module: &Module, func: &Function, l: &Loop) -> Vec<(Inst, Inst)> {
    let Some(Accesses { stores, .. }) = Accesses::of(module, func, l) else { return Vec::new() };
    if !l.breaks.is_empty() || l.is_endless {
        return Vec::new();
    }
    let apart = Apart::new(module, func, None);
    let always = |&i: &Inst| l.is_always(func, func.insts[i].block);
    let pair = |load: Inst| {
        let mut stores_always = stores.iter().copied().filter(always);
        let store = stores_always.find(|&store| is_next(module, func, l, load, store))?;
        // Nobody else stores there in between.
        let alone = stores.iter().all(|&other| other == store || apart.never_meet(other, load));
        alone.then_some((load, store))
    };
    let own = func.layout.iter().filter(|&&b| l.own.contains(b)).flat_map(|&b| func.block_insts(b));
    own.filter(|&i| matches!(func.insts[i].op, Op::Load(access) if access.is_simple()))
        .filter_map(pair)
        .collect()
}

/// Whether a load reads what a store has written in the iteration before, and only that.
fn is_next(module: &Module, func: &Function, l: &Loop, load: Inst, store: Inst) -> bool {
    let (Some(loaded), Some(stored)) = (func.accessed(load), func.accessed(store)) else { return false };
    let Some(size) = module.layout.store_size(&module.types, stored.ty) else { return false };
    if loaded.ty != stored.ty || loaded.ty == Type::BOOL {
        return false;
    }
    let place = |v: Value| Address::of(module, func, v);
    let (Some(to), Some(from)) = (place(stored.address), place(loaded.address)) else { return false };
    let (Some(step), Some(distance)) = (step_of(module, func, l, &to), from.distance(&to)) else {
        return false;
    };
    step.abs() >= size.into() && step == distance.into()
}

/// Whether whatever extends a value in a loop says that it is not negative.
fn is_natural(func: &Function, l: &Loop, v: Value) -> bool {
    let inside = func.layout.iter().filter(|&&b| l.blocks.contains(b)).flat_map(|&b| func.block_insts(b));
    let extends = |&i: &Inst| func.insts[i].op == Op::Cast(CastOp::ZExt) && func.insts[i].args[0] == v;
    inside.filter(extends).all(|i| func.insts[i].flags.contains(InstFlags::NNEG))
}

/// By how many bytes an address grows in each iteration, if that is a constant.
fn step_of(module: &Module, func: &Function, l: &Loop, address: &Address) -> Option<i128> {
    let growth = |v: Value, extension: Extension| -> Option<i128> {
        if l.is_invariant(func, v) {
            return Some(0);
        }
        let Growth::Constant(step) = l.induction(module, func, v)?.1 else { return None };
        let position = l.position_of(func, v)?;
        let next = func.def_inst(func.edges[l.back].args[position])?;
        let exact = match extension {
            Extension::None => true,
            Extension::Signed => func.insts[next].flags.contains(InstFlags::NSW),
            Extension::Unsigned => {
                let flags = func.insts[next].flags;
                flags.contains(InstFlags::NUW) || flags.contains(InstFlags::NSW) && is_natural(func, l, v)
            }
        };
        (exact && matches!(func.insts[next].op, Op::Binary(_) | Op::Gep(_))).then_some(step)
    };
    let terms = address.terms.iter().map(|t| growth(t.value, t.extension)?.checked_mul(t.scale.into()));
    let all = terms.chain([growth(address.root, Extension::None)]);
    all.sum::<Option<i128>>()
}
