/* Pixels of three and four bytes, 32 at a time, as one vector for each component: what the yardsticks share. */
#include <immintrin.h>
#include <stdint.h>
#include <stdlib.h>

#define BOTH(...) _mm256_broadcastsi128_si256(_mm_setr_epi8(__VA_ARGS__))

static inline __m256i halves(const uint8_t *low, const uint8_t *high) {
    __m256i x = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)low));
    return _mm256_inserti128_si256(x, _mm_loadu_si128((const __m128i *)high), 1);
}

static inline __m256i load(const void *p) { return _mm256_loadu_si256((const __m256i *)p); }

static inline void store(void *p, __m256i x) { _mm256_storeu_si256((__m256i *)p, x); }

/* 96 bytes. */
static inline void load3(const uint8_t *p, __m256i *r, __m256i *g, __m256i *b) {
    __m256i x = halves(p, p + 48), y = halves(p + 16, p + 64), z = halves(p + 32, p + 80);
    __m256i m0 = BOTH(0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0);
    __m256i m1 = BOTH(0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0);
    __m256i r0 = _mm256_blendv_epi8(_mm256_blendv_epi8(x, y, m0), z, m1);
    __m256i g0 = _mm256_blendv_epi8(_mm256_blendv_epi8(y, x, m1), z, m0);
    __m256i b0 = _mm256_blendv_epi8(_mm256_blendv_epi8(z, x, m0), y, m1);
    *r = _mm256_shuffle_epi8(r0, BOTH(0, 3, 6, 9, 12, 15, 2, 5, 8, 11, 14, 1, 4, 7, 10, 13));
    *g = _mm256_shuffle_epi8(g0, BOTH(1, 4, 7, 10, 13, 0, 3, 6, 9, 12, 15, 2, 5, 8, 11, 14));
    *b = _mm256_shuffle_epi8(b0, BOTH(2, 5, 8, 11, 14, 1, 4, 7, 10, 13, 0, 3, 6, 9, 12, 15));
}

static inline void store3(uint8_t *p, __m256i r, __m256i g, __m256i b) {
    __m256i m0 = BOTH(0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0);
    __m256i m1 = BOTH(0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0);
    r = _mm256_shuffle_epi8(r, BOTH(0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15, 10, 5));
    g = _mm256_shuffle_epi8(g, BOTH(5, 0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15, 10));
    b = _mm256_shuffle_epi8(b, BOTH(10, 5, 0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15));
    __m256i x = _mm256_blendv_epi8(_mm256_blendv_epi8(r, g, m1), b, m0);
    __m256i y = _mm256_blendv_epi8(_mm256_blendv_epi8(g, b, m1), r, m0);
    __m256i z = _mm256_blendv_epi8(_mm256_blendv_epi8(b, r, m1), g, m0);
    store(p, _mm256_permute2x128_si256(x, y, 0x20));
    store(p + 32, _mm256_blend_epi32(z, x, 0xf0));
    store(p + 64, _mm256_permute2x128_si256(y, z, 0x31));
}

/* 128 bytes. */
static inline void load4(const uint8_t *p, __m256i *r, __m256i *g, __m256i *b, __m256i *a) {
    __m256i order = BOTH(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    __m256i w = _mm256_shuffle_epi8(halves(p, p + 64), order);
    __m256i x = _mm256_shuffle_epi8(halves(p + 16, p + 80), order);
    __m256i y = _mm256_shuffle_epi8(halves(p + 32, p + 96), order);
    __m256i z = _mm256_shuffle_epi8(halves(p + 48, p + 112), order);
    __m256i wx = _mm256_unpacklo_epi32(w, x), yz = _mm256_unpacklo_epi32(y, z);
    *r = _mm256_unpacklo_epi64(wx, yz), *g = _mm256_unpackhi_epi64(wx, yz);
    wx = _mm256_unpackhi_epi32(w, x), yz = _mm256_unpackhi_epi32(y, z);
    *b = _mm256_unpacklo_epi64(wx, yz), *a = _mm256_unpackhi_epi64(wx, yz);
}

static inline void store4(uint8_t *p, __m256i r, __m256i g, __m256i b, __m256i a) {
    __m256i rg = _mm256_unpacklo_epi8(r, g), ba = _mm256_unpacklo_epi8(b, a);
    __m256i w = _mm256_unpacklo_epi16(rg, ba), x = _mm256_unpackhi_epi16(rg, ba);
    rg = _mm256_unpackhi_epi8(r, g), ba = _mm256_unpackhi_epi8(b, a);
    __m256i y = _mm256_unpacklo_epi16(rg, ba), z = _mm256_unpackhi_epi16(rg, ba);
    store(p, _mm256_permute2x128_si256(w, x, 0x20));
    store(p + 32, _mm256_permute2x128_si256(y, z, 0x20));
    store(p + 64, _mm256_permute2x128_si256(w, x, 0x31));
    store(p + 96, _mm256_permute2x128_si256(y, z, 0x31));
}

/* Bytes as shorts, low and high halves of each 128 bits, and back. */
static inline __m256i low(__m256i x) { return _mm256_unpacklo_epi8(x, _mm256_setzero_si256()); }
static inline __m256i high(__m256i x) { return _mm256_unpackhi_epi8(x, _mm256_setzero_si256()); }
