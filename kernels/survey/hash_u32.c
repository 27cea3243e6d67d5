/* Mixes the bits of each key. */
// survey: n u64 = 4000; keys u32[n] random; out u32[n]

#include <stddef.h>
#include <stdint.h>

static uint32_t mix(uint32_t h) {
    h ^= h >> 16;
    h *= 0x85ebca6b;
    h ^= h >> 13;
    h *= 0xc2b2ae35;
    return h ^ (h >> 16);
}

void hash_u32(size_t n, const uint32_t *keys, uint32_t *out) {
    //@ loop
    for (size_t i = 0; i < n; i++)
        out[i] = mix(keys[i]);
}
