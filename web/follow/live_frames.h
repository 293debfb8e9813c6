/* SPDX-License-Identifier: MIT */
/*
 * web/follow/live_frames.h - the functions of a trace that grows and the frames of its stacks, as they are
 * named by now
 *
 * Way of the data:  live_symbols (file) -> [live_frames] (live_names, live_labels) -> timeline_ghosts,
 *                   view_model, view_content
 *
 * A label is a function, or a frame that has no name yet: that one shows its module and offset, and its name
 * as soon as it comes.  Labels stay.  Memory: the names.  Not thread-safe.
 */
#ifndef WEB_FOLLOW_LIVE_FRAMES_H
#define WEB_FOLLOW_LIVE_FRAMES_H

#include "analyze/live/live_labels.h"
#include "base/byte_buffer.h"
#include "symbolize/process/live_names.h"

#include <jansson.h>
#include <stdint.h>

struct timeline_ghost_names;
struct trace_dictionary;

struct live_frames {
        const struct trace_dictionary *dictionary; /* borrowed */
        struct live_names names;
        struct live_shown *shown; /* of these names */
        struct live_labels labels;
        int names_fd;             /* the file of live_symbols, borrowed; -1 = only the trace's own names */
        struct byte_buffer input; /* read from it, and not taken in yet */
};

/* Returns 0 or -ENOMEM; to be deinitialised in any case.  Not to be moved afterwards. */
int live_frames_init(struct live_frames *f, const struct trace_dictionary *dictionary, int names_fd);
void live_frames_deinit(struct live_frames *f);

/* Takes in the names that have come.  Returns 0 or -ENOMEM. */
int live_frames_step(struct live_frames *f);

/* For the ghosts of a timeline; borrows @f. */
struct timeline_ghost_names live_frames_ghost_names(struct live_frames *f);

/* As view_names_list_functions() and view_names_list_stack(). */
json_t *live_frames_list_functions(const struct live_frames *f);
json_t *live_frames_list_stack(const struct live_frames *f, uint32_t stack);

#endif /* WEB_FOLLOW_LIVE_FRAMES_H */
