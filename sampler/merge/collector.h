/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/collector.h - the kernel's and the programs' events -> one time-ordered stream a thread
 *
 * Way of the data:  kernel_side, zone_source -> [collector] -> event_encoder -> chunk bodies -> writer_thread
 *
 * Works in cycles up to a watermark W, a moment ago: first all kernel records up to W are applied, then
 * zone_merge goes through all client events up to W, each preceded by its thread's pending kernel events; a
 * sample thus gets the zones that were open on its thread at its instant.  W lies a little in the past, so
 * that events stamped before it have been published.
 */
#ifndef SAMPLER_MERGE_COLLECTOR_H
#define SAMPLER_MERGE_COLLECTOR_H

#include "format/event_encoder.h"
#include "sampler/keep/code_keeper.h"
#include "sampler/kernel/unwind_request.h"
#include "sampler/merge/kernel_side.h"
#include "sampler/merge/written_rows.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/recording.h"
#include "sampler/tracks/state_keeper.h"
#include "sampler/zones/zone_merge.h"
#include "sampler/zones/zone_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct region_inbox;
struct table_process;
struct writer_thread;
struct zone_trigger;

struct collector {
        struct recording recording; /* of its own: all but what the recorder opened */
        struct recorder_pace pace;
        struct writer_thread *writer; /* borrowed */
        struct process_table processes;
        struct loss_counter losses;
        struct kernel_side samples;
        struct zone_source zones;
        struct event_encoder encoder;
        struct thread_sink sink;
        struct zone_merge zone_merge;
        struct state_keeper states;
        struct written_rows written;
        struct region_inbox *inbox;   /* borrowed */
        uint64_t n_zones;             /* beginnings written */
        uint64_t n_others;            /* events of programs that are not about zones, written */
        bool in_ring;                 /* see collector_options */
        uint64_t until_ns;            /* everything before it was merged in the last cycle */
        int priority;                 /* to fall back to, once */
        struct priority_guard *guard; /* borrowed; or NULL */
        bool gave_way;
        uint64_t tables_wait_ns; /* in the final cycle, for unwind tables */
};

struct collector_options {
        struct writer_thread *writer; /* borrowed */
        struct unwind_request unwinder;
        struct table_process *table_process; /* borrowed; NULL = the unwinder needs no tables */
        uint32_t families;                   /* CLIENT_ABI_FAMILY_*, and with which callstacks */
        uint64_t client_ring_bytes;          /* see spare_memory.h */
        struct region_inbox *inbox;          /* borrowed */
        struct code_keeper_options keeper;
        bool wants_python;            /* functions of Python programs in call stacks */
        bool keeps_python_c;          /* nothing of the interpreter is folded */
        struct zone_trigger *trigger; /* borrowed; or NULL */
        /*
         * of the calling thread before it was raised; the thread falls back to it after
         * PACE_MERGE_BEHIND_NS
         */
        int priority;
        struct priority_guard *guard; /* borrowed; or NULL: as well */
        bool in_ring; /* chunks are kept: tables go to the writer when there are many rows, or when asked */
        bool tells_programs; /* programs learn of the recording by their environment: see zone_source.h */
};

/*
 * @m must not move until collector_deinit().
 * @recording:  what the recorder opened; copied; all that it points to outlives the merge
 * Returns 0, -ENOMEM, -errno.
 */
int collector_init(struct collector *m, const struct recording *recording,
                   const struct collector_options *options, struct error *err);
void collector_deinit(struct collector *m);

/* Opens regions that were just handed in or announced, and files of code.  Returns 0, -ENOMEM, -EBADMSG. */
int collector_open_regions(struct collector *m, struct error *err);

/*
 * collector_cycle() - merge everything up to the watermark, and hand full chunks to the writer
 * @final:  everything there is, and all of it to the writer
 * Returns 0, -ENOMEM, -EBADMSG, or the -errno of a failed write.
 */
int collector_cycle(struct collector *m, bool final, struct error *err);

/*
 * collector_add_message() - a message of the recorder's own, at this moment
 * The message is on a thread of the recorder's process, which appears in the trace with its first message.
 * @severity: as in trace_event.h.  Returns 0, -ENOMEM, -EOVERFLOW when a table is full.
 */
int collector_add_message(struct collector *m, const char *text, size_t text_bytes, uint64_t severity);

/* Hands all events so far to the writer.  Returns 0 or -errno. */
int collector_flush(struct collector *m);

/* Hands all rows to the writer, but those of dump_head.h.  Returns 0 or -errno. */
int collector_flush_tables(struct collector *m);

#endif /* SAMPLER_MERGE_COLLECTOR_H */
