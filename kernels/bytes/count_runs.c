/* How many runs of equal bytes there are behind the first one. */
// survey: n i32 = 4000 | 1013; in u8[n+1] in 0..4; -> i32; omp reduction(+:runs)

#include <stdint.h>

int count_runs(int n, const uint8_t *in) {
    int runs = 0;
    //@ loop
    for (int i = 0; i < n; i++)
        runs += in[i] != in[i + 1];
    return runs;
}
