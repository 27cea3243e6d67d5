//! Memory that is there before a loop, although its iterations access it under conditions only.
//!
//! ```c
//! v->n = 0;
//! for (int i = 0; i < n; i++) if (x[i] > 0) v->data[v->n++] = x[i];
//! ```
//!
//! If no element is positive, the loop does not access `v`, which may lead nowhere then. Here it has been accessed
//! before: `v->n` is there, and so is what lies between the start of the structure and that field, since both are of
//! one object where the address of a field is computed `inbounds`.

use cranelift_entity::EntitySet;
use warpline_dataflow::linear::Address;
use warpline_ir::{Block, Function, Inst, InstFlags, Module, Op, Value};

use super::find::{Loop, dominates};
use crate::dependences::stretch_of;
use crate::objects::{Objects, may_free};

/// So many steps lead from the start of an object to a field at most.
const MAX_DEPTH: u32 = 8;

/// What is known to be there when a loop begins.
pub(super) struct There<'a> {
    module: &'a Module,
    func: &'a Function,
    l: &'a Loop,
    objects: Objects<'a>,
    awaited: Option<Block>,
}

impl<'a> There<'a> {
    /// Of a loop that begins when an iteration before has executed this block, if there is one.
    pub(super) fn new(
        module: &'a Module,
        func: &'a Function,
        l: &'a Loop,
        awaited: Option<Block>,
    ) -> There<'a> {
        There { module, func, l, objects: Objects::of(module, func), awaited }
    }

    /// Whether what a load of the loop reads is there before it, and its address is no poison there.
    pub(super) fn has(&self, load: Inst) -> bool {
        if self.is_awaited(load) {
            return true;
        }
        let Some((wanted, size)) = self.accessed(load) else { return false };
        let address = self.func.insts[load].args[0];
        let from_root = self.is_field(address, &wanted);
        let object = self.objects.extent(wanted.root).filter(|_| from_root);
        object.is_some_and(|o| o.load(wanted.root, wanted.offset, size).is_some())
            || self.is_accessed_before(|access| {
                let Some((made, bytes)) = self.accessed(access) else { return false };
                let at = *self.func.insts[access].args.last().expect("it has an address");
                let covers = |from: i64| {
                    let (first, end) = (made.offset + from, made.offset.saturating_add_unsigned(bytes));
                    first <= wanted.offset && wanted.offset.saturating_add_unsigned(size) <= end
                };
                // What is between the start of a structure and a field of it is there, too.
                let is_field = from_root && made.root == wanted.root && self.is_field(at, &made);
                at == address && covers(0) || is_field && covers(-made.offset)
            })
    }

    /// Whether the iteration before the loop has loaded from this very address.
    fn is_awaited(&self, load: Inst) -> bool {
        let block = self.func.insts[load].block;
        let is_made = |at| self.l.own.contains(block) && dominates(&self.l.dominators, block, at);
        let place = Address::of(self.module, self.func, self.func.insts[load].args[0]);
        let is_outside = |v: Value| self.func.def_block(v).is_none_or(|b| !self.l.blocks.contains(b));
        let stays =
            |place: Address| is_outside(place.root) && place.terms.iter().all(|t| is_outside(t.value));
        self.awaited.is_some_and(is_made) && place.is_some_and(stays)
    }

    fn accessed(&self, i: Inst) -> Option<(Address, u64)> {
        self.func.accessed(i).filter(|a| a.access.is_simple())?;
        stretch_of(self.module, self.func, i)
    }

    /// Whether an address is one of a field of the structure at its root: computed from there `inbounds`, in steps
    /// forward by constants.
    fn is_field(&self, address: Value, place: &Address) -> bool {
        let (mut at, mut offset) = (address, place.offset);
        for _ in 0..MAX_DEPTH {
            if at == place.root {
                return place.terms.is_empty();
            }
            let Some(i) = self.func.def_inst(at) else { return false };
            let data = &self.func.insts[i];
            if !matches!(data.op, Op::Gep(_)) || !data.flags.contains(InstFlags::INBOUNDS) {
                return false;
            }
            at = data.args[0];
            match Address::of(self.module, self.func, at) {
                Some(from) if (0..=offset).contains(&from.offset) => offset = from.offset,
                _ => return false,
            }
        }
        false
    }

    /// Whether such an access is made on every way to the loop, and nothing can have freed memory since.
    fn is_accessed_before(&self, is_meant: impl Fn(Inst) -> bool) -> bool {
        let func = self.func;
        let before = |b: &&Block| dominates(&self.l.dominators, **b, self.l.preheader);
        func.layout.iter().filter(before).any(|&b| {
            let insts = &func.blocks[b].insts;
            (0..insts.len()).rev().any(|at| is_meant(insts[at]) && self.stays_behind(b, at))
        })
    }

    /// Whether nothing frees memory between an instruction of a block that dominates the loop and the loop.
    fn stays_behind(&self, block: Block, at: usize) -> bool {
        let func = self.func;
        let frees = |&i: &Inst| may_free(self.module, &func.insts[i]);
        if func.blocks[block].insts[at + 1..].iter().any(frees) {
            return false;
        }
        let (mut work, mut seen) = (vec![self.l.preheader], EntitySet::new());
        seen.insert(block);
        while let Some(b) = work.pop() {
            if !seen.insert(b) {
                continue;
            }
            if func.block_insts(b).any(|i| frees(&i)) {
                return false;
            }
            work.extend(func.blocks[b].preds.iter().map(|&e| func.edges[e].from));
        }
        true
    }
}
