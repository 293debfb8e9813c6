/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_pages.h"

#include "base/bytes.h"
#include "base/content_hash.h"
#include "base/error.h"
#include "base/io.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PENDING_BYTES (UINT32_C(1) << 20)

/* Pages of one level never displace those of another: a query uses one page of each level at a time. */
#define LEAVES_CACHED (UINT32_C(1) << 9)
#define NODES_CACHED  (UINT32_C(1) << 6) /* of each level */
#define PAGES_CACHED  (LEAVES_CACHED + TIMELINE_LEVELS_MAX * NODES_CACHED)

static void put_number(uint8_t *at, uint64_t v, unsigned n_bytes)
{
        for (unsigned i = 0; i < n_bytes; i++)
                at[i] = (uint8_t)(v >> 8 * i);
}

void timeline_ref_put(uint8_t *at, const struct timeline_ref *ref)
{
        put_number(at, ref->offset_bytes, 8);
        put_number(at + 8, ref->checksum, 8);
        put_number(at + 16, ref->first_begin, 8);
        put_number(at + 24, ref->last_end, 8);
        put_number(at + 32, ref->what_bits, 8);
        put_number(at + 40, ref->n_bytes, 4);
        put_number(at + 44, ref->level, 1);
        put_number(at + 45, ref->bucket_log2, 1);
        put_number(at + 46, ref->n_summary, 2);
}

int timeline_ref_get(const uint8_t *at, struct timeline_ref *ret_ref)
{
        struct byte_reader in = byte_reader_of(at, TIMELINE_REF_BYTES);
        struct timeline_ref ref = { .offset_bytes = bytes_u64(&in) };

        ref.checksum = bytes_u64(&in);
        ref.first_begin = bytes_u64(&in);
        ref.last_end = bytes_u64(&in);
        ref.what_bits = bytes_u64(&in);
        ref.n_bytes = bytes_u32(&in);
        ref.level = bytes_u8(&in);
        ref.bucket_log2 = bytes_u8(&in);
        ref.n_summary = bytes_u16(&in);
        if (ref.n_bytes == 0 || ref.n_bytes > TIMELINE_PAGE_BYTES_MAX || ref.level >= TIMELINE_LEVELS_MAX ||
            ref.bucket_log2 > TIMELINE_BUCKET_MAX || ref.n_summary > TIMELINE_SUMMARY_ITEMS ||
            (ref.level == 0 && (ref.n_bytes > TIMELINE_PAGE_ITEMS * TIMELINE_SPAN_BYTES ||
                                ref.n_bytes % TIMELINE_SPAN_BYTES != 0)))
                return -EBADMSG;
        *ret_ref = ref;
        return 0;
}

int timeline_pages_init(struct timeline_pages *p, int fd, uint64_t size_bytes)
{
        *p = (struct timeline_pages){ .fd = fd, .size_bytes = size_bytes, .pending_at = size_bytes };
        p->pending = malloc(PENDING_BYTES);
        p->cache = calloc(PAGES_CACHED, sizeof(*p->cache));
        p->scratch = malloc(TIMELINE_PAGE_ITEMS * sizeof(*p->scratch));
        return p->pending && p->cache && p->scratch ? 0 : -ENOMEM;
}

void timeline_pages_deinit(struct timeline_pages *p)
{
        for (uint32_t i = 0; p->cache && i < PAGES_CACHED; i++)
                free(p->cache[i].bytes);
        free(p->cache);
        free(p->pending);
        free(p->scratch);
        io_close(&p->fd);
        *p = (struct timeline_pages){ .fd = -1 };
}

int timeline_pages_flush(struct timeline_pages *p, struct error *err)
{
        int r = io_pwrite_all(p->fd, p->pending, p->n_pending, p->pending_at, err);

        if (r < 0)
                return error_prefix(err, r, "the index of the time line");
        p->pending_at += p->n_pending;
        p->n_pending = 0;
        return 0;
}

int timeline_pages_append(struct timeline_pages *p, const void *bytes, size_t n_bytes,
                          uint64_t *ret_offset_bytes, struct error *err)
{
        if (p->n_pending + n_bytes > PENDING_BYTES) {
                int r = timeline_pages_flush(p, err);

                if (r < 0)
                        return r;
        }
        memcpy(p->pending + p->n_pending, bytes, n_bytes);
        p->n_pending += n_bytes;
        *ret_offset_bytes = p->size_bytes;
        p->size_bytes += n_bytes;
        return 0;
}

static struct timeline_cached_page *cached_place(struct timeline_pages *p, const struct timeline_ref *ref)
{
        uint64_t hash = ref->offset_bytes * UINT64_C(0x9e3779b97f4a7c15) >> 32;

        if (ref->level == 0)
                return &p->cache[hash % LEAVES_CACHED];
        return &p->cache[LEAVES_CACHED + ref->level * NODES_CACHED + hash % NODES_CACHED];
}

static int pages_damaged(const struct timeline_ref *ref, struct error *err)
{
        return error_set(err, -EBADMSG, "the index of the time line is damaged at byte %" PRIu64,
                         ref->offset_bytes);
}

static int fill_place(struct timeline_pages *p, const struct timeline_ref *ref,
                      struct timeline_cached_page *place, struct error *err)
{
        size_t n_read = 0;
        int r;

        place->offset_bytes = 0;
        if (place->capacity_bytes < ref->n_bytes) {
                uint8_t *larger = realloc(place->bytes, ref->n_bytes);

                if (!larger)
                        return error_set(err, -ENOMEM, "no memory for a page of the index");
                place->bytes = larger;
                place->capacity_bytes = ref->n_bytes;
        }
        r = io_pread_full(p->fd, place->bytes, ref->n_bytes, ref->offset_bytes, &n_read, err);
        if (r < 0)
                return r;
        p->n_read++;
        if (n_read < ref->n_bytes ||
            (!p->is_unchecked && content_hash(place->bytes, ref->n_bytes) != ref->checksum))
                return pages_damaged(ref, err);
        place->offset_bytes = ref->offset_bytes;
        place->checksum = ref->checksum;
        return 0;
}

int timeline_pages_read(struct timeline_pages *p, const struct timeline_ref *ref, const uint8_t **ret_bytes,
                        struct error *err)
{
        struct timeline_cached_page *place = cached_place(p, ref);
        int r;

        if (ref->offset_bytes > p->size_bytes || ref->n_bytes > p->size_bytes - ref->offset_bytes)
                return pages_damaged(ref, err);
        if (ref->offset_bytes >= p->pending_at) {
                *ret_bytes = p->pending + (ref->offset_bytes - p->pending_at);
                return 0;
        }
        /* The checksum is compared as well: a file with false lengths may have two pages at one place. */
        if (place->offset_bytes != ref->offset_bytes || place->checksum != ref->checksum ||
            place->capacity_bytes < ref->n_bytes) {
                r = fill_place(p, ref, place, err);
                if (r < 0)
                        return r;
        }
        *ret_bytes = place->bytes;
        return 0;
}
