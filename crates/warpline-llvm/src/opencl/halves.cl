// Builtins of `half` (`cl_khr_fp16`).
//
// Most are the builtins of `float`, rounded once. Sums, products, quotients and square roots are the nearest halves
// for that: a `float` has more than twice the digits of a half, and two. These sections are compiled for modules that
// name the type; those of the same names for `float` then are there as well.
#define _W_WIDE(x, N) __builtin_convertvector(x, float##N)
#define _W_NARROW(x, N) __builtin_convertvector(x, half##N)
#define _W_HALVES(M, F) M(F, 2) M(F, 3) M(F, 4) M(F, 8) M(F, 16)

#define _W_HALF1(F) \
  half _W F(half x) { return (half)F((float)x); } \
  _W_HALVES(_W_HALF1_OF, F)
#define _W_HALF1_OF(F, N) half##N _W F(half##N x) { return _W_NARROW(F(_W_WIDE(x, N)), N); }

#define _W_HALF2(F) \
  half _W F(half x, half y) { return (half)F((float)x, (float)y); } \
  _W_HALVES(_W_HALF2_OF, F)
#define _W_HALF2_OF(F, N) \
  half##N _W F(half##N x, half##N y) { return _W_NARROW(F(_W_WIDE(x, N), _W_WIDE(y, N)), N); }
#define _W_HALF2_NUMBER(F) _W_HALF2(F) _W_HALVES(_W_HALF2_NUMBER_OF, F)
#define _W_HALF2_NUMBER_OF(F, N) half##N _W F(half##N x, half y) { return F(x, (half##N)y); }

#define _W_HALF3(F) \
  half _W F(half x, half y, half z) { return (half)F((float)x, (float)y, (float)z); } \
  _W_HALVES(_W_HALF3_OF, F)
#define _W_HALF3_OF(F, N) \
  half##N _W F(half##N x, half##N y, half##N z) { \
    return _W_NARROW(F(_W_WIDE(x, N), _W_WIDE(y, N), _W_WIDE(z, N)), N); \
  }

#define _W_HALF_INT(F) \
  half _W F(half x, int y) { return (half)F((float)x, y); } \
  _W_HALVES(_W_HALF_INT_OF, F)
#define _W_HALF_INT_OF(F, N) \
  half##N _W F(half##N x, int##N y) { return _W_NARROW(F(_W_WIDE(x, N), y), N); }

// A second result, a half or an integer, through a pointer to any address space.
#define _W_HALF_SECOND(F) _W_SPACES(_W_HALF_SECOND_TO, F)
#define _W_HALF_SECOND_TO(AS, F) \
  half _W F(half x, AS half *p) { \
    float second; \
    half r = (half)F((float)x, &second); \
    *p = (half)second; \
    return r; \
  } \
  _W_HALF_SECOND_OF(AS, F, 2) _W_HALF_SECOND_OF(AS, F, 3) _W_HALF_SECOND_OF(AS, F, 4) _W_HALF_SECOND_OF(AS, F, 8) \
  _W_HALF_SECOND_OF(AS, F, 16)
#define _W_HALF_SECOND_OF(AS, F, N) \
  half##N _W F(half##N x, AS half##N *p) { \
    float##N second; \
    half##N r = _W_NARROW(F(_W_WIDE(x, N), &second), N); \
    *p = _W_NARROW(second, N); \
    return r; \
  }
#define _W_HALF_EXPONENT(F) _W_SPACES(_W_HALF_EXPONENT_TO, F)
#define _W_HALF_EXPONENT_TO(AS, F) \
  half _W F(half x, AS int *p) { return (half)F((float)x, p); } \
  _W_HALF_EXPONENT_OF(AS, F, 2) _W_HALF_EXPONENT_OF(AS, F, 3) _W_HALF_EXPONENT_OF(AS, F, 4) \
  _W_HALF_EXPONENT_OF(AS, F, 8) _W_HALF_EXPONENT_OF(AS, F, 16)
#define _W_HALF_EXPONENT_OF(AS, F, N) \
  half##N _W F(half##N x, AS int##N *p) { return _W_NARROW(F(_W_WIDE(x, N), p), N); }

//@each _W_HALF1 acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt ceil cos cosh cospi degrees erf erfc exp
//@each _W_HALF1 exp10 exp2 expm1 floor lgamma log log10 log1p log2 logb radians rint round rsqrt sign sin sinh sinpi
//@each _W_HALF1 sqrt tan tanh tanpi tgamma trunc
//@each _W_HALF2 atan2 atan2pi fdim fmod hypot maxmag minmag pow powr remainder
//@each _W_HALF3 mad
//@each _W_HALF_INT pown rootn
//@each _W_HALF_SECOND modf sincos
//@each _W_HALF_EXPONENT frexp lgamma_r

//@ fabs copysign
#define _W_HALF_SIGN(V, T) \
  V _W fabs(V x) { return __builtin_elementwise_abs(x); } \
  V _W copysign(V x, V y) { return __builtin_elementwise_copysign(x, y); }
_W_SIZES(_W_HALF_SIGN, half)

//@ fmax fmin
_W_HALF2_NUMBER(fmax) _W_HALF2_NUMBER(fmin)

//@ max min clamp
_W_HALF2_NUMBER(max) _W_HALF2_NUMBER(min) _W_HALF3(clamp)
#define _W_HALF_CLAMP(V, T) V _W clamp(V x, T low, T high) { return clamp(x, (V)low, (V)high); }
_W_VECTORS(_W_HALF_CLAMP, half)

//@ step mix
_W_HALF2(step) _W_HALF3(mix)
#define _W_HALF_STEP(V, T) \
  V _W step(T edge, V x) { return step((V)edge, x); } \
  V _W mix(V x, V y, T a) { return mix(x, y, (V)a); }
_W_VECTORS(_W_HALF_STEP, half)

//@ smoothstep
_W_HALF3(smoothstep)
#define _W_HALF_SMOOTHSTEP(V, T) V _W smoothstep(T e0, T e1, V x) { return smoothstep((V)e0, (V)e1, x); }
_W_VECTORS(_W_HALF_SMOOTHSTEP, half)

//@ fma
// The product is exact as a `double`. What the sum loses says how its last bit must be, so that the second rounding
// sees it.
_I half _w_fma(half x, half y, half z) {
  double product = (double)x * (double)y, more = (double)z, sum = product + more;
  double part = sum - product, lost = (product - (sum - part)) + (more - part);
  long bits = as_long(sum);
  bool is_inexact = lost < 0.0 || lost > 0.0;
  long odd = bits + ((lost > 0.0) == (sum > 0.0) ? 1 : -1);
  return _w_half_rte(as_double(is_inexact && (bits & 1) == 0 ? odd : bits));
}
half _W fma(half x, half y, half z) { return _w_fma(x, y, z); }
_W_APPLY3(half, fma, half)

//@ ldexp
_W_HALF_INT(ldexp)
#define _W_HALF_LDEXP(V, T) V _W ldexp(V x, int k) { return ldexp(x, (_W_INTS_##V)k); }
#define _W_INTS_half2 int2
#define _W_INTS_half3 int3
#define _W_INTS_half4 int4
#define _W_INTS_half8 int8
#define _W_INTS_half16 int16
_W_VECTORS(_W_HALF_LDEXP, half)

//@ ilogb
int _W ilogb(half x) { return ilogb((float)x); }
#define _W_HALF_ILOGB(F, N) int##N _W F(half##N x) { return F(_W_WIDE(x, N)); }
_W_HALVES(_W_HALF_ILOGB, ilogb)

//@ nan
half _W nan(ushort code) { return as_half((ushort)(code | 0x7E00)); }
#define _W_HALF_NAN(F, N) half##N _W F(ushort##N code) { return as_half##N((ushort##N)(code | (ushort)0x7E00)); }
_W_HALVES(_W_HALF_NAN, nan)

//@ nextafter
half _W nextafter(half x, half y) {
  float a = (float)x, b = (float)y;
  short bits = as_short(x);
  bool away = (a < b) == (a > 0.0f);
  half least = as_half((short)(b < 0.0f ? 0x8001 : 1));
  half beside = as_half((short)(bits + (away ? 1 : -1)));
  half next = a == 0.0f ? least : beside;
  return a != a ? x : b != b || a == b ? y : next;
}
_W_APPLY2(half, nextafter, half, half)

//@ fract
// One less the least half would be rounded to one.
#define _W_HALF_FRACT(AS, T) \
  half _W fract(half x, AS half *p) { \
    float whole, r = fract((float)x, &whole); \
    *p = (half)whole; \
    return (half)(r > 0x1.ffcp-1f ? 0x1.ffcp-1f : r); \
  } \
  _W_HALF_FRACT_OF(AS, 2) _W_HALF_FRACT_OF(AS, 3) _W_HALF_FRACT_OF(AS, 4) _W_HALF_FRACT_OF(AS, 8) \
  _W_HALF_FRACT_OF(AS, 16)
#define _W_HALF_FRACT_OF(AS, N) \
  half##N _W fract(half##N x, AS half##N *p) { \
    float##N whole, r = fract(_W_WIDE(x, N), &whole); \
    *p = _W_NARROW(whole, N); \
    float##N most = (float##N)0x1.ffcp-1f; \
    return _W_NARROW(r > most ? most : r, N); \
  }
_W_SPACES(_W_HALF_FRACT, half)

//@ remquo
#define _W_HALF_REMQUO(AS, T) \
  half _W remquo(half x, half y, AS int *p) { return (half)remquo((float)x, (float)y, p); } \
  _W_HALF_REMQUO_OF(AS, 2) _W_HALF_REMQUO_OF(AS, 3) _W_HALF_REMQUO_OF(AS, 4) _W_HALF_REMQUO_OF(AS, 8) \
  _W_HALF_REMQUO_OF(AS, 16)
#define _W_HALF_REMQUO_OF(AS, N) \
  half##N _W remquo(half##N x, half##N y, AS int##N *p) { \
    return _W_NARROW(remquo(_W_WIDE(x, N), _W_WIDE(y, N), p), N); \
  }
_W_SPACES(_W_HALF_REMQUO, half)

//@ dot cross
half _W dot(half x, half y) { return (half)dot((float)x, (float)y); }
#define _W_HALF_DOT(N) half _W dot(half##N x, half##N y) { return (half)dot(_W_WIDE(x, N), _W_WIDE(y, N)); }
_W_HALF_DOT(2) _W_HALF_DOT(3) _W_HALF_DOT(4)
_W_HALF2_OF(cross, 3) _W_HALF2_OF(cross, 4)

//@ length distance normalize
half _W length(half x) { return (half)length((float)x); }
half _W distance(half x, half y) { return (half)distance((float)x, (float)y); }
half _W normalize(half x) { return (half)normalize((float)x); }
#define _W_HALF_LENGTH(N) \
  half _W length(half##N x) { return (half)length(_W_WIDE(x, N)); } \
  half _W distance(half##N x, half##N y) { return (half)distance(_W_WIDE(x, N), _W_WIDE(y, N)); } \
  _W_HALF1_OF(normalize, N)
_W_HALF_LENGTH(2) _W_HALF_LENGTH(3) _W_HALF_LENGTH(4)

//@ isnan isinf isfinite isnormal signbit
_W_QUESTIONS(half, int, short, 0x1p-14f)
_W_QUESTIONS_OF_VECTORS(half, short, 0x1p-14f)

//@ isequal isnotequal isgreater isgreaterequal isless islessequal islessgreater isordered isunordered
_W_COMPARISONS(half, int)
_W_COMPARISONS_OF_VECTORS(half, short)

//@ select
_W_SELECT_BOTH(half, short, ushort)
//@ bitselect
_W_BITSELECT_ALL(half, ushort)
//@ vload#
_W_VLOAD_ALL(half)
//@ vstore#
_W_VSTORE_ALL(half)
//@ prefetch
_W_PREFETCHES(half)
