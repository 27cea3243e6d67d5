/* Lane operations that a warpline kernel in C or C++ may call.
 *
 * A kernel is written for one lane; warpline runs it on W lanes at once. By these functions it can look at the other lanes of its
 * group. They speak of the lanes that are active: those that execute the call together. warpline puts the operation in place of
 * each call.
 *
 * In a program that is not vectorized, each means what one lane alone would see: define WARPLINE_SCALAR before this file is
 * included, and that is what they do. */
#ifndef WARPLINE_H
#define WARPLINE_H

#include <stdint.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif

#ifdef WARPLINE_SCALAR

/* Whether the condition holds in any active lane. */
static inline bool warpline_any(bool condition) { return condition; }
/* Whether the condition holds in all active lanes. */
static inline bool warpline_all(bool condition) { return condition; }
/* Bit k says whether lane k is active and its condition holds. */
static inline uint64_t warpline_ballot(bool condition) { return condition; }
/* The number of active lanes in which the condition holds. */
static inline uint32_t warpline_popcount(bool condition) { return condition; }
/* The number of the lane, from 0. */
static inline uint32_t warpline_lane_index(void) { return 0; }
/* The number of lanes W, active or not. */
static inline uint32_t warpline_lane_count(void) { return 1; }

#else

#ifdef __cplusplus
extern "C" {
#endif
bool warpline_any(bool condition);
bool warpline_all(bool condition);
uint64_t warpline_ballot(bool condition);
uint32_t warpline_popcount(bool condition);
uint32_t warpline_lane_index(void);
uint32_t warpline_lane_count(void);
#ifdef __cplusplus
}
#endif

#endif
#endif
