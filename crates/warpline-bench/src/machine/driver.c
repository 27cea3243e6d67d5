/* Measures loops in turns: of each the least time of many, in cycles of the processor. A chain of additions, which
   take one cycle each, says how long a cycle is. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef void body(char *, char *, int64_t);
struct loop { const char *name; body *code; int data; };
/* Data: 'i' indices, 'f' and 'd' numbers, '1' '2' '4' '8' integers of so many bytes. */
extern const struct loop loops[];
extern const int count;

static _Alignas(64) char data[4096], memory[1 << 16];

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void fill(int kind) {
    for (int k = 0; k < (int)sizeof data; ++k) data[k] = 0;
    for (int k = 0; k < 512; ++k) {
        int odd = k & 1;
        switch (kind) {
        case 'i': ((int32_t *)data)[k] = k * 5 & 63; ((int32_t *)data)[k + 512] = k * 5 & 63; break;
        case 'I': ((int64_t *)data)[k] = k * 5 & 63; break;
        case 'f': ((float *)data)[k] = odd ? -1.5f : 1.25f; ((float *)data)[k + 512] = 1.5f; break;
        case 'd': ((double *)data)[k] = odd ? -1.5 : 1.25; break;
        case '1': data[k] = odd ? -3 : 7; data[k + 512] = data[k]; break;
        case '2': ((int16_t *)data)[k] = odd ? -30 : 700; break;
        case '4': ((int32_t *)data)[k] = odd ? -3000 : 100003; break;
        default: ((int64_t *)data)[k] = odd ? -3000 : 1000000007;
        }
    }
    for (int k = 0; k < (int)(sizeof memory / 8); ++k)
        if (kind == 'I') ((int64_t *)memory)[k] = k * 5 & 63;
        else ((int32_t *)memory)[2 * k] = ((int32_t *)memory)[2 * k + 1] = k * 5 & 63;
}

static void chain(int64_t n) {
    int64_t x = 1;
    while (n-- > 0) {
        __asm__ volatile("add %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\t"
                         "add %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\tadd %0, %0" : "+r"(x));
    }
}

static double timed(body *code, int64_t n) {
    double t = now();
    code(data, memory, n);
    return (now() - t) / (double)n;
}

static double cycle(void) {
    double t = now();
    chain(2000);
    return (now() - t) / 16000.0;
}

static char bits[1 << 17];
static int64_t sum;

static __attribute__((noinline)) void branches(char *d, char *m, int64_t n) {
    (void)d, (void)m;
    for (int64_t k = 0; k < n; ++k) {
        if (bits[k & ((1 << 17) - 1)]) __asm__ volatile("nop\n\tnop" ::: "memory");
        else __asm__ volatile("nop" ::: "memory");
    }
}

static __attribute__((noinline)) void nothing(void) { __asm__ volatile("" ::: "memory"); }

static __attribute__((noinline)) void calls(char *d, char *m, int64_t n) {
    (void)d, (void)m;
    for (int64_t k = 0; k < n; ++k) nothing();
}

#define FUNCTION(name, type, call)                                                                                    \
    static __attribute__((noinline)) void name(char *d, char *m, int64_t n) {                                        \
        (void)d, (void)m;                                                                                            \
        volatile type from = (type)1.75, to;                                                                         \
        for (int64_t k = 0; k < n; ++k) to = call;                                                                   \
        sum += (int64_t)to;                                                                                          \
    }
FUNCTION(exp_float, float, expf(from))
FUNCTION(exp_double, double, exp(from))
FUNCTION(mod_float, float, fmodf(from, 0.3f))
FUNCTION(mod_double, double, fmod(from, 0.3))

/* The least number of cycles that a round takes. */
static double least(body *code, int64_t rounds) {
    double best = 1e30;
    for (int r = 0; r < REPEATED; ++r) {
        double before = cycle(), t = timed(code, rounds), after = cycle();
        /* Where the clock changed meanwhile, nothing is known. */
        if (before > after * 1.03 || after > before * 1.03) continue;
        double c = t / ((before + after) / 2);
        if (c < best) best = c;
    }
    return best < 1e29 ? best : timed(code, rounds) / cycle();
}

int main(void) {
    for (int k = 0; k < 1000; ++k) cycle();
    for (int k = 0; k < count; ++k) {
        fill(loops[k].data);
        timed(loops[k].code, 100);
        double once = timed(loops[k].code, 400);
        int64_t rounds = (int64_t)(40000 / once);
        printf("%s %.3f\n", loops[k].name, least(loops[k].code, rounds < 50 ? 50 : rounds));
    }
    memset(bits, 0, sizeof bits);
    double known = least(branches, sizeof bits);
    uint64_t state = 88172645463325252u;
    for (int k = 0; k < (int)sizeof bits; ++k) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        bits[k] = state >> 40 & 1;
    }
    printf("misprediction %.3f\n", 2 * (least(branches, sizeof bits) - known));
    printf("call_i64_scalar_throughput %.3f\n", least(calls, 5000));
    printf("mathematics_f32_scalar_throughput %.3f\n", least(exp_float, 2000));
    printf("mathematics_f64_scalar_throughput %.3f\n", least(exp_double, 2000));
    printf("remainder_f32_scalar_throughput %.3f\n", least(mod_float, 2000));
    printf("remainder_f64_scalar_throughput %.3f\n", least(mod_double, 2000));
    return 0;
}
