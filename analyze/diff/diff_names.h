/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_names.h - which functions and zones of two traces are the same
 *
 * Way of the data:  function_table, trace_dictionary -> [diff_names] -> diff_run, diff_comparison
 *
 * Ids of a trace mean nothing in another one.  So compared items get a key that all traces share, made of:
 *
 *      function   where it is declared, its name without what compilers append to copies of it
 *                 (".constprop.0", ".cold", " [clone ...]"), and the file name of its module without folders
 *                 and without the version of a shared object; see diff_settle.h
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

struct trace_device;
struct trace_dictionary;
struct function;
struct trace_location;
struct trace_symbol;

/* The limit for all traces together; further names are left out, and counted by the caller. */
#define DIFF_NAMES_KEYS_MAX  (UINT32_C(1) << 18)
#define DIFF_NAMES_BYTES_MAX (UINT32_C(1) << 27)

#define DIFF_NAMES_PAGE_FAULTS  "page faults" /* the call of waits for a page */
#define DIFF_NAMES_UNKNOWN_CALL "[unknown]"   /* nothing is known of the call */

/*
 * The kinds of items.  A wait is known by the call and its caller, a system call by the call alone; a kernel,
 * a zone of a device, by the name of its device.
 */
enum diff_kind { DIFF_FUNCTION, DIFF_ZONE, DIFF_WAIT, DIFF_CALL, DIFF_KERNEL, DIFF_KIND_COUNT };

/* Whether the mean of one of many instances is compared. */
static inline bool diff_kind_is_zone(uint32_t kind)
{
        return kind == DIFF_ZONE || kind == DIFF_KERNEL;
}

/* Strings are ids of diff_names; 0 = none.  Compared as bytes. */
struct diff_key {
        uint32_t kind; /* enum diff_kind */
        uint32_t name;
        uint32_t module;   /* of a function, of who waits; of a kernel its device */
        uint32_t function; /* of a zone; of a wait the call */
        uint32_t file;     /* of a zone; where a function is declared, or begins, "0x1160"; without folders */
        uint32_t line;     /* of a function's declaration; 0 = unknown */
        uint32_t instance; /* of a function: struct trace_symbol */
};

struct diff_names {
        struct intern strings;
        struct intern keys; /* struct diff_key */
        uint32_t *shown;    /* heap; by key: string, the name in reports; NULL = the `name` of the key */
        uint32_t n_shown;
};

void diff_names_init(struct diff_names *n);
void diff_names_deinit(struct diff_names *n);

/*
 * The key of a function, of a zone.  @symbol: of function_table_symbol(), may be NULL.
 * Returns 0, -ENOMEM, -EOVERFLOW when there are too many.
 */
int diff_names_add_function(struct diff_names *n, const struct trace_dictionary *d,
                            const struct function *function, const struct trace_symbol *symbol,
                            uint32_t *ret_key);
int diff_names_add_zone(struct diff_names *n, const struct trace_dictionary *d,
                        const struct trace_location *location, uint32_t *ret_key);

/* The key of a zone of a device; returns as above. */
int diff_names_add_kernel(struct diff_names *n, const struct trace_dictionary *d,
                          const struct trace_location *location, const struct trace_device *device,
                          uint32_t *ret_key);

/* The caller of a call; both are NULL if it is unknown. */
struct diff_caller {
        const struct function *function;
        const struct trace_symbol *symbol;
};

/* The key of a wait, "fdatasync from commit", or of a system call, without its caller; returns as above. */
int diff_names_add_call(struct diff_names *n, const struct trace_dictionary *d, enum diff_kind kind,
                        struct text_view call, const struct diff_caller *caller, uint32_t *ret_key);

/* Adds the name of a function, without its module, as a string; returns as above. */
int diff_names_add_name(struct diff_names *n, const struct trace_dictionary *d,
                        const struct function *function, const struct trace_symbol *symbol, uint32_t *ret_id);

const struct diff_key *diff_names_key(const struct diff_names *n, uint32_t key);

/* The name of a key in reports: with its file where several functions have that name. */
struct text_view diff_names_shown(const struct diff_names *n, uint32_t key);

/* Borrowed until the next add. */
struct text_view diff_names_string(const struct diff_names *n, uint32_t id);

/* Whether a name equals @glob, or fits it as a glob. */
bool diff_names_fits_glob(struct text_view name, const char *glob);

/*
 * Whether a key is a function of the kernel, or a wait for a page: its share depends on other work of the
 * machine.
 */
bool diff_names_is_kernel(const struct diff_names *n, const struct diff_key *key);

/* The part of a path that is compared; exported for tests. */
struct text_view diff_names_plain_module(struct text_view path);

#endif /* ANALYZE_DIFF_DIFF_NAMES_H */
