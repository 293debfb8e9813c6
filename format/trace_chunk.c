/* SPDX-License-Identifier: MIT */
#include "format/trace_chunk.h"

#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>
#include <zstd_errors.h>

#define CHECKSUM_OFFSET 40 /* the header's bytes before this are checksummed */

static uint64_t checksum_of(const uint8_t *header_bytes, const uint8_t *stored, size_t stored_bytes)
{
        XXH3_state_t state;

        (void)XXH3_64bits_reset(&state);
        (void)XXH3_64bits_update(&state, header_bytes, CHECKSUM_OFFSET);
        if (stored_bytes > 0)
                (void)XXH3_64bits_update(&state, stored, stored_bytes);
        return XXH3_64bits_digest(&state);
}

static void encode_header(const struct trace_chunk_header *h, struct byte_buffer *out)
{
        byte_buffer_add_u32(out, TRACE_CHUNK_MAGIC);
        byte_buffer_add_u16(out, h->kind);
        byte_buffer_add_u16(out, h->codec);
        byte_buffer_add_u32(out, h->stored_bytes);
        byte_buffer_add_u32(out, h->raw_bytes);
        byte_buffer_add_u32(out, h->n_items);
        byte_buffer_add_u32(out, h->flags);
        byte_buffer_add_u64(out, h->first_ns);
        byte_buffer_add_u64(out, h->last_ns);
        byte_buffer_add_u64(out, h->checksum);
}

/* Puts the body after the room for its header; returns its codec, or -ENOMEM. */
static int store_body(const uint8_t *raw, size_t raw_bytes, int level, size_t header_at,
                      struct byte_buffer *out)
{
        size_t bound = ZSTD_compressBound(raw_bytes);
        uint8_t *at = byte_buffer_reserve(out, TRACE_CHUNK_HEADER_BYTES + bound);
        size_t packed_bytes;

        if (!at)
                return -ENOMEM;
        packed_bytes = ZSTD_compress(at + TRACE_CHUNK_HEADER_BYTES, bound, raw, raw_bytes, level);
        out->used_bytes = header_at + TRACE_CHUNK_HEADER_BYTES;
        if (!ZSTD_isError(packed_bytes) && packed_bytes < raw_bytes) {
                out->used_bytes += packed_bytes;
                return TRACE_CODEC_ZSTD;
        }
        byte_buffer_add(out, raw, raw_bytes);
        return TRACE_CODEC_RAW;
}

int trace_chunk_encode(struct trace_chunk_header *header, const uint8_t *raw, size_t raw_bytes, int level,
                       struct byte_buffer *out, struct error *err)
{
        size_t header_at = out->used_bytes;
        struct byte_buffer head = { .data = NULL };
        int codec;

        if (raw_bytes > TRACE_CHUNK_RAW_MAX)
                return error_set(err, -EOVERFLOW, "chunk of kind %u: body of %zu bytes is over the limit",
                                 header->kind, raw_bytes);

        codec = store_body(raw, raw_bytes, level, header_at, out);
        if (codec < 0)
                goto no_memory;
        header->codec = (uint16_t)codec;
        header->raw_bytes = (uint32_t)raw_bytes;
        header->stored_bytes = (uint32_t)(out->used_bytes - header_at - TRACE_CHUNK_HEADER_BYTES);

        header->checksum = 0;
        encode_header(header, &head);
        if (head.failed)
                goto no_memory;
        header->checksum = checksum_of(head.data, out->data + header_at + TRACE_CHUNK_HEADER_BYTES,
                                       header->stored_bytes);
        byte_buffer_clear(&head);
        encode_header(header, &head);
        memcpy(out->data + header_at, head.data, TRACE_CHUNK_HEADER_BYTES);
        byte_buffer_deinit(&head);
        return 0;

no_memory:
        byte_buffer_deinit(&head);
        return error_set(err, -ENOMEM, "chunk of kind %u: no memory for %zu bytes", header->kind, raw_bytes);
}

int trace_chunk_decode_header(const uint8_t *bytes, size_t n_bytes, struct trace_chunk_header *ret_header,
                              struct error *err)
{
        struct byte_reader in = byte_reader_of(bytes, n_bytes);
        struct trace_chunk_header h;
        uint32_t magic = bytes_u32(&in);

        h.kind = bytes_u16(&in);
        h.codec = bytes_u16(&in);
        h.stored_bytes = bytes_u32(&in);
        h.raw_bytes = bytes_u32(&in);
        h.n_items = bytes_u32(&in);
        h.flags = bytes_u32(&in);
        h.first_ns = bytes_u64(&in);
        h.last_ns = bytes_u64(&in);
        h.checksum = bytes_u64(&in);

        if (n_bytes >= sizeof(magic) && magic != TRACE_CHUNK_MAGIC)
                return error_set(err, -EBADMSG, "not a chunk: magic is 0x%08" PRIx32, magic);
        if (in.short_read)
                return error_set(err, -ENODATA, "chunk header: %zu of %d bytes", n_bytes,
                                 TRACE_CHUNK_HEADER_BYTES);
        if (h.stored_bytes > TRACE_CHUNK_RAW_MAX || h.raw_bytes > TRACE_CHUNK_RAW_MAX)
                return error_set(err, -EBADMSG,
                                 "chunk of kind %u: body of %" PRIu32 " bytes is over the limit", h.kind,
                                 h.stored_bytes > h.raw_bytes ? h.stored_bytes : h.raw_bytes);
        *ret_header = h;
        return 0;
}

int trace_chunk_decode_body(const struct trace_chunk_header *header, const uint8_t *header_bytes,
                            const uint8_t *stored, struct byte_buffer *raw, struct error *err)
{
        size_t unpacked;
        uint8_t *at;

        if (checksum_of(header_bytes, stored, header->stored_bytes) != header->checksum)
                return error_set(err, -EBADMSG, "chunk of kind %u: checksum differs", header->kind);

        byte_buffer_clear(raw);
        at = byte_buffer_reserve(raw, header->raw_bytes);
        if (!at)
                return error_set(err, -ENOMEM, "chunk of kind %u: no memory for %" PRIu32 " bytes",
                                 header->kind, header->raw_bytes);
        switch (header->codec) {
        case TRACE_CODEC_RAW:
                unpacked = header->stored_bytes;
                if (unpacked == header->raw_bytes && unpacked > 0)
                        memcpy(at, stored, unpacked);
                break;
        case TRACE_CODEC_ZSTD:
                unpacked = ZSTD_decompress(at, header->raw_bytes, stored, header->stored_bytes);
                if (ZSTD_getErrorCode(unpacked) == ZSTD_error_memory_allocation)
                        return error_set(err, -ENOMEM, "chunk of kind %u: no memory to unpack it",
                                         header->kind);
                if (ZSTD_isError(unpacked))
                        return error_set(err, -EBADMSG, "chunk of kind %u: zstd: %s", header->kind,
                                         ZSTD_getErrorName(unpacked));
                break;
        default:
                return error_set(err, -ENOTSUP, "chunk of kind %u: unknown codec %u", header->kind,
                                 header->codec);
        }
        if (unpacked != header->raw_bytes)
                return error_set(err, -EBADMSG, "chunk of kind %u: %zu bytes unpacked, %" PRIu32 " stated",
                                 header->kind, unpacked, header->raw_bytes);
        raw->used_bytes = unpacked;
        return 0;
}
