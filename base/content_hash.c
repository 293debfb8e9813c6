/* SPDX-License-Identifier: MIT */
#include "base/content_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t content_hash(const void *bytes, size_t n_bytes)
{
        return XXH3_64bits(n_bytes > 0 ? bytes : "", n_bytes);
}

struct content_number content_hash_keyed(const struct content_key *key, const void *bytes, size_t n_bytes)
{
        XXH128_hash_t hash = XXH3_128bits_withSecret(n_bytes > 0 ? bytes : "", n_bytes, key->bytes,
                                                     sizeof(key->bytes));

        return (struct content_number){ .low = hash.low64, .high = hash.high64 };
}
