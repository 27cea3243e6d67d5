/* The sum of bytes. */
// survey: n u64 = 8000; x u8[n] random; -> u32; omp reduction(+:sum)

#include <stddef.h>
#include <stdint.h>

uint32_t sum_u8(size_t n, const uint8_t *x) {
    uint32_t sum = 0;
    //@ loop
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}
