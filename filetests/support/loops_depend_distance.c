//@ group Loops as the unit
//@ construct loads of what an iteration at a constant distance before has stored (`a[i + 64] = a[i]`)
//@ happens vector code with at most so many lanes
//@ args buffer:404=random, uniform=337
//@ range 0..1
//@ loop
void kernel(char *a, int n) {
    for (int i = 0; i < n; i++) a[i + 64] = a[i] * 3 + 1;
}
