/* Times kernels that run over work-groups: the drivers in made.o, those for one lane in a shared object that is opened
   when the program runs, and the same source in an OpenCL library that is opened then, on one thread. The kernels'
   arguments are those of filetests/groups/kernels.cl. Prints a line for each: name; work-items; how often they are run;
   milliseconds of the driver, of the library, and for one lane, all at the group size asked for; whether results are
   equal; milliseconds of the driver and of the library at the best of several group sizes for each; milliseconds of the
   driver on two threads. 0 milliseconds where there is no such thing. */
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
#define KERNEL(name) {#name, (made *)name##_ndrange, (needed *)name##_workspace, (shared *)name##_parallel},
static const struct {
  const char *name;
  made *run;
  needed *workspace;
  shared *share;
} kernels[] = {
#include "list.h"
};

/* OpenCL, as far as it is used. */
typedef void *handle;
#define FUNCTIONS(F) \
  F(int, clGetPlatformIDs, (unsigned, handle *, unsigned *)) \
  F(int, clGetDeviceIDs, (handle, uint64_t, unsigned, handle *, unsigned *)) \
  F(int, clGetDeviceInfo, (handle, unsigned, size_t, void *, size_t *)) \
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
enum { CPU = 2, PROFILING = 2, READ_WRITE = 1, STARTED = 0x1282, ENDED = 0x1283, DEVICE_NAME = 0x102b };

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
  char name[256] = "";
  if (clGetPlatformIDs(1, &platform, &count) || !count) return 0;
  if (clGetDeviceIDs(platform, CPU, 1, &device, &count) || !count) return 0;
  clGetDeviceInfo(device, DEVICE_NAME, sizeof name, name, 0);
  fprintf(stderr, "compared with: %s\n", name);
  context = clCreateContext(0, 1, &device, 0, 0, &error);
  if (error) return 0;
  queue = clCreateCommandQueue(context, device, PROFILING, &error);
  if (error) return 0;
  program = clCreateProgramWithSource(context, 1, &source, 0, &error);
  return !error && !clBuildProgram(program, 1, &device, "", 0, 0);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

enum { MOST = 1 << 20, ROUNDS = 9, FEW_ROUNDS = 3 };
static int *in, *out, *other;

/* Work-items of a kernel and how they are grouped. */
typedef struct { uint64_t size[3], local[3], bytes; int n, repeats; } range;

static range range_of(unsigned k, int n, uint64_t group, int repeats) {
  int is_plane = !strncmp(kernels[k].name, "plane", 5);
  uint64_t side = 1;
  while (side * side * 4 <= group) side *= 2;
  range r = {{n, 1, 1}, {group, 1, 1}, 4 * group * sizeof(int) + 64, n, repeats};
  if (is_plane) r.size[0] = 256, r.size[1] = n / 256, r.local[0] = group / side, r.local[1] = side;
  return r;
}

/* Two threads that share groups, each half of them. */
typedef struct { warpline_part part; void *context; uint64_t first, last; void *workspace; } half;
static void *run_half(void *of) {
  half *h = of;
  h->part(h->context, h->first, h->last, h->workspace);
  return 0;
}
static void on_two(void *workspaces, uint64_t count, warpline_part part, void *context) {
  half halves[2] = {{part, context, 0, count / 2, ((void **)workspaces)[0]},
                    {part, context, count / 2, count, ((void **)workspaces)[1]}};
  pthread_t thread;
  if (pthread_create(&thread, 0, run_half, &halves[1])) exit(1);
  run_half(&halves[0]);
  pthread_join(thread, 0);
}

/* Runs a driver; milliseconds. */
static double time_driver(made *run, needed *needed, const range *r) {
  static const uint64_t offset[3];
  void *workspace = malloc(needed(r->size, r->local, r->bytes));
  memset(out, 0, (size_t)r->n * sizeof *out);
  double begin = now();
  for (int k = 0; k < r->repeats; k++) run(offset, r->size, r->local, in, out, r->n, r->bytes, workspace);
  double end = now();
  free(workspace);
  return end - begin;
}

static double time_two(unsigned k, const range *r) {
  static const uint64_t offset[3];
  uint64_t bytes = kernels[k].workspace(r->size, r->local, r->bytes);
  void *workspaces[2] = {malloc(bytes), malloc(bytes)};
  double begin = now();
  for (int i = 0; i < r->repeats; i++)
    kernels[k].share(on_two, workspaces, offset, r->size, r->local, in, out, r->n, r->bytes);
  double end = now();
  free(workspaces[0]), free(workspaces[1]);
  return end - begin;
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

/* Milliseconds in the library by its events; results are in `other`. The first run at a group size compiles for it. */
static double time_library(const in_library *all, const range *r) {
  int error = clSetKernelArg(all->kernel, 0, sizeof(handle), &all->from)
      | clSetKernelArg(all->kernel, 1, sizeof(handle), &all->to) | clSetKernelArg(all->kernel, 2, sizeof r->n, &r->n)
      | clSetKernelArg(all->kernel, 3, r->bytes, 0);
  size_t size[3] = {r->size[0], r->size[1], r->size[2]}, group[3] = {r->local[0], r->local[1], r->local[2]};
  memset(other, 0, (size_t)r->n * sizeof *other);
  clEnqueueWriteBuffer(queue, all->to, 1, 0, (size_t)r->n * sizeof(int), other, 0, 0, 0);
  double time = 0;
  for (int k = 0; k < r->repeats && !error; k++) {
    handle event;
    uint64_t begin = 0, end = 0;
    if ((error = clEnqueueNDRangeKernel(queue, all->kernel, 3, 0, size, group, 0, 0, &event))) break;
    clFinish(queue);
    clGetEventProfilingInfo(event, STARTED, sizeof begin, &begin, 0);
    clGetEventProfilingInfo(event, ENDED, sizeof end, &end, 0);
    clReleaseEvent(event);
    time += (end - begin) * 1e-6;
  }
  clEnqueueReadBuffer(queue, all->to, 1, 0, (size_t)r->n * sizeof(int), other, 0, 0, 0);
  return error ? 0 : time;
}

static void keep_least(double *least, double time) {
  if (time > 0 && (*least == 0 || time < *least)) *least = time;
}

int main(int count, char **arguments) {
  if (count < 5) return 2;
  uint64_t group = strtoull(arguments[2], 0, 10);
  double least = strtod(arguments[3], 0);
  void *one_lane = dlopen(arguments[4], RTLD_NOW | RTLD_LOCAL);
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
    char name[128];
    snprintf(name, sizeof name, "%s_ndrange", kernels[k].name);
    made *scalar = one_lane ? (made *)dlsym(one_lane, name) : 0;
    snprintf(name, sizeof name, "%s_workspace", kernels[k].name);
    needed *of_scalar = one_lane ? (needed *)dlsym(one_lane, name) : 0;
    int n = 1 << 12, repeats = 1;
    double once = 0;
    for (;; n *= 2) {
      range r = range_of(k, n, group, 1);
      once = time_driver(kernels[k].run, kernels[k].workspace, &r);
      keep_least(&once, time_driver(kernels[k].run, kernels[k].workspace, &r));
      if (once >= least || n == MOST) break;
    }
    if (once < least) repeats = (int)(least / (once > 0.01 ? once : 0.01)) + 1;
    range r = range_of(k, n, group, repeats), single = range_of(k, n, group, 1);
    in_library all;
    int is_there = is_open && prepare(k, &all) && time_library(&all, &single) > 0;
    time_driver(kernels[k].run, kernels[k].workspace, &single);
    int equal = is_there && !memcmp(out, other, (size_t)n * sizeof *out);
    /* In turns, so that what else the machine does is everybody's. */
    double ours = 0, theirs = 0, of_one = 0, two = 0;
    for (int round = 0; round < ROUNDS; round++) {
      keep_least(&ours, time_driver(kernels[k].run, kernels[k].workspace, &r));
      if (is_there) keep_least(&theirs, time_library(&all, &r));
      if (scalar && of_scalar && round < FEW_ROUNDS) keep_least(&of_one, time_driver(scalar, of_scalar, &r));
      keep_least(&two, time_two(k, &r));
    }
    double best = ours, their_best = theirs;
    for (uint64_t other_group = 32; other_group <= 1024 && is_there; other_group *= 2) {
      if (other_group == group) continue;
      range o = range_of(k, n, other_group, 1);
      time_library(&all, &o);
      o.repeats = repeats;
      for (int round = 0; round < FEW_ROUNDS; round++) {
        keep_least(&best, time_driver(kernels[k].run, kernels[k].workspace, &o));
        keep_least(&their_best, time_library(&all, &o));
      }
    }
    printf("%s %d %d %.4f %.4f %.4f %d %.4f %.4f %.4f\n", kernels[k].name, n, repeats, ours, theirs, of_one, equal, best,
           their_best, two);
    fflush(stdout);
  }
  return 0;
}
