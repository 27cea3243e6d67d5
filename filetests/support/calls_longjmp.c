//@ group Calls
//@ construct `longjmp`, `siglongjmp`, `setcontext`
//@ happens refused
//@ args index, buffer:600=zero
//@ range 0..50
//@ refused continues where another function returned before
#include <setjmp.h>
extern jmp_buf place;
void kernel(int i, int *o) {
  o[i] = i;
  if (i == 40)
    longjmp(place, 1);
}
