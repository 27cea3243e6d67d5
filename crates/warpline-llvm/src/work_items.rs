//! Functions that ask about work-items: what they are called, and their numbers that a program takes as integers of
//! 32 bits.
//!
//! In `int i = get_global_id(0)` the number is narrowed at once. Passes merge that with later arithmetic, and what
//! extends `i` for an address becomes two shifts, in which nobody finds the index again. So before anything is
//! simplified, call and narrowing become one call of a function that yields 32 bits, which passes cannot look into.
//! In modules that have been optimised before, that is undone first ([`crate::narrowed_numbers`]).

use std::ffi::CStr;

use crate::ffi::types::LLVMLinkage::LLVMInternalLinkage;
use crate::ffi::types::LLVMOpcode::LLVMTrunc;
use crate::ffi::types::LLVMTypeKind::LLVMIntegerTypeKind;
use crate::ffi::types::*;
use warpline_ir::group_functions::{GroupFunction, NARROW, is_gpu};

use crate::facts::attached_to_function;
use crate::ffi::load::functions;
use crate::module::{Module, RESULT_INDEX, c_string, users_of, value_name};
use crate::parameters::{integer, node_operands};
use crate::simplify::{SPIR_KERNEL, calls_of, has_body};

/// Named metadata of modules that come from OpenCL.
const OF_OPENCL: [&CStr; 4] =
    [c"opencl.ocl.version", c"opencl.spir.version", c"opencl.kernels", c"opencl.used.extensions"];

/// Metadata of OpenCL's kernels.
const OF_KERNELS: [&str; 2] = ["kernel_arg_addr_space", "kernel_arg_type"];

impl Module {
    /// Gives functions that ask about work-items their mangled names, in a module of which metadata or calling
    /// conventions say that it is OpenCL's: elsewhere their plain names are words that any program may use. To be
    /// called before [`Module::normalise_calling_conventions`].
    pub(crate) fn mangle_work_item_functions(&self) {
        if !self.is_of_opencl_for_cpu() {
            return;
        }
        let f = functions();
        for function in self.functions().filter(|&function| !has_body(function)).collect::<Vec<_>>() {
            let mangled = GroupFunction::mangled_question(&value_name(function));
            let Some(mangled) = mangled.filter(|_| operands_of_question(function).is_some()) else {
                continue;
            };
            // SAFETY: functions of this live module; pointer and length describe the name.
            unsafe {
                let known = f.LLVMGetNamedFunction(self.raw(), c_string(&mangled).as_ptr());
                if known.is_null() {
                    f.LLVMSetValueName2(function, mangled.as_ptr().cast(), mangled.len());
                } else {
                    f.LLVMReplaceAllUsesWith(function, known);
                }
            }
        }
    }

    /// Whether metadata or calling conventions say that the module is OpenCL's, and its triple that it is for a CPU.
    pub(crate) fn is_of_opencl_for_cpu(&self) -> bool {
        !is_gpu(&self.triple()) && self.is_of_opencl()
    }

    /// Whether metadata or calling conventions say that the module is OpenCL's.
    pub(crate) fn is_of_opencl(&self) -> bool {
        // SAFETY: a live module, and a string that ends.
        let named = |name: &&CStr| unsafe {
            functions().LLVMGetNamedMetadataNumOperands(self.raw(), name.as_ptr()) > 0
        };
        OF_OPENCL.iter().any(named) || self.functions().any(|function| self.is_opencl_kernel(function))
    }

    /// Whether metadata or the calling convention say that a function is a kernel of OpenCL.
    fn is_opencl_kernel(&self, function: LLVMValueRef) -> bool {
        let f = functions();
        // SAFETY: a live module, whose function this is; the list of metadata is freed.
        unsafe {
            let kinds = OF_KERNELS
                .map(|n| f.LLVMGetMDKindIDInContext(self.context(), n.as_ptr().cast(), n.len() as u32));
            let mut count = 0;
            let entries = f.LLVMGlobalCopyAllMetadata(function, &raw mut count);
            let is_kernel =
                (0..count as u32).any(|i| kinds.contains(&f.LLVMValueMetadataEntriesGetKind(entries, i)));
            f.LLVMDisposeValueMetadataEntries(entries);
            is_kernel || f.LLVMGetFunctionCallConv(function) == SPIR_KERNEL
        }
    }

    /// Which parameters of a kernel of OpenCL point to local memory.
    pub(crate) fn local_parameters(&self, function: LLVMValueRef) -> Vec<bool> {
        const LOCAL: u64 = 3;
        let node = attached_to_function(self, function, OF_KERNELS[0]);
        node.map_or(Vec::new(), |node| {
            node_operands(node).into_iter().map(|space| integer(space) == Some(LOCAL)).collect()
        })
    }

    /// Whether a variable is one of which each work-group has its own: compilers of OpenCL C give no other variable a
    /// value that is not defined.
    pub(crate) fn is_local_memory(&self, global: LLVMValueRef) -> bool {
        let f = functions();
        // SAFETY: a live global, whose first value is asked for if it is a variable that has one.
        unsafe {
            if f.LLVMIsAGlobalVariable(global).is_null() || f.LLVMIsDeclaration(global) != 0 {
                return false;
            }
            let first = f.LLVMGetInitializer(global);
            let is_own = f.LLVMGetLinkage(global) == LLVMInternalLinkage as u32;
            is_own && f.LLVMIsGlobalConstant(global) == 0 && !first.is_null() && f.LLVMIsUndef(first) != 0
        }
    }

    /// The names of OpenCL's kernels with a body, in module order.
    pub fn opencl_kernels(&self) -> Vec<String> {
        let kernels =
            self.functions().filter(|&function| has_body(function) && self.is_opencl_kernel(function));
        kernels.map(value_name).collect()
    }

    /// Makes one call of the calls of `get_global_id` and `get_local_id` and truncations to 32 bits of what they yield.
    pub(crate) fn narrow_work_item_numbers(&mut self) {
        let f = functions();
        let asked: Vec<LLVMValueRef> = self
            .functions()
            .filter(|&function| {
                // SAFETY: a live function.
                let result = unsafe { f.LLVMGetReturnType(f.LLVMGlobalGetValueType(function)) };
                !has_body(function)
                    && (GroupFunction::is_global_id(&value_name(function))
                        || GroupFunction::is_local_id(&value_name(function)))
                    && operands_of_question(function) == Some(1)
                    && int_width(result) == Some(64)
            })
            .collect();
        self.undo_wide_arithmetic();
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
        // SAFETY: all handles belong to this live module. The new function takes what the old one takes; a truncation
        // has the type that the new one yields, and nothing refers to it when it goes.
        unsafe {
            let mut params = [f.LLVMTypeOf(f.LLVMGetParam(function, 0))];
            let result = f.LLVMIntTypeInContext(self.context(), 32);
            let ty = f.LLVMFunctionType(result, params.as_mut_ptr(), 1, 0);
            let narrow = f.LLVMAddFunction(self.raw(), name.as_ptr(), ty);
            for (attribute, value) in [("nounwind", 0), ("willreturn", 0), ("memory", 0)] {
                self.add_attribute(narrow, attribute, value);
            }
            self.add_attribute_at(narrow, RESULT_INDEX, "noundef", 0);
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

/// Whether a value is a work-item's number as an integer of 32 bits.
///
/// # Safety
/// It is live.
pub(crate) unsafe fn is_narrow_number(value: LLVMValueRef) -> bool {
    let f = functions();
    // SAFETY: as the caller promises; calls have a callee.
    unsafe {
        let name = || value_name(f.LLVMGetCalledValue(value));
        !f.LLVMIsACallInst(value).is_null()
            && name().strip_suffix(NARROW).is_some_and(GroupFunction::is_global_id)
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

/// The width of an integer type.
pub(crate) fn int_width(ty: LLVMTypeRef) -> Option<u32> {
    let f = functions();
    // SAFETY: a live type, asked for its width if it is an integer.
    unsafe { (f.LLVMGetTypeKind(ty) == LLVMIntegerTypeKind as u32).then(|| f.LLVMGetIntTypeWidth(ty)) }
}

/// How many operands a function has that takes nothing or an `int` and yields an integer; `None` of other functions.
fn operands_of_question(function: LLVMValueRef) -> Option<u32> {
    let f = functions();
    // SAFETY: a live function; parameters are asked for by numbers below their count.
    unsafe {
        let ty = f.LLVMGlobalGetValueType(function);
        let count = f.LLVMCountParams(function);
        let takes = match count {
            0 => true,
            1 => int_width(f.LLVMTypeOf(f.LLVMGetParam(function, 0))) == Some(32),
            _ => false,
        };
        let yields = int_width(f.LLVMGetReturnType(ty)).is_some();
        (takes && yields && f.LLVMIsFunctionVarArg(ty) == 0).then_some(count)
    }
}
