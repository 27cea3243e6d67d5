//@ group Control flow
//@ construct uniform exit of a divergent loop
//@ happens stays a branch
//@ args index, varying:4=random, uniform=6
//@ range 0..50
//@ result 4
//@ kept 1
unsigned kernel(unsigned i, unsigned x, unsigned limit) {
  unsigned k;
  for (k = 0; k < limit; k++) {
    x = x * 1664525 + 1013904223;
    if ((x >> 28) == (i & 15))
      break;
  }
  return k + x;
}
