/* SPDX-License-Identifier: MIT */
/*
 * timeline/timeline_pages.h - the pages of an index in its file: written once, read by a reference
 * that has their checksum
 *
 * Way of the data:  timeline_lane -> [timeline_pages] -> file -> [timeline_pages] -> timeline_query
 *
 * A page of level 0 has up to TIMELINE_PAGE_ITEMS spans or values.  One of a higher level has up to
 * TIMELINE_FANOUT references to pages of the level below, and a summary of each: at most
 * TIMELINE_SUMMARY_ITEMS folded items.  The file is foreign: nothing of a page is believed that its
 * reference does not vouch for.
 *
 * Memory: what is to be written, 1 MiB, and the pages that were read last, about 3 MiB.
 */
#ifndef TIMELINE_TIMELINE_PAGES_H
#define TIMELINE_TIMELINE_PAGES_H

#include "timeline/timeline_item.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

#define TIMELINE_PAGE_ITEMS    256
#define TIMELINE_FANOUT        8
#define TIMELINE_SUMMARY_ITEMS 32
#define TIMELINE_LEVELS_MAX    20 /* 8^19 pages are more than any disk has */

#define TIMELINE_REF_BYTES       48
#define TIMELINE_NODE_HEAD_BYTES 8 /* number of references, and 0 */
#define TIMELINE_PAGE_BYTES_MAX     \
        (TIMELINE_NODE_HEAD_BYTES + \
         TIMELINE_FANOUT * (TIMELINE_REF_BYTES + TIMELINE_SUMMARY_ITEMS * TIMELINE_VALUES_BYTES))

/* A page of the file, and what it holds. */
struct timeline_ref {
        uint64_t offset_bytes;
        uint64_t checksum; /* content_hash() of its bytes */
        uint64_t first_begin, last_end;
        uint64_t what_bits; /* bit timeline_ref_bit(what) of all spans in and below it */
        uint32_t n_bytes;
        uint8_t level;
        uint8_t bucket_log2; /* that the summary was folded with */
        uint16_t n_summary;  /* items of it */
};

static inline uint64_t timeline_ref_bit(uint32_t what)
{
        return UINT64_C(1) << (what * UINT32_C(0x9e3779b1) >> 26);
}

void timeline_ref_put(uint8_t *at, const struct timeline_ref *ref);
/* Returns 0, or -EBADMSG for a reference that no writer makes. */
int timeline_ref_get(const uint8_t *at, struct timeline_ref *ret_ref);

struct timeline_cached_page {
        uint64_t offset_bytes; /* 0 = none */
        uint64_t checksum;
        uint8_t *bytes; /* heap */
        size_t capacity_bytes;
};

struct timeline_pages {
        int fd;
        uint64_t size_bytes; /* of what was appended, and of the file's head */
        uint8_t *pending;    /* heap; what is not written yet, from pending_at on */
        size_t n_pending;
        uint64_t pending_at;
        struct timeline_cached_page *cache; /* heap; see timeline_pages_read() */
        uint64_t open_bytes;                /* of the pages that lanes keep open, in memory */
        struct timeline_item *scratch;      /* heap; TIMELINE_PAGE_ITEMS: for the lanes' summaries */
        uint64_t n_read;                    /* pages that came from the file, for tests */
        bool is_unchecked;                  /* for tests: a page with a wrong checksum is read all the same */
};

/*
 * @fd: taken over; new pages are appended at @size_bytes.  Returns 0 or -ENOMEM.
 */
int timeline_pages_init(struct timeline_pages *p, int fd, uint64_t size_bytes);
void timeline_pages_deinit(struct timeline_pages *p);

/* Returns 0 or -errno of write(2). */
int timeline_pages_append(struct timeline_pages *p, const void *bytes, size_t n_bytes,
                          uint64_t *ret_offset_bytes, struct error *err);
int timeline_pages_flush(struct timeline_pages *p, struct error *err);

/*
 * timeline_pages_read() - the bytes of a page, after a check of its checksum
 * Borrowed until the next page of the same level is read, or anything is appended.
 * Returns 0, -EBADMSG, -ENOMEM, -errno of read(2).
 */
int timeline_pages_read(struct timeline_pages *p, const struct timeline_ref *ref, const uint8_t **ret_bytes,
                        struct error *err);

#endif /* TIMELINE_TIMELINE_PAGES_H */
