//@ group Loops as the unit
//@ construct both arms of a branch store to one place, among other things
//@ args buffer:404=random, buffer:404=zero, buffer:404=zero, uniform=101
//@ range 0..1
//@ loop
//@ refused in the next or previous iteration, through memory
void kernel(const int *restrict x, int *restrict s, int *restrict o, int n) {
    for (int i = 0; i < n; i++) {
        if (x[i] & 1) {
            s[0] = i;
            o[i] = s[1] + 1;
        } else {
            s[0] = -i;
            o[i] = s[2];
        }
    }
}
