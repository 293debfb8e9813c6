/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/flight_recorder.h - a recording of which only the end is kept, and when that is written
 *
 * Way of the data:  signals, zone_trigger -> [flight_recorder] -> writer_thread
 *                   (snapshot, ring_dump) -> files
 *
 * A dump is made in steps, one or none in each cycle of the recorder: ask the writer for a snapshot of the
 * ring; when it is there, open a file and hand over a ring_dump; when that is written, report it to the
 * asker.  The recording goes on meanwhile.  Used by the collector's thread.
 */
#ifndef SAMPLER_MERGE_FLIGHT_RECORDER_H
#define SAMPLER_MERGE_FLIGHT_RECORDER_H

#include "format/chunk_ring.h"
#include "sampler/merge/writer_thread.h"
#include "sampler/tracks/zone_trigger.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct collector;
struct trace_dictionary;
struct trace_writer;

#define FLIGHT_RECORDER_CAUSE_BYTES  160
#define FLIGHT_RECORDER_PAUSES_BYTES 64

/* A dump that was made, or could not be. */
struct flight_dump {
        const char *cause;
        const struct error
                *failure; /* NULL = none: the trace is whole, and `writer` and its file are the receiver's */
        struct trace_writer *writer;
        uint64_t from_ns, end_ns;
        uint32_t n_strings, n_frames; /* rows of these tables in the dump; ids are those of the recording */
};

struct flight_options {
        struct chunk_ring_options ring;
        const char *keep;                      /* as it was asked for: "30s" */
        const struct zone_trigger_rule *rules; /* borrowed */
        size_t n_rules;
        uint32_t n_triggered_max; /* dumps that zones may cause */
        /*
         * The first opens a new file for a dump; the second is called when the dump is done or has failed.
         * Each is called once for a dump, in turns.
         */
        int (*open_file)(void *context, int *ret_fd, struct error *err);
        void (*on_dump)(void *context, const struct flight_dump *dump);
        /* A table is full: new entries have no row any more.  Called once. */
        void (*on_full)(void *context, const char *table);
        void *context;
};

/* The summary at the end. */
struct flight_totals {
        uint64_t events_bytes_peak, kept_bytes;
        uint64_t n_hits;         /* instances that were too long */
        uint64_t n_hits_without; /* of these instances, those without a dump of their own */
        uint32_t n_dumps, n_failed, n_triggered;
        bool was_full; /* the ring held less than it should */
};

struct flight_recorder {
        const struct flight_options *options; /* NULL = not set */
        struct trace_dictionary *dictionary;
        struct chunk_ring ring; /* the writer's while it runs */
        struct zone_trigger trigger;
        int signal_fd; /* SIGUSR2; -1 = closed */
        uint64_t start_ns;
        enum { FLIGHT_IDLE, FLIGHT_ASKED, FLIGHT_WRITING } step;
        struct flight_dump dump; /* that is made now */
        char cause[FLIGHT_RECORDER_CAUSE_BYTES];
        /*
         * The pauses so far, in words; "" = there was none.  The recorder writes them before each cycle; at
         * the end they are in the dictionary.
         */
        char pauses[FLIGHT_RECORDER_PAUSES_BYTES];
        bool signalled, requested;
        bool full_told;
        uint64_t refilled_ns; /* the end of the last dump that a zone caused; 0 = there was none */
        struct flight_totals totals;
};

/*
 * flight_recorder_open() - before other threads are started: SIGUSR2 is blocked from here on
 * @options:  borrowed; NULL = all calls do nothing
 * Returns 0 or -errno.
 */
int flight_recorder_open(struct flight_recorder *f, const struct flight_options *options,
                         struct trace_dictionary *dictionary, struct error *err);
void flight_recorder_close(struct flight_recorder *f);

/* For collector_init(): the trigger, or NULL. */
struct zone_trigger *flight_recorder_trigger(struct flight_recorder *f);

/*
 * After each cycle of the merge.  Returns 0 or -errno: the recording cannot go on.  A dump that fails is
 * only reported.
 */
int flight_recorder_cycle(struct flight_recorder *f, struct collector *m, struct error *err);

/* Requests a dump, as the signal does; it begins with the next cycle. */
void flight_recorder_want(struct flight_recorder *f);

/* True while a dump is wanted, or is being made. */
bool flight_recorder_is_busy(const struct flight_recorder *f);

/*
 * flight_recorder_finish() - after the last cycle: everything that the ring holds goes into @writer
 * The dictionary is then as if all rows had been written from the start: rows that are not encoded yet
 * follow.
 * Returns 0, -errno.
 */
int flight_recorder_finish(struct flight_recorder *f, struct collector *m, struct trace_writer *writer,
                           struct error *err);

#endif /* SAMPLER_MERGE_FLIGHT_RECORDER_H */
