//@ group Loops as the unit
//@ construct loops that are left under a condition (`if (c == ')') { depth--; if (depth < 0) return 0; }`)
//@ happens the way out leads to where every iteration gets to, which then asks whether it was taken
//@ args buffer:404=random, uniform=101
//@ range 0..1
//@ result 4
//@ loop
int kernel(const int *restrict x, int n) {
    int depth = 3;
    for (int i = 0; i < n; i++) {
        if (x[i] % 7 == 3) depth++;
        else if (x[i] % 7 == 4) {
            depth--;
            if (depth < 0) return -i;
        }
    }
    return depth;
}
