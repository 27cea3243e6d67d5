// black_scholes.rs for ISPC.

static inline float normal(float x) {
    float distance = abs(x);
    float k = 1.0f / (1.0f + 0.2316419f * distance);
    float series =
        k * (0.31938153f + k * (-0.35656378f + k * (1.7814779f + k * (-1.8212559f + k * 1.3302745f))));
    float above = 0.3989423f * exp(-0.5f * distance * distance) * series;
    return x < 0 ? above : 1.0f - above;
}

export void KERNEL(uniform int begin, uniform int end, const uniform float price[], const uniform float strike[],
                   const uniform float years[], const uniform float rate[], const uniform float volatility[],
                   uniform float result[]) {
    foreach (i = begin ... end) {
        float s = price[i], x = strike[i], t = years[i], r = rate[i], v = volatility[i];
        float spread = v * sqrt(t);
        float d1 = (log(s / x) + (r + 0.5f * v * v) * t) / spread;
        float d2 = d1 - spread;
        result[i - begin] = s * normal(d1) - x * exp(-r * t) * normal(d2);
    }
}
