/* Arithmetic modulo 2^255 - 19 on 16 limbs, in the style of small cryptographic libraries: short names, macros, no
   headers of its own, everything static but what is called. Each lane has numbers of its own. */

#define FOR(i, n) for (i = 0; i < n; ++i)
#define sv static void

typedef unsigned char u8;
typedef unsigned long u32;
typedef unsigned long long u64;
typedef long long i64;
typedef i64 gf[16];

sv car25519(gf o) {
    int i;
    i64 c;
    FOR(i, 16) {
        o[i] += (1LL << 16);
        c = o[i] >> 16;
        o[(i + 1) * (i < 15)] += c - 1 + 37 * (c - 1) * (i == 15);
        o[i] -= c << 16;
    }
}

sv M(gf o, const gf a, const gf b) {
    i64 i, j, t[31];
    FOR(i, 31) t[i] = 0;
    FOR(i, 16) FOR(j, 16) t[i + j] += a[i] * b[j];
    FOR(i, 15) t[i] += 38 * t[i + 16];
    FOR(i, 16) o[i] = t[i];
    car25519(o);
    car25519(o);
}

//@ args i=index
//@ range 0..64
//@ bind a=i64[1024]=0..65536
//@ bind b=i64[1024]=0..65536
//@ bind o=i64[1024]=zero
void field_mul(int i, const i64 *restrict a, const i64 *restrict b, i64 *restrict o) {
    gf x, y, z;
    int k;
    FOR(k, 16) {
        x[k] = a[i * 16 + k];
        y[k] = b[i * 16 + k];
    }
    M(z, x, y);
    FOR(k, 16) o[i * 16 + k] = z[k];
}

/* Whether two strings of 32 bytes differ, in constant time. */
//@ args i=index
//@ range 0..64
//@ bind x=u8[2048]=random
//@ bind y=u8[2048]=random
//@ bind out=i32[64]=zero
void verify_32(int i, const u8 *restrict x, const u8 *restrict y, int *restrict out) {
    u32 k, d = 0;
    FOR(k, 32) d |= x[i * 32 + k] ^ y[i * 32 + k];
    out[i] = (1 & ((d - 1) >> 8)) - 1;
}
