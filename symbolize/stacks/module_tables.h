/* SPDX-License-Identifier: MIT */
/*
 * symbolize/stacks/module_tables.h - the unwind tables of a trace's modules, of files that are found now
 *
 * Way of the data:  image_finder, debug_file_search -> unwind_module (in a child without rights) ->
 *                   [module_tables] -> stack_finisher
 *
 * A module has up to two tables: of its own file, and of the file with its debug information, which may have
 * a .debug_frame.  Files are hostile, so each module's are parsed in a confined child, whose answer is
 * checked as foreign bytes.  A file that kills its child costs the tables of this module.
 * Forks: for callers with one thread.  Not thread-safe.
 */
#ifndef SYMBOLIZE_STACKS_MODULE_TABLES_H
#define SYMBOLIZE_STACKS_MODULE_TABLES_H

#include "base/confinement.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODULE_TABLES_FILES_MAX  2                     /* of a module */
#define MODULE_TABLES_ANSWER_MAX (UINT32_C(384) << 20) /* bytes that a child may send */
#define MODULE_TABLES_BYTES_MAX  (UINT64_C(1) << 30)   /* of all tables; further modules have none */

struct image_finder;
struct stack_walk_code;
struct trace_mapping;
struct unwind_module;

struct module_tables {
        const struct image_finder *finder; /* borrowed, with all that it borrows */
        struct confinement_user user;      /* what the children become, if this process is root */
        struct module_tables_item {
                struct unwind_module *files[MODULE_TABLES_FILES_MAX]; /* owned; NULL = none */
                bool is_known;
        } * items;        /* heap, owned; by id in MODULES - 1 */
        uint32_t n_items; /* as MODULES has rows */
        uint64_t n_bytes;
};

/* Returns 0 or -ENOMEM. */
int module_tables_init(struct module_tables *t, const struct image_finder *finder,
                       struct confinement_user user);
void module_tables_deinit(struct module_tables *t);

/*
 * module_tables_find() - the table that has a rule for an address
 * @mapping:   of the module that holds @avma
 * @ret_code:  without a table if there is none
 * Builds the module's tables when it is asked for the first time: blocks until its child has ended, which has
 * a bounded time.
 */
void module_tables_find(struct module_tables *t, const struct trace_mapping *mapping, uint64_t avma,
                        struct stack_walk_code *ret_code);

#endif /* SYMBOLIZE_STACKS_MODULE_TABLES_H */
