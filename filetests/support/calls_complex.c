//@ group Calls
//@ construct products and absolute values of complex numbers
//@ happens as of their parts; the function that finds infinities where both parts are NaNs per active lane
//@ args index, buffer:400=small, buffer:400=zero
//@ range 0..50
//@ contains fmul
#include <complex.h>
void kernel(int i, const float complex *a, float complex *out) {
  out[i] = a[i] * a[i] + cabsf(a[i]);
}
