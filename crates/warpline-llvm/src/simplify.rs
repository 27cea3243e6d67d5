//! Preparing a front end's module: lane operations, calling conventions, and the fixed simplification pipeline.
//!
//! Lane operations (`warpline_any` and its kin) depend on which lanes run together, so no pass may duplicate, merge, sink or
//! hoist a call of one. They are marked `convergent`, which forbids making their execution depend on more or less control flow,
//! and as reading and writing inaccessible memory, which keeps them in order; functions that call them become convergent too.
//! Only then does anything simplify.
//!
//! The pipeline is [`PIPELINE`]. It brings the output of `rustc -C no-prepopulate-passes` and `clang -disable-llvm-passes` to SSA
//! form, inlines defined functions into their callers, and removes what is redundant. It has no unrolling, vectorization, loop
//! rotation, jump threading or partial-redundancy elimination, since each of these duplicates code, and no rewriting of induction
//! variables, since that replaces the program's own conditions. `correlated-propagation` is in it because it finds `nuw` and `nsw`,
//! on which the shapes of narrow indices rest.

use llvm_sys::LLVMLinkage::LLVMInternalLinkage;
use llvm_sys::prelude::*;

use crate::error::Result;
use crate::ffi::load::functions;
use crate::module::{FUNCTION_INDEX, Module, owned_string};

/// The functions that a kernel may call to speak about its group of lanes.
pub const LANE_OPERATIONS: [&str; 6] = [
    "warpline_all",
    "warpline_any",
    "warpline_ballot",
    "warpline_lane_count",
    "warpline_lane_index",
    "warpline_popcount",
];

/// The passes of [`Module::simplify`].
pub const PIPELINE: &str = "always-inline,\
     function(lower-expect,sroa<modify-cfg>,early-cse,simplifycfg),\
     cgscc(inline,function-attrs,function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,\
     instcombine<no-verify-fixpoint>)),\
     function(correlated-propagation,simplifycfg,instcombine<no-verify-fixpoint>,\
     loop-mssa(licm),\
     gvn<no-pre;no-load-pre;no-split-backedge-load-pre>,sccp,adce,simplifycfg,instcombine<no-verify-fixpoint>,\
     simplifycfg),\
     globaldce";

/// The inliner's limit for functions with a body; the usual 225 leaves larger helpers as calls, which would then run lane by lane.
const INLINE_THRESHOLD: &str = "5000";
const INLINE_KEY: &str = "function-inline-threshold";

/// `memory(inaccessiblemem: readwrite)`: two bits per location, of which inaccessible memory is the second.
const INACCESSIBLE_MEMORY: u64 = 0b11 << 2;

/// Where `opencl_builtins.cl` puts its functions.
const OPENCL_SECTION: &str = ".warpline.opencl";

const SPIR_FUNC: u32 = 75;
const SPIR_KERNEL: u32 = 76;

impl Module {
    /// Marks the declared lane operations and everything that calls them (see the module's documentation).
    pub fn mark_lane_operations(&mut self) {
        let mut convergent: Vec<LLVMValueRef> = Vec::new();
        for name in LANE_OPERATIONS {
            let Some(function) = self.named(name).filter(|&function| !has_body(function)) else { continue };
            for (attribute, value) in
                [("convergent", 0), ("nounwind", 0), ("willreturn", 0), ("memory", INACCESSIBLE_MEMORY)]
            {
                self.add_attribute(function, attribute, value);
            }
            convergent.push(function);
        }
        let mut next = 0;
        while let Some(&function) = convergent.get(next) {
            next += 1;
            for call in calls_of(function) {
                self.add_call_attribute(call, "convergent");
                let caller = parent_function(call);
                if !convergent.contains(&caller) {
                    self.add_attribute(caller, "convergent", 0);
                    convergent.push(caller);
                }
            }
        }
    }

    /// Gives OpenCL's functions the C calling convention, unless the target is a GPU: only there do SPIR's conventions mean
    /// something.
    pub fn normalise_calling_conventions(&mut self) {
        if is_gpu(&self.triple()) {
            return;
        }
        let f = functions();
        for function in self.functions().collect::<Vec<_>>() {
            // SAFETY: `function` and its calls belong to this live module.
            unsafe {
                if matches!(f.LLVMGetFunctionCallConv(function), SPIR_FUNC | SPIR_KERNEL) {
                    f.LLVMSetFunctionCallConv(function, 0);
                    for call in calls_of(function) {
                        f.LLVMSetInstructionCallConv(call, 0);
                    }
                }
            }
        }
    }

    /// Makes the definitions of OpenCL's functions that stand in front of an input (`opencl_builtins.cl`) the module's own, and drops
    /// those that nothing calls.
    ///
    /// # Errors
    /// As [`Module::optimise`].
    pub fn own_opencl_builtins(&mut self) -> Result<()> {
        let f = functions();
        let mut any = false;
        for function in self.functions().collect::<Vec<_>>() {
            // SAFETY: a function of this live module; its section is a string of the module's, copied before it changes.
            unsafe {
                if owned_string(f.LLVMGetSection(function)) == OPENCL_SECTION {
                    f.LLVMSetSection(function, c"".as_ptr());
                    f.LLVMSetLinkage(function, LLVMInternalLinkage as u32);
                    any = true;
                }
            }
        }
        if any { self.optimise("globaldce", None) } else { Ok(()) }
    }

    /// Marks lane operations and runs [`PIPELINE`].
    ///
    /// # Errors
    /// [`crate::Error::Passes`], or [`crate::Error::Verify`] should a pass leave the module broken.
    pub fn simplify(&mut self) -> Result<()> {
        self.mark_lane_operations();
        self.normalise_calling_conventions();
        let defined: Vec<_> = self
            .functions()
            .filter(|&function| {
                has_body(function)
                    && !["cold", "noinline", "optnone"].iter().any(|kind| has_attribute(function, kind))
            })
            .collect();
        for &function in &defined {
            self.add_string_attribute(function, INLINE_KEY, INLINE_THRESHOLD);
        }
        let outcome = self.optimise(PIPELINE, None);
        for function in self.functions().collect::<Vec<_>>() {
            // SAFETY: a function of this module; pointer and length describe the key.
            unsafe {
                functions().LLVMRemoveStringAttributeAtIndex(
                    function,
                    FUNCTION_INDEX,
                    INLINE_KEY.as_ptr().cast(),
                    INLINE_KEY.len() as u32,
                );
            }
        }
        outcome?;
        self.verify()
    }

    /// Gives the declared lane operations the meaning they have for one lane alone, so that the scalar program can run.
    pub fn define_scalar_lane_operations(&mut self) {
        let f = functions();
        for name in LANE_OPERATIONS {
            let Some(function) = self.named(name).filter(|&function| !has_body(function)) else { continue };
            // SAFETY: all handles belong to this live module; the result is converted to the declared integer type, which any
            // other declaration of these names would have failed to be called with.
            unsafe {
                let result = f.LLVMGetReturnType(f.LLVMGlobalGetValueType(function));
                if f.LLVMGetTypeKind(result) != llvm_sys::LLVMTypeKind::LLVMIntegerTypeKind as u32 {
                    continue;
                }
                let wanted_parameters =
                    u32::from(!matches!(name, "warpline_lane_count" | "warpline_lane_index"));
                if f.LLVMCountParams(function) != wanted_parameters {
                    continue;
                }
                let block = f.LLVMAppendBasicBlockInContext(self.context(), function, c"".as_ptr());
                let builder = f.LLVMCreateBuilderInContext(self.context());
                f.LLVMPositionBuilderAtEnd(builder, block);
                let value = match name {
                    "warpline_lane_count" => f.LLVMConstInt(result, 1, 0),
                    "warpline_lane_index" => f.LLVMConstInt(result, 0, 0),
                    _ => {
                        let argument = f.LLVMGetParam(function, 0);
                        let (from, to) =
                            (f.LLVMGetIntTypeWidth(f.LLVMTypeOf(argument)), f.LLVMGetIntTypeWidth(result));
                        match from.cmp(&to) {
                            std::cmp::Ordering::Less => {
                                f.LLVMBuildZExt(builder, argument, result, c"".as_ptr())
                            }
                            std::cmp::Ordering::Equal => argument,
                            std::cmp::Ordering::Greater => {
                                f.LLVMBuildTrunc(builder, argument, result, c"".as_ptr())
                            }
                        }
                    }
                };
                f.LLVMBuildRet(builder, value);
                f.LLVMDisposeBuilder(builder);
            }
        }
    }

    /// Adds an attribute to a function.
    pub(crate) fn add_attribute(&self, function: LLVMValueRef, kind: &str, value: u64) {
        // SAFETY: live context and function; the kind is one that LLVM 19 to 23 know.
        unsafe {
            let attribute = functions().LLVMCreateEnumAttribute(self.context(), attribute_kind(kind), value);
            functions().LLVMAddAttributeAtIndex(function, FUNCTION_INDEX, attribute);
        }
    }

    /// Adds an attribute to the function side of a call.
    fn add_call_attribute(&self, call: LLVMValueRef, kind: &str) {
        // SAFETY: live context and call; the kind is one that LLVM 19 to 23 know.
        unsafe {
            let attribute = functions().LLVMCreateEnumAttribute(self.context(), attribute_kind(kind), 0);
            functions().LLVMAddCallSiteAttribute(call, FUNCTION_INDEX, attribute);
        }
    }
}

/// Whether a triple is that of a GPU.
pub(crate) fn is_gpu(triple: &str) -> bool {
    ["spir", "amdgcn", "nvptx"].iter().any(|gpu| triple.starts_with(gpu))
}

/// LLVM's number for an attribute's name.
pub(crate) fn attribute_kind(name: &str) -> u32 {
    // SAFETY: pointer and length describe the name.
    unsafe { functions().LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
}

/// Whether a function carries an attribute.
pub(crate) fn has_attribute(function: LLVMValueRef, kind: &str) -> bool {
    // SAFETY: a live function.
    unsafe {
        !functions().LLVMGetEnumAttributeAtIndex(function, FUNCTION_INDEX, attribute_kind(kind)).is_null()
    }
}

/// Whether a function has a body.
pub(crate) fn has_body(function: LLVMValueRef) -> bool {
    // SAFETY: a live function.
    unsafe { functions().LLVMIsDeclaration(function) == 0 }
}

/// The function that an instruction stands in.
fn parent_function(instruction: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: an instruction of a function's body.
    unsafe { functions().LLVMGetBasicBlockParent(functions().LLVMGetInstructionParent(instruction)) }
}

/// The direct calls of a function.
pub(crate) fn calls_of(function: LLVMValueRef) -> Vec<LLVMValueRef> {
    let f = functions();
    let mut calls = Vec::new();
    // SAFETY: uses and users of a live function; `LLVMGetCalledValue` is asked of calls only.
    unsafe {
        let mut used = f.LLVMGetFirstUse(function);
        while !used.is_null() {
            let user = f.LLVMGetUser(used);
            let is_call = !f.LLVMIsACallInst(user).is_null()
                || !f.LLVMIsAInvokeInst(user).is_null()
                || !f.LLVMIsACallBrInst(user).is_null();
            if is_call && f.LLVMGetCalledValue(user) == function && !calls.contains(&user) {
                calls.push(user);
            }
            used = f.LLVMGetNextUse(used);
        }
    }
    calls
}
