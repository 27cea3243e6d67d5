//@ group Control flow
//@ construct several returns
//@ happens vector code: one exit, lanes wait there
//@ args index, varying:4=random
//@ range 0..50
//@ result 4
unsigned kernel(unsigned i, unsigned x) {
  if (x % 5 == 0)
    return i;
  for (unsigned k = 1; k < 9; k++)
    if (x % (k + 7) == 3)
      return k * 100;
  return x;
}
