//! Loops over text and signals as people write them: what iterations know of those before, sums of low bits, and
//! matrices of which only the size is passed. The lane interpreter and the scalar code are the judges, in `run`.

mod common;
#[path = "common/right.rs"]
mod right;

use common::has_clang;
use right::{is_right, run};

/// Functions, each with one loop that is vectorized.
const TEXT: &str = r#"#include <stdbool.h>
#include <stddef.h>
size_t words(const char *s, size_t n) {
  size_t words = 0;
  bool in = false;
  for (size_t i = 0; i < n; i++) {
    if (s[i] == ' ' || s[i] == '\n' || s[i] == '\t') in = false;
    else if (!in) { in = true; words++; }
  }
  return words;
}
size_t words_until_zero(const char *s) {
  size_t words = 0;
  int state = 0;
  while (*s) {
    if (*s == ' ' || *s == '\n' || *s == '\t') state = 0;
    else if (state == 0) { state = 1; ++words; }
    ++s;
  }
  return words;
}
size_t fields(const char *s, size_t n) {
  size_t fields = 1;
  bool quoted = false;
  for (size_t i = 0; i < n; i++) {
    if (s[i] == '"') quoted = !quoted;
    else if (s[i] == ',' && !quoted) fields++;
  }
  return fields;
}
void mark_quoted(const char *restrict s, unsigned char *restrict out, size_t n) {
  int quoted = 0;
  for (size_t i = 0; i < n; i++) { if (s[i] == '"') quoted = 1 - quoted; out[i] = quoted; }
}
size_t outside_of_comments(const char *s, size_t n) {
  size_t count = 0;
  bool in = false;
  for (size_t i = 0; i < n; i++) {
    if (s[i] == '#') in = true;
    else if (s[i] == '\n') in = false;
    else if (!in) count++;
  }
  return count;
}
int crossings(const float *x, int n, float lo, float hi) {
  int count = 0;
  bool on = false;
  for (int i = 0; i < n; i++) {
    if (!on && x[i] > hi) { on = true; count++; }
    else if (on && x[i] < lo) on = false;
  }
  return count;
}
void fill_forward(float *x, const unsigned char *valid, int n) {
  float last = 0;
  for (int i = 0; i < n; i++) { if (valid[i] & 1) last = x[i]; else x[i] = last; }
}
int last_seen(const int *restrict x, int *restrict out, int n) {
  int last = -1;
  for (int i = 0; i < n; i++) { if (x[i] > 0) last = x[i]; out[i] = last; }
  return last;
}
unsigned checksum(const unsigned char *x, int n) {
  unsigned s = 0;
  for (int i = 0; i < n; i++) s = (s + x[i]) & 0xff;
  return s;
}
void undo_differences(short *restrict out, const short *restrict x, int n) {
  short so_far = 0;
  for (int i = 0; i < n; i++) { so_far += x[i]; out[i] = so_far; }
}
size_t vowels(const char *s) {
  size_t count = 0;
  for (size_t i = 0; s[i] != '\0'; i++) {
    switch (s[i]) { case 'a': case 'e': case 'i': case 'o': case 'u': count++; break; default: break; }
  }
  return count;
}
"#;

/// Functions of a number of elements, each with one loop that is vectorized.
const SEARCHES: &str = r#"#include <stddef.h>
int longest(const unsigned char *x, int n) {
  int run = 0, longest = 0;
  for (int i = 0; i < n; i++) {
    if (x[i] > 40) run++;
    else run = 0;
    if (run > longest) longest = run;
  }
  return longest;
}
int balanced(const unsigned char *s, int n) {
  int depth = 9;
  for (int i = 0; i < n; i++) {
    if (s[i] < 60) depth++;
    else if (s[i] > 190) {
      depth--;
      if (depth < 0) return -i;
    }
  }
  return depth;
}
int last_place(const int *x, int n) {
  for (int i = n - 1; i >= 0; i--) if (x[i] == 3) return i;
  return -1;
}
unsigned trimmed(const unsigned char *s, unsigned n) {
  while (n > 0 && s[n - 1] < 250) n--;
  return n;
}
int decoded(const unsigned char *restrict s, unsigned char *restrict out, int n) {
  for (int i = 0; i < n / 2; i++) {
    int high = s[2 * i] - 3, low = s[2 * i + 1] - 2;
    if (high < 0 || low < 0) return i;
    out[i] = high << 4 | low;
  }
  return n;
}
unsigned hash(const unsigned char *s, int n) {
  unsigned h = 5381;
  for (int i = 0; i < n; i++) {
    if (s[i] == 7) break;
    h = h * 33 + s[i];
  }
  return h;
}
int kept(const int *restrict x, int *restrict out, int n) {
  int k = 0;
  for (int i = 0; i < n; i++) { out[k] = x[i]; k += x[i] % 3 == 0; }
  return k;
}
int kept_in_place(int *x, int n) {
  int *to = x;
  for (int i = 0; i < n; i++) { int v = x[i]; *to = v; to += v > 50; }
  return to - x;
}
int backwards(const int *restrict x, int *restrict out, unsigned n) {
  int sum = 0;
  for (unsigned i = n - 1; i < n; i--) { out[i] = x[i] ^ 5; sum += x[i]; }
  return sum;
}
"#;

#[test]
fn loops_over_text_and_signals_are_vectorized_and_compute_the_same() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let functions = [
        "words",
        "words_until_zero",
        "fields",
        "mark_quoted",
        "outside_of_comments",
        "crossings",
        "fill_forward",
        "last_seen",
        "checksum",
        "undo_differences",
        "vowels",
    ];
    for function in functions {
        for width in ["4", "8", "64"] {
            is_right(folder.path(), TEXT, function, &["--width", width]);
        }
    }
}

#[test]
fn runs_searches_and_filters_are_vectorized_and_compute_the_same() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let functions = [
        "longest",
        "balanced",
        "last_place",
        "trimmed",
        "decoded",
        "hash",
        "kept",
        "kept_in_place",
        "backwards",
    ];
    for (k, function) in functions.into_iter().enumerate() {
        for (width, n) in [("4", 0), ("8", 1), ("16", 33), ("64", 400 + k)] {
            let n = format!("n={n}");
            is_right(folder.path(), SEARCHES, function, &["--width", width, "--bind", &n]);
        }
    }
}

#[test]
fn data_is_made_up_for_a_matrix_of_which_only_the_size_is_passed() {
    if !has_clang() {
        return;
    }
    let solve = "void solve(double *x, const double *restrict l, int n) {
  for (int i = 0; i < n; i++) {
    double s = x[i];
    for (int j = 0; j < i; j++) s -= l[i * n + j] * x[j];
    x[i] = s / l[i * n + i];
  }
}
";
    let folder = tempfile::tempdir().unwrap();
    let printed = run(folder.path(), solve, "solve", &[]);
    assert!(printed.contains("; 0 mismatches") && printed.contains("n=200"), "{printed}");
}
