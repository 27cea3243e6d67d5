//! Functions with vectorized loops in objects for several CPUs, and the headers that declare them: the whole program
//! gives what the scalar one gives, on every CPU.

mod common;

use std::path::Path;
use std::process::{Command, Output};

use common::{ok, stderr, warpline};

const LEVELS: &str = "x86-64-v3,x86-64,x86-64-v4,x86-64-v2";

const HEADER: &str =
    "#ifndef P_H\n#define P_H\nstruct pair { float a, b; };\nstruct big { double v[5]; };\n#endif\n";

/// Variables that only this file knows, functions that it keeps to itself, records by value, results of all kinds,
/// more parameters than registers.
const SOURCE: &str = r#"
#include <stdarg.h>
#include "p.h"
static int calls;
static const float table[4] = {1, 2, 3, 4};
int shared = 5;
static float step(float x) { calls++; return x * table[calls & 3]; }
struct pair both(int n, const float *restrict in, float *restrict out, struct pair p, signed char c, double d)
{
    static int own;
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = in[i] * p.a + p.b + (float)c + (float)d;
    calls++;
    own += 10;
    struct pair r = { step(out[0]), (float)(calls + own + shared) };
    return r;
}
static __attribute__((noinline)) int count(int n, const int *a, int key) {
    int found = 0;
    //@ loop
    for (int i = 0; i < n; i++)
        if (a[i] == key) found++;
    return found;
}
int counted(int n, const int *a, int key) { return count(n, a, key) + calls; }
struct big large(int n, double *restrict a, struct big x, double b, double c, double d, double e, double f, double g,
                 double h, double i, double j, int k, int l, int m, short o)
{
    //@ loop
    for (int z = 0; z < n; z++) a[z] += x.v[z % 5] + b + c + d + e + f + g + h + i + j + k + l + m + o;
    x.v[0] = a[0];
    return x;
}
int summed(int n, const int *restrict a, ...)
{
    va_list list;
    va_start(list, a);
    int s = va_arg(list, int) + (int)va_arg(list, double);
    va_end(list);
    for (int i = 0; i < n; i++) s += a[i];
    return s;
}
int factorial(int n, int *restrict a)
{
    //@ loop
    for (int i = 0; i < n; i++) a[i] += n;
    return n < 2 ? a[0] : n * factorial(n - 1, a);
}
int (*pointer(void))(int, int *restrict) { return factorial; }
"#;

const MAIN: &str = r#"
#include <stdio.h>
#include "p.h"
#ifdef HEADER
#include "k.h"
#else
struct pair both(int, const float *, float *, struct pair, signed char, double);
struct big large(int, double *, struct big, double, double, double, double, double, double, double, double, double,
                 int, int, int, short);
int factorial(int, int *);
#endif
#ifdef __cplusplus
extern "C" int counted(int, const int *, int);
extern "C" int summed(int, const int *, ...);
extern "C" int (*pointer(void))(int, int *);
extern "C" int shared;
#else
int counted(int, const int *, int);
int summed(int, const int *, ...);
int (*pointer(void))(int, int *);
extern int shared;
#endif
static float in[1001], out[1001];
static int a[1001];
static double d[77];
int main(void) {
    for (int i = 0; i < 1001; i++) { in[i] = (float)i; a[i] = i % 7; }
    struct pair p = {2, 3};
    struct big x = {{1, 2, 3, 4, 5}};
    for (int k = 0; k < 3; k++) {
        struct pair r = both(1001 - k, in, out, p, -5, 1.5);
        double s = 0;
        for (int i = 0; i < 1001; i++) s += out[i];
        printf("%g %g %g %d\n", r.a, r.b, s, counted(1001, a, 3));
        shared += 100;
    }
    struct big y = large(77, d, x, 1, 2, 3, 4, 5, 6, 7, 8, 9.5, 10, 11, 12, -13);
    double s = 0;
    for (int i = 0; i < 77; i++) s += d[i];
    printf("%g %g %g\n", y.v[0], y.v[4], s);
    printf("%d %d\n", summed(1001, a, 3, 4.5), summed(3, a, 1, 2.0));
    printf("%d\n", factorial(6, a));
    int last = pointer()(5, a);
    printf("%d %d\n", last, a[0]);
    return 0;
}
"#;

/// Compiles in a folder and runs the program.
#[track_caller]
fn compile(folder: &Path, compiler: &str, words: &[&str]) -> bool {
    let mut command = Command::new(compiler);
    command.current_dir(folder).args(["-O1", "-ffp-contract=off", "-w", "-I.", "-o", "program"]);
    let Ok(output) = command.args(words).arg("-lm").output() else {
        println!("skipped: there is no {compiler}");
        return false;
    };
    assert!(output.status.success(), "{}", stderr(&output));
    true
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{:?} {}", output.status, stderr(output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Vectorizes `k.c` of a folder for these CPUs.
fn vectorize(folder: &Path, input: &str, cpus: &str, more: &[&str]) -> Output {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (input, object, header) = (path(input), path("k.o"), path("k.h"));
    let words = ["vectorize", &input, "--cpu", cpus, "-o", &object, "--header", &header];
    warpline(&[&words[..], more].concat())
}

#[test]
fn every_version_of_functions_with_loops_gives_the_scalar_results() {
    if !warpline_llvm::has_clang() {
        return println!("skipped: there is no clang");
    }
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    for (name, text) in [("p.h", HEADER), ("k.c", SOURCE), ("main.c", MAIN), ("main.cpp", MAIN)] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    if !compile(folder, "cc", &["main.c", "k.c"]) {
        return;
    }
    let program = folder.join("program");
    let scalar = text(&Command::new(&program).output().unwrap());
    for cpus in ["x86-64", "haswell", LEVELS] {
        if cpus == "haswell" && !std::arch::is_x86_feature_detected!("avx2") {
            continue;
        }
        ok(&vectorize(folder, "k.c", cpus, &[]));
        let header = std::fs::read_to_string(folder.join("k.h")).unwrap();
        for part in [
            "struct pair both(int n, const float *restrict in, float *restrict out, struct pair p, signed char c, \
             double d);",
            "int factorial(int n, int *restrict a);",
        ] {
            assert!(header.contains(part), "`{part}` is not in\n{header}");
        }
        assert!(!header.contains("count(") && header.contains("both_cpu") == cpus.contains(','), "{header}");
        for (compiler, main) in [("cc", "main.c"), ("clang-19", "main.c"), ("c++", "main.cpp")] {
            if compile(folder, compiler, &["-DHEADER", main, "k.o"]) {
                assert_eq!(text(&Command::new(&program).output().unwrap()), scalar, "{cpus}, {compiler}");
            }
        }
    }
    for cpu in ["qemu64", "Nehalem", "Haswell"] {
        match Command::new("qemu-x86_64").args(["-cpu", cpu]).arg(&program).output() {
            Ok(output) => assert_eq!(text(&output), scalar, "{cpu}"),
            Err(_) => return println!("skipped on other CPUs: there is no qemu-x86_64"),
        }
    }
}

#[test]
fn code_of_several_objects_is_one_function_where_the_language_says_so() {
    if !warpline_llvm::has_clang() {
        return println!("skipped: there is no clang");
    }
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    let shared = "inline int sum(int n, const int *__restrict a) {\n  int s = 0;\n  //@ loop\n  for (int i = 0; i < n; \
                  i++) s += a[i];\n  if (n < 0) throw n;\n  return s;\n}\n";
    let one = format!("{shared}int first(int n, const int *a) {{ return sum(n, a); }}\n");
    let main = format!(
        "#include <cstdio>\n{shared}int first(int, const int *);\nint main() {{\n  int a[100];\n  for (int i = 0; i < \
         100; \
         i++) a[i] = i;\n  int caught = 0;\n  try {{ first(-3, a); }} catch (int n) {{ caught = n; }}\n  \
         std::printf(\"%d %d %d\\n\", first(100, a), sum(99, a), caught);\n}}\n"
    );
    std::fs::write(folder.join("k.cpp"), one).unwrap();
    std::fs::write(folder.join("main.cpp"), main).unwrap();
    ok(&vectorize(folder, "k.cpp", LEVELS, &[]));
    for order in [["main.cpp", "k.o"], ["k.o", "main.cpp"]] {
        if compile(folder, "c++", &order) {
            let output = Command::new(folder.join("program")).output().unwrap();
            assert_eq!(text(&output), "4950 4851 -3\n", "{order:?}");
        }
    }
}

#[test]
fn what_there_can_be_only_one_of_is_refused_for_several_cpus() {
    if !warpline_llvm::has_clang() {
        return println!("skipped: there is no clang");
    }
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    let alias = "int sum(int n, const int *a) {\n  int s = 0;\n  //@ loop\n  for (int i = 0; i < n; i++) s += a[i];\n  \
                 return s;\n}\nint total(int, const int *) __attribute__((alias(\"sum\")));\n";
    std::fs::write(folder.join("k.c"), alias).unwrap();
    let output = vectorize(folder, "k.c", LEVELS, &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("only one `sum`"), "{}", stderr(&output));
    ok(&vectorize(folder, "k.c", "x86-64", &[]));
    let taken = "int sum_cpu;\nint sum(int n, const int *a) {\n  int s = 0;\n  //@ loop\n  for (int i = 0; i < n; \
                 i++) s \
                 += a[i];\n  return s;\n}\n";
    std::fs::write(folder.join("k.c"), taken).unwrap();
    let output = vectorize(folder, "k.c", LEVELS, &[]);
    assert!(stderr(&output).contains("`sum_cpu`"), "{}", stderr(&output));
}

#[test]
fn a_loop_that_is_refused_stays_scalar_for_all_cpus() {
    if !warpline_llvm::has_clang() {
        return println!("skipped: there is no clang");
    }
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    let source = "int setjmp(void *) __attribute__((returns_twice));\nvoid f(int n, int *a) {\n  //@ loop\n  for (int \
                  i = \
                  0; i < n; i++) a[i] = i;\n}\nvoid g(int n, void *p) {\n  //@ loop\n  for (int i = 0; i < n; i++) \
                  setjmp(p);\n}\n";
    std::fs::write(folder.join("k.c"), source).unwrap();
    let output = vectorize(folder, "k.c", LEVELS, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("stays as it is"), "{}", stderr(&output));
    let header = std::fs::read_to_string(folder.join("k.h")).unwrap();
    assert!(header.contains("void f(int n, int *a);") && !header.contains("void g("), "{header}");
    let all = vectorize(folder, "k.c", LEVELS, &["--require-all"]);
    assert_eq!(all.status.code(), Some(1));
    let named = vectorize(folder, "k.c", LEVELS, &["--loop", "8"]);
    assert_eq!(named.status.code(), Some(2), "{}", stderr(&named));
}
