//! Extensions of sums of indices, taken apart while it is known that the sums do not wrap.
//!
//! In `a[z * n + y * m + x]` with indices of type `int` the sums carry `nsw`, so that neighbours in `x` are
//! neighbours in memory. Simplification gives that up: `instcombine` writes `sub i, (shl n, 1)` for `i + -2 * n`, and
//! `licm` adds up what is the same in all iterations of a loop first, both without flags. So before either runs,
//! `sext (add nsw i, n)` becomes `add nsw (sext i), (sext n)`, and likewise for `sub`: wide sums need no flags for
//! neighbours to stay neighbours. Indices of gathers are to stay narrow, so that is done
//! * in loops, where one of the two is the same in all iterations of the innermost one; the other part stays narrow;
//! * in functions that may be kernels, where both are made of parameters and of work-items' numbers: an index, and
//!   what lanes share.
//!
//! That is right wherever the narrow sum does not wrap, and where it does it is poison. Which parts are the same in
//! all iterations, and which functions are kernels, is guessed; it decides nothing but what is worth taking apart.

use crate::ffi::types::LLVMLinkage::LLVMExternalLinkage;
use crate::ffi::types::LLVMOpcode::{
    self, LLVMAdd, LLVMMul, LLVMSExt, LLVMShl, LLVMSub, LLVMTrunc, LLVMZExt,
};
use crate::ffi::types::LLVMTypeKind::LLVMIntegerTypeKind;
use crate::ffi::types::*;
use warpline_analysis::{CycleId, Node};

use crate::ffi::load::functions;
use crate::loop_forest::Loops;
use crate::module::{Module, opcode};
use crate::simplify::has_body;
use crate::work_items::is_narrow_number;

/// How deep sums are taken apart, and operands looked at.
const MAX_DEPTH: u32 = 8;

impl Module {
    /// Takes extensions of sums apart in all loops of the module.
    pub(crate) fn split_indices(&mut self) {
        self.with_bodies(|builder, function| {
            if let Some(loops) = Loops::of(function) {
                loops.split(builder);
            }
        });
    }

    /// Takes extensions of sums of parameters apart in all functions that are visible from outside and that nothing
    /// in the module refers to.
    pub(crate) fn split_sums_of_parameters(&mut self) {
        let f = functions();
        self.with_bodies(|builder, function| {
            // SAFETY: a function of this live module, and its blocks.
            unsafe {
                let external = f.LLVMGetLinkage(function) == LLVMExternalLinkage as u32;
                if !external || !f.LLVMGetFirstUse(function).is_null() {
                    return;
                }
                let mut block = f.LLVMGetFirstBasicBlock(function);
                while !block.is_null() {
                    split_in(builder, block, &|operands| {
                        operands.iter().all(|&x| is_of_parameters(x, MAX_DEPTH)).then_some([true; 2])
                    });
                    block = f.LLVMGetNextBasicBlock(block);
                }
            }
        });
    }

    /// Gives each function with a body to `change`, with a builder for it.
    fn with_bodies(&mut self, change: impl Fn(LLVMBuilderRef, LLVMValueRef)) {
        let f = functions();
        // SAFETY: the context of this live module; the builder is disposed of below.
        let builder = unsafe { f.LLVMCreateBuilderInContext(self.context()) };
        for function in self.functions().filter(|&function| has_body(function)) {
            change(builder, function);
        }
        // SAFETY: made above and used by nobody else.
        unsafe { f.LLVMDisposeBuilder(builder) };
    }
}

/// Of the operands of a sum: whether it is to be taken apart, and if so, which of them are further.
type Worth<'a> = &'a dyn Fn([LLVMValueRef; 2]) -> Option<[bool; 2]>;

/// Takes extensions of sums in a block apart.
///
/// # Safety
/// The block is live.
unsafe fn split_in(builder: LLVMBuilderRef, block: LLVMBasicBlockRef, worth: Worth<'_>) {
    let f = functions();
    // SAFETY: instructions of a live block. An extension goes when nothing refers to it, after the one behind it has
    // been looked up; what takes its place has its type and stands before it, where its operands are defined.
    unsafe {
        let mut at = f.LLVMGetFirstInstruction(block);
        while !at.is_null() {
            let inst = at;
            at = f.LLVMGetNextInstruction(inst);
            if !is_extension(inst) {
                continue;
            }
            let (sum, wide) = (f.LLVMGetOperand(inst, 0), f.LLVMTypeOf(inst));
            f.LLVMPositionBuilderBefore(builder, inst);
            if let Some(new) = parts(builder, sum, wide, worth, MAX_DEPTH) {
                f.LLVMReplaceAllUsesWith(inst, new);
                f.LLVMInstructionEraseFromParent(inst);
            }
        }
    }
}

/// The extension of a sum that is worth taking apart, made of those of its parts.
///
/// # Safety
/// All handles are live; the builder stands where the value is defined.
unsafe fn parts(
    builder: LLVMBuilderRef,
    sum: LLVMValueRef,
    wide: LLVMTypeRef,
    worth: Worth<'_>,
    depth: u32,
) -> Option<LLVMValueRef> {
    let f = functions();
    // SAFETY: as the caller promises; only of sums it is asked whether they wrap.
    unsafe {
        let op = opcode(sum).filter(|&op| op == LLVMAdd as u32 || op == LLVMSub as u32)?;
        if depth == 0 || f.LLVMGetNSW(sum) == 0 {
            return None;
        }
        let operands = [0, 1].map(|k| f.LLVMGetOperand(sum, k));
        let further = worth(operands)?;
        let wider = |k: usize| {
            let apart = if further[k] { parts(builder, operands[k], wide, worth, depth - 1) } else { None };
            apart
                .unwrap_or_else(|| f.LLVMBuildCast(builder, LLVMSExt as u32, operands[k], wide, c"".as_ptr()))
        };
        let (a, b) = (wider(0), wider(1));
        let new = f.LLVMBuildBinOp(builder, op, a, b, c"".as_ptr());
        if !f.LLVMIsAInstruction(new).is_null() {
            f.LLVMSetNSW(new, 1);
        }
        Some(new)
    }
}

/// Arithmetic that sums are made of.
const ARITHMETIC: [LLVMOpcode; 7] = [LLVMAdd, LLVMSub, LLVMMul, LLVMShl, LLVMSExt, LLVMZExt, LLVMTrunc];

/// Whether a value is made of parameters, constants and work-items' numbers by arithmetic.
///
/// # Safety
/// It is live.
unsafe fn is_of_parameters(x: LLVMValueRef, depth: u32) -> bool {
    let f = functions();
    // SAFETY: as the caller promises; instructions have operands.
    unsafe {
        let Some(op) = opcode(x) else { return true };
        let operands = f.LLVMGetNumOperands(x) as u32;
        is_narrow_number(x)
            || depth > 0
                && ARITHMETIC.iter().any(|&a| a as u32 == op)
                && (0..operands).all(|k| is_of_parameters(f.LLVMGetOperand(x, k), depth - 1))
    }
}

impl Loops {
    fn split(&self, builder: LLVMBuilderRef) {
        for (k, &block) in self.blocks.iter().enumerate() {
            let Some(cycle) = self.cycles.innermost(Node::new(k)) else { continue };
            // SAFETY: a block of a live function, and operands of its instructions.
            unsafe {
                split_in(builder, block, &|operands| {
                    let same = operands.map(|x| self.stays(cycle, x, MAX_DEPTH));
                    (same[0] != same[1]).then_some(same.map(|same| !same))
                });
            }
        }
    }

    /// Whether a value looks the same in all iterations of a loop.
    ///
    /// # Safety
    /// The value is live.
    unsafe fn stays(&self, cycle: CycleId, x: LLVMValueRef, depth: u32) -> bool {
        let f = functions();
        // SAFETY: as the caller promises; instructions have blocks and operands.
        unsafe {
            let Some(op) = opcode(x) else { return true };
            let block = self.numbers.get(&f.LLVMGetInstructionParent(x));
            if block.is_none_or(|&b| !self.cycles.contains(cycle, b)) {
                return true;
            }
            let operands = f.LLVMGetNumOperands(x) as u32;
            depth > 0
                && ARITHMETIC.iter().any(|&a| a as u32 == op)
                && (0..operands).all(|k| self.stays(cycle, f.LLVMGetOperand(x, k), depth - 1))
        }
    }
}

/// Whether an instruction sign-extends an integer.
///
/// # Safety
/// It is live.
unsafe fn is_extension(inst: LLVMValueRef) -> bool {
    let f = functions();
    // SAFETY: as the caller promises.
    unsafe {
        f.LLVMGetInstructionOpcode(inst) == LLVMSExt as u32
            && f.LLVMGetTypeKind(f.LLVMTypeOf(inst)) == LLVMIntegerTypeKind as u32
    }
}
