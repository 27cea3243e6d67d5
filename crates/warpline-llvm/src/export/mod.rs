//! From warpline's IR back to LLVM's.
//!
//! Operations that the IR models are built from the IR alone; only name, debug location and metadata come from the
//! original. Opaque instructions are clones of their originals with new operands. So nothing that the IR does not
//! know is lost, and nothing that it does know can be stale. Calls are clones, too, if callee and types are
//! unchanged: they carry attributes of arguments.
//!
//! A function can be exported in two ways:
//! - [`Bridge::replace_function`] rebuilds an imported function in place. Blocks of the IR that were imported keep
//!   their LLVM block, so that addresses of blocks stay valid. Each instruction is built in front of its original,
//!   which then goes: thereby debug records, which the C API of no version can copy faithfully, stay where they are
//!   and speak of the new values.
//! - [`Bridge::add_function`] makes a new function. Facts that hold for one run of a scalar function but not for
//!   several at once (`noalias` scopes, loop hints, function and parameter attributes about memory) are not taken
//!   over.
//!
//! LLVM's builder folds constants, and an instruction that becomes a constant has lost its name, its flags and its
//! place. So instructions are built on placeholders, and all operands are set when everything is built; forward
//! references need that anyway.

mod atomic;
mod build;
mod constant;
mod debug;
mod function;

use std::borrow::Cow;
use std::collections::HashMap;

use crate::ffi::types::*;
use warpline_ir::verify::verify;
use warpline_ir::{self as ir, Block, FuncId, Function, Inst, Op, Phase, Value};

use crate::error::{Error, Result};
use crate::ffi::load::functions;
use crate::module::c_string;
use crate::tables::{Body, Bridge};

/// How a new function is seen from outside its module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Linkage {
    /// Visible to the linker.
    External,
    /// Known to this module only.
    Internal,
}

/// An operand that is set when everything is built.
enum Patch {
    /// The operand of this number.
    Operand(LLVMValueRef, u32, Value),
    /// The condition of a branch.
    Condition(LLVMValueRef, Value),
}

/// The work on one function.
pub(crate) struct Emitter<'a> {
    bridge: &'a mut Bridge,
    ir: &'a ir::Module,
    function: &'a Function,
    llvm: LLVMValueRef,
    in_place: bool,
    builder: LLVMBuilderRef,
    /// A block for placeholders, removed at the end.
    scratch: LLVMBasicBlockRef,
    placeholders: HashMap<LLVMTypeRef, LLVMValueRef>,
    blocks: HashMap<Block, LLVMBasicBlockRef>,
    values: HashMap<Value, LLVMValueRef>,
    /// Results that are another value under a new name.
    aliases: HashMap<Value, Value>,
    patches: Vec<Patch>,
    phis: Vec<(Inst, LLVMValueRef)>,
    /// Everything built so far, for undoing.
    built: Vec<LLVMValueRef>,
    /// The debug scope of a new function.
    scope: Option<debug::Scope>,
    /// The first instruction built for an original.
    successors: HashMap<LLVMValueRef, LLVMValueRef>,
}

impl Bridge {
    /// Replaces the body of an imported function by what the IR now says. Afterwards handles of instructions stand
    /// for the new ones. A function that LLVM's module does not have yet is added to it.
    ///
    /// # Errors
    /// [`Error::Export`] names the instruction that cannot be expressed; the LLVM function is then as it was.
    pub fn replace_function(&mut self, ir: &ir::Module, id: FuncId) -> Result<()> {
        self.check(ir, &ir.functions[id])?;
        let function = with_equal_parallel_edges(&ir.functions[id]);
        let Some(body) = self.bodies.remove(&id) else {
            return Emitter::add(self, ir, &function, Linkage::External);
        };
        let (blocks, outcome) = Emitter::replace(self, ir, &function, &body);
        self.bodies.insert(id, Body { blocks, ..body });
        outcome
    }

    /// Adds a function with a body to the LLVM module, under its name. It may have been derived from an imported one,
    /// and it may be one of the module's or stand alone.
    ///
    /// # Errors
    /// [`Error::Export`] names the instruction that cannot be expressed, or says that the name is taken; nothing is
    /// added then.
    pub fn add_function(&mut self, ir: &ir::Module, function: &Function, linkage: Linkage) -> Result<()> {
        self.check(ir, function)?;
        let function = with_equal_parallel_edges(function);
        Emitter::add(self, ir, &function, linkage)
    }

    /// Has the IR's verifier look at a function first: LLVM's builder does not survive operands of wrong types. And
    /// offsets that were computed in another layout are wrong here.
    fn check(&self, ir: &ir::Module, function: &Function) -> Result<()> {
        let refused = |message: String| Error::Export {
            function: function.name.to_string(),
            item: "the function".to_owned(),
            message,
        };
        if !ir.layout.agrees_with(&self.layout) {
            let (theirs, ours) = (ir.layout.text(), self.layout.text());
            return Err(refused(format!("its data layout is `{theirs}`, that of the module is `{ours}`")));
        }
        if function.phase == Phase::Linearized {
            return Err(refused("it is linearized, and LLVM has no blocks with masks".to_owned()));
        }
        verify(ir, function).map_err(|errors| {
            refused(errors.errors.first().map_or_else(String::new, |first| {
                format!("it is not valid IR: {} ({:?}, at {:?})", first.message, first.rule, first.place)
            }))
        })
    }
}

/// LLVM's φs have one operand per predecessor block, ours one per edge: where parallel edges carry different
/// operands, each gets a block of its own.
fn with_equal_parallel_edges(function: &Function) -> Cow<'_, Function> {
    let mut split = Vec::new();
    for &block in &function.layout {
        let preds = &function.blocks[block].preds;
        for (i, &edge) in preds.iter().enumerate() {
            let data = &function.edges[edge];
            let differs = preds[..i].iter().any(|&earlier| {
                let earlier = &function.edges[earlier];
                earlier.from == data.from && earlier.args != data.args
            });
            let opaque = matches!(function.insts[function.terminator(data.from)].op, Op::OpaqueTerm(_));
            if differs && !opaque {
                split.push(edge);
            }
        }
    }
    if split.is_empty() {
        return Cow::Borrowed(function);
    }
    let mut function = function.clone();
    for edge in split {
        function.split_edge(edge, "");
    }
    Cow::Owned(function)
}

impl Emitter<'_> {
    /// An error about an instruction, with its place in the source if that is known.
    fn refuse(&self, inst: Inst, message: impl Into<String>) -> Error {
        let data = &self.function.insts[inst];
        let result =
            data.result().map(|value| format!("{} = ", self.function.value_name(value))).unwrap_or_default();
        let place =
            data.loc.expand().map(|loc| format!(" at {}", self.ir.describe_loc(loc))).unwrap_or_default();
        Error::Export {
            function: self.function.name.to_string(),
            item: format!("`{result}{}`{place}", data.op.name()),
            message: message.into(),
        }
    }

    /// Builds every block of the layout; they exist already.
    fn build_blocks(&mut self, old: &HashMap<Block, Vec<LLVMValueRef>>) -> Result<()> {
        for at in 0..self.function.layout.len() {
            let block = self.function.layout[at];
            let llvm_block = self.blocks[&block];
            let old = old.get(&block).map_or(&[][..], Vec::as_slice);
            let position: HashMap<LLVMValueRef, usize> =
                old.iter().enumerate().map(|(i, &inst)| (inst, i)).collect();
            let mut cursor = 0;
            for inst in self.function.block_insts(block).collect::<Vec<_>>() {
                let original = self.original(inst);
                if let Some(&i) =
                    original.and_then(|original| position.get(&original)).filter(|&&i| i >= cursor)
                {
                    cursor = i;
                }
                // SAFETY: builder, block and the old instruction in it are live.
                unsafe {
                    match old.get(cursor) {
                        Some(&before) => functions().LLVMPositionBuilderBefore(self.builder, before),
                        None => functions().LLVMPositionBuilderAtEnd(self.builder, llvm_block),
                    }
                }
                if original.is_some_and(|original| old.get(cursor) == Some(&original)) {
                    cursor += 1;
                }
                self.build_inst(inst, original)?;
            }
        }
        self.set_operands()
    }

    /// The LLVM instruction that an instruction was imported from, if it still exists.
    fn original(&self, inst: Inst) -> Option<LLVMValueRef> {
        self.function.insts[inst].origin.expand().and_then(|origin| self.bridge.original(origin))
    }

    /// The LLVM value of an operand, which is built by now.
    fn value(&mut self, value: Value) -> Result<LLVMValueRef> {
        let mut value = value;
        // Aliases of aliases end: each is defined by a different instruction, and a cycle would need more steps than
        // there are.
        for _ in 0..=self.aliases.len() {
            match self.aliases.get(&value) {
                Some(&target) => value = target,
                None => break,
            }
        }
        if let Some(&built) = self.values.get(&value) {
            return Ok(built);
        }
        let Some(constant) = self.function.constant(value) else {
            return Err(
                self.refuse_function(&format!("{} has no definition", self.function.value_name(value)))
            );
        };
        let constant = self
            .bridge
            .export_constant(self.ir, constant)
            .map_err(|message| self.refuse_function(&message))?;
        self.values.insert(value, constant);
        Ok(constant)
    }

    fn refuse_function(&self, message: &str) -> Error {
        Error::Export {
            function: self.function.name.to_string(),
            item: "the function".to_owned(),
            message: message.to_owned(),
        }
    }

    /// Sets the operands of everything built.
    fn set_operands(&mut self) -> Result<()> {
        let f = functions();
        for patch in std::mem::take(&mut self.patches) {
            // SAFETY: instructions built above, operands of the type that was asked for, indices below the number of
            // operands.
            unsafe {
                match patch {
                    Patch::Operand(inst, index, value) => {
                        let value = self.value(value)?;
                        f.LLVMSetOperand(inst, index, value);
                    }
                    Patch::Condition(branch, value) => {
                        let value = self.value(value)?;
                        f.LLVMSetCondition(branch, value);
                    }
                }
            }
        }
        for (phi, built) in std::mem::take(&mut self.phis) {
            let block = self.function.insts[phi].block;
            let position = self.function.phi_position(phi).unwrap_or(usize::MAX);
            let mut incoming: Vec<(usize, LLVMBasicBlockRef, LLVMValueRef)> = Vec::new();
            let mut order = self.original_order(phi);
            for &edge in &self.function.blocks[block].preds {
                let edge = &self.function.edges[edge];
                let Some((&arg, &from)) = edge.args.get(position).zip(self.blocks.get(&edge.from)) else {
                    continue;
                };
                // In the original's order, as far as that has these blocks; the order means nothing.
                let rank = order.iter().position(|&one| one == from);
                if let Some(rank) = rank {
                    order[rank] = std::ptr::null_mut();
                }
                incoming.push((rank.unwrap_or(usize::MAX), from, self.value(arg)?));
            }
            incoming.sort_by_key(|&(rank, ..)| rank);
            for (_, mut from, mut value) in incoming {
                // SAFETY: a φ built above, one value and one block.
                unsafe { f.LLVMAddIncoming(built, &raw mut value, &raw mut from, 1) };
            }
        }
        Ok(())
    }

    /// The incoming blocks of the original of a φ that is replaced in place.
    fn original_order(&self, phi: Inst) -> Vec<LLVMBasicBlockRef> {
        let f = functions();
        let Some(original) = self.original(phi).filter(|_| self.in_place) else { return Vec::new() };
        // SAFETY: a live instruction; operands are asked of a φ only.
        unsafe {
            if f.LLVMIsAPHINode(original).is_null() {
                return Vec::new();
            }
            (0..f.LLVMCountIncoming(original)).map(|i| f.LLVMGetIncomingBlock(original, i)).collect()
        }
    }

    /// An operand for building with: the value itself if it is there and no constant, a placeholder otherwise.
    fn stand_in(&mut self, inst: Inst, value: Value) -> Result<LLVMValueRef> {
        let f = functions();
        if self.function.constant(value).is_none()
            && let Some(&built) = self.values.get(&value)
        {
            return Ok(built);
        }
        let ty = self.llvm_type(inst, self.function.ty(value))?;
        if let Some(&placeholder) = self.placeholders.get(&ty) {
            return Ok(placeholder);
        }
        // SAFETY: context and scratch block are live; the builder is a second one, so that the first stays where it is.
        unsafe {
            let builder = f.LLVMCreateBuilderInContext(self.bridge.module.context());
            f.LLVMPositionBuilderAtEnd(builder, self.scratch);
            let placeholder = f.LLVMBuildFreeze(builder, f.LLVMGetPoison(ty), c"".as_ptr());
            f.LLVMDisposeBuilder(builder);
            self.placeholders.insert(ty, placeholder);
            Ok(placeholder)
        }
    }

    /// A type of the IR, for an instruction.
    fn llvm_type(&self, inst: Inst, ty: ir::Type) -> Result<LLVMTypeRef> {
        self.bridge
            .export_type(ty, &self.ir.types)
            .ok_or_else(|| self.refuse(inst, "its type did not come from this module"))
    }

    /// Removes what was built, after a failure; uses of it are among itself only.
    fn undo(&mut self) {
        let f = functions();
        // SAFETY: everything in `built` is live and was made by this emitter; uses are replaced before anything is
        // erased.
        unsafe {
            for &inst in &self.built {
                let ty = f.LLVMTypeOf(inst);
                if f.LLVMGetTypeKind(ty) != crate::ffi::types::LLVMTypeKind::LLVMVoidTypeKind as u32 {
                    f.LLVMReplaceAllUsesWith(inst, f.LLVMGetPoison(ty));
                }
            }
            for inst in self.built.drain(..) {
                f.LLVMInstructionEraseFromParent(inst);
            }
        }
    }

    /// Ends the use of placeholders.
    fn remove_scratch(&mut self) {
        let f = functions();
        // SAFETY: the placeholders are live; if one is still used, by something half-built, that is unlinked from it
        // first.
        unsafe {
            for (&ty, &placeholder) in &self.placeholders {
                f.LLVMReplaceAllUsesWith(placeholder, f.LLVMGetPoison(ty));
            }
            f.LLVMDeleteBasicBlock(self.scratch);
            f.LLVMDisposeBuilder(self.builder);
        }
    }

    /// Names a value, if it has a name.
    fn set_name(&self, llvm: LLVMValueRef, name: &str) {
        if !name.is_empty() {
            // SAFETY: a live value; pointer and length describe the name.
            unsafe { functions().LLVMSetValueName2(llvm, name.as_ptr().cast(), name.len()) };
        }
    }

    /// Appends an LLVM block.
    fn append_block(&self, name: &str) -> LLVMBasicBlockRef {
        let name = c_string(name);
        // SAFETY: live context and function.
        unsafe {
            functions().LLVMAppendBasicBlockInContext(self.bridge.module.context(), self.llvm, name.as_ptr())
        }
    }
}
