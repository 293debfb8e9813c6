/* SPDX-License-Identifier: MIT */
/*
 * analyze/cores/wait_roots.h - for what the threads wait at a moment, in the end
 *
 * Way of the data:  past_sweep, past -> [wait_roots] -> wall_shares, idle_cores
 *
 * A thread waits for the one that will end its wait, or holds its lock; that one may wait as well, and so on,
 * to a thread that runs, or to a timer, the disk, the network: the *root*.  Who ends a wait is known when it
 * has ended, so a moment is kept until then.  For that it has what each thread was, 8 bytes each; of
 * all moments WAIT_ROOTS_ITEMS_MAX are kept, then the oldest are handed out with what is known.
 * Not thread-safe.
 */
#ifndef ANALYZE_CORES_WAIT_ROOTS_H
#define ANALYZE_CORES_WAIT_ROOTS_H

#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct past_sweep;

#define WAIT_ROOTS_ITEMS_MAX (UINT32_C(1) << 22)
#define WAIT_ROOTS_MAX       (UINT32_C(1) << 18)
/* Threads that wait for each other in a row. */
#define WAIT_ROOTS_DEPTH_MAX 64

enum wait_root_kind {
        WAIT_ROOT_RUN,   /* a thread that runs */
        WAIT_ROOT_LOCK,  /* the same, and it holds a lock that the last one before it waits for */
        WAIT_ROOT_READY, /* a thread that could run and does not */
        WAIT_ROOT_TIMER, /* these wait themselves: `group` is who waits, and where */
        WAIT_ROOT_DISK,
        WAIT_ROOT_NETWORK,
        WAIT_ROOT_INTERRUPT, /* of another device, or of the kernel itself */
        WAIT_ROOT_PROGRAM,   /* a program that was not recorded */
        WAIT_ROOT_UNKNOWN,
        WAIT_ROOT_OPEN, /* the wait has not ended, in time */
        WAIT_ROOT_KINDS,
};

/* Compared as bytes. */
struct wait_root {
        uint32_t kind;  /* enum wait_root_kind */
        uint32_t group; /* of threads: path_names */
        uint32_t own;   /* label: the function that runs, or waits; 0 = not known */
        uint32_t by;    /* of PROGRAM, string: its name; else 0 */
};

/* A thread at a moment. */
struct wait_item {
        uint32_t thread;
        uint32_t state : 2; /* private */
        uint32_t id : 30;   /* of `roots`, once the moment is handed out */
};

struct wait_moment {
        uint64_t time_ns;
        uint32_t subject;            /* as it was given */
        uint32_t n_running, n_ready; /* threads; the others of `items` wait */
        uint32_t n_queued;           /* of the ready ones: in the queue of a CPU that a recorded thread has */
        uint32_t n_items;
        struct wait_item *items; /* heap; the threads that live, ascending */
};

/* Takes a moment, which is complete.  Returns 0 or -errno. */
typedef int wait_roots_take(void *context, const struct wait_moment *moment);

struct open_wait;

struct wait_roots {
        struct past_sweep *sweep; /* borrowed */
        wait_roots_take *take;
        void *context;
        bool subject_only; /* set by the caller: the roots of other threads than the subject do not matter */
        struct intern roots;         /* struct wait_root */
        struct wait_moment *pending; /* heap; in the order of time */
        size_t n_pending, pending_capacity, n_items;
        size_t n_items_max;      /* of all that are pending */
        struct open_wait *opens; /* heap; waits that had not ended when they were met */
        uint32_t n_opens, free_open;
        size_t opens_capacity;
        uint32_t *open_of;   /* heap; by thread id - 1: of `opens`; 0 = none */
        uint32_t *timed_out; /* heap; likewise: the last of the waits that timed out; 0 = none */
        uint32_t n_threads;
        uint64_t n_moments, n_early; /* early: handed out before their waits had ended */
};

void wait_roots_init(struct wait_roots *w, struct past_sweep *sweep, wait_roots_take *take, void *context);
void wait_roots_deinit(struct wait_roots *w);

/*
 * wait_roots_add() - looks at a moment that the sweep hands out
 * @subject:  a thread that matters to the caller; 0 = none
 * Time: for each thread that lives, logarithmic in the waits that are kept.  Returns 0, -ENOMEM, -EOVERFLOW,
 * what `take` returned.
 */
int wait_roots_add(struct wait_roots *w, uint64_t time_ns, uint32_t subject);

/* A wait is over.  Returns 0 or -ENOMEM. */
int wait_roots_over(struct wait_roots *w, uint32_t thread, uint64_t out_ns);

/* Nothing more comes: hands out all moments. */
int wait_roots_finish(struct wait_roots *w);

static inline const struct wait_root *wait_roots_get(const struct wait_roots *w, uint32_t id)
{
        return intern_get(&w->roots, id, NULL);
}

/* Whether a thread of a moment waits, and for what in the end; NULL = it does not. */
const struct wait_root *wait_roots_of(const struct wait_roots *w, const struct wait_item *item);

/* The thread of a moment that runs, the first one; NULL = none does. */
const struct wait_item *wait_roots_running(const struct wait_moment *moment);

#endif /* ANALYZE_CORES_WAIT_ROOTS_H */
