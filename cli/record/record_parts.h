/* SPDX-License-Identifier: MIT */
/*
 * cli/record/record_parts.h - the parts of `hyprof record` beside the recorder: checks of what can be
 * recorded here, the process that takes or views the trace meanwhile, the ring, the line that shows progress
 *
 * Way of the data:  record_options -> [record_parts] -> cmd_record, people
 */
#ifndef CLI_RECORD_RECORD_PARTS_H
#define CLI_RECORD_RECORD_PARTS_H

#include "cli/files/output_file.h"
#include "cli/options/record_options.h"
#include "cli/record/dump_opener.h"
#include "sampler/merge/flight_recorder.h"
#include "sampler/relay/relay_process.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recorder_progress;
struct trace_dictionary;
struct trace_writer;

/*
 * scope_check.c - can what the options name be recorded?  Said before a trace is begun
 *
 * Way of the data:  record_options -> [scope_check] -> cmd_record
 */

/*
 * Checks that processes, threads, a cgroup and CPUs exist and may be recorded.  Complains.  Returns an exit
 * status.
 */
int scope_check(const struct record_options *options);

/*
 * rate_limit.c - compares the requested rate with the one that the kernel allows
 *
 * Way of the data:  record_options -> [rate_limit] -> recorder; after the recording -> people
 */

/*
 * rate_limit_apply() - fills in -F max, and lowers a rate that is over the limit, and says so
 * Returns an exit status: with --strict-freq such a rate is refused.
 */
int rate_limit_apply(struct record_options *options);

/* Says so if the kernel lowered its limit meanwhile; @before_hz: what it was, LONG_MIN = unknown. */
void rate_limit_check(const struct record_options *options, long before_hz);

/*
 * listen_record.c - hyprof record --listen: the trace goes to the process that takes it
 *
 * Way of the data:  cmd_record -> [listen_record] (relay_process) -> hyprof capture
 */

struct listen_record {
        struct relay_process relay;
        struct output_file file; /* the trace here, if one was asked for; fd -1 = there is none */
        char words[160];         /* options->path where there is no file */
};

/*
 * listen_record_open() - listens, and waits for a taker unless the options forbid it
 * @options:   its path may be changed to what the summary should say
 * @ret_file:  what the trace is to be written to; closed by its user
 * Returns an exit status, after a complaint.
 */
int listen_record_open(struct listen_record *l, struct record_options *options, struct output_file *ret_file);

/*
 * listen_record_finish() - the trace is written: waits until it is taken
 * @stop_fd:   see relay_process_end()
 * @recorded:  false = there is nothing to take, and nothing to keep
 * Says what came of it.  Returns false if a part of the trace is kept nowhere.
 */
bool listen_record_finish(struct listen_record *l, const struct record_options *options, int stop_fd,
                          bool recorded);
void listen_record_close(struct listen_record *l);

/*
 * record_and_view.c - `hyprof record --view`: the recording, and the viewer beside it
 *
 * Way of the data:  cmd_record -> [record_and_view] -> fork -> the recording; fork -> viewer_start
 *
 * The recording and the viewer each give up rights as they go on, but not the same ones, so each runs in a
 * child.  The viewer follows the trace as it grows.  Ctrl-C ends the recording; a second Ctrl-C ends the
 * viewer.
 */

/*
 * record_and_view_run() - record in a child, view the trace in another one as soon as there is one
 * @record:  what records; returns an exit status
 * Returns the exit status of the recording if it wrote no trace, else that of the viewer.
 */
int record_and_view_run(struct record_options *options, char **argv,
                        int (*record)(struct record_options *options, char **argv));

/*
 * progress_line.c - one line on the terminal that is drawn over while recording
 *
 * Way of the data:  recorder -> [progress_line] -> standard error, if it is a terminal
 */

struct progress_line {
        bool shown; /* something is on the line */
};

/* Draws; @context is a struct progress_line. */
void progress_line_draw(void *context, const struct recorder_progress *progress);

/* Wipes the line away. */
void progress_line_clear(struct progress_line *line);

/*
 * ring_record.c - the parts of `hyprof record --ring` beside the recorder: files for dumps,
 * their names, messages
 *
 * Way of the data:  record_options -> [ring_record] -> flight_recorder -> dumps -> [ring_record] adds names
 */

/* A dump that lies beside the trace and waits for the names of its functions. */
struct written_dump {
        struct trace_writer *writer; /* owned; NULL = it was given up */
        int fd;
        uint32_t n_strings, n_frames;
        bool is_spare; /* it lies in the spare folder */
        char name[DUMP_OPENER_NAME_BYTES];
};

struct ring_record {
        const struct record_options *options;
        struct progress_line *line; /* borrowed */
        struct zone_trigger_rule rules[RECORD_OPTIONS_TRIGGERS_MAX];
        struct flight_options flight;
        struct dump_opener opener;
        struct written_dump now;    /* its file is open; fd -1 = not open */
        struct written_dump *dumps; /* heap, owned */
        size_t n_dumps, dumps_capacity;
};

/* Nothing is open: ring_record_close() does nothing. */
#define RING_RECORD_NONE                                                                      \
        {                                                                                     \
                .opener = { .fd = -1, .folder_fd = -1, .spare_fd = -1 }, .now = { .fd = -1 }, \
        }

/*
 * ring_record_open() - before the recording, with one thread
 * @r:  stays where it is until ring_record_close().
 * Returns 0 or -errno.
 */
int ring_record_open(struct ring_record *r, const struct record_options *options, struct progress_line *line,
                     struct error *err);
void ring_record_close(struct ring_record *r);

/*
 * After the recording: the names that @dictionary has now go into the dumps as well.  Failures
 * are complained about.
 */
void ring_record_add_names(struct ring_record *r, struct trace_dictionary *dictionary);

/* A line for people. */
void ring_record_print_summary(const struct ring_record *r, const struct flight_totals *totals);

/*
 * Counts the length, samples and zones of the trace at @path, which has only the end of the recording.  Reads
 * the whole file.
 */
void ring_record_count(const char *path, struct recorder_progress *p);

#endif /* CLI_RECORD_RECORD_PARTS_H */
