/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/path_durations.h - from which duration on an instance is one of the slowest
 *
 * Way of the data:  path_pass -> [path_durations] -> path_pass
 *
 * Many durations are thinned out by a number of 0 .. 1 that the caller gives each of them: those with the
 * lowest stay, half of them at a time.  Memory: at most 16 MiB.  Not thread-safe.
 */
#ifndef ANALYZE_PATH_PATH_DURATIONS_H
#define ANALYZE_PATH_PATH_DURATIONS_H

#include <stddef.h>
#include <stdint.h>

#define PATH_DURATIONS_MAX (UINT32_C(1) << 20)

struct path_duration;

/* Zero-initialised is none. */
struct path_durations {
        struct path_duration *items; /* heap */
        size_t n, capacity;
        unsigned n_halved;
};

void path_durations_deinit(struct path_durations *d);

/*
 * path_durations_add() - takes one into account
 * @chance:  differs between durations, and is the same in each run; see trace_walk_chance()
 * Returns 0 or -ENOMEM.
 */
int path_durations_add(struct path_durations *d, uint64_t ns, double chance);

/* The shortest duration of this share, over 0 to 1, of the longest ones; 0 if there are none.  Sorts them. */
uint64_t path_durations_slowest(struct path_durations *d, double share);

#endif /* ANALYZE_PATH_PATH_DURATIONS_H */
