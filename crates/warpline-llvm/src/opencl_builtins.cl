// OpenCL C's mathematical, common, geometric, integer and relational functions, and some that ask which work-item it is, for machines that bring no library of them.
//
// What the compiler's header declares is defined here, in front of every OpenCL input. The section tells the loader that a
// function comes from here: it is inlined, or dropped. Without debug information it stands on the line that calls it.

#if __clang_major__ >= 18

// None of these is called, so it does not matter how vectors are passed.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpsabi"

#define _W __attribute__((overloadable, always_inline, nodebug, section(".warpline.opencl")))

#define _W_SIZES(M, T) M(T, T) M(T##2, T) M(T##3, T) M(T##4, T) M(T##8, T) M(T##16, T)
#define _W_VECTORS(M, T) M(T##2, T) M(T##3, T) M(T##4, T) M(T##8, T) M(T##16, T)
#define _W_FLOATS(M, S) S(M, float) S(M, double)
#define _W_SIGNED(M, S) S(M, char) S(M, short) S(M, int) S(M, long)
#define _W_UNSIGNED(M, S) S(M, uchar) S(M, ushort) S(M, uint) S(M, ulong)

// ---- work-items, by what is known of each dimension

// A range has three dimensions; those behind the last one of more than one work-item were not asked for.
uint _W get_work_dim(void) { return get_global_size(2) > 1 ? 3 : get_global_size(1) > 1 ? 2 : 1; }
size_t _W get_global_linear_id(void) {
  size_t row = (get_global_id(2) - get_global_offset(2)) * get_global_size(1) + get_global_id(1) - get_global_offset(1);
  return row * get_global_size(0) + get_global_id(0) - get_global_offset(0);
}
size_t _W get_local_linear_id(void) {
  return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
}

// ---- one, two and three numbers, element by element

#define _W_ELEMENTWISE1(V, T) \
  V _W fabs(V x) { return __builtin_elementwise_abs(x); } \
  V _W floor(V x) { return __builtin_elementwise_floor(x); } \
  V _W ceil(V x) { return __builtin_elementwise_ceil(x); } \
  V _W trunc(V x) { return __builtin_elementwise_trunc(x); } \
  V _W rint(V x) { return __builtin_elementwise_rint(x); } \
  V _W round(V x) { return __builtin_elementwise_round(x); } \
  V _W sqrt(V x) { return __builtin_elementwise_sqrt(x); } \
  V _W rsqrt(V x) { return (T)1 / __builtin_elementwise_sqrt(x); } \
  V _W exp(V x) { return __builtin_elementwise_exp(x); } \
  V _W exp2(V x) { return __builtin_elementwise_exp2(x); } \
  V _W log(V x) { return __builtin_elementwise_log(x); } \
  V _W log2(V x) { return __builtin_elementwise_log2(x); } \
  V _W log10(V x) { return __builtin_elementwise_log10(x); } \
  V _W sin(V x) { return __builtin_elementwise_sin(x); } \
  V _W cos(V x) { return __builtin_elementwise_cos(x); } \
  V _W radians(V x) { return x * (T)0.017453292519943295; } \
  V _W degrees(V x) { return x * (T)57.29577951308232; }
_W_FLOATS(_W_ELEMENTWISE1, _W_SIZES)

#define _W_ELEMENTWISE2(V, T) \
  V _W fmax(V x, V y) { return __builtin_elementwise_max(x, y); } \
  V _W fmin(V x, V y) { return __builtin_elementwise_min(x, y); } \
  V _W max(V x, V y) { return x < y ? y : x; } \
  V _W min(V x, V y) { return y < x ? y : x; } \
  V _W pow(V x, V y) { return __builtin_elementwise_pow(x, y); } \
  V _W powr(V x, V y) { return __builtin_elementwise_pow(x, y); } \
  V _W copysign(V x, V y) { return __builtin_elementwise_copysign(x, y); } \
  V _W step(V edge, V x) { return x < edge ? (V)0 : (V)1; } \
  V _W fma(V x, V y, V z) { return __builtin_elementwise_fma(x, y, z); } \
  V _W mad(V x, V y, V z) { return x * y + z; } \
  V _W clamp(V x, V low, V high) { return fmin(fmax(x, low), high); } \
  V _W mix(V x, V y, V a) { return x + (y - x) * a; } \
  V _W smoothstep(V e0, V e1, V x) { \
    V t = clamp((x - e0) / (e1 - e0), (V)0, (V)1); \
    return t * t * ((T)3 - (T)2 * t); \
  }
_W_FLOATS(_W_ELEMENTWISE2, _W_SIZES)

#define _W_WITH_SCALAR(V, T) \
  V _W fmax(V x, T y) { return fmax(x, (V)y); } \
  V _W fmin(V x, T y) { return fmin(x, (V)y); } \
  V _W max(V x, T y) { return max(x, (V)y); } \
  V _W min(V x, T y) { return min(x, (V)y); } \
  V _W step(T edge, V x) { return step((V)edge, x); } \
  V _W clamp(V x, T low, T high) { return clamp(x, (V)low, (V)high); } \
  V _W mix(V x, V y, T a) { return mix(x, y, (V)a); } \
  V _W smoothstep(T e0, T e1, V x) { return smoothstep((V)e0, (V)e1, x); }
_W_FLOATS(_W_WITH_SCALAR, _W_VECTORS)

#define _W_NATIVE(V, T) \
  V _W native_sqrt(V x) { return sqrt(x); } \
  V _W native_rsqrt(V x) { return rsqrt(x); } \
  V _W native_recip(V x) { return (T)1 / x; } \
  V _W native_divide(V x, V y) { return x / y; } \
  V _W native_powr(V x, V y) { return powr(x, y); } \
  V _W native_exp(V x) { return exp(x); } \
  V _W native_exp2(V x) { return exp2(x); } \
  V _W native_log(V x) { return log(x); } \
  V _W native_log2(V x) { return log2(x); } \
  V _W native_sin(V x) { return sin(x); } \
  V _W native_cos(V x) { return cos(x); } \
  V _W half_sqrt(V x) { return sqrt(x); } \
  V _W half_rsqrt(V x) { return rsqrt(x); } \
  V _W half_recip(V x) { return (T)1 / x; } \
  V _W half_divide(V x, V y) { return x / y; } \
  V _W half_exp(V x) { return exp(x); } \
  V _W half_log(V x) { return log(x); } \
  V _W half_sin(V x) { return sin(x); } \
  V _W half_cos(V x) { return cos(x); }
_W_SIZES(_W_NATIVE, float)

// ---- geometry

#define _W_DOT(T) \
  T _W dot(T x, T y) { return x * y; } \
  T _W dot(T##2 x, T##2 y) { return x.x * y.x + x.y * y.y; } \
  T _W dot(T##3 x, T##3 y) { return x.x * y.x + x.y * y.y + x.z * y.z; } \
  T _W dot(T##4 x, T##4 y) { return x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w; } \
  T##3 _W cross(T##3 x, T##3 y) { return x.yzx * y.zxy - x.zxy * y.yzx; } \
  T##4 _W cross(T##4 x, T##4 y) { return (T##4)(cross(x.xyz, y.xyz), (T)0); }
_W_DOT(float)
_W_DOT(double)

#define _W_LENGTH(V, T) \
  T _W length(V x) { return sqrt(dot(x, x)); } \
  T _W distance(V x, V y) { return length(x - y); } \
  V _W normalize(V x) { T l = length(x); return l == (T)0 ? x : x / l; }
#define _W_FAST(V, T) \
  T _W fast_length(V x) { return length(x); } \
  T _W fast_distance(V x, V y) { return length(x - y); } \
  V _W fast_normalize(V x) { return normalize(x); }
#define _W_GEOMETRIC(M, T) M(T, T) M(T##2, T) M(T##3, T) M(T##4, T)
_W_GEOMETRIC(_W_LENGTH, float)
_W_GEOMETRIC(_W_LENGTH, double)
_W_GEOMETRIC(_W_FAST, float)

// ---- integers

#define _W_INTEGER(V, T) \
  V _W max(V x, V y) { return __builtin_elementwise_max(x, y); } \
  V _W min(V x, V y) { return __builtin_elementwise_min(x, y); } \
  V _W clamp(V x, V low, V high) { return min(max(x, low), high); }
_W_SIGNED(_W_INTEGER, _W_SIZES)
_W_UNSIGNED(_W_INTEGER, _W_SIZES)

#define _W_INTEGER_WITH_SCALAR(V, T) \
  V _W max(V x, T y) { return max(x, (V)y); } \
  V _W min(V x, T y) { return min(x, (V)y); } \
  V _W clamp(V x, T low, T high) { return clamp(x, (V)low, (V)high); }
_W_SIGNED(_W_INTEGER_WITH_SCALAR, _W_VECTORS)
_W_UNSIGNED(_W_INTEGER_WITH_SCALAR, _W_VECTORS)

#define _W_24(V, T) \
  V _W mul24(V x, V y) { return x * y; } \
  V _W mad24(V x, V y, V z) { return x * y + z; }
_W_SIZES(_W_24, int)
_W_SIZES(_W_24, uint)

int _W popcount(int x) { return __builtin_popcount(x); }
uint _W popcount(uint x) { return __builtin_popcount(x); }
long _W popcount(long x) { return __builtin_popcountl(x); }
ulong _W popcount(ulong x) { return __builtin_popcountl(x); }
int _W clz(int x) { return x ? __builtin_clz(x) : 32; }
uint _W clz(uint x) { return x ? __builtin_clz(x) : 32; }
uint _W abs(int x) { return x < 0 ? 0u - (uint)x : (uint)x; }
uint _W abs(uint x) { return x; }
ulong _W abs(long x) { return x < 0 ? 0ul - (ulong)x : (ulong)x; }
uint _W rotate(uint x, uint y) { return x << (y & 31) | x >> (-y & 31); }
int _W rotate(int x, int y) { return (int)rotate((uint)x, (uint)y); }

// ---- questions

#define _W_QUESTIONS(F, I) \
  I _W isnan(F x) { return x != x; } \
  I _W isinf(F x) { return fabs(x) == (F)INFINITY; } \
  I _W isfinite(F x) { return fabs(x) < (F)INFINITY; } \
  F _W select(F a, F b, I c) { return c ? b : a; }
_W_QUESTIONS(float, int)
_W_QUESTIONS(float2, int2)
_W_QUESTIONS(float3, int3)
_W_QUESTIONS(float4, int4)
_W_QUESTIONS(float8, int8)
_W_QUESTIONS(float16, int16)

int _W any(int x) { return x < 0; }
int _W any(int2 x) { return (x.x | x.y) < 0; }
int _W any(int3 x) { return (x.x | x.y | x.z) < 0; }
int _W any(int4 x) { return (x.x | x.y | x.z | x.w) < 0; }
int _W all(int x) { return x < 0; }
int _W all(int2 x) { return (x.x & x.y) < 0; }
int _W all(int3 x) { return (x.x & x.y & x.z) < 0; }
int _W all(int4 x) { return (x.x & x.y & x.z & x.w) < 0; }

#define _W_CONVERT(TO, FROM) \
  TO##2 _W convert_##TO##2(FROM##2 x) { return __builtin_convertvector(x, TO##2); } \
  TO##3 _W convert_##TO##3(FROM##3 x) { return __builtin_convertvector(x, TO##3); } \
  TO##4 _W convert_##TO##4(FROM##4 x) { return __builtin_convertvector(x, TO##4); } \
  TO##8 _W convert_##TO##8(FROM##8 x) { return __builtin_convertvector(x, TO##8); } \
  TO##16 _W convert_##TO##16(FROM##16 x) { return __builtin_convertvector(x, TO##16); }
#define _W_CONVERT_ALL(TO) \
  _W_CONVERT(TO, char) _W_CONVERT(TO, uchar) _W_CONVERT(TO, short) _W_CONVERT(TO, ushort) _W_CONVERT(TO, int) \
  _W_CONVERT(TO, uint) _W_CONVERT(TO, long) _W_CONVERT(TO, ulong) _W_CONVERT(TO, float) _W_CONVERT(TO, double)
_W_CONVERT_ALL(char)
_W_CONVERT_ALL(uchar)
_W_CONVERT_ALL(short)
_W_CONVERT_ALL(ushort)
_W_CONVERT_ALL(int)
_W_CONVERT_ALL(uint)
_W_CONVERT_ALL(long)
_W_CONVERT_ALL(ulong)
_W_CONVERT_ALL(float)
_W_CONVERT_ALL(double)

#pragma clang diagnostic pop
#endif
