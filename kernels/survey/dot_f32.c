/* A scalar product in any order. */
// survey: n i32 = 4000 | 20; a f32[n] in -1..1; b f32[n] in -1..1; -> f32; omp reduction(+:sum); tolerance 1e-4

float dot_f32(int n, const float *a, const float *b) {
    float sum = 0;
    //@ loop any-order
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}
