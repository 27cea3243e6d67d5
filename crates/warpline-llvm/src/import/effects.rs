//! Effect records, from LLVM's attributes.

use crate::ffi::types::LLVMOpcode as Opcode;
use crate::ffi::types::*;
use warpline_ir::Effects;

use crate::ffi::load::functions;
use crate::module::{FUNCTION_INDEX, value_name};
use crate::simplify::attribute_kind;

/// What a call may do to memory: pairs of bits (read, write) for arguments, inaccessible memory, and everything else.
#[derive(Clone, Copy)]
struct Memory {
    arguments: u64,
    inaccessible: u64,
    other: u64,
}

impl Memory {
    /// Decodes the value of a `memory` attribute. The first location is argument memory, the second inaccessible
    /// memory; those that follow differ between versions and all count as other memory.
    fn decode(value: u64) -> Self {
        let mut other = 0;
        let mut rest = value >> 4;
        while rest != 0 {
            other |= rest & 0b11;
            rest >>= 2;
        }
        Self { arguments: value & 0b11, inaccessible: (value >> 2) & 0b11, other }
    }

    fn both(self, that: Self) -> Self {
        Self {
            arguments: self.arguments & that.arguments,
            inaccessible: self.inaccessible & that.inaccessible,
            other: self.other & that.other,
        }
    }

    const ANYTHING: Self = Self { arguments: 0b11, inaccessible: 0b11, other: 0b11 };
}

/// The attributes of interest, of a call together with its callee, or of a function.
struct Facts {
    memory: Memory,
    nounwind: bool,
    noreturn: bool,
    willreturn: bool,
    convergent: bool,
    speculatable: bool,
    returns_twice: bool,
}

impl Facts {
    fn effects(&self) -> Effects {
        let Memory { arguments, inaccessible, other } = self.memory;
        let all = arguments | inaccessible | other;
        let mut effects = Effects::empty();
        effects.set(Effects::READS, all & 0b01 != 0);
        effects.set(Effects::WRITES, all & 0b10 != 0);
        effects.set(Effects::ARG_MEMORY_ONLY, arguments != 0 && inaccessible | other == 0);
        effects.set(Effects::INACCESSIBLE_MEMORY_ONLY, inaccessible != 0 && arguments | other == 0);
        // Whoever may write memory that is not an argument may keep a state there, as `rand` does.
        effects.set(Effects::UNKNOWN_RESULT, (inaccessible | other) & 0b10 != 0);
        effects.set(Effects::TRAPS, !self.speculatable);
        effects.set(Effects::DIVERGES, !self.willreturn);
        effects.set(Effects::UNWINDS, !self.nounwind);
        effects.set(Effects::NO_RETURN, self.noreturn);
        effects.set(Effects::CONVERGENT, self.convergent);
        effects.set(Effects::RETURNS_TWICE, self.returns_twice);
        effects
    }
}

/// The record of a function, for calls that say no more; that of an unknown call for anything else.
pub(super) fn of_function(global: LLVMValueRef) -> Effects {
    // SAFETY: a live global value.
    if unsafe { functions().LLVMIsAFunction(global) }.is_null() {
        return Effects::UNKNOWN;
    }
    let flag = |kind| !function_attribute(global, kind).is_null();
    Facts {
        memory: memory_of(function_attribute(global, "memory")),
        nounwind: flag("nounwind"),
        noreturn: flag("noreturn"),
        willreturn: flag("willreturn"),
        convergent: flag("convergent"),
        speculatable: flag("speculatable"),
        returns_twice: flag("returns_twice"),
    }
    .effects()
}

/// Whether a function, by its attributes, is compiled with a sanitizer that knows which memory is there.
pub(super) fn is_sanitized(function: LLVMValueRef) -> bool {
    ["sanitize_address", "sanitize_hwaddress", "sanitize_memory", "sanitize_memtag", "sanitize_thread"]
        .iter()
        .any(|kind| !function_attribute(function, kind).is_null())
}

/// The record of a call, `invoke` or `callbr`.
pub(super) fn of_call(call: LLVMValueRef) -> Effects {
    let f = functions();
    // SAFETY: a live call and its callee.
    unsafe {
        let callee = f.LLVMGetCalledValue(call);
        let callee = if f.LLVMIsAFunction(callee).is_null() { std::ptr::null_mut() } else { callee };
        let assembly = callee.is_null() && !f.LLVMIsAInlineAsm(f.LLVMGetCalledValue(call)).is_null();
        let at_call = |kind| f.LLVMGetCallSiteEnumAttribute(call, FUNCTION_INDEX, attribute_kind(kind));
        let at_callee = |kind| {
            if callee.is_null() { std::ptr::null_mut() } else { function_attribute(callee, kind) }
        };
        let flag = |kind| !at_call(kind).is_null() || !at_callee(kind).is_null();
        // OpenCL's front end marks every call; of an intrinsic its declaration knows better.
        let intrinsic = !callee.is_null() && value_name(callee).starts_with("llvm.");
        let mut effects = Facts {
            memory: memory_of(at_call("memory")).both(memory_of(at_callee("memory"))),
            nounwind: flag("nounwind"),
            noreturn: flag("noreturn"),
            willreturn: flag("willreturn"),
            convergent: if intrinsic { !at_callee("convergent").is_null() } else { flag("convergent") },
            speculatable: flag("speculatable"),
            returns_twice: flag("returns_twice"),
        }
        .effects();
        if assembly && f.LLVMGetInlineAsmHasSideEffects(f.LLVMGetCalledValue(call)) != 0 {
            effects |= Effects::VOLATILE | Effects::UNKNOWN_RESULT;
        }
        // A bundle may carry anything, such as state for deoptimisation. A token of convergence control changes
        // nothing.
        if bundle_tags(call).iter().any(|tag| tag != "convergencectrl") {
            effects |= Effects::READS | Effects::TRAPS;
        }
        effects
    }
}

/// The tags of a call's operand bundles.
fn bundle_tags(call: LLVMValueRef) -> Vec<String> {
    let f = functions();
    // SAFETY: a live call; a bundle is asked for by a number below their count, and freed; pointer and length
    // describe its tag.
    unsafe {
        let tag = |i| {
            let bundle = f.LLVMGetOperandBundleAtIndex(call, i);
            let mut length = 0;
            let start = f.LLVMGetOperandBundleTag(bundle, &raw mut length).cast::<u8>();
            let tag = String::from_utf8_lossy(std::slice::from_raw_parts(start, length)).into_owned();
            f.LLVMDisposeOperandBundle(bundle);
            tag
        };
        (0..f.LLVMGetNumOperandBundles(call)).map(tag).collect()
    }
}

/// The record of an instruction that the IR does not model and that is no call.
pub(super) fn of_opaque(opcode: u32) -> Effects {
    let memory = Effects::READS | Effects::WRITES;
    let is = |ones: &[Opcode]| ones.iter().any(|&one| one as u32 == opcode);
    if is(&[Opcode::LLVMFence]) {
        memory | Effects::ATOMIC
    } else if is(&[Opcode::LLVMAtomicCmpXchg, Opcode::LLVMAtomicRMW, Opcode::LLVMLoad, Opcode::LLVMStore]) {
        memory | Effects::TRAPS | Effects::ATOMIC | Effects::UNKNOWN_RESULT
    } else if is(&[
        Opcode::LLVMVAArg,
        Opcode::LLVMAlloca,
        Opcode::LLVMLandingPad,
        Opcode::LLVMCleanupPad,
        Opcode::LLVMCatchPad,
    ]) {
        memory | Effects::TRAPS | Effects::UNKNOWN_RESULT
    } else if is(&[Opcode::LLVMIndirectBr, Opcode::LLVMSwitch]) {
        Effects::TRAPS
    } else if is(&[Opcode::LLVMResume]) {
        Effects::UNWINDS | Effects::NO_RETURN | Effects::TRAPS
    } else {
        Effects::UNKNOWN
    }
}

fn function_attribute(function: LLVMValueRef, kind: &str) -> LLVMAttributeRef {
    // SAFETY: a live function.
    unsafe { functions().LLVMGetEnumAttributeAtIndex(function, FUNCTION_INDEX, attribute_kind(kind)) }
}

fn memory_of(attribute: LLVMAttributeRef) -> Memory {
    if attribute.is_null() {
        return Memory::ANYTHING;
    }
    // SAFETY: a live attribute with an integer value.
    Memory::decode(unsafe { functions().LLVMGetEnumAttributeValue(attribute) })
}
