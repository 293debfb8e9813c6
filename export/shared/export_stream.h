/* SPDX-License-Identifier: MIT */
/*
 * export/shared/export_stream.h - bytes of an export into a file or pipe, a buffer at a time
 *
 * Way of the data:  export_perfetto, export_pprof, ... -> [export_stream] -> file, pipe
 *
 * Messages go into `buffer`, one by one, and from there into the file when there are enough of
 * them.  Sticky: after the first failure nothing more is written, and export_stream_finish() says
 * what it was.  Not thread-safe.
 */
#ifndef EXPORT_SHARED_EXPORT_STREAM_H
#define EXPORT_SHARED_EXPORT_STREAM_H

#include "base/byte_buffer.h"

#include <stdint.h>
#include <stdio.h>

struct error;

struct export_stream {
        struct byte_buffer buffer;
        FILE *out;        /* borrowed; NULL = bytes are only counted */
        uint64_t n_bytes; /* that went out of the buffer */
        int code;         /* 0 or -errno */
};

void export_stream_init(struct export_stream *s, FILE *out);
void export_stream_deinit(struct export_stream *s);

/*
 * To be called after each complete message in the buffer.  Returns 0 or the first failure: going on is of no
 * use.
 */
int export_stream_flush_some(struct export_stream *s);

/* Writes the buffered bytes.  Returns 0, -ENOMEM, -EIO of the file. */
int export_stream_finish(struct export_stream *s, struct error *err);

#endif /* EXPORT_SHARED_EXPORT_STREAM_H */
