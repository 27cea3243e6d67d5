//! Kernels that use memory in every way, from all kinds of sources: what is run agrees with the scalar program, and
//! what is compiled has the instructions that it should have.

mod common;

use common::{ok, warpline};
use serde_json::Value;

/// Fields of structures, a reversed array, a private array that is cleared, a gather and the copy of a structure.
const C: &str = "
//@ args i=index
//@ range 0..1003
//@ bind in=f32[3009]=random
//@ bind out=f32[3009]=zero
struct v { float x, y, z; };
float kernel(int i, const struct v *restrict in, struct v *restrict out) {
  float stack[16] = {0};
  int top = 0;
  for (int k = 0; k < 3 + (i & 3); k++)
    if (in[(i + k) % 1003].x > in[1002 - i].y) stack[top++] = in[i].z;
  out[i] = in[1002 - i];
  out[i].y += top ? stack[top - 1] : stack[i & 7];
  return out[i].x + out[i].y;
}
";

const OPENCL: &str = "
//@ args i=index
//@ range 0..1003
//@ bind in=f32[4012]=random
//@ bind out=f32[4012]=zero
float kernel_cl(int i, global const float4 *restrict in, global float4 *restrict out) {
  float history[4];
  for (int k = 0; k < 4; k++) history[k] = ((global const float *)in)[i * 4 + k];
  out[i] = in[1002 - i] * (float4)(history[i & 3]);
  return out[i].w;
}
";

const RUST: &str = "
//@ args i=index
//@ range 0..1003
//@ bind pairs=i32[2006]=random
//@ bind out=i32[2006]=zero
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Pair { a: i32, b: i32 }
/// # Safety
/// The arrays have 1003 elements.
#[unsafe(no_mangle)]
pub unsafe extern \"C\" fn kernel(i: i32, pairs: *const Pair, out: *mut Pair) -> i32 {
    let mut seen = [0i32; 8];
    let p = unsafe { *pairs.offset(i as isize) };
    let mut k = 0;
    while k < (p.a & 7) as usize {
        seen[k] = p.b ^ k as i32;
        k += 1;
    }
    unsafe { *out.offset((1002 - i) as isize) = Pair { a: seen[(i & 7) as usize], b: p.a } };
    seen[3]
}
";

const LLVM: &str = "
;@ args i=index
;@ range 0..1003
;@ bind in=i32[2006]=random
;@ bind out=i64[1003]=zero
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define i32 @kernel(i64 %i, ptr %in, ptr %out) {
entry:
  %two = shl nuw nsw i64 %i, 1
  %p = getelementptr i32, ptr %in, i64 %two
  %x = load i32, ptr %p, align 4
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %then, label %end
then:
  %n = and i32 %x, 7
  %buffer = alloca i64, i32 %n, align 8
  %some = icmp ne i32 %n, 0
  br i1 %some, label %copy, label %end
copy:
  call void @llvm.memcpy.p0.p0.i64(ptr %buffer, ptr %p, i64 8, i1 false)
  %both = load i64, ptr %buffer, align 8
  %q = getelementptr i64, ptr %out, i64 %i
  store i64 %both, ptr %q, align 8
  br label %end
end:
  %r = phi i32 [ 0, %entry ], [ 1, %then ], [ 2, %copy ]
  ret i32 %r
}
";

/// Writes a source to a file and runs it at several widths.
#[track_caller]
fn runs(name: &str, source: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    std::fs::write(&file, source).unwrap();
    for width in ["1", "4", "7", "16"] {
        let output = warpline(&["run", file.to_str().unwrap(), "--width", width, "--format", "json"]);
        let report: Value = serde_json::from_str(&ok(&output)).expect("JSON");
        assert_eq!(report["mismatches"], 0, "{name}, {width} lanes");
    }
}

#[test]
fn kernels_in_rust_and_llvm_ir_use_memory_in_every_way() {
    runs("kernel.rs", RUST);
    runs("kernel.ll", LLVM);
}

#[test]
fn kernels_in_c_and_opencl_use_memory_in_every_way_where_there_is_a_clang() {
    if !warpline_llvm::has_clang() {
        eprintln!("skipped: there is no clang");
        return;
    }
    runs("kernel.c", C);
    runs("kernel.cl", OPENCL);
}

/// The assembly of the function for lanes.
#[track_caller]
fn assembly(source: &str, cpu: &str, width: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("kernel.ll"), folder.path().join("kernel.s"));
    std::fs::write(&file, source).unwrap();
    let paths = [file.to_str().unwrap(), out.to_str().unwrap()];
    ok(&warpline(&[
        "vectorize",
        paths[0],
        "--function",
        "kernel",
        "--cpu",
        cpu,
        "--width",
        width,
        "-o",
        paths[1],
    ]));
    std::fs::read_to_string(out).unwrap()
}

#[test]
fn narrow_indices_are_gathered_with_32_bits() {
    let source = "
;@ args i=index,in=uniform,index=uniform
target triple = \"x86_64-unknown-linux-gnu\"
define float @kernel(i64 %i, ptr %in, ptr %index) {
  %p = getelementptr i32, ptr %index, i64 %i
  %k = load i32, ptr %p, align 4
  %small = and i32 %k, 4095
  %wide = zext i32 %small to i64
  %q = getelementptr {float, float}, ptr %in, i64 %wide, i32 1
  %x = load float, ptr %q, align 4
  ret float %x
}
";
    for (cpu, width) in [("skylake-avx512", "16"), ("skylake", "8")] {
        let text = assembly(source, cpu, width);
        let gathers: Vec<&str> = text.lines().filter(|l| l.contains("gather")).collect();
        let narrow = |l: &&str| l.contains("vgatherdps") || l.contains("vpgatherdd");
        assert!(!gathers.is_empty() && gathers.iter().all(narrow), "{cpu}: {gathers:?}");
    }
}

#[test]
fn masked_accesses_are_those_that_the_cpu_has() {
    let source = "
;@ args i=index,in=uniform,out=uniform
target triple = \"x86_64-unknown-linux-gnu\"
define void @kernel(i64 %i, ptr %in, ptr %out) {
  %p = getelementptr float, ptr %in, i64 %i
  %x = load float, ptr %p, align 4
  %c = fcmp ogt float %x, 0.0
  br i1 %c, label %yes, label %no
yes:
  %q = getelementptr float, ptr %out, i64 %i
  store float %x, ptr %q, align 4
  br label %no
no:
  ret void
}
";
    let stores = |cpu: &str, name: &str| assembly(source, cpu, "4").matches(name).count();
    for cpu in ["sandybridge", "znver2", "haswell"] {
        assert!(stores(cpu, "vmaskmovps") > 0, "{cpu}");
    }
    // Lanes that are not active store elsewhere; nothing jumps.
    assert_eq!(stores("nehalem", "maskmov"), 0);
    let lane = assembly(source, "nehalem", "4");
    let body = lane.split("kernel_w4:").nth(1).expect("the function is there");
    let body = &body[..body.find("ret").expect("it returns")];
    assert_eq!(body.matches("\tj").count(), 0, "{body}");
}

#[test]
fn fields_and_reversed_arrays_are_not_gathered() {
    let source = "
;@ args i=index,in=uniform
target triple = \"x86_64-unknown-linux-gnu\"
define float @kernel(i64 %i, ptr %in) {
  %p = getelementptr {float, float, float}, ptr %in, i64 %i
  %x = load float, ptr %p, align 4
  %q = getelementptr {float, float, float}, ptr %in, i64 %i, i32 1
  %y = load float, ptr %q, align 4
  %r = sub i64 1000, %i
  %s = getelementptr float, ptr %in, i64 %r
  %z = load float, ptr %s, align 4
  %a = fadd float %x, %y
  %b = fadd float %a, %z
  ret float %b
}
";
    for (cpu, width) in [("skylake-avx512", "16"), ("haswell", "8")] {
        let text = assembly(source, cpu, width);
        // What LLVM makes of the scalar loop for short ranges is its own.
        let lanes = text.split(&format!("kernel_w{width}:")).nth(1).expect("the function is there");
        let lanes = &lanes[..lanes.find(".Lfunc_end").expect("it ends")];
        assert!(!lanes.contains("gather"), "{cpu}");
    }
}

#[test]
fn blocks_of_16_bit_floats_move_between_registers_as_those_of_bytes_do() {
    for ty in ["half", "bfloat", "i16"] {
        let source = format!(
            "
;@ args i=index,in=uniform,other=uniform,out=uniform
target triple = \"x86_64-unknown-linux-gnu\"
define void @kernel(i64 %i, ptr noalias %in, ptr noalias %other, ptr noalias %out) {{
  %p = getelementptr {ty}, ptr %in, i64 %i
  %x = load {ty}, ptr %p, align 2
  %q = getelementptr {ty}, ptr %other, i64 %i
  %y = load {ty}, ptr %q, align 2
  %r = getelementptr {{{ty}, {ty}}}, ptr %out, i64 %i
  store {ty} %x, ptr %r, align 2
  %s = getelementptr {{{ty}, {ty}}}, ptr %out, i64 %i, i32 1
  store {ty} %y, ptr %s, align 2
  ret void
}}
"
        );
        let text = assembly(&source, "skylake-avx512", "32");
        assert!(text.contains("vpermt2") || text.contains("vpermi2"), "{ty}: {text}");
    }
}

#[test]
fn what_caches_need_not_keep_is_stored_past_them_in_vector_code() {
    let source = "
;@ args i=index
target triple = \"x86_64-unknown-linux-gnu\"
define void @kernel(i64 %i, ptr align 32 %in, ptr noalias align 32 %out) {
  %p = getelementptr float, ptr %in, i64 %i
  %x = load float, ptr %p, align 4
  %y = fadd float %x, 1.0
  %q = getelementptr float, ptr %out, i64 %i
  store float %y, ptr %q, align 4, !nontemporal !0
  ret void
}
!0 = !{i32 1}
";
    let hinted = assembly(source, "skylake", "8");
    assert!(hinted.contains("movnt"), "{hinted}");
    let plain = assembly(&source.replace(", !nontemporal !0", ""), "skylake", "8");
    assert!(!plain.contains("movnt"), "{plain}");
}
