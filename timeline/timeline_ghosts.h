/* SPDX-License-Identifier: MIT */
/*
 * timeline/timeline_ghosts.h - samples drawn as zones: how long functions were on the call stack
 *
 * Way of the data:  trace_walk, function_table -> [timeline_ghosts] -> timeline_index
 *
 * Samples that follow each other and have their outer functions in common are one span for each of these
 * functions, by depth.  A function that the next sample does not have any more ends there.  A thread that is
 * switched off its CPU has the call stack of the switch until it comes back, if one was recorded; else all
 * functions end. They end as well if no sample follows within some periods of sampling.
 *
 * Functions that were inlined have a depth of their own.  Only samples of the first event count.  Symbols
 * that the dictionary gets after the initialisation are used only if `names` supplies them. Memory: a few
 * bytes for each depth of a thread.
 */
#ifndef TIMELINE_TIMELINE_GHOSTS_H
#define TIMELINE_TIMELINE_GHOSTS_H

#include "analyze/samples/function_table.h"
#include "timeline/timeline_lane_list.h"

#include <stddef.h>
#include <stdint.h>

struct error;
struct thread_wait;
struct trace_dictionary;
struct trace_event;

#define TIMELINE_GHOST_DEPTH_MAX 256 /* outermost functions of a call stack; further ones are left out */

struct timeline_ghost {
        uint64_t begin_ns;
        uint32_t label;
};

struct timeline_thread_ghosts {
        struct timeline_lane_list lanes;
        struct timeline_ghost *open; /* heap; the outermost first */
        size_t capacity;
        uint32_t n_open;
        uint64_t until_ns; /* the functions of `open` are known to run until then */
};

/* The functions of frames whose names come while the trace grows. */
struct timeline_ghost_names {
        /*
         * The labels of a frame's functions by now, the outermost first; more than @n_max are left out.
         * Returns how many, or -ENOMEM.
         */
        int (*functions)(void *context, uint32_t frame, uint32_t *labels, uint32_t n_max);
        void *context;
};

struct timeline_ghosts {
        struct timeline_index *index;
        const struct trace_dictionary *dictionary;
        struct function_table functions;
        struct timeline_ghost_names names;      /* used in place of `functions` unless NULL */
        uint32_t event;                         /* whose samples count; 0 = there is none */
        uint64_t gap_ns;                        /* between two samples, at most */
        uint32_t *chain;                        /* heap; labels of a call stack, the outermost first */
        uint32_t *frames;                       /* heap */
        struct timeline_thread_ghosts *threads; /* heap; by thread id - 1 */
        size_t threads_capacity;
        uint32_t n_threads;
};

/* To be deinitialised in any case.  Returns 0, -ENOMEM, -EOVERFLOW. */
int timeline_ghosts_init(struct timeline_ghosts *g, struct timeline_index *index,
                         const struct trace_dictionary *dictionary);
void timeline_ghosts_deinit(struct timeline_ghosts *g);

/* Makes room for the threads 1 .. @n_threads.  Returns 0 or -ENOMEM. */
int timeline_ghosts_reserve(struct timeline_ghosts *g, uint32_t n_threads);

/*
 * Take a sample of any event, a wait that is over, the end of a thread.  Return as
 * timeline_index_add_span().
 */
int timeline_ghosts_sample(struct timeline_ghosts *g, uint32_t track, uint32_t thread,
                           const struct trace_event *event, struct error *err);
int timeline_ghosts_wait(struct timeline_ghosts *g, uint32_t track, uint32_t thread,
                         const struct thread_wait *wait, struct error *err);
int timeline_ghosts_finish(struct timeline_ghosts *g, uint32_t track, uint32_t thread, uint64_t end_ns,
                           struct error *err);

#endif /* TIMELINE_TIMELINE_GHOSTS_H */
