// What the classic suites of GPU kernels do in work-groups. Arguments are those of `kernels.cl`; kernels whose names
// begin with `plane` also run over groups in two and three dimensions.

#define GROUP_BARRIER barrier(CLK_LOCAL_MEM_FENCE)

// A reduction whose last steps are written one by one.
kernel void unrolled_reduction(global const int *in, global int *out, int n, local int *tmp) {
  int l = get_local_id(0), size = get_local_size(0);
  tmp[l] = in[get_global_id(0)] * 3 + 1;
  GROUP_BARRIER;
#define STEP(s) if (l < s && l + s < size) tmp[l] += tmp[l + s]; GROUP_BARRIER
  STEP(128); STEP(64); STEP(32); STEP(16); STEP(8); STEP(4); STEP(2); STEP(1);
#undef STEP
  if (l == 0) out[get_group_id(0)] = tmp[0];
}

// The greatest element and where it is.
kernel void greatest(global const int *in, global int *out, int n, local int *tmp) {
  int l = get_local_id(0), size = get_local_size(0);
  local int *value = tmp, *place = tmp + size;
  value[l] = in[get_global_id(0)], place[l] = l;
  for (int s = size; s > 1; s = (s + 1) / 2) {
    GROUP_BARRIER;
    int other = l + (s + 1) / 2;
    if (other < s && (value[other] > value[l] || value[other] == value[l] && place[other] < place[l])) {
      value[l] = value[other];
      place[l] = place[other];
    }
  }
  if (l == 0) out[get_group_id(0)] = value[0] * 31 + place[0];
}

// The elements that are not negative, side by side and in their order.
kernel void compaction(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0), x = in[g], keep = x >= 0;
  tmp[l] = keep;
  GROUP_BARRIER;
  for (int d = 1; d < size; d *= 2) {
    int before = l >= d ? tmp[l - d] : 0;
    GROUP_BARRIER;
    tmp[l] += before;
    GROUP_BARRIER;
  }
  if (keep) out[g - l + tmp[l] - 1] = x;
}

// A radix sort of the low eight bits, a bit at a time.
kernel void radix_sort(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0), x = in[g] & 255;
  local int *ones = tmp, *sorted = tmp + size;
  for (int bit = 0; bit < 8; bit++) {
    int one = x >> bit & 1;
    ones[l] = one;
    GROUP_BARRIER;
    for (int d = 1; d < size; d *= 2) {
      int before = l >= d ? ones[l - d] : 0;
      GROUP_BARRIER;
      ones[l] += before;
      GROUP_BARRIER;
    }
    int zeros = size - ones[size - 1];
    sorted[one ? zeros + ones[l] - 1 : l - ones[l]] = x;
    GROUP_BARRIER;
    x = sorted[l];
    GROUP_BARRIER;
  }
  out[g] = x;
}

// Neighbours are exchanged where the parity of the round says so.
kernel void odd_even_sort(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
  tmp[l] = in[g];
  for (int round = 0; round < size; round++) {
    GROUP_BARRIER;
    if ((l & 1) == (round & 1) && l + 1 < size && tmp[l] > tmp[l + 1]) {
      int t = tmp[l];
      tmp[l] = tmp[l + 1];
      tmp[l + 1] = t;
    }
  }
  GROUP_BARRIER;
  out[g] = tmp[l];
}

// Each element counts those that come before it.
kernel void rank_sort(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0), x = in[g], rank = 0;
  tmp[l] = x;
  GROUP_BARRIER;
  for (int k = 0; k < size; k++) rank += tmp[k] < x || tmp[k] == x && k < l;
  out[g - l + rank] = x;
}

// A Fourier transform modulo the prime 257 of as many elements as the greatest power of two, up to 256.
kernel void fourier(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0), whole = 1, bits = 0;
  while (2 * whole <= size && whole < 256) whole *= 2, bits++;
  if (l < whole) {
    int to = 0;
    for (int b = 0; b < bits; b++) to |= (l >> b & 1) << (bits - 1 - b);
    tmp[to] = in[g] & 255;
  }
  GROUP_BARRIER;
  for (int apart = 1; apart < whole; apart *= 2) {
    if (l < whole / 2) {
      // The root of order 2 * apart is a power of 3, which has order 256.
      int k = l % apart, a = l / apart * 2 * apart + k, b = a + apart, root = 1, power = k * (128 / apart);
      for (int e = 0; e < power; e++) root = root * 3 % 257;
      int x = tmp[a], y = tmp[b] * root % 257;
      tmp[a] = (x + y) % 257;
      tmp[b] = (x - y + 257) % 257;
    }
    GROUP_BARRIER;
  }
  out[g] = l < whole ? tmp[l] : -1;
}

// The same with floating-point numbers, of which each work-item has a pair, and rotations by halving of angles.
kernel void butterflies(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0), whole = 1;
  while (2 * whole <= size) whole *= 2;
  local float *re = (local float *)tmp, *im = re + size;
  re[l] = (float)(in[g] & 63), im[l] = 0.0f;
  GROUP_BARRIER;
  float c = -1.0f, s = 0.0f;
  for (int apart = whole / 2; apart > 0; apart /= 2) {
    int k = l & (apart - 1), a = (l - k) * 2 + k, b = a + apart;
    float xr = 0, xi = 0, yr = 0, yi = 0;
    bool active = l < whole / 2;
    if (active) xr = re[a], xi = im[a], yr = re[b], yi = im[b];
    GROUP_BARRIER;
    if (active) {
      float dr = xr - yr, di = xi - yi, f = 1.0f - (float)k / (float)apart;
      re[a] = xr + yr, im[a] = xi + yi;
      re[b] = dr * f - di * c, im[b] = dr * c + di * f + s;
    }
    c = c * 0.5f, s = s + 0.25f;
    GROUP_BARRIER;
  }
  out[g] = as_int(re[l]) ^ as_int(im[l]);
}

// Needleman and Wunsch: anti-diagonals of a table of scores, one after the other.
kernel void alignment(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0), own = in[g] & 3;
  local int *letters = tmp, *left = tmp + size, *above = tmp + 2 * size, *corner = tmp + 3 * size;
  letters[l] = in[g] >> 2 & 3;
  // Column l; `above` is what it had in the row before.
  above[l] = -(l + 1);
  left[l] = 0;
  int diagonal = -l, last = 0;
  GROUP_BARRIER;
  for (int step = 0; step < 2 * size - 1; step++) {
    int row = step - l, score = 0;
    bool here = row >= 0 && row < size;
    if (here) {
      int west = l ? left[l - 1] : -(row + 1);
      int match = diagonal + (letters[row] == own ? 2 : -1);
      score = max(match, max(west, above[l]) - 1);
      diagonal = west;
    }
    GROUP_BARRIER;
    if (here) left[l] = above[l] = last = score;
    GROUP_BARRIER;
  }
  out[g] = last;
}

// Gauss without pivots, modulo a prime, of a table with 8 rows.
kernel void elimination(global const int *in, global int *out, int n, local int *tmp) {
  local int a[8][8];
  int l = get_local_id(0), size = get_local_size(0), g = get_global_id(0);
  for (int i = l; i < 64; i += size) a[i / 8][i % 8] = (in[(g - l + i) % n] & 1023) + (i / 8 == i % 8 ? 2000 : 0);
  GROUP_BARRIER;
  for (int k = 0; k < 7; k++) {
    for (int i = k + 1 + l; i < 8; i += size) a[i][k] = a[i][k] * 7 % 1009;
    GROUP_BARRIER;
    for (int e = l; e < (7 - k) * (7 - k); e += size) {
      int i = k + 1 + e / (7 - k), j = k + 1 + e % (7 - k);
      a[i][j] = (a[i][j] - a[i][k] * a[k][j] % 1009 + 1009) % 1009;
    }
    GROUP_BARRIER;
  }
  out[g] = a[l / 8 % 8][l % 8];
}

// Shortest ways between eight places.
kernel void shortest_ways(global const int *in, global int *out, int n, local int *tmp) {
  local int way[64];
  int l = get_local_id(0), size = get_local_size(0), g = get_global_id(0);
  for (int i = l; i < 64; i += size) way[i] = i / 8 == i % 8 ? 0 : in[(g - l + i) % n] & 255;
  GROUP_BARRIER;
  for (int k = 0; k < 8; k++) {
    for (int i = l; i < 64; i += size) {
      int by = way[i / 8 * 8 + k] + way[k * 8 + i % 8];
      if (i / 8 != k && i % 8 != k && by < way[i]) way[i] = by;
    }
    GROUP_BARRIER;
  }
  out[g] = way[l % 64];
}

// One step of k-means with four centres.
kernel void centres(global const int *in, global int *out, int n, local int *tmp) {
  local int sum[4], count[4], centre[4];
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0), x = in[g] & 1023;
  for (int i = l; i < 4; i += size) centre[i] = i * 300;
  for (int round = 0; round < 3; round++) {
    for (int i = l; i < 4; i += size) sum[i] = count[i] = 0;
    GROUP_BARRIER;
    int nearest = 0, best = 1 << 20;
    for (int c = 0; c < 4; c++) {
      int d = x - centre[c];
      if (d * d < best) best = d * d, nearest = c;
    }
    atomic_add(&sum[nearest], x);
    atomic_add(&count[nearest], 1);
    GROUP_BARRIER;
    for (int i = l; i < 4; i += size)
      if (count[i]) centre[i] = sum[i] / count[i];
    GROUP_BARRIER;
  }
  out[g] = centre[l & 3];
}

// Levels of a graph whose edges lead to 2i + 1 and 2i + 2, by a queue of the group.
kernel void levels(global const int *in, global int *out, int n, local int *tmp) {
  local int filled, next;
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
  local int *queue = tmp, *level = tmp + 2 * size;
  level[l] = l ? -1 : 0;
  if (l == 0) queue[0] = 0, filled = 1, next = 0;
  GROUP_BARRIER;
  for (int depth = 1; depth < 10; depth++) {
    int begin = next, end = filled;
    GROUP_BARRIER;
    if (begin == end) break;
    if (l == 0) next = end;
    for (int q = begin + l; q < end; q += size)
      for (int e = 1; e <= 2; e++) {
        int to = 2 * queue[q] + e;
        if (to < size && level[to] < 0) level[to] = depth, queue[atomic_add(&filled, 1)] = to;
      }
    GROUP_BARRIER;
  }
  out[g] = level[l];
}

// A sparse product, the elements of a row by all work-items.
kernel void sparse_row(global const int *in, global int *out, int n, local int *tmp) {
  int group = get_group_id(0), l = get_local_id(0), size = get_local_size(0), sum = 0;
  int begin = group * 5 % n, end = begin + (in[group] & 31);
  for (int e = begin + l; e < end; e += size) sum += (e * 7 & 15) * in[((uint)e * e + 3u) % (uint)n];
  tmp[l] = sum;
  GROUP_BARRIER;
  for (int s = size; s > 1; s = (s + 1) / 2) {
    int middle = (s + 1) / 2;
    if (l + middle < s) tmp[l] += tmp[l + middle];
    GROUP_BARRIER;
  }
  if (l == 0) out[group] = tmp[0];
}

// A convolution with nine weights and a halo.
kernel void convolution(global const int *in, global int *out, int n, local int *tmp) {
  local int weights[9];
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0), first = g - l - 4, sum = 0;
  for (int i = l; i < 9; i += size) weights[i] = i * i - 7;
  for (int i = l; i < size + 8 && i < 4 * size; i += size) {
    int at = first + i;
    tmp[i] = at >= 0 && at < n ? in[at] : 0;
  }
  GROUP_BARRIER;
  for (int k = 0; k < 9; k++) sum += l + k < 4 * size ? tmp[l + k] * weights[k] : k;
  out[g] = sum;
}

// A Mersenne twister of 16 words, which the work-items share.
kernel void twister(global const int *in, global int *out, int n, local int *tmp) {
  local uint state[16];
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
  for (int i = l; i < 16; i += size) state[i] = 1812433253u * (uint)(in[(g - l) % n] + i) + i;
  GROUP_BARRIER;
  uint all = 0;
  for (int round = 0; round < 5; round++) {
    uint x[16];
    for (int i = l; i < 16; i += size) {
      uint y = (state[i] & 0x80000000u) | (state[(i + 1) % 16] & 0x7fffffffu);
      x[i] = state[(i + 9) % 16] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    GROUP_BARRIER;
    for (int i = l; i < 16; i += size) state[i] = x[i];
    GROUP_BARRIER;
    uint y = state[l % 16];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    all = all * 31 + (y ^ y >> 18);
  }
  out[g] = all;
}

// A histogram in which each work-item counts for itself, and then each adds up some bins.
kernel void own_histograms(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
  for (int b = 0; b < 4; b++) tmp[b * size + l] = 0;
  for (int i = 0; i < 6; i++) tmp[(in[(g + i * 7) % n] & 3) * size + l]++;
  GROUP_BARRIER;
  for (int b = l; b < 4; b += size) {
    int sum = 0;
    for (int i = 0; i < size; i++) sum += tmp[b * size + i];
    int at = get_group_id(0) * 4 + b;
    if (at < n) out[at] = sum;
  }
}

// Rounds of the game of life in a ring.
kernel void life(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0), alive = in[g] & 1;
  for (int round = 0; round < 4; round++) {
    tmp[l] = alive;
    GROUP_BARRIER;
    int around = tmp[(l + 1) % size] + tmp[(l + size - 1) % size] + tmp[(l + 2) % size];
    alive = around == 2 || alive && around == 1;
    GROUP_BARRIER;
  }
  out[g] = alive;
}

// A product of matrices in tiles, all of which are that of the group.
kernel void plane_product(global const int *in, global int *out, int n, local int *tmp) {
  int x = get_local_id(0), y = get_local_id(1), w = get_local_size(0), h = get_local_size(1), z = get_local_id(2);
  int width = get_global_size(0), height = get_global_size(1);
  int column = get_global_id(0), row = get_global_id(1), sum = 0;
  local int *a = tmp + z * 2 * w * h, *b = a + w * h;
  for (int tile = 0; tile < width; tile += w) {
    a[y * w + x] = in[row * width + tile + x];
    b[y * w + x] = in[(tile + y) % height * width + column];
    GROUP_BARRIER;
    for (int k = 0; k < w; k++) sum += a[y * w + k] * b[k % h * w + x];
    GROUP_BARRIER;
  }
  out[(get_global_id(2) * height + row) * width + column] = sum;
}

// A transpose within tiles.
kernel void plane_transpose(global const int *in, global int *out, int n, local int *tmp) {
  int x = get_local_id(0), y = get_local_id(1), z = get_local_id(2), w = get_local_size(0), h = get_local_size(1);
  size_t g = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
  local int *tile = tmp + z * w * h;
  tile[x * h + y] = in[g];
  GROUP_BARRIER;
  out[g] = tile[y * w + x];
}

// Heat in a plate, with walls that are cold.
kernel void plane_heat(global const int *in, global int *out, int n, local int *tmp) {
  int x = get_local_id(0), y = get_local_id(1), z = get_local_id(2), w = get_local_size(0), h = get_local_size(1);
  size_t g = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
  local int *plate = tmp + z * w * h;
  int heat = in[g];
  for (int round = 0; round < 3; round++) {
    plate[y * w + x] = heat;
    GROUP_BARRIER;
    int west = x ? plate[y * w + x - 1] : 0, east = x + 1 < w ? plate[y * w + x + 1] : 0;
    int north = y ? plate[(y - 1) * w + x] : 0, south = y + 1 < h ? plate[(y + 1) * w + x] : 0;
    heat = (west + east + north + south) / 4;
    GROUP_BARRIER;
  }
  out[g] = heat;
}

// A value of the outer loop is used in an inner one that has the barrier.
kernel void values_of_outer_loops(global const int *in, global int *out, int n, local int *tmp) {
  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0), sum = 0, x = l;
  for (int i = 0; i < 3; i++) {
    int own = in[(g * 3 + i * x) % n] & 1023, agreed = in[i % n] & 3;
    for (int j = 0; j < 2; j++) {
      sum += own * (j + 1) + agreed;
      tmp[l] = sum;
      GROUP_BARRIER;
      x = tmp[(l + 1) % size] & 63;
      GROUP_BARRIER;
    }
  }
  out[g] = sum * 7 + x;
}
