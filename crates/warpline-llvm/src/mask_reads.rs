//! The bits of masks, read in a way that one version of LLVM does not get wrong.
//!
//! From version 22 on, LLVM replaces a move of signs into a mask register, and the move of that into a general
//! register, by one `movmsk` from the vector, and does so after registers have been chosen. `movmsk` reads the
//! registers 0 to 15 only; LLVM does not look which it is, and the encoding of register 26 then says 10. A second
//! defect of the same rewriting drops the mask although it is used again. (LLVM's issues 191304 and 198197.)
//!
//! The rewriting lets alone what has another use. So right before code generation, for x86-64 processors with mask
//! registers, a mask whose bits are read gets one: assembly of no instruction that takes the mask in a mask register.
//! It costs no instruction. Masks that cannot be signs are left as they are.

use crate::ffi::types::LLVMOpcode as Opcode;
use crate::ffi::types::*;

use crate::error::Result;
use crate::ffi::load::{functions, major};
use crate::mask_webs::element_bits;
use crate::masks::has_mask_registers;
use crate::module::{Module, instructions_of, value_name};
use crate::target::TargetMachine;

/// The first version of LLVM that rewrites reads of masks.
const FIRST_WRONG: u32 = 22;
/// The lanes that a mask register has at least.
const LANES: u32 = 8;
/// The lanes of the widest mask that the rewriting speaks of; wider ones are made of these.
const WIDEST: u32 = 32;

const EMPTY: *const std::ffi::c_char = c"".as_ptr();

impl Module {
    /// Gives masks whose bits are read a use that keeps LLVM from reading them from vectors.
    ///
    /// # Errors
    /// If LLVM cannot say what registers the processor has.
    pub(crate) fn guard_mask_reads(&mut self, machine: &TargetMachine) -> Result<()> {
        if major() < FIRST_WRONG || !machine.triple().starts_with("x86_64") {
            return Ok(());
        }
        let reads: Vec<(LLVMValueRef, LLVMValueRef)> = self.functions().flat_map(reads_of).collect();
        if reads.is_empty() || !has_mask_registers(machine)? {
            return Ok(());
        }
        let f = functions();
        // SAFETY: live instructions and their operands; the builder is disposed of.
        unsafe {
            let builder = f.LLVMCreateBuilderInContext(self.context());
            for (read, mask) in reads {
                f.LLVMPositionBuilderBefore(builder, read);
                self.use_in_register(builder, mask);
            }
            f.LLVMDisposeBuilder(builder);
        }
        Ok(())
    }

    /// Uses a mask in mask registers, where the builder stands.
    ///
    /// # Safety
    /// A live builder of this module's context, and a mask that is there.
    unsafe fn use_in_register(&self, builder: LLVMBuilderRef, mask: LLVMValueRef) {
        let f = functions();
        // SAFETY: as the caller promises; the strings are copied.
        unsafe {
            let context = self.context();
            let (bit, int) = (f.LLVMIntTypeInContext(context, 1), f.LLVMIntTypeInContext(context, 32));
            let lanes = f.LLVMGetVectorSize(f.LLVMTypeOf(mask));
            let mut parameter = f.LLVMVectorType(bit, LANES);
            let ty = f.LLVMFunctionType(f.LLVMVoidTypeInContext(context), &raw mut parameter, 1, 0);
            let constraints = b"k";
            let keep =
                f.LLVMGetInlineAsm(ty, EMPTY, 0, constraints.as_ptr().cast(), constraints.len(), 1, 0, 0, 0);
            for first in (0..lanes).step_by(WIDEST as usize) {
                let mut picked: Vec<LLVMValueRef> = (first..first + LANES)
                    .map(|lane| match lane < lanes {
                        true => f.LLVMConstInt(int, u64::from(lane), 0),
                        false => f.LLVMGetPoison(int),
                    })
                    .collect();
                let picked = f.LLVMConstVector(picked.as_mut_ptr(), LANES);
                let rest = f.LLVMGetPoison(f.LLVMTypeOf(mask));
                let mut part = f.LLVMBuildShuffleVector(builder, mask, rest, picked, EMPTY);
                f.LLVMBuildCall2(builder, ty, keep, &raw mut part, 1, EMPTY);
            }
        }
    }
}

/// The instructions of a function that read bits of masks that may be signs, and the masks.
fn reads_of(function: LLVMValueRef) -> Vec<(LLVMValueRef, LLVMValueRef)> {
    let f = functions();
    let mut reads = Vec::new();
    for inst in instructions_of(function) {
        // SAFETY: an instruction of a live function; what reads bits has an operand.
        unsafe {
            if reads_bits(inst) {
                let mask = f.LLVMGetOperand(inst, 0);
                if element_bits(f.LLVMTypeOf(mask)) == Some(1) && may_be_signs(mask) {
                    reads.push((inst, mask));
                }
            }
        }
    }
    reads
}

/// Whether an instruction takes bits out of its first operand, if that is a mask.
///
/// # Safety
/// A live instruction.
unsafe fn reads_bits(inst: LLVMValueRef) -> bool {
    let f = functions();
    // SAFETY: as the caller promises; only a call is asked what it calls.
    unsafe {
        match f.LLVMGetInstructionOpcode(inst) {
            op if op == Opcode::LLVMBitCast as u32 || op == Opcode::LLVMExtractElement as u32 => true,
            op if op == Opcode::LLVMCall as u32 => {
                value_name(f.LLVMGetCalledValue(inst)).starts_with("llvm.vector.reduce.")
            }
            _ => false,
        }
    }
}

/// Whether a mask may be the signs of numbers: all but what compares floats, or integers none of which is a constant.
///
/// # Safety
/// A live value.
unsafe fn may_be_signs(mask: LLVMValueRef) -> bool {
    let f = functions();
    // SAFETY: as the caller promises; a comparison has two operands.
    unsafe {
        if f.LLVMIsAInstruction(mask).is_null() {
            return f.LLVMIsConstant(mask) == 0;
        }
        match f.LLVMGetInstructionOpcode(mask) {
            op if op == Opcode::LLVMFCmp as u32 => false,
            op if op == Opcode::LLVMICmp as u32 => {
                (0..2).any(|k| f.LLVMIsConstant(f.LLVMGetOperand(mask, k)) != 0)
            }
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::target::Cpu;
    use crate::worker::{CodegenOptions, Output, codegen_in_process};
    use crate::{Llvm, Module};

    fn assembly(text: &str) -> String {
        let bitcode = Module::parse(text.as_bytes(), "reads.ll").expect("it can be read").to_bitcode();
        let options = CodegenOptions::new(Cpu::named("skylake-avx512"), Output::Assembly);
        let bytes = codegen_in_process(&bitcode, "reads", &options).expect("code is generated");
        String::from_utf8(bytes).expect("assembly is text")
    }

    /// A function in which the signs that are read lie in a vector beyond the sixteenth: so many live across the read.
    fn crowded(ty: &str, mask: &str, lanes: u32, read: &str) -> String {
        use std::fmt::Write as _;
        let mut text = format!("define i32 @f(ptr %p, <{lanes} x {ty}> %s) {{\n");
        for k in 0..24 {
            writeln!(text, "%p{k} = getelementptr i8, ptr %p, i64 {}", 64 * k).expect("a string");
            writeln!(text, "%v{k} = load volatile <{lanes} x {ty}>, ptr %p{k}").expect("a string");
        }
        // What was loaded first is stored last, so all of it is held, the signs in between.
        write!(text, "%x = load volatile <{lanes} x {ty}>, ptr %p\n{mask}\n{read}\n").expect("a string");
        for k in 0..24 {
            writeln!(text, "store volatile <{lanes} x {ty}> %v{k}, ptr %p{k}").expect("a string");
        }
        text + "ret i32 %bits\n}\n"
    }

    #[test]
    fn bits_of_masks_are_never_read_from_registers_that_movmsk_cannot_name() {
        if Llvm::get().is_err() {
            return eprintln!("skipped: there is no LLVM");
        }
        for (ty, lanes) in
            [("i32", 4), ("i32", 8), ("i64", 2), ("i64", 4), ("i8", 16), ("i8", 32), ("i8", 64)]
        {
            for mask in [
                format!("%m = icmp slt <{lanes} x {ty}> %x, zeroinitializer"),
                format!("%m = trunc <{lanes} x {ty}> %x to <{lanes} x i1>"),
            ] {
                let all = format!("%r = bitcast <{lanes} x i1> %m to i{lanes}");
                let cast = match lanes {
                    32 => "%bits = add i32 %r, 0".to_owned(),
                    33.. => format!("%bits = trunc i{lanes} %r to i32"),
                    _ => format!("%bits = zext i{lanes} %r to i32"),
                };
                let text = assembly(&crowded(ty, &mask, lanes, &format!("{all}\n{cast}")));
                let high = |line: &&str| {
                    line.contains("movmsk") && (16..32).any(|k| line.contains(&format!("mm{k},")))
                };
                assert_eq!(text.lines().find(high), None, "{lanes} x {ty}: {mask}\n{text}");
            }
        }
    }
}
