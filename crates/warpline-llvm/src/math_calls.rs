//! Calls of mathematics where nobody reads `errno`.
//!
//! clang takes `sqrtf(x)` for a call that may write memory, unless `-fno-math-errno` is given: for all that is known, it
//! changes every value that is loaded behind it. Lanes have one `errno` together, so that nothing is promised of it in
//! vector code; where the module does not name it, its mathematics has no effect but its result.
//!
//! Functions that round to integers (`lrintf`) become a rounding and a conversion, of which there are vector forms. C
//! leaves open what they yield where the integer type has no such number: there it is any number.

use crate::ffi::load::functions;
use crate::ffi::types::LLVMOpcode::LLVMFPToSI;
use crate::ffi::types::LLVMTypeKind::{LLVMDoubleTypeKind, LLVMFloatTypeKind, LLVMIntegerTypeKind};
use crate::ffi::types::{LLVMTypeRef, LLVMValueRef};
use warpline_ir::{FloatKind, Type};
use warpline_vectorize::known_calls::{instruction, writes_only_errno};

use crate::module::{FUNCTION_INDEX, Module, value_name};
use crate::simplify::{attribute_kind, calls_of, has_body};

/// What C libraries call the function behind `errno`: of GNU and musl, of macOS and the BSDs, of Windows, of Android.
const ERRNO: [&str; 4] = ["__errno_location", "__error", "_errno", "__errno"];

impl Module {
    /// Makes calls of the C library's mathematics free of effects, unless something in the module reads `errno`: those
    /// that are an instruction on most machines become the intrinsics for that, which may be made speculatively; of
    /// others it is said that they write no memory.
    pub(crate) fn forget_errno(&self) {
        if reads_errno(self) {
            return;
        }
        for function in self.functions().filter(|&function| !has_body(function)).collect::<Vec<_>>() {
            let name = value_name(function);
            if let Some(rounding) = rounding(&name) {
                self.round_by(rounding, function);
                continue;
            }
            let Some(ty) = number_type(function).filter(|&ty| writes_only_errno(&name, ty)) else { continue };
            let intrinsic = instruction(&name, ty).and_then(|base| self.intrinsic_like(base, function));
            for call in calls_of(function).into_iter().filter(|&call| is_ordinary(call)) {
                match intrinsic {
                    Some(intrinsic) => set_callee(call, intrinsic),
                    None => self.promise_no_effect(call),
                }
            }
        }
    }

    /// Says of a call that nothing comes of it but its result.
    pub(crate) fn promise_no_effect(&self, call: LLVMValueRef) {
        // `memory` with the value 0 is `memory(none)`.
        ["memory", "nounwind", "willreturn"].iter().for_each(|kind| self.add_call_attribute(call, kind));
    }

    /// The intrinsic of this base name that takes and yields what a function does.
    fn intrinsic_like(&self, base: &str, function: LLVMValueRef) -> Option<LLVMValueRef> {
        let f = functions();
        // SAFETY: types of live functions of this live module.
        unsafe {
            let ty = f.LLVMGlobalGetValueType(function);
            let intrinsic = self.intrinsic(base, f.LLVMGetReturnType(ty));
            (f.LLVMGlobalGetValueType(intrinsic) == ty).then_some(intrinsic)
        }
    }

    /// The intrinsic of this base name for a type.
    fn intrinsic(&self, base: &str, ty: LLVMTypeRef) -> LLVMValueRef {
        let f = functions();
        // SAFETY: pointer and length describe the name; a live type, the one on which the intrinsic is overloaded.
        unsafe {
            let id = f.LLVMLookupIntrinsicID(base.as_ptr().cast(), base.len());
            f.LLVMGetIntrinsicDeclaration(self.raw(), id, [ty].as_mut_ptr(), 1)
        }
    }

    /// Makes calls of a function that rounds to an integer, if it takes a `float` or `double`, a call of an intrinsic
    /// that rounds and a conversion.
    fn round_by(&self, rounding: &str, function: LLVMValueRef) {
        let f = functions();
        // SAFETY: a live function, its types and its calls, which have an operand for its one parameter. What takes a
        // call's place has its type and stands where it stood; nothing refers to the call when it goes.
        unsafe {
            let ty = f.LLVMGlobalGetValueType(function);
            let result = f.LLVMGetReturnType(ty);
            if f.LLVMCountParamTypes(ty) != 1 || f.LLVMGetTypeKind(result) != LLVMIntegerTypeKind as u32 {
                return;
            }
            let number = f.LLVMTypeOf(f.LLVMGetParam(function, 0));
            if ![LLVMFloatTypeKind, LLVMDoubleTypeKind]
                .iter()
                .any(|&kind| f.LLVMGetTypeKind(number) == kind as u32)
            {
                return;
            }
            let intrinsic = self.intrinsic(rounding, number);
            let rounds = f.LLVMGlobalGetValueType(intrinsic);
            let builder = f.LLVMCreateBuilderInContext(self.context());
            for call in calls_of(function).into_iter().filter(|&call| is_ordinary(call)) {
                f.LLVMPositionBuilderBefore(builder, call);
                let mut args = [f.LLVMGetOperand(call, 0)];
                let name = c"".as_ptr();
                let whole = f.LLVMBuildCall2(builder, rounds, intrinsic, args.as_mut_ptr(), 1, name);
                f.LLVMInstructionSetDebugLoc(whole, f.LLVMInstructionGetDebugLoc(call));
                let integer = f.LLVMBuildCast(builder, LLVMFPToSI as u32, whole, result, name);
                let any = f.LLVMBuildFreeze(builder, integer, name);
                f.LLVMReplaceAllUsesWith(call, any);
                f.LLVMInstructionEraseFromParent(call);
            }
            f.LLVMDisposeBuilder(builder);
        }
    }
}

/// Whether something in a module may read `errno`.
pub(crate) fn reads_errno(module: &Module) -> bool {
    ERRNO.iter().any(|name| module.named(name).is_some())
}

/// How a function or intrinsic of this name rounds to an integer, if it does.
fn rounding(name: &str) -> Option<&'static str> {
    let base = match name.strip_prefix("llvm.") {
        Some(rest) => rest.split('.').next()?,
        None => name.strip_suffix('f').unwrap_or(name),
    };
    match base {
        "lrint" | "llrint" => Some("llvm.rint"),
        "lround" | "llround" => Some("llvm.round"),
        _ => None,
    }
}

/// Has a call call another function of the same type.
fn set_callee(call: LLVMValueRef, callee: LLVMValueRef) {
    let f = functions();
    // SAFETY: a live call, whose last operand is its callee.
    unsafe {
        let last = f.LLVMGetNumOperands(call) as u32 - 1;
        f.LLVMSetOperand(call, last, callee);
    }
}

/// The type of a function's result, if that is `float` or `double` and its first parameter is too.
fn number_type(function: LLVMValueRef) -> Option<Type> {
    let f = functions();
    // SAFETY: the type of a live function; its parameters' types are written to a vector of their number.
    unsafe {
        let ty = f.LLVMGlobalGetValueType(function);
        let mut parameters: Vec<LLVMTypeRef> = vec![std::ptr::null_mut(); f.LLVMCountParamTypes(ty) as usize];
        f.LLVMGetParamTypes(ty, parameters.as_mut_ptr());
        let result = f.LLVMGetTypeKind(f.LLVMGetReturnType(ty));
        let first = f.LLVMGetTypeKind(*parameters.first()?);
        let kind = match result {
            kind if kind == LLVMFloatTypeKind as u32 => FloatKind::Float,
            kind if kind == LLVMDoubleTypeKind as u32 => FloatKind::Double,
            _ => return None,
        };
        (result == first && parameters.iter().all(|&p| is_number(p))).then_some(Type::Float(kind))
    }
}

/// Whether a type is a number's: nothing can be written through it.
fn is_number(ty: LLVMTypeRef) -> bool {
    // SAFETY: a live type.
    let kind = unsafe { functions().LLVMGetTypeKind(ty) };
    [LLVMFloatTypeKind, LLVMDoubleTypeKind, LLVMIntegerTypeKind].iter().any(|&number| kind == number as u32)
}

/// Whether a call is one of the library's function, as `-fno-builtin` has clang deny, in the usual mode of rounding.
pub(crate) fn is_ordinary(call: LLVMValueRef) -> bool {
    let has = |kind| {
        // SAFETY: a live call.
        unsafe {
            !functions().LLVMGetCallSiteEnumAttribute(call, FUNCTION_INDEX, attribute_kind(kind)).is_null()
        }
    };
    // SAFETY: a live instruction.
    let is_call = unsafe { !functions().LLVMIsACallInst(call).is_null() };
    is_call && !has("nobuiltin") && !has("strictfp")
}
