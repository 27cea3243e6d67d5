// Many values that live at once: sixteen sums in a loop.
//@ args i=index
//@ range 0..8192
//@ bind x=f32[8192]=-1..1
//@ bind w=f32[1024]=-1..1
//@ bind out=f32[8192]
#define EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)
#define BEGIN(K) float s##K = v * w[K];
#define STEP(K) s##K = s##K * v + w[n * 16 + K];
#define END(K) sum = sum * v + s##K;
void many_live(int i, const float *x, const float *w, float *out) {
  float v = x[i];
  EACH(BEGIN)
  for (int n = 0; n < 64; n++) {
    EACH(STEP)
    v += 0.001f;
  }
  float sum = 0.0f;
  EACH(END)
  out[i] = sum;
}
