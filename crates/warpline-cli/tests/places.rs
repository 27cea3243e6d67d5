//! Loops that update memory at one place, which is held in registers where nobody else accesses it. What becomes of it
//! where somebody does is seen where memory overlaps.

mod common;
#[path = "common/right.rs"]
mod right;

use common::has_clang;
use right::is_right;

const SOURCE: &str = r#"
#include <stddef.h>
struct vec { int *data; int n; };
struct text { char *s; size_t n; };
int total, count;
void push(struct vec *v, const int *a, int n) { for (int k = 0; k < n; k++) if (a[k] > 10) v->data[v->n++] = a[k]; }
void refill(struct vec *v, const int *a, int n) {
  v->n = 0;
  for (int k = 0; k < n; k++) if (a[k] & 1) v->data[v->n++] = a[k];
}
void keep(int *out, int *kept, const int *a, int n) {
  *kept = 0;
  for (int k = 0; k < n; k++) if (a[k] > 10) out[(*kept)++] = a[k];
}
void upper(struct text *t, const char *s, int n) {
  t->n = 0;
  for (int k = 0; k < n; k++) t->s[t->n++] = s[k] >= 'a' && s[k] <= 'z' ? s[k] - 32 : s[k];
}
void most(int *m, const int *a, int n) { for (int k = 0; k < n; k++) *m = *m > a[k] ? *m : a[k]; }
void hash(unsigned *h, const unsigned char *s, int n) { for (int k = 0; k < n; k++) *h = *h * 31 + s[k]; }
void running(int *sum, int *out, const int *a, int n) {
  for (int k = 0; k < n; k++) { *sum += a[k]; out[k] = *sum; }
}
void products(int *c, const int *a, const int *b, int n) {
  for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) c[j] += a[k] * b[j * n + k];
}
struct stats { long sum; int n, most, least; };
void summed(struct stats *s, const int *a, int n) {
  for (int k = 0; k < n; k++) {
    s->sum += a[k];
    s->n++;
    s->most = s->most > a[k] ? s->most : a[k];
    if (a[k] < s->least) s->least = a[k];
  }
}
void globals(const int *a, int n) { for (int k = 0; k < n; k++) { total += a[k]; count++; } }
"#;

#[test]
fn what_iterations_update_at_one_place_is_held_in_registers() {
    if !has_clang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let functions =
        ["push", "refill", "keep", "upper", "most", "hash", "running", "products", "summed", "globals"];
    for (k, function) in functions.into_iter().enumerate() {
        for (width, n) in [("4", 0), ("8", 1), ("16", 33), ("64", 120 + k)] {
            let n = format!("n={n}");
            is_right(folder.path(), SOURCE, function, &["--width", width, "--bind", &n]);
        }
    }
}
