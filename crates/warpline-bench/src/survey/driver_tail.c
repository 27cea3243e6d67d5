
/* What a driver of the survey ends with. */

/* Bytes before and behind each array, which nothing may change. */
enum { MARGIN = 256 };
/* Sets of data on which results are compared. The last is what is timed: arrays begin where those of malloc do. */
enum { SETS = 3, AS_MALLOC = 16 };

/* splitmix64 */
static uint64_t next(void) {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static size_t bytes(int a) { return arrays[a].size * arrays[a].length; }

/* Memory that begins at a cache line. */
static unsigned char *memory(size_t size) {
    unsigned char *p = aligned_alloc(64, (size + 63) / 64 * 64 + 64);
    if (!p) exit(4);
    memset(p, 0, size);
    return p;
}

/* Where arrays begin in their memory, behind the margin. */
static size_t begin_of(int a, int set) {
    return MARGIN + (set == SETS - 1 ? AS_MALLOC : set == 0 ? arrays[a].size : 0);
}

static void restore(void) {
    for (int a = 0; a < ARRAYS; a++) memcpy(arrays[a].work, arrays[a].initial, bytes(a));
}

/* Margins as they are before anything runs. */
static void clean(void) {
    for (int a = 0; a < ARRAYS; a++) {
        memset(arrays[a].work - MARGIN, 0xa5, MARGIN);
        memset(arrays[a].work + bytes(a), 0xa5, MARGIN);
    }
}

static bool same(int a, size_t at) {
    const unsigned char *e = arrays[a].expected + at * arrays[a].size, *g = arrays[a].work + at * arrays[a].size;
    if (memcmp(e, g, arrays[a].size) == 0) return true;
    double x, y;
    if (arrays[a].kind == 1) {
        x = *(const float *)e, y = *(const float *)g;
    } else if (arrays[a].kind == 2) {
        x = *(const double *)e, y = *(const double *)g;
    } else {
        return false;
    }
    if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);
    return tolerance > 0 && fabs(x - y) <= tolerance * fmax(1, fabs(x));
}

static void show(int a, const unsigned char *p) {
    if (arrays[a].kind == 1) printf("%.9g", (double)*(const float *)p);
    else if (arrays[a].kind == 2) printf("%.17g", *(const double *)p);
    else {
        uint64_t v = 0;
        memcpy(&v, p, arrays[a].size);
        printf("0x%llx", (unsigned long long)v);
    }
}

/* Counts what differs from what the scalar variant leaves, and prints the first. */
static void check(int v) {
    printf("trying %s\n", variants[v].name);
    fflush(stdout);
    restore();
    clean();
    call(variants[v].f, 1);
    unsigned long long count = 0;
    int first = -1;
    size_t where = 0;
    const char *outside = 0;
    for (int a = 0; a < ARRAYS; a++) {
        for (size_t k = 0; k < arrays[a].length; k++) {
            if (same(a, k)) continue;
            if (count++ == 0) first = a, where = k;
        }
        for (int k = 1; k <= MARGIN; k++) {
            bool kept = arrays[a].work[-k] == 0xa5 && arrays[a].work[bytes(a) + k - 1] == 0xa5;
            if (!kept) outside = arrays[a].name, count++;
        }
    }
    printf("checked %s %llu ", variants[v].name, count);
    if (outside) printf("bytes outside of %s are changed ", outside);
    if (first >= 0) {
        printf("%s[%zu] is ", arrays[first].name, where);
        show(first, arrays[first].work + where * arrays[first].size);
        printf(" instead of ");
        show(first, arrays[first].expected + where * arrays[first].size);
    }
    printf("\n");
    fflush(stdout);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double sample(int v, uint64_t times) {
    restore();
    double begin = now();
    call(variants[v].f, times);
    return now() - begin;
}

/* How long one call takes, roughly. */
static double roughly(int v) {
    for (uint64_t times = 1;; times *= 4) {
        double ns = sample(v, times);
        if (ns > 40e3 || times > 1 << 24) return fmax(ns, 1) / (double)times;
    }
}

int main(int argc, char **argv) {
    for (int v = 0; v < VARIANTS; v++)
        for (int k = 1; k < argc; k++) variants[v].skip |= strcmp(argv[k], variants[v].name) == 0;
    for (int a = 0; a < ARRAYS; a++) {
        arrays[a].initial = memory(bytes(a));
        arrays[a].memory = memory(bytes(a) + 2 * MARGIN + AS_MALLOC);
        arrays[a].expected = memory(bytes(a));
    }
    for (int set = 0; set < SETS; set++) {
        for (int a = 0; a < ARRAYS; a++) arrays[a].work = arrays[a].memory + begin_of(a, set);
        fill();
        restore();
        call(variants[0].f, 1);
        for (int a = 0; a < ARRAYS; a++) memcpy(arrays[a].expected, arrays[a].work, bytes(a));
        for (int v = 0; v < VARIANTS; v++)
            if (!variants[v].skip) check(v);
    }
    double least = INFINITY, most = 0;
    for (int v = 0; v < VARIANTS; v++) {
        if (variants[v].skip) continue;
        double ns = roughly(v);
        least = fmin(least, ns), most = fmax(most, ns);
    }
    /* The fastest takes 200 microseconds, if the slowest takes no more than 5 milliseconds. */
    double times = fmax(1, fmin(ceil(200e3 / least), 5e6 / most));
    printf("repeats %llu\n", (unsigned long long)times);
    for (int round = 0; round < ROUNDS; round++) {
        double ns[VARIANTS] = {0};
        for (int k = 0; k < VARIANTS; k++) {
            int v = (k + round) % VARIANTS;
            if (!variants[v].skip) ns[v] = sample(v, (uint64_t)times);
        }
        printf("round");
        for (int v = 0; v < VARIANTS; v++) printf(" %.1f", ns[v] / (double)(uint64_t)times);
        printf("\n");
    }
    return 0;
}
