/* Times kernels that run over work-groups: the drivers in made.o, those of one lane in scalar.o, and the same source in
   an OpenCL library that is opened when the program runs, on one thread. The kernels' arguments are those of
   filetests/groups/kernels.cl. Prints a line for each: name; work-items; how often they are run, so that it takes long
   enough to be measured; milliseconds of a run of the driver, of one lane, of the library, of the driver and the library
   at their best group sizes, and of the driver on two threads; and whether results are equal. 0 milliseconds where there
   is no such kernel. */
#define _GNU_SOURCE
#include "kernels.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void made(const uint64_t *, const uint64_t *, const uint64_t *, const int *, int *, int, uint64_t, void *);
typedef uint64_t needed(const uint64_t *, const uint64_t *, uint64_t);
typedef void shared(warpline_for_each, void *, const uint64_t *, const uint64_t *, const uint64_t *, const int *, int *,
                    int, uint64_t);
#define KERNEL(name) \
  extern made scalar_##name##_ndrange __attribute__((weak)); \
  extern needed scalar_##name##_workspace __attribute__((weak));
#include "list.h"
#undef KERNEL
#define KERNEL(name) \
  {#name, (made *)name##_ndrange, (needed *)name##_workspace, (shared *)name##_parallel, scalar_##name##_ndrange, \
   scalar_##name##_workspace},
static const struct {
  const char *name;
  made *run;
  needed *workspace;
  shared *share;
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
  F(int, clReleaseEvent, (handle)) \
  F(int, clReleaseMemObject, (handle)) \
  F(int, clReleaseKernel, (handle))
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

enum { MOST = 1 << 20, ROUNDS = 9 };
static int *in, *out, *other;

/* Work-items of a kernel, how they are grouped, and how often they are run. */
typedef struct { uint64_t size[3], local[3], bytes; int n, repeats; } range;

static range range_of(unsigned k, int n, uint64_t group, int repeats) {
  range r = {{n, 1, 1}, {group, 1, 1}, 4 * group * sizeof(int) + 64, n, repeats};
  uint64_t side = 1;
  while (side * side * 4 <= group) side *= 2;
  if (!strncmp(kernels[k].name, "plane", 5))
    r.size[0] = 256, r.size[1] = n / 256, r.local[0] = group / side, r.local[1] = side;
  return r;
}

static double time_driver(made *run, needed *needed, const range *r) {
  static const uint64_t offset[3];
  void *workspace = malloc(needed(r->size, r->local, r->bytes));
  double time = 0;
  for (int k = 0; k < r->repeats; k++) {
    memset(out, 0, (size_t)r->n * sizeof *out);
    double begin = now();
    run(offset, r->size, r->local, in, out, r->n, r->bytes, workspace);
    time += now() - begin;
  }
  free(workspace);
  return time / r->repeats;
}

/* Two threads that share groups: each has half of them. The second one sleeps between runs, so its start counts. */
typedef struct { warpline_part part; void *context, *workspace; uint64_t first, last; } half;
static half second;
static pthread_barrier_t begins, ends;

static void *run_second(void *unused) {
  for (;;) {
    pthread_barrier_wait(&begins);
    second.part(second.context, second.first, second.last, second.workspace);
    pthread_barrier_wait(&ends);
  }
  return unused;
}

static void on_two(void *workspaces, uint64_t count, warpline_part part, void *context) {
  second = (half){part, context, ((void **)workspaces)[1], count / 2, count};
  pthread_barrier_wait(&begins);
  part(context, 0, count / 2, ((void **)workspaces)[0]);
  pthread_barrier_wait(&ends);
}

static double time_two(unsigned k, const range *r) {
  static const uint64_t offset[3];
  uint64_t bytes = kernels[k].workspace(r->size, r->local, r->bytes);
  void *workspaces[2] = {malloc(bytes), malloc(bytes)};
  double time = 0;
  for (int i = 0; i < r->repeats; i++) {
    memset(out, 0, (size_t)r->n * sizeof *out);
    double begin = now();
    kernels[k].share(on_two, workspaces, offset, r->size, r->local, in, out, r->n, r->bytes);
    time += now() - begin;
  }
  free(workspaces[0]), free(workspaces[1]);
  return time / r->repeats;
}

/* A kernel in the library, with its buffers. */
typedef struct { handle kernel, from, to; } in_library;

static int prepare(unsigned k, in_library *all) {
  int error = 0;
  all->kernel = clCreateKernel(program, kernels[k].name, &error);
  if (error) return 0;
  all->from = clCreateBuffer(context, READ_WRITE, (size_t)MOST * sizeof(int), 0, &error);
  all->to = clCreateBuffer(context, READ_WRITE, (size_t)MOST * sizeof(int), 0, &error);
  return !clEnqueueWriteBuffer(queue, all->from, 1, 0, (size_t)MOST * sizeof(int), in, 0, 0, 0);
}

static void release(in_library *all) {
  clReleaseMemObject(all->from), clReleaseMemObject(all->to), clReleaseKernel(all->kernel);
}

/* By the library's events, the results in `other`. The first run at a group size compiles for it. */
static double time_library(const in_library *all, const range *r) {
  int error = clSetKernelArg(all->kernel, 0, sizeof(handle), &all->from)
      | clSetKernelArg(all->kernel, 1, sizeof(handle), &all->to) | clSetKernelArg(all->kernel, 2, sizeof r->n, &r->n)
      | clSetKernelArg(all->kernel, 3, r->bytes, 0);
  size_t size[3] = {r->size[0], r->size[1], r->size[2]}, group[3] = {r->local[0], r->local[1], r->local[2]};
  size_t bytes = (size_t)r->n * sizeof(int);
  double time = 0;
  for (int k = 0; k < r->repeats && !error; k++) {
    handle event;
    uint64_t begin = 0, end = 0;
    memset(other, 0, bytes);
    clEnqueueWriteBuffer(queue, all->to, 1, 0, bytes, other, 0, 0, 0);
    if ((error = clEnqueueNDRangeKernel(queue, all->kernel, 3, 0, size, group, 0, 0, &event))) break;
    clFinish(queue);
    clGetEventProfilingInfo(event, STARTED, sizeof begin, &begin, 0);
    clGetEventProfilingInfo(event, ENDED, sizeof end, &end, 0);
    clReleaseEvent(event);
    time += (end - begin) * 1e-6;
  }
  clEnqueueReadBuffer(queue, all->to, 1, 0, bytes, other, 0, 0, 0);
  return error ? 0 : time / r->repeats;
}

static void keep_least(double *least, double time) {
  if (time > 0 && (*least == 0 || time < *least)) *least = time;
}

/* So many work-items in groups of a size that the driver takes a while, and how often it is run to take long enough. */
static range long_enough(unsigned k, uint64_t group, double least) {
  double once = 0;
  int n = 1 << 12;
  for (;; n *= 2) {
    range r = range_of(k, n, group, 1);
    once = 0;
    for (int round = 0; round < 3; round++)
      keep_least(&once, time_driver(kernels[k].run, kernels[k].workspace, &r));
    if (once >= least || n == MOST) break;
  }
  return range_of(k, n, group, once < least ? (int)(least / (once > 0.01 ? once : 0.01)) + 1 : 1);
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
  pthread_t thread;
  if (pthread_barrier_init(&begins, 0, 2) | pthread_barrier_init(&ends, 0, 2)) return 2;
  if (pthread_create(&thread, 0, run_second, 0)) return 2;
  in = calloc(MOST, sizeof *in), out = calloc(MOST, sizeof *out), other = calloc(MOST, sizeof *other);
  if (!in || !out || !other) return 2;
  unsigned random = 12345;
  for (int i = 0; i < MOST; i++) in[i] = (int)((random = random * 1664525u + 1013904223u) >> 20) - 1000;
  for (unsigned k = 0; k < sizeof kernels / sizeof *kernels; k++) {
    made *run = kernels[k].run, *run_scalar = kernels[k].run_scalar;
    range r = long_enough(k, group, least), once = r;
    once.repeats = 1;
    in_library all;
    int is_there = is_open && prepare(k, &all);
    is_there = is_there && time_library(&all, &once) > 0;
    time_driver(run, kernels[k].workspace, &once);
    int equal = is_there && !memcmp(out, other, (size_t)r.n * sizeof *out);
    /* In turns, so that what else the machine does is everybody's. */
    double ours = 0, scalar = 0, theirs = 0, two = 0;
    for (int round = 0; round < ROUNDS; round++) {
      keep_least(&ours, time_driver(run, kernels[k].workspace, &r));
      if (is_there) keep_least(&theirs, time_library(&all, &r));
      if (run_scalar) keep_least(&scalar, time_driver(run_scalar, kernels[k].scalar_workspace, &r));
      keep_least(&two, time_two(k, &r));
    }
    double best = 0, their_best = 0;
    for (uint64_t size = 16; size <= 256 && is_there; size *= 2) {
      range o = range_of(k, r.n, size, 1);
      if (time_library(&all, &o) == 0) continue;
      o.repeats = r.repeats;
      for (int round = 0; round < ROUNDS; round++) {
        keep_least(&best, time_driver(run, kernels[k].workspace, &o));
        keep_least(&their_best, time_library(&all, &o));
      }
    }
    printf("%s %d %d %.4f %.4f %.4f %.4f %.4f %.4f %d\n", kernels[k].name, r.n, r.repeats, ours, scalar, theirs, best,
           their_best, two, equal);
    fflush(stdout);
    if (is_there) release(&all);
  }
  return 0;
}
