// OpenCL C's mathematical, common, geometric, integer and relational functions, and some that ask which work-item it
// is, for machines that bring no library of them.
//
// What the compiler's header declares is defined here, in front of every OpenCL input. The section tells the loader
// that a function comes from here: it is inlined, or dropped. Without debug information it stands on the line that
// calls it.

#if __clang_major__ >= 18

// A function of which one overload is defined here must have all of them here: the compiler looks for its own only
// where there are none, and would convert operands to the types of those that it finds. What nothing calls is not
// compiled.
#define _W static __attribute__((overloadable, always_inline, nodebug, section(".warpline.opencl")))

#define _W_SIZES(M, T) M(T, T) M(T##2, T) M(T##3, T) M(T##4, T) M(T##8, T) M(T##16, T)
#define _W_VECTORS(M, T) M(T##2, T) M(T##3, T) M(T##4, T) M(T##8, T) M(T##16, T)
#define _W_FLOATS(M, S) S(M, float) S(M, double)
#define _W_SIGNED(M, S) S(M, char) S(M, short) S(M, int) S(M, long)
#define _W_UNSIGNED(M, S) S(M, uchar) S(M, ushort) S(M, uint) S(M, ulong)

// Element by element, for what is defined for one.
#define _W_APPLY1(R, F, T) \
  R##2 _W F(T##2 x) { return (R##2)(F(x.s0), F(x.s1)); } \
  R##3 _W F(T##3 x) { return (R##3)(F(x.s0), F(x.s1), F(x.s2)); } \
  R##4 _W F(T##4 x) { return (R##4)(F(x.lo), F(x.hi)); } \
  R##8 _W F(T##8 x) { return (R##8)(F(x.lo), F(x.hi)); } \
  R##16 _W F(T##16 x) { return (R##16)(F(x.lo), F(x.hi)); }
#define _W_APPLY2(R, F, T) \
  R##2 _W F(T##2 x, T##2 y) { return (R##2)(F(x.s0, y.s0), F(x.s1, y.s1)); } \
  R##3 _W F(T##3 x, T##3 y) { return (R##3)(F(x.s0, y.s0), F(x.s1, y.s1), F(x.s2, y.s2)); } \
  R##4 _W F(T##4 x, T##4 y) { return (R##4)(F(x.lo, y.lo), F(x.hi, y.hi)); } \
  R##8 _W F(T##8 x, T##8 y) { return (R##8)(F(x.lo, y.lo), F(x.hi, y.hi)); } \
  R##16 _W F(T##16 x, T##16 y) { return (R##16)(F(x.lo, y.lo), F(x.hi, y.hi)); }

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
  V _W fmax(V x, V y) { V most = x < y ? y : x; return x == x ? most : y; } \
  V _W fmin(V x, V y) { V least = y < x ? y : x; return x == x ? least : y; } \
  V _W max(V x, V y) { return x < y ? y : x; } \
  V _W min(V x, V y) { return y < x ? y : x; } \
  V _W pow(V x, V y) { return __builtin_elementwise_pow(x, y); } \
  V _W powr(V x, V y) { \
    V known = x < (T)0 || x != x || y != y ? (V)NAN : __builtin_elementwise_pow(__builtin_elementwise_abs(x), y); \
    V of_zero = y == (T)0 && (x == (T)0 || x == (T)INFINITY) ? (V)NAN : known; \
    return x == (T)1 && __builtin_elementwise_abs(y) == (T)INFINITY ? (V)NAN : of_zero; \
  } \
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

// Squares neither overflow nor vanish: a vector is scaled where the sum of its squares says that they might have.
// SMALL is what no square that matters is below; UP brings the least numbers above it, DOWN the greatest ones below
// overflow.
#define _W_LENGTH(V, T, SMALL, UP, DOWN) \
  T _W _w_scale(V x) { \
    T squares = dot(x, x); \
    return squares < SMALL ? UP : squares == (T)INFINITY ? DOWN : (T)1; \
  } \
  T _W length(V x) { T scale = _w_scale(x); V y = x * scale; return sqrt(dot(y, y)) / scale; } \
  T _W distance(V x, V y) { return length(x - y); } \
  V _W normalize(V x) { \
    V one = __builtin_elementwise_abs(x) == (T)INFINITY ? __builtin_elementwise_copysign((V)1, x) : x * (T)0; \
    V y = _w_most(__builtin_elementwise_abs(x)) == (T)INFINITY ? one : x; \
    T scale = _w_scale(y), up = scale > (T)1 ? scale : (T)1, down = scale < (T)1 ? scale : (T)1; \
    T l = sqrt(dot(y * scale, y * scale)); \
    return l == (T)0 ? x : y * up / l * down; \
  }
#define _W_MOST(T) \
  T _W _w_most(T x) { return x; } \
  T _W _w_most(T##2 x) { return max(x.x, x.y); } \
  T _W _w_most(T##3 x) { return max(max(x.x, x.y), x.z); } \
  T _W _w_most(T##4 x) { return max(max(x.x, x.y), max(x.z, x.w)); }
_W_MOST(float)
_W_MOST(double)
#define _W_LENGTH_FLOAT(V, T) _W_LENGTH(V, T, 0x1p-100f, 0x1p100f, 0x1p-66f)
#define _W_LENGTH_DOUBLE(V, T) _W_LENGTH(V, T, 0x1p-900, 0x1p800, 0x1p-600)
#define _W_FAST(V, T) \
  T _W fast_length(V x) { return sqrt(dot(x, x)); } \
  T _W fast_distance(V x, V y) { return fast_length(x - y); } \
  V _W fast_normalize(V x) { T l = fast_length(x); return l == (T)0 ? x : x / l; }
#define _W_GEOMETRIC(M, T) M(T, T) M(T##2, T) M(T##3, T) M(T##4, T)
_W_GEOMETRIC(_W_LENGTH_FLOAT, float)
_W_GEOMETRIC(_W_LENGTH_DOUBLE, double)
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

// T has N bits and is signed or not, U has no sign. __builtin_clz and its like take 32 bits, those with `l` 64: W.
#define _W_BITS(T, U, N, L, W) \
  T _W popcount(T x) { return (T)__builtin_popcount##L((U)x); } \
  T _W clz(T x) { return (T)(x ? __builtin_clz##L((U)x) - (W - N) : N); } \
  T _W ctz(T x) { return (T)(x ? __builtin_ctz##L((U)x) : N); } \
  T _W rotate(T x, T y) { return (T)(U)((U)x << ((U)y & (N - 1)) | (U)x >> (-(U)y & (N - 1))); } \
  _W_APPLY1(T, popcount, T) _W_APPLY1(T, clz, T) _W_APPLY1(T, ctz, T) _W_APPLY2(T, rotate, T)
_W_BITS(char, uchar, 8, , 32)
_W_BITS(uchar, uchar, 8, , 32)
_W_BITS(short, ushort, 16, , 32)
_W_BITS(ushort, ushort, 16, , 32)
_W_BITS(int, uint, 32, , 32)
_W_BITS(uint, uint, 32, , 32)
_W_BITS(long, ulong, 64, l, 64)
_W_BITS(ulong, ulong, 64, l, 64)

#define _W_ABS(T, U) \
  U _W abs(T x) { return x < 0 ? (U)(0 - (U)x) : (U)x; } \
  U _W abs(U x) { return x; } \
  U _W abs_diff(T x, T y) { return x < y ? (U)((U)y - (U)x) : (U)((U)x - (U)y); } \
  U _W abs_diff(U x, U y) { return x < y ? (U)(y - x) : (U)(x - y); } \
  _W_APPLY1(U, abs, T) _W_APPLY1(U, abs, U) _W_APPLY2(U, abs_diff, T) _W_APPLY2(U, abs_diff, U)
_W_ABS(char, uchar)
_W_ABS(short, ushort)
_W_ABS(int, uint)
_W_ABS(long, ulong)

// ---- questions

// Of numbers the answer is 1 or 0, in vectors -1 or 0.
#define _W_QUESTIONS(F, I) \
  I _W isnan(F x) { return x != x; } \
  I _W isinf(F x) { return fabs(x) == (F)INFINITY; } \
  I _W isfinite(F x) { return fabs(x) < (F)INFINITY; }
#define _W_QUESTIONS_OF_VECTORS(F, I) \
  _W_QUESTIONS(F##2, I##2) _W_QUESTIONS(F##3, I##3) _W_QUESTIONS(F##4, I##4) \
  _W_QUESTIONS(F##8, I##8) _W_QUESTIONS(F##16, I##16)
_W_QUESTIONS(float, int)
_W_QUESTIONS_OF_VECTORS(float, int)
_W_QUESTIONS(double, int)
_W_QUESTIONS_OF_VECTORS(double, long)

// In vectors the greatest bit decides, of a number whether it is 0.
#define _W_SELECT(V, C) V _W select(V a, V b, C c) { return c ? b : a; }
#define _W_SELECT_ALL(T, C) \
  _W_SELECT(T, C) _W_SELECT(T##2, C##2) _W_SELECT(T##3, C##3) \
  _W_SELECT(T##4, C##4) _W_SELECT(T##8, C##8) _W_SELECT(T##16, C##16)
#define _W_SELECT_BOTH(T, S, U) _W_SELECT_ALL(T, S) _W_SELECT_ALL(T, U)
_W_SELECT_BOTH(char, char, uchar)
_W_SELECT_BOTH(uchar, char, uchar)
_W_SELECT_BOTH(short, short, ushort)
_W_SELECT_BOTH(ushort, short, ushort)
_W_SELECT_BOTH(int, int, uint)
_W_SELECT_BOTH(uint, int, uint)
_W_SELECT_BOTH(float, int, uint)
_W_SELECT_BOTH(long, long, ulong)
_W_SELECT_BOTH(ulong, long, ulong)
_W_SELECT_BOTH(double, long, ulong)

#define _W_ANY(T) \
  int _W any(T x) { return x < 0; } \
  int _W any(T##2 x) { return any((T)(x.s0 | x.s1)); } \
  int _W any(T##3 x) { return any((T)(x.s0 | x.s1 | x.s2)); } \
  int _W any(T##4 x) { return any(x.lo | x.hi); } \
  int _W any(T##8 x) { return any(x.lo | x.hi); } \
  int _W any(T##16 x) { return any(x.lo | x.hi); } \
  int _W all(T x) { return x < 0; } \
  int _W all(T##2 x) { return all((T)(x.s0 & x.s1)); } \
  int _W all(T##3 x) { return all((T)(x.s0 & x.s1 & x.s2)); } \
  int _W all(T##4 x) { return all(x.lo & x.hi); } \
  int _W all(T##8 x) { return all(x.lo & x.hi); } \
  int _W all(T##16 x) { return all(x.lo & x.hi); }
_W_ANY(char)
_W_ANY(short)
_W_ANY(int)
_W_ANY(long)

#define _W_CONVERT(TO, FROM) \
  TO _W convert_##TO(FROM x) { return (TO)x; } \
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

#endif
