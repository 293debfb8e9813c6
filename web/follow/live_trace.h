/* SPDX-License-Identifier: MIT */
/*
 * web/follow/live_trace.h - a trace that is still being written, as the viewer's server shows it
 *
 * Way of the data:  trace_follow -> [live_trace] (timeline_builder) -> timeline_index, loaded_trace ->
 *                   view_content
 *
 * live_trace_step() takes in what has arrived.  Between two steps the index answers questions about all that
 * is over, and the builder about zones and functions that are not.  Functions have the names that have come
 * by then.
 * Memory: one chunk, the dictionary, and that of the index.  Not thread-safe.
 */
#ifndef WEB_FOLLOW_LIVE_TRACE_H
#define WEB_FOLLOW_LIVE_TRACE_H

#include "analyze/walk/loaded_trace.h"
#include "format/trace_follow.h"
#include "timeline/timeline_builder.h"
#include "timeline/timeline_index.h"
#include "web/follow/live_frames.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

struct live_trace {
        struct trace_follow *follow;
        struct loaded_trace trace; /* without a reader: tables, names and times as of the last step */
        struct timeline_index index;
        struct timeline_builder builder;
        struct live_frames frames;
        bool has_begun;          /* the index is there: the first events have arrived */
        bool is_behind;          /* the time of the last step was over before what has arrived was */
        int index_fd;            /* of an empty file, until then; -1 = none */
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
