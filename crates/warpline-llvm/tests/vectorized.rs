//! Vectorized kernels, exported, compiled and run in this process, against the scalar kernel.

use warpline_ir::FuncId;
use warpline_llvm::worker::{CodegenOptions, Output, codegen_in_process};
use warpline_llvm::{Cpu, Imported, Jit, Linkage, Llvm, Module};
use warpline_uniformity::shape::ArgShape;
use warpline_vectorize::driver::{BodyVariants, scalar_range, slots_entry, vector_range};
use warpline_vectorize::{Contract, Options, vectorize};

/// A gather under a varying mask, a divergent loop, a division that traps for inactive lanes, `half`, an intrinsic, a
/// lane operation, a store to the lane's own element and one to a uniform address.
const KERNEL: &str = "
declare zeroext i1 @warpline_any(i1 zeroext)
declare float @llvm.sqrt.f32(float)

define float @kernel(i32 %i, ptr %data, ptr %last, i32 %n) {
entry:
  %index = zext i32 %i to i64
  %place = getelementptr inbounds i32, ptr %data, i64 %index
  %x = load i32, ptr %place, align 4
  %some = icmp ne i32 %x, 0
  br i1 %some, label %divide, label %loop
divide:
  %q = udiv i32 1000, %x
  %r = urem i32 %q, 8
  %far = zext i32 %r to i64
  %far.place = getelementptr inbounds i32, ptr %data, i64 %far
  %y = load i32, ptr %far.place, align 4
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %y, %divide ], [ %k.next, %body ]
  %sum = phi float [ 0.0, %entry ], [ 1.5, %divide ], [ %sum.next, %body ]
  %more = icmp ult i32 %k, %n
  %anyone = call zeroext i1 @warpline_any(i1 zeroext %more)
  br i1 %more, label %body, label %done
body:
  %f = uitofp i32 %k to float
  %root = call float @llvm.sqrt.f32(float %f)
  %small = fptrunc float %root to half
  %wide = fpext half %small to float
  %sum.next = fadd float %sum, %wide
  %k.next = add i32 %k, 3
  br label %loop
done:
  store i32 %k, ptr %place, align 4
  store i32 %i, ptr %last, align 4
  ret float %sum
}
";

/// A loop whose header is its latch and has two exits, one that all lanes take together and one that they do not, and
/// a loop whose only exit is at its latch.
const EXITS: &str = "
define float @kernel(i32 %i, ptr %data, ptr %last, i32 %n) {
entry:
  %index = zext i32 %i to i64
  %place = getelementptr inbounds i32, ptr %data, i64 %index
  %x = load i32, ptr %place, align 4
  br label %first
first:
  %k = phi i32 [ 0, %entry ], [ %k.next, %on ]
  %s = phi i32 [ %i, %entry ], [ %s.next, %on ]
  %s.next = add i32 %s, %x
  %big = icmp ugt i32 %s.next, 60
  br i1 %big, label %second, label %on
on:
  %k.next = add i32 %k, 1
  %enough = icmp eq i32 %k.next, 7
  br i1 %enough, label %second, label %first
second:
  %from = phi i32 [ %s, %first ], [ %s.next, %on ]
  br label %last.loop
last.loop:
  %m = phi i32 [ 0, %second ], [ %m.next, %last.loop ]
  %f = phi float [ 0.5, %second ], [ %f.next, %last.loop ]
  %f.next = fadd float %f, 1.25
  %m.next = add i32 %m, 1
  %again = icmp ult i32 %m.next, %x
  br i1 %again, label %last.loop, label %done
done:
  store i32 %from, ptr %place, align 4
  ret float %f.next
}
";

fn llvm() -> Option<&'static Llvm> {
    match Llvm::get() {
        Ok(llvm) => Some(llvm),
        Err(error) => {
            eprintln!("skipped: {error}");
            None
        }
    }
}

/// Exports what is in the module beyond its first `known` functions.
fn export(imported: &mut Imported, known: usize) {
    let added: Vec<FuncId> = imported.ir.functions.keys().skip(known).collect();
    for id in added {
        imported.bridge.add_function(&imported.ir, &imported.ir.functions[id], Linkage::External).unwrap();
    }
    imported.bridge.module().verify().unwrap();
}

#[test]
fn masks_gathers_and_lane_operations_compute_what_the_scalar_kernel_does() {
    compare(KERNEL);
}

#[test]
fn loops_left_at_their_latch_compute_what_the_scalar_kernel_does() {
    compare(EXITS);
}

fn compare(text: &str) {
    let Some(_) = llvm() else { return };
    let args = [ArgShape::Index, ArgShape::Uniform, ArgShape::Uniform, ArgShape::Uniform];
    for width in [1, 4, 16] {
        let module = Module::parse(text.as_bytes(), "kernel.ll").unwrap();
        let mut imported = Imported::new(module);
        let known = imported.ir.functions.len();
        let kernel = imported.ir.function("kernel").unwrap();
        let mut made = Vec::new();
        for masked in [false, true] {
            let (contract, name) = (Contract::Racy, format!("kernel.{masked}"));
            let options = Options { masked, contract, ..Options::new(width, args.to_vec(), name) };
            made.push(vectorize(&mut imported.ir, kernel, &options).unwrap().func);
        }
        let scalar = scalar_range(&mut imported.ir, kernel, &args, "scalar").unwrap();
        let vector = vector_range(
            &mut imported.ir,
            kernel,
            &BodyVariants::of_one_width(made[0], made[1], width),
            &args,
            "vector",
        )
        .unwrap();
        slots_entry(&mut imported.ir, scalar, "scalar.slots").unwrap();
        slots_entry(&mut imported.ir, vector, "vector.slots").unwrap();
        export(&mut imported, known);

        let mut options = CodegenOptions::new(Cpu::native().unwrap(), Output::Object);
        options.define_lane_operations = true;
        let bitcode = imported.bridge.module().to_bitcode();
        let object = codegen_in_process(&bitcode, "kernel", &options).unwrap();
        let jit = Jit::new().unwrap();
        jit.add_object(&object, "kernel.o").unwrap();
        let run = |name: &str, begin: u64, end: u64| {
            let mut data: Vec<u32> = (0..40).map(|i| (i * 7) % 5).collect();
            let mut last = [77u32];
            let mut out = vec![-1.0f32; 40];
            let (data_at, last_at, out_at) = (data.as_mut_ptr(), last.as_mut_ptr(), out.as_mut_ptr());
            let mut slots = [begin, end, data_at as u64, last_at as u64, 50, out_at as u64];
            jit.function(name).unwrap().call(&mut slots);
            (data, last, out.into_iter().map(f32::to_bits).collect::<Vec<_>>())
        };
        for (begin, end) in [(8, 8), (8, 9), (8, 40), (9, 37)] {
            assert_eq!(run("scalar.slots", begin, end), run("vector.slots", begin, end), "width {width}");
        }
    }
}

/// What front ends write and a kernel may contain: an intrinsic at a call marked convergent, as OpenCL's front end
/// marks all, and assembly with several results.
const FOUND_IN_THE_WILD: &str = "
declare float @llvm.fabs.f32(float)

define float @kernel(i32 %i, float %x, i32 %leaf) {
  %four = call { i32, i32 } asm \"cpuid\", \"={ax},={bx},{ax},~{cx},~{dx}\"(i32 %leaf)
  %a = extractvalue { i32, i32 } %four, 0
  %f = uitofp i32 %a to float
  %y = call float @llvm.fabs.f32(float %x) #0
  %z = fadd float %y, %f
  ret float %z
}

attributes #0 = { convergent nounwind }
";

#[test]
fn convergent_calls_of_intrinsics_and_assembly_with_several_results_are_vectorized() {
    if let Err(error) = Llvm::get() {
        eprintln!("skipped: {error}");
        return;
    }
    let mut imported = Imported::new(Module::parse(FOUND_IN_THE_WILD.as_bytes(), "wild.ll").unwrap());
    let kernel = imported.ir.function("kernel").unwrap();
    let asked = Options {
        masked: true,
        contract: Contract::Racy,
        ..Options::new(4, vec![ArgShape::Index, ArgShape::Varying, ArgShape::Uniform], "wide")
    };
    let made = vectorize(&mut imported.ir, kernel, &asked).unwrap();
    let function = &imported.ir.functions[made.func];
    imported.bridge.add_function(&imported.ir, function, Linkage::External).unwrap();
    imported.bridge.module().verify().unwrap();
    let text = imported.bridge.module().to_text();
    assert!(text.contains("call <4 x float> @llvm.fabs.v4f32("), "{text}");
    assert!(text.matches("asm \"cpuid\"").count() > 1, "{text}");
}
