/* Bytes become numbers from 0 to 1. */
// survey: n i32 = 4000 | 20; in u8[n] random; out f32[n]

void u8_to_f32(int n, const unsigned char *in, float *out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = in[i] / 255.0f;
}
