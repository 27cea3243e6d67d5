//@ group What has gone wrong elsewhere
//@ construct ISPC: leaving a loop over the range early
//@ happens each index returns by itself
//@ args index, varying:4=random, buffer:256=zero
//@ range 0..50
void kernel(unsigned i, unsigned x, unsigned *out) {
  for (unsigned k = 0; k < 4; k++) {
    if ((x >> (4 * k)) % 3 == 0)
      return;
    out[i] += k + 1;
  }
}
