/* Elements that indices name. */
// survey: n i32 = 4000; out f32[n]; table f32[n] in -1..1; index i32[n] below n

void gather_f32(int n, float *out, const float *table, const int *index) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = table[index[i]];
}
