// A cascade of cases as in a pairwise energy: the first case is the usual one, the rare ones are dear. Neighbours mostly agree, so
// tests that skip cases which no lane wants pay (`--boscc off` leaves them out).
#include <math.h>
//@ args i=index, x=uniform, r=uniform, n=uniform, out=uniform
//@ range 0..4096
//@ bind x=f32[4096]=iota
//@ bind r=f32[64]=random
//@ bind n=64
//@ bind out=f32[4096]=zero
//@ tolerance ulp=8
void energy_cascade(int i, const float *x, const float *r, int n, float *out) {
  float xi = x[i] * 0.004f, sum = 0.0f;
  for (int k = 0; k < n; k++) {
    float rk = 0.25f + r[k];
    float d = fabsf(xi - 8.0f * r[k]) + 0.01f;
    if (d > 4.0f * rk) {
      sum += 1.0f / (d * d);
    } else if (d > 1.5f * rk) {
      float t = rk / d;
      sum += t * t / sqrtf(1.0f + t) + 1.0f / (d - 0.9f * rk);
    } else if (d > 0.5f * rk) {
      sum += logf(d / rk) / d + expf(-d);
    } else {
      sum += expf(-d * d) * sqrtf(rk - d) + logf(rk / (d + rk));
    }
  }
  out[i] = sum;
}
