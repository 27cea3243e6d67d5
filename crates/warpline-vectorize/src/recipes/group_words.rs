//! Groups of loads whose elements are widened: each lane's are loaded as one word, of which shifts take the members.
//!
//! Pairs of bytes that are computed with as shorts, or four bytes that become integers or numbers of 32 bits, fill
//! such a word. A word is where its lane is, so nothing moves: LLVM makes one shift or one `and` of taking a member out
//! of a word and widening it, where shuffles and conversions between registers of different sizes would be several.

use cranelift_entity::SecondaryMap;

use warpline_ir::{CastOp, FloatKind, Function, Inst, Op, Type, Users, Value};
use warpline_target::Machine;

use super::groups::{Group, GroupId, Groups};
use super::reps::Rep;

/// The largest word in bytes; wider ones are shifted slowly or not at all.
const MAX_WORD: u64 = 4;

impl Groups {
    /// Finds the groups of loads that are made as words. Instructions that add neighbouring lanes together take
    /// elements as they are in memory: what these add up is not widened.
    pub(super) fn find_words(
        &mut self,
        func: &Function,
        reps: &SecondaryMap<Value, Rep>,
        machine: &Machine,
        is_added_up: impl Fn(Inst) -> bool,
    ) {
        let fits = |group: &Group| {
            let factor = group.factor().unsigned_abs();
            !group.stores
                && group.copy.is_none()
                && factor.is_power_of_two()
                && factor * group.size <= MAX_WORD
        };
        let loads: Vec<GroupId> =
            self.ids().filter(|&g| self.get(g).is_in_blocks() && fits(self.get(g))).collect();
        if loads.is_empty() {
            return;
        }
        let users = Users::of(func);
        for id in loads {
            let group = self.get(id);
            let bits = (group.factor().unsigned_abs() * group.size * 8) as u32;
            let is_widened = |&user: &Inst| {
                let result = func.insts[user].result();
                let further = result.map_or(&[][..], |v| users.get(v));
                let varies = result.is_some_and(|v| reps[v] == Rep::Varying);
                varies && widens(func, user, bits) && !further.iter().any(|&u| is_added_up(u))
            };
            let results = group.members.iter().filter_map(|m| func.insts[m.inst].result());
            let all = results.into_iter().all(|v| {
                func.ty(v) == Type::Int(group.size as u32 * 8) && users.get(v).iter().all(is_widened)
            });
            if let Some(blocks) = group.blocks.filter(|_| all) {
                let at_once = group.at_once(&blocks, machine);
                self.set_words(id, at_once);
            }
        }
    }
}

/// Whether an instruction makes at least so many bits of an integer.
fn widens(func: &Function, i: Inst, bits: u32) -> bool {
    let data = &func.insts[i];
    let to = data.result().map(|v| func.ty(v));
    match (&data.op, to) {
        (Op::Cast(CastOp::ZExt | CastOp::SExt), Some(Type::Int(to))) => to >= bits,
        (Op::Cast(CastOp::UiToFp | CastOp::SiToFp), Some(Type::Float(FloatKind::Float))) => bits == 32,
        _ => false,
    }
}
