//! `warpline constant-time`: constant-time code is clean, and each kind of leak is found.

mod common;

use std::process::Command;

use common::{ok, stderr, stdout, warpline};

/// Analyses a function of a module; returns the exit code and the report.
fn observe(module: &str, function: &str, secrets: &str) -> (i32, serde_json::Value) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.ll");
    std::fs::write(&path, module).unwrap();
    let path = path.to_str().unwrap();
    let arguments = ["constant-time", path, "--function", function, "--secret", secrets, "--format", "json"];
    let output = warpline(&arguments);
    let report: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    (output.status.code().unwrap(), report["functions"][0].clone())
}

/// The kinds of the findings, in order.
#[track_caller]
fn kinds(module: &str, function: &str, secrets: &str) -> Vec<String> {
    let (code, report) = observe(module, function, secrets);
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(code, i32::from(!findings.is_empty()), "{report:#}");
    for f in findings {
        let chain = f["chain"].as_array().unwrap();
        assert!(!chain.is_empty(), "a finding has a reason: {f:#}");
    }
    findings.iter().map(|f| f["kind"].as_str().unwrap().to_owned()).collect()
}

const COMPARE: &str = r"
define i32 @leaky(ptr %a, ptr %b, i64 %n) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %body, label %end
body:
  %p = getelementptr i8, ptr %a, i64 %i
  %x = load i8, ptr %p
  %q = getelementptr i8, ptr %b, i64 %i
  %y = load i8, ptr %q
  %same = icmp eq i8 %x, %y
  br i1 %same, label %latch, label %end
latch:
  %next = add i64 %i, 1
  br label %head
end:
  %r = phi i32 [ 0, %head ], [ 1, %body ]
  ret i32 %r
}
define i8 @constant(ptr %a, ptr %b, i64 %n) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %d = phi i8 [ 0, %entry ], [ %e, %body ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %body, label %end
body:
  %p = getelementptr i8, ptr %a, i64 %i
  %x = load i8, ptr %p
  %q = getelementptr i8, ptr %b, i64 %i
  %y = load i8, ptr %q
  %z = xor i8 %x, %y
  %e = or i8 %d, %z
  %next = add i64 %i, 1
  br label %head
end:
  ret i8 %d
}
";

#[test]
fn a_comparison_that_returns_early_leaks_and_one_that_does_not_is_clean() {
    assert_eq!(kinds(COMPARE, "leaky", "a"), ["branch"]);
    assert!(kinds(COMPARE, "constant", "a,*b").is_empty());
    // A secret length is another matter, and so is a secret pointer.
    assert_eq!(kinds(COMPARE, "constant", "n"), ["branch"]);
    assert_eq!(kinds(COMPARE, "constant", "&a"), ["address"]);
}

#[test]
fn secrets_are_named_by_name_or_position_with_signs_for_pointers() {
    assert_eq!(kinds(COMPARE, "leaky", "*0"), ["branch"]);
    assert_eq!(kinds(COMPARE, "leaky", "%a"), ["branch"]);
    let (_, report) = observe(COMPARE, "leaky", "&1, a");
    assert_eq!(report["secret"], serde_json::json!(["*%a", "%b"]));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.ll");
    std::fs::write(&path, COMPARE).unwrap();
    for (list, message) in [
        ("x", "there is no parameter `x`; they are %a, %b, %n"),
        ("*n", "the parameter %n is no pointer"),
        ("", "name the parameters that are secret"),
    ] {
        let output =
            warpline(&["constant-time", path.to_str().unwrap(), "--function", "leaky", "--secret", list]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
}

#[test]
fn table_lookups_divisions_and_floating_point_of_variable_time_are_found() {
    let module = r"
@sbox = internal constant [256 x i8] zeroinitializer
define i8 @lookup(ptr %key, i64 %i) {
  %p = getelementptr i8, ptr %key, i64 %i
  %k = load i8, ptr %p
  %w = zext i8 %k to i64
  %q = getelementptr [256 x i8], ptr @sbox, i64 0, i64 %w
  %s = load i8, ptr %q
  ret i8 %s
}
define i64 @divide(i64 %x, i64 %m) {
  %r = urem i64 %x, %m
  %s = sdiv i64 %m, 7
  ret i64 %r
}
define double @float(double %x) {
  %a = fmul double %x, 2.0
  %b = fdiv double %a, 3.0
  %c = call double @llvm.sqrt.f64(double %b)
  ret double %c
}
define i32 @plain(i32 %x, <4 x i32> %v) {
  %a = mul i32 %x, %x
  %b = shl i32 1, %x
  %c = call i32 @llvm.ctpop.i32(i32 %b)
  %d = icmp ult i32 %a, %c
  %e = select i1 %d, i32 %a, i32 %c
  ret i32 %e
}
define i32 @index(i32 %x, <4 x i32> %v) {
  %e = extractelement <4 x i32> %v, i32 %x
  ret i32 %e
}
define void @copy(ptr %to, ptr %from, i64 %n) {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
  ret void
}
declare double @llvm.sqrt.f64(double)
declare i32 @llvm.ctpop.i32(i32)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
";
    assert_eq!(kinds(module, "lookup", "key"), ["address"]);
    assert_eq!(kinds(module, "divide", "x"), ["operand"]);
    assert_eq!(kinds(module, "divide", "m"), ["operand", "operand"]);
    assert_eq!(kinds(module, "float", "x"), ["operand", "operand"]);
    assert_eq!(kinds(module, "plain", "x"), ["selection"]);
    assert_eq!(kinds(module, "index", "x"), ["address"]);
    assert!(kinds(module, "copy", "from").is_empty());
    assert_eq!(kinds(module, "copy", "n"), ["address"]);
    assert_eq!(kinds(module, "copy", "&from"), ["address"]);
}

#[test]
fn modular_exponentiation_with_a_branch_leaks_and_a_selection_is_left_to_the_compiler() {
    let text = |choice: &str| {
        format!(
            r"
define i64 @power(i64 %base, i64 %exponent) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %r = phi i64 [ 1, %entry ], [ %s, %latch ]
  %b = phi i64 [ %base, %entry ], [ %b2, %latch ]
  %bits = lshr i64 %exponent, %i
  %bit = trunc i64 %bits to i1
{choice}
latch:
  %s = phi i64 {{phi}}
  %b2 = mul i64 %b, %b
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 64
  br i1 %more, label %loop, label %end
end:
  ret i64 %s
}}
"
        )
    };
    let branch =
        text("  br i1 %bit, label %then, label %latch\nthen:\n  %t = mul i64 %r, %b\n  br label %latch")
            .replace("{phi}", "[ %t, %then ], [ %r, %loop ]");
    assert_eq!(kinds(&branch, "power", "exponent"), ["branch"]);
    assert!(kinds(&branch, "power", "base").is_empty());
    let select = text("  %t = mul i64 %r, %b\n  %u = select i1 %bit, i64 %t, i64 %r\n  br label %latch")
        .replace("{phi}", "[ %u, %loop ]");
    assert_eq!(kinds(&select, "power", "exponent"), ["selection"]);
}

#[test]
fn secrets_stay_secret_in_memory() {
    let module = r"
@global = internal global [4 x i32] zeroinitializer
define i32 @private(i32 %x, i32 %i) {
  %t = alloca [4 x i32]
  %u = alloca [4 x i32]
  %p = getelementptr [4 x i32], ptr %t, i32 0, i32 %i
  store i32 %x, ptr %p
  store i32 1, ptr %u
  %q = getelementptr [4 x i32], ptr %t, i32 0, i32 1
  %v = load i32, ptr %q
  %w = load i32, ptr %u
  %a = udiv i32 9, %v
  %b = udiv i32 9, %w
  ret i32 %a
}
define i32 @by_global(i32 %x) {
  store i32 %x, ptr @global
  %v = load i32, ptr @global
  %a = udiv i32 9, %v
  ret i32 %a
}
define i32 @by_alias(i32 %x, ptr %p, ptr %q) {
  store i32 %x, ptr %p
  %v = load i32, ptr %q
  %a = udiv i32 9, %v
  ret i32 %a
}
define i32 @by_address(i32 %x, ptr %p) {
  %i = and i32 %x, 3
  %at = getelementptr i32, ptr %p, i32 %i
  store i32 1, ptr %at
  %v = load i32, ptr %p
  %a = udiv i32 9, %v
  ret i32 %a
}
define i32 @by_control(i32 %x) {
entry:
  %m = alloca i32
  store i32 1, ptr %m
  %c = icmp eq i32 %x, 0
  br i1 %c, label %then, label %end
then:
  store i32 2, ptr %m
  br label %end
end:
  %v = load i32, ptr %m
  %a = udiv i32 9, %v
  ret i32 %a
}
define i32 @by_pointer(ptr %key) {
  %slot = alloca ptr
  store ptr %key, ptr %slot
  %again = load ptr, ptr %slot
  %v = load i32, ptr %again
  %a = udiv i32 9, %v
  ret i32 %a
}
define i32 @by_copy(ptr %key) {
  %m = alloca i64
  call void @llvm.memcpy.p0.p0.i64(ptr %m, ptr %key, i64 8, i1 false)
  %v = load i32, ptr %m
  %a = udiv i32 9, %v
  ret i32 %a
}
define i32 @by_atomic(i32 %x) {
  %old = atomicrmw add ptr @global, i32 %x seq_cst
  %v = load i32, ptr @global
  %a = udiv i32 9, %v
  ret i32 %a
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
";
    let (_, report) = observe(module, "private", "x");
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{report:#}");
    assert_eq!(findings[0]["text"], "%a = udiv divides with the secret operand %v");
    let chain: Vec<&str> =
        findings[0]["chain"].as_array().unwrap().iter().map(|s| s["text"].as_str().unwrap()).collect();
    assert_eq!(
        chain,
        [
            "%v = load reads memory that store may have written",
            "store writes what depends on the secret %x",
            "%x is a secret argument"
        ]
    );
    for function in ["by_global", "by_atomic"] {
        assert_eq!(kinds(module, function, "x"), ["operand"], "{function}");
    }
    // Parameters are taken to lead to memory that is apart, which is said, unless it may overlap.
    let (_, report) = observe(module, "by_alias", "x");
    assert_eq!((&report["findings"], &report["more_if_overlapping"]), (&serde_json::json!([]), &1.into()));
    assert_eq!(kinds(module, "by_address", "x"), ["address", "operand"]);
    assert_eq!(kinds(module, "by_control", "x"), ["branch", "operand"]);
    for function in ["by_pointer", "by_copy"] {
        assert_eq!(kinds(module, function, "key"), ["operand"], "{function}");
    }
}

#[test]
fn calls_are_followed_into_the_module_and_reported_where_they_leave_it() {
    let module = r"
define internal i32 @helper(i32 %x, ptr %p) {
  %a = udiv i32 9, %x
  store i32 %a, ptr %p
  ret i32 %a
}
define i32 @outer(i32 %secret, ptr %p) {
  %r = call i32 @helper(i32 %secret, ptr %p)
  %v = load i32, ptr %p
  %c = icmp eq i32 %v, 0
  br i1 %c, label %then, label %end
then:
  br label %end
end:
  ret i32 %r
}
define i32 @public(i32 %secret, ptr %p) {
  %r = call i32 @helper(i32 7, ptr %p)
  %c = icmp eq i32 %r, 0
  br i1 %c, label %then, label %end
then:
  br label %end
end:
  ret i32 %secret
}
define void @leaves(i32 %x, ptr %key, ptr %f) {
  call void @takes(ptr %key)
  call void @unknown(i32 5)
  call void %f(i32 5)
  call void @unknown(i32 %x)
  ret void
}
define i32 @again(i32 %x, i32 %n) {
entry:
  %done = icmp eq i32 %n, 0
  br i1 %done, label %end, label %more
more:
  %m = sub i32 %n, 1
  %r = call i32 @again(i32 %x, i32 %m)
  br label %end
end:
  %v = phi i32 [ %x, %entry ], [ %r, %more ]
  ret i32 %v
}
declare void @unknown(i32)
declare void @takes(ptr)
";
    let (code, report) = observe(module, "outer", "secret");
    assert_eq!(code, 1);
    let findings = report["findings"].as_array().unwrap();
    let found: Vec<_> =
        findings.iter().map(|f| (f["function"].as_str().unwrap(), f["kind"].as_str().unwrap())).collect();
    assert_eq!(found, [("helper", "operand"), ("outer", "branch")], "{report:#}");
    assert_eq!(findings[0]["calls"][0]["function"], "outer");
    let last = |i: usize| findings[i]["chain"].as_array().unwrap().last().unwrap()["text"].clone();
    assert_eq!(
        (last(0), last(1)),
        ("%secret is a secret argument".into(), "%secret is a secret argument".into())
    );
    assert_eq!(report["followed"], serde_json::json!(["helper"]));
    assert!(kinds(module, "public", "secret").is_empty());
    // Memory is followed whatever the order of execution: what gets the secret may write it behind any pointer.
    assert_eq!(kinds(module, "leaves", "x"), ["call", "call"]);
    assert_eq!(kinds(module, "leaves", "key"), ["call"]);
    assert_eq!(kinds(module, "leaves", "&f"), ["call", "call"]);
    assert!(kinds(module, "again", "x").is_empty(), "a recursion is followed");
    let (code, report) = observe(module, "again", "n");
    assert_eq!(code, 1, "{report:#}");
}

#[test]
fn a_loop_that_runs_as_often_as_a_secret_says_is_reported_and_what_it_counts_is_secret() {
    let module = r"
define i32 @count(i32 %x) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 1, %entry ], [ %next, %loop ]
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %x
  br i1 %more, label %loop, label %end
end:
  %a = udiv i32 100, %i
  ret i32 %a
}
";
    assert_eq!(kinds(module, "count", "x"), ["branch", "operand"]);
}

#[test]
fn c_code_is_checked_as_the_compiler_leaves_it() {
    let clang = ["clang-19", "clang"].into_iter().find(|c| Command::new(c).arg("--version").output().is_ok());
    let Some(clang) = clang else {
        println!("skipped: there is no clang");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (source, module) = (folder.path().join("k.c"), folder.path().join("k.ll"));
    let text = "#include <stdint.h>\n\
        const uint8_t sbox[256] = {1, 2, 3};\n\
        uint8_t lookup(const uint8_t *key, int i) { return sbox[key[i]]; }\n\
        int leaky(const uint8_t *a, const uint8_t *b, int n) {\n\
          for (int i = 0; i < n; i++)\n\
            if (a[i] != b[i]) return 1;\n\
          return 0;\n\
        }\n\
        int constant(const uint8_t *a, const uint8_t *b, int n) {\n\
          uint8_t d = 0;\n\
          for (int i = 0; i < n; i++) d |= a[i] ^ b[i];\n\
          return d;\n\
        }\n\
        uint32_t choose(uint32_t secret, uint32_t a, uint32_t b) { return secret ? a : b; }\n";
    std::fs::write(&source, text).unwrap();
    let mut command = Command::new(clang);
    command.args(["-O2", "-g", "-fno-discard-value-names", "-fno-vectorize", "-S", "-emit-llvm", "-o"]);
    assert!(command.arg(&module).arg(&source).status().unwrap().success());
    let run = |function: &str, secrets: &str| {
        let path = module.to_str().unwrap();
        warpline(&["constant-time", path, "--function", function, "--secret", secrets])
    };
    let leaky = run("leaky", "a");
    assert_eq!(leaky.status.code(), Some(1));
    assert!(stdout(&leaky).contains("k.c:6") && stdout(&leaky).contains("| if (a[i] != b[i]) return 1;"));
    assert!(ok(&run("constant", "a,b")).contains("no leak was found"));
    let choose = run("choose", "secret");
    assert_eq!(choose.status.code(), Some(1));
    assert!(stdout(&choose).contains("judged: the module as it is"), "{}", stdout(&choose));
    assert!(stdout(&choose).contains("a branch or not is left to the compiler"), "{}", stdout(&choose));
    let lookup = run("lookup", "key");
    assert_eq!(lookup.status.code(), Some(1));
    assert!(
        stdout(&lookup).contains("k.c:3") && stdout(&lookup).contains("secret address"),
        "{}",
        stdout(&lookup)
    );
}

#[test]
fn the_former_spelling_as_an_option_of_analyze_is_understood() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.ll");
    std::fs::write(&path, COMPARE).unwrap();
    let path = path.to_str().unwrap();
    let now = warpline(&["constant-time", path, "--function", "leaky", "--secret", "a"]);
    let former = warpline(&["analyze", "--secret=a", path, "--function", "leaky"]);
    assert_eq!((now.status.code(), &now.stdout), (former.status.code(), &former.stdout));
    assert_eq!(now.status.code(), Some(1));
    let now = warpline(&["lint", path, "--client", "ranges"]);
    let former = warpline(&["--memory", "2GiB", "analyze", path, "--client", "ranges"]);
    assert_eq!((now.status.code(), &now.stdout), (former.status.code(), &former.stdout));
}

/// What is said of a function of a source in C, at a level.
fn of_source(source: &str, function: &str, secrets: &str, level: &[&str]) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.c");
    std::fs::write(&path, source).unwrap();
    let mut all = vec!["constant-time", path.to_str().unwrap(), "--function", function, "--secret", secrets];
    all.extend(level);
    let output = warpline(&all);
    (output.status.code().unwrap(), stdout(&output))
}

#[test]
fn sources_are_judged_as_they_are_written_and_it_is_said() {
    if !warpline_llvm::has_clang() {
        return eprintln!("skipped: there is no clang");
    }
    // Optimizers make a selection of the first and a sum of the second; others leave branches.
    let source = "int br(int key, int x) { if (key & 1) x = x * 7 + 3; return x; }
int add(int key, int x) { if (key & 1) x += 1; return x; }
int choose(int key, int a, int b) { int mask = -(key & 1); return (a & mask) | (b & ~mask); }";
    for function in ["br", "add"] {
        let (code, text) = of_source(source, function, "key", &[]);
        assert_eq!(code, 1, "{text}");
        assert!(
            text.contains("judged: the source as it is written") && text.contains("leaks: 1 branch"),
            "{text}"
        );
    }
    let (code, text) = of_source(source, "br", "key", &["--level", "o2"]);
    assert_eq!(code, 1, "{text}");
    assert!(
        text.contains("leaks: 1 selection") && text.contains("judged: the program after LLVM's -O2"),
        "{text}"
    );
    for level in [&[][..], &["--level", "simplified"], &["--level", "o3"]] {
        let (code, text) = of_source(source, "choose", "key", level);
        assert!(code == 0 || text.contains("1 selection"), "{level:?}: {text}");
    }
    assert_eq!(of_source(source, "choose", "key", &[]).0, 0);
}
