//! Loops as people write them: what iterations hand on to each other, in the forms that compilers leave, is understood
//! and gives what the program gives. The lane interpreter and the scalar code are the judges, in `run`.

mod common;

use std::path::Path;

use common::{has_clang, ok, warpline};

/// Functions, each with one loop that is vectorized.
const RUST: &str = "
#[unsafe(no_mangle)]
pub fn to_the_end(a: &mut [f32], n: usize) { for i in 0..=n { a[i] = a[i] * 2.0 + 1.0; } }
#[unsafe(no_mangle)]
pub fn from_the_end(a: &mut [i32], n: usize) { for i in (0..=n).rev() { a[i] = a[i] * 3 + i as i32; } }
#[unsafe(no_mangle)]
pub fn between(lo: u32, hi: u32, k: u32) -> u32 { let mut s = 0u32; for i in lo..=hi { s = s.wrapping_add(i ^ k); } s }
#[unsafe(no_mangle)]
pub fn all_bytes(t: &mut [u32; 256]) {
    for i in 0..=255u8 { t[i as usize] = (i as u32).wrapping_mul(0x9e3779b9) >> 7; }
}
#[unsafe(no_mangle)]
pub fn backwards(o: &mut [f32], x: &[f32]) { for (a, b) in o.iter_mut().zip(x.iter().rev()) { *a += *b; } }
#[unsafe(no_mangle)]
pub fn backwards_first(o: &mut [f32], x: &[f32]) { for (b, a) in x.iter().rev().zip(o.iter_mut()) { *a += *b * 0.5; } }
#[unsafe(no_mangle)]
pub fn differences(o: &mut [i32], x: &[i32]) { for (d, w) in o.iter_mut().zip(x.windows(2)) { *d = w[1] - w[0]; } }
#[unsafe(no_mangle)]
pub fn place_of_greatest(x: &[f32]) -> usize {
    let mut best = 0;
    for i in 1..x.len() { if x[i] > x[best] { best = i; } }
    best
}
#[unsafe(no_mangle)]
pub fn least(x: &[i32]) -> i32 { *x.iter().min().unwrap_or(&0) }
#[unsafe(no_mangle)]
pub fn greatest(x: &[u16]) -> u16 { *x.iter().max().unwrap_or(&0) }
#[unsafe(no_mangle)]
pub fn series(n: u32) -> f64 {
    let (mut s, mut sign) = (0.0, 1.0);
    for k in 0..n { s += sign / (2 * k + 1) as f64; sign = -sign; }
    4.0 * s
}
#[unsafe(no_mangle)]
pub fn every_second(o: &mut [f32], x: &[f32]) {
    let mut flip = false;
    for (a, b) in o.iter_mut().zip(x) { *a = if flip { -*b } else { *b }; flip = !flip; }
}
#[unsafe(no_mangle)]
pub fn entropy(p: &[f64]) -> f64 { -p.iter().filter(|v| **v > 0.0).map(|v| v * v.ln()).sum::<f64>() }
#[unsafe(no_mangle)]
pub fn likelihood(p: &[f64]) -> f64 { p.iter().map(|v| 1.0 + v.sqrt()).product() }
#[unsafe(no_mangle)]
pub fn hash(s: &[u8]) -> u32 { s.iter().fold(7, |h: u32, &c| h.wrapping_mul(31).wrapping_add(c as u32)) }
#[unsafe(no_mangle)]
pub fn random(o: &mut [u32], seed: u32) {
    let mut s = seed;
    for v in o { s = s.wrapping_mul(1664525).wrapping_add(1013904223); *v = s >> 8; }
}
#[unsafe(no_mangle)]
pub fn horner(x: &[f64], c: &[f64; 20], o: &mut [f64]) {
    for (x, o) in x.iter().zip(o) { let mut y = 0.0; for &k in c.iter().rev() { y = y * x + k; } *o = y; }
}
#[unsafe(no_mangle)]
pub fn search(t: &[f32], q: &[f32], o: &mut [u32]) {
    for (q, o) in q.iter().zip(o) {
        let (mut lo, mut hi) = (0, t.len());
        while lo < hi { let m = (lo + hi) / 2; if t[m] < *q { lo = m + 1 } else { hi = m } }
        *o = lo as u32;
    }
}
#[unsafe(no_mangle)]
pub fn convolution(a: &[f32], k: &[f32; 5], o: &mut [f32]) {
    for i in 0..o.len() { let mut s = 0.0; for j in 0..5 { s += a[i + j] * k[j]; } o[i] = s; }
}
#[unsafe(no_mangle)]
pub fn digits(d: &[u8], o: &mut [u8]) {
    for (i, &b) in d.iter().enumerate() {
        o[2 * i] = b\"0123456789abcdef\"[(b >> 4) as usize];
        o[2 * i + 1] = b\"0123456789abcdef\"[(b & 15) as usize];
    }
}
";

/// The same of C.
const C: &str = "
int place_of_least(const int *x, int n) { int b = 0; for (int i = 1; i < n; i++) if (x[i] < x[b]) b = i; return b; }
unsigned djb2(const unsigned char *s, int n) {
  unsigned h = 5381;
  for (int i = 0; i < n; i++) h = (h << 5) + h + s[i];
  return h;
}
unsigned long power_sum(const unsigned *x, unsigned a, int n) {
  unsigned long h = 1;
  for (int i = 0; i < n; i++) h = (h + x[i]) * a;
  return h;
}
float m[96][96], k[96][96];
void through_columns(void) {
  for (int i = 0; i < 96; i++)
    for (int j = 1; j < 96; j++) m[j][i] = m[j - 1][i] * 0.5f + k[j][i];
}
void through_columns_of(int n, float a[n][n], const float b[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 1; j < n; j++) a[j][i] = a[j - 1][i] * 0.5f + b[j][i];
}
void by_steps(float *a, const float *b, int n, int step) {
  for (int i = 0; i < n; i += step) a[i] += b[i] * 2;
}
int inside(int n, unsigned seed) {
  int in = 0;
  for (int i = 0; i < n; i++) {
    seed = seed * 1664525u + 1013904223u;
    double x = seed / 4294967296.0;
    seed = seed * 1664525u + 1013904223u;
    double y = seed / 4294967296.0;
    if (x * x + y * y < 1) in++;
  }
  return in;
}
double running(const double *restrict x, double *restrict o, int n) {
  double s = 0.1;
  for (int i = 0; i < n; i++) { o[i] = x[i] * x[i]; s -= o[i]; }
  return s;
}
void columns(double *o, int n) { int k = 1; for (int i = 0; i < n; i++) { o[i] = k; k = 5 - k; } }
";

/// The same of C++, with what each iteration loads anew since it may have stored there: sizes and pointers beside
/// bytes.
const CPP: &str = "
#include <complex>
#include <cstdint>
#include <vector>
struct Image {
  int w, h;
  std::vector<uint8_t> px;
  uint8_t &at(int x, int y) { return px[y * w + x]; }
  const uint8_t &at(int x, int y) const { return px[y * w + x]; }
};
void invert(Image &im) {
  for (int y = 0; y < im.h; y++) for (int x = 0; x < im.w; x++) im.at(x, y) = 255 - im.at(x, y);
}
void blur(const Image &a, Image &b) {
  for (int y = 1; y < a.h - 1; y++)
    for (int x = 1; x < a.w - 1; x++) {
      int s = 0;
      for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++) s += a.at(x + dx, y + dy);
      b.at(x, y) = s / 9;
    }
}
void halves(Image &im) { for (int i = 0; i < im.w / 2; i++) im.px[2 * i + 1] = im.px[2 * i]; }
void products(std::vector<std::complex<float>> &a, const std::vector<std::complex<float>> &b) {
  for (size_t i = 0; i < a.size(); i++) {
    auto x = a[i], y = b[i];
    a[i] = {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
  }
}
";

/// C in which memory has the state: records, sums, places, what the iteration before stored; and truth values and signs.
const STATE: &str = "
#include <stdbool.h>
#include <stdint.h>
void cleared(bool *flags, int n) { for (int i = 0; i < n; i++) if (flags[i]) flags[i] = false; }
void extremes(const int *x, int n, int *lo, int *hi) {
  *lo = *hi = x[0];
  for (int i = 1; i < n; i++) { if (x[i] < *lo) *lo = x[i]; if (x[i] > *hi) *hi = x[i]; }
}
void best(const float *x, int n, float *most, int *at) {
  for (int i = 0; i < n; i++) if (x[i] >= *most) { *most = x[i]; *at = i; }
}
void best_first(const double *x, long n, double *most, long *at) {
  for (long i = 0; i < n; i++) if (*most < x[i]) { *most = x[i]; *at = i; }
}
void best_of_rows(const int *a, int w, int h, int *least, int *at) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      int v = a[y * w + x] & 7;
      if (v < *least) { *least = v; *at = y * 1000 + x; }
    }
}
struct Statistics { int count; long total; int lo, hi; };
void add(struct Statistics *s, const short *x, int n) {
  for (int i = 0; i < n; i++) {
    s->total += x[i];
    s->count++;
    if (x[i] < s->lo) s->lo = x[i];
    if (x[i] > s->hi) s->hi = x[i];
  }
}
int of_all; int most; unsigned char flags[256];
void variables(const int *x, int n) { for (int i = 0; i < n; i++) { of_all += x[i]; if (x[i] > most) most = x[i]; } }
static int bytes[3];
void first_of_three(const uint8_t *x, int n) { for (int i = 0; i < n; i++) bytes[0] += x[i]; }
int three(void) { for (int i = 0; i < 3; i++) bytes[i] += i; return bytes[0]; }
void sums(int *x, int n) { for (int i = 1; i < n; i++) x[i] += x[i - 1]; }
void sums_up(uint16_t *x, int n) { for (int i = n - 2; i >= 0; i--) x[i] ^= x[i + 1]; }
int odd(const float *a, const float *b, int n) {
  int c = 0;
  for (int i = 0; i < n; i++) if (a[i] > 0.5f && b[i] > 0.5f) c = !c;
  return c;
}
int inside(const float *px, const float *py, int n, float x, float y) {
  int c = 0;
  for (int i = 0, j = n - 1; i < n; j = i++)
    if (((py[i] > y) != (py[j] > y)) && (x < (px[j] - px[i]) * (y - py[i]) / (py[j] - py[i]) + px[i])) c = !c;
  return c;
}
int sign(const int *a, int n) { int s = 1; for (int i = 0; i < n; i++) if (a[i] < 1000) s = -s; return s; }
bool all_below(const int *a, int n, int m) {
  bool ok = true;
  for (int i = 0; i < n; i++) { int x = a[i]; ok = ok && x < m; }
  return ok;
}
bool all_small(const int *a, int n) {
  bool ok = true;
  for (int i = 0; i < n; i++) { int x = a[i]; ok = ok && x < 5000; }
  return ok;
}
bool any_above(const int *a, int n, int m) {
  bool ok = false;
  for (int i = 0; i < n; i++) { int x = a[i]; ok = ok || x > m; }
  return ok;
}
typedef struct { float x, y, z, vx, vy, vz, m; } Body;
void forces(Body *b, int n, float dt) {
  for (int i = 0; i < n; i++) {
    float ax = 0, ay = 0, az = 0;
    for (int j = 0; j < n; j++) {
      float dx = b[j].x - b[i].x, dy = b[j].y - b[i].y, dz = b[j].z - b[i].z;
      float f = b[j].m / (dx * dx + dy * dy + dz * dz + 0.01f);
      ax += dx * f; ay += dy * f; az += dz * f;
    }
    b[i].vx += ax * dt; b[i].vy += ay * dt; b[i].vz += az * dt;
  }
}
void filtered(const float *in, const float *k, float *out, int n, int taps) {
  for (int i = 0; i + taps <= n; i++) {
    float s = 0;
    for (int j = 0; j < taps; j++) s += in[i + j] * k[j];
    out[i] = s;
  }
}
void of_pairs(const int *a, int *o, int n) { for (int i = 0; 2 * i + 1 < n; i++) o[i] = a[2 * i] + a[2 * i + 1]; }
";

/// What `run` prints of each function of a file, by its name; all are run.
#[track_caller]
fn run(folder: &Path, name: &str, text: &str, options: &[&str]) -> String {
    let file = folder.join(name);
    std::fs::write(&file, text).unwrap();
    let output = warpline(&[&["run", file.to_str().unwrap()], options].concat());
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!errors.contains("is not run"), "{errors}");
    ok(&output)
}

/// Asserts that each function of a file has a loop that was vectorized, and that nothing differs.
#[track_caller]
fn all_are_vectorized(text: &'static str, printed: &str) {
    let begins = |line: &&str| line.starts_with(char::is_alphabetic) && line.contains('(');
    let name = |line: &'static str| line.split('(').next().and_then(|begin| begin.split_whitespace().last());
    for name in text.lines().filter(begins).filter_map(name) {
        let found = printed.lines().find(|line| line.starts_with(&format!("{name}: loop")));
        assert!(found.is_some_and(|line| line.contains("vectorized with")), "{name} in {printed}");
    }
    let (runs, equal) = (printed.matches("times as fast").count(), printed.matches("; 0 mismatches").count());
    assert!(runs == equal && runs > 0, "{printed}");
}

/// The same of a file with this name and text, with few lanes and with more.
#[track_caller]
fn are_vectorized_with_any_number_of_lanes(name: &str, text: &'static str) {
    let folder = tempfile::tempdir().unwrap();
    for width in ["4", "16"] {
        all_are_vectorized(text, &run(folder.path(), name, text, &["--width", width]));
    }
}

#[test]
fn loops_of_rust_over_ranges_iterators_places_and_sequences_are_vectorized_and_compute_the_same() {
    are_vectorized_with_any_number_of_lanes("loops.rs", RUST);
}

#[test]
fn loops_of_c_over_places_and_sequences_are_vectorized_and_compute_the_same() {
    if has_clang() {
        are_vectorized_with_any_number_of_lanes("loops.c", C);
    }
}

#[test]
fn loops_of_cpp_over_sizes_and_pointers_that_bytes_might_be_are_vectorized_and_compute_the_same() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for width in ["4", "16"] {
        let printed = run(folder.path(), "loops.cpp", CPP, &["--width", width]);
        for name in ["invert(", "blur(", "halves(", "products("] {
            let is_found = |line: &str| line.starts_with(name) && line.contains("vectorized with");
            assert!(printed.lines().any(is_found), "{name} in {printed}");
        }
        assert_eq!(printed.matches("; 0 mismatches").count(), 4, "{printed}");
    }
}

#[test]
fn loops_of_c_with_their_state_in_memory_are_vectorized_and_compute_the_same() {
    if has_clang() {
        are_vectorized_with_any_number_of_lanes("state.c", STATE);
    }
}

/// Each function loads at what bits of the counter say.
const BITS: &str = r"#include <stddef.h>
#include <stdint.h>
void twice(const uint8_t *in, uint8_t *out, int n) { for (int i = 0; i < n; i++) out[i] = in[i / 2]; }
void four_times(const float *in, float *out, size_t n) { for (size_t i = 0; i < n; i++) out[i] = in[i / 4]; }
void after_one(const float *in, float *out, int n) { for (int i = 2; i < n; i++) out[i] = in[i / 2] - in[i]; }
void by_blocks(const float *in, const float *scale, float *out, int n) {
  for (int i = 0; i < n; i++) out[i] = in[i] * scale[i / 32];
}
void colours(const uint8_t *y, const uint8_t *u, const uint8_t *v, uint8_t *r, uint8_t *b, int n) {
  for (int i = 0; i < n; i++) {
    int c = 298 * (y[i] - 16), d = u[i / 2] - 128, e = v[i / 2] - 128;
    int red = (c + 409 * e + 128) >> 8, blue = (c + 516 * d + 128) >> 8;
    r[i] = red < 0 ? 0 : red > 255 ? 255 : red;
    b[i] = blue < 0 ? 0 : blue > 255 ? 255 : blue;
  }
}
void packed(const uint8_t *in, uint8_t *y, uint8_t *u, int n) {
  for (int i = 0; i < n; i++) { y[i] = in[2 * i]; u[i] = in[i / 2 * 4 + 1]; }
}
void larger(const uint32_t *from, int w, int h, uint32_t *to) {
  for (int y = 0; y < 2 * h; y++)
    for (int x = 0; x < 2 * w; x++) to[y * 2 * w + x] = from[y / 2 * w + x / 2];
}
void bits(const uint8_t *in, uint8_t *out, int n) { for (int i = 0; i < n; i++) out[i] = in[i >> 3] >> (i & 7) & 1; }
int of_set(const uint64_t *bits, const int *x, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) if (bits[i / 64] >> i % 64 & 1) sum += x[i];
  return sum;
}
void halves(const uint8_t *q, const float *scale, float *out, int n) {
  for (int i = 0; i < n; i++) out[i] = ((i % 2 ? q[i / 2] >> 4 : q[i / 2] & 15) - 8) * scale[i / 32];
}
void tiles(const float *in, const float *tile, float *out, int n) {
  for (int i = 0; i < n; i++) out[i] = in[i] * tile[i % 4];
}
void pairs(const float *in, float *out, int n) { for (int i = 0; i < n; i++) out[i] = in[i ^ 1]; }
void fours(const float *in, float *out, int n) { for (int i = 0; i < n; i++) out[i] = in[(i & ~3) + 3 - (i & 3)]; }
";

#[test]
fn loads_at_what_bits_of_counters_say_are_shuffled_and_compute_the_same() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for width in ["8", "16", "64"] {
        let printed = run(folder.path(), "bits.c", BITS, &["--width", width, "-v"]);
        all_are_vectorized(BITS, &printed);
        let functions = BITS.matches("\nvoid ").count() + BITS.matches("\nint ").count();
        assert_eq!(printed.matches(" permuted").count(), functions, "{printed}");
        assert_eq!(printed.matches("gathers").count(), 0, "{printed}");
    }
}

/// Each function goes around in a buffer.
const RINGS: &str = r"#include <stdint.h>
void masked(const float *ring, float *out, int n, int at) { for (int i = 0; i < n; i++) out[i] = ring[(at + i) & 1023]; }
void and(const float *ring, float *out, int n, int at) {
  for (int i = 0; i < n; i++) { out[i] = ring[at]; at = (at + 1) & 1023; }
}
void remainder(const float *ring, float *out, int n, int at) {
  for (int i = 0; i < n; i++) { out[i] = ring[at]; at = (at + 1) % 1024; }
}
void equal(const float *ring, float *out, int n, int at) {
  for (int i = 0; i < n; i++) { out[i] = ring[at]; if (++at == 512) at = 0; }
}
int least(const float *ring, float *out, int n, int at) {
  for (int i = 0; i < n; i++) { out[i] = ring[at]; if (++at >= 512) at = 0; }
  return at;
}
int stored(float *ring, const float *x, int n, int at) {
  for (int i = 0; i < n; i++) { ring[at] = x[i]; at = (at + 1) & 1023; }
  return at;
}
void endless(const double *ring, double *out, long n, long at) {
  for (long i = 0; i < n; i++) out[i] = ring[(at + i) & 0x3fffffffffffffff];
}
int bytes(uint8_t *ring, const uint8_t *x, int n, unsigned at) {
  for (int i = 0; i < n; i++) { ring[at++] = x[i]; at &= 1023; }
  return at;
}
";

#[test]
fn loops_that_go_around_in_buffers_are_vectorized_and_compute_the_same() {
    if has_clang() {
        are_vectorized_with_any_number_of_lanes("rings.c", RINGS);
    }
}

/// Each function copies structures, or fills them.
const STRUCTURES: &str = r"#include <string.h>
typedef struct { float x, y, z; } point;
typedef struct { double mass; int id; char kind; long since; } record;
typedef struct { unsigned char r, g, b; } colour;
void verlet(point *p, point *old, int n, float g) {
  for (int i = 0; i < n; i++) {
    point t = p[i];
    p[i].x = 2 * p[i].x - old[i].x; p[i].y = 2 * p[i].y - old[i].y - g; p[i].z = 2 * p[i].z - old[i].z;
    old[i] = t;
  }
}
void permuted(point *restrict to, const point *restrict from, const int *restrict at, int n) {
  for (int i = 0; i < n; i++) to[i] = from[at[i]];
}
void reversed(point *a, int n) {
  for (int i = 0; i < n / 2; i++) { point t = a[i]; a[i] = a[n - 1 - i]; a[n - 1 - i] = t; }
}
void records(record *restrict to, const record *restrict from, int n, int most) {
  for (int i = 0; i < n; i++) if (from[i].id < most) to[i] = from[i];
}
void chosen(colour *restrict to, const colour *restrict a, const colour *restrict b, const int *restrict c, int n) {
  for (int i = 0; i < n; i++) to[i] = c[i] > 1000 ? a[i] : b[i];
}
void cleared(point *p, const int *keep, int n) {
  for (int i = 0; i < n; i++) if (!keep[i]) memset(&p[i], 0, sizeof *p);
}
void filled(colour *c, point *p, int n) {
  for (int i = 0; i < n; i++) { memset(&c[i], 0xa5, sizeof *c); memset(&p[i], 0x47, sizeof *p); }
}
void bytes(point *restrict to, const float *restrict from, int n) {
  for (int i = 0; i < n; i++) memcpy(&to[i], &from[3 * i], sizeof *to);
}
";

#[test]
fn structures_are_copied_field_by_field_and_loops_compute_the_same() {
    if has_clang() {
        are_vectorized_with_any_number_of_lanes("structures.c", STRUCTURES);
    }
}

/// In each function, two counters approach each other.
const ENDS: &str = r"#include <stddef.h>
void indices(int *a, int n) {
  for (int i = 0, j = n - 1; i < j; i++, j--) { int t = a[i]; a[i] = a[j]; a[j] = t; }
}
void pointers(float *p, int n) {
  float *q = p + n;
  while (p < --q) { float t = *p; *p++ = *q; *q = t; }
}
void towards(short *p, int n) {
  short *q = p + n - 1;
  while (q > p) { short t = *p; *p++ = *q; *q-- = t; }
}
void sizes(double *a, size_t n) {
  if (n == 0) return;
  for (size_t i = 0, j = n - 1; i < j; i++, j--) { double t = a[i]; a[i] = a[j]; a[j] = t; }
}
void inclusive(const int *restrict x, int *restrict o, int n) {
  for (int i = 0, j = n - 1; i <= j; i++, j--) o[i] = x[i] - x[j];
}
void at_different_speed(const int *restrict x, int *restrict o, int n) {
  for (int i = 0, j = n - 1, k = 0; i < j; i += 3, j -= 2) o[k++] = x[i] + 2 * x[j];
}
void behind(const int *restrict x, int *restrict o, int n) {
  int i = 0, j = n;
  do { o[i] = x[i] + x[j]; i++; j--; } while (i < j);
}
long chased(const int *restrict x, int n) {
  long sum = 0;
  for (long i = 0, j = n; i < j; i += 3, j++) sum += x[i];
  return sum;
}
";

#[test]
fn loops_until_two_counters_meet_are_vectorized_and_compute_the_same() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for n in ["n=1", "n=2", "n=3", "n=40", "n=41", "n=43"] {
        all_are_vectorized(ENDS, &run(folder.path(), "ends.c", ENDS, &["--width", "4", "--bind", n]));
    }
}

/// Each function looks for a number by what a division by another one leaves, which need not be able to divide.
const REMAINDERS: &str = r"#include <stdint.h>
int multiple(const int *x, int n, int m) {
  for (int i = 0; i < n; i++) { if (x[i] > 5) return i; if (x[i] % m == 3) return -2; }
  return -1;
}
unsigned quotient(const uint8_t *x, const unsigned *y, int n, unsigned m) {
  for (int i = 0; i < n; i++) { if (x[i] > 5) return i; if (y[i] / m > 1000) return 7; }
  return 0;
}
int64_t wide(const int64_t *x, int n, int64_t m) {
  for (int i = 0; i < n; i++) { if (x[i] > 5) return i; if (x[i] % m == 7) return 9; }
  return n;
}
";

#[test]
fn searches_divide_by_numbers_that_the_program_does_not_get_to_divide_by() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for divisor in ["m=0", "m=-1", "m=10"] {
        for (name, x) in
            [("multiple", "x=i32[400]=900"), ("quotient", "x=u8[400]=random"), ("wide", "x=i64[400]=900")]
        {
            let options = ["--function", name, "--bind", x, "--bind", "n=90", "--bind", divisor];
            all_are_vectorized("", &run(folder.path(), "remainders.c", REMAINDERS, &options));
        }
        let least = ["--function", "wide", "--bind", "x=i64[90]=-2..1", "--bind", "n=90", "--bind", divisor];
        if divisor != "m=0" {
            all_are_vectorized("", &run(folder.path(), "remainders.c", REMAINDERS, &least));
        }
    }
}

/// Each function computes with complex numbers.
const COMPLEX: &str = r"#include <complex.h>
void products(const float complex *a, const float complex *b, float complex *o, int n) {
  for (int i = 0; i < n; i++) o[i] = a[i] * b[i];
}
void doubles(const double complex *a, const double complex *b, double complex *o, int n) {
  for (int i = 0; i < n; i++) o[i] = a[i] * b[i];
}
void not_numbers(const float complex *a, float complex *o, int n) {
  for (int i = 0; i < n; i++) { float s = i & 1 ? 1e38f : 0; o[i] = (a[i] * s * s) * (a[i] * s * s * I); }
}
void quotients(const float complex *a, const float complex *b, float complex *o, int n) {
  for (int i = 0; i < n; i++) o[i] = a[i] / b[i];
}
void sizes(const float complex *a, float *o, int n) { for (int i = 0; i < n; i++) o[i] = cabsf(a[i]); }
void angles(const double complex *a, double *o, int n) { for (int i = 0; i < n; i++) o[i] = carg(a[i]); }
void waves(const double complex *a, double complex *o, int n) { for (int i = 0; i < n; i++) o[i] = cexp(a[i]); }
void escapes(const double complex *c, int *o, int n) {
  for (int i = 0; i < n; i++) {
    double complex z = 0;
    int k = 0;
    while (k < 20 && creal(z) * creal(z) + cimag(z) * cimag(z) < 4) { z = z * z + c[i]; k++; }
    o[i] = k;
  }
}
";

#[test]
fn loops_over_complex_numbers_are_vectorized_and_compute_the_same() {
    if has_clang() {
        are_vectorized_with_any_number_of_lanes("complex.c", COMPLEX);
    }
}

#[test]
fn what_a_program_leaves_in_variables_is_compared() {
    if !has_clang() {
        return;
    }
    let wrong = "static int kept[512]; int get(int i) { return kept[i]; }
void f(const int *to, const int *from, int n) {
  //@ loop independent
  for (int i = 0; i < n; i++) kept[to[i] & 15] = kept[from[i] & 15] + i;
}
";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("wrong.c");
    std::fs::write(&file, wrong).unwrap();
    let output = warpline(&["run", file.to_str().unwrap(), "--function", "f", "--width", "16"]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.code() == Some(1) && printed.contains("kept["), "{printed}");
}

#[test]
fn sums_in_order_get_a_lane_each_where_a_loop_is_around_them() {
    if !has_clang() {
        return;
    }
    let product = "void product(const float *restrict a, const float *restrict b, float *restrict c, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float s = 0;
      for (int k = 0; k < n; k++)
        s += a[i * n + k] * b[k * n + j];
      c[i * n + j] = s;
    }
}
";
    let folder = tempfile::tempdir().unwrap();
    let printed = run(folder.path(), "product.c", product, &[]);
    assert!(printed.starts_with("product: loop at product.c:3 vectorized"), "{printed}");
    assert!(printed.contains("; 0 mismatches"), "{printed}");
}

#[test]
fn ranges_that_include_the_greatest_number_end_there() {
    let folder = tempfile::tempdir().unwrap();
    for (lo, hi) in [(4_294_966_000u32, u32::MAX), (5, 5), (6, 5), (0, 99), (u32::MAX, u32::MAX)] {
        let (lo, hi) = (format!("lo={lo}"), format!("hi={hi}"));
        let binds = ["--function", "between", "--bind", &lo, "--bind", &hi, "--bind", "k=77", "--width", "8"];
        let printed = run(folder.path(), "loops.rs", RUST, &binds);
        assert!(printed.contains("; 0 mismatches"), "{lo} {hi}: {printed}");
    }
}

#[test]
fn a_sum_in_order_that_is_not_worth_vectors_stays_scalar_and_is_told_what_would_help() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dot.rs");
    let dot = "pub fn dot(a: &[f32], b: &[f32]) -> f32 { a.iter().zip(b).map(|(x, y)| x * y).sum() }\n";
    std::fs::write(&file, dot).unwrap();
    let (file, out) = (file.to_str().unwrap(), folder.path().join("dot.o"));
    let output = warpline(&["vectorize", file, "-o", out.to_str().unwrap()]);
    let said = format!("{}{}", ok(&output), String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("stays scalar") && said.contains("--any-order"), "{said}");
}
