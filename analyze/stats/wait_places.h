/* SPDX-License-Identifier: MIT */
/*
 * analyze/stats/wait_places.h - callstacks of waits and wakers -> the functions that people look for
 *
 * Way of the data:  wait_stats, function_table -> [wait_places] -> report_waits
 *
 * The same place has many callstacks: they differ in addresses, and in how the
 * kernel came from the system call to its scheduler.  A place is the chain of the program's functions, one
 * function of the kernel, which shows the reason for the wait, and the state.  If call stacks are folded, the
 * chain begins at the innermost Python function, and has its line.  Not thread-safe.
 */
#ifndef ANALYZE_STATS_WAIT_PLACES_H
#define ANALYZE_STATS_WAIT_PLACES_H

#include "analyze/samples/function_table.h"
#include "analyze/samples/python_stacks.h"
#include "base/intern.h"
#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

struct trace_dictionary;

/*
 * How the names of functions of the kernel begin that are part of every wait or wake-up, or that record it:
 * they do not show what the wait is for.
 */
#define WAIT_PLACES_PLUMBING(X)    \
        X("schedule")              \
        X("__schedule")            \
        X("preempt_schedule")      \
        X("io_schedule")           \
        X("__cond_resched")        \
        X("sched_")                \
        X("trace_")                \
        X("__traceiter")           \
        X("bpf_")                  \
        X("__bpf_")                \
        X("perf_")                 \
        X("__perf_")               \
        X("try_to_wake_up")        \
        X("ttwu_")                 \
        X("wake_up")               \
        X("__wake_up")             \
        X("default_wake_function") \
        X("autoremove_wake_function")

/*
 * The program's frames, from the innermost on: those around them are left out, which bounds the work
 * for one callstack.
 */
#define WAIT_PLACES_FRAMES_MAX 128

/* A place as it is stored: the members of this struct, then a label for each function. */
struct wait_place {
        uint32_t wait;         /* as in struct wait_key */
        uint32_t kernel_label; /* 0 = none */
        uint32_t has_stack, is_cut;
        uint32_t line;                           /* of a Python function, labels[0]; 0 = none, or unknown */
        uint32_t labels[WAIT_PLACES_FRAMES_MAX]; /* innermost first */
        uint32_t n_labels;                       /* not part of the kept data */
};

struct wait_places {
        const struct trace_dictionary *dictionary; /* borrowed */
        struct function_table functions;
        struct intern places;              /* the kept part of struct wait_place */
        const struct python_stacks *folds; /* borrowed; NULL = native code stands for itself */
        uint32_t *first_symbols;           /* heap; by frame, for lines; NULL if not folded */
};

/* Returns 0, -ENOMEM or -EOVERFLOW; empty then. */
int wait_places_init(struct wait_places *p, const struct trace_dictionary *dictionary);
void wait_places_deinit(struct wait_places *p);

/* Before the first place: native code counts for the Python function that called it.  0 or -ENOMEM. */
int wait_places_fold(struct wait_places *p, const struct python_stacks *folds);

/*
 * The id of the place of a callstack; equal places have one id.  @stack 0 = none.  Returns
 * 0, -ENOMEM, -EOVERFLOW.
 */
int wait_places_add(struct wait_places *p, uint32_t stack, uint32_t wait, uint32_t *ret_id);
/*
 * wait_places_add_told() - the same for a callstack that the program recorded itself, without a wait
 * Functions of the client library, which are in headers, are left out at the inner end, if there are any
 * others.
 */
int wait_places_add_told(struct wait_places *p, uint32_t stack, uint32_t *ret_id);
void wait_places_get(const struct wait_places *p, uint32_t id, struct wait_place *ret_place);

/*
 * The innermost of the functions outside of the C library and the loader that is not a wrapper of the
 * language's library; else the innermost outside of these two; n_labels if there is neither.
 */
uint32_t wait_places_find_own(const struct wait_places *p, const struct wait_place *place);

/* The function of the C library that the program called there, such as pthread_mutex_lock(); 0 = none. */
uint32_t wait_places_find_call(const struct wait_places *p, const struct wait_place *place);

/* Whether it is a function outside of the C library and the loader, and no mark. */
bool wait_places_is_own(const struct wait_places *p, uint32_t label);

/* The function to name for a waker's callstack; 0 = nothing is known. */
uint32_t wait_places_find_waker(const struct wait_places *p, uint32_t stack);

/* Whether the name of a function of the kernel begins with an item of WAIT_PLACES_PLUMBING. */
bool wait_places_is_plumbing(struct text_view name);

/* Whether a module's path is that of the C library, the dynamic loader (glibc's or musl's), or the vdso. */
bool wait_places_is_c_library(struct text_view path);

#endif /* ANALYZE_STATS_WAIT_PLACES_H */
