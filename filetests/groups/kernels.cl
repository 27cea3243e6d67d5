// Kernels with barriers and local memory, of the kinds that suites have. All take the same arguments: `in` and `out`
// have as many elements as there are work-items, `n` is that number, and `tmp` has four elements for each work-item of
// a group.

#define GROUP_BARRIER barrier(CLK_LOCAL_MEM_FENCE)

kernel void tree_reduction(global const int *in, global int *out, int n, local int *tmp) {
  int l = get_local_id(0), size = get_local_size(0);
  tmp[l] = in[get_global_id(0)];
  GROUP_BARRIER;
  for (int s = 1; s < size; s *= 2) {
    if (l % (2 * s) == 0 && l + s < size) tmp[l] += tmp[l + s];
    GROUP_BARRIER;
  }
  out[get_global_id(0)] = tmp[0];
}

kernel void sequential_reduction(global const int *in, global int *out, int n, local int *tmp) {
  int l = get_local_id(0), size = get_local_size(0);
  tmp[l] = in[get_global_id(0)];
  for (int s = size; s > 1;) {
    int middle = (s + 1) / 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l + middle < s) tmp[l] += tmp[l + middle];
    s = middle;
  }
  if (l == 0) out[get_group_id(0)] = tmp[0];
}

kernel void hillis_steele_scan(global const int *in, global int *out, int n, local int *tmp) {
  int l = get_local_id(0), size = get_local_size(0);
  int from = 0, to = size;
  tmp[l] = in[get_global_id(0)];
  GROUP_BARRIER;
  for (int d = 1; d < size; d *= 2) {
    tmp[to + l] = l >= d ? tmp[from + l] + tmp[from + l - d] : tmp[from + l];
    int t = from;
    from = to;
    to = t;
    GROUP_BARRIER;
  }
  out[get_global_id(0)] = tmp[from + l];
}

kernel void blelloch_scan(global const int *in, global int *out, int n, local int *tmp) {
  int l = get_local_id(0), size = get_local_size(0), whole = 1;
  while (whole < size) whole *= 2;
  for (int i = l; i < whole; i += size) tmp[i] = i < size ? in[get_global_id(0) - l + i] : 0;
  int d = 1;
  for (int k = whole / 2; k > 0; k /= 2) {
    GROUP_BARRIER;
    if (l < k) tmp[d * (2 * l + 2) - 1] += tmp[d * (2 * l + 1) - 1];
    d *= 2;
  }
  GROUP_BARRIER;
  if (l == 0) tmp[whole - 1] = 0;
  for (int k = 1; k < whole; k *= 2) {
    d /= 2;
    GROUP_BARRIER;
    if (l < k) {
      int a = d * (2 * l + 1) - 1, b = d * (2 * l + 2) - 1, t = tmp[a];
      tmp[a] = tmp[b];
      tmp[b] += t;
    }
  }
  GROUP_BARRIER;
  out[get_global_id(0)] = tmp[l];
}

kernel void histogram(global const int *in, global int *out, int n, local int *tmp) {
  local int bins[16];
  int l = get_local_id(0), size = get_local_size(0);
  for (int i = l; i < 16; i += size) bins[i] = 0;
  GROUP_BARRIER;
  atomic_add(&bins[in[get_global_id(0)] & 15], 1);
  GROUP_BARRIER;
  for (int i = l; i < 16; i += size) atomic_add(&out[i], bins[i]);
}

kernel void reverse_in_group(global const int *in, global int *out, int n, local int *tmp) {
  int l = get_local_id(0);
  tmp[l] = in[get_global_id(0)];
  GROUP_BARRIER;
  out[get_global_id(0)] = tmp[get_local_size(0) - 1 - l];
}

kernel void stencil_with_halo(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
  tmp[l + 1] = in[g];
  if (l == 0) tmp[0] = g > 0 ? in[g - 1] : 0;
  if (l == size - 1) tmp[size + 1] = g + 1 < n ? in[g + 1] : 0;
  GROUP_BARRIER;
  out[g] = tmp[l] + 2 * tmp[l + 1] + tmp[l + 2];
}

kernel void bitonic_sort(global const int *in, global int *out, int n, local int *tmp) {
  int l = get_local_id(0), size = get_local_size(0), whole = 1;
  while (whole < size) whole *= 2;
  for (int i = l; i < whole; i += size) tmp[i] = i < size ? in[get_global_id(0) - l + i] : INT_MAX;
  for (int k = 2; k <= whole; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      GROUP_BARRIER;
      for (int i = l; i < whole; i += size) {
        int with = i ^ j;
        if (with > i && (tmp[i] > tmp[with]) == ((i & k) == 0)) {
          int t = tmp[i];
          tmp[i] = tmp[with];
          tmp[with] = t;
        }
      }
    }
  GROUP_BARRIER;
  out[get_global_id(0)] = tmp[l];
}

// A value of each work-item is carried around a loop with barriers, as in a tiled product.
kernel void tiles(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0), sum = 0;
  for (int tile = 0; tile + size <= n; tile += size) {
    tmp[l] = in[tile + l];
    GROUP_BARRIER;
    for (int k = 0; k < size; k++) sum += tmp[k] * (k ^ l);
    GROUP_BARRIER;
  }
  out[g] = sum;
}

// Bodies in tiles, with numbers of two kinds across barriers.
kernel void bodies(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
  float at = (float)(in[g] & 255), force = 0.0f;
  for (int tile = 0; tile + size <= n; tile += size) {
    tmp[l] = in[tile + l] & 255;
    GROUP_BARRIER;
    for (int k = 0; k < size; k++) force += (float)tmp[k] - at;
    GROUP_BARRIER;
  }
  out[g] = as_int(force);
}

// Loops in loops, with barriers in both, the inner one with a number of rounds that memory says.
kernel void nested(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0), x = in[g];
  for (int i = 0; i < 3; i++) {
    tmp[l] = x + i;
    GROUP_BARRIER;
    int rounds = (tmp[0] & 3) + i;
    GROUP_BARRIER;
    for (int j = 0; j < rounds; j++) {
      tmp[l] = x;
      GROUP_BARRIER;
      x += tmp[(l + j + 1) % size];
      GROUP_BARRIER;
    }
  }
  out[g] = x;
}

// Barriers in both arms of a branch that the group takes together.
kernel void arms(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0), x = in[g];
  tmp[l] = x;
  if (get_group_id(0) % 2 == 0) {
    GROUP_BARRIER;
    x += tmp[(l + 1) % size];
  } else {
    x *= 3;
    GROUP_BARRIER;
    x -= tmp[size - 1 - l];
    GROUP_BARRIER;
    tmp[l] = x;
    GROUP_BARRIER;
    x ^= tmp[0];
  }
  out[g] = x + l;
}

// An array of each work-item lives across a barrier.
kernel void private_array(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
  int own[8];
  for (int i = 0; i < 8; i++) own[i] = in[g] * i + l;
  tmp[l] = own[in[g] & 7];
  GROUP_BARRIER;
  own[tmp[(l + 1) % size] & 7] += 100;
  int sum = 0;
  for (int i = 0; i < 8; i++) sum = sum * 7 + own[i];
  out[g] = sum;
}

// Some return before the barrier.
kernel void early_return(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
  tmp[l] = in[g];
  if (g >= n - 5) return;
  GROUP_BARRIER;
  int x = tmp[(l + 1) % size];
  for (int i = 0; i < 2; i++) {
    GROUP_BARRIER;
    tmp[l] = x + i;
    GROUP_BARRIER;
    x += tmp[l ? l - 1 : 0];
  }
  out[g] = x;
}

// Barriers first, last and doubled; a helper that has one.
int exchange(local int *tmp, int x, int l, int with) {
  GROUP_BARRIER;
  tmp[l] = x;
  GROUP_BARRIER;
  return tmp[with];
}

kernel void helpers(global const int *in, global int *out, int n, local int *tmp) {
  GROUP_BARRIER;
  GROUP_BARRIER;
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
  int x = exchange(tmp, in[g], l, (l + 1) % size);
  x = exchange(tmp, x * 3, l, size - 1 - l);
  out[g] = x;
  GROUP_BARRIER;
}

// Booleans, wide integers and vectors across barriers.
kernel void kinds(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
  bool odd = in[g] & 1;
  long wide = (long)in[g] * 1000003;
  int4 four = (int4)(in[g], l, in[g] * l, 7) * in[(g + 1) % n];
  tmp[l] = in[g] / 3;
  GROUP_BARRIER;
  int x = tmp[size - 1 - l];
  if (odd) x += (int)(wide >> 7);
  four += x;
  out[g] = x + four.x + four.y * 3 + four.z * 5 + four.w;
}

// A loop without a fixed number of rounds, left by a value that the group agrees on.
kernel void until_equal(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0), x = in[g] & 15;
  int rounds = 0;
  local int changed;
  do {
    GROUP_BARRIER;
    if (l == 0) changed = 0;
    tmp[l] = x;
    GROUP_BARRIER;
    int other = max(tmp[l ? l - 1 : 0], tmp[l + 1 < size ? l + 1 : l]);
    if (other > x) {
      x = other;
      atomic_or(&changed, 1);
    }
    GROUP_BARRIER;
    rounds++;
  } while (changed);
  out[g] = x * 100 + rounds;
}

// In two dimensions: neighbours in a tile.
kernel void plane(global const int *in, global int *out, int n, local int *tmp) {
  int x = get_local_id(0), y = get_local_id(1), w = get_local_size(0), h = get_local_size(1);
  size_t g = get_global_id(1) * get_global_size(0) + get_global_id(0);
  tmp[y * w + x] = in[g];
  GROUP_BARRIER;
  int sum = tmp[y * w + (x + 1) % w] + 3 * tmp[(y + 1) % h * w + x];
  GROUP_BARRIER;
  tmp[y * w + x] = sum;
  GROUP_BARRIER;
  out[g] = sum + tmp[(h - 1 - y) * w + w - 1 - x];
}

// Pointers that are `restrict`: a barrier changes what is there all the same.
kernel void restricted(global const int *restrict in, global int *restrict out, int n, local int *restrict tmp) {
  int g = get_global_id(0), l = get_local_id(0), next = (l + 1) % get_local_size(0);
  tmp[l] = in[g];
  GROUP_BARRIER;
  int a = tmp[next];
  GROUP_BARRIER;
  tmp[l] = a * 3;
  GROUP_BARRIER;
  out[g] = a + tmp[next];
}
