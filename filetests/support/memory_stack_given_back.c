//@ group Memory
//@ construct arrays on the stack of a computed size in loops
//@ happens given back in each iteration, as in the scalar program
//@ args index, buffer:256=random
//@ range 0..50
//@ result 4
unsigned kernel(int i, const unsigned *a) {
  unsigned sum = 0;
  for (int k = 0; k < 150 + i % 7; ++k) {
    int n = (k & 31) + 1000;
    unsigned list[n];
    for (int j = 0; j < n; j += 450)
      list[j] = a[(i + j * k) & 63];
    if (list[0] & 1)
      continue;
    for (int j = 0; j < n; j += 450)
      sum = sum * 3 + list[j];
  }
  return sum;
}
