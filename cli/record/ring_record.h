/* SPDX-License-Identifier: MIT */
/*
 * cli/record/ring_record.h - the parts of `hyprof record --ring` beside the recorder: files for dumps,
 * their names, messages
 *
 * Way of the data:  record_options -> [ring_record] -> flight_recorder -> dumps -> [ring_record] adds names
 */
#ifndef CLI_RECORD_RING_RECORD_H
#define CLI_RECORD_RING_RECORD_H

#include "cli/options/record_options.h"
#include "cli/record/dump_opener.h"
#include "sampler/merge/flight_recorder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct progress_line;
struct recorder_progress;
struct trace_dictionary;
struct trace_writer;

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

#endif /* CLI_RECORD_RING_RECORD_H */
