/* SPDX-License-Identifier: MIT */
/*
 * export/shared/event_spool.h - many queues in one file without a name, for formats that want events apart
 *
 * Way of the data:  trace_walk -> [event_spool] -> export_firefox, export_speedscope, export_chrome -> file
 *
 * Events come mixed, thread by thread in turns; some formats want each thread's together.  A chain is the
 * data that is added under one number, in order.  Chains have buffers that grow with them,
 * EVENT_SPOOL_BUFFERS_BYTES in all; beyond that, all buffers are written to the file.  There is one
 * descriptor, opened in $TMPDIR when the buffers are full for the first time.  Memory: the buffers, and 16
 * bytes for each piece in the file, about a thousandth of it.  Not thread-safe.
 */
#ifndef EXPORT_SHARED_EVENT_SPOOL_H
#define EXPORT_SHARED_EVENT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

#define EVENT_SPOOL_BUFFER_MAX    (1 << 16) /* of one chain */
#define EVENT_SPOOL_BUFFERS_BYTES (1 << 25)
#define EVENT_SPOOL_RECORD_MAX    256 /* bytes that are added, patched or read at once, but for texts */

/* A piece of a chain in the file; it ends where the next one begins. */
struct spool_piece {
        uint64_t chain_offset;
        uint64_t file_offset;
};

struct spool_chain {
        uint8_t *buffer; /* heap; the end of the chain, which is not in the file yet */
        size_t buffer_used, buffer_capacity;
        struct spool_piece *pieces; /* heap */
        size_t n_pieces, pieces_capacity;
        uint64_t n_bytes; /* of all */
};

struct event_spool {
        struct spool_chain *chains; /* heap */
        uint32_t n_chains;
        size_t chains_capacity;
        size_t buffers_bytes; /* of all chains */
        size_t buffers_max;   /* EVENT_SPOOL_BUFFERS_BYTES; less for tests */
        uint64_t file_bytes;
        int fd; /* -1 = not opened yet */
};

/*
 * Reads a chain from its beginning, or from the offset that is set; several may read at once, while nothing
 * is added.
 */
struct spool_cursor {
        const struct event_spool *spool; /* borrowed */
        uint32_t chain;
        uint64_t offset; /* of the next piece */
        uint8_t *buffer; /* heap */
        uint64_t buffer_offset;
        size_t buffer_used, buffer_capacity;
};

void event_spool_init(struct event_spool *s);
void event_spool_deinit(struct event_spool *s);

/* Chain numbers are small: memory is needed up to the largest.  Returns 0, -ENOMEM, -errno of the file. */
int event_spool_add(struct event_spool *s, uint32_t number, const void *bytes, size_t n_bytes,
                    struct error *err);

/* Puts other bytes in the place of some that were added.  Returns 0 or -errno of the file. */
int event_spool_patch(struct event_spool *s, uint32_t number, uint64_t offset, const void *bytes,
                      size_t n_bytes, struct error *err);

/* How many bytes were added to a chain. */
static inline uint64_t event_spool_bytes(const struct event_spool *s, uint32_t chain)
{
        return chain < s->n_chains ? s->chains[chain].n_bytes : 0;
}

void spool_cursor_init(struct spool_cursor *c, const struct event_spool *s, uint32_t chain);
void spool_cursor_deinit(struct spool_cursor *c);

/*
 * spool_cursor_next() - the next @n_bytes of the chain
 * Returns 1 and bytes, aligned to 8 if all that is read has a multiple of 8, borrowed until the next call;
 * 0 at the end; -ENOMEM, -errno of the file.
 */
int spool_cursor_next(struct spool_cursor *c, size_t n_bytes, const void **ret_bytes, struct error *err);

#endif /* EXPORT_SHARED_EVENT_SPOOL_H */
