//@ group Control flow
//@ construct jumps to computed addresses (`goto *p`)
//@ happens refused
//@ refused jumps to a computed address; use a `switch`
//@ args index, varying:4=random
//@ range 0..50
//@ result 4
int kernel(int i, unsigned x) {
  static void *const ways[] = {&&first, &&second, &&third};
  int n = 0;
  goto *ways[x % 3];
first:
  n += 7;
second:
  n *= i;
third:
  return n + 1;
}
