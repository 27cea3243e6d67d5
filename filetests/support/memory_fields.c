//@ group Memory
//@ construct fields of neighbouring structures: `a[i].x`, `a[i].y`
//@ happens wide accesses and shuffles, once for all fields
//@ args index, buffer:600=small, buffer:600=zero
//@ range 0..50
//@ contains shuffle
struct point { int x, y, z; };
void kernel(int i, const struct point *a, struct point *out) {
  out[i].x = a[i].x + a[i].z;
  out[i].y = a[i].y * 3;
  out[i].z = a[i].x - a[i].y;
}
