/* Reads from a ring buffer. */
// survey: n i32 = 3000; head i32 = 3500; ring f32[4096] in -1..1; out f32[n]

enum { SIZE = 4096 };

void ring_buffer(int n, int head, const float *ring, float *out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = ring[(head + i) & (SIZE - 1)];
}
