//! Numbers of work-items that a program takes as integers of 32 bits.
//!
//! In `int i = get_global_id(0)` the number is narrowed at once. Passes merge that with later arithmetic, and what extends `i` for an address becomes two
//! shifts, in which nobody finds the index again. So before anything is simplified, call and narrowing become one call of a function that
//! yields 32 bits, which passes cannot look into.

use llvm_sys::LLVMOpcode::LLVMTrunc;
use llvm_sys::prelude::*;
use warpline::vectorize::work_items::NARROW;

use crate::ffi::load::functions;
use crate::module::{Module, c_string, users_of, value_name};
use crate::simplify::{calls_of, has_body};

/// OpenCL's function as C++ and as C name it.
const GLOBAL_ID: [&str; 2] = ["_Z13get_global_idj", "get_global_id"];

impl Module {
    /// Makes one call of the calls of `get_global_id` and truncations to 32 bits of what they yield.
    pub(crate) fn narrow_work_item_numbers(&mut self) {
        let asked: Vec<LLVMValueRef> = self
            .functions()
            .filter(|&function| !has_body(function) && GLOBAL_ID.contains(&value_name(function).as_str()))
            .collect();
        for function in asked {
            let truncations: Vec<(LLVMValueRef, LLVMValueRef)> = calls_of(function)
                .into_iter()
                .flat_map(|call| truncations_of(call).into_iter().map(move |narrow| (call, narrow)))
                .collect();
            if !truncations.is_empty() {
                self.narrow(function, &truncations);
            }
        }
    }

    fn narrow(&self, function: LLVMValueRef, truncations: &[(LLVMValueRef, LLVMValueRef)]) {
        let f = functions();
        let name = c_string(&format!("{}{NARROW}", value_name(function)));
        // SAFETY: all handles belong to this live module. The new function takes what the old one takes; a truncation has the type that the new one
        // yields, and nothing refers to it when it goes.
        unsafe {
            let mut params = [f.LLVMTypeOf(f.LLVMGetParam(function, 0))];
            let result = f.LLVMIntTypeInContext(self.context(), 32);
            let ty = f.LLVMFunctionType(result, params.as_mut_ptr(), 1, 0);
            let narrow = f.LLVMAddFunction(self.raw(), name.as_ptr(), ty);
            for (attribute, value) in [("nounwind", 0), ("willreturn", 0), ("memory", 0)] {
                self.add_attribute(narrow, attribute, value);
            }
            let builder = f.LLVMCreateBuilderInContext(self.context());
            for &(call, truncation) in truncations {
                f.LLVMPositionBuilderBefore(builder, truncation);
                let mut args = [f.LLVMGetOperand(call, 0)];
                let new = f.LLVMBuildCall2(builder, ty, narrow, args.as_mut_ptr(), 1, c"".as_ptr());
                f.LLVMInstructionSetDebugLoc(new, f.LLVMInstructionGetDebugLoc(call));
                f.LLVMReplaceAllUsesWith(truncation, new);
                f.LLVMInstructionEraseFromParent(truncation);
            }
            f.LLVMDisposeBuilder(builder);
        }
    }
}

/// The truncations of a value to 32 bits.
fn truncations_of(value: LLVMValueRef) -> Vec<LLVMValueRef> {
    let f = functions();
    // SAFETY: instructions are what uses the result of a call.
    let narrows = |&user: &LLVMValueRef| unsafe {
        f.LLVMGetInstructionOpcode(user) == LLVMTrunc as u32
            && f.LLVMGetIntTypeWidth(f.LLVMTypeOf(user)) == 32
    };
    users_of(value).into_iter().filter(narrows).collect()
}
