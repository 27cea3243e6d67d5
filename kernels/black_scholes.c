/* black_scholes.rs in C. */
#include <math.h>
#include <stdint.h>

static float normal(float x) {
    float distance = fabsf(x);
    float k = 1.0f / (1.0f + 0.2316419f * distance);
    float series =
        k * (0.31938153f + k * (-0.35656378f + k * (1.7814779f + k * (-1.8212559f + k * 1.3302745f))));
    float above = 0.3989423f * expf(-0.5f * distance * distance) * series;
    return x < 0 ? above : 1.0f - above;
}

//@ args i=index
//@ tolerance rel=1e-4, abs=1e-3
float black_scholes(int32_t i, const float *price, const float *strike, const float *years, const float *rate,
                    const float *volatility) {
    float s = price[i], x = strike[i], t = years[i], r = rate[i], v = volatility[i];
    float spread = v * sqrtf(t);
    float d1 = (logf(s / x) + (r + 0.5f * v * v) * t) / spread;
    float d2 = d1 - spread;
    return s * normal(d1) - x * expf(-r * t) * normal(d2);
}
