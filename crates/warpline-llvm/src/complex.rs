//! Complex numbers of C and C++: calls of which it is known that they compute and do nothing else.
//!
//! `a * b` of complex numbers is four products, a difference and a sum, and where both results are NaNs a call of
//! `__mulsc3` or `__muldc3` (C17, Annex G), which finds the infinities that may be meant; `a / b` is a call anyhow.
//! Front ends declare these functions with no promise, so that they might write any memory. Their results are those of
//! the library that is linked, so they are called as they are.
//!
//! Absolute values and arguments are functions of two numbers, of which there are vector forms: C libraries have
//! `cabs(z)` call `hypot`, and `carg(z)` `atan2`.

use crate::ffi::load::functions;
use crate::ffi::types::LLVMTypeKind::{LLVMDoubleTypeKind, LLVMFloatTypeKind, LLVMVectorTypeKind};
use crate::ffi::types::*;

use crate::math_calls::{is_ordinary, reads_errno};
use crate::module::{Module, c_string};
use crate::simplify::{calls_of, has_body};

/// Products and quotients, of `float` and `double`, which set nothing.
const ARITHMETIC: [&str; 4] = ["__mulsc3", "__muldc3", "__divsc3", "__divdc3"];

/// Functions of the C library, for `double`; with an `f` behind it, for `float`.
const MATHEMATICS: [&str; 17] = [
    "cacos", "cacosh", "casin", "casinh", "catan", "catanh", "ccos", "ccosh", "cexp", "clog", "cpow",
    "cproj", "csin", "csinh", "csqrt", "ctan", "ctanh",
];

/// Functions that are others of the parts of a number, and whether of the imaginary part first.
const OF_PARTS: [(&str, &str, bool); 4] = [
    ("cabs", "hypot", false),
    ("cabsf", "hypotf", false),
    ("carg", "atan2", true),
    ("cargf", "atan2f", true),
];

impl Module {
    /// Says of calls for complex numbers that they have no effect but their result, and has calls for their absolute
    /// values and arguments call what these are of their parts.
    pub(crate) fn know_complex_numbers(&self) {
        for (name, of_parts, imaginary_first) in OF_PARTS {
            self.call_with_parts(name, of_parts, imaginary_first);
        }
        let mathematics = if reads_errno(self) { &[][..] } else { &MATHEMATICS };
        let names = mathematics.iter().flat_map(|&name| [name.to_owned(), format!("{name}f")]);
        let names = names.chain(ARITHMETIC.map(str::to_owned));
        for function in names.filter_map(|name| self.named(&name)).filter(|&function| !has_body(function)) {
            for call in calls_of(function).into_iter().filter(|&call| is_ordinary(call)) {
                self.promise_no_effect(call);
            }
        }
    }

    /// Has calls of a function of one complex number call one of its parts instead.
    fn call_with_parts(&self, name: &str, of_parts: &str, imaginary_first: bool) {
        let Some(function) = self.named(name).filter(|&function| !has_body(function)) else { return };
        let f = functions();
        // SAFETY: a live function, its type and its calls. What takes a call's place has its type and stands where it
        // stood; nothing refers to the call when it goes.
        unsafe {
            let result = f.LLVMGetReturnType(f.LLVMGlobalGetValueType(function));
            let kind = f.LLVMGetTypeKind(result);
            if ![LLVMFloatTypeKind, LLVMDoubleTypeKind].iter().any(|&number| kind == number as u32) {
                return;
            }
            let ty = f.LLVMFunctionType(result, [result; 2].as_mut_ptr(), 2, 0);
            let callee = self
                .named(of_parts)
                .unwrap_or_else(|| f.LLVMAddFunction(self.raw(), c_string(of_parts).as_ptr(), ty));
            if f.LLVMGlobalGetValueType(callee) != ty {
                return;
            }
            let builder = f.LLVMCreateBuilderInContext(self.context());
            for call in calls_of(function).into_iter().filter(|&call| is_ordinary(call)) {
                f.LLVMPositionBuilderBefore(builder, call);
                let Some(mut parts) = self.parts(builder, call, result) else { continue };
                if imaginary_first {
                    parts.reverse();
                }
                let new = f.LLVMBuildCall2(builder, ty, callee, parts.as_mut_ptr(), 2, c"".as_ptr());
                f.LLVMInstructionSetDebugLoc(new, f.LLVMInstructionGetDebugLoc(call));
                f.LLVMReplaceAllUsesWith(call, new);
                f.LLVMInstructionEraseFromParent(call);
            }
            f.LLVMDisposeBuilder(builder);
        }
    }

    /// The real and the imaginary part of what is passed: two numbers, or both in a vector.
    ///
    /// # Safety
    /// A live builder, call, and type of the parts.
    unsafe fn parts(
        &self,
        builder: LLVMBuilderRef,
        call: LLVMValueRef,
        number: LLVMTypeRef,
    ) -> Option<[LLVMValueRef; 2]> {
        let f = functions();
        // SAFETY: as the caller promises; the last operand is the callee, a vector has elements.
        unsafe {
            let count = f.LLVMGetNumOperands(call) as u32 - 1;
            let args: Vec<LLVMValueRef> = (0..count).map(|k| f.LLVMGetOperand(call, k)).collect();
            match args[..] {
                [re, im] if [re, im].iter().all(|&part| f.LLVMTypeOf(part) == number) => Some([re, im]),
                [both] => {
                    let ty = f.LLVMTypeOf(both);
                    let is_pair = f.LLVMGetTypeKind(ty) == LLVMVectorTypeKind as u32
                        && f.LLVMGetVectorSize(ty) == 2
                        && f.LLVMGetElementType(ty) == number;
                    let int = f.LLVMIntTypeInContext(self.context(), 64);
                    let part =
                        |k| f.LLVMBuildExtractElement(builder, both, f.LLVMConstInt(int, k, 0), c"".as_ptr());
                    is_pair.then(|| [part(0), part(1)])
                }
                _ => None,
            }
        }
    }
}
