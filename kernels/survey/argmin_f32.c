/* Where the least value is. */
// survey: n i32 = 4000; x f32[n] in -1..1; -> i32; omp no

int argmin_f32(int n, const float *x) {
    float least = x[0];
    int at = 0;
    //@ loop
    for (int i = 1; i < n; i++) {
        if (x[i] < least) {
            least = x[i];
            at = i;
        }
    }
    return at;
}
