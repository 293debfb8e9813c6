/* SPDX-License-Identifier: MIT */
/*
 * analyze/samples/function_table.h - the frames of a trace -> functions that people know
 *
 * Way of the data:  trace_dictionary (frames, modules, symbols) -> [function_table] -> label_tree, report
 *
 * A function is a name in a module, after different functions of one name got different names
 * (analyze/trace/function_labels.h); the module is known by its path.  A function without a symbol gets a
 * name from its start address.  Frames without either are one "function" for each module and reason.  A frame
 * in inlined code has several functions, the innermost first.
 *
 * Made once, when the trace was read to its end.  Borrows nothing.
 */
#ifndef ANALYZE_SAMPLES_FUNCTION_TABLE_H
#define ANALYZE_SAMPLES_FUNCTION_TABLE_H

#include "analyze/samples/label_tree.h"
#include "base/intern.h"

#include <stdbool.h>
#include <stdint.h>

struct error;
struct trace_dictionary;
struct trace_symbol;

/*
 * Further functions inlined into each other at one address are left out: the limit bounds the work for one
 * frame.
 */
#define FUNCTION_TABLE_INLINED_MAX 64

enum function_kind {
        FUNCTION_NAMED = 0,
        FUNCTION_NO_SYMBOL = 1,    /* the module gives no name for the address */
        FUNCTION_STALE_FILE = 2,   /* the module's file is another one now, and gives no name */
        FUNCTION_NO_MODULE = 3,    /* the address lies outside of every known mapping */
        FUNCTION_NO_CALLSTACK = 4, /* not even an address was recorded */
        FUNCTION_MARK = 5,         /* no function: `name` stands in its place, as "[truncated]" */
        FUNCTION_UNNAMED = 6,      /* no symbol; `name` is made of the module and its first address */
        FUNCTION_KIND_COUNT
};

/* Compared as bytes. */
struct function {
        uint32_t module; /* string: its path; 0 = none */
        uint32_t name;   /* string; 0 unless FUNCTION_NAMED, FUNCTION_UNNAMED or FUNCTION_MARK */
        uint32_t kind;   /* enum function_kind */
};

struct function_table {
        struct intern functions; /* struct function; their ids are the labels of the groups */
        /* Group f is frame f; the group after the last frame is that of samples without a callstack. */
        struct label_groups frames;
        uint32_t *symbols; /* heap; by label: a row of SYMBOLS of the function, 0 = it has none */
        size_t symbols_capacity;
};

/* Returns 0, -ENOMEM or -EOVERFLOW; the table is empty then. */
int function_table_init(struct function_table *t, const struct trace_dictionary *dictionary);
void function_table_deinit(struct function_table *t);

/* The function with a label, 1 .. n_labels. */
const struct function *function_table_get(const struct function_table *t, uint32_t label);

/*
 * A row that states where the function with a label is declared, or else any row of the function; NULL if it
 * has none.
 */
const struct trace_symbol *function_table_symbol(const struct function_table *t,
                                                 const struct trace_dictionary *dictionary, uint32_t label);

/* Whether another function's name, with parameters or without, is the handle of this one. */
bool function_table_is_shadowed(const struct function_table *t, const struct trace_dictionary *dictionary,
                                uint32_t label);

/*
 * function_table_find_handle() - the function that a word means, if the word is a handle
 * Returns 1 and its label, 0 if the word may be a name; with words -EINVAL if it is one function's handle and
 * the name of another, -ENOENT for "handle:f12" where there is no f12.
 */
int function_table_find_handle(const struct function_table *t, const struct trace_dictionary *dictionary,
                               const char *wanted, uint32_t *ret_label, struct error *err);

#endif /* ANALYZE_SAMPLES_FUNCTION_TABLE_H */
