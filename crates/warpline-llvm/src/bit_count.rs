//! Loops that count the bits of a number, replaced by the instruction that does.
//!
//! ```text
//! while (x) { x &= x - 1; n++; }          while (x) { n += x & 1; x >>= 1; }
//! ```
//!
//! Both end with n + popcount(x), whatever n and x are when the loop's test is reached, since each iteration takes as
//! much off the bits that are left as it adds to n. So that sum takes the place of n behind the loop, 0 that of x, and
//! the test is decided. Sums wrap as those of the loop would have; where these were poison, the new ones are not.
//!
//! Such a loop is one that lanes leave apart, after up to as many iterations as there are bits.

use crate::ffi::types::LLVMIntPredicate::{LLVMIntEQ, LLVMIntNE};
use crate::ffi::types::LLVMOpcode::{
    LLVMAdd, LLVMAnd, LLVMBr, LLVMICmp, LLVMLShr, LLVMMul, LLVMPHI, LLVMTrunc, LLVMZExt,
};
use crate::ffi::types::LLVMTypeKind::LLVMIntegerTypeKind;
use crate::ffi::types::*;
use warpline_analysis::CycleId;

use crate::ffi::load::functions;
use crate::loop_forest::Loops;
use crate::module::{Module, c_string, instructions_in, is, opcode, users_of};
use crate::unroll::{constant, is_annotation};

/// What loops may consist of.
const PARTS: [crate::ffi::types::LLVMOpcode; 8] =
    [LLVMPHI, LLVMAdd, LLVMAnd, LLVMLShr, LLVMZExt, LLVMTrunc, LLVMICmp, LLVMBr];

/// A loop that counts bits.
struct BitCount {
    /// The number, when the test is reached.
    number: LLVMValueRef,
    /// What counts, and how much each bit adds to it.
    counts: Vec<(LLVMValueRef, i64)>,
    /// The branch that leaves the loop, and what decides that it does.
    branch: LLVMValueRef,
    leaves: bool,
}

impl Module {
    /// Replaces a loop if it counts bits. What is left of it is dead.
    pub(crate) fn replace_bit_count(&self, loops: &Loops, cycle: CycleId) -> bool {
        let Some(found) = find(loops, cycle) else { return false };
        let f = functions();
        // SAFETY: everything belongs to this live module; the new values have the types of what they replace, and
        // stand at the end of the header, which dominates all that is behind the loop.
        unsafe {
            let builder = f.LLVMCreateBuilderInContext(self.context());
            f.LLVMPositionBuilderBefore(builder, found.branch);
            let bits = self.population_count(builder, found.number);
            for (count, by) in found.counts {
                let ty = f.LLVMTypeOf(count);
                let op = if width(count) < width(bits) { LLVMTrunc } else { LLVMZExt };
                let same = width(count) == width(bits);
                let bits =
                    if same { bits } else { f.LLVMBuildCast(builder, op as u32, bits, ty, c"".as_ptr()) };
                let by = f.LLVMConstInt(ty, by as u64, 1);
                let more = f.LLVMBuildBinOp(builder, LLVMMul as u32, bits, by, c"".as_ptr());
                let sum = f.LLVMBuildBinOp(builder, LLVMAdd as u32, count, more, c"".as_ptr());
                replace_behind(loops, cycle, count, sum);
            }
            let zero = f.LLVMConstNull(f.LLVMTypeOf(found.number));
            replace_behind(loops, cycle, found.number, zero);
            let boolean = f.LLVMIntTypeInContext(self.context(), 1);
            f.LLVMSetCondition(found.branch, f.LLVMConstInt(boolean, found.leaves.into(), 0));
            f.LLVMDisposeBuilder(builder);
        }
        true
    }

    /// # Safety
    /// The builder stands where the integer is defined.
    unsafe fn population_count(&self, builder: LLVMBuilderRef, number: LLVMValueRef) -> LLVMValueRef {
        let f = functions();
        let name = format!("llvm.ctpop.i{}", width(number));
        // SAFETY: a live module and value; the function has the type that LLVM knows it by.
        unsafe {
            let ty = f.LLVMTypeOf(number);
            let function = f.LLVMFunctionType(ty, [ty].as_mut_ptr(), 1, 0);
            let known = self.named(&name);
            let callee =
                known.unwrap_or_else(|| f.LLVMAddFunction(self.raw(), c_string(&name).as_ptr(), function));
            f.LLVMBuildCall2(builder, function, callee, [number].as_mut_ptr(), 1, c"".as_ptr())
        }
    }
}

/// Has what uses a value behind a loop use another one.
fn replace_behind(loops: &Loops, cycle: CycleId, value: LLVMValueRef, new: LLVMValueRef) {
    let f = functions();
    for user in users_of(value) {
        // SAFETY: users of a live instruction are instructions, whose operands are asked for within their number.
        unsafe {
            if user == new || loops.contains(cycle, f.LLVMGetInstructionParent(user)) {
                continue;
            }
            for k in 0..f.LLVMGetNumOperands(user) as u32 {
                if f.LLVMGetOperand(user, k) == value {
                    f.LLVMSetOperand(user, k, new);
                }
            }
        }
    }
}

fn find(loops: &Loops, cycle: CycleId) -> Option<BitCount> {
    let f = functions();
    let [branch] = loops.leaving(cycle)[..] else { return None };
    let [latch] = loops.latches(cycle)[..] else { return None };
    let header = loops.header(cycle);
    let insts: Vec<LLVMValueRef> = loops.blocks_in(cycle).flat_map(instructions_in).collect();
    let is_part =
        |&inst: &LLVMValueRef| PARTS.iter().any(|&p| opcode(inst) == Some(p as u32)) || is_annotation(inst);
    if latch == branch || !loops.cycles.children(cycle).is_empty() || !insts.iter().all(is_part) {
        return None;
    }
    // SAFETY: instructions of live blocks, which are asked for what their kind has.
    unsafe {
        if f.LLVMGetInstructionParent(branch) != header || f.LLVMGetNumSuccessors(branch) != 2 {
            return None;
        }
        let test = f.LLVMGetOperand(branch, 0);
        let equals = [LLVMIntEQ, LLVMIntNE].map(|p| p as u32);
        if !is(test, LLVMICmp) || constant(f.LLVMGetOperand(test, 1)) != Some(0) {
            return None;
        }
        let ends_if_equal = equals.iter().position(|&p| p == f.LLVMGetICmpPredicate(test))? == 0;
        let number = f.LLVMGetOperand(test, 0);
        let leaves_if_true = !loops.contains(cycle, f.LLVMGetSuccessor(branch, 0));
        if !is_number(number) || !is(number, LLVMPHI) || ends_if_equal != leaves_if_true {
            return None;
        }
        let phis = instructions_in(header).into_iter().filter(|&inst| is(inst, LLVMPHI));
        let (numbers, others): (Vec<_>, Vec<_>) = phis.partition(|&phi| phi == number);
        let next = next_of(loops, cycle, *numbers.first()?)?;
        let counts = others.into_iter().map(|phi| {
            let by = counted(number, next, phi, next_of(loops, cycle, phi)?)?;
            Some((phi, by))
        });
        Some(BitCount { number, counts: counts.collect::<Option<_>>()?, branch, leaves: leaves_if_true })
    }
}

/// How much each bit adds to a count that becomes `next_count` while the number becomes `next`.
///
/// # Safety
/// All are live.
unsafe fn counted(
    number: LLVMValueRef,
    next: LLVMValueRef,
    count: LLVMValueRef,
    next_count: LLVMValueRef,
) -> Option<i64> {
    // SAFETY: as the caller promises.
    unsafe {
        if !is_number(count) {
            return None;
        }
        let by = other_operand(next_count, LLVMAdd, count)?;
        // The lowest bit goes.
        let dropped = other_operand(next, LLVMAnd, number);
        if let Some(less) = dropped.and_then(|dropped| other_operand(dropped, LLVMAdd, number)) {
            return constant(by).filter(|_| constant(less) == Some(-1));
        }
        let f = functions();
        let shifted = is(next, LLVMLShr) && f.LLVMGetOperand(next, 0) == number;
        let bit = if is(by, LLVMZExt) || is(by, LLVMTrunc) { f.LLVMGetOperand(by, 0) } else { by };
        let lowest = other_operand(bit, LLVMAnd, number).or_else(|| {
            // The number may have been made shorter first.
            let is_short = is(bit, LLVMAnd) && is(f.LLVMGetOperand(bit, 0), LLVMTrunc);
            let short = is_short.then(|| f.LLVMGetOperand(bit, 0))?;
            (f.LLVMGetOperand(short, 0) == number).then(|| f.LLVMGetOperand(bit, 1))
        });
        let one = constant(f.LLVMGetOperand(next, 1)).filter(|_| shifted);
        (one == Some(1) && lowest.and_then(constant) == Some(1)).then_some(1)
    }
}

/// The operand of an instruction beside another one.
///
/// # Safety
/// Both are live.
unsafe fn other_operand(
    inst: LLVMValueRef,
    op: crate::ffi::types::LLVMOpcode,
    operand: LLVMValueRef,
) -> Option<LLVMValueRef> {
    let f = functions();
    // SAFETY: as the caller promises; such instructions have two operands.
    unsafe {
        let [a, b] = is(inst, op).then(|| [0, 1].map(|k| f.LLVMGetOperand(inst, k)))?;
        match (a == operand, b == operand) {
            (true, false) => Some(b),
            (false, true) => Some(a),
            _ => None,
        }
    }
}

/// What a φ of a loop's header is in the next iteration, if that is one value.
///
/// # Safety
/// It is live.
unsafe fn next_of(loops: &Loops, cycle: CycleId, phi: LLVMValueRef) -> Option<LLVMValueRef> {
    let f = functions();
    // SAFETY: as the caller promises; the φ has so many incoming values and blocks.
    unsafe {
        let all = (0..f.LLVMCountIncoming(phi))
            .filter(|&k| loops.contains(cycle, f.LLVMGetIncomingBlock(phi, k)))
            .map(|k| f.LLVMGetIncomingValue(phi, k));
        let mut all: Vec<LLVMValueRef> = all.collect();
        all.dedup();
        match all[..] {
            [one] => Some(one),
            _ => None,
        }
    }
}

/// Whether a value is an integer that bits are counted in or of.
fn is_number(value: LLVMValueRef) -> bool {
    // SAFETY: a live value.
    let kind = unsafe { functions().LLVMGetTypeKind(functions().LLVMTypeOf(value)) };
    kind == LLVMIntegerTypeKind as u32 && [8, 16, 32, 64].contains(&width(value))
}

/// The bits of an integer.
fn width(value: LLVMValueRef) -> u32 {
    // SAFETY: a live value, which is an integer.
    unsafe { functions().LLVMGetIntTypeWidth(functions().LLVMTypeOf(value)) }
}

#[cfg(test)]
mod tests {
    use crate::unroll::Unroll;
    use crate::{Llvm, Module};

    /// A function that counts in a loop: what becomes of the number `%x` and of the count `%c`.
    fn counts(number: &str, count: &str) -> String {
        format!(
            "define i32 @f(i32 %of) {{\nentry:\n  br label %head\n\
             head:\n  %x = phi i32 [ %of, %entry ], [ %x1, %body ]\n  %c = phi i32 [ 0, %entry ], [ %c1, %body ]\n  \
             %t = icmp eq i32 %x, 0\n  br i1 %t, label %exit, label %body\n\
             body:\n  {count}\n  {number}\n  br label %head\nexit:\n  ret i32 %c\n}}\n"
        )
    }

    #[test]
    fn loops_that_count_bits_are_replaced_and_similar_ones_are_not() {
        if Llvm::get().is_err() {
            return eprintln!("skipped: there is no LLVM");
        }
        let lowest = "%m = add i32 %x, -1\n  %x1 = and i32 %x, %m";
        let shift = "%x1 = lshr i32 %x, 1";
        let one = "%c1 = add nsw i32 %c, 1";
        let bit = "%b = and i32 %x, 1\n  %c1 = add i32 %c, %b";
        for (number, count, replaced) in [
            (lowest, one, true),
            (shift, bit, true),
            // The number of bits up to the highest one.
            (shift, one, false),
            // The lowest bit is set less often than there are bits.
            (lowest, bit, false),
            ("%x1 = lshr i32 %x, 2", bit, false),
            ("%m = add i32 %x, -2\n  %x1 = and i32 %x, %m", one, false),
        ] {
            let mut module = Module::parse(counts(number, count).as_bytes(), "count").unwrap();
            module.unroll_short_loops(&Unroll::Everywhere).unwrap();
            module.verify().unwrap();
            let text = module.to_text();
            assert_eq!(text.contains("llvm.ctpop.i32"), replaced, "{text}");
            assert_eq!(text.contains("phi"), !replaced, "{text}");
        }
    }
}
