/* SPDX-License-Identifier: MIT */
/*
 * symbolize/index/code_names.h - the names of functions and paths of files that an index mentions
 *
 * Way of the data:  code_walk, code_unit_builder -> [code_names] -> module_symbols, saved_index
 *
 * Names are told apart by their place in memory, since linkers keep equal texts once, and by where their
 * functions are declared.  A name is made readable when it is first asked for.
 */
#ifndef SYMBOLIZE_INDEX_CODE_NAMES_H
#define SYMBOLIZE_INDEX_CODE_NAMES_H

#include "base/intern.h"
#include "symbolize/elf/demangle_rules.h"

#include <stddef.h>
#include <stdint.h>

#define CODE_NAMES_SHOWN_MAX \
        (UINT32_C(1) << 29) /* bytes; hostile names grow. Over it they stay as they are */

/* Where a function is declared; all zero = unknown. */
struct code_declaration {
        uint32_t path; /* id */
        uint32_t line;
        uint32_t instance; /* tells functions of one name and line apart: instances of a template, say */
};

struct code_name {
        const char *linkage; /* borrowed from the files */
        const char *shown;   /* NULL = not asked for yet; heap if it is not `linkage` */
        struct code_declaration declaration;
        uint32_t counted_in, n_counted; /* see code_names_count_instance() */
};

/* Ids count from 1; 0 is unknown. */
struct code_names {
        struct code_name *names; /* heap; [0] is unused */
        size_t n_names, names_capacity;
        uint32_t *slots; /* heap; hash table of ids, 0 = empty */
        size_t n_slots;
        enum mangling mangling; /* set before the first name is shown */
        size_t shown_bytes;     /* heap of demangled names */
        struct intern paths;    /* each with its NUL */
        char *path;             /* heap; to put paths together */
        size_t path_capacity;
};

void code_names_init(struct code_names *names);
void code_names_deinit(struct code_names *names);

/* @name: NUL-terminated, outlives the table; NULL is id 0.  Returns 0 or -ENOMEM. */
int code_names_add(struct code_names *names, const char *name, uint32_t *ret_id);

/* The same for a name with a declaration: functions of one name that are declared elsewhere differ. */
int code_names_add_declared(struct code_names *names, const char *name,
                            const struct code_declaration *declaration, uint32_t *ret_id);

/*
 * Counts a function of the name @id in the unit @unit, which is not 0.  Returns how many were counted there
 * before.
 */
uint32_t code_names_count_instance(struct code_names *names, uint32_t id, uint32_t unit);

/* All zero for id 0. */
struct code_declaration code_names_declaration(const struct code_names *names, uint32_t id);

/*
 * code_names_add_path() - the path that three parts make
 * @file, @directory, @comp_dir: each relative to the next one; NULL = unknown
 * Returns 0; -ENOMEM, -EOVERFLOW for more than a path can be.
 */
int code_names_add_path(struct code_names *names, const char *file, const char *directory,
                        const char *comp_dir, uint32_t *ret_id);

/* The name as it is in the files; NULL for id 0. */
const char *code_names_linkage(const struct code_names *names, uint32_t id);

/* The readable name; NULL for id 0.  Borrowed until the deinit. */
const char *code_names_show(struct code_names *names, uint32_t id);

/* The path; NULL for id 0.  Borrowed until the next path is added. */
const char *code_names_path(const struct code_names *names, uint32_t id);

#endif /* SYMBOLIZE_INDEX_CODE_NAMES_H */
