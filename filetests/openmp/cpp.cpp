// construct: templates, members, range-`for` and lambdas of C++
// happens: each instance has the clauses of its own
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
//@ function k
struct Sum {
  float total;
  void add(const int *x, int n) {
#pragma omp simd reduction(+ : total)
    for (int i = 0; i < n; i++) total += x[i];
  }
};
template <int N> static void run(const int *__restrict x, int *__restrict out, int n) {
#pragma omp simd safelen(N)
  for (int i = N; i < n; i++) out[i] = out[i - N] + x[i];
}
struct View { const int *b, *e; const int *begin() const { return b; } const int *end() const { return e; } };
extern "C" void k(const int *__restrict x, int *__restrict out, float *__restrict f, int n) {
  run<4>(x, out, n);
  run<8>(x, out + n, n);
  int s = 0;
  View v{x, x + n};
#pragma omp simd reduction(+:s)
  for (int y : v) s += y;
  out[2 * n] = s;
  Sum sum{1};
  sum.add(x, n);
  f[0] = sum.total;
  auto g = [&](int i) { out[2 * n + 1 + i] = x[i]; };
#pragma omp simd
  for (int i = 0; i < n; i++) g(i);
}
