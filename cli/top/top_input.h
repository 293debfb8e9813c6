/* SPDX-License-Identifier: MIT */
/*
 * cli/top/top_input.h - what `hyprof top` shows: a trace that grows, or a recording of its own
 *
 * Way of the data:  file, pipe, recorder (child) -> [top_input] (trace_follow) -> live_stats, live_names ->
 *                   top_view
 *
 * One thread; nothing blocks but top_input_wait().
 */
#ifndef CLI_TOP_TOP_INPUT_H
#define CLI_TOP_TOP_INPUT_H

#include "analyze/live/live_rows.h"
#include "analyze/live/live_stats.h"
#include "symbolize/images/index_cache.h"
#include "symbolize/process/live_names.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TOP_INPUT_WORDS_BYTES 2048 /* the end of the recorder's and its command's output */

struct error;
struct trace_follow;

struct top_input {
        struct trace_follow *follow;
        struct live_stats stats;
        struct live_names names;
        struct live_shown *shown; /* of these names */
        struct index_cache cache;
        bool has_cache;
        int kallsyms_fd;
        pid_t recorder;      /* 0 = none, or it has ended */
        int recorder_status; /* of waitpid(2), once it has ended */
        int words_fd;        /* its standard error; -1 = not ours */
        char words[TOP_INPUT_WORDS_BYTES];
        size_t n_words;
        uint64_t arrived_ns; /* when the last events came, by our clock */
        uint64_t latest_ns;  /* the time of these events */
        bool is_over;        /* nothing more comes */
        char ending[320];    /* why it is over, for people; "" = it ended as it should */
};

/* Runs in a child, with the trace as its standard output; does not return before the recording's end. */
typedef int top_recording(void *context);

/*
 * top_input_open() - follow a trace; "-" is standard input
 * Returns 0 or -errno; to be closed in any case.
 */
int top_input_open(struct top_input *in, const char *path, struct error *err);

/*
 * top_input_record() - follow a recording that a child makes, in a process group of its own
 * @keeps_words: its standard error and its command's are read here, and their end is kept; its standard input
 *               is empty.  Else they stay as they are.
 */
int top_input_record(struct top_input *in, top_recording *record, void *context, bool keeps_words,
                     struct error *err);

/* Ends a recording as Ctrl-C does, after some seconds by force.  Frees all. */
void top_input_close(struct top_input *in);

/*
 * top_input_wait() - until something comes, @fd can be read (-1 = none), or @timeout_ms are over
 * Returns whether @fd can be read.
 */
bool top_input_wait(struct top_input *in, int fd, int timeout_ms);

/* Takes what has come, for a tenth of a second at most.  Returns 0, -ENOMEM, -EBADMSG (no trace), -errno. */
int top_input_step(struct top_input *in, struct error *err);

/* Whether it was over before there was anything to show: then only the complaint is printed. */
bool top_input_has_failed_early(const struct top_input *in);

#endif /* CLI_TOP_TOP_INPUT_H */
