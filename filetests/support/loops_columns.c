//@ group Loops as the unit
//@ construct rows or columns of an array whose lengths are arguments (`o[x * h + y]`)
//@ happens that each iteration keeps to its own is checked before the loop
//@ args buffer:1024=zero, buffer:1024=random, uniform=16, uniform=16, uniform=16
//@ range 0..1
//@ loop
void kernel(int *o, int *p, int w, int h, int stride) {
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            o[x * h + y] = p[y * stride + x];
            p[y * stride + x] *= 2;
        }
}
