//! Ways out of a scope, each led to where it goes.
//!
//! A variable that is declared in a block of C dies where control leaves that block. clang ends its lifetime in one
//! place for all ways out: `break`, `return`, `goto` and the end of the block write a number to a slot, jump there, and
//! a `switch` on the slot parts them again. Lanes that leave in different ways come together for it, and the `switch`
//! diverges, as does what stands behind it: a loop that lanes leave in different iterations gets a branch more for each
//! variable.
//!
//! Here each way out ends the lifetimes itself and goes on directly. It is done before anything else, when all
//! variables are still memory: then such a place computes nothing that is used elsewhere, so no φs are needed, and
//! what is copied is ends of lifetimes alone. Lane operations are never copied, nor are destructors of C++.
//!
//! A loop keeps its one entry: a place at which a loop begins stays as it is, and so does a function that has loops
//! of several entries.

use std::collections::{HashMap, HashSet};

use crate::ffi::types::LLVMOpcode::{LLVMAlloca, LLVMBr, LLVMCall, LLVMLoad, LLVMPHI, LLVMStore, LLVMSwitch};
use crate::ffi::types::*;

use crate::ffi::load::functions;
use crate::loop_forest::Loops;
use crate::module::{Module, blocks_of, instructions_in, instructions_of, is, opcode, users_of, value_name};
use crate::simplify::has_body;

/// `LLVMAtomicOrderingNotAtomic`.
const NOT_ATOMIC: u32 = 0;

/// For so many instructions of a function one may be copied.
const MAX_COPIES_PER_INSTRUCTION: usize = 4;

impl Module {
    /// Leads the ways out of scopes directly to where they go.
    pub(crate) fn thread_cleanups(&self) {
        for function in self.functions().filter(|&function| has_body(function)) {
            // SAFETY: a function of this live, verified module with a body.
            unsafe { self.thread_cleanups_of(function) };
        }
    }

    /// # Safety
    /// The function is one of this module and has a body.
    unsafe fn thread_cleanups_of(&self, function: LLVMValueRef) {
        let blocks = blocks_of(function);
        // SAFETY: live blocks, other than the entry.
        let mut places: Vec<Cleanup> =
            blocks.iter().skip(1).filter_map(|&block| unsafe { Cleanup::at(block) }).collect();
        if places.is_empty() {
            return;
        }
        if let Some(loops) = Loops::of(function) {
            if loops.cycles.cycles().any(|c| !loops.cycles.is_reducible(c)) {
                return;
            }
            let headers: HashSet<_> = loops.cycles.cycles().map(|c| loops.header(c)).collect();
            places.retain(|place| !headers.contains(&place.block));
        }
        let f = functions();
        let mut budget = instructions_of(function).len() * MAX_COPIES_PER_INSTRUCTION;
        // A way out of several scopes goes from one such place to the next: no loop begins at any of them, so that
        // ends.
        // SAFETY: everything belongs to this live module; the builder is disposed of.
        unsafe {
            let builder = f.LLVMCreateBuilderInContext(self.context());
            let mut again = true;
            while again {
                again = false;
                for place in &places {
                    again |= place.thread(builder, &mut budget);
                }
            }
            f.LLVMDisposeBuilder(builder);
        }
    }
}

/// A place that ends lifetimes and goes on where a slot says.
struct Cleanup {
    block: LLVMBasicBlockRef,
    slot: LLVMValueRef,
    /// The instructions before the `switch`.
    body: Vec<LLVMValueRef>,
    switch: LLVMValueRef,
}

impl Cleanup {
    /// # Safety
    /// The block is live.
    unsafe fn at(block: LLVMBasicBlockRef) -> Option<Cleanup> {
        let f = functions();
        let mut body = instructions_in(block);
        let switch = body.pop().filter(|&last| is(last, LLVMSwitch))?;
        // SAFETY: instructions of a live block, which are asked for what their kind has.
        unsafe {
            let read = f.LLVMGetOperand(switch, 0);
            let slot = is(read, LLVMLoad).then(|| f.LLVMGetOperand(read, 0))?;
            let used_here = |&inst: &LLVMValueRef| {
                users_of(inst).into_iter().all(|user| f.LLVMGetInstructionParent(user) == block)
            };
            let fits = body.contains(&read)
                && is_slot(slot)
                && body.iter().all(|&inst| may_be_copied(inst))
                && body.iter().all(used_here);
            fits.then_some(Cleanup { block, slot, body, switch })
        }
    }

    /// Leads every way here whose end is known to that end; false if there is none.
    ///
    /// # Safety
    /// The function is live and valid; the builder belongs to its context.
    unsafe fn thread(&self, builder: LLVMBuilderRef, budget: &mut usize) -> bool {
        let f = functions();
        let mut any = false;
        // SAFETY: the users of a block are the terminators that lead to it, and constants, which have no opcode.
        unsafe {
            for jump in users_of(f.LLVMBasicBlockAsValue(self.block)) {
                if !is(jump, LLVMBr) || f.LLVMGetNumSuccessors(jump) != 1 || *budget < self.body.len() {
                    continue;
                }
                let from = f.LLVMGetInstructionParent(jump);
                let Some(number) = last_stored(from, self.slot) else { continue };
                let to = self.destination(number);
                *budget -= self.body.len();
                self.copy_before(builder, jump);
                f.LLVMSetSuccessor(jump, 0, to);
                self.extend_phis(to, from);
                any = true;
            }
        }
        any
    }

    /// Where control goes on for a number in the slot.
    ///
    /// # Safety
    /// The place is live.
    unsafe fn destination(&self, number: u64) -> LLVMBasicBlockRef {
        let f = functions();
        // SAFETY: a live `switch`; successor 0 is the default, and each case has a value.
        unsafe {
            let case = |&k: &u32| {
                let value = match f.LLVMGetSwitchCaseValue {
                    Some(get) => get(self.switch, k),
                    None => f.LLVMGetOperand(self.switch, 2 * k),
                };
                f.LLVMConstIntGetZExtValue(value) == number
            };
            let k = (1..f.LLVMGetNumSuccessors(self.switch)).find(case).unwrap_or(0);
            f.LLVMGetSuccessor(self.switch, k)
        }
    }

    /// Copies what is done here.
    ///
    /// # Safety
    /// The jump leads here.
    unsafe fn copy_before(&self, builder: LLVMBuilderRef, jump: LLVMValueRef) {
        let f = functions();
        let mut copies: HashMap<LLVMValueRef, LLVMValueRef> = HashMap::new();
        // SAFETY: what the instructions use is defined in this block or in one that dominates it, which then dominates
        // the one of the jump.
        unsafe {
            f.LLVMPositionBuilderBefore(builder, jump);
            for &inst in &self.body {
                let copy = f.LLVMInstructionClone(inst);
                f.LLVMInsertIntoBuilder(builder, copy);
                for k in 0..f.LLVMGetNumOperands(copy) as u32 {
                    if let Some(&operand) = copies.get(&f.LLVMGetOperand(copy, k)) {
                        f.LLVMSetOperand(copy, k, operand);
                    }
                }
                copies.insert(inst, copy);
            }
        }
    }

    /// Gives the φs of a block that this one leads to what they are if control comes from another one. That is what
    /// they were: nothing that is defined here is used elsewhere.
    ///
    /// # Safety
    /// Both blocks are live.
    unsafe fn extend_phis(&self, to: LLVMBasicBlockRef, mut from: LLVMBasicBlockRef) {
        let f = functions();
        for phi in instructions_in(to).into_iter().take_while(|&inst| is(inst, LLVMPHI)) {
            // SAFETY: a φ has so many incoming values and blocks; this block leads to it.
            unsafe {
                let here = (0..f.LLVMCountIncoming(phi))
                    .find(|&k| f.LLVMGetIncomingBlock(phi, k) == self.block)
                    .map(|k| f.LLVMGetIncomingValue(phi, k));
                if let Some(mut value) = here {
                    f.LLVMAddIncoming(phi, &raw mut value, &raw mut from, 1);
                }
            }
        }
    }
}

/// The number that a block leaves in a slot.
///
/// # Safety
/// Both are live.
unsafe fn last_stored(block: LLVMBasicBlockRef, slot: LLVMValueRef) -> Option<u64> {
    let f = functions();
    // SAFETY: a store has a value and an address.
    unsafe {
        let stores = |&inst: &LLVMValueRef| is(inst, LLVMStore) && f.LLVMGetOperand(inst, 1) == slot;
        let store = instructions_in(block).into_iter().rev().find(stores)?;
        let value = f.LLVMGetOperand(store, 0);
        (!f.LLVMIsAConstantInt(value).is_null()).then(|| f.LLVMConstIntGetZExtValue(value))
    }
}

/// Whether an address is that of a variable of at most 64 bits which is only read and written, as what it is.
///
/// # Safety
/// It is live.
unsafe fn is_slot(address: LLVMValueRef) -> bool {
    let f = functions();
    if !is(address, LLVMAlloca) {
        return false;
    }
    // SAFETY: users of a live instruction, which are asked for what their kind has.
    unsafe {
        let ty = f.LLVMGetAllocatedType(address);
        let integer = f.LLVMGetTypeKind(ty) == crate::ffi::types::LLVMTypeKind::LLVMIntegerTypeKind as u32;
        let plain = |user: LLVMValueRef| match opcode(user) {
            Some(op) if op == LLVMLoad as u32 => f.LLVMTypeOf(user) == ty && f.LLVMGetVolatile(user) == 0,
            Some(op) if op == LLVMStore as u32 => {
                let value = f.LLVMGetOperand(user, 0);
                value != address && f.LLVMTypeOf(value) == ty && f.LLVMGetVolatile(user) == 0
            }
            _ => false,
        };
        integer && f.LLVMGetIntTypeWidth(ty) <= 64 && users_of(address).into_iter().all(plain)
    }
}

/// Whether an instruction may be done on each way out: a plain load, or a call that ends a lifetime. What gives back
/// the memory of an array of variable length stays in one place.
///
/// # Safety
/// It is live.
unsafe fn may_be_copied(inst: LLVMValueRef) -> bool {
    let f = functions();
    // SAFETY: the callee is asked of a call.
    unsafe {
        match opcode(inst) {
            Some(op) if op == LLVMLoad as u32 => {
                f.LLVMGetVolatile(inst) == 0 && f.LLVMGetOrdering(inst) == NOT_ATOMIC
            }
            Some(op) if op == LLVMCall as u32 => {
                value_name(f.LLVMGetCalledValue(inst)).starts_with("llvm.lifetime.end.")
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Llvm, Module};

    /// A loop whose body declares `%x`, and is left as `slot` says after `leave`.
    fn threaded(leave: &str, cleanup: &str) -> Option<String> {
        if Llvm::get().is_err() {
            eprintln!("skipped: there is no LLVM");
            return None;
        }
        let text = format!(
            "define i32 @f(i1 %c) {{\nentry:\n  %x = alloca i32\n  %slot = alloca i32\n  br label %body\n\
             body:\n  call void @llvm.lifetime.start.p0(i64 4, ptr %x)\n  br i1 %c, label %leave, label %stay\n\
             leave:\n  {leave}\n  br label %cleanup\n\
             stay:\n  store i32 0, ptr %slot\n  br label %cleanup\n\
             cleanup:\n  call void @llvm.lifetime.end.p0(i64 4, ptr %x)\n  {cleanup}\n  \
             %s = load i32, ptr %slot\n  switch i32 %s, label %never [ i32 0, label %body\n i32 3, label %done ]\n\
             done:\n  %r = phi i32 [ 7, %cleanup ]\n  ret i32 %r\nnever:\n  unreachable\n}}\n\
             declare void @llvm.lifetime.start.p0(i64, ptr)\ndeclare void @llvm.lifetime.end.p0(i64, ptr)\n\
             declare i32 @warpline_any(i32)\ndeclare void @take(ptr)\n"
        );
        let mut module = Module::parse(text.as_bytes(), "cleanups").unwrap();
        module.verify().unwrap();
        module.thread_cleanups();
        module.verify().unwrap();
        module.optimise("function(simplifycfg)", None).unwrap();
        Some(module.to_text())
    }

    #[test]
    fn ways_out_end_lifetimes_and_go_on_directly() {
        let Some(text) = threaded("store i32 3, ptr %slot", "") else { return };
        assert!(!text.contains("switch"), "{text}");
        assert_eq!(text.matches("call void @llvm.lifetime.end").count(), 2, "{text}");
        assert!(text.contains("ret i32 7"), "{text}");
    }

    #[test]
    fn what_may_not_be_copied_or_is_not_known_keeps_the_switch() {
        for (leave, cleanup) in [
            ("store i32 3, ptr %slot", "%a = call i32 @warpline_any(i32 1)"),
            ("store i32 3, ptr %slot", "call void @take(ptr %x)"),
            ("store volatile i32 3, ptr %slot", ""),
            ("call void @take(ptr %slot)", ""),
        ] {
            let Some(text) = threaded(leave, cleanup) else { return };
            assert!(text.contains("switch"), "{leave}, {cleanup}: {text}");
            assert_eq!(text.matches("call void @llvm.lifetime.end").count(), 1, "{text}");
        }
    }
}
