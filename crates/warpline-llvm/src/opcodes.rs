//! Numbers of LLVM's that import and export share: opcodes, predicates, orderings, linkages.

use crate::ffi::types::LLVMOpcode as Opcode;
use crate::ffi::types::*;
use warpline_ir::{AtomicOrdering, BinaryOp, CastOp, FloatPred, InstFlags};

use crate::ffi::load::functions;

/// The linkages under which a body of another module may take the place of a function or variable: `linkonce`,
/// `weak`, `extern_weak` and `common`.
pub(crate) const REPLACEABLE: [u32; 4] = [2, 5, 12, 14];

/// LLVM's number for the linkage of symbols that need not be there.
pub(crate) const EXTERN_WEAK: u32 = 12;

/// LLVM's opcodes of two-operand arithmetic.
pub(crate) const BINARY: [(Opcode, BinaryOp); 18] = [
    (Opcode::LLVMAdd, BinaryOp::Add),
    (Opcode::LLVMSub, BinaryOp::Sub),
    (Opcode::LLVMMul, BinaryOp::Mul),
    (Opcode::LLVMUDiv, BinaryOp::UDiv),
    (Opcode::LLVMSDiv, BinaryOp::SDiv),
    (Opcode::LLVMURem, BinaryOp::URem),
    (Opcode::LLVMSRem, BinaryOp::SRem),
    (Opcode::LLVMShl, BinaryOp::Shl),
    (Opcode::LLVMLShr, BinaryOp::LShr),
    (Opcode::LLVMAShr, BinaryOp::AShr),
    (Opcode::LLVMAnd, BinaryOp::And),
    (Opcode::LLVMOr, BinaryOp::Or),
    (Opcode::LLVMXor, BinaryOp::Xor),
    (Opcode::LLVMFAdd, BinaryOp::FAdd),
    (Opcode::LLVMFSub, BinaryOp::FSub),
    (Opcode::LLVMFMul, BinaryOp::FMul),
    (Opcode::LLVMFDiv, BinaryOp::FDiv),
    (Opcode::LLVMFRem, BinaryOp::FRem),
];

/// LLVM's opcodes of conversions.
pub(crate) const CASTS: [(Opcode, CastOp); 14] = [
    (Opcode::LLVMTrunc, CastOp::Trunc),
    (Opcode::LLVMZExt, CastOp::ZExt),
    (Opcode::LLVMSExt, CastOp::SExt),
    (Opcode::LLVMFPToUI, CastOp::FpToUi),
    (Opcode::LLVMFPToSI, CastOp::FpToSi),
    (Opcode::LLVMUIToFP, CastOp::UiToFp),
    (Opcode::LLVMSIToFP, CastOp::SiToFp),
    (Opcode::LLVMFPTrunc, CastOp::FpTrunc),
    (Opcode::LLVMFPExt, CastOp::FpExt),
    (Opcode::LLVMPtrToInt, CastOp::PtrToInt),
    (Opcode::LLVMPtrToAddr, CastOp::PtrToAddr),
    (Opcode::LLVMIntToPtr, CastOp::IntToPtr),
    (Opcode::LLVMBitCast, CastOp::Bitcast),
    (Opcode::LLVMAddrSpaceCast, CastOp::AddrSpaceCast),
];

/// The numbers of LLVM's orderings (`LLVMAtomicOrdering`).
pub(crate) const ORDERINGS: [(u32, AtomicOrdering); 7] = [
    (0, AtomicOrdering::NotAtomic),
    (1, AtomicOrdering::Unordered),
    (2, AtomicOrdering::Monotonic),
    (4, AtomicOrdering::Acquire),
    (5, AtomicOrdering::Release),
    (6, AtomicOrdering::AcqRel),
    (7, AtomicOrdering::SeqCst),
];

/// LLVM's numbers of integer predicates start here, in the order of [`IntPred::ALL`].
pub(crate) const FIRST_INT_PREDICATE: u32 = 32;

/// Floating-point predicates in the order of LLVM's numbers.
pub(crate) const FLOAT_PREDICATES: [FloatPred; 16] = [
    FloatPred::False,
    FloatPred::Oeq,
    FloatPred::Ogt,
    FloatPred::Oge,
    FloatPred::Olt,
    FloatPred::Ole,
    FloatPred::One,
    FloatPred::Ord,
    FloatPred::Uno,
    FloatPred::Ueq,
    FloatPred::Ugt,
    FloatPred::Uge,
    FloatPred::Ult,
    FloatPred::Ule,
    FloatPred::Une,
    FloatPred::True,
];

/// The operands of an instruction that are values, not blocks, in LLVM's order.
pub(crate) fn value_operands(inst: LLVMValueRef) -> Vec<(u32, LLVMValueRef)> {
    let f = functions();
    // SAFETY: a live instruction; indices are below the number of operands.
    unsafe {
        (0..f.LLVMGetNumOperands(inst) as u32)
            .map(|i| (i, f.LLVMGetOperand(inst, i)))
            .filter(|&(_, operand)| !operand.is_null() && f.LLVMValueIsBasicBlock(operand) == 0)
            .collect()
    }
}

/// The fast-math flags of LLVM's C API are these, shifted.
pub(crate) const FAST_MATH_SHIFT: u32 = InstFlags::REASSOC.bits().trailing_zeros();
