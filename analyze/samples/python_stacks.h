/* SPDX-License-Identifier: MIT */
/*
 * analyze/samples/python_stacks.h - call stacks of native code -> the Python functions that called it
 *
 * Way of the data:  trace_dictionary -> [python_stacks] -> sampled_trace, report_samples, call_tree,
 *                   wait_places, why_profile, diff_run
 *
 * In a program whose samples lie mostly below Python functions, native code and the kernel work for the
 * Python function that called them.  There a call stack is shown from its innermost Python function on, and
 * native frames between two Python functions are left out; a stack without Python functions stays whole.
 * The rule is the same for every view: python_parts_are_most().
 */
#ifndef ANALYZE_SAMPLES_PYTHON_STACKS_H
#define ANALYZE_SAMPLES_PYTHON_STACKS_H

#include "analyze/trace/sample_stats.h"

#include <stdbool.h>
#include <stdint.h>

struct trace_dictionary;

/* Zero-initialised: of a trace without Python functions. */
struct python_stacks {
        /* heap; by stack: the part from its innermost Python function on, 0 = none; NULL = all are 0 */
        uint32_t *innermost;
        uint32_t n_stacks;
};

/* Samples below Python functions, by the kind of code: Python, native, the kernel's. */
struct python_parts {
        uint64_t python, native, kernel; /* weights; of samples without Python functions nothing */
        uint64_t all;
};

/* Returns 0 or -ENOMEM; empty then. */
int python_stacks_init(struct python_stacks *p, const struct trace_dictionary *dictionary);
void python_stacks_deinit(struct python_stacks *p);

/* Whether the frame stands for Python code, which has lines and no instructions. */
bool python_stacks_is_python(const struct trace_dictionary *dictionary, uint32_t frame);

/* The stack whose innermost frame is the innermost Python function of @stack; 0 = there is none. */
static inline uint32_t python_stacks_find(const struct python_stacks *p, uint32_t stack)
{
        return p->innermost && stack <= p->n_stacks ? p->innermost[stack] : 0;
}

/*
 * python_stacks_shown() - the stack that is shown for @stack
 * @p:  NULL where native functions are shown: @stack itself
 */
static inline uint32_t python_stacks_shown(const struct python_stacks *p, uint32_t stack)
{
        uint32_t python = p ? python_stacks_find(p, stack) : 0;

        return python != 0 ? python : stack;
}

/* Whether the innermost frame of @stack is native code, or the kernel's, that a Python function called. */
static inline bool python_stacks_hides(const struct python_stacks *p, uint32_t stack)
{
        return python_stacks_shown(p, stack) != stack;
}

/* Adds a sample, or a wait, with a call stack; 0 = it has none. */
void python_stacks_add(const struct python_stacks *p, const struct trace_dictionary *dictionary,
                       uint32_t stack, uint64_t weight, struct python_parts *parts);

/* The same for all samples of an event. */
struct python_parts python_stacks_sum(const struct python_stacks *p,
                                      const struct trace_dictionary *dictionary,
                                      const struct sample_stats *stats, uint32_t event);

static inline uint64_t python_parts_below(const struct python_parts *parts)
{
        return saturating_add(saturating_add(parts->python, parts->native), parts->kernel);
}

static inline void python_parts_add(struct python_parts *parts, const struct python_parts *added)
{
        parts->python = saturating_add(parts->python, added->python);
        parts->native = saturating_add(parts->native, added->native);
        parts->kernel = saturating_add(parts->kernel, added->kernel);
        parts->all = saturating_add(parts->all, added->all);
}

/* The rule: more than half of the weight lies below Python functions. */
static inline bool python_parts_are_most(const struct python_parts *parts)
{
        return python_parts_below(parts) > parts->all / 2;
}

#endif /* ANALYZE_SAMPLES_PYTHON_STACKS_H */
