// Mathematics.

//@ fabs
_W_BUILTIN1(fabs, __builtin_elementwise_abs)
//@ floor
_W_BUILTIN1(floor, __builtin_elementwise_floor)
//@ ceil
_W_BUILTIN1(ceil, __builtin_elementwise_ceil)
//@ trunc
_W_BUILTIN1(trunc, __builtin_elementwise_trunc)
//@ rint
_W_BUILTIN1(rint, __builtin_elementwise_rint)
//@ round
_W_BUILTIN1(round, __builtin_elementwise_round)
//@ sqrt
_W_BUILTIN1(sqrt, __builtin_elementwise_sqrt)
//@ exp
_W_BUILTIN1(exp, __builtin_elementwise_exp)
//@ exp2
_W_BUILTIN1(exp2, __builtin_elementwise_exp2)
//@ log
_W_BUILTIN1(log, __builtin_elementwise_log)
//@ log2
_W_BUILTIN1(log2, __builtin_elementwise_log2)
//@ log10
_W_BUILTIN1(log10, __builtin_elementwise_log10)
//@ sin
_W_BUILTIN1(sin, __builtin_elementwise_sin)
//@ cos
_W_BUILTIN1(cos, __builtin_elementwise_cos)
//@ acos
_W_LIBM1(acos)
//@ acosh
_W_LIBM1(acosh)
//@ asin
_W_LIBM1(asin)
//@ asinh
_W_LIBM1(asinh)
//@ atan
_W_LIBM1(atan)
//@ atan2
_W_LIBM2(atan2)
//@ atanh
_W_LIBM1(atanh)
//@ cbrt
_W_LIBM1(cbrt)
//@ cosh
_W_LIBM1(cosh)
//@ erf
_W_LIBM1(erf)
//@ erfc
_W_LIBM1(erfc)
//@ exp10
_W_LIBM1(exp10)
//@ expm1
_W_LIBM1(expm1)
//@ fdim
_W_LIBM2(fdim)
//@ fmod
_W_LIBM2(fmod)
//@ hypot
_W_LIBM2(hypot)
//@ lgamma
_W_LIBM1(lgamma)
//@ log1p
_W_LIBM1(log1p)
//@ logb
_W_LIBM1(logb)
//@ nextafter
_W_LIBM2(nextafter)
//@ remainder
_W_LIBM2(remainder)
//@ sinh
_W_LIBM1(sinh)
//@ tan
_W_LIBM1(tan)
//@ tanh
_W_LIBM1(tanh)
//@ tgamma
_W_LIBM1(tgamma)

//@ rsqrt
#define _W_RSQRT(V, T) V _W rsqrt(V x) { return (T)1 / __builtin_elementwise_sqrt(x); }
_W_FLOATS(_W_RSQRT, _W_SIZES)

//@ radians degrees
#define _W_ANGLES(V, T) \
  V _W radians(V x) { return x * (T)0.017453292519943295; } \
  V _W degrees(V x) { return x * (T)57.29577951308232; }
_W_FLOATS(_W_ANGLES, _W_SIZES)

//@ fmax fmin
#define _W_FMAX(V, T) \
  V _W fmax(V x, V y) { V most = x < y ? y : x; return x == x ? most : y; } \
  V _W fmin(V x, V y) { V least = y < x ? y : x; return x == x ? least : y; }
#define _W_FMAX_SCALAR(V, T) \
  V _W fmax(V x, T y) { return fmax(x, (V)y); } \
  V _W fmin(V x, T y) { return fmin(x, (V)y); }
_W_FLOATS(_W_FMAX, _W_SIZES)
_W_FLOATS(_W_FMAX_SCALAR, _W_VECTORS)

//@ maxmag minmag
#define _W_MAGNITUDE(V, T) \
  V _W maxmag(V x, V y) { V a = fabs(x), b = fabs(y), m = fmax(x, y); return a > b ? x : b > a ? y : m; } \
  V _W minmag(V x, V y) { V a = fabs(x), b = fabs(y), m = fmin(x, y); return a < b ? x : b < a ? y : m; }
_W_FLOATS(_W_MAGNITUDE, _W_SIZES)

//@ pow
#define _W_POW(V, T) V _W pow(V x, V y) { return __builtin_elementwise_pow(x, y); }
_W_FLOATS(_W_POW, _W_SIZES)

//@ powr
#define _W_POWR(V, T) \
  V _W powr(V x, V y) { \
    V known = x < (T)0 || x != x || y != y ? (V)NAN : __builtin_elementwise_pow(__builtin_elementwise_abs(x), y); \
    V of_zero = y == (T)0 && (x == (T)0 || x == (T)INFINITY) ? (V)NAN : known; \
    return x == (T)1 && __builtin_elementwise_abs(y) == (T)INFINITY ? (V)NAN : of_zero; \
  }
_W_FLOATS(_W_POWR, _W_SIZES)

//@ pown
// A `float` has not all 32 bits of the exponent, a `double` does.
float _W pown(float x, int y) { return (float)__builtin_elementwise_pow((double)x, (double)y); }
double _W pown(double x, int y) { return __builtin_elementwise_pow(x, (double)y); }
_W_APPLY2(float, pown, float, int)
_W_APPLY2(double, pown, double, int)

//@ rootn
// The sign of x, for odd n, at the root of |x|.
_I double _w_root(double root, bool negative, int n) {
  double with_sign = negative ? (n & 1 ? -root : NAN) : root;
  return n == 0 ? NAN : with_sign;
}
float _W rootn(float x, int n) {
  double root = __builtin_elementwise_pow(fabs((double)x), 1.0 / (double)n);
  return (float)_w_root(root, x < 0.0f || (n & 1 && as_int(x) < 0), n);
}
// 1 / n is rounded, which counts with the logarithm of what is raised to it: so the exponent is divided by itself.
double _W rootn(double x, int n) {
  double size = fabs(x);
  bool plain = size > 0.0 && size < (double)INFINITY && n != 0;
  int exponent = plain ? ilogb(size) / n : 0;
  int whole = plain ? exponent * n : 0;
  double rest = __builtin_elementwise_pow(ldexp(size, -whole), 1.0 / (double)n);
  return _w_root(ldexp(rest, exponent), x < 0.0 || (n & 1 && as_long(x) < 0), n);
}
_W_APPLY2(float, rootn, float, int)
_W_APPLY2(double, rootn, double, int)

//@ copysign
#define _W_COPYSIGN(V, T) V _W copysign(V x, V y) { return __builtin_elementwise_copysign(x, y); }
_W_FLOATS(_W_COPYSIGN, _W_SIZES)

//@ fma mad
#define _W_FMA(V, T) \
  V _W fma(V x, V y, V z) { return __builtin_elementwise_fma(x, y, z); } \
  V _W mad(V x, V y, V z) { return x * y + z; }
_W_FLOATS(_W_FMA, _W_SIZES)

//@ ilogb
// OpenCL's result for NaN is not the C library's.
int __attribute__((overloadable, const)) _c_ilogb(float) __asm("ilogbf");
int __attribute__((overloadable, const)) _c_ilogb(double) __asm("ilogb");
int _W ilogb(float x) { return x != x ? FP_ILOGBNAN : x == 0.0f ? FP_ILOGB0 : _c_ilogb(x); }
int _W ilogb(double x) { return x != x ? FP_ILOGBNAN : x == 0.0 ? FP_ILOGB0 : _c_ilogb(x); }
_W_APPLY1(int, ilogb, float)
_W_APPLY1(int, ilogb, double)

//@ ldexp
float __attribute__((overloadable, const)) _c_ldexp(float, int) __asm("ldexpf");
double __attribute__((overloadable, const)) _c_ldexp(double, int) __asm("ldexp");
float _W ldexp(float x, int n) { return _c_ldexp(x, n); }
double _W ldexp(double x, int n) { return _c_ldexp(x, n); }
_W_APPLY2(float, ldexp, float, int)
_W_APPLY2(double, ldexp, double, int)
#define _W_LDEXP_SCALAR(N) \
  float##N _W ldexp(float##N x, int n) { return ldexp(x, (int##N)n); } \
  double##N _W ldexp(double##N x, int n) { return ldexp(x, (int##N)n); }
_W_LDEXP_SCALAR(2) _W_LDEXP_SCALAR(3) _W_LDEXP_SCALAR(4) _W_LDEXP_SCALAR(8) _W_LDEXP_SCALAR(16)

//@ nan
#define _W_NAN(N) \
  float##N _W nan(uint##N code) { return as_float##N((code & 0x3FFFFFu) | 0x7FC00000u); } \
  double##N _W nan(ulong##N code) { return as_double##N((code & 0x7FFFFFFFFFFFFul) | 0x7FF8000000000000ul); }
_W_NAN() _W_NAN(2) _W_NAN(3) _W_NAN(4) _W_NAN(8) _W_NAN(16)

//@ acospi asinpi atanpi atan2pi
#define _W_OVER_PI(V, T) \
  V _W acospi(V x) { return acos(x) * (T)0.3183098861837907; } \
  V _W asinpi(V x) { return asin(x) * (T)0.3183098861837907; } \
  V _W atanpi(V x) { return atan(x) * (T)0.3183098861837907; } \
  V _W atan2pi(V y, V x) { return atan2(y, x) * (T)0.3183098861837907; }
_W_FLOATS(_W_OVER_PI, _W_SIZES)

//@ sinpi cospi tanpi
// Of |x| less a multiple of 2, which leaves an exact remainder, the quarter says which function of the rest it is.
#define _W_TIMES_PI(V, T) \
  _I void _w_turn(V x, private V *s, private V *c) { \
    V size = __builtin_elementwise_abs(x); \
    V turn = size - (T)2 * __builtin_elementwise_trunc(size * (T)0.5); \
    V quarter = __builtin_elementwise_rint(turn * (T)2); \
    V angle = (turn - quarter * (T)0.5) * (T)3.141592653589793; \
    V a = __builtin_elementwise_sin(angle), b = __builtin_elementwise_cos(angle); \
    V zero = 0; \
    *s = quarter == (T)1 ? b : quarter == (T)2 ? zero - a : quarter == (T)3 ? zero - b : a; \
    *c = quarter == (T)1 ? zero - a : quarter == (T)2 ? zero - b : quarter == (T)3 ? a : b; \
  } \
  V _W sinpi(V x) { V s, c; _w_turn(x, &s, &c); return x == (T)0 ? x : x < (T)0 ? -s : s; } \
  V _W cospi(V x) { V s, c; _w_turn(x, &s, &c); return c; } \
  V _W tanpi(V x) { V s, c; _w_turn(x, &s, &c); V t = s / c; return x == (T)0 ? x : x < (T)0 ? -t : t; }
_W_FLOATS(_W_TIMES_PI, _W_SIZES)

//@ fract
_I float _w_fract(float x, private float *whole) {
  float f = __builtin_elementwise_floor(x), rest = fmin(x - f, 0x1.fffffep-1f);
  *whole = f;
  return x != x ? x : fabs(x) == INFINITY ? copysign(0.0f, x) : rest;
}
_I double _w_fract(double x, private double *whole) {
  double f = __builtin_elementwise_floor(x), rest = fmin(x - f, 0x1.fffffffffffffp-1);
  *whole = f;
  return x != x ? x : fabs(x) == (double)INFINITY ? copysign(0.0, x) : rest;
}
_W_SECOND(fract, float, float)
_W_SECOND(fract, double, double)

//@ modf
#define _W_MODF(T) \
  _I T _w_modf(T x, private T *whole) { \
    T w = __builtin_elementwise_trunc(x), rest = fabs(x) == (T)INFINITY ? (T)0 : x - w; \
    *whole = w; \
    return copysign(rest, x); \
  } \
  _W_SECOND(modf, T, T)
_W_MODF(float)
_W_MODF(double)

//@ frexp
_I float _w_frexp(float x, private int *exponent) {
  bool small = fabs(x) < 0x1p-126f;
  uint bits = as_uint(small ? x * 0x1p24f : x);
  bool plain = fabs(x) < INFINITY && x != 0.0f;
  *exponent = plain ? (int)(bits >> 23 & 0xFF) - 126 - (small ? 24 : 0) : 0;
  return plain ? as_float((bits & 0x807FFFFFu) | 0x3F000000u) : x;
}
_I double _w_frexp(double x, private int *exponent) {
  bool small = fabs(x) < 0x1p-1022;
  ulong bits = as_ulong(small ? x * 0x1p53 : x);
  bool plain = fabs(x) < (double)INFINITY && x != 0.0;
  *exponent = plain ? (int)(bits >> 52 & 0x7FF) - 1022 - (small ? 53 : 0) : 0;
  return plain ? as_double((bits & 0x800FFFFFFFFFFFFFul) | 0x3FE0000000000000ul) : x;
}
_W_SECOND(frexp, float, int)
_W_SECOND(frexp, double, int)

//@ sincos
#define _W_SINCOS(T) \
  _I T _w_sincos(T x, private T *cosine) { \
    *cosine = __builtin_elementwise_cos(x); \
    return __builtin_elementwise_sin(x); \
  } \
  _W_SECOND(sincos, T, T)
_W_SINCOS(float)
_W_SINCOS(double)

//@ lgamma_r
// Below zero, gamma's sign changes at every integer, where it has none.
#define _W_LGAMMA(T) \
  _I T _w_lgamma_r(T x, private int *sign) { \
    T below = __builtin_elementwise_floor(x); \
    T half_below = below * (T)0.5; \
    bool even = __builtin_elementwise_floor(half_below) == half_below; \
    int of_negative = below == x ? 0 : even ? 1 : -1; \
    int of_zero = copysign((T)1, x) < (T)0 ? -1 : 1; \
    *sign = x < (T)0 ? of_negative : x == (T)0 ? of_zero : 1; \
    return lgamma(x); \
  } \
  _W_SECOND(lgamma_r, T, int)
_W_LGAMMA(float)
_W_LGAMMA(double)

//@ remquo
// The remainder, and the last seven bits of the quotient's size with the quotient's sign: those bits are of the
// quotient by y of what 128 * y leaves over.
#define _W_REMQUO(T) \
  _I T _w_remquo(T x, T y, private int *quotient) { \
    T size = fabs(y), few = fmod(fabs(x), size * (T)128), rest = fmod(few, size); \
    T whole = __builtin_elementwise_rint((few - rest) / size); \
    T half_whole = whole * (T)0.5; \
    bool odd = __builtin_elementwise_floor(half_whole) != half_whole; \
    bool up = rest > size - rest || (rest == size - rest && odd); \
    T nearest = size == (T)INFINITY || !up ? rest : rest - size; \
    bool defined = nearest == nearest && fabs(x) < (T)INFINITY && size > (T)0; \
    bool counts = defined && size < (T)INFINITY; \
    int n = (counts ? (int)whole + (up ? 1 : 0) : 0) & 127; \
    *quotient = (x < (T)0) != (y < (T)0) ? -n : n; \
    T with_sign = x < (T)0 || (x == (T)0 && copysign((T)1, x) < (T)0) ? -nearest : nearest; \
    return defined ? with_sign : (T)NAN; \
  } \
  _W_REMQUO_VECTORS(T)
#define _W_REMQUO_VECTORS(T) \
  _I T##2 _w_remquo(T##2 x, T##2 y, private int2 *p) { \
    int a, b; \
    T##2 r = (T##2)(_w_remquo(x.s0, y.s0, &a), _w_remquo(x.s1, y.s1, &b)); \
    *p = (int2)(a, b); \
    return r; \
  } \
  _I T##3 _w_remquo(T##3 x, T##3 y, private int3 *p) { \
    int a, b, c; \
    T##3 r = (T##3)(_w_remquo(x.s0, y.s0, &a), _w_remquo(x.s1, y.s1, &b), _w_remquo(x.s2, y.s2, &c)); \
    *p = (int3)(a, b, c); \
    return r; \
  } \
  _W_REMQUO_HALVES(T##4, int4, int2) _W_REMQUO_HALVES(T##8, int8, int4) _W_REMQUO_HALVES(T##16, int16, int8) \
  _W_SPACES(_W_REMQUO_TO, T)
#define _W_REMQUO_HALVES(V, I, H) \
  _I V _w_remquo(V x, V y, private I *p) { \
    H a, b; \
    V r = (V)(_w_remquo(x.lo, y.lo, &a), _w_remquo(x.hi, y.hi, &b)); \
    *p = (I)(a, b); \
    return r; \
  }
#define _W_REMQUO_OF(AS, V, I) \
  V _W remquo(V x, V y, AS I *p) { \
    I quotient; \
    V r = _w_remquo(x, y, &quotient); \
    *p = quotient; \
    return r; \
  }
#define _W_REMQUO_TO(AS, T) \
  _W_REMQUO_OF(AS, T, int) _W_REMQUO_OF(AS, T##2, int2) _W_REMQUO_OF(AS, T##3, int3) _W_REMQUO_OF(AS, T##4, int4) \
  _W_REMQUO_OF(AS, T##8, int8) _W_REMQUO_OF(AS, T##16, int16)
_W_REMQUO(float)
_W_REMQUO(double)

//@ native_sqrt native_rsqrt native_recip native_divide half_sqrt half_rsqrt half_recip half_divide
#define _W_QUICK(V, T) \
  V _W native_sqrt(V x) { return __builtin_elementwise_sqrt(x); } \
  V _W native_rsqrt(V x) { return (T)1 / __builtin_elementwise_sqrt(x); } \
  V _W native_recip(V x) { return (T)1 / x; } \
  V _W native_divide(V x, V y) { return x / y; } \
  V _W half_sqrt(V x) { return __builtin_elementwise_sqrt(x); } \
  V _W half_rsqrt(V x) { return (T)1 / __builtin_elementwise_sqrt(x); } \
  V _W half_recip(V x) { return (T)1 / x; } \
  V _W half_divide(V x, V y) { return x / y; }
_W_SIZES(_W_QUICK, float)

//@ native_exp native_exp2 native_log native_log2 native_log10 native_sin native_cos
#define _W_NATIVE(V, T) \
  V _W native_exp(V x) { return __builtin_elementwise_exp(x); } \
  V _W native_exp2(V x) { return __builtin_elementwise_exp2(x); } \
  V _W native_log(V x) { return __builtin_elementwise_log(x); } \
  V _W native_log2(V x) { return __builtin_elementwise_log2(x); } \
  V _W native_log10(V x) { return __builtin_elementwise_log10(x); } \
  V _W native_sin(V x) { return __builtin_elementwise_sin(x); } \
  V _W native_cos(V x) { return __builtin_elementwise_cos(x); }
_W_SIZES(_W_NATIVE, float)

//@ half_exp half_exp2 half_log half_log2 half_log10 half_sin half_cos
#define _W_HALF(V, T) \
  V _W half_exp(V x) { return __builtin_elementwise_exp(x); } \
  V _W half_exp2(V x) { return __builtin_elementwise_exp2(x); } \
  V _W half_log(V x) { return __builtin_elementwise_log(x); } \
  V _W half_log2(V x) { return __builtin_elementwise_log2(x); } \
  V _W half_log10(V x) { return __builtin_elementwise_log10(x); } \
  V _W half_sin(V x) { return __builtin_elementwise_sin(x); } \
  V _W half_cos(V x) { return __builtin_elementwise_cos(x); }
_W_SIZES(_W_HALF, float)

//@ native_exp10 native_tan half_exp10 half_tan
#define _W_QUICK_LIBM(V, T) \
  V _W native_exp10(V x) { return exp10(x); } \
  V _W native_tan(V x) { return tan(x); } \
  V _W half_exp10(V x) { return exp10(x); } \
  V _W half_tan(V x) { return tan(x); }
_W_SIZES(_W_QUICK_LIBM, float)

//@ native_powr half_powr
#define _W_QUICK_POWR(V, T) \
  V _W native_powr(V x, V y) { return powr(x, y); } \
  V _W half_powr(V x, V y) { return powr(x, y); }
_W_SIZES(_W_QUICK_POWR, float)
