/* SPDX-License-Identifier: MIT */
/*
 * import/perf/perf_unpack.h - records that `perf record -z` packed
 *
 * Way of the data:  perf_file: COMPRESSED -> [perf_unpack] -> import_perf_data
 *
 * The bodies of such records are one stream of zstd, in which a record may begin in one and end in the next.
 * Memory: the window of zstd, and a little more than the longest record.  Not thread-safe.
 */
#ifndef IMPORT_PERF_UNPACK_H
#define IMPORT_PERF_UNPACK_H

#include "base/byte_buffer.h"

#include <stdbool.h>

struct perf_raw_record;

/* Zero-initialised is empty and valid. */
struct perf_unpack {
        struct ZSTD_DCtx_s *stream; /* NULL = nothing was packed yet */
        struct byte_buffer bytes;   /* unpacked, and not taken */
        size_t n_taken;
        const uint8_t *packed; /* borrowed */
        size_t n_packed;
        uint64_t at;
};

void perf_unpack_deinit(struct perf_unpack *u);

/* Begins with the body of a record, which is borrowed until perf_unpack_next() has said 0.  0 or -ENOMEM. */
int perf_unpack_add(struct perf_unpack *u, const struct perf_raw_record *record);

/*
 * perf_unpack_next() - the next record; its body is borrowed until the next call
 * Its `at` is that of the packed record.
 * Returns 1, 0 when more is needed, -EBADMSG for broken packing and from then on, -ENOMEM.
 */
int perf_unpack_next(struct perf_unpack *u, struct perf_raw_record *ret_record);

#endif /* IMPORT_PERF_UNPACK_H */
