/* Runs the kernels of `kernels.cl` on one thread, as plain functions: no OpenCL is needed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels.warpline.h"

static float random_float(void) { return (float)(rand() % 17 - 8); }

static int sums(void) {
  enum { N = 10000, GROUP = 256, GROUPS = (N + GROUP - 1) / GROUP };
  static float in[N], of_groups[GROUPS];
  float right = 0, sum = 0;
  for (int i = 0; i < N; i++) right += in[i] = random_float();
  uint64_t offset[3] = {0}, size[3] = {GROUPS * GROUP, 1, 1}, local[3] = {GROUP, 1, 1};
  void *workspace = malloc(reduce_workspace(size, local, GROUP * sizeof(float)));
  reduce_ndrange(offset, size, local, in, of_groups, N, GROUP * sizeof(float), workspace);
  free(workspace);
  for (int g = 0; g < GROUPS; g++) sum += of_groups[g];
  return sum == right;
}

static int products(void) {
  enum { N = 96 };
  static float a[N * N], b[N * N], c[N * N];
  for (int i = 0; i < N * N; i++) a[i] = random_float(), b[i] = random_float();
  uint64_t offset[3] = {0}, size[3] = {N, N, 1}, local[3] = {16, 16, 1};
  void *workspace = malloc(multiply_workspace(size, local));
  multiply_ndrange(offset, size, local, a, b, c, N, workspace);
  free(workspace);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      float right = 0;
      for (int k = 0; k < N; k++) right += a[i * N + k] * b[k * N + j];
      if (c[i * N + j] != right) return 0;
    }
  return 1;
}

static int sorts(void) {
  enum { N = 1 << 14, GROUP = 128, TOGETHER = 2 * GROUP };
  static int one[N], another[N];
  int *data = one, *next = another;
  for (int i = 0; i < N; i++) data[i] = rand();
  uint64_t offset[3] = {0}, size[3] = {N / 2, 1, 1}, local[3] = {GROUP, 1, 1};
  uint64_t steps[3] = {N, 1, 1}, all[3] = {0};
  uint64_t bytes = TOGETHER * sizeof(int);
  void *workspace = malloc(sort_in_groups_workspace(size, local, bytes));
  sort_in_groups_ndrange(offset, size, local, data, 2, TOGETHER, bytes, workspace);
  for (int run = 2 * TOGETHER; run <= N; run *= 2) {
    for (int apart = run / 2; apart > GROUP; apart /= 2) {
      sort_step_ndrange(offset, steps, all, data, next, run, apart);
      int *sorted = next;
      next = data;
      data = sorted;
    }
    sort_in_groups_ndrange(offset, size, local, data, run, run, bytes, workspace);
  }
  free(workspace);
  for (int i = 1; i < N; i++)
    if (data[i - 1] > data[i]) return 0;
  return 1;
}

int main(void) {
  int reduced = sums(), multiplied = products(), sorted = sorts();
  printf("reduction: %s\nmatrix product: %s\nbitonic sort: %s\n", reduced ? "right" : "wrong",
         multiplied ? "right" : "wrong", sorted ? "right" : "wrong");
  return !(reduced && multiplied && sorted);
}
