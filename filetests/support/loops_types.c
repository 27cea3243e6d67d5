//@ group Loops as the unit
//@ construct memory that is accessed as different types, as C tells them apart (`-fno-strict-aliasing` for none)
//@ happens taken to be different memory
//@ args buffer:404=random, buffer:404=random&127, buffer:512=zero, uniform=101
//@ range 0..1
//@ loop
void kernel(const float *x, const int *at, double *out, int n) {
    for (int i = 0; i < n; i++) out[at[i]] = x[i];
}
