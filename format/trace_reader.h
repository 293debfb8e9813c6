/* SPDX-License-Identifier: MIT */
/*
 * format/trace_reader.h - chunks out of a file or a pipe, in order, checked
 *
 * Way of the data:  file -> [trace_reader] -> event_decoder, trace_dictionary -> analyze
 *
 * A trace that ends early (a crash, a full disk) is read up to its last whole
 * chunk.  That is no error of trace_reader_next(): it returns 0, and
 * trace_reader_ending() says what happened.  A trace that is still being written is read up to where its
 * tables were complete.  Not thread-safe.
 */
#ifndef FORMAT_TRACE_READER_H
#define FORMAT_TRACE_READER_H

#include "base/byte_buffer.h"
#include "format/trace_chunk.h"
#include "format/trace_dictionary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct trace_reader;
struct trace_version;

/* One chunk; everything in it is borrowed until the next call. */
struct trace_item {
        struct trace_chunk_header header;
        uint64_t file_offset_bytes; /* of the header */
        const uint8_t *body;        /* unpacked */
        size_t body_bytes;
        /* As it is in the file: TRACE_CHUNK_HEADER_BYTES, and header.stored_bytes. */
        const uint8_t *header_bytes, *stored;
        struct trace_row_range rows; /* of a table chunk: what it added to the dictionary */
};

/* A chunk as it is in the file, not checked. */
struct trace_stored_chunk {
        struct trace_chunk_header header;
        uint64_t file_offset_bytes; /* of the header */
        uint8_t header_bytes[TRACE_CHUNK_HEADER_BYTES];
        struct byte_buffer stored; /* owned */
};

enum trace_ending {
        TRACE_ENDING_OPEN,    /* not at the end yet */
        TRACE_ENDING_WHOLE,   /* index and trailer were there */
        TRACE_ENDING_CUT_OFF, /* the bytes stop before the index */
        TRACE_ENDING_GROWING, /* the same, and a recorder holds the file, or the file has grown meanwhile */
        TRACE_ENDING_DAMAGED, /* a chunk is malformed or fails its checksum; nothing after it was read */
};

/* Whether the trace may have more than was read. */
static inline bool trace_ending_is_early(enum trace_ending ending)
{
        return ending == TRACE_ENDING_CUT_OFF || ending == TRACE_ENDING_GROWING ||
               ending == TRACE_ENDING_DAMAGED;
}

/*
 * trace_reader_open() - open a trace and read its FILE chunk
 * @path:  "-" for standard input
 * Returns 0, -errno of open(2), -EBADMSG (no trace), -ENODATA (cut off before the first chunk ends),
 * -ENOTSUP (another major version).
 */
int trace_reader_open(const char *path, struct trace_reader **ret_reader, struct error *err);
void trace_reader_close(struct trace_reader *reader);

/*
 * trace_reader_next() - the next chunk, of whatever kind; tables are taken into the dictionary
 * After a failure the reader is only good for trace_reader_close().  Returns 1, 0 at the end of the readable
 * part, or -errno for a failed read and -ENOMEM.
 */
int trace_reader_next(struct trace_reader *reader, struct trace_item *ret_item, struct error *err);

/*
 * trace_reader_next_wanted() - the same, but steps over chunks that @is_wanted does not want, unchecked
 * For a file, after trace_reader_read_tables().
 */
int trace_reader_next_wanted(struct trace_reader *reader,
                             bool (*is_wanted)(const struct trace_chunk_header *header),
                             struct trace_item *ret_item, struct error *err);

/*
 * For callers that unpack chunks elsewhere, after trace_reader_read_tables(): see read_ahead.
 * trace_reader_fetch() - the next chunk as it is in the file; returns as trace_reader_next()
 * trace_reader_seek() - go on at a chunk that was fetched before, or after the last one
 * trace_reader_refuse() - trace_chunk_decode_body() of a chunk returned @code: the trace ends with a damaged
 *                         chunk; returns 0, or -ENOMEM if memory ran out
 */
int trace_reader_fetch(struct trace_reader *reader, struct trace_stored_chunk *chunk, struct error *err);
int trace_reader_seek(struct trace_reader *reader, uint64_t at_bytes, struct error *err);
int trace_reader_refuse(struct trace_reader *reader, const struct trace_stored_chunk *chunk, int code,
                        const struct error *cause, struct error *err);

/*
 * trace_reader_read_tables() - take in all tables, stepping over events and attachments, and go back to the
 * beginning
 * @ret_first_ns, @ret_last_ns:  of all events, as their chunks say; 0 if there are none
 * Call it right after trace_reader_open().  The dictionary is complete then, and trace_reader_next() hands
 * out the same chunks from the beginning, without taking in tables twice (`rows` is empty then).  A file that
 * cannot seek is first copied into an unlinked file in $TMPDIR, else /tmp.  Returns 0, -errno of read(2),
 * write(2) and open(2), -ENOMEM.
 */
int trace_reader_read_tables(struct trace_reader *reader, uint64_t *ret_first_ns, uint64_t *ret_last_ns,
                             struct error *err);

/* Goes back to the first chunk once more, after trace_reader_read_tables().  Returns 0 or -errno. */
int trace_reader_rewind(struct trace_reader *reader, struct error *err);

/* The request to trace_reader_seek_range(), and its result. */
struct trace_reader_range {
        uint64_t from_ns, to_ns; /* set by the caller */
        /*
         * the STATES chunk before that place; 0 = there is none, and the trace is read from its first
         * chunk
         */
        uint64_t states_at_bytes;
        uint64_t end_bytes; /* no EVENTS chunk from here on has an event before to_ns */
};

/*
 * trace_reader_seek_range() - go to where a part of the trace begins
 * After trace_reader_read_tables().  No EVENTS chunk before that place has an event at from_ns or later.
 * Looks at all headers, at no body.  Returns 0 or -errno.
 */
int trace_reader_seek_range(struct trace_reader *reader, struct trace_reader_range *range, struct error *err);

/* Where the next chunk begins, in bytes from the beginning of the trace. */
uint64_t trace_reader_position(const struct trace_reader *reader);

/*
 * Steps over all chunks to the end, for trace_reader_ending(); bodies of events are not
 * checked.  Returns 0 or -errno.
 */
int trace_reader_skip_rest(struct trace_reader *reader, struct error *err);

/* The header of the FILE chunk, which trace_reader_open() read; borrowed. */
const struct trace_chunk_header *trace_reader_first_header(const struct trace_reader *reader);

/*
 * The trace's version, and how much is unknown in the chunks so far.  Borrowed, lives as long as the
 * reader.
 */
const struct trace_version *trace_reader_version(const struct trace_reader *reader);

/* All rows of the chunks so far; borrowed, lives as long as the reader. */
const struct trace_dictionary *trace_reader_dictionary(const struct trace_reader *reader);

/*
 * trace_reader_edit() - the same, to append rows to the trace
 * Call it after the trace was read to its end.  Rows that were read count as written, so that
 * trace_writer_put_tables() writes only new ones.
 */
struct trace_dictionary *trace_reader_edit(struct trace_reader *reader);

/*
 * trace_reader_ending() - how the trace ended
 * @ret_words: the error, in words for people; "" for a whole trace; borrowed, may be NULL
 * @ret_bytes:   where the last whole chunk ends; may be NULL
 */
enum trace_ending trace_reader_ending(const struct trace_reader *reader, const char **ret_words,
                                      uint64_t *ret_bytes);

#endif /* FORMAT_TRACE_READER_H */
