/* SPDX-License-Identifier: MIT */
/*
 * symbolize/listing/source_embedder.h - keeps the sources of sampled lines in the trace
 *
 * Way of the data:  trace_dictionary (SYMBOLS) -> [source_embedder] -> attachment_chunk -> trace_writer
 *
 * Files that rows of SYMBOLS name become attachments of the kind SOURCE_TEXT, of the same name.  Sources that
 * the program handed over itself stay, and are not read again.  Reads with the rights of the process, which
 * has given up all that it does not need by then.
 */
#ifndef SYMBOLIZE_LISTING_SOURCE_EMBEDDER_H
#define SYMBOLIZE_LISTING_SOURCE_EMBEDDER_H

#include "base/byte_buffer.h"

#include <stdint.h>

#define SOURCE_EMBEDDER_BYTES_MAX (UINT64_C(64) << 20) /* of all sources of a trace */
#define SOURCE_EMBEDDER_FILES_MAX 65536                /* that are looked at */

struct error;
struct source_folders;
struct trace_dictionary;
struct trace_writer;

struct source_embedder_options {
        const char *sysroot;                /* put before every path; NULL = "" */
        const struct source_folders *given; /* by the user; NULL = none */
        uint64_t bytes_max;                 /* of all sources; 0 = SOURCE_EMBEDDER_BYTES_MAX */
};

struct source_embedder_result {
        uint32_t n_kept;
        uint32_t n_known;         /* were in the trace already */
        uint32_t n_missing;       /* there is no such file, or it may not be read */
        uint32_t n_withheld;      /* source_rule does not allow it */
        uint32_t n_no_text;       /* it is no text */
        uint32_t n_over_limit;    /* it is too large, or the sources together are */
        uint64_t n_bytes;         /* of those that were kept */
        struct byte_buffer names; /* of those that were kept, each ends with a NUL; owned by the caller */
};

/*
 * source_embedder_run() - called when all symbols are there, before the trace is finished
 * @dictionary:  gets rows; those that were not written yet are written
 * @ret:         its `names` are to be deinitialised in any case
 * Returns 0, -ENOMEM, -EOVERFLOW when a table is full, or what trace_writer_put() returns.
 */
int source_embedder_run(const struct source_embedder_options *options, struct trace_dictionary *dictionary,
                        struct trace_writer *writer, struct source_embedder_result *ret, struct error *err);

#endif /* SYMBOLIZE_LISTING_SOURCE_EMBEDDER_H */
