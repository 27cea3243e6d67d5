/* How many code points a text in UTF-8 has: bytes that continue none. */
// survey: n i32 = 4000 | 1013; text u8[n] random; -> i32; omp reduction(+:count)

#include <stdint.h>

int utf8_count(int n, const uint8_t *text) {
    int count = 0;
    //@ loop
    for (int i = 0; i < n; i++)
        count += (text[i] & 0xC0) != 0x80;
    return count;
}
