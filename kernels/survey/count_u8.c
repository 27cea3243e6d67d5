/* How often a byte occurs. */
// survey: n u64 = 8000 | 20; s u8[n] below 8; c u8 = 3; -> u64; omp reduction(+:count)

#include <stddef.h>

size_t count_u8(size_t n, const unsigned char *s, unsigned char c) {
    size_t count = 0;
    //@ loop
    for (size_t i = 0; i < n; i++)
        if (s[i] == c)
            count++;
    return count;
}
