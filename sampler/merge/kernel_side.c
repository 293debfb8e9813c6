/* SPDX-License-Identifier: MIT */
#include "sampler/merge/kernel_side.h"

#include "base/clock.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "instrument/region_finder.h"
#include "sampler/code/code_images.h"
#include "sampler/code/code_keeper.h"
#include "sampler/code/code_regions.h"
#include "sampler/code/code_tables.h"
#include "sampler/code/file_versions.h"
#include "sampler/code/image_changes.h"
#include "sampler/code/opened_files.h"
#include "sampler/events/event_set.h"
#include "sampler/jit/jit_files.h"
#include "sampler/kernel/process_filter.h"
#include "sampler/kernel/running_process.h"
#include "sampler/kernel/switch_source.h"
#include "sampler/merge/process_intake.h"
#include "sampler/merge/sample_stacks.h"
#include "sampler/merge/wait_records.h"
#include "sampler/stacks/stack_unwinder.h"
#include "sampler/tracks/kept_copy.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/recording.h"
#include "sampler/zones/zone_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#define RECORDS_UNHURRIED 64
#define SCANS_MAX         4 /* rounds through the rings at once, while there is new code in them */

int kernel_side_init(struct kernel_side *s, const struct recording *recording)
{
        bool of_threads = recording->events->options.scope == EVENT_SCOPE_THREADS;

        *s = (struct kernel_side){
                .recording = recording,
                .stacks = { .dictionary = recording->dictionary, .keeper = recording->keeper },
                .heads = calloc(recording->events->n_rings, sizeof(struct ring_head)),
                .versions = file_versions_new(),
        };
        if (!s->heads || !s->versions || code_images_new(recording, &s->images) < 0)
                return -ENOMEM;
        /*
         * Events of a thread are on each CPU: the time that they wait includes what it spent on other ones.
         */
        group_counts_init(&s->counts, recording->events->layout.read_format, of_threads, !of_threads);
        return 0;
}

void kernel_side_deinit(struct kernel_side *s)
{
        group_counts_deinit(&s->counts);
        stack_builder_deinit(&s->stacks);
        code_images_free(s->images);
        file_versions_free(s->versions);
        free(s->heads);
        free(s->on_cpus);
}

/* Threads without a number are about to vanish from the kernel's own tables. */
static bool names_a_thread(const struct perf_record *rec)
{
        return rec->tid != 0 && rec->tid != UINT32_MAX && rec->pid != 0 && rec->pid != UINT32_MAX;
}

/* The thread of a record.  A table that is full costs the record, not the recording. */
static int thread_of(struct kernel_side *s, const struct perf_record *rec, struct thread_track **ret_thread)
{
        int r = -EOVERFLOW;

        *ret_thread = NULL;
        if (names_a_thread(rec))
                r = process_table_add_thread(s->recording->processes, rec->pid, rec->tid, 0, rec->time_ns,
                                             ret_thread);
        if (r == -EOVERFLOW) {
                loss_counter_add(s->recording->losses, TRACE_LOSS_RECORD_GARBAGE, 1);
                return 0;
        }
        return r;
}

/*
 * A process of which the kernel never told: it was moved into the cgroup that is recorded, or the record was
 * lost.  The facts in /proc are of now, which is better than nothing.
 */
static int meet(struct kernel_side *s, const struct perf_record *rec)
{
        struct running_process p;
        bool has_region;

        if (!s->recording->cpu_wide || process_table_has_seen(s->recording->processes, rec->pid) ||
            running_process_read(rec->pid, &p, NULL) < 0)
                return 0;
        return process_intake_add(&p, s->recording->filter, s, rec->time_ns, &has_region);
}

/*
 * The thread of a sample or a switch.  Events of a CPU or a cgroup go on after a thread's end, for as long as
 * it takes to leave the CPU for good: then it is known, but not among the living.
 */
int kernel_side_find_thread(struct kernel_side *s, const struct perf_record *rec,
                            struct thread_track **ret_thread)
{
        int r = 0;

        *ret_thread = process_table_find_thread(s->recording->processes, rec->tid);
        if (*ret_thread || ((s->recording->cpu_wide || s->recording->switches) &&
                            process_table_has_ended(s->recording->processes, rec->tid)))
                return 0;
        if (names_a_thread(rec))
                r = meet(s, rec);
        return r < 0 ? r : thread_of(s, rec, ret_thread);
}

/* Added before its sample; counts beyond the limit are left out. */
static int queue_copy(struct kernel_side *s, struct thread_track *thread, const struct perf_record *rec)
{
        struct pending_event pending = { .event = { .op = TRACE_OP_STACK_COPY, .time_ns = rec->time_ns } };
        int r = kept_copy_new(&rec->sample.stack, &s->kept_bytes, &pending.copy);

        if (r == -EOVERFLOW) {
                loss_counter_add(s->recording->losses, TRACE_LOSS_STRING_TABLE_FULL, 1);
                return 0;
        }
        if (r < 0 || !pending.copy)
                return r;
        pending.event.stack_copy.copy_bytes = pending.copy->n_bytes;
        return process_table_add_pending(s->recording->processes, thread, &pending);
}

/* The counts of the sample's group members: samples of theirs, in the same place. */
static int queue_counts(struct kernel_side *s, struct thread_track *thread,
                        const struct pending_event *leader)
{
        struct pending_event pending = *leader;
        int r = 0;

        pending.cut = 0;
        pending.shares_place = true;
        for (size_t i = 0; r == 0 && i < s->counts.n_counts; i++) {
                pending.event.sample.event = s->recording->sample_events[s->counts.counts[i].spec];
                pending.event.sample.weight = s->counts.counts[i].weight;
                r = process_table_add_sample(s->recording->processes, thread, &pending);
        }
        s->counts.n_counts = 0;
        return r;
}

static int take_images(struct kernel_side *s, uint64_t until_ns);

static int kernel_side_take_sample(struct kernel_side *s, const struct perf_record *rec)
{
        struct trace_event event = { .op = TRACE_OP_SAMPLE, .time_ns = rec->time_ns };
        struct pending_event pending = { .cut = 0 };
        int spec = event_set_find_spec(s->recording->events, rec->event);
        struct thread_track *thread;
        bool is_whole;
        int r;

        if (spec < 0) {
                loss_counter_add(s->recording->losses, TRACE_LOSS_RECORD_GARBAGE, 1);
                return 0;
        }
        r = kernel_side_find_thread(s, rec, &thread);
        if (r < 0 || !thread)
                return r;
        if (!rec->sample.stack.in_kernel)
                r = code_images_meet(s->images, thread->process, rec->sample.stack.ip_avma, rec->time_ns);
        if (r == 0)
                r = take_images(s, rec->time_ns);
        if (r < 0)
                return r;
        event.sample.event = s->recording->sample_events[spec];
        event.sample.cpu = rec->cpu;
        event.sample.weight = s->counts.leader_weight != 0 ? s->counts.leader_weight : rec->sample.period;
        pending.cut = stack_unwinder_run_waiting(s->recording->unwinder, &rec->sample.stack, thread,
                                                 rec->time_ns, &s->chain);
        is_whole = s->chain.state < TRACE_STACK_TRUNCATED;
        s->has_cuts |= pending.cut != 0;
        if (pending.cut == 0)
                r = sample_stacks_add(s, &thread->process->space, &event);
        if (r == 0 && s->recording->keep_stacks)
                r = queue_copy(s, thread, rec);
        if (r < 0)
                return r;
        s->n_samples++;
        pending.event = event;
        r = process_table_add_sample(s->recording->processes, thread, &pending);
        if (r == 0)
                r = queue_counts(s, thread, &pending);
        return r == 0 && is_whole ? sample_stacks_close(s, thread) : r;
}

static enum trace_module_kind module_kind(const struct perf_mmap *m)
{
        static const char vdso[] = "[vdso]";

        if (m->path_bytes == sizeof(vdso) - 1 && memcmp(m->path, vdso, m->path_bytes) == 0)
                return TRACE_MODULE_VDSO;
        return perf_mmap_is_anonymous(m) ? TRACE_MODULE_ANONYMOUS : TRACE_MODULE_FILE;
}

/*
 * A file that is written over in its place is another module each time, unless it has a build-id.  Returns 1
 * if its content is lost.
 */
static int add_version(struct kernel_side *s, const struct perf_record *rec, struct trace_module *row,
                       struct perf_mmap *m)
{
        struct file_version version;
        int r = file_versions_find(s->versions, s->recording->opened, rec->pid, m, rec->time_ns, &version);

        m->written_ns = version.written_ns;
        if (version.build_id_bytes > 0) { /* as in the kernel's records, which have no inode then */
                m->build_id_bytes = version.build_id_bytes;
                memcpy(m->build_id, version.build_id, version.build_id_bytes);
                return r;
        }
        row->content = version.number;
        row->generation = m->inode_generation;
        if (m->inode != 0 && !version.is_lost) { /* else the file there now is not the mapped one */
                row->device = makedev(m->device_major, m->device_minor);
                row->inode = m->inode;
        }
        return r < 0 ? r : version.is_lost;
}

/*
 * The module of a mapping; its file is opened if it may be gone soon, and its table is asked for.  @process:
 * its id in PROCESSES, for memory of no file.
 */
/* Hands a new module to all that want its code. */
static int kernel_side_announce_module(struct kernel_side *s, uint32_t process, const struct perf_record *rec,
                                       const struct perf_mmap *m, const struct trace_module *row,
                                       uint32_t module)
{
        const struct recording *recording = s->recording;
        int r = 0;

        if (recording->keeper) /* first: it may be gone in a millisecond */
                r = code_keeper_want_file(recording->keeper, module, row, rec->pid, m);
        if (r == 0 && recording->jit)
                r = jit_files_note_mapping(recording->jit, rec->pid, process, m, rec->time_ns);
        return r == 0 && recording->tables && !perf_mmap_is_jitdump(m)
                       ? code_tables_want(recording->tables, module, row, rec->pid, m)
                       : r;
}

static int kernel_side_add_module(struct kernel_side *s, uint32_t process, const struct perf_record *rec,
                                  uint32_t *ret_module)
{
        const struct recording *recording = s->recording;
        struct perf_mmap mapping = rec->mmap, *m = &mapping;
        struct trace_module row = { .kind = module_kind(m) };
        bool is_lost = false;
        int r = trace_dictionary_add_path(recording->dictionary, m->path, m->path_bytes, &row.path);

        if (r < 0)
                return r;
        if (row.kind == TRACE_MODULE_ANONYMOUS) {
                row.process = process;
                row.generation = recording->regions ? code_regions_generation(recording->regions, process)
                                                    : 0;
        } else if (row.kind == TRACE_MODULE_FILE) {
                r = add_version(s, rec, &row, m);
                if (r < 0)
                        return r;
                is_lost = r == 1;
        }
        if (m->build_id_bytes > 0)
                r = trace_dictionary_add_string(recording->dictionary, m->build_id, m->build_id_bytes,
                                                &row.build_id);
        if (r < 0)
                return r;
        r = trace_dictionary_add(recording->dictionary, TRACE_TABLE_MODULES, &row, ret_module);
        if (r != 0)
                return r;
        if (is_lost)
                return recording->keeper ? code_keeper_miss_file(recording->keeper, *ret_module, m) : 0;
        return kernel_side_announce_module(s, process, rec, m, &row, *ret_module);
}

/* Mappings are the process's: the thread that made one may be of no interest. */
static int kernel_side_process_of(struct kernel_side *s, const struct perf_record *rec,
                                  struct process_track **ret_process)
{
        struct thread_track *thread = NULL;
        int r = 0;

        *ret_process = names_a_thread(rec) ? process_table_find_process(s->recording->processes, rec->pid)
                                           : NULL;
        if (!*ret_process)
                r = thread_of(s, rec, &thread);
        if (thread)
                *ret_process = thread->process;
        return r;
}

int kernel_side_before_change(void *source, struct process_track *process)
{
        int r = sample_stacks_close_all(source, process);

        return r == 0 ? sample_stacks_resume(source, process, UINT64_MAX) : r;
}

static int take_mmap(struct kernel_side *s, const struct perf_record *rec)
{
        const struct perf_mmap *m = &rec->mmap;
        struct address_range range = { .start_avma = m->start_avma,
                                       .file_offset_bytes = m->file_offset_bytes };
        struct trace_mapping row = { .start_avma = m->start_avma,
                                     .length_bytes = m->length_bytes,
                                     .file_offset_bytes = m->file_offset_bytes,
                                     .time_ns = rec->time_ns };
        struct process_track *process;
        uint32_t id;
        int r;

        if (!m->executable)
                return 0;
        if (__builtin_add_overflow(m->start_avma, m->length_bytes, &range.end_avma)) {
                loss_counter_add(s->recording->losses, TRACE_LOSS_RECORD_GARBAGE, 1);
                return 0;
        }
        r = kernel_side_process_of(s, rec, &process);
        if (r < 0 || !process)
                return r;
        r = kernel_side_add_module(s, process->process, rec, &range.module);
        row.module = range.module;
        row.process = process->process;
        if (r == 0)
                r = trace_dictionary_add(s->recording->dictionary, TRACE_TABLE_MAPPINGS, &row, &id);
        if (r == -EOVERFLOW) {
                loss_counter_add(s->recording->losses, TRACE_LOSS_RECORD_GARBAGE, 1);
                return 0;
        }
        if (r != 0)
                return r;
        r = sample_stacks_close_all(s, process);
        if (r != 0)
                return r;
        r = address_space_add(&process->space, &range);
        if (r != 0 || module_kind(m) != TRACE_MODULE_FILE)
                return r;
        return code_images_note_file(s->images, process->pid, &range);
}

/*
 * Images in memory of no file that are there by then, or are gone.  Processes that are no longer
 * known are skipped.
 */
static int take_images(struct kernel_side *s, uint64_t until_ns)
{
        struct image_change change;
        int r = 0;

        while (r == 0 && code_images_next(s->images, until_ns, &change)) {
                struct process_track *process = process_table_find_process(s->recording->processes,
                                                                           change.pid);

                /*
                 * It was found there, since an unknown time, or the earlier samples were taken already: so
                 * from now on.
                 */
                if (change.time_ns <= s->images_ns)
                        change.time_ns = until_ns;
                r = process ? sample_stacks_close_all(s, process) : 0;
                if (r == 0 && process)
                        r = code_images_put(s->images, process, &change);
        }
        if (s->images_ns < until_ns)
                s->images_ns = until_ns;
        return r;
}

static int name_thread(struct kernel_side *s, struct thread_track *thread, uint32_t name, uint64_t now_ns,
                       bool closes_zones)
{
        struct pending_event pending = { .event = { .op = TRACE_OP_THREAD_NAME, .time_ns = now_ns },
                                         .closes_zones = closes_zones };

        thread->name = name;
        pending.event.thread_name.name = name;
        return process_table_add_pending(s->recording->processes, thread, &pending);
}

static int end_thread(struct kernel_side *s, struct thread_track *thread, uint64_t now_ns)
{
        struct pending_event pending = { .event = { .op = TRACE_OP_THREAD_EXIT, .time_ns = now_ns } };
        int r = sample_stacks_close(s, thread);

        stack_unwinder_forget(s->recording->unwinder, thread);
        thread->exits = true;
        thread->out_ns = 0;
        return r < 0 ? r : process_table_add_pending(s->recording->processes, thread, &pending);
}

/*
 * Whichever thread calls execve(2) goes on with the number of the first one, whose end the kernel has told
 * before.  The kernel reports nothing more about its previous number.
 */
static int take_exec(struct kernel_side *s, const struct perf_record *rec, struct thread_track *thread)
{
        struct thread_track *other;
        uint32_t at = 0;
        int r = sample_stacks_close_all(s, thread->process);

        address_space_clear(&thread->process->space);
        code_images_forget(s->images, rec->pid, rec->time_ns);
        if (r == 0 && s->recording->jit)
                r = jit_files_note_exec(s->recording->jit, rec->pid, rec->time_ns);
        if (thread->exits)
                thread_track_revive(thread);
        /* Most have one thread, and to look for others takes a look at all that there are. */
        while (r == 0 && thread->process->n_threads > 1 &&
               (other = process_table_next_thread(s->recording->processes, thread->process, &at)) != NULL)
                if (other != thread && !other->exits)
                        r = end_thread(s, other, rec->time_ns);
        return r;
}

static int take_comm(struct kernel_side *s, const struct perf_record *rec)
{
        struct thread_track *thread;
        uint32_t name = 0;
        int r = thread_of(s, rec, &thread);

        if (r < 0 || !thread)
                return r;
        if (rec->comm.exec)
                r = take_exec(s, rec, thread);
        if (r < 0)
                return r;
        r = trace_dictionary_add_path(s->recording->dictionary, rec->comm.name, rec->comm.name_bytes, &name);
        return r < 0 && r != -EOVERFLOW ? r : name_thread(s, thread, name, rec->time_ns, rec->comm.exec);
}

static int kernel_side_take_fork(struct kernel_side *s, const struct perf_record *rec)
{
        const struct thread_track *parent = process_table_find_thread(s->recording->processes,
                                                                      rec->fork.parent_tid);
        uint32_t parent_pid = rec->fork.parent_pid == rec->pid ? 0 : rec->fork.parent_pid;
        struct thread_track *thread;
        int r = process_table_add_thread(s->recording->processes, rec->pid, rec->tid, parent_pid,
                                         rec->time_ns, &thread);

        if (r == -EOVERFLOW) {
                loss_counter_add(s->recording->losses, TRACE_LOSS_RECORD_GARBAGE, 1);
                return 0;
        }
        if (r == 0)
                thread->exits = false;
        /* Later ones BPF has seen itself. */
        if (r == 0 && rec->time_ns <= s->bpf_follows_ns && parent_pid != 0)
                (void)switch_source_add_process(s->recording->switches, rec->pid);
        if (r < 0 || !parent || parent->name == 0)
                return r;
        return name_thread(s, thread, parent->name, rec->time_ns, false);
}

static int take_exit(struct kernel_side *s, const struct perf_record *rec)
{
        struct thread_track *thread = process_table_find_thread(s->recording->processes, rec->tid);

        if (!thread)
                return 0;
        if (rec->tid == rec->pid)
                code_images_forget(s->images, rec->pid, rec->time_ns);
        return end_thread(s, thread, rec->time_ns);
}

/* The use of a sample.  An unknown event: NULL. */
static const struct event_spec *spec_of(const struct kernel_side *s, const struct perf_record *rec)
{
        int spec = event_set_find_spec(s->recording->events, rec->event);

        return spec < 0 ? NULL : &s->recording->events->options.attr.request->specs[spec];
}

static bool is_waker(const struct kernel_side *s, const struct perf_record *rec)
{
        const struct event_spec *spec = rec->kind == PERF_RECORD_KIND_SAMPLE ? spec_of(s, rec) : NULL;

        return spec && spec->role == EVENT_ROLE_WAKERS;
}

static int take_any_sample(struct kernel_side *s, const struct perf_record *rec)
{
        const struct event_spec *spec = spec_of(s, rec);

        if (spec && spec->role == EVENT_ROLE_WAITS)
                return wait_records_take_sample(s, rec);
        if (spec && spec->role == EVENT_ROLE_WAKERS)
                return wait_records_take_waker(s, spec, rec);
        return kernel_side_take_sample(s, rec);
}

/* Is the oldest record one that is wanted, for the first time?  The waker may be any thread. */
static bool takes(struct kernel_side *s, const struct perf_record *rec)
{
        /* Both learn from forks. */
        bool is_double = event_set_is_double(s->recording->events, rec);

        return (!s->recording->filter || process_filter_takes(s->recording->filter, rec) ||
                is_waker(s, rec)) &&
               !is_double;
}

static int kernel_side_take_event(struct kernel_side *s, const struct perf_record *rec)
{
        switch (rec->kind) {
        case PERF_RECORD_KIND_SAMPLE:
                return take_any_sample(s, rec);
        case PERF_RECORD_KIND_MMAP:
                return take_mmap(s, rec);
        case PERF_RECORD_KIND_COMM:
                return take_comm(s, rec);
        case PERF_RECORD_KIND_FORK:
                return kernel_side_take_fork(s, rec);
        case PERF_RECORD_KIND_EXIT:
                return take_exit(s, rec);
        case PERF_RECORD_KIND_SWITCH:
                return wait_records_take_switch(s, rec);
        case PERF_RECORD_KIND_LOST:
                s->n_lost_records += rec->n_lost;
                return 0;
        case PERF_RECORD_KIND_LOST_SAMPLES:
                loss_counter_add(s->recording->losses, TRACE_LOSS_SAMPLES_LOST, rec->n_lost);
                return 0;
        case PERF_RECORD_KIND_WAKEUP:
                return wait_records_take_wakeup(s, rec);
        case PERF_RECORD_KIND_THROTTLE:
                loss_counter_add(s->recording->losses, TRACE_LOSS_THROTTLED, 1);
                return 0;
        case PERF_RECORD_KIND_OTHER:
                return 0;
        }
        return 0;
}

/* Additions to a mapping come after it, additions to other records before them. */
static int kernel_side_take_in_turn(struct kernel_side *s, const struct perf_record *rec)
{
        bool is_mapping = rec->kind == PERF_RECORD_KIND_MMAP;
        int r = rec->time_ns > 0 ? take_images(s, rec->time_ns - is_mapping) : 0;

        if (r == 0)
                r = kernel_side_take_event(s, rec);
        return r == 0 && is_mapping ? take_images(s, rec->time_ns) : r;
}

int kernel_side_take(struct kernel_side *s, const struct perf_record *rec)
{
        int r = rec->kind == PERF_RECORD_KIND_MMAP ? code_images_look(s->images, rec) : 0;

        return r < 0 ? r : kernel_side_take_in_turn(s, rec);
}

/* Decodes the oldest record of a ring into its head, if it is not there yet. */
static int fill_head(struct kernel_side *s, size_t i, struct error *err)
{
        struct ring_head *head = &s->heads[i];
        const uint8_t *bytes;

        while (!head->ready) {
                int r = perf_ring_peek(&s->recording->events->rings[i], &bytes, &head->record_bytes, err);

                if (r <= 0)
                        return r;
                r = perf_record_decode(bytes, head->record_bytes, &s->recording->events->layout,
                                       &head->record, err);
                if (r == 0) {
                        head->ready = true;
                } else {
                        loss_counter_add(s->recording->losses, TRACE_LOSS_RECORD_GARBAGE, 1);
                        perf_ring_consume(&s->recording->events->rings[i], head->record_bytes);
                }
        }
        return 1;
}

/* The ring whose oldest record is the oldest of all; n_rings if all are empty. */
static int find_oldest(struct kernel_side *s, size_t *ret_ring, struct error *err)
{
        size_t oldest = s->recording->events->n_rings;

        for (size_t i = 0; i < s->recording->events->n_rings; i++) {
                int r = fill_head(s, i, err);

                if (r < 0)
                        return r;
                if (r == 1 && (oldest == s->recording->events->n_rings ||
                               s->heads[i].record.time_ns < s->heads[oldest].record.time_ns))
                        oldest = i;
        }
        *ret_ring = oldest;
        return 0;
}

/* Applies the oldest record of a ring and steps over it. */
static int take_from_ring(struct kernel_side *s, size_t ring)
{
        struct ring_head *head = &s->heads[ring];
        int r = group_counts_take(&s->counts, s->recording->events,
                                  &head->record); /* also of events that are left out */

        if (r == 0 && takes(s, &head->record))
                r = kernel_side_take_in_turn(s, &head->record);
        head->ready = false;
        perf_ring_consume(&s->recording->events->rings[ring], head->record_bytes);
        return r;
}

/* A ring that is half full has no time to lose. */
static void look_at_rings(struct kernel_side *s)
{
        bool is_hurried = false;

        for (size_t i = 0; i < s->recording->events->n_rings; i++)
                if (perf_ring_count_unread(&s->recording->events->rings[i]) >
                    s->recording->events->rings[i].data_bytes / 2)
                        is_hurried = true;
        stack_unwinder_set_hurried(s->recording->unwinder, is_hurried);
}

/* Code that was there before the next record, as jitdumps tell. */
static int run_jit(struct kernel_side *s, const struct perf_record *of_bpf, const struct perf_record *of_ring,
                   uint64_t until_ns)
{
        if (of_bpf && of_bpf->time_ns < until_ns)
                until_ns = of_bpf->time_ns;
        if (of_ring && of_ring->time_ns < until_ns)
                until_ns = of_ring->time_ns;
        return s->recording->jit && jit_files_next_ns(s->recording->jit) <= until_ns
                       ? jit_files_run(s->recording->jit, until_ns)
                       : 0;
}

/*
 * While programs are started one after the other, unwind tables are made when a stack has waited long for
 * one.  Zones do not wait with it: where there are any, tables are made at once.
 */
static void decide_patience(struct kernel_side *s)
{
        struct code_tables *tables = s->recording->tables;
        uint64_t now_ns = clock_raw_ns();

        if (!tables)
                return;
        code_tables_set_patient(tables, (!s->recording->zones || s->recording->zones->n_regions == 0) &&
                                                recent_births_are_many(&s->births, now_ns));
        if (stack_unwinder_is_overdue(s->recording->unwinder, now_ns))
                code_tables_release(tables);
}

int kernel_side_run(struct kernel_side *s, uint64_t until_ns, struct error *err)
{
        const struct perf_record *of_bpf = NULL;
        bool more_of_bpf = s->recording->switches != NULL;
        int r = 0;

        s->has_cuts = false;
        decide_patience(s);
        r = sample_stacks_resume(s, NULL, clock_raw_ns()); /* before a thread has stacks that are cut */
        while (r == 0) {
                size_t i;
                bool of_ring;

                if (s->n_unhurried++ % RECORDS_UNHURRIED == 0)
                        look_at_rings(s);
                if (more_of_bpf && !of_bpf)
                        more_of_bpf = switch_source_peek(s->recording->switches, until_ns, &of_bpf) == 1;
                r = find_oldest(s, &i, err);
                if (r < 0)
                        break;
                of_ring = i < s->recording->events->n_rings && s->heads[i].record.time_ns <= until_ns;
                r = run_jit(s, of_bpf, of_ring ? &s->heads[i].record : NULL, until_ns);
                if (r < 0) {
                        (void)error_set(err, r, "no memory for regions of code");
                } else if (of_bpf && (!of_ring || of_bpf->time_ns < s->heads[i].record.time_ns)) {
                        r = takes(s, of_bpf) ? kernel_side_take_in_turn(s, of_bpf) : 0;
                        switch_source_consume(s->recording->switches);
                        of_bpf = NULL;
                } else if (of_ring) {
                        r = take_from_ring(s, i);
                } else {
                        break;
                }
                if (r < 0)
                        (void)error_set(err, r, "no memory for kernel records");
        }
        code_images_see_records(s->images);
        for (size_t i = 0; i < s->recording->events->n_rings; i++)
                perf_ring_release(&s->recording->events->rings[i]);
        if (r == 0)
                r = sample_stacks_close_all(s, NULL);
        return r;
}

int kernel_side_finish(struct kernel_side *s, uint64_t limit_ns, struct error *err)
{
        uint64_t now_ns = clock_raw_ns(), end_ns = now_ns + limit_ns;
        int r = 0;

        while (r == 0 && stack_unwinder_has_waiting(s->recording->unwinder) && now_ns < end_ns &&
               code_tables_wait_next(s->recording->tables, end_ns - now_ns)) {
                now_ns = clock_raw_ns();
                r = sample_stacks_resume(s, NULL, now_ns);
                if (r == 0)
                        r = sample_stacks_close_all(s, NULL);
        }
        if (r == 0)
                r = sample_stacks_resume(s, NULL, UINT64_MAX);
        return r < 0 ? error_set(err, r, "no memory for kernel records") : 0;
}

/* Mappings of data are many; of interest are only clients' regions among them. */
static bool may_matter(const struct kernel_side *s, const struct perf_record *rec)
{
        const struct perf_mmap *m = &rec->mmap;

        if (rec->kind != PERF_RECORD_KIND_MMAP ||
            (s->recording->filter && !process_filter_may_take(s->recording->filter, rec->pid)))
                return false;
        return m->executable || region_finder_is_region_name(m->path, m->path_bytes);
}

/* Ahead of its turn: its file may be gone by then.  A table that is full is no reason to stop. */
static int want_file(struct kernel_side *s, const struct perf_record *rec)
{
        uint32_t module;
        int r;

        if (rec->mmap.executable && s->recording->jit && module_kind(&rec->mmap) == TRACE_MODULE_ANONYMOUS)
                return jit_files_note_mapping(s->recording->jit, rec->pid, 0, &rec->mmap, rec->time_ns);
        if ((!s->recording->tables && !s->recording->keeper) || !rec->mmap.executable ||
            module_kind(&rec->mmap) == TRACE_MODULE_ANONYMOUS)
                return 0;
        r = kernel_side_add_module(s, 0, rec, &module);
        opened_files_forget(s->recording->opened, rec->pid, &rec->mmap);
        return r == -EOVERFLOW ? 0 : r;
}

/* One round through the rings.  Returns 1 if a region is announced, 0, -ENOMEM, -errno. */
static int scan_rings(struct kernel_side *s, bool *ret_has_code, uint32_t *ret_pid, struct error *err)
{
        *ret_has_code = false;
        for (size_t i = 0; i < s->recording->events->n_rings; i++) {
                const uint8_t *bytes;
                size_t n_bytes;
                struct perf_record rec;
                int r;

                if (!event_set_is_tracker_ring(s->recording->events, i))
                        continue;
                while ((r = perf_ring_scan(&s->recording->events->rings[i], &s->heads[i].scan_bytes, &bytes,
                                           &n_bytes, err)) == 1) {
                        s->heads[i].ready = false; /* it may have borrowed a wrapped record's copy */
                        if (perf_record_decode(bytes, n_bytes, &s->recording->events->layout, &rec, NULL) < 0)
                                continue;
                        if (rec.kind == PERF_RECORD_KIND_FORK && rec.fork.parent_pid != rec.pid) {
                                recent_births_note(&s->births, rec.time_ns);
                                decide_patience(s);
                        }
                        if (!may_matter(s, &rec))
                                continue;
                        *ret_has_code |= rec.mmap.executable;
                        if (want_file(s, &rec) < 0 || code_images_look(s->images, &rec) < 0)
                                return error_set(err, -ENOMEM, "no memory for files of code");
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

/* To look at code takes time, in which more may have come that is gone soon: until there is nothing new. */
int kernel_side_scan(struct kernel_side *s, uint32_t *ret_pid, struct error *err)
{
        bool has_code = true;
        int r = 0;

        if (code_images_update(s->images) < 0)
                return error_set(err, -ENOMEM, "no memory for objects of JITs");
        opened_files_expire(s->recording->opened, clock_raw_ns());
        for (unsigned i = 0; i < SCANS_MAX && has_code && r == 0; i++)
                r = scan_rings(s, &has_code, ret_pid, err);
        return r;
}
