/* binomial.rs in C. */
#include <math.h>
#include <stdint.h>

//@ args i=index
//@ tolerance rel=1e-3, abs=1e-3

enum { ENDS = 64 };

float binomial(int32_t i, const float *price, const float *strike, const float *years, const float *rate,
               const float *volatility) {
    float s = price[i], x = strike[i], t = years[i], r = rate[i], v = volatility[i];
    float step = t / (float)(ENDS - 1);
    float up = expf(v * sqrtf(step));
    float down = 1.0f / up;
    float growth = expf(r * step);
    float rises = (growth - down) / (up - down) / growth;
    float falls = 1.0f / growth - rises;

    float values[ENDS];
    for (int32_t k = 0; k < ENDS; k++) {
        float end = s * powf(up, (float)(2 * k - (ENDS - 1))) - x;
        values[k] = end > 0 ? end : 0;
    }
    for (int32_t left = ENDS - 1; left > 0; left--)
        for (int32_t k = 0; k < left; k++)
            values[k] = falls * values[k] + rises * values[k + 1];
    return values[0];
}
