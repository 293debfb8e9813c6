/* SPDX-License-Identifier: MIT */
/*
 * timeline/timeline_index.h - a trace as tracks and lanes, of which any part is drawn in time
 * that does not grow with it
 *
 * Way of the data:  trace_walk -> timeline_builder -> [timeline_index] -> timeline_query -> web
 *                   timeline_cache (a file) -> [timeline_index]
 *
 * A track is a row of the picture: a thread, a CPU, a lock, a plot.  It has lanes.  A lane is a list of spans
 * that begin one after the other and never overlap, or of values at points of time.
 * docs/understand/timeline.md has the format and the reasons.
 *
 * Spans lie in a file, in pages of 256; above every eight pages lies one that holds a summary of each, and so
 * on up.  A page is written once, when it is full.  Memory: the open page of each level of each lane, and the
 * tracks; all of it at most TIMELINE_OPEN_BYTES_MAX and about 400 bytes a lane, however large the trace is.
 *
 * Times are nanoseconds since the start of the recording.  In the file they have 48 bits: recordings of more
 * than 78 hours are kept in a coarser unit.  Not thread-safe.
 */
#ifndef TIMELINE_TIMELINE_INDEX_H
#define TIMELINE_TIMELINE_INDEX_H

#include "base/byte_buffer.h"
#include "base/intern.h"
#include "base/text_view.h"
#include "timeline/timeline_item.h"
#include "timeline/timeline_pages.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct timeline_lane;
struct timeline_launch;

#define TIMELINE_HEAD_BYTES     4096                /* of the file: see timeline_directory.h */
#define TIMELINE_LANES_MAX      (UINT32_C(1) << 16) /* spans of further ones are counted and left out */
#define TIMELINE_OPEN_BYTES_MAX (UINT64_C(160) << 20)
#define TIMELINE_TITLE_MAX      4096 /* bytes; longer titles are cut */

/* X(NAME, "name in the model") */
#define TIMELINE_TRACK_KINDS(X) \
        X(THREAD, "thread")     \
        X(CPU, "cpu")           \
        X(LOCK, "lock")         \
        X(PLOT, "plot")         \
        X(FRAMES, "frames")     \
        X(DEVICE, "device")     \
        X(MEMORY, "memory")     \
        X(COUNTER, "counter")   \
        X(LOAD, "load")

enum timeline_track_kind {
#define X(name, text) TIMELINE_TRACK_##name,
        TIMELINE_TRACK_KINDS(X)
#undef X
                TIMELINE_TRACK_KIND_COUNT
};

/* The same for lanes; behind each kind, the meaning of an item's `what`. */
#define TIMELINE_LANE_KINDS(X)                                                                            \
        X(ZONES, "zones")           /* location of the trace */                                           \
        X(GHOSTS, "ghosts")         /* label of the function table, less 1 */                             \
        X(STATES, "states")         /* TIMELINE_STATE_* << 28 | value */                                  \
        X(SAMPLES, "samples")       /* stack; points in time: length 0 */                                 \
        X(MESSAGES, "messages")     /* text: timeline_index_text(); likewise */                           \
        X(CPU, "cpu")               /* thread */                                                          \
        X(HOLDER, "holder")         /* thread */                                                          \
        X(WAITERS, "waiters")       /* thread */                                                          \
        X(FRAMES, "frames")         /* number of the frame, from 1 */                                     \
        X(DEVICE, "device")         /* location */                                                        \
        X(PLOT, "plot")             /* values */                                                          \
        X(CPU_TIME, "cpu_time")     /* values: ns, see enum timeline_use */                               \
        X(UNRECORDED, "unrecorded") /* thread that was ready to run on a CPU that no recorded one had */  \
        X(TEXTS, "texts")           /* zones that have texts: timeline_index_zone_text(); is not drawn */ \
        X(PICTURES, "pictures")     /* attachment: of the frame at the same time; is not drawn */

enum timeline_lane_kind {
#define X(name, text) TIMELINE_LANE_##name,
        TIMELINE_LANE_KINDS(X)
#undef X
                TIMELINE_LANE_KIND_COUNT
};

/*
 * The states of a thread.  In a lane of states, `what` of a span is a state, shifted by TIMELINE_STATE_SHIFT,
 * and a value that depends on the state.
 */
enum timeline_state {
        TIMELINE_STATE_RUNNING = 1,  /* CPU; TIMELINE_STATE_VALUE_MAX = unknown */
        TIMELINE_STATE_WAITING = 2,  /* enum trace_wait_state */
        TIMELINE_STATE_RUNNABLE = 3, /* woken, and not yet on a CPU: the thread that woke it; 0 = not known */
        TIMELINE_STATE_PREEMPTED = 4, /* CPU that it left */
};
#define TIMELINE_STATE_SHIFT     28
#define TIMELINE_STATE_VALUE_MAX ((UINT32_C(1) << TIMELINE_STATE_SHIFT) - 1)

/*
 * CPU time since the start of the recording, which a lane of CPU_TIME adds up; the depth of the lane.  The
 * second includes the first, so that a picture paints one over the other.  The time in which CPUs are known
 * to be idle is to become the third, on its own.
 */
enum timeline_use {
        TIMELINE_USE_RUNNING, /* threads were on CPUs */
        TIMELINE_USE_WANTED,  /* threads were on CPUs, or could run and were not */
        TIMELINE_USES,
};

struct timeline_track {
        uint32_t kind;            /* enum timeline_track_kind */
        uint32_t process, thread; /* of the trace; 0 = of none */
        uint32_t
                number; /* CPU, lock, device; string of a plot, a set of frames, a pool; event of a counter */
        uint32_t lane;  /* of a device */
        uint64_t busy_ns;            /* of a device's lane: time in which one of its zones ran */
        uint32_t title, title_bytes; /* in `texts` */
        uint32_t unit,
                unit_bytes; /* in `texts`; of values: "bytes", "instructions/s"; of a device: how exact its
                               places are; empty = just a number */
};

/* A span that is added: CLOCK_MONOTONIC_RAW. */
struct timeline_raw_span {
        uint64_t begin_ns, end_ns;
        uint32_t what;
};

/* A track is found by these; compared as bytes. */
struct timeline_track_key {
        uint32_t kind;
        uint32_t owner; /* thread, process or device; 0 = none */
        uint32_t number;
};

/* How many spans of a kind of lane have each `what`, where that is the number of a name. */
struct timeline_counts {
        uint64_t *by_what; /* heap */
        size_t n;
        bool is_known; /* false also after a `what` that is too large to be a name */
};

struct timeline_index {
        struct timeline_pages pages;
        uint64_t start_ns, duration_ns; /* of the recording: CLOCK_MONOTONIC_RAW, and its length */
        unsigned unit_log2;             /* times are kept in 2^this ns */
        struct timeline_track *tracks;  /* heap; by id, from 0 */
        uint32_t n_tracks;
        struct timeline_lane **lanes; /* heap; by id, from 0 */
        uint32_t n_lanes;
        struct byte_buffer texts;
        struct intern keys;     /* struct timeline_track_key; its id is that of the track + 1 */
        struct intern messages; /* texts of messages */
        struct intern zone_texts;
        size_t tracks_capacity, lanes_capacity;
        uint64_t open_bytes_max;   /* of `pages` */
        uint64_t n_texts_left_out; /* texts of zones for which there was no room */
        uint64_t n_left_out;       /* spans beyond TIMELINE_LANES_MAX lanes, values that are not finite */
        struct timeline_launch *launches; /* heap; by their zone of a thread: timeline_launches_sort() */
        uint32_t *launches_by_device;     /* heap; indices, by their zone of a device */
        size_t launches_capacity;
        uint32_t n_launches;
        uint64_t n_launches_left_out; /* keys and zones beyond a limit */
        struct timeline_counts counts[TIMELINE_LANE_KIND_COUNT];
};

/*
 * timeline_index_init() - an empty index that grows
 * @fd:  an empty file for reading and writing; the index's from now on, also after a failure
 * Returns 0 or -ENOMEM; to be deinitialised in any case.
 */
int timeline_index_init(struct timeline_index *t, int fd, uint64_t start_ns, uint64_t duration_ns);
void timeline_index_deinit(struct timeline_index *t);

/*
 * Growing, for timeline_builder.  Ids are given in the order of arrival and stay.
 *
 * timeline_index_track()     the track of a key, new or known; returns its id, -ENOMEM or -EOVERFLOW
 * timeline_index_set_title() and _set_unit(): cut at TIMELINE_TITLE_MAX; return 0 or -ENOMEM
 * timeline_index_lane()      a new lane of a track; returns its id, -EOVERFLOW (TIMELINE_LANES_MAX), -ENOMEM
 */
int timeline_index_track(struct timeline_index *t, const struct timeline_track_key *key);
int timeline_index_set_title(struct timeline_index *t, uint32_t track, struct text_view title);
int timeline_index_set_unit(struct timeline_index *t, uint32_t track, struct text_view unit);
int timeline_index_lane(struct timeline_index *t, uint32_t track, enum timeline_lane_kind kind,
                        uint32_t depth);

/*
 * timeline_index_add_span() - the next span of a lane
 * A span that begins before the end of the previous one is moved to begin at that end; a span that ends
 * before it begins has no length.  Amortised constant time.  Returns 0, -ENOMEM, -errno of write(2).
 */
int timeline_index_add_span(struct timeline_index *t, uint32_t lane, const struct timeline_raw_span *span,
                            struct error *err);

/*
 * Adds the next value of a lane.  Returns as timeline_index_add_span().  A value that is not finite is
 * counted and left out.
 */
int timeline_index_add_value(struct timeline_index *t, uint32_t lane, uint64_t raw_ns, double value,
                             struct error *err);

/* Makes room for counts of a kind up to @what.  Returns 0, -ENOMEM, -EOVERFLOW (no number of a name). */
int timeline_counts_reserve(struct timeline_counts *counts, uint32_t what);

/* Gives the text of a message a number, for `what`; 0 if there is no room for more.  Returns 0 or -ENOMEM. */
int timeline_index_add_message(struct timeline_index *t, struct text_view text, uint32_t *ret_what);

/* The same for the text of a zone; one that has no room is counted. */
int timeline_index_add_zone_text(struct timeline_index *t, struct text_view text, uint32_t *ret_what);

/* An instant of CLOCK_MONOTONIC_RAW as lanes have it: ns since the start of the recording. */
uint64_t timeline_index_time(const struct timeline_index *t, uint64_t raw_ns);

/* Descriptions of lanes and tracks, for the model; borrowed, valid until the index grows. */
struct text_view timeline_index_title(const struct timeline_index *t, uint32_t track);
struct text_view timeline_index_unit(const struct timeline_index *t, uint32_t track);
/* The text of a message by its `what`; empty if there is none. */
struct text_view timeline_index_text(const struct timeline_index *t, uint32_t what);
struct text_view timeline_index_zone_text(const struct timeline_index *t, uint32_t what);

struct timeline_lane_facts {
        enum timeline_lane_kind kind;
        uint32_t track, depth; /* of waiters: which of those that wait at once; of samples: the event */
        bool has_values;
        uint64_t n_items;           /* spans or values */
        uint64_t first_ns, last_ns; /* its first begin and last end, since the start of the recording */
};
struct timeline_lane_facts timeline_index_lane_facts(const struct timeline_index *t, uint32_t lane);

/* "zones", "thread": what the model calls a kind. */
const char *timeline_lane_kind_name(uint32_t kind);
const char *timeline_track_kind_name(uint32_t kind);

#endif /* TIMELINE_TIMELINE_INDEX_H */
