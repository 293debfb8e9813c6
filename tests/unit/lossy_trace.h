/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/lossy_trace.h - a recording of a program that never changes, some of whose samples are lost
 *
 * Way of the data:  unit test -> [lossy_trace] -> trace_builder -> loaded_trace
 *
 * Threads run functions in phases, as programs do, so that a loss that is limited to a time or a thread hits
 * some functions alone.
 */
#ifndef TESTS_UNIT_LOSSY_TRACE_H
#define TESTS_UNIT_LOSSY_TRACE_H

#include "tests/unit/trace_builder.h"

#include <stdbool.h>
#include <stdint.h>

#define LOSSY_TRACE_THREADS   3
#define LOSSY_TRACE_FUNCTIONS 9
#define LOSSY_TRACE_PERIOD_NS UINT64_C(1000000)

enum lossy_trace_kind {
        LOSSY_RANDOM,    /* each sample by chance */
        LOSSY_CLUSTERED, /* all samples of some stretches of time */
        LOSSY_THREAD,    /* the same of one thread, as far as its samples go, then of others */
        LOSSY_KIND_COUNT,
};

struct lossy_trace {
        uint32_t n_samples; /* of each thread, before the loss */
        double lost;        /* share of the samples */
        enum lossy_trace_kind kind;
        double hot_factor; /* how long the hottest function takes against 1; 0 = 1 */
        bool is_silent;    /* no row of LOSSES says it */
        bool has_no_switches;
        const char *event, *unit;                        /* NULL = cpu-clock, ns */
        uint64_t counted;                                /* by the event's counter; 0 = it was not read */
        bool is_kernel_refused;                          /* the notice says so */
        const char *command_user_ns, *command_kernel_ns; /* of META; NULL = not there */
        const char *python_samples, *python_bare;        /* likewise */
        bool is_python_late;                             /* the notice says so */
        uint32_t state;                                  /* of all call stacks: enum trace_stack_state */
        bool has_no_callstacks;                          /* the samples have none */
        bool has_copies;                                 /* a copy of the stack comes before each sample */
        uint64_t random;                                 /* varies the run */
};

/* Builds it; the caller deinitialises the builder.  Returns how many samples were lost. */
uint64_t lossy_trace_build(struct trace_builder *b, const struct lossy_trace *t);

#endif /* TESTS_UNIT_LOSSY_TRACE_H */
