/* SPDX-License-Identifier: MIT */
/*
 * analyze/stats/frame_stats.h - marks of frames -> how long frames took
 *
 * Way of the data:  event_walk -> [frame_stats] -> frames_view
 *
 * A set of frames has a name.  With FRAME_MARK a frame lasts from one mark to the next, of whatever thread;
 * with FRAME_BEGIN and FRAME_END from the begin to the end.  Memory: a histogram and FRAME_STATS_SLOWEST
 * frames a set, of which there are FRAME_STATS_SETS_MAX.
 *
 * The first FRAME_STATS_SPLIT_MAX sets also have the data that frame_zones needs: the zones that are open
 * when a frame is marked, and the times of frames with gaps, FRAME_STATS_SPANS_MAX of them.
 */
#ifndef ANALYZE_STATS_FRAME_STATS_H
#define ANALYZE_STATS_FRAME_STATS_H

#include "analyze/trace/histogram.h"
#include "analyze/trace/id_set.h"
#include "analyze/trace/zone_paths.h"
#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct ordered_event;
struct trace_filter;

#define FRAME_STATS_SETS_MAX  (UINT32_C(1) << 14)
#define FRAME_STATS_SLOWEST   10
#define FRAME_STATS_SPLIT_MAX 16
#define FRAME_STATS_SPANS_MAX (UINT32_C(1) << 20)

struct slow_frame {
        uint64_t begin_ns, duration_ns;
        uint64_t number; /* of its set, from 1 */
};

struct frame_span {
        uint64_t begin_ns, end_ns;
        uint64_t before_ns; /* of all spans before this one */
};

/* Compared as bytes. */
struct frame_set_key {
        uint32_t name;     /* string; 0 = the program's main frames */
        uint32_t has_gaps; /* 1: of FRAME_BEGIN and FRAME_END */
};

struct frame_set {
        struct histogram durations_ns;
        struct slow_frame slowest[FRAME_STATS_SLOWEST]; /* the slowest first; among equal ones, the first */
        uint32_t n_slowest;
        uint64_t n_marks; /* or beginnings */
        uint64_t first_ns, last_ns;
        uint64_t begin_ns; /* of the frame that is open, if `is_open` */
        bool is_open;
        uint64_t n_unmatched; /* ends without a beginning, beginnings without an end */
        uint32_t marker;  /* the thread that marks most of the frames, if one marks more than half of them */
        uint64_t n_votes; /* for `marker`, less those against it */
        struct id_set around;     /* zone paths that were open at a mark */
        struct frame_span *spans; /* heap; of frames with gaps, in order */
        size_t n_spans, spans_capacity;
        bool is_cut; /* there were too many frames: later ones have no span */
};

struct frame_stats {
        struct intern keys;     /* struct frame_set_key */
        struct frame_set *sets; /* heap; by id - 1 */
        uint32_t n_sets;
        size_t capacity;
        /* the paths in `around`; empty unless frame_stats_take() filled it */
        struct zone_paths paths;
        /* borrowed: the same while events come; NULL = events have no paths */
        const struct zone_paths *naming;
        size_t n_spans;  /* of all sets */
        uint64_t n_lost; /* events of sets beyond the limit */
        uint64_t n_late; /* see event_order */
};

/* How long the frames of a set that are split among zones take together. */
uint64_t frame_set_split_ns(const struct frame_set *set, const struct frame_set_key *key);

/* How much of the time before @time_ns is in these frames. */
uint64_t frame_set_time_before(const struct frame_set *set, const struct frame_set_key *key,
                               uint64_t time_ns);

void frame_stats_init(struct frame_stats *s);
void frame_stats_deinit(struct frame_stats *s);

/* Events of the ops FRAME_MARK, _BEGIN and _END in the order of time.  Returns 0 or -ENOMEM. */
int frame_stats_add(struct frame_stats *s, const struct ordered_event *event);
/* An open frame does not count. */
void frame_stats_finish(struct frame_stats *s);

/*
 * For a whole trace; to be deinitialised in any case.  Returns 0, -ENOMEM, what loaded_trace_walk() returns.
 */
int frame_stats_take(struct frame_stats *s, struct loaded_trace *trace, const struct trace_filter *filter,
                     struct error *err);

#endif /* ANALYZE_STATS_FRAME_STATS_H */
