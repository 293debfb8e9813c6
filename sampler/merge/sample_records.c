/* SPDX-License-Identifier: MIT */
#include "sampler/merge/sample_records.h"

#include "sampler/code/code_images.h"
#include "sampler/events/event_set.h"
#include "sampler/merge/kernel_side.h"
#include "sampler/merge/sample_stacks.h"
#include "sampler/python/python_frames.h"
#include "sampler/python/python_gil.h"
#include "sampler/python/python_source.h"
#include "sampler/stacks/stack_unwinder.h"
#include "sampler/tracks/kept_copy.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/recording.h"

#include <errno.h>
#include <stdbool.h>

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

/* As the interpreter said at the sample. */
static int take_gil_state(const struct kernel_side *s, struct thread_track *thread, uint64_t time_ns)
{
        int holds = python_frames_hold_gil(s->recording->python);

        return holds < 0 || thread->exits ? 0
                                          : python_gil_sample(s->recording->gil, thread, holds == 1, time_ns);
}

int sample_records_take(struct kernel_side *s, const struct perf_record *rec)
{
        struct trace_event event = { .op = TRACE_OP_SAMPLE, .time_ns = rec->time_ns };
        const struct python_sample_key key = {
                .pid = rec->pid, .tid = rec->tid, .cpu = rec->cpu, .time_ns = rec->time_ns
        };
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
                r = kernel_side_take_images(s, rec->time_ns);
        if (r < 0)
                return r;
        event.sample.event = s->recording->sample_events[spec];
        event.sample.cpu = rec->cpu;
        event.sample.weight = s->counts.leader_weight != 0 ? s->counts.leader_weight : rec->sample.period;
        r = python_frames_take(s->recording->python, &key, 0, &rec->sample.stack);
        if (r == 0)
                r = take_gil_state(s, thread, rec->time_ns);
        if (r < 0)
                return r;
        pending.cut = stack_unwinder_run_waiting(s->recording->unwinder, &rec->sample.stack, thread,
                                                 rec->time_ns, &s->chain);
        is_whole = s->chain.state < TRACE_STACK_TRUNCATED;
        s->has_cuts |= pending.cut != 0 && thread->cuts.n_items > 0; /* not if it waits for a table */
        if (pending.cut == 0)
                r = sample_stacks_add(s, &thread->process->space, &event);
        else
                python_frames_keep(s->recording->python, &key);
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
