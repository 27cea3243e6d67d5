//! Taking an object apart: what each part is, and what goes to it.

use std::ops::Range;

use crate::ffi::types::*;

use super::{Object, Use};
use crate::ffi::load::functions;
use crate::module::{c_string, further, value_name};
use crate::small_copies::is_copy;
use crate::unroll::constant;

/// Longer copies stay copies.
const MAX_ELEMENTS: i64 = 16;

/// Takes an object apart.
pub(super) struct Split<'a> {
    context: LLVMContextRef,
    builder: LLVMBuilderRef,
    object: &'a Object,
}

impl<'a> Split<'a> {
    pub(super) fn new(context: LLVMContextRef, builder: LLVMBuilderRef, object: &'a Object) -> Split<'a> {
        Split { context, builder, object }
    }

    /// # Safety
    /// All that is known of the object is live and true.
    pub(super) unsafe fn all(&self, parts: &[Range<i64>]) {
        // SAFETY: as the caller promises.
        unsafe {
            let made: Vec<(Range<i64>, LLVMValueRef)> =
                parts.iter().map(|part| (part.clone(), self.part(part))).collect();
            for (part, address) in &made {
                self.rewrite(part, *address);
            }
            for call in &self.object.calls {
                self.pieces(call, &made);
            }
        }
    }

    /// Makes the object for a part, with the alignment that it has had.
    ///
    /// # Safety
    /// As for `all`.
    unsafe fn part(&self, part: &Range<i64>) -> LLVMValueRef {
        let f = functions();
        let Object { address, steps, markers, .. } = self.object;
        // SAFETY: as the caller promises; the new object stands beside the old one.
        unsafe {
            let bytes = || f.LLVMArrayType2(self.int(8), (part.end - part.start) as u64);
            let ty = steps.iter().find(|step| step.range == *part).map_or_else(bytes, |step| step.array);
            f.LLVMPositionBuilderBefore(self.builder, *address);
            let one = f.LLVMConstInt(self.int(32), 1, 0);
            let name = c_string(&format!("{}.part", value_name(*address)));
            let new = f.LLVMBuildArrayAlloca(self.builder, ty, one, name.as_ptr());
            f.LLVMSetAlignment(new, self.align(part));
            for &marker in markers {
                f.LLVMPositionBuilderBefore(self.builder, marker);
                let copy = f.LLVMInstructionClone(marker);
                f.LLVMInsertIntoBuilder(self.builder, copy);
                for k in 0..f.LLVMGetNumOperands(copy) as u32 {
                    let operand = f.LLVMGetOperand(copy, k);
                    if operand == *address {
                        f.LLVMSetOperand(copy, k, new);
                    } else if constant(operand).is_some() {
                        let bytes = f.LLVMConstInt(f.LLVMTypeOf(operand), (part.end - part.start) as u64, 0);
                        f.LLVMSetOperand(copy, k, bytes);
                    }
                }
            }
            new
        }
    }

    /// What the address of a part is known to be a multiple of.
    ///
    /// # Safety
    /// As for `all`.
    unsafe fn align(&self, part: &Range<i64>) -> u32 {
        // SAFETY: as the caller promises.
        let align = unsafe { functions().LLVMGetAlignment(self.object.address) }.max(1);
        1 << align.trailing_zeros().min((part.start as u64).trailing_zeros())
    }

    /// Has the accesses of a part go to its own object.
    ///
    /// # Safety
    /// As for `all`.
    unsafe fn rewrite(&self, part: &Range<i64>, new: LLVMValueRef) {
        let f = functions();
        let within = |range: &Range<i64>| part.start <= range.start && range.end <= part.end;
        // SAFETY: as the caller promises.
        unsafe {
            let align = self.align(part);
            let lower = |inst: LLVMValueRef| {
                f.LLVMSetAlignment(inst, f.LLVMGetAlignment(inst).min(align));
            };
            for access in self.object.accesses.iter().filter(|access| within(&access.range)) {
                let address = self.offset(access.inst, new, access.range.start - part.start);
                f.LLVMSetOperand(access.inst, access.operand, address);
                lower(access.inst);
            }
            for step in self.object.steps.iter().filter(|step| within(&step.range)) {
                let base = self.offset(step.inst, new, step.range.start - part.start);
                let behind = step.position..f.LLVMGetNumOperands(step.inst) as u32;
                let mut indices = vec![f.LLVMConstInt(self.int(64), 0, 0)];
                indices.extend(behind.map(|k| f.LLVMGetOperand(step.inst, k)));
                let address = f.LLVMBuildGEPWithNoWrapFlags(
                    self.builder,
                    step.array,
                    base,
                    indices.as_mut_ptr(),
                    indices.len() as u32,
                    c"".as_ptr(),
                    f.LLVMGEPGetNoWrapFlags(step.inst),
                );
                f.LLVMReplaceAllUsesWith(step.inst, address);
                f.LLVMInstructionEraseFromParent(step.inst);
                step.inner.accesses.iter().copied().for_each(lower);
                for &(call, operand) in &step.inner.calls {
                    f.LLVMSetInstrParamAlignment(call, operand + 1, 1);
                }
            }
        }
    }

    /// Does a copy or a fill part by part.
    ///
    /// # Safety
    /// As for `all`.
    unsafe fn pieces(&self, call: &Use, parts: &[(Range<i64>, LLVMValueRef)]) {
        let mut pieces = Vec::new();
        let mut at = call.range.start;
        for (part, new) in parts {
            let inside = at.max(part.start)..call.range.end.min(part.end);
            if inside.is_empty() {
                continue;
            }
            pieces.push((at..inside.start, self.object.address, at));
            pieces.push((inside.clone(), *new, inside.start - part.start));
            at = inside.end;
        }
        if pieces.is_empty() {
            return;
        }
        pieces.push((at..call.range.end, self.object.address, at));
        // SAFETY: as the caller promises.
        unsafe {
            for (range, base, offset) in pieces.into_iter().filter(|(range, ..)| !range.is_empty()) {
                let part = parts.iter().find(|part| part.1 == base);
                let element = part.and_then(|(part, _)| self.object.element_of(part));
                match element.filter(|&(_, size)| {
                    is_copy(call.inst)
                        && call.operand == 0
                        && offset % size == 0
                        && (range.end - range.start) % size == 0
                        && (range.end - range.start) / size <= MAX_ELEMENTS
                }) {
                    Some(element) => self.copy_elements(call, &range, base, offset, element),
                    None => self.copy_bytes(call, &range, base, offset),
                }
            }
            functions().LLVMInstructionEraseFromParent(call.inst);
        }
    }

    /// Copies or fills some bytes of the object.
    ///
    /// # Safety
    /// As for `all`.
    unsafe fn copy_bytes(&self, call: &Use, range: &Range<i64>, base: LLVMValueRef, offset: i64) {
        let f = functions();
        // SAFETY: as the caller promises; a copy has two addresses, then a length.
        unsafe {
            let address = self.offset(call.inst, base, offset);
            let copy = f.LLVMInstructionClone(call.inst);
            if is_copy(call.inst) {
                let other = f.LLVMGetOperand(call.inst, 1 - call.operand);
                let other = self.offset(call.inst, other, range.start - call.range.start);
                f.LLVMSetOperand(copy, 1 - call.operand, other);
                f.LLVMSetInstrParamAlignment(copy, 2, 1);
            }
            f.LLVMSetOperand(copy, call.operand, address);
            f.LLVMSetInstrParamAlignment(copy, 1, 1);
            let length = f.LLVMTypeOf(f.LLVMGetOperand(call.inst, 2));
            f.LLVMSetOperand(copy, 2, f.LLVMConstInt(length, (range.end - range.start) as u64, 0));
            f.LLVMInsertIntoBuilder(self.builder, copy);
        }
    }

    /// Copies elements to a part in which nothing but elements is accessed, so that it does not matter which bytes of
    /// one are undefined. Then it is seen to be uniform where what is copied is.
    ///
    /// # Safety
    /// As for `all`.
    unsafe fn copy_elements(
        &self,
        call: &Use,
        range: &Range<i64>,
        base: LLVMValueRef,
        offset: i64,
        (ty, size): (LLVMTypeRef, i64),
    ) {
        let f = functions();
        // SAFETY: as the caller promises.
        unsafe {
            let from = f.LLVMGetOperand(call.inst, 1);
            let starts = || (0..range.end - range.start).step_by(size as usize);
            let read = |k: i64| {
                let address = self.offset(call.inst, from, range.start - call.range.start + k);
                let value = f.LLVMBuildLoad2(self.builder, ty, address, c"".as_ptr());
                f.LLVMSetAlignment(value, 1);
                value
            };
            let values: Vec<LLVMValueRef> = starts().map(read).collect();
            for (k, value) in starts().zip(values) {
                let address = self.offset(call.inst, base, offset + k);
                f.LLVMSetAlignment(f.LLVMBuildStore(self.builder, value, address), 1);
            }
        }
    }

    /// An address some bytes further, before an instruction.
    ///
    /// # Safety
    /// Both are live.
    unsafe fn offset(&self, before: LLVMValueRef, address: LLVMValueRef, bytes: i64) -> LLVMValueRef {
        // SAFETY: as the caller promises.
        unsafe {
            functions().LLVMPositionBuilderBefore(self.builder, before);
            further(self.context, self.builder, address, bytes)
        }
    }

    fn int(&self, bits: u32) -> LLVMTypeRef {
        // SAFETY: a live context.
        unsafe { functions().LLVMIntTypeInContext(self.context, bits) }
    }
}
