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

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use warpline_ir::{Block, Function, Inst, Module, Op, Users, Value};
use warpline_target::Machine;

use super::groups::{Group, GroupId, Groups};
use super::reps::Rep;

/// So many operations are looked at for each member.
const MAX_OPERATIONS: usize = 256;

impl Groups {
    /// Finds the groups whose members are computed alike.
    pub(super) fn find_alike(
        &mut self,
        module: &Module,
        func: &Function,
        reps: &SecondaryMap<Value, Rep>,
        machine: &Machine,
    ) {
        let is_masked = |group: &Group| {
            let block = func.insts[group.members[0].inst].block;
            func.blocks[block].mask.is_some()
        };
        let is_whole = |group: &Group| {
            let served = !is_masked(group) || machine.masks.serve(8 * group.size);
            group.stores && group.factor() > 1 && has_each_once(group) && served
        };
        let stores: Vec<GroupId> = self.ids().filter(|&id| is_whole(self.get(id))).collect();
        if stores.is_empty() {
            return;
        }
        let users = Users::of(func);
        for id in stores {
            let places = BTreeMap::new();
            let mut search =
                Search { module, func, reps, users: &users, groups: self, places, loads: Vec::new() };
            if search.stores(id).is_some() {
                let loads = search.loads;
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
}

impl Search<'_> {
    /// Looks at all that is computed for a group of stores; none if that is not alike.
    fn stores(&mut self, id: GroupId) -> Option<()> {
        let group = self.groups.get(id);
        let stores = in_memory_order(group);
        let block = self.func.insts[stores[0]].block;
        let stored = stores.iter().map(|&i| self.func.insts[i].args[0]).collect();
        let mut left: Vec<Vec<Value>> = vec![stored];
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
    fn values(&mut self, together: &[Value], block: Block, left: &mut Vec<Vec<Value>>) -> Option<()> {
        let func = self.func;
        if together.iter().all(|&v| v == together[0]) {
            return (self.reps[together[0]] == Rep::Uniform).then_some(());
        }
        let known = together.iter().filter(|v| self.places.contains_key(v)).count();
        if known > 0 {
            // They have been seen, each for the same member.
            let same = together.iter().enumerate().all(|(k, v)| self.places.get(v) == Some(&k));
            return same.then_some(());
        }
        for (k, &v) in together.iter().enumerate() {
            let varies = self.reps[v] == Rep::Varying;
            if !varies || self.places.insert(v, k).is_some() {
                return None;
            }
        }
        let made: Vec<Inst> = together.iter().map(|&v| func.def_inst(v)).collect::<Option<_>>()?;
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
        if !alike || together.iter().any(|&v| func.ty(v) != func.ty(together[0])) {
            return None;
        }
        if matches!(first.op, Op::Load(_)) && self.groups.of(made[0]).is_some() {
            return self.loaded(&made);
        }
        if !self.is_by_element(made[0]) {
            return None;
        }
        let operands = |n: usize| made.iter().map(|&i| func.insts[i].args[n]).collect();
        left.extend((0..first.args.len()).map(operands));
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
