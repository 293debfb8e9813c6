/* SPDX-License-Identifier: MIT */
/*
 * cli/manual/manual_prose.h - texts that are built in: the prose of manuals and the schemas of answers
 *
 * Way of the data:  docs/man, docs/schemas -> [manual_prose] -> man_page -> hyprof-NAME(1),
 *                   `hyprof help`, `hyprof guide`
 *
 *      docs/man/NAME.txt                   "NAME": paragraphs end with an empty line; "# WORDS" is a heading;
 *                                          lines that begin with four spaces stay as they are
 *      docs/schemas/NAME.VERSION.json      "NAME/VERSION": a JSON Schema, of draft 2020-12
 */
#ifndef CLI_MANUAL_MANUAL_PROSE_H
#define CLI_MANUAL_MANUAL_PROSE_H

#include <stddef.h>

struct manual_text {
        const char *name; /* static, not ended by a NUL */
        size_t n_name_bytes;
        const char *text; /* static; NULL = before the first */
        size_t n_bytes;
};

/* The next one in the order of their files; zeroed at first.  Returns 1, or 0 after the last. */
int manual_prose_next(struct manual_text *text);

/* Static text of @ret_n_bytes; NULL if no prose has this name. */
const char *manual_prose_find(const char *name, size_t *ret_n_bytes);

#endif /* CLI_MANUAL_MANUAL_PROSE_H */
