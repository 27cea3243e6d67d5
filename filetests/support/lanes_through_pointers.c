//@ group Lane operations
//@ construct calls through pointers that may lead to more than eight functions, one of which uses cross-lane operations
//@ happens refused
//@ args index, buffer:400=zero, uniform=1
//@ range 0..50
//@ refused may be a call of `asks`, which depends on the other lanes
#include "warpline.h"
typedef int (*function)(int);
__attribute__((noinline)) int f0(int x) { return x * 2 + 0; }
__attribute__((noinline)) int f1(int x) { return x * 3 + 1; }
__attribute__((noinline)) int f2(int x) { return x * 4 + 2; }
__attribute__((noinline)) int f3(int x) { return x * 5 + 3; }
__attribute__((noinline)) int f4(int x) { return x * 6 + 4; }
__attribute__((noinline)) int f5(int x) { return x * 7 + 5; }
__attribute__((noinline)) int f6(int x) { return x * 8 + 6; }
__attribute__((noinline)) int f7(int x) { return x * 9 + 7; }
__attribute__((noinline)) int f8(int x) { return x * 10 + 8; }
__attribute__((noinline)) int asks(int x) { return warpline_any(x > 3) + x; }
function table[] = {f0, f1, f2, f3, f4, f5, f6, f7, f8, asks};
void kernel(int i, int *out, int n) { out[i] = table[(i + n) % 10](i); }
