//@ group What has gone wrong elsewhere
//@ construct ISPC: `goto`
//@ happens vector code
//@ args index, varying:4=random
//@ range 1..50
//@ result 4
unsigned kernel(unsigned i, unsigned x) {
  unsigned k = 0;
again:
  if (x & 64)
    goto out;
  k += i;
  x = x * 3 + 1;
  if (k < 500)
    goto again;
out:
  return k ^ x;
}
