/* SPDX-License-Identifier: MIT */
/*
 * view/why/why_view.h - the answer of `hyprof why` as a document
 *
 * Way of the data:  why -> [why_view] -> view_document
 */
#ifndef VIEW_WHY_WHY_VIEW_H
#define VIEW_WHY_WHY_VIEW_H

#include "base/text_view.h"

#include <stdint.h>

struct answer_schema;
struct loaded_trace;
struct view_document;
struct why;

extern const struct answer_schema why_view_schema;

struct why_view_options {
        const char *path;        /* of the trace, for hints */
        uint32_t limit;          /* rows of a table; 0 = all */
        struct text_view filter; /* the chosen part, in words; empty = everything */
};

/* Fills a document that is initialised.  @trace: with threads' names. */
void why_view_fill(struct view_document *d, const struct why *w, const struct loaded_trace *trace,
                   const struct why_view_options *options);

#endif /* VIEW_WHY_WHY_VIEW_H */
