/* SPDX-License-Identifier: MIT */
#include "base/content_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t content_hash(const void *bytes, size_t n_bytes)
{
        return XXH3_64bits(n_bytes > 0 ? bytes : "", n_bytes);
}
