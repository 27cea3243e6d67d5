//! What an iteration passes on, computed before it is needed.
//!
//! In `out[i] = sum; sum += a[i];` an iteration stores what the one before has passed on before it reads what it adds itself. Lanes pass it on all at
//! once, so `a[i]` must be read first. Within a block, what a value is computed from moves up to the first use of what was passed on, if
//! nothing that it passes writes what it reads.

use cranelift_entity::EntitySet;

use crate::dependences::Apart;
use warpline_dataflow::linear::Address;
use warpline_ir::{Block, Effects, Function, Inst, Module, Op, Value};

/// Moves what `value` is computed from up in its block, to before the first use there of `needed`. `source` is the function that the body was
/// taken from, with instructions under the same numbers. Nothing happens if that would change what the block does.
pub(super) fn hoist(module: &Module, source: &Function, body: &mut Function, value: Value, needed: Value) {
    let Some(block) = body.def_block(value) else { return };
    let insts = body.blocks[block].insts.clone();
    let Some(first) = insts.iter().position(|&i| body.insts[i].args.contains(&needed)) else { return };
    let moving = slice(body, block, &insts[first..], value);
    let mut passed: Vec<Inst> = Vec::new();
    for &i in &insts[first..] {
        if !moving.contains(i) {
            passed.push(i);
        } else if !passed.iter().all(|&p| may_swap(module, source, body, p, i)) {
            return;
        }
    }
    let (up, rest): (Vec<Inst>, Vec<Inst>) = insts[first..].iter().partition(|&&i| moving.contains(i));
    let order = insts[..first].iter().copied().chain(up).chain(rest).collect();
    body.blocks[block].insts = order;
}

/// Those of the instructions of a block that a value is computed from.
fn slice(body: &Function, block: Block, insts: &[Inst], value: Value) -> EntitySet<Inst> {
    let mut needed: EntitySet<Inst> = EntitySet::new();
    let mut work = vec![value];
    while let Some(v) = work.pop() {
        let inst = body.def_inst(v).filter(|&i| body.insts[i].block == block && insts.contains(&i));
        if let Some(i) = inst.filter(|&i| needed.insert(i)) {
            work.extend(body.insts[i].args.iter().copied());
        }
    }
    needed
}

/// Whether an instruction may be executed before one that stands in front of it and does not compute what it needs.
fn may_swap(module: &Module, source: &Function, body: &Function, front: Inst, inst: Inst) -> bool {
    let (before, effects) = (body.insts[front].effects(), body.insts[inst].effects());
    let harmless = |e: Effects| e.difference(Effects::CONVERGENT).is_empty();
    let loads = matches!(&body.insts[inst].op, Op::Load(access) if access.is_simple());
    match (&body.insts[front].op, loads) {
        // What traps would do so either way, in this iteration.
        (_, false) => harmless(effects),
        (Op::Store(access), true) if access.is_simple() => !may_meet(module, source, front, inst),
        (_, true) => harmless(before.difference(Effects::READS | Effects::TRAPS)),
    }
}

/// Whether a store and a load may access the same memory.
fn may_meet(module: &Module, source: &Function, store: Inst, load: Inst) -> bool {
    let (Some(stored), Some(loaded)) = (source.accessed(store), source.accessed(load)) else { return true };
    let size = |ty| module.layout.store_size(&module.types, ty).and_then(|s| i64::try_from(s).ok());
    let addresses =
        (Address::of(module, source, stored.address), Address::of(module, source, loaded.address));
    if let (Some(a), Some(b), Some(of_a), Some(of_b)) =
        (addresses.0, addresses.1, size(stored.ty), size(loaded.ty))
        && let Some(distance) = a.distance(&b)
    {
        return distance < of_a && -distance < of_b;
    }
    !Apart::new(module, source).never_meet(store, load)
}
