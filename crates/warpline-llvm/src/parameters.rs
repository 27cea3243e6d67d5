//! What calling conventions say of parameters: on a GPU, whether all threads of a wave get the same.

use crate::ffi::types::*;
use warpline_uniformity::Target;

use crate::ffi::load::functions;
use crate::module::Module;
use crate::simplify::{attribute_kind, calls_of};

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
            Target::Nvptx => convention == PTX_KERNEL || self.is_annotated_kernel(function),
            Target::Spirv => convention == SPIR_KERNEL,
        };
        // OpenCL's kernels may call each other, with whatever arguments.
        let kernel = kernel && calls_of(function).is_empty();
        let scalar = |i: u32| {
            target == Target::Amdgcn
                && (has_parameter_attribute(function, i, "inreg")
                    || (AMDGPU_SHADERS.contains(&convention)
                        && has_parameter_attribute(function, i, "byval")))
        };
        (0..count).map(|i| kernel || scalar(i)).collect()
    }
}

impl Module {
    /// Whether `nvvm.annotations` calls a function a kernel, as they did before there was a calling convention for it.
    fn is_annotated_kernel(&self, function: LLVMValueRef) -> bool {
        let f = functions();
        // SAFETY: a live module; arrays have room for the operands that are counted first; operands of annotations
        // are functions, strings and integers, and each is asked only what it is.
        unsafe {
            let name = c"nvvm.annotations".as_ptr();
            let count = f.LLVMGetNamedMetadataNumOperands(self.raw(), name) as usize;
            let mut nodes = vec![std::ptr::null_mut(); count];
            f.LLVMGetNamedMetadataOperands(self.raw(), name, nodes.as_mut_ptr());
            nodes.into_iter().any(|node| {
                let operands = node_operands(node);
                operands.first() == Some(&function)
                    && operands[1..].chunks_exact(2).any(|pair| {
                        string(pair[0]).as_deref() == Some("kernel") && integer(pair[1]) == Some(1)
                    })
            })
        }
    }
}

/// The operands of a metadata node that was wrapped as a value; what is no value is wrapped or null.
pub(crate) fn node_operands(node: LLVMValueRef) -> Vec<LLVMValueRef> {
    let f = functions();
    // SAFETY: a live metadata node; the array has room for all operands.
    unsafe {
        let mut operands = vec![std::ptr::null_mut(); f.LLVMGetMDNodeNumOperands(node) as usize];
        f.LLVMGetMDNodeOperands(node, operands.as_mut_ptr());
        operands
    }
}

/// Whether a value wraps a metadata node.
pub(crate) fn is_node(value: LLVMValueRef) -> bool {
    // SAFETY: a live value or null, which is asked what it is.
    !value.is_null() && unsafe { !functions().LLVMIsAMDNode(value).is_null() }
}

/// The metadata node of a kind, such as `prof`, that an instruction carries.
pub(crate) fn attached(
    context: LLVMContextRef,
    instruction: LLVMValueRef,
    kind: &str,
) -> Option<LLVMValueRef> {
    let f = functions();
    // SAFETY: a live context and instruction; pointer and length describe the name.
    let node = unsafe {
        let kind = f.LLVMGetMDKindIDInContext(context, kind.as_ptr().cast(), kind.len() as u32);
        f.LLVMGetMetadata(instruction, kind)
    };
    (!node.is_null()).then_some(node)
}

/// The number that an operand of a metadata node is.
pub(crate) fn integer(value: LLVMValueRef) -> Option<u64> {
    let f = functions();
    // SAFETY: a live value or null; only constant integers are asked for their value.
    unsafe {
        let is_constant = !value.is_null() && !f.LLVMIsAConstantInt(value).is_null();
        is_constant.then(|| f.LLVMConstIntGetZExtValue(value))
    }
}

/// The text of a metadata string that was wrapped as a value.
pub(crate) fn string(value: LLVMValueRef) -> Option<String> {
    if value.is_null() {
        return None;
    }
    let mut length = 0;
    // SAFETY: a live value; pointer and length describe the string, if it is one.
    unsafe {
        let start = functions().LLVMGetMDString(value, &raw mut length);
        (!start.is_null()).then(|| {
            let bytes = std::slice::from_raw_parts(start.cast::<u8>(), length as usize);
            String::from_utf8_lossy(bytes).into_owned()
        })
    }
}

fn has_parameter_attribute(function: LLVMValueRef, index: u32, kind: &str) -> bool {
    // SAFETY: a live function and the number of one of its parameters; attributes of parameters count from 1.
    unsafe { !functions().LLVMGetEnumAttributeAtIndex(function, index + 1, attribute_kind(kind)).is_null() }
}
