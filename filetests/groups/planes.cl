// Kernels over two and three dimensions, whose lanes may be neighbours in any of them; arguments as in `kernels.cl`.

#define GROUP_BARRIER barrier(CLK_LOCAL_MEM_FENCE)

// The first dimension is that of neighbours in memory.
kernel void plane_rows(global const int *in, global int *out, int n, local int *tmp) {
  int x = get_local_id(0), y = get_local_id(1), w = get_local_size(0), h = get_local_size(1);
  int z = get_local_id(2), plane = z * w * h;
  size_t g = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
  tmp[plane + y * w + x] = in[g];
  GROUP_BARRIER;
  int sum = tmp[plane + y * w + (x + 1) % w] + 3 * tmp[plane + (y + 1) % h * w + x];
  GROUP_BARRIER;
  out[g] = sum + get_group_id(0) * 7;
}

// The second one is.
kernel void plane_columns(global const int *in, global int *out, int n, local int *tmp) {
  int x = get_local_id(0), y = get_local_id(1), w = get_local_size(0), h = get_local_size(1);
  int z = get_local_id(2), plane = z * w * h;
  size_t g = (get_global_id(2) * get_global_size(0) + get_global_id(0)) * get_global_size(1) + get_global_id(1);
  tmp[plane + x * h + y] = in[g];
  GROUP_BARRIER;
  int sum = in[g] * 5 + get_group_id(1) + 7 * get_group_id(0);
  for (int k = 0; k < w; k++) sum += tmp[plane + k * h + y];
  GROUP_BARRIER;
  tmp[plane + x * h + y] = sum;
  GROUP_BARRIER;
  out[g] = sum + tmp[plane + (w - 1 - x) * h + y];
}

// The third one is, and some work-items return before others meet.
kernel void plane_depth(global const int *in, global int *out, int n, local int *tmp) {
  int x = get_local_id(0), y = get_local_id(1), z = get_local_id(2);
  int w = get_local_size(0), h = get_local_size(1), d = get_local_size(2);
  size_t g = (get_global_id(0) * get_global_size(1) + get_global_id(1)) * get_global_size(2) + get_global_id(2);
  tmp[(x * h + y) * d + z] = in[g];
  GROUP_BARRIER;
  if (g % 5 == 3) return;
  int before = tmp[(x * h + y) * d + (z + d - 1) % d];
  GROUP_BARRIER;
  out[g] = before * 3 + tmp[((w - 1 - x) * h + y) * d + z] + (int)g;
}

// Tiles that are turned.
kernel void plane_turned(global const int *in, global int *out, int n, local int *tmp) {
  int x = get_local_id(0), y = get_local_id(1), w = get_local_size(0), h = get_local_size(1);
  int z = get_global_id(2), at_z = get_local_id(2) * w * h;
  size_t columns = get_global_size(0), rows = get_global_size(1);
  tmp[at_z + y * w + x] = in[(z * rows + get_global_id(1)) * columns + get_global_id(0)];
  GROUP_BARRIER;
  int k = y * w + x, row = k / h, column = k % h;
  size_t to = (z * columns + get_group_id(0) * w + row) * rows + get_group_id(1) * h + column;
  out[to] = tmp[at_z + column * w + row];
}
