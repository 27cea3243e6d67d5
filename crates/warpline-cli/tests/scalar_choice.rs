//! Where scalar code is expected to be faster, it is what comes out, the user is told why, and short loops and ranges
//! give what long ones give.

mod common;
#[path = "common/linked.rs"]
mod linked;

use std::fmt::Write;

use common::{ok, stdout, warpline};
use linked::link_and_run;

/// A loop that only gathers, and one that only streams.
const LOOPS: &str = "void take(int n, const int *at, const float *from, float *restrict to) {
    //@ loop independent
    for (int i = 0; i < n; i++)
        to[i] = from[at[i]];
}
void twice(int n, const float *restrict from, float *restrict to) {
    //@ loop
    for (int i = 0; i < n; i++)
        to[i] = 2 * from[i];
}
int sum(int n, const unsigned char *from) {
    int s = 1;
    //@ loop
    for (int i = 0; i < n; i++)
        s += from[i];
    return s;
}
";

/// A kernel that only gathers.
const KERNEL: &str = "//@ args i=index
void take(long i, const int *at, const float *from, float *to) { to[i] = from[at[i]]; }
";

#[test]
fn loops_that_only_gather_stay_scalar_and_the_warning_says_what_would_change_that() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("loops.c");
    std::fs::write(&source, LOOPS).unwrap();
    let (source, object) = (source.to_str().unwrap(), folder.path().join("m.o"));
    let base = ["vectorize", source, "--cpu", "x86-64-v3", "-o", object.to_str().unwrap()];
    let with = |more: &[&str]| warpline(&[&base[..], more].concat());

    let report: serde_json::Value = serde_json::from_str(&ok(&with(&["--format", "json"]))).unwrap();
    let names = |key: &str| -> Vec<String> {
        let all = report[key].as_array().unwrap().iter();
        all.map(|l| l["function"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("scalar"), ["take"]);
    assert_eq!(names("loops"), ["twice", "sum"]);

    let text = ok(&with(&[]));
    let warning = text.lines().find(|line| line.contains("stays scalar")).expect("a warning");
    for part in ["loops.c:3", "gathers in loops.c:4", "instead of looking them up", "--width"] {
        assert!(warning.contains(part), "{part}: {warning}");
    }
    assert_eq!(with(&["--require-vector"]).status.code(), Some(1));
    let forced = stdout(&with(&["--require-vector", "--width", "8"]));
    assert!(!forced.contains("stays scalar"), "{forced}");
}

#[test]
fn a_report_of_loops_that_all_stay_scalar_has_no_empty_line() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("loops.c");
    let first = LOOPS.split_once("void twice").expect("the second loop").0;
    std::fs::write(&source, first).unwrap();
    let object = folder.path().join("m.o");
    let (source, object) = (source.to_str().unwrap(), object.to_str().unwrap());
    let text = ok(&warpline(&["vectorize", source, "--cpu", "x86-64-v3", "-o", object]));
    assert!(text.contains("stays scalar"), "{text}");
    assert!(text.lines().all(|line| !line.trim().is_empty()), "{text}");
}

#[test]
fn drivers_of_kernels_that_only_gather_run_them_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("kernel.c");
    std::fs::write(&source, KERNEL).unwrap();
    let text = ok(&warpline(&[
        "vectorize",
        source.to_str().unwrap(),
        "--cpu",
        "x86-64-v2",
        "-o",
        folder.path().join("m.o").to_str().unwrap(),
    ]));
    assert!(text.contains("`take_range` stays scalar"), "{text}");
    let main = "#include <stdio.h>
void take_range(long, long, const int *, const float *, float *);
int main(void) {
    int at[9] = {8, 7, 6, 5, 4, 3, 2, 1, 0};
    float from[9], to[9] = {0};
    for (int i = 0; i < 9; i++) from[i] = i;
    take_range(1, 8, at, from, to);
    for (int i = 0; i < 9; i++) printf(\"%g \", to[i]);
}";
    if let Some(printed) = link_and_run(folder.path(), main, &[]) {
        assert_eq!(printed, "0 7 6 5 4 3 2 1 0 ");
    }
}

#[test]
fn loops_of_any_length_give_what_the_scalar_ones_give() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("loops.c");
    std::fs::write(&source, LOOPS).unwrap();
    linked::vectorize(folder.path(), &[source.to_str().unwrap()]);
    let main = "#include <stdio.h>
void take(int, const int *, const float *, float *);
void twice(int, const float *, float *);
int sum(int, const unsigned char *);
int main(void) {
    static int at[99]; static float from[99], to[99], two[99]; static unsigned char bytes[99];
    for (int i = 0; i < 99; i++) { at[i] = i * 7 % 99; from[i] = i; bytes[i] = i * 3; }
    for (int n = 0; n < 99; n++) {
        take(n, at, from, to);
        twice(n, from, two);
        float all = 0;
        for (int i = 0; i < 99; i++) all += to[i] + two[i];
        printf(\"%g %d\\n\", all, sum(n, bytes));
    }
}";
    let mut expected = String::new();
    for n in 0..99_i64 {
        let all: i64 = (0..n).map(|i| i * 7 % 99 + 2 * i).sum();
        let bytes: i64 = (0..n).map(|i| i * 3 % 256).sum();
        writeln!(expected, "{all} {}", bytes + 1).unwrap();
    }
    if let Some(printed) = link_and_run(folder.path(), main, &[]) {
        assert_eq!(printed, expected);
    }
}
