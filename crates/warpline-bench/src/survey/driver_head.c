/* What a driver of the survey begins with. */
#define _GNU_SOURCE
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t next(void);
/* From 0 to 1. */
static double unit(void) { return (double)(next() >> 11) * 0x1p-53; }

#define SORT(T, p, n) qsort(p, n, sizeof(T), compare_##T)
#define COMPARE(T) \
    static inline int compare_##T(const void *a, const void *b) { \
        T x = *(const T *)a, y = *(const T *)b; \
        return (x > y) - (x < y); \
    }
COMPARE(int8_t) COMPARE(uint8_t) COMPARE(int16_t) COMPARE(uint16_t) COMPARE(int32_t) COMPARE(uint32_t)
COMPARE(int64_t) COMPARE(uint64_t) COMPARE(float) COMPARE(double)
