/* Lane operations that a warpline kernel in C, C++ or OpenCL C may call.
 *
 * A kernel is written for one lane; warpline runs it on W lanes at once. By these functions it can look at the other lanes of its
 * group. They speak of the lanes that are active: those that execute the call together. warpline puts the operation in place of
 * each call, and finds this file by itself: `#include "warpline.h"`.
 *
 * In a program that is not vectorized, each means what one lane alone would see: define WARPLINE_SCALAR before this file is
 * included, and that is what they do.
 *
 * Where values of several types are taken, the name ends in the type: i8, i16, i32, i64, u8, u16, u32, u64, f32 or f64.
 *
 *   warpline_any(c), warpline_all(c)     whether c holds in any, in all active lanes
 *   warpline_ballot(c)                   bit k says whether lane k is active and its c holds
 *   warpline_popcount(c)                 the number of active lanes in which c holds
 *   warpline_lane_index()                the number of the lane, from 0
 *   warpline_lane_count()                the number of lanes W, active or not
 *   warpline_shuffle_T(x, k)             the x of lane k; 0 if there is no such lane or it is not active
 *   warpline_broadcast_T(x, k)           the same; all active lanes should ask for one lane, so that the result is one for all
 *   warpline_extract_T(x, k)             another name for it
 *   warpline_first_T(x, c)               the x of the first active lane in which c holds; 0 if it holds in none
 *   warpline_uniform_T(x)                x, of which you say that it is the same in all active lanes. What is computed from it is
 *                                        computed once for all of them. `warpline run` checks it; elsewhere, lanes that have something
 *                                        else get what the first active one has
 *   warpline_insert_T(x, k, y)           y in lane k, x in the others
 *   warpline_compact_T(to, x, c)         a packed store: the active lanes in which c holds store their x one after another, in their
 *                                        order, from `to` on; how many did. (If `to` differs between lanes, the n-th of them stores at
 *                                        its own to[n].) There must be room for these only
 *   warpline_reduce_OP_T(x)              the x of all active lanes combined
 *   warpline_scan_exclusive_OP_T(x)      the x of the active lanes before this one combined, beginning with what changes nothing: 0, 1,
 *                                        the greatest or the least number of the type (of f32, f64: infinite), all bits
 *   warpline_scan_inclusive_OP_T(x)      the same with this lane's own x
 *
 * What follows is made of these:
 *
 *   warpline_rotate_T(x, n)              the x of lane (own number + n) modulo W; n may be negative
 *   warpline_shift_T(x, n)               the x of lane own number + n; 0 if there is none
 *   warpline_shuffle2_T(x, y, k)         the x of lane k, or the y of lane k - W if k is not below W
 *   warpline_reduce_equal_T(x)           whether all active lanes have the same x
 *   warpline_packed_load_T(from, c)      the counterpart of warpline_compact_T: the active lanes in which c holds load one number after
 *                                        another, in their order, from `from` on; the others get 0
 *   warpline_foreach_active(k) { … }     the block for one active lane after the other, of which k is the number
 *   warpline_foreach_unique(T, v, x) { … }
 *                                        the block once for each value v that x has in active lanes, by the lanes that have it; v is
 *                                        the same in these
 *   warpline_coherent(c)                 c, of which lanes mostly agree: `if (warpline_coherent(c)) { … }` skips the block where no
 *                                        lane is active
 *   warpline_likely(c), warpline_unlikely(c)
 *                                        c, which mostly holds, or mostly does not
 *
 * OP is add, mul, min, max; for integers also and, or, xor. Integers wrap. Floating-point numbers are added and multiplied in the order
 * of lanes, so that results are the same each time; min and max are NaN if one of the numbers is, and −0 is less than +0.
 *
 * This one is for `warpline constant-time`, and nothing to all others:
 *
 *   warpline_declassify_T(x)             x, of which you say that it is public though it depends on secrets
 *
 * Other functions look at no lanes. For each a machine has one instruction for many bytes or shorts; T is u8, i8, u16
 * or i16:
 *
 *   warpline_sat_add_T(x, y)             the sum, or the nearest number that there is
 *   warpline_sat_sub_T(x, y)             the difference, or the nearest number that there is
 *   warpline_avg_T(x, y)                 the mean, rounded up (u8, u16)
 *   warpline_mulhi_T(x, y)               the upper half of the product (u16, i16)
 *   warpline_abs_diff_T(x, y)            the distance (u8, u16)
 *   warpline_dot_T(sum, x, y)            sum + x * y in 32 bits, which wraps; for sums over a loop (u8, i16) */
#ifndef WARPLINE_H
#define WARPLINE_H

#ifdef __OPENCL_C_VERSION__
#define WARPLINE_I8 char
#define WARPLINE_I16 short
#define WARPLINE_I32 int
#define WARPLINE_I64 long
#define WARPLINE_U8 uchar
#define WARPLINE_U16 ushort
#define WARPLINE_U32 uint
#define WARPLINE_U64 ulong
#define WARPLINE_HUGE HUGE_VALF
#else
#include <stdint.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif
#define WARPLINE_I8 int8_t
#define WARPLINE_I16 int16_t
#define WARPLINE_I32 int32_t
#define WARPLINE_I64 int64_t
#define WARPLINE_U8 uint8_t
#define WARPLINE_U16 uint16_t
#define WARPLINE_U32 uint32_t
#define WARPLINE_U64 uint64_t
#define WARPLINE_HUGE __builtin_huge_valf()
#endif

#ifdef WARPLINE_SCALAR
#define WARPLINE_FUNCTION(RESULT, NAME, PARAMETERS, ...) static inline RESULT NAME PARAMETERS { __VA_ARGS__ }
#else
#define WARPLINE_FUNCTION(RESULT, NAME, PARAMETERS, ...) RESULT NAME PARAMETERS;
#endif

/* M(suffix, type, least number, greatest number) for each type. */
#define WARPLINE_INTEGERS(M) \
  M(i8, WARPLINE_I8, -127 - 1, 127) \
  M(i16, WARPLINE_I16, -32767 - 1, 32767) \
  M(i32, WARPLINE_I32, -2147483647 - 1, 2147483647) \
  M(i64, WARPLINE_I64, -9223372036854775807 - 1, 9223372036854775807) \
  M(u8, WARPLINE_U8, 0, 255) \
  M(u16, WARPLINE_U16, 0, 65535) \
  M(u32, WARPLINE_U32, 0, 4294967295u) \
  M(u64, WARPLINE_U64, 0, 18446744073709551615u)
#define WARPLINE_NUMBERS(M) \
  WARPLINE_INTEGERS(M) \
  M(f32, float, -WARPLINE_HUGE, WARPLINE_HUGE) \
  M(f64, double, -WARPLINE_HUGE, WARPLINE_HUGE)

#define WARPLINE_COMBINING(OP, T, C, BEGINNING) \
  WARPLINE_FUNCTION(C, warpline_reduce_##OP##_##T, (C x), return x;) \
  WARPLINE_FUNCTION(C, warpline_scan_exclusive_##OP##_##T, (C x), (void)x; return BEGINNING;) \
  WARPLINE_FUNCTION(C, warpline_scan_inclusive_##OP##_##T, (C x), return x;)

#define WARPLINE_OF_NUMBERS(T, C, LEAST, GREATEST) \
  WARPLINE_FUNCTION(C, warpline_shuffle_##T, (C x, WARPLINE_U32 lane), return lane == 0 ? x : 0;) \
  WARPLINE_FUNCTION(C, warpline_broadcast_##T, (C x, WARPLINE_U32 lane), return lane == 0 ? x : 0;) \
  WARPLINE_FUNCTION(C, warpline_extract_##T, (C x, WARPLINE_U32 lane), return lane == 0 ? x : 0;) \
  WARPLINE_FUNCTION(C, warpline_first_##T, (C x, bool condition), return condition ? x : 0;) \
  WARPLINE_FUNCTION(C, warpline_uniform_##T, (C x), return x;) \
  WARPLINE_FUNCTION(C, warpline_insert_##T, (C x, WARPLINE_U32 lane, C y), return lane == 0 ? y : x;) \
  WARPLINE_FUNCTION(WARPLINE_U32, warpline_compact_##T, (C *to, C x, bool active), if (active) *to = x; return active;) \
  WARPLINE_COMBINING(add, T, C, 0) \
  WARPLINE_COMBINING(mul, T, C, 1) \
  WARPLINE_COMBINING(min, T, C, GREATEST) \
  WARPLINE_COMBINING(max, T, C, LEAST)

#define WARPLINE_OF_INTEGERS(T, C, LEAST, GREATEST) \
  WARPLINE_COMBINING(and, T, C, (C)-1) \
  WARPLINE_COMBINING(or, T, C, 0) \
  WARPLINE_COMBINING(xor, T, C, 0)

#define WARPLINE_NARROW(RESULT, NAME, PARAMETERS, VALUE) \
  static inline RESULT NAME PARAMETERS { return (RESULT)(VALUE); }
#if defined(__clang__) && !defined(__OPENCL_VERSION__)
#define WARPLINE_PUBLIC(x) __builtin_annotation((x), "warpline_declassify")
#else
#define WARPLINE_PUBLIC(x) (x)
#endif
#define WARPLINE_DECLASSIFYING(T, C, LEAST, GREATEST) \
  static inline C warpline_declassify_##T(C x) { return (C)WARPLINE_PUBLIC(x); }
WARPLINE_INTEGERS(WARPLINE_DECLASSIFYING)
#define WARPLINE_SATURATING(T, C, LEAST, GREATEST) \
  WARPLINE_NARROW(C, warpline_sat_add_##T, (C x, C y), \
                  x + y > (GREATEST) ? (GREATEST) : x + y < (LEAST) ? (LEAST) : x + y) \
  WARPLINE_NARROW(C, warpline_sat_sub_##T, (C x, C y), \
                  x - y > (GREATEST) ? (GREATEST) : x - y < (LEAST) ? (LEAST) : x - y)
WARPLINE_SATURATING(i8, WARPLINE_I8, -127 - 1, 127)
WARPLINE_SATURATING(i16, WARPLINE_I16, -32767 - 1, 32767)
WARPLINE_SATURATING(u8, WARPLINE_U8, 0, 255)
WARPLINE_SATURATING(u16, WARPLINE_U16, 0, 65535)
WARPLINE_NARROW(WARPLINE_U8, warpline_avg_u8, (WARPLINE_U8 x, WARPLINE_U8 y), (x + y + 1) >> 1)
WARPLINE_NARROW(WARPLINE_U16, warpline_avg_u16, (WARPLINE_U16 x, WARPLINE_U16 y), (x + y + 1) >> 1)
WARPLINE_NARROW(WARPLINE_U16, warpline_mulhi_u16, (WARPLINE_U16 x, WARPLINE_U16 y), ((WARPLINE_U32)x * y) >> 16)
WARPLINE_NARROW(WARPLINE_I16, warpline_mulhi_i16, (WARPLINE_I16 x, WARPLINE_I16 y), ((WARPLINE_I32)x * y) >> 16)
WARPLINE_NARROW(WARPLINE_U8, warpline_abs_diff_u8, (WARPLINE_U8 x, WARPLINE_U8 y), x > y ? x - y : y - x)
WARPLINE_NARROW(WARPLINE_U16, warpline_abs_diff_u16, (WARPLINE_U16 x, WARPLINE_U16 y), x > y ? x - y : y - x)
WARPLINE_NARROW(WARPLINE_U32, warpline_dot_u8, (WARPLINE_U32 sum, WARPLINE_U8 x, WARPLINE_U8 y),
                sum + (WARPLINE_U32)x * y)
WARPLINE_NARROW(WARPLINE_I32, warpline_dot_i16, (WARPLINE_I32 sum, WARPLINE_I16 x, WARPLINE_I16 y),
                (WARPLINE_U32)sum + (WARPLINE_U32)((WARPLINE_I32)x * y))

#ifdef __cplusplus
extern "C" {
#endif
WARPLINE_FUNCTION(bool, warpline_any, (bool condition), return condition;)
WARPLINE_FUNCTION(bool, warpline_all, (bool condition), return condition;)
WARPLINE_FUNCTION(WARPLINE_U64, warpline_ballot, (bool condition), return condition;)
WARPLINE_FUNCTION(WARPLINE_U32, warpline_popcount, (bool condition), return condition;)
WARPLINE_FUNCTION(WARPLINE_U32, warpline_lane_index, (void), return 0;)
WARPLINE_FUNCTION(WARPLINE_U32, warpline_lane_count, (void), return 1;)
WARPLINE_NUMBERS(WARPLINE_OF_NUMBERS)
WARPLINE_INTEGERS(WARPLINE_OF_INTEGERS)
#ifdef __cplusplus
}
#endif

static inline bool warpline_likely(bool condition) { return __builtin_expect(condition, 1); }
static inline bool warpline_unlikely(bool condition) { return __builtin_expect(condition, 0); }

/* A macro, since `any` speaks of the lanes that come to the branch. */
#define warpline_coherent(CONDITION) (warpline_any(CONDITION) && (CONDITION))

#define WARPLINE_LANE_OF(N) \
  (((WARPLINE_I32)warpline_lane_index() + (N) % (WARPLINE_I32)warpline_lane_count() + \
    (WARPLINE_I32)warpline_lane_count()) % (WARPLINE_I32)warpline_lane_count())
#define WARPLINE_MADE_OF_THESE(T, C, LEAST, GREATEST) \
  static inline C warpline_rotate_##T(C x, WARPLINE_I32 n) \
  { return warpline_shuffle_##T(x, (WARPLINE_U32)WARPLINE_LANE_OF(n)); } \
  static inline C warpline_shift_##T(C x, WARPLINE_I32 n) \
  { return warpline_shuffle_##T(x, warpline_lane_index() + (WARPLINE_U32)n); } \
  static inline C warpline_shuffle2_##T(C x, C y, WARPLINE_U32 lane) \
  { \
    C of_x = warpline_shuffle_##T(x, lane), of_y = warpline_shuffle_##T(y, lane - warpline_lane_count()); \
    return lane < warpline_lane_count() ? of_x : of_y; \
  } \
  static inline bool warpline_reduce_equal_##T(C x) { return warpline_all(x == warpline_first_##T(x, true)); } \
  static inline C warpline_packed_load_##T(const C *from, bool active) \
  { \
    WARPLINE_U32 at = warpline_scan_exclusive_add_u32(active); \
    return active ? from[at] : 0; \
  }
WARPLINE_NUMBERS(WARPLINE_MADE_OF_THESE)

#ifdef __OPENCL_C_VERSION__
#define WARPLINE_FIRST_BIT(BITS) (63 - (WARPLINE_U32)clz((BITS) & -(BITS)))
#else
#define WARPLINE_FIRST_BIT(BITS) ((WARPLINE_U32)__builtin_ctzll(BITS))
#endif
#define warpline_foreach_active(LANE) \
  for (WARPLINE_U64 warpline_left = warpline_ballot(true); warpline_left; warpline_left &= warpline_left - 1) \
    for (WARPLINE_U32 LANE = WARPLINE_FIRST_BIT(warpline_left), warpline_once = 1; warpline_once; warpline_once = 0) \
      if (LANE == warpline_lane_index())
/* Each lane with a NaN, which equals nothing, is taken out alone. */
#define warpline_foreach_unique(T, VALUE, X) \
  for (WARPLINE_U64 warpline_left = warpline_ballot(true), warpline_now = 0; warpline_left; \
       warpline_left &= ~(warpline_now | (warpline_left & -warpline_left))) \
    for (__typeof__(warpline_shuffle_##T(0, 0)) VALUE = warpline_shuffle_##T(X, WARPLINE_FIRST_BIT(warpline_left)), \
         *warpline_once = ((void)(warpline_now = warpline_ballot((X) == VALUE)), &VALUE); warpline_once; warpline_once = 0) \
      if ((X) == VALUE)

#endif
