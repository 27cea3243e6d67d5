//! Rust's functions for panics, in code that goes into a Rust program by way of an object file.

use llvm_sys::LLVMLinkage::LLVMInternalLinkage;
use llvm_sys::prelude::*;

use crate::ffi::load::functions;
use crate::module::{Module, c_string, value_name};
use crate::simplify::{has_attribute, has_body};

impl Module {
    /// Gives every declared Rust function that never returns a body that writes a message to standard error and
    /// aborts: such functions say that the program panics. Code compiled with `panic=abort` must not unwind, and the
    /// functions' names hold for one compiler only. The C library's `write` and `abort` are called.
    pub(crate) fn define_panics(&mut self, message: &str) {
        let f = functions();
        let panics: Vec<LLVMValueRef> = self
            .functions()
            .filter(|&function| {
                !has_body(function) && is_rust(&value_name(function)) && has_attribute(function, "noreturn")
            })
            .collect();
        if panics.is_empty() {
            return;
        }
        // SAFETY: all handles belong to this live module; calls match the types that the functions are declared with
        // here, and a declaration of another type that the module has already is called by these types as well, which
        // LLVM allows.
        unsafe {
            let context = self.context();
            let (void, pointer) = (f.LLVMVoidTypeInContext(context), f.LLVMPointerTypeInContext(context, 0));
            let (int, long) = (f.LLVMIntTypeInContext(context, 32), f.LLVMIntTypeInContext(context, 64));
            let mut params = [int, pointer, long];
            let write_type = f.LLVMFunctionType(long, params.as_mut_ptr(), 3, 0);
            let abort_type = f.LLVMFunctionType(void, std::ptr::null_mut(), 0, 0);
            let function = |name: &str, ty| {
                self.named(name).unwrap_or_else(|| f.LLVMAddFunction(self.raw(), c_string(name).as_ptr(), ty))
            };
            let (write, abort) = (function("write", write_type), function("abort", abort_type));
            let builder = f.LLVMCreateBuilderInContext(context);
            for panic in panics {
                let entry = f.LLVMAppendBasicBlockInContext(context, panic, EMPTY);
                f.LLVMPositionBuilderAtEnd(builder, entry);
                let text = f.LLVMBuildGlobalStringPtr(builder, c_string(message).as_ptr(), EMPTY);
                let mut arguments =
                    [f.LLVMConstInt(int, 2, 0), text, f.LLVMConstInt(long, message.len() as u64, 0)];
                f.LLVMBuildCall2(builder, write_type, write, arguments.as_mut_ptr(), 3, EMPTY);
                f.LLVMBuildCall2(builder, abort_type, abort, std::ptr::null_mut(), 0, EMPTY);
                f.LLVMBuildUnreachable(builder);
                f.LLVMSetLinkage(panic, LLVMInternalLinkage as u32);
            }
            f.LLVMDisposeBuilder(builder);
        }
    }
}

const EMPTY: *const std::ffi::c_char = c"".as_ptr();

/// Whether a symbol is a mangled name of Rust's.
fn is_rust(symbol: &str) -> bool {
    symbol.starts_with("_R") || (symbol.starts_with("_ZN") && symbol.contains("17h"))
}
