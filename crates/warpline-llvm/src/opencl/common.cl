// Work-items, common, geometric, relational functions.

//@ get_work_dim get_global_linear_id get_local_linear_id
// A range has three dimensions; those behind the last one of more than one work-item were not asked for.
uint _W get_work_dim(void) { return get_global_size(2) > 1 ? 3 : get_global_size(1) > 1 ? 2 : 1; }
size_t _W get_global_linear_id(void) {
  size_t row = (get_global_id(2) - get_global_offset(2)) * get_global_size(1) + get_global_id(1) - get_global_offset(1);
  return row * get_global_size(0) + get_global_id(0) - get_global_offset(0);
}
size_t _W get_local_linear_id(void) {
  return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
}

//@ max min clamp
#define _W_MAX(V, T) \
  V _W max(V x, V y) { return x < y ? y : x; } \
  V _W min(V x, V y) { return y < x ? y : x; } \
  V _W clamp(V x, V low, V high) { return fmin(fmax(x, low), high); }
#define _W_MAX_INTEGERS(V, T) \
  V _W max(V x, V y) { return __builtin_elementwise_max(x, y); } \
  V _W min(V x, V y) { return __builtin_elementwise_min(x, y); } \
  V _W clamp(V x, V low, V high) { return min(max(x, low), high); }
#define _W_MAX_SCALAR(V, T) \
  V _W max(V x, T y) { return max(x, (V)y); } \
  V _W min(V x, T y) { return min(x, (V)y); } \
  V _W clamp(V x, T low, T high) { return clamp(x, (V)low, (V)high); }
_W_FLOATS(_W_MAX, _W_SIZES)
_W_SIGNED(_W_MAX_INTEGERS, _W_SIZES)
_W_UNSIGNED(_W_MAX_INTEGERS, _W_SIZES)
_W_FLOATS(_W_MAX_SCALAR, _W_VECTORS)
_W_SIGNED(_W_MAX_SCALAR, _W_VECTORS)
_W_UNSIGNED(_W_MAX_SCALAR, _W_VECTORS)

//@ step mix
#define _W_STEP(V, T) \
  V _W step(V edge, V x) { return x < edge ? (V)0 : (V)1; } \
  V _W mix(V x, V y, V a) { return x + (y - x) * a; }
#define _W_STEP_SCALAR(V, T) \
  V _W step(T edge, V x) { return step((V)edge, x); } \
  V _W mix(V x, V y, T a) { return mix(x, y, (V)a); }
_W_FLOATS(_W_STEP, _W_SIZES)
_W_FLOATS(_W_STEP_SCALAR, _W_VECTORS)

//@ smoothstep
#define _W_SMOOTHSTEP(V, T) \
  V _W smoothstep(V e0, V e1, V x) { \
    V t = fmin(fmax((x - e0) / (e1 - e0), (V)0), (V)1); \
    return t * t * ((T)3 - (T)2 * t); \
  }
#define _W_SMOOTHSTEP_SCALAR(V, T) \
  V _W smoothstep(T e0, T e1, V x) { return smoothstep((V)e0, (V)e1, x); }
_W_FLOATS(_W_SMOOTHSTEP, _W_SIZES)
_W_FLOATS(_W_SMOOTHSTEP_SCALAR, _W_VECTORS)

//@ sign
#define _W_SIGN(V, T) \
  V _W sign(V x) { V of_none = x == x ? x : (V)0; return x > (T)0 ? (V)1 : x < (T)0 ? (V)-1 : of_none; }
_W_FLOATS(_W_SIGN, _W_SIZES)

//@ dot cross
#define _W_DOT(T) \
  T _W dot(T x, T y) { return x * y; } \
  T _W dot(T##2 x, T##2 y) { return x.x * y.x + x.y * y.y; } \
  T _W dot(T##3 x, T##3 y) { return x.x * y.x + x.y * y.y + x.z * y.z; } \
  T _W dot(T##4 x, T##4 y) { return x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w; } \
  T##3 _W cross(T##3 x, T##3 y) { return x.yzx * y.zxy - x.zxy * y.yzx; } \
  T##4 _W cross(T##4 x, T##4 y) { return (T##4)(cross(x.xyz, y.xyz), (T)0); }
_W_DOT(float)
_W_DOT(double)

//@ length distance normalize
// Squares neither overflow nor vanish: a vector is scaled where the sum of its squares says that they might have.
// SMALL is what no square that matters is below; UP brings the least numbers above it, DOWN the greatest ones below
// overflow.
#define _W_LENGTH(V, T, SMALL, UP, DOWN) \
  _I T _w_scale(V x) { \
    T squares = dot(x, x); \
    return squares < SMALL ? UP : squares == (T)INFINITY ? DOWN : (T)1; \
  } \
  T _W length(V x) { \
    T scale = _w_scale(x); \
    V y = x * scale; \
    return __builtin_elementwise_sqrt(dot(y, y)) / scale; \
  } \
  T _W distance(V x, V y) { return length(x - y); } \
  V _W normalize(V x) { \
    V one = __builtin_elementwise_abs(x) == (T)INFINITY ? __builtin_elementwise_copysign((V)1, x) : x * (T)0; \
    V y = _w_most(__builtin_elementwise_abs(x)) == (T)INFINITY ? one : x; \
    T scale = _w_scale(y), up = scale > (T)1 ? scale : (T)1, down = scale < (T)1 ? scale : (T)1; \
    T l = __builtin_elementwise_sqrt(dot(y * scale, y * scale)); \
    return l == (T)0 ? x : y * up / l * down; \
  }
#define _W_MOST(T) \
  _I T _w_more(T x, T y) { return x < y ? y : x; } \
  _I T _w_most(T x) { return x; } \
  _I T _w_most(T##2 x) { return _w_more(x.x, x.y); } \
  _I T _w_most(T##3 x) { return _w_more(_w_more(x.x, x.y), x.z); } \
  _I T _w_most(T##4 x) { return _w_more(_w_more(x.x, x.y), _w_more(x.z, x.w)); }
_W_MOST(float)
_W_MOST(double)
#define _W_LENGTH_FLOAT(V, T) _W_LENGTH(V, T, 0x1p-100f, 0x1p100f, 0x1p-66f)
#define _W_LENGTH_DOUBLE(V, T) _W_LENGTH(V, T, 0x1p-900, 0x1p800, 0x1p-600)
#define _W_GEOMETRIC(M, T) M(T, T) M(T##2, T) M(T##3, T) M(T##4, T)
_W_GEOMETRIC(_W_LENGTH_FLOAT, float)
_W_GEOMETRIC(_W_LENGTH_DOUBLE, double)

//@ fast_length fast_distance fast_normalize
#define _W_FAST(V) \
  float _W fast_length(V x) { return __builtin_elementwise_sqrt(dot(x, x)); } \
  float _W fast_distance(V x, V y) { return fast_length(x - y); } \
  V _W fast_normalize(V x) { float l = fast_length(x); return l == 0.0f ? x : x / l; }
_W_FAST(float) _W_FAST(float2) _W_FAST(float3) _W_FAST(float4)

//@ isnan isinf isfinite isnormal signbit
// Of numbers the answer is 1 or 0, in vectors -1 or 0.
#define _W_QUESTIONS(F, I, J, LEAST) \
  I _W isnan(F x) { return x != x; } \
  I _W isinf(F x) { return __builtin_elementwise_abs(x) == (F)INFINITY; } \
  I _W isfinite(F x) { return __builtin_elementwise_abs(x) < (F)INFINITY; } \
  I _W isnormal(F x) { \
    F size = __builtin_elementwise_abs(x); \
    return size < (F)INFINITY && size >= (F)LEAST; \
  } \
  I _W signbit(F x) { return as_##J(x) < (J)0; }
#define _W_QUESTIONS_OF_VECTORS(F, I, L) \
  _W_QUESTIONS(F##2, I##2, I##2, L) _W_QUESTIONS(F##3, I##3, I##3, L) _W_QUESTIONS(F##4, I##4, I##4, L) \
  _W_QUESTIONS(F##8, I##8, I##8, L) _W_QUESTIONS(F##16, I##16, I##16, L)
_W_QUESTIONS(float, int, int, 0x1p-126f)
_W_QUESTIONS_OF_VECTORS(float, int, 0x1p-126f)
_W_QUESTIONS(double, int, long, 0x1p-1022)
_W_QUESTIONS_OF_VECTORS(double, long, 0x1p-1022)

//@ isequal isnotequal isgreater isgreaterequal isless islessequal islessgreater isordered isunordered
#define _W_COMPARISONS(F, I) \
  I _W isequal(F x, F y) { return x == y; } \
  I _W isnotequal(F x, F y) { return x != y; } \
  I _W isgreater(F x, F y) { return x > y; } \
  I _W isgreaterequal(F x, F y) { return x >= y; } \
  I _W isless(F x, F y) { return x < y; } \
  I _W islessequal(F x, F y) { return x <= y; } \
  I _W islessgreater(F x, F y) { return x < y || x > y; } \
  I _W isordered(F x, F y) { return x == x && y == y; } \
  I _W isunordered(F x, F y) { return x != x || y != y; }
#define _W_COMPARISONS_OF_VECTORS(F, I) \
  _W_COMPARISONS(F##2, I##2) _W_COMPARISONS(F##3, I##3) _W_COMPARISONS(F##4, I##4) _W_COMPARISONS(F##8, I##8) \
  _W_COMPARISONS(F##16, I##16)
_W_COMPARISONS(float, int)
_W_COMPARISONS_OF_VECTORS(float, int)
_W_COMPARISONS(double, int)
_W_COMPARISONS_OF_VECTORS(double, long)

//@ select
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

//@ bitselect
#define _W_BITSELECT(T, U, N) \
  T##N _W bitselect(T##N a, T##N b, T##N c) { \
    U##N m = as_##U##N(c); \
    return as_##T##N((U##N)((as_##U##N(a) & ~m) | (as_##U##N(b) & m))); \
  }
#define _W_BITSELECT_ALL(T, U) \
  _W_BITSELECT(T, U, ) _W_BITSELECT(T, U, 2) _W_BITSELECT(T, U, 3) _W_BITSELECT(T, U, 4) _W_BITSELECT(T, U, 8) \
  _W_BITSELECT(T, U, 16)
_W_WITH_UNSIGNED(_W_BITSELECT_ALL)
_W_BITSELECT_ALL(float, uint)
_W_BITSELECT_ALL(double, ulong)

//@ any all
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
