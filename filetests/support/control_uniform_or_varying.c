//@ group Control flow
//@ construct `if (U || V)`, `if (U && V)` where the compiler makes one condition of it
//@ happens two again: the branch on U stays, V becomes a mask
//@ args index, varying:4=random, uniform=3, buffer:256=zero, buffer:256=zero
//@ range 0..50
//@ contains llvm.masked.store
//@ kept 2
//@ divergent 2
void kernel(int i, unsigned x, unsigned u, unsigned *a, unsigned *out) {
  if (u > 2 && x % 8 > 3)
    a[i] = x / u;
  if (u > 3 || x % 4 < 2)
    out[i] = x / 7;
}
