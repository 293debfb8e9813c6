/* SPDX-License-Identifier: MIT */
/*
 * web/follow/live_trace.h - a trace that grows while it is looked at: its names, which a process of
 * their own finds, and its events
 *
 * Way of the data:  file -> live_symbols -> live_frames -> [live_trace] -> timeline_index, loaded_trace ->
 *                   view_content
 */
#ifndef WEB_FOLLOW_LIVE_TRACE_H
#define WEB_FOLLOW_LIVE_TRACE_H

#include "analyze/live/live_labels.h"
#include "analyze/walk/loaded_trace.h"
#include "base/byte_buffer.h"
#include "format/trace_follow.h"
#include "symbolize/process/live_names.h"
#include "timeline/timeline_builder.h"
#include "timeline/timeline_index.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct index_cache;
struct timeline_ghost_names;
struct trace_dictionary;

/*
 * live_symbols.c - the process that finds the names of a trace while it is still being written
 *
 * Way of the data:  file -> [live_symbols] (trace_follow, live_names, fork) -> file -> live_frames
 *
 * A child of the viewer reads the tables of the trace as they come, and writes the names that its symbolizer
 * finds into a file without a name, in rows of live_names_feed().  The recorder does nothing for it.
 */

struct live_symbols {
        pid_t pid;    /* 0 = none */
        int names_fd; /* the file, to be read from its beginning; -1 = none; owned */
};

/*
 * live_symbols_start()
 * @cache:  of indexes; NULL = none
 * The caller has one thread (it forks).  Returns 0 or -errno; to be stopped in any case.
 */
int live_symbols_start(struct live_symbols *s, const char *trace, const struct index_cache *cache,
                       struct error *err);
void live_symbols_stop(struct live_symbols *s);

/*
 * live_frames.c - the functions of a trace that grows and the frames of its stacks, as they are
 * named by now
 *
 * Way of the data:  live_symbols (file) -> [live_frames] (live_names, live_labels) -> timeline_ghosts,
 *                   view_model, view_content
 *
 * A label is a function, or a frame that has no name yet: that one shows its module and offset, and its name
 * as soon as it comes.  Labels stay.  Memory: the names.  Not thread-safe.
 */

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

/*
 * live_trace.c - a trace that is still being written, as the viewer's server shows it
 *
 * Way of the data:  trace_follow -> [live_trace] (timeline_builder) -> timeline_index, loaded_trace ->
 *                   view_content
 *
 * live_trace_step() takes in what has arrived.  Between two steps the index answers questions about all that
 * is over, and the builder about zones and functions that are not.  Functions have the names that have come
 * by then.
 * Memory: one chunk, the dictionary, and that of the index.  Not thread-safe.
 */

struct live_trace {
        struct trace_follow *follow;
        struct loaded_trace trace; /* without a reader: tables, names and times as of the last step */
        struct timeline_index index;
        struct timeline_builder builder;
        struct live_frames frames;
        bool has_begun;          /* the index is there: the first events have arrived */
        uint64_t came_ns;        /* when the last chunk came: clock_raw_ns() */
        bool is_behind;          /* the last step ran out of time before it had read all that has arrived */
        int index_fd;            /* of the empty file for the index, until it is there; -1 = none */
        uint32_t *titled;        /* heap; by thread id - 1: the name that its track has */
        size_t threads_capacity; /* of the trace's names */
        size_t titled_capacity;
};

/*
 * live_trace_open()
 * @fd:        the file; owned from a success on
 * @index_fd:  an empty file for reading and writing; owned, also after a failure
 * @names_fd:  the file of live_symbols; borrowed; -1 = none
 * @name:      of the trace, for words
 * Returns 0 or what trace_follow_open() returns; to be closed in any case.  Not to be moved afterwards.
 */
int live_trace_open(struct live_trace *ret, int fd, int index_fd, int names_fd, const char *name,
                    struct error *err);
void live_trace_close(struct live_trace *l);

/*
 * live_trace_step() - what has arrived, for a twentieth of a second at most
 * Returns 1 = more may come; 0 = the recording is over: whole, cut off or damaged, which a reader of the file
 * says in full; -ESTALE if the file was truncated or replaced, -EBADMSG if it is no trace, -ENOMEM, -errno.
 */
int live_trace_step(struct live_trace *l, struct error *err);

#endif /* WEB_FOLLOW_LIVE_TRACE_H */
