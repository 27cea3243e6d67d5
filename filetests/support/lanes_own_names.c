//@ group Lane operations
//@ construct functions of a C program that have such a name, with a body or another signature; `get_…` with any
//@ happens ordinary functions
//@ args index, varying:4=small
//@ range 0..50
//@ result 4
//@ lockstep
__attribute__((noinline)) static int get_group_id(int row, int column) { return row * 3 + column; }
__attribute__((noinline)) static void barrier(int x) { (void)x; }
int kernel(int i, int x) {
  barrier(1);
  return get_group_id(i, x);
}
