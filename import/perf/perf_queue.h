/* SPDX-License-Identifier: MIT */
/*
 * import/perf/perf_queue.h - records of several rings, in the order of time
 *
 * Way of the data:  perf_file -> [perf_queue] -> import_perf_data
 *
 * perf writes what is in each CPU's ring, then a mark, and again: when it marks, nothing older than the
 * newest record of the round before can still come.  Memory: the records of two rounds, at most
 * PERF_QUEUE_BYTES_MAX; of a longer round the older half goes on as if there were a mark.  Files that another
 * program wrote have no marks, and are more or less in order: from PERF_QUEUE_NO_MARK_BYTES on, records go on
 * that are older than the newest by twice as much as any record was late so far.  Not thread-safe.
 */
#ifndef IMPORT_PERF_QUEUE_H
#define IMPORT_PERF_QUEUE_H

#include "import/perf/perf_file.h"

#define PERF_QUEUE_BYTES_MAX     ((size_t)256 << 20)
#define PERF_QUEUE_NO_MARK_BYTES ((size_t)64 << 20)

#define PERF_QUEUE_BLOCK_BYTES (((size_t)2 << 20) - 3 * sizeof(size_t)) /* a block is one large page */

/* Bodies of records, one after the other. */
struct perf_queue_block {
        struct perf_queue_block *next; /* of those that are free */
        size_t n_records;              /* that are in the queue */
        size_t used_bytes;
        uint8_t bytes[PERF_QUEUE_BLOCK_BYTES];
};

struct perf_queued {
        uint64_t time, number;
        struct perf_raw_record record; /* its body is in the block */
        struct perf_queue_block *block;
};

/* Zero-initialised is empty and valid. */
struct perf_queue {
        struct perf_queued *items; /* heap */
        size_t n, capacity;
        bool is_unsorted;
        bool has_marks;
        uint64_t latest;         /* by how much a record was older than the newest before it, at most */
        size_t next_bytes;       /* without marks: at so many `n_bytes` some records may go on */
        size_t n_ready, n_taken; /* the first ones, sorted, may go on; of these so many have */
        struct perf_queue_block *block; /* heap: the one that is being filled */
        struct perf_queue_block *free;  /* heap: others that are empty */
        size_t n_bytes;                 /* of items and of blocks that are not empty */
        uint64_t n_added;
        uint64_t newest, limit; /* times: of all; of the round before */
};

void perf_queue_deinit(struct perf_queue *q);

/* Copies a record, after perf_queue_next() has said that there is none.  Returns 0 or -ENOMEM. */
int perf_queue_add(struct perf_queue *q, const struct perf_raw_record *record, uint64_t time);

/* A round is over, or with @is_end all. */
void perf_queue_mark(struct perf_queue *q, bool is_end);

/* The next record that may go on; borrowed until the next call.  Returns false if there is none. */
bool perf_queue_next(struct perf_queue *q, struct perf_raw_record *ret_record);

#endif /* IMPORT_PERF_QUEUE_H */
