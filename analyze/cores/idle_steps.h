/* SPDX-License-Identifier: MIT */
/*
 * analyze/cores/idle_steps.h - why cores did not run the program, step by step through the time
 *
 * Way of the data:  idle_cores: cores by cause at a moment -> [idle_steps] -> idle_view
 *
 * The time is cut into equal steps; what idle_cores adds to a row is added to a step as well, so the steps of
 * a cause add up to its rows exactly: see idle_steps_round().  How much of a span of throttled time the quota
 * took is known at the end only, and split then.
 *
 * Memory: 112 bytes a step, and 16 for each step and span of throttled time.  Not thread-safe.
 */
#ifndef ANALYZE_CORES_IDLE_STEPS_H
#define ANALYZE_CORES_IDLE_STEPS_H

#include "base/intern.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define IDLE_STEPS_MAX 2000
/* There are fewer steps where they would have fewer moments. */
#define IDLE_STEP_MOMENTS_MIN 8

enum idle_cause {
        IDLE_RUN,  /* others waited for a thread that ran */
        IDLE_LOCK, /* the same, for the lock that it held */
        IDLE_TIMER,
        IDLE_DISK,
        IDLE_NETWORK,
        IDLE_INTERRUPT, /* of another device, or of the kernel itself */
        IDLE_PROGRAM,   /* a program that was not recorded ends the wait */
        IDLE_TOO_FEW,   /* no thread waited */
        IDLE_QUOTA,
        IDLE_READY,  /* threads could run, a CPU was idle, and the kernel did not put them there */
        IDLE_OTHERS, /* not idle: other programs had the CPUs */
        IDLE_OPEN,   /* waits that never ended */
        IDLE_UNKNOWN,
        IDLE_CAUSES,
};

/* Cores are added up over the moments of the step: divided by `n_moments` they are a mean. */
struct idle_step {
        double cores[IDLE_CAUSES];
        double running; /* CPUs that ran the program */
        uint64_t n_moments;
};

struct idle_steps {
        struct idle_step *steps; /* heap; NULL = not wanted, or no moment was added */
        uint32_t n_steps;
        uint64_t begin_ns;
        double step_ns;
        struct intern keys; /* private: a step and a row of idle_cores in throttled time */
        double *unsplit;    /* private, heap: their cores; of the key with id i at i - 1 */
        size_t unsplit_capacity;
};

/* Zero-initialised: empty.  Begins with at most @n_steps in the range of time.  Returns 0 or -ENOMEM. */
int idle_steps_begin(struct idle_steps *s, uint32_t n_steps, uint64_t begin_ns, uint64_t end_ns,
                     double moment_ns);
void idle_steps_deinit(struct idle_steps *s);

/* A moment at which so many CPUs ran the program. */
void idle_steps_add_moment(struct idle_steps *s, uint64_t time_ns, uint32_t n_running);
void idle_steps_add(struct idle_steps *s, uint64_t time_ns, enum idle_cause cause, double cores);

/* Keeps the cores of a row in throttled time until the row is split.  Returns 0 or -errno. */
int idle_steps_keep(struct idle_steps *s, uint64_t time_ns, uint32_t row, double cores);

/* The quota took that part of what was kept of the row, 0 .. 1; the rest has the cause. */
void idle_steps_split(struct idle_steps *s, uint32_t row, enum idle_cause cause, double part);

/*
 * Cores in whole units of 2^-20: sums of these are exact in whatever order, up to more CPUs and moments than
 * there are.
 */
static inline double idle_steps_round(double cores)
{
        return ldexp(round(ldexp(cores, 20)), -20);
}

#endif /* ANALYZE_CORES_IDLE_STEPS_H */
