/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/zone_matcher.h - whether a pattern means the zones that are open on a thread, found step by
 * step
 *
 * Way of the data:  zone_pattern -> [zone_matcher] -> zone_paths, trace_walk
 *
 * A pattern is a state machine: each zone that begins leads from the state around it to a new state, which
 * shows whether the pattern names the zone and whether it names one around it.  States and steps are computed
 * when they first occur, so a zone costs two look-ups, however many different paths a trace has.
 *
 * Memory: four bytes a location, and the states that occur: a handful for the
 * patterns that people write, never more than there are different paths.
 * Not thread-safe.
 */
#ifndef ANALYZE_TRACE_ZONE_MATCHER_H
#define ANALYZE_TRACE_ZONE_MATCHER_H

#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_dictionary;
struct zone_pattern;

#define ZONE_MATCHER_OUTSIDE UINT32_C(1) /* the state outside of all zones */

enum zone_matcher_flag {
        ZONE_MATCHER_NAMED = 1,  /* the pattern names the innermost zone */
        ZONE_MATCHER_INSIDE = 2, /* it names one around it */
};

struct zone_matcher {
        const struct trace_dictionary *dictionary; /* borrowed */
        const struct zone_pattern *pattern;        /* borrowed */
        uint32_t *classes;                         /* heap; by location id - 1; 0 = not looked at yet */
        uint32_t n_locations;
        struct intern class_sets; /* which steps of the pattern the locations of a class fit: bits */
        struct intern states;     /* see zone_matcher.c */
        uint32_t *next;           /* heap; by state and class, row after row; 0 = not computed yet */
        uint32_t n_rows, row_length;
        uint8_t *flags; /* heap; by state id - 1 */
        size_t flags_capacity;
        uint64_t *scratch; /* heap; a state, and the bits of a class */
};

/* Zero-initialised is valid for zone_matcher_deinit().  Returns 0 or -ENOMEM. */
int zone_matcher_init(struct zone_matcher *m, const struct trace_dictionary *dictionary,
                      const struct zone_pattern *pattern);
void zone_matcher_deinit(struct zone_matcher *m);

/* The slow part of zone_matcher_step(), where a look-up is not enough. */
int zone_matcher_compute(struct zone_matcher *m, uint32_t state, uint32_t location, uint32_t *ret_state);

/*
 * The state of a zone of @location, a row of the dictionary, directly inside of @state.  Returns
 * 0, -ENOMEM, -EOVERFLOW.
 */
static inline int zone_matcher_step(struct zone_matcher *m, uint32_t state, uint32_t location,
                                    uint32_t *ret_state)
{
        uint32_t class = m->classes[location - 1];
        uint32_t next = state <= m->n_rows ? m->next[(size_t)(state - 1) * m->row_length + class] : 0;

        /* The first item of each row, of class 0, stays 0. */
        if (next == 0)
                return zone_matcher_compute(m, state, location, ret_state);
        *ret_state = next;
        return 0;
}

/* enum zone_matcher_flag, together; 0 of ZONE_MATCHER_OUTSIDE. */
static inline unsigned zone_matcher_flags(const struct zone_matcher *m, uint32_t state)
{
        return m->flags[state - 1];
}

#endif /* ANALYZE_TRACE_ZONE_MATCHER_H */
