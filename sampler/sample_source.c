/* SPDX-License-Identifier: MIT */
#include "sampler/sample_source.h"

#include "base/error.h"
#include "format/trace_dictionary.h"
#include "instrument/region_finder.h"
#include "sampler/code_tables.h"
#include "sampler/event_set.h"
#include "sampler/kept_copy.h"
#include "sampler/loss_counter.h"
#include "sampler/process_table.h"
#include "sampler/stack_unwinder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#define RECORDS_UNHURRIED 64

int sample_source_init(struct sample_source *s, const struct sample_source_parts *parts)
{
        *s = (struct sample_source){
                .events = parts->events,
                .processes = parts->processes,
                .dictionary = parts->dictionary,
                .losses = parts->losses,
                .unwinder = parts->unwinder,
                .tables = parts->tables,
                .sample_events = parts->sample_events,
                .keep_stacks = parts->keep_stacks,
                .stacks = { .dictionary = parts->dictionary },
                .heads = calloc(parts->events->n_rings, sizeof(struct ring_head)),
        };
        return s->heads ? 0 : -ENOMEM;
}

void sample_source_deinit(struct sample_source *s)
{
        stack_builder_deinit(&s->stacks);
        free(s->heads);
        s->heads = NULL;
}

/* Threads without a number are about to vanish from the kernel's own tables. */
static bool names_a_thread(const struct perf_record *rec)
{
        return rec->tid != 0 && rec->tid != UINT32_MAX && rec->pid != 0 && rec->pid != UINT32_MAX;
}

/* The thread of a record.  A table that is full costs the record, not the recording. */
static int thread_of(struct sample_source *s, const struct perf_record *rec, struct thread_track **ret_thread)
{
        int r = -EOVERFLOW;

        *ret_thread = NULL;
        if (names_a_thread(rec))
                r = process_table_add_thread(s->processes, rec->pid, rec->tid, 0, rec->time_ns, ret_thread);
        if (r == -EOVERFLOW) {
                loss_counter_add(s->losses, TRACE_LOSS_RECORD_GARBAGE, 1);
                return 0;
        }
        return r;
}

static int queue(struct sample_source *s, struct thread_track *thread, struct trace_event event)
{
        struct pending_event pending = { .event = event };

        return process_table_add_pending(s->processes, thread, &pending);
}

/* Before its sample; what is too much is left out. */
static int queue_copy(struct sample_source *s, struct thread_track *thread, const struct perf_record *rec)
{
        struct pending_event pending = { .event = { .op = TRACE_OP_STACK_COPY, .time_ns = rec->time_ns } };
        int r = kept_copy_new(&rec->sample.stack, &s->kept_bytes, &pending.copy);

        if (r == -EOVERFLOW) {
                loss_counter_add(s->losses, TRACE_LOSS_STRING_TABLE_FULL, 1);
                return 0;
        }
        if (r < 0 || !pending.copy)
                return r;
        pending.event.stack_copy.copy_bytes = pending.copy->n_bytes;
        return process_table_add_pending(s->processes, thread, &pending);
}

/* Puts the callstack in `chain` into the event of its sample. */
static int add_stack(struct sample_source *s, const struct thread_track *thread, struct trace_event *event)
{
        uint32_t stack;
        int r = stack_builder_add(&s->stacks, &thread->process->space, &s->chain, &stack);

        if (r < 0)
                return r;
        event->sample.stack = stack;
        event->sample.state = s->chain.state;
        if (s->stacks.n_cut > 0) {
                loss_counter_add(s->losses, TRACE_LOSS_STACK_TABLE_FULL, s->stacks.n_cut);
                s->stacks.n_cut = 0;
                event->sample.state = TRACE_STACK_TABLE_FULL;
        }
        return 0;
}

/* No callstack of this thread waits any longer to be completed. */
static int close_cuts(struct sample_source *s, struct thread_track *thread)
{
        size_t at = thread->n_pending;
        uint32_t cut;
        int r = 0;

        /* They come back in the order in which they are pending, from the newest on. */
        while (r == 0 && (cut = stack_unwinder_close(s->unwinder, thread, &s->chain)) != 0) {
                while (at > 0 && thread->pending[at - 1].cut != cut)
                        at--;
                if (at > 0)
                        r = add_stack(s, thread, &thread->pending[--at].event);
                else
                        at = thread->n_pending;
        }
        return r;
}

/* The same for all threads of a process, or for all there are. */
static int close_all_cuts(struct sample_source *s, const struct process_track *process)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < s->processes->n_listed; i++) {
                struct thread_track *thread = s->processes->listed[i];

                if (thread->cuts.n_items == 0 || (process && thread->process != process))
                        continue;
                if (!process)
                        stack_unwinder_read_late(s->unwinder, thread);
                r = close_cuts(s, thread);
        }
        return r;
}

static int take_sample(struct sample_source *s, const struct perf_record *rec)
{
        struct trace_event event = { .op = TRACE_OP_SAMPLE, .time_ns = rec->time_ns };
        struct pending_event pending = { .cut = 0 };
        int spec = event_set_find_spec(s->events, rec->event);
        struct thread_track *thread;
        bool is_whole;
        int r;

        if (spec < 0) {
                loss_counter_add(s->losses, TRACE_LOSS_RECORD_GARBAGE, 1);
                return 0;
        }
        r = thread_of(s, rec, &thread);
        if (r < 0 || !thread)
                return r;
        event.sample.event = s->sample_events[spec];
        event.sample.cpu = rec->cpu;
        event.sample.weight = rec->sample.period;
        pending.cut = stack_unwinder_run_waiting(s->unwinder, &rec->sample.stack, thread, rec->time_ns,
                                                 &s->chain);
        is_whole = s->chain.state < TRACE_STACK_TRUNCATED;
        s->has_cuts |= pending.cut != 0;
        if (pending.cut == 0)
                r = add_stack(s, thread, &event);
        if (r == 0 && s->keep_stacks)
                r = queue_copy(s, thread, rec);
        if (r < 0)
                return r;
        s->n_samples++;
        pending.event = event;
        r = process_table_add_pending(s->processes, thread, &pending);
        return r == 0 && is_whole ? close_cuts(s, thread) : r;
}

static enum trace_module_kind module_kind(const struct perf_mmap *m)
{
        static const char vdso[] = "[vdso]";
        static const char anonymous[] = "//anon";

        if (m->path_bytes == sizeof(vdso) - 1 && memcmp(m->path, vdso, m->path_bytes) == 0)
                return TRACE_MODULE_VDSO;
        if (m->path_bytes == 0 || m->path[0] == '[' ||
            (m->path_bytes >= sizeof(anonymous) - 1 &&
             memcmp(m->path, anonymous, sizeof(anonymous) - 1) == 0))
                return TRACE_MODULE_ANONYMOUS;
        return TRACE_MODULE_FILE;
}

/* The module of a mapping; its table is asked for.  @process: whose it is, if it is of no file. */
static int add_module(struct sample_source *s, const struct process_track *process,
                      const struct perf_record *rec, uint32_t *ret_module)
{
        const struct perf_mmap *m = &rec->mmap;
        struct trace_module row = { .kind = module_kind(m) };
        int r = trace_dictionary_add_string(s->dictionary, m->path, m->path_bytes, &row.path);

        if (r == 0 && m->build_id_bytes > 0)
                r = trace_dictionary_add_string(s->dictionary, m->build_id, m->build_id_bytes, &row.build_id);
        if (row.kind == TRACE_MODULE_ANONYMOUS)
                row.process = process->process;
        if (row.kind == TRACE_MODULE_FILE && m->inode != 0) {
                row.device = makedev(m->device_major, m->device_minor);
                row.inode = m->inode;
        }
        if (r == 0)
                r = trace_dictionary_add(s->dictionary, TRACE_TABLE_MODULES, &row, ret_module);
        return r < 0 || !s->tables ? r : code_tables_want(s->tables, *ret_module, &row, rec->pid, m);
}

static int take_mmap(struct sample_source *s, const struct perf_record *rec)
{
        const struct perf_mmap *m = &rec->mmap;
        struct address_range range = { .start_avma = m->start_avma,
                                       .file_offset_bytes = m->file_offset_bytes };
        struct trace_mapping row = { .start_avma = m->start_avma,
                                     .length_bytes = m->length_bytes,
                                     .file_offset_bytes = m->file_offset_bytes,
                                     .time_ns = rec->time_ns };
        struct thread_track *thread;
        uint32_t id;
        int r;

        if (!m->executable)
                return 0;
        if (__builtin_add_overflow(m->start_avma, m->length_bytes, &range.end_avma)) {
                loss_counter_add(s->losses, TRACE_LOSS_RECORD_GARBAGE, 1);
                return 0;
        }
        r = thread_of(s, rec, &thread);
        if (r < 0 || !thread)
                return r;
        r = add_module(s, thread->process, rec, &range.module);
        row.module = range.module;
        row.process = thread->process->process;
        if (r == 0)
                r = trace_dictionary_add(s->dictionary, TRACE_TABLE_MAPPINGS, &row, &id);
        if (r == -EOVERFLOW) {
                loss_counter_add(s->losses, TRACE_LOSS_RECORD_GARBAGE, 1);
                return 0;
        }
        if (r == 0)
                r = close_all_cuts(s, thread->process);
        return r < 0 ? r : address_space_add(&thread->process->space, &range);
}

static int name_thread(struct sample_source *s, struct thread_track *thread, uint32_t name, uint64_t now_ns,
                       bool closes_zones)
{
        struct pending_event pending = { .event = { .op = TRACE_OP_THREAD_NAME, .time_ns = now_ns },
                                         .closes_zones = closes_zones };

        thread->name = name;
        pending.event.thread_name.name = name;
        return process_table_add_pending(s->processes, thread, &pending);
}

static int take_comm(struct sample_source *s, const struct perf_record *rec)
{
        struct thread_track *thread;
        uint32_t name = 0;
        int r = thread_of(s, rec, &thread);

        if (r < 0 || !thread)
                return r;
        if (rec->comm.exec) {
                r = close_all_cuts(s, thread->process);
                address_space_clear(&thread->process->space);
                if (r < 0)
                        return r;
        }
        r = trace_dictionary_add_string(s->dictionary, rec->comm.name, rec->comm.name_bytes, &name);
        return r < 0 && r != -EOVERFLOW ? r : name_thread(s, thread, name, rec->time_ns, rec->comm.exec);
}

static int take_fork(struct sample_source *s, const struct perf_record *rec)
{
        const struct thread_track *parent = process_table_find_thread(s->processes, rec->fork.parent_tid);
        uint32_t parent_pid = rec->fork.parent_pid == rec->pid ? 0 : rec->fork.parent_pid;
        struct thread_track *thread;
        int r = process_table_add_thread(s->processes, rec->pid, rec->tid, parent_pid, rec->time_ns, &thread);

        if (r == -EOVERFLOW) {
                loss_counter_add(s->losses, TRACE_LOSS_RECORD_GARBAGE, 1);
                return 0;
        }
        if (r < 0 || !parent || parent->name == 0)
                return r;
        return name_thread(s, thread, parent->name, rec->time_ns, false);
}

static int take_exit(struct sample_source *s, const struct perf_record *rec)
{
        struct thread_track *thread = process_table_find_thread(s->processes, rec->tid);
        struct trace_event event = { .op = TRACE_OP_THREAD_EXIT, .time_ns = rec->time_ns };

        int r;

        if (!thread)
                return 0;
        r = close_cuts(s, thread);
        stack_unwinder_forget(s->unwinder, thread);
        return r < 0 ? r : queue(s, thread, event);
}

static int take_switch(struct sample_source *s, const struct perf_record *rec)
{
        struct trace_event event = { .op = TRACE_OP_SWITCH_IN, .time_ns = rec->time_ns };
        struct thread_track *thread;
        int r = thread_of(s, rec, &thread);

        if (r < 0 || !thread)
                return r;
        if (rec->context_switch.out) {
                event.op = TRACE_OP_SWITCH_OUT;
                event.switch_out.cpu = rec->cpu;
                event.switch_out.preempted = rec->context_switch.preempted;
        } else {
                event.switch_in.cpu = rec->cpu;
        }
        s->n_switches++;
        return queue(s, thread, event);
}

int sample_source_take(struct sample_source *s, const struct perf_record *rec)
{
        switch (rec->kind) {
        case PERF_RECORD_KIND_SAMPLE:
                return take_sample(s, rec);
        case PERF_RECORD_KIND_MMAP:
                return take_mmap(s, rec);
        case PERF_RECORD_KIND_COMM:
                return take_comm(s, rec);
        case PERF_RECORD_KIND_FORK:
                return take_fork(s, rec);
        case PERF_RECORD_KIND_EXIT:
                return take_exit(s, rec);
        case PERF_RECORD_KIND_SWITCH:
                return take_switch(s, rec);
        case PERF_RECORD_KIND_LOST:
                s->n_lost_records += rec->n_lost;
                return 0;
        case PERF_RECORD_KIND_LOST_SAMPLES:
                loss_counter_add(s->losses, TRACE_LOSS_SAMPLES_LOST, rec->n_lost);
                return 0;
        case PERF_RECORD_KIND_WAKEUP:
                return 0;
        case PERF_RECORD_KIND_THROTTLE:
                loss_counter_add(s->losses, TRACE_LOSS_THROTTLED, 1);
                return 0;
        case PERF_RECORD_KIND_OTHER:
                return 0;
        }
        return 0;
}

/* Decodes the oldest record of a ring into its head, if it is not there yet. */
static int fill_head(struct sample_source *s, size_t i, struct error *err)
{
        struct ring_head *head = &s->heads[i];
        const uint8_t *bytes;

        while (!head->ready) {
                int r = perf_ring_peek(&s->events->rings[i], &bytes, &head->record_bytes, err);

                if (r <= 0)
                        return r;
                r = perf_record_decode(bytes, head->record_bytes, &s->events->layout, &head->record, err);
                if (r == 0) {
                        head->ready = true;
                } else {
                        loss_counter_add(s->losses, TRACE_LOSS_RECORD_GARBAGE, 1);
                        perf_ring_consume(&s->events->rings[i], head->record_bytes);
                }
        }
        return 1;
}

/* The ring whose oldest record is the oldest of all; n_rings if all are empty. */
static int find_oldest(struct sample_source *s, size_t *ret_ring, struct error *err)
{
        size_t oldest = s->events->n_rings;

        for (size_t i = 0; i < s->events->n_rings; i++) {
                int r = fill_head(s, i, err);

                if (r < 0)
                        return r;
                if (r == 1 && (oldest == s->events->n_rings ||
                               s->heads[i].record.time_ns < s->heads[oldest].record.time_ns))
                        oldest = i;
        }
        *ret_ring = oldest;
        return 0;
}

/* A ring that is half full has no time to lose. */
static void look_at_rings(struct sample_source *s)
{
        bool is_hurried = false;

        for (size_t i = 0; i < s->events->n_rings; i++)
                if (perf_ring_count_unread(&s->events->rings[i]) > s->events->rings[i].data_bytes / 2)
                        is_hurried = true;
        stack_unwinder_set_hurried(s->unwinder, is_hurried);
}

int sample_source_run(struct sample_source *s, uint64_t until_ns, struct error *err)
{
        int r = 0;

        s->has_cuts = false;
        while (r == 0) {
                size_t i;

                if (s->n_unhurried++ % RECORDS_UNHURRIED == 0)
                        look_at_rings(s);
                r = find_oldest(s, &i, err);
                if (r < 0 || i == s->events->n_rings || s->heads[i].record.time_ns > until_ns)
                        break;
                r = event_set_is_double(s->events, &s->heads[i].record)
                            ? 0
                            : sample_source_take(s, &s->heads[i].record);
                s->heads[i].ready = false;
                perf_ring_consume(&s->events->rings[i], s->heads[i].record_bytes);
                if (r < 0)
                        (void)error_set(err, r, "no memory for kernel records");
        }
        for (size_t i = 0; i < s->events->n_rings; i++)
                perf_ring_release(&s->events->rings[i]);
        if (r == 0)
                r = close_all_cuts(s, NULL);
        return r;
}

/* Ahead of its turn: its file may be gone by then.  A table that is full is no reason to stop. */
static int want_table(struct sample_source *s, const struct perf_record *rec)
{
        uint32_t module;
        int r;

        if (!s->tables || !rec->mmap.executable || module_kind(&rec->mmap) == TRACE_MODULE_ANONYMOUS)
                return 0;
        r = add_module(s, NULL, rec, &module);
        return r == -EOVERFLOW ? 0 : r;
}

int sample_source_scan(struct sample_source *s, uint32_t *ret_pid, struct error *err)
{
        for (size_t i = 0; i < s->events->n_rings; i++) {
                const uint8_t *bytes;
                size_t n_bytes;
                struct perf_record rec;
                int r;

                if (!event_set_is_tracker_ring(s->events, i))
                        continue;
                while ((r = perf_ring_scan(&s->events->rings[i], &s->heads[i].scan_bytes, &bytes, &n_bytes,
                                           err)) == 1) {
                        s->heads[i].ready =
                                false; /* it may have borrowed the ring's copy of a wrapped record */
                        if (perf_record_decode(bytes, n_bytes, &s->events->layout, &rec, NULL) < 0 ||
                            rec.kind != PERF_RECORD_KIND_MMAP)
                                continue;
                        if (want_table(s, &rec) < 0)
                                return error_set(err, -ENOMEM, "no memory for unwind tables");
                        if (!region_finder_is_region_name(rec.mmap.path, rec.mmap.path_bytes))
                                continue;
                        *ret_pid = rec.pid;
                        return 1;
                }
                if (r < 0)
                        return r;
        }
        return 0;
}
