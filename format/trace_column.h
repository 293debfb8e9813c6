/* SPDX-License-Identifier: MIT */
/*
 * format/trace_column.h - how the numbers and texts of a column are written, and the list of columns
 *
 * Way of the data:  trace_dictionary, event_encoder -> [trace_column] -> body of a chunk
 *                   body of a chunk -> [trace_column] -> trace_dictionary, event_decoder
 * Specification:    docs/understand/trace-format.md, "Columns"
 */
#ifndef FORMAT_TRACE_COLUMN_H
#define FORMAT_TRACE_COLUMN_H

#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "format/trace_schema.h"

#include <stdint.h>

struct error;

/* Appends @value; @previous is the column's last value, 0 before the first.  Not for texts. */
static inline void trace_column_add(struct byte_buffer *column, unsigned encoding, uint64_t *previous,
                                    uint64_t value)
{
        if (encoding == TRACE_ENCODING_FIXED64) {
                byte_buffer_add_u64(column, value);
        } else if (encoding == TRACE_ENCODING_DELTA) {
                byte_buffer_add_varint(column, zigzag_encode((int64_t)(value - *previous)));
                *previous = value;
        } else {
                byte_buffer_add_varint(column, value);
        }
}

/* The next value; sticky in @column like every read. */
static inline uint64_t trace_column_next(struct byte_reader *column, unsigned encoding, uint64_t *previous)
{
        if (encoding == TRACE_ENCODING_FIXED64)
                return bytes_u64(column);
        if (encoding == TRACE_ENCODING_DELTA) {
                *previous += (uint64_t)zigzag_decode(bytes_varint(column));
                return *previous;
        }
        return bytes_varint(column);
}

/* A text: its length, then its bytes. */
static inline void trace_column_add_text(struct byte_buffer *column, const char *text, size_t n_bytes)
{
        byte_buffer_add_varint(column, n_bytes);
        byte_buffer_add(column, text, n_bytes);
}

/* The next text, borrowed from the column's bytes; NULL and sticky if it is cut off. */
static inline const char *trace_column_next_text(struct byte_reader *column, uint64_t *ret_n_bytes)
{
        *ret_n_bytes = bytes_varint(column);
        return (const char *)bytes_take(column, *ret_n_bytes);
}

/* One entry of the list of columns at the front of a body. */
struct trace_column_entry {
        uint64_t column; /* id; one that the reader does not know is stepped over */
        struct byte_reader bytes;
};

/* Walks the columns of a body: the list of ids and lengths, then the bytes one after the other. */
struct trace_column_list {
        struct byte_reader entries;
        struct byte_reader data;
        uint64_t n_left;
};

/* @body is positioned at the number of columns.  Returns 0 or -EBADMSG. */
int trace_column_list_init(struct trace_column_list *list, struct byte_reader body, struct error *err);

/* Returns 1 with an entry, 0 at the end, -EBADMSG if bytes are left over or missing. */
int trace_column_list_next(struct trace_column_list *list, struct trace_column_entry *ret_entry,
                           struct error *err);

#endif /* FORMAT_TRACE_COLUMN_H */
