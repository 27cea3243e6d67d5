//! Atomic operations that have no original to be cloned.

use llvm_sys::prelude::LLVMValueRef;
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
