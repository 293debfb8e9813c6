/* SPDX-License-Identifier: MIT */
#include "format/attachment_chunk.h"

#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/error.h"
#include "format/trace_dictionary.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

int attachment_chunk_encode(const struct attachment_chunk *part, struct byte_buffer *body)
{
        assert(part->attachment != 0 && part->n_bytes <= ATTACHMENT_CHUNK_BYTES_MAX);
        byte_buffer_add_varint(body, part->attachment);
        byte_buffer_add_varint(body, part->offset_bytes);
        byte_buffer_add(body, part->bytes, part->n_bytes);
        return body->failed ? -ENOMEM : 0;
}

int attachment_chunk_decode(const struct trace_dictionary *dictionary, const uint8_t *body, size_t body_bytes,
                            struct attachment_chunk *ret_part, struct error *err)
{
        struct byte_reader in = byte_reader_of(body, body_bytes);
        uint64_t attachment = bytes_varint(&in);
        uint64_t offset_bytes = bytes_varint(&in);
        const struct trace_attachment *row;

        if (in.short_read)
                return error_set(err, -EBADMSG, "attachment: cut off");
        if (attachment < 1 || attachment > trace_dictionary_count(dictionary, TRACE_TABLE_ATTACHMENTS))
                return error_set(err, -EBADMSG, "attachment %" PRIu64 " does not exist", attachment);
        row = trace_dictionary_row(dictionary, TRACE_TABLE_ATTACHMENTS, (uint32_t)attachment);
        if (offset_bytes > row->size_bytes || in.left > row->size_bytes - offset_bytes)
                return error_set(err, -EBADMSG,
                                 "attachment %" PRIu64 ": %zu bytes at %" PRIu64 ", it has %" PRIu64,
                                 attachment, in.left, offset_bytes, row->size_bytes);
        *ret_part = (struct attachment_chunk){
                .attachment = (uint32_t)attachment,
                .offset_bytes = offset_bytes,
                .bytes = in.at,
                .n_bytes = in.left,
        };
        return 0;
}

/* ------------------------------------------------------------------ tally */

void attachment_tally_deinit(struct attachment_tally *t)
{
        free(t->n_bytes);
        *t = (struct attachment_tally){ .n_bytes = NULL };
}

static int reserve(struct attachment_tally *t, uint32_t n_attachments)
{
        return array_reach(&t->n_bytes, &t->capacity, &t->n_attachments, n_attachments, sizeof(*t->n_bytes));
}

int attachment_tally_add(struct attachment_tally *t, const struct trace_dictionary *dictionary,
                         const struct attachment_chunk *part, struct error *err)
{
        uint64_t *n_bytes;

        if (reserve(t, trace_dictionary_count(dictionary, TRACE_TABLE_ATTACHMENTS)) < 0)
                return error_set(err, -ENOMEM, "no memory for the attachments");
        n_bytes = &t->n_bytes[part->attachment - 1];
        if (part->offset_bytes != *n_bytes)
                return error_set(err, -EBADMSG,
                                 "attachment %" PRIu32 ": a part begins at byte %" PRIu64
                                 ", the one before ended at %" PRIu64,
                                 part->attachment, part->offset_bytes, *n_bytes);
        *n_bytes += part->n_bytes;
        return 0;
}

uint64_t attachment_tally_get(const struct attachment_tally *t, uint32_t attachment)
{
        return attachment <= t->n_attachments ? t->n_bytes[attachment - 1] : 0;
}

uint32_t attachment_tally_find_incomplete(const struct attachment_tally *t,
                                          const struct trace_dictionary *dictionary, uint32_t attachment)
{
        uint32_t n_attachments = trace_dictionary_count(dictionary, TRACE_TABLE_ATTACHMENTS);

        for (uint32_t id = attachment + 1; id <= n_attachments; id++) {
                const struct trace_attachment *row = trace_dictionary_row(dictionary, TRACE_TABLE_ATTACHMENTS,
                                                                          id);

                if (attachment_tally_get(t, id) != row->size_bytes)
                        return id;
        }
        return 0;
}
