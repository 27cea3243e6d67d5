//! Line tables of new functions.
//!
//! A new function gets a subprogram of its own, since LLVM allows one to belong to one function only. Its
//! instructions keep their places in the source as if the function they were derived from had been inlined into it:
//! for a debugger or profiler, the W-lane function consists of the kernel's lines, lexical scopes and inlined callees
//! included.

use std::collections::HashMap;

use crate::ffi::types::*;

use super::Emitter;
use crate::debug_builder::DebugBuilder;
use crate::ffi::load::functions;

/// The debug scope of a new function.
pub(super) struct Scope {
    /// Where instructions without a place of their own are: line 0 of the function, or that of what a driver calls.
    anywhere: LLVMMetadataRef,
    /// Where the original is as if inlined.
    call_site: LLVMMetadataRef,
    /// Places of the original and what became of them.
    places: HashMap<LLVMMetadataRef, LLVMMetadataRef>,
}

impl Emitter<'_> {
    /// Gives a new function a subprogram if the function it was derived from, or is a driver of, has one.
    pub(super) fn open_debug_scope(&mut self) {
        let f = functions();
        let from = self.function.origin.expand().and_then(|origin| self.bridge.original(origin));
        let of_driven = self.function.loc.expand().and_then(|loc| self.bridge.subprograms.get(&loc).copied());
        // SAFETY: a live function.
        let original = from.map_or(of_driven, |from| Some(unsafe { f.LLVMGetSubprogram(from) }));
        let Some(original) = original.filter(|original| !original.is_null()) else { return };
        let module = &self.bridge.module;
        let builder = self.bridge.debug.get_or_insert_with(|| DebugBuilder::new(module));
        let Some(subprogram) = builder.subprogram_like(module, original, &self.function.name) else { return };
        // SAFETY: live functions of one module and metadata of its context.
        unsafe {
            let line = f.LLVMDISubprogramGetLine(original);
            f.LLVMSetSubprogram(self.llvm, subprogram);
            let context = self.bridge.module.context();
            let nothing = std::ptr::null_mut();
            // Nothing of a driver is anywhere in the source, and those who stop in what it calls ask where they are.
            let of_others = if from.is_some() { 0 } else { line };
            self.scope = Some(Scope {
                anywhere: f.LLVMDIBuilderCreateDebugLocation(context, of_others, 0, subprogram, nothing),
                call_site: f.LLVMDIBuilderCreateDebugLocation(context, line, 0, subprogram, nothing),
                places: HashMap::new(),
            });
        }
    }

    /// The place in a new function of what stands at `node` in the original (null: nowhere in particular).
    pub(super) fn place_in_scope(&mut self, node: LLVMMetadataRef) -> LLVMMetadataRef {
        let f = functions();
        let context = self.bridge.module.context();
        let Some(scope) = &mut self.scope else { return std::ptr::null_mut() };
        if node.is_null() {
            return scope.anywhere;
        }
        // The chain of call sites, innermost first, up to one that is known.
        let mut chain = Vec::new();
        let mut next = node;
        // SAFETY: location nodes of a live context.
        unsafe {
            while !next.is_null() && !scope.places.contains_key(&next) {
                chain.push(next);
                next = f.LLVMDILocationGetInlinedAt(next);
            }
            let mut outer = scope.places.get(&next).copied().unwrap_or(scope.call_site);
            for &node in chain.iter().rev() {
                outer = f.LLVMDIBuilderCreateDebugLocation(
                    context,
                    f.LLVMDILocationGetLine(node),
                    f.LLVMDILocationGetColumn(node),
                    f.LLVMDILocationGetScope(node),
                    outer,
                );
                scope.places.insert(node, outer);
            }
            outer
        }
    }
}
