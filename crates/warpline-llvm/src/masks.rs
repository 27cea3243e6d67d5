//! Masks in the form that the processor has for them: those that live from block to block, and those of several
//! registers.
//!
//! Processors with mask registers keep a bit for each lane. Others compare into vectors of integers as wide as what
//! is compared, all ones or zero, and blend by them. LLVM looks at one block at a time when it chooses a form, and
//! takes `<W x i1>` between blocks for narrow integers, whatever the code on both sides compares and blends. A mask
//! of a loop over `double` is then packed and unpacked in every iteration. Within a block, it does the same with masks
//! of several registers that are combined with others, or extended to numbers.
//!
//! So right before code generation, for a processor without mask registers, such a mask becomes a vector of integers
//! as wide as most of what it is made of and used for, and so do the masks that it is made of and goes into. A mask
//! that is extended is its integers, or zero less these. Where a mask is used otherwise, its integers are compared with
//! zero; LLVM knows that blends, masked accesses and the gathering of bits look at the sign alone. Passes of LLVM that
//! run later would undo this. Masks of several registers are then [asked for any lane](crate::any_lane) without being
//! packed. For processors with mask registers, masks of several registers become [parts](crate::mask_parts).

use std::collections::BTreeMap;

use crate::ffi::types::LLVMOpcode as Opcode;
use crate::ffi::types::*;

use crate::error::Result;
use crate::ffi::load::functions;
use crate::mask_webs::{
    Webs, combines, element_bits, extensions_of, first_behind_phis, is_extended, is_null, is_phi,
    leaves_its_block, operands_of, replace_in_blocks,
};
use crate::module::Module;
use crate::target::{Emit, TargetMachine};
use crate::{any_lane, any_lane::SLT, mask_parts};

const EMPTY: *const std::ffi::c_char = c"".as_ptr();

impl Module {
    /// Gives masks that live across blocks or fill several registers the form that fits the processor. `vector_bits` is
    /// the size of its vector registers, if that is known.
    ///
    /// # Errors
    /// If LLVM cannot say what registers the processor has.
    pub fn fit_masks(&mut self, machine: &TargetMachine, vector_bits: Option<u32>) -> Result<()> {
        let functions: Vec<LLVMValueRef> = self.functions().collect();
        let (mut webs, mut has_masks) = (Vec::new(), false);
        for &function in &functions {
            let all = Webs::of(function);
            has_masks |= !all.masks.is_empty();
            webs.extend(all.found);
        }
        if !has_masks || !machine.triple().starts_with("x86_64") {
            return Ok(());
        }
        let Registers { of_masks, bits } = Registers::of(machine)?;
        if of_masks {
            let bits = vector_bits.unwrap_or(bits);
            for web in webs {
                let lanes = web.most(u32::MAX).map_or(web.lanes, |(_, width)| bits / width);
                if web.lanes > lanes && web.lanes.is_power_of_two() {
                    mask_parts::split(self.context(), &web.masks, lanes);
                }
            }
            return Ok(());
        }
        for web in webs {
            if let Some(width) = web.bits_of_integers().filter(|width| web.across || width * web.lanes > bits)
            {
                self.widen(&web.masks, width);
            }
        }
        for function in functions {
            any_lane::by_registers(self.context(), function, bits);
        }
        Ok(())
    }

    /// Lets the masks of a web be integers of so many bits: φs and what is made of masks; comparisons where they are
    /// used for these, or in other blocks.
    fn widen(&self, masks: &[LLVMValueRef], width: u32) {
        let f = functions();
        // SAFETY: masks are live instructions of functions with bodies; the builder is disposed of. Every φ gets an
        // operand for each edge, and the integers are made behind the masks, where they dominate all uses. Masks are
        // removed when nothing uses them any more.
        unsafe {
            let builder = f.LLVMCreateBuilderInContext(self.context());
            let lanes = f.LLVMGetVectorSize(f.LLVMTypeOf(masks[0]));
            let ty = f.LLVMVectorType(f.LLVMIntTypeInContext(self.context(), width), lanes);
            let mut wide = Wide { builder, ty, of: BTreeMap::new() };
            for &phi in masks.iter().filter(|&&mask| is_phi(mask)) {
                f.LLVMPositionBuilderBefore(builder, phi);
                wide.of.insert(phi, f.LLVMBuildPhi(builder, ty, EMPTY));
            }
            let becomes_integers = |mask| combines(mask) || leaves_its_block(mask) || is_extended(mask);
            for &mask in masks.iter().filter(|&&mask| becomes_integers(mask)) {
                wide.integers(mask);
            }
            for &phi in masks.iter().filter(|&&mask| is_phi(mask)) {
                // Several edges from one block carry the very same operand.
                let mut carried: BTreeMap<LLVMBasicBlockRef, LLVMValueRef> = BTreeMap::new();
                for k in 0..f.LLVMCountIncoming(phi) {
                    let (mask, mut from) = (f.LLVMGetIncomingValue(phi, k), f.LLVMGetIncomingBlock(phi, k));
                    let at = f.LLVMGetBasicBlockTerminator(from);
                    let mut operand = *carried.entry(from).or_insert_with(|| wide.operand(mask, at));
                    f.LLVMAddIncoming(wide.of[&phi], &raw mut operand, &raw mut from, 1);
                }
            }
            for &mask in masks {
                if let Some(&integers) = wide.of.get(&mask) {
                    extend_integers(builder, mask, integers);
                    narrow_uses(builder, mask, integers);
                }
            }
            for &mask in masks.iter().rev().filter(|&&mask| combines(mask)) {
                f.LLVMReplaceAllUsesWith(mask, f.LLVMGetPoison(f.LLVMTypeOf(mask)));
                f.LLVMInstructionEraseFromParent(mask);
            }
            f.LLVMDisposeBuilder(builder);
        }
    }
}

/// Masks as integers, made behind the masks.
struct Wide {
    builder: LLVMBuilderRef,
    ty: LLVMTypeRef,
    of: BTreeMap<LLVMValueRef, LLVMValueRef>,
}

impl Wide {
    /// An operand as integers; one that is no instruction is converted in front of `at`.
    fn operand(&mut self, mask: LLVMValueRef, at: LLVMValueRef) -> LLVMValueRef {
        let f = functions();
        // SAFETY: a live mask and instruction; the builder makes a constant of a constant.
        unsafe {
            if f.LLVMIsAInstruction(mask).is_null() {
                f.LLVMPositionBuilderBefore(self.builder, at);
                return f.LLVMBuildCast(self.builder, Opcode::LLVMSExt as u32, mask, self.ty, EMPTY);
            }
        }
        self.integers(mask)
    }

    /// A mask that is an instruction, as integers. What it is made of comes before it, or is a φ.
    fn integers(&mut self, mask: LLVMValueRef) -> LLVMValueRef {
        if let Some(&known) = self.of.get(&mask) {
            return known;
        }
        let f = functions();
        // SAFETY: a live mask, behind which the builder is put; operands have been made before.
        let made = unsafe {
            let behind = f.LLVMGetNextInstruction(mask);
            let parts: Vec<LLVMValueRef> = if combines(mask) { operands_of(mask) } else { Vec::new() };
            let opcode = f.LLVMGetInstructionOpcode(mask);
            let is_mask = |v: LLVMValueRef| element_bits(f.LLVMTypeOf(v)) == Some(1);
            let wide: Vec<LLVMValueRef> =
                parts.iter().map(|&v| if is_mask(v) { self.operand(v, behind) } else { v }).collect();
            let builder = self.builder;
            f.LLVMPositionBuilderBefore(builder, behind);
            match (&parts[..], &wide[..]) {
                (&[_, _], &[a, b]) => f.LLVMBuildBinOp(builder, opcode, a, b, EMPTY),
                (&[_], &[x]) => f.LLVMBuildFreeze(builder, x, EMPTY),
                // Poison in lanes that the condition rules out stays out.
                (&[cond, _, no], &[c, yes, _]) if is_mask(cond) && is_null(no) => {
                    let yes = f.LLVMBuildFreeze(builder, yes, EMPTY);
                    f.LLVMBuildBinOp(builder, Opcode::LLVMAnd as u32, c, yes, EMPTY)
                }
                (&[cond, _, _], &[_, yes, no]) => f.LLVMBuildSelect(builder, cond, yes, no, EMPTY),
                _ => f.LLVMBuildCast(builder, Opcode::LLVMSExt as u32, mask, self.ty, EMPTY),
            }
        };
        self.of.insert(mask, made);
        made
    }
}

/// Makes extensions of a mask of its integers, of which each has the bits of the mask all over.
///
/// # Safety
/// A live builder, a live mask that is an instruction, and its integers.
unsafe fn extend_integers(builder: LLVMBuilderRef, mask: LLVMValueRef, integers: LLVMValueRef) {
    let f = functions();
    // SAFETY: as the caller promises; extensions are collected before any is changed, and come behind the integers.
    unsafe {
        let bits = element_bits(f.LLVMTypeOf(integers));
        for extension in extensions_of(mask).filter(|&user| user != integers) {
            f.LLVMPositionBuilderBefore(builder, extension);
            let ty = f.LLVMTypeOf(extension);
            let cast = |op: Opcode| f.LLVMBuildCast(builder, op as u32, integers, ty, EMPTY);
            let signed = match element_bits(ty).cmp(&bits) {
                std::cmp::Ordering::Less => cast(Opcode::LLVMTrunc),
                std::cmp::Ordering::Equal => integers,
                std::cmp::Ordering::Greater => cast(Opcode::LLVMSExt),
            };
            let is_signed = f.LLVMGetInstructionOpcode(extension) == Opcode::LLVMSExt as u32;
            let number = match is_signed {
                true => signed,
                false => {
                    f.LLVMBuildBinOp(builder, Opcode::LLVMSub as u32, f.LLVMConstNull(ty), signed, EMPTY)
                }
            };
            f.LLVMReplaceAllUsesWith(extension, number);
            f.LLVMInstructionEraseFromParent(extension);
        }
    }
}

/// Lets instructions use integers instead of a mask: those that make no mask of it, and of a comparison those in
/// other blocks.
///
/// # Safety
/// A live builder, a live mask that is an instruction, and its integers.
unsafe fn narrow_uses(builder: LLVMBuilderRef, mask: LLVMValueRef, integers: LLVMValueRef) {
    let f = functions();
    // SAFETY: as the caller promises; the comparison comes behind the integers.
    unsafe {
        let home = f.LLVMGetInstructionParent(mask);
        let is_meant = |user: LLVMValueRef, block: LLVMBasicBlockRef| {
            // A select of integers by this mask is new.
            !combines(user) && user != integers && (block != home || combines(mask))
        };
        replace_in_blocks(mask, is_meant, |block| {
            let at = match block == home && !is_phi(mask) {
                true => f.LLVMGetNextInstruction(integers),
                false => first_behind_phis(block),
            };
            f.LLVMPositionBuilderBefore(builder, at);
            let zero = f.LLVMConstNull(f.LLVMTypeOf(integers));
            f.LLVMBuildICmp(builder, SLT, integers, zero, EMPTY)
        });
    }
}

/// Whether a processor compares vectors into mask registers.
pub(crate) fn has_mask_registers(machine: &TargetMachine) -> Result<bool> {
    Ok(Registers::of(machine)?.of_masks)
}

/// The registers of an x86-64 processor: what LLVM makes of a comparison says so.
pub(crate) struct Registers {
    /// Whether there are some for masks.
    of_masks: bool,
    /// The size of those for vectors.
    pub(crate) bits: u32,
}

impl Registers {
    pub(crate) fn of(machine: &TargetMachine) -> Result<Registers> {
        let text = "define void @probe(ptr %p, <8 x i32> %x, <8 x i32> %y) {
  %c = icmp slt <8 x i32> %x, %y
  %z = select <8 x i1> %c, <8 x i32> %x, <8 x i32> zeroinitializer
  store <8 x i32> %z, ptr %p
  ret void
}";
        let mut module = Module::parse(text.as_bytes(), "probe.ll")?;
        module.set_target(machine)?;
        module.set_cpu(machine.cpu(), None, &[]);
        let assembly = machine.emit(&module, Emit::Assembly)?;
        let assembly = String::from_utf8_lossy(&assembly);
        let bits = if assembly.contains("%ymm") { 256 } else { 128 };
        Ok(Registers { of_masks: assembly.contains("%k"), bits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Cpu;
    use crate::worker::{CodegenOptions, Output, codegen_in_process};

    /// A loop that lanes leave when their numbers have become small, over elements of a type.
    fn decay(ty: &str, lanes: u32, test: &str) -> String {
        let all = vec!["i1 true"; lanes as usize].join(", ");
        let half = vec![format!("{ty} 0.5"); lanes as usize].join(", ");
        format!(
            "define void @decay(ptr %p) {{
entry:
  %start = load <{lanes} x {ty}>, ptr %p
  br label %loop
loop:
  %alive = phi <{lanes} x i1> [ <{all}>, %entry ], [ %stay, %loop ]
  %v = phi <{lanes} x {ty}> [ %start, %entry ], [ %w, %loop ]
  %x = fmul <{lanes} x {ty}> %v, <{half}>
  %w = select <{lanes} x i1> %alive, <{lanes} x {ty}> %x, <{lanes} x {ty}> %v
  %c = fcmp ogt <{lanes} x {ty}> %w, <{half}>
  %stay = select <{lanes} x i1> %alive, <{lanes} x i1> %c, <{lanes} x i1> zeroinitializer
  %bits = bitcast <{lanes} x i1> %stay to i{lanes}
  %any = icmp ne i{lanes} %bits, 0
  br i1 %any, label %loop, label %end
end:
  call void {test}
  ret void
}}
declare void @seen(<{lanes} x i1>)
"
        )
    }

    fn assembly(text: &str, cpu: &str) -> String {
        let bitcode = Module::parse(text.as_bytes(), "masks.ll").expect("it can be read").to_bitcode();
        let options = CodegenOptions::new(Cpu::named(cpu), Output::Assembly);
        let bytes = codegen_in_process(&bitcode, "masks", &options).expect("code is generated");
        String::from_utf8(bytes).expect("assembly is text")
    }

    /// Instructions that pack vectors of integers into narrower ones, or extend them.
    fn conversions(assembly: &str) -> usize {
        let converts = |line: &&str| {
            ["vpack", "vpmovsx", "vpmovzx", "vpunpck"].iter().any(|op| line.trim_start().starts_with(op))
        };
        assembly.lines().filter(converts).count()
    }

    #[test]
    fn a_mask_of_a_loop_over_doubles_is_not_converted_on_avx2() {
        if crate::Llvm::get().is_err() {
            return eprintln!("skipped: there is no LLVM");
        }
        let text = decay("double", 8, "@llvm.donothing()") + "declare void @llvm.donothing()\n";
        assert_eq!(conversions(&assembly(&text, "haswell")), 0);
        assert!(
            assembly(&text, "skylake-avx512").contains("%k"),
            "mask registers are used where there are any"
        );
    }

    #[test]
    fn comparisons_of_several_registers_are_asked_for_any_lane_without_packing() {
        if crate::Llvm::get().is_err() {
            return eprintln!("skipped: there is no LLVM");
        }
        let text = "define i1 @any(<32 x float> %x, <32 x float> %y) {
  %less = fcmp olt <32 x float> %x, %y
  %bits = bitcast <32 x i1> %less to i32
  %any = icmp ne i32 %bits, 0
  ret i1 %any
}
";
        let assembly = assembly(text, "haswell");
        assert_eq!(conversions(&assembly), 0, "{assembly}");
        assert!(assembly.contains("vtestps") || assembly.contains("vmovmskps"), "{assembly}");
    }

    #[test]
    fn masks_of_several_registers_are_combined_and_extended_without_packing() {
        if crate::Llvm::get().is_err() {
            return eprintln!("skipped: there is no LLVM");
        }
        let text = "define <16 x i32> @count(<16 x float> %x, <16 x float> %y, <16 x i32> %n) {
  %less = fcmp olt <16 x float> %x, %y
  %positive = fcmp ogt <16 x float> %x, zeroinitializer
  %both = and <16 x i1> %less, %positive
  %one = zext <16 x i1> %both to <16 x i32>
  %sum = add <16 x i32> %n, %one
  ret <16 x i32> %sum
}
define <16 x i64> @signs(<16 x double> %x, <16 x i64> %n) {
  %less = fcmp olt <16 x double> %x, zeroinitializer
  %all = sext <16 x i1> %less to <16 x i64>
  %sum = sub <16 x i64> %n, %all
  ret <16 x i64> %sum
}
";
        let assembly = assembly(text, "haswell");
        assert_eq!(conversions(&assembly), 0, "{assembly}");
    }

    /// A random program had a `switch` whose parallel edges carry a mask that is a parameter.
    #[test]
    fn parallel_edges_carry_the_same_integers() {
        if crate::Llvm::get().is_err() {
            return eprintln!("skipped: there is no LLVM");
        }
        let text = "define <4 x double> @f(<4 x i1> %m, i32 %n, <4 x double> %a, <4 x double> %b) {
entry:
  switch i32 %n, label %other [ i32 1, label %join
                                i32 2, label %join ]
other:
  %c = fcmp ogt <4 x double> %a, %b
  br label %join
join:
  %mask = phi <4 x i1> [ %m, %entry ], [ %m, %entry ], [ %c, %other ]
  %r = select <4 x i1> %mask, <4 x double> %a, <4 x double> %b
  ret <4 x double> %r
}
";
        let mut module = Module::parse(text.as_bytes(), "masks.ll").expect("it can be read");
        let machine = TargetMachine::new("x86_64-unknown-linux-gnu", &Cpu::named("haswell")).expect("x86");
        module.set_target(&machine).expect("a layout");
        module.fit_masks(&machine, None).expect("LLVM makes code");
        module.verify().expect("the module is still right");
        assert!(module.to_text().contains("phi <4 x i64>"), "{}", module.to_text());
    }

    #[test]
    fn a_mask_becomes_as_wide_as_what_it_blends() {
        if crate::Llvm::get().is_err() {
            return eprintln!("skipped: there is no LLVM");
        }
        for (ty, lanes, bits) in [("double", 4, 64), ("float", 8, 32), ("double", 8, 64)] {
            let text = decay(ty, lanes, &format!("@seen(<{lanes} x i1> %alive)"));
            let mut module = Module::parse(text.as_bytes(), "masks.ll").expect("it can be read");
            let machine =
                TargetMachine::new("x86_64-unknown-linux-gnu", &Cpu::named("haswell")).expect("x86");
            module.set_target(&machine).expect("a layout");
            module.fit_masks(&machine, None).expect("LLVM makes code");
            module.verify().expect("the module is still right");
            let after = module.to_text();
            assert!(after.contains(&format!("phi <{lanes} x i{bits}>")), "{after}");
            assert!(!after.contains(&format!("phi <{lanes} x i1>")), "{after}");
        }
    }
}
