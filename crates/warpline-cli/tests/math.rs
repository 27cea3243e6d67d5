//! Vector mathematics: which libraries are called, and how exact they are.

mod common;

use common::{ok, warpline};
use warpline_llvm::process_has_symbol;

const KERNEL: &str = "//@ args i=index
//@ range 0..5000
//@ bind x=f32[5000]=-9..9
//@ bind out=f32[5000]=zero
#[unsafe(no_mangle)]
pub unsafe extern \"C\" fn kernel(i: i32, x: *const f32, out: *mut f32) {
    let x = unsafe { *x.add(i as usize) };
    unsafe { *out.add(i as usize) = x.exp() + x.sin() };
}
";

#[test]
fn sleef_is_called_where_glibc_is_not_exact_enough() {
    if !process_has_symbol("Sleef_expf4_u10sse2") {
        eprintln!("skipped: SLEEF is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (file, output) = (folder.path().join("kernel.rs"), folder.path().join("out.o"));
    std::fs::write(&file, KERNEL).unwrap();
    let (file, output) = (file.to_str().unwrap(), output.to_str().unwrap());
    let libraries = |ulp: &str| {
        let report = ok(&warpline(&[
            "vectorize",
            file,
            "--width",
            "4",
            "--math-ulp",
            ulp,
            "-o",
            output,
            "--format",
            "json",
        ]));
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        report["libraries"]
            .as_array()
            .unwrap()
            .iter()
            .map(|l| l.as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(libraries("1"), ["sleef"]);
    assert_eq!(libraries("0"), [""; 0]);
    if process_has_symbol("_ZGVbN4v_sinf") {
        assert_eq!(libraries("4"), ["mvec"]);
    }
    for width in ["4", "8", "16"] {
        // Of a sum of two, each within one.
        let run = ["run", file, "--width", width, "--math-ulp", "1", "--tolerance", "ulp=2,abs=1e-6"];
        assert!(ok(&warpline(&run)).contains("0 mismatches"));
    }
}

/// Options pricing in C, where clang calls `sqrtf`, `expf` and the others as functions that may set `errno`.
const OPTIONS: &str = "#include <math.h>
//@ bind s=f32[3000]=1..90
//@ bind out=f32[3000]=zero
//@ bind n=3000
void price(const float *s, float *out, int n) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = sqrtf(expf(-s[i]) + powf(s[i], 1.5f)) * logf(s[i]) + fmaf(s[i], 2.0f, exp2f(log2f(s[i]) - \
         log10f(s[i])));
}
";

/// The same on `double`, with those of the functions that are expanded inline for it.
const DOUBLE_OPTIONS: &str = "#include <math.h>
//@ bind s=f64[3000]=1..90
//@ bind out=f64[3000]=zero
//@ bind n=3000
void price(const double *s, double *out, int n) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = sqrt(exp(-s[i])) * log(s[i]) + fma(s[i], 2.0, exp2(log2(s[i]) - log10(s[i])));
}
";

#[test]
fn functions_that_are_written_out_need_no_library_and_no_call() {
    needs_no_library_and_no_call(OPTIONS, "4", "ulp=4,rel=1e-5");
}

#[test]
fn functions_on_double_that_are_written_out_need_no_library_and_no_call() {
    needs_no_library_and_no_call(DOUBLE_OPTIONS, "1", "ulp=4,rel=1e-13");
    needs_no_library_and_no_call(DOUBLE_OPTIONS, "4", "ulp=4,rel=1e-13");
}

fn needs_no_library_and_no_call(source: &str, math_ulp: &str, tolerance: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (file, output) = (folder.path().join("price.c"), folder.path().join("out.s"));
    std::fs::write(&file, source).unwrap();
    let (file, out) = (file.to_str().unwrap(), output.to_str().unwrap());
    if !warpline_llvm::has_clang() {
        eprintln!("skipped: there is no clang");
        return;
    }
    for cpu in ["x86-64-v3", "x86-64-v4"] {
        let fixed = ["vectorize", file, "--loop", "marked", "--width", "16", "-o", out];
        let text = ok(&warpline(&[&fixed[..], &["--cpu", cpu, "--math-ulp", math_ulp]].concat()));
        assert!(text.contains("mathematics is inline (errors up to 3 ulp)"), "{text}");
        let code = std::fs::read_to_string(&output).unwrap();
        // The scalar loop is left for nothing but a module without masks: it has calls, the lanes have none.
        assert!(!code.contains("_ZGV") && code.contains("vfmadd"), "{code}");
    }
    let run = ["run", file, "--math-ulp", math_ulp, "--tolerance", tolerance];
    assert!(ok(&warpline(&run)).contains("0 mismatches"));
}
