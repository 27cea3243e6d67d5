//! `warpline vectorize`: what it writes, linked into C programs.

mod common;
#[path = "common/linked.rs"]
mod linked;

use std::process::Command;

use common::{ok, warpline};
use linked::{link_and_run, vectorize};

#[test]
fn multiplications_and_additions_are_fused_on_request_alone_and_agree_with_the_interpreter() {
    if !warpline_llvm::has_clang() {
        eprintln!("skipped: there is no clang");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("axpy.c");
    let text = "//@ args i=index
//@ range 0..1000
//@ bind a=0.7
//@ bind x=f32[1000]=random
//@ bind y=f32[1000]=random
void axpy(int i, float a, const float *x, float *y) { y[i] = a * x[i] + y[i]; }
";
    std::fs::write(&file, text).unwrap();
    let (file, out) = (file.to_str().unwrap(), folder.path().join("axpy.s"));
    for (contract, fuses) in [("on", true), ("off", false)] {
        let base = ["--cpu", "haswell", "--fp-contract", contract];
        let made = ["vectorize", file, "-o", out.to_str().unwrap()];
        ok(&warpline(&[&made[..], &base].concat()));
        let text = std::fs::read_to_string(&out).unwrap();
        assert_eq!(text.contains("vfmadd"), fuses, "{contract}: {text}");
        let report = ok(&warpline(&["run", file, "--fp-contract", contract, "--format", "json"]));
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["mismatches"], 0, "{contract}: {report}");
    }
}

#[test]
fn the_end_of_a_range_goes_in_smaller_groups_where_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("double.ll");
    let text = ";@ args index
define void @twice(i64 %i, ptr %p) {
  %q = getelementptr float, ptr %p, i64 %i
  %x = load float, ptr %q
  %y = fdiv float 1.0, %x
  store float %y, ptr %q
  ret void
}
";
    std::fs::write(&file, text).unwrap();
    let output = folder.path().join("double.o").display().to_string();
    let base = ["vectorize", file.to_str().unwrap(), "--cpu", "znver3", "-o", &output];
    let text = ok(&warpline(&[&base[..], &["--width", "32", "-v"]].concat()));
    assert!(text.contains("\n  vector epilogue: 8 lanes\n"), "{text}");
    assert!(text.contains("\n  tail: scalar\n"), "{text}");
    let json = ok(&warpline(&[&base[..], &["--width", "8", "--format", "json"]].concat()));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["width"], &json["epilogue"]), (&8.into(), &8.into()));
}

#[test]
fn how_many_lanes_suit_a_kernel_is_said_with_the_reason_unless_the_number_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chain.ll");
    let text = ";@ args index
define void @chain(i64 %i, ptr %p) {
entry:
  %q = getelementptr float, ptr %p, i64 %i
  %x = load float, ptr %q
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %l, %loop ]
  %s = phi float [ %x, %entry ], [ %t, %loop ]
  %m = fmul float %s, %x
  %t = fadd float %m, 1.0
  %l = add i64 %k, 1
  %c = icmp ult i64 %l, 100
  br i1 %c, label %loop, label %done
done:
  store float %t, ptr %q
  ret void
}
";
    std::fs::write(&file, text).unwrap();
    let output = folder.path().join("chain.ll.o").display().to_string();
    let base = ["vectorize", file.to_str().unwrap(), "--cpu", "znver3", "-o", &output];
    let auto = ok(&warpline(&[&base[..], &["-v"]].concat()));
    let reason = "  width auto: more than one register of 32-bit elements, to hide a latency of 8 cycles\n";
    assert!(auto.contains("vectorized with 64 lanes") && auto.contains(reason), "{auto}");
    let given = ok(&warpline(&[&base[..], &["--width", "8", "-v"]].concat()));
    assert!(given.contains("with 8 lanes") && !given.contains("width auto"), "{given}");
    let json = ok(&warpline(&[&base[..], &["--format", "json"]].concat()));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["width_because"], reason.trim().trim_start_matches("width auto: "));
}

#[test]
fn mandelbrot_links_into_a_c_program_and_gives_the_scalar_result() {
    let folder = tempfile::tempdir().unwrap();
    let header = vectorize(folder.path(), &["examples/mandelbrot.rs", "--width", "16"]);
    assert!(header.contains("void mandelbrot_range(int64_t begin, int64_t end, void *out);"), "{header}");
    assert!(header.contains("void mandelbrot_w16(int32_t i, void *out);"), "{header}");
    let source = r#"
#include <stdio.h>
#include <string.h>
#define WARPLINE_LANES
#include "m.h"
enum { WIDTH = 512, HEIGHT = 384, LIMIT = 256 };
static int scalar(int i) {
    int x = i % WIDTH, y = i / WIDTH, n = 0;
    float cx = (float)x * (3.0f / WIDTH) - 2.0f, cy = (float)y * (2.0f / HEIGHT) - 1.0f, zx = 0, zy = 0;
    while (n < LIMIT) {
        float xx = zx * zx, yy = zy * zy;
        if (xx + yy > 4.0f) break;
        zy = 2.0f * zx * zy + cy;
        zx = xx - yy + cx;
        n += 1;
    }
    return n;
}
static int out[WIDTH * HEIGHT];
int main(void) {
    int begin = 100 * WIDTH + 7, end = 104 * WIDTH - 2, wrong = 0;
    memset(out, 0xff, sizeof out);
    mandelbrot_range(begin, end, out);
    mandelbrot_range(9, 9, out);
    mandelbrot_range(9, -9, out);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        wrong += out[i] != (i >= begin && i < end ? scalar(i) : -1);
    mandelbrot_w16(5 * WIDTH, out);
    for (int i = 0; i < 17; i++)
        wrong += out[5 * WIDTH + i] != (i < 16 ? scalar(5 * WIDTH + i) : -1);
    printf("%d wrong\n", wrong);
    return 0;
}
"#;
    if let Some(text) = link_and_run(folder.path(), source, &[]) {
        assert_eq!(text, "0 wrong\n");
    }
}

const BLEND: &str = "
define float @kernel(float %x, float %y, i32 %limit) {
  %c = fcmp olt float %x, %y
  br i1 %c, label %less, label %done
less:
  %n = sitofp i32 %limit to float
  %d = fmul float %x, %n
  br label %done
done:
  %r = phi float [ %y, %0 ], [ %d, %less ]
  ret float %r
}
";

#[test]
fn vectors_and_masks_cross_the_border_to_c() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kernel.ll");
    std::fs::write(&file, BLEND).unwrap();
    let header = vectorize(
        folder.path(),
        &[
            file.to_str().unwrap(),
            "--args",
            "x=varying,y=varying",
            "--width",
            "4",
            "--name",
            "blend4",
            "--mask",
        ],
    );
    assert!(
        header.contains(
            "warpline_floatx4 blend4(warpline_floatx4 x, warpline_floatx4 y, int32_t limit, uint64_t mask);"
        ),
        "{header}"
    );
    let source = r#"
#include <stdio.h>
#define WARPLINE_LANES
#include "m.h"
int main(void) {
    warpline_floatx4 x = { 1, 2, 3, 4 }, y = { 9, 1, 9, 1 };
    warpline_floatx4 all = blend4(x, y, 10, 15), some = blend4(x, y, 10, 5);
    printf("%g %g %g %g; %g %g\n", all[0], all[1], all[2], all[3], some[0], some[2]);
    return 0;
}
"#;
    if let Some(text) = link_and_run(folder.path(), source, &[]) {
        assert_eq!(text, "10 1 30 1; 10 30\n");
    }
}

const SCALE: &str = "
define void @scale(i32 %i, ptr %factor, ptr %out) {
  %f = load i32, ptr %factor
  %x = mul i32 %f, %i
  %p = getelementptr i32, ptr %out, i32 %i
  store i32 %x, ptr %p
  ret void
}
";

#[test]
fn an_entry_mask_says_which_lanes_run_and_none_touch_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kernel.ll");
    std::fs::write(&file, SCALE).unwrap();
    let arguments = [file.to_str().unwrap(), "--args", "i=index", "--width", "8", "--mask"];
    let header = vectorize(folder.path(), &arguments);
    assert!(header.contains("void scale_w8(int32_t i, void *factor, void *out, uint64_t mask);"), "{header}");
    assert!(header.contains("void scale_range("), "{header}");
    let source = r#"
#include <stdio.h>
#define WARPLINE_LANES
#include "m.h"
int main(void) {
    int wrong = 0, factor = 3;
    for (unsigned mask = 0; mask < 256; mask++) {
        int out[8] = { -1, -1, -1, -1, -1, -1, -1, -1 };
        // Bits behind the last lane say nothing.
        scale_w8(10, mask ? &factor : 0, out - 10, mask | 0xff00);
        for (int k = 0; k < 8; k++) wrong += out[k] != (mask >> k & 1 ? 3 * (10 + k) : -1);
    }
    printf("%d\n", wrong);
    return 0;
}
"#;
    if let Some(text) = link_and_run(folder.path(), source, &[]) {
        assert_eq!(text, "0\n");
    }
}

#[test]
fn a_header_says_which_vectors_have_no_c_type() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kernel.ll");
    std::fs::write(&file, BLEND).unwrap();
    let header =
        vectorize(folder.path(), &[file.to_str().unwrap(), "--args", "x=varying,y=varying", "--width", "3"]);
    assert!(header.contains("kernel_w3 cannot be called from C: a vector of 3 float"), "{header}");
}

#[test]
fn a_driver_takes_arrays_for_varying_parameters_and_results() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kernel.ll");
    let text = BLEND.replace("@kernel(", "@kernel(i32 %i, ");
    std::fs::write(&file, text).unwrap();
    let arguments = [file.to_str().unwrap(), "--args", "i=index,x=varying,y=varying", "--width", "8"];
    let header = vectorize(folder.path(), &arguments);
    let prototype = "void kernel_range(int64_t begin, int64_t end, const float *x, const float *y, int32_t \
     limit, float *out);";
    assert!(header.contains(prototype), "{header}");
    let source = r#"
#include <stdio.h>
#define WARPLINE_LANES
#include "m.h"
int main(void) {
    float x[29], y[29], out[30];
    int wrong = 0;
    for (int k = 0; k < 29; k++) { x[k] = k % 5; y[k] = k % 3; }
    for (int k = 0; k < 30; k++) out[k] = -1;
    kernel_range(-11, 18, x, y, 4, out);
    for (int k = 0; k < 29; k++) wrong += out[k] != (x[k] < y[k] ? x[k] * 4 : y[k]);
    printf("%d %g\n", wrong, out[29]);
    return 0;
}
"#;
    if let Some(text) = link_and_run(folder.path(), source, &[]) {
        assert_eq!(text, "0 -1\n");
    }
}

#[test]
fn the_suffix_decides_what_is_written_and_only_the_new_functions_are_visible() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str| {
        let path = folder.path().join(name);
        ok(&warpline(&[
            "vectorize",
            "examples/tree_search.rs",
            "--width",
            "8",
            "-o",
            path.to_str().unwrap(),
        ]));
        std::fs::read(&path).unwrap()
    };
    let text = String::from_utf8(write("t.ll")).unwrap();
    assert!(text.contains("@tree_search_w8(") && text.contains("@tree_search_range("), "{text}");
    assert!(!text.contains("@tree_search(") && !text.contains("@warpline_"), "{text}");
    assert!(write("t.bc").starts_with(b"BC\xc0\xde"));
    assert!(String::from_utf8(write("t.s")).unwrap().contains("tree_search_range:"));
    assert!(write("t.o").starts_with(b"\x7fELF"));
}

#[test]
fn what_was_done_is_told_to_programs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.o");
    let text = ok(&warpline(&[
        "vectorize",
        "examples/ray_sphere.rs",
        "--width",
        "8",
        "-o",
        path.to_str().unwrap(),
        "--format",
        "json",
    ]));
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["function"], "ray_sphere");
    assert_eq!(report["symbols"], serde_json::json!(["ray_sphere_w8", "ray_sphere_range"]));
    assert!(report["branches"]["divergent"].as_u64().unwrap() >= 2);
}

#[test]
fn the_header_of_lane_operations_serves_scalar_and_vectorized_builds() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("kernel.c");
    let kernel = "#include \"warpline.h\"\nint kernel(int i) { return warpline_any(i > 3) + \
     (int)warpline_popcount(i > 4) + \
                  (int)warpline_lane_index(); }\n";
    std::fs::write(&source, kernel).unwrap();
    for flags in [&["-DWARPLINE_SCALAR"][..], &[]] {
        let compiled = Command::new("cc")
            .args(["-c", "-Wall", "-Wextra", "-Werror", "-I"])
            .arg(common::root().join("crates/warpline-lanes/include"))
            .args(flags)
            .arg("-o")
            .args([&folder.path().join("kernel.o"), &source])
            .output();
        let Ok(compiled) = compiled else {
            eprintln!("skipped: there is no C compiler");
            return;
        };
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    }
}

#[test]
fn the_attribute_for_kernels_says_their_shapes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kernels.rs");
    std::fs::write(
        &file,
        "use warpline_lanes::kernel;\n#[kernel(i = index)]\npub fn one(i: i32, y: &mut i32) {\n    *y = i;\n}\n\
         #[kernel(i = index, x = varying)]\npub fn two(i: i32, x: f32, all: &[f32], y: &mut f64) {\n    *y = (x \
          + all[0]) as f64;\n}\n",
    )
    .unwrap();
    let file = file.to_str().unwrap();
    let header = vectorize(folder.path(), &[file, "--function", "one"]);
    assert!(header.contains("y: the value for begin; each next index gets 4 more"), "{header}");
    let header = vectorize(folder.path(), &[file, "--function", "two"]);
    assert!(header.contains("y: the value for begin; each next index gets 8 more"), "{header}");
    assert!(header.contains("two_range(int64_t begin, int64_t end, const float *"), "{header}");
    let both = vectorize(folder.path(), &[file]);
    assert!(both.contains("one_range(") && both.contains("two_range("), "{both}");
}
