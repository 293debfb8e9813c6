/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_calls.h - the waits and the system calls of one recording, as sums of a diff_run
 *
 * Way of the data:  trace_walk, call_finder -> [diff_calls] -> diff_run
 *
 * Waits of one call from one function are one sum.  Those with a call stack stand for those without one
 * (wait_scale.h).  A wait ends when the thread can run again: when it does run depends on the machine.  Waits
 * of idle threads are left out.  Memory: a row for each distinct call stack and length, and for each caller
 * of a system call; single waits are not kept.  Not thread-safe.
 */
#ifndef ANALYZE_DIFF_DIFF_CALLS_H
#define ANALYZE_DIFF_DIFF_CALLS_H

#include "analyze/stats/call_finder.h"
#include "analyze/stats/wait_scale.h"
#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diff_names;
struct diff_run;
struct thread_wait;
struct trace_event;

/* One way to name callers: the run that gets the sums, and the callers that were sampled. */
struct diff_callers {
        struct diff_run *run; /* NULL = not asked for */
        struct call_finder finder;
        struct intern pairs; /* a key and a string of diff_names */
        double *weights;     /* heap; by id - 1 */
        size_t capacity;
};

struct diff_calls {
        struct diff_names *names; /* borrowed, as is the run */
        struct diff_run *run;
        struct call_finder finder;
        /* [0]: native functions; [1], for `run->folded`: Python functions, if any called */
        struct diff_callers callers[2];
        struct intern keys;         /* struct wait_key */
        struct diff_wait_row *rows; /* heap; by id - 1 */
        size_t rows_capacity;
        struct wait_scale scale;
        uint64_t from_ns; /* set by the caller: where the compared part begins; it lasts run->duration_ns */
        uint64_t ended_ns;
};

/* Before the events.  @finder: with `folds` if @run has `folded`; what it borrows outlives @c. */
void diff_calls_init(struct diff_calls *c, struct diff_run *run, struct diff_names *names,
                     const struct call_finder *finder);
void diff_calls_deinit(struct diff_calls *c);

/* Adds the system calls, exact sums of the whole recording.  Returns 0 or -ENOMEM. */
int diff_calls_add_counted(struct diff_calls *c);

/*
 * Takes the caller from a sample of a counted system call; leaves out other samples.  Returns 0 or
 * -ENOMEM.
 */
int diff_calls_take_sample(struct diff_calls *c, const struct trace_event *event);

/* Takes a wait, ended or not.  Returns 0, -ENOMEM, -EOVERFLOW. */
int diff_calls_take_wait(struct diff_calls *c, const struct thread_wait *wait);

/* Whether a call of that name waits for as long as the program asked for. */
bool diff_calls_is_sleep(struct text_view call);

/*
 * After the events: adds the waits to the run, and each caller of more than half of the calls.  Returns 0 or
 * -ENOMEM.
 */
int diff_calls_finish(struct diff_calls *c);

#endif /* ANALYZE_DIFF_DIFF_CALLS_H */
