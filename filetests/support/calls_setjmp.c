//@ group Calls
//@ construct `setjmp`, `sigsetjmp`, `vfork`, `getcontext` and whatever else returns twice, here or in functions that are called
//@ happens refused
//@ args index, buffer:600=zero
//@ range 0..50
//@ refused returns twice, and lanes that run together have one stack
#include <setjmp.h>
static jmp_buf place;
void kernel(int i, int *o) {
  if (setjmp(place) == 0)
    o[i] = i;
}
