/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/handle_word.h - "z7" on a command line: a handle, or the name of something
 *
 * Way of the data:  command line -> [handle_word] -> name_list, zone_pattern, functions
 *
 * "handle:z7" means the handle and "name:z7" the name.  "z7" means either, so it is refused where both exist
 * and are not the same.  Before other words, the prefixes have no special meaning.
 */
#ifndef ANALYZE_TRACE_HANDLE_WORD_H
#define ANALYZE_TRACE_HANDLE_WORD_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

struct error;

#define HANDLE_PREFIX "handle:"

struct handle_text {
        char text[24];
};

struct handle_word {
        const char *bare; /* the word without a prefix */
        uint32_t id;      /* 0 = it means no handle */
        bool is_certain;  /* the word has a prefix, or cannot be a handle */
};

/* @letter: the kind of handle that is expected: 'f' (function), 't' (thread) or 'z' (zone) */
struct handle_word handle_word_parse(const char *word, char letter);

/*
 * handle_word_refuse() - report that the word may mean two things
 * @kind:    "zone"
 * @holder:  the name of the thing with the handle
 * Returns -EINVAL, with both spellings.
 */
int handle_word_refuse(const struct handle_word *word, const char *kind, struct text_view holder,
                       struct error *err);

/* Whether @name is spelled like this handle, as "z7" is. */
bool handle_word_is_name(char letter, uint32_t id, struct text_view name);

/* A handle for a command line: "z7", or "handle:z7" if something else has the name "z7". */
struct handle_text handle_word_spell(char letter, uint32_t id, bool is_name_of_another);

#endif /* ANALYZE_TRACE_HANDLE_WORD_H */
