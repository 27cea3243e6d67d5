//! The first iteration in front of a loop, for values that wrap around.
//!
//! ```c
//! int before = n - 1;
//! for (int i = 0; i < n; i++) { o[i] = a[i] + a[before]; before = i; }
//! ```
//!
//! From the second iteration on, `before` is `i - 1`: an address like any other. In lanes it would be a value of the
//! iteration before, and `a[before]` a gather. So the first iteration is copied to before the loop.

use warpline_dataflow::ssa;
use warpline_ir::{BinaryOp, Block, Edge, Function, Inst, InstFlags, Module, Op, Type, Value};

use super::carried::{Carried, Dependent, Kind};
use super::find::Loop;
use crate::copies::Twice;
use crate::dependences::Growth;

/// So many instructions are copied at most.
pub(super) const MAX_INSTS: usize = 200;

/// A φ that is, from the second iteration on, what an induction was in the iteration before.
pub(super) struct Wrapped {
    phi: Value,
    induction: Value,
    step: i128,
    flags: InstFlags,
}

/// The φs of a loop that addresses are computed from and that wrap around.
pub(super) fn wrapped(func: &Function, l: &Loop, carried: &[Carried]) -> Vec<Wrapped> {
    if size(func, l) > MAX_INSTS {
        return Vec::new();
    }
    let users = l.users(func);
    let of = |c: &Carried| {
        let is_address = |v: Value| {
            let dependent = Dependent::of(func, &users, v);
            dependent.insts.iter().any(|&i| matches!(func.insts[i].op, Op::Gep(_)))
        };
        let induction = carried.iter().find(|i| i.phi == c.next)?;
        let Kind::Induction { step: Growth::Constant(step), flags } = induction.kind else { return None };
        let fits = matches!(c.kind, Kind::Previous) && step != 0 && func.ty(c.phi) == func.ty(induction.phi);
        (fits && is_address(c.phi)).then_some(Wrapped { phi: c.phi, induction: induction.phi, step, flags })
    };
    carried.iter().filter_map(of).collect()
}

/// How many instructions a loop has.
pub(super) fn size(func: &Function, l: &Loop) -> usize {
    let blocks = func.layout.iter().filter(|&&b| l.blocks.contains(b));
    blocks.map(|&b| func.block_insts(b).count()).sum()
}

/// Copies the loop to before it, where control comes to instead: the copies, and the copy's own way back. Whoever
/// copies then leads on to the loop, and joins both.
fn copy_before(func: &mut Function, l: &Loop) -> (Twice, Edge) {
    let region: Vec<Block> = func.layout.iter().copied().filter(|&b| l.blocks.contains(b)).collect();
    let entering = func.out_edges(l.preheader)[0];
    let place = func.edges[l.back].from;
    let which = func.out_edges(place).iter().position(|&e| e == l.back);
    let twice = Twice::make(func, &region);
    let first = func.edges[entering].args.clone();
    func.redirect_edge(entering, twice.copy(l.header));
    func.edges[entering].args = first;
    let back = func.out_edges(twice.copy(place))[which.expect("the edge leaves the block")];
    (twice, back)
}

/// Copies the first iteration to before the loop, and computes these φs from the inductions.
pub(super) fn peel(module: &Module, func: &mut Function, l: &Loop, wrapped: &[Wrapped]) {
    let (twice, back) = copy_before(func, l);
    let next = func.edges[back].args.clone();
    func.redirect_edge(back, l.header);
    func.edges[back].args = next;
    twice.join(func);
    for Wrapped { phi, induction, step, flags } in wrapped {
        let new = before(module, func, l.header, *induction, *step, *flags);
        func.map_operands(|v| if v == *phi { new } else { v });
    }
    let gone = |func: &Function, i: Inst| wrapped.iter().any(|w| func.insts[i].results[0] == w.phi);
    let keep: Vec<bool> = func.blocks[l.header].phis.iter().map(|&p| !gone(func, p)).collect();
    let mut keep = keep.into_iter();
    func.retain_phis(l.header, |_| keep.next().unwrap_or(true));
}

/// Copies the loop to before it, which is left for it behind the first iteration that executes a block.
pub(super) fn peel_until(func: &mut Function, l: &Loop, block: Block) {
    let (twice, back) = copy_before(func, l);
    let executed = func.add_var(Type::BOOL, "");
    for (at, is) in [(l.preheader, false), (twice.copy(block), true)] {
        let is = func.bool_const(is);
        func.append(at, Op::WriteVar(executed), &[is], Type::Void);
    }
    let next = func.edges[back].args.clone();
    let behind = func.split_edge(back, "");
    let is = func.append_value(behind, Op::ReadVar(executed), &[], Type::BOOL);
    func.set_terminator(behind, Op::CondBr, &[is], &[l.header, twice.copy(l.header)]);
    for to in func.out_edges(behind).to_vec() {
        func.edges[to].args = next.clone();
    }
    twice.join(func);
    ssa::construct_vars(func, &[executed]);
}

/// What an induction was in the iteration before.
fn before(
    module: &Module,
    func: &mut Function,
    header: Block,
    induction: Value,
    step: i128,
    flags: InstFlags,
) -> Value {
    let ty = func.ty(induction);
    let (op, args) = match ty {
        Type::Ptr(space) => {
            let back = func.int_const(module.layout.index_bits(space), -step as u128);
            (Op::Gep(Type::Int(8)), [induction, back])
        }
        _ => {
            let step = func.int_const(ty.int_bits().unwrap_or(64), step as u128);
            (Op::Binary(BinaryOp::Sub), [induction, step])
        }
    };
    let made = func.make_inst(header, op, &args, &[ty]);
    // What did not wrap forwards does not backwards.
    if step > 0 && !ty.is_ptr() {
        func.insts[made].flags = flags & (InstFlags::NSW | InstFlags::NUW);
    }
    func.blocks[header].insts.insert(0, made);
    func.insts[made].results[0]
}
