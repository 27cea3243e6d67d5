//! Questions whether a mask has any lane, for masks that fill several vector registers.
//!
//! Processors without mask registers compare into vectors of integers, of which they collect the signs of one register
//! at a time. LLVM makes narrower integers of all registers first, by packing and permuting, until one holds every
//! lane. Which lanes are set does not matter here, so the registers are combined by `or`, and one test asks for all.

use crate::ffi::types::LLVMOpcode as Opcode;
use crate::ffi::types::*;

use crate::ffi::load::functions;
use crate::mask_webs::{combines, element_bits, is_null, operands_of};
use crate::module::{instructions_of, users_of};

/// LLVM's numbers for predicates of comparisons of integers.
pub(crate) const EQ: u32 = 32;
pub(crate) const NE: u32 = 33;
pub(crate) const SLT: u32 = 40;

const EMPTY: *const std::ffi::c_char = c"".as_ptr();

/// How many masks are looked through for a comparison.
const DEPTH: u32 = 6;

/// Asks for any lane of a mask by registers of so many bits, wherever a function of this context asks.
pub(crate) fn by_registers(context: LLVMContextRef, function: LLVMValueRef, register_bits: u32) {
    let f = functions();
    let questions: Vec<LLVMValueRef> = instructions_of(function).into_iter().filter(|&i| asks(i)).collect();
    // SAFETY: a live context and live instructions, of which each is removed when nothing uses it; the builder is
    // disposed of.
    unsafe {
        let builder = f.LLVMCreateBuilderInContext(context);
        for bits in questions {
            let mask = f.LLVMGetOperand(bits, 0);
            let lanes = f.LLVMGetVectorSize(f.LLVMTypeOf(mask));
            let Some(width) = width(mask, DEPTH).filter(|width| width * lanes > register_bits) else {
                continue;
            };
            f.LLVMPositionBuilderBefore(builder, bits);
            let found = any(builder, context, signs(builder, context, mask, width), register_bits);
            for question in users_of(bits) {
                let zero = f.LLVMConstNull(f.LLVMTypeOf(found));
                let pred = f.LLVMGetICmpPredicate(question);
                f.LLVMPositionBuilderBefore(builder, question);
                let answer = f.LLVMBuildICmp(builder, pred, found, zero, EMPTY);
                f.LLVMReplaceAllUsesWith(question, answer);
                f.LLVMInstructionEraseFromParent(question);
            }
            f.LLVMInstructionEraseFromParent(bits);
        }
        f.LLVMDisposeBuilder(builder);
    }
}

/// Whether an instruction makes the bits of a mask, and these are only compared with zero.
fn asks(inst: LLVMValueRef) -> bool {
    let f = functions();
    // SAFETY: a live instruction, of which operands are asked for that it has.
    unsafe {
        if f.LLVMGetInstructionOpcode(inst) != Opcode::LLVMBitCast as u32 {
            return false;
        }
        let from = f.LLVMTypeOf(f.LLVMGetOperand(inst, 0));
        let is_mask = element_bits(from) == Some(1) && f.LLVMGetVectorSize(from).is_power_of_two();
        let users = users_of(inst);
        is_mask && element_bits(f.LLVMTypeOf(inst)).is_none() && !users.is_empty() && {
            users.into_iter().all(|user| {
                f.LLVMGetInstructionOpcode(user) == Opcode::LLVMICmp as u32
                    && matches!(f.LLVMGetICmpPredicate(user), EQ | NE)
                    && f.LLVMGetOperand(user, 0) == inst
                    && is_null(f.LLVMGetOperand(user, 1))
            })
        }
    }
}

/// The bits of the elements whose comparisons make a mask; `None` if they differ, or are not known.
fn width(mask: LLVMValueRef, depth: u32) -> Option<u32> {
    let f = functions();
    // SAFETY: a live value; an instruction is asked for its operands.
    unsafe {
        if depth == 0 || f.LLVMIsAInstruction(mask).is_null() {
            return None;
        }
        let opcode = f.LLVMGetInstructionOpcode(mask);
        if opcode == Opcode::LLVMICmp as u32 || opcode == Opcode::LLVMFCmp as u32 {
            let bits = element_bits(f.LLVMTypeOf(f.LLVMGetOperand(mask, 0)));
            return bits.filter(|bits| matches!(bits, 8 | 16 | 32 | 64));
        }
        if !combines(mask) || opcode == Opcode::LLVMPHI as u32 {
            return None;
        }
        let made_of = operands_of(mask).into_iter().filter(|&part| !f.LLVMIsAInstruction(part).is_null());
        let mut widths = made_of.map(|part| width(part, depth - 1));
        let first = widths.next()??;
        widths.all(|other| other == Some(first)).then_some(first)
    }
}

/// Integers of so many bits that are less than zero where a mask is set.
///
/// # Safety
/// A live builder and context, and a live mask that is made before where the builder stands.
unsafe fn signs(
    builder: LLVMBuilderRef,
    context: LLVMContextRef,
    mask: LLVMValueRef,
    width: u32,
) -> LLVMValueRef {
    let f = functions();
    // SAFETY: as the caller promises.
    unsafe {
        let is_test = f.LLVMGetInstructionOpcode(mask) == Opcode::LLVMICmp as u32
            && f.LLVMGetICmpPredicate(mask) == SLT
            && is_null(f.LLVMGetOperand(mask, 1));
        if is_test {
            return f.LLVMGetOperand(mask, 0);
        }
        let lanes = f.LLVMGetVectorSize(f.LLVMTypeOf(mask));
        let ty = f.LLVMVectorType(f.LLVMIntTypeInContext(context, width), lanes);
        f.LLVMBuildCast(builder, Opcode::LLVMSExt as u32, mask, ty, EMPTY)
    }
}

/// A number that is not zero if and only if one of some integers is less than zero: their halves are combined until
/// they fill one register.
///
/// # Safety
/// As of [`signs`].
unsafe fn any(
    builder: LLVMBuilderRef,
    context: LLVMContextRef,
    integers: LLVMValueRef,
    register_bits: u32,
) -> LLVMValueRef {
    let f = functions();
    let mut all = integers;
    // SAFETY: as the caller promises; the integers have a width.
    unsafe {
        loop {
            let ty = f.LLVMTypeOf(all);
            let (lanes, bits) = (f.LLVMGetVectorSize(ty), element_bits(ty).unwrap_or(1));
            if lanes * bits <= register_bits || lanes < 4 {
                break;
            }
            let half = lanes / 2;
            let parts = [0, half].map(|from| {
                let number = f.LLVMIntTypeInContext(context, 32);
                let mut places: Vec<LLVMValueRef> =
                    (from..from + half).map(|k| f.LLVMConstInt(number, k.into(), 0)).collect();
                let places = f.LLVMConstVector(places.as_mut_ptr(), half);
                f.LLVMBuildShuffleVector(builder, all, f.LLVMGetPoison(ty), places, EMPTY)
            });
            all = f.LLVMBuildBinOp(builder, Opcode::LLVMOr as u32, parts[0], parts[1], EMPTY);
        }
        let ty = f.LLVMTypeOf(all);
        let set = f.LLVMBuildICmp(builder, SLT, all, f.LLVMConstNull(ty), EMPTY);
        let number = f.LLVMIntTypeInContext(context, f.LLVMGetVectorSize(ty));
        f.LLVMBuildCast(builder, Opcode::LLVMBitCast as u32, set, number, EMPTY)
    }
}
