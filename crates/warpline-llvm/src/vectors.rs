//! Parts of vectors, and vectors of parts, in LLVM's modules.

use crate::ffi::load::functions;
use crate::ffi::types::*;

const EMPTY: *const std::ffi::c_char = c"".as_ptr();

/// Neighbouring elements of a vector, or of two of the same type, one behind the other.
///
/// # Safety
/// A live context, and a builder that stands behind both vectors.
pub(crate) unsafe fn elements(
    (context, builder): (LLVMContextRef, LLVMBuilderRef),
    a: LLVMValueRef,
    b: Option<LLVMValueRef>,
    places: std::ops::Range<u32>,
) -> LLVMValueRef {
    let f = functions();
    // SAFETY: as the caller promises.
    unsafe {
        let b = b.unwrap_or_else(|| f.LLVMGetPoison(f.LLVMTypeOf(a)));
        let number = f.LLVMIntTypeInContext(context, 32);
        let mut places: Vec<LLVMValueRef> = places.map(|k| f.LLVMConstInt(number, k.into(), 0)).collect();
        let places = f.LLVMConstVector(places.as_mut_ptr(), places.len() as u32);
        f.LLVMBuildShuffleVector(builder, a, b, places, EMPTY)
    }
}

/// Vectors of one type in one; their number is a power of two.
///
/// # Safety
/// As of [`elements`].
pub(crate) unsafe fn joined(at: (LLVMContextRef, LLVMBuilderRef), parts: &[LLVMValueRef]) -> LLVMValueRef {
    match *parts {
        [whole] => whole,
        _ => {
            let (low, high) = parts.split_at(parts.len() / 2);
            // SAFETY: as the caller promises.
            unsafe {
                let f = functions();
                let lanes = f.LLVMGetVectorSize(f.LLVMTypeOf(parts[0])) * parts.len() as u32;
                elements(at, joined(at, low), Some(joined(at, high)), 0..lanes)
            }
        }
    }
}
