//! Calls of lane operations in LLVM's modules: what passes must not do with them, and what they mean for one lane
//! alone.
//!
//! They are marked `convergent`, which forbids making their execution depend on more or less control flow, and as
//! reading and writing inaccessible memory, which keeps them in order; functions that call them become convergent
//! too. Barriers are marked `convergent` in the same way, and functions that have some are inlined: kernels are cut
//! there.

use crate::ffi::types::LLVMIntPredicate::LLVMIntEQ;
use crate::ffi::types::LLVMLinkage::LLVMInternalLinkage;
use crate::ffi::types::LLVMTypeKind as Kind;
use crate::ffi::types::*;
use warpline_ir::group_functions::{GroupFunction, is_gpu};
use warpline_ir::{LaneOp, Type};

use crate::ffi::load::functions;
use crate::module::{FUNCTION_INDEX, Module, value_name};
use crate::simplify::{attribute_kind, calls_of, has_body};

/// `memory(inaccessiblemem: readwrite)`: two bits per location, of which inaccessible memory is the second.
const INACCESSIBLE_MEMORY: u64 = 0b11 << 2;
/// `argmem: write` besides.
const WRITES_ARGUMENTS: u64 = 0b10;

const EMPTY: *const std::ffi::c_char = c"".as_ptr();

impl Module {
    /// The lane operations that the module declares, with the types of their elements.
    fn lane_operations(&self) -> Vec<(LLVMValueRef, LaneOp, Type)> {
        let declared = self.functions().filter(|&function| !has_body(function));
        declared
            .filter_map(|function| {
                let (op, elem) = LaneOp::declared(&value_name(function))?;
                Some((function, op, elem))
            })
            .collect()
    }

    /// Forgets `restrict` of a function's parameters: behind a barrier, other work-items have changed what it points
    /// to.
    fn forget_noalias(&self, function: LLVMValueRef) {
        let f = functions();
        // SAFETY: a live function; attributes of parameters count from 1.
        unsafe {
            for k in 0..f.LLVMCountParams(function) {
                f.LLVMRemoveEnumAttributeAtIndex(function, k + 1, attribute_kind("noalias"));
            }
        }
    }

    /// Has functions with barriers inlined, whatever their attributes say, and those that ask which work-item they are:
    /// only a kernel itself can be cut, and can be told.
    pub(crate) fn inline_into_kernels(&self) {
        let declared = || self.functions().filter(|&f| !has_body(f));
        for caller in callers(declared().filter(|&f| may_be_barrier(f)).collect()) {
            self.forget_noalias(caller);
            self.inline_everywhere(caller);
        }
        if is_gpu(&self.triple()) {
            return;
        }
        for caller in callers(declared().filter(|&f| may_be_question(f)).collect()) {
            self.inline_everywhere(caller);
        }
    }

    /// Has a function inlined wherever it is called, if it is.
    fn inline_everywhere(&self, function: LLVMValueRef) {
        if calls_of(function).is_empty() {
            return;
        }
        for kind in ["noinline", "optnone"] {
            // SAFETY: a live function and a kind that LLVM knows.
            unsafe {
                functions().LLVMRemoveEnumAttributeAtIndex(function, FUNCTION_INDEX, attribute_kind(kind));
            }
        }
        self.add_attribute(function, "alwaysinline", 0);
    }

    /// Marks the declared lane operations and everything that calls them (see the module's documentation).
    pub(crate) fn mark_lane_operations(&mut self) {
        let mut convergent: Vec<LLVMValueRef> = Vec::new();
        for (function, op, _) in self.lane_operations() {
            let stores = if op == LaneOp::Compact { WRITES_ARGUMENTS } else { 0 };
            let memory = INACCESSIBLE_MEMORY | stores;
            for (attribute, value) in
                [("convergent", 0), ("nounwind", 0), ("willreturn", 0), ("memory", memory)]
            {
                self.add_attribute(function, attribute, value);
            }
            convergent.push(function);
        }
        for function in self.functions().filter(|&function| !has_body(function)) {
            if may_be_barrier(function) {
                self.add_attribute(function, "convergent", 0);
                convergent.push(function);
            }
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

    /// Gives the declared lane operations the meaning they have for one lane alone, so that the scalar program can run.
    pub(crate) fn define_scalar_lane_operations(&mut self) {
        for (function, op, elem) in self.lane_operations() {
            if !is_declared_as(function, op, elem) {
                continue;
            }
            // SAFETY: a live function without a body, whose types are those of the operation.
            unsafe { self.define_for_one_lane(function, op, elem) }
        }
    }

    /// # Safety
    /// The function must belong to this module, have no body and the operation's types, but that booleans may be any
    /// integers.
    unsafe fn define_for_one_lane(&self, function: LLVMValueRef, op: LaneOp, elem: Type) {
        let f = functions();
        // SAFETY: all handles belong to this live module; operands have the types that the operations need.
        unsafe {
            let result = f.LLVMGetReturnType(f.LLVMGlobalGetValueType(function));
            let argument = |k: u32| f.LLVMGetParam(function, k);
            // What a front end notes of a declaration is wrong of a definition. Other objects may have their own.
            f.LLVMGlobalClearMetadata(function);
            f.LLVMSetLinkage(function, LLVMInternalLinkage as u32);
            let builder = f.LLVMCreateBuilderInContext(self.context());
            let block = || f.LLVMAppendBasicBlockInContext(self.context(), function, EMPTY);
            f.LLVMPositionBuilderAtEnd(builder, block());
            let is_this_lane = |lane: LLVMValueRef| {
                let zero = f.LLVMConstNull(f.LLVMTypeOf(lane));
                f.LLVMBuildICmp(builder, LLVMIntEQ as u32, lane, zero, EMPTY)
            };
            let value = match op {
                LaneOp::LaneCount => f.LLVMConstInt(result, 1, 0),
                LaneOp::LaneIndex => f.LLVMConstInt(result, 0, 0),
                LaneOp::Shuffle => {
                    let this = is_this_lane(argument(1));
                    f.LLVMBuildSelect(builder, this, argument(0), f.LLVMConstNull(result), EMPTY)
                }
                LaneOp::First => {
                    let holds = converted(builder, argument(1), f.LLVMIntTypeInContext(self.context(), 1));
                    f.LLVMBuildSelect(builder, holds, argument(0), f.LLVMConstNull(result), EMPTY)
                }
                LaneOp::Insert => {
                    let this = is_this_lane(argument(1));
                    f.LLVMBuildSelect(builder, this, argument(2), argument(0), EMPTY)
                }
                LaneOp::Compact => {
                    let (store, done) = (block(), block());
                    f.LLVMBuildCondBr(builder, argument(2), store, done);
                    f.LLVMPositionBuilderAtEnd(builder, store);
                    let stored = f.LLVMBuildStore(builder, argument(1), argument(0));
                    f.LLVMSetAlignment(stored, 1);
                    f.LLVMBuildBr(builder, done);
                    f.LLVMPositionBuilderAtEnd(builder, done);
                    f.LLVMBuildZExt(builder, argument(2), result, EMPTY)
                }
                LaneOp::ScanExclusive(c) => {
                    let bits = if elem == Type::F64 { 64 } else { elem.int_bits().unwrap_or(32) };
                    let whole = f.LLVMIntTypeInContext(self.context(), bits);
                    f.LLVMConstBitCast(f.LLVMConstInt(whole, c.beginning(elem) as u64, 0), result)
                }
                LaneOp::Uniform | LaneOp::Reduce(_) | LaneOp::ScanInclusive(_) => argument(0),
                _ => converted(builder, argument(0), result),
            };
            f.LLVMBuildRet(builder, value);
            f.LLVMDisposeBuilder(builder);
        }
    }

    /// Adds an attribute to the function side of a call.
    pub(crate) fn add_call_attribute(&self, call: LLVMValueRef, kind: &str) {
        // SAFETY: live context and call; the kind is one that LLVM 19 to 23 know.
        unsafe {
            let attribute = functions().LLVMCreateEnumAttribute(self.context(), attribute_kind(kind), 0);
            functions().LLVMAddCallSiteAttribute(call, FUNCTION_INDEX, attribute);
        }
    }
}

/// Whether a function without a body may be one at which work-items meet: a barrier or a collective function.
pub(crate) fn may_be_barrier(function: LLVMValueRef) -> bool {
    // SAFETY: a live function.
    let count = unsafe { functions().LLVMCountParams(function) };
    let name = value_name(function);
    GroupFunction::may_be_barrier(&name, count as usize) || GroupFunction::may_be_collective(&name)
}

/// Whether a function may yield a number of the work-item, as far as its name can say.
fn may_be_question(function: LLVMValueRef) -> bool {
    GroupFunction::may_be_question(&value_name(function))
}

/// What calls some functions, or calls what does.
fn callers(of: Vec<LLVMValueRef>) -> Vec<LLVMValueRef> {
    let mut found = of;
    let (own, mut next) = (found.len(), 0);
    while let Some(&function) = found.get(next) {
        next += 1;
        for caller in calls_of(function).into_iter().map(parent_function) {
            if !found.contains(&caller) {
                found.push(caller);
            }
        }
    }
    found.split_off(own)
}

/// An integer as one of another type.
///
/// # Safety
/// All handles must be live, and the types integers.
pub(crate) unsafe fn converted(builder: LLVMBuilderRef, x: LLVMValueRef, to: LLVMTypeRef) -> LLVMValueRef {
    let f = functions();
    // SAFETY: as the caller promises.
    unsafe {
        let (from, wanted) = (f.LLVMGetIntTypeWidth(f.LLVMTypeOf(x)), f.LLVMGetIntTypeWidth(to));
        match from.cmp(&wanted) {
            std::cmp::Ordering::Less => f.LLVMBuildZExt(builder, x, to, EMPTY),
            std::cmp::Ordering::Equal => x,
            std::cmp::Ordering::Greater => f.LLVMBuildTrunc(builder, x, to, EMPTY),
        }
    }
}

/// Whether a function has the types of an operation. Booleans of those that work on nothing else may be any integers,
/// as some front ends have them.
fn is_declared_as(function: LLVMValueRef, op: LaneOp, elem: Type) -> bool {
    let f = functions();
    let (params, ret) = op.signature(elem);
    // SAFETY: a live function and its types.
    unsafe {
        if f.LLVMCountParams(function) as usize != params.len() {
            return false;
        }
        let result = f.LLVMGetReturnType(f.LLVMGlobalGetValueType(function));
        let given = (0..params.len() as u32).map(|k| f.LLVMTypeOf(f.LLVMGetParam(function, k)));
        given.chain([result]).zip(params.into_iter().chain([ret])).all(|(given, wanted)| {
            let kind = f.LLVMGetTypeKind(given);
            match wanted {
                Type::Int(bits) => {
                    let is_int = kind == Kind::LLVMIntegerTypeKind as u32;
                    is_int && (!op.has_element() || f.LLVMGetIntTypeWidth(given) == bits)
                }
                Type::F32 => kind == Kind::LLVMFloatTypeKind as u32,
                Type::F64 => kind == Kind::LLVMDoubleTypeKind as u32,
                Type::Ptr(_) => kind == Kind::LLVMPointerTypeKind as u32,
                _ => false,
            }
        })
    }
}

/// The function that an instruction stands in.
fn parent_function(instruction: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: an instruction of a function's body.
    unsafe { functions().LLVMGetBasicBlockParent(functions().LLVMGetInstructionParent(instruction)) }
}
