//@ group Loops as the unit
//@ construct `fminf`, `fmaxf` (Rust's `f32::min`, `f32::max`) of all numbers
//@ happens one for each lane, combined behind the loop; which of two zeros it is, is left open as in C
//@ args buffer:404=random, uniform=101
//@ range 0..1
//@ result 4
//@ loop
float kernel(const float *x, int n) {
    float m = __builtin_nanf("");
    for (int i = 0; i < n; i++) m = __builtin_fminf(m, x[i]);
    return m;
}
