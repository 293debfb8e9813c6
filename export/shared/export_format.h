/* SPDX-License-Identifier: MIT */
/*
 * export/shared/export_format.h - a trace in the format of another tool
 *
 * Way of the data:  loaded_trace, trace_walk -> [export_format]: export_firefox,
 *                   export_perfetto, ... -> file, pipe
 *
 * Each format is one file export/export_NAME.c (and its parts), with one function of the type
 * export_function.  Events are written as they are walked: memory is the tables, and what the format forces
 * to stand apart (each says how much), never the events.
 */
#ifndef EXPORT_SHARED_EXPORT_FORMAT_H
#define EXPORT_SHARED_EXPORT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct error;
struct loaded_trace;
struct trace_filter;
struct trace_walk;

struct export_options {
        const struct trace_filter *filter; /* NULL = everything */
        uint32_t event; /* whose samples, for formats that hold those of one; never 0 if there are samples */
        bool zones_as_frames;   /* the zone path as the outermost frames of each stack, as "zone:NAME" */
        bool shows_native;      /* of pprof and callgrind: whole call stacks, also of Python programs */
        bool wall;              /* of pprof: the part of the wall time of each stack, by a pass more */
        bool waits;             /* of folded, flamegraph: waits as well, and all in nanoseconds */
        bool no_waits;          /* of firefox, perfetto, chrome: no time off a CPU, no arrows of wake-ups */
        uint64_t n_markers_max; /* of firefox: the shortest zones are left out beyond it; 0 = all */
};

/* Why something of the trace that the filter wants is not in the file: X(NAME, "words") */
#define EXPORT_LEFT_OUT_REASONS(X)                                                                        \
        X(SHORT_ZONES, "zones, shorter than those that were written (--max-markers)")                     \
        X(SAMPLES, "samples")                                                                             \
        X(OTHER_EVENTS, "samples of other events (--event)")                                              \
        X(ZONES, "zones")                                                                                 \
        X(SWITCHES, "context switches")                                                                   \
        X(MESSAGES, "messages")                                                                           \
        X(PLOTS, "values of plots")                                                                       \
        X(FRAMES, "frames")                                                                               \
        X(PICTURES, "pictures of frames")                                                                 \
        X(MEMORY, "events of memory")                                                                     \
        X(LOCKS, "events of locks")                                                                       \
        X(DEVICES, "events of devices")                                                                   \
        X(DEVICE_ZONES, "zones of devices: when they were is not known, or shorter ones (--max-markers)") \
        X(DEVICE_VALUES, "values and moments of devices")                                                 \
        X(KEYS, "keys of zones")                                                                          \
        X(FLOWS, "events of flows")                                                                       \
        X(NO_MEMORY_BLOCK, "frees of memory whose allocation is unknown")                                 \
        X(SOURCES, "source texts, larger than the format allows")                                         \
        X(LONG_STACKS, "outermost frames of call stacks, deeper than the format allows")

enum export_left_out {
#define X(name, words) EXPORT_LEFT_OUT_##name,
        EXPORT_LEFT_OUT_REASONS(X)
#undef X
                EXPORT_LEFT_OUT_COUNT
};

/*
 * The totals that were written, in the terms of hyprof's own reports, so that a consumer's totals
 * can be compared.
 */
struct export_totals {
        uint64_t n_samples;
        uint64_t weight; /* of these samples */
        uint64_t n_zones;
        uint64_t n_waits;               /* beside the samples: of formats that have them only if asked */
        uint64_t n_waits_without_stack; /* of these */
        uint64_t n_arrows;              /* from threads that ended waits to those that waited */
        bool is_folded;                 /* native code counts for the Python function that called it */
        uint64_t left_out[EXPORT_LEFT_OUT_COUNT]; /* by reason; the command says them */
};

/* Words that fit after a number. */
const char *export_left_out_words(enum export_left_out reason);

/*
 * export_totals_leave_out() - counts what went through a walk and has no place in the file
 * @reasons:  a bit (1 << EXPORT_LEFT_OUT_...) each of SAMPLES, ZONES, SWITCHES, MESSAGES, PLOTS, FRAMES,
 *            MEMORY, LOCKS, DEVICES, DEVICE_VALUES, KEYS, FLOWS
 */
void export_totals_leave_out(struct export_totals *totals, const struct trace_walk *walk, uint32_t reasons);

/*
 * Writes to @out, from its beginning, without seeking.  Returns 0, -ENOMEM, -EIO of @out, what
 * loaded_trace_walk() returns.
 */
typedef int export_function(struct loaded_trace *trace, const struct export_options *options, FILE *out,
                            struct export_totals *ret_totals, struct error *err);

export_function export_firefox, export_perfetto, export_speedscope, export_pprof, export_folded,
        export_chrome, export_perf_data, export_callgrind, export_flamegraph;

struct export_format {
        const char *name;      /* "firefox" */
        const char *extension; /* of the file that is written by default: ".json.gz" */
        const char *help;      /* who opens it */
        const char *next;      /* for the line "next: ...", which ends with the file */
        export_function *write;
        bool is_binary;    /* nothing for a terminal, even without gzip */
        bool is_recording; /* what its own recorder writes, which keeps it from other users */
        bool reads_packed; /* its reader takes files that gzip packed */
};

/* All formats, in the order in which they are listed; ends with one whose name is NULL. */
const struct export_format *export_formats(void);

#endif /* EXPORT_SHARED_EXPORT_FORMAT_H */
