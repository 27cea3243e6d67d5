//! Groups whose members are all computed alike: `p[3 * i + k] = f(p[3 * i + k])` for each k, with the same `f`.
//!
//! What is done to the elements of memory is the same for all of them then, so that their order does not matter: they
//! are loaded, computed and stored as they lie in memory, as if the loop ran over all elements. The first member's
//! vector has the first W elements of all lanes' together, the second's the next W, and so on, and no shuffle brings
//! elements to lanes and back.
//!
//! That is so if the stored values, taken together, are results of the same operation, and their operands, taken
//! together, are the same uniform value, or such results again, or what a group of loads has loaded at the same
//! places. Nothing else may use these values. Under a mask, each element has the mask of the lane whose it is; nothing
//! may trap then, since a lane's elements are computed in others' places.
//!
//! Operands that are uniform but differ between members, as weights of colours do, are a [`Pattern`]: each element has
//! that of the member whose it is.

use std::collections::BTreeMap;
use std::rc::Rc;

use cranelift_entity::SecondaryMap;
use warpline_ir::{BinaryOp, Block, Function, Inst, Module, Op, Type, Users, Value};
use warpline_target::Machine;

use super::groups::{Group, GroupId, Groups};
use super::reps::Rep;

/// So many operations are looked at for each member.
const MAX_OPERATIONS: usize = 256;

/// The operations of vectors by element that may have a [`Pattern`] among their operands.
const WITH_PATTERNS: [&str; 10] = [
    "llvm.umin.",
    "llvm.umax.",
    "llvm.smin.",
    "llvm.smax.",
    "llvm.uadd.sat.",
    "llvm.usub.sat.",
    "llvm.sadd.sat.",
    "llvm.ssub.sat.",
    "llvm.fma.",
    "llvm.fmuladd.",
];

/// An operand that is uniform in each member, but another one in each.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// The members' operands in the order of memory.
    pub values: Rc<[Value]>,
    /// Which member the instruction is of.
    pub member: usize,
}

impl Pattern {
    /// Whose operand an element of the member's vector of so many has, where the order is that of memory.
    pub(crate) fn value(&self, element: u32, width: u32) -> usize {
        (self.member * width as usize + element as usize) % self.values.len()
    }
}

/// The patterns by instruction and number of the operand.
pub(super) type Patterns = BTreeMap<(Inst, usize), Pattern>;

/// Operands of the same instruction of each member.
struct Together {
    values: Vec<Value>,
    /// The instructions, in the order of members, and which operand it is.
    users: Vec<Inst>,
    operand: usize,
}

impl Groups {
    /// Finds the groups whose members are computed alike.
    pub(super) fn find_alike(
        &mut self,
        module: &Module,
        func: &Function,
        reps: &SecondaryMap<Value, Rep>,
        machine: &Machine,
    ) {
        let is_whole = |group: &Group| {
            let served = !group.is_masked(func) || machine.masks.serve(8 * group.size);
            group.stores && group.factor() > 1 && has_each_once(group) && served
        };
        let stores: Vec<GroupId> = self.ids().filter(|&id| is_whole(self.get(id))).collect();
        if stores.is_empty() {
            return;
        }
        let users = Users::of(func);
        for id in stores {
            let (places, loads, patterns) = (BTreeMap::new(), Vec::new(), Patterns::new());
            let mut search =
                Search { module, func, reps, users: &users, groups: self, places, loads, patterns };
            if search.stores(id).is_some() {
                let Search { loads, patterns, .. } = search;
                self.add_patterns(patterns);
                for id in loads.into_iter().chain([id]) {
                    self.set_alike(id);
                }
            }
        }
    }
}

/// Whether each element of the range is one member's, once.
fn has_each_once(group: &Group) -> bool {
    group.is_complete() && group.members.len() as u64 == group.factor().unsigned_abs()
}

struct Search<'a> {
    module: &'a Module,
    func: &'a Function,
    reps: &'a SecondaryMap<Value, Rep>,
    users: &'a Users,
    groups: &'a Groups,
    /// Which member's each of the values is that have been seen.
    places: BTreeMap<Value, usize>,
    /// The groups of loads that have been met.
    loads: Vec<GroupId>,
    /// The operands that differ between members.
    patterns: Patterns,
}

impl Search<'_> {
    /// Looks at all that is computed for a group of stores; none if that is not alike.
    fn stores(&mut self, id: GroupId) -> Option<()> {
        let group = self.groups.get(id);
        let stores = in_memory_order(group);
        let block = self.func.insts[stores[0]].block;
        let stored = stores.iter().map(|&i| self.func.insts[i].args[0]).collect();
        let mut left = vec![Together { values: stored, users: stores.clone(), operand: 0 }];
        let mut seen = 0;
        while let Some(together) = left.pop() {
            seen += 1;
            if seen > MAX_OPERATIONS {
                return None;
            }
            self.values(&together, block, &mut left)?;
        }
        // Nothing else uses what is in another order than that of lanes.
        let is_part = |&user: &Inst| match self.func.insts[user].result() {
            Some(v) => self.places.contains_key(&v),
            None => stores.contains(&user),
        };
        let all = self.places.keys().all(|&v| self.users.get(v).iter().all(is_part));
        (all && !self.loads.is_empty()).then_some(())
    }

    /// Looks at what makes some values, one for each member, and leaves its operands to be looked at.
    fn values(&mut self, together: &Together, block: Block, left: &mut Vec<Together>) -> Option<()> {
        let (func, values) = (self.func, &together.values);
        if values.iter().all(|&v| v == values[0]) {
            return (self.reps[values[0]] == Rep::Uniform).then_some(());
        }
        if values.iter().all(|&v| self.reps[v] == Rep::Uniform) {
            return self.pattern(together);
        }
        let known = values.iter().filter(|v| self.places.contains_key(v)).count();
        if known > 0 {
            // They have been seen, each for the same member.
            let same = values.iter().enumerate().all(|(k, v)| self.places.get(v) == Some(&k));
            return same.then_some(());
        }
        for (k, &v) in values.iter().enumerate() {
            let varies = self.reps[v] == Rep::Varying;
            if !varies || self.places.insert(v, k).is_some() {
                return None;
            }
        }
        let made: Vec<Inst> = values.iter().map(|&v| func.def_inst(v)).collect::<Option<_>>()?;
        let first = &func.insts[made[0]];
        let alike = made.iter().all(|&i| {
            let data = &func.insts[i];
            let types = data.args.iter().map(|&v| func.ty(v));
            data.block == block
                && data.op == first.op
                && data.flags == first.flags
                && data.results.len() == 1
                && types.eq(first.args.iter().map(|&v| func.ty(v)))
        });
        if !alike || values.iter().any(|&v| func.ty(v) != func.ty(values[0])) {
            return None;
        }
        if matches!(first.op, Op::Load(_)) && self.groups.of(made[0]).is_some() {
            return self.loaded(&made);
        }
        if !self.is_by_element(made[0]) {
            return None;
        }
        left.extend((0..first.args.len()).map(|operand| {
            let values = made.iter().map(|&i| func.insts[i].args[operand]).collect();
            Together { values, users: made.clone(), operand }
        }));
        Some(())
    }

    /// Notes uniform operands that differ between members, if their instruction takes such.
    fn pattern(&mut self, together: &Together) -> Option<()> {
        let Together { values, users, operand } = together;
        let func = self.func;
        let ty = func.ty(values[0]);
        let has_elements = matches!(ty, Type::Int(1..=64) | Type::Float(_));
        let is_alike = values.iter().all(|&v| func.ty(v) == ty);
        let data = &func.insts[users[0]];
        let taken = match &data.op {
            // By constants that are no vectors of one number, LLVM multiplies as well.
            Op::Binary(op) if op.is_int_division() => {
                *operand == 1 && values.iter().all(|&v| func.constant(v).is_some())
            }
            Op::Binary(op) => *op != BinaryOp::FRem,
            Op::ICmp(_) | Op::FCmp(_) | Op::Select => true,
            Op::Call(info) => {
                let name = info.callee.map_or("", |s| &self.module.symbols[s].name);
                WITH_PATTERNS.iter().any(|prefix| name.starts_with(prefix))
            }
            _ => false,
        };
        // The first member's instruction needs the last one's operand.
        let is_there = |&v: &Value| func.def_inst(v).is_none_or(|i| func.insts[i].block != data.block);
        if !(has_elements && is_alike && taken && values.iter().all(is_there)) {
            return None;
        }
        let values: Rc<[Value]> = values.as_slice().into();
        for (member, &i) in users.iter().enumerate() {
            self.patterns.insert((i, *operand), Pattern { values: values.clone(), member });
        }
        Some(())
    }

    /// Whether loads are those of a group, each at the place of its member.
    fn loaded(&mut self, made: &[Inst]) -> Option<()> {
        let (id, _) = self.groups.of(made[0])?;
        let group = self.groups.get(id);
        let fits = !group.stores
            && group.factor() == made.len() as i64
            && has_each_once(group)
            && in_memory_order(group) == made;
        if fits {
            self.loads.push(id);
        }
        fits.then_some(())
    }

    /// Whether each lane's result depends on that lane's operands alone.
    fn is_by_element(&self, i: Inst) -> bool {
        let data = &self.func.insts[i];
        match &data.op {
            Op::Binary(op) if op.is_int_division() => self.func.blocks[data.block].mask.is_none(),
            Op::Binary(_) | Op::FNeg | Op::ICmp(_) | Op::FCmp(_) | Op::Select | Op::Cast(_) | Op::Freeze => {
                true
            }
            Op::Call(info) => {
                let name = info.callee.map_or("", |s| &self.module.symbols[s].name);
                let is_of_vectors = ["llvm.vector.", "llvm.experimental.", "llvm.x86."];
                name.starts_with("llvm.")
                    && info.effects.is_empty()
                    && !is_of_vectors.iter().any(|prefix| name.starts_with(prefix))
            }
            _ => false,
        }
    }
}

/// The members' instructions in the order of their elements.
fn in_memory_order(group: &Group) -> Vec<Inst> {
    let mut members: Vec<(i64, Inst)> = group.members.iter().map(|m| (m.offset, m.inst)).collect();
    members.sort_unstable_by_key(|&(offset, _)| offset);
    members.into_iter().map(|(_, inst)| inst).collect()
}
