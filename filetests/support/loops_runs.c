//@ group Loops as the unit
//@ construct lengths of runs (`run = c ? run + 1 : 0`), and what else grows by the same until another value takes its place
//@ happens how far a lane is behind the last one that begins a run, else behind what there was before the group
//@ args buffer:101=random, buffer:404=zero, uniform=101
//@ range 0..1
//@ result 4
//@ loop
int kernel(const signed char *restrict x, int *restrict out, int n) {
    int run = 0, longest = 0;
    for (int i = 0; i < n; i++) {
        if (x[i] > -90) run++;
        else run = 0;
        if (run > longest) longest = run;
        out[i] = run;
    }
    return longest;
}
