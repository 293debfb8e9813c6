/* SPDX-License-Identifier: MIT */
/*
 * format/trace_chunk.h - framing of the trace file: a header, then a body
 *
 * Way of the data:  trace_writer -> [trace_chunk] -> file -> [trace_chunk] -> trace_reader
 * Specification:    docs/understand/trace-format.md, "Chunks"
 *
 * No input or output here.  Not thread-safe; distinct objects may be used from
 * distinct threads.
 */
#ifndef FORMAT_TRACE_CHUNK_H
#define FORMAT_TRACE_CHUNK_H

#include "format/trace_spec.h"

#include <stddef.h>
#include <stdint.h>

struct byte_buffer;
struct error;

struct trace_chunk_header {
        uint16_t kind;         /* enum trace_chunk_kind or enum trace_table; unknown ones are skipped */
        uint16_t codec;        /* enum trace_codec of the stored body */
        uint32_t stored_bytes; /* of the body in the file, at most TRACE_CHUNK_RAW_MAX */
        uint32_t raw_bytes;    /* of the body unpacked, at most TRACE_CHUNK_RAW_MAX */
        uint32_t n_items;      /* rows or events in it; for people and statistics */
        uint32_t flags;        /* TRACE_CHUNK_NO_NAMES; unknown ones are ignored */
        uint64_t first_ns;     /* time of its earliest event; 0 if it has none */
        uint64_t last_ns;      /* time of its latest event */
        uint64_t checksum;     /* XXH3, 64 bits, of the header before it and the stored body */
};

/*
 * trace_chunk_encode() - pack a body and append header and body to @out
 * @header:  kind, n_items, flags, first_ns and last_ns are the caller's; the rest is filled in
 * @level:   of zstd; a body that does not shrink is stored raw
 * Returns 0, -ENOMEM, or -EOVERFLOW for a body over TRACE_CHUNK_RAW_MAX.
 */
int trace_chunk_encode(struct trace_chunk_header *header, const uint8_t *raw, size_t raw_bytes, int level,
                       struct byte_buffer *out, struct error *err);

/*
 * trace_chunk_decode_header() - the header in the first TRACE_CHUNK_HEADER_BYTES of @bytes
 * Returns 0, -ENODATA if @n_bytes are fewer, -EBADMSG if they are no header.
 */
int trace_chunk_decode_header(const uint8_t *bytes, size_t n_bytes, struct trace_chunk_header *ret_header,
                              struct error *err);

/*
 * trace_chunk_decode_body() - check and unpack a stored body
 * @header_bytes:  the TRACE_CHUNK_HEADER_BYTES that @header was decoded from
 * @stored:        header->stored_bytes of them
 * @raw:           overwritten with the unpacked body
 * Returns 0, -EBADMSG, -ENOTSUP for an unknown codec, -ENOMEM.
 */
int trace_chunk_decode_body(const struct trace_chunk_header *header, const uint8_t *header_bytes,
                            const uint8_t *stored, struct byte_buffer *raw, struct error *err);

#endif /* FORMAT_TRACE_CHUNK_H */
