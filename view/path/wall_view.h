/* SPDX-License-Identifier: MIT */
/*
 * view/path/wall_view.h - the answer of `hyprof report --wall` as a document
 *
 * Way of the data:  wall_shares -> [wall_view] -> view_document
 */
#ifndef VIEW_PATH_WALL_VIEW_H
#define VIEW_PATH_WALL_VIEW_H

#include <stdbool.h>

struct answer_schema;
struct answer_words;
struct event_view_options;
struct loaded_trace;
struct view_document;
struct wall_shares;

extern const struct answer_schema wall_view_schema;

/*
 * The first line of the answer, if at least @share_min of the wall time was lost: to waits while no thread
 * could run, or by a function beyond its part of the samples, since few threads ran beside it.  Returns
 * whether it was.
 */
bool wall_view_say(const struct wall_shares *w, double share_min, struct answer_words *ret_words);

/* Fills a document that is initialised; when memory runs out, it is `failed`. */
void wall_view_fill(struct view_document *d, const struct wall_shares *w, struct loaded_trace *trace,
                    const struct event_view_options *options);

#endif /* VIEW_PATH_WALL_VIEW_H */
