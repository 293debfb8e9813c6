/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/fake_import_rows.h - import_rows that keeps all rows in memory, to look at, and makes no trace
 *
 * Way of the data:  import_ireeprof, import_tt_device ... -> [fake_import_rows] -> tests
 *
 * A test that uses it is linked with it in place of import_trace.c, so it cannot use that as well.  A reader
 * that breaks the contract of import_rows.h fails the test at once: an id that was not given, a span that
 * ends before it begins, a parent of the wrong kind.
 */
#ifndef TESTS_UNIT_FAKE_IMPORT_ROWS_H
#define TESTS_UNIT_FAKE_IMPORT_ROWS_H

#include "base/byte_buffer.h"
#include "base/intern.h"
#include "import/rows/import_namesakes.h"
#include "import/rows/import_rows.h"

#include <stddef.h>
#include <stdint.h>

struct error;
struct import_source;

struct fake_left_out {
        const char *kind;
        uint64_t n;
};

/* Ids count from 1: the clock with id 2 is clocks[1].  Names are strings of `strings`, 0 = empty. */
struct import_rows {
        struct intern strings;
        struct import_namesakes namesakes;
        struct fake_import_clock {
                enum import_clock_kind kind;
                double period_ns;
                uint32_t name, of;
                uint64_t error_ns;
        } * clocks;
        struct import_reading *readings;
        struct fake_import_track {
                enum import_track_kind kind;
                uint32_t parent, clock, name;
                uint64_t number;
                bool has_number;
        } * tracks;
        struct import_span *spans;
        struct import_value *values;
        struct import_instant *instants;
        struct import_key further_keys[64]; /* of spans that have several: all but the first */
        size_t n_clocks, n_readings, n_tracks, n_spans, n_values, n_instants, n_further_keys;

        const char *format; /* NULL: import_rows_file() was not called */
        uint32_t version;   /* string */
        uint32_t set;       /* string; 0 = of none */
        uint64_t written_ns;
        uint64_t n_rows, n_malformed, first_malformed_at, n_dropped, cut_at;
        const char *first_malformed_why; /* NULL: nothing is malformed */
        bool is_cut;
        struct fake_left_out left_out[64];
        size_t n_left_out;

        size_t capacities[6]; /* of the arrays, in their order */
        int fails_after; /* if positive: this call of those that return int, counted from 1, is -ENOSPC */
        int n_calls;
};

/* The caller's storage; empty.  _deinit() frees all. */
void fake_import_rows_init(struct import_rows *rows);
void fake_import_rows_deinit(struct import_rows *rows);

/* Text of a string's id; "" for 0.  The results of the last four calls are valid, until strings are added. */
const char *fake_import_rows_text(const struct import_rows *rows, uint32_t string);

/*
 * The id of a track by the way to it, with names between slashes: "device 0/queue 1"; one without a name
 * counts as its kind and number, "device 0".  0 if there is none; of several the first.
 */
uint32_t fake_import_rows_find_track(const struct import_rows *rows, const char *path);

/* @track 0: of all tracks.  @name NULL: of all names. */
uint64_t fake_import_rows_count_spans(const struct import_rows *rows, uint32_t track, const char *name);
uint64_t fake_import_rows_sum_spans(const struct import_rows *rows, uint32_t track, const char *name);
uint64_t fake_import_rows_count_values(const struct import_rows *rows, uint32_t track, const char *name);
uint64_t fake_import_rows_count_instants(const struct import_rows *rows, uint32_t track, const char *name);

/* The @nth of them, from 0, in the order in which they came; NULL if there are fewer. */
const struct import_span *fake_import_rows_span(const struct import_rows *rows, uint32_t track,
                                                const char *name, uint64_t nth);
const struct import_value *fake_import_rows_value(const struct import_rows *rows, uint32_t track,
                                                  const char *name, uint64_t nth);
const struct import_instant *fake_import_rows_instant(const struct import_rows *rows, uint32_t track,
                                                      const char *name, uint64_t nth);

/* How many rows of this kind were left out; 0 also if the kind was never named. */
uint64_t fake_import_rows_left_out(const struct import_rows *rows, const char *kind);

/*
 * All rows as text, a line each, sorted, ids replaced by names: two files with the same contents in another
 * order give the same.  Without format, version, and places in the file.
 */
void fake_import_rows_dump(const struct import_rows *rows, struct byte_buffer *text);

struct fake_import_reader {
        bool (*recognise)(struct text_view head);
        int (*read)(struct import_source *source, struct import_rows *rows, struct error *err);
};

/* Read a file, bytes or a text into rows that they initialise.  Return as the reader; -EINVAL: not its. */
int fake_import_rows_read_path(struct import_rows *rows, const struct fake_import_reader *reader,
                               const char *path, struct error *err);
int fake_import_rows_read_bytes(struct import_rows *rows, const struct fake_import_reader *reader,
                                const void *bytes, size_t n_bytes, struct error *err);
int fake_import_rows_read_text(struct import_rows *rows, const struct fake_import_reader *reader,
                               const char *text, struct error *err);

#endif /* TESTS_UNIT_FAKE_IMPORT_ROWS_H */
