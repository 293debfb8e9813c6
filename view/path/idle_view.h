/* SPDX-License-Identifier: MIT */
/*
 * view/path/idle_view.h - the answer of `hyprof report --idle` as a document
 *
 * Way of the data:  idle_cores -> [idle_view] -> view_document
 */
#ifndef VIEW_PATH_IDLE_VIEW_H
#define VIEW_PATH_IDLE_VIEW_H

#include <stdbool.h>

struct answer_schema;
struct answer_words;
struct event_view_options;
struct idle_cores;
struct loaded_trace;
struct view_document;

extern const struct answer_schema idle_view_schema;

/*
 * The first line of the answer, if one cause took at least @share_min of the cores' time: returns whether it
 * did.  Others' programs are no cause; nor is the kernel, where other programs and idle CPUs cannot be told
 * apart.
 */
bool idle_view_say(const struct idle_cores *c, double share_min, struct answer_words *ret_words);

/* Fills a document that is initialised; when memory runs out, it is `failed`. */
void idle_view_fill(struct view_document *d, const struct idle_cores *c, struct loaded_trace *trace,
                    const struct event_view_options *options);

#endif /* VIEW_PATH_IDLE_VIEW_H */
