/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_common.h - attributes that slow instances have in common, whatever they run
 *
 * Way of the data:  why_collector -> [why_common] -> why_view
 *
 * Their text, value, thread, process, the zone around them, CPU and time: each attribute is counted in all
 * slow instances and in all others, and tested.  It goes with being slow; no count can show that it is the
 * reason.  Bounded: WHY_COMMON_KEYS_MAX distinct attributes, the first that occur; instances with further
 * ones are only counted.  Not thread-safe.
 */
#ifndef ANALYZE_WHY_WHY_COMMON_H
#define ANALYZE_WHY_WHY_COMMON_H

#include "analyze/why/why_tally.h"
#include "base/byte_buffer.h"
#include "base/intern.h"
#include "base/text_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zone_words;

#define WHY_COMMON_KEYS_MAX 65536
#define WHY_COMMON_TEXT_MAX 240 /* bytes of a text that are kept; longer ones are told apart by a hash */
#define WHY_COMMON_ROWS_MAX 8
#define WHY_COMMON_SLICES   64 /* of the time of the recording */
#define WHY_COMMON_BITS     65 /* lengths of values in bits, 0 .. 64 */
#define WHY_COMMON_NO_CPU   UINT32_MAX

enum why_common_kind {                        /* id */
                       WHY_COMMON_TEXT,       /* label */
                       WHY_COMMON_VALUE,      /* value */
                       WHY_COMMON_VALUE_FROM, /* value: so much or more */
                       WHY_COMMON_THREAD,     /* thread */
                       WHY_COMMON_PROCESS,    /* process */
                       WHY_COMMON_PARENT,     /* location of the zone around */
                       WHY_COMMON_DEVICE,     /* device */
                       WHY_COMMON_LANE,       /* device; value: lane */
                       WHY_COMMON_CPU,        /* number: where they ended */
                       WHY_COMMON_FIRST,      /* they began within the first `value` ns of the recording */
                       WHY_COMMON_LAST,       /* value: ns before its end */
                       WHY_COMMON_KINDS,
};

/* All that is known of an instance. */
struct why_common_instance {
        const struct zone_words *words; /* NULL = nothing was said */
        uint64_t begin_ns;
        uint32_t thread, process;
        uint32_t parent;       /* location; 0 = none */
        uint32_t device, lane; /* 0 = it is a zone of the thread */
        uint32_t cpu;          /* WHY_COMMON_NO_CPU = not known */
};

struct why_common_row {
        enum why_common_kind kind;
        uint32_t id;
        int64_t value;
        struct text_view label; /* borrowed from the keys */
        bool is_cut;            /* the text is longer */
        uint64_t n_slow, n_typical;
        double slow_with, typical_with; /* shares */
        double p;                       /* corrected for all that was looked at */
};

struct why_common_count {
        uint64_t n[2]; /* by enum why_group */
};

struct why_common_slice {
        uint64_t n[2];
        uint64_t first_ns, last_ns; /* of slow ones */
};

struct why_common {
        uint64_t start_ns, end_ns;       /* of the recording; set before the first instance */
        uint64_t n[2];                   /* instances, by enum why_group */
        struct intern keys;              /* see why_common.c */
        struct why_common_count *counts; /* heap; by key */
        size_t counts_capacity;
        struct byte_buffer key; /* scratch */
        struct why_common_slice slices[WHY_COMMON_SLICES];
        struct why_common_count bits[WHY_COMMON_BITS]; /* of values over 0 */
        uint64_t n_left_out;                           /* instances with a key beyond the limit */
        struct why_common_row rows[WHY_COMMON_ROWS_MAX];
        size_t n_rows;
};

/* The struct is else zero. */
void why_common_init(struct why_common *c, uint64_t start_ns, uint64_t end_ns);
void why_common_deinit(struct why_common *c);

/* One more instance.  Returns 0 or -ENOMEM. */
int why_common_add(struct why_common *c, enum why_group group, const struct why_common_instance *instance);

/* After all instances: fills in the rows; rows that the fewest typical instances have come first. */
void why_common_find(struct why_common *c);

#endif /* ANALYZE_WHY_WHY_COMMON_H */
