/* A step of heat on a ring. */
// survey: n i32 = 3000; now f64[n] in 0..1; next f64[n]

void neighbours_wrapped(int n, const double *now, double *next) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int left = (i + n - 1) % n, right = (i + 1) % n;
        next[i] = now[i] + 0.1 * (now[left] - 2 * now[i] + now[right]);
    }
}
