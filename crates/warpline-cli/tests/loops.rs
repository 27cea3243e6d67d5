//! `--loop`: loops vectorized within their functions.

mod common;

use std::path::Path;
use std::process::Command;

use common::{ok, stderr, warpline};
use warpline_llvm::has_clang;

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

const SUMS: &str = "//@ bind a=i32[1003]=random
//@ bind out=i32[1003]=zero
//@ bind n=1003
#[unsafe(no_mangle)]
pub unsafe extern \"C\" fn sums(a: *const i32, out: *mut i32, n: usize) -> i32 {
    let a = unsafe { std::slice::from_raw_parts(a, n) };
    let out = unsafe { std::slice::from_raw_parts_mut(out, n) };
    let (mut sum, mut before, mut greatest) = (0i32, 7, i32::MIN);
    //@ loop width 8
    for (x, to) in a.iter().zip(out) {
        sum = sum.wrapping_add(*x);
        *to = sum ^ before;
        greatest = greatest.max(*x);
        before = *x;
    }
    greatest
}
";

#[test]
fn a_marked_loop_over_iterators_is_vectorized_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "sums.rs", SUMS);
    let text = ok(&warpline(&["run", &file, "-v"]));
    // Some CPUs have no masks for what is left at the end.
    let said =
        ["", ", scalar tail"].map(|tail| format!("sums.rs:10 in sums: 8 lanes{tail}\n  loop-carried: "));
    assert!(said.iter().any(|said| text.contains(said)), "{text}");
    for carried in ["induction %", "previous value %before", "scan %sum", "reduction %greatest"] {
        assert!(text.contains(carried), "{carried}: {text}");
    }
    assert!(text.contains("checked against the interpreted scalar program"), "{text}");
    assert!(text.contains("0 mismatches"), "{text}");
}

#[test]
fn the_report_of_a_run_has_the_loops_as_data() {
    let report = ok(&warpline(&["run", "examples/loops/area.rs", "--bind", "n=40", "--format", "json"]));
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["mismatches"], 0);
    let made = &report["vectorized_loops"][0];
    assert_eq!((&made["function"], &made["place"]), (&"area".into(), &"area.rs:15".into()));
    let kinds: Vec<&str> =
        made["carried"].as_array().unwrap().iter().map(|c| c["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["induction", "reduction"]);
}

const OMP: &str = "
float scale(float *restrict out, const float *a, const float *b, int n) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int i = 0; i < n; i++) {
    float x = a[i];
    while (x > 1.0f) x *= 0.5f;
    out[i] = x;
    sum += b[i];
  }
  return sum;
}
int plain(int x) { return x + 1; }
";

const MAIN: &str = r#"
#include <stdio.h>
float scale(float *out, const float *a, const float *b, int n);
int plain(int x);
int main(void) {
  float a[77], b[77], out[77];
  int wrong = plain(1) != 2;
  for (int n = 0; n <= 77; n++) {
    float sum = 0;
    for (int i = 0; i < 77; i++) { a[i] = (float)(i * 7 % 31); b[i] = (float)(i % 5); out[i] = -1; }
    for (int i = 0; i < n; i++) sum += b[i];
    wrong += scale(out, a, b, n) != sum;
    for (int i = 0; i < 77; i++) {
      float x = a[i];
      while (x > 1.0f) x *= 0.5f;
      wrong += out[i] != (i < n ? x : -1);
    }
  }
  printf("%d wrong\n", wrong);
  return 0;
}
"#;

/// Links `main` with `k.o` and runs the program; what it prints. `None` if there is no C compiler.
#[track_caller]
fn linked_and_run(folder: &Path, main: &str) -> Option<String> {
    let [object, program] = ["k.o", "program"].map(|name| folder.join(name));
    let compiled = Command::new("cc").arg("-o").args([&program, Path::new(main), &object]).output();
    let Ok(compiled) = compiled else {
        eprintln!("skipped: there is no C compiler");
        return None;
    };
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let run = Command::new(&program).output().unwrap();
    Some(String::from_utf8_lossy(&run.stdout).into_owned())
}

#[test]
fn an_object_with_vectorized_loops_takes_the_place_of_the_scalar_one() {
    if !has_clang() {
        eprintln!("skipped: there is no clang");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (file, main) = (write(folder.path(), "k.c", OMP), write(folder.path(), "main.c", MAIN));
    let object = folder.path().join("k.o");
    for width in ["1", "4", "16", "64"] {
        let text = ok(&warpline(&["vectorize", &file, "--width", width, "-o", object.to_str().unwrap()]));
        assert!(text.contains(&format!("scale: loop at k.c:5 vectorized with {width} lanes")), "{text}");
        let Some(said) = linked_and_run(folder.path(), &main) else { return };
        assert_eq!(said, "0 wrong\n", "{width} lanes");
    }
}

const ASKING: &str = "#include <warpline.h>
void twice(const float *a, float *out, int n) {
    //@ loop
    for (int i = 0; i < n; i++) {
        float x = a[i];
        if (warpline_any(x > 0.5f))
            x = x > 0.5f ? x * 2 : x;
        out[i] = x;
    }
}
";

const CALLS_TWICE: &str = "#include <stdio.h>
void twice(const float *a, float *out, int n);
float a[103], out[103];
int main(void) {
    int wrong = 0;
    for (int i = 0; i < 103; i++) a[i] = i % 7 / 7.0f;
    twice(a, out, 103);
    for (int i = 0; i < 103; i++) wrong += out[i] != (a[i] > 0.5f ? a[i] * 2 : a[i]);
    printf(\"%d wrong\\n\", wrong);
    return 0;
}
";

#[test]
fn an_object_with_a_loop_that_asks_about_lanes_needs_no_other_one() {
    if !has_clang() {
        eprintln!("skipped: there is no clang");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (file, main) = (write(folder.path(), "k.c", ASKING), write(folder.path(), "main.c", CALLS_TWICE));
    let object = folder.path().join("k.o");
    ok(&warpline(&["vectorize", &file, "--width", "8", "-o", object.to_str().unwrap()]));
    let Some(said) = linked_and_run(folder.path(), &main) else { return };
    assert_eq!(said, "0 wrong\n");
}

/// The refusal of what is asked for.
#[track_caller]
fn refused(arguments: &[&str]) -> String {
    let output = warpline(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    stderr(&output)
}

#[test]
fn refusals_say_which_loop_and_why_and_leave_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.o");
    let out = output.to_str().unwrap();
    let file = write(folder.path(), "sums.rs", &SUMS.replace("before = *x", "before = before * 5 ^ 3"));
    let text = refused(&["vectorize", &file, "--loop", "10", "-o", out]);
    assert!(text.contains("the loop at sums.rs:10 cannot be vectorized: "), "{text}");
    assert!(text.contains("sums.rs:14:18: function `sums`"), "{text}");
    assert!(text.contains("%before"), "{text}");
    let text = refused(&["vectorize", &file, "--loop", "3", "-o", out]);
    assert!(text.contains("no loop begins in line 3; the only one begins in line 10"), "{text}");
    let text = refused(&["vectorize", &file, "--loop", "nowhere", "-o", out]);
    assert!(text.contains("no loop begins at a block `nowhere`; there are loops at "), "{text}");
    let text = refused(&["vectorize", &file, "--name", "other", "-o", out]);
    assert!(text.contains("--symbol: is for kernels"), "{text}");
    let text = refused(&["run", &file, "--range", "0..3"]);
    assert!(text.contains("--range: is for kernels"), "{text}");
    let none = write(folder.path(), "none.rs", "#[unsafe(no_mangle)]\npub extern \"C\" fn f() {}\n");
    let text = refused(&["run", &none, "--loop", "marked"]);
    assert!(text.contains("no loop is marked"), "{text}");
    let text = refused(&["run", &none, "--loop", "2"]);
    assert!(text.contains("the input has no loop of which the line is known"), "{text}");
    assert!(!output.exists());
}

#[test]
fn sums_of_floating_point_numbers_keep_their_order_unless_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let text = "#[unsafe(no_mangle)]\npub unsafe extern \"C\" fn sum(a: *const f32, n: usize) -> f32 {\n  let \
     mut s = 0.0;\n  \
                for i in 0..n {\n    s += unsafe { *a.add(i) };\n  }\n  s\n}\n";
    let file = write(folder.path(), "sum.rs", text);
    let bound = ["run", &file, "-v", "--loop", "4", "--bind", "a=f32[1000]=random", "--bind", "n=999"];
    let in_order = ok(&warpline(&bound));
    assert!(in_order.contains("ordered reduction") && in_order.contains("0 mismatches"), "{in_order}");
    assert!(!in_order.contains("largest error"), "{in_order}");
    let mut allowed = bound.to_vec();
    allowed.push("--any-order");
    let report = ok(&warpline(&allowed));
    assert!(report.contains("largest error") && report.contains("0 mismatches"), "{report}");
}

/// The inner loop begins with what the header of the outer one computes.
const INNER: &str = "//@ bind a=i32[100]=random
//@ bind out=i32[1]=zero
//@ bind n=100
#[unsafe(no_mangle)]
pub unsafe extern \"C\" fn inner(a: *const i32, out: *mut i32, n: i32) -> i32 {
    let (mut i, mut s) = (0, 1i32);
    loop {
        //@ loop
        for j in i / 2..n { s = s.wrapping_add(unsafe { *a.add(j as usize) } ^ i); }
        unsafe { out.write_volatile(out.read_volatile() ^ i) };
        i += 1;
        if i == n { break; }
    }
    s
}
";

#[test]
fn a_mark_is_of_the_loop_that_begins_behind_it_and_not_of_one_around_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "inner.rs", INNER);
    let text = ok(&warpline(&["run", &file]));
    assert!(text.contains("inner: loop at inner.rs:9 vectorized with "), "{text}");
    assert!(text.contains("0 mismatches"), "{text}");
    let text = refused(&["run", &file, "--loop", "12"]);
    assert!(text.contains("the loop at inner.rs:12 cannot be vectorized"), "{text}");
}

const GENERIC: &str = "use std::ops::Mul;
#[inline(never)]
fn scale<T: Copy + Mul<Output = T>>(values: &mut [T], by: T) {
    //@ loop
    for x in values { *x = *x * by; }
}
#[unsafe(no_mangle)]
pub fn floats(values: &mut [f32]) { scale(values, 2.0) }
#[unsafe(no_mangle)]
pub fn numbers(values: &mut [u16]) { scale(values, 3) }
";

#[test]
fn a_marked_loop_is_vectorized_in_every_instance_of_its_function() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "generic.rs", GENERIC);
    let object = folder.path().join("generic.o");
    let text = ok(&warpline(&["vectorize", &file, "-v", "--width", "4", "-o", object.to_str().unwrap()]));
    assert_eq!(text.matches("generic.rs:5 in ").count(), 2, "{text}");
}

#[test]
fn safe_functions_of_rust_have_the_sequential_meaning() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = |name: &str, head: &str, body: &str| {
        let text = format!(
            "//@ bind x=u32[1000]=random\n//@ bind s=f32[16]=zero\n//@ bind h=u32[16]=zero\n//@ range 1..1000\n\
             #[warpline_lanes::kernel(i = index, {head}\n    {body}\n}}\n"
        );
        let used = |line: &&str| {
            !line.starts_with("//@ bind ") || text.contains(&format!("{} = uniform", &line[9..10]))
        };
        let text: Vec<&str> = text.lines().filter(used).collect();
        write(folder.path(), &format!("{name}.rs"), &text.join("\n"))
    };
    let sum = kernel(
        "sum",
        "x = uniform, s = uniform)]\npub fn sum(i: u32, x: &[u32; 1000], s: &mut f32) {",
        "*s += x[i as usize] as f32;",
    );
    let count = kernel(
        "count",
        "x = uniform, h = uniform)]\npub fn count(i: u32, x: &[u32; 1000], h: &mut [u32; 16]) {",
        "h[(x[i as usize] & 15) as usize] += 1;",
    );
    for file in [sum, count] {
        let text = ok(&warpline(&["run", &file]));
        assert!(text.contains("0 mismatches"), "{text}");
    }
    let chain = kernel(
        "chain",
        "x = uniform)]\npub fn chain(i: u32, x: &mut [u32; 1000]) {",
        "x[i as usize] = x[i as usize - 1].wrapping_mul(2);",
    );
    let refused = warpline(&["run", &chain]);
    assert_ne!(refused.status.code(), Some(0));
    assert!(stderr(&refused).contains("in an order that lanes cannot keep"), "{}", stderr(&refused));
}

const STRIDES: &str = "
void mix(int n, float a, const float *x, int incx, float *y, int incy) {
    //@ loop
    for (int i = 0; i < n; i++)
        y[i * incy] = 0.5f * y[i * incy] + a * x[i * incx];
}
void bump(long n, unsigned char *x, long s) {
    //@ loop
    for (long i = 0; i < n; i++)
        x[i * s] = x[i * s] * 3 + 1;
}
";

const STRIDES_MAIN: &str = r#"#include <stdio.h>
#include <string.h>
void mix(int n, float a, const float *x, int incx, float *y, int incy);
void bump(long n, unsigned char *x, long s);
static float memory[2][4096];
static void begin(void) { for (int i = 0; i < 4096; i++) memory[0][i] = i % 97; }
int main(void) {
    static const int strides[] = {1, 0, -1, 3};
    static float expected[4096];
    int wrong = 0;
    for (int n = 0; n < 90; n++)
        for (int s = 0; s < 4; s++)
            for (int t = 0; t < 4; t++)
                for (int apart = 0; apart < 4; apart++) {
                    begin();
                    volatile float *x = memory[0] + 2000, *y = memory[0] + 2000 + (apart ? 300 * apart : 1);
                    for (int i = 0; i < n; i++)
                        y[i * strides[t]] = 0.5f * y[i * strides[t]] + 0.25f * x[i * strides[s]];
                    memcpy(expected, memory[0], sizeof expected);
                    begin();
                    mix(n, 0.25f, (float *)x, strides[s], (float *)y, strides[t]);
                    wrong += memcmp(expected, memory[0], sizeof expected) != 0;
                    begin();
                    volatile unsigned char *b = (unsigned char *)x;
                    for (int i = 0; i < n; i++)
                        b[i * strides[s]] = b[i * strides[s]] * 3 + 1;
                    memcpy(expected, memory[0], sizeof expected);
                    begin();
                    bump(n, (unsigned char *)x, strides[s]);
                    wrong += memcmp(expected, memory[0], sizeof expected) != 0;
                }
    printf("%d wrong\n", wrong);
    return 0;
}
"#;

#[test]
fn a_stride_that_nobody_knows_is_taken_for_one_behind_a_check() {
    if !has_clang() {
        eprintln!("skipped: there is no clang");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "k.c", STRIDES);
    let main = write(folder.path(), "main.c", STRIDES_MAIN);
    let object = folder.path().join("k.o");
    let text =
        ok(&warpline(&["vectorize", &file, "-v", "--cpu", "x86-64-v2", "-o", object.to_str().unwrap()]));
    for checked in ["%incy, %incx = 1", "%s = 1"] {
        let told =
            format!("run-time check before the loop: {checked}; the scalar loop runs with other strides");
        assert!(text.contains(&told), "{checked}: {text}");
    }
    if let Some(said) = linked_and_run(folder.path(), &main) {
        assert_eq!(said, "0 wrong\n");
    }
}

const REMAINDERS: &str = "
int sum(unsigned n, const int *a) {
    int sum = 0;
    //@ loop
    for (unsigned i = 0; i < n; i++) sum += a[i];
    return sum;
}
int greatest(unsigned n, const int *a) {
    int most = -1000;
    //@ loop
    for (unsigned i = 0; i < n; i++) most = a[i] > most ? a[i] : most;
    return most;
}
unsigned count(unsigned n, const unsigned char *a, unsigned char what) {
    unsigned count = 0;
    //@ loop
    for (unsigned i = 0; i < n; i++) count += a[i] == what;
    return count;
}
void add(unsigned n, const short *restrict a, short *restrict b) {
    //@ loop
    for (unsigned i = 0; i < n; i++) b[i] += a[i];
}
";

const REMAINDERS_MAIN: &str = r#"#include <stdio.h>
int sum(unsigned n, const int *a);
int greatest(unsigned n, const int *a);
unsigned count(unsigned n, const unsigned char *a, unsigned char what);
void add(unsigned n, const short *a, short *b);
static int a[300];
static unsigned char bytes[300];
static short x[300], y[300];
int main(void) {
    int wrong = 0;
    for (int i = 0; i < 300; i++) a[i] = i * 7919 % 1009 - 500, bytes[i] = i * 31 % 5, x[i] = i * 77;
    for (unsigned n = 0; n < 299; n++) {
        volatile int total = 0, most = -1000, found = 0;
        for (unsigned i = 0; i < n; i++) {
            total += a[i];
            if (a[i] > most) most = a[i];
            if (bytes[i] == 3) found++;
        }
        for (int i = 0; i < 300; i++) y[i] = i;
        add(n, x, y);
        for (unsigned i = 0; i < 300; i++) wrong += y[i] != (short)(i + (i < n ? x[i] : 0));
        wrong += sum(n, a) != total || greatest(n, a) != most || (int)count(n, bytes, 3) != found;
    }
    printf("%d wrong\n", wrong);
    return 0;
}
"#;

#[test]
fn what_no_group_is_left_for_goes_to_smaller_groups_and_to_the_scalar_loop() {
    if !has_clang() {
        eprintln!("skipped: there is no clang");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "k.c", REMAINDERS);
    let main = write(folder.path(), "main.c", REMAINDERS_MAIN);
    let object = folder.path().join("k.o");
    for width in ["auto", "4", "16", "64"] {
        let out = object.to_str().unwrap();
        let text =
            ok(&warpline(&["vectorize", &file, "-v", "--cpu", "x86-64-v2", "--width", width, "-o", out]));
        assert!(text.contains("scalar tail"), "{width}: {text}");
        let Some(said) = linked_and_run(folder.path(), &main) else { return };
        assert_eq!(said, "0 wrong\n", "{width} lanes");
    }
}
