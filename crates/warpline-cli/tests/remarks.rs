//! Performance remarks: each kind at its line, what is printed, records that LLVM reads, JSON, costs by line.

mod common;

use std::path::Path;
use std::process::Command;

use common::{ok, stderr, stdout, warpline};
use serde_json::Value;

/// Kernels, a line each, and the remarks on these lines: a name, and a part of the message or advice.
const KERNELS: &[(&str, &str, &str)] = &[
    (
        "void take(long i, const int *at, const float *from, float *to) { to[i] = from[at[i]]; }",
        "Gather",
        "is computed from data",
    ),
    (
        "void column(long i, long n, const float *from, float *to) { to[i] = from[i * n]; }",
        "Gather",
        "at run time only",
    ),
    (
        "void wrap(long i, const float *from, float *to) { to[i] = from[(3 * i + 7) & 4095]; }",
        "Gather",
        "wraps around",
    ),
    ("void half(long i, const float *from, float *to) { to[i] = from[i / 2]; }", "Gather", "is divided"),
    (
        "void clamp(long i, const float *from, float *to) { to[i] = from[i < 9 ? 9 : i]; }",
        "Gather",
        "kept within bounds",
    ),
    (
        "void put(long i, long n, const float *from, float *to) { to[i * n] = from[i]; }",
        "Scatter",
        "at run time only",
    ),
    (
        "void third(long i, const float *from, float *to) { to[i] = from[3 * i]; }",
        "StridedAccess",
        "3 elements apart",
    ),
    ("void call(long i, float *to) { to[i] = outside(to[i]); }", "ScalarizedCall", "`outside`"),
    (
        "void divide(long i, const int *a, int *b) { b[i] = a[i] / b[i]; }",
        "Division",
        "floating-point vectors",
    ),
    (
        "void wide(long i, const __int128 *a, __int128 *b) { b[i] = a[i] / b[i]; }",
        "ScalarizedDivision",
        "once per lane",
    ),
    (
        "void mask(long i, const char *c, char *to) { if (c[i]) to[i] = c[i] + 1; }",
        "MaskedAccess",
        "a branch per lane",
    ),
    (
        "void until(long i, float *to) { float x = to[i]; while (x < 9) x *= x; to[i] = x; }",
        "DivergentLoop",
        "slowest",
    ),
    (
        "void some(long i, const int *p, int *to) { if (to[i]) to[i] = *p; }",
        "MandatoryBranch",
        "any lane is active",
    ),
    ("void sine(long i, float *to) { to[i] = sinf(to[i]); }", "VectorMathematics", "`sinf`"),
];

/// A function without a body.
const HEAD: &str = "float outside(float), sinf(float);\n";

/// The kernels as a file: each has a line for its directive.
fn source() -> String {
    let of = |(text, ..): &(&str, &str, &str)| format!("//@ args i=index\n{text}\n");
    HEAD.to_owned() + &KERNELS.iter().map(of).collect::<String>()
}

/// A folder with a file.
fn folder(name: &str, text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

/// What `vectorize` does for a CPU that has gathers and few masks.
fn vectorize(folder: &Path, source: &str, more: &[&str]) -> std::process::Output {
    let object = folder.join("made.o");
    let base = ["vectorize", source, "--cpu", "x86-64-v3", "-o", object.to_str().unwrap()];
    warpline(&[&base[..], more].concat())
}

fn skipped() -> bool {
    let skipped = !warpline_llvm::has_clang();
    if skipped {
        eprintln!("skipped: there is no clang");
    }
    skipped
}

#[test]
fn each_kind_of_remark_is_at_its_line() {
    if skipped() {
        return;
    }
    let (folder, source) = folder("kernels.c", &source());
    let report = ok(&vectorize(folder.path(), &source, &["--format", "json", "--width", "8"]));
    let report: Value = serde_json::from_str(&report).unwrap();
    let kernels = report["kernels"].as_array().unwrap();
    assert_eq!(kernels.len(), KERNELS.len(), "{}", report["refused"]);
    for (k, (kernel, (text, name, part))) in kernels.iter().zip(KERNELS).enumerate() {
        let remarks = kernel["remarks"].as_array().unwrap();
        let is_it = |remark: &&Value| {
            let said = format!("{} {}", remark["message"], remark["advice"]);
            remark["name"] == *name && said.contains(part)
        };
        let found = remarks.iter().find(is_it).unwrap_or_else(|| panic!("{text}: {remarks:#?}"));
        assert_eq!(found["place"]["line"], 3 + 2 * k, "{text}: {found}");
        assert!(found["cycles"]["share"].as_f64().is_some_and(|share| share > 0.0), "{text}: {found}");
        let width = remarks.iter().find(|remark| remark["name"] == "Width").unwrap();
        assert!(width["message"].as_str().unwrap().contains("as asked for"), "{width}");
    }
}

#[test]
fn calls_that_are_vectorized_are_no_remark() {
    if skipped() {
        return;
    }
    let text = "__attribute__((noinline)) static float inside(float x) { return x < 0 ? x : 2 * x + 1; }
//@ args i=index
void call(long i, float *to) { to[i] = inside(to[i]); }
";
    let (folder, source) = folder("calls.c", text);
    for width in [&[][..], &["--width", "8"]] {
        let report = vectorize(folder.path(), &source, &[&["--remarks", "all"], width].concat());
        assert!(stderr(&report).contains("Passed Vectorized"), "{}", stderr(&report));
        assert!(!stderr(&report).contains("once per lane"), "{}", stderr(&report));
    }
}

#[test]
fn the_three_worst_lines_are_printed_unless_more_or_none_are_wanted() {
    if skipped() {
        return;
    }
    let text = "float one(float), two(float), three(float), four(float);
//@ args i=index
void calls(long i, float *to) {
    float x = one(to[i]);
    x = two(x);
    x = three(x);
    to[i] = four(x);
}
";
    let (folder, source) = folder("calls.c", text);
    let printed = |more: &[&str]| {
        let made = vectorize(folder.path(), &source, &[&["--width", "8"], more].concat());
        assert!(made.status.success(), "{}", stderr(&made));
        stderr(&made).lines().filter(|line| line.starts_with("remark: ")).count()
    };
    assert_eq!(printed(&[]), 3);
    assert_eq!(printed(&["-v"]), 3);
    assert_eq!(printed(&["-q"]), 0);
    assert_eq!(printed(&["--remarks", "none"]), 0);
    assert!(printed(&["--remarks", "all"]) > 6);
    assert_eq!(printed(&["--format", "json"]), 0);
}

#[test]
fn code_that_is_inlined_is_where_it_is_called() {
    if skipped() {
        return;
    }
    let (folder, source) = folder(
        "kernel.c",
        "#include \"part.h\"
//@ args i=index
void take(long i, const int *at, const float *from, float *to) {
    to[i] = element(from, at[i]);
}
",
    );
    let header =
        "\n\n\n\n\n\n\n\nstatic inline float element(const float *from, int k) { return from[k]; }\n";
    std::fs::write(folder.path().join("part.h"), header).unwrap();
    let printed = stderr(&vectorize(folder.path(), &source, &["--width", "8"]));
    assert!(printed.contains("remark: kernel.c:4: a gather"), "{printed}");
}

#[test]
fn without_debug_information_there_are_no_lines_and_that_is_said_once() {
    let text = "define void @take(i64 %i, ptr %at, ptr %from, ptr %to) {
  %a = getelementptr i32, ptr %at, i64 %i
  %k = load i32, ptr %a
  %wide = sext i32 %k to i64
  %b = getelementptr float, ptr %from, i64 %wide
  %x = load float, ptr %b
  %c = getelementptr float, ptr %to, i64 %i
  store float %x, ptr %c
  ret void
}
";
    let (folder, source) = folder("kernel.ll", text);
    let printed = stderr(&vectorize(folder.path(), &source, &["--args", "i=index", "--width", "8"]));
    assert!(printed.contains("remark: take: a gather"), "{printed}");
    assert_eq!(printed.matches("no lines are known of take").count(), 1, "{printed}");
    assert!(!printed.contains(":0"), "{printed}");
}

#[test]
fn what_stays_scalar_says_so_in_the_records_and_loops_are_at_their_lines() {
    if skipped() {
        return;
    }
    let text = "void take(int n, const int *at, const float *from, float *restrict to) {
    //@ loop independent
    for (int i = 0; i < n; i++)
        to[i] = from[at[i]];
}
void square(int n, float *to) {
    //@ loop independent
    for (int i = 0; i < n; i++)
        to[i] = to[i] * to[i] / (to[i] + 3);
}
";
    let (folder, source) = folder("loops.c", text);
    let printed = stderr(&vectorize(folder.path(), &source, &["--remarks", "all"]));
    assert!(
        printed.contains("remark: Missed ScalarLoop: loops.c:3: the loop at loops.c:3 stays scalar"),
        "{printed}"
    );
    assert!(printed.contains("remark: Passed Vectorized: loops.c:8: vectorized with"), "{printed}");
    assert!(printed.contains("remark: Analysis Cost: loops.c:9: "), "{printed}");
}

/// A file that no shell or YAML likes.
const HOSTILE: &str = "it's: {a} # \u{202e}\tb.c";

#[test]
fn records_are_read_by_llvm_and_yaml_and_name_their_functions() {
    if skipped() {
        return;
    }
    let (folder, source) = folder(HOSTILE, &source());
    let records = folder.path().join("made.opt.yaml");
    let made = vectorize(folder.path(), &source, &["-q", "--remarks-file", records.to_str().unwrap()]);
    assert_eq!((stdout(&made), stderr(&made)), (String::new(), String::new()));
    let text = std::fs::read_to_string(&records).unwrap();
    for name in ["take", "column", "until"] {
        assert!(text.contains(&format!("Function:        '{name}'\n")), "{text}");
    }
    assert!(!text.contains('\u{202e}') && !text.contains('\t'), "{text}");
    let count = text.matches("--- !").count();
    assert!(count > 3 * KERNELS.len(), "{text}");

    let python = "import sys, yaml
yaml.SafeLoader.add_multi_constructor('!', lambda loader, tag, node: loader.construct_mapping(node, deep=True))
records = list(yaml.safe_load_all(open(sys.argv[1], encoding='utf-8')))
assert all(isinstance(r['Args'], list) and r['Pass'] == 'warpline' for r in records), records
files = {r['DebugLoc']['File'].split('/')[-1] for r in records if 'DebugLoc' in r}
assert files == {sys.argv[2]}, files
print(len(records))
";
    let python = Command::new("python3").args(["-c", python]).arg(&records).arg(HOSTILE).output();
    match python {
        Ok(output) if !stderr(&output).contains("No module named") => {
            assert_eq!(stdout(&output).trim(), count.to_string(), "{}", stderr(&output));
        }
        _ => eprintln!("skipped: python3 or its yaml module is not there"),
    }
    let llvm = ["llvm-remarkutil-19", "llvm-remarkutil", "/usr/lib/llvm-19/bin/llvm-remarkutil"];
    let read = |tool: &&str| {
        Command::new(tool).args(["count", "--group-by=function", "--parser=yaml"]).arg(&records).output().ok()
    };
    match llvm.iter().find_map(read) {
        Some(output) => assert!(
            output.status.success() && stdout(&output).contains("take"),
            "{}{}",
            stdout(&output),
            stderr(&output)
        ),
        None => eprintln!("skipped: there is no llvm-remarkutil"),
    }
}

#[test]
fn refused_loops_and_kernels_have_records_with_their_reasons_and_lines() {
    if skipped() {
        return;
    }
    let loops = "void f(int n, int *restrict a, const int *restrict b) {
    //@ loop
    for (int i = 0; i < n; i++) a[i] = b[i] + 1;
    //@ loop
    for (int i = 1; i < n; i++) a[i] = a[i - 1] * a[i - 1] + b[i];
}
";
    let (loop_folder, loop_source) = folder("loops.c", loops);
    let kernels = "//@ args i=index
void good(long i, int *a) { a[i] += 1; }

//@ args i=index
int bad(long i, void **a) { return __builtin_setjmp(a); }
";
    let (kernel_folder, kernel_source) = folder("kernels.c", kernels);
    let refused = [(loop_folder, loop_source, "f", 5), (kernel_folder, kernel_source, "bad", 5)];
    for (folder, source, function, line) in refused {
        let records = folder.path().join("made.opt.yaml");
        let made =
            vectorize(folder.path(), &source, &["-g", "-q", "--remarks-file", records.to_str().unwrap()]);
        assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
        let text = std::fs::read_to_string(&records).unwrap();
        let found = text
            .split("--- !")
            .find(|one| one.contains("Name:            Refused"))
            .unwrap_or_else(|| panic!("{text}"));
        assert!(found.starts_with("Missed\n"), "{found}");
        assert!(found.contains(&format!("Function:        '{function}'\n")), "{found}");
        assert!(found.contains(&format!("Line: {line}, ")), "{found}");
    }
}

#[test]
fn a_file_of_records_that_cannot_be_written_leaves_no_output() {
    let (folder, source) = folder("kernel.ll", "define void @f(i64 %i) {\n  ret void\n}\n");
    let records = folder.path().join("missing").join("made.opt.yaml");
    let made = vectorize(
        folder.path(),
        &source,
        &["--args", "i=index", "--remarks-file", records.to_str().unwrap()],
    );
    assert_eq!(made.status.code(), Some(2), "{}", stderr(&made));
    assert!(!folder.path().join("made.o").exists());
}

#[test]
fn costs_are_printed_by_line_the_costliest_first() {
    if skipped() {
        return;
    }
    let text = "//@ args i=index
void take(long i, const int *at, const float *from, float *to) {
    float x = from[at[i]];
    to[i] = x * x;
}
";
    let (_folder, source) = folder("kernel.c", text);
    let printed = ok(&warpline(&["analyze", &source, "--cost=x86-64-v3"]));
    let lines: Vec<&str> = printed.lines().collect();
    assert!(lines[0].starts_with("take: ") && lines[0].ends_with("; stays scalar"), "{printed}");
    assert!(
        lines[2].contains("kernel.c:3") && lines[2].contains("a gather: the address is computed from data"),
        "{printed}"
    );
    assert!(printed.contains("kernel.c:4"), "{printed}");
    let report = ok(&warpline(&["analyze", &source, "--cost=x86-64-v3", "--format", "json"]));
    let report: Value = serde_json::from_str(&report).unwrap();
    let of_line = |line: u32| {
        let remarks = report["costs"][0]["remarks"].as_array().unwrap();
        let cost = remarks.iter().find(|r| r["name"] == "Cost" && r["place"]["line"] == line).unwrap();
        cost["cycles"]["share"].as_f64().unwrap()
    };
    assert!(of_line(3) > of_line(4), "{report}");
    assert!((of_line(3) + of_line(4) - 1.0).abs() < 1e-9, "{report}");
}
