//! Line tables of new functions.
//!
//! A new function gets a subprogram of its own, since LLVM allows one to belong to one function only. Its
//! instructions keep their places in the source as if the function they were derived from had been inlined into it:
//! for a debugger or profiler, the W-lane function consists of the kernel's lines, lexical scopes and inlined callees
//! included.

use std::collections::HashMap;

use llvm_sys::debuginfo::LLVMDIFlagZero;
use llvm_sys::prelude::*;

use super::Emitter;
use crate::debug_builder::DebugBuilder;
use crate::ffi::load::functions;

/// The debug scope of a new function.
pub(super) struct Scope {
    /// Where instructions without a place of their own are: line 0 of the function.
    anywhere: LLVMMetadataRef,
    /// Where the original is as if inlined.
    call_site: LLVMMetadataRef,
    /// Places of the original and what became of them.
    places: HashMap<LLVMMetadataRef, LLVMMetadataRef>,
}

impl Emitter<'_> {
    /// Gives a new function a subprogram if the function it was derived from has one.
    pub(super) fn open_debug_scope(&mut self) {
        let f = functions();
        let Some(from) = self.function.origin.expand().and_then(|origin| self.bridge.original(origin)) else {
            return;
        };
        // SAFETY: live functions of one module and metadata of its context; lengths describe the strings.
        unsafe {
            let original = f.LLVMGetSubprogram(from);
            let file = if original.is_null() { original } else { f.LLVMDIScopeGetFile(original) };
            if file.is_null() {
                return;
            }
            let module = &self.bridge.module;
            let builder = self.bridge.debug.get_or_insert_with(|| DebugBuilder::new(module, file)).0;
            let line = f.LLVMDISubprogramGetLine(original);
            let ty =
                f.LLVMDIBuilderCreateSubroutineType(builder, file, std::ptr::null_mut(), 0, LLVMDIFlagZero);
            let name = &self.function.name;
            let subprogram = f.LLVMDIBuilderCreateFunction(
                builder,
                file,
                name.as_ptr().cast(),
                name.len(),
                c"".as_ptr(),
                0,
                file,
                line,
                ty,
                0,
                1,
                line,
                LLVMDIFlagZero,
                1,
            );
            f.LLVMDIBuilderFinalizeSubprogram(builder, subprogram);
            f.LLVMSetSubprogram(self.llvm, subprogram);
            let context = self.bridge.module.context();
            let nothing = std::ptr::null_mut();
            self.scope = Some(Scope {
                anywhere: f.LLVMDIBuilderCreateDebugLocation(context, 0, 0, subprogram, nothing),
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
