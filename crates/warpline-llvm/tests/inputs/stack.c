/* What C programs do with local variables, for promotion: every value that a function computes ends in `slots`. */

typedef unsigned long u64;
typedef struct { int x, y; } pair;
typedef union { float f; unsigned u; } bits;

static volatile int noise = 3;

static u64 collatz(u64 n) {
  u64 steps = 0;
  while (n != 1 && steps < 200) {
    n = n % 2 ? 3 * n + 1 : n / 2;
    steps++;
  }
  return steps;
}

static int by_address(int *p, int by) { return *p += by; }

static int address_taken(int n) {
  int kept = n, *p = &kept, **q = &p;
  int sum = 0;
  for (int i = 0; i < 5; i++) {
    by_address(&kept, i);
    **q += 1;
    sum += kept;
  }
  return sum;
}

static int address_held(int n) {
  int x = n, y = 7;
  int *p = &x;
  *p += 2;
  int *q = n & 1 ? &x : &y;
  *q *= 3;
  return x * 100 + y;
}

static int jumps(int n) {
  int a = 1, b = 0;
  switch (n & 3) {
  case 0: a = 10; /* falls through */
  case 1: b += a; break;
  case 2: goto inside;
  default: b = 99;
  }
  while (b < 50) {
    a++;
  inside:
    b += a + 2;
    if (b == 33) continue;
    if (b > 40) break;
  }
  return a * 1000 + b;
}

static int swapped(int n) {
  int a = n, b = n + 1, c = n + 2;
  for (int i = 0; i < (n & 7); i++) {
    int t = a;
    a = b;
    b = c;
    c = t;
  }
  return a * 10000 + b * 100 + c;
}

static int in_part(int n) {
  int last;
  for (int i = 0; i < 4; i++) {
    int now;
    if (i & 1) now = last + i;
    else now = i + n;
    last = now;
  }
  return last;
}

static double numbers(int n) {
  float f = (float)n;
  double d = 0.5;
  _Bool odd = n & 1;
  signed char c = (signed char)(n * 37);
  bits b = {f};
  pair p = {n, -n}, q = p;
  for (short s = 0; s < 3; s++) {
    d += odd ? f : c;
    odd = !odd;
    f = f * 1.5f;
  }
  return d + (b.u & 255) + q.x * q.y;
}

static int seen(int n) {
  int result = 0;
  for (volatile int i = 0; i < 3; i++) result += noise + n;
  return result;
}

void entry(u64 *slots) {
  int n = (int)slots[0];
  slots[1] = collatz(slots[0]);
  slots[2] = (u64)address_taken(n);
  slots[3] = (u64)address_held(n);
  slots[4] = (u64)jumps(n);
  slots[5] = (u64)swapped(n);
  slots[6] = (u64)in_part(n);
  slots[7] = (u64)(long)(numbers(n) * 16);
  slots[8] = (u64)seen(n);
}
