/* SPDX-License-Identifier: MIT */
/*
 * import/rows/import_rows.h - the contents of a foreign file in hyprof's terms, before they are in a trace
 *
 * Way of the data:  import_source -> import_ireeprof, import_tt_device, import_trace_event ... ->
 *                   [import_rows] -> import_trace -> trace file
 *
 * A reader of a format says clocks, tracks and strings first, and then what happened on tracks, in any order.
 * Times are what the file says, in ticks of the track's clock: import_trace places them when it has all
 * readings of that clock.  Ids begin at 1; 0 = none.  Text is borrowed during the call only, and need not be
 * UTF-8.  The calls return 0, or -errno after error_set(), which ends the import: no room on the disk,
 * -ENOMEM.  Faults of the file are never errors of a call: malformed, unknown or impossible rows
 * are counted with import_rows_malformed() and import_rows_left_out(), and the reader goes on.
 *
 * Not thread-safe.  Cost: 48 bytes a span on the disk, and its text; in memory the tables of clocks, tracks
 * and strings, and one run of IMPORT_RUN_BYTES that is being sorted.
 */
#ifndef IMPORT_IMPORT_ROWS_H
#define IMPORT_IMPORT_ROWS_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

struct error;
struct import_rows;

enum import_clock_kind {
        IMPORT_CLOCK_UNKNOWN, /* of the host; which one the file does not say: --clock has to */
        IMPORT_CLOCK_RAW,     /* CLOCK_MONOTONIC_RAW, hyprof's own; as all below in nanoseconds */
        IMPORT_CLOCK_MONOTONIC,
        IMPORT_CLOCK_REALTIME,
        IMPORT_CLOCK_BOOTTIME,
        IMPORT_CLOCK_TSC, /* ticks of `period_ns` */
        IMPORT_CLOCK_OWN, /* of a device, or with a beginning of its own: by its readings, or not at all */
};

struct import_clock {
        enum import_clock_kind kind;
        double period_ns;      /* nominal length of a tick; 0 = unknown, of the host's clocks 1 */
        struct text_view name; /* "chip 0"; shown */
        /*
         * Not 0: OWN, without readings: its ticks are times of this clock of the file, as far as the file
         * knows, which states how wrong they may be; UINT64_MAX: it does not know.
         */
        uint32_t of;
        uint64_t error_ns;
};

/* A clock was read between two readings of a clock of the host. */
struct import_reading {
        uint32_t clock;
        enum import_clock_kind host; /* RAW ... TSC */
        uint64_t ticks;
        uint64_t host_begin, host_end; /* equal: how long it took is not known */
        uint32_t epoch;                /* a counter that was set back, or jumped, begins a new one */
};

enum import_track_kind {
        IMPORT_TRACK_PROCESS,   /* of the host; number: its pid */
        IMPORT_TRACK_THREAD,    /* of the host; number: its tid; its parent is a PROCESS */
        IMPORT_TRACK_DEVICE,    /* number: its ordinal; below a PROCESS, or alone */
        IMPORT_TRACK_CORE,      /* these below a DEVICE, or each other */
        IMPORT_TRACK_PROCESSOR, /* of a core */
        IMPORT_TRACK_STREAM,    /* or queue */
        IMPORT_TRACK_OTHER,
};

struct import_track {
        enum import_track_kind kind;
        uint32_t parent; /* 0 = none */
        uint32_t clock;
        uint64_t number;
        bool has_number;
        struct text_view name; /* empty = by its kind and number */
};

/* Spans and host zones with the same key of the same kind belong together. */
struct import_key {
        uint32_t kind; /* string: "correlation", "run host id"; 0 = there is no key */
        uint64_t value;
};

/* As `kind`: several keys, which import_rows_add_key() put together. */
#define IMPORT_KEYS UINT32_MAX

/* Work with a beginning and an end.  Spans of one track may cross. */
struct import_span {
        uint32_t track, name; /* string */
        uint32_t file, line;  /* string; where the source of the zone is */
        uint64_t begin, end;  /* begin <= end */
        struct import_key key;
        uint32_t text; /* string or text: its arguments as the file has them; 0 = none */
        /*
         * For a span of a thread without a key: it nests only in the span of its thread with the id of its
         * parent, and has a further lane where that is not open, or another one is in it.  0 = not said: it
         * nests by time.
         */
        uint32_t id, parent;
};

enum import_value_kind { IMPORT_VALUE_DOUBLE, IMPORT_VALUE_SIGNED, IMPORT_VALUE_UNSIGNED };

/* A counter, a metric, or a sum that the device made. */
struct import_value {
        uint32_t track, name; /* string */
        uint32_t unit;        /* string; 0 = a number */
        uint64_t time;
        enum import_value_kind kind;
        uint64_t bits; /* of that kind */
};

struct import_instant {
        uint32_t track, name; /* string */
        uint32_t text;        /* string or text; 0 = none */
        uint32_t flow;        /* enum trace_flow_phase: on a thread no message, but that; its id is the key */
        uint64_t time;
        struct import_key key;
};

int import_rows_string(struct import_rows *rows, struct text_view text, uint32_t *ret_id, struct error *err);

/*
 * import_rows_text() - a text of spans and instants that is hardly twice in a file, such as arguments
 * Its id is good for the `text` of these only.  It is kept on the disk, other strings are in memory.
 */
int import_rows_text(struct import_rows *rows, struct text_view text, uint32_t *ret_id, struct error *err);

int import_rows_clock(struct import_rows *rows, const struct import_clock *clock, uint32_t *ret_id,
                      struct error *err);
int import_rows_reading(struct import_rows *rows, const struct import_reading *reading, struct error *err);
/* A track that was there already, by its kind, parent, clock and number, or name, is that one. */
int import_rows_track(struct import_rows *rows, const struct import_track *track, uint32_t *ret_id,
                      struct error *err);

/* Names that the file says later: the last one counts. */
int import_rows_name_track(struct import_rows *rows, uint32_t track, struct text_view name,
                           struct error *err);

/*
 * import_rows_add_key() - one more key of a span on a thread, which may have several
 * @key:  as the span will have it; the first one goes into it as it is
 * Memory: 24 bytes for each key of spans that have several; IMPORT_KEYS_MAX keys, further ones are counted.
 */
#define IMPORT_KEYS_MAX (UINT32_C(1) << 20)
int import_rows_add_key(struct import_rows *rows, struct import_key *key, struct import_key further,
                        struct error *err);

int import_rows_span(struct import_rows *rows, const struct import_span *span, struct error *err);
int import_rows_value(struct import_rows *rows, const struct import_value *value, struct error *err);
int import_rows_instant(struct import_rows *rows, const struct import_instant *instant, struct error *err);

/*
 * import_rows_namesake() - which of the processes with that number one is, of those in all files
 * @who:  a hash of what tells them apart
 * @ret_index: 0 for the first one, which is the process of that number.  Returns 0, or -errno with words.
 */
int import_rows_namesake(struct import_rows *rows, uint64_t number, uint64_t who, uint32_t *ret_index,
                         struct error *err);

/* ------------------------------------------------------------------ about the file, for the table IMPORTS */

/* @version: as the file says it; may be empty. */
int import_rows_file(struct import_rows *rows, const char *format, struct text_view version,
                     struct error *err);
/*
 * import_rows_join_set() - files of the same format and @name are parts of one: their keys are the same
 * After import_rows_file(), before the first key.
 */
int import_rows_join_set(struct import_rows *rows, struct text_view name, struct error *err);

/* When the file was last written, by CLOCK_REALTIME; 0 = not known. */
void import_rows_written(struct import_rows *rows, uint64_t realtime_ns);
void import_rows_count_row(struct import_rows *rows);

/* @at: line, or byte of a binary file.  @why: lives as long as @rows.  The first one is kept in full. */
void import_rows_malformed(struct import_rows *rows, uint64_t at, const char *why);
void import_rows_left_out(struct import_rows *rows, const char *kind, uint64_t n);

/* Losses that the program or device states itself. */
void import_rows_dropped(struct import_rows *rows, uint64_t n);

/* Places in this file are bytes, not lines; for people only. */
void import_rows_binary(struct import_rows *rows, bool is_binary);

/* The file ends in the middle of something: read up to there. */
void import_rows_cut(struct import_rows *rows, uint64_t at);

#endif /* IMPORT_IMPORT_ROWS_H */
