//! What passes have made of work-items' numbers that a program takes as integers of 32 bits, undone.
//!
//! In modules that a compiler has optimised, the extension of `int i = get_global_id(0)` for an address is
//! `ashr exact (shl %id, 32), 32`, that of a `uint` is `and %id, 4294967295`, and sums and products by which `i`
//! becomes an index stand between the two shifts, with shifted operands. Nobody finds an index of 32 bits in that. So
//! these become what the program said: a truncation of the number, arithmetic of 32 bits, and an extension.
//!
//! As the source has it, too, arithmetic may come first: `int i = get_global_id(0) + 3`.
//!
//! For any integers of 64 bits, the lower half of a sum, a difference, a product and a bitwise operation is made of
//! the lower halves of its operands; and where the lower half of a value is zero, its upper half is made of upper
//! halves, for a product of that of one operand and the lower half of the other one. Hence results are the same bit
//! for bit, and nothing is asked of flags.

use std::collections::{HashMap, HashSet};

use warpline_ir::group_functions::GroupFunction;

use crate::ffi::load::functions;
use crate::ffi::types::LLVMOpcode::{
    LLVMAShr, LLVMAdd, LLVMAnd, LLVMLShr, LLVMMul, LLVMOr, LLVMSExt, LLVMShl, LLVMSub, LLVMTrunc, LLVMXor,
    LLVMZExt,
};
use crate::ffi::types::*;
use crate::module::{Module, is, opcode, users_of, value_name};
use crate::simplify::{calls_of, has_body};
use crate::work_items::int_width;

/// How deep arithmetic is looked into.
const MAX_DEPTH: u32 = 8;

/// The lower half of an integer of 64 bits.
const LOWER: u64 = 0xffff_ffff;

/// Arithmetic whose lower half is made of the lower halves of its operands.
const HALVABLE: [LLVMOpcode; 6] = [LLVMAdd, LLVMSub, LLVMMul, LLVMAnd, LLVMOr, LLVMXor];

impl Module {
    /// Undoes what passes have made of narrowed results of functions that ask about work-items.
    pub(crate) fn undo_wide_arithmetic(&mut self) {
        let asked: Vec<LLVMValueRef> = self
            .functions()
            .filter(|&function| !has_body(function) && GroupFunction::may_be_question(&value_name(function)))
            .collect();
        let ends = ends_of(&asked);
        if ends.is_empty() {
            return;
        }
        let f = functions();
        // SAFETY: the context of this live module; the builder is disposed of below. Ends are instructions of 64 bits
        // of this module; what takes the place of one has its type and stands before it, and operands that it is made
        // of are defined there. What nothing refers to any more is left to the passes.
        unsafe {
            let context = self.context();
            let builder = f.LLVMCreateBuilderInContext(context);
            let mut halves = Halves {
                builder,
                half: f.LLVMIntTypeInContext(context, 32),
                whole: f.LLVMIntTypeInContext(context, 64),
                lower: HashMap::new(),
            };
            for end in ends {
                if let Some(new) = halves.of_end(end) {
                    f.LLVMReplaceAllUsesWith(end, new);
                }
            }
            f.LLVMDisposeBuilder(builder);
        }
    }
}

/// The shifts to the right, masks and truncations in which arithmetic of 64 bits on results of these functions ends,
/// those nearer to the calls first.
fn ends_of(asked: &[LLVMValueRef]) -> Vec<LLVMValueRef> {
    let mut ends = Vec::new();
    let mut seen: HashSet<LLVMValueRef> = HashSet::new();
    let mut values: Vec<LLVMValueRef> = asked.iter().flat_map(|&function| calls_of(function)).collect();
    values.retain(|&call| is_whole(call));
    for _ in 0..MAX_DEPTH {
        let mut further = Vec::new();
        for user in values.into_iter().flat_map(users_of) {
            let Some(op) = opcode(user) else { continue };
            if op == LLVMTrunc as u32 && is_of_arithmetic(user) && seen.insert(user) {
                ends.push(user);
            }
            if !is_whole(user) || !seen.insert(user) {
                continue;
            }
            let shifts = op == LLVMAShr as u32 || op == LLVMLShr as u32;
            if shifts || op == LLVMAnd as u32 {
                ends.push(user);
            }
            if shifts || op == LLVMShl as u32 || HALVABLE.iter().any(|&a| a as u32 == op) {
                further.push(user);
            }
        }
        values = further;
    }
    ends
}

/// Whether a truncation is one to 32 bits of what is computed of numbers, not of a number itself.
fn is_of_arithmetic(truncation: LLVMValueRef) -> bool {
    let f = functions();
    // SAFETY: a live instruction with an operand.
    let (ty, x) = unsafe { (f.LLVMTypeOf(truncation), f.LLVMGetOperand(truncation, 0)) };
    int_width(ty) == Some(32) && is_whole(x) && HALVABLE.iter().chain(&[LLVMShl]).any(|&op| is(x, op))
}

/// Makes halves of integers of 64 bits.
struct Halves {
    builder: LLVMBuilderRef,
    half: LLVMTypeRef,
    whole: LLVMTypeRef,
    /// The lower halves that have been made, each where its value is defined.
    lower: HashMap<LLVMValueRef, LLVMValueRef>,
}

impl Halves {
    /// What an end is by arithmetic of 32 bits.
    ///
    /// # Safety
    /// It is a live instruction, a truncation to 32 bits or one of 64 bits with two operands.
    unsafe fn of_end(&mut self, end: LLVMValueRef) -> Option<LLVMValueRef> {
        let f = functions();
        // SAFETY: as the caller promises; before it, its operands are defined.
        unsafe {
            let x = f.LLVMGetOperand(end, 0);
            if is(end, LLVMTrunc) {
                return self.lower(end, x, MAX_DEPTH);
            }
            let by = number(f.LLVMGetOperand(end, 1))?;
            if is(end, LLVMAnd) {
                return self.of_mask(end, x, by);
            }
            if !(1..64).contains(&by) {
                return None;
            }
            let signed = is(end, LLVMAShr);
            let upper = self.upper(end, x, MAX_DEPTH)?;
            f.LLVMPositionBuilderBefore(self.builder, end);
            if by < 32 {
                let wide = self.extended(upper, signed);
                return Some(self.shifted(LLVMShl, wide, 32 - by));
            }
            let shift = if signed { LLVMAShr } else { LLVMLShr };
            let upper = self.shifted(shift, upper, by - 32);
            Some(self.extended(upper, signed))
        }
    }

    /// What `x & mask` is by arithmetic of 32 bits.
    ///
    /// # Safety
    /// The end is a live `and` of 64 bits, and `x` its first operand.
    unsafe fn of_mask(&mut self, end: LLVMValueRef, x: LLVMValueRef, mask: u64) -> Option<LLVMValueRef> {
        let f = functions();
        // SAFETY: as the caller promises.
        unsafe {
            let shift = if is(x, LLVMShl) || is(x, LLVMLShr) { number(f.LLVMGetOperand(x, 1)) } else { None };
            let shift = shift.filter(|&by| by < 32);
            // Of `(v << by) & mask`, the mask may reach beyond the lower half; of `(v >> by) & mask`, it has to leave
            // out what comes down from the upper one.
            let (value, right, left) = match shift {
                Some(by) if is(x, LLVMShl) && mask >> by <= LOWER => (f.LLVMGetOperand(x, 0), 0, by),
                Some(by) if is(x, LLVMLShr) && mask <= LOWER >> by => (f.LLVMGetOperand(x, 0), by, 0),
                _ if mask <= LOWER => (x, 0, 0),
                _ => return None,
            };
            let lower = self.lower(end, value, MAX_DEPTH)?;
            f.LLVMPositionBuilderBefore(self.builder, end);
            let mut found = self.shifted(LLVMLShr, lower, right);
            let mask = mask >> left;
            if mask != LOWER {
                let mask = f.LLVMConstInt(self.half, mask, 0);
                found = f.LLVMBuildBinOp(self.builder, LLVMAnd as u32, found, mask, c"".as_ptr());
            }
            let wide = self.extended(found, false);
            Some(self.shifted(LLVMShl, wide, left))
        }
    }

    /// The lower half of a value that `end` is made of, made where the value is defined.
    ///
    /// # Safety
    /// Both are live, of 64 bits.
    unsafe fn lower(&mut self, end: LLVMValueRef, x: LLVMValueRef, depth: u32) -> Option<LLVMValueRef> {
        let f = functions();
        if let Some(constant) = number(x) {
            // SAFETY: a live type.
            return Some(unsafe { f.LLVMConstInt(self.half, constant & LOWER, 0) });
        }
        if let Some(&known) = self.lower.get(&x) {
            return Some(known);
        }
        // SAFETY: as the caller promises; an operation has two operands, which are defined before it, a cast has one.
        let made = unsafe {
            let op = opcode(x).unwrap_or(0);
            let operand = |k| f.LLVMGetOperand(x, k);
            if depth > 0 && HALVABLE.iter().any(|&a| a as u32 == op) {
                let (a, b) =
                    (self.lower(end, operand(0), depth - 1)?, self.lower(end, operand(1), depth - 1)?);
                f.LLVMPositionBuilderBefore(self.builder, x);
                f.LLVMBuildBinOp(self.builder, op, a, b, c"".as_ptr())
            } else if let Some(by) = number_by(x, LLVMShl).filter(|&by| depth > 0 && by < 32) {
                let a = self.lower(end, operand(0), depth - 1)?;
                f.LLVMPositionBuilderBefore(self.builder, x);
                self.shifted(LLVMShl, a, by)
            } else if (op == LLVMSExt as u32 || op == LLVMZExt as u32)
                && int_width(f.LLVMTypeOf(operand(0))) == Some(32)
            {
                operand(0)
            } else {
                f.LLVMPositionBuilderBefore(self.builder, Self::behind(end, x)?);
                f.LLVMBuildCast(self.builder, LLVMTrunc as u32, x, self.half, c"".as_ptr())
            }
        };
        self.lower.insert(x, made);
        Some(made)
    }

    /// The upper half of a value whose lower half is certainly zero, made before `end`, which it is an operand of or
    /// of whose operands it is one.
    ///
    /// # Safety
    /// Both are live, of 64 bits.
    unsafe fn upper(&mut self, end: LLVMValueRef, y: LLVMValueRef, depth: u32) -> Option<LLVMValueRef> {
        let f = functions();
        if let Some(constant) = number(y) {
            // SAFETY: a live type.
            return (constant & LOWER == 0).then(|| unsafe { f.LLVMConstInt(self.half, constant >> 32, 0) });
        }
        let depth = depth.checked_sub(1)?;
        // SAFETY: as the caller promises; an operation has two operands; flags are asked of and set on arithmetic
        // that has them.
        unsafe {
            let op = opcode(y)?;
            if let Some(by) = number_by(y, LLVMShl) {
                if !(32..64).contains(&by) {
                    return None;
                }
                let x = self.lower(end, f.LLVMGetOperand(y, 0), depth)?;
                f.LLVMPositionBuilderBefore(self.builder, end);
                return Some(self.shifted(LLVMShl, x, by - 32));
            }
            if !HALVABLE.iter().any(|&a| a as u32 == op) {
                return None;
            }
            let [a, b] = [0, 1].map(|k| f.LLVMGetOperand(y, k));
            let (x, z) = if op == LLVMMul as u32 {
                match self.upper(end, a, depth) {
                    Some(upper) => (upper, self.lower(end, b, depth)?),
                    None => (self.lower(end, a, depth)?, self.upper(end, b, depth)?),
                }
            } else {
                (self.upper(end, a, depth)?, self.upper(end, b, depth)?)
            };
            f.LLVMPositionBuilderBefore(self.builder, end);
            let new = f.LLVMBuildBinOp(self.builder, op, x, z, c"".as_ptr());
            // With lower halves of zero, sums wrap where the sums of the upper halves do.
            if (op == LLVMAdd as u32 || op == LLVMSub as u32) && !f.LLVMIsAInstruction(new).is_null() {
                f.LLVMSetNSW(new, f.LLVMGetNSW(y));
                f.LLVMSetNUW(new, f.LLVMGetNUW(y));
            }
            Some(new)
        }
    }

    /// Where what is made of a value alone may stand: behind an instruction, for a parameter at the beginning of the
    /// function that `end` is in.
    ///
    /// # Safety
    /// Both are live.
    unsafe fn behind(end: LLVMValueRef, value: LLVMValueRef) -> Option<LLVMValueRef> {
        let f = functions();
        // SAFETY: as the caller promises; a function with an instruction has a first one, and a block does not end with
        // an instruction that is no terminator.
        unsafe {
            if opcode(value).is_none() {
                let function = f.LLVMGetBasicBlockParent(f.LLVMGetInstructionParent(end));
                let first = || f.LLVMGetFirstInstruction(f.LLVMGetFirstBasicBlock(function));
                return (f.LLVMIsConstant(value) == 0).then(first);
            }
            if !f.LLVMIsATerminatorInst(value).is_null() {
                return None;
            }
            let mut at = f.LLVMGetNextInstruction(value);
            while !f.LLVMIsAPHINode(at).is_null() {
                at = f.LLVMGetNextInstruction(at);
            }
            Some(at)
        }
    }

    /// The extension of a half, where the builder stands.
    ///
    /// # Safety
    /// It is live and defined there.
    unsafe fn extended(&self, x: LLVMValueRef, signed: bool) -> LLVMValueRef {
        let op = if signed { LLVMSExt } else { LLVMZExt };
        // SAFETY: as the caller promises.
        unsafe { functions().LLVMBuildCast(self.builder, op as u32, x, self.whole, c"".as_ptr()) }
    }

    /// A value shifted by a constant, where the builder stands.
    ///
    /// # Safety
    /// It is live and defined there, and wider than the constant.
    unsafe fn shifted(&self, op: LLVMOpcode, x: LLVMValueRef, by: u64) -> LLVMValueRef {
        let f = functions();
        if by == 0 {
            return x;
        }
        // SAFETY: as the caller promises.
        unsafe {
            let by = f.LLVMConstInt(f.LLVMTypeOf(x), by, 0);
            f.LLVMBuildBinOp(self.builder, op as u32, x, by, c"".as_ptr())
        }
    }
}

/// Whether a value is an integer of 64 bits.
fn is_whole(value: LLVMValueRef) -> bool {
    // SAFETY: a live value.
    int_width(unsafe { functions().LLVMTypeOf(value) }) == Some(64)
}

/// A constant integer of at most 64 bits.
fn number(value: LLVMValueRef) -> Option<u64> {
    let f = functions();
    // SAFETY: a live value; integers are asked for their value.
    unsafe {
        (!f.LLVMIsAConstantInt(value).is_null() && is_whole(value)).then(|| f.LLVMConstIntGetZExtValue(value))
    }
}

/// The constant by which an operation is done, if it is this one.
///
/// # Safety
/// The value is live, and the operation one with two operands.
unsafe fn number_by(value: LLVMValueRef, op: LLVMOpcode) -> Option<u64> {
    // SAFETY: as the caller promises.
    is(value, op).then(|| number(unsafe { functions().LLVMGetOperand(value, 1) })).flatten()
}
