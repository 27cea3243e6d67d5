//@ group Values
//@ construct pointers in memory, compared, made of integers
//@ happens vector code, gathers and scatters
//@ args index, buffer:256=small, buffer:256=zero
//@ range 0..50
#include <stdint.h>
struct node { const struct node *next; const int *value; };
void kernel(int i, const int *a, int *out) {
  struct node second = {0, &a[i]}, first = {&second, a + (a[i] & 7)};
  int sum = 0;
  for (const struct node *n = &first; n; n = n->next)
    sum = sum * 5 + *n->value;
  if ((uintptr_t)first.value % 8 == 4 && first.value > a)
    sum = -sum;
  out[i] = sum;
}
