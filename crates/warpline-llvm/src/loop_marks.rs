//! Loops that the program itself marks as ones to be vectorized.

use crate::ffi::types::LLVMMetadataKind;
use crate::ffi::types::*;
use warpline_ir::Place;
use warpline_ir::{Block, FuncId};

use crate::ffi::load::functions;
use crate::import::{Imported, scope_file};
use crate::loop_forest::Loops;
use crate::module::Module;
use crate::parameters::{attached, integer, is_node, node_operands, string};

/// A loop that says of itself that it is to be vectorized: in C by `#pragma omp simd` or `#pragma clang loop
/// vectorize(...)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MarkedLoop {
    /// The function.
    pub func: FuncId,
    /// The block that leads back to the loop's header.
    pub latch: Block,
    /// Whether it says that its iterations do not depend on each other through memory.
    pub parallel: bool,
    /// How many iterations the mark wants side by side, or allows at most, if it says so.
    pub width: Option<u32>,
    /// What it begins with: the directive before it, or the loop itself.
    pub begins: Option<Place>,
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
                marked.extend(node.flatten().and_then(|node| mark(node, func, latch)));
            }
        }
        marked.sort_by_key(|m| (m.func, m.latch));
        marked
    }

    /// Makes LLVM forget what marked loops promise, in all functions. The scalar program is the judge of what the
    /// vectorizer made, and LLVM would vectorize its loops, too, and trust the promise where everyone can see the
    /// opposite.
    pub fn forget_marks_of_loops(&self) {
        let (f, context) = (functions(), self.bridge.module().context());
        for mark in self.marked_loops() {
            let block = self.bridge.bodies[&mark.func].blocks[&mark.latch];
            let kind = "llvm.loop";
            // SAFETY: a live context and the terminator of a live block, which has such metadata; pointer and length
            // describe the name.
            unsafe {
                let kind = f.LLVMGetMDKindIDInContext(context, kind.as_ptr().cast(), kind.len() as u32);
                f.LLVMSetMetadata(f.LLVMGetBasicBlockTerminator(block), kind, std::ptr::null_mut());
            }
        }
    }
}

impl Module {
    /// Has LLVM leave those loops of a function scalar that are executed where few iterations are left. They are
    /// unrolled as any scalar loop is.
    pub(crate) fn keep_loops_scalar(
        &self,
        function: LLVMValueRef,
        wanted: impl Fn(LLVMBasicBlockRef) -> bool,
    ) {
        let Some(loops) = Loops::of(function) else { return };
        for cycle in loops.cycles.cycles().filter(|&c| wanted(loops.header(c))) {
            let node = self.loop_node(&["llvm.loop.isvectorized"]);
            loops.latches(cycle).into_iter().for_each(|latch| self.set_loop_node(latch, Some(node)));
        }
    }
}

/// What a loop's metadata says, if it marks the loop.
fn mark(node: LLVMValueRef, func: FuncId, latch: Block) -> Option<MarkedLoop> {
    let mut enabled = false;
    let mut marked = MarkedLoop { func, latch, parallel: false, width: None, begins: None };
    // The first operand is the node itself.
    for property in node_operands(node).into_iter().skip(1).filter(|p| is_node(*p)) {
        if let Some(place) = location(property) {
            marked.begins = marked.begins.or(Some(place));
            continue;
        }
        let operands = node_operands(property);
        let number = operands.get(1).copied().and_then(integer);
        match operands.first().and_then(|&o| string(o)).as_deref() {
            Some("llvm.loop.vectorize.enable") => enabled = number == Some(1),
            Some("llvm.loop.vectorize.width") => marked.width = number.and_then(|n| u32::try_from(n).ok()),
            Some("llvm.loop.parallel_accesses") => marked.parallel = true,
            _ => {}
        }
    }
    enabled.then_some(marked)
}

/// The place that a node stands for, if it is a location.
fn location(node: LLVMValueRef) -> Option<Place> {
    let f = functions();
    // SAFETY: a live node, which is asked what it is, and, if it is a location, for what locations have.
    unsafe {
        let node = f.LLVMValueAsMetadata(node);
        if f.LLVMGetMetadataKind(node) != LLVMMetadataKind::LLVMDILocationMetadataKind as u32 {
            return None;
        }
        let (line, column) = (f.LLVMDILocationGetLine(node), f.LLVMDILocationGetColumn(node));
        Some(Place { file: scope_file(f.LLVMDILocationGetScope(node)), line, column })
    }
}
