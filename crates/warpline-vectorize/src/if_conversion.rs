//! Branches whose arms access the same memory become straight code.
//!
//! Where lanes part at a branch, both arms are executed one after the other. If both load from one address, that is a
//! gather twice, and if both store to one address, a scatter twice, each under a mask of its own: a traversal pushes
//! one child or the other. So an *if* with two arms that come together at once is folded before anything else, if
//! * each load of one arm has one at the same address in the other: whatever the condition, it is made;
//! * the stores of the arms go to the same addresses in the same order: what is stored is selected;
//! * what else the arms do is pure, and little of it is not done in both.
//!
//! The loads come first, so stores before them in their arms must touch other memory.

use crate::VectorizeError;
use crate::pass::{Context, Unit};
use std::collections::BTreeMap;

use cranelift_entity::EntitySet;

use warpline_dataflow::linear::Address;
use warpline_ir::{BinaryOp, Block, Edge, Function, Inst, MemAccess, Module, Op, Type, Value};

use super::known_calls::has_cheap_vector_form;
use super::objects::lifetime_marker;

/// How many instructions an arm may have.
const MAX_ARM: usize = 24;
/// How many instructions of an arm may be executed though the other arm is wanted.
const MAX_EXTRA: usize = 4;

/// Whether a function has such branches.
fn has_arms_to_fold(module: &Module, func: &Function) -> bool {
    let folds = |&b: &Block| Arms::of(func, b).is_some_and(|arms| arms.compare(module, func).is_some());
    func.layout.iter().any(folds)
}

/// The pass.
pub(crate) fn run(unit: &mut Unit, cx: &Context<'_>) -> Result<bool, VectorizeError> {
    if cx.options.width == 1 || !has_arms_to_fold(cx.module, &unit.func) {
        return Ok(false);
    }
    let uniformity = cx.uniformity(unit);
    Ok(fold_arms(cx.module, &mut unit.func, |v| uniformity.is_divergent(v)))
}

/// Folds those of them that lanes part at. Whether there were any.
fn fold_arms(module: &Module, func: &mut Function, is_divergent: impl Fn(Value) -> bool) -> bool {
    let mut changed = false;
    for b in func.layout.clone() {
        let Some(arms) = Arms::of(func, b).filter(|arms| is_divergent(arms.condition)) else { continue };
        if let Some(same) = arms.compare(module, func) {
            arms.fold(func, &same);
            changed = true;
        }
    }
    changed
}

/// A block with two successors that lead to one block and nowhere else.
struct Arms {
    above: Block,
    condition: Value,
    /// Where the condition holds, and where not.
    arms: [Block; 2],
    /// The edges on which the arms are left.
    out: [Edge; 2],
}

/// What the arms have in common.
#[derive(Default)]
struct Same {
    /// Instructions of the second arm with the same of the first.
    insts: BTreeMap<Inst, Inst>,
    /// The same for their results.
    values: BTreeMap<Value, Value>,
    /// Stores of the first arm and of the second to the same addresses.
    stores: Vec<[Inst; 2]>,
}

impl Same {
    /// The value of the first arm that is the same, or the value itself.
    fn of(&self, v: Value) -> Value {
        self.values.get(&v).copied().unwrap_or(v)
    }
}

impl Arms {
    fn of(func: &Function, above: Block) -> Option<Arms> {
        // Arms that have been folded have none.
        let t = &func.insts[func.blocks[above].term.expand()?];
        let [first, second] = t.edges[..] else { return None };
        let arms = [func.edges[first].to, func.edges[second].to];
        let out = |b: Block| {
            let block = &func.blocks[b];
            let alone = block.preds.len() == 1 && block.phis.is_empty() && block.insts.len() <= MAX_ARM;
            let plain = alone && func.first_sigma(b) == block.insts.len();
            match func.out_edges(b) {
                [e] if plain && func.insts[func.terminator(b)].op == Op::Br => Some(*e),
                _ => None,
            }
        };
        let (a, b) = (out(arms[0])?, out(arms[1])?);
        let join = func.edges[a].to;
        let plain = t.op == Op::CondBr && func.first_sigma(above) == func.blocks[above].insts.len();
        let together = plain && arms[0] != arms[1] && join == func.edges[b].to && join != above;
        together.then(|| Arms { above, condition: t.args[0], arms, out: [a, b] })
    }

    /// What the arms have in common; `None` if they are to stay.
    fn compare(&self, module: &Module, func: &Function) -> Option<Same> {
        let [ours, theirs] = self.arms.map(|b| &func.blocks[b].insts);
        let mut same = Same::default();
        let mut taken: EntitySet<Inst> = EntitySet::new();
        let stores = |insts: &[Inst]| -> Vec<Inst> {
            insts.iter().copied().filter(|&i| matches!(func.insts[i].op, Op::Store(_))).collect()
        };
        for &i in theirs {
            let twin =
                ours.iter().copied().find(|&o| !taken.contains(o) && is_same(module, func, o, i, &same));
            if let Some(twin) = twin {
                taken.insert(twin);
                same.insts.insert(i, twin);
                same.values.insert(func.insts[i].results[0], func.insts[twin].results[0]);
            }
        }
        let (first, second) = (stores(ours), stores(theirs));
        same.stores = first.iter().zip(&second).map(|(&a, &b)| [a, b]).collect();
        let stored = first.len() == second.len()
            && same.stores.iter().all(|&[a, b]| {
                let (x, y) = (&func.insts[a], &func.insts[b]);
                let ty = func.ty(x.args[0]);
                ty == func.ty(y.args[0]) && ty.scalar().is_some() && x.args[1] == same.of(y.args[1])
            });
        let loads = same.insts.keys().filter(|&&i| matches!(func.insts[i].op, Op::Load(_))).count();
        let fits = stored
            && first.len() + loads > 0
            && self.can_be_folded(module, func, ours, |i| taken.contains(i))
            && self.can_be_folded(module, func, theirs, |i| same.insts.contains_key(&i));
        fits.then_some(same)
    }

    /// Whether an arm of which some instructions are in the other one, too, can be executed whatever the condition
    /// is, but for what it stores.
    fn can_be_folded(
        &self,
        module: &Module,
        func: &Function,
        arm: &[Inst],
        both: impl Fn(Inst) -> bool,
    ) -> bool {
        let mut stores: Vec<Inst> = Vec::new();
        let mut extra = 0;
        for &i in arm {
            let data = &func.insts[i];
            match &data.op {
                Op::Store(access) if access.is_simple() => stores.push(i),
                Op::Load(access) if access.is_simple() => {
                    if !both(i) || !stores.iter().all(|&s| are_apart(module, func, i, s)) {
                        return false;
                    }
                }
                _ if both(i) => {}
                Op::Binary(BinaryOp::FDiv | BinaryOp::FRem) => return false,
                _ if !is_pure(module, func, i) => return false,
                _ => extra += 1,
            }
        }
        extra <= MAX_EXTRA
    }

    fn fold(&self, func: &mut Function, same: &Same) {
        let [first, second] = self.arms;
        let insts = [first, second].map(|b| std::mem::take(&mut func.blocks[b].insts));
        let args = self.out.map(|e| func.edges[e].args.clone());
        for (&theirs, &ours) in &same.insts {
            let (flags, op) = (func.insts[theirs].flags, func.insts[theirs].op.clone());
            let data = &mut func.insts[ours];
            data.flags &= flags;
            data.origin = None.into();
            if let (Op::Load(a), Op::Load(b)) = (&mut data.op, op) {
                a.align = a.align.min(b.align);
            }
        }
        for &i in insts.iter().flatten() {
            if !same.insts.contains_key(&i) && !matches!(func.insts[i].op, Op::Store(_)) {
                if matches!(func.insts[i].op, Op::Call(_)) {
                    // What is promised of a call's operands holds in its arm.
                    func.insts[i].origin = None.into();
                }
                self.put_above(func, i);
            }
        }
        // What the second arm used of its own is now the first's.
        func.map_operands(|v| same.of(v));
        for &[ours, theirs] in &same.stores {
            let [x, y] = [ours, theirs].map(|i| same.of(func.insts[i].args[0]));
            let stored = self.select(func, x, y);
            let theirs = func.insts[theirs].op.clone();
            let data = &mut func.insts[ours];
            data.args[0] = stored;
            data.origin = None.into();
            if let (Op::Store(a), Op::Store(b)) = (&mut data.op, theirs) {
                let is_nontemporal = a.is_nontemporal && b.is_nontemporal;
                *a = MemAccess { align: a.align.min(b.align), is_nontemporal, ..*a };
            }
            self.put_above(func, ours);
        }
        let joined: Vec<Value> =
            args[0].iter().zip(&args[1]).map(|(&x, &y)| self.select(func, same.of(x), same.of(y))).collect();
        let join = func.edges[self.out[0]].to;
        let loc = func.insts[func.terminator(self.above)].loc;
        let t = func.set_terminator(self.above, Op::Br, &[], &[join]);
        func.insts[t].loc = loc;
        let e = func.insts[t].edges[0];
        func.edges[e].args = joined.into();
        func.remove_block(first);
        func.remove_block(second);
    }

    fn put_above(&self, func: &mut Function, i: Inst) {
        func.insts[i].block = self.above;
        func.blocks[self.above].insts.push(i);
    }

    /// What the arm has that is wanted.
    fn select(&self, func: &mut Function, x: Value, y: Value) -> Value {
        if x == y {
            return x;
        }
        let ty = func.ty(x);
        let i = func.append(self.above, Op::Select, &[self.condition, x, y], ty);
        func.insts[i].results[0]
    }
}

/// Whether an instruction of the second arm does what one of the first does. Stores are none.
fn is_same(module: &Module, func: &Function, ours: Inst, theirs: Inst, same: &Same) -> bool {
    let (a, b) = (&func.insts[ours], &func.insts[theirs]);
    let op = match (&a.op, &b.op) {
        (Op::Load(x), Op::Load(y)) => x.is_simple() && y.is_simple(),
        (x, y) => x == y && is_pure(module, func, ours),
    };
    let (Some(x), Some(y)) = (a.result(), b.result()) else { return false };
    op && func.ty(x) == func.ty(y)
        && a.args.len() == b.args.len()
        && a.args.iter().zip(&b.args).all(|(&x, &y)| x == same.of(y))
}

/// Whether an instruction does nothing but compute, and is described by its operation and operands alone.
pub(super) fn is_pure(module: &Module, func: &Function, i: Inst) -> bool {
    let data = &func.insts[i];
    let ty = data.result().map_or(Type::Void, |v| func.ty(v));
    let plain = match &data.op {
        Op::Binary(_)
        | Op::FNeg
        | Op::Select
        | Op::Freeze
        | Op::ICmp(_)
        | Op::FCmp(_)
        | Op::Cast(_)
        | Op::Gep(_) => true,
        // What has a vector form has no effects but its result.
        Op::Call(call) => call.callee.is_some_and(|s| {
            let name = &module.symbols[s].name;
            name.starts_with("llvm.") && has_cheap_vector_form(name, ty) == Some(true)
        }),
        _ => false,
    };
    plain && data.effects().is_empty() && data.results.len() == 1
}

/// Whether an instruction does nothing but compute, by no call, and may be executed where the program does not come to
/// it.
pub(super) fn may_move_up(module: &Module, func: &Function, i: Inst) -> bool {
    match &func.insts[i].op {
        Op::Binary(op) if op.is_int_division() => false,
        Op::Call(_) => false,
        _ => is_pure(module, func, i),
    }
}

/// Whether a load and a store touch different bytes.
fn are_apart(module: &Module, func: &Function, load: Inst, store: Inst) -> bool {
    let of = |i: Inst| {
        let accessed = func.accessed(i)?;
        let size = module.layout.store_size(&module.types, accessed.ty)?;
        Some((Address::of(module, func, accessed.address)?, i128::from(size)))
    };
    let (Some((a, read)), Some((b, written))) = (of(load), of(store)) else { return false };
    match a.distance(&b).map(i128::from) {
        Some(distance) => distance >= read || -distance >= written,
        None => {
            let apart = |own: Value, other: Value| {
                own != other && is_own(module, func, own) && is_source(func, other)
            };
            apart(a.root, b.root) || apart(b.root, a.root)
        }
    }
}

/// Whether a pointer is no sum or choice of others.
fn is_source(func: &Function, root: Value) -> bool {
    func.def_inst(root).is_none_or(|i| matches!(func.insts[i].op, Op::Alloca { .. } | Op::Load(_)))
}

/// Whether a pointer is the address of an object on the stack that is found nowhere but by sums with it.
fn is_own(module: &Module, func: &Function, root: Value) -> bool {
    let is_alloca = func.is_alloca(root);
    let mut addresses: EntitySet<Value> = EntitySet::new();
    addresses.insert(root);
    // Uses may stand before definitions in the layout.
    loop {
        let before = addresses.clone();
        for &b in &func.layout {
            let passed_on = |e: &Edge| func.edges[*e].args.iter().any(|&v| addresses.contains(v));
            if !is_alloca || func.out_edges(b).iter().any(passed_on) {
                return false;
            }
            for i in func.block_insts(b) {
                let data = &func.insts[i];
                let uses = |v: &Value| addresses.contains(*v);
                let stays = match data.op {
                    _ if !data.args.iter().any(uses) => continue,
                    Op::Gep(_) if uses(&data.args[0]) && func.ty(data.results[0]) == Type::PTR => {
                        addresses.insert(data.results[0]);
                        continue;
                    }
                    Op::Load(_) => true,
                    Op::Store(_) => !uses(&data.args[0]),
                    _ => lifetime_marker(module, func, i).is_some(),
                };
                if !stays {
                    return false;
                }
            }
        }
        if before == addresses {
            return true;
        }
    }
}
