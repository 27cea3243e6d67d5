//! Masks of several vector registers, for processors with mask registers: one mask for each register.
//!
//! `<64 x i1>` is a type that AVX-512 has a register for, so LLVM keeps 64 lanes of 32 bits as four vectors and one
//! mask. Each comparison then packs four masks into one (`kunpck`), each blend takes it apart again (`kshift`), and
//! both wait four cycles on the one port that does it. So right before code generation a [web](crate::mask_webs) of such
//! masks becomes one mask for each vector register of what is compared and blended. Where a mask is used otherwise,
//! the parts stand together again; LLVM takes that apart for nothing if it splits what they are used for.

mod accesses;

pub(crate) use accesses::keep_metadata;

use std::collections::{BTreeMap, BTreeSet};

use crate::ffi::types::LLVMOpcode as Opcode;
use crate::ffi::types::*;

use crate::any_lane::{EQ, NE};
use crate::ffi::load::functions;
use crate::mask_webs::{
    combines, element_bits, extends, first_behind_phis, is_null, is_phi, operands_of, replace_in_blocks,
};
use crate::module::{is, users_of};
use crate::vectors;

const EMPTY: *const std::ffi::c_char = c"".as_ptr();

/// Makes parts of so many lanes of the masks of a web, which come in the order of the program and have a multiple of
/// these lanes.
pub(crate) fn split(context: LLVMContextRef, masks: &[LLVMValueRef], lanes: u32) {
    let f = functions();
    // SAFETY: masks are live instructions of functions with bodies; the builder is disposed of. Every φ gets an
    // operand for each edge, and parts are made behind the masks, where they dominate all uses. What is removed is
    // used by nothing then.
    unsafe {
        let builder = f.LLVMCreateBuilderInContext(context);
        let count = f.LLVMGetVectorSize(f.LLVMTypeOf(masks[0])) / lanes;
        let mut parts =
            Parts { context, builder, lanes, count, of: BTreeMap::new(), behind: BTreeMap::new() };
        let ty = f.LLVMVectorType(f.LLVMIntTypeInContext(context, 1), lanes);
        for &phi in masks.iter().filter(|&&mask| is_phi(mask)) {
            f.LLVMPositionBuilderBefore(builder, phi);
            let made = (0..count).map(|_| f.LLVMBuildPhi(builder, ty, EMPTY)).collect();
            parts.of.insert(phi, made);
            parts.behind.insert(phi, first_behind_phis(f.LLVMGetInstructionParent(phi)));
        }
        for &mask in masks {
            parts.of_instruction(mask);
        }
        for &phi in masks.iter().filter(|&&mask| is_phi(mask)) {
            parts.complete(phi);
        }
        let mut dead = BTreeSet::new();
        for &mask in masks {
            parts.answer(mask, &mut dead);
        }
        for &mask in masks {
            parts.take_apart_uses(mask, &mut dead);
        }
        for &mask in masks {
            parts.join_for_uses(mask, &dead);
        }
        dead.extend(masks.iter().filter(|&&mask| is_made_anew(mask)));
        for inst in dead {
            if !f.LLVMGetFirstUse(inst).is_null() {
                f.LLVMReplaceAllUsesWith(inst, f.LLVMGetPoison(f.LLVMTypeOf(inst)));
            }
            f.LLVMInstructionEraseFromParent(inst);
        }
        f.LLVMDisposeBuilder(builder);
    }
}

/// Whether the parts of a mask are made as the mask was, and not of it.
fn is_made_anew(mask: LLVMValueRef) -> bool {
    combines(mask) || compares(mask)
}

fn compares(mask: LLVMValueRef) -> bool {
    is(mask, Opcode::LLVMICmp) || is(mask, Opcode::LLVMFCmp)
}

/// Masks and their parts.
struct Parts {
    context: LLVMContextRef,
    builder: LLVMBuilderRef,
    lanes: u32,
    count: u32,
    of: BTreeMap<LLVMValueRef, Vec<LLVMValueRef>>,
    /// What comes behind the parts of masks, in their blocks.
    behind: BTreeMap<LLVMValueRef, LLVMValueRef>,
}

impl Parts {
    /// The parts of a mask; those of one that is no instruction are made in front of `at`.
    ///
    /// # Safety
    /// A live mask, and a live instruction behind it.
    unsafe fn of_operand(&mut self, mask: LLVMValueRef, at: LLVMValueRef) -> Vec<LLVMValueRef> {
        // SAFETY: as the caller promises.
        unsafe {
            if functions().LLVMIsAInstruction(mask).is_null() {
                return self.cut(mask, at);
            }
            self.of_instruction(mask)
        }
    }

    /// Cuts a vector, in front of `at`.
    ///
    /// # Safety
    /// A live vector, and a live instruction behind it.
    unsafe fn cut(&self, vector: LLVMValueRef, at: LLVMValueRef) -> Vec<LLVMValueRef> {
        let f = functions();
        // SAFETY: as the caller promises; places are within the vector.
        unsafe {
            f.LLVMPositionBuilderBefore(self.builder, at);
            let at = (self.context, self.builder);
            let part = |k: u32| vectors::elements(at, vector, None, k * self.lanes..(k + 1) * self.lanes);
            (0..self.count).map(part).collect()
        }
    }

    /// The parts of a mask that is an instruction, made behind it. What it is made of comes before it, or is a φ.
    ///
    /// # Safety
    /// A live mask.
    unsafe fn of_instruction(&mut self, mask: LLVMValueRef) -> Vec<LLVMValueRef> {
        if let Some(known) = self.of.get(&mask) {
            return known.clone();
        }
        let f = functions();
        // SAFETY: a live mask, behind which the builder is put; operands have been made before.
        let made = unsafe {
            let behind = f.LLVMGetNextInstruction(mask);
            self.behind.insert(mask, behind);
            if is_made_anew(mask) {
                let is_vector = |v: LLVMValueRef| element_bits(f.LLVMTypeOf(v)).is_some();
                let operands: Vec<Vec<LLVMValueRef>> = operands_of(mask)
                    .into_iter()
                    .map(|v| match combines(mask) && element_bits(f.LLVMTypeOf(v)) == Some(1) {
                        true => self.of_operand(v, behind),
                        false if is_vector(v) || compares(mask) => self.cut(v, behind),
                        false => vec![v; self.count as usize],
                    })
                    .collect();
                f.LLVMPositionBuilderBefore(self.builder, behind);
                let part = |k: usize| self.again(mask, &operands.iter().map(|v| v[k]).collect::<Vec<_>>());
                (0..self.count as usize).map(part).collect()
            } else {
                self.cut(mask, behind)
            }
        };
        self.of.insert(mask, made.clone());
        made
    }

    /// What an instruction does, done with other operands.
    ///
    /// # Safety
    /// A live instruction that makes a mask, and is no φ; a builder that stands behind the operands.
    unsafe fn again(&self, mask: LLVMValueRef, operands: &[LLVMValueRef]) -> LLVMValueRef {
        let (f, builder) = (functions(), self.builder);
        // SAFETY: as the caller promises; predicates are asked of comparisons.
        unsafe {
            match *operands {
                [a, b] if is(mask, Opcode::LLVMICmp) => {
                    f.LLVMBuildICmp(builder, f.LLVMGetICmpPredicate(mask), a, b, EMPTY)
                }
                [a, b] if is(mask, Opcode::LLVMFCmp) => {
                    f.LLVMBuildFCmp(builder, f.LLVMGetFCmpPredicate(mask), a, b, EMPTY)
                }
                [cond, yes, no] => f.LLVMBuildSelect(builder, cond, yes, no, EMPTY),
                [a, b] => f.LLVMBuildBinOp(builder, f.LLVMGetInstructionOpcode(mask), a, b, EMPTY),
                [x, ..] => f.LLVMBuildFreeze(builder, x, EMPTY),
                [] => unreachable!("an instruction that makes a mask has operands"),
            }
        }
    }

    /// Gives the parts of a φ what they get on each edge.
    ///
    /// # Safety
    /// A live φ that has parts.
    unsafe fn complete(&mut self, phi: LLVMValueRef) {
        let f = functions();
        // Several edges from one block carry the very same operands.
        let mut carried: BTreeMap<LLVMBasicBlockRef, Vec<LLVMValueRef>> = BTreeMap::new();
        // SAFETY: as the caller promises; blocks end with a terminator.
        unsafe {
            for k in 0..f.LLVMCountIncoming(phi) {
                let (mask, mut from) = (f.LLVMGetIncomingValue(phi, k), f.LLVMGetIncomingBlock(phi, k));
                let operands = match carried.get(&from) {
                    Some(known) => known.clone(),
                    None => {
                        let made = self.of_operand(mask, f.LLVMGetBasicBlockTerminator(from));
                        carried.insert(from, made.clone());
                        made
                    }
                };
                for (&part, &operand) in self.of[&phi].iter().zip(&operands) {
                    let mut operand = operand;
                    f.LLVMAddIncoming(part, &raw mut operand, &raw mut from, 1);
                }
            }
        }
    }

    /// Answers whether a mask has any lane, or all, by its parts; adds what nobody needs any more to what is dead.
    ///
    /// # Safety
    /// A live mask that has parts.
    unsafe fn answer(&self, mask: LLVMValueRef, dead: &mut BTreeSet<LLVMValueRef>) {
        let (f, builder) = (functions(), self.builder);
        // SAFETY: as the caller promises; users are collected before any is changed, and parts come before them.
        unsafe {
            for bits in users_of(mask).into_iter().filter(|&user| is(user, Opcode::LLVMBitCast)) {
                for question in users_of(bits).into_iter().filter(|&user| is(user, Opcode::LLVMICmp)) {
                    let (pred, bound) = (f.LLVMGetICmpPredicate(question), f.LLVMGetOperand(question, 1));
                    let op = match (pred, is_null(bound), f.LLVMIsAConstantInt(bound).is_null()) {
                        (EQ | NE, true, _) => Opcode::LLVMOr,
                        (EQ | NE, _, false) if is_all_ones(bound) => Opcode::LLVMAnd,
                        _ => continue,
                    };
                    f.LLVMPositionBuilderBefore(builder, question);
                    let parts = &self.of[&mask];
                    let all = parts[1..]
                        .iter()
                        .fold(parts[0], |all, &part| f.LLVMBuildBinOp(builder, op as u32, all, part, EMPTY));
                    let number = f.LLVMIntTypeInContext(self.context, self.lanes);
                    let all = f.LLVMBuildCast(builder, Opcode::LLVMBitCast as u32, all, number, EMPTY);
                    let bound = match op {
                        Opcode::LLVMOr => f.LLVMConstNull(number),
                        _ => f.LLVMConstAllOnes(number),
                    };
                    let answer = f.LLVMBuildICmp(builder, pred, all, bound, EMPTY);
                    f.LLVMReplaceAllUsesWith(question, answer);
                    dead.insert(question);
                }
                if users_of(bits).iter().all(|user| dead.contains(user)) {
                    dead.insert(bits);
                }
            }
        }
    }

    /// Lets the parts of a mask blend parts of vectors, be extended to parts of them, and have parts loaded and stored:
    /// LLVM would not always take that apart the same way.
    ///
    /// # Safety
    /// A live mask that has parts.
    unsafe fn take_apart_uses(&self, mask: LLVMValueRef, dead: &mut BTreeSet<LLVMValueRef>) {
        let f = functions();
        // SAFETY: as the caller promises; users are collected before any is changed, and parts come before them.
        unsafe {
            for user in users_of(mask).into_iter().filter(|&user| !combines(user)) {
                let made = self.blends(user, mask).or_else(|| self.extensions(user, mask));
                let Some(made) = made.or_else(|| self.accesses(user, mask)) else { continue };
                if !f.LLVMGetFirstUse(user).is_null() {
                    f.LLVMReplaceAllUsesWith(user, vectors::joined((self.context, self.builder), &made));
                }
                dead.insert(user);
            }
        }
    }

    /// A blend of vectors by the parts of its mask, in front of it; `None` if it is something else.
    ///
    /// # Safety
    /// A live user of a live mask that has parts.
    unsafe fn blends(&self, select: LLVMValueRef, mask: LLVMValueRef) -> Option<Vec<LLVMValueRef>> {
        let f = functions();
        // SAFETY: as the caller promises.
        unsafe {
            if !is(select, Opcode::LLVMSelect) {
                return None;
            }
            let [yes, no] = [1, 2].map(|k| self.cut(f.LLVMGetOperand(select, k), select));
            let parts = self.of[&mask].iter().zip(yes.iter().zip(&no));
            let blend = |(&part, (&yes, &no))| f.LLVMBuildSelect(self.builder, part, yes, no, EMPTY);
            Some(parts.map(blend).collect())
        }
    }

    /// An extension of a mask by its parts, in front of it; `None` if it is something else.
    ///
    /// # Safety
    /// A live user of a live mask that has parts.
    unsafe fn extensions(&self, extension: LLVMValueRef, mask: LLVMValueRef) -> Option<Vec<LLVMValueRef>> {
        let f = functions();
        // SAFETY: as the caller promises.
        unsafe {
            if !extends(extension) {
                return None;
            }
            let ty = f.LLVMVectorType(f.LLVMGetElementType(f.LLVMTypeOf(extension)), self.lanes);
            let opcode = f.LLVMGetInstructionOpcode(extension);
            f.LLVMPositionBuilderBefore(self.builder, extension);
            let parts = self.of[&mask].iter();
            Some(parts.map(|&part| f.LLVMBuildCast(self.builder, opcode, part, ty, EMPTY)).collect())
        }
    }

    /// Lets the uses of a mask that make no mask of it, and are not dead, have the parts, which stand together in their
    /// block.
    ///
    /// # Safety
    /// A live mask that has parts.
    unsafe fn join_for_uses(&self, mask: LLVMValueRef, dead: &BTreeSet<LLVMValueRef>) {
        let f = functions();
        let parts = &self.of[&mask];
        // SAFETY: as the caller promises; the parts come before all users.
        unsafe {
            let home = f.LLVMGetInstructionParent(mask);
            let is_meant = |user: LLVMValueRef, block: LLVMBasicBlockRef| {
                let stays = block == home && !is_made_anew(mask);
                !combines(user) && !parts.contains(&user) && !stays && !dead.contains(&user)
            };
            replace_in_blocks(mask, is_meant, |block| {
                let at = if block == home { self.behind[&mask] } else { first_behind_phis(block) };
                f.LLVMPositionBuilderBefore(self.builder, at);
                vectors::joined((self.context, self.builder), parts)
            });
        }
    }
}

fn is_all_ones(constant: LLVMValueRef) -> bool {
    let f = functions();
    // SAFETY: a live constant; constants of one type and value are one.
    unsafe { f.LLVMConstAllOnes(f.LLVMTypeOf(constant)) == constant }
}

#[cfg(test)]
mod tests {
    use crate::Module;
    use crate::target::{Cpu, TargetMachine};
    use crate::worker::{CodegenOptions, Output, codegen_in_process};

    /// A loop that lanes leave when their numbers have become small; it counts, stores where a lane goes on, and asks
    /// whether any or all do.
    const DECAY: &str = "define void @decay(ptr %p, ptr %q, <64 x float> %start, i1 %known) {
entry:
  br label %loop
loop:
  %alive = phi <64 x i1> [ splat (i1 true), %entry ], [ %stay, %next ]
  %v = phi <64 x float> [ %start, %entry ], [ %w, %next ]
  %n = phi <64 x i32> [ zeroinitializer, %entry ], [ %m, %next ]
  %x = fmul <64 x float> %v, splat (float 5.000000e-01)
  %w = select <64 x i1> %alive, <64 x float> %x, <64 x float> %v
  %c = fcmp ogt <64 x float> %w, splat (float 1.000000e+00)
  %d = load <64 x i1>, ptr %q
  %e = select i1 %known, <64 x i1> %c, <64 x i1> %d
  %stay = select <64 x i1> %alive, <64 x i1> %e, <64 x i1> zeroinitializer
  %one = zext <64 x i1> %stay to <64 x i32>
  %m = add <64 x i32> %n, %one
  %bits = bitcast <64 x i1> %stay to i64
  %all = icmp eq i64 %bits, -1
  br i1 %all, label %next, label %some
some:
  call void @llvm.masked.store.v64f32.p0(<64 x float> %w, ptr %p, i32 4, <64 x i1> %stay)
  br label %next
next:
  %any = icmp ne i64 %bits, 0
  br i1 %any, label %loop, label %end
end:
  store <64 x i32> %m, ptr %p
  ret void
}
declare void @llvm.masked.store.v64f32.p0(<64 x float>, ptr, i32, <64 x i1>)
";

    #[test]
    fn masks_of_four_registers_are_four_masks() {
        if crate::Llvm::get().is_err() {
            return eprintln!("skipped: there is no LLVM");
        }
        let mut module = Module::parse(DECAY.as_bytes(), "parts.ll").expect("it can be read");
        let machine =
            TargetMachine::new("x86_64-unknown-linux-gnu", &Cpu::named("skylake-avx512")).expect("x86");
        module.set_target(&machine).expect("a layout");
        module.fit_masks(&machine, Some(512)).expect("LLVM makes code");
        module.verify().expect("the module is still right");
        let text = module.to_text();
        assert_eq!(text.matches("phi <16 x i1>").count(), 4, "{text}");
        assert!(!text.contains("phi <64 x i1>") && !text.contains("to i64\n"), "{text}");
    }

    #[test]
    fn masks_of_several_registers_are_not_packed() {
        if crate::Llvm::get().is_err() {
            return eprintln!("skipped: there is no LLVM");
        }
        let bitcode = Module::parse(DECAY.as_bytes(), "parts.ll").expect("it can be read").to_bitcode();
        let mut options = CodegenOptions::new(Cpu::named("skylake-avx512"), Output::Assembly);
        options.vector_bits = Some(512);
        let bytes = codegen_in_process(&bitcode, "parts", &options).expect("code is generated");
        let assembly = String::from_utf8(bytes).expect("assembly is text");
        let packed = assembly.lines().filter(|line| line.trim_start().starts_with("kunpck")).count();
        assert_eq!(packed, 0, "{assembly}");
    }
}
