/* SPDX-License-Identifier: MIT */
/*
 * analyze/stats/call_finder.h - from a call stack to the call into the kernel, and the function that made it
 *
 * Way of the data:  function_table -> [call_finder] -> kernel_calls, diff_calls
 *
 * The call is the function of the C library that the program called, else the innermost one of the program;
 * if that has no name, the kernel's function for the system call.  Pure functions; thread-safe.
 */
#ifndef ANALYZE_STATS_CALL_FINDER_H
#define ANALYZE_STATS_CALL_FINDER_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

struct function_table;
struct python_stacks;
struct trace_dictionary;

/* All borrowed. */
struct call_finder {
        const struct trace_dictionary *dictionary;
        const struct function_table *functions;
        /* Not NULL = the caller is the innermost Python function, if there is one. */
        const struct python_stacks *folds;
        bool skips_python; /* ignores Python functions, as if the recording had none */
};

/* Two numbers without a gap: compared as bytes. */
struct found_call {
        uint32_t call;   /* label; 0 = page faults, or unknown */
        uint32_t caller; /* label; 0 = unknown */
};

/* How a stack entered the kernel. */
struct kernel_entry {
        bool is_kernel, is_system_call, is_fault, is_child;
        uint32_t user_stack; /* the innermost frame of the program; 0 = none */
        uint32_t function;   /* label of the kernel's function for the system call; 0 = unknown */
};

/* @stack: 0 = none */
struct kernel_entry call_finder_entry(const struct call_finder *f, uint32_t stack);

/*
 * call_finder_of_stack() - the call with the program's frames @stack
 * The caller is the innermost function outside of the C library that has a name, if there is one.
 * @in_kernel:  NULL = no call is wanted; label of the kernel's function for the call, 0 = unknown
 */
struct found_call call_finder_of_stack(const struct call_finder *f, uint32_t stack,
                                       const uint32_t *in_kernel);

struct text_view call_finder_name(const struct call_finder *f, uint32_t label);

/*
 * The call that a function of the kernel serves: "futex" of "__x64_sys_futex"; empty = it serves no single
 * call.
 */
struct text_view call_finder_system_call(struct text_view name);

/* "write" of "sys_write", which is the frame of a counted system call; empty = no such function. */
struct text_view call_finder_counted_call(const struct call_finder *f, uint32_t label);

/* The name that programs use: "write" for "__libc_write", "write@@GLIBC_2.2.5" and "__x64_sys_write". */
struct text_view call_finder_as_written(struct text_view name);

/* Whether the system call, as a rule, waits for something else to happen, so that its time is not work. */
bool call_finder_only_waits(struct text_view name);

/* Whether it is a page fault; one within a system call is part of the call. */
static inline bool kernel_entry_is_page_fault(const struct kernel_entry *entry)
{
        return entry->is_fault && !entry->is_system_call;
}

#endif /* ANALYZE_STATS_CALL_FINDER_H */
