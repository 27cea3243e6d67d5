//! Loops over `int` indices: what is next to each other in memory is loaded and stored together, and only that.

mod common;

use std::path::Path;

use common::{ok, warpline};
use warpline_llvm::has_clang;

/// A stencil; `MARK` stands before the loop.
const STENCIL: &str = "static void step(int x0, int x1, int y0, int y1, int nx, int ny, const float *k, const \
 float *restrict in, float *out) {
  int nxy = nx * ny;
  for (int y = y0; y < y1; ++y) {
MARK
    for (int x = x0; x < x1; ++x) {
      int i = y * nx + x;
#define AT(x, y, z) in[i + (x) + (y) * nx + (z) * nxy]
      out[i] = k[0] * AT(0, 0, 0) + k[1] * (AT(1, 0, 0) + AT(-1, 0, 0) + AT(0, 1, 0) + AT(0, -1, 0) + AT(0, 0, \
       1) + AT(0, 0, -1)) +
               k[2] * (AT(2, 0, 0) + AT(-2, 0, 0) + AT(0, 2, 0) + AT(0, -2, 0) + AT(0, 0, 2) + AT(0, 0, -2)) - out[i];
    }
  }
}
void stencil(int t, int x0, int x1, int y0, int y1, int nx, int ny, const float *k, float *a, float *b) {
  if (t & 1) step(x0, x1, y0, y1, nx, ny, k, a, b);
  else step(x0, x1, y0, y1, nx, ny, k, b, a);
}
";

/// A loop over some numbers of type `int`, wherever they lie: `from` and `to` are shifted, so that `AT(p, x)` is an
/// element of a small array.
const EDGE: &str = "//@ bind from=i32[64]=random
//@ bind to=i32[64]=zero
//@ bind start=0
//@ bind end=0
#define AT(p, x) (*(int *)((unsigned long)(p) + 4ul * (unsigned long)((long)(x) - (long)start)))
void edge(const int *from, int *to, int start, int end) {
#pragma omp simd
  for (LOOP) AT(to, x) = AT(from, x) + 1;
}
";

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The vectorized file as LLVM's text.
fn vectorized(folder: &Path, name: &str, text: &str, cpu: &str) -> String {
    let (file, out) = (write(folder, name, text), folder.join("out.ll"));
    let out = out.to_str().unwrap();
    ok(&warpline(&["vectorize", &file, "--loop", "marked", "--cpu", cpu, "--width", "8", "-o", out]));
    std::fs::read_to_string(out).unwrap()
}

#[track_caller]
fn assert_contiguous(code: &str, of: &str) {
    let apart = |line: &&str| {
        line.contains("@llvm.masked.gather")
            || line.contains("@llvm.masked.scatter")
            || line.contains("shufflevector <8 x float>") && !line.contains("zeroinitializer")
    };
    assert_eq!(code.lines().find(apart), None, "{of}");
    assert!(code.contains("load <8 x float>") && code.contains("store <8 x float>"), "{of}");
}

#[test]
fn neighbours_of_a_stencil_are_loaded_together_however_the_loop_is_marked() {
    if !has_clang() {
        eprintln!("skipped: there is no clang");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for mark in ["#pragma omp simd", "#pragma clang loop vectorize(assume_safety)", "//@ loop"] {
        let text = STENCIL.replace("MARK", mark);
        assert_contiguous(&vectorized(folder.path(), "stencil.c", &text, "x86-64-v3"), mark);
        let cpp = text.replace("restrict", "__restrict");
        assert_contiguous(&vectorized(folder.path(), "stencil.cpp", &cpp, "x86-64-v3"), mark);
        // With mask registers, the group that is not whole is vector code, too.
        for (name, text) in [("stencil.c", &text), ("stencil.cpp", &cpp)] {
            let code = vectorized(folder.path(), name, text, "x86-64-v4");
            assert_contiguous(&code, mark);
            assert!(code.contains("@llvm.masked.load"), "the group that is not whole: {mark}");
        }
    }
}

#[test]
fn loops_at_the_ends_of_the_range_of_numbers_do_what_the_scalar_program_does() {
    if !has_clang() {
        eprintln!("skipped: there is no clang");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let loops = [
        "int x = start; x < end; ++x",
        "int x = start; x < end; x += 3",
        "int x = start + 1; x <= end - 1; ++x",
        "int x = end - 1; x >= start; --x",
        "int x = end; x > start; x -= 2",
    ];
    let (least, greatest) = (i64::from(i32::MIN), i64::from(i32::MAX));
    let bounds = [
        (greatest - 20, greatest),
        (greatest - 45, greatest - 1),
        (least + 1, least + 38),
        (least, least + 40),
        (-19, 18),
        (3, 3),
        (greatest, least + 2),
    ];
    for counted in loops {
        let file = write(folder.path(), "edge.c", &EDGE.replace("LOOP", counted));
        for (start, end) in bounds {
            let (start, end) = (format!("start={start}"), format!("end={end}"));
            let text = ok(&warpline(&["run", &file, "--width", "8", "--bind", &start, "--bind", &end, "-v"]));
            assert!(
                text.contains("checked against the interpreted scalar program"),
                "{counted} {start}: {text}"
            );
            assert!(text.contains("0 mismatches"), "{counted} {start}: {text}");
        }
    }
}
