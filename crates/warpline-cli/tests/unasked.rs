//! Sources that say nothing of lanes, loops or data, as they are before anybody has heard of warpline: what `run`,
//! `vectorize` and `init` do with them.

mod common;

use std::path::PathBuf;
use std::process::Output;

use common::{command, has_clang, ok, stderr, stdout, warpline};

/// A folder with one source, in which the program runs.
struct Place(tempfile::TempDir, &'static str);

impl Place {
    fn new(name: &'static str, text: &str) -> Place {
        let place = Place(tempfile::tempdir().unwrap(), name);
        std::fs::write(place.path(name), text).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.path(self.1)).unwrap()
    }

    fn run(&self, verb: &str, more: &[&str]) -> Output {
        let all: Vec<&str> = [verb, self.1].into_iter().chain(more.iter().copied()).collect();
        command(&all).current_dir(self.0.path()).output().unwrap()
    }
}

const SAXPY: &str = "void saxpy(float *y, const float *x, float a, int n) {
    for (int i = 0; i < n; i++)
        y[i] += a * x[i];
}
";

#[test]
fn the_loops_of_a_plain_function_are_vectorized_and_run_on_data_that_is_made_up_and_named() {
    if !has_clang() {
        return;
    }
    let place = Place::new("saxpy.c", SAXPY);
    let text = ok(&place.run("run", &[]));
    assert!(text.contains("saxpy: loop at saxpy.c:2 vectorized with"), "{text}");
    assert!(text.contains("0 mismatches"), "{text}");
    let note =
        "data was made up: --bind y=f32[16000]=random --bind x=f32[16000]=random --bind a=0.5 --bind n=4000";
    assert!(text.contains(note), "{text}");
    // What is said is used, and what is said to have been passed is what one can say.
    let bound = ["--bind", "n=100", "--bind", "a=2", "--bind", "x=f32[100]=iota", "--bind", "y=f32[100]"];
    assert!(!ok(&place.run("run", &bound)).contains("made up"));
    ok(&place.run("vectorize", &["-o", "saxpy.o"]));
}

#[test]
fn a_sum_that_openmp_allows_is_run_and_explained() {
    if !has_clang() {
        return;
    }
    let place = Place::new(
        "norm.c",
        "float norm(int n, const float *x) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++)
        if (x[i] > 0.5f) sum += x[i] * x[i];
    return sum;
}
",
    );
    let text = ok(&place.run("run", &[]));
    assert!(text.contains("norm: loop at norm.c:4") && text.contains("0 mismatches"), "{text}");
    let explained = place.run("explain", &["--line", "5"]);
    assert!(ok(&explained).contains("lane_index") && stderr(&explained).is_empty(), "{}", stdout(&explained));
}

#[test]
fn each_function_of_a_file_is_run_and_what_cannot_be_is_said_without_ending_the_rest() {
    if !has_clang() {
        return;
    }
    let place = Place::new(
        "many.c",
        "void fib(long *a, int n) { for (int i = 2; i < n; i++) a[i] = a[i - 1] * a[i - 1] + a[i - 2]; }
void rows(float **r, int n) { for (int i = 0; i < n; i++) r[i][0] = 1; }
void far(int *o, int n) { for (int i = 0; i < n; i++) o[i * 5000L] = i; }
void matmul(int n, const float *a, const float *b, float *c) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int k = 0; k < n; k++) s += a[i * n + k] * b[k * n + j];
            c[i * n + j] = s;
        }
}
int total(const int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
int main(void) { long a[9] = {0, 1}; fib(a, 9); return (int)a[8]; }
",
    );
    let made = place.run("run", &[]);
    let (text, said) = (stdout(&made), stderr(&made));
    assert!(made.status.success(), "{said}");
    // The sum over k is kept in order, so the loop around it is the one.
    assert!(text.contains("matmul: loop at many.c:6") && text.contains("total: loop at many.c:12"), "{text}");
    assert!(said.contains("`fib` is not run: the loop at many.c:1 cannot be vectorized"), "{said}");
    assert!(said.contains("`rows` is not run: --bind r: no data can be made up"), "{said}");
    assert!(said.contains("`far` is not run: --bind: data that was made up does not fit"), "{said}");
    assert!(!said.contains("`main`"), "{said}");
}

#[test]
fn what_is_said_of_a_nest_is_about_the_loop_that_was_vectorized_or_else_the_innermost() {
    if !has_clang() {
        return;
    }
    let place = Place::new(
        "nest.c",
        "void count(int *o, int w, int h) {
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            unsigned v = x * 77 + y, k = 0;
            while (v > 1 && k < 90) {
                v = v & 1 ? v * 3 + 1 : v / 2;
                k++;
            }
            o[y * w + x] = k;
        }
}
",
    );
    let made = place.run("vectorize", &["-o", "nest.o", "--width", "8"]);
    let text = ok(&made);
    assert!(text.contains("loop at nest.c:3 vectorized with 8 lanes"), "{text}");
    assert_eq!(stderr(&made).matches("cannot be vectorized").count(), 0, "{}", stderr(&made));
}

#[test]
fn loops_in_which_the_program_may_end_stay_unless_they_are_marked() {
    if !has_clang() {
        return;
    }
    let source = "#include <stdlib.h>
static void die(int code) { if (code > 1) exit(code); }
void clear(int *a, int n) {
    for (int i = 0; i < n; i++) {
        if (a[i] < 0) die(3);
        a[i] = 0;
    }
}
void check(int *a, int n) {
    for (int i = 0; i < n; i++) {
        if (a[i] < 0) abort();
        a[i] = 0;
    }
}
";
    let place = Place::new("end.c", source);
    let made = place.run("vectorize", &["-o", "end.o", "--width", "8"]);
    let (text, said) = (ok(&made), stderr(&made));
    assert!(text.contains("check: loop at end.c:10 vectorized with 8 lanes"), "{text}");
    assert!(said.contains("the loop at end.c:4 is not marked, and a call in end.c:"), "{said}");
    let marked = Place::new("end.c", &source.replace("    for", "    //@ loop\n    for"));
    let text = ok(&marked.run("vectorize", &["-o", "end.o", "--width", "8"]));
    assert!(text.contains("2 loops vectorized"), "{text}");
}

#[test]
fn init_writes_what_run_would_guess_and_nothing_unless_it_is_wanted() {
    if !has_clang() {
        return;
    }
    let place = Place::new("saxpy.c", SAXPY);
    let shown = ok(&place.run("init", &[]));
    assert!(shown.contains("+     //@ loop") && shown.contains("nothing is written"), "{shown}");
    assert_eq!(place.text(), SAXPY);
    ok(&place.run("init", &["--yes"]));
    let text = ok(&place.run("run", &[]));
    assert!(text.contains("0 mismatches") && !text.contains("made up"), "{text}");
    let before = place.text();
    assert!(before.starts_with("//@ bind y=f32[16000]=random\n"), "{before}");
    assert!(ok(&place.run("init", &["--yes"])).contains("it has directives already"));
    assert_eq!(place.text(), before);
}

#[test]
fn kernels_of_opencl_run_without_a_word_with_barriers_and_without() {
    if !has_clang() {
        return;
    }
    let place = Place::new(
        "two.cl",
        "__kernel void add(__global float *o, __global const float *a, int n) {
    int i = get_global_id(0);
    if (i < n) o[i] += a[i];
}
__kernel void sum(__global float *o, __global const float *a, __local float *t) {
    int l = get_local_id(0);
    t[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) { float s = 0; for (int k = 0; k < get_local_size(0); k++) s += t[k]; o[get_group_id(0)] = s; }
}
",
    );
    let text = ok(&place.run("run", &[]));
    assert!(text.contains("add: vectorized with") && text.contains("made up: --range 0..4000"), "{text}");
    assert!(text.contains("sum: ") && text.contains("--bind t=local:f32[256]"), "{text}");
    ok(&place.run("init", &["--yes"]));
    assert!(!ok(&place.run("run", &[])).contains("made up"));
}

#[test]
fn a_function_with_an_index_is_run_as_a_kernel_with_a_note() {
    if !has_clang() {
        return;
    }
    let place = Place::new("f.c", "float f(const float *x, int i) { return x[i] * x[i] + 1; }\n");
    let made = place.run("run", &[]);
    assert!(ok(&made).contains("f: vectorized with"), "{}", stdout(&made));
    assert!(stderr(&made).contains("`i` is taken for the index of `f`"), "{}", stderr(&made));
}

#[test]
fn slices_of_rust_get_lengths_that_fit() {
    let place = Place::new(
        "k.rs",
        "#[unsafe(no_mangle)]\npub fn scale(x: &[f32], y: &mut [f32], k: f32) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = x * k;
    }
}
",
    );
    let text = ok(&place.run("run", &[]));
    assert!(text.contains("scale: loop at k.rs:3") && text.contains("--bind x.1=4000"), "{text}");
    ok(&place.run("init", &["--yes"]));
    assert!(!ok(&place.run("run", &[])).contains("made up"));
}

#[test]
fn the_doctor_names_what_there_is_and_what_the_rest_costs() {
    let all = ok(&warpline(&["doctor"]));
    assert!(all.contains("LLVM") && all.contains("CPU") && all.contains("SLEEF"), "{all}");
    let without = command(&["doctor", "--format", "json"]).env("CLANG", "/nowhere/clang").output().unwrap();
    let all: serde_json::Value = serde_json::from_str(&ok(&without)).unwrap();
    let clang = all.as_array().unwrap().iter().find(|one| one["name"] == "clang").unwrap();
    assert_eq!(clang["found"], false);
    let broken = command(&["doctor"]).env("WARPLINE_LLVM", "/nowhere/libLLVM.so").output().unwrap();
    assert_eq!(broken.status.code(), Some(1), "{}", stdout(&broken));
    assert!(stdout(&broken).contains("error   LLVM"), "{}", stdout(&broken));
}

#[test]
fn completions_and_manual_pages_know_every_verb() {
    let script = ok(&warpline(&["completions", "bash"]));
    let place = tempfile::tempdir().unwrap();
    ok(&warpline(&["man", "-o", place.path().to_str().unwrap()]));
    for verb in ["vectorize", "run", "analyze", "explain", "constant-time", "lint", "init", "doctor"] {
        assert!(script.contains(verb), "{verb}");
        let page = std::fs::read_to_string(place.path().join(format!("warpline-{verb}.1"))).unwrap();
        assert!(page.contains(".SH OPTIONS"), "{verb}");
    }
}

/// rustc leaves out public functions that are small, since other crates would inline them.
#[test]
fn an_ordinary_file_in_rust_has_all_of_its_functions_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let source = "fn steps(n: u32) -> u32 {
    let (mut n, mut k) = (n, 0);
    while n > 1 {
        n = if n % 2 == 0 { n / 2 } else { (3 * n + 1) % 1000 };
        k += 1;
    }
    k
}
pub fn all(out: &mut [u32]) {
    for o in out.iter_mut() {
        *o = steps(*o);
    }
}
fn main() {
    let mut out = [1, 2, 3];
    all(&mut out);
    println!(\"{out:?}\");
}
";
    std::fs::write(folder.path().join("steps.rs"), source).unwrap();
    let mut run = std::process::Command::new(env!("CARGO_BIN_EXE_warpline"));
    let output =
        run.args(["run", "steps.rs", "--function", "all"]).current_dir(folder.path()).output().unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(said.starts_with("all: loop at steps.rs:10 vectorized"), "{said}{errors}");
    assert!(said.contains("0 mismatches") && errors.is_empty(), "{said}{errors}");
}

/// What a stranger writes first; of each, what the program says.
#[test]
fn fresh_files_of_strangers_run_or_are_told_what_to_do() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let output = warpline(&["run", path.to_str().unwrap()]);
        (output.status.code().unwrap(), format!("{}{}", stdout(&output), stderr(&output)))
    };

    // Nothing says how large the matrices are: what does not fit is made larger.
    let (code, said) = run(
        "matmul.c",
        "enum { N = 300 };\nvoid matmul(double a[N][N], double b[N][N], double c[N][N]) {\n  for (int i = 0; i < N; i++)\n    for \
         (int j = 0; j < N; j++) {\n      double sum = 0;\n      for (int k = 0; k < N; k++) sum += a[i][k] * b[k][j];\n      \
         c[i][j] = sum;\n    }\n}\n",
    );
    assert!(code == 0 && said.contains("0 mismatches") && said.contains("a=f64[1048576]"), "{said}");

    // What `init` writes is what fits.
    let path = folder.path().join("matmul.c");
    ok(&warpline(&["init", path.to_str().unwrap(), "--yes"]));
    assert!(std::fs::read_to_string(&path).unwrap().contains("//@ bind a=f64[1048576]=random"));
    assert!(ok(&warpline(&["run", path.to_str().unwrap()])).contains("0 mismatches"));

    // Structures take more room than a slice has elements; a program's beginning is not run.
    let (code, said) = run(
        "length.rs",
        "pub struct Point { pub x: f64, pub y: f64 }\npub fn longest(points: &[Point]) -> f64 {\n    let mut most = 0.0;\n    for p \
         in points {\n        let d = p.x * p.x + p.y * p.y;\n        if d > most { most = d; }\n    }\n    most\n}\nfn main() {\n    \
         let all: Vec<Point> = (0..9).map(|i| Point { x: i as f64, y: 0.0 }).collect();\n    println!(\"{}\", \
         longest(&all));\n}\n",
    );
    assert!(code == 0 && said.contains("longest: loop at") && said.contains("0 mismatches"), "{said}");
    assert!(!said.contains("is not linked"), "{said}");

    let (code, said) = run(
        "find.c",
        "const char *find(const char *s, char c) {\n  for (; *s; s++)\n    if (*s == c) return s;\n  return 0;\n}\n",
    );
    assert!(code == 0 && said.contains("find: loop at find.c:2") && said.contains("0 mismatches"), "{said}");

    let (code, said) = run(
        "distance.cl",
        "kernel void away(global const float3 *p, global float *out, float3 from) {\n  int i = get_global_id(0);\n  out[i] = \
         distance(p[i], from);\n}\n",
    );
    assert!(
        code == 2 && said.contains("`from` is a vector, and `run` passes numbers and pointers"),
        "{said}"
    );
}

/// What people pass in C++ and Rust: vectors, strings, spans, objects with a size and an array, results that are places.
#[test]
fn vectors_strings_and_objects_with_arrays_are_made_up_and_written_down_as_they_are_read() {
    if !has_clang() {
        return;
    }
    let place = Place::new(
        "shop.cpp",
        "#include <vector>
#include <string>
struct Price { double value; int kind, number; };
void raise(std::vector<Price> &all, double by) {
    for (auto &price : all)
        if (price.kind > 2) price.value *= by;
}
long spaces(const std::string &text) {
    long n = 0;
    for (char c : text) n += c == ' ';
    return n;
}
struct Image {
    int width, height;
    float *pixels;
    void darken();
};
void Image::darken() {
    for (int i = 0; i < width * height; i++) pixels[i] = pixels[i] > 0.25f ? pixels[i] - 0.25f : 0;
}
const float *first(const std::vector<float> &all, float least) {
    for (const float &x : all)
        if (x > least) return &x;
    return nullptr;
}
int nested(const std::vector<std::vector<int>> &rows) {
    int sum = 0;
    for (auto &row : rows)
        for (int x : row) sum += x;
    return sum;
}
",
    );
    let made = place.run("run", &[]);
    let (text, said) = (stdout(&made), stderr(&made));
    assert!(made.status.success(), "{said}");
    assert_eq!(text.matches("; 0 mismatches").count(), 4, "{text}{said}");
    assert!(text.contains("--bind 'all={f64[15120]=random,end}'"), "{text}");
    assert!(text.contains("--bind 'this={i32:200,i32:200,f32[160000]=random}'"), "{text}");
    assert!(said.contains("nested") && said.contains("leads to pointers to pointers"), "{said}");

    // What is said can be written, and what is wrong with it is said.
    let raise = ["--function", "raise", "--bind", "by=2", "--bind"];
    let bind = |all: &'static str| place.run("run", &[&raise[..], &[all]].concat());
    let made = bind("all={f64[20]=0..9,end,end}");
    assert!(made.status.success() && stdout(&made).contains("; 0 mismatches"), "{}", stderr(&made));
    // The last price is not whole: the loop goes past the end.
    assert_eq!(bind("all={f64[21]=0..9,end,end}").status.code(), Some(1));
    let made = bind("all={f64[20]=0..9}");
    assert!(made.status.code() == Some(1) && !stdout(&made).contains("; 0 mismatches"), "{}", stdout(&made));
    assert!(stderr(&bind("all={end}")).contains("which stands before it"));

    assert!(place.run("init", &["--yes"]).status.success());
    let written = place.text();
    assert!(written.contains("//@ bind all={f32[15120]=random,end}"), "{written}");
    // The first loop is not marked: it stays scalar.
    let made = place.run("run", &[]);
    assert_eq!(stdout(&made).matches("; 0 mismatches").count(), 3, "{}{}", stdout(&made), stderr(&made));

    let place = Place::new(
        "points.rs",
        "pub fn normalize(points: &mut Vec<[f32; 3]>) {
    for p in points.iter_mut() {
        let length = (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]).sqrt();
        if length > 0.0 { p[0] /= length; p[1] /= length; p[2] /= length; }
    }
}
pub fn above(values: &[i32], least: i32) -> usize {
    values.iter().filter(|&&x| x > least).count()
}
",
    );
    let made = place.run("run", &[]);
    let text = stdout(&made);
    assert!(text.matches("; 0 mismatches").count() == 2, "{text}{}", stderr(&made));
    // A parameter of which rustc takes the address keeps its name.
    assert!(text.contains("--bind least=2000"), "{text}");
}

#[test]
fn updates_of_a_histogram_are_no_calls_that_somebody_made() {
    if !has_clang() {
        return;
    }
    let place = Place::new(
        "histogram.c",
        "void count(const unsigned char *p, int n, int *h) {\n  for (int i = 0; i < n; i++) h[p[i]]++;\n}\n",
    );
    let said = stderr(&place.run("vectorize", &["-o", "out.o", "--cpu", "x86-64-v4"]));
    let said = said + &stdout(&place.run("vectorize", &["-o", "out.o", "--cpu", "x86-64-v4"]));
    assert!(said.contains("updates of memory that lanes may share"), "{said}");
    let forced = ["-o", "out.o", "--cpu", "x86-64-v4", "--width", "8", "--remarks", "all"];
    let forced = stderr(&place.run("vectorize", &forced));
    assert!(forced.contains("is updated for one lane after the other"), "{forced}");
    assert!(!(said + &forced).contains("piece"), "{forced}");
}

#[test]
fn what_a_build_knows_and_the_command_line_does_not_is_said() {
    if !has_clang() {
        return;
    }
    let place = Place::new("flags.cpp", "#include \"parts/none.h\"\n");
    assert!(stderr(&place.run("run", &[])).contains("hint: flags of your build"));
    let place = Place::new(
        "span.cpp",
        "#include <vector>\n#include <span>\nint f(std::span<int> x) { return x[0]; }\n",
    );
    let said = stderr(&place.run("run", &["-std=c++17"]));
    assert!(said.contains("hint: a newer standard may have it: write -std=c++20"), "{said}");
    let place = Place::new("two.c", "int one(int x) { return x; }\nint two(int x) { return x + x; }\n");
    let said = stderr(&place.run("run", &[]));
    assert!(
        said.contains("nothing to vectorize: it has no loop") && said.contains("it has one, two"),
        "{said}"
    );
    let place = Place::new("main.rs", "fn main() {}\n");
    assert!(
        stderr(&place.run("run", &[]))
            .contains("nothing to vectorize: it has no loop, and its only function")
    );
    let place = Place::new("hidden.c", "static int one(int x) { return x; }\n");
    assert!(stderr(&place.run("run", &[])).contains("`static` and `inline` ones"));
}

#[test]
fn lanes_of_a_kernel_are_drawn_and_of_nothing_else() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let kernel = "//@ args i=index\n//@ range 0..64\n//@ bind out=i32[64]=zero\nvoid f(int i, int *out) {\n  if (i < 3)\n    \
                  out[i] = i;\n}\n";
    std::fs::write(path("kernel.c"), kernel).unwrap();
    ok(&warpline(&["run", &path("kernel.c"), "--width", "8", "--draw-lanes", &path("lanes.svg")]));
    let drawn = std::fs::read_to_string(path("lanes.svg")).unwrap();
    assert!(drawn.contains("f: the first 8 lanes") && drawn.contains("out[i] = i;"), "{drawn}");
    // The line of the store: three of eight lanes.
    let (_, store) = drawn.split_once("out[i] = i;").unwrap();
    let store = store.split("<text").next().unwrap();
    assert_eq!((store.matches("#2f6db5").count(), store.matches("#e6ebf0").count()), (3, 5), "{drawn}");

    std::fs::write(path("loop.c"), "void g(int *x, int n) { for (int i = 0; i < n; i++) x[i] *= 2; }\n")
        .unwrap();
    let refused = warpline(&["run", &path("loop.c"), "--draw-lanes", &path("none.svg")]);
    assert!(!refused.status.success() && stderr(&refused).contains("this is a loop"), "{}", stderr(&refused));
}

#[test]
fn headers_from_other_folders_are_the_users_and_those_of_the_system_are_not() {
    if !has_clang() {
        return;
    }
    let place = Place::new("only.c", "#include \"scale.h\"\n#include \"dot.h\"\n");
    for (folder, name, text) in [
        ("lib", "scale.h", "void scale(float *x, int n) { for (int i = 0; i < n; i++) x[i] *= 3; }\n"),
        (
            "sys",
            "dot.h",
            "int dot(int *x, int n) { int s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }\n",
        ),
    ] {
        let folder = place.path(folder);
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join(name), text).unwrap();
    }
    let app = place.path("app");
    std::fs::create_dir(&app).unwrap();
    std::fs::rename(place.path("only.c"), app.join("only.c")).unwrap();
    let run = |words: &[&str]| command(words).current_dir(&app).output().unwrap();
    let flags = ["-I../lib", "-isystem", "../sys"];
    let with = |words: &[&str]| run(&[words, &flags[..]].concat());
    let text = ok(&with(&["run", "only.c"]));
    assert!(text.contains("scale: loop at scale.h:1 vectorized") && !text.contains("dot"), "{text}");
    let text = ok(&with(&["vectorize", "only.c", "-o", "user.o", "-MMD"]));
    assert!(text.contains("scale: loop at scale.h:1 vectorized") && !text.contains("dot"), "{text}");
    ok(&with(&["vectorize", "only.c", "-o", "all.o", "-MD"]));
    let read = |name: &str| std::fs::read(app.join(name)).unwrap();
    let rule = |name: &str| String::from_utf8(read(name)).unwrap();
    assert!(rule("user.d").contains("scale.h") && !rule("user.d").contains("dot.h"), "{}", rule("user.d"));
    assert!(rule("all.d").contains("scale.h") && rule("all.d").contains("dot.h"), "{}", rule("all.d"));
    // Whatever is listed, the same code is made.
    assert_eq!(read("user.o"), read("all.o"));
    // A line is one of the input, unless it has no loop there.
    assert!(ok(&with(&["run", "only.c", "--loop", "1"])).contains("scale: loop at scale.h:1"));
}

#[test]
fn a_function_without_loops_is_no_kernel_that_takes_the_place_of_itself() {
    if !has_clang() {
        return;
    }
    let place =
        Place::new("roll.c", "#include <stdlib.h>\nint roll(int sides) { return rand() % sides + 1; }\n");
    for verb in ["run", "vectorize"] {
        let more: &[&str] = if verb == "run" { &[] } else { &["-o", "roll.o"] };
        let made = place.run(verb, more);
        let said = stderr(&made);
        assert_eq!(made.status.code(), Some(2), "{said}");
        assert!(
            said.contains("nothing says that `roll` is a kernel") && said.contains("--loop all"),
            "{said}"
        );
    }
    assert!(!place.path("roll.o").exists());
    ok(&place.run("vectorize", &["--loop", "all", "-o", "roll.o"]));
    let object = std::fs::read(place.path("roll.o")).unwrap();
    assert!(object.windows(6).any(|bytes| bytes == b"\0roll\0"));
}

#[test]
fn a_name_that_a_library_has_too_is_the_users() {
    if !has_clang() {
        return;
    }
    let place = Place::new(
        "map.cpp",
        "#include <map>\n#include <vector>\nstd::map<int, int> table;
void map(std::vector<float> &v, float k) {
    for (auto &x : v) x = x > k ? x * k : x / k;
}
namespace a { int twice(int x) { return x + x; } }
namespace b { int twice(int x) { return x * 2; } }
",
    );
    assert!(ok(&place.run("run", &["--function", "map"])).contains("map.cpp:5"));
    let said = stderr(&place.run("run", &["--function", "twice"]));
    assert!(said.contains("may be `a::twice(int)` or `b::twice(int)`: write the whole name"), "{said}");
}

#[test]
fn what_allocates_is_not_run_with_one_warning_for_each_thing() {
    if !has_clang() {
        return;
    }
    let place = Place::new(
        "h.cpp",
        "#include <vector>\n#include <cstdint>
std::vector<int> histogram(const std::vector<uint8_t> &image) {
    std::vector<int> h(256, 0);
    for (auto p : image) h[p]++;
    return h;
}
double mean(const std::vector<double> &v) {
    double s = 0;
    for (double d : v) s += d;
    return s / v.size();
}
",
    );
    let made = place.run("run", &[]);
    let (text, said) = (ok(&made), stderr(&made));
    assert!(said.contains("it allocates memory, which a run of a single function does not do"), "{said}");
    assert_eq!(said.matches("the loop at h.cpp:5 stays scalar").count(), 1, "{said}");
    assert!(text.contains("the loop at h.cpp:10 stays scalar") && text.contains("`--any-order`"), "{text}");
    // The only function is not refused twice.
    let place = Place::new(
        "f.c",
        "int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }
int main(void) {
    for (int i = 0; i < 9; i++) f(i);
}
",
    );
    let said = stderr(&place.run("run", &[]));
    assert!(said.contains("calls are nested too deeply") && said.lines().count() == 1, "{said}");
}

#[test]
fn an_analysis_of_which_nothing_is_said_names_what_there_is_to_say() {
    if !has_clang() {
        return;
    }
    let place = Place::new("saxpy.c", SAXPY);
    for (verb, more) in [("analyze", &[][..]), ("explain", &["--line", "3"])] {
        let said = stderr(&place.run(verb, more));
        assert!(said.contains("note: saxpy.c: nothing says what parameters are"), "{verb}: {said}");
    }
    assert_eq!(stderr(&place.run("analyze", &["--loop", "all"])), "");
    let said = stderr(&place.run("lint", &[]));
    assert!(said.contains("--client: say which analysis: there are constants"), "{said}");
}

#[test]
fn a_function_that_does_not_end_is_named() {
    if !has_clang() {
        return;
    }
    let place = Place::new(
        "wait.c",
        "int wait_for(volatile int *x, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += i;
    while (*x != -1) ;
    return s;
}
",
    );
    let made = place.run("run", &["--timeout", "1"]);
    let said = stderr(&made);
    assert_eq!(made.status.code(), Some(1), "{said}");
    assert!(said.contains("of `wait_for`, on data that was made up, did not end within 1 s"), "{said}");
}
