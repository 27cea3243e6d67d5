//@ group Loops as the unit
//@ construct rows of an array, whose length is known at run time only
//@ happens vector code: rows are apart since columns are shorter than they
//@ args buffer:404=random, buffer:404=random, uniform=9, uniform=11
//@ range 0..1
//@ loop
void kernel(int *restrict a, const int *restrict b, int n, int w) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < w; j++) a[i * w + j] = a[i * w + j] * 3 + b[i * w + j];
}
