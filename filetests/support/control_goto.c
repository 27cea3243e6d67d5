//@ group Control flow
//@ construct irreducible loops (`goto` into a loop)
//@ happens vector code, made reducible first
//@ args index, varying:4=small
//@ range 0..50
//@ result 4
unsigned kernel(unsigned i, unsigned x) {
  unsigned k = 0;
  if (x & 1)
    goto inside;
  do {
    k += i;
inside:
    k = k * 3 + 1;
    x++;
  } while (x < 9);
  return k;
}
