/* SPDX-License-Identifier: MIT */
/*
 * analyze/walk/name_times.h - how long a thread ran under each of the names that it had
 *
 * Way of the data:  trace_walk -> trace_totals -> [name_times] -> report
 *
 * A thread that renames itself, or executes another program, is one thread with several names.  A thread
 * that had one name all the time has no rows.  At most NAME_TIMES_PER_THREAD names of a thread are told
 * apart; all later names share one row.  Not thread-safe.
 */
#ifndef ANALYZE_WALK_NAME_TIMES_H
#define ANALYZE_WALK_NAME_TIMES_H

#include "base/intern.h"

#include <stddef.h>
#include <stdint.h>

struct trace_walk;
struct walked_thread;

#define NAME_TIMES_PER_THREAD 16

struct name_time_key {
        uint32_t thread; /* in THREADS */
        uint32_t name;   /* string; 0 = names beyond NAME_TIMES_PER_THREAD, together */
};

struct name_time {
        uint64_t on_cpu_ns; /* within the walk's filter, as the samples are */
        uint64_t n_samples;
        uint64_t first_ns, last_ns; /* when the thread got the name first, and lost it last */
};

/* Sums of a thread at its last change of name. */
struct name_times_mark {
        uint64_t at_ns, on_cpu_ns, n_samples;
        uint32_t n_names;
};

struct name_times {
        struct intern keys;     /* struct name_time_key; the keys of a thread are in the order of its names */
        struct name_time *rows; /* heap; of the key with id i at i - 1 */
        size_t rows_capacity;
        struct name_times_mark *marks; /* heap; by thread id - 1 */
        size_t marks_capacity;
        uint32_t n_marks;
};

void name_times_init(struct name_times *n);
void name_times_deinit(struct name_times *n);

/*
 * name_times_end() - a thread loses the name that its timeline has, and will get another
 * Constant time, amortised.  Returns 0, -ENOMEM, -EOVERFLOW.
 */
int name_times_end(struct name_times *n, const struct trace_walk *walk, const struct walked_thread *thread,
                   uint64_t time_ns);

/*
 * After trace_walk_finish(): adds the last names of threads that had other names before.  Returns as
 * name_times_end().
 */
int name_times_finish(struct name_times *n, const struct trace_walk *walk);

#endif /* ANALYZE_WALK_NAME_TIMES_H */
