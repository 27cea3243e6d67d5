// Compiles a function while the program runs, calls it, and asks what diverges in it.
//
//   cc in_memory.c -I ../include -L DIR -lwarpline -o in_memory
//
// The program `warpline` does the compiling: on the path, or named in $WARPLINE_WORKER.

#include <stdio.h>
#include <stdlib.h>
#include "libwarpline.h"

static const char *const source =
    "void hypotenuse(int n, const float *x, const float *y, float *z) {\n"
    "  for (int i = 0; i < n; i++) z[i] = __builtin_sqrtf(x[i] * x[i] + y[i] * y[i]);\n"
    "}\n";

static void fail(const char *what, WarplineError *error) {
  fprintf(stderr, "%s: %s\n", what, warpline_error_message(error));
  warpline_error_free(error);
  exit(1);
}

int main(void) {
  WarplineError *error = NULL;
  WarplineOptions options = {0};
  WarplineObject *object = warpline_compile_source("c", source, &options, &error);
  if (!object) fail("compile", error);
  puts(warpline_object_report(object));

  WarplineCode *code = warpline_load(object, &error);
  if (!code) fail("load", error);
  void (*hypotenuse)(int, const float *, const float *, float *);
  *(void **)&hypotenuse = warpline_address(code, "hypotenuse", &error);
  if (!hypotenuse) fail("address", error);

  enum { N = 1000 };
  static float x[N], y[N], z[N];
  for (int i = 0; i < N; i++) x[i] = 3 * i, y[i] = 4 * i;
  hypotenuse(N, x, y, z);
  for (int i = 0; i < N; i++)
    if (z[i] != 5 * i) return printf("z[%d] is %g\n", i, z[i]), 1;
  printf("%d results are right\n", N);

  // What is wrong is said, and ends nothing.
  if (warpline_compile_source("c", "int f( {", NULL, &error)) return 1;
  printf("an error of kind %d, as it should be\n", warpline_error_kind(error));
  warpline_error_free(error);
  warpline_code_free(code);
  warpline_object_free(object);
  return 0;
}
