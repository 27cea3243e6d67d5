//! Atomic operations that have no original to be cloned, and updates that need not be atomic.

use crate::ffi::types::LLVMValueRef;
use crate::ffi::types::{LLVMIntPredicate, LLVMOpcode as Opcode};
use warpline_ir::{Atomic, AtomicOrdering, Inst, MemAccess, RmwOp, Value};

use super::Emitter;
use crate::error::Result;
use crate::ffi::load::functions;
use crate::opcodes::ORDERINGS;

/// LLVM's number of an ordering.
pub(super) fn ordering_number(ordering: AtomicOrdering) -> u32 {
    ORDERINGS.iter().find(|&&(_, ours)| ours == ordering).map_or(0, |&(number, _)| number)
}

impl Emitter<'_> {
    /// Builds an atomic operation among all threads of the system.
    pub(super) fn atomic(&mut self, inst: Inst, atomic: Atomic) -> Result<LLVMValueRef> {
        let f = functions();
        let b = self.builder;
        let args = self.function.insts[inst].args.clone();
        let numbered: Vec<(u32, Value)> = (0..).zip(args.iter().copied()).collect();
        // SAFETY: the builder and the operands are live, and of the types that the IR's verifier asks for.
        unsafe {
            let built = match (atomic, &args[..]) {
                (Atomic::Rmw { op, access }, &[at, x]) if access.ordering == AtomicOrdering::NotAtomic => {
                    return self.update(inst, op, &access, (at, x));
                }
                (Atomic::Rmw { op, access }, &[at, x]) => {
                    let number = RmwOp::ALL.iter().position(|&one| one == op).unwrap_or(0) as u32;
                    let (at, x) = (self.stand_in(inst, at)?, self.stand_in(inst, x)?);
                    let built = f.LLVMBuildAtomicRMW(b, number, at, x, ordering_number(access.ordering), 0);
                    set_place(built, &access);
                    built
                }
                (Atomic::CompareExchange { access, failure, weak }, &[at, expected, new]) => {
                    let (at, expected, new) =
                        (self.stand_in(inst, at)?, self.stand_in(inst, expected)?, self.stand_in(inst, new)?);
                    let (yes, no) = (ordering_number(access.ordering), ordering_number(failure));
                    let built = f.LLVMBuildAtomicCmpXchg(b, at, expected, new, yes, no, 0);
                    f.LLVMSetWeak(built, i32::from(weak));
                    set_place(built, &access);
                    built
                }
                (Atomic::Fence(ordering), []) => {
                    f.LLVMBuildFence(b, ordering_number(ordering), 0, c"".as_ptr())
                }
                _ => return Err(self.refuse(inst, "it has the wrong number of operands")),
            };
            Ok(self.built(built, &numbered))
        }
    }

    /// Builds an update of memory that no other thread accesses; the old value.
    fn update(
        &mut self,
        inst: Inst,
        op: RmwOp,
        access: &MemAccess,
        (at, x): (Value, Value),
    ) -> Result<LLVMValueRef> {
        let f = functions();
        let (b, name) = (self.builder, c"".as_ptr());
        let (to, by) = (self.stand_in(inst, at)?, self.stand_in(inst, x)?);
        // SAFETY: a live builder, an address, and a value of a type that the operation works on.
        unsafe {
            let ty = f.LLVMTypeOf(by);
            let old = f.LLVMBuildLoad2(b, ty, to, name);
            set_place(old, access);
            let old = self.built(old, &[(0, at)]);
            let two = |op: Opcode| (f.LLVMBuildBinOp(b, op as u32, old, by, name), 1);
            let new = match op {
                RmwOp::Xchg => None,
                RmwOp::Add => Some(two(Opcode::LLVMAdd)),
                RmwOp::Sub => Some(two(Opcode::LLVMSub)),
                RmwOp::And | RmwOp::Nand => Some(two(Opcode::LLVMAnd)),
                RmwOp::Or => Some(two(Opcode::LLVMOr)),
                RmwOp::Xor => Some(two(Opcode::LLVMXor)),
                RmwOp::FAdd => Some(two(Opcode::LLVMFAdd)),
                RmwOp::FSub => Some(two(Opcode::LLVMFSub)),
                RmwOp::Max | RmwOp::Min | RmwOp::UMax | RmwOp::UMin => {
                    let pred = match op {
                        RmwOp::Max => LLVMIntPredicate::LLVMIntSGT,
                        RmwOp::Min => LLVMIntPredicate::LLVMIntSLT,
                        RmwOp::UMax => LLVMIntPredicate::LLVMIntUGT,
                        _ => LLVMIntPredicate::LLVMIntULT,
                    };
                    let keeps = f.LLVMBuildICmp(b, pred as u32, old, by, name);
                    let keeps = self.built(keeps, &[(1, x)]);
                    Some((f.LLVMBuildSelect(b, keeps, old, by, name), 2))
                }
            };
            let mut new = new.map(|(new, place)| self.built(new, &[(place, x)]));
            if op == RmwOp::Nand {
                let and = new.unwrap_or(old);
                let not = f.LLVMBuildBinOp(b, Opcode::LLVMXor as u32, and, f.LLVMConstAllOnes(ty), name);
                new = Some(self.built(not, &[]));
            }
            let store = f.LLVMBuildStore(b, new.unwrap_or(by), to);
            set_place(store, access);
            match new {
                Some(_) => self.built(store, &[(1, at)]),
                None => self.built(store, &[(0, x), (1, at)]),
            };
            Ok(old)
        }
    }
}

/// Sets alignment and volatility.
fn set_place(inst: LLVMValueRef, access: &MemAccess) {
    let f = functions();
    // SAFETY: a live atomic access.
    unsafe {
        f.LLVMSetAlignment(inst, access.align as u32);
        f.LLVMSetVolatile(inst, i32::from(access.is_volatile));
    }
}
