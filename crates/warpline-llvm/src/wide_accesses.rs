//! Loads and stores of several registers, one register at a time, in the order of memory.
//!
//! LLVM makes the loads of `<64 x i64>` register by register, but in an order of its own (`0x1c0`, `0x100`, `0x140`,
//! `0`, …), in which the processor's prefetchers do not see that they follow each other: where data comes from the
//! second cache, such a loop took 1.7 times as long as in the order of memory. LLVM keeps the order of instructions,
//! so right before code generation each such access becomes several, one for each register. Where shuffles follow or
//! precede, LLVM knows patterns of both, and they stay.

use std::ffi::c_char;

use crate::error::Result;
use crate::ffi::load::functions;
use crate::ffi::types::LLVMOpcode::{LLVMLoad, LLVMShuffleVector, LLVMStore};
use crate::ffi::types::*;
use crate::mask_parts::keep_metadata;
use crate::mask_webs::element_bits;
use crate::masks::Registers;
use crate::module::{Module, instructions_of, opcode, users_of};
use crate::target::TargetMachine;
use crate::vectors::{elements, joined};

const EMPTY: *const c_char = c"".as_ptr();

/// Accesses of more registers stay as they are.
const MOST: u32 = 16;

impl Module {
    /// Takes loads and stores of several vector registers apart, which have `vector_bits` each, if that is known.
    ///
    /// # Errors
    /// If LLVM cannot say what registers the processor has.
    pub(crate) fn split_wide_accesses(
        &mut self,
        machine: &TargetMachine,
        vector_bits: Option<u32>,
    ) -> Result<()> {
        if !machine.triple().starts_with("x86_64") {
            return Ok(());
        }
        let all: Vec<LLVMValueRef> =
            self.functions().flat_map(instructions_of).filter(|&inst| is_plain_access(inst)).collect();
        if all.is_empty() {
            return Ok(());
        }
        let bits = match vector_bits {
            Some(bits) => bits,
            None => Registers::of(machine)?.bits,
        };
        let f = functions();
        // SAFETY: the context of this live module; the builder is used for live instructions of it, and disposed of.
        unsafe {
            let builder = f.LLVMCreateBuilderInContext(self.context());
            let split = Split { context: self.context(), builder, bits };
            for access in all {
                split.access(access);
            }
            f.LLVMDisposeBuilder(builder);
        }
        Ok(())
    }
}

/// Whether an instruction is a plain load or store of a vector.
fn is_plain_access(inst: LLVMValueRef) -> bool {
    let f = functions();
    // SAFETY: a live instruction; accesses are asked whether they are volatile and atomic.
    unsafe {
        opcode(inst).is_some_and(|op| op == LLVMLoad as u32 || op == LLVMStore as u32)
            && element_bits(f.LLVMTypeOf(accessed(inst))).is_some()
            && f.LLVMGetVolatile(inst) == 0
            && f.LLVMGetOrdering(inst) == 0
    }
}

/// What a load yields or a store takes.
///
/// # Safety
/// A live load or store.
unsafe fn accessed(access: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: as the caller promises; the first operand of a store is what it takes.
    unsafe {
        if opcode(access) == Some(LLVMStore as u32) { functions().LLVMGetOperand(access, 0) } else { access }
    }
}

struct Split {
    context: LLVMContextRef,
    builder: LLVMBuilderRef,
    /// Bits of a register.
    bits: u32,
}

impl Split {
    /// Takes an access apart, if it is of several registers and has nothing to do with shuffles.
    ///
    /// # Safety
    /// A live load or store of a vector that is a plain one.
    unsafe fn access(&self, access: LLVMValueRef) {
        let f = functions();
        // SAFETY: as the caller promises. The parts stand where the access does, which nothing refers to when it goes.
        unsafe {
            let whole = accessed(access);
            let ty = f.LLVMTypeOf(whole);
            let (Some(element), lanes) = (element_bits(ty), f.LLVMGetVectorSize(ty)) else { return };
            let of_register = self.bits / element.max(1);
            let fits = matches!(element, 8 | 16 | 32 | 64) && of_register > 0 && lanes.is_power_of_two();
            let count = if fits { lanes / of_register } else { 0 };
            if !(2..=MOST).contains(&count) {
                return;
            }
            let is_shuffle = |v: LLVMValueRef| opcode(v) == Some(LLVMShuffleVector as u32);
            let is_load = whole == access;
            if is_load && users_of(access).into_iter().any(is_shuffle) || !is_load && is_shuffle(whole) {
                return;
            }
            f.LLVMPositionBuilderBefore(self.builder, access);
            let here = (self.context, self.builder);
            let part = f.LLVMVectorType(f.LLVMGetElementType(ty), of_register);
            let pointer = f.LLVMGetOperand(access, u32::from(!is_load));
            let parts: Vec<LLVMValueRef> = (0..count)
                .map(|k| {
                    let at = self.stepped(pointer, k * self.bits / 8);
                    let made = if is_load {
                        f.LLVMBuildLoad2(self.builder, part, at, EMPTY)
                    } else {
                        let value = elements(here, whole, None, k * of_register..(k + 1) * of_register);
                        f.LLVMBuildStore(self.builder, value, at)
                    };
                    let known = f.LLVMGetAlignment(access);
                    f.LLVMSetAlignment(made, if k == 0 { known } else { known.min(self.bits / 8) });
                    keep_metadata(self.context, access, made);
                    f.LLVMInstructionSetDebugLoc(made, f.LLVMInstructionGetDebugLoc(access));
                    made
                })
                .collect();
            if is_load {
                f.LLVMReplaceAllUsesWith(access, joined(here, &parts));
            }
            f.LLVMInstructionEraseFromParent(access);
        }
    }

    /// A pointer so many bytes further.
    ///
    /// # Safety
    /// A live pointer; the builder stands behind it.
    unsafe fn stepped(&self, pointer: LLVMValueRef, bytes: u32) -> LLVMValueRef {
        let f = functions();
        // SAFETY: as the caller promises.
        unsafe {
            if bytes == 0 {
                return pointer;
            }
            let byte = f.LLVMIntTypeInContext(self.context, 8);
            let mut index = f.LLVMConstInt(f.LLVMIntTypeInContext(self.context, 64), bytes.into(), 0);
            f.LLVMBuildGEPWithNoWrapFlags(self.builder, byte, pointer, &raw mut index, 1, EMPTY, 0)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Module;
    use crate::target::{Cpu, TargetMachine};

    const COPY: &str = "define void @copy(ptr noalias %p, ptr noalias %q) {
  %x = load <32 x i64>, ptr %p, align 8
  %y = add <32 x i64> %x, %x
  store <32 x i64> %y, ptr %q, align 8
  %v = load volatile <32 x i64>, ptr %p, align 8
  store volatile <32 x i64> %v, ptr %q, align 8
  %n = load <8 x i64>, ptr %p, align 8
  store <8 x i64> %n, ptr %q, align 8
  %s = load <32 x i64>, ptr %p, align 8
  %h = shufflevector <32 x i64> %s, <32 x i64> poison, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  store <8 x i64> %h, ptr %q, align 8
  ret void
}
";

    #[test]
    fn plain_accesses_of_several_registers_are_one_for_each_register() {
        if crate::Llvm::get().is_err() {
            return eprintln!("skipped: there is no LLVM");
        }
        let mut module = Module::parse(COPY.as_bytes(), "copy.ll").expect("it is LLVM's");
        let machine =
            TargetMachine::new("x86_64-unknown-linux-gnu", &Cpu::named("skylake-avx512")).expect("x86");
        module.split_wide_accesses(&machine, Some(512)).expect("LLVM makes code");
        module.verify().expect("it is right");
        let text = module.to_text();
        assert_eq!(text.matches("load <8 x i64>").count(), 4 + 1, "{text}");
        assert_eq!(text.matches("store <8 x i64>").count(), 4 + 1 + 1, "{text}");
        assert_eq!(text.matches("load volatile <32 x i64>").count(), 1, "{text}");
        assert_eq!(text.matches("load <32 x i64>").count(), 1, "of shuffles: {text}");
        assert!(text.contains("i64 192"), "the last register is 192 bytes further: {text}");
    }
}
