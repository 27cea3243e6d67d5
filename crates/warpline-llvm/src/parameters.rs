//! What calling conventions say of parameters: on a GPU, whether all threads of a wave get the same.

use llvm_sys::prelude::*;
use warpline::uniformity::Target;

use crate::ffi::load::functions;
use crate::module::Module;
use crate::simplify::attribute_kind;

const PTX_KERNEL: u32 = 71;
const SPIR_KERNEL: u32 = 76;
const AMDGPU_KERNEL: u32 = 91;
/// The conventions of AMD's shader stages, of functions that shaders call, and of their chains.
const AMDGPU_SHADERS: [u32; 10] = [87, 88, 89, 90, 93, 95, 96, 100, 104, 105];

impl Module {
    /// For each parameter of a function, whether all threads of a wave get the same argument, by the rules of the
    /// target's calling conventions: those of a kernel; for AMD's GPUs also those that are passed in scalar registers.
    /// Nothing is uniform on [`Target::Simd`], where the caller decides. Empty if there is no such function.
    pub fn uniform_parameters(&self, function: &str, target: Target) -> Vec<bool> {
        let Some(function) = self.named(function) else { return Vec::new() };
        // SAFETY: a live function.
        let (convention, count) =
            unsafe { (functions().LLVMGetFunctionCallConv(function), functions().LLVMCountParams(function)) };
        let kernel = match target {
            Target::Simd => false,
            Target::Amdgcn => matches!(convention, AMDGPU_KERNEL | SPIR_KERNEL),
            Target::Nvptx => convention == PTX_KERNEL,
            Target::Spirv => convention == SPIR_KERNEL,
        };
        let scalar = |i: u32| {
            target == Target::Amdgcn
                && (has_parameter_attribute(function, i, "inreg")
                    || (AMDGPU_SHADERS.contains(&convention)
                        && has_parameter_attribute(function, i, "byval")))
        };
        (0..count).map(|i| kernel || scalar(i)).collect()
    }
}

fn has_parameter_attribute(function: LLVMValueRef, index: u32, kind: &str) -> bool {
    // SAFETY: a live function and the number of one of its parameters; attributes of parameters count from 1.
    unsafe { !functions().LLVMGetEnumAttributeAtIndex(function, index + 1, attribute_kind(kind)).is_null() }
}
