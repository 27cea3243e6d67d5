//! Progress of long work: on terminals, and nowhere else.

mod common;

use std::path::Path;
use std::process::Command;

use common::{has_clang, stderr, warpline};

/// What a command prints to a terminal, which `script` makes; nothing if there is no such program.
fn on_terminal(folder: &Path, arguments: &str) -> Option<String> {
    let line = format!("{} {arguments}", env!("CARGO_BIN_EXE_warpline"));
    let output = Command::new("script").args(["-qec", &line, "/dev/null"]).current_dir(folder).output();
    let Ok(output) = output else {
        println!("skipped: there is no `script` to make a terminal");
        return None;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    Some(text)
}

/// Functions that take some seconds to vectorize.
fn many(count: usize) -> String {
    let one = |k: usize| {
        format!(
            "void f{k}(int n, float *restrict x, const float *restrict y) {{\n  for (int i = 0; i < n; i++) {{\n    float a = \
             y[i];\n    for (int k = 0; a < 100 && k < {k} + n; k++) {{\n      a = a * a + 1;\n      if (a > {k}) a -= 3;\n    \
             }}\n    x[i] = a;\n  }}\n}}\n"
        )
    };
    (0..count).map(one).collect()
}

#[test]
fn what_is_done_is_shown_on_a_terminal_and_taken_away() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("many.c"), many(120)).unwrap();
    let Some(shown) = on_terminal(folder.path(), "vectorize many.c -o many.o --cpu x86-64-v3") else {
        return;
    };
    assert!(shown.contains("s f") && shown.contains(": linearize"), "{shown:?}");
    // The report begins on a line of its own, which was cleared.
    assert!(shown.contains("\r\x1b[K120 loops vectorized"), "{shown:?}");

    let functions = "--function f1 --function f2 --function f3 --function f4 --function f5 --function f6";
    let shown = on_terminal(folder.path(), &format!("run many.c {functions}")).unwrap();
    assert!(shown.contains("5/6 f6"), "{shown:?}");
}

#[test]
fn nothing_is_shown_to_those_who_want_no_reports_or_read_them_from_a_pipe() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("many.c"), many(120)).unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (source, object) = (path("many.c"), path("many.o"));
    let words = ["vectorize", &source, "-o", &object, "--cpu", "x86-64-v3", "--remarks", "none"];
    if let Some(shown) = on_terminal(folder.path(), &format!("{} -q", words.join(" "))) {
        assert_eq!(shown, "");
    }
    assert_eq!(stderr(&warpline(&words)), "");
}
