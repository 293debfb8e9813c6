/* SPDX-License-Identifier: MIT */
#include "export/shared/callstack_sums.h"

#include "analyze/walk/loaded_trace.h"
#include "base/array.h"
#include "base/error.h"
#include "base/saturating.h"
#include "export/shared/export_event.h"
#include "format/trace_event.h"

#include <errno.h>
#include <stdlib.h>

static int callstack_sums_add(struct callstack_sums *s, const struct callstack_key *key,
                              enum callstack_value value, uint64_t amount)
{
        uint32_t id;
        int r = array_reserve(&s->sums, &s->capacity, (size_t)s->keys.n_items + 1, sizeof(*s->sums));

        if (r < 0)
                return r;
        r = intern_add(&s->keys, key, sizeof(*key), &id);
        if (r < 0)
                return r;
        if (r == 1)
                s->sums[id - 1] = (struct callstack_sum){ .values = { 0 } };
        s->sums[id - 1].values[value] = saturating_add(s->sums[id - 1].values[value], amount);
        s->all.values[value] = saturating_add(s->all.values[value], amount);
        return 0;
}

static int callstack_sums_complain_of(int r, struct error *err)
{
        return r < 0 ? error_set(err, r, "the export: too many different call stacks for the memory") : 0;
}

static int callstack_sums_take_sample(void *context, struct walked_thread *thread,
                                      const struct trace_event *event, struct error *err)
{
        struct callstack_sums *s = context;
        struct callstack_key key = {
                .thread = thread->id,
                .path = (uint32_t)event->sample.path,
                .stack = (uint32_t)event->sample.stack,
        };
        uint64_t weight;
        int r;

        if (event->sample.event != s->options->event) {
                s->totals.left_out[EXPORT_LEFT_OUT_OTHER_EVENTS]++;
                return 0;
        }
        weight = export_event_weight(s->walk.dictionary, (uint32_t)event->sample.event, event->sample.weight);
        s->totals.n_samples++;
        s->totals.weight = saturating_add(s->totals.weight, weight);
        r = callstack_sums_add(s, &key, CALLSTACK_SAMPLES, 1);
        return callstack_sums_complain_of(r < 0 ? r : callstack_sums_add(s, &key, CALLSTACK_WEIGHT, weight),
                                          err);
}

static int callstack_sums_take_wait(void *context, struct walked_thread *thread,
                                    const struct thread_wait *wait, struct error *err)
{
        struct callstack_sums *s = context;
        struct callstack_key key = { .thread = thread->id, .path = wait->path, .stack = wait->stack };

        if (wait->preempted || wait->in_ns <= wait->out_ns)
                return 0;
        return callstack_sums_complain_of(
                callstack_sums_add(s, &key, CALLSTACK_OFF_CPU_NS, wait->in_ns - wait->out_ns), err);
}

static int callstack_sums_take_allocation(struct callstack_sums *s, struct walked_thread *thread,
                                          const struct trace_event *event)
{
        struct callstack_key key = {
                .thread = thread->id,
                .stack = event_callstack_take(&s->callstack, thread->id, event->time_ns),
        };
        int r = trace_walk_path(&s->walk, thread, &key.path);

        if (r == 0)
                r = callstack_sums_add(s, &key, CALLSTACK_ALLOCATIONS, 1);
        return r < 0 ? r
                     : callstack_sums_add(s, &key, CALLSTACK_ALLOCATED_BYTES, event->memory_alloc.size_bytes);
}

static int callstack_sums_take_event(void *context, struct walked_thread *thread,
                                     const struct trace_event *event, struct error *err)
{
        struct callstack_sums *s = context;

        if (event->op == TRACE_OP_MEMORY_ALLOC)
                return callstack_sums_complain_of(callstack_sums_take_allocation(s, thread, event), err);
        if (event->op == TRACE_OP_CALLSTACK)
                s->callstack = (struct event_callstack){ .time_ns = event->time_ns,
                                                         .thread = thread->id,
                                                         .stack = (uint32_t)event->callstack.stack };
        return 0;
}

int callstack_sums_read(struct callstack_sums *s, struct loaded_trace *trace,
                        const struct export_options *options, struct error *err)
{
        const struct trace_sink sink = {
                .context = s,
                .sample = callstack_sums_take_sample,
                .wait = callstack_sums_take_wait,
                .event = callstack_sums_take_event,
                .wants_paths = true,
                .may_skip = true,
        };
        int r;

        *s = (struct callstack_sums){ .options = options };
        intern_init(&s->keys, sizeof(struct callstack_key), 0);
        r = process_names_init(&s->names, trace->dictionary);
        if (r == 0)
                r = trace_walk_init(&s->walk, trace, options->filter, &sink);
        if (r < 0)
                return error_set(err, r, "the trace's tables: not enough memory");
        r = loaded_trace_walk(trace, &s->walk, err);
        if (r < 0)
                return r;
        process_names_learn(&s->names, &s->walk);
        export_totals_leave_out(&s->totals, &s->walk,
                                1U << EXPORT_LEFT_OUT_ZONES | 1U << EXPORT_LEFT_OUT_MESSAGES |
                                        1U << EXPORT_LEFT_OUT_PLOTS | 1U << EXPORT_LEFT_OUT_FRAMES |
                                        1U << EXPORT_LEFT_OUT_LOCKS | 1U << EXPORT_LEFT_OUT_DEVICES);
        return 0;
}

void callstack_sums_deinit(struct callstack_sums *s)
{
        trace_walk_deinit(&s->walk);
        process_names_deinit(&s->names);
        intern_deinit(&s->keys);
        free(s->sums);
        *s = (struct callstack_sums){ .options = NULL };
}
