/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/ready_owners.h - who had the CPU while threads were ready to run
 *
 * Way of the data:  ready_times, past_questions, throttled_times -> [ready_owners] -> why_cpu_owners,
 *                   report_owners
 *
 * Switches show which recorded threads had the CPU. The time that none of them had counts as throttled, as
 * far as the control group counted throttled time in the same span; the owner of the rest is not known.  Each
 * ready time is a question about the past.  Not thread-safe.
 */
#ifndef ANALYZE_PATH_READY_OWNERS_H
#define ANALYZE_PATH_READY_OWNERS_H

#include "analyze/path/past_questions.h"
#include "analyze/trace/throttled_times.h"
#include "analyze/waits/ready_times.h"
#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct trace_dictionary;

#define READY_OWNER_ROWS_MAX (UINT32_C(1) << 20)
/*
 * The most pairs of a ready time and a stretch of a CPU that are examined; beyond that, owners are
 * unknown.
 */
#define READY_OWNER_STEPS_MAX (UINT64_C(1) << 28)
/* Bytes of who ran where that ready_owners_take() keeps: 24 each, of PAST_LATE_NS where it has the choice. */
#define READY_OWNER_PAST_BYTES (UINT64_C(24) << 20)

enum ready_owner_kind {
        READY_OWNER_OWN,     /* a thread of the same process */
        READY_OWNER_PROGRAM, /* a thread of another process that was recorded */
        READY_OWNER_QUOTA,   /* no one: the control group was throttled */
        READY_OWNER_STOPPED, /* not an owner: a signal or a debugger stopped the thread; added by callers */
        READY_OWNER_OTHERS,  /* not known: no recorded thread */
        READY_OWNER_KINDS,
};

/* Compared as bytes. */
struct ready_owner_key {
        uint32_t tag, cpu; /* of the ready times */
        uint32_t kind;     /* enum ready_owner_kind */
        uint32_t thread;   /* of OWN and PROGRAM */
};

#define READY_OWNER_LISTS 2

struct ready_owners {
        struct intern keys; /* struct ready_owner_key */
        double *ns;         /* heap; of the key with id i at i - 1 */
        size_t capacity;
        const struct trace_dictionary *dictionary; /* borrowed, as the next two */
        const struct past *past;
        struct ready_times *times;
        struct ready_times merged; /* without overlaps on a CPU; only if there is a quota */
        struct throttled_times quota;
        struct past_questions questions[READY_OWNER_LISTS]; /* about `times` and `merged` */
        uint64_t n_steps;
        uint64_t n_lost; /* stretches of CPUs that were dropped for lack of room: who had them is unknown */
};

/* Whether there was more to examine than READY_OWNER_STEPS_MAX. */
static inline bool ready_owners_are_cut(const struct ready_owners *o)
{
        return o->n_steps > READY_OWNER_STEPS_MAX;
}

/*
 * ready_owners_init() - which questions there are
 * @past:   of which they will be asked; borrowed
 * @times:  sorted by this call; borrowed
 * Returns 0 or -ENOMEM; to be deinitialised in any case.  The object must not move after that.
 */
int ready_owners_init(struct ready_owners *o, const struct past *past, const struct trace_dictionary *d,
                      struct ready_times *times);
void ready_owners_deinit(struct ready_owners *o);

/* After the answers: fills the rest, which the quota has or which is not known.  Returns 0 or -ENOMEM. */
int ready_owners_finish(struct ready_owners *o);

/*
 * ready_owners_take() - all of that in a walk through the trace, if there are times
 * Returns 0 or what loaded_trace_walk() returns; to be deinitialised in any case.
 */
int ready_owners_take(struct ready_owners *o, struct loaded_trace *trace, struct ready_times *times,
                      struct error *err);

#endif /* ANALYZE_PATH_READY_OWNERS_H */
