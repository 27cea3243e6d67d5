/* Times kernels that run over work-groups: the drivers in made.o, those of one lane in scalar.o, and the same source in
   an OpenCL library that is opened when the program runs, on one thread. The kernels' arguments are those of
   filetests/groups/kernels.cl. Prints a line for each: name, work-items, milliseconds of the driver, of one lane, of the
   library, of the driver and the library at their best group sizes, and whether results are equal; 0 milliseconds where
   there is no such kernel. */
#define _GNU_SOURCE
#include "kernels.h"
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void made(const uint64_t *, const uint64_t *, const uint64_t *, const int *, int *, int, uint64_t, void *);
typedef uint64_t needed(const uint64_t *, const uint64_t *, uint64_t);
#define KERNEL(name) \
  extern made scalar_##name##_ndrange __attribute__((weak)); \
  extern needed scalar_##name##_workspace __attribute__((weak));
#include "list.h"
#undef KERNEL
#define KERNEL(name) \
  {#name, (made *)name##_ndrange, (needed *)name##_workspace, scalar_##name##_ndrange, scalar_##name##_workspace},
static const struct {
  const char *name;
  made *run;
  needed *workspace;
  made *run_scalar;
  needed *scalar_workspace;
} kernels[] = {
#include "list.h"
};

/* OpenCL, as far as it is used. */
typedef void *handle;
#define FUNCTIONS(F) \
  F(int, clGetPlatformIDs, (unsigned, handle *, unsigned *)) \
  F(int, clGetDeviceIDs, (handle, uint64_t, unsigned, handle *, unsigned *)) \
  F(int, clGetPlatformInfo, (handle, unsigned, size_t, void *, size_t *)) \
  F(handle, clCreateContext, (const intptr_t *, unsigned, const handle *, void *, void *, int *)) \
  F(handle, clCreateCommandQueue, (handle, handle, uint64_t, int *)) \
  F(handle, clCreateProgramWithSource, (handle, unsigned, const char **, const size_t *, int *)) \
  F(int, clBuildProgram, (handle, unsigned, const handle *, const char *, void *, void *)) \
  F(handle, clCreateKernel, (handle, const char *, int *)) \
  F(handle, clCreateBuffer, (handle, uint64_t, size_t, void *, int *)) \
  F(int, clSetKernelArg, (handle, unsigned, size_t, const void *)) \
  F(int, clEnqueueNDRangeKernel, (handle, handle, unsigned, const size_t *, const size_t *, const size_t *, unsigned, \
                                  const handle *, handle *)) \
  F(int, clEnqueueReadBuffer, (handle, handle, unsigned, size_t, size_t, void *, unsigned, const handle *, handle *)) \
  F(int, clEnqueueWriteBuffer, (handle, handle, unsigned, size_t, size_t, const void *, unsigned, const handle *, \
                                handle *)) \
  F(int, clFinish, (handle)) \
  F(int, clGetEventProfilingInfo, (handle, unsigned, size_t, void *, size_t *)) \
  F(int, clReleaseEvent, (handle))
#define DECLARE(result, name, parameters) static result (*name) parameters;
FUNCTIONS(DECLARE)
enum { CPU = 2, PROFILING = 2, READ_WRITE = 1, STARTED = 0x1282, ENDED = 0x1283, PLATFORM_NAME = 0x902 };

static handle context, queue, program, device;

/* Opens the library and builds the source; whether that succeeds. */
static int open_library(const char *source) {
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
  if (!library) return 0;
#define LOAD(result, name, parameters) \
  if (!(*(void **)&name = dlsym(library, #name))) return 0;
  FUNCTIONS(LOAD)
  handle platform;
  unsigned count = 0;
  int error = 0;
  char name[64] = "";
  if (clGetPlatformIDs(1, &platform, &count) || !count) return 0;
  if (clGetDeviceIDs(platform, CPU, 1, &device, &count) || !count) return 0;
  clGetPlatformInfo(platform, PLATFORM_NAME, sizeof name, name, 0);
  fprintf(stderr, "compared with: %s\n", name);
  context = clCreateContext(0, 1, &device, 0, 0, &error);
  if (error) return 0;
  queue = clCreateCommandQueue(context, device, PROFILING, &error);
  if (error) return 0;
  /* Sums of products are rounded twice, as they are here. */
  const char *parts[] = {"#pragma OPENCL FP_CONTRACT OFF\n", source};
  program = clCreateProgramWithSource(context, 2, parts, 0, &error);
  return !error && !clBuildProgram(program, 1, &device, "", 0, 0);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

enum { MOST = 1 << 20, ROUNDS = 9 };
static int *in, *out, *other;

static double time_driver(made *run, const uint64_t size[3], const uint64_t local[3], int n, uint64_t bytes,
                          void *workspace, int rounds) {
  static const uint64_t offset[3];
  double times[ROUNDS];
  for (int r = 0; r < rounds; r++) {
    memset(out, 0, (size_t)n * sizeof *out);
    double begin = now();
    run(offset, size, local, in, out, n, bytes, workspace);
    times[r] = now() - begin;
  }
  qsort(times, rounds, sizeof *times, by_value);
  return times[0];
}

static double time_library(unsigned k, const uint64_t size[3], const uint64_t local[3], int n, uint64_t bytes) {
  int error = 0;
  handle kernel = clCreateKernel(program, kernels[k].name, &error);
  if (error) return 0;
  handle from = clCreateBuffer(context, READ_WRITE, (size_t)n * sizeof(int), 0, &error);
  handle to = clCreateBuffer(context, READ_WRITE, (size_t)n * sizeof(int), 0, &error);
  clEnqueueWriteBuffer(queue, from, 1, 0, (size_t)n * sizeof(int), in, 0, 0, 0);
  error = clSetKernelArg(kernel, 0, sizeof from, &from) | clSetKernelArg(kernel, 1, sizeof to, &to)
      | clSetKernelArg(kernel, 2, sizeof n, &n) | clSetKernelArg(kernel, 3, bytes, 0);
  if (error) return 0;
  size_t all[3] = {size[0], size[1], size[2]}, group[3] = {local[0], local[1], local[2]};
  double times[ROUNDS];
  for (int r = 0; r <= ROUNDS; r++) {
    memset(other, 0, (size_t)n * sizeof *other);
    clEnqueueWriteBuffer(queue, to, 1, 0, (size_t)n * sizeof(int), other, 0, 0, 0);
    handle event;
    uint64_t begin = 0, end = 0;
    if (clEnqueueNDRangeKernel(queue, kernel, 3, 0, all, group, 0, 0, &event)) return 0;
    clFinish(queue);
    clGetEventProfilingInfo(event, STARTED, sizeof begin, &begin, 0);
    clGetEventProfilingInfo(event, ENDED, sizeof end, &end, 0);
    clReleaseEvent(event);
    /* The first run compiles for this group size. */
    if (r) times[r - 1] = (end - begin) * 1e-6;
  }
  clEnqueueReadBuffer(queue, to, 1, 0, (size_t)n * sizeof(int), other, 0, 0, 0);
  qsort(times, ROUNDS, sizeof *times, by_value);
  return times[0];
}

static double time_scalar(unsigned k, const uint64_t size[3], const uint64_t local[3], int n, uint64_t bytes) {
  if (!kernels[k].run_scalar) return 0;
  void *workspace = malloc(kernels[k].scalar_workspace(size, local, bytes));
  double time = time_driver(kernels[k].run_scalar, size, local, n, bytes, workspace, ROUNDS);
  free(workspace);
  return time;
}

/* The size of a group of so many work-items. */
static uint64_t set_local(uint64_t local[3], uint64_t group, int is_plane) {
  uint64_t side = 1;
  while (side * side * 4 <= group) side *= 2;
  local[0] = is_plane ? group / side : group, local[1] = is_plane ? side : 1, local[2] = 1;
  return 4 * group * sizeof(int) + 64;
}

/* The times of the driver and of the library, each at the group size that suits it best. */
static void time_best(unsigned k, const uint64_t size[3], int n, int is_plane, double best[2]) {
  for (uint64_t group = 16; group <= 256; group *= 2) {
    uint64_t local[3], bytes = set_local(local, group, is_plane);
    void *workspace = malloc(kernels[k].workspace(size, local, bytes));
    double times[2] = {time_driver(kernels[k].run, size, local, n, bytes, workspace, ROUNDS),
                       time_library(k, size, local, n, bytes)};
    free(workspace);
    for (int one = 0; one < 2; one++)
      if (times[one] > 0 && (best[one] == 0 || times[one] < best[one])) best[one] = times[one];
  }
}

int main(int count, char **arguments) {
  if (count < 4) return 2;
  uint64_t group = strtoull(arguments[2], 0, 10);
  double least = strtod(arguments[3], 0);
  FILE *file = fopen(arguments[1], "rb");
  if (!file) return 2;
  static char source[1 << 20];
  source[fread(source, 1, sizeof source - 1, file)] = 0;
  fclose(file);
  int is_open = open_library(source);
  in = calloc(MOST, sizeof *in), out = calloc(MOST, sizeof *out), other = calloc(MOST, sizeof *other);
  if (!in || !out || !other) return 2;
  unsigned random = 12345;
  for (int i = 0; i < MOST; i++) in[i] = (int)((random = random * 1664525u + 1013904223u) >> 20) - 1000;
  for (unsigned k = 0; k < sizeof kernels / sizeof *kernels; k++) {
    int is_plane = !strncmp(kernels[k].name, "plane", 5);
    uint64_t local[3], size[3] = {0}, bytes = set_local(local, group, is_plane);
    void *workspace = 0;
    int n = 1 << 12;
    double ours = 0;
    for (;; n *= 2) {
      size[0] = is_plane ? 256 : n, size[1] = is_plane ? n / 256 : 1, size[2] = 1;
      free(workspace);
      workspace = malloc(kernels[k].workspace(size, local, bytes));
      ours = time_driver(kernels[k].run, size, local, n, bytes, workspace, 1);
      if (ours >= least || n == MOST) break;
    }
    double scalar = time_scalar(k, size, local, n, bytes);
    ours = time_driver(kernels[k].run, size, local, n, bytes, workspace, ROUNDS);
    double theirs = is_open ? time_library(k, size, local, n, bytes) : 0;
    int equal = theirs > 0 && !memcmp(out, other, (size_t)n * sizeof *out);
    double best[2] = {0, 0};
    if (theirs > 0) time_best(k, size, n, is_plane, best);
    printf("%s %d %.4f %.4f %.4f %.4f %.4f %d\n", kernels[k].name, n, ours, scalar, theirs, best[0], best[1], equal);
    fflush(stdout);
    free(workspace);
  }
  return 0;
}
