// What stands in front of the definitions of OpenCL C's builtins: macros that say a function for all types and sizes.
//
// The files beside this one are divided into sections. A line `//@ NAMES` begins a section and names the builtins that
// it defines. Only the sections that a module needs are compiled (`library.rs`), for the module's own target, and
// linked. A section may call builtins of other sections.

#pragma clang diagnostic ignored "-Wincompatible-library-redeclaration"
// OpenCL's targets do not say what they can do at once; CPUs can do all of it. (Atomics are not `volatile` for being
// atomic: the pointers below are cast.)
#pragma clang diagnostic ignored "-Watomic-alignment"
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

// A builtin. A program's own function of this name and these types takes its place. Without debug information, what
// is inlined stands on the line that calls it.
#define _W __attribute__((overloadable, always_inline, nodebug, weak, section(".warpline.opencl")))
// A function for the definitions alone.
#define _I static __attribute__((overloadable, always_inline, nodebug, section(".warpline.opencl")))

#define _W_SIZES(M, T) M(T, T) M(T##2, T) M(T##3, T) M(T##4, T) M(T##8, T) M(T##16, T)
#define _W_VECTORS(M, T) M(T##2, T) M(T##3, T) M(T##4, T) M(T##8, T) M(T##16, T)
#define _W_FLOATS(M, S) S(M, float) S(M, double)
#define _W_SIGNED(M, S) S(M, char) S(M, short) S(M, int) S(M, long)
#define _W_UNSIGNED(M, S) S(M, uchar) S(M, ushort) S(M, uint) S(M, ulong)
#define _W_INTEGERS(M) M(char) M(uchar) M(short) M(ushort) M(int) M(uint) M(long) M(ulong)
#define _W_NUMBERS(M) _W_INTEGERS(M) M(float) M(double)
// Each integer with the unsigned one of its size.
#define _W_WITH_UNSIGNED(M) \
  M(char, uchar) M(uchar, uchar) M(short, ushort) M(ushort, ushort) M(int, uint) M(uint, uint) M(long, ulong) \
  M(ulong, ulong)
// Address spaces that can be written to, and all.
#define _W_SPACES(M, A) M(global, A) M(local, A) M(private, A) M(generic, A)
#define _W_ALL_SPACES(M, A) _W_SPACES(M, A) M(constant, A)

// Element by element, for what is defined for one.
#define _W_APPLY1(R, F, T) \
  R##2 _W F(T##2 x) { return (R##2)(F(x.s0), F(x.s1)); } \
  R##3 _W F(T##3 x) { return (R##3)(F(x.s0), F(x.s1), F(x.s2)); } \
  R##4 _W F(T##4 x) { return (R##4)(F(x.lo), F(x.hi)); } \
  R##8 _W F(T##8 x) { return (R##8)(F(x.lo), F(x.hi)); } \
  R##16 _W F(T##16 x) { return (R##16)(F(x.lo), F(x.hi)); }
#define _W_APPLY2(R, F, T, U) \
  R##2 _W F(T##2 x, U##2 y) { return (R##2)(F(x.s0, y.s0), F(x.s1, y.s1)); } \
  R##3 _W F(T##3 x, U##3 y) { return (R##3)(F(x.s0, y.s0), F(x.s1, y.s1), F(x.s2, y.s2)); } \
  R##4 _W F(T##4 x, U##4 y) { return (R##4)(F(x.lo, y.lo), F(x.hi, y.hi)); } \
  R##8 _W F(T##8 x, U##8 y) { return (R##8)(F(x.lo, y.lo), F(x.hi, y.hi)); } \
  R##16 _W F(T##16 x, U##16 y) { return (R##16)(F(x.lo, y.lo), F(x.hi, y.hi)); }
#define _W_APPLY3(R, F, T) \
  R##2 _W F(T##2 x, T##2 y, T##2 z) { return (R##2)(F(x.s0, y.s0, z.s0), F(x.s1, y.s1, z.s1)); } \
  R##3 _W F(T##3 x, T##3 y, T##3 z) { \
    return (R##3)(F(x.s0, y.s0, z.s0), F(x.s1, y.s1, z.s1), F(x.s2, y.s2, z.s2)); \
  } \
  R##4 _W F(T##4 x, T##4 y, T##4 z) { return (R##4)(F(x.lo, y.lo, z.lo), F(x.hi, y.hi, z.hi)); } \
  R##8 _W F(T##8 x, T##8 y, T##8 z) { return (R##8)(F(x.lo, y.lo, z.lo), F(x.hi, y.hi, z.hi)); } \
  R##16 _W F(T##16 x, T##16 y, T##16 z) { return (R##16)(F(x.lo, y.lo, z.lo), F(x.hi, y.hi, z.hi)); }

// By clang's builtin of this name, for whole vectors.
#define _W_BUILTIN1(F, B) \
  _W_BUILTIN_OF(F, B, float) _W_BUILTIN_OF(F, B, double)
#define _W_BUILTIN_OF(F, B, T) \
  T _W F(T x) { return B(x); } \
  T##2 _W F(T##2 x) { return B(x); } \
  T##3 _W F(T##3 x) { return B(x); } \
  T##4 _W F(T##4 x) { return B(x); } \
  T##8 _W F(T##8 x) { return B(x); } \
  T##16 _W F(T##16 x) { return B(x); }

// Functions of the C library, by their names there.
#define _W_FROM_C1(F, NAME) \
  float __attribute__((overloadable, const)) _c_##F(float) __asm(NAME "f"); \
  double __attribute__((overloadable, const)) _c_##F(double) __asm(NAME);
#define _W_FROM_C2(F, NAME) \
  float __attribute__((overloadable, const)) _c_##F(float, float) __asm(NAME "f"); \
  double __attribute__((overloadable, const)) _c_##F(double, double) __asm(NAME);
// Builtins that are such functions.
#define _W_LIBM1(F) \
  _W_FROM_C1(F, #F) \
  float _W F(float x) { return _c_##F(x); } \
  double _W F(double x) { return _c_##F(x); } \
  _W_APPLY1(float, F, float) _W_APPLY1(double, F, double)
#define _W_LIBM2(F) \
  _W_FROM_C2(F, #F) \
  float _W F(float x, float y) { return _c_##F(x, y); } \
  double _W F(double x, double y) { return _c_##F(x, y); } \
  _W_APPLY2(float, F, float, float) _W_APPLY2(double, F, double, double)

// A builtin that yields a second result through a pointer to any address space, by a function `_w_F` of one number.
#define _W_SECOND(F, T, I) \
  _I T##2 _w_##F(T##2 x, private I##2 *p) { \
    I a, b; \
    T##2 r = (T##2)(_w_##F(x.s0, &a), _w_##F(x.s1, &b)); \
    *p = (I##2)(a, b); \
    return r; \
  } \
  _I T##3 _w_##F(T##3 x, private I##3 *p) { \
    I a, b, c; \
    T##3 r = (T##3)(_w_##F(x.s0, &a), _w_##F(x.s1, &b), _w_##F(x.s2, &c)); \
    *p = (I##3)(a, b, c); \
    return r; \
  } \
  _W_SECOND_HALVES(F, T##4, I##4, I##2) _W_SECOND_HALVES(F, T##8, I##8, I##4) \
  _W_SECOND_HALVES(F, T##16, I##16, I##8) \
  _W_SECOND_TO(global, F, T, I) _W_SECOND_TO(local, F, T, I) _W_SECOND_TO(private, F, T, I) \
  _W_SECOND_TO(generic, F, T, I)
#define _W_SECOND_HALVES(F, V, I, H) \
  _I V _w_##F(V x, private I *p) { \
    H a, b; \
    V r = (V)(_w_##F(x.lo, &a), _w_##F(x.hi, &b)); \
    *p = (I)(a, b); \
    return r; \
  }
#define _W_SECOND_TO(AS, F, T, I) \
  _W_SECOND_OF(AS, F, T, I) _W_SECOND_OF(AS, F, T##2, I##2) _W_SECOND_OF(AS, F, T##3, I##3) \
  _W_SECOND_OF(AS, F, T##4, I##4) _W_SECOND_OF(AS, F, T##8, I##8) _W_SECOND_OF(AS, F, T##16, I##16)
#define _W_SECOND_OF(AS, F, V, I) \
  V _W F(V x, AS I *p) { \
    I second; \
    V r = _w_##F(x, &second); \
    *p = second; \
    return r; \
  }

// Halves in memory, rounded as MODE says; SUFFIX is what names end in. What is aligned differs in its place for three
// elements alone.
#define _W_VSTORE_HALF_ALL(SUFFIX, MODE) \
  _W_VSTORE_HALF(global, float, SUFFIX, MODE) _W_VSTORE_HALF(local, float, SUFFIX, MODE) \
  _W_VSTORE_HALF(private, float, SUFFIX, MODE) _W_VSTORE_HALF(generic, float, SUFFIX, MODE) \
  _W_VSTORE_HALF(global, double, SUFFIX, MODE) _W_VSTORE_HALF(local, double, SUFFIX, MODE) \
  _W_VSTORE_HALF(private, double, SUFFIX, MODE) _W_VSTORE_HALF(generic, double, SUFFIX, MODE)
#define _W_VSTORE_HALF(AS, T, S, MODE) \
  void _W vstore_half##S(T x, size_t n, AS half *p) { p[n] = _w_half##MODE(x); } \
  void _W vstore_half2##S(T##2 x, size_t n, AS half *p) { \
    p += n * 2; \
    p[0] = _w_half##MODE(x.s0); \
    p[1] = _w_half##MODE(x.s1); \
  } \
  void _W vstore_half3##S(T##3 x, size_t n, AS half *p) { \
    p += n * 3; \
    p[0] = _w_half##MODE(x.s0); \
    p[1] = _w_half##MODE(x.s1); \
    p[2] = _w_half##MODE(x.s2); \
  } \
  void _W vstore_half4##S(T##4 x, size_t n, AS half *p) { \
    vstore_half2##S(x.lo, n * 2, p); \
    vstore_half2##S(x.hi, n * 2 + 1, p); \
  } \
  void _W vstore_half8##S(T##8 x, size_t n, AS half *p) { \
    vstore_half4##S(x.lo, n * 2, p); \
    vstore_half4##S(x.hi, n * 2 + 1, p); \
  } \
  void _W vstore_half16##S(T##16 x, size_t n, AS half *p) { \
    vstore_half8##S(x.lo, n * 2, p); \
    vstore_half8##S(x.hi, n * 2 + 1, p); \
  } \
  void _W vstorea_half2##S(T##2 x, size_t n, AS half *p) { vstore_half2##S(x, n, p); } \
  void _W vstorea_half3##S(T##3 x, size_t n, AS half *p) { vstore_half3##S(x, 0, p + n * 4); } \
  void _W vstorea_half4##S(T##4 x, size_t n, AS half *p) { vstore_half4##S(x, n, p); } \
  void _W vstorea_half8##S(T##8 x, size_t n, AS half *p) { vstore_half8##S(x, n, p); } \
  void _W vstorea_half16##S(T##16 x, size_t n, AS half *p) { vstore_half16##S(x, n, p); }
// A `double` becomes a `float` first, whose last bit says whether something was lost, so that the second rounding sees
// it. Then a half that went the wrong way is taken a step back.
_I float _w_odd(float x) { return x; }
_I float _w_odd(double x) {
  float f = (float)x;
  bool lost = (double)f != x && x == x;
  int bits = as_int(f);
  bool beyond = __builtin_elementwise_abs((double)f) > __builtin_elementwise_abs(x);
  return lost && (bits & 1) == 0 ? as_float(beyond ? bits - 1 : bits + 1) : f;
}
_I half _w_step(half h, int by) { return as_half((short)(as_short(h) + (short)by)); }
_I half _w_half_rte(float x) { return (half)x; }
_I half _w_half_rtz(float x) {
  half h = (half)x;
  return __builtin_elementwise_abs((float)h) > __builtin_elementwise_abs(x) ? _w_step(h, -1) : h;
}
_I half _w_half_rtp(float x) {
  half h = (half)x;
  return (float)h < x ? _w_step(h, as_short(h) < 0 ? -1 : 1) : h;
}
_I half _w_half_rtn(float x) {
  half h = (half)x;
  return (float)h > x ? _w_step(h, as_short(h) < 0 ? 1 : -1) : h;
}
_I half _w_half_rte(double x) { return _w_half_rte(_w_odd(x)); }
_I half _w_half_rtz(double x) { return _w_half_rtz(_w_odd(x)); }
_I half _w_half_rtp(double x) { return _w_half_rtp(_w_odd(x)); }
_I half _w_half_rtn(double x) { return _w_half_rtn(_w_odd(x)); }

// Atomics of OpenCL 1.2, in any order with other memory.
#define _W_ATOMICS_OF(A, T) \
  _W_ATOMICS(A, global, T) _W_ATOMICS(A, local, T) _W_ATOMICS(A, private, T) _W_ATOMICS(A, generic, T)
#define _W_ATOMICS(A, AS, T) \
  T _W A##_add(volatile AS T *p, T v) { return __atomic_fetch_add((AS T *)p, v, __ATOMIC_RELAXED); } \
  T _W A##_sub(volatile AS T *p, T v) { return __atomic_fetch_sub((AS T *)p, v, __ATOMIC_RELAXED); } \
  T _W A##_xchg(volatile AS T *p, T v) { return __atomic_exchange_n((AS T *)p, v, __ATOMIC_RELAXED); } \
  T _W A##_inc(volatile AS T *p) { return __atomic_fetch_add((AS T *)p, (T)1, __ATOMIC_RELAXED); } \
  T _W A##_dec(volatile AS T *p) { return __atomic_fetch_sub((AS T *)p, (T)1, __ATOMIC_RELAXED); } \
  T _W A##_cmpxchg(volatile AS T *p, T old, T v) { \
    private T found = old; \
    __atomic_compare_exchange_n((AS T *)p, &found, v, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
    return found; \
  } \
  T _W A##_min(volatile AS T *p, T v) { return __atomic_fetch_min((AS T *)p, v, __ATOMIC_RELAXED); } \
  T _W A##_max(volatile AS T *p, T v) { return __atomic_fetch_max((AS T *)p, v, __ATOMIC_RELAXED); } \
  T _W A##_and(volatile AS T *p, T v) { return __atomic_fetch_and((AS T *)p, v, __ATOMIC_RELAXED); } \
  T _W A##_or(volatile AS T *p, T v) { return __atomic_fetch_or((AS T *)p, v, __ATOMIC_RELAXED); } \
  T _W A##_xor(volatile AS T *p, T v) { return __atomic_fetch_xor((AS T *)p, v, __ATOMIC_RELAXED); }

// Atomics of OpenCL 2.0. A wider scope than asked for is right.
#define _W_ATOMIC_SPACES(M, A, T) M(global, A, T) M(local, A, T) M(generic, A, T)
#define _W_ATOMIC_TYPES(M) \
  _W_ATOMIC_SPACES(M, atomic_int, int) _W_ATOMIC_SPACES(M, atomic_uint, uint) \
  _W_ATOMIC_SPACES(M, atomic_long, long) _W_ATOMIC_SPACES(M, atomic_ulong, ulong)
#define _W_ATOMIC_FETCHES(OP) \
  _W_ATOMIC_FETCH_OF(OP, atomic_int, int) _W_ATOMIC_FETCH_OF(OP, atomic_uint, uint) \
  _W_ATOMIC_FETCH_OF(OP, atomic_long, long) _W_ATOMIC_FETCH_OF(OP, atomic_ulong, ulong)
#define _W_ATOMIC_FETCH_OF(OP, A, T) \
  _W_ATOMIC_FETCH(OP, global, A, T) _W_ATOMIC_FETCH(OP, local, A, T) _W_ATOMIC_FETCH(OP, generic, A, T)
#define _W_ATOMIC_FETCH(OP, AS, A, T) \
  T _W atomic_fetch_##OP(volatile AS A *p, T v) { \
    return __opencl_atomic_fetch_##OP((AS A *)p, v, __ATOMIC_SEQ_CST, memory_scope_device); \
  }
#define _W_ATOMIC_FETCHES_EXPLICIT(OP) \
  _W_ATOMIC_FETCH_EXPLICIT_OF(OP, atomic_int, int) _W_ATOMIC_FETCH_EXPLICIT_OF(OP, atomic_uint, uint) \
  _W_ATOMIC_FETCH_EXPLICIT_OF(OP, atomic_long, long) _W_ATOMIC_FETCH_EXPLICIT_OF(OP, atomic_ulong, ulong)
#define _W_ATOMIC_FETCH_EXPLICIT_OF(OP, A, T) \
  _W_ATOMIC_FETCH_EXPLICIT(OP, global, A, T) _W_ATOMIC_FETCH_EXPLICIT(OP, local, A, T) \
  _W_ATOMIC_FETCH_EXPLICIT(OP, generic, A, T)
#define _W_ATOMIC_FETCH_EXPLICIT(OP, AS, A, T) \
  T _W atomic_fetch_##OP##_explicit(volatile AS A *p, T v, memory_order order) { \
    return __opencl_atomic_fetch_##OP((AS A *)p, v, order, memory_scope_device); \
  } \
  T _W atomic_fetch_##OP##_explicit(volatile AS A *p, T v, memory_order order, memory_scope scope) { \
    return __opencl_atomic_fetch_##OP((AS A *)p, v, order, memory_scope_device); \
  }
#define _W_ATOMIC_COMPARES(HOW) \
  _W_ATOMIC_COMPARE_OF(HOW, atomic_int, int) _W_ATOMIC_COMPARE_OF(HOW, atomic_uint, uint) \
  _W_ATOMIC_COMPARE_OF(HOW, atomic_long, long) _W_ATOMIC_COMPARE_OF(HOW, atomic_ulong, ulong)
#define _W_ATOMIC_COMPARE_OF(HOW, A, T) \
  _W_ATOMIC_COMPARE(HOW, global, A, T) _W_ATOMIC_COMPARE(HOW, local, A, T) _W_ATOMIC_COMPARE(HOW, generic, A, T)
#define _W_ATOMIC_COMPARE(HOW, AS, A, T) \
  _W_ATOMIC_COMPARE_TO(HOW, AS, A, T, global) _W_ATOMIC_COMPARE_TO(HOW, AS, A, T, local) \
  _W_ATOMIC_COMPARE_TO(HOW, AS, A, T, private) _W_ATOMIC_COMPARE_TO(HOW, AS, A, T, generic)
#define _W_ATOMIC_COMPARE_TO(HOW, AS, A, T, TO) \
  bool _W atomic_compare_exchange_##HOW(volatile AS A *p, TO T *old, T v) { \
    private T found = *old; \
    bool same = __opencl_atomic_compare_exchange_strong( \
      (AS A *)p, &found, v, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST, memory_scope_device); \
    if (!same) *old = found; \
    return same; \
  }
#define _W_ATOMIC_COMPARES_EXPLICIT(HOW) \
  _W_ATOMIC_COMPARE_EXPLICIT_OF(HOW, atomic_int, int) _W_ATOMIC_COMPARE_EXPLICIT_OF(HOW, atomic_uint, uint) \
  _W_ATOMIC_COMPARE_EXPLICIT_OF(HOW, atomic_long, long) _W_ATOMIC_COMPARE_EXPLICIT_OF(HOW, atomic_ulong, ulong)
#define _W_ATOMIC_COMPARE_EXPLICIT_OF(HOW, A, T) \
  _W_ATOMIC_COMPARE_EXPLICIT(HOW, global, A, T) _W_ATOMIC_COMPARE_EXPLICIT(HOW, local, A, T) \
  _W_ATOMIC_COMPARE_EXPLICIT(HOW, generic, A, T)
#define _W_ATOMIC_COMPARE_EXPLICIT(HOW, AS, A, T) \
  _W_ATOMIC_COMPARE_EXPLICIT_TO(HOW, AS, A, T, global) _W_ATOMIC_COMPARE_EXPLICIT_TO(HOW, AS, A, T, local) \
  _W_ATOMIC_COMPARE_EXPLICIT_TO(HOW, AS, A, T, private) _W_ATOMIC_COMPARE_EXPLICIT_TO(HOW, AS, A, T, generic)
#define _W_ATOMIC_COMPARE_EXPLICIT_TO(HOW, AS, A, T, TO) \
  bool _W atomic_compare_exchange_##HOW##_explicit( \
    volatile AS A *p, TO T *old, T v, memory_order success, memory_order failure) { \
    return atomic_compare_exchange_##HOW(p, old, v); \
  } \
  bool _W atomic_compare_exchange_##HOW##_explicit( \
    volatile AS A *p, TO T *old, T v, memory_order success, memory_order failure, memory_scope scope) { \
    return atomic_compare_exchange_##HOW(p, old, v); \
  }
