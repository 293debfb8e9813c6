/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/path_names.h - the threads and call stacks of a path -> what people call them
 *
 * Way of the data:  loaded_trace, wait_places -> [path_names] -> path_sums
 *
 * Threads of one name in programs of one name are one *group*: the workers of a pool, the compilers that a
 * build starts.  A call stack's *place* is the program's innermost function, what it called in the C
 * library, and the kernel's function that shows the reason.  Each call stack is looked at once.
 * Memory: eight bytes a call stack, four a thread.  Not thread-safe.
 */
#ifndef ANALYZE_PATH_PATH_NAMES_H
#define ANALYZE_PATH_PATH_NAMES_H

#include "analyze/samples/python_stacks.h"
#include "analyze/stats/wait_places.h"
#include "base/intern.h"

#include <stdbool.h>
#include <stdint.h>

struct loaded_trace;
struct path_spins;

struct path_group {
        uint32_t name;      /* string */
        uint32_t program;   /* string: the name of the process's first thread */
        uint32_t first;     /* its first thread */
        uint32_t n_threads; /* on the path or not */
        uint32_t n_processes;
};

/* Compared as bytes. */
struct path_place {
        uint32_t own;    /* label of the program's function; where it has none, of another one; 0 = unknown */
        uint32_t call;   /* label of the function of the C library that it called; 0 = none */
        uint32_t kernel; /* label; 0 = none */
        uint32_t spins;  /* 1: the names say that it runs to wait for something */
        uint32_t meets;  /* 1: the names say that it waits at a barrier, for others to come there as well */
};

struct path_names {
        const struct loaded_trace *trace; /* borrowed; with threads' names */
        struct wait_places places;
        struct python_stacks python;
        struct intern group_keys;  /* name and program */
        struct path_group *groups; /* heap; by group - 1 */
        size_t groups_capacity;
        uint32_t *group_of;             /* heap; by thread id - 1: group */
        struct intern items;            /* struct path_place */
        uint32_t *place_of;             /* heap; by stack: 0 = not looked at yet */
        const struct path_spins *spins; /* borrowed: code that spins; NULL = the code was not looked at */
        float *saved; /* heap, of what_if: by stack, the saved share of a sample's time; NULL = none */
        uint32_t n_threads, n_stacks;
};

/* Returns 0, -ENOMEM or -EOVERFLOW; to be deinitialised in any case. */
int path_names_init(struct path_names *n, const struct loaded_trace *trace);
void path_names_deinit(struct path_names *n);

/* Before the first place: native code counts for the Python function that called it.  0 or -ENOMEM. */
int path_names_fold(struct path_names *n);

/* The group of a thread of the trace. */
static inline uint32_t path_names_group(const struct path_names *n, uint32_t thread)
{
        return n->group_of[thread - 1];
}

/* The id of a call stack's place; of the empty place for stack 0.  Returns 0, -ENOMEM or -EOVERFLOW. */
int path_names_place(struct path_names *n, uint32_t stack, uint32_t *ret_id);

/* The same for a call stack that was looked at before; 0 = it was not. */
static inline uint32_t path_names_known(const struct path_names *n, uint32_t stack)
{
        return stack <= n->n_stacks ? n->place_of[stack] : 0;
}

static inline const struct path_place *path_names_get(const struct path_names *n, uint32_t id)
{
        return intern_get(&n->items, id, NULL);
}

/* The share of its time that a sample with this call stack would not take, 0 .. 1. */
static inline double path_names_saved(const struct path_names *n, uint32_t stack)
{
        return n->saved && stack <= n->n_stacks ? (double)n->saved[stack] : 0;
}

/* Whether a sample with this call stack, at @place, ran in order to wait: by its names, or by its code. */
bool path_names_spins(const struct path_names *n, uint32_t stack, const struct path_place *place);

/* A function's name, or in brackets why it has none; empty for label 0. */
struct text_view path_names_function(const struct path_names *n, uint32_t label,
                                     enum function_kind *ret_kind);

#endif /* ANALYZE_PATH_PATH_NAMES_H */
