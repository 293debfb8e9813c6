/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_names.h - which functions and zones of two traces are the same
 *
 * Way of the data:  function_table, trace_dictionary -> [diff_names] -> diff_run, diff_comparison
 *
 * Ids of a trace mean nothing in another one.  Compared items get a key that all traces share:
 *
 *      function   its name without what compilers append to copies of it (".constprop.0", ".cold", "
 *                 [clone ...]"), and the file name of its module without folders and without the
 *                 version of a shared object
 *      zone       its name, its function, and the name of its source file without folders; no line
 *
 * Not thread-safe.
 */
#ifndef ANALYZE_DIFF_DIFF_NAMES_H
#define ANALYZE_DIFF_DIFF_NAMES_H

#include "base/intern.h"
#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

struct trace_dictionary;
struct function;
struct trace_location;

/* The limit for all traces together; further names are left out, and counted by the caller. */
#define DIFF_NAMES_KEYS_MAX  (UINT32_C(1) << 18)
#define DIFF_NAMES_BYTES_MAX (UINT32_C(1) << 27)

enum diff_kind { DIFF_FUNCTION, DIFF_ZONE, DIFF_KIND_COUNT };

/* Strings are ids of diff_names; 0 = none.  Compared as bytes. */
struct diff_key {
        uint32_t kind; /* enum diff_kind */
        uint32_t name;
        uint32_t module;   /* of a function */
        uint32_t function; /* of a zone */
        uint32_t file;     /* of a zone */
};

struct diff_names {
        struct intern strings;
        struct intern keys; /* struct diff_key */
};

void diff_names_init(struct diff_names *n);
void diff_names_deinit(struct diff_names *n);

/* The key of a function, of a zone.  Returns 0, -ENOMEM, -EOVERFLOW when there are too many. */
int diff_names_add_function(struct diff_names *n, const struct trace_dictionary *d,
                            const struct function *function, uint32_t *ret_key);
int diff_names_add_zone(struct diff_names *n, const struct trace_dictionary *d,
                        const struct trace_location *location, uint32_t *ret_key);

const struct diff_key *diff_names_key(const struct diff_names *n, uint32_t key);

/* Borrowed until the next add. */
struct text_view diff_names_string(const struct diff_names *n, uint32_t id);

/* Whether it is the kernel's: its share depends on what else the machine does. */
bool diff_names_is_kernel(const struct diff_names *n, const struct diff_key *key);

/* The parts that are compared; exported for tests. */
struct text_view diff_names_plain_function(struct text_view name);
struct text_view diff_names_plain_module(struct text_view path);

#endif /* ANALYZE_DIFF_DIFF_NAMES_H */
