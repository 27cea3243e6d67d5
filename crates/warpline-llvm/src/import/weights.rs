//! Branch weights: what a profile, or `__builtin_expect` and its kin, say of how often edges are taken.

use crate::ffi::types::*;

use crate::parameters::{attached, integer, node_operands, string};

/// What `!prof` says of how often the edges of a branch are taken, in their order; nothing if it does not.
pub(super) fn branch_weights(context: LLVMContextRef, original: LLVMValueRef, edges: usize) -> Vec<u32> {
    let node = (edges >= 2).then(|| attached(context, original, "prof")).flatten();
    let operands = node.map_or(Vec::new(), node_operands);
    if operands.first().and_then(|&o| string(o)).as_deref() != Some("branch_weights") {
        return Vec::new();
    }
    // A second string may say where the numbers come from.
    let numbers = operands[1..].iter().filter_map(|&o| integer(o));
    let weights: Vec<u32> = numbers.map(|n| u32::try_from(n).unwrap_or(u32::MAX)).collect();
    if weights.len() == edges { weights } else { Vec::new() }
}
