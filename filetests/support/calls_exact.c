//@ group Calls
//@ construct `fmod`, `remainder`, `fdim`, `nextafter`, `logb`, `ldexp` (and LLVM's `frem`)
//@ happens written out, with the bits of the scalar functions
//@ function exact
//@ args index, buffer:1024=small, buffer:1024=zero
//@ range 0..50
double fmod(double, double), fdim(double, double), nextafter(double, double), logb(double), ldexp(double, int);
void exact(int i, const int *a, double *out) {
  double x = a[i] * 1.25, y = i * 0.375 + 1;
  out[i] = fmod(x, y) + fdim(x, y) + nextafter(x, y) + logb(x) + ldexp(y, a[i] & 31);
}
