/* The largest value. */
// survey: n i32 = 4000; x f32[n] in -1..1; -> f32; omp reduction(max:best)

float max_f32(int n, const float *x) {
    float best = x[0];
    //@ loop
    for (int i = 1; i < n; i++)
        if (x[i] > best)
            best = x[i];
    return best;
}
