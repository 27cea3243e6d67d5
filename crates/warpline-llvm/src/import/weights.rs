//! Branch weights: what a profile, or `__builtin_expect` and its kin, say of how often edges are taken.

use llvm_sys::prelude::*;

use crate::ffi::load::functions;
use crate::parameters::{node_operands, string};

/// What `!prof` says of how often the edges of a branch are taken, in their order; nothing if it does not.
pub(super) fn branch_weights(context: LLVMContextRef, original: LLVMValueRef, edges: usize) -> Vec<u32> {
    let f = functions();
    let name = "prof";
    if edges < 2 {
        return Vec::new();
    }
    // SAFETY: a live context and instruction; pointer and length describe the name.
    let node = unsafe {
        let kind = f.LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as u32);
        f.LLVMGetMetadata(original, kind)
    };
    if node.is_null() {
        return Vec::new();
    }
    let operands = node_operands(node);
    if operands.first().and_then(|&o| string(o)).as_deref() != Some("branch_weights") {
        return Vec::new();
    }
    // A second string may say where the numbers come from.
    let weights: Vec<u32> = operands[1..]
        .iter()
        .filter_map(|&o| {
            // SAFETY: operands are live values or null; only constant integers are asked for their value.
            unsafe {
                let is_constant = !o.is_null() && !f.LLVMIsAConstantInt(o).is_null();
                is_constant.then(|| u32::try_from(f.LLVMConstIntGetZExtValue(o)).unwrap_or(u32::MAX))
            }
        })
        .collect();
    if weights.len() == edges { weights } else { Vec::new() }
}
