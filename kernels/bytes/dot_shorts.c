/* A product of vectors of shorts. */
// survey: n i32 = 4000 | 1013; a i16[n] in -1000..1000; b i16[n] in -1000..1000; -> i32

#include <stdint.h>

int dot_shorts(int n, const int16_t *a, const int16_t *b) {
    int sum = 0;
    //@ loop
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}
