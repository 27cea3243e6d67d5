//@ group Memory
//@ construct copies of structures as a whole, `memcpy` and `memset` of few bytes: `out[i] = a[n - i]`
//@ happens field by field: wide accesses and shuffles
//@ args index, buffer:600=small, buffer:600=zero
//@ range 0..50
//@ contains shuffle
struct point { float x, y, z; };
void kernel(int i, const struct point *a, struct point *out) {
  struct point p = a[49 - i];
  out[i] = p;
}
