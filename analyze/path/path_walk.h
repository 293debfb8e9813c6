/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/path_walk.h - the critical path of a thread's time: who ran, or what was waited for, at each
 * moment
 *
 * Way of the data:  past -> [path_walk] -> path_sums, export of path_segments
 *
 * Goes backwards from the end of [begin, end) on a thread.  Where it ran, that is the path.  Where it waited,
 * the path goes on at the thread that ended the wait, from the wake-up back to where the wait began, and then
 * returns.  The rules:
 *
 *      lock     a wait for a lock that the program reports goes on at the holders, each in its part; also
 *               where the trace has no switches
 *      join     waits at one place in a row, between which the thread hardly ran and woke no thread, are one:
 *               what ended the last of them counts, not what came first
 *      stay     at another thread than the first, the path does not return: what that thread did before its
 *               own last wait overlapped with what it waited for, and is no cause
 *               (but a sleep that its own timer had ended before the wait began: there the path returns to
 *               the thread that waited)
 *      birth    before a thread was there, the path goes on at the thread that made it
 *      machine  the time in which a thread could run and did not is a part of its own
 *      late     so is what another thread ran in the first thread's wait, as far as it makes up for what
 *               other programs took from it before (lateness.h)
 *      device   a wait that no recorded thread ended, at the end of a chain, goes on in the lane of a device
 *               if a work of the device ended just before, and a thread of the chain had asked for it
 *               (path_devices.h)
 *
 *      flow     a wait that no recorded thread ended goes on at the thread that handed over, in a flow, what
 *               was taken after it, from then on; until then it was not noticed
 *
 * With a replay (replay.h) the path is that of its times: waits that would not be there any more are passed
 * over, others go on at who would be the last one.  Segments have their times in the past still.
 *
 * The segments are a partition: their sum is end - begin, to the nanosecond.  Bounds: PATH_WALK_JOIN_MAX
 * waits of a join, PATH_WALK_LEVELS_MAX locks in a row, a number of segments; beyond them a segment says so.
 * Not thread-safe.
 */
#ifndef ANALYZE_PATH_PATH_WALK_H
#define ANALYZE_PATH_PATH_WALK_H

#include "analyze/waits/wait_ends.h"
#include "base/intern.h"

#include <stdbool.h>
#include <stdint.h>

struct device_work;
struct device_works;
struct past;
struct past_wait;
struct path_names;
struct replay;

#define PATH_WALK_JOIN_MAX  64 /* waits of a join that another thread ended */
#define PATH_WALK_DEPTH_MAX 64 /* threads that a chain names */
/* Levels of recursion: holders of locks that wait for locks; threads that wait for each other at one time. */
#define PATH_WALK_LEVELS_MAX   64
#define PATH_WALK_SEGMENTS_MAX 20000 /* steps of one call; each makes at most a few segments */
#define PATH_WALK_CHAINS_MAX   (UINT32_C(1) << 18)
/* A thread that ran longer between two waits did more than to look whether it is time. */
#define PATH_WALK_JOIN_RAN_NS 200000

enum path_kind {
        PATH_RUN,     /* on a CPU */
        PATH_MACHINE, /* could run and did not */
        PATH_LATE,    /* ran, since other programs had its CPU before */
        PATH_WAIT,    /* waited, and no recorded thread ended it: `wait` says what is known */
        PATH_LOCK,    /* waited for a lock that no thread is known to have held */
        PATH_UNBORN,  /* the thread was not there yet, and who made it is not known */
        PATH_CUT,     /* left out: too long ago, too deep, or too many segments */
        PATH_DEVICE,  /* waited while a device ran `work` */
        PATH_LAUNCH,  /* waited until a device began `work`, while its lane did nothing */
        PATH_KINDS,
};

enum path_how {
        PATH_HOW_WOKEN,
        PATH_HOW_SENT,   /* woke it through a socket, on this machine */
        PATH_HOW_FLOW,   /* handed over what the thread took then, as the program says: past_timeouts.h */
        PATH_HOW_LOCK,   /* held the lock */
        PATH_HOW_MADE,   /* made the thread */
        PATH_HOW_DEVICE, /* a device: no thread */
};

/* One step away from the first thread.  Compared as bytes. */
struct path_link {
        uint32_t parent; /* chain; 0 = the first thread waits itself */
        uint32_t thread; /* that waits */
        uint32_t stack;  /* where; 0 = not known */
        uint32_t how;    /* enum path_how: the path goes on at the thread that did so */
};

struct path_segment {
        uint64_t begin_ns, end_ns;
        uint32_t thread;
        uint32_t on;    /* that has its samples: `thread`, or the thread that ran the fiber */
        uint32_t depth; /* 0 = the first thread */
        uint32_t chain; /* of `chains`; 0 = the first thread */
        enum path_kind kind;
        const struct past_wait *wait;    /* of MACHINE, WAIT, DEVICE and LAUNCH; borrowed for the call */
        const struct device_work *work;  /* of DEVICE and LAUNCH; borrowed from `works`; else NULL */
        const struct device_work *asked; /* likewise: whose end was waited for; it may lie in `work` */
        uint64_t saved_ns; /* for path_sums: so much shorter it is in a replay; the walk leaves it 0 */
};

/* Segments come latest first.  Returns 0 or -errno, which ends the walk. */
typedef int path_walk_take(void *context, const struct path_segment *segment);

struct path_walk {
        const struct past *past; /* borrowed */
        /* borrowed: tells which call stacks are one place; NULL = only equal ones are */
        struct path_names *names;
        const struct replay *replay;      /* borrowed: the times are its; NULL = those of the past */
        const struct device_works *works; /* borrowed; NULL = of no device anything is known */
        path_walk_take *take;
        void *context;
        struct intern chains;    /* struct path_link */
        bool is_strict;          /* stays also at the first thread: the slack of its own work is left out */
        uint32_t n_segments_max; /* steps of one call */
        uint64_t n_too_deep, n_too_many, n_too_old; /* segments of PATH_CUT, by their reason */
        uint64_t n_joins_cut, n_chains_cut;
        /* of DEVICE and LAUNCH, where the bound of the device's clock is not small, or not known */
        uint64_t vague_ns;
        uint32_t n_steps;
        struct {
                uint32_t thread;
                uint64_t until_ns;
        } late; /* private: of the wait that the path is in */
};

void path_walk_init(struct path_walk *w, const struct past *past, path_walk_take *take, void *context);
void path_walk_deinit(struct path_walk *w);

/*
 * path_walk_run() - the path of @thread in [@begin_ns, @end_ns)
 * The past must be complete up to @end_ns.  Time: logarithmic in the waits that are kept, for each segment.
 * Returns 0, -ENOMEM, what `take` returned.
 */
int path_walk_run(struct path_walk *w, uint32_t thread, uint64_t begin_ns, uint64_t end_ns);

static inline const struct path_link *path_walk_link(const struct path_walk *w, uint32_t chain)
{
        return chain != 0 ? intern_get(&w->chains, chain, NULL) : NULL;
}

#endif /* ANALYZE_PATH_PATH_WALK_H */
