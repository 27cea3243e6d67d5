// Double precision: escape times of the Mandelbrot set.
//@ args i=index
//@ range 0..32768
//@ bind out=i32[32768]
void escape64(int i, int *out) {
  double cx = (i % 256) * (3.0 / 256) - 2.0, cy = (i / 256) * (2.0 / 128) - 1.0, x = 0, y = 0;
  int n = 0;
  while (n < 128 && x * x + y * y <= 4.0) {
    double t = x * x - y * y + cx;
    y = 2.0 * x * y + cy;
    x = t;
    n++;
  }
  out[i] = n;
}
