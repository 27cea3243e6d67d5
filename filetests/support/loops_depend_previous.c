//@ group Loops as the unit
//@ construct loads of what the iteration before may have stored (`if (c) o[i] = o[i - 1] * 2`)
//@ happens refused
//@ args buffer:404=random, uniform=100
//@ range 0..1
//@ loop
//@ refused in the next or previous iteration, through memory
void kernel(int *o, int n) {
    for (int i = 1; i < n; i++) if (o[i] > 0) o[i] = o[i - 1] * 2;
}
