//! Rust's functions for panics, in code that goes into a Rust program by way of an object file.
//!
//! Where nothing better is known, a panic ends the program with a message ([`Module::define_panics`]).
//!
//! Kernels of crates have a parameter for what is to be done when one panics: a pointer to a function of Rust, which
//! calls the kernel again, alone, for the index at which it panicked. So the kernel itself says what it has to say,
//! and unwinds as it does everywhere, through the frames of the code for many lanes. Two things are done for that:
//! calls that do not return become calls of one function with that pointer and the index
//! ([`Module::report_panics`]), and code is made for unwinding ([`Module::define_report`]). A kernel with something to
//! clean up on its way out could not be left like this: cleaning up is not done for many lanes. For such a kernel the
//! function of Rust does not unwind.

use crate::ffi::types::LLVMLinkage::LLVMInternalLinkage;
use crate::ffi::types::*;

use crate::error::Result;
use crate::ffi::load::functions;
use crate::lane_operations::converted;
use crate::module::{FUNCTION_INDEX, Module, c_string, instructions_of, value_name};
use crate::simplify::{attribute_kind, has_attribute, has_body};

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

/// The function that panics are reported to.
const REPORT: &str = "warpline.panics";

impl Module {
    /// Has calls of a function that do not return report the index at which that is: the parameters with these numbers
    /// are the pointer to what is done then, and the index. Whether the kernel may be left by unwinding: it, and what
    /// it calls, has nothing to clean up.
    ///
    /// # Errors
    /// If LLVM's passes fail.
    pub fn report_panics(&mut self, function: &str, pointer: u32, index: u32) -> Result<bool> {
        let cleans_up = self.functions().any(|function| has_body(function) && has_invoke(function));
        // Calls that do not unwind have nothing to clean up behind them.
        self.set_unwinding(false);
        if cleans_up {
            self.optimise("function(simplifycfg)", None)?;
        }
        let Some(kernel) = self.named(function).filter(|&kernel| has_body(kernel)) else { return Ok(false) };
        let f = functions();
        // SAFETY: all handles belong to this live module; the numbers of parameters are compared with how many there
        // are; calls match the type that the function is declared with.
        unsafe {
            if f.LLVMCountParams(kernel) <= pointer.max(index) {
                return Ok(false);
            }
            let context = self.context();
            let (void, long) = (f.LLVMVoidTypeInContext(context), f.LLVMIntTypeInContext(context, 64));
            let (pointer, index) = (f.LLVMGetParam(kernel, pointer), f.LLVMGetParam(kernel, index));
            let mut params = [f.LLVMTypeOf(pointer), long];
            let ty = f.LLVMFunctionType(void, params.as_mut_ptr(), 2, 0);
            let mut report = None;
            let builder = f.LLVMCreateBuilderInContext(context);
            for call in calls_in(kernel).into_iter().filter(|&call| never_returns(call)) {
                let report = *report.get_or_insert_with(|| {
                    let report = f.LLVMAddFunction(self.raw(), c_string(REPORT).as_ptr(), ty);
                    for kind in ["noreturn", "nounwind", "cold"] {
                        self.add_attribute(report, kind, 0);
                    }
                    report
                });
                f.LLVMPositionBuilderBefore(builder, call);
                let index = converted(builder, index, long);
                let mut arguments = [pointer, index];
                let made = f.LLVMBuildCall2(builder, ty, report, arguments.as_mut_ptr(), 2, EMPTY);
                f.LLVMInstructionSetDebugLoc(made, f.LLVMInstructionGetDebugLoc(call));
                f.LLVMInstructionEraseFromParent(call);
            }
            f.LLVMDisposeBuilder(builder);
        }
        self.optimise("function(sroa<preserve-cfg>,dse,dce),globaldce,strip-dead-prototypes", None)?;
        Ok(!cleans_up)
    }

    /// Defines the function that panics are reported to: it says which kernel panics at which index, and does what the
    /// pointer leads to, the address of a function that gets the pointer and the index. Nothing, if it is not called.
    pub fn define_report(&mut self, kernel: &str) {
        let Some(report) = self.named(REPORT).filter(|&report| !has_body(report)) else { return };
        let f = functions();
        let text = format!("the kernel `{}` panics at index %lld\n", kernel.replace('%', "%%"));
        // SAFETY: all handles belong to this live module; calls match the types that functions are declared with.
        unsafe {
            let context = self.context();
            let (void, pointer) = (f.LLVMVoidTypeInContext(context), f.LLVMPointerTypeInContext(context, 0));
            let (int, long) = (f.LLVMIntTypeInContext(context, 32), f.LLVMIntTypeInContext(context, 64));
            let mut params = [int, pointer];
            let print_type = f.LLVMFunctionType(int, params.as_mut_ptr(), 2, 1);
            let mut params = [pointer, long];
            let again_type = f.LLVMFunctionType(void, params.as_mut_ptr(), 2, 0);
            let name = c_string("dprintf");
            let print = self
                .named("dprintf")
                .unwrap_or_else(|| f.LLVMAddFunction(self.raw(), name.as_ptr(), print_type));
            let builder = f.LLVMCreateBuilderInContext(context);
            let entry = f.LLVMAppendBasicBlockInContext(context, report, EMPTY);
            f.LLVMPositionBuilderAtEnd(builder, entry);
            let (context, index) = (f.LLVMGetParam(report, 0), f.LLVMGetParam(report, 1));
            let text = f.LLVMBuildGlobalStringPtr(builder, c_string(&text).as_ptr(), EMPTY);
            let mut arguments = [f.LLVMConstInt(int, 2, 0), text, index];
            f.LLVMBuildCall2(builder, print_type, print, arguments.as_mut_ptr(), 3, EMPTY);
            let again = f.LLVMBuildLoad2(builder, pointer, context, EMPTY);
            let mut arguments = [context, index];
            f.LLVMBuildCall2(builder, again_type, again, arguments.as_mut_ptr(), 2, EMPTY);
            f.LLVMBuildUnreachable(builder);
            f.LLVMDisposeBuilder(builder);
            f.LLVMSetLinkage(report, LLVMInternalLinkage as u32);
            self.add_attribute(report, "noinline", 0);
        }
    }

    /// Lets functions be left by unwinding, or says that none is.
    pub(crate) fn set_unwinding(&mut self, unwinds: bool) {
        let f = functions();
        let all: Vec<LLVMValueRef> =
            self.functions().filter(|&f| !value_name(f).starts_with("llvm.")).collect();
        for function in all {
            for call in calls_in(function) {
                // SAFETY: a call of this live module.
                unsafe {
                    match unwinds {
                        true => f.LLVMRemoveCallSiteEnumAttribute(
                            call,
                            FUNCTION_INDEX,
                            attribute_kind("nounwind"),
                        ),
                        false => self.add_call_attribute(call, "nounwind"),
                    }
                }
            }
            if !unwinds {
                self.add_attribute(function, "nounwind", 0);
                continue;
            }
            // SAFETY: a function of this live module.
            unsafe { f.LLVMRemoveEnumAttributeAtIndex(function, FUNCTION_INDEX, attribute_kind("nounwind")) };
            if has_body(function) {
                // Tables for each instruction, not only for calls.
                self.add_attribute(function, "uwtable", 2);
            }
        }
    }
}

/// The calls that a function makes.
fn calls_in(function: LLVMValueRef) -> Vec<LLVMValueRef> {
    let f = functions();
    // SAFETY: an instruction of a live function.
    let is_call = |&inst: &LLVMValueRef| unsafe {
        !f.LLVMIsACallInst(inst).is_null() || !f.LLVMIsAInvokeInst(inst).is_null()
    };
    instructions_of(function).into_iter().filter(is_call).collect()
}

fn has_invoke(function: LLVMValueRef) -> bool {
    let f = functions();
    // SAFETY: an instruction of a live function.
    instructions_of(function).into_iter().any(|inst| unsafe { !f.LLVMIsAInvokeInst(inst).is_null() })
}

/// Whether a call of an ordinary function does not return.
fn never_returns(call: LLVMValueRef) -> bool {
    let f = functions();
    // SAFETY: a live call; what it calls is asked for attributes if it is a function.
    unsafe {
        let callee = f.LLVMGetCalledValue(call);
        let kind = attribute_kind("noreturn");
        if callee.is_null() || f.LLVMIsAFunction(callee).is_null() || value_name(callee).starts_with("llvm.")
        {
            return false;
        }
        has_attribute(callee, "noreturn")
            || !f.LLVMGetCallSiteEnumAttribute(call, FUNCTION_INDEX, kind).is_null()
    }
}

const EMPTY: *const std::ffi::c_char = c"".as_ptr();

/// Whether a symbol is a mangled name of Rust's.
fn is_rust(symbol: &str) -> bool {
    symbol.starts_with("_R") || (symbol.starts_with("_ZN") && symbol.contains("17h"))
}
