// Runs a kernel point by point and on many lanes, compares the results, and prints how much faster that is.

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "julia.warpline.h"

enum { POINTS = 512 * 384, LIMIT = 256, RUNS = 5 };

void julia(int i, float cx, float cy, int limit, int *out);

static int one_by_one[POINTS], together[POINTS];

static void scalar(void) {
    for (int i = 0; i < POINTS; i++) {
        julia(i, -0.8f, 0.156f, LIMIT, one_by_one);
    }
}

static void vector(void) {
    julia_range(0, POINTS, -0.8f, 0.156f, LIMIT, together);
}

// The shortest time of several runs, in milliseconds.
static double shortest(void (*run)(void)) {
    double best = 0;
    for (int k = 0; k < RUNS; k++) {
        struct timespec a, b;
        timespec_get(&a, TIME_UTC);
        run();
        timespec_get(&b, TIME_UTC);
        double ms = (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) * 1e-6;
        if (k == 0 || ms < best) best = ms;
    }
    return best;
}

int main(void) {
    double scalar_ms = shortest(scalar), vector_ms = shortest(vector);
    int equal = memcmp(one_by_one, together, sizeof together) == 0;
    printf("julia  scalar %.2f ms  vector %.2f ms  %.2f times as fast (%s)  results %s\n", scalar_ms, vector_ms,
           scalar_ms / vector_ms, julia_cpu(), equal ? "agree" : "DIFFER");
    return equal ? 0 : 1;
}
