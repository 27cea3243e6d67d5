//@ group Loops as the unit
//@ construct sums to which some iterations add, and that the loop looks at (the depth of parentheses)
//@ happens a scan of what each iteration adds, or nothing
//@ args buffer:404=random, uniform=101
//@ range 0..1
//@ result 4
//@ loop
int kernel(const int *restrict x, int n) {
    int depth = 0, deepest = 0, below = 0;
    for (int i = 0; i < n; i++) {
        switch (x[i] & 3) {
        case 1: depth++; break;
        case 2: depth -= 2; break;
        }
        if (depth > deepest) deepest = depth;
        if (depth < 0) below++;
    }
    return deepest * 1000 + below;
}
