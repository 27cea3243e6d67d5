//! Preparing a front end's module: lane operations, calling conventions, and the fixed simplification pipeline.
//!
//! Lane operations (`warpline_any` and its kin) depend on which lanes run together, so no pass may duplicate, merge,
//! sink or hoist a call of one. [Marks](crate::lane_operations) forbid it; only then does anything simplify.
//!
//! The pipeline is `PIPELINE`. It brings the output of `rustc -C no-prepopulate-passes` and
//! `clang -disable-llvm-passes` to SSA form, inlines defined functions into their callers, and removes what is
//! redundant. It has no vectorization, loop rotation, jump threading or partial-redundancy elimination, since each of
//! these duplicates code, and no rewriting of induction variables, since that replaces the program's own conditions.
//! Loops of few iterations are unrolled behind it (`unroll`). `correlated-propagation` is in it because it finds `nuw` and `nsw`, on which the shapes of narrow
//! indices rest. Tail recursion becomes loops: lanes that leave a loop apart come together behind it, those that call
//! a function apart do not before they return.
//!
//! Before it, parameters get names (`parameter_names`), calls of mathematics cease to set `errno` (`math_calls`,
//! `complex`) and ways out of scopes are led to where they go (`cleanups`). Between its first passes and the others
//! structs on the stack (`private_parts`), indices (`indices`) and copies of small structures (`small_copies`) are
//! taken apart.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::ffi::types::LLVMOpcode::LLVMUnreachable;
use crate::ffi::types::*;

use warpline_ir::group_functions::is_gpu;

use crate::error::Result;
use crate::ffi::load::functions;
use crate::module::{FUNCTION_INDEX, Module, users_of, value_name};

/// The passes of [`Module::simplify`].
pub(crate) const PIPELINE: &str = "always-inline,\
     function(lower-expect,sroa<modify-cfg>,early-cse,simplifycfg),\
     cgscc(inline,function-attrs,function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,\
     instcombine<no-verify-fixpoint>,tailcallelim,simplifycfg)),\
     function(correlated-propagation,simplifycfg,instcombine<no-verify-fixpoint>,\
     loop-mssa(licm),\
     gvn<no-pre;no-load-pre;no-split-backedge-load-pre>,sccp,adce,simplifycfg,instcombine<no-verify-fixpoint>,\
     simplifycfg),\
     globaldce";

/// What is run where loops have been unrolled: what is left of `PIPELINE` for code that comes new.
pub(crate) const AFTER_UNROLLING: &str = "function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,\
     instcombine<no-verify-fixpoint>,correlated-propagation,\
     gvn<no-pre;no-load-pre;no-split-backedge-load-pre>,sccp,adce,simplifycfg,instcombine<no-verify-fixpoint>,\
     simplifycfg)";

/// What of `PIPELINE` is about loops.
const HOISTING: &str = "loop-mssa(licm),";

/// What of `PIPELINE` comes before indices are taken apart (`indices`).
const BEFORE_INDICES: &str = "always-inline,function(lower-expect,sroa<modify-cfg>,early-cse,simplifycfg)";

/// What inlines functions before that, and nothing that takes flags from sums.
const INLINING: &str = "cgscc(inline,function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg))";

/// The inliner's limit for functions with a body, five for each instruction; the usual 225 leaves larger helpers as
/// calls, of which less is known and which need masks of their own.
const INLINE_THRESHOLD: &str = "1500";
const INLINE_KEY: &str = "function-inline-threshold";

pub(crate) const SPIR_FUNC: u32 = 75;
pub(crate) const SPIR_KERNEL: u32 = 76;

impl Module {
    /// Gives OpenCL's functions the C calling convention, unless the target is a GPU: only there do SPIR's
    /// conventions mean something.
    pub(crate) fn normalise_calling_conventions(&mut self) {
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

    /// Marks lane operations and runs `PIPELINE`.
    ///
    /// # Errors
    /// [`crate::Error::Passes`], or [`crate::Error::Verify`] should a pass leave the module broken.
    pub fn simplify(&mut self) -> Result<()> {
        self.simplify_with(false)
    }

    /// [`Module::simplify`], for a module of which loops are the unit: indices are taken apart (`indices`) in loops,
    /// not in kernels.
    ///
    /// # Errors
    /// As above.
    pub(crate) fn simplify_for_loops(&mut self) -> Result<()> {
        self.simplify_with(true)
    }

    /// Says of calls that they do not unwind where an exception would end the program at once, as in functions that
    /// are `noexcept` and in regions of OpenMP: then there is nothing in which lanes could part.
    fn trust_what_must_not_throw(&self) {
        let f = functions();
        for function in self.functions().filter(|&function| has_body(function)) {
            // SAFETY: the blocks of a live function and their terminators; an unwind destination is asked of an
            // `invoke`.
            unsafe {
                let mut block = f.LLVMGetFirstBasicBlock(function);
                while !block.is_null() {
                    let last = f.LLVMGetBasicBlockTerminator(block);
                    let invokes = !last.is_null() && !f.LLVMIsAInvokeInst(last).is_null();
                    if invokes && only_terminates(f.LLVMGetUnwindDest(last)) {
                        self.add_call_attribute(last, "nounwind");
                    }
                    block = f.LLVMGetNextBasicBlock(block);
                }
            }
        }
    }

    fn simplify_with(&mut self, of_loops: bool) -> Result<()> {
        self.name_parameters();
        self.trust_what_must_not_throw();
        self.know_complex_numbers();
        self.forget_errno();
        self.mark_lane_operations();
        self.thread_cleanups();
        self.inline_into_kernels();
        let has_blocks = self.keep_ordered_blocks();
        self.normalise_calling_conventions();
        if !is_gpu(&self.triple()) {
            self.narrow_work_item_numbers();
        }
        self.inline_for_parts();
        self.optimise(BEFORE_INDICES, None)?;
        self.split_private_objects();
        let outcome = self.inline_and_simplify(of_loops);
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
        if has_blocks {
            // clang writes the last value of a loop's variable, which such blocks refer to, where nobody reads it:
            // without that, the variable is each iteration's own.
            self.optimise("function(dse)", None)?;
        }
        self.verify()
    }

    /// Runs `PIPELINE`, with functions marked that are to be inlined. Indices are taken apart before it; in loops, when
    /// the functions are there that compute them.
    fn inline_and_simplify(&mut self, of_loops: bool) -> Result<()> {
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
        if of_loops {
            self.optimise(INLINING, None)?;
            self.split_indices();
        } else {
            self.split_sums_of_parameters();
        }
        self.split_small_copies();
        match self.has_deep_nest() {
            true => self.optimise(&PIPELINE.replace(HOISTING, ""), None),
            false => self.optimise(PIPELINE, None),
        }
    }

    /// Adds an attribute to a function.
    pub(crate) fn add_attribute(&self, function: LLVMValueRef, kind: &str, value: u64) {
        self.add_attribute_at(function, FUNCTION_INDEX, kind, value);
    }

    /// Adds an attribute to what a function yields or takes, or to itself.
    pub(crate) fn add_attribute_at(&self, function: LLVMValueRef, index: u32, kind: &str, value: u64) {
        // SAFETY: live context and function; the kind is one that LLVM 19 to 23 know.
        unsafe {
            let attribute = functions().LLVMCreateEnumAttribute(self.context(), attribute_kind(kind), value);
            functions().LLVMAddAttributeAtIndex(function, index, attribute);
        }
    }
}

thread_local! {
    /// The numbers of attributes that were asked for: LLVM compares a name with those of all attributes.
    static KINDS: RefCell<HashMap<Box<str>, u32>> = RefCell::default();
}

/// LLVM's number for an attribute's name.
pub(crate) fn attribute_kind(name: &str) -> u32 {
    if let Some(known) = KINDS.with_borrow(|kinds| kinds.get(name).copied()) {
        return known;
    }
    // SAFETY: pointer and length describe the name.
    let kind = unsafe { functions().LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) };
    KINDS.with_borrow_mut(|kinds| kinds.insert(name.into(), kind));
    kind
}

/// Whether a function carries an attribute.
pub(crate) fn has_attribute(function: LLVMValueRef, kind: &str) -> bool {
    // SAFETY: a live function.
    unsafe {
        !functions().LLVMGetEnumAttributeAtIndex(function, FUNCTION_INDEX, attribute_kind(kind)).is_null()
    }
}

/// Whether a landing pad ends the program and does nothing else.
///
/// # Safety
/// The block must be live.
unsafe fn only_terminates(pad: LLVMBasicBlockRef) -> bool {
    let f = functions();
    // SAFETY: the instructions of a live block; the callee is asked of a call.
    unsafe {
        let mut calls = Vec::new();
        let mut instruction = f.LLVMGetFirstInstruction(pad);
        while !instruction.is_null() {
            if !f.LLVMIsACallInst(instruction).is_null() {
                calls.push(value_name(f.LLVMGetCalledValue(instruction)));
            }
            instruction = f.LLVMGetNextInstruction(instruction);
        }
        let last = f.LLVMGetBasicBlockTerminator(pad);
        let ends = !last.is_null() && f.LLVMGetInstructionOpcode(last) == LLVMUnreachable as u32;
        ends && calls == ["__clang_call_terminate"]
    }
}

/// Whether a function has a body.
pub(crate) fn has_body(function: LLVMValueRef) -> bool {
    // SAFETY: a live function.
    unsafe { functions().LLVMIsDeclaration(function) == 0 }
}

/// The direct calls of a function.
pub(crate) fn calls_of(function: LLVMValueRef) -> Vec<LLVMValueRef> {
    let f = functions();
    let mut calls = Vec::new();
    for user in users_of(function) {
        // SAFETY: users of a live function; `LLVMGetCalledValue` is asked of calls only.
        let calls_it = unsafe {
            let is_call = !f.LLVMIsACallInst(user).is_null()
                || !f.LLVMIsAInvokeInst(user).is_null()
                || !f.LLVMIsACallBrInst(user).is_null();
            is_call && f.LLVMGetCalledValue(user) == function
        };
        if calls_it && !calls.contains(&user) {
            calls.push(user);
        }
    }
    calls
}
