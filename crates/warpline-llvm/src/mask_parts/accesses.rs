//! Masked accesses by parts of their masks.

use std::ffi::c_char;

use super::{EMPTY, Parts};
use crate::ffi::load::functions;
use crate::ffi::types::LLVMTypeKind::LLVMPointerTypeKind;
use crate::ffi::types::*;
use crate::mask_webs::element_bits;
use crate::module::value_name;

/// Metadata of an access that holds of each part of it.
const KEPT: [&str; 4] = ["tbaa", "alias.scope", "noalias", "nontemporal"];

/// The accesses that can be taken apart, and whether they are of neighbouring elements.
const ACCESSES: [(&str, bool); 4] = [
    ("llvm.masked.load.", true),
    ("llvm.masked.store.", true),
    ("llvm.masked.gather.", false),
    ("llvm.masked.scatter.", false),
];

impl Parts {
    /// A masked access by the parts of its mask: what they load, nothing of stores; `None` if the call is something
    /// else.
    ///
    /// # Safety
    /// A live user of a live mask that has parts.
    pub(super) unsafe fn accesses(
        &self,
        call: LLVMValueRef,
        mask: LLVMValueRef,
    ) -> Option<Vec<LLVMValueRef>> {
        let f = functions();
        // SAFETY: as the caller promises; a call is asked for what is called.
        unsafe {
            if f.LLVMIsACallInst(call).is_null() {
                return None;
            }
            let callee = f.LLVMGetCalledValue(call);
            let name = value_name(callee);
            let (_, neighbours) = ACCESSES.into_iter().find(|(prefix, _)| name.starts_with(prefix))?;
            let arguments: Vec<LLVMValueRef> =
                (0..f.LLVMGetNumArgOperands(call)).map(|k| f.LLVMGetOperand(call, k)).collect();
            let (value, bytes) = self.accessed(call, &arguments)?;
            let operands: Vec<Vec<LLVMValueRef>> = arguments
                .iter()
                .map(|&argument| {
                    let ty = f.LLVMTypeOf(argument);
                    if argument == mask {
                        self.of[&mask].clone()
                    } else if element_bits(ty).is_some() || is_vector(ty) {
                        self.cut(argument, call)
                    } else if f.LLVMGetTypeKind(ty) == LLVMPointerTypeKind as u32 {
                        self.stepped(argument, value, call)
                    } else {
                        vec![
                            self.alignment(argument, if neighbours { bytes } else { 0 });
                            self.count as usize
                        ]
                    }
                })
                .collect();
            f.LLVMPositionBuilderBefore(self.builder, call);
            let pointer = arguments.iter().zip(&operands).find(|(whole, _)| points(f.LLVMTypeOf(**whole)));
            let mut types = [value, f.LLVMTypeOf(pointer?.1[0])];
            let module = f.LLVMGetGlobalParent(callee);
            let id = f.LLVMGetIntrinsicID(callee);
            let part = f.LLVMGetIntrinsicDeclaration(module, id, types.as_mut_ptr(), types.len());
            let ty = f.LLVMGlobalGetValueType(part);
            let made = (0..self.count as usize).map(|k| {
                let mut operands: Vec<LLVMValueRef> = operands.iter().map(|v| v[k]).collect();
                let made = f.LLVMBuildCall2(
                    self.builder,
                    ty,
                    part,
                    operands.as_mut_ptr(),
                    operands.len() as u32,
                    EMPTY,
                );
                keep_metadata(self.context, call, made);
                made
            });
            Some(made.collect())
        }
    }

    /// The type of a part of what a call loads or stores, and its bytes; `None` if parts might not
    /// lie as close as elements do.
    ///
    /// # Safety
    /// A live call of an access, and its arguments.
    unsafe fn accessed(&self, call: LLVMValueRef, arguments: &[LLVMValueRef]) -> Option<(LLVMTypeRef, u32)> {
        let f = functions();
        // SAFETY: as the caller promises.
        unsafe {
            let result = f.LLVMTypeOf(call);
            let whole = if is_vector(result) { result } else { f.LLVMTypeOf(*arguments.first()?) };
            let bits = element_bits(whole).filter(|bits| matches!(bits, 8 | 16 | 32 | 64))?;
            Some((f.LLVMVectorType(f.LLVMGetElementType(whole), self.lanes), bits / 8 * self.lanes))
        }
    }

    /// Where the parts of a vector lie in memory.
    ///
    /// # Safety
    /// A live pointer, the type of a part, and a live instruction behind the pointer.
    unsafe fn stepped(
        &self,
        pointer: LLVMValueRef,
        part: LLVMTypeRef,
        at: LLVMValueRef,
    ) -> Vec<LLVMValueRef> {
        let f = functions();
        // SAFETY: as the caller promises.
        unsafe {
            f.LLVMPositionBuilderBefore(self.builder, at);
            let number = f.LLVMIntTypeInContext(self.context, 64);
            let step = |k: u32| {
                let mut index = f.LLVMConstInt(number, k.into(), 0);
                // A part of which no lane is active may lie outside of the object.
                f.LLVMBuildGEPWithNoWrapFlags(self.builder, part, pointer, &raw mut index, 1, EMPTY, 0)
            };
            (0..self.count).map(step).collect()
        }
    }

    /// What is known of the alignment of all parts, if an argument is an alignment: a power of two.
    ///
    /// # Safety
    /// A live argument.
    unsafe fn alignment(&self, argument: LLVMValueRef, bytes: u32) -> LLVMValueRef {
        let f = functions();
        // SAFETY: as the caller promises; a constant integer is asked for its value.
        unsafe {
            if f.LLVMIsAConstantInt(argument).is_null() || bytes == 0 {
                return argument;
            }
            let known = f.LLVMConstIntGetZExtValue(argument);
            f.LLVMConstInt(f.LLVMTypeOf(argument), known.min(1 << bytes.trailing_zeros()), 0)
        }
    }
}

/// Gives a part what metadata says of the whole access.
///
/// # Safety
/// Two live instructions.
pub(crate) unsafe fn keep_metadata(context: LLVMContextRef, whole: LLVMValueRef, part: LLVMValueRef) {
    let f = functions();
    for kept in KEPT {
        // SAFETY: as the caller promises; the name has its length beside it.
        unsafe {
            let name: *const c_char = kept.as_ptr().cast();
            let kind = f.LLVMGetMDKindIDInContext(context, name, kept.len() as u32);
            let node = f.LLVMGetMetadata(whole, kind);
            if !node.is_null() {
                f.LLVMSetMetadata(part, kind, node);
            }
        }
    }
}

fn is_vector(ty: LLVMTypeRef) -> bool {
    // SAFETY: a live type.
    unsafe { functions().LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMVectorTypeKind as u32 }
}

/// Whether a type is that of a pointer, or of several.
fn points(ty: LLVMTypeRef) -> bool {
    let f = functions();
    // SAFETY: a live type; a vector is asked for its elements.
    unsafe {
        let scalar = if is_vector(ty) { f.LLVMGetElementType(ty) } else { ty };
        f.LLVMGetTypeKind(scalar) == LLVMPointerTypeKind as u32
    }
}
