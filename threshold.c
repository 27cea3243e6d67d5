#include <stdint.h>
void threshold(int n, const uint8_t *restrict a, uint8_t t, uint8_t v, uint8_t *restrict d) {
    //@ loop
    for (int i = 0; i < n; i++)
        if (a[i] > t) d[i] = v;
}
