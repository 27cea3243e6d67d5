//! Functions that need no stack aligned for vectors.
//!
//! LLVM spills vectors to wherever the stack happens to be aligned for only if it knows before it chooses registers
//! that it may align the stack. So code is made with stacks that are aligned for a vector register, which takes a few
//! instructions at the beginning and at the end of each call. A function without vectors, such as one that only
//! decides which code a short range gets, needs none of them.

use crate::ffi::types::*;

use crate::ffi::load::functions;
use crate::mask_webs::operands_of;
use crate::module::{FUNCTION_INDEX, Module, instructions_of};
use crate::simplify::attribute_kind;

/// The bits that every ABI aligns stacks to.
const USUAL: u64 = 128;

impl Module {
    /// Lets functions without vectors that are wider than stacks are aligned for leave their stack as it is; `bits` are
    /// those of the vectors that all stacks were aligned for.
    pub(crate) fn relax_stacks(&mut self, bits: u32) {
        let kind = attribute_kind("alignstack");
        let f = functions();
        for function in self.functions().collect::<Vec<_>>() {
            // SAFETY: a live function of this module and its attributes.
            unsafe {
                let attribute = f.LLVMGetEnumAttributeAtIndex(function, FUNCTION_INDEX, kind);
                let is_ours =
                    !attribute.is_null() && f.LLVMGetEnumAttributeValue(attribute) == u64::from(bits / 8);
                if is_ours && f.LLVMIsDeclaration(function) == 0 && !has_wide_vectors(function) {
                    f.LLVMRemoveEnumAttributeAtIndex(function, FUNCTION_INDEX, kind);
                }
            }
        }
    }
}

/// Whether an instruction of a function, or one of its operands, is a vector that is wider than stacks are aligned for.
fn has_wide_vectors(function: LLVMValueRef) -> bool {
    instructions_of(function).into_iter().any(|inst| {
        // SAFETY: types of live values.
        let is_wide = |v: LLVMValueRef| unsafe { is_wide(functions().LLVMTypeOf(v)) };
        is_wide(inst) || operands_of(inst).into_iter().any(is_wide)
    })
}

/// # Safety
/// A live type.
unsafe fn is_wide(ty: LLVMTypeRef) -> bool {
    use crate::ffi::types::LLVMTypeKind::{
        LLVMArrayTypeKind, LLVMPointerTypeKind, LLVMScalableVectorTypeKind, LLVMStructTypeKind,
        LLVMVectorTypeKind,
    };
    // What has parts may have vectors.
    let others = [LLVMScalableVectorTypeKind, LLVMStructTypeKind, LLVMArrayTypeKind];
    let f = functions();
    // SAFETY: each question is asked of the kind of type it is for.
    unsafe {
        match f.LLVMGetTypeKind(ty) {
            k if k == LLVMVectorTypeKind as u32 => {
                let elem = f.LLVMGetElementType(ty);
                let is_pointer = f.LLVMGetTypeKind(elem) == LLVMPointerTypeKind as u32;
                let bits = if is_pointer { Some(64) } else { crate::mask_webs::element_bits(ty) };
                bits.is_none_or(|bits| u64::from(bits) * u64::from(f.LLVMGetVectorSize(ty)) > USUAL)
            }
            k => others.into_iter().any(|other| k == other as u32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_functions_with_wide_vectors_keep_an_aligned_stack() {
        if crate::Llvm::get().is_err() {
            return eprintln!("skipped: there is no LLVM");
        }
        let text = "define i32 @scalar(i32 %x) alignstack(32) {
  %y = add i32 %x, 1
  ret i32 %y
}
define <4 x i32> @narrow(<4 x i32> %x) alignstack(32) {
  ret <4 x i32> %x
}
define <8 x i32> @wide(<8 x i32> %x) alignstack(32) {
  ret <8 x i32> %x
}
define i32 @own(i32 %x) alignstack(64) {
  ret i32 %x
}
";
        let mut module = Module::parse(text.as_bytes(), "stacks.ll").expect("it can be read");
        module.relax_stacks(256);
        let kept = |name: &str| {
            let named = |f: &LLVMValueRef| crate::module::value_name(*f) == name;
            let function = module.functions().find(named).expect("it is there");
            crate::simplify::has_attribute(function, "alignstack")
        };
        let names = ["scalar", "narrow", "wide", "own"];
        assert_eq!(names.map(kept), [false, false, true, true]);
    }
}
