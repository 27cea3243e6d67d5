/* How many bytes are not what the byte before them asks for, or belong to no text in UTF-8. */
// survey: n i32 = 4000 | 1013; text u8[n+1] random; -> i32; omp reduction(+:errors)

#include <stdint.h>

int utf8_errors(int n, const uint8_t *text) {
    int errors = 0;
    //@ loop
    for (int i = 0; i < n; i++) {
        uint8_t before = text[i], here = text[i + 1];
        int continues = (here & 0xC0) == 0x80;
        if (before >= 0xC0 && !continues)
            errors++;
        if (before < 0x80 && continues)
            errors++;
        if (here == 0xC0 || here == 0xC1 || here > 0xF4)
            errors++;
    }
    return errors;
}
