/* SPDX-License-Identifier: MIT */
/*
 * view/path/path_view.h - the answer of `hyprof path` as a document
 *
 * Way of the data:  path -> [path_view] -> view_document
 */
#ifndef VIEW_PATH_PATH_VIEW_H
#define VIEW_PATH_PATH_VIEW_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

struct answer_schema;
struct path;
struct view_document;

extern const struct answer_schema path_view_schema;

struct path_view_options {
        const char *path;        /* of the trace, for hints */
        uint32_t limit;          /* rows of a table; 0 = all */
        uint32_t segments_limit; /* of the path of one instance */
        struct text_view filter; /* the chosen part, in words; empty = everything */
        bool chooses_samples;    /* --cpu or --module: the path is not of samples alone, and ignores them */
};

/* Fills a document that is initialised. */
void path_view_fill(struct view_document *d, const struct path *p, const struct path_view_options *options);

#endif /* VIEW_PATH_PATH_VIEW_H */
