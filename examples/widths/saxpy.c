// Memory alone.
//@ args i=index
//@ range 0..16384
//@ bind a=2.5
//@ bind x=f32[16384]=random
//@ bind y=f32[16384]=random
void saxpy(int i, float a, const float *x, float *y) { y[i] = a * x[i] + y[i]; }
