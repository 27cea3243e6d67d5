// One chain of dependent operations: a polynomial.
//@ args i=index
//@ range 0..16384
//@ bind x=f32[16384]=0..1
//@ bind c=f32[64]=-1..1
//@ bind out=f32[16384]
void horner(int i, const float *x, const float *c, float *out) {
  float v = x[i], y = 0.0f;
  for (int k = 0; k < 64; k++) y = y * v + c[k];
  out[i] = y;
}
