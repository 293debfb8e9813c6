/* SPDX-License-Identifier: MIT */
/*
 * symbolize/images/module_candidates.h - where the file of a module may be, one path after the other
 *
 * Way of the data:  trace_module, symbol_search -> [module_candidates] -> image_finder
 *
 * In this order: each folder of the search by build-id, by the module's path, by its name; below the other
 * root, if there is one; at the module's own path; the machine's folder of debug files by build-id; and,
 * for a module with a build-id, each file in the folders of the search.  It gives names alone: the caller
 * finds out whether a file is there and is the right one.
 */
#ifndef SYMBOLIZE_IMAGES_MODULE_CANDIDATES_H
#define SYMBOLIZE_IMAGES_MODULE_CANDIDATES_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol_search;
struct trace_dictionary;
struct trace_module;

struct module_candidates {
        const struct symbol_search *search; /* borrowed */
        char *module_path;                  /* heap; absolute; NULL = the module is no file with a name */
        char *build_id;                     /* heap: "ab/cdef..."; NULL = it has none */
        size_t next;                        /* number of the candidate that comes next */
        char *path;                         /* heap: the last one */
        bool is_any_file;            /* the last one only lies in a folder: its build-id alone decides */
        DIR *folder;                 /* owned: the folder whose files are listed; NULL = none */
        size_t next_folder, n_files; /* the folder after it; files that were listed of it */
};

/* @search: NULL = all zero.  Returns 0 or -ENOMEM. */
int module_candidates_init(struct module_candidates *c, const struct trace_dictionary *dictionary,
                           const struct trace_module *module, const struct symbol_search *search);
void module_candidates_deinit(struct module_candidates *c);

/* Returns 1 with the next path, borrowed until the next call; 0 at the end; -ENOMEM. */
int module_candidates_next(struct module_candidates *c, const char **ret_path);

#endif /* SYMBOLIZE_IMAGES_MODULE_CANDIDATES_H */
