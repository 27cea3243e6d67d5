//@ group Memory
//@ construct arrays of up to four elements on the stack, each lane's own, at varying indices
//@ happens all elements are loaded and stored, each lane chooses its own; LLVM keeps them in registers
//@ args index, varying:4=small, buffer:256=random
//@ range 0..50
//@ result 4
unsigned kernel(unsigned i, unsigned x, const unsigned *in) {
  unsigned a[4] = {1, i, 3, x};
  if (in[i] & 1) {
    a[x & 3] += 5;
    a[1] = x;
  }
  return a[i & 3];
}
