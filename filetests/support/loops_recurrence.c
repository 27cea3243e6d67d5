//@ group Loops as the unit
//@ construct linear recurrences of integers, `x = a * x + c`
//@ happens each lane computes its own from that before the group
//@ args buffer:404=zero, uniform=101
//@ range 0..1
//@ loop
void kernel(unsigned *out, int n) {
    unsigned x = 1;
    for (int i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        out[i] = x >> 8;
    }
}
