/* SPDX-License-Identifier: MIT */
#include "export/shared/callstack_sums.h"

#include "analyze/cores/wall_shares.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "base/array.h"
#include "base/error.h"
#include "base/saturating.h"
#include "export/shared/export_event.h"
#include "format/trace_event.h"

#include <errno.h>
#include <stdlib.h>

static int add(struct callstack_sums *s, const struct callstack_key *key, enum callstack_value value,
               uint64_t amount)
{
        uint32_t id;
        int r = intern_add_row(&s->keys, key, &s->sums, &s->capacity, sizeof(*s->sums), &id);

        if (r < 0)
                return r;
        s->sums[id - 1].values[value] = saturating_add(s->sums[id - 1].values[value], amount);
        s->all.values[value] = saturating_add(s->all.values[value], amount);
        return 0;
}

static int complain_of(int r, struct error *err)
{
        return r < 0 ? error_set(err, r, "the export: too many different call stacks for the memory") : 0;
}

static int take_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                       struct error *err)
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
        r = add(s, &key, CALLSTACK_SAMPLES, 1);
        return complain_of(r < 0 ? r : add(s, &key, CALLSTACK_WEIGHT, weight), err);
}

static int take_wait(void *context, struct walked_thread *thread, const struct thread_wait *wait,
                     struct error *err)
{
        struct callstack_sums *s = context;
        struct callstack_key key = { .thread = thread->id, .path = wait->path, .stack = wait->stack };

        if (wait->preempted || wait->in_ns <= wait->out_ns)
                return 0;
        return complain_of(add(s, &key, CALLSTACK_OFF_CPU_NS, wait->in_ns - wait->out_ns), err);
}

static int take_allocation(struct callstack_sums *s, struct walked_thread *thread,
                           const struct trace_event *event)
{
        struct callstack_key key = {
                .thread = thread->id,
                .stack = event_callstack_take(&s->callstack, thread->id, event->time_ns),
        };
        int r = trace_walk_path(&s->walk, thread, &key.path);

        if (r == 0)
                r = add(s, &key, CALLSTACK_ALLOCATIONS, 1);
        return r < 0 ? r : add(s, &key, CALLSTACK_ALLOCATED_BYTES, event->memory_alloc.size_bytes);
}

static int take_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        struct callstack_sums *s = context;

        if (event->op == TRACE_OP_MEMORY_ALLOC)
                return complain_of(take_allocation(s, thread, event), err);
        if (event->op == TRACE_OP_CALLSTACK)
                s->callstack = (struct event_callstack){ .time_ns = event->time_ns,
                                                         .thread = thread->id,
                                                         .stack = (uint32_t)event->callstack.stack };
        return 0;
}

static int fold_python(struct callstack_sums *s)
{
        struct python_parts samples = { .all = 0 }, waits = { .all = 0 };
        int r = s->options->shows_native ? 0 : python_stacks_init(&s->python, s->walk.dictionary);

        for (uint32_t i = 1; i <= callstack_sums_count(s) && s->python.innermost; i++) {
                uint32_t stack = callstack_sums_key(s, i)->stack;
                const uint64_t *values = s->sums[i - 1].values;

                python_stacks_add(&s->python, s->walk.dictionary, stack, values[CALLSTACK_WEIGHT], &samples);
                if (stack != 0) /* few of the short waits have one */
                        python_stacks_add(&s->python, s->walk.dictionary, stack, values[CALLSTACK_OFF_CPU_NS],
                                          &waits);
        }
        s->totals.is_folded = python_parts_are_most(samples.all != 0 ? &samples : &waits);
        return r;
}

int callstack_sums_read(struct callstack_sums *s, struct loaded_trace *trace,
                        const struct export_options *options, struct error *err)
{
        const struct trace_sink sink = {
                .context = s,
                .sample = take_sample,
                .wait = take_wait,
                .event = take_event,
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
        r = fold_python(s);
        if (r < 0)
                return error_set(err, r, "the trace's call stacks: not enough memory");
        process_names_learn(&s->names, &s->walk);
        export_totals_leave_out(&s->totals, &s->walk,
                                1U << EXPORT_LEFT_OUT_ZONES | 1U << EXPORT_LEFT_OUT_MESSAGES |
                                        1U << EXPORT_LEFT_OUT_PLOTS | 1U << EXPORT_LEFT_OUT_FRAMES |
                                        1U << EXPORT_LEFT_OUT_LOCKS | 1U << EXPORT_LEFT_OUT_DEVICES |
                                        1U << EXPORT_LEFT_OUT_DEVICE_VALUES | 1U << EXPORT_LEFT_OUT_KEYS |
                                        1U << EXPORT_LEFT_OUT_FLOWS);
        return 0;
}

/* A sum of parts; they become ns when all are known. */
struct wall_pass {
        struct callstack_sums *sums;
        double *parts; /* heap; by key id - 1 */
        size_t capacity;
        uint32_t n_parts;
};

static int take_part(void *context, uint32_t thread, const struct past_sample *sample, double part)
{
        const struct callstack_key key = { .thread = thread, .path = sample->path, .stack = sample->stack };
        struct wall_pass *pass = context;
        struct callstack_sums *s = pass->sums;
        uint32_t id;
        int r = intern_add_row(&s->keys, &key, &s->sums, &s->capacity, sizeof(*s->sums), &id);

        if (r >= 0 && id > pass->n_parts)
                r = array_reach(&pass->parts, &pass->capacity, &pass->n_parts, id, sizeof(*pass->parts));
        if (r >= 0)
                pass->parts[id - 1] += part;
        return r < 0 ? r : 0;
}

int callstack_sums_add_wall(struct callstack_sums *s, struct loaded_trace *trace, struct error *err)
{
        struct trace_filter filter = s->options->filter ? *s->options->filter
                                                        : (struct trace_filter){ .to_ns = UINT64_MAX };
        struct wall_pass pass = { .sums = s };
        const struct wall_shares_request request = {
                .filter = &filter, .shows_native = true, .take = take_part, .context = &pass
        };
        struct wall_shares wall;
        int r;

        filter.event = s->options->event;
        r = wall_shares_take(&wall, trace, &request, err);
        if (r == 0 && !wall.has_switches)
                r = error_set(err, -ENODATA, "shares of the wall time: no context switches were recorded");
        for (uint32_t i = 0; i < pass.n_parts && r == 0; i++)
                s->sums[i].values[CALLSTACK_WALL_NS] = (uint64_t)(pass.parts[i] * wall.ns_per_part);
        wall_shares_deinit(&wall);
        free(pass.parts);
        return r;
}

void callstack_sums_deinit(struct callstack_sums *s)
{
        trace_walk_deinit(&s->walk);
        process_names_deinit(&s->names);
        python_stacks_deinit(&s->python);
        intern_deinit(&s->keys);
        free(s->sums);
        *s = (struct callstack_sums){ .options = NULL };
}
