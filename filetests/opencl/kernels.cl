// Ten kernels as OpenCL programs have them, with what they use of OpenCL C: nothing here is written for warpline.

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

// Shading: geometric functions.
kernel void shade(global const float4 *normals, global const float4 *lights, global float *out) {
  size_t i = get_global_id(0);
  float3 n = fast_normalize(normals[i].xyz + 0.25f), l = normalize(lights[i].xyz + 1.0f);
  float lambert = fmax(dot(n, l), 0.0f), far = distance(n, l) + length(cross(n, l)) + fast_length(l);
  float edge = smoothstep(0.1f, 0.9f, lambert) * step(0.2f, lambert);
  out[i] = mix(lambert, edge, 0.5f) + degrees(radians(far)) * sign(l.x);
}

// A wave: mathematics, some of it native.
kernel void wave(global const float *x, global float *out) {
  size_t i = get_global_id(0);
  float whole, cosine, a = x[i];
  int exponent;
  float part = fract(a * 3.7f, &whole), sine = sincos(a, &cosine);
  float m = frexp(a + 17.0f, &exponent);
  out[i] = part + whole * 0.5f + sine * cosine + ldexp(m, exponent - 2) + fmod(a, 0.7f) + remainder(a, 0.3f) +
           native_exp(-a * a) + half_sqrt(fabs(a)) + sinpi(a) + cbrt(a) + hypot(a, 2.0f) + copysign(floor(a), a);
}

// Statistics in double precision.
kernel void statistics(global const double *x, global double *out) {
  size_t i = get_global_id(0);
  double a = fabs(x[i]) + 0.5;
  out[i] = log1p(a) + expm1(-a) + tanh(a) + atan2(a, 2.0) + pow(a, 1.5) + rsqrt(a) + fdim(a, 1.0) + trunc(a) +
           fmod(a, 0.3) + nextafter(a, 9.0) + logb(a) + pown(a, 3) + rootn(a, 3);
}

// An image in bytes: saturated conversions, vectors from and to memory.
kernel void brighten(global const uchar *in, global uchar *out) {
  size_t i = get_global_id(0);
  float4 pixel = convert_float4(vload4(i, in)) * 1.3f + (float4)(10.0f, 0.0f, -5.0f, 0.0f);
  vstore4(convert_uchar4_sat_rte(pixel), i, out);
}

// Blending without a branch.
kernel void blend(global const uchar4 *a, global const uchar4 *b, global uchar4 *out) {
  size_t i = get_global_id(0);
  uchar4 x = a[i], y = b[i], mean = rhadd(x, y);
  uchar4 chosen = select(x, y, mean > (uchar4)100);
  out[i] = add_sat(chosen, abs_diff(x, y)) - hadd(x, min(x, y)) + bitselect(x, y, (uchar4)0x0F);
}

// A hash: integers.
kernel void hash(global const uint *in, global uint *out) {
  size_t i = get_global_id(0);
  uint x = in[i];
  x = rotate(x, 7u) ^ mul_hi(x, 0x9E3779B9u);
  x += popcount(x) + clz(x | 1u) + mad24(x & 0xFFFu, 77u, 3u) + mad_hi(x, 5u, 1u);
  out[i] = sub_sat(x, 1000u) ^ upsample((ushort)x, (ushort)(x >> 16)) ^ max(x, 5u);
}

// Halves in memory.
kernel void compress(global const float *in, global half *out, global float *back) {
  size_t i = get_global_id(0);
  vstore_half_rtz(in[i] * 0.1f, i, out);
  back[i] = vload_half(i, out);
}

// A permutation.
kernel void permute(global const int4 *in, global int4 *out) {
  size_t i = get_global_id(0);
  int4 v = in[i];
  int4 mixed = shuffle2(v, v * 2, (uint4)(7, 0, 5, 2));
  out[i] = shuffle(v, (uint4)(3, 1, 0, 2)) + mixed + as_int4(convert_float4(v) * 0.5f);
}

// What is no number: questions.
kernel void classify(global const float *x, global int *out) {
  size_t i = get_global_id(0);
  float a = x[i] / 3.0f, b = clamp(a, -1.0f, 1.0f);
  out[i] = isnan(a) + 2 * isinf(a) + 4 * isfinite(a) + 8 * isnormal(a) + 16 * signbit(a) + 32 * isless(a, b) +
           64 * isgreaterequal(a, b) + 128 * isunordered(a, b) + convert_int_sat(a * 1e10f) + any((int2)(i, -1)) +
           all((int2)(-1, -2)) + ilogb(a + 9.0f);
}

// A histogram.
kernel void count(global const uint *in, volatile global int *bins) {
  size_t i = get_global_id(0);
  prefetch(in + i, 1);
  atomic_add(bins + (in[i] & 7u), 1);
  atomic_max(bins + 8, (int)(in[i] & 1023u));
  atomic_inc(bins + 9);
  mem_fence(CLK_GLOBAL_MEM_FENCE);
}
