/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/path_range.h - how much of a trace the paths of some instances need
 *
 * Way of the data:  trace_filter, path_request -> [path_range] -> path_pass
 *
 * An instance that is asked for by a time needs its surroundings: first a little, and more where one that is
 * open then began before or ends later.  All others need the range of time of the filter.
 */
#ifndef ANALYZE_PATH_PATH_RANGE_H
#define ANALYZE_PATH_PATH_RANGE_H

#include <stdint.h>

struct loaded_trace;
struct path_request;
struct trace_filter;

struct path_range {
        uint64_t from_ns;  /* instances that began before are not known; 0 = the beginning */
        uint64_t until_ns; /* nothing after it matters, but for instances that are open */
        uint64_t stop_ns;  /* nothing after it is read; 0 = the end */
};

/* So much is read first on both sides of the time that is asked for; 0 = there is none, so all. */
uint64_t path_range_near_ns(const struct path_request *request);

/* The next more; 0 = all. */
uint64_t path_range_wider_ns(uint64_t near_ns, const struct loaded_trace *trace);

struct path_range path_range_choose(const struct path_request *request, const struct trace_filter *filter,
                                    const struct loaded_trace *trace, uint64_t near_ns);

#endif /* ANALYZE_PATH_PATH_RANGE_H */
