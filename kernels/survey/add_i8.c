/* The sum of two arrays of bytes. */
// survey: n u64 = 8000 | 20; a i8[n] random; b i8[n] random; c i8[n]

#include <stddef.h>
#include <stdint.h>

void add_i8(size_t n, const int8_t *a, const int8_t *b, int8_t *c) {
    //@ loop
    for (size_t i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}
