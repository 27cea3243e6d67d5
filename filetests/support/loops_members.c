//@ group Loops as the unit
//@ construct bounds and factors that are members of a structure (`i < s->n`)
//@ happens loaded once, before the loop, if nothing of their types is stored in it
//@ args buffer:8=50, buffer:404=random, buffer:404=zero
//@ range 0..1
//@ loop
struct sizes { int n, factor; };

void kernel(const struct sizes *s, const int *x, float *out) {
    for (int i = 0; i < s->n; i++) out[i] = x[i] / s->factor;
}
