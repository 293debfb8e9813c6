/* SPDX-License-Identifier: MIT */
#include "base/content_hash.h"

#define XXH_INLINE_ALL
#include <stdlib.h>
#include <xxhash.h>

struct content_hasher {
        XXH3_state_t state;
};

uint64_t content_hash(const void *bytes, size_t n_bytes)
{
        return XXH3_64bits(n_bytes > 0 ? bytes : "", n_bytes);
}

struct content_hasher *content_hasher_new(void)
{
        struct content_hasher *h = aligned_alloc(_Alignof(struct content_hasher), sizeof(*h));

        if (h)
                (void)XXH3_64bits_reset(&h->state);
        return h;
}

void content_hasher_free(struct content_hasher *h)
{
        free(h);
}

void content_hasher_add(struct content_hasher *h, const void *bytes, size_t n_bytes)
{
        if (n_bytes > 0)
                (void)XXH3_64bits_update(&h->state, bytes, n_bytes);
}

uint64_t content_hasher_number(const struct content_hasher *h)
{
        return XXH3_64bits_digest(&h->state);
}

struct content_number content_hash_keyed(const struct content_key *key, const void *bytes, size_t n_bytes)
{
        XXH128_hash_t hash = XXH3_128bits_withSecret(n_bytes > 0 ? bytes : "", n_bytes, key->bytes,
                                                     sizeof(key->bytes));

        return (struct content_number){ .low = hash.low64, .high = hash.high64 };
}
