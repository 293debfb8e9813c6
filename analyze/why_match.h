/* SPDX-License-Identifier: MIT */
/*
 * analyze/why_match.h - which zone of a thread is an instance of the zones that are asked about
 *
 * Way of the data:  trace_walk -> [why_match] -> why_survey, why_collector
 *
 * An instance is a zone whose path fits the pattern and that is in no other such
 * zone of its thread.  Asks the pattern once a path.  Not thread-safe.
 */
#ifndef ANALYZE_WHY_MATCH_H
#define ANALYZE_WHY_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_walk;
struct walked_thread;
struct zone_pattern;

struct why_match {
        const struct zone_pattern *pattern; /* borrowed */
        struct trace_walk *walk;            /* borrowed; with wants_paths; set before the walk begins */
        uint8_t *fits;                      /* heap; by path id - 1: 0 = not asked yet, 1 = no, 2 = yes */
        size_t n_fits, capacity;
        uint32_t *locations; /* heap; THREAD_TIMELINE_DEPTH_MAX, of the path that is asked about */
};

void why_match_deinit(struct why_match *m);

/* Whether the innermost open zone of the thread fits.  Returns 0, -ENOMEM, -EOVERFLOW. */
int why_match_test(struct why_match *m, struct walked_thread *thread, bool *ret_fits);

#endif /* ANALYZE_WHY_MATCH_H */
