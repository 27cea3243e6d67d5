// What programs for GPUs are written like: kernels that call kernels, one work-item for all of a group, macros and
// structures. Arguments are those of `kernels.cl`.

#define LOCAL_WAIT barrier(CLK_LOCAL_MEM_FENCE)
#ifndef BINS
#define BINS 16
#endif
#define MIX(a, b) mad24((a), 31, (b))

typedef struct { int value, place; } entry;
typedef struct { float re, im; } complex_t;

__constant int order[8] = {0, 4, 2, 6, 1, 5, 3, 7};

inline int scan_local(int x, local int *t, int exclusive) {
  int i = get_local_id(0);
  t[i] = 0;
  i += get_local_size(0);
  t[i] = x;
  LOCAL_WAIT;
  for (int d = 1; d < get_local_size(0); d *= 2) {
    int y = t[i - d];
    LOCAL_WAIT;
    t[i] += y;
    LOCAL_WAIT;
  }
  int sum = t[i - exclusive];
  LOCAL_WAIT;
  return sum;
}

// A kernel of its own, and a part of those below.
kernel void doubled(global const int *in, global int *out, int n, local int *tmp) {
  size_t i = get_global_id(0);
  out[i] = MIX(in[i], n);
}

kernel void group_sums(global const int *in, global int *out, int n, local int *tmp) {
  int l = get_local_id(0), size = get_local_size(0);
  tmp[l] = in[get_global_id(0)];
  for (int s = (size + 1) / 2, left = size; left > 1; left = s, s = (s + 1) / 2) {
    LOCAL_WAIT;
    if (l + s < left) tmp[l] += tmp[l + s];
  }
  LOCAL_WAIT;
  if (!l) out[get_global_id(0)] += tmp[0];
  LOCAL_WAIT;
}

kernel void kernels_of_kernels(global const int *in, global int *out, int n, local int *tmp) {
  doubled(in, out, n, tmp);
  barrier(CLK_GLOBAL_MEM_FENCE);
  group_sums(in, out, n, tmp);
  group_sums(in, out, n + 1, tmp);
}

// A scan over sixteen digits, of which the last work-item with an element keeps the sum.
kernel void digit_scan(global const int *in, global int *out, int n, local int *tmp) {
  size_t l = get_local_id(0);
  int most = get_local_size(0) - 1, sum = 0;
  local int *seed = tmp + 2 * get_local_size(0);
  *seed = 0;
  LOCAL_WAIT;
  int last = (l < most && l + 1 == most) ? 1 : 0;
  for (int d = 0; d < 4; d++) {
    int x = l < most ? in[get_global_id(0)] >> d & 1 : 0;
    int before = scan_local(x, tmp, 1);
    sum = MIX(sum, before + *seed);
    LOCAL_WAIT;
    if (last) *seed += before + x;
    LOCAL_WAIT;
  }
  out[get_global_id(0)] = sum;
}

// An index of 32 bits that is made of the group's number: others than the work-item's own.
kernel void offsets(global const int *in, global int *out, int n, local int *tmp) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  uint j = get_group_id(0) * get_local_size(0) + get_local_id(0);
  out[i] = in[j];
  for (int k = 0; k < 3; k++) out[i] += in[j] * k;
}

// Rows of a table of structures, in private memory and in local memory.
kernel void entries(global const int *in, global int *out, int n, local int *tmp) {
  local entry *all = (local entry *)tmp;
  int l = get_local_id(0), size = get_local_size(0);
  entry own = {in[get_global_id(0)], l};
  all[l] = own;
  for (int s = size; s > 1; s = (s + 1) / 2) {
    LOCAL_WAIT;
    int other = l + (s + 1) / 2;
    if (other < s && all[other].value > all[l].value) all[l] = all[other];
  }
  LOCAL_WAIT;
  out[get_global_id(0)] = MIX(all[0].value, all[l].value) + own.place;
}

// A histogram for each group, by digits that a private array counts first.
kernel void digits(global const int *in, global int *out, int n, local int *tmp) {
  int counts[BINS] = {0};
  int l = get_local_id(0), size = get_local_size(0), first = get_global_id(0) - l;
  for (int k = l; k < size; k += 3) counts[in[first + k] & (BINS - 1)]++;
  int all = 0;
  for (int d = 0; d < BINS; d++) {
    tmp[l] = counts[d];
    LOCAL_WAIT;
    for (int s = 1; s < size; s *= 2) {
      if (l % (2 * s) == 0 && l + s < size) tmp[l] += tmp[l + s];
      LOCAL_WAIT;
    }
    all = MIX(all, tmp[0]);
    LOCAL_WAIT;
  }
  out[get_global_id(0)] = all;
}

// Butterflies on pairs, eight of each work-item, exchanged by components.
kernel void pairs(global const int *in, global int *out, int n, local int *tmp) {
  int l = get_local_id(0), size = get_local_size(0), g = get_global_id(0);
  local float *parts = (local float *)tmp;
  complex_t a[8];
  for (int k = 0; k < 8; k++) a[k].re = (float)((in[g] >> k) & 7), a[k].im = (float)k;
  for (int k = 0; k < 4; k++) {
    complex_t x = a[k], y = a[k + 4];
    a[k].re = x.re + y.re, a[k].im = x.im + y.im;
    a[k + 4].re = x.re - y.re, a[k + 4].im = x.im - y.im;
  }
  for (int k = 0; k < 2; k++) {
    parts[l] = a[order[k]].re;
    parts[l + size] = a[order[k + 2]].im;
    LOCAL_WAIT;
    a[k].re = parts[size - 1 - l], a[k + 2].im = parts[size + (l ^ 1) % size];
    LOCAL_WAIT;
  }
  float4 v = (float4)(a[0].re, a[1].im, a[2].im, a[5].re);
  out[g] = (int)(v.x * 3 + v.y * 5 + v.z * 7 + v.w);
}

// Rows of one work-item are no rows of lanes, though it asks for the second number.
kernel void second_number(global const int *in, global int *out, int n, local int *tmp) {
  int l = get_local_id(0), x = in[get_global_id(0)], y = get_global_id(1) + get_num_groups(1);
  tmp[l] = x;
  LOCAL_WAIT;
  if (l < n - 3) tmp[l] = tmp[l] * 3 + y;
  LOCAL_WAIT;
  out[get_global_id(0)] = tmp[l] + get_global_id(1);
}

// Queues of a group, emptied by all.
kernel void queues(global const int *in, global int *out, int n, local int *tmp) {
  local int tail;
  int l = get_local_id(0), size = get_local_size(0), first = get_global_id(0) - l;
  if (l == 0) tail = 0, tmp[size] = first;
  LOCAL_WAIT;
  int x = in[first + l];
  // Which place a work-item gets is open; what is in the queue is not.
  if (x & 1) tmp[atomic_add(&tail, 1)] = 1 + (x & 7);
  LOCAL_WAIT;
  int sum = 0;
  for (int k = 0; k < tail; k++) sum += tmp[k];
  out[tmp[size] + l] = MIX(sum, tail);
}
