/* SPDX-License-Identifier: MIT */
/*
 * import/rows/import_sort.h - what happened on tracks, in any order in, in the order of time out
 *
 * Way of the data:  import_rows -> [import_sort]: sorted runs on the disk -> import_trace
 *
 * Records of one clock are in the order of its ticks in a run, so a run is as many sorted parts as it has
 * clocks.  The place of a clock's ticks on the timeline is needed only when the parts are merged: by then all
 * its readings are known.
 *
 * Memory: two buffers of the length of a run, and at most 8 MiB for merging.  Not thread-safe.
 */
#ifndef IMPORT_IMPORT_SORT_H
#define IMPORT_IMPORT_SORT_H

#include <stddef.h>
#include <stdint.h>

struct error;

#define IMPORT_RUN_BYTES ((size_t)256 << 10)

enum import_record_kind {
        IMPORT_RECORD_SPAN,
        IMPORT_RECORD_INSTANT,
        IMPORT_RECORD_VALUE,
        IMPORT_RECORD_SAMPLE, /* this and all below: fields as import_samples.c uses them */
        IMPORT_RECORD_SWITCH_OUT,
        IMPORT_RECORD_SWITCH_IN,
        IMPORT_RECORD_NAME,
        IMPORT_RECORD_EXIT,
};

struct import_record {
        uint64_t begin;    /* ticks */
        uint64_t end;      /* SPAN: ticks; VALUE: its bits; INSTANT: enum trace_flow_phase, 0 = none */
        uint64_t key;      /* SPAN, INSTANT; SPAN without: id << 32 | parent; VALUE: import_value_kind */
        uint16_t clock;    /* index */
        uint16_t kind;     /* enum import_record_kind */
        uint32_t track;    /* index */
        uint32_t what;     /* SPAN, INSTANT: location; VALUE: row of PLOTS */
        uint32_t key_kind; /* string; 0 = there is no key */
        uint32_t text;     /* string or text; 0 = none */
};

/* A time on the timeline; never decreases with the ticks of a clock. */
typedef uint64_t import_sort_place(const void *context, uint32_t clock, uint64_t ticks);

struct import_sort;

/*
 * @fd:         an empty file for the runs, borrowed; -1 = one in $TMPDIR, else /tmp, when it is needed
 * @run_bytes:  0 = IMPORT_RUN_BYTES; tests use less
 * Returns 0 or -ENOMEM.
 */
int import_sort_new(struct import_sort **ret_sort, int fd, size_t run_bytes, struct error *err);
void import_sort_free(struct import_sort *sort);

/* Returns 0, -ENOMEM, -errno of the disk. */
int import_sort_add(struct import_sort *sort, const struct import_record *record, struct error *err);

/* After the last add.  @context is borrowed until the end. */
int import_sort_begin(struct import_sort *sort, import_sort_place *place, const void *context,
                      struct error *err);

/*
 * import_sort_next() - records by their begin on the timeline; among equal ones the later end first, then the
 * one that was added first
 * @ret_end_ns: of a SPAN; of others as its begin
 * Returns 1, 0 at the end, -errno of the disk.
 */
int import_sort_next(struct import_sort *sort, struct import_record *ret_record, uint64_t *ret_begin_ns,
                     uint64_t *ret_end_ns, struct error *err);

#endif /* IMPORT_IMPORT_SORT_H */
