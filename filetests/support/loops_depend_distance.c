//@ group Loops as the unit
//@ construct loads of what an iteration at a constant distance before has stored (`a[i + 8] = a[i]`)
//@ happens vector code with at most so many lanes
//@ args buffer:404=random, uniform=93
//@ range 0..1
//@ loop
void kernel(int *a, int n) {
    for (int i = 0; i < n; i++) a[i + 8] = a[i] * 3 + 1;
}
