/* Three kernels whose work-items work together: they wait for each other at barriers, and share local memory. */

#define TILE 16

/* The sum of the elements of each group, as a tree. A group has a power of two of work-items. */
kernel void reduce(global const float *in, global float *sums, int n, local float *tmp) {
  int l = get_local_id(0), g = get_global_id(0);
  tmp[l] = g < n ? in[g] : 0.0f;
  for (int step = get_local_size(0) / 2; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < step) tmp[l] += tmp[l + step];
  }
  if (l == 0) sums[get_group_id(0)] = tmp[0];
}

/* c = a * b, matrices of n * n elements, n a multiple of TILE: each group makes a tile of c. */
kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void multiply(global const float *a, global const float *b, global float *c, int n) {
  local float of_a[TILE][TILE], of_b[TILE][TILE];
  int column = get_global_id(0), row = get_global_id(1), x = get_local_id(0), y = get_local_id(1);
  float sum = 0.0f;
  for (int tile = 0; tile < n; tile += TILE) {
    of_a[y][x] = a[row * n + tile + x];
    of_b[y][x] = b[(tile + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; k++) sum += of_a[y][k] * of_b[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}

/* Puts two elements in order. */
void compare(bool up, int *a, int *b) {
  int low = min(*a, *b), high = max(*a, *b);
  *a = up ? low : high;
  *b = up ? high : low;
}

/* The steps of a bitonic sort in which elements meet that one group has: from runs of `first` elements to runs of `last`.
   A group of L work-items has 2 * L elements, in `tmp`. */
kernel void sort_in_groups(global int *data, int first, int last, local int *tmp) {
  int l = get_local_id(0), wide = get_local_size(0), base = get_group_id(0) * wide * 2;
  tmp[l] = data[base + l];
  tmp[l + wide] = data[base + l + wide];
  for (int run = first; run <= last; run *= 2)
    for (int apart = min(run / 2, wide); apart > 0; apart /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      int at = 2 * l - (l & (apart - 1));
      bool up = ((base + at) & run) == 0;
      int a = tmp[at], b = tmp[at + apart];
      compare(up, &a, &b);
      tmp[at] = a;
      tmp[at + apart] = b;
    }
  barrier(CLK_LOCAL_MEM_FENCE);
  data[base + l] = tmp[l];
  data[base + l + wide] = tmp[l + wide];
}

/* One step in which elements are further apart than a group is wide. It needs no barrier, since it reads one array and
   writes another. */
kernel void sort_step(global const int *from, global int *to, int run, int apart) {
  int i = get_global_id(0), mine = from[i], other = from[i ^ apart];
  bool up = (i & run) == 0, first = (i & apart) == 0;
  to[i] = up == first ? min(mine, other) : max(mine, other);
}
