/* A small interpreter: each element has its operation. */
// survey: n i32 = 3000; op u8[n] below 6; a f32[n] in -1..1; b f32[n] in 1..2; out f32[n]

void switch_op(int n, const unsigned char *op, const float *a, const float *b, float *out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        float r;
        switch (op[i]) {
        case 0: r = a[i] + b[i]; break;
        case 1: r = a[i] - b[i]; break;
        case 2: r = a[i] * b[i]; break;
        case 3: r = a[i] / b[i]; break;
        case 4: r = a[i] < b[i] ? a[i] : b[i]; break;
        default: r = 0; break;
        }
        out[i] = r;
    }
}
