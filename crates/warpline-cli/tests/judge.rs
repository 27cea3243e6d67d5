//! `warpline run` as a judge: kernels that end their process, that never end, that race, and whose mathematics rounds
//! otherwise.

mod common;

use std::process::Output;
use std::time::{Duration, Instant};

use common::{command, ok, stderr, stdout, warpline};

/// Writes an input and runs it.
fn run(name: &str, source: &str, arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    std::fs::write(&file, source).unwrap();
    warpline(&[&["run", file.to_str().unwrap(), "-v"], arguments].concat())
}

/// Asserts that the run was a finding which the error stream tells with these words.
#[track_caller]
fn ended(output: &Output, words: &[&str]) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(1), "{}{text}", stdout(output));
    for word in words {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
    assert_eq!(stdout(output), "", "what was found is no report");
}

/// A kernel that does something at index 50.
fn at_index_50(declaration: &str, what: &str) -> String {
    format!(
        ";@ args i=index
;@ range 0..100
;@ bind out=i32[100]=zero
{declaration}
define void @kernel(i32 %i, ptr %out) {{
  %at = sext i32 %i to i64
  %p = getelementptr i32, ptr %out, i64 %at
  store i32 %i, ptr %p
  %c = icmp eq i32 %i, 50
  br i1 %c, label %yes, label %no
yes:
  {what}
  br label %no
no:
  ret void
}}
"
    )
}

#[test]
fn a_kernel_that_ends_the_process_is_a_finding_whatever_its_exit_status_says() {
    for (declaration, what, words) in [
        ("declare void @exit(i32)", "call void @exit(i32 0)", "exit code 0"),
        ("declare void @_exit(i32)", "call void @_exit(i32 0)", "exit code 0"),
        ("declare void @exit(i32)", "call void @exit(i32 1)", "exit code 1"),
        ("declare void @abort()", "call void @abort()", "abort"),
        ("declare void @llvm.trap()", "call void @llvm.trap()", "trap"),
        ("declare i32 @raise(i32)", "%r = call i32 @raise(i32 15)", "signal 15"),
        ("declare void @pthread_exit(ptr)", "call void @pthread_exit(ptr null)", "stopped"),
    ] {
        let output = run("kernel.ll", &at_index_50(declaration, what), &[]);
        ended(&output, &["the scalar program", words]);
    }
}

#[test]
fn a_kernel_that_copies_its_process_is_reported_once() {
    let output = run("kernel.ll", &at_index_50("declare i32 @fork()", "%r = call i32 @fork()"), &[]);
    // It may also be refused before it runs.
    if output.status.code() != Some(2) {
        assert_eq!(stdout(&output).matches("mismatches").count(), 1, "{}", stdout(&output));
    }
}

#[test]
fn a_kernel_that_jumps_out_is_a_finding() {
    let source = at_index_50(
        "declare void @longjmp(ptr, i32)\n@environment = global [64 x i64] zeroinitializer",
        "call void @longjmp(ptr @environment, i32 1)",
    );
    let output = run("kernel.ll", &source, &[]);
    // It may also be refused before it runs.
    if output.status.code() != Some(2) {
        ended(&output, &["the scalar program"]);
    }
}

#[test]
fn a_kernel_that_overflows_the_stack_is_a_finding() {
    let source = ";@ function kernel
;@ args i=index
;@ range 0..100
define i32 @down(i32 %i, ptr %out) noinline {
  %a = alloca [64 x i32]
  store volatile i32 %i, ptr %a
  %n = add i32 %i, 1
  %r = call i32 @down(i32 %n, ptr %a)
  %v = load volatile i32, ptr %a
  %s = add i32 %r, %v
  ret i32 %s
}
define i32 @kernel(i32 %i) {
  %r = call i32 @down(i32 %i, ptr null)
  ret i32 %r
}
";
    ended(&run("kernel.ll", source, &[]), &["the scalar program of", "was stopped", "its stack overflowed"]);
}

/// A kernel that waits for what never comes.
const FOREVER: &str = ";@ args i=index
;@ range 0..100
;@ bind out=i32[100]=zero
define void @kernel(i32 %i, ptr %out) {
entry:
  br label %loop
loop:
  %v = load volatile i32, ptr %out
  %c = icmp eq i32 %v, 77
  br i1 %c, label %done, label %loop
done:
  %at = sext i32 %i to i64
  %p = getelementptr i32, ptr %out, i64 %at
  store i32 %i, ptr %p
  ret void
}
";

#[test]
fn a_kernel_that_runs_for_ever_is_ended() {
    let output = run("kernel.ll", FOREVER, &["--timeout", "1"]);
    ended(&output, &["did not end within 1 s", "--timeout"]);
    let output = run("kernel.ll", FOREVER, &["--timeout", "1", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(report["finding"].as_str().unwrap().contains("did not end within 1 s"), "{report}");
}

#[test]
fn children_end_with_their_parent() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kernel.ll");
    std::fs::write(&file, FOREVER).unwrap();
    let mut parent = command(&["run", file.to_str().unwrap(), "--timeout", "0"]).spawn().unwrap();
    let children = format!("/proc/{0}/task/{0}/children", parent.id());
    let wait = |done: &dyn Fn() -> bool| {
        let started = Instant::now();
        while !done() {
            assert!(started.elapsed() < Duration::from_secs(60), "it takes too long");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let child = || std::fs::read_to_string(&children).ok()?.split_whitespace().next().map(str::to_owned);
    wait(&|| child().is_some());
    let child = child().unwrap();
    parent.kill().unwrap();
    parent.wait().unwrap();
    // Who has ended may wait for somebody to ask how.
    wait(&|| {
        std::fs::read_to_string(format!("/proc/{child}/stat")).map_or(true, |stat| {
            stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
        })
    });
}

#[test]
fn memory_is_limited() {
    let source = ";@ args i=index
;@ range 0..64
declare noalias ptr @malloc(i64)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define i8 @kernel(i32 %i) {
  %p = call ptr @malloc(i64 1073741824)
  call void @llvm.memset.p0.i64(ptr %p, i8 1, i64 4096, i1 true)
  %x = load volatile i8, ptr %p
  ret i8 %x
}
";
    ended(&run("kernel.ll", source, &["--memory", "1GiB"]), &["the scalar program of", "was stopped"]);
    let output = run("kernel.ll", source, &["--memory", "64MiB"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--memory"), "{}", stderr(&output));
    // A buffer that does not fit is no fault of the kernel's.
    let large = ";@ args i=index\n;@ range 0..64\n;@ bind p=i8[2000000000]=zero\n\
                 define i8 @kernel(i32 %i, ptr %p) {\n  %x = load i8, ptr %p\n  ret i8 %x\n}\n";
    let output = run("kernel.ll", large, &["--memory", "1GiB"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("--memory"), "{}", stderr(&output));
}

#[test]
fn functions_that_are_not_linked_are_named_when_they_are_called_and_not_before() {
    let body = "store i32 -1, ptr %p\n  %f = call i32 @elsewhere(i32 %i)";
    let source = at_index_50("declare i32 @elsewhere(i32)", body);
    ended(&run("kernel.ll", &source, &[]), &["error: the kernel calls `elsewhere`, which is not linked"]);
    let text = ok(&run("kernel.ll", &source, &["--range", "0..50"]));
    assert!(text.contains("0 mismatches"), "{text}");
    // One that need not be there is null.
    let weak = at_index_50(
        "declare extern_weak void @perhaps()",
        "%is = icmp ne ptr @perhaps, null
  br i1 %is, label %call, label %no
call:
  call void @perhaps()",
    );
    assert!(ok(&run("kernel.ll", &weak, &[])).contains("0 mismatches"));
}

#[test]
fn a_kernel_in_c_may_mention_functions_that_are_not_linked() {
    if !warpline_llvm::has_clang() {
        eprintln!("skipped: there is no clang");
        return;
    }
    let source = "int elsewhere(int);
//@ args i=index
//@ range 0..100
//@ bind out=i32[100]=zero
//@ bind n=1000
void kernel(int i, int n, int *out) { out[i] = i > n ? elsewhere(i) : i; }
";
    assert!(ok(&run("kernel.c", source, &[])).contains("0 mismatches"));
    ended(&run("kernel.c", source, &["--bind", "n=50"]), &["calls `elsewhere`, which is not linked"]);
}

#[test]
fn stored_addresses_are_compared_as_buffer_and_offset() {
    // The second address of each lane is not aligned.
    let source = |more: &str| {
        format!(
            ";@ args i=index
;@ range 0..103
;@ bind x=f32[104]=iota
;@ bind q=i64[103]=zero
;@ bind s=i8[1236]=zero
define void @kernel(i64 %i, ptr %x, ptr %q, ptr %s) {{
  %a = getelementptr float, ptr %x, i64 %i
  %to = getelementptr ptr, ptr %q, i64 %i
  store ptr %a, ptr %to
  %t = getelementptr {{i32, [8 x i8]}}, ptr %s, i64 %i, i32 1
  %b = getelementptr i8, ptr %s, i64 %i
  {more}
  store ptr %b, ptr %t, align 1
  ret void
}}
"
        )
    };
    assert!(ok(&run("kernel.ll", &source(""), &[])).contains("0 mismatches"));
}

const ATOMIC_SUM: &str = ";@ args i=index
;@ range 0..100
;@ bind sum=i32[1]=zero
define void @kernel(i32 %i, ptr %sum) {
  %old = atomicrmw add ptr %sum, i32 %i monotonic
  ret void
}
";

/// A body of a kernel `(i32 %i, ptr %a, ptr %b)` on 32-bit integers, a of random small ones.
fn on_integers(body: &str, directive: &str) -> String {
    format!(
        ";@ args i=index
;@ range 1..100
;@ bind a=i32[101]=0..8
;@ bind b=i32[101]=0..8
{directive}
define void @kernel(i32 %i, ptr %a, ptr %b) {{
  %n = add i32 %i, 1
  %m = sub i32 %i, 1
  %pa = getelementptr i32, ptr %a, i32 %i
  %pn = getelementptr i32, ptr %a, i32 %n
  %pm = getelementptr i32, ptr %a, i32 %m
  %pb = getelementptr i32, ptr %b, i32 %i
  %x = load i32, ptr %pa
  {body}
  ret void
}}
"
    )
}

#[test]
fn races_that_matter_are_findings_unless_the_input_accepts_them() {
    for (body, words) in [
        ("%s = load i32, ptr %b\n %t = add i32 %s, %x\n store i32 %t, ptr %b", "b[0]"),
        (
            "%h = getelementptr i32, ptr %b, i32 %x\n %s = load i32, ptr %h\n %t = add i32 %s, 1\n \
             store i32 %t, ptr %h",
            "b[",
        ),
        ("%y = load i32, ptr %pm\n %t = mul i32 %y, 2\n store i32 %t, ptr %pa", "a["),
        ("%t = mul i32 %i, 3\n store i32 %t, ptr %pa\n %y = load i32, ptr %pn\n store i32 %y, ptr %pb", "a["),
        ("store volatile i32 %i, ptr %b\n %o = sub i32 0, %i\n store volatile i32 %o, ptr %b", "b[0]"),
        ("%y = load i32, ptr %pn\n store i32 %y, ptr %pa", "a["),
    ] {
        let output = run("kernel.ll", &on_integers(body, ""), &["--width", "8"]);
        // Races that are certain may be refused before anything runs.
        if output.status.code() == Some(2) {
            continue;
        }
        let text = stdout(&output);
        assert_eq!(output.status.code(), Some(1), "{body}: {text}{}", stderr(&output));
        assert!(text.contains("race: lane ") && text.contains(words), "{body}: {text}");
        let text = ok(&run("kernel.ll", &on_integers(body, ";@ racy"), &["--width", "8"]));
        assert!(
            text.contains("race: lane ") && text.contains("not checked against the scalar program"),
            "{text}"
        );
        let output = run("kernel.ll", &on_integers(body, ";@ lane-insensitive"), &["--width", "8"]);
        assert!(stdout(&output).contains("checked against the scalar program on all"), "{}", stdout(&output));
    }
}

#[test]
fn races_that_do_not_matter_are_none() {
    for body in [
        "store i32 7, ptr %b\n store i32 %i, ptr %pa",
        "store i32 7, ptr %b\n %y = load volatile i32, ptr %b\n store i32 %y, ptr %pa",
    ] {
        let text = ok(&run("kernel.ll", &on_integers(body, ""), &["--width", "8"]));
        assert!(!text.contains("race:") && !text.contains("warning: lanes"), "{text}");
        assert!(text.contains("checked against the scalar program on all 99 indices"), "{text}");
    }
    let text = ok(&run("kernel.ll", &on_integers("store i32 %i, ptr %b", ""), &["--width", "8"]));
    assert!(
        text.contains("warning: lanes store different values to b[0] at once; the last lane wins"),
        "{text}"
    );
    let text = ok(&run("kernel.ll", ATOMIC_SUM, &["--width", "8"]));
    assert!(!text.contains("race:") && text.contains("meet by atomic operations"), "{text}");
}

#[test]
fn a_race_is_in_the_report_for_programs() {
    let body = "%s = load i32, ptr %b\n %t = add i32 %s, %x\n store i32 %t, ptr %b";
    let output = run("kernel.ll", &on_integers(body, ""), &["--width", "8", "--format", "json"]);
    if output.status.code() == Some(2) {
        return;
    }
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((&report["race"]["finding"], &report["race"]["place"]), (&true.into(), &"b[0]".into()));
}

/// Functions that compose others, one of which is called; one call has an argument that all lanes share.
const COMPOSED: &str = "//@ function kernel
//@ args i=index
//@ range 0..3003
//@ bind x=TYPE[3003]=-9..9
//@ bind u=0.7
//@ bind out=TYPE[3003]=zero
#[inline(never)]
fn inner(x: TYPE) -> TYPE { (x.exp() + 1.0).ln().sin() }
#[inline(never)]
extern \"C\" fn again(x: TYPE, n: i32) -> TYPE {
    if n <= 0 { x.exp() } else { (again(x * 0.5, n - 1) + 1.0).ln() * x.cos() }
}
#[unsafe(no_mangle)]
pub unsafe extern \"C\" fn kernel(i: i32, x: *const TYPE, u: TYPE, out: *mut TYPE) {
    let x = unsafe { *x.add(i as usize) };
    let more = if x > 0.0 { x.powf(u).ln().exp().tan() } else { x.cos() };
    let y = inner(x) + (x.exp() * 3.0).sin() * u.exp().cos() + more + again(x, i & 3);
    unsafe { *out.add(i as usize) = y };
}
";

#[test]
fn mathematics_is_judged_bit_for_bit_also_in_functions_that_are_called() {
    for ty in ["f32", "f64"] {
        let source = COMPOSED.replace("TYPE", ty);
        // Groups of several sizes may call several functions of a library.
        for width in ["auto", "3", "4", "16", "24"] {
            let text = ok(&run("kernel.rs", &source, &["--width", width]));
            assert!(text.contains("; 0 mismatches\n"), "{text}");
            assert!(width == "3" || text.contains("vector mathematics ("), "{ty}, {width}: {text}");
        }
        let text = ok(&run("kernel.rs", &source, &["--math-ulp", "0"]));
        assert!(!text.contains("vector math"), "{text}");
    }
}

#[test]
fn the_error_of_the_mathematics_is_a_line_of_its_own_with_a_tolerance() {
    let source = COMPOSED.replace("TYPE", "f32");
    let text = ok(&run("kernel.rs", &source, &["--tolerance", "rel=1e-1,abs=1"]));
    assert!(
        text.contains("vector mathematics (") && text.contains("allowed: relative 1e-1 or absolute 1e0"),
        "{text}"
    );
    let output = run("kernel.rs", &source, &["--tolerance", "ulp=0"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}{}", stderr(&output));
    assert!(text.contains("results are beyond the tolerance") && text.contains("; 0 mismatches\n"), "{text}");
    let source = source.replace("//@ args", "//@ tolerance ulp=0\n//@ args");
    let output = run("kernel.rs", &source, &["--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(report["mismatches"], 0);
    assert!(report["vector_math"]["beyond_tolerance"].as_u64().unwrap() > 0, "{report}");
}

#[test]
fn mathematics_in_loops_is_judged_bit_for_bit_and_reductions_in_any_order_are_exceptions() {
    if !warpline_llvm::has_clang() {
        eprintln!("skipped: there is no clang");
        return;
    }
    let loops = "#include <math.h>
//@ bind n=1000
//@ bind x=f32[1000]=0..9
//@ bind o=f32[1000]=zero
//@ bind p=f64[1000]=0..9
void f(int n, const float *restrict x, float *restrict o, double *restrict p) {
  //@ loop width 8
  for (int i = 0; i < n; i++) o[i] = sinf(expf(x[i]) * 3) + logf(x[i] + 1);
  //@ loop width 16
  for (int i = 0; i < n; i++) p[i] = sin(p[i]) + cosf(o[i]) * sinf(x[i]);
}
";
    let text = ok(&run("loops.c", loops, &[]));
    assert!(text.contains("; 0 mismatches\n") && text.contains("vector mathematics ("), "{text}");
    assert!(!text.contains("not compared bit for bit"), "{text}");
    let sum = "#include <math.h>
//@ bind n=1000
//@ bind x=f32[1000]=0..9
float f(int n, const float *x) {
  float s = 0;
  //@ loop any-order
  for (int i = 0; i < n; i++) s += expf(x[i]);
  return s;
}
";
    let text = ok(&run("sum.c", sum, &[]));
    assert!(
        text.contains("not compared bit for bit, since floating-point numbers are combined in another order"),
        "{text}"
    );
}

#[test]
fn flags_that_permit_other_roundings_are_exceptions() {
    let source = ";@ args i=index, x=varying
;@ range 0..50
;@ bind x=f32[50]=-9..9
define float @kernel(i32 %i, float %x) {
  %a = fmul FLAGS float %x, 3.0
  %b = fadd FLAGS float %a, 1.0
  ret float %b
}
";
    let words = "not compared bit for bit, since instructions permit other roundings";
    assert!(ok(&run("kernel.ll", &source.replace("FLAGS", "contract"), &[])).contains(words));
    assert!(!ok(&run("kernel.ll", &source.replace("FLAGS", "nnan"), &[])).contains(words));
}

#[test]
fn vector_variants_of_the_user_are_exceptions() {
    let source = ";@ function kernel
;@ args i=index, x=varying
;@ range 0..50
;@ bind x=f32[50]=-9..9
define weak float @scale(float %x) noinline #0 {
  %r = fmul float %x, 3.0
  ret float %r
}
define <4 x float> @_ZGVbN4v_scale(<4 x float> %x) {
  %r = fmul <4 x float> %x, splat (float FACTOR)
  ret <4 x float> %r
}
define float @kernel(i32 %i, float %x) {
  %s = call float @scale(float %x)
  ret float %s
}
attributes #0 = { \"_ZGVbN4v_scale\" }
";
    // One unit in the last place more than three.
    let near = source.replace("FACTOR", "0x4008000020000000");
    let text = ok(&run("kernel.ll", &near, &["--width", "8"]));
    assert!(text.contains("not compared bit for bit, since `_ZGVbN4v_scale` is a vector variant"), "{text}");
    let output = run("kernel.ll", &source.replace("FACTOR", "4.0"), &["--width", "8"]);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
}

#[test]
fn variables_of_the_input_are_each_programs_own() {
    let source = ";@ function kernel
;@ args i=index
;@ range 0..64
;@ lane-insensitive
@count = internal global i32 0
define i32 @kernel(i32 %i) {
  %old = atomicrmw add ptr @count, i32 1 monotonic
  ret i32 %old
}
";
    assert!(ok(&run("kernel.ll", source, &["--width", "8"])).contains("0 mismatches"));
}
