//@ group Memory
//@ construct arrays on the stack of a size that is computed
//@ happens each lane its own
//@ args index, varying:4=small, buffer:256=random
//@ range 0..50
//@ result 4
int kernel(int i, int x, const int *a) {
  int n = x + 2, list[n];
  for (int k = 0; k < n; ++k)
    list[k] = a[(i + k) & 63];
  int sum = 0;
  for (int k = n - 1; k >= 0; --k)
    sum = sum * 3 + list[k];
  return sum;
}
