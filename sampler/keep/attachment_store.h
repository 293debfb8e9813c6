/* SPDX-License-Identifier: MIT */
/*
 * sampler/keep/attachment_store.h - source texts and images on their way into the trace
 *
 * Way of the data:  event_translator -> [attachment_store] -> attachment_chunk -> merge -> writer_thread
 *
 * An attachment gets a row at once; its bytes wait here until the rows were handed to the writer, and go
 * there part by part.  Attachments with the same bytes are kept once.  Used by the collector's thread.
 */
#ifndef SAMPLER_KEEP_ATTACHMENT_STORE_H
#define SAMPLER_KEEP_ATTACHMENT_STORE_H

#include "base/byte_buffer.h"

#include <stddef.h>
#include <stdint.h>

struct image_spool;
struct loss_counter;
struct trace_attachment;
struct trace_dictionary;

#define ATTACHMENT_STORE_BYTES_MAX (UINT64_C(1) << 28) /* of all; code_keeper has its own limit */

struct waiting_attachment {
        struct byte_buffer payload; /* its bytes, from `at_bytes` on */
        size_t at_bytes;            /* written up to here */
        uint64_t offset_bytes;      /* of that place in the attachment */
        uint32_t attachment;        /* id in the table ATTACHMENTS */
};

struct attachment_store {
        struct trace_dictionary *dictionary; /* borrowed, like the next */
        struct loss_counter *losses;
        struct image_spool
                *spool; /* gets a copy of the code, to find names in; NULL = no copy, until it is set */
        struct waiting_attachment *waiting; /* heap, owned; the first one goes first */
        size_t n_waiting, capacity;
        size_t n_done; /* of these are in their chunks already */
        uint64_t waiting_bytes;
        uint64_t n_bytes; /* of all that were ever kept */
};

void attachment_store_init(struct attachment_store *s, struct trace_dictionary *dictionary,
                           struct loss_counter *losses);
void attachment_store_deinit(struct attachment_store *s);

/*
 * attachment_store_add() - keep an attachment
 * @row:      its kind and name; the rest is filled in
 * @payload:  holds its bytes from @at_bytes on; its memory may be taken, it is valid afterwards in any case
 * @ret_id:   of its row; 0 if it was left out, which is counted
 * Returns 0 or -ENOMEM.
 */
int attachment_store_add(struct attachment_store *s, struct trace_attachment *row,
                         struct byte_buffer *payload, size_t at_bytes, uint32_t *ret_id);

/*
 * attachment_store_next() - the body of the next ATTACHMENT chunk
 * @body:  appended to
 * Returns 1, 0 if nothing waits, -ENOMEM.
 */
int attachment_store_next(struct attachment_store *s, struct byte_buffer *body);

#endif /* SAMPLER_KEEP_ATTACHMENT_STORE_H */
