//@ group Calls
//@ construct C++ exceptions (`throw`, `try`, `catch`), here or in functions that are called; others in the file may use them
//@ happens refused
//@ args index, buffer:600=small
//@ range 0..50
//@ refused is for exceptions, and lanes cannot unwind separately
extern "C" void kernel(int i, int *o) {
  if (o[i] > 5)
    throw o[i];
  o[i] = i;
}
