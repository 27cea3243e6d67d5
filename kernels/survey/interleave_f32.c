/* A stereo signal from left and right. */
// survey: frames i32 = 2000; left f32[frames] in -1..1; right f32[frames] in -1..1; out f32[2*frames]

void interleave_f32(int frames, const float *restrict left, const float *restrict right, float *restrict out) {
    //@ loop
    for (int i = 0; i < frames; i++) {
        out[2 * i] = left[i];
        out[2 * i + 1] = right[i];
    }
}
