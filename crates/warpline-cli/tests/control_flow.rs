//! Control flow that other SPMD compilers refuse, from C, Rust and LLVM IR: vectorized, run, and compared with the
//! scalar program.

mod common;

use std::path::PathBuf;

use common::{ok, stderr, warpline};
use serde_json::Value;

/// Writes a source file.
fn source(folder: &tempfile::TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// Runs a kernel of this source on indices 0..203, seven partial vectors and more at two widths, and returns the last
/// report.
#[track_caller]
fn agrees(name: &str, text: &str) -> Option<Value> {
    if name.ends_with(".c") && !warpline_llvm::has_clang() {
        eprintln!("skipped: there is no clang for {name}");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = source(&folder, name, text);
    let mut last = None;
    for width in ["4", "16"] {
        let arguments =
            ["run", path.to_str().unwrap(), "--range", "0..203", "--width", width, "--format", "json"];
        let report: Value = serde_json::from_str(&ok(&warpline(&arguments))).expect("JSON");
        assert_eq!((&report["mismatches"], &report["elements"]), (&0.into(), &203.into()), "{name}");
        last = Some(report);
    }
    last
}

#[test]
fn goto_into_a_loop_from_c() {
    let report = agrees(
        "tangle.c",
        "//@ args i=index,a=uniform\n//@ bind a=i32[203]=random\n\
         int tangle(int i, const int *a) {\n\
           unsigned x = a[i]; int n = 0, left = 40;\n\
           if (x & 1) goto odd;\n\
         even:\n\
           n += x & 255; x >>= 1;\n\
           if (x == 0 || --left < 0) goto done;\n\
           if (!(x & 1)) goto even;\n\
         odd:\n\
           n = n * 3 - 1; x >>= 2;\n\
           if (x & 4) goto even;\n\
           if (x && --left > 0) goto odd;\n\
         done:\n\
           return n;\n\
         }\n",
    );
    if let Some(report) = report {
        assert!(report["loops"]["divergent"].as_u64().unwrap() > 0);
    }
}

#[test]
fn early_exits_and_calls_per_lane_from_c() {
    agrees(
        "search.c",
        "//@ args i=index,a=uniform,n=uniform\n//@ bind a=i32[203]=random\n//@ bind n=203\n\
         #include <stdlib.h>\n\
         int search(int i, const int *a, int n) {\n\
           int best = 0;\n\
           for (int k = i; k < n; k++) {\n\
             if (a[k] % 61 == 7) return k;\n\
             if (a[k] % 83 == 5) break;\n\
             if (a[k] & 4) continue;\n\
             switch (a[k] & 3) {\n\
               case 0: best += abs(a[k] % 1000); break;\n\
               case 1: best ^= k; goto out;\n\
               case 2: best -= 1; /* falls through */\n\
               default: best++;\n\
             }\n\
           }\n\
         out:\n\
           return -best;\n\
         }\n",
    );
}

#[test]
fn bounds_checks_and_labelled_breaks_from_rust() {
    agrees(
        "checked.rs",
        "//@ args i=index,a=uniform,n=uniform\n//@ bind a=i32[203]=random\n//@ bind n=203\n\
         /// # Safety\n/// `a` has `n` elements.\n\
         #[unsafe(no_mangle)]\n\
         pub unsafe extern \"C\" fn checked(i: u32, a: *const i32, n: u64) -> i32 {\n\
           let a = unsafe { core::slice::from_raw_parts(a, n as usize) };\n\
           let mut sum = 0i32;\n\
           'outer: for j in i as usize..a.len() {\n\
             for k in 0..(a[j] & 7) as usize {\n\
               if a[k] & 31 == 3 { continue 'outer; }\n\
               if a[j] & 63 == 9 { break 'outer; }\n\
               sum = sum.wrapping_add(a[k].wrapping_mul(j as i32));\n\
             }\n\
             if sum & 1023 == 77 { return sum; }\n\
           }\n\
           sum ^ a[i as usize]\n\
         }\n",
    );
}

/// The callee is found not to unwind, so the `invoke` becomes a call, and its landing pad disappears.
#[test]
fn invoke_of_what_does_not_unwind_from_llvm_ir() {
    let kernel = |attribute: &str| {
        format!(
            ";@ args i=index,a=uniform\n;@ bind a=i32[203]=random\n\
             define i32 @kernel(i32 %i, ptr %a) personality ptr @__gxx_personality_v0 {{\n\
             entry:\n  %w = sext i32 %i to i64\n  %at = getelementptr i32, ptr %a, i64 %w\n  %x = load i32, ptr %at\n\
             \x20 %r = invoke i32 @callee(i32 %x) to label %fine unwind label %pad\n\
             fine:\n  ret i32 %r\n\
             pad:\n  %l = landingpad {{ ptr, i32 }} catch ptr null\n  ret i32 -1\n}}\n\
             {attribute}\n\
             declare i32 @__gxx_personality_v0(...)\n"
        )
    };
    let quiet = "define i32 @callee(i32 %x) noinline {\n  %y = mul i32 %x, 17\n  ret i32 %y\n}";
    agrees("quiet.ll", &kernel(quiet));
    let folder = tempfile::tempdir().unwrap();
    let loud = source(&folder, "loud.ll", &kernel("declare i32 @callee(i32)"));
    let out = folder.path().join("loud.o");
    let output = warpline(&["vectorize", loud.to_str().unwrap(), "-o", out.to_str().unwrap()]);
    assert_ne!(output.status.code(), Some(0));
    let text = stderr(&output);
    assert!(text.contains("may unwind") && text.contains("nounwind"), "{text}");
}

#[test]
fn a_kernel_that_does_not_depend_on_the_lane_is_an_error_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let text = "define i32 @same(i32 %x) {\n  %y = mul i32 %x, 17\n  ret i32 %y\n}\n";
    let path = source(&folder, "same.ll", text);
    let out = folder.path().join("same.o");
    let arguments = |args: &'static str| {
        warpline(&["vectorize", path.to_str().unwrap(), "--args", args, "-o", out.to_str().unwrap()])
    };
    let output = arguments("uniform");
    assert_ne!(output.status.code(), Some(0));
    let text = stderr(&output);
    assert!(text.contains("`same`") && text.contains("--args") && !out.exists(), "{text}");
    ok(&arguments("varying"));
}
