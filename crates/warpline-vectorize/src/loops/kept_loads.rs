//! The place of the best value so far, of which the value is loaded anew in each iteration.
//!
//! ```c
//! if (x[i] > x[best]) best = i;
//! ```
//!
//! What `x[best]` loads is what some iteration before has loaded as `x[i]`. So the value is kept with the place, which
//! makes a [selection](super::selections) of both. The first iteration is executed before the loop: it loads `x[best]`
//! as the program has it, and makes checks of bounds for `best`, which later places pass since `i` did.

use cranelift_entity::EntitySet;
use warpline_dataflow::conditions::{Holds, on_edge};
use warpline_ir::{Block, Edge, Effects, Function, Inst, IntPred, Module, Op, Type, Value};

use super::carried::Dependent;
use super::find::{Loop, dominates};
use super::peel::{self, MAX_INSTS};
use crate::known_calls::is_annotation;
use crate::unused;

/// A φ that holds a place, and what is loaded from there.
struct Place {
    phi: Value,
    /// The `select` between the place so far and another one, by operand.
    select: Inst,
    /// Loads from the place, and from the other one.
    loads: Vec<(Inst, Value)>,
}

/// So deep are addresses compared.
const MAX_DEPTH: u32 = 6;

/// Keeps what is loaded from places that a loop selects. Whether there are any.
pub(super) fn keep(module: &Module, func: &mut Function, l: &Loop) -> bool {
    if writes(module, func, l) || peel::size(func, l) > MAX_INSTS {
        return false;
    }
    let places: Vec<Place> =
        func.blocks[l.header].phis.iter().filter_map(|&phi| Place::of(func, l, phi)).collect();
    if places.is_empty() {
        return false;
    }
    let mut kept = Vec::new();
    for place in &places {
        for &(load, other) in &place.loads {
            kept.push((load, place.add_kept(func, l, load, other)));
        }
    }
    let checks: Vec<Edge> = places.iter().flat_map(|place| place.passed(func, l)).collect();
    peel::peel(module, func, l, &[]);
    for e in checks {
        func.always_take(e);
    }
    for (load, value) in kept {
        func.replace(load, value);
    }
    func.remove_unreachable_blocks();
    unused::remove(module, func, &[]);
    true
}

/// Whether anything in a loop may write memory that can be loaded from.
fn writes(module: &Module, func: &Function, l: &Loop) -> bool {
    let mut insts = func.layout.iter().filter(|&&b| l.blocks.contains(b)).flat_map(|&b| func.block_insts(b));
    insts.any(|i| func.insts[i].effects().contains(Effects::WRITES) && !is_annotation(module, &func.insts[i]))
}

impl Place {
    fn of(func: &Function, l: &Loop, phi: Inst) -> Option<Place> {
        let value = func.insts[phi].results[0];
        let next = func.edges[l.back].args[func.phi_position(phi)?];
        let select = func.def_inst(next).filter(|&i| func.insts[i].op == Op::Select)?;
        let data = &func.insts[select];
        let other = match data.args[..] {
            [_, a, b] if a == value => b,
            [_, a, b] if b == value => a,
            _ => return None,
        };
        let fits = matches!(func.ty(value), Type::Int(_) | Type::Ptr(_)) && other != value;
        let users = l.users(func);
        let dependent = Dependent::of(func, &users, value);
        let loads = loads(func, l);
        let pair = |&load: &Inst| {
            let of_place = dependent.insts.contains(&load) && l.comes_before(func, load, select);
            let address = func.insts[load].args[0];
            let twin = loads.iter().copied().find(|&twin| {
                twin != load
                    && func.ty(func.insts[twin].results[0]) == func.ty(func.insts[load].results[0])
                    && l.comes_before(func, twin, select)
                    && !dependent.insts.contains(&twin)
                    && agree(
                        func,
                        &dependent.values,
                        (address, value),
                        (func.insts[twin].args[0], other),
                        MAX_DEPTH,
                    )
            });
            Some((load, func.insts[twin.filter(|_| of_place)?].results[0]))
        };
        let loads: Vec<(Inst, Value)> = loads.iter().filter_map(pair).collect();
        (fits && !loads.is_empty()).then_some(Place { phi: value, select, loads })
    }

    /// Adds a φ for what is loaded from the place: unknown before the loop, and whatever is selected in each iteration.
    fn add_kept(&self, func: &mut Function, l: &Loop, load: Inst, other: Value) -> Value {
        let loaded = func.insts[load].results[0];
        let ty = func.ty(loaded);
        let kept = func.add_phi(l.header, ty);
        let args = &func.insts[self.select].args;
        let chosen = if args[1] == self.phi { [args[0], loaded, other] } else { [args[0], other, loaded] };
        let (block, loc) = (func.insts[self.select].block, func.insts[self.select].loc);
        let next = func.make_inst(block, Op::Select, &chosen, &[ty]);
        func.insts[next].loc = loc;
        let at = func.blocks[block].insts.iter().position(|&i| i == self.select).map_or(0, |at| at + 1);
        func.blocks[block].insts.insert(at, next);
        let next = func.insts[next].results[0];
        let unknown = func.poison(ty);
        l.hand_on(func, kept, unknown, next);
        kept
    }

    /// The ways on behind checks that every place passes which an iteration selects: the same check of the other place
    /// is made in each iteration, and goes the same way.
    fn passed(&self, func: &Function, l: &Loop) -> Vec<Edge> {
        let latch = func.edges[l.back].from;
        let args = &func.insts[self.select].args;
        let other = if args[1] == self.phi { args[2] } else { args[1] };
        let always: Vec<Edge> = func
            .layout
            .iter()
            .filter(|&&b| l.blocks.contains(b))
            .flat_map(|&b| func.out_edges(b).iter().copied())
            .filter(|&e| is_always_taken(func, l, e, latch))
            .collect();
        let holds = |e: Edge, v: Value| {
            on_edge(func, e).into_iter().filter_map(move |holds| match holds {
                Holds::Compare(pred, a, b) if a == v && l.is_invariant(func, b) => Some((pred, b)),
                _ => None,
            })
        };
        let known: Vec<(IntPred, Value)> = always.iter().flat_map(|&e| holds(e, other)).collect();
        let same = |&e: &Edge| {
            let branch = func.terminator(func.edges[e].from);
            let is_one = func.insts[branch].op == Op::CondBr && on_edge(func, e).len() == 2;
            is_one && holds(e, self.phi).next().is_some_and(|found| known.contains(&found))
        };
        always.iter().copied().filter(same).collect()
    }
}

/// Whether control takes an edge in every iteration that gets to the latch.
fn is_always_taken(func: &Function, l: &Loop, e: Edge, latch: Block) -> bool {
    let (from, to) = (func.edges[e].from, func.edges[e].to);
    let alone = func.blocks[to].preds.len() == 1 && l.blocks.contains(to);
    l.is_always(func, from) && alone && dominates(&l.dominators, to, latch)
}

/// The plain loads of a loop.
fn loads(func: &Function, l: &Loop) -> Vec<Inst> {
    let insts = func.layout.iter().filter(|&&b| l.own.contains(b)).flat_map(|&b| func.block_insts(b));
    let plain = |&i: &Inst| {
        let special = Effects::VOLATILE | Effects::ATOMIC;
        matches!(func.insts[i].op, Op::Load(_)) && !func.insts[i].effects().intersects(special)
    };
    insts.filter(plain).collect()
}

/// Whether the first value is computed from one place as the second one is from the other.
fn agree(
    func: &Function,
    of_place: &EntitySet<Value>,
    (a, place): (Value, Value),
    (b, other): (Value, Value),
    depth: u32,
) -> bool {
    if a == place {
        return b == other;
    }
    if !of_place.contains(a) {
        return a == b;
    }
    let (Some(i), Some(j)) = (func.def_inst(a), func.def_inst(b)) else { return false };
    let (x, y) = (&func.insts[i], &func.insts[j]);
    let plain = matches!(x.op, Op::Gep(_) | Op::Cast(_) | Op::Binary(_));
    let mut args = x.args.iter().zip(&y.args);
    depth > 0
        && plain
        && x.op == y.op
        && func.ty(a) == func.ty(b)
        && args.all(|(&a, &b)| agree(func, of_place, (a, place), (b, other), depth - 1))
}
