//! Which values are worth narrowing.
//!
//! A root is worth it if what need not be computed any more costs more than the new instructions. Roots that share
//! instructions are looked at together: what two of them use goes only if both are narrowed.

use std::collections::{BTreeMap, BTreeSet};

use warpline_ir::{BinaryOp, CastOp, Function, Inst, Op, Type, Users, Value};

use warpline_uniformity::shape::Shape;

use super::compare::Compared;
use super::plan::{Arg, Node, Planner, Step, instruction_cost, is_computation, own_cost};

/// The widths to which values are narrowed.
const WIDTHS: [u32; 3] = [8, 16, 32];

/// A value that is computed otherwise.
#[derive(Clone, Debug)]
pub(super) struct Root {
    /// The instruction whose result it is.
    pub(super) inst: Inst,
    pub(super) kind: Kind,
}

/// What becomes of a root.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// The low bits of a value.
    Low(Node),
    /// A comparison in so many bits.
    Compare(Compared, u32),
    /// The extension of the low bits of what it was.
    Extend(CastOp, u32),
}

/// What has been chosen, and how it is computed.
pub(super) struct Chosen {
    pub(super) roots: Vec<Root>,
    pub(super) steps: BTreeMap<Node, Step>,
    /// What nobody uses any more then.
    pub(super) dead: BTreeSet<Inst>,
}

/// Chooses roots.
pub(super) fn choose<F: Fn(Value) -> Shape>(mut planner: Planner<'_, F>) -> Chosen {
    let func = planner.func;
    let mut chooser = Chooser { users: Users::of(func), state: State::default() };
    let mut wanted: Vec<(Root, Needs)> = Vec::new();
    let insts: Vec<Inst> = func.layout.iter().flat_map(|&b| func.blocks[b].insts.iter().copied()).collect();
    for &i in &insts {
        if let Some(root) = truncation(&mut planner, i)
            .or_else(|| comparison(&mut planner, i))
            .or_else(|| own_distance(&mut planner, i))
        {
            let needs = Needs::of(&planner, &root);
            wanted.push((root, needs));
        }
    }
    for group in groups(func, wanted) {
        if !chooser.take_if_better(&planner, &group) {
            group.iter().for_each(|one| _ = chooser.take_if_better(&planner, std::slice::from_ref(one)));
        }
    }
    for &i in insts.iter().rev() {
        if chooser.state.dead.contains(&i)
            || func.insts[i].result().is_none_or(|v| chooser.is_index(func, v, MAX_STEPS))
        {
            continue;
        }
        if let Some(root) = extension(&mut planner, i) {
            let needs = Needs::of(&planner, &root);
            chooser.take_if_better(&planner, &[(root, needs)]);
        }
    }
    let State { roots, nodes, dead, .. } = chooser.state;
    let step = |node: Node| planner.step(node).cloned().map(|step| (node, step));
    Chosen { roots, steps: nodes.into_iter().filter_map(step).collect(), dead }
}

/// A truncation of what varies.
fn truncation<F: Fn(Value) -> Shape>(planner: &mut Planner<'_, F>, inst: Inst) -> Option<Root> {
    let data = &planner.func.insts[inst];
    let (&Op::Cast(CastOp::Trunc), &[x]) = (&data.op, &data.args[..]) else { return None };
    let bits = planner.func.ty(data.result()?).int_bits().filter(|bits| WIDTHS.contains(bits))?;
    (planner.func.ty(x).int_bits()? <= 64 && planner.varies(x)).then_some(())?;
    planner.plan(x, bits);
    let is_better = !matches!(planner.step((x, bits))?, Step::Convert(CastOp::Trunc, _));
    is_better.then_some(Root { inst, kind: Kind::Low((x, bits)) })
}

/// A distance of numbers of its own width, which is chosen by their order.
fn own_distance<F: Fn(Value) -> Shape>(planner: &mut Planner<'_, F>, inst: Inst) -> Option<Root> {
    let data = &planner.func.insts[inst];
    let v = data.result().filter(|_| data.op == Op::Select)?;
    let bits = planner.func.ty(v).int_bits().filter(|bits| matches!(bits, 8 | 16))?;
    planner.varies(v).then_some(())?;
    planner.plan(v, bits);
    let is_better = matches!(planner.step((v, bits))?, Step::Compute { .. });
    is_better.then_some(Root { inst, kind: Kind::Low((v, bits)) })
}

/// A comparison of what varies.
fn comparison<F: Fn(Value) -> Shape>(planner: &mut Planner<'_, F>, inst: Inst) -> Option<Root> {
    let func = planner.func;
    let data = &func.insts[inst];
    let (&Op::ICmp(_), &[x, y]) = (&data.op, &data.args[..]) else { return None };
    let own = func.ty(x).int_bits().filter(|&own| own <= 64)?;
    (planner.varies(x) || planner.varies(y)).then_some(())?;
    let is_uniform = |v: Value| planner.is_uniform(v);
    let found = WIDTHS
        .into_iter()
        .filter(|&bits| bits < own)
        .find_map(|bits| Some((Compared::of(planner.bounds, func, inst, bits, is_uniform)?, bits)));
    let (compared, bits) = found?;
    for (k, v) in compared.args.into_iter().enumerate() {
        if compared.clamped != Some(k) {
            planner.plan(v, bits);
        }
    }
    Some(Root { inst, kind: Kind::Compare(compared, bits) })
}

/// A value that varies and fits fewer bits than it has.
fn extension<F: Fn(Value) -> Shape>(planner: &mut Planner<'_, F>, inst: Inst) -> Option<Root> {
    let func = planner.func;
    let data = &func.insts[inst];
    let v = data.result()?;
    let own = match func.ty(v) {
        Type::Int(own @ 9..=64) => own,
        _ => return None,
    };
    let is_conversion = matches!(data.op, Op::Cast(_) | Op::Freeze);
    (!is_conversion && planner.varies(v) && is_computation(planner.module, func, inst)).then_some(())?;
    let bounds = planner.bounds;
    let fitting = WIDTHS.into_iter().filter(|&bits| bits < own).find_map(|bits| {
        let op = if bounds.fits_unsigned(v, bits) {
            CastOp::ZExt
        } else {
            bounds.fits_signed(v, bits).then_some(CastOp::SExt)?
        };
        Some((op, bits))
    });
    let (op, bits) = fitting?;
    planner.plan(v, bits);
    let is_better = !matches!(planner.step((v, bits))?, Step::Convert(CastOp::Trunc, _));
    is_better.then_some(Root { inst, kind: Kind::Extend(op, bits) })
}

/// What a root needs.
struct Needs {
    /// The nodes that are computed.
    nodes: Vec<Node>,
    /// Values that are used as they are, and how often.
    values: Vec<Value>,
    /// The instructions that may be needed no more.
    old: Vec<Inst>,
    /// What the new instruction in the root's place costs.
    cost: f64,
}

impl Needs {
    fn of<F: Fn(Value) -> Shape>(planner: &Planner<'_, F>, root: &Root) -> Needs {
        let func = planner.func;
        let (roots, values, cost): (Vec<Node>, Vec<Value>, f64) = match root.kind {
            Kind::Low(node) => (vec![node], vec![], 0.0),
            Kind::Extend(_, bits) => {
                let v = func.insts[root.inst].results[0];
                (vec![(v, bits)], vec![], f64::from(func.ty(v).int_bits().unwrap_or(64)))
            }
            Kind::Compare(compared, bits) => {
                let args = compared.args;
                let low = |k: usize| compared.clamped != Some(k);
                let nodes = (0..2).filter(|&k| low(k)).map(|k| (args[k], bits)).collect();
                (nodes, compared.clamped.map(|k| args[k]).into_iter().collect(), f64::from(bits))
            }
        };
        let mut needs = Needs { nodes: Vec::new(), values, old: vec![root.inst], cost };
        let mut seen = BTreeSet::new();
        let mut work = roots;
        while let Some(node) = work.pop() {
            if !seen.insert(node) {
                continue;
            }
            needs.nodes.push(node);
            needs.old.extend(func.def_inst(node.0));
            match planner.step(node) {
                Some(&Step::Low(v)) => work.push((v, node.1)),
                Some(Step::Compute { args, at, .. }) => {
                    work.extend(args.iter().filter_map(|&arg| match arg {
                        Arg::Low(v) => Some((v, *at)),
                        Arg::Whole(_) => None,
                    }));
                }
                _ => {}
            }
        }
        // What lies between: operands of idioms are not operands of what they stand for.
        let mut known: BTreeSet<Inst> = needs.old.iter().copied().collect();
        let mut at = 0;
        while let Some(&inst) = needs.old.get(at) {
            at += 1;
            for &a in &func.insts[inst].args {
                let made = func.def_inst(a).filter(|&i| is_computation(planner.module, func, i));
                if let Some(made) = made.filter(|&made| needs.old.len() < MAX_OLD && known.insert(made)) {
                    needs.old.push(made);
                }
            }
        }
        needs
    }
}

/// Of how many instructions it is looked at whether they are still needed.
const MAX_OLD: usize = 256;

/// Roots that have to do with the same instructions.
fn groups(func: &Function, wanted: Vec<(Root, Needs)>) -> Vec<Vec<(Root, Needs)>> {
    let mut group_of: Vec<usize> = (0..wanted.len()).collect();
    fn first(group_of: &[usize], mut k: usize) -> usize {
        while group_of[k] != k {
            k = group_of[k];
        }
        k
    }
    let mut by_inst: BTreeMap<Inst, usize> = BTreeMap::new();
    for (k, (_, needs)) in wanted.iter().enumerate() {
        for &inst in &needs.old {
            // Loads and the like stay anyway.
            if matches!(func.insts[inst].op, Op::Load(_) | Op::Phi) {
                continue;
            }
            let other = *by_inst.entry(inst).or_insert(k);
            let (a, b) = (first(&group_of, k), first(&group_of, other));
            group_of[a.max(b)] = a.min(b);
        }
    }
    let mut groups: BTreeMap<usize, Vec<(Root, Needs)>> = BTreeMap::new();
    for (k, one) in wanted.into_iter().enumerate() {
        groups.entry(first(&group_of, k)).or_default().push(one);
    }
    groups.into_values().collect()
}

/// What has been chosen so far.
#[derive(Clone, Default)]
struct State {
    roots: Vec<Root>,
    nodes: BTreeSet<Node>,
    dead: BTreeSet<Inst>,
    /// How many more users values have, and how many of those that they had are dead.
    uses: BTreeMap<Value, i64>,
}

struct Chooser {
    users: Users,
    state: State,
}

/// How many steps a value may be away from the address that it is an index of.
const MAX_STEPS: u32 = 4;

impl Chooser {
    /// Whether a value is added to an address in few steps: what is known of it as a sum is worth more than its width.
    fn is_index(&self, func: &Function, v: Value, steps: u32) -> bool {
        self.users.get(v).iter().any(|&user| {
            let data = &func.insts[user];
            match data.op {
                Op::Gep(_) => true,
                Op::Cast(CastOp::ZExt | CastOp::SExt)
                | Op::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl) => {
                    steps > 0 && data.result().is_some_and(|r| self.is_index(func, r, steps - 1))
                }
                _ => false,
            }
        })
    }

    /// Takes roots if what they need costs less than what is needed no more. Whether it does.
    fn take_if_better<F: Fn(Value) -> Shape>(
        &mut self,
        planner: &Planner<'_, F>,
        group: &[(Root, Needs)],
    ) -> bool {
        let func = planner.func;
        if group.iter().any(|(root, _)| self.state.dead.contains(&root.inst)) {
            return false;
        }
        let mut new_nodes = BTreeSet::new();
        let mut changes: BTreeMap<Value, i64> = BTreeMap::new();
        let mut cost = 0.0;
        for (_, needs) in group {
            cost += needs.cost;
            for &v in &needs.values {
                *changes.entry(v).or_default() += 1;
            }
            for &node in needs.nodes.iter().filter(|node| !self.state.nodes.contains(node)) {
                if let Some(step) = planner.step(node).filter(|_| new_nodes.insert(node)) {
                    if matches!(*step, Step::Convert(CastOp::Trunc, v) if !has_room_behind(func, v)) {
                        return false;
                    }
                    let varies = planner.varies(node.0);
                    cost += if varies { own_cost(func, step, node.1) } else { 0.0 };
                    used_whole(step, |v| *changes.entry(v).or_default() += 1);
                }
            }
        }
        let mut work: Vec<Inst> = group.iter().map(|(root, _)| root.inst).collect();
        let mut dead: BTreeSet<Inst> = work.iter().copied().collect();
        let may_go: BTreeSet<Inst> = group.iter().flat_map(|(_, needs)| needs.old.iter().copied()).collect();
        let mut saved = 0.0;
        while let Some(inst) = work.pop() {
            let varies = func.insts[inst].args.iter().any(|&a| planner.varies(a));
            saved += if varies { instruction_cost(func, inst) } else { 0.0 };
            for &a in &func.insts[inst].args {
                let change = changes.entry(a).or_default();
                *change -= 1;
                let left = self.users.get(a).len() as i64 + *change + self.state.uses.get(&a).unwrap_or(&0);
                let goes = |i: Inst| {
                    may_go.contains(&i)
                        && !self.state.dead.contains(&i)
                        && is_computation(planner.module, func, i)
                };
                if let Some(made) = func.def_inst(a).filter(|&i| left == 0 && goes(i))
                    && dead.insert(made)
                {
                    work.push(made);
                }
            }
        }
        if cost >= saved {
            return false;
        }
        self.state.roots.extend(group.iter().map(|(root, _)| root.clone()));
        self.state.nodes.extend(new_nodes);
        self.state.dead.extend(dead);
        for (v, change) in changes {
            *self.state.uses.entry(v).or_default() += change;
        }
        true
    }
}

/// Whether instructions can be put behind the definition of a value.
fn has_room_behind(func: &Function, v: Value) -> bool {
    func.def_inst(v).is_none_or(|i| !func.insts[i].op.is_terminator() && func.insts[i].op != Op::Sigma)
}

/// Calls `f` for each value that a step uses as it is.
fn used_whole(step: &Step, mut f: impl FnMut(Value)) {
    match *step {
        Step::Same(v) | Step::Convert(_, v) => f(v),
        Step::Compute { ref args, .. } => {
            for arg in args {
                if let Arg::Whole(v) = *arg {
                    f(v);
                }
            }
        }
        Step::Constant(_) | Step::Low(_) => {}
    }
}
