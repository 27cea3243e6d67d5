//@ group Loops as the unit
//@ construct pointers and bounds that are members of a structure (`s->x[i]`)
//@ happens loaded once, before the loop, if nothing of their types is stored in it
//@ args buffer:4=101, buffer:404=random, buffer:404=random
//@ range 0..1
//@ loop
struct rows { float *in, *out; int n; };

static void scale(const struct rows *s) {
    for (int i = 0; i < s->n; i++) s->out[i] = 2 * s->in[i];
}
