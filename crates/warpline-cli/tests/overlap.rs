//! Loops over memory that overlaps, at every distance and with every number of iterations around that of lanes: what
//! is left over behind whole groups may be executed once more only where that computes the same.

mod common;
#[path = "common/linked.rs"]
mod linked;

use std::path::Path;

use common::{has_clang, ok, warpline};
use linked::link_and_run;

/// Functions of a file that is included: `NAME` is one that is vectorized, or the judge.
const KERNELS: &str = "
#include <stdint.h>
typedef uint8_t u8; typedef uint16_t u16;
void NAME(plain)(u8 *o, const u8 *a, int n) { for (int i = 0; i < n; i++) o[i] = a[i] * 3 + 1; }
void NAME(stencil)(u8 *o, const u8 *a, int n) { for (int i = 1; i < n; i++) o[i] = a[i - 1] + a[i + 1]; }
void NAME(some)(u8 *o, const u8 *a, int n) { for (int i = 0; i < n; i++) if (a[i] & 1) o[i] += a[i] + 7; }
void NAME(two)(u8 *o, const u8 *a, int n) {
  for (int i = 0; i < n; i++) { o[i] = a[i] + 7; o[i + 100] = a[i + 3] ^ 5; }
}
void NAME(pairs)(u8 *o, const u8 *a, int n) {
  for (int i = 0; i < n; i++) { o[2 * i] = a[i] + 7; o[2 * i + 1] = a[i + 300] ^ 5; }
}
void NAME(apart)(u8 *o, const u8 *a, int n) { for (int i = 0; i < n; i++) o[i] = a[2 * i] - a[2 * i + 1]; }
void NAME(swapped)(u8 *o, const u8 *a, int n) {
  for (int i = 0; i < n; i++) { u8 t = o[3 * i]; o[3 * i] = a[3 * i + 2]; o[3 * i + 2] = t; }
}
void NAME(wider)(u16 *o, const u8 *a, int n) { for (int i = 0; i < n; i++) o[i] = a[i] * 257; }
void NAME(narrower)(u8 *o, const u16 *a, int n) { for (int i = 0; i < n; i++) o[i] = a[i] >> 3; }
void NAME(back)(u8 *o, const u8 *a, int n) { for (int i = 0; i < n; i++) o[i] = a[n - 1 - i] + 1; }
void NAME(far)(u8 *o, const u8 *a, int n) { for (int i = 0; i < n; i++) o[i + 80] = a[i] + 1; }
void NAME(counted)(u8 *o, const u8 *a, int n) { int k = 0; for (int i = 0; i < n; i++) { o[i] = a[i] + k; k += 3; } }
void NAME(rows)(u8 *o, const u8 *a, int n) {
  int w = 2 + (n & 3);
  for (int i = 0; i < n; i++) for (int j = 0; j < w; j++) o[i * w + j] = o[i * w + j] * 3 + j;
}
void NAME(looked_up)(u8 *o, const u8 *a, int n) { for (int i = 0; i < n; i++) o[i] = a[a[i]]; }
void NAME(mean)(u8 *o, const u8 *a, int n) {
  for (int i = 0; i < n; i++) { int s = 0; for (int k = 0; k < 3; k++) s += a[i + k]; o[i] = s / 3; }
}
struct head { u8 count, at, shift, side; };
#define HEAD struct head *h = (struct head *)a; h->count = n; h->at &= 63; h->side &= 15
void NAME(head)(u8 *o, const u8 *a, int n) { HEAD; for (int i = 0; i < h->count; i++) o[i] = i + 3; }
void NAME(less)(u8 *o, const u8 *a, int n) { HEAD; for (int i = 0; i < h->count - 2; i++) o[i] = o[i] * 3; }
void NAME(half)(u8 *o, const u8 *a, int n) { HEAD; for (int i = 0; i < h->count / 2; i++) o[2 * i] = i; }
void NAME(shifted)(u8 *o, const u8 *a, int n) {
  HEAD; int i; for (i = 0; i < h->count; i++) o[i + h->at] = o[i + 300] ^ h->shift; o[i] = 9;
}
void NAME(chained)(u8 *o, const u8 *a, int n) { HEAD; for (int i = 0; i < n; i++) o[i] = o[i + a[4 + h->side]] + 1; }
void NAME(squares)(u8 *o, const u8 *a, int n) {
  HEAD; for (int y = 0; y < (n & 15); y++) for (int x = 0; x < (h->side & 15); x++) o[y * h->side + x] += y ^ x;
}
void NAME(summed)(u8 *o, const u8 *a, int n) {
  HEAD; int s = 0; for (int i = 0; i < h->count; i++) { s += o[i + h->at]; o[i] = i ^ 5; } o[1000] = s;
}
void NAME(checked)(u8 *o, const u8 *a, int n) {
  HEAD;
  for (unsigned i = 0; i < (unsigned)n; i++) {
    if (i >= 1024u - h->count) __builtin_trap();
    o[i + h->at] = o[i] + 1;
  }
}
void NAME(down)(u8 *o, const u8 *a, int n) { HEAD; for (int i = n; i > h->at; i--) o[i] = i; }
void NAME(held)(u8 *o, const u8 *a, int n) {
  int *c = (int *)(a + 64); for (int i = 0; i < n; i++) { *c += a[i]; o[i] = *c; }
}
void NAME(most)(u8 *o, const u8 *a, int n) {
  int *c = (int *)(o + 32); for (int i = 0; i < n; i++) { *c = *c > a[i] ? *c : a[i]; o[i + 100] ^= a[i]; }
}
void NAME(hashed)(u8 *o, const u8 *a, int n) {
  unsigned *c = (unsigned *)(a + 40); for (int i = 0; i < n; i++) *c = *c * 31 + a[i]; o[0] = 1;
}
void NAME(kept)(u8 *o, const u8 *a, int n) {
  int *c = (int *)(o - 32); *c = 0; for (int i = 0; i < n; i++) { u8 x = a[i]; if (x & 1) o[(*c)++] = x; }
}
__attribute__((noinline)) int *NAME(cell)(u8 *p) { int *c = (int *)(p - 32); *c = 3; return c; }
void NAME(pushed)(u8 *o, const u8 *a, int n) {
  int *c = NAME(cell)(o); for (int i = 0; i < n; i++) { u8 x = a[i]; if (x & 1) o[(*c)++] = x; }
}
";

/// Runs each function and its judge on the same bytes, and counts how often they leave others.
const MAIN: &str = "
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NAME(x) judge_##x
#include \"kernels.inc\"
#define ALL X(plain, 1, 1) X(stencil, 1, 1) X(some, 1, 1) X(two, 1, 1) X(pairs, 1, 1) X(apart, 1, 1) X(swapped, 1, 1) \\
  X(wider, 2, 1) X(narrower, 1, 2) X(back, 1, 1) X(far, 1, 1) X(counted, 1, 1) \\
  X(rows, 1, 1) X(looked_up, 1, 1) X(mean, 1, 1) X(head, 1, 1) X(less, 1, 1) X(half, 1, 1) X(shifted, 1, 1) \\
  X(chained, 1, 1) X(squares, 1, 1) X(summed, 1, 1) X(down, 1, 1) X(checked, 1, 1) \\
  X(held, 1, 4) X(most, 4, 1) X(hashed, 1, 4) X(kept, 4, 1) X(pushed, 4, 1)
typedef void any(void *, const void *, int);
#define X(x, o, a) void x();
ALL
#undef X
static struct { const char *name; any *judge, *vector; int align; } all[] = {
#define X(x, o, a) { #x, (any *)judge_##x, (any *)x, o > a ? o : a },
ALL
};
static _Alignas(4) uint8_t start[4096], found[4096], expected[4096];
int main(void) {
  long runs = 0, wrong = 0;
  for (int i = 0; i < 4096; i++) start[i] = rand() >> 7;
  for (unsigned k = 0; k < sizeof all / sizeof *all; k++)
    for (int n = 0; n < 200; n += n < 80 ? 1 : 17)
      for (int d = -140; d <= 900; d += d < 90 ? 1 : 53) {
        if (d % all[k].align) continue;
        memcpy(found, start, 4096);
        memcpy(expected, start, 4096);
        all[k].vector(found + 1024 + d, found + 1024, n);
        all[k].judge(expected + 1024 + d, expected + 1024, n);
        runs++;
        if (memcmp(found, expected, 4096) && wrong++ < 3) printf(\"%s: n %d, distance %d\\n\", all[k].name, n, d);
      }
  printf(\"%ld runs, %ld wrong\\n\", runs, wrong);
  return 0;
}
";

/// What clang is told: types say nothing of memory.
const OWN: [&str; 2] = ["-fno-strict-aliasing", "-w"];

/// Makes `m.o` of a folder's `m.c`: what is printed.
#[track_caller]
fn vectorized(folder: &Path, options: &[&str]) -> String {
    let [source, object] = ["m.c", "m.o"].map(|name| folder.join(name));
    let files = ["vectorize", source.to_str().unwrap(), "-o", object.to_str().unwrap()];
    let output = warpline(&[&files[..], options, &["--"], &OWN].concat());
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    ok(&output) + &errors
}

#[test]
fn loops_of_included_files_over_memory_that_overlaps_leave_what_the_scalar_program_leaves() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("kernels.inc"), KERNELS).unwrap();
    std::fs::write(at("m.c"), "#define NAME(x) x\n#include \"kernels.inc\"\n").unwrap();
    for options in [&["--width", "16"][..], &["--width", "64"], &["--cpu", "x86-64-v2"], &[]] {
        let printed = vectorized(folder.path(), options);
        let vectorized =
            printed.lines().find_map(|line| line.split_once(" loops vectorized")?.0.parse().ok());
        assert!(vectorized.is_some_and(|n: u32| n >= 24), "{printed}");
        let Some(found) = link_and_run(folder.path(), MAIN, &OWN) else { return };
        assert!(found.ends_with(" runs, 0 wrong\n"), "{options:?}: {found}");
    }
}

/// What is loaded before a loop in an iteration that comes to change what says where that is: pointers that an
/// iteration stores first, and indices that later ones store.
const REDIRECTED: &str = "
void redirected(unsigned char ***slot, unsigned char **to, unsigned char *q, unsigned char *o, int n) {
  for (int i = 0; i < n; i++) { *to = q; o[i] = (**slot)[i] + 1; }
}
void indexed(int *count, int *restrict t, unsigned char *o, int k) {
  for (int i = 0; i < *count; i++) { o[t[i]] = i; t[i + 64] = k; }
}
";

/// The last index is where the number of iterations is.
const REDIRECTED_MAIN: &str = "
#include <stdio.h>
void redirected(unsigned char ***slot, unsigned char **to, unsigned char *q, unsigned char *o, int n);
void indexed(int *count, int *restrict t, unsigned char *o, int k);
static struct { unsigned char o[4096]; int count; } s;
static int t[1024];
int main(void) {
  static unsigned char q[500], o[500], *inner = q;
  unsigned char **slot = (unsigned char **)1;
  redirected(&slot, (unsigned char **)&slot, (unsigned char *)&inner, o, 500);
  int wrong = 0, last = 0;
  for (int i = 0; i < 500; i++) wrong += o[i] != 1;
  s.count = 500;
  for (int i = 0; i < 1024; i++) t[i] = i;
  indexed(&s.count, t, s.o, 4096);
  for (int i = 0; i < 1024; i++) if (t[i] == 4096) last = i;
  printf(\"%d wrong, count %d, last %d\\n\", wrong, s.count, last);
  return 0;
}
";

#[test]
fn what_iterations_change_that_says_where_they_load_is_not_followed_before_the_loop() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("m.c"), REDIRECTED).unwrap();
    for width in ["8", "16"] {
        vectorized(folder.path(), &["--loop", "all", "--width", width]);
        let Some(found) = link_and_run(folder.path(), REDIRECTED_MAIN, &OWN) else { return };
        assert_eq!(found, "0 wrong, count 256, last 320\n");
    }
}
