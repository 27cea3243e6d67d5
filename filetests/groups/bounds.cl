// Regions that most work-items have nothing to do in, and updates of local memory. The arguments are those of
// kernels.cl.

#define GROUP_BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define BEGIN \
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0), k = in[get_group_id(0)] & 15; \
  tmp[l] = in[g]; \
  tmp[l + size] = l; \
  GROUP_BARRIER
#define END \
  GROUP_BARRIER; \
  out[g] = tmp[l] * 31 + tmp[l + size]

// The first, and the last, one, and comparisons of all kinds with what is one for the group.
kernel void compared(global const int *in, global int *out, int n, local int *tmp) {
  BEGIN;
  if (l < 5) tmp[l] += 1;
  GROUP_BARRIER;
  if (l <= k) tmp[l] = tmp[l] * 3 + 1;
  GROUP_BARRIER;
  if (k > l) tmp[l] ^= 77;
  GROUP_BARRIER;
  if (k >= l) tmp[l] -= k;
  GROUP_BARRIER;
  if ((uint)l < (uint)(k - 3)) tmp[l] += 1000;
  GROUP_BARRIER;
  if ((uint)l <= (uint)k / 2u) tmp[l] = -tmp[l];
  GROUP_BARRIER;
  if (l == 0) tmp[size - 1] += 9;
  GROUP_BARRIER;
  if (l == k) tmp[l] += 12345;
  GROUP_BARRIER;
  if (l != k) tmp[l] += 54321;
  GROUP_BARRIER;
  if (l > k) tmp[l] += 7;
  GROUP_BARRIER;
  if (l >= k) tmp[l] *= 7;
  END;
}

// Bounds below zero, of zero, and beyond the group.
kernel void beyond(global const int *in, global int *out, int n, local int *tmp) {
  BEGIN;
  if (l < k - 20) tmp[l] += 1;
  GROUP_BARRIER;
  if (l < k - k) tmp[l] += 2;
  GROUP_BARRIER;
  if (l < 100000) tmp[l] += 3;
  GROUP_BARRIER;
  if (l <= n) tmp[l] += 4;
  GROUP_BARRIER;
  if (l < in[0] - in[0] + INT_MIN) tmp[l] += 5;
  GROUP_BARRIER;
  if (l <= k * 0 + INT_MAX) tmp[l] += 6;
  GROUP_BARRIER;
  if (get_local_id(0) < (size_t)k - 4) tmp[l] += 7;
  GROUP_BARRIER;
  if ((long)get_local_id(0) < (long)k - 4) tmp[l] += 8;
  END;
}

// Sums, several conditions, and those that turn work-items away.
kernel void composed(global const int *in, global int *out, int n, local int *tmp) {
  BEGIN;
  if (l + k < size) tmp[l] += 3;
  GROUP_BARRIER;
  if (l - 3 < k && (l & 1)) tmp[l] ^= 5;
  GROUP_BARRIER;
  if ((l & 2) && l < k) tmp[l] += 8;
  GROUP_BARRIER;
  if (l < k || (l & 1)) tmp[l] += 13;
  GROUP_BARRIER;
  if (!(l >= k || tmp[l] < 0)) tmp[l] += 21;
  GROUP_BARRIER;
  if (l < k) {
    if (l > 2) tmp[l] *= 3;
  } else {
    tmp[l] -= 2;
  }
  GROUP_BARRIER;
  if (k > 7 && l < k) tmp[l] += 34;
  GROUP_BARRIER;
  if (l < (k > 7 ? k : size - k)) tmp[l] += 55;
  END;
}

// Loops in which the work-items of a group share what there is to do.
kernel void shared_work(global const int *in, global int *out, int n, local int *tmp) {
  local int some[32];
  BEGIN;
  for (int i = l; i < 16; i += size) some[i] = i * k;
  GROUP_BARRIER;
  for (int i = k + l; i < 2 * k; i += size) some[i % 16] += i;
  GROUP_BARRIER;
  for (int i = l; i < k; i++) tmp[l] += some[i];
  GROUP_BARRIER;
  int i = l;
  while (i < 3) tmp[size + i] -= 5, i += size;
  END;
}

// What a work-item keeps is kept for those, too, that have nothing to do.
kernel void kept(global const int *in, global int *out, int n, local int *tmp) {
  BEGIN;
  int own = tmp[l] * 5;
  if (l < k) own += l, tmp[l] = own;
  GROUP_BARRIER;
  if (l < 3) tmp[l] = own + 1;
  GROUP_BARRIER;
  tmp[l + size] += own;
  if (g >= n - 3) return;
  GROUP_BARRIER;
  if (l < 7) tmp[l] += own;
  END;
}

// Several rows: the number in dimension 0 ends a row, that in another one does not.
kernel void plane_of_bounds(global const int *in, global int *out, int n, local int *tmp) {
  int x = get_local_id(0), y = get_local_id(1), z = get_local_id(2), w = get_local_size(0), h = get_local_size(1);
  size_t g = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
  int at = (z * h + y) * w + x;
  tmp[at] = in[g];
  GROUP_BARRIER;
  if (x < 3) tmp[at] += 1;
  GROUP_BARRIER;
  if (y < 1) tmp[at] *= 3;
  GROUP_BARRIER;
  if (x < y) tmp[at] += 100;
  GROUP_BARRIER;
  if (x + 1 < w && y + 1 < h) tmp[at] -= 7;
  GROUP_BARRIER;
  out[g] = tmp[at];
}

// Updates of local memory of all kinds, with and without their results, and by some work-items only.
kernel void updates(global const int *in, global int *out, int n, local int *tmp) {
  local int cell[12];
  local uint word[4];
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0), x = in[g];
  for (int i = l; i < 12; i += size) cell[i] = i * 100 - 300;
  for (int i = l; i < 4; i += size) word[i] = i * 1000;
  GROUP_BARRIER;
  atomic_add(&cell[x & 1], x);
  atomic_sub(&cell[2], x);
  atomic_inc(&cell[3]);
  atomic_dec(&cell[4]);
  atomic_and(&cell[5], x | 255);
  atomic_or(&cell[6], x & 255);
  if (x & 1) atomic_xor(&cell[7], x);
  atomic_min(&cell[8], x);
  if (x > 50) atomic_max(&cell[9], x);
  atomic_min(&word[0], (uint)x);
  atomic_max(&word[1], (uint)x);
  if (l == size / 2) tmp[0] = atomic_xchg(&cell[10], x);
  if (atomic_add(&cell[11], 1) >= -299 + 1000) atomic_inc(&word[2]);
  if (l == 0) atomic_cmpxchg(&word[3], 3000u, 7u);
  GROUP_BARRIER;
  int sum = tmp[0];
  for (int i = 0; i < 12; i++) sum = sum * 5 + cell[i];
  for (int i = 0; i < 4; i++) sum = sum * 3 + (int)word[i];
  out[g] = sum;
}
