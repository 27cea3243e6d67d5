// Memory: vectors from and to memory, halves, shuffles, atomics, fences.

//@ vload#
#define _W_VLOAD(AS, T) \
  T##2 _W vload2(size_t n, const AS T *p) { p += n * 2; return (T##2)(p[0], p[1]); } \
  T##3 _W vload3(size_t n, const AS T *p) { p += n * 3; return (T##3)(p[0], p[1], p[2]); } \
  T##4 _W vload4(size_t n, const AS T *p) { p += n * 4; return (T##4)(p[0], p[1], p[2], p[3]); } \
  T##8 _W vload8(size_t n, const AS T *p) { p += n * 8; return (T##8)(vload4(0, p), vload4(1, p)); } \
  T##16 _W vload16(size_t n, const AS T *p) { p += n * 16; return (T##16)(vload8(0, p), vload8(1, p)); }
#define _W_VLOAD_ALL(T) _W_ALL_SPACES(_W_VLOAD, T)
_W_NUMBERS(_W_VLOAD_ALL)

//@ vstore#
#define _W_VSTORE(AS, T) \
  void _W vstore2(T##2 x, size_t n, AS T *p) { p += n * 2; p[0] = x.s0; p[1] = x.s1; } \
  void _W vstore3(T##3 x, size_t n, AS T *p) { p += n * 3; p[0] = x.s0; p[1] = x.s1; p[2] = x.s2; } \
  void _W vstore4(T##4 x, size_t n, AS T *p) { p += n * 4; p[0] = x.s0; p[1] = x.s1; p[2] = x.s2; p[3] = x.s3; } \
  void _W vstore8(T##8 x, size_t n, AS T *p) { p += n * 8; vstore4(x.lo, 0, p); vstore4(x.hi, 1, p); } \
  void _W vstore16(T##16 x, size_t n, AS T *p) { p += n * 16; vstore8(x.lo, 0, p); vstore8(x.hi, 1, p); }
#define _W_VSTORE_ALL(T) _W_SPACES(_W_VSTORE, T)
_W_NUMBERS(_W_VSTORE_ALL)

//@ vload_half vload_half# vloada_half#
// What is aligned differs in its place for three elements alone.
#define _W_VLOAD_HALF(AS, T) \
  T _W vload_half(size_t n, const AS half *p) { return (T)p[n]; } \
  T##2 _W vload_half2(size_t n, const AS half *p) { p += n * 2; return (T##2)((T)p[0], (T)p[1]); } \
  T##3 _W vload_half3(size_t n, const AS half *p) { p += n * 3; return (T##3)((T)p[0], (T)p[1], (T)p[2]); } \
  T##4 _W vload_half4(size_t n, const AS half *p) { return (T##4)(vload_half2(n * 2, p), vload_half2(n * 2 + 1, p)); } \
  T##8 _W vload_half8(size_t n, const AS half *p) { return (T##8)(vload_half4(n * 2, p), vload_half4(n * 2 + 1, p)); } \
  T##16 _W vload_half16(size_t n, const AS half *p) { \
    return (T##16)(vload_half8(n * 2, p), vload_half8(n * 2 + 1, p)); \
  } \
  T##2 _W vloada_half2(size_t n, const AS half *p) { return vload_half2(n, p); } \
  T##3 _W vloada_half3(size_t n, const AS half *p) { return vload_half3(0, p + n * 4); } \
  T##4 _W vloada_half4(size_t n, const AS half *p) { return vload_half4(n, p); } \
  T##8 _W vloada_half8(size_t n, const AS half *p) { return vload_half8(n, p); } \
  T##16 _W vloada_half16(size_t n, const AS half *p) { return vload_half16(n, p); }
_W_ALL_SPACES(_W_VLOAD_HALF, float)

//@ vstore_half vstore_half# vstorea_half#
_W_VSTORE_HALF_ALL(, _rte)
//@ vstore_half_rte vstore_half#_rte vstorea_half#_rte
_W_VSTORE_HALF_ALL(_rte, _rte)
//@ vstore_half_rtz vstore_half#_rtz vstorea_half#_rtz
_W_VSTORE_HALF_ALL(_rtz, _rtz)
//@ vstore_half_rtp vstore_half#_rtp vstorea_half#_rtp
_W_VSTORE_HALF_ALL(_rtp, _rtp)
//@ vstore_half_rtn vstore_half#_rtn vstorea_half#_rtn
_W_VSTORE_HALF_ALL(_rtn, _rtn)

//@ shuffle shuffle2
// Indices count modulo the number of elements.
#define _W_AT(K, M) x[m.s##K & (M - 1)]
#define _W_AT2(K, M) (m.s##K & M ? y[m.s##K & (M - 1)] : x[m.s##K & (M - 1)])
#define _W_FOUR(A, M, B, C, D, E) A(B, M), A(C, M), A(D, M), A(E, M)
#define _W_EIGHT(A, M) _W_FOUR(A, M, 0, 1, 2, 3), _W_FOUR(A, M, 4, 5, 6, 7)
#define _W_SIXTEEN(A, M) _W_EIGHT(A, M), _W_FOUR(A, M, 8, 9, a, b), _W_FOUR(A, M, c, d, e, f)
#define _W_SHUFFLE(T, U, M) \
  T##2 _W shuffle(T##M x, U##2 m) { return (T##2)(_W_AT(0, M), _W_AT(1, M)); } \
  T##4 _W shuffle(T##M x, U##4 m) { return (T##4)(_W_FOUR(_W_AT, M, 0, 1, 2, 3)); } \
  T##8 _W shuffle(T##M x, U##8 m) { return (T##8)(_W_EIGHT(_W_AT, M)); } \
  T##16 _W shuffle(T##M x, U##16 m) { return (T##16)(_W_SIXTEEN(_W_AT, M)); } \
  T##2 _W shuffle2(T##M x, T##M y, U##2 m) { return (T##2)(_W_AT2(0, M), _W_AT2(1, M)); } \
  T##4 _W shuffle2(T##M x, T##M y, U##4 m) { return (T##4)(_W_FOUR(_W_AT2, M, 0, 1, 2, 3)); } \
  T##8 _W shuffle2(T##M x, T##M y, U##8 m) { return (T##8)(_W_EIGHT(_W_AT2, M)); } \
  T##16 _W shuffle2(T##M x, T##M y, U##16 m) { return (T##16)(_W_SIXTEEN(_W_AT2, M)); }
#define _W_SHUFFLES(T, U) _W_SHUFFLE(T, U, 2) _W_SHUFFLE(T, U, 4) _W_SHUFFLE(T, U, 8) _W_SHUFFLE(T, U, 16)
_W_WITH_UNSIGNED(_W_SHUFFLES)
_W_SHUFFLES(float, uint)
_W_SHUFFLES(double, ulong)
_W_SHUFFLES(half, ushort)

//@ atomic_add atomic_sub atomic_xchg atomic_inc atomic_dec
//@ atomic_cmpxchg atomic_min atomic_max atomic_and atomic_or atomic_xor
_W_ATOMICS_OF(atomic, int) _W_ATOMICS_OF(atomic, uint)
#define _W_ATOMIC_XCHG_FLOAT(AS, T) \
  float _W atomic_xchg(volatile AS float *p, float v) { \
    return as_float(__atomic_exchange_n((AS int *)p, as_int(v), __ATOMIC_RELAXED)); \
  }
_W_SPACES(_W_ATOMIC_XCHG_FLOAT, float)

//@ atom_add atom_sub atom_xchg atom_inc atom_dec
//@ atom_cmpxchg atom_min atom_max atom_and atom_or atom_xor
_W_ATOMICS_OF(atom, int) _W_ATOMICS_OF(atom, uint) _W_ATOMICS_OF(atom, long) _W_ATOMICS_OF(atom, ulong)

//@ atomic_fetch_add atomic_fetch_sub atomic_fetch_or atomic_fetch_xor
//@ atomic_fetch_and atomic_fetch_min atomic_fetch_max
_W_ATOMIC_FETCHES(add) _W_ATOMIC_FETCHES(sub) _W_ATOMIC_FETCHES(or) _W_ATOMIC_FETCHES(xor) _W_ATOMIC_FETCHES(and)
_W_ATOMIC_FETCHES(min) _W_ATOMIC_FETCHES(max)
//@ atomic_fetch_add_explicit
_W_ATOMIC_FETCHES_EXPLICIT(add)
//@ atomic_fetch_sub_explicit
_W_ATOMIC_FETCHES_EXPLICIT(sub)
//@ atomic_fetch_or_explicit
_W_ATOMIC_FETCHES_EXPLICIT(or)
//@ atomic_fetch_xor_explicit
_W_ATOMIC_FETCHES_EXPLICIT(xor)
//@ atomic_fetch_and_explicit
_W_ATOMIC_FETCHES_EXPLICIT(and)
//@ atomic_fetch_min_explicit
_W_ATOMIC_FETCHES_EXPLICIT(min)
//@ atomic_fetch_max_explicit
_W_ATOMIC_FETCHES_EXPLICIT(max)

//@ atomic_load atomic_store atomic_exchange
#define _W_ATOMIC_ACCESS(AS, A, T) \
  void _W atomic_store(volatile AS A *p, T v) { \
    __opencl_atomic_store((AS A *)p, v, __ATOMIC_SEQ_CST, memory_scope_device); \
  } \
  T _W atomic_load(volatile AS A *p) { \
    return __opencl_atomic_load((AS A *)p, __ATOMIC_SEQ_CST, memory_scope_device); \
  } \
  T _W atomic_exchange(volatile AS A *p, T v) { \
    return __opencl_atomic_exchange((AS A *)p, v, __ATOMIC_SEQ_CST, memory_scope_device); \
  }
_W_ATOMIC_TYPES(_W_ATOMIC_ACCESS)
_W_ATOMIC_SPACES(_W_ATOMIC_ACCESS, atomic_float, float)
_W_ATOMIC_SPACES(_W_ATOMIC_ACCESS, atomic_double, double)

//@ atomic_load_explicit atomic_store_explicit atomic_exchange_explicit
#define _W_ATOMIC_ACCESS_EXPLICIT(AS, A, T) \
  void _W atomic_store_explicit(volatile AS A *p, T v, memory_order order) { \
    __opencl_atomic_store((AS A *)p, v, order, memory_scope_device); \
  } \
  T _W atomic_load_explicit(volatile AS A *p, memory_order order) { \
    return __opencl_atomic_load((AS A *)p, order, memory_scope_device); \
  } \
  T _W atomic_exchange_explicit(volatile AS A *p, T v, memory_order order) { \
    return __opencl_atomic_exchange((AS A *)p, v, order, memory_scope_device); \
  } \
  void _W atomic_store_explicit(volatile AS A *p, T v, memory_order order, memory_scope scope) { \
    __opencl_atomic_store((AS A *)p, v, order, memory_scope_device); \
  } \
  T _W atomic_load_explicit(volatile AS A *p, memory_order order, memory_scope scope) { \
    return __opencl_atomic_load((AS A *)p, order, memory_scope_device); \
  } \
  T _W atomic_exchange_explicit(volatile AS A *p, T v, memory_order order, memory_scope scope) { \
    return __opencl_atomic_exchange((AS A *)p, v, order, memory_scope_device); \
  }
_W_ATOMIC_TYPES(_W_ATOMIC_ACCESS_EXPLICIT)
_W_ATOMIC_SPACES(_W_ATOMIC_ACCESS_EXPLICIT, atomic_float, float)
_W_ATOMIC_SPACES(_W_ATOMIC_ACCESS_EXPLICIT, atomic_double, double)

//@ atomic_compare_exchange_strong atomic_compare_exchange_weak
// Where the order is not given, and where it is, the strongest will do.
_W_ATOMIC_COMPARES(strong) _W_ATOMIC_COMPARES(weak)
//@ atomic_compare_exchange_strong_explicit atomic_compare_exchange_weak_explicit
// They are atomic_compare_exchange_strong and atomic_compare_exchange_weak.
_W_ATOMIC_COMPARES_EXPLICIT(strong) _W_ATOMIC_COMPARES_EXPLICIT(weak)

//@ atomic_flag_test_and_set atomic_flag_clear atomic_flag_test_and_set_explicit atomic_flag_clear_explicit
#define _W_ATOMIC_FLAG(AS, T) \
  bool _W atomic_flag_test_and_set(volatile AS T *p) { \
    return __opencl_atomic_exchange((AS T *)p, 1, __ATOMIC_SEQ_CST, memory_scope_device) != 0; \
  } \
  bool _W atomic_flag_test_and_set_explicit(volatile AS T *p, memory_order order) { \
    return __opencl_atomic_exchange((AS T *)p, 1, __ATOMIC_SEQ_CST, memory_scope_device) != 0; \
  } \
  bool _W atomic_flag_test_and_set_explicit(volatile AS T *p, memory_order order, memory_scope scope) { \
    return __opencl_atomic_exchange((AS T *)p, 1, __ATOMIC_SEQ_CST, memory_scope_device) != 0; \
  } \
  void _W atomic_flag_clear(volatile AS T *p) { \
    __opencl_atomic_store((AS T *)p, 0, __ATOMIC_SEQ_CST, memory_scope_device); \
  } \
  void _W atomic_flag_clear_explicit(volatile AS T *p, memory_order order) { \
    __opencl_atomic_store((AS T *)p, 0, __ATOMIC_SEQ_CST, memory_scope_device); \
  } \
  void _W atomic_flag_clear_explicit(volatile AS T *p, memory_order order, memory_scope scope) { \
    __opencl_atomic_store((AS T *)p, 0, __ATOMIC_SEQ_CST, memory_scope_device); \
  }
_W_ATOMIC_FLAG(global, atomic_flag) _W_ATOMIC_FLAG(local, atomic_flag) _W_ATOMIC_FLAG(generic, atomic_flag)

//@ atomic_init
#define _W_ATOMIC_INIT(AS, A, T) \
  void _W atomic_init(volatile AS A *p, T v) { \
    __opencl_atomic_store((AS A *)p, v, __ATOMIC_RELAXED, memory_scope_device); \
  }
_W_ATOMIC_TYPES(_W_ATOMIC_INIT)
_W_ATOMIC_SPACES(_W_ATOMIC_INIT, atomic_float, float)
_W_ATOMIC_SPACES(_W_ATOMIC_INIT, atomic_double, double)

//@ mem_fence read_mem_fence write_mem_fence atomic_work_item_fence
void _W mem_fence(cl_mem_fence_flags flags) { __atomic_thread_fence(__ATOMIC_ACQ_REL); }
void _W read_mem_fence(cl_mem_fence_flags flags) { __atomic_thread_fence(__ATOMIC_ACQUIRE); }
void _W write_mem_fence(cl_mem_fence_flags flags) { __atomic_thread_fence(__ATOMIC_RELEASE); }
void _W atomic_work_item_fence(cl_mem_fence_flags flags, memory_order order, memory_scope scope) {
  if (order != memory_order_relaxed) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

//@ prefetch
// That memory will be read is no promise that it can be, nor need anybody listen.
#define _W_PREFETCH(V, T) void _W prefetch(const global V *p, size_t n) {}
#define _W_PREFETCHES(T) _W_SIZES(_W_PREFETCH, T)
_W_NUMBERS(_W_PREFETCHES)
