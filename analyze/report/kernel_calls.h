/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/kernel_calls.h - the calls into the kernel that programs make, and their callers
 *
 * Way of the data:  wait_stats, sample_stats, call_finder -> [kernel_calls] -> report, answer_words
 *
 * An innermost function like finish_task_switch() does not say why a program is in the kernel.  Times are
 * ns.  Not thread-safe.
 */
#ifndef ANALYZE_REPORT_KERNEL_CALLS_H
#define ANALYZE_REPORT_KERNEL_CALLS_H

#include "analyze/waits/wait_stats.h"
#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

struct report;

/* The call with the most weight, and of its callers the one with the most. */
struct kernel_call {
        struct text_view call;   /* empty = page faults, if `weight` is not 0 */
        struct text_view caller; /* empty = unknown, or no caller has most of it */
        /* Path; functions in it have most of it together.  Empty = unknown, or `caller` is known. */
        struct text_view module;
        uint64_t weight; /* 0 = no call is known */
};

struct waited_calls {
        uint64_t total_ns;
        uint64_t delay_ns; /* of that, from being woken until running */
        uint64_t n_waits, n_with_stack;
        bool leaves_open; /* waits that never ended are of idle threads, and not in here */
        /* Waits with a call stack stand for those without one of the same state and length. */
        struct kernel_call top;
};

struct kernel_calls {
        /*
         * Weights of the report's event in samples.  A tracepoint has all of them here, by the system call,
         * or by what the program called.
         */
        uint64_t kernel_weight; /* in the kernel, for a call, a page fault or an interrupt */
        struct kernel_call sampled;

        struct waited_calls waits; /* all but those without a call stack that lasted to the end */
        /* Waits that ended otherwise than by a child's end or by a thread of the recording. */
        struct waited_calls causes;
        /* No thread ran for at least `idle_ns` of `whole_ns`; 0 = less than half of it, or unknown. */
        uint64_t idle_ns, whole_ns;
};

/* "write" of "sys_write", which is the frame of a counted system call; empty = no such function. */
struct text_view kernel_calls_counted_call(const struct report *report, uint32_t label);

/* @report: with samples, threads and waits.  Returns 0, -ENOMEM, -EOVERFLOW. */
int kernel_calls_fill(struct kernel_calls *k, const struct report *report);

/*
 * The function of the program that made the call of which @stack is the user's part: the innermost one
 * outside of the C library that has a name, if there is one.  Its label; 0 = not known.
 */
uint32_t kernel_calls_caller(const struct report *report, uint32_t stack);

#endif /* ANALYZE_REPORT_KERNEL_CALLS_H */
