// Integers.

//@ mul24 mad24
#define _W_24(V, T) \
  V _W mul24(V x, V y) { return x * y; } \
  V _W mad24(V x, V y, V z) { return x * y + z; }
_W_SIZES(_W_24, int)
_W_SIZES(_W_24, uint)

//@ popcount clz ctz rotate
// T has N bits and is signed or not, U has no sign. __builtin_clz and its like take 32 bits, those with `l` 64: W.
#define _W_BITS(T, U, N, L, W) \
  T _W popcount(T x) { return (T)__builtin_popcount##L((U)x); } \
  T _W clz(T x) { return (T)(x ? __builtin_clz##L((U)x) - (W - N) : N); } \
  T _W ctz(T x) { return (T)(x ? __builtin_ctz##L((U)x) : N); } \
  T _W rotate(T x, T y) { return (T)(U)((U)x << ((U)y & (N - 1)) | (U)x >> (-(U)y & (N - 1))); } \
  _W_APPLY1(T, popcount, T) _W_APPLY1(T, clz, T) _W_APPLY1(T, ctz, T) _W_APPLY2(T, rotate, T, T)
_W_BITS(char, uchar, 8, , 32)
_W_BITS(uchar, uchar, 8, , 32)
_W_BITS(short, ushort, 16, , 32)
_W_BITS(ushort, ushort, 16, , 32)
_W_BITS(int, uint, 32, , 32)
_W_BITS(uint, uint, 32, , 32)
_W_BITS(long, ulong, 64, l, 64)
_W_BITS(ulong, ulong, 64, l, 64)

//@ abs abs_diff
#define _W_ABS(T, U) \
  U _W abs(T x) { return x < 0 ? (U)(0 - (U)x) : (U)x; } \
  U _W abs(U x) { return x; } \
  U _W abs_diff(T x, T y) { return x < y ? (U)((U)y - (U)x) : (U)((U)x - (U)y); } \
  U _W abs_diff(U x, U y) { return x < y ? (U)(y - x) : (U)(x - y); } \
  _W_APPLY1(U, abs, T) _W_APPLY1(U, abs, U) _W_APPLY2(U, abs_diff, T, T) _W_APPLY2(U, abs_diff, U, U)
_W_ABS(char, uchar)
_W_ABS(short, ushort)
_W_ABS(int, uint)
_W_ABS(long, ulong)

//@ add_sat sub_sat
#define _W_SAT(V, T) \
  V _W add_sat(V x, V y) { return __builtin_elementwise_add_sat(x, y); } \
  V _W sub_sat(V x, V y) { return __builtin_elementwise_sub_sat(x, y); }
_W_SIGNED(_W_SAT, _W_VECTORS)
_W_UNSIGNED(_W_SAT, _W_VECTORS)
_W_SAT(int, int) _W_SAT(uint, uint) _W_SAT(long, long) _W_SAT(ulong, ulong)
// Of fewer bits, clang takes the numbers for `int`.
#define _W_SAT_SMALL(T, LEAST, MOST) \
  _I T _w_fit_##T(int x) { return (T)(x < LEAST ? LEAST : x > MOST ? MOST : x); } \
  T _W add_sat(T x, T y) { return _w_fit_##T((int)x + (int)y); } \
  T _W sub_sat(T x, T y) { return _w_fit_##T((int)x - (int)y); }
_W_SAT_SMALL(char, CHAR_MIN, CHAR_MAX)
_W_SAT_SMALL(uchar, 0, UCHAR_MAX)
_W_SAT_SMALL(short, SHRT_MIN, SHRT_MAX)
_W_SAT_SMALL(ushort, 0, USHRT_MAX)

//@ hadd rhadd
#define _W_HADD(V, T) \
  V _W hadd(V x, V y) { return (V)((x >> (T)1) + (y >> (T)1) + (x & y & (T)1)); } \
  V _W rhadd(V x, V y) { return (V)((x >> (T)1) + (y >> (T)1) + ((x | y) & (T)1)); }
_W_SIGNED(_W_HADD, _W_SIZES)
_W_UNSIGNED(_W_HADD, _W_SIZES)

//@ mul_hi
#define _W_MUL_HI(T, W, N) \
  T _W mul_hi(T x, T y) { return (T)((W)x * (W)y >> N); } \
  _W_APPLY2(T, mul_hi, T, T)
_W_MUL_HI(char, int, 8)
_W_MUL_HI(uchar, uint, 8)
_W_MUL_HI(short, int, 16)
_W_MUL_HI(ushort, uint, 16)
_W_MUL_HI(int, long, 32)
_W_MUL_HI(uint, ulong, 32)
ulong _W mul_hi(ulong x, ulong y) {
  ulong a = x >> 32, b = x & 0xFFFFFFFFul, c = y >> 32, d = y & 0xFFFFFFFFul;
  ulong middle = a * d + (b * d >> 32), other = b * c + (middle & 0xFFFFFFFFul);
  return a * c + (middle >> 32) + (other >> 32);
}
long _W mul_hi(long x, long y) {
  ulong of_bits = mul_hi((ulong)x, (ulong)y);
  return (long)(of_bits - (x < 0 ? (ulong)y : 0) - (y < 0 ? (ulong)x : 0));
}
_W_APPLY2(long, mul_hi, long, long)
_W_APPLY2(ulong, mul_hi, ulong, ulong)

//@ mad_hi
#define _W_MAD_HI(V, T) V _W mad_hi(V x, V y, V z) { return (V)(mul_hi(x, y) + z); }
_W_SIGNED(_W_MAD_HI, _W_SIZES)
_W_UNSIGNED(_W_MAD_HI, _W_SIZES)

//@ mad_sat
#define _W_MAD_SAT(T, W, LEAST, MOST) \
  T _W mad_sat(T x, T y, T z) { \
    W sum = (W)x * (W)y + (W)z; \
    return (T)(sum < (W)LEAST ? (W)LEAST : sum > (W)MOST ? (W)MOST : sum); \
  } \
  _W_APPLY3(T, mad_sat, T)
_W_MAD_SAT(char, int, CHAR_MIN, CHAR_MAX)
_W_MAD_SAT(uchar, uint, 0, UCHAR_MAX)
_W_MAD_SAT(short, int, SHRT_MIN, SHRT_MAX)
_W_MAD_SAT(ushort, uint, 0, USHRT_MAX)
_W_MAD_SAT(int, long, INT_MIN, INT_MAX)
_W_MAD_SAT(uint, ulong, 0, UINT_MAX)
// In 128 bits, as two halves.
ulong _W mad_sat(ulong x, ulong y, ulong z) {
  ulong low = x * y, sum = low + z;
  return mul_hi(x, y) != 0 || sum < low ? ULONG_MAX : sum;
}
long _W mad_sat(long x, long y, long z) {
  ulong low = (ulong)x * (ulong)y, sum = low + (ulong)z;
  long high = mul_hi(x, y) + (z < 0 ? -1 : 0) + (sum < low ? 1 : 0);
  return high == (long)sum >> 63 ? (long)sum : high < 0 ? LONG_MIN : LONG_MAX;
}
_W_APPLY3(long, mad_sat, long)
_W_APPLY3(ulong, mad_sat, ulong)

//@ upsample
#define _W_UPSAMPLE(R, H, L, N) \
  R _W upsample(H high, L low) { return (R)((R)high << (R)N | (R)low); } \
  _W_UPSAMPLE_OF(R##2, H##2, L##2, R, N) _W_UPSAMPLE_OF(R##3, H##3, L##3, R, N) \
  _W_UPSAMPLE_OF(R##4, H##4, L##4, R, N) _W_UPSAMPLE_OF(R##8, H##8, L##8, R, N) \
  _W_UPSAMPLE_OF(R##16, H##16, L##16, R, N)
#define _W_UPSAMPLE_OF(R, H, L, T, N) \
  R _W upsample(H high, L low) { return __builtin_convertvector(high, R) << (T)N | __builtin_convertvector(low, R); }
_W_UPSAMPLE(short, char, uchar, 8)
_W_UPSAMPLE(ushort, uchar, uchar, 8)
_W_UPSAMPLE(int, short, ushort, 16)
_W_UPSAMPLE(uint, ushort, ushort, 16)
_W_UPSAMPLE(long, int, uint, 32)
_W_UPSAMPLE(ulong, uint, uint, 32)
