/* SPDX-License-Identifier: MIT */
/*
 * export/firefox/firefox_profile.h - one Firefox profile that is being made, between its parts
 *
 * Way of the data:  export_firefox -> [firefox_profile] -> firefox_threads, firefox_counters -> file
 *
 * While the trace is walked through, samples and markers go into chains of the spool; they are written when
 * it is over.  Stacks and strings are rows of firefox_tables from the beginning on.
 */
#ifndef EXPORT_FIREFOX_FIREFOX_PROFILE_H
#define EXPORT_FIREFOX_FIREFOX_PROFILE_H

#include "analyze/walk/trace_walk.h"
#include "export/firefox/firefox_tables.h"
#include "export/shared/event_spool.h"
#include "export/shared/json_out.h"
#include "export/shared/live_blocks.h"
#include "export/shared/lock_waits.h"
#include "export/shared/longest_zones.h"
#include "export/shared/process_names.h"

#include <stdbool.h>
#include <stdint.h>

struct error;
struct export_options;
struct export_totals;
struct loaded_trace;

#define FIREFOX_DIGITS_OF_MS 6 /* nanoseconds as milliseconds */

/* In the spool; of a wait the weight is nanoseconds. */
struct firefox_sample {
        uint64_t time_ns;
        uint64_t cpu_ns; /* on a CPU since the sample before */
        uint64_t weight;
        uint32_t stack; /* row, counted from 1 */
        uint32_t is_wait;
};

/* The types of markers, each a schema: X(NAME, "name") */
#define FIREFOX_MARKERS(X)    \
        X(ZONE, "Zone")       \
        X(MESSAGE, "Message") \
        X(FRAME, "Frame")     \
        X(LOCK, "Lock")       \
        X(DEVICE, "Device")

enum firefox_marker_type {
#define X(name, words) FIREFOX_MARKER_##name,
        FIREFOX_MARKERS(X)
#undef X
                FIREFOX_MARKER_COUNT
};

/* These may be too many: the longest are kept. */
static inline bool firefox_marker_is_limited(uint32_t type)
{
        return type == FIREFOX_MARKER_ZONE || type == FIREFOX_MARKER_LOCK || type == FIREFOX_MARKER_DEVICE;
}

struct firefox_marker {
        uint64_t begin_ns, end_ns; /* an instant: the same */
        uint64_t on_cpu_ns;        /* ZONE */
        int64_t value;             /* ZONE: if has_value */
        uint64_t words_offset;     /* in the chain of words, if there are any */
        uint32_t called_bytes;     /* ZONE: what this one is called instead */
        uint32_t text_bytes;
        uint32_t name;     /* string's index */
        uint32_t place;    /* ZONE, DEVICE: "file:line", string's index + 1; 0 = not known */
        uint32_t type;     /* enum firefox_marker_type */
        uint32_t severity; /* MESSAGE */
        uint32_t device;   /* DEVICE: its name, string's index */
        uint32_t stack;    /* MESSAGE: row, counted from 1; 0 = none */
        uint8_t has_value, is_instant, is_unclosed, unused[5];
};

struct firefox_thread {
        uint64_t cpu_ns;       /* until the sample before */
        uint64_t last_ns;      /* of the sample before */
        uint64_t callstack_ns; /* of the next event, if it comes at this time */
        uint64_t weight;       /* of its samples */
        uint32_t callstack;
        bool has_samples;
};

/* A row of graphs; no padding: compared as bytes. */
struct firefox_counter_key {
        uint32_t process;
        uint32_t plot;  /* string; if event is 0 */
        uint32_t event; /* sample event */
};

/* From the first to the last of something; `first_ns` is UINT64_MAX if there is none. */
struct firefox_span {
        uint64_t first_ns, last_ns;
};

static inline void firefox_span_add(struct firefox_span *s, uint64_t begin_ns, uint64_t end_ns)
{
        if (begin_ns < s->first_ns)
                s->first_ns = begin_ns;
        if (end_ns > s->last_ns)
                s->last_ns = end_ns;
}

struct firefox_sequence {
        uint64_t last_ns; /* mark of a frame */
        bool any;
};

struct firefox_profile {
        struct loaded_trace *trace;
        const struct export_options *options;
        struct export_totals *totals;
        struct trace_walk walk;
        struct event_spool spool;
        struct firefox_tables tables;
        struct process_names names;
        struct lock_waits lock_waits;
        struct longest_zones longest;
        uint64_t n_short[FIREFOX_MARKER_COUNT]; /* markers that are left out */
        struct live_blocks blocks;
        struct intern counters;      /* struct firefox_counter_key */
        struct intern sequence_keys; /* of frames: struct firefox_counter_key, `event` 1 if it has begins */
        struct firefox_sequence *sequences; /* heap; by id - 1 */
        size_t sequences_capacity;
        uint32_t *place_names;          /* heap; by location - 1: string's index + 1 of "file:line" */
        struct firefox_thread *threads; /* heap; by id - 1 */
        struct json_out json;
        struct firefox_span samples, markers; /* of all threads */
        double sample_weight;                 /* what weighs 1: of samples the mean weight */
        uint64_t wait_weight_ns;              /* of waits the time between samples */
};

/* The chains of the spool. */
static inline uint32_t firefox_samples_chain(uint32_t thread)
{
        return 2 * (thread - 1);
}

static inline uint32_t firefox_markers_chain(uint32_t thread)
{
        return 2 * (thread - 1) + 1;
}

static inline uint32_t firefox_words_chain(const struct firefox_profile *p)
{
        return 2 * p->names.n_threads;
}

static inline uint32_t firefox_memory_chain(const struct firefox_profile *p, uint32_t process)
{
        return firefox_words_chain(p) + process;
}

/* @counter: counted from 1 */
static inline uint32_t firefox_counter_chain(const struct firefox_profile *p, uint32_t counter)
{
        return firefox_words_chain(p) + p->names.n_processes + counter;
}

/* Milliseconds since the beginning of the recording. */
void firefox_profile_put_ms(struct firefox_profile *p, uint64_t time_ns);

#endif /* EXPORT_FIREFOX_FIREFOX_PROFILE_H */
