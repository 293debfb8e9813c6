/* SPDX-License-Identifier: MIT */
#include "sampler/keep/attachment_store.h"

#include "base/array.h"
#include "base/content_hash.h"
#include "format/attachment_chunk.h"
#include "format/trace_dictionary.h"
#include "sampler/tracks/loss_counter.h"
#include "symbolize/images/image_spool.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

void attachment_store_init(struct attachment_store *s, struct trace_dictionary *dictionary,
                           struct loss_counter *losses)
{
        *s = (struct attachment_store){ .dictionary = dictionary, .losses = losses };
}

void attachment_store_deinit(struct attachment_store *s)
{
        for (size_t i = s->n_done; i < s->n_waiting; i++)
                byte_buffer_deinit(&s->waiting[i].payload);
        free(s->waiting);
        attachment_store_init(s, NULL, NULL);
}

static bool is_known(const struct trace_dictionary *dictionary, const struct trace_attachment *row)
{
        return intern_find(&dictionary->tables[TRACE_TABLE_ATTACHMENTS - TRACE_TABLE_FIRST], row,
                           sizeof(*row)) != 0;
}

static int leave_out(struct attachment_store *s, uint32_t *ret_id)
{
        *ret_id = 0;
        loss_counter_add(s->losses, TRACE_LOSS_ATTACHMENTS_FULL, 1);
        return 0;
}

int attachment_store_add(struct attachment_store *s, struct trace_attachment *row,
                         struct byte_buffer *payload, size_t at_bytes, uint32_t *ret_id)
{
        uint32_t n_known = trace_dictionary_count(s->dictionary, TRACE_TABLE_ATTACHMENTS);
        int r = array_reserve(&s->waiting, &s->capacity, s->n_waiting + 1, sizeof(*s->waiting));

        if (r < 0)
                return r;
        row->size_bytes = payload->used_bytes - at_bytes;
        /*
         * Beyond the limit, new attachments of a program are not taken any more, but it may still name
         * those that we have.
         */
        if (row->size_bytes > ATTACHMENT_STORE_BYTES_MAX)
                return leave_out(s, ret_id);
        row->hash = content_hash(row->size_bytes > 0 ? payload->data + at_bytes : NULL, row->size_bytes);
        if (s->n_bytes + row->size_bytes > ATTACHMENT_STORE_BYTES_MAX && !is_known(s->dictionary, row))
                return leave_out(s, ret_id);
        r = trace_dictionary_add(s->dictionary, TRACE_TABLE_ATTACHMENTS, row, ret_id);
        if (r == -EOVERFLOW)
                return leave_out(s, ret_id);
        if (r < 0 || *ret_id <= n_known || row->size_bytes == 0)
                return r;
        s->waiting[s->n_waiting++] = (struct waiting_attachment){ .payload = *payload,
                                                                  .at_bytes = at_bytes,
                                                                  .attachment = *ret_id };
        *payload = (struct byte_buffer){ .data = NULL };
        s->n_bytes += row->size_bytes;
        s->waiting_bytes += row->size_bytes;
        return 0;
}

int attachment_store_next(struct attachment_store *s, struct byte_buffer *body)
{
        struct waiting_attachment *w = s->waiting + s->n_done;
        struct attachment_chunk part;
        int r;

        if (s->n_done == s->n_waiting)
                return 0;
        part = (struct attachment_chunk){ .attachment = w->attachment,
                                          .offset_bytes = w->offset_bytes,
                                          .bytes = w->payload.data + w->at_bytes,
                                          .n_bytes = w->payload.used_bytes - w->at_bytes };
        if (part.n_bytes > ATTACHMENT_CHUNK_BYTES_MAX)
                part.n_bytes = ATTACHMENT_CHUNK_BYTES_MAX;
        r = attachment_chunk_encode(&part, body);
        if (r < 0)
                return r;
        /* A full spool may cost names, but does not harm the trace. */
        if (s->spool)
                (void)image_spool_add_part(s->spool, s->dictionary, &part, NULL);
        w->at_bytes += part.n_bytes;
        w->offset_bytes += part.n_bytes;
        s->waiting_bytes -= part.n_bytes;
        if (w->at_bytes == w->payload.used_bytes) {
                byte_buffer_deinit(&w->payload);
                s->n_done++;
        }
        if (s->n_done == s->n_waiting) {
                s->n_done = 0;
                s->n_waiting = 0;
        }
        return 1;
}
