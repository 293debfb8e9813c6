/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/name_list.h - "worker*,1234,t3": a list of names, numbers and handles on a command line
 *
 * Way of the data:  command line -> [name_list] -> trace_filter, function_choice
 *
 * Items have commas between them; "\," is a comma.  A name is a glob of fnmatch(3).  Immutable once made.
 */
#ifndef ANALYZE_TRACE_NAME_LIST_H
#define ANALYZE_TRACE_NAME_LIST_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

enum name_meaning { NAME_OR_HANDLE = 0, NAME_ONLY, HANDLE_ONLY };

struct name_list {
        char **globs;                /* heap, and each of them */
        enum name_meaning *meanings; /* heap; of each; NULL = NAME_OR_HANDLE */
        size_t n_globs;
};

/* Returns 0, -EINVAL with words (an empty item), -ENOMEM.  To be deinitialised in any case. */
int name_list_init(struct name_list *l, const char *text, struct error *err);
void name_list_deinit(struct name_list *l);

/* Reads items such as "handle:t3" and "name:t3", for handles with this letter.  Returns 0 or -ENOMEM. */
int name_list_read_handles(struct name_list *l, char letter);

bool name_list_fits(const struct name_list *l, struct text_view name);
bool name_list_has_number(const struct name_list *l, uint64_t number);
bool name_list_has_handle(const struct name_list *l, char letter, uint64_t id);

/* Whether there is an item that is neither a number nor certainly a handle. */
bool name_list_has_names(const struct name_list *l);

#endif /* ANALYZE_TRACE_NAME_LIST_H */
