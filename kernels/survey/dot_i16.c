/* A scalar product of samples. */
// survey: n i32 = 4000; a i16[n] random; b i16[n] random; -> i64; omp reduction(+:sum)

#include <stdint.h>

int64_t dot_i16(int n, const int16_t *a, const int16_t *b) {
    int64_t sum = 0;
    //@ loop
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}
