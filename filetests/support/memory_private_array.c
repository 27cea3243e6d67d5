//@ group Memory
//@ construct arrays on the stack, each lane's own
//@ happens laid out for all lanes: equal indices are contiguous, others gathers and scatters
//@ args index, varying:4=small
//@ range 0..50
//@ result 4
unsigned kernel(unsigned i, unsigned x) {
  unsigned a[4] = {1, i, 3, x};
  a[x & 3] += 5;
  return a[i & 3];
}
