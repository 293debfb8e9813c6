/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/zone_paths.h - nested zones as one number
 *
 * Way of the data:  trace_dictionary, thread_timeline -> [zone_paths] -> trace_walk -> report, exports
 *
 * The trace names the paths of its samples, with the ids 1 .. n, which stay the same.  Further paths are
 * added while events are read.  Whether a path is wanted, because it or a path around it fits a pattern, is
 * judged once for each path.  Not thread-safe.
 */
#ifndef ANALYZE_TRACE_ZONE_PATHS_H
#define ANALYZE_TRACE_ZONE_PATHS_H

#include "analyze/trace/zone_matcher.h"
#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recent_step;
struct trace_dictionary;
struct zone_pattern;

struct zone_paths {
        const struct trace_dictionary *dictionary; /* borrowed */
        const struct zone_pattern *pattern;        /* borrowed; NULL = every path is wanted */
        struct intern paths;                       /* struct trace_zone_path: parent, location */
        struct zone_matcher matcher;               /* of the pattern, if there is one */
        uint32_t *states;                          /* heap; states of `matcher`, by path id - 1 */
        size_t states_capacity;
        struct recent_step *recent; /* heap */
};

/* Zero-initialised is valid for zone_paths_deinit().  Returns 0, -ENOMEM, -EOVERFLOW. */
int zone_paths_init(struct zone_paths *p, const struct trace_dictionary *dictionary,
                    const struct zone_pattern *pattern);
void zone_paths_deinit(struct zone_paths *p);

/*
 * The path of a zone of @location directly inside of the path @parent; 0 = no path.  Returns
 * 0, -ENOMEM, -EOVERFLOW.
 */
int zone_paths_step(struct zone_paths *p, uint32_t parent, uint32_t location, uint32_t *ret_path);

/* 0 has neither. */
uint32_t zone_paths_parent(const struct zone_paths *p, uint32_t path);
uint32_t zone_paths_location(const struct zone_paths *p, uint32_t path);

/* Whether events inside of @path are wanted; outside of all zones (0) only if there is no pattern. */
bool zone_paths_wanted(const struct zone_paths *p, uint32_t path);

static inline uint32_t zone_paths_count(const struct zone_paths *p)
{
        return p->paths.n_items;
}

#endif /* ANALYZE_TRACE_ZONE_PATHS_H */
