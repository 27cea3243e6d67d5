//! Calls of OpenCL C's `printf` with vectors, made calls of the C library's with their elements.
//!
//! What a vector is as an argument is up to clang and the target: a vector, an integer or a `double` with the same
//! bits (`char4`, `float2` on x86-64), or a copy in memory (`float8` without AVX). The format says what it is.

use crate::ffi::types::LLVMOpcode::{LLVMBitCast, LLVMFPExt, LLVMSExt, LLVMZExt};
use crate::ffi::types::LLVMTypeKind::{LLVMDoubleTypeKind, LLVMFloatTypeKind, LLVMHalfTypeKind};
use crate::ffi::types::LLVMTypeKind::{LLVMIntegerTypeKind, LLVMVectorTypeKind};
use crate::ffi::types::*;

use super::formats::{Conversion, Element, Format, VectorConversion};
use crate::ffi::load::functions;
use crate::module::{FUNCTION_INDEX, Module, c_string};
use crate::simplify::{attribute_kind, calls_of, has_body};

/// The function that is called in the place of `printf` where vectors cannot be taken apart: nobody defines it.
const REFUSED: &str = warpline_ir::group_functions::PRINTF_OF_OTHER_VECTORS;

const EMPTY: *const std::ffi::c_char = c"".as_ptr();

impl Module {
    /// Makes calls of `printf` calls of the C library's, which do not depend on who calls it together, and those with
    /// vectors ones with their elements. Where format and arguments do not fit each other, what is called is a function
    /// that has no body and is refused by its name.
    pub(crate) fn print_by_the_c_library(&mut self) {
        let Some(printf) = self.named("printf").filter(|&printf| !has_body(printf)) else { return };
        let f = functions();
        let convergent = attribute_kind("convergent");
        // SAFETY: a function of this live module.
        unsafe { f.LLVMRemoveEnumAttributeAtIndex(printf, FUNCTION_INDEX, convergent) };
        for call in calls_of(printf) {
            // SAFETY: a call of this live module.
            unsafe { f.LLVMRemoveCallSiteEnumAttribute(call, FUNCTION_INDEX, convergent) };
            // SAFETY: a call of this live module, which has a format where it has arguments.
            let text =
                unsafe { (f.LLVMGetNumArgOperands(call) > 0).then(|| literal(f.LLVMGetOperand(call, 0))) };
            let Some(text) = text.flatten().filter(|text| text.contains('%')) else { continue };
            let format = Format::read(&text);
            if format.as_ref().is_some_and(|format| !format.has_vectors()) || !may_have_vectors(&text) {
                continue;
            }
            let apart = format.and_then(|format| self.apart(call, &format));
            // SAFETY: a call of this live module, and a function of the same type.
            unsafe {
                match apart {
                    Some(apart) => {
                        f.LLVMReplaceAllUsesWith(call, apart);
                        f.LLVMInstructionEraseFromParent(call);
                    }
                    None => {
                        let refused = self.named(REFUSED).unwrap_or_else(|| {
                            let ty = f.LLVMGlobalGetValueType(printf);
                            f.LLVMAddFunction(self.raw(), c_string(REFUSED).as_ptr(), ty)
                        });
                        // The last operand of a call is what it calls.
                        f.LLVMSetOperand(call, f.LLVMGetNumOperands(call) as u32 - 1, refused);
                    }
                }
            }
        }
    }

    /// A call with elements in front of a call with vectors; `None` if the format does not fit the arguments.
    fn apart(&self, call: LLVMValueRef, format: &Format) -> Option<LLVMValueRef> {
        let f = functions();
        // SAFETY: a call of this live module; the builder is disposed of.
        unsafe {
            let builder = f.LLVMCreateBuilderInContext(self.context());
            f.LLVMPositionBuilderBefore(builder, call);
            let made = self.elements(builder, call, format).map(|(bits, mut arguments)| {
                let text = c_string(&format.apart(&bits));
                arguments[0] = f.LLVMBuildGlobalStringPtr(builder, text.as_ptr(), c"format".as_ptr());
                let (ty, printf) = (f.LLVMGetCalledFunctionType(call), f.LLVMGetCalledValue(call));
                f.LLVMBuildCall2(builder, ty, printf, arguments.as_mut_ptr(), arguments.len() as u32, EMPTY)
            });
            f.LLVMDisposeBuilder(builder);
            made
        }
    }

    /// The sizes of elements of the vectors of a call, and its arguments with elements in the place of vectors.
    ///
    /// # Safety
    /// The builder stands in front of the call, which has an argument.
    unsafe fn elements(
        &self,
        builder: LLVMBuilderRef,
        call: LLVMValueRef,
        format: &Format,
    ) -> Option<(Vec<u32>, Vec<LLVMValueRef>)> {
        let f = functions();
        // SAFETY: arguments below the number of arguments.
        unsafe {
            let given = f.LLVMGetNumArgOperands(call);
            let mut arguments = vec![f.LLVMGetOperand(call, 0)];
            let mut sizes = Vec::new();
            let mut next = 1;
            // Checked before anything is built.
            for conversion in format.conversions() {
                let argument = (next < given).then(|| Argument::of(call, next))?;
                if let Conversion::Vector(vector) = conversion {
                    sizes.push(argument.slots(vector)?);
                }
                next += 1;
            }
            let mut shapes = sizes.iter();
            for (argument, conversion) in (1..given).zip(format.conversions()) {
                let argument = Argument::of(call, argument);
                match conversion {
                    Conversion::Vector(vector) => {
                        let &(slots, bits) = shapes.next()?;
                        arguments.extend(self.extracted(builder, &argument, vector, slots, bits));
                    }
                    Conversion::One => arguments.push(argument.value),
                }
            }
            arguments.extend((next..given).map(|argument| f.LLVMGetOperand(call, argument)));
            Some((sizes.into_iter().map(|(_, bits)| bits).collect(), arguments))
        }
    }

    /// The elements of a vector, as C's `printf` takes them.
    ///
    /// # Safety
    /// The builder stands where the argument is known, and the vector has so many slots of so many bits.
    unsafe fn extracted(
        &self,
        builder: LLVMBuilderRef,
        argument: &Argument,
        vector: &VectorConversion,
        slots: u32,
        bits: u32,
    ) -> Vec<LLVMValueRef> {
        let f = functions();
        let context = self.context();
        // SAFETY: the types have the size of the argument; indices are below the number of slots.
        unsafe {
            let int = |bits| f.LLVMIntTypeInContext(context, bits);
            let element = match (vector.element(), bits) {
                (Element::Float, 16) => f.LLVMHalfTypeInContext(context),
                (Element::Float, 32) => f.LLVMFloatTypeInContext(context),
                (Element::Float, _) => f.LLVMDoubleTypeInContext(context),
                _ => int(bits),
            };
            let ty = f.LLVMVectorType(element, slots);
            let value = match argument.in_memory {
                true => f.LLVMBuildLoad2(builder, ty, argument.value, EMPTY),
                false => f.LLVMBuildCast(builder, LLVMBitCast as u32, argument.value, ty, EMPTY),
            };
            let promoted = |value: LLVMValueRef| match vector.element() {
                Element::Float if bits < 64 => {
                    let double = f.LLVMDoubleTypeInContext(context);
                    f.LLVMBuildCast(builder, LLVMFPExt as u32, value, double, EMPTY)
                }
                Element::Integer { signed } if bits < 32 => {
                    let extension = if signed { LLVMSExt } else { LLVMZExt };
                    f.LLVMBuildCast(builder, extension as u32, value, int(32), EMPTY)
                }
                _ => value,
            };
            (0..vector.elements)
                .map(|k| {
                    f.LLVMBuildExtractElement(builder, value, f.LLVMConstInt(int(32), k.into(), 0), EMPTY)
                })
                .map(promoted)
                .collect()
        }
    }
}

/// Whether a format may mean a vector, read or not.
fn may_have_vectors(text: &str) -> bool {
    text.split('%')
        .skip(1)
        .any(|part| part.trim_start_matches(|c: char| "-+ #0123456789.*".contains(c)).starts_with('v'))
}

/// An argument of a call.
struct Argument {
    value: LLVMValueRef,
    /// The type of what is passed.
    ty: LLVMTypeRef,
    /// Whether a pointer to a copy is passed.
    in_memory: bool,
}

impl Argument {
    /// # Safety
    /// The call has so many arguments.
    unsafe fn of(call: LLVMValueRef, index: u32) -> Argument {
        let f = functions();
        // SAFETY: a live call, and attributes count from 1; the attribute has a type.
        unsafe {
            let value = f.LLVMGetOperand(call, index);
            let copy = f.LLVMGetCallSiteEnumAttribute(call, index + 1, attribute_kind("byval"));
            match copy.is_null() {
                true => Argument { value, ty: f.LLVMTypeOf(value), in_memory: false },
                false => Argument { value, ty: f.LLVMGetTypeAttributeValue(copy), in_memory: true },
            }
        }
    }

    /// How many elements of how many bits it has room for as the vector that a conversion says: three elements may be
    /// passed as four. `None` if it is no such vector.
    fn slots(&self, vector: &VectorConversion) -> Option<(u32, u32)> {
        let size = size(self.ty)?;
        let of = |slots: u32| {
            let bits = size / slots;
            let is_size = match vector.element() {
                Element::Float => matches!(bits, 16 | 32 | 64),
                Element::Integer { .. } => matches!(bits, 8 | 16 | 32 | 64),
            };
            let fits = vector.bits.is_none_or(|said| said == bits);
            (size.is_multiple_of(slots) && is_size && fits).then_some((slots, bits))
        };
        match vector.elements {
            3 => of(4).or_else(|| of(3)),
            elements => of(elements),
        }
    }
}

/// The size in bits of a number or a vector of numbers.
fn size(ty: LLVMTypeRef) -> Option<u32> {
    let f = functions();
    let kinds = [(LLVMHalfTypeKind, 16), (LLVMFloatTypeKind, 32), (LLVMDoubleTypeKind, 64)];
    // SAFETY: a live type, asked for what its kind has.
    unsafe {
        let kind = f.LLVMGetTypeKind(ty);
        if kind == LLVMIntegerTypeKind as u32 {
            return Some(f.LLVMGetIntTypeWidth(ty));
        }
        if kind == LLVMVectorTypeKind as u32 {
            return size(f.LLVMGetElementType(ty))?.checked_mul(f.LLVMGetVectorSize(ty));
        }
        kinds.into_iter().find(|&(of, _)| of as u32 == kind).map(|(_, bits)| bits)
    }
}

/// The text of a constant of the module, up to its end; `None` if it is none, or no UTF-8.
fn literal(pointer: LLVMValueRef) -> Option<String> {
    let f = functions();
    // SAFETY: a live value, asked for what it is; the string belongs to the module and is copied.
    unsafe {
        let global = f.LLVMIsAGlobalVariable(pointer);
        if global.is_null() || f.LLVMIsGlobalConstant(global) == 0 {
            return None;
        }
        let initial = f.LLVMGetInitializer(global);
        if initial.is_null() || f.LLVMIsConstantString(initial) == 0 {
            return None;
        }
        let mut length = 0;
        let bytes = f.LLVMGetAsString(initial, &raw mut length);
        let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), length);
        let text = bytes.split(|&byte| byte == 0).next()?;
        std::str::from_utf8(text).ok().map(str::to_owned)
    }
}
