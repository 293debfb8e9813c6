/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/what_if.h - what the instances would gain, at most, if some functions took less time
 *
 * Way of the data:  options -> [what_if] (request); path_pass, replay, path_walk -> path_sums -> [what_if] ->
 *                   what_if_words, path_view
 *
 * A part of a path is not gained in full: another thread is the last one then.  So the path of each instance
 * is walked a second time, in the times of a replay, and the sums of both are compared: what has more time on
 * it than before is what the instances wait for then.  A function stands for all that it called.
 */
#ifndef ANALYZE_PATH_WHAT_IF_H
#define ANALYZE_PATH_WHAT_IF_H

#include "analyze/path/path_sums.h"
#include "analyze/path/path_walk.h"
#include "analyze/path/replay.h"
#include "base/text_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct past;
struct path_names;

#define WHAT_IF_CHANGES_MAX 8

struct what_if_change {
        struct text_view function; /* borrowed; a name, or a handle as f12 */
        double factor;             /* of its time that remains, 0 .. 1 */
};

struct what_if_request {
        const char *text; /* borrowed; as typed */
        struct what_if_change changes[WHAT_IF_CHANGES_MAX];
        size_t n; /* 0 = nothing is asked */
};

/* A part of the path: as it is, and as it would be. */
struct what_if_row {
        struct path_row_key key;
        double before_ns, then_ns; /* of all instances */
        bool is_changed;           /* its function is one of the request, by its name */
};

struct what_if {
        struct what_if_request request;
        struct replay replay;
        struct path_walk walk; /* of the path as it would be */
        struct path_sums then; /* of it */
        int64_t gain_ns;       /* of all instances */
        int64_t own_ns;        /* that the path as it is would gain if nothing else were the last one then */
        uint64_t then_ns;      /* of all segments of the path as it would be */
        uint64_t still_ns;     /* that is saved on that path: the functions are still on it */
        struct what_if_row *rows; /* heap; the longest then first; without what other programs took */
        size_t n_rows, rows_capacity;
        size_t cap; /* the row that instances wait for instead then, + 1; 0 = none */
        bool is_on; /* there is a request */
};

/*
 * what_if_parse() - "FUNCTION=0.5", "FUNCTION=50%", several with commas between them
 * Names may contain commas and '='.  Returns 0 or -EINVAL with words.
 */
int what_if_parse(struct what_if_request *r, const char *text, struct error *err);

/*
 * what_if_init() - before the pass that learns
 * @names:  gets the shares that are saved
 * Returns 0, -ESRCH with words if no function of the trace has a name, -EINVAL as
 * function_table_find_handle(), -ENOMEM; to be deinitialised in any case.
 */
int what_if_init(struct what_if *w, const struct what_if_request *request, const struct past *past,
                 struct path_names *names, struct error *err);
void what_if_deinit(struct what_if *w);

/* The pass that replays.  Returns 0 or -ENOMEM. */
int what_if_begin(struct what_if *w, bool is_strict);

/* A segment of the path as it is. */
void what_if_segment(struct what_if *w, const struct path_segment *segment);

/* An instance that is over, at times that are replayed.  Returns 0, -ENOMEM, -EOVERFLOW. */
int what_if_instance(struct what_if *w, uint32_t thread, uint64_t begin_ns, uint64_t end_ns);

/* After the last one.  @before: finished sums of the path as it is.  Returns 0 or -errno. */
int what_if_finish(struct what_if *w, const struct path_sums *before);

#endif /* ANALYZE_PATH_WHAT_IF_H */
