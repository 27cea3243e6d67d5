//@ group Control flow
//@ construct `if (U && V)`
//@ happens the branch on U stays, V becomes a mask
//@ args index, varying:4=random, uniform=3, buffer:64=small, buffer:256=zero
//@ range 0..50
//@ contains llvm.masked.store
//@ kept 1
//@ divergent 1
void kernel(int i, unsigned x, unsigned u, unsigned *a, unsigned *out) {
  if (u > 2 && a[x & 15] > 3)
    out[i] = x / u;
}
