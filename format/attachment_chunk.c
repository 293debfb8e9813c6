/* SPDX-License-Identifier: MIT */
#include "format/attachment_chunk.h"

#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/error.h"
#include "format/trace_dictionary.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>

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
