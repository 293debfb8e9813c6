/* SPDX-License-Identifier: MIT */
/*
 * import/rows/import_trace.h - what readers of formats say -> a trace, or a recording with that in it
 *
 * Way of the data:  import_ireeprof, import_tt_device, import_trace_event ... -> import_rows ->
 *                   [import_trace] -> trace file
 *
 *      import_trace_new(&rows, ...);
 *      for each file: import_trace_begin_file(rows, path), then its reader, which calls import_rows_*()
 *      import_trace_place(rows), then import_trace_write(rows, writer)
 *
 * Processes and threads of the host become those of the trace, with zones; where spans of a thread cross, the
 * thread has further ones after it.  Spans of devices keep their ticks, and the trace gets the readings of
 * their clocks.  Not thread-safe.  Memory: as import_rows.h says.
 */
#ifndef IMPORT_IMPORT_TRACE_H
#define IMPORT_IMPORT_TRACE_H

#include "import/rows/import_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct import_clocks;
struct trace_dictionary;
struct trace_reader;
struct trace_writer;

#define IMPORT_WHY_BYTES 160

/* How many of a kind were left out. */
struct import_left_out {
        uint32_t kind; /* string */
        uint64_t n;
};

/* The outcome of one file. */
struct import_file {
        const char *path;  /* borrowed */
        char format[32];   /* "" = its reader did not say */
        uint32_t version;  /* string; 0 = none */
        uint32_t set;      /* index + 1 of the first file whose keys are of the same numbers; its own */
        uint32_t set_name; /* string; 0 = it is of no set */
        uint64_t n_rows, n_spans, n_values, n_instants, n_samples, n_switches;
        uint32_t n_tracks;
        uint64_t n_malformed, first_malformed_at;
        char first_malformed[IMPORT_WHY_BYTES];
        uint64_t n_dropped;
        bool is_cut, is_binary; /* is_binary: places in it are bytes, else lines */
        uint64_t cut_at;
        uint64_t written_ns;              /* CLOCK_REALTIME; 0 = not known */
        uint64_t late_ns;                 /* by how much its last event was before that, as it is placed */
        struct import_left_out *left_out; /* heap */
        size_t n_left_out, left_out_capacity;
        uint32_t first_clock, end_clock; /* ids of its clocks: from here, up to before there */
};

struct import_options {
        struct trace_reader *into;   /* the recording, its tables read and at its end; NULL = none */
        int runs_fd, texts_fd;       /* empty files for what waits on the disk, borrowed; 0, -1 = none */
        int spool_fd;                /* likewise, for import_rows_spool() */
        size_t run_bytes;            /* 0 = IMPORT_RUN_BYTES; tests use less */
        enum import_clock_kind said; /* what the user says of the clocks; UNKNOWN = nothing */
        uint64_t clock_error_ns;     /* the same: how wrong they may be */
        const char *command;         /* for META; may be NULL */
        const char *hyprof_version;  /* the same */
};

struct import_sums {
        uint64_t n_outside;         /* spans before or after the recording */
        uint64_t first_ns, last_ns; /* of all that was imported; 0 = nothing */
        uint64_t start_ns, end_ns;  /* of the recording; 0 = there is none */
};

/* Returns 0, -ENOMEM. */
int import_trace_new(struct import_rows **ret_rows, const struct import_options *options, struct error *err);
void import_trace_free(struct import_rows *rows);

/* @path: borrowed.  Its tracks are no other file's, but for processes and threads of the host. */
int import_trace_begin_file(struct import_rows *rows, const char *path, struct error *err);

/* After all files.  Returns as import_clocks_place() and import_boot_check(). */
int import_trace_place(struct import_rows *rows, struct error *err);

/*
 * import_trace_write() - all of the trace, with its index
 * @writer:  has its FILE chunk only
 * Returns 0, -ENOMEM, -errno.
 */
int import_trace_write(struct import_rows *rows, struct trace_writer *writer, struct error *err);

/* ------------------------------------------------------------------ the outcome; borrowed */

size_t import_trace_count_files(const struct import_rows *rows);
const struct import_file *import_trace_file(const struct import_rows *rows, size_t index);
const struct import_clocks *import_trace_clocks(const struct import_rows *rows);
const struct import_sums *import_trace_sums(const struct import_rows *rows);
const struct trace_dictionary *import_trace_dictionary(const struct import_rows *rows);

#endif /* IMPORT_IMPORT_TRACE_H */
