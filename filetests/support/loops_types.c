//@ group Loops as the unit
//@ construct memory that is accessed as different types, as C tells them apart (`-fno-strict-aliasing` for not at all)
//@ happens taken to be different memory
//@ args buffer:404=small, buffer:404=small, buffer:404=zero, uniform=101
//@ range 0..1
//@ loop
void kernel(const int *x, const int *at, float *out, int n) {
    for (int i = 0; i < n; i++) out[at[i]] += x[i];
}
