// Kernels as the suites of GPU programs write them: spellings with underscores, numbers of all kinds in one expression,
// macros, structures, vectors, helpers, tables in two dimensions, returns where there is nothing to do. Arguments are
// those of `kernels.cl`.

#define BLOCK 16
#define SYNC barrier(CLK_LOCAL_MEM_FENCE)
#define IDX(y, x, w) ((y) * (w) + (x))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define CLAMP(x, lo, hi) MIN(MAX(x, lo), hi)

typedef struct { float x, y, z, w; } body_t;
typedef struct { int start, count; } node_t;
typedef struct __attribute__((packed)) { uchar r, g, b, a; } pixel_t;
typedef unsigned int u32;

__constant float filter5[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
__constant uint permutation[8] = {3, 1, 7, 5, 0, 2, 6, 4};

// Vectors of four added by each, with a step of the whole range.
__kernel void reduce_grid_stride(__global const int *g_idata, __global int *g_odata, int n, __local int *sdata) {
  const unsigned int tid = get_local_id(0);
  const unsigned int stride = get_global_size(0);
  unsigned int i = get_global_id(0);
  sdata[tid] = 0;
  while (i < (unsigned int)n) {
    sdata[tid] += g_idata[i] & 1023;
    i += stride;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (unsigned int s = 512; s > 0; s >>= 1) {
    if (tid < s && tid + s < get_local_size(0)) sdata[tid] += sdata[tid + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (tid == 0) g_odata[get_group_id(0)] = sdata[0];
}

// Two elements of each block are added while they are loaded.
__kernel void reduce_first_add(__global const int *g_idata, __global int *g_odata, int n, __local int *sdata) {
  unsigned int tid = get_local_id(0), size = get_local_size(0);
  unsigned int i = (get_group_id(0) >> 1) * (size * 2) + tid;
  sdata[tid] = (i < n) ? g_idata[i] : 0;
  if (i + size < n) sdata[tid] += g_idata[i + size];
  SYNC;
  for (unsigned int s = 128; s > 0; s >>= 1) {
    if (tid < s && tid + s < size) sdata[tid] += sdata[tid + s];
    SYNC;
  }
  if (tid == 0) g_odata[get_group_id(0)] = sdata[0];
}

// A scan over pairs with padding between banks.
#define CONFLICT_FREE_OFFSET(index) ((index) >> 4)
__kernel void scan_best(__global const int *in, __global int *out, int n, __local int *temp) {
  const int thid = get_local_id(0), size = (int)get_local_size(0);
  const int ai = thid + CONFLICT_FREE_OFFSET(thid);
  temp[ai] = in[get_global_id(0)] & 255;
  SYNC;
  int sum = temp[ai];
  for (uint offset = 1; offset < (uint)size; offset <<= 1) {
    const int from = thid - (int)offset;
    const int other = from >= 0 ? temp[from + CONFLICT_FREE_OFFSET(from)] : 0;
    SYNC;
    sum += other;
    temp[ai] = sum;
    SYNC;
  }
  out[get_global_id(0)] = sum;
}

// A stencil in one dimension with a halo on both sides, loaded by those at the borders.
#define RADIUS 3
__kernel void stencil_1d(__global const int *in, __global int *out, int n, __local int *temp) {
  const int gindex = get_global_id(0), lindex = get_local_id(0) + RADIUS, size = get_local_size(0);
  temp[lindex] = in[gindex];
  if (get_local_id(0) < RADIUS && get_local_id(0) < size) {
    temp[lindex - RADIUS] = gindex >= RADIUS ? in[gindex - RADIUS] : 0;
  }
  if ((int)get_local_id(0) >= size - RADIUS) {
    temp[lindex + RADIUS] = gindex + RADIUS < n ? in[gindex + RADIUS] : 0;
  }
  SYNC;
  int result = 0;
  for (int offset = -RADIUS; offset <= RADIUS; offset++) {
    int at = lindex + offset;
    if (size >= RADIUS || (at >= RADIUS && at < RADIUS + size)) result += temp[at];
  }
  out[gindex] = result;
}

// Heat in a tile with borders, in steps that shrink what is right.
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
__kernel void plane_hotspot(__global const int *power, __global int *temp_dst, int n, __local int *tile) {
  int tx = get_local_id(0), ty = get_local_id(1), bx = get_group_id(0), by = get_group_id(1);
  int w = get_local_size(0), h = get_local_size(1), cols = get_global_size(0), rows = get_global_size(1);
  int z = get_global_id(2) * cols * rows, base = get_local_id(2) * w * h;
  int col = bx * w + tx, row = by * h + ty, index = z + cols * row + col;
  __local int *temp_on_chip = tile + base;
  temp_on_chip[IDX(ty, tx, w)] = power[index] & 4095;
  SYNC;
  bool computed = false;
  int value = 0;
  for (int i = 0; i < 2; i++) {
    computed = false;
    if (IN_RANGE(tx, i + 1, w - i - 2) && IN_RANGE(ty, i + 1, h - i - 2)) {
      computed = true;
      value = temp_on_chip[IDX(ty, tx, w)] + ((power[index] & 255) + temp_on_chip[IDX(ty + 1, tx, w)] +
              temp_on_chip[IDX(ty - 1, tx, w)] - 2 * temp_on_chip[IDX(ty, tx, w)] + temp_on_chip[IDX(ty, tx + 1, w)] +
              temp_on_chip[IDX(ty, tx - 1, w)]) / 8;
    }
    SYNC;
    if (i == 1) break;
    if (computed) temp_on_chip[IDX(ty, tx, w)] = value;
    SYNC;
  }
  temp_dst[index] = computed ? value : temp_on_chip[IDX(ty, tx, w)];
}

// The shortest ways through a grid, row by row.
__kernel void pathfinder(__global const int *gpuWall, __global int *gpuResults, int cols, __local int *prev) {
  int tx = get_local_id(0), size = get_local_size(0), xidx = get_global_id(0);
  __local int *result = prev + size;
  prev[tx] = gpuWall[xidx] & 15;
  SYNC;
  for (int i = 0; i < 4; i++) {
    int W = tx - 1 < 0 ? 0 : tx - 1, E = tx + 1 > size - 1 ? size - 1 : tx + 1;
    int left = prev[W], up = prev[tx], right = prev[E];
    int shortest = MIN(left, up);
    shortest = MIN(shortest, right);
    result[tx] = shortest + (gpuWall[(cols + xidx - i * size) % cols] & 15);
    SYNC;
    prev[tx] = result[tx];
    SYNC;
  }
  gpuResults[xidx] = prev[tx];
}

// Edges of a graph are followed by flags in memory.
__kernel void bfs_kernel1(__global const int *g_edges, __global int *g_cost, int no_of_nodes, __local int *mask) {
  int tid = get_global_id(0), lid = get_local_id(0), size = get_local_size(0);
  node_t node;
  node.start = (lid * 2) % size;
  node.count = g_edges[tid] & 3;
  mask[lid] = lid == 0;
  mask[lid + size] = lid == 0 ? 0 : -1;
  SYNC;
  for (int level = 1; level <= 3; level++) {
    int frontier = mask[lid];
    SYNC;
    mask[lid] = 0;
    SYNC;
    if (frontier != 0) {
      for (int i = node.start; i < (node.count + node.start); i++) {
        int id = i % size;
        if (mask[id + size] < 0) {
          atomic_cmpxchg((volatile __local u32 *)&mask[id + size], 0xffffffffu, (u32)level);
          atomic_or(&mask[id], 1);
        }
      }
    }
    SYNC;
  }
  if (tid < no_of_nodes) g_cost[tid] = mask[lid + size];
}

// Distances of points with many features to centres, transposed.
__kernel void kmeans_kernel_c(__global const int *feature, __global int *membership, int npoints, __local int *clusters) {
  unsigned int point_id = get_global_id(0);
  const int nclusters = 4, nfeatures = 3;
  int index = 0;
  if (get_local_id(0) == 0)
    for (int i = 0; i < nclusters * nfeatures; i++) clusters[i] = feature[(i * 37) % npoints] & 63;
  SYNC;
  if (point_id < npoints) {
    float min_dist = FLT_MAX;
    for (int i = 0; i < nclusters; i++) {
      float ans = 0;
      for (int l = 0; l < nfeatures; l++) {
        float d = (float)(feature[(l * 5 + point_id) % (uint)npoints] & 63) - (float)clusters[i * nfeatures + l];
        ans += d * d;
      }
      if (ans < min_dist) {
        min_dist = ans;
        index = i;
      }
    }
    membership[point_id] = index;
  }
}

// Distances to a place; most of the work is left out where there is none.
__kernel void nearest_neighbor(__global const int *locations, __global int *distances, const int numRecords,
                               __local int *unused) {
  size_t globalId = get_global_id(0);
  if (globalId >= numRecords) return;
  __global const int *latLong = locations + globalId;
  __global int *dist = distances + globalId;
  int lat = *latLong & 255, lng = (*latLong >> 3) & 255;
  *dist = (30 - lat) * (30 - lat) + (90 - lng) * (90 - lng);
}

// A column of Gauss, in which most work-items return.
__kernel void fan1(__global const int *a, __global int *m, const int size, __local int *unused) {
  int globalId = get_global_id(0), t = 2;
  if (globalId < size - 1 - t) {
    *(m + size - 1 - globalId) = *(a + globalId + t + 1) * 3 + *(a + t);
  }
}

// LU of the diagonal block, as a triangle of a local table.
__kernel void lud_diagonal(__global const int *m, __global int *out, int matrix_dim, __local int *unused) {
  __local int shadow[BLOCK][BLOCK + 1];
  int tx = get_local_id(0), size = get_local_size(0), offset = get_group_id(0) * size;
  for (int i = 0; i < BLOCK; i++)
    for (int x = tx; x < BLOCK; x += size) shadow[i][x] = (m[(offset + i * BLOCK + x) % matrix_dim] & 7) + (i == x) * 9;
  SYNC;
  for (int i = 0; i < BLOCK - 1; i++) {
    for (int x = tx; x < BLOCK; x += size)
      if (x > i) {
        for (int j = 0; j < i; j++) shadow[x][i] -= shadow[x][j] * shadow[j][i] % 7;
        shadow[x][i] %= 101;
      }
    SYNC;
    for (int x = tx; x < BLOCK; x += size)
      if (x > i) {
        for (int j = 0; j < i + 1; j++) shadow[i + 1][x] -= shadow[i + 1][j] * shadow[j][x] % 5;
        shadow[i + 1][x] %= 103;
      }
    SYNC;
  }
  out[get_global_id(0)] = shadow[tx % BLOCK][(tx / BLOCK + tx) % BLOCK];
}

// A wavefront over a block of an alignment.
int maximum(int a, int b, int c) {
  int k;
  if (a <= b) k = b; else k = a;
  if (k <= c) return c; else return k;
}
__kernel void nw_block(__global const int *reference, __global int *out, int n, __local int *unused) {
  __local int input_itemsets_l[(BLOCK + 1) * (BLOCK + 1)];
  __local int reference_l[BLOCK * BLOCK];
  int tx = get_local_id(0), size = get_local_size(0), base = get_group_id(0) * size;
  for (int k = tx; k < (BLOCK + 1) * (BLOCK + 1); k += size) input_itemsets_l[k] = -(k / (BLOCK + 1) + k % (BLOCK + 1));
  for (int k = tx; k < BLOCK * BLOCK; k += size) reference_l[k] = (reference[(base + k) % n] & 7) - 3;
  SYNC;
  for (int m = 0; m < 2 * BLOCK - 1; m++) {
    for (int x = tx; x < BLOCK; x += size) {
      int y = m - x;
      if (y >= 0 && y < BLOCK) {
        int t_index_x = x + 1, t_index_y = y + 1;
        input_itemsets_l[IDX(t_index_y, t_index_x, BLOCK + 1)] =
            maximum(input_itemsets_l[IDX(t_index_y - 1, t_index_x - 1, BLOCK + 1)] + reference_l[IDX(y, x, BLOCK)],
                    input_itemsets_l[IDX(t_index_y, t_index_x - 1, BLOCK + 1)] - 2,
                    input_itemsets_l[IDX(t_index_y - 1, t_index_x, BLOCK + 1)] - 2);
      }
    }
    SYNC;
  }
  out[get_global_id(0)] = input_itemsets_l[IDX(BLOCK, 1 + tx % BLOCK, BLOCK + 1)];
}

// Sums of squares in two arrays at once, of a number of elements that is no power of two.
__kernel void srad_reduce(__global const int *d_I, __global int *d_sums, int d_Ne, __local int *d_psum) {
  int bx = get_group_id(0), tx = get_local_id(0), ei = get_global_id(0), size = get_local_size(0);
  __local int *d_psum2 = d_psum + size;
  int nf = size - (bx + 1 == get_num_groups(0) ? size / 3 : 0);
  int value = d_I[ei] & 31;
  d_psum[tx] = value;
  d_psum2[tx] = value * value;
  SYNC;
  for (int i = 2; i <= 2 * size; i = 2 * i) {
    if ((tx + 1) % i == 0 && tx < nf && tx - i / 2 >= 0) {
      d_psum[tx] = d_psum[tx] + d_psum[tx - i / 2];
      d_psum2[tx] = d_psum2[tx] + d_psum2[tx - i / 2];
    }
    SYNC;
  }
  d_sums[ei] = d_psum[tx] * 3 + d_psum2[size - 1];
}

// The histogram of a group in private columns of bytes.
__kernel void histogram_bytes(__global const int *data, __global int *result, int n, __local int *shared_int) {
  __local uchar *sharedArray = (__local uchar *)shared_int;
  size_t localId = get_local_id(0), groupSize = get_local_size(0);
  for (int i = 0; i < 8; ++i) sharedArray[localId + groupSize * i] = 0;
  SYNC;
  for (int i = 0; i < 5; ++i) {
    uint value = (uint)data[(get_global_id(0) + i * groupSize) % (size_t)n] & 7u;
    sharedArray[value * groupSize + localId]++;
  }
  SYNC;
  for (uint bin = localId; bin < 8; bin += groupSize) {
    uint binCount = 0;
    for (size_t j = 0; j < groupSize; ++j) binCount += sharedArray[bin * groupSize + j];
    size_t at = get_group_id(0) * 8 + bin;
    if (at < n) result[at] = binCount;
  }
}

// Votes of a warp by flags.
__kernel void histogram256(__global const int *d_Data, __global int *d_Histogram, int dataCount, __local int *l_Hist) {
  __local uint hist[64];
  for (uint i = get_local_id(0); i < 64; i += get_local_size(0)) hist[i] = 0;
  SYNC;
  for (uint pos = get_global_id(0); pos < dataCount; pos += get_global_size(0)) {
    uint data4 = (uint)d_Data[pos];
    atomic_inc(&hist[(data4 >> 0) & 63]);
    atomic_inc(&hist[(data4 >> 6) & 63]);
  }
  SYNC;
  for (uint pos = get_local_id(0); pos < 64; pos += get_local_size(0)) {
    uint at = get_group_id(0) * 64 + pos;
    if (at < dataCount) d_Histogram[at] = hist[pos];
  }
}

// Forces between bodies in tiles of vectors of four.
__kernel void nbody_sim(__global const int *pos_in, __global int *out, int numBodies, __local int *shared) {
  __local float4 localPos[256];
  unsigned int tid = get_local_id(0), gid = get_global_id(0), localSize = get_local_size(0);
  unsigned int numTiles = MIN(numBodies / (int)localSize, 3);
  int raw = pos_in[gid];
  float4 myPos = (float4)(raw & 15, (raw >> 2) & 15, (raw >> 4) & 15, 1.0f);
  float4 acc = (float4)(0.0f, 0.0f, 0.0f, 0.0f);
  for (uint i = 0; i < numTiles; ++i) {
    int other = pos_in[i * localSize + tid];
    localPos[tid] = (float4)(other & 15, (other >> 2) & 15, (other >> 4) & 15, 2.0f);
    SYNC;
    for (uint j = 0; j < localSize; ++j) {
      float4 r = localPos[j] - myPos;
      float distSqr = r.x * r.x + r.y * r.y + r.z * r.z;
      float s = localPos[j].w * (distSqr + 0.5f);
      acc.xyz += s * r.xyz;
    }
    SYNC;
  }
  out[gid] = as_int(acc.x + acc.y * 2.0f + acc.z * 4.0f);
}

// A product in square tiles of two tables.
__kernel void plane_matrix_mul(__global const int *A, __global int *C, int n, __local int *unused) {
  __local int As[32][33];
  __local int Bs[32][33];
  int tx = get_local_id(0), ty = get_local_id(1), w = get_local_size(0), h = get_local_size(1);
  int cols = get_global_size(0), rows = get_global_size(1), z = get_global_id(2);
  int sum = 0, tiles = 2, one = get_local_size(2) == 1 && w <= 32 && h <= 32;
  int row = get_global_id(1), col = get_global_id(0);
  if (!one) {
    C[(z * rows + row) * cols + col] = A[row * cols + col];
    return;
  }
  for (int t = 0; t < tiles; ++t) {
    As[ty][tx] = A[(row * cols + t * w + tx) % n] & 63;
    Bs[ty][tx] = A[((t * h + ty) * cols + col) % n] & 63;
    SYNC;
#pragma unroll
    for (int k = 0; k < MIN(w, h); ++k) sum += As[ty][k] * Bs[k][tx];
    SYNC;
  }
  C[(z * rows + row) * cols + col] = sum;
}

// A transpose through a tile with a column more, as all tutorials have it.
__kernel void plane_transpose_padded(__global const int *idata, __global int *odata, int n, __local int *block) {
  unsigned int w = get_local_size(0), h = get_local_size(1), width = get_global_size(0), height = get_global_size(1);
  unsigned int xIndex = get_global_id(0), yIndex = get_global_id(1), z = get_global_id(2);
  __local int *tile = block + get_local_id(2) * h * (w + 1);
  unsigned int index_in = (z * height + yIndex) * width + xIndex;
  tile[get_local_id(1) * (w + 1) + get_local_id(0)] = idata[index_in];
  SYNC;
  if (w == h) {
    xIndex = get_group_id(1) * h + get_local_id(0);
    yIndex = get_group_id(0) * w + get_local_id(1);
    unsigned int index_out = (z * width + yIndex) * height + xIndex;
    odata[index_out] = tile[get_local_id(0) * (w + 1) + get_local_id(1)];
  } else {
    odata[index_in] = tile[get_local_id(1) * (w + 1) + get_local_id(0)] + 1;
  }
}

// A convolution along rows with an apron.
__kernel void convolution_rows(__global const int *d_Src, __global int *d_Dst, int dataW, __local int *data) {
  const int tid = get_local_id(0), size = get_local_size(0), start = get_group_id(0) * size;
  const int apronStart = start - 2, apronStartClamped = MAX(apronStart, 0);
  for (int pos = tid; pos < size + 4; pos += size) {
    int at = apronStart + pos;
    data[pos] = at >= apronStartClamped && at < dataW ? d_Src[at] & 255 : 0;
  }
  SYNC;
  float sum = 0.0f;
#pragma unroll 5
  for (int k = -2; k <= 2; k++) sum += (float)data[tid + 2 + k] * filter5[2 - k];
  d_Dst[start + tid] = (int)(sum * 16.0f);
}

// Exchanges of a bitonic sort of keys and values.
void ComparatorPrivate(__local int *keyA, __local int *valA, __local int *keyB, __local int *valB, uint dir) {
  if ((*keyA > *keyB) == dir) {
    int t = *keyA;
    *keyA = *keyB;
    *keyB = t;
    t = *valA;
    *valA = *valB;
    *valB = t;
  }
}
__kernel void bitonic_sort_local(__global const int *d_SrcKey, __global int *d_DstKey, int n, __local int *l_key) {
  const uint lid = get_local_id(0), size = get_local_size(0);
  __local int *l_val = l_key + 2 * size;
  uint arrayLength = 1;
  while (arrayLength * 2 <= 2 * size) arrayLength *= 2;
  for (uint i = lid; i < 2 * size; i += size) l_key[i] = d_SrcKey[(get_group_id(0) * size + i) % (uint)n], l_val[i] = i;
  for (uint len = 2; len < arrayLength; len <<= 1) {
    uint dir = ((lid & (len / 2)) != 0);
    for (uint stride = len / 2; stride > 0; stride >>= 1) {
      SYNC;
      uint pos = 2 * lid - (lid & (stride - 1));
      if (pos + stride < arrayLength)
        ComparatorPrivate(&l_key[pos + 0], &l_val[pos + 0], &l_key[pos + stride], &l_val[pos + stride], dir);
    }
  }
  SYNC;
  d_DstKey[get_global_id(0)] = l_key[lid] * 3 + l_val[lid] % 2;
}

// A sparse product, a row of each, in a format that is padded.
__kernel void spmv_ellpackr(__global const int *val, __global int *out, const int dim, __local int *rowLengths) {
  uint t = get_global_id(0);
  rowLengths[get_local_id(0)] = val[t] & 7;
  SYNC;
  if (t < dim) {
    int result = 0;
    int max = rowLengths[get_local_id(0)];
    for (int i = 0; i < max; i++) {
      int ind = (i * 17 + t) % dim;
      result += (val[ind] & 255) * val[(ind + i) % dim];
    }
    out[t] = result;
  }
}

// A sparse product, a row of several work-items that add up what they have.
__kernel void spmv_csr_vector(__global const int *val, __global int *out, const int dim, __local int *partialSums) {
  int t = get_local_id(0), size = get_local_size(0), vecsPerGroup = MAX(size / 4, 1);
  int id = t & 3, row = get_group_id(0) * vecsPerGroup + t / 4;
  partialSums[t] = 0;
  int vecStart = row * 3, vecEnd = vecStart + (val[row % dim] & 15), mySum = 0;
  for (int j = vecStart + id; j < vecEnd; j += 4) mySum += val[j % dim] * (j & 3);
  partialSums[t] = mySum;
  SYNC;
  if (id < 2 && t + 2 < size) partialSums[t] += partialSums[t + 2];
  SYNC;
  if (id == 0 && t + 1 < size) partialSums[t] += partialSums[t + 1];
  SYNC;
  // Work-items behind the last whole row of a group would write a row of the next group, which may run meanwhile.
  if (id == 0 && row < dim && t / 4 < vecsPerGroup) out[row] = partialSums[t];
}

// Steps of an FFT of eight points by each, with an exchange in between.
typedef struct { int x, y; } cplx;
cplx cadd(cplx a, cplx b) { cplx r = {a.x + b.x, a.y + b.y}; return r; }
cplx csub(cplx a, cplx b) { cplx r = {a.x - b.x, a.y - b.y}; return r; }
#define FFT2(c0, c1) { cplx t = c0; c0 = cadd(t, c1); c1 = csub(t, c1); }
__kernel void fft_8(__global const int *work, __global int *out, int n, __local int *smem) {
  int tid = get_local_id(0), size = get_local_size(0);
  cplx data[8];
  for (int i = 0; i < 8; i++) data[i].x = (work[(get_global_id(0) + i * size) % (uint)n]) & 127, data[i].y = i;
  FFT2(data[0], data[4]) FFT2(data[1], data[5]) FFT2(data[2], data[6]) FFT2(data[3], data[7])
  FFT2(data[0], data[2]) FFT2(data[1], data[3]) FFT2(data[4], data[6]) FFT2(data[5], data[7])
  for (int i = 0; i < 2; i++) smem[i * size + tid] = data[i].x;
  SYNC;
  for (int i = 0; i < 2; i++) data[i].x = smem[i * size + (tid * 3) % size];
  SYNC;
  for (int i = 0; i < 2; i++) smem[i * size + tid] = data[i + 4].y;
  SYNC;
  for (int i = 0; i < 2; i++) data[i].y = smem[i * size + size - 1 - tid];
  int sum = 0;
  for (int i = 0; i < 8; i++) sum = sum * 5 + data[i].x - data[permutation[i]].y;
  out[get_global_id(0)] = sum;
}

// Digits of four bits are counted, scanned and put in order.
uint4 scan4(uint4 v, __local uint *t) {
  uint l = get_local_id(0), size = get_local_size(0);
  uint4 sum = v;
  t[l] = v.x + v.y + v.z + v.w;
  SYNC;
  uint before = 0;
  for (uint k = 0; k < l; k++) before += t[k];
  SYNC;
  sum.y += sum.x;
  sum.z += sum.y;
  sum.w += sum.z;
  return sum - v + (uint4)(before);
}
__kernel void radix_counts(__global const int *keys, __global int *out, int n, __local int *tmp) {
  uint4 key = (uint4)(keys[get_global_id(0)], keys[(get_global_id(0) + 1) % (uint)n], 3u, get_local_id(0));
  uint4 bit = (key >> 2u) & (uint4)(1u);
  uint4 at = scan4(bit, (__local uint *)tmp);
  out[get_global_id(0)] = at.x * 3u + at.y * 5u + at.z * 7u + at.w;
}

// Pixels of four bytes become grey ones.
__kernel void grey(__global const int *in, __global int *out, int n, __local int *unused) {
  size_t i = get_global_id(0);
  if (i >= (size_t)n) return;
  __global const pixel_t *pixels = (__global const pixel_t *)in;
  pixel_t p = pixels[i];
  uchar y = (uchar)((p.r * 77 + p.g * 150 + p.b * 29) >> 8);
  out[i] = y | y << 8 | y << 16 | p.a << 24;
}

// An edge filter with neighbours on both sides, by vectors of bytes.
int4 unpacked(int x) { return (int4)(x & 255, x >> 8 & 255, x >> 16 & 255, x >> 24 & 255); }
__kernel void sobel_row(__global const int *in, __global int *out, int n, __local int *unused) {
  uint x = get_global_id(0), width = get_global_size(0);
  if (x >= 1 && x < (width - 1)) {
    int4 i00 = unpacked(in[x - 1]), i10 = unpacked(in[x]);
    int4 i20 = unpacked(in[x + 1]);
    int4 gx = i00 + 2 * i10 - i20;
    out[x] = gx.x + gx.y * 3 + gx.z * 5 + gx.w * 7;
  }
}

// Random numbers by shifts, a state of each in private memory.
uint xorshift(uint *state) {
  uint x = *state;
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  return *state = x;
}
__kernel void monte_carlo(__global const int *seeds, __global int *out, int n, __local int *hits) {
  uint state = (uint)seeds[get_global_id(0)] * 2u + 1u;
  int inside = 0;
  for (int i = 0; i < 16; i++) {
    float x = (float)(xorshift(&state) & 1023), y = (float)(xorshift(&state) & 1023);
    if (x * x + y * y < 1048576.0f) inside++;
  }
  hits[get_local_id(0)] = inside;
  SYNC;
  if (get_local_id(0) == 0) {
    int sum = 0;
    for (size_t i = 0; i < get_local_size(0); i++) sum += hits[i];
    out[get_group_id(0)] = sum;
  }
}

// Prices by steps back through a tree, with two barriers a step.
__kernel void binomial_options(__global const int *prices, __global int *out, int n, __local int *callA) {
  unsigned int tid = get_local_id(0), size = get_local_size(0);
  __local int *callB = callA + size;
  callA[tid] = MAX(prices[get_global_id(0)] - 30 * (int)tid, 0);
  SYNC;
  for (int j = (int)MIN(size - 1, 8u); j > 0; j -= 2) {
    if (tid < j) callB[tid] = (callA[tid] * 5 + callA[tid + 1] * 3) / 8;
    SYNC;
    if (tid < j - 1) callA[tid] = (callB[tid] * 5 + callB[tid + 1] * 3) / 8;
    SYNC;
  }
  out[get_global_id(0)] = callA[tid];
}

// Transforms of Walsh and Hadamard, by radices of two.
__kernel void fast_walsh(__global const int *in, __global int *out, int n, __local int *tArray) {
  unsigned int tid = get_local_id(0), size = get_local_size(0), whole = 1;
  while (whole * 2 <= size) whole *= 2;
  tArray[tid] = in[get_global_id(0)];
  for (unsigned int step = 1; step < whole; step <<= 1) {
    SYNC;
    unsigned int pair = tid % whole, group = pair / (step << 1), within = pair % step;
    unsigned int match = group * (step << 1) + within;
    if (tid < whole / 2) {
      group = tid / step, within = tid % step;
      match = group * (step << 1) + within;
      int T1 = tArray[match], T2 = tArray[match + step];
      tArray[match] = (T1 + T2) / 2;
      tArray[match + step] = T1 - T2;
    }
  }
  SYNC;
  out[get_global_id(0)] = tArray[tid];
}

// All pairs of shortest ways through a table of the group.
__kernel void floyd_warshall(__global const int *dist, __global int *out, int n, __local int *unused) {
  __local uint path[8][8];
  uint lid = get_local_id(0), size = get_local_size(0);
  for (uint k = lid; k < 64; k += size) path[k >> 3][k & 7] = (uint)dist[(get_group_id(0) * 64 + k) % (uint)n] & 127u;
  SYNC;
  for (uint pass = 0; pass < 8; pass++) {
    uint old[64];
    for (uint k = lid; k < 64; k += size) old[k] = path[k >> 3][pass] + path[pass][k & 7];
    SYNC;
    for (uint k = lid; k < 64; k += size) if (old[k] < path[k >> 3][k & 7]) path[k >> 3][k & 7] = old[k];
    SYNC;
  }
  out[get_global_id(0)] = path[(lid >> 3) & 7][lid & 7];
}

// A step of Cooley's, with a table of sines made of numbers.
__kernel void dct_rows(__global const int *in, __global int *out, int n, __local int *block) {
  uint lid = get_local_id(0), size = get_local_size(0), row = lid / 8 * 8, k = lid % 8;
  block[lid] = in[get_global_id(0)] & 255;
  SYNC;
  float acc = 0.0f;
  for (uint i = 0; i < 8; i++) {
    if (row + i < size) acc += (float)block[row + i] * (1.0f + (float)((i * k) & 7) * 0.125f);
  }
  out[get_global_id(0)] = (int)acc;
}

// Two bits at a time, with a fence of memory between work-items that write and those that read.
__kernel void fences(__global const int *in, __global int *out, int n, __local int *tmp) {
  volatile __local int *flags = tmp;
  int l = get_local_id(0), size = get_local_size(0);
  flags[l] = in[get_global_id(0)] & 3;
  mem_fence(CLK_LOCAL_MEM_FENCE);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  int sum = flags[(l + 1) % size] * 4 + flags[l];
  read_mem_fence(CLK_LOCAL_MEM_FENCE);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == size - 1) flags[0] = sum;
  write_mem_fence(CLK_LOCAL_MEM_FENCE);
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = sum + flags[0];
}

// Cells with lists of their neighbours, as molecular dynamics has them.
__kernel void lj_force(__global const int *position, __global int *force, int nAtom, __local int *cache) {
  uint idx = get_global_id(0);
  float4 ipos = (float4)(position[idx] & 31, position[idx] >> 5 & 31, position[idx] >> 7 & 31, 0);
  float4 f = {0.0f, 0.0f, 0.0f, 0.0f};
  int j = 0;
  while (j < 6) {
    int jidx = (int)((idx * 3 + j * 11) % (uint)nAtom);
    float4 jpos = (float4)(position[jidx] & 31, position[jidx] >> 5 & 31, position[jidx] >> 7 & 31, 0);
    float delx = ipos.x - jpos.x, dely = ipos.y - jpos.y, delz = ipos.z - jpos.z;
    float r2inv = delx * delx + dely * dely + delz * delz;
    if (r2inv < 300.0f) {
      float force = r2inv * 0.25f + 1.0f;
      f.x += delx * force;
      f.y += dely * force;
      f.z += delz * force;
    }
    j++;
  }
  force[idx] = as_int(f.x + f.y * 3.0f + f.z * 5.0f);
}

// Words are compared with a key that all keep in local memory.
__kernel void string_search(__global const int *text, __global int *result, int textLength, __local int *localPattern) {
  int localIdx = get_local_id(0), size = get_local_size(0), last = textLength - 3;
  for (int idx = localIdx; idx < 3; idx += size) localPattern[idx] = text[idx * 5] & 1;
  SYNC;
  int at = get_global_id(0), found = 0;
  if (at < last) {
    int i = 0;
    for (; i < 3; i++) if ((text[at + i] & 1) != localPattern[i]) break;
    found = i == 3 ? 1 : -i;
  }
  result[at] = found;
}

// A path of a kernel for all group sizes known: work-items that have nothing to do have gone.
__kernel void backprop_layer(__global const int *input, __global int *out, int in, __local int *input_node) {
  int by = get_group_id(0), tx = get_local_id(0), size = get_local_size(0);
  __local int *weight_matrix = input_node + size;
  if (tx == 0) input_node[0] = input[by] & 15;
  SYNC;
  weight_matrix[tx] = (input[get_global_id(0)] & 63) * input_node[0];
  SYNC;
  int power_two = 1;
  for (int i = 1; power_two < size; i++) {
    if (tx % (power_two * 2) == 0 && tx + power_two < size) weight_matrix[tx] += weight_matrix[tx + power_two];
    SYNC;
    power_two = 1 << i;
  }
  if (tx == 0) out[by] = weight_matrix[0];
  else if (tx < 3 && by + tx * (int)get_num_groups(0) < in) out[by + tx * (int)get_num_groups(0)] = weight_matrix[tx];
}

// Quadratic equations for particles; the weights of all are found by a search in sums.
int find_index(__local int *sums, int length, int value) {
  int index = -1;
  for (int x = 0; x < length; x++) {
    if (sums[x] >= value) {
      index = x;
      break;
    }
  }
  if (index == -1) return length - 1;
  return index;
}
__kernel void particle_find(__global const int *weights, __global int *out, int n, __local int *cdf) {
  int l = get_local_id(0), size = get_local_size(0);
  cdf[l] = weights[get_global_id(0)] & 7;
  SYNC;
  if (l == 0)
    for (int x = 1; x < size; x++) cdf[x] += cdf[x - 1];
  SYNC;
  out[get_global_id(0)] = find_index(cdf, size, (l * 7) / 2);
}

// Fluxes through four faces, by helpers that take vectors by pointer.
inline void flux(float4 *f, float3 momentum, float density) {
  f->x = momentum.x * density;
  f->y = momentum.y + f->x;
  f->z = momentum.z * 0.5f;
  f->w = density;
}
__kernel void euler_flux(__global const int *variables, __global int *out, int nelr, __local int *unused) {
  const int i = get_global_id(0);
  if (i >= nelr) return;
  float4 total = (float4)(0.0f);
  for (int j = 0; j < 4; j++) {
    int nb = (i + j * 9) % nelr;
    float4 f;
    flux(&f, (float3)(variables[nb] & 15, variables[i] & 7, j), (float)(variables[nb] >> 4 & 7));
    total += f;
  }
  out[i] = as_int(total.x) ^ as_int(total.y + total.z * 2.0f + total.w);
}

// A queue of a group is filled in two steps, as breadth-first searches do it.
__kernel void queue_offsets(__global const int *nodes, __global int *out, int n, __local int *next_wf) {
  __local int local_q_tail[1], shift[1];
  int tid = get_local_id(0), size = get_local_size(0);
  if (tid == 0) {
    *local_q_tail = 0;
    *shift = get_group_id(0) * size;
  }
  SYNC;
  int node = nodes[get_global_id(0)];
  if (node % 3 == 0) {
    int index = atomic_add(local_q_tail, 1);
    next_wf[index] = 1;
  }
  SYNC;
  int total = local_q_tail[0], sum = 0;
  for (int k = tid; k < total; k += size) sum += next_wf[k];
  out[*shift + tid] = sum;
}

// The greatest of three and of many: `max` and `min` of vectors.
__kernel void bounds_of_boxes(__global const int *in, __global int *out, int n, __local int *tmp) {
  uint l = get_local_id(0), size = get_local_size(0);
  __local int *lo = tmp, *hi = tmp + size;
  lo[l] = hi[l] = in[get_global_id(0)];
  for (uint s = 1; s < size; s <<= 1) {
    SYNC;
    if ((l & (2 * s - 1)) == 0 && l + s < size) {
      lo[l] = min(lo[l], lo[l + s]);
      hi[l] = max(hi[l], hi[l + s]);
    }
  }
  SYNC;
  int middle = (lo[0] + hi[0]) / 2;
  out[get_global_id(0)] = clamp(in[get_global_id(0)], middle - 200, middle + 200);
}
