//@ group Loops as the unit
//@ construct stores, and loads of what a later iteration stores behind them (`a[i] = …; b[i] = a[i + 1];`)
//@ happens the load moves up to before the store
//@ args buffer:404=random, buffer:404=zero, uniform=100
//@ range 0..1
//@ loop
void kernel(int *restrict a, int *restrict b, int n) {
    for (int i = 0; i < n; i++) {
        a[i] = 3 * i;
        b[i] = a[i + 1];
    }
}
