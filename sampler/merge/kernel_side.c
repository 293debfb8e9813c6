/* SPDX-License-Identifier: MIT */
#include "sampler/merge/kernel_side.h"

#include "base/clock.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "instrument/region_finder.h"
#include "sampler/events/event_set.h"
#include "sampler/images/code_images.h"
#include "sampler/images/image_changes.h"
#include "sampler/jit/jit_files.h"
#include "sampler/keep/code_keeper.h"
#include "sampler/keep/file_versions.h"
#include "sampler/keep/kernel_code.h"
#include "sampler/merge/kernel_side_parts.h"
#include "sampler/merge/process_work.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/probes/probe_source.h"
#include "sampler/proc/process_filter.h"
#include "sampler/proc/running_process.h"
#include "sampler/python/python_frames.h"
#include "sampler/python/python_gil.h"
#include "sampler/stacks/stack_unwinder.h"
#include "sampler/switches/switch_source.h"
#include "sampler/tables/code_regions.h"
#include "sampler/tables/code_tables.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/recording.h"
#include "sampler/tracks/thread_track.h"
#include "sampler/zones/zone_source.h"

#include <errno.h>
#include <stdlib.h>

int kernel_side_init(struct kernel_side *s, const struct recording *recording)
{
        bool of_threads = recording->events->options.scope == EVENT_SCOPE_THREADS;

        *s = (struct kernel_side){
                .recording = recording,
                .stacks = { .dictionary = recording->dictionary,
                            .keeper = recording->keeper,
                            .kernel_code = recording->kernel_code },
                .versions = file_versions_new(),
        };
        if (perf_rings_init(&s->rings, recording) < 0 || !s->versions ||
            code_images_new(recording, &s->images) < 0)
                return -ENOMEM;
        /* A thread's events are on each CPU: they wait also while the thread is on other CPUs. */
        group_counts_init(&s->counts, recording->events->layout.read_format, of_threads, !of_threads);
        return 0;
}

void kernel_side_deinit(struct kernel_side *s)
{
        group_counts_deinit(&s->counts);
        sample_thinning_deinit(&s->thinning);
        stack_builder_deinit(&s->stacks);
        code_images_free(s->images);
        file_versions_free(s->versions);
        perf_rings_deinit(&s->rings);
        free(s->on_cpus);
}

/* Threads without a number are about to vanish from the kernel's own tables. */
static bool names_a_thread(const struct perf_record *rec)
{
        return rec->tid != 0 && rec->tid != UINT32_MAX && rec->pid != 0 && rec->pid != UINT32_MAX;
}

/* Finds or adds the thread of a record.  A full table costs the record, not the recording. */
static int thread_of(struct kernel_side *s, const struct perf_record *rec, struct thread_track **ret_thread)
{
        const struct thread_birth birth = {
                .pid = rec->pid,
                .tid = rec->tid,
                .parent_tid = rec->kind == PERF_RECORD_KIND_NUMBER ? rec->number.parent_tid : 0,
                .time_ns = rec->time_ns,
        };
        int r = -EOVERFLOW;

        *ret_thread = NULL;
        if (names_a_thread(rec))
                r = process_table_add_born(s->recording->processes, &birth, ret_thread);
        if (r == -EOVERFLOW) {
                loss_counter_add(s->recording->losses, TRACE_LOSS_RECORD_GARBAGE, 1);
                return 0;
        }
        return r;
}

/*
 * Adds a process that the kernel never announced: it was moved into the recorded cgroup, or its record was
 * lost.  The facts in /proc are those of now, which is better than nothing.
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
 * Finds the thread of a sample or a switch.  Events of a CPU or a cgroup go on after a thread's end, until
 * the thread has left the CPU for good: such a thread is known, but not among the living.
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

/* Finds the process of a mapping: the thread that made the mapping may be of no interest. */
static int process_of(struct kernel_side *s, const struct perf_record *rec,
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

int kernel_side_before_change(void *source, struct process_track *process, uint64_t start_avma,
                              uint64_t end_avma)
{
        int r;

        if (!sample_stacks_may_wait_in(source, process, start_avma, end_avma))
                return 0;
        r = sample_stacks_close_all(source, process);
        return r == 0 ? sample_stacks_resume(source, process, UINT64_MAX) : r;
}

/* True if a client shows its region: the client maps it as code, but runs nothing there. */
static bool shows_region(const struct perf_record *rec)
{
        return rec->kind == PERF_RECORD_KIND_MMAP && rec->mmap.executable &&
               region_finder_is_region_name(rec->mmap.path, rec->mmap.path_bytes);
}

static bool maps_code(const struct perf_record *rec)
{
        return rec->kind == PERF_RECORD_KIND_MMAP && rec->mmap.executable && !shows_region(rec);
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

        if (shows_region(rec) && s->recording->zones)
                return zone_source_open_late(s->recording->zones, rec->pid);
        if (!maps_code(rec))
                return 0;
        if (__builtin_add_overflow(m->start_avma, m->length_bytes, &range.end_avma)) {
                loss_counter_add(s->recording->losses, TRACE_LOSS_RECORD_GARBAGE, 1);
                return 0;
        }
        r = process_of(s, rec, &process);
        if (r < 0 || !process)
                return r;
        process->is_bare = false;
        if (perf_mmap_is_uprobes(m)) {
                process->return_probes_avma = m->start_avma;
                process->return_probes_bytes = m->length_bytes;
        }
        r = mapped_modules_add(s, process->process, rec, &range.module);
        row.module = range.module;
        row.process = process->process;
        if (r == 0)
                r = trace_dictionary_append_new(s->recording->dictionary, TRACE_TABLE_MAPPINGS, &row, &id);
        if (r == -EOVERFLOW) {
                loss_counter_add(s->recording->losses, TRACE_LOSS_RECORD_GARBAGE, 1);
                return 0;
        }
        if (r != 0)
                return r;
        r = sample_stacks_close_all(s, process);
        if (r != 0)
                return r;
        r = process_track_map(process, &range, rec->time_ns);
        if (r != 0 || mapped_modules_kind(m) != TRACE_MODULE_FILE)
                return r;
        if (s->recording->jit && perf_mmap_may_hold_jit_code(m)) /* its module may be known for long */
                r = jit_files_note_mapping(s->recording->jit, rec->pid, process->process, m, rec->time_ns);
        if (r == 0 && s->recording->regions)
                r = code_regions_note_file(s->recording->regions, process, &range);
        if (r != 0)
                return r;
        return code_images_note_file(s->images, process->pid, &range, rec->time_ns);
}

/*
 * Notes the images in anonymous memory that are there by @until_ns, or are gone.  Processes that are no
 * longer known are skipped.
 */
int kernel_side_take_images(struct kernel_side *s, uint64_t until_ns)
{
        struct image_change change;
        int r = 0;

        while (r == 0 && code_images_next(s->images, until_ns, &change)) {
                struct process_track *process = process_table_find_process(s->recording->processes,
                                                                           change.pid);

                /*
                 * The image has been there since an unknown time, or the earlier samples were already
                 * taken: it counts from now on.
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
 * A thread that calls execve(2) goes on with the number of the process's first thread, whose end the kernel
 * has reported before.  The kernel reports nothing more about the caller's previous number.
 */
static int take_exec(struct kernel_side *s, const struct perf_record *rec, struct thread_track *thread)
{
        struct thread_track *other;
        size_t at = 0;
        int r = sample_stacks_close_all(s, thread->process);

        s->command_has_program = s->command_has_program || rec->pid == s->command_pid;
        thread->process->is_bare = true;
        thread->process->bare_lost = s->n_lost_records;
        if (r == 0)
                r = process_track_exec(thread->process, rec->time_ns);
        python_frames_forget(s->recording->python, rec->pid, rec->time_ns);
        python_gil_forget(s->recording->gil, rec->pid);
        code_images_forget(s->images, rec->pid, rec->time_ns);
        if (r == 0 && s->recording->jit)
                r = jit_files_note_exec(s->recording->jit, rec->pid, thread->process->process, rec->time_ns);
        if (thread->exits)
                thread_track_revive(thread);
        /* Most processes have one thread; looking for others means looking at all threads. */
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
        if (r == 0 && rec->comm.exec)
                r = process_work_note(s->recording->dictionary, thread->process->process, rec->pid,
                                      (struct text_view){ rec->comm.name, rec->comm.name_bytes });
        if (r < 0)
                return r;
        r = trace_dictionary_add_path(s->recording->dictionary, rec->comm.name, rec->comm.name_bytes, &name);
        return r < 0 && r != -EOVERFLOW ? r : name_thread(s, thread, name, rec->time_ns, rec->comm.exec);
}

static int take_fork(struct kernel_side *s, const struct perf_record *rec)
{
        const struct thread_track *parent = process_table_find_thread(s->recording->processes,
                                                                      rec->fork.parent_tid);
        uint32_t parent_pid = rec->fork.parent_pid == rec->pid ? 0 : rec->fork.parent_pid;
        const struct thread_birth birth = { .pid = rec->pid,
                                            .tid = rec->tid,
                                            .parent_pid = parent_pid,
                                            .parent_tid = rec->fork.parent_tid,
                                            .time_ns = rec->time_ns };
        struct thread_track *thread;
        int r = process_table_add_born(s->recording->processes, &birth, &thread);

        if (r == -EOVERFLOW) {
                loss_counter_add(s->recording->losses, TRACE_LOSS_RECORD_GARBAGE, 1);
                return 0;
        }
        if (r == 0)
                thread->exits = false;
        if (r == 0 && parent_pid != 0 && s->recording->regions)
                r = code_regions_note_fork(s->recording->regions, thread->process);
        if (r == 0 && parent_pid != 0)
                r = python_frames_fork(s->recording->python, parent_pid, rec->pid, rec->time_ns);
        if (r == 0 && parent_pid != 0)
                r = code_images_note_fork(s->images, parent_pid, rec->pid, rec->time_ns);
        /* Later ones BPF has seen itself. */
        if (r == 0 && rec->time_ns <= s->bpf_follows_ns && parent_pid != 0)
                (void)switch_source_add_process(s->recording->switches, rec->pid);
        if (r < 0 || !parent || parent->name == 0)
                return r;
        return name_thread(s, thread, parent->name, rec->time_ns, false);
}

/*
 * When a thread executes a program with more rights than its user has, the kernel ends the thread's own
 * events, and reports the thread's end before the first mapping.  Events of CPUs go on, and so does the
 * thread: then this returns true.
 */
static bool ends_out_of_reach(struct kernel_side *s, struct thread_track *thread)
{
        /* A record that was lost may have been the mapping's. */
        bool is_bare = thread->process->is_bare && thread->process->bare_lost == s->n_lost_records;

        thread->process->is_bare = false;
        if (!is_bare || !s->recording->events->options.attr.inherit)
                return is_bare;
        if (s->n_out_of_reach++ == 0)
                s->out_of_reach_name = thread->name;
        return false;
}

static int take_exit(struct kernel_side *s, const struct perf_record *rec)
{
        struct thread_track *thread = process_table_find_thread(s->recording->processes, rec->tid);
        int r;

        if (thread && rec->tid == rec->pid && ends_out_of_reach(s, thread))
                return 0;
        if (rec->pid == s->command_pid && rec->time_ns > s->command_exit_ns)
                s->command_exit_ns = rec->time_ns;
        if (rec->tid == rec->pid)
                python_frames_forget(s->recording->python, rec->pid, rec->time_ns);
        if (!thread)
                return 0;
        if (rec->tid == rec->pid)
                code_images_forget(s->images, rec->pid, rec->time_ns);
        r = python_gil_end(s->recording->gil, thread, rec->time_ns);
        if (rec->tid == rec->pid)
                python_gil_forget(s->recording->gil, rec->pid);
        return r < 0 ? r : end_thread(s, thread, rec->time_ns);
}

/* The specification of a sample's event; NULL for an unknown event. */
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

/* Samples are timed now and then, for the throttle. */
static int take_sample(struct kernel_side *s, const struct perf_record *rec)
{
        bool is_timed = s->n_untimed++ % PACE_THROTTLE_TIMED == 0;
        uint64_t began_ns = is_timed ? clock_raw_ns() : 0;
        int r = sample_records_take(s, rec);

        if (is_timed)
                sample_throttle_note(&s->recording->pace->throttle,
                                     PACE_THROTTLE_TIMED * (clock_raw_ns() - began_ns));
        return r;
}

static int take_any_sample(struct kernel_side *s, const struct perf_record *rec)
{
        const struct event_spec *spec = spec_of(s, rec);

        if (spec && spec->role == EVENT_ROLE_WAITS)
                return wait_records_take_sample(s, rec);
        if (spec && spec->role == EVENT_ROLE_WAKERS)
                return wait_records_take_waker(s, spec, rec);
        return take_sample(s, rec);
}

/* True if a record is wanted and is no duplicate.  The waker may be any thread. */
static bool takes(struct kernel_side *s, const struct perf_record *rec)
{
        /* Both learn from forks. */
        bool is_double = event_set_is_double(s->recording->events, rec);

        return (!s->recording->filter || process_filter_takes(s->recording->filter, rec) ||
                is_waker(s, rec)) &&
               !is_double;
}

/*
 * Finishes the samples that wait for the unwind table of replaced code: they do not belong to the new code
 * in this place.
 */
static int take_kernel_code(struct kernel_side *s, const struct perf_record *rec)
{
        struct kernel_code *code = s->recording->kernel_code;
        uint64_t start_avma = rec->kernel_code.start_avma;
        int r = 0;

        if (!code)
                return 0;
        if (kernel_code_is_replaced(code, &rec->kernel_code) &&
            stack_unwinder_has_waiting_in_kernel(s->recording->unwinder, start_avma,
                                                 start_avma + rec->kernel_code.n_bytes))
                r = sample_stacks_resume(s, NULL, UINT64_MAX);
        return r < 0 ? r : kernel_code_note(code, s->recording->dictionary, &rec->kernel_code);
}

/* Notes the number by which the zones of the thread's ring will name the thread. */
static int take_number(struct kernel_side *s, const struct perf_record *rec)
{
        struct thread_track *thread = NULL;
        int r = 0;

        if (process_table_find_process(s->recording->processes, rec->pid))
                r = kernel_side_find_thread(s, rec, &thread);
        return r < 0 || !thread || thread->exits ? r
                                                 : process_table_number_thread(thread, rec->number.own_tid);
}

static int take_event(struct kernel_side *s, const struct perf_record *rec)
{
        switch (rec->kind) {
        case PERF_RECORD_KIND_SAMPLE:
                return take_any_sample(s, rec);
        case PERF_RECORD_KIND_MMAP:
                return take_mmap(s, rec);
        case PERF_RECORD_KIND_COMM:
                return take_comm(s, rec);
        case PERF_RECORD_KIND_FORK:
                return take_fork(s, rec);
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
        case PERF_RECORD_KIND_GIL:
                return wait_records_take_gil(s, rec);
        case PERF_RECORD_KIND_SYSCALL:
                return sample_records_take_syscall(s, rec);
        case PERF_RECORD_KIND_LATE:
                return wait_records_take_late(s, rec);
        case PERF_RECORD_KIND_NUMBER:
                return take_number(s, rec);
        case PERF_RECORD_KIND_PROBE:
                return sample_records_take_probe(s, rec);
        case PERF_RECORD_KIND_KERNEL_CODE:
                return take_kernel_code(s, rec);
        case PERF_RECORD_KIND_THROTTLE:
                loss_counter_add(s->recording->losses, TRACE_LOSS_THROTTLED, 1);
                return 0;
        case PERF_RECORD_KIND_OTHER:
                return 0;
        }
        return 0;
}

/*
 * Changes of images at the time of a mapping are taken after the mapping, and at the time of any other
 * record before it.
 */
static int take_in_turn(struct kernel_side *s, const struct perf_record *rec)
{
        bool is_mapping = rec->kind == PERF_RECORD_KIND_MMAP;
        int r = rec->time_ns > 0 ? kernel_side_take_images(s, rec->time_ns - is_mapping) : 0;

        if (rec->pid != 0 && rec->pid != s->command_pid && rec->time_ns > s->others_ns)
                s->others_ns = rec->time_ns;
        if (r == 0)
                r = take_event(s, rec);
        return r == 0 && is_mapping ? kernel_side_take_images(s, rec->time_ns) : r;
}

int kernel_side_take(struct kernel_side *s, const struct perf_record *rec)
{
        int r = maps_code(rec) ? code_images_look(s->images, rec) : 0;

        return r < 0 ? r : take_in_turn(s, rec);
}

/*
 * Looks at all rings.  In the middle of a run BPF's are looked at as well: its beginning reads them anyway,
 * and a short run has nothing to throttle.
 */
static int look_at_rings(struct kernel_side *s, bool in_the_middle, struct error *err)
{
        int r;

        recorder_pace_begin_look(s->recording->pace);
        r = perf_rings_look(&s->rings, err);
        if (in_the_middle)
                switch_source_note_rings(s->recording->switches, s->recording->pace);
        recorder_pace_end_look(s->recording->pace, clock_raw_ns());
        return r;
}

/* Where there is no end: returns 1 if there is a record again, 0, -EBADMSG. */
static int look_once_more(struct kernel_side *s, struct error *err)
{
        int r = look_at_rings(s, false, err);

        return r < 0 ? r : winner_tree_first(&s->rings.oldest) < s->rings.oldest.n_sources;
}

/* Gives space back while a long run goes on; what the ring reports of mappings is remembered before. */
static void give_back(struct kernel_side *s, size_t i)
{
        struct perf_ring *ring = &s->recording->events->rings[i];

        if (perf_ring_count_to_release(ring) <= ring->data_bytes / PACE_RING_TAIL_SHARES)
                return;
        if (event_set_is_tracker_ring(s->recording->events, i))
                code_images_see_records(s->images);
        perf_ring_release(ring);
}

/* The same at the end of a run, for all that was taken in it. */
static void give_all_back(struct kernel_side *s)
{
        const struct event_set *events = s->recording->events;
        bool has_mappings = false;

        for (size_t i = 0; i < s->rings.n_taken && !has_mappings; i++)
                has_mappings = event_set_is_tracker_ring(events, s->rings.taken[i]) &&
                               perf_ring_count_to_release(&events->rings[s->rings.taken[i]]) > 0;
        if (has_mappings)
                code_images_see_records(s->images);
        for (size_t i = 0; i < s->rings.n_taken; i++) {
                s->rings.heads[s->rings.taken[i]].is_taken = false;
                perf_ring_release(&events->rings[s->rings.taken[i]]);
        }
        s->rings.n_taken = 0;
}

/* Applies the oldest record of a ring and steps over it; the ring keeps its place until its next turn. */
static int take_from_ring(struct kernel_side *s, size_t ring)
{
        struct ring_head *head = &s->rings.heads[ring];
        int r = group_counts_take(&s->counts, s->recording->events,
                                  &head->record); /* also of events that are left out */

        if (r == 0 && takes(s, &head->record))
                r = take_in_turn(s, &head->record);
        perf_rings_step(&s->rings, ring);
        give_back(s, ring);
        return r;
}

/* Takes the code that was there before the next record, as jitdumps report it. */
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

/* A run's way through the records. */
struct pass {
        uint64_t until_ns;
        uint64_t taken_ns;                           /* of the last record; 0 before the first */
        const struct perf_record *of_bpf, *of_probe; /* BPF's oldest; NULL = not looked at, or none */
        bool more_of_bpf, more_of_probe;
};

static void look_at_bpf(struct kernel_side *s, struct pass *pass)
{
        if (pass->more_of_bpf && !pass->of_bpf)
                pass->more_of_bpf = switch_source_peek(s->recording->switches, pass->until_ns,
                                                       &pass->of_bpf) == 1;
        if (pass->more_of_probe && !pass->of_probe)
                pass->more_of_probe = probe_source_peek(s->recording->probes, pass->until_ns,
                                                        &pass->of_probe) == 1;
}

static bool is_probe_next(const struct pass *pass, const struct perf_record *of_ring)
{
        return pass->of_probe && (!of_ring || pass->of_probe->time_ns < of_ring->time_ns) &&
               (!pass->of_bpf || pass->of_probe->time_ns < pass->of_bpf->time_ns);
}

static int take_next_probe(struct kernel_side *s, struct pass *pass)
{
        int r = takes(s, pass->of_probe) ? take_in_turn(s, pass->of_probe) : 0;

        pass->taken_ns = pass->of_probe->time_ns;
        probe_source_consume(s->recording->probes);
        pass->of_probe = NULL;
        return r;
}

/* Takes the oldest record, after the code that was there before it.  Returns 1, 0 if none is left, -errno. */
static int take_oldest(struct kernel_side *s, struct pass *pass, struct error *err)
{
        const struct perf_record *of_ring = NULL;
        size_t ring;
        int r;

        look_at_bpf(s, pass);
        r = perf_rings_find(&s->rings, &ring, err);
        if (r < 0)
                return r;
        if (ring < s->rings.oldest.n_sources && s->rings.heads[ring].record.time_ns <= pass->until_ns)
                of_ring = &s->rings.heads[ring].record;
        r = run_jit(s, pass->of_bpf, of_ring, pass->until_ns);
        if (r < 0)
                return error_set(err, r, "no memory for regions of code");
        if (is_probe_next(pass, of_ring)) {
                r = take_next_probe(s, pass);
        } else if (pass->of_bpf && (!of_ring || pass->of_bpf->time_ns < of_ring->time_ns)) {
                pass->taken_ns = pass->of_bpf->time_ns;
                r = takes(s, pass->of_bpf) ? take_in_turn(s, pass->of_bpf) : 0;
                switch_source_consume(s->recording->switches);
                pass->of_bpf = NULL;
        } else if (of_ring) {
                pass->taken_ns = of_ring->time_ns;
                r = take_from_ring(s, ring);
        } else {
                return pass->until_ns == UINT64_MAX ? look_once_more(s, err) : 0;
        }
        return r < 0 ? error_set(err, r, "no memory for kernel records") : 1;
}

int kernel_side_run(struct kernel_side *s, uint64_t until_ns, struct error *err)
{
        struct pass pass = { .until_ns = until_ns,
                             .more_of_bpf = s->recording->switches != NULL,
                             .more_of_probe = s->recording->probes != NULL };
        uint64_t before_ns = s->reached_ns;
        unsigned n_taken = 0;
        int r;

        s->recording->pace->kernel_ns = clock_raw_ns();
        sample_throttle_begin_run(&s->recording->pace->throttle, s->recording->pace->kernel_ns);
        s->has_cuts = false;
        s->reached_ns = until_ns;
        python_frames_look(s->recording->python);
        kernel_side_set_table_deadline(s);
        r = sample_stacks_resume(s, NULL, clock_raw_ns()); /* before a thread has stacks that are cut */
        if (r == 0)
                r = look_at_rings(s, false, err);
        if (r == 0)
                r = 1;
        while (r == 1) {
                if (++n_taken % PACE_MERGE_UNHURRIED == 0) {
                        uint64_t now_ns = clock_raw_ns();

                        if (recorder_pace_look_is_due(s->recording->pace, s->recording->events->n_rings,
                                                      now_ns) &&
                            look_at_rings(s, true, err) < 0) {
                                r = -EBADMSG;
                                break;
                        }
                        if (until_ns != UINT64_MAX && pass.taken_ns != 0 &&
                            !recorder_pace_may_take(s->recording->pace, now_ns)) {
                                /*
                                 * Other records of the same time may follow.  A record that came late is
                                 * older: then the limit stays.
                                 */
                                s->reached_ns = pass.taken_ns > before_ns ? pass.taken_ns - 1 : before_ns;
                                break;
                        }
                }
                r = take_oldest(s, &pass, err);
        }
        give_all_back(s);
        sample_throttle_end_run(&s->recording->pace->throttle, clock_raw_ns());
        return r < 0 ? r : sample_stacks_close_all(s, NULL);
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
