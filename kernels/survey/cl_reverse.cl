/* The last becomes the first. */
// survey: n i32 = 3000; ndrange n; in i16[n] random; out i16[n]

kernel void cl_reverse(int n, global const short *in, global short *out) {
    int i = get_global_id(0);
    if (i < n)
        out[i] = in[n - 1 - i];
}
