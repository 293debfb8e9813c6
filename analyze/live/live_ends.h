/* SPDX-License-Identifier: MIT */
/*
 * analyze/live/live_ends.h - who ended the waits of the last seconds and of all time, and the last of each
 * thread
 *
 * Way of the data:  live_stats (thread_wait) -> [live_ends] -> live_waits
 *
 * The wake-up says it, by the rules of wait_ends.h that need no names of functions, since these come when the
 * recording is over: interrupts are not told apart.  Memory: LIVE_ENDS_MAX different ends; when there are
 * more, the sums begin anew, which is counted.  And 16 bytes a thread.  Not thread-safe.
 */
#ifndef ANALYZE_LIVE_LIVE_ENDS_H
#define ANALYZE_LIVE_LIVE_ENDS_H

#include "analyze/live/live_window.h"
#include "base/intern.h"

#include <stddef.h>
#include <stdint.h>

#define LIVE_ENDS_MAX         (UINT32_C(1) << 16)
#define LIVE_ENDS_THREADS_MAX (UINT32_C(1) << 14) /* whose last wait is known */

struct thread_wait;
struct trace_dictionary;

enum live_end_kind {
        LIVE_END_NONE,      /* no wake-up was recorded */
        LIVE_END_THREAD,    /* a recorded thread */
        LIVE_END_PROGRAM,   /* a thread that was not recorded: its name is known */
        LIVE_END_INTERRUPT, /* or not known */
};

struct live_end {
        uint32_t kind;   /* enum live_end_kind */
        uint32_t thread; /* of THREAD */
        uint32_t name;   /* string, of THREAD and PROGRAM; 0 = unknown */
        uint32_t stack;  /* of THREAD; 0 = not recorded */
};

/* Compared as bytes. */
struct live_ended_wait {
        uint64_t wait; /* live_wait_key() */
        struct live_end end;
};

struct live_ends {
        struct intern keys;        /* struct live_ended_wait */
        struct live_window window; /* by id of `keys`: nanoseconds */
        struct live_end *last;     /* heap; by thread - 1 */
        size_t capacity;
        uint32_t n_threads;
        uint32_t n_anew; /* times that the sums began anew for lack of room */
};

void live_ends_init(struct live_ends *e);
void live_ends_deinit(struct live_ends *e);

/*
 * live_ends_add() - a wait that was no preemption and has ended
 * @key:  live_wait_key() of it
 * Returns 0 or -ENOMEM.
 */
int live_ends_add(struct live_ends *e, const struct trace_dictionary *d, uint32_t thread,
                  const struct thread_wait *wait, uint64_t key);

/* Who ended the last wait of a thread; NULL = it had none, or that is not known. */
const struct live_end *live_ends_last(const struct live_ends *e, uint32_t thread);

/* The wait and its end of a key of `window`. */
static inline const struct live_ended_wait *live_ends_get(const struct live_ends *e, uint64_t key)
{
        return intern_get(&e->keys, (uint32_t)key, NULL);
}

#endif /* ANALYZE_LIVE_LIVE_ENDS_H */
