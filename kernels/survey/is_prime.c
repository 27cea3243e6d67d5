/* Trial division. */
// survey: n i32 = 500; in u32[n] in 2..20000; prime u8[n]

#include <stdbool.h>
#include <stdint.h>

void is_prime(int n, const uint32_t *in, bool *prime) {
    //@ loop
    for (int i = 0; i < n; i++) {
        bool is = in[i] >= 2;
        for (uint32_t d = 2; d * d <= in[i]; d++) {
            if (in[i] % d == 0) {
                is = false;
                break;
            }
        }
        prime[i] = is;
    }
}
