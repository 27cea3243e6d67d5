//! Makes debug information: subprograms for functions that are exported into a module.
//!
//! They belong to the compile unit of the functions that they were derived from, which a compiler has made. A unit of
//! our own would have tables that those of a compiler do not have: where one unit of a program has an index of names
//! (`.debug_names`), gdb looks into no unit that has none, and the C API cannot make a unit without.

use crate::ffi::types::*;
use crate::ffi::types::{LLVMDIFlagZero, LLVMMetadataKind};

use crate::ffi::load::functions;
use crate::module::Module;
use crate::parameters::node_operands;

/// Makes debug information for one module.
pub(crate) struct DebugBuilder(LLVMDIBuilderRef);

impl DebugBuilder {
    pub(crate) fn new(module: &Module) -> Self {
        // SAFETY: a live module.
        Self(unsafe { functions().LLVMCreateDIBuilderDisallowUnresolved(module.raw()) })
    }

    /// A subprogram of this name in the file, at the line and in the unit of another; `None` if that has none.
    pub(crate) fn subprogram_like(
        &self,
        module: &Module,
        original: LLVMMetadataRef,
        name: &str,
    ) -> Option<LLVMMetadataRef> {
        let f = functions();
        let builder = self.0;
        // SAFETY: a live subprogram of the module's context; lengths describe the strings.
        unsafe {
            let file = f.LLVMDIScopeGetFile(original);
            let (unit, at) = unit_of(module, original)?;
            if file.is_null() {
                return None;
            }
            let line = f.LLVMDISubprogramGetLine(original);
            let ty =
                f.LLVMDIBuilderCreateSubroutineType(builder, file, std::ptr::null_mut(), 0, LLVMDIFlagZero);
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
            let node = f.LLVMMetadataAsValue(module.context(), subprogram);
            f.LLVMReplaceMDNodeOperandWith(node, at, unit);
            Some(subprogram)
        }
    }
}

/// The compile unit of a subprogram, and which operand it is.
fn unit_of(module: &Module, subprogram: LLVMMetadataRef) -> Option<(LLVMMetadataRef, u32)> {
    let f = functions();
    // SAFETY: a live node of the module's context; operands that are there are metadata that was wrapped.
    unsafe {
        let node = f.LLVMMetadataAsValue(module.context(), subprogram);
        for (i, operand) in node_operands(node).into_iter().enumerate() {
            if operand.is_null() {
                continue;
            }
            let operand = f.LLVMValueAsMetadata(operand);
            if f.LLVMGetMetadataKind(operand) == LLVMMetadataKind::LLVMDICompileUnitMetadataKind as u32 {
                return Some((operand, i as u32));
            }
        }
        None
    }
}

impl Drop for DebugBuilder {
    fn drop(&mut self) {
        // SAFETY: this owns the builder, whose module is still alive. There is nothing to finalize without a unit.
        unsafe { functions().LLVMDisposeDIBuilder(self.0) };
    }
}
