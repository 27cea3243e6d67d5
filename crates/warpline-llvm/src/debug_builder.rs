//! Makes debug information: one compile unit for all that is exported into a module.

use llvm_sys::debuginfo::{LLVMDWARFEmissionKind, LLVMDWARFSourceLanguage};
use llvm_sys::prelude::*;

use crate::ffi::load::functions;
use crate::module::Module;

/// Who made the debug information.
const PRODUCER: &str = "warpline";

/// Makes debug information for one module, in a compile unit of its own.
pub(crate) struct DebugBuilder(pub(crate) LLVMDIBuilderRef);

impl DebugBuilder {
    /// A builder whose compile unit is about `file`.
    pub(crate) fn new(module: &Module, file: LLVMMetadataRef) -> Self {
        let f = functions();
        let empty = c"".as_ptr();
        // SAFETY: a live module and a file node of its context; lengths describe the strings.
        unsafe {
            let builder = f.LLVMCreateDIBuilder(module.raw());
            f.LLVMDIBuilderCreateCompileUnit(
                builder,
                LLVMDWARFSourceLanguage::LLVMDWARFSourceLanguageC as u32,
                file,
                PRODUCER.as_ptr().cast(),
                PRODUCER.len(),
                1,
                empty,
                0,
                0,
                empty,
                0,
                LLVMDWARFEmissionKind::LLVMDWARFEmissionKindLineTablesOnly as u32,
                0,
                1,
                0,
                empty,
                0,
                empty,
                0,
            );
            Self(builder)
        }
    }
}

impl Drop for DebugBuilder {
    fn drop(&mut self) {
        // SAFETY: this owns the builder, whose module is still alive.
        unsafe {
            functions().LLVMDIBuilderFinalize(self.0);
            functions().LLVMDisposeDIBuilder(self.0);
        }
    }
}
