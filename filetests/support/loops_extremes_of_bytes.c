//@ group Loops as the unit
//@ construct minima and maxima of bytes and shorts in an `int`
//@ happens compared in as few bits as they have
//@ args buffer:300=random, buffer:600=random, buffer:16=zero, uniform=300
//@ range 0..1
//@ loop
void kernel(const unsigned char *restrict a, const short *restrict b, int *restrict out, int n) {
    int low = 255, high = 0, most = -32768;
    for (int i = 0; i < n; i++) {
        if (a[i] < low) low = a[i];
        if (a[i] > high) high = a[i];
        most = b[i] > most ? b[i] : most;
    }
    out[0] = low;
    out[1] = high;
    out[2] = most;
}
