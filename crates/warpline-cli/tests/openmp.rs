//! What docs/support.md says of OpenMP's directives. The rows of its table are the files in `filetests/openmp/`,
//! whose first lines say
//!
//! ```text
//! // construct: …     the first column
//! // happens: …       the second one
//! // refused: TEXT    the reason contains this; without such a line, results are those of the scalar program
//! // lanes: N         so many lanes has the last loop, of 8 that are asked for
//! ```
//!
//! Each file has a function `k(const int *x, int *out, float *f, int n)`.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{ok, root, stderr, stdout, warpline};
use warpline_llvm::has_clang;

/// A row of the table.
struct Row {
    path: PathBuf,
    text: String,
}

impl Row {
    fn get(&self, key: &str) -> Option<&str> {
        self.text.lines().find_map(|line| line.strip_prefix("// ")?.strip_prefix(key)?.strip_prefix(": "))
    }

    fn path(&self) -> &str {
        self.path.to_str().unwrap()
    }
}

/// All rows; none, with a reason, where there is no compiler.
fn rows() -> Vec<Row> {
    if !has_clang() {
        eprintln!("skipped: there is no clang");
        return Vec::new();
    }
    let files = std::fs::read_dir(root().join("filetests/openmp")).unwrap();
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    let row = |path: PathBuf| Row { text: std::fs::read_to_string(&path).unwrap(), path };
    paths.into_iter().map(row).collect()
}

#[test]
fn directives_are_honoured_as_the_scalar_program_shows_or_refused_by_name() {
    for row in rows() {
        let output = warpline(&["run", row.path(), "--width", "8", "-v"]);
        let (text, errors) = (stdout(&output), stderr(&output));
        if let Some(reason) = row.get("refused") {
            assert_eq!(output.status.code(), Some(2), "{}: {text}{errors}", row.path());
            assert!(errors.contains(reason), "{}: {errors}", row.path());
            assert!(errors.contains(row.path.file_name().unwrap().to_str().unwrap()), "{errors}");
            continue;
        }
        assert!(output.status.success() && text.contains("0 mismatches"), "{}: {text}{errors}", row.path());
        if let Some(lanes) = row.get("lanes") {
            let made = text.lines().rfind(|line| line.contains(": ") && line.contains(" lanes")).unwrap();
            assert!(made.contains(&format!(": {lanes} lanes")), "{}: {made}", row.path());
        }
    }
}

const MAIN: &str = r#"
#include <stdio.h>
extern void k(const int *x, int *out, float *f, int n);
int x[1009], out[8100];
float f[1009];
int main(void) {
  for (int n = 977; n <= 1001; n += 3) {
    for (int i = 0; i < 1009; i++) { x[i] = (int)((unsigned)i * 2654435761u >> 9) % 1000; f[i] = 1; }
    for (int i = 0; i < 8100; i++) out[i] = 0;
    k(x, out, f, n);
    for (int i = 0; i < 8100; i++) printf("%d ", out[i]);
    printf("|");
    for (int i = 0; i < 1009; i++) printf("%.9g ", f[i]);
    printf("\n");
  }
  return 0;
}
"#;

/// What the program of some compiler's object prints: integers and floating-point numbers.
fn printed(compiler: &Path, folder: &Path, with: &[&str]) -> (Vec<i64>, Vec<f64>) {
    let program = folder.join("program");
    let compiled = Command::new(compiler)
        .args(["-w", "-O1", "-ffp-contract=off", "-o"])
        .arg(&program)
        .args(with)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{with:?}: {}", String::from_utf8_lossy(&compiled.stderr));
    let said = Command::new(&program).output().unwrap();
    assert!(said.status.success(), "{with:?}");
    let (mut integers, mut floats) = (Vec::new(), Vec::new());
    for line in String::from_utf8(said.stdout).unwrap().lines() {
        let (first, second) = line.split_once('|').unwrap();
        integers.extend(first.split_whitespace().map(|n| n.parse::<i64>().unwrap()));
        floats.extend(second.split_whitespace().map(|n| n.parse::<f64>().unwrap()));
    }
    (integers, floats)
}

/// Results of another compiler that ignores all directives are an oracle that shares nothing with the program.
#[test]
fn results_are_those_of_a_compiler_that_ignores_directives() {
    let folder = tempfile::tempdir().unwrap();
    let main = folder.path().join("main.c");
    std::fs::write(&main, MAIN).unwrap();
    if Command::new("cc").arg("--version").output().is_err() {
        eprintln!("skipped: there is no C compiler");
        return;
    }
    let (main, object) = (main.to_str().unwrap(), folder.path().join("k.o"));
    let object = object.to_str().unwrap();
    for row in
        rows().iter().filter(|row| row.get("refused").is_none() && row.path.extension().unwrap() == "c")
    {
        ok(&warpline(&["vectorize", row.path(), "--width", "16", "-o", object]));
        let ours = printed(Path::new("cc"), folder.path(), &[main, object, "-lm"]);
        let theirs = printed(Path::new("cc"), folder.path(), &[main, row.path(), "-lm"]);
        let differs = ours.0.iter().zip(&theirs.0).position(|(a, b)| a != b);
        assert_eq!(differs, None, "{}", row.path());
        let near = |(a, b): (&f64, &f64)| a == b || (a - b).abs() <= 1e-4 * a.abs().max(b.abs());
        assert!(ours.1.iter().zip(&theirs.1).all(near), "{}", row.path());
    }
}

#[test]
fn what_is_left_out_for_threads_is_said() {
    if !has_clang() {
        eprintln!("skipped: there is no clang");
        return;
    }
    let output = warpline(&["run", "filetests/openmp/combined.c"]);
    let text = stderr(&output);
    assert!(
        text.contains("combined.c:8: of `#pragma omp parallel for simd` only `simd` is honoured"),
        "{text}"
    );
    assert!(text.contains("`#pragma omp distribute simd`"), "{text}");
}

/// What `//@ loop` says of distances is what `safelen` says.
#[test]
fn marks_of_loops_bound_the_number_of_lanes_and_promise_what_cannot_be_decided() {
    if !has_clang() {
        eprintln!("skipped: there is no clang");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.c");
    let source = |mark: &str, body: &str| {
        format!(
            "//@ bind x=i32[1009]=iota\n//@ bind out=i32[1009]=zero\n//@ bind n=1001\n\
             void k(const int *restrict x, int *restrict out, int n) {{\n  //@ loop {mark}\n  \
             for (int i = 4; i < n; i++) {body}\n}}\n"
        )
    };
    let run = |mark: &str, body: &str, more: &[&str]| {
        std::fs::write(&file, source(mark, body)).unwrap();
        warpline(&[&["run", file.to_str().unwrap(), "--width", "8"], more].concat())
    };
    let text = ok(&run("safelen 4", "out[i] = out[i - 4] + x[i];", &[]));
    assert!(text.contains(" with 4 lanes") && text.contains("0 mismatches"), "{text}");
    // Nobody can know where these lead.
    let scattered = "out[x[i]] = out[x[i - 1] + 1] + 1;";
    let promised = [run("independent", scattered, &[]), run("", scattered, &["--independent"])];
    for text in promised.map(|output| ok(&output)) {
        assert!(text.contains(" with 8 lanes") && text.contains("0 mismatches"), "{text}");
    }
    assert_eq!(run("", scattered, &[]).status.code(), Some(2));
    let words = stderr(&run("safelen 0", scattered, &[]));
    assert!(words.contains("k.c:5: `safelen` wants a number of iterations"), "{words}");
}

#[test]
fn a_clause_that_is_not_supported_refuses_its_loop_alone() {
    if !has_clang() {
        return println!("skipped: there is no clang");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.c");
    let text = "void f(int n, float *restrict a, const float *restrict b) {\n  #pragma omp simd\n  for (int i = 0; i \
                < n; \
                i++) a[i] = b[i] + 1;\n  #pragma omp simd if(n > 5)\n  for (int i = 0; i < n; i++) a[i] = b[i] + \
                2;\n}\n";
    std::fs::write(&file, text).unwrap();
    let (file, object) = (file.to_str().unwrap(), folder.path().join("k.o"));
    for cpu in ["x86-64", "x86-64-v2,x86-64"] {
        let words = ["vectorize", file, "-o", object.to_str().unwrap(), "--cpu", cpu];
        let output = warpline(&words);
        let (text, errors) = (ok(&output), stderr(&output));
        assert!(text.contains("loop at k.c:3 vectorized"), "{text}");
        assert!(
            errors.contains("warning: ") && errors.contains("k.c:4: ") && errors.contains("`if(n > 5)`"),
            "{errors}"
        );
        assert!(errors.contains("it stays as it is"), "{errors}");
        assert_eq!(warpline(&[&words[..], &["--require-all"]].concat()).status.code(), Some(1));
    }
    let run =
        warpline(&["run", file, "--bind", "n=100", "--bind", "a=f32[100]=zero", "--bind", "b=f32[100]=iota"]);
    assert!(
        ok(&run).contains("0 mismatches") && stderr(&run).contains("it stays as it is"),
        "{}",
        stderr(&run)
    );
}
