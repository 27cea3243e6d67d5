// binomial.rs for ISPC.

#define ENDS 64

export void KERNEL(uniform int begin, uniform int end, const uniform float price[], const uniform float strike[],
                   const uniform float years[], const uniform float rate[], const uniform float volatility[],
                   uniform float result[]) {
    foreach (i = begin ... end) {
        float s = price[i], x = strike[i], t = years[i], r = rate[i], v = volatility[i];
        float step = t / (float)(ENDS - 1);
        float up = exp(v * sqrt(step));
        float down = 1.0f / up;
        float growth = exp(r * step);
        float rises = (growth - down) / (up - down) / growth;
        float falls = 1.0f / growth - rises;

        float values[ENDS];
        for (uniform int k = 0; k < ENDS; k++) {
            float last = s * pow(up, (float)(2 * k - (ENDS - 1))) - x;
            values[k] = max(last, 0.0f);
        }
        for (uniform int left = ENDS - 1; left > 0; left--)
            for (uniform int k = 0; k < left; k++)
                values[k] = falls * values[k] + rises * values[k + 1];
        result[i - begin] = values[0];
    }
}
