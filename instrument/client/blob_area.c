/* SPDX-License-Identifier: MIT */
/*
 * A recorder may write anything into the header.  Whatever the two counts of
 * the area say, a blob lies within the area: its place is taken modulo the
 * area's size and checked against its end, and counts that make no sense make
 * no room.
 */
#include "instrument/client/blob_area.h"

#include "instrument/client/client.h"
#include "instrument/client_abi.h"

#include <string.h>

/*
 * No program writes so many bytes: a larger count does not come from the client.  Counts up to this limit can
 * be added without an overflow.
 */
#define COUNT_MAX (UINT64_C(1) << 62)

static uint64_t unread_max(void)
{
        uint64_t area = client_self.region.blobs_bytes;

        return area < CLIENT_ABI_BLOBS_UNREAD_BYTES_MAX ? area : CLIENT_ABI_BLOBS_UNREAD_BYTES_MAX;
}

/*
 * Takes @n bytes of the area, a multiple of 8; *@ret_at is where they begin, as the header counts.  If they
 * would extend past the end of the area, the gap before them is free at once: no event announces that gap
 * to the recorder.
 */
static bool take_room(uint64_t n, uint64_t *ret_at)
{
        struct client_abi_header *header = client_self.region.header;
        uint64_t area = client_self.region.blobs_bytes;
        uint64_t used = __atomic_load_n(&header->blobs_used_bytes, __ATOMIC_RELAXED);
        uint64_t gap;

        if (n > area)
                return false;
        do {
                /* Acquire: the recorder has read what we are going to overwrite. */
                uint64_t freed = __atomic_load_n(&header->blobs_freed_bytes, __ATOMIC_ACQUIRE);

                if (used > COUNT_MAX || used % CLIENT_ABI_WORD_BYTES != 0 || freed > COUNT_MAX)
                        return false;
                gap = area - used % area < n ? area - used % area : 0;
                /* Signed: `used` may be older than `freed`.  Then the exchange fails. */
                if ((int64_t)(used + n - freed) > (int64_t)unread_max())
                        return false;
        } while (!__atomic_compare_exchange_n(&header->blobs_used_bytes, &used, used + gap + n, true,
                                              __ATOMIC_RELAXED, __ATOMIC_RELAXED));
        if (gap > 0)
                (void)__atomic_fetch_add(&header->blobs_freed_bytes, gap, __ATOMIC_RELAXED);
        *ret_at = used + gap;
        return true;
}

static bool add_up(const size_t bytes[], unsigned n_parts, uint64_t *ret_bytes)
{
        uint64_t sum = 0;

        for (unsigned i = 0; i < n_parts; i++) {
                if (bytes[i] > CLIENT_ABI_BLOB_BYTES_MAX - sum)
                        return false;
                sum += bytes[i];
        }
        *ret_bytes = sum;
        return true;
}

void blob_area_count_refused(void)
{
        (void)__atomic_fetch_add(&client_self.region.header->n_refused_blobs, 1, __ATOMIC_RELAXED);
}

/*
 * Takes room for @n bytes and makes it writable; *@ret_to is its address.  Room that cannot be made
 * writable is free again at once, like a gap.
 */
static bool open_room(uint64_t n, uint64_t *ret_at, uint8_t **ret_to)
{
        struct region_memory *region = &client_self.region;
        uint64_t at;

        if (!take_room(n, &at))
                return false;
        if (region_area_open(&region->blob_area, at % region->blobs_bytes + n) < 0) {
                (void)__atomic_fetch_add(&region->header->blobs_freed_bytes, n, __ATOMIC_RELAXED);
                return false;
        }
        *ret_at = at;
        *ret_to = region->blobs + at % region->blobs_bytes;
        return true;
}

bool blob_area_put(const void *const parts[], const size_t bytes[], unsigned n_parts, uint64_t *ret_at,
                   uint64_t *ret_bytes)
{
        uint64_t word_mask = CLIENT_ABI_WORD_BYTES - 1;
        uint64_t at, n_bytes;
        uint8_t *to;

        if (!add_up(bytes, n_parts, &n_bytes) ||
            !open_room(CLIENT_ABI_BLOB_HEADER_BYTES + ((n_bytes + word_mask) & ~word_mask), &at, &to)) {
                blob_area_count_refused();
                return false;
        }

        memcpy(to, &at, sizeof(at));
        to += CLIENT_ABI_BLOB_HEADER_BYTES;
        for (unsigned i = 0; i < n_parts; i++) {
                if (bytes[i] == 0)
                        continue;
                memcpy(to, parts[i], bytes[i]);
                to += bytes[i];
        }
        *ret_at = at;
        *ret_bytes = n_bytes;
        return true;
}
