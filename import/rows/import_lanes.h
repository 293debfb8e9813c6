/* SPDX-License-Identifier: MIT */
/*
 * import/rows/import_lanes.h - spans of threads, some of which cross, -> begins and ends of zones that nest
 *
 * Way of the data:  import_sort -> import_trace -> [import_lanes] -> import_events
 *
 * A thread has a lane for its zones, and further ones, which are threads of their own, for spans that cross
 * those that are open: the first lane where a span fits.  Spans that say which one they are a part of nest in
 * that one only, or are alone on a lane.  Not thread-safe.
 */
#ifndef IMPORT_IMPORT_LANES_H
#define IMPORT_IMPORT_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMPORT_LANES_MAX  256  /* of a thread */
#define IMPORT_NESTED_MAX 4095 /* zones in each other, as in a recording */

/* A zone that is open. */
struct import_open {
        uint64_t end_ns;
        uint32_t id; /* of struct import_nesting */
};

struct import_lane {
        uint32_t thread;          /* row of THREADS */
        uint32_t next;            /* of the same thread: index + 1; 0 = none */
        struct import_open *open; /* heap: the innermost last */
        size_t n_open, capacity;
};

struct import_end {
        uint64_t end_ns, sequence;
        uint32_t lane; /* index */
};

/* Which span it is, and which one it is a part of; all 0 = not said: it nests by time. */
struct import_nesting {
        uint32_t id, parent;
};

/* Zero-initialised is empty and valid. */
struct import_lanes {
        struct import_lane *lanes; /* heap */
        uint32_t n_lanes;
        size_t lanes_capacity;
        struct import_end *ends; /* heap: of all open zones, a binary heap with the earliest first */
        size_t n_ends, ends_capacity;
        uint64_t sequence;
};

enum import_fit {
        IMPORT_FIT_NESTED,   /* into `*ret_lane` */
        IMPORT_FIT_NONE,     /* it crosses zones of all lanes: a new one has to be added */
        IMPORT_FIT_TOO_DEEP, /* it is left out, as the next */
        IMPORT_FIT_TOO_MANY,
};

void import_lanes_deinit(struct import_lanes *l);

/* Adds a lane after @last (0 = it is a thread's first).  @ret_lane: index + 1.  Returns 0 or -ENOMEM. */
int import_lanes_add(struct import_lanes *l, uint32_t last, uint32_t thread, uint32_t *ret_lane);

/*
 * import_lanes_fit() - where a zone that begins now fits; all that ended before was taken
 * @first:     the thread's first lane
 * @ret_lane:  that, or with NONE the last lane; index + 1
 */
enum import_fit import_lanes_fit(const struct import_lanes *l, uint32_t first, uint64_t end_ns,
                                 struct import_nesting nesting, uint32_t *ret_lane);

/* Opens it there.  Returns 0 or -ENOMEM. */
int import_lanes_open(struct import_lanes *l, uint32_t lane, uint64_t end_ns, uint32_t id);

/* Whether a zone ends at @now_ns or before; most often none does. */
static inline bool import_lanes_has_end(const struct import_lanes *l, uint64_t now_ns)
{
        return l->n_ends != 0 && l->ends[0].end_ns <= now_ns;
}

/* Ends the zone that ends next, if that is at @now_ns at the latest.  Returns whether there was one. */
bool import_lanes_end(struct import_lanes *l, uint64_t now_ns, uint32_t *ret_thread, uint64_t *ret_end_ns);

#endif /* IMPORT_IMPORT_LANES_H */
