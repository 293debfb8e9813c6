/* SPDX-License-Identifier: MIT */
/*
 * format/trace_writer.h - chunks into a file or a pipe, with the index at the end
 *
 * Way of the data:  merge, symbolize -> [trace_writer] -> file
 *
 * Used by one thread at a time.
 */
#ifndef FORMAT_TRACE_WRITER_H
#define FORMAT_TRACE_WRITER_H

#include "format/trace_chunk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct trace_dictionary;
struct trace_item;
struct trace_writer;

/*
 * trace_writer_new() - start a trace: writes its FILE chunk
 * @fd:    borrowed until trace_writer_free(); written to at its present position
 * Returns 0, -errno of the write, -ENOMEM.
 */
int trace_writer_new(int fd, struct trace_writer **ret_writer, struct error *err);

/* From now on chunks are packed in half of the time, and are some hundredths larger: for who has to hurry. */
void trace_writer_pack_fast(struct trace_writer *writer);

/*
 * trace_writer_reopen() - go on with a trace that has chunks already
 * @fd: borrowed; positioned after the last whole chunk before the first put
 * The existing chunks are announced by trace_writer_adopt(), in order, before the first put.  Returns 0 or
 * -ENOMEM.
 */
int trace_writer_reopen(int fd, struct trace_writer **ret_writer, struct error *err);
void trace_writer_adopt(struct trace_writer *writer, const struct trace_chunk_header *header);

/* Frees it; does not finish the trace.  NULL is fine. */
void trace_writer_free(struct trace_writer *writer);

/*
 * trace_writer_put() - one chunk
 * @header:  kind, n_items and times as for trace_chunk_encode()
 * On failure a regular file is cut back to its last whole chunk, and every later call
 * fails with the same error.  Returns 0, -EIO if another program has truncated the file,
 * or -errno.  May block on the disk.
 */
int trace_writer_put(struct trace_writer *writer, struct trace_chunk_header header, const uint8_t *raw,
                     size_t raw_bytes, struct error *err);

/* A chunk of another trace, byte for byte.  Returns as trace_writer_put() does. */
int trace_writer_copy(struct trace_writer *writer, const struct trace_item *item, struct error *err);

/* Writes all rows of @dictionary that are not written yet, table by table.  Returns 0 or -errno. */
int trace_writer_put_tables(struct trace_writer *writer, struct trace_dictionary *dictionary,
                            struct error *err);

/* Writes the index: the trace is whole then.  Returns 0 or -errno. */
int trace_writer_finish(struct trace_writer *writer, struct error *err);

/*
 * trace_writer_go_on() - takes the index away from a trace that this writer has finished, so that more chunks
 * can follow
 * This writer wrote all of the trace, a regular file.  To be finished again.  Returns 0 or -errno.
 */
int trace_writer_go_on(struct trace_writer *writer, struct error *err);

/* True if a write has failed: then an error is about the file. */
bool trace_writer_has_failed(const struct trace_writer *writer);

/* Bytes of whole chunks written so far. */
uint64_t trace_writer_count_bytes(const struct trace_writer *writer);

#endif /* FORMAT_TRACE_WRITER_H */
