//@ group Loops as the unit
//@ construct strides that nobody knows (`y[i * incy] += x[i * incx]`)
//@ happens vector code for strides of 1 where it is not worth it for others; that is checked before the loop
//@ args buffer:1204=small, uniform=300, uniform=1, buffer:1204=small, uniform=1
//@ range 0..1
//@ loop
void kernel(float *y, int n, int incy, const float *x, int incx) {
    for (int i = 0; i < n; i++)
        y[i * incy] += x[i * incx];
}
