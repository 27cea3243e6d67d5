/* A scalar product in the order of the elements. */
// survey: n i32 = 4000; a f32[n] in -1..1; b f32[n] in -1..1; -> f32; omp no

float dot_in_order(int n, const float *a, const float *b) {
    float sum = 0;
    //@ loop
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}
