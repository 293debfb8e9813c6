/* SPDX-License-Identifier: MIT */
/*
 * merge/merge_input.h - one of the traces that become one
 *
 * Way of the data:  file -> trace_reader -> [merge_input] -> merge_clock, merge_tables, merge_events
 *
 * A part is one recording: a trace of a recorder has one, a trace that was merged before has several.  Owns
 * its reader and arrays; views point into the reader's dictionary.  Not thread-safe.
 */
#ifndef MERGE_MERGE_INPUT_H
#define MERGE_MERGE_INPUT_H

#include "base/text_view.h"
#include "format/trace_spec.h"
#include "merge/merge_exchange.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct trace_dictionary;
struct trace_reader;

#define MERGE_LABEL_BYTES 192

struct merge_part {
        struct text_view hostname, boot_id, command, trace;
        char label[MERGE_LABEL_BYTES]; /* each once in the result */
        uint64_t start_ns, end_ns;     /* on the input's timeline; 0 = unknown */
        int64_t offset_ns;             /* was added to its recorder's clock at start_ns; see merge_clock */
        int64_t drift;                 /* in 2^-60: so much was added as well, of the time after that */
        uint64_t error_ns;
        uint32_t clock; /* enum trace_alignment */
        uint32_t first_cpu, n_cpus;
        uint64_t cpu_shift; /* to be added to the input's numbers of CPUs, modulo 2^64 */
        uint32_t id;        /* in the result's RECORDINGS */
};

struct merge_input {
        const char *path; /* borrowed */
        struct trace_reader *reader;
        const struct trace_dictionary *dictionary; /* the reader's, complete */
        struct merge_part *parts;                  /* heap */
        uint32_t n_parts;
        uint64_t first_ns, last_ns; /* of its events, by the headers of chunks; 0 = it has none */
        uint64_t start_ns;          /* of the recording, or its first event */
        bool has_realtime;
        int64_t realtime_ns;     /* CLOCK_REALTIME when its clock was 0 */
        uint64_t clock_error_ns; /* of `realtime_ns`: as the kernel states, plus the drift while recording */
        bool is_synchronised;    /* the kernel says that its CLOCK_REALTIME was */
        bool has_other_clock;    /* CLOCK_REALTIME shows: an input of the same boot has another clock */
        bool is_placed;          /* `shift_ns` is known */
        int64_t shift_ns;        /* added to all its times, see merge_input_time() */
        int64_t drift;           /* and in 2^-60 so much of the time after `drift_from_ns` */
        uint64_t drift_from_ns;
        struct merge_relation *relations; /* heap */
        uint32_t n_relations;
        struct merge_link link;           /* the best to an input that is placed, until this one is */
        const struct merge_input *linked; /* to which */
        uint32_t n_readings;              /* by which it was placed; 0 = in another way */
        uint32_t *ids[TRACE_TABLE_COUNT]; /* heap: the result's ids by its own; [0] is 0 */
        uint32_t *labelled; /* heap: by string, the result's string with the label added; 0 = not made yet */
};

/*
 * merge_input_open() - read the tables
 * @path:  "-" for standard input
 * Returns 0, what trace_reader_open() returns, -ENOMEM, -errno of read(2).  To be closed in any case.
 */
int merge_input_open(struct merge_input *in, const char *path, struct error *err);
void merge_input_close(struct merge_input *in);

/* The index of the part that a process belongs to. */
uint32_t merge_input_part_of(const struct merge_input *in, uint32_t process);

/* A time of the input on the result's timeline: never beyond its ends, so order is kept.  0 stays unknown. */
static inline uint64_t merge_input_time(const struct merge_input *in, uint64_t time_ns)
{
        uint64_t to_ns;

        if (time_ns == 0)
                return 0;
        if (in->drift != 0)
                return merge_line_at(&(struct merge_line){ .x_ns = in->drift_from_ns,
                                                           .y_ns = in->drift_from_ns + (uint64_t)in->shift_ns,
                                                           .drift = in->drift },
                                     time_ns);
        if (in->shift_ns < 0) {
                uint64_t back_ns = (uint64_t)-in->shift_ns;

                return time_ns > back_ns ? time_ns - back_ns : 1;
        }
        return __builtin_add_overflow(time_ns, (uint64_t)in->shift_ns, &to_ns) ? UINT64_MAX : to_ns;
}

/* The result's id of a row. */
static inline uint32_t merge_input_id(const struct merge_input *in, unsigned table, uint64_t id)
{
        return in->ids[table - TRACE_TABLE_FIRST][id];
}

#endif /* MERGE_MERGE_INPUT_H */
