//@ group Memory
//@ construct `memcpy` and `memset` of a varying place and size, or with a varying byte
//@ happens per lane
//@ args index, buffer:1024=random
//@ range 0..40
void kernel(unsigned i, unsigned char *a) {
  __builtin_memcpy(a + 512 + 8 * i, a + 11 * i, i & 7);
  __builtin_memset(a + 512 + 8 * i, (int)i, 2);
}
