/* SPDX-License-Identifier: MIT */
#include "sampler/merge/collector.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "instrument/region_inbox.h"
#include "sampler/events/event_set.h"
#include "sampler/events/event_totals.h"
#include "sampler/images/code_images.h"
#include "sampler/jit/jit_files.h"
#include "sampler/kernel/host_clocks.h"
#include "sampler/merge/dump_head.h"
#include "sampler/merge/kernel_side.h"
#include "sampler/merge/kernel_side_parts.h"
#include "sampler/merge/writer_thread.h"
#include "sampler/pace/pace.h"
#include "sampler/python/python_frames.h"
#include "sampler/python/python_gil.h"
#include "sampler/rights/priority_guard.h"
#include "sampler/rights/thread_priority.h"
#include "sampler/stacks/stack_unwinder.h"
#include "sampler/switches/switch_source.h"
#include "sampler/tables/code_regions.h"
#include "sampler/tables/code_tables.h"
#include "sampler/tracks/recording.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/*
 * The limit of zones that were copied out of the programs' rings and are not merged yet; beyond it, no
 * sample waits for its unwind table.
 */
#define HELD_ZONES_MAX_BYTES (UINT64_C(1) << 24)
#define HELD_EVENTS_MAX      (UINT32_C(1) << 18) /* the same for the kernel's pending events */

#define OWN_NAME "hyprof" /* name of the thread that carries the recorder's messages */

static int flush_if_full(void *context);

/*
 * Makes the stages that deal with code: kept files, unwind tables, the stack unwinder, and the code that
 * processes generate.
 */
static int make_code(struct collector *m, const struct collector_options *options, struct error *err)
{
        struct recording *shared = &m->recording;
        int r = code_keeper_new(shared, &options->keeper, &shared->keeper, err);

        if (r == 0 && options->table_process)
                r = code_tables_new(options->table_process, shared->pace, shared->losses, &shared->tables,
                                    err);
        if (r < 0)
                return r;
        if (shared->tables)
                code_tables_use_opened(shared->tables, shared->opened);
        r = stack_unwinder_new(&options->unwinder, shared->tables, shared->pace, shared->losses,
                               &shared->unwinder, err);
        if (r < 0)
                return r;
        if (options->wants_python)
                r = python_frames_new(shared, options->keeps_python_c, &shared->python);
        if (r == 0 && shared->python)
                r = python_gil_new(shared, &shared->gil);
        if (r < 0)
                return error_set(err, r, "no memory for Python's frames");
        r = code_regions_new(shared, kernel_side_before_change, &m->samples, &shared->regions, err);
        return r < 0 ? r : jit_files_new(shared, &shared->jit, err);
}

int collector_init(struct collector *m, const struct recording *recording,
                   const struct collector_options *options, struct error *err)
{
        struct recording *shared = &m->recording;
        int r;

        *m = (struct collector){ .recording = *recording,
                                 .writer = options->writer,
                                 .inbox = options->inbox,
                                 .in_ring = options->in_ring,
                                 .priority = options->priority,
                                 .guard = options->guard,
                                 .tables_wait_ns = PACE_END_TABLES_NS };
        recorder_pace_init(&m->pace, clock_raw_ns());
        shared->pace = &m->pace;
        m->sink = (struct thread_sink){ .encoder = &m->encoder,
                                        .dictionary = shared->dictionary,
                                        .losses = &m->losses,
                                        .trigger = options->trigger,
                                        .keeping = options->unwinder.keeping,
                                        .kept_bytes_max = options->in_ring
                                                                  ? UINT64_MAX
                                                                  : options->unwinder.kept_bytes_max };
        shared->losses = &m->losses;
        shared->processes = &m->processes;
        shared->sink = &m->sink;
        shared->keeping = options->unwinder.keeping;
        shared->stacks = &m->samples.stacks;
        shared->zones = &m->zones;
        if (options->keeper.mode != CODE_KEEPER_NONE)
                shared->attachments = &m->zones.translator.attachments;
        process_table_init(&m->processes, shared->dictionary);
        event_encoder_init(&m->encoder);
        state_keeper_init(&m->states, STATE_KEEPER_EVENT_BYTES);
        zone_source_init(&m->zones, shared, options->families, options->client_ring_bytes);
        m->zones.tells_programs = options->tells_programs;
        m->zones.translator.attachments.spool = options->keeper.spool;
        zone_merge_init(&m->zone_merge, shared, flush_if_full, m);
        r = make_code(m, options, err);
        if (r < 0)
                goto fail;
        r = kernel_side_init(&m->samples, shared);
        if (r < 0) {
                (void)error_set(err, r, "no memory for the merge");
                goto fail;
        }
        return 0;

fail:
        collector_deinit(m);
        return r;
}

void collector_deinit(struct collector *m)
{
        kernel_side_deinit(&m->samples);
        jit_files_free(m->recording.jit);
        code_regions_free(m->recording.regions);
        python_frames_free(m->recording.python);
        python_gil_free(m->recording.gil);
        code_keeper_free(m->recording.keeper);
        code_tables_free(m->recording.tables);
        zone_merge_deinit(&m->zone_merge);
        zone_source_deinit(&m->zones);
        process_table_deinit(&m->processes);
        stack_unwinder_free(m->recording.unwinder);
        event_encoder_deinit(&m->encoder);
        state_keeper_deinit(&m->states);
}

/*
 * Queues all regions that were handed in by now, so that none comes later than the end of its process.
 * Opening an announced region takes longer, so only @n_announced_max are opened at once: while programs are
 * being started, there are events to be merged.
 */
static int open_regions(struct collector *m, unsigned n_announced_max, struct error *err)
{
        uint32_t pid;
        int fd;

        for (unsigned n = 0; n < PACE_REGIONS_HANDED_IN && region_inbox_next(m->inbox, &pid, &fd) == 1; n++)
                if (zone_source_receive(&m->zones, pid, fd) < 0)
                        return error_set(err, -ENOMEM, "no memory for a client region");
        for (unsigned n = 0; n < n_announced_max; n++) {
                int r = kernel_side_scan(&m->samples, &pid, err);

                if (r <= 0)
                        return r;
                if (zone_source_open(&m->zones, pid) < 0)
                        return error_set(err, -ENOMEM, "no memory for a client region");
        }
        return 0;
}

int collector_open_regions(struct collector *m, struct error *err)
{
        int r = open_regions(m, PACE_REGIONS_ANNOUNCED, err);

        return r == 0 && code_keeper_take(m->recording.keeper, false) < 0
                       ? error_set(err, -ENOMEM, "no memory for code that is kept")
                       : r;
}

/* ---- chunks -------------------------------------------------------------------------------------------- */

/* The kernel reports losses in records, but reports the last ones only on request. */
static int add_accounts(struct collector *m, bool final, uint64_t now_ns)
{
        uint64_t n_lost = m->samples.n_lost_records;
        int r;

        if (final) {
                uint64_t n_asked = event_totals_count_lost(m->recording.events);

                if (n_asked != UINT64_MAX && n_asked > n_lost)
                        n_lost = n_asked;
        }
        loss_counter_add(&m->losses, TRACE_LOSS_KERNEL_RING_FULL,
                         n_lost - m->losses.totals[TRACE_LOSS_KERNEL_RING_FULL]);
        loss_counter_add(&m->losses, TRACE_LOSS_WAIT_STACKS_LOST,
                         switch_source_count_lost_stacks(m->recording.switches) -
                                 m->losses.totals[TRACE_LOSS_WAIT_STACKS_LOST]);
        loss_counter_add(&m->losses, TRACE_LOSS_SWITCHES_LOST,
                         switch_source_count_lost(m->recording.switches) -
                                 m->losses.totals[TRACE_LOSS_SWITCHES_LOST]);
        r = zone_source_count_drops(&m->zones, final);
        return r < 0 ? r : loss_counter_flush(&m->losses, m->recording.dictionary, now_ns);
}

int collector_flush_tables(struct collector *m)
{
        uint32_t table = TRACE_TABLE_FIRST;

        while (table < TRACE_TABLE_FIRST + TRACE_TABLE_COUNT) {
                struct trace_chunk_header header = { .kind = (uint16_t)table };
                struct byte_buffer body = { .data = NULL };
                int r = 0;

                if (!m->in_ring || !dump_head_has_table(table))
                        r = trace_dictionary_encode(m->recording.dictionary, (enum trace_table)table, &body,
                                                    &header.n_items);
                if (r < 0 || header.n_items == 0) {
                        byte_buffer_deinit(&body);
                        table++;
                } else {
                        r = writer_thread_put(m->writer, &header, &body);
                }
                if (r < 0)
                        return r;
        }
        written_rows_forget(&m->written, &m->recording);
        return 0;
}

/* Writes the open state after the events from time to time. */
static int flush_states(struct collector *m, size_t n_event_bytes)
{
        struct byte_buffer body = { .data = NULL };
        struct trace_chunk_header header;
        int r = state_keeper_note(&m->states, &m->processes, n_event_bytes, &body, &header);

        if (r == 1)
                return writer_thread_put(m->writer, &header, &body);
        byte_buffer_deinit(&body);
        return r;
}

static int flush_events(struct collector *m)
{
        struct trace_chunk_header header = { .kind = TRACE_CHUNK_EVENTS };
        struct byte_buffer body = { .data = NULL };
        size_t n_bytes;
        int r;

        if (!event_encoder_has_names(&m->encoder))
                header.flags = TRACE_CHUNK_NO_NAMES;
        r = event_encoder_take(&m->encoder, &body, &header.first_ns, &header.last_ns, &header.n_items);
        if (r < 0 || header.n_items == 0) {
                byte_buffer_deinit(&body);
                return r;
        }
        n_bytes = body.used_bytes;
        r = writer_thread_put(m->writer, &header, &body);
        return r == 0 && !m->in_ring ? flush_states(m, n_bytes) : r;
}

static int flush_attachments(struct collector *m)
{
        struct byte_buffer body = { .data = NULL };
        int r;

        while ((r = attachment_store_next(&m->zones.translator.attachments, &body)) == 1) {
                struct trace_chunk_header header = { .kind = TRACE_CHUNK_ATTACHMENT, .n_items = 1 };

                r = writer_thread_put(m->writer, &header, &body);
                if (r < 0)
                        return r;
        }
        byte_buffer_deinit(&body);
        return r;
}

/* @all: all parts; otherwise only a few, and only if the writer has nothing else to do. */
static int flush_code(struct collector *m, bool all)
{
        struct byte_buffer body = { .data = NULL };
        unsigned n_parts = 0;
        int r = 0;

        while (all || (n_parts++ < PACE_MERGE_CODE_PARTS && writer_thread_has_room(m->writer))) {
                struct trace_chunk_header header = { .kind = TRACE_CHUNK_ATTACHMENT, .n_items = 1 };

                r = code_keeper_next(m->recording.keeper, &body);
                if (r == 1)
                        r = writer_thread_put(m->writer, &header, &body);
                else
                        break;
                if (r < 0)
                        break;
        }
        byte_buffer_deinit(&body);
        return r;
}

/* Hands everything so far to the writer, tables before the events that refer to them. */
static int flush_all(struct collector *m, uint64_t now_ns)
{
        int r = 0;

        thread_sink_switch(&m->sink, NULL);
        if (!m->in_ring || dump_head_count_others(m->recording.dictionary) >= PACE_CHUNK_RING_ROWS)
                r = collector_flush_tables(m);
        if (r == 0) {
                code_keeper_rows_written(m->recording.keeper);
                r = flush_attachments(m);
        }
        if (r == 0)
                r = flush_events(m);
        m->pace.flushed_ns = now_ns;
        return r;
}

static int flush_if_full(void *context)
{
        struct collector *m = context;

        if (event_encoder_count_bytes(&m->encoder) < PACE_CHUNK_BYTES &&
            m->zones.translator.attachments.waiting_bytes < PACE_CHUNK_BYTES)
                return 0;
        return flush_all(m, m->pace.cycled_ns);
}

int collector_flush(struct collector *m)
{
        return flush_all(m, m->pace.cycled_ns);
}

/* ---- messages of the recorder's ------------------------------------------------------------------------ */

/* Finds or adds the recorder's own thread in the trace, and names it if it is new. */
static int own_thread(struct collector *m, uint64_t now_ns, struct thread_track **ret_thread)
{
        uint32_t pid = (uint32_t)getpid(), name;
        struct trace_event event = { .op = TRACE_OP_THREAD_NAME, .time_ns = now_ns };
        int r = process_table_add_thread(&m->processes, pid, pid, 0, now_ns, ret_thread);

        if (r < 0 || (*ret_thread)->written_name != 0)
                return r;
        r = trace_dictionary_add_string(m->recording.dictionary, OWN_NAME, strlen(OWN_NAME), &name);
        if (r < 0)
                return r;
        event.thread_name.name = name;
        return thread_track_write(*ret_thread, &m->sink, &event, 0);
}

int collector_add_message(struct collector *m, const char *text, size_t text_bytes, uint64_t severity)
{
        uint64_t now_ns = clock_raw_ns();
        struct trace_event event = { .op = TRACE_OP_MESSAGE_TEXT, .time_ns = now_ns };
        struct thread_track *thread;
        int r = own_thread(m, now_ns, &thread);

        if (r < 0)
                return r;
        event.text = text;
        event.message_text.text_bytes = text_bytes;
        event.message_text.severity = severity;
        r = thread_track_write(thread, &m->sink, &event, 0);
        thread_sink_switch(&m->sink, NULL);
        return r;
}

/* ---- one cycle ----------------------------------------------------------------------------------------- */

static int merge_zones(struct collector *m, uint64_t until_ns, bool final)
{
        int r = zone_source_begin_cycle(&m->zones);

        if (r == 0 && final) /* there is no later cycle for a region that waits */
                r = zone_source_begin_cycle(&m->zones);
        if (r == 0)
                r = zone_merge_run(&m->zone_merge, until_ns, final);
        m->n_zones = m->zone_merge.n_zones;
        m->n_others = m->zone_merge.n_others;
        return r;
}

/* Forgets a thread whose exit was written; the process ends with its last thread. */
static void forget_thread(struct collector *m, struct thread_track *thread)
{
        struct process_track *process = thread->process;
        uint32_t ended_pid;

        if (thread->last_ns > process->last_exit_ns)
                process->last_exit_ns = thread->last_ns;
        if (process->n_threads == 1)
                zone_merge_end_fibers(&m->zone_merge, process, process->last_exit_ns);
        thread_sink_switch(&m->sink, NULL);
        ended_pid = process_table_forget_thread(&m->processes, thread);
        if (ended_pid != 0)
                zone_source_end(&m->zones, ended_pid);
}

/* Writes the pending events that no client event came after, and forgets the threads that have ended. */
static int merge_pending(struct collector *m, uint64_t until_ns)
{
        struct process_table *t = &m->processes;
        size_t n_kept = 0;
        int r = 0;

        for (size_t i = 0; i < t->n_listed; i++) {
                struct thread_track *thread = t->listed[i];
                const struct process_track *process = thread->process;

                if (r == 0 && !process->region_waits)
                        r = zone_merge_write_pending(&m->zone_merge, thread,
                                                     process_track_limit(process, until_ns));
                if (r == 0)
                        r = flush_if_full(m);
                thread->listed = thread->n_pending > 0;
                if (thread->listed)
                        t->listed[n_kept++] = thread;
                else if (thread->exited)
                        forget_thread(m, thread);
        }
        t->n_listed = n_kept;
        thread_sink_switch(&m->sink, NULL);
        return r;
}

/* Other programs need the processor as well. */
static void give_way(struct collector *m, uint64_t now_ns)
{
        if (m->gave_way || !recorder_pace_must_give_way(&m->pace, now_ns))
                return;
        m->gave_way = true;
        priority_guard_release(m->guard);
        thread_priority_restore(m->priority);
}

/* True if the events that are held back with samples that wait for an unwind table take much memory. */
static bool holds_much(const struct collector *m)
{
        size_t n_pending = 0;

        for (size_t i = 0; i < m->processes.n_listed; i++)
                if (m->processes.listed[i]->process->held_ns != UINT64_MAX)
                        n_pending += m->processes.listed[i]->n_pending;
        return m->zones.held_bytes > HELD_ZONES_MAX_BYTES || n_pending > HELD_EVENTS_MAX;
}

/*
 * Takes the kernel's records and the JITs' reports on the code in them; at the end, also the reports of
 * processes that came with these records.
 */
static int take_samples(struct collector *m, uint64_t now_ns, uint64_t until_ns, bool final,
                        struct error *err)
{
        int r;

        if (jit_files_read(m->recording.jit, now_ns, final) < 0)
                return error_set(err, -ENOMEM, "no memory for files about code");
        if (holds_much(m) && sample_stacks_resume(&m->samples, NULL, UINT64_MAX) < 0)
                return error_set(err, -ENOMEM, "no memory for kernel records");
        r = kernel_side_run(&m->samples, until_ns, err);
        if (r == 0 && final)
                r = kernel_side_finish(&m->samples, m->tables_wait_ns, err);
        if (r == 0 && final && jit_files_read(m->recording.jit, clock_raw_ns(), true) < 0)
                return error_set(err, -ENOMEM, "no memory for files about code");
        return r;
}

/* Hands what is due to the writer. */
static int hand_out(struct collector *m, uint64_t now_ns, bool final)
{
        int r = 0;

        /* Full chunks are handed out more often than the accounts of losses are due. */
        if (recorder_pace_account(&m->pace, now_ns) || final) {
                r = add_accounts(m, final, now_ns);
                if (m->in_ring)
                        dump_head_forget(m->recording.dictionary);
        }
        if (r == 0 && (recorder_pace_read_clocks(&m->pace, now_ns) || final))
                r = host_clocks_add(m->recording.dictionary);
        if (r < 0)
                return r;
        if (recorder_pace_flush(&m->pace, now_ns) || final)
                r = flush_all(m, now_ns);
        return r < 0 ? r : flush_code(m, final);
}

int collector_cycle(struct collector *m, bool final, struct error *err)
{
        uint64_t now_ns = clock_raw_ns();
        uint64_t until_ns = final ? UINT64_MAX : now_ns - PACE_MERGE_LAG_NS;
        int r = open_regions(m, final ? PACE_REGIONS_ANNOUNCED_LAST : PACE_REGIONS_ANNOUNCED, err);

        m->pace.cycled_ns = now_ns;
        m->pace.has_tables = false;
        m->until_ns = final ? now_ns : until_ns;
        if (r < 0)
                return r;
        if (code_images_look_again(m->samples.images) < 0)
                return error_set(err, -ENOMEM, "no memory for images");
        r = take_samples(m, now_ns, until_ns, final, err);
        if (r < 0)
                return r;
        if (!final)
                m->until_ns = until_ns = m->samples.reached_ns;

        r = merge_zones(m, until_ns, final);
        if (final)
                zone_source_drop_waiting(&m->zones);
        if (r < 0)
                goto fail;
        r = merge_pending(m, until_ns);
        thread_sink_switch(&m->sink, NULL);
        if (r < 0)
                goto fail;
        r = code_keeper_take(m->recording.keeper, final);
        if (r < 0)
                goto fail;
        r = hand_out(m, now_ns, final);
        if (r < 0)
                goto fail;
        give_way(m, now_ns);
        zone_source_end_cycle(&m->zones);
        m->pace.ended_ns = clock_raw_ns();
        return 0;

fail:
        return error_set(err, r,
                         r == -ENOMEM ? "no memory to merge events" : "cannot hand chunks to the writer");
}
