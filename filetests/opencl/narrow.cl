// Kernels whose indices are integers of 32 bits, as most kernels for GPUs are written.
// `crates/warpline-cli/tests/optimized_modules.rs` compiles them with optimization; those whose names begin with
// `plane` run over groups in two dimensions.

kernel void plain_int(global const int *in, global int *out, int n) {
  int i = get_global_id(0);
  out[i] = in[i] * 3;
}
kernel void plain_uint(global const int *in, global int *out, int n) {
  uint i = get_global_id(0);
  out[i] = in[i] + 7;
}
kernel void neighbours(global const int *in, global int *out, int n) {
  int i = get_global_id(0);
  out[i] = in[i + 1] - in[i] + in[i + 2];
}
kernel void shifted(global const int *in, global int *out, int n) {
  int i = get_global_id(0);
  out[i + 5] = in[i + 3];
}
kernel void started(global const int *in, global int *out, int n) {
  int i = get_global_id(0) + 3;
  out[i] = in[i];
}
kernel void started_unsigned(global const int *in, global int *out, int n) {
  uint i = get_global_id(0) + 3;
  out[i] = in[i] + i;
}
kernel void pairs(global const int *in, global int *out, int n) {
  int i = get_global_id(0);
  out[i] = in[2 * i] + in[2 * i + 1];
}
kernel void vectors(global const int *in, global int *out, int n) {
  int i = get_global_id(0);
  ((global int4 *)out)[i] = ((global const int4 *)in)[i] + 1;
}
kernel void halves(global const int *in, global int *out, int n) {
  int i = get_global_id(0);
  out[i] = in[i >> 1] + in[i / 4];
}
kernel void masked(global const int *in, global int *out, int n) {
  uint i = get_global_id(0);
  out[i] = in[i ^ 1] + in[i & 7];
}
kernel void guarded(global const int *in, global int *out, int n) {
  int i = get_global_id(0);
  if (i >= n - 3) return;
  out[i] = in[i + 3];
}
kernel void windows(global const int *in, global int *out, int n) {
  int i = get_global_id(0), sum = 0;
  for (int k = 0; k < 5; k++) sum += in[i + k] * k;
  out[i] = sum;
}
kernel void columns(global const int *in, global int *out, int n) {
  int i = get_global_id(0), sum = 0;
  for (int k = 0; k < 4; k++) sum += in[k * n + i];
  out[i] = sum;
}
kernel void of_groups(global const int *in, global int *out, int n) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  out[i] = in[i] * 5;
}
kernel void of_groups_unsigned(global const int *in, global int *out, int n) {
  uint i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i < n) out[i] = in[i] * 5;
}
kernel void of_blocks(global const int *in, global int *out, int n) {
  int block = get_group_id(0), threads = get_local_size(0), thread = get_local_id(0);
  int i = block * threads + thread;
  if (i < n) out[i] = in[i] - 1;
}
kernel void bytes(global const int *in, global int *out, int n) {
  int i = get_global_id(0);
  ((global char *)out)[i] = ((global const char *)in)[i] + 1;
}
kernel void long_names(global const int *in, global int *out, int n) {
  long i = (int)get_global_id(0);
  out[i + 5] = in[i * 2];
}
kernel void short_numbers(global const int *in, global int *out, int n) {
  short i = get_global_id(0);
  out[i] = in[i];
}
kernel void plane_rows(global const int *in, global int *out, int n) {
  int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0);
  out[y * w + x] = in[y * w + x] + x - y;
}
kernel void plane_rows_unsigned(global const int *in, global int *out, int n) {
  uint x = get_global_id(0), y = get_global_id(1), w = get_global_size(0);
  out[y * w + x] = in[y * w + x] + x - y;
}
kernel void plane_blur(global const int *in, global int *out, int n) {
  int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
  int left = max(x - 1, 0), right = min(x + 1, w - 1), above = max(y - 1, 0), below = min(y + 1, h - 1);
  out[y * w + x] = in[y * w + left] + in[y * w + right] + in[above * w + x] + in[below * w + x];
}
kernel void plane_turned(global const int *in, global int *out, int n) {
  int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
  out[x * h + y] = in[y * w + x];
}
