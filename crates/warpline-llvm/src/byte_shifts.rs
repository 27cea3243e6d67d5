//! Bytes that are doubled, in a way that one version of LLVM does not choke on.
//!
//! LLVM 22 does not come to an end with a shift to the left by one bit of 64 bytes that are a shuffle of fewer, for
//! x86-64 processors with AVX-512: two rewritings of its code generator undo each other, also if the shift is written
//! as a sum. So pairs of bytes are shifted, and the bit that comes from the neighbour is taken out, as LLVM does it for
//! shifts by more bits.

use crate::ffi::types::LLVMOpcode as Opcode;
use crate::ffi::types::*;

use crate::error::Result;
use crate::ffi::load::{functions, major};
use crate::mask_webs::element_bits;
use crate::masks::has_mask_registers;
use crate::module::{Module, instructions_of};
use crate::target::TargetMachine;

/// The first version of LLVM that does so.
const FIRST_WRONG: u32 = 22;
/// How many bytes are shifted at least.
const LANES: u32 = 64;

const EMPTY: *const std::ffi::c_char = c"".as_ptr();

impl Module {
    /// Makes shifts of bytes by one bit ones of pairs of bytes.
    ///
    /// # Errors
    /// If LLVM cannot say what registers the processor has.
    pub(crate) fn double_bytes_in_pairs(&mut self, machine: &TargetMachine) -> Result<()> {
        if major() < FIRST_WRONG || !machine.triple().starts_with("x86_64") {
            return Ok(());
        }
        let all = self.functions().flat_map(instructions_of);
        // SAFETY: live instructions.
        let shifts: Vec<LLVMValueRef> = all.filter(|&inst| unsafe { doubles_bytes(inst) }).collect();
        if shifts.is_empty() || !has_mask_registers(machine)? {
            return Ok(());
        }
        let f = functions();
        // SAFETY: live instructions and their operands; what is erased has no use any more; the builder is disposed of.
        unsafe {
            let builder = f.LLVMCreateBuilderInContext(self.context());
            for shift in shifts {
                f.LLVMPositionBuilderBefore(builder, shift);
                let (bytes, x) = (f.LLVMTypeOf(shift), f.LLVMGetOperand(shift, 0));
                let pair = f.LLVMIntTypeInContext(self.context(), 16);
                let lanes = f.LLVMGetVectorSize(bytes) / 2;
                let (op, cast) = (|op: Opcode| op as u32, Opcode::LLVMBitCast as u32);
                // What is poison in one byte must not be so in its neighbour.
                let x = f.LLVMBuildFreeze(builder, x, EMPTY);
                let pairs = f.LLVMBuildCast(builder, cast, x, f.LLVMVectorType(pair, lanes), EMPTY);
                let moved =
                    f.LLVMBuildBinOp(builder, op(Opcode::LLVMShl), pairs, splat(pair, 1, lanes), EMPTY);
                let own =
                    f.LLVMBuildBinOp(builder, op(Opcode::LLVMAnd), moved, splat(pair, 0xfefe, lanes), EMPTY);
                let doubled = f.LLVMBuildCast(builder, cast, own, bytes, EMPTY);
                f.LLVMReplaceAllUsesWith(shift, doubled);
                f.LLVMInstructionEraseFromParent(shift);
            }
            f.LLVMDisposeBuilder(builder);
        }
        Ok(())
    }
}

/// Whether an instruction shifts all of so many bytes to the left by one bit.
///
/// # Safety
/// A live instruction.
unsafe fn doubles_bytes(inst: LLVMValueRef) -> bool {
    let f = functions();
    // SAFETY: as the caller promises; a shift has two operands, and constants of a context are the same if they are
    // equal.
    unsafe {
        let ty = f.LLVMTypeOf(inst);
        if f.LLVMGetInstructionOpcode(inst) != Opcode::LLVMShl as u32 || element_bits(ty) != Some(8) {
            return false;
        }
        let lanes = f.LLVMGetVectorSize(ty);
        let fits = lanes >= LANES && lanes.is_multiple_of(2);
        fits && f.LLVMGetOperand(inst, 1) == splat(f.LLVMGetElementType(ty), 1, lanes)
    }
}

/// A vector of so many equal integers.
///
/// # Safety
/// A live type of integers.
unsafe fn splat(ty: LLVMTypeRef, x: u64, lanes: u32) -> LLVMValueRef {
    let f = functions();
    // SAFETY: as the caller promises; the numbers are copied.
    unsafe {
        let mut each = vec![f.LLVMConstInt(ty, x, 0); lanes as usize];
        f.LLVMConstVector(each.as_mut_ptr(), lanes)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use crate::target::Cpu;
    use crate::worker::{CodegenOptions, Output, codegen_in_process};
    use crate::{Llvm, Module};

    #[test]
    fn doubled_bytes_of_shuffles_become_code_in_time() {
        if Llvm::get().is_err() {
            return eprintln!("skipped: there is no LLVM");
        }
        for (bytes, times) in [(32, 2), (16, 4), (8, 8), (16, 2), (8, 4)] {
            let lanes = bytes * times;
            let mut places = String::new();
            for lane in 0..lanes {
                write!(places, "{}i32 {}", if lane > 0 { ", " } else { "" }, lane / times).expect("a string");
            }
            let text = format!(
                "define void @f(ptr %p, ptr %q) {{
  %x = load <{bytes} x i8>, ptr %p, align 1
  %s = shufflevector <{bytes} x i8> %x, <{bytes} x i8> poison, <{lanes} x i32> <{places}>
  %d = shl <{lanes} x i8> %s, splat (i8 1)
  store <{lanes} x i8> %d, ptr %q, align 1
  ret void
}}
"
            );
            let bitcode = Module::parse(text.as_bytes(), "bytes.ll").expect("it can be read").to_bitcode();
            let options = CodegenOptions::new(Cpu::named("skylake-avx512"), Output::Assembly);
            let code = codegen_in_process(&bitcode, "bytes", &options).expect("code is generated");
            assert!(!code.is_empty(), "{lanes} bytes");
        }
    }
}
