//! Neighbouring elements under masks that the machine has no such instructions for.
//!
//! Programs may not write what they do not write: another thread may store there meanwhile. So a store is left out if
//! no lane is active, is a vector's if all are, and otherwise goes through a vector on the stack, from which the active
//! lanes' elements are copied:
//!
//! ```text
//!   before:  bits = the mask;                                   br bits != 0, some, after
//!   some:                                                       br bits == all, whole, each
//!   whole:   store x, p;                                        br after
//!   each:    store x, room;                                     br lane
//!   lane:    left = φ(bits, rest); k = cttz left; p[k] = room[k]; rest = left & (left − 1);
//!                                                               br rest != 0, lane, after
//! ```
//!
//! Reading more than the program reads does no harm where it is possible. Memory is protected by pages, so if one
//! lane's element is there, the rest of its page is. A load is a vector's if a lane is active and all lanes' elements
//! are in one page; nothing can be concluded from it ([`MemAccess::is_speculative`]). Otherwise the active lanes'
//! elements are copied to a vector on the stack.

use crate::VectorizeError;
use warpline_ir::{BinaryOp, Block, CastOp, Effects, Inst, IntPred, MemAccess, Op, Type, Value};

use super::super::Lower;

/// A page of memory has at least so many bytes.
const PAGE: u64 = 4096;

impl Lower<'_> {
    /// Stores neighbouring elements, of active lanes only.
    pub(super) fn store_active(
        &mut self,
        x: Value,
        ptr: Value,
        access: MemAccess,
        at: Inst,
    ) -> Result<(), VectorizeError> {
        let mask = self.mask_or_true(at)?;
        let elem = self.out.ty(x).elem().map_or(Type::Void, Type::from);
        let bits = self.mask_bits_64(mask);
        let [some, whole, each, after] = ["some", "", "", ""].map(|name| self.out.add_block(name));
        let any = self.is_not_zero(bits);
        self.out.set_terminator(self.block, Op::CondBr, &[any], &[some, after]);

        self.block = some;
        let set = self.out.int_const(64, u128::from(u64::MAX >> (64 - self.width)));
        let all = self.emit(Op::ICmp(IntPred::Eq), &[bits, set], Type::BOOL);
        self.out.set_terminator(some, Op::CondBr, &[all], &[whole, each]);

        self.block = whole;
        let new = self.emit_void(Op::Store(access), &[x, ptr]);
        self.copy_metadata(at, new);
        self.out.set_terminator(whole, Op::Br, &[], &[after]);

        self.block = each;
        let room = self.room_for_a_vector();
        self.emit_void(Op::Store(self.aligned_in_room(elem)), &[x, room]);
        self.copy_active(bits, elem, (room, self.aligned_in_room(elem)), (ptr, access), at, after);
        Ok(())
    }

    /// Loads neighbouring elements; those of inactive lanes are anything.
    pub(super) fn load_active(
        &mut self,
        ptr: Value,
        access: MemAccess,
        vty: Type,
        at: Inst,
    ) -> Result<Value, VectorizeError> {
        let mask = self.mask_or_true(at)?;
        let elem = vty.elem().map_or(Type::Void, Type::from);
        let bits = self.mask_bits_64(mask);
        let [whole, rest, each, copied, after] = [(); 5].map(|()| self.out.add_block(""));
        let any = self.is_not_zero(bits);
        let in_page = self.is_in_page(ptr, elem);
        let there = self.emit(Op::Binary(BinaryOp::And), &[any, in_page], Type::BOOL);
        self.out.set_terminator(self.block, Op::CondBr, &[there], &[whole, rest]);

        self.block = whole;
        let speculative = MemAccess { is_speculative: true, ..access };
        let together = self.emit(Op::Load(speculative), &[ptr], vty);
        self.out.set_terminator(whole, Op::Br, &[], &[after]);

        self.block = rest;
        self.out.set_terminator(rest, Op::CondBr, &[any], &[each, after]);

        self.block = each;
        let room = self.room_for_a_vector();
        self.copy_active(bits, elem, (ptr, access), (room, self.aligned_in_room(elem)), at, copied);
        let apart = self.emit(Op::Load(self.aligned_in_room(elem)), &[room], vty);
        self.out.set_terminator(copied, Op::Br, &[], &[after]);

        self.block = after;
        let nothing = self.out.poison(vty);
        let loaded = self.out.add_phi(after, vty);
        for e in self.out.blocks[after].preds.clone() {
            let value = match self.out.edges[e].from {
                from if from == whole => together,
                from if from == copied => apart,
                _ => nothing,
            };
            self.out.set_phi_arg(e, 0, value);
        }
        Ok(loaded)
    }

    /// Copies the elements of the lanes whose bits are set, of which there are some, and goes on in another block.
    fn copy_active(
        &mut self,
        bits: Value,
        elem: Type,
        (from, read): (Value, MemAccess),
        (to, written): (Value, MemAccess),
        at: Inst,
        after: Block,
    ) {
        let before = self.block;
        let lane = self.out.add_block("lane");
        self.out.set_terminator(before, Op::Br, &[], &[lane]);
        let i64_ = Type::Int(64);
        let left = self.out.add_phi(lane, i64_);
        self.block = lane;
        // Never zero.
        let poison = self.out.bool_const(true);
        let k = self
            .call_named("llvm.cttz.i64", &[left, poison], i64_, Effects::empty())
            .expect("an intrinsic with a result");
        let [from, to] = [from, to].map(|base| {
            let ty = self.out.ty(base);
            self.emit(Op::Gep(elem), &[base, k], ty)
        });
        let load = self.out.append(self.block, Op::Load(read), &[from], elem);
        self.copy_metadata(at, load);
        let x = self.out.insts[load].results[0];
        let store = self.emit_void(Op::Store(written), &[x, to]);
        self.copy_metadata(at, store);
        let one = self.out.int_const(64, 1);
        let less = self.emit(Op::Binary(BinaryOp::Sub), &[left, one], i64_);
        let rest = self.emit(Op::Binary(BinaryOp::And), &[left, less], i64_);
        let more = self.is_not_zero(rest);
        self.out.set_terminator(lane, Op::CondBr, &[more], &[lane, after]);
        for e in self.out.blocks[lane].preds.clone() {
            let value = if self.out.edges[e].from == lane { rest } else { bits };
            self.out.set_phi_arg(e, 0, value);
        }
        self.block = after;
    }

    /// Whether the elements of all lanes are in the page of lane 0's.
    fn is_in_page(&mut self, ptr: Value, elem: Type) -> Value {
        let i64_ = Type::Int(64);
        let size = self.module.layout.alloc_size(&self.module.types, elem).unwrap_or(PAGE);
        let address = self.emit(Op::Cast(CastOp::PtrToInt), &[ptr], i64_);
        let within = self.out.int_const(64, u128::from(PAGE - 1));
        let offset = self.emit(Op::Binary(BinaryOp::And), &[address, within], i64_);
        let last = PAGE.saturating_sub(size.saturating_mul(u64::from(self.width)));
        let last = self.out.int_const(64, u128::from(last));
        self.emit(Op::ICmp(IntPred::Ule), &[offset, last], Type::BOOL)
    }

    fn is_not_zero(&mut self, x: Value) -> Value {
        let zero = self.out.int_const(64, 0);
        self.emit(Op::ICmp(IntPred::Ne), &[x, zero], Type::BOOL)
    }

    /// An access to an element in the room for a vector, or to all from the first one on.
    fn aligned_in_room(&self, elem: Type) -> MemAccess {
        MemAccess::plain(self.module.layout.alloc_size(&self.module.types, elem).unwrap_or(1))
    }
}
