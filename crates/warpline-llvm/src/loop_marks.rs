//! Loops that the program itself marks as ones whose iterations may be executed side by side.

use llvm_sys::prelude::*;
use warpline::ir::{Block, FuncId};

use crate::ffi::load::functions;
use crate::import::Imported;
use crate::parameters::{attached, integer, node_operands, string};

/// A loop that says of itself that it is to be vectorized, and that its iterations do not depend on each other through memory: in C by
/// `#pragma omp simd` or `#pragma clang loop vectorize(assume_safety)`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct MarkedLoop {
    /// The function.
    pub func: FuncId,
    /// The block that leads back to the loop's header.
    pub latch: Block,
    /// How many iterations the mark wants side by side, if it says so.
    pub width: Option<u32>,
}

impl Imported {
    /// The marked loops of all functions, by function and block.
    pub fn marked_loops(&self) -> Vec<MarkedLoop> {
        let (f, context) = (functions(), self.bridge.module().context());
        let mut marked = Vec::new();
        for (&func, body) in &self.bridge.bodies {
            for (&latch, &block) in &body.blocks {
                // SAFETY: a live block of the module.
                let terminator = unsafe { f.LLVMGetBasicBlockTerminator(block) };
                let node = (!terminator.is_null()).then(|| attached(context, terminator, "llvm.loop"));
                if let Some(width) = node.flatten().and_then(mark) {
                    marked.push(MarkedLoop { func, latch, width });
                }
            }
        }
        marked.sort_by_key(|m| (m.func, m.latch));
        marked
    }
}

/// What a loop's metadata says: whether it is marked, and the width that it wants.
fn mark(node: LLVMValueRef) -> Option<Option<u32>> {
    let (mut enabled, mut parallel, mut width) = (false, false, None);
    // The first operand is the node itself.
    for property in node_operands(node).into_iter().skip(1).filter(|p| is_node(*p)) {
        let operands = node_operands(property);
        let number = operands.get(1).copied().and_then(integer);
        match operands.first().and_then(|&o| string(o)).as_deref() {
            Some("llvm.loop.vectorize.enable") => enabled = number == Some(1),
            Some("llvm.loop.vectorize.width") => width = number.and_then(|n| u32::try_from(n).ok()),
            Some("llvm.loop.parallel_accesses") => parallel = true,
            _ => {}
        }
    }
    (enabled && parallel).then_some(width.filter(|w| (2..=64).contains(w)))
}

fn is_node(value: LLVMValueRef) -> bool {
    // SAFETY: a live value or null, which is asked what it is.
    !value.is_null() && unsafe { !functions().LLVMIsAMDNode(value).is_null() }
}
