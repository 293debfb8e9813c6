/* SPDX-License-Identifier: MIT */
#include "sampler/merge/kernel_side_parts.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "format/trace_dictionary.h"
#include "sampler/events/event_set.h"
#include "sampler/images/code_images.h"
#include "sampler/merge/kernel_side.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/proc/process_maps.h"
#include "sampler/python/python_frames.h"
#include "sampler/python/python_gil.h"
#include "sampler/python/python_source.h"
#include "sampler/stacks/stack_unwinder.h"
#include "sampler/tracks/address_space.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/recording.h"
#include "sampler/tracks/thread_track.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ------------------------------------------------------------------ code that no record announced */

/*
 * Code that no record of the kernel announced, found in /proc/PID/maps.
 *
 * mremap(2) moves code without a record.  A child that shares its parent's memory maps code with a record
 * that carries the child's own number.  Therefore a sample in unknown code makes hyprof read the maps once
 * more.  A process is looked at less often while nothing is found, and all looks together take a fiftieth
 * of the time at most.
 *
 * Used by the collector's thread.
 */

static bool is_unknown_code(const struct process_track *process, const struct perf_mmap *m)
{
        uint64_t end_avma;

        return m->executable && m->length_bytes > 0 &&
               !__builtin_add_overflow(m->start_avma, m->length_bytes, &end_avma) &&
               !address_space_overlaps(&process->space, m->start_avma, end_avma);
}

/* Adds the mappings that are not known yet.  Returns their number, or -ENOMEM. */
static int take_unknown(struct kernel_side *s, struct process_track *process, uint32_t tid, uint64_t time_ns)
{
        struct perf_record record = {
                .kind = PERF_RECORD_KIND_MMAP, .pid = process->pid, .tid = process->pid, .time_ns = time_ns
        };
        struct process_maps maps;
        int n_taken = 0;
        int r = process_maps_open(&maps, tid, NULL);

        if (r < 0)
                return r == -ENOMEM ? r : 0;
        while (r == 0 && n_taken < PACE_MAPS_MAPPINGS && process_maps_next(&maps, &record.mmap) == 1) {
                record.mmap.was_there = true;
                if (perf_mmap_is_uprobes(&record.mmap)) {
                        process->return_probes_avma = record.mmap.start_avma;
                        process->return_probes_bytes = record.mmap.length_bytes;
                } else if (is_unknown_code(process, &record.mmap)) {
                        n_taken++;
                        r = kernel_side_take(s, &record);
                }
        }
        process_maps_close(&maps);
        return r < 0 ? r : n_taken;
}

/*
 * look_at_maps_again() - looks for code after a sample of @thread met an address outside of all known code
 * @time_ns:  of the sample; code that is found counts from then on
 * Only mappings that overlap no known one are taken: the maps are newer than the sample.
 * Returns 0 or -ENOMEM.
 */
static int look_at_maps_again(struct kernel_side *s, const struct thread_track *thread, uint64_t time_ns)
{
        struct process_track *process = thread->process;
        uint64_t now_ns = clock_raw_ns();
        int r;

        if (thread->exits || !recorder_pace_may_look(s->recording->pace, &process->maps_look, now_ns))
                return 0;
        r = take_unknown(s, process, thread->tid, time_ns);
        recorder_pace_note_look(s->recording->pace, &process->maps_look, r > 0, now_ns, clock_raw_ns());
        return r < 0 ? r : 0;
}

/* ------------------------------------------------------------------ records of samples */

/* Whether the copy is wanted, or will perhaps be: thread_track_write_pending() decides. */
static bool may_keep_copy(const struct kernel_side *s, const struct thread_track *thread,
                          const struct pending_event *sample)
{
        enum stack_keeping keeping = s->recording->keeping;

        if (thread->exits) /* the sample gets a place before the thread's end; the copy would come after it */
                return false;
        return keeping == STACK_KEEPING_ALL ||
               (keeping == STACK_KEEPING_CUT &&
                (sample->cut != 0 || trace_event_lacks_table(&sample->event)));
}

/* Queues the copy before its sample; if too many wait, it is left out and counted. */
static int queue_copy(struct kernel_side *s, struct thread_track *thread, const struct perf_record *rec)
{
        struct pending_event pending = { .event = { .op = TRACE_OP_STACK_COPY, .time_ns = rec->time_ns } };
        int r = kept_copy_new(&rec->sample.stack, &s->kept_bytes, &pending.copy);

        if (r == -EOVERFLOW) {
                loss_counter_add(s->recording->losses, TRACE_LOSS_STACK_COPIES_FULL, 1);
                return 0;
        }
        if (r < 0 || !pending.copy)
                return r;
        pending.event.stack_copy.copy_bytes = pending.copy->n_bytes;
        return process_table_add_pending(s->recording->processes, thread, &pending);
}

/* Queues the counts of the sample's group members as samples of their own events, in the same place. */
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

/* As the interpreter said at the sample. */
static int take_gil_state(const struct kernel_side *s, struct thread_track *thread, uint64_t time_ns)
{
        int holds = python_frames_hold_gil(s->recording->python);

        return holds < 0 || thread->exits ? 0
                                          : python_gil_sample(s->recording->gil, thread, holds == 1, time_ns);
}

/* True if a caller lay outside of all known code. */
static bool left_code(enum trace_stack_state state)
{
        return state == TRACE_STACK_BAD_MEMORY || state == TRACE_STACK_LEFT_CODE;
}

/*
 * Looks for code at the sample's place that no record announced, and takes the changes of images until
 * then.
 */
static int look_for_code(struct kernel_side *s, struct thread_track *thread, const struct perf_record *rec)
{
        uint64_t ip_avma = rec->sample.stack.ip_avma;
        int r = 0;

        if (!rec->sample.stack.in_kernel) {
                if (!address_space_find(&thread->process->space, ip_avma))
                        r = look_at_maps_again(s, thread, rec->time_ns);
                if (r == 0)
                        r = code_images_meet(s->images, thread->process, ip_avma, rec->time_ns);
        }
        return r == 0 ? kernel_side_take_images(s, rec->time_ns) : r;
}

/* The kind of sample that a record is. */
struct sample_meaning {
        uint32_t event; /* id in the table SAMPLE_EVENTS */
        uint64_t weight;
        uint32_t syscall; /* frame of the system call that is sampled; 0 = it is not one */
        bool of_bpf;      /* BPF counts the system call: only its stack was read */
};

/*
 * Takes code, Python's functions and its lock as they were at a sample of perf's, before the sample's stack
 * is made.
 */
static int take_surroundings(struct kernel_side *s, struct thread_track *thread,
                             const struct perf_record *rec)
{
        const struct python_sample_key key = {
                .pid = rec->pid, .tid = rec->tid, .cpu = rec->cpu, .time_ns = rec->time_ns
        };
        int r = look_for_code(s, thread, rec);

        if (r == 0)
                r = python_frames_take(s->recording->python, &key, 0, &rec->sample.stack);
        return r == 0 ? take_gil_state(s, thread, rec->time_ns) : r;
}

static int add(struct kernel_side *s, struct thread_track *thread, const struct perf_record *rec,
               const struct sample_meaning *meaning)
{
        const struct python_sample_key key = {
                .pid = rec->pid, .tid = rec->tid, .cpu = rec->cpu, .time_ns = rec->time_ns
        };
        struct pending_event pending = { .event = { .op = TRACE_OP_SAMPLE, .time_ns = rec->time_ns },
                                         .syscall = meaning->syscall };
        bool is_whole, is_stray;
        int r = 0;

        pending.event.sample.event = meaning->event;
        pending.event.sample.cpu = rec->cpu;
        pending.event.sample.weight = meaning->weight;
        pending.cut = stack_unwinder_run_waiting(s->recording->unwinder, &rec->sample.stack, thread,
                                                 rec->time_ns, &s->chain);
        is_whole = s->chain.state < TRACE_STACK_TRUNCATED;
        is_stray = pending.cut == 0 && left_code(s->chain.state);
        s->has_cuts |= pending.cut != 0 && thread->cuts.n_items > 0; /* not if it waits for a table */
        if (pending.cut == 0)
                r = sample_stacks_add(s, &thread->process->space, &pending);
        else
                python_frames_keep(s->recording->python, &key);
        if (r == 0 && may_keep_copy(s, thread, &pending))
                r = queue_copy(s, thread, rec);
        if (r == 0)
                r = process_table_add_sample(s->recording->processes, thread, &pending);
        if (r == 0 && !meaning->of_bpf)
                r = queue_counts(s, thread, &pending);
        if (r == 0 && is_stray)
                r = look_at_maps_again(s, thread, rec->time_ns);
        return r == 0 && is_whole ? sample_stacks_close(s, thread) : r;
}

/* The offset of the call's number in the data of system-call tracepoints, which perf's tools know too. */
#define NUMBER_OFF_BYTES 8

static int find_syscall(struct kernel_side *s, const struct event_spec *spec, const struct perf_record *rec,
                        uint32_t *ret_frame)
{
        struct byte_reader raw = byte_reader_of(rec->sample.raw, rec->sample.raw_bytes);
        uint32_t number;

        if (!spec->is_syscall || !bytes_take(&raw, NUMBER_OFF_BYTES))
                return 0;
        number = bytes_u32(&raw);
        if (raw.short_read)
                return 0;
        if (number > SYSCALL_NUMBER_MAX)
                number = SYSCALL_NUMBER_MAX;
        if (rec->sample.stack.is_32_bit)
                number |= SYSCALL_32_BIT;
        return syscall_frames_find(&s->syscalls, s->recording->dictionary, number, ret_frame);
}

int sample_records_take(struct kernel_side *s, const struct perf_record *rec)
{
        int spec = event_set_find_spec(s->recording->events, rec->event);
        struct sample_meaning meaning = { .weight = s->counts.leader_weight != 0 ? s->counts.leader_weight
                                                                                 : rec->sample.period };
        struct thread_track *thread;
        int r;

        if (spec < 0) {
                loss_counter_add(s->recording->losses, TRACE_LOSS_RECORD_GARBAGE, 1);
                return 0;
        }
        r = kernel_side_find_thread(s, rec, &thread);
        if (r < 0 || !thread)
                return r;
        if (s->counts.read_format == 0) /* counters that are read with samples add up differences */
                r = sample_thinning_take(&s->thinning, rec->cpu, (uint32_t)spec,
                                         s->recording->pace->throttle.share, &meaning.weight);
        if (s->counts.read_format == 0 && r <= 0)
                return r;
        meaning.event = s->recording->sample_events[spec];
        r = find_syscall(s, &s->recording->events->options.attr.request->specs[spec], rec, &meaning.syscall);
        if (r == 0)
                r = take_surroundings(s, thread, rec);
        if (r == 0)
                r = add(s, thread, rec, &meaning);
        s->n_samples += r == 0;
        return r;
}

int sample_records_take_syscall(struct kernel_side *s, const struct perf_record *rec)
{
        const struct python_sample_key key = {
                .pid = rec->pid, .tid = rec->tid, .cpu = rec->cpu, .time_ns = rec->time_ns
        };
        struct sample_meaning meaning = { .event = s->recording->syscall_event,
                                          .weight = rec->sample.period,
                                          .of_bpf = true };
        struct thread_track *thread;
        int r = kernel_side_find_thread(s, rec, &thread);

        if (r < 0 || !thread || meaning.event == 0)
                return r;
        r = syscall_frames_find(&s->syscalls, s->recording->dictionary, rec->sample.number, &meaning.syscall);
        if (r == 0)
                r = python_frames_take(s->recording->python, &key, PYTHON_FLAG_CALL, &rec->sample.stack);
        return r < 0 ? r : add(s, thread, rec, &meaning);
}

#define MESSAGE_SEVERITY_INFO 2 /* format/trace_event.h */

/* Queues the text of a static probe: after its zone has begun, or as a message. */
static int add_probe_text(struct kernel_side *s, struct thread_track *thread, const struct perf_record *rec)
{
        struct pending_event pending = { .event = { .op = rec->probe.is_message ? TRACE_OP_MESSAGE_TEXT
                                                                                : TRACE_OP_ZONE_TEXT,
                                                    .time_ns = rec->time_ns },
                                         .frame_avma = rec->probe.frame_avma };
        int r;

        if (rec->probe.text_bytes == 0 || rec->probe.ends)
                return 0;
        pending.copy = kept_copy_of_text(rec->probe.text, rec->probe.text_bytes, &s->kept_bytes);
        if (!pending.copy)
                return 0;
        pending.event.operand[0] = rec->probe.text_bytes;
        if (rec->probe.is_message)
                pending.event.message_text.severity = MESSAGE_SEVERITY_INFO;
        r = process_table_add_pending(s->recording->processes, thread, &pending);
        if (r < 0)
                kept_copy_free(pending.copy);
        return r;
}

/* From one tracepoint to another, on whatever thread that was: a zone of a device. */
static int add_span(struct kernel_side *s, struct thread_track *thread, const struct perf_record *rec)
{
        struct pending_event pending = { .event = { .op = TRACE_OP_DEVICE_SPAN, .time_ns = rec->time_ns } };
        uint32_t text = 0;
        int r = trace_dictionary_add_string(s->recording->dictionary, rec->probe.text, rec->probe.text_bytes,
                                            &text);

        if (r == -ENOMEM)
                return r;
        pending.event.device_span.device = rec->probe.device;
        pending.event.device_span.location = rec->probe.location;
        pending.event.device_span.begin_ticks = rec->probe.begin_ns;
        pending.event.device_span.length_ticks = rec->time_ns - rec->probe.begin_ns;
        pending.event.device_span.text = r == 0 ? text : 0;
        return process_table_add_pending(s->recording->processes, thread, &pending);
}

/* Queues the begin or end of a zone; the end of a system call has its result. */
static int add_call(struct kernel_side *s, struct thread_track *thread, const struct perf_record *rec)
{
        struct pending_event pending = { .event = { .op = rec->probe.ends ? TRACE_OP_ZONE_END
                                                                          : TRACE_OP_ZONE_BEGIN,
                                                    .time_ns = rec->time_ns },
                                         .frame_avma = rec->probe.frame_avma,
                                         .is_static = rec->probe.is_static,
                                         .is_point = rec->probe.is_point,
                                         .is_syscall = rec->probe.is_syscall };
        uint32_t location = rec->probe.location; /* of an end, to find its begin */
        int r = 0;

        if (rec->probe.is_syscall && !rec->probe.ends)
                r = syscall_frames_find_location(&s->syscalls, s->recording->dictionary, rec->probe.number,
                                                 &location);
        if (r < 0 || location == 0)
                return r;
        pending.event.zone_begin.location = location;
        if (rec->probe.is_syscall && rec->probe.ends)
                pending.copy = kept_copy_of_text(rec->probe.text, rec->probe.text_bytes, &s->kept_bytes);
        r = process_table_add_pending(s->recording->processes, thread, &pending);
        if (r < 0)
                kept_copy_free(pending.copy);
        return r;
}

int sample_records_take_probe(struct kernel_side *s, const struct perf_record *rec)
{
        struct thread_track *thread = NULL;
        int r = kernel_side_find_thread(s, rec, &thread);

        if (r < 0 || !thread || thread->exits)
                return r;
        /* Before its program, the command is a part of the recorder. */
        if (rec->probe.is_syscall && rec->pid == s->command_pid && !s->command_has_program)
                return 0;
        if (rec->probe.device != 0)
                return add_span(s, thread, rec);
        if (!rec->probe.is_message)
                r = add_call(s, thread, rec);
        return r < 0 || rec->probe.is_syscall ? r : add_probe_text(s, thread, rec);
}
