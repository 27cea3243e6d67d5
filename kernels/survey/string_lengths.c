/* The length of strings that lie somewhere in a text. */
// survey: n i32 = 1000; text u8[4096] below 16; start i32[n] below 4000; length i32[n]

void string_lengths(int n, const char *text, const int *start, int *length) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int k = start[i], from = k;
        while (k < 4096 && text[k] != 0)
            k++;
        length[i] = k - from;
    }
}
