//@ group Control flow
//@ construct variables declared in a loop that is left by `break`, `continue` or `return`
//@ happens as if they were declared before it: each way out ends their lifetimes
//@ args index, varying:4=small
//@ range 0..50
//@ result 4
//@ divergent 1
//@ kept 1
int kernel(int i, unsigned x) {
  unsigned y = i, z = x;
  int k = 0;
  while (k < 40) {
    unsigned yy = y * y, zz = z * z;
    if ((yy + zz) % 16 == 5)
      break;
    z = 2 * y * z + i;
    y = yy - zz + x;
    k++;
  }
  return k;
}
