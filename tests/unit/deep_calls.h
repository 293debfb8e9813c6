/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/deep_calls.h - calls whose stacks are known, in code without frame pointers
 *
 * Way of the data:  [deep_calls] -> kernel -> live_stacks -> tests
 *
 * Each runs for about as long as it is told, nearly all of it in deep_burn(), and
 * is to be called in a process of its own.
 */
#ifndef TESTS_UNIT_DEEP_CALLS_H
#define TESTS_UNIT_DEEP_CALLS_H

#include <stdint.h>

#define DEEP_CALLS_DEPTH 40

enum deep_calls_kind {
        DEEP_CALLS_RECURSION,
        DEEP_CALLS_QSORT,  /* through the C library's qsort() */
        DEEP_CALLS_SIGNAL, /* in a signal handler */
        DEEP_CALLS_ALTERNATE_STACK,
        DEEP_CALLS_THREAD,
        DEEP_CALLS_ALLOCA,  /* frames of a size that is not known before */
        DEEP_CALLS_ALIGNED, /* frames that align the stack */
        DEEP_CALLS_N_KINDS,
};

/* Does it for @n rounds of deep_burn(), some tens of microseconds each. */
void deep_calls_run(enum deep_calls_kind kind, uint64_t n);

/* The functions that are called, innermost first: with those of the C library left out, NULL at the end. */
const char *const *deep_calls_expected(enum deep_calls_kind kind);

#endif /* TESTS_UNIT_DEEP_CALLS_H */
