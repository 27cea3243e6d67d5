//! Whole functions: replaced in place, or new.

use std::collections::{HashMap, HashSet};

use crate::ffi::types::LLVMLinkage::{LLVMExternalLinkage, LLVMInternalLinkage};
use crate::ffi::types::*;
use warpline_ir::{self as ir, Block, Function};

use super::{Emitter, Linkage};
use crate::error::{Error, Result};
use crate::ffi::load::functions;
use crate::module::{FUNCTION_INDEX, value_name};
use crate::simplify::{attribute_kind, has_body};
use crate::tables::{Body, Bridge};

/// Function attributes that are as true of several runs at once as of one.
const KEPT_ATTRIBUTES: [&str; 10] = [
    "mustprogress",
    "nocf_check",
    "noredzone",
    "nounwind",
    "null_pointer_is_valid",
    "ssp",
    "sspreq",
    "sspstrong",
    "strictfp",
    "uwtable",
];

impl<'a> Emitter<'a> {
    fn new(
        bridge: &'a mut Bridge,
        ir: &'a ir::Module,
        function: &'a Function,
        llvm: LLVMValueRef,
        in_place: bool,
    ) -> Self {
        let f = functions();
        // SAFETY: live context and function.
        let (builder, scratch) = unsafe {
            let context = bridge.module.context();
            (
                f.LLVMCreateBuilderInContext(context),
                f.LLVMAppendBasicBlockInContext(context, llvm, c"".as_ptr()),
            )
        };
        let mut emitter = Self {
            bridge,
            ir,
            function,
            llvm,
            in_place,
            builder,
            scratch,
            placeholders: HashMap::new(),
            blocks: HashMap::new(),
            values: HashMap::new(),
            aliases: HashMap::new(),
            patches: Vec::new(),
            phis: Vec::new(),
            built: Vec::new(),
            scope: None,
            successors: HashMap::new(),
        };
        for (i, &param) in function.params.iter().enumerate() {
            // SAFETY: the LLVM function has these parameters: it was imported with them, or has just been made with
            // them.
            emitter.values.insert(param, unsafe { f.LLVMGetParam(llvm, i as u32) });
        }
        emitter
    }

    /// Rebuilds an imported function. Returns its new blocks, or the old ones with an error.
    pub(super) fn replace(
        bridge: &'a mut Bridge,
        ir: &'a ir::Module,
        function: &'a Function,
        body: &Body,
    ) -> (HashMap<Block, LLVMBasicBlockRef>, Result<()>) {
        let f = functions();
        let mut emitter = Emitter::new(bridge, ir, function, body.function, true);
        // Everything old, and the names it had, which the new instructions are to have.
        let mut old: HashMap<Block, Vec<LLVMValueRef>> = HashMap::new();
        let mut everything = Vec::new();
        let mut old_blocks = Vec::new();
        // SAFETY: the blocks and instructions of a live function.
        unsafe {
            let mut block = f.LLVMGetFirstBasicBlock(body.function);
            while !block.is_null() {
                if block != emitter.scratch {
                    old_blocks.push(block);
                }
                block = f.LLVMGetNextBasicBlock(block);
            }
            let of_llvm: HashMap<LLVMBasicBlockRef, Block> =
                body.blocks.iter().map(|(&block, &llvm)| (llvm, block)).collect();
            for &block in &old_blocks {
                let mut insts = Vec::new();
                let mut inst = f.LLVMGetFirstInstruction(block);
                while !inst.is_null() {
                    insts.push(inst);
                    inst = f.LLVMGetNextInstruction(inst);
                }
                everything.extend(insts.iter().copied());
                if let Some(&ours) = of_llvm.get(&block) {
                    old.insert(ours, insts);
                }
            }
        }
        let names: Vec<(LLVMValueRef, String)> = everything
            .iter()
            .copied()
            // SAFETY: live blocks of the function.
            .chain(old_blocks.iter().map(|&block| unsafe { f.LLVMBasicBlockAsValue(block) }))
            .map(|value| (value, value_name(value)))
            .collect();
        for (value, _) in names.iter().filter(|(_, name)| !name.is_empty()) {
            // SAFETY: a live value.
            unsafe { f.LLVMSetValueName2(*value, c"".as_ptr(), 0) };
        }
        let mut new_blocks = Vec::new();
        for &block in &function.layout {
            let name = &function.blocks[block].name;
            let llvm = match body.blocks.get(&block) {
                Some(&kept) => {
                    // SAFETY: a live block.
                    emitter.set_name(unsafe { f.LLVMBasicBlockAsValue(kept) }, name);
                    kept
                }
                None => {
                    let added = emitter.append_block(name);
                    new_blocks.push(added);
                    added
                }
            };
            emitter.blocks.insert(block, llvm);
        }
        if let Err(error) = emitter.build_blocks(&old) {
            emitter.undo();
            emitter.remove_scratch();
            // SAFETY: the new blocks are empty and unused now; the old values are live.
            unsafe {
                for block in new_blocks {
                    f.LLVMDeleteBasicBlock(block);
                }
                for (value, name) in names {
                    f.LLVMSetValueName2(value, name.as_ptr().cast(), name.len());
                }
            }
            return (body.blocks.clone(), Err(error));
        }
        // SAFETY: old instructions are live until they are erased below; every use is replaced first, and debug
        // records follow.
        unsafe {
            for &inst in &everything {
                let replacement = emitter.successors.get(&inst).copied();
                let ty = f.LLVMTypeOf(inst);
                if f.LLVMGetTypeKind(ty) != crate::ffi::types::LLVMTypeKind::LLVMVoidTypeKind as u32 {
                    let same = replacement.filter(|&new| f.LLVMTypeOf(new) == ty);
                    f.LLVMReplaceAllUsesWith(inst, same.unwrap_or_else(|| f.LLVMGetPoison(ty)));
                }
            }
            let gone: HashSet<LLVMValueRef> = everything.iter().copied().collect();
            for original in &mut emitter.bridge.origins[body.origins.clone()] {
                if original.is_some_and(|value| gone.contains(&value)) {
                    *original = original.and_then(|value| emitter.successors.get(&value).copied());
                }
            }
            for &inst in &everything {
                f.LLVMInstructionEraseFromParent(inst);
            }
            let kept: Vec<LLVMBasicBlockRef> = emitter.blocks.values().copied().collect();
            for &block in old_blocks.iter().filter(|block| !kept.contains(block)) {
                // With the block goes the constant that is its address, and whatever is made of that.
                emitter.bridge.forget_users(f.LLVMBasicBlockAsValue(block));
                f.LLVMDeleteBasicBlock(block);
            }
            // The order of the layout, from the end.
            let mut next = emitter.scratch;
            for block in function.layout.iter().rev() {
                f.LLVMMoveBasicBlockBefore(emitter.blocks[block], next);
                next = emitter.blocks[block];
            }
        }
        emitter.remove_scratch();
        emitter.keep_short_loops_scalar();
        let blocks = std::mem::take(&mut emitter.blocks);
        let checked = emitter.check();
        (blocks, checked)
    }

    /// Makes a new function.
    pub(super) fn add(
        bridge: &'a mut Bridge,
        ir: &'a ir::Module,
        function: &'a Function,
        linkage: Linkage,
    ) -> Result<()> {
        let f = functions();
        let refuse = |message: String| Error::Export {
            function: function.name.to_string(),
            item: "the function".to_owned(),
            message,
        };
        let params: Vec<_> = function.params.iter().map(|&param| function.ty(param)).collect();
        let ty = bridge.function_type(ir, &params, function.ret, function.variadic).map_err(refuse)?;
        let declared = bridge.module.named(&function.name);
        let llvm = match declared {
            // SAFETY: a live function.
            Some(declared) if !has_body(declared) && unsafe { f.LLVMGlobalGetValueType(declared) } == ty => {
                declared
            }
            Some(_) => return Err(refuse("the module already has a function of that name".to_owned())),
            None => {
                let name = crate::module::c_string(&function.name);
                // SAFETY: a live module, a function type, a terminated name.
                unsafe { f.LLVMAddFunction(bridge.module.raw(), name.as_ptr(), ty) }
            }
        };
        let mut emitter = Emitter::new(bridge, ir, function, llvm, false);
        emitter.take_over_attributes();
        if function.noinline {
            emitter.bridge.module.add_attribute(llvm, "noinline", 0);
        }
        emitter.open_debug_scope();
        for &param in &function.params {
            emitter.set_name(emitter.values[&param], &function.values[param].name);
        }
        for &block in &function.layout {
            let llvm = emitter.append_block(&function.blocks[block].name);
            emitter.blocks.insert(block, llvm);
        }
        let built = emitter.build_blocks(&HashMap::new());
        if built.is_err() {
            emitter.undo();
        }
        emitter.remove_scratch();
        if built.is_ok() {
            emitter.keep_short_loops_scalar();
        }
        let outcome = built.and_then(|()| emitter.check());
        let kind = if linkage == Linkage::Internal { LLVMInternalLinkage } else { LLVMExternalLinkage };
        // SAFETY: a live function, unused if it is new.
        unsafe {
            if outcome.is_err() && declared.is_none() && f.LLVMGetFirstUse(llvm).is_null() {
                f.LLVMDeleteFunction(llvm);
            } else {
                f.LLVMSetLinkage(llvm, kind as u32);
            }
        }
        outcome
    }

    /// Marks the loops that are executed where few iterations are left.
    fn keep_short_loops_scalar(&self) {
        let few = self.function.layout.iter().filter(|&&b| self.function.blocks[b].few);
        let few: HashSet<LLVMBasicBlockRef> = few.map(|b| self.blocks[b]).collect();
        if !few.is_empty() {
            self.bridge.module.keep_loops_scalar(self.llvm, |header| few.contains(&header));
        }
    }

    /// Attributes, personality and garbage collector of the function that this one was derived from.
    fn take_over_attributes(&mut self) {
        let f = functions();
        let Some(from) = self.function.origin.expand().and_then(|origin| self.bridge.original(origin)) else {
            return;
        };
        // SAFETY: live functions of one context; attributes belong to the context.
        unsafe {
            let count = f.LLVMGetAttributeCountAtIndex(from, FUNCTION_INDEX) as usize;
            let mut attributes = vec![std::ptr::null_mut(); count];
            f.LLVMGetAttributesAtIndex(from, FUNCTION_INDEX, attributes.as_mut_ptr());
            for attribute in attributes {
                let kept = f.LLVMIsStringAttribute(attribute) != 0
                    || KEPT_ATTRIBUTES
                        .iter()
                        .any(|kind| f.LLVMGetEnumAttributeKind(attribute) == attribute_kind(kind));
                if kept {
                    f.LLVMAddAttributeAtIndex(self.llvm, FUNCTION_INDEX, attribute);
                }
            }
            // How narrow integers are passed is part of the calling convention.
            let shared = f.LLVMCountParams(from).min(f.LLVMCountParams(self.llvm));
            for i in 0..shared {
                if f.LLVMTypeOf(f.LLVMGetParam(from, i)) == f.LLVMTypeOf(f.LLVMGetParam(self.llvm, i)) {
                    self.take_over_extension(from, i + 1);
                }
            }
            let (old, new) = (f.LLVMGlobalGetValueType(from), f.LLVMGlobalGetValueType(self.llvm));
            if f.LLVMGetReturnType(old) == f.LLVMGetReturnType(new) {
                self.take_over_extension(from, 0);
            }
            if f.LLVMHasPersonalityFn(from) != 0 {
                f.LLVMSetPersonalityFn(self.llvm, f.LLVMGetPersonalityFn(from));
            }
            let collector = f.LLVMGetGC(from);
            if !collector.is_null() {
                f.LLVMSetGC(self.llvm, collector);
            }
        }
    }

    fn take_over_extension(&self, from: LLVMValueRef, index: u32) {
        let f = functions();
        for kind in ["zeroext", "signext"] {
            // SAFETY: live functions that both have this parameter or result.
            unsafe {
                let attribute = f.LLVMGetEnumAttributeAtIndex(from, index, attribute_kind(kind));
                if !attribute.is_null() {
                    f.LLVMAddAttributeAtIndex(self.llvm, index, attribute);
                }
            }
        }
    }

    /// Has LLVM's verifier look at the function.
    fn check(&self) -> Result<()> {
        let status = crate::ffi::types::LLVMVerifierFailureAction::LLVMReturnStatusAction as u32;
        // SAFETY: a live function.
        if unsafe { functions().LLVMVerifyFunction(self.llvm, status) } == 0 {
            return Ok(());
        }
        let message = self.bridge.module.verify().err().map_or_else(String::new, |error| error.to_string());
        Err(self.refuse_function(&message))
    }
}
