//@ group Loops as the unit
//@ construct loads of what the iteration before has stored (`o[i] = o[i - 1] * 2`)
//@ args buffer:404=random, uniform=100
//@ range 0..1
//@ loop
//@ refused in the next or previous iteration, through memory
void kernel(int *o, int n) {
    for (int i = 1; i < n; i++) o[i] = o[i - 1] * 2;
}
