/* SPDX-License-Identifier: MIT */
#include "tests/unit/lossy_trace.h"

#include "format/trace_event.h"
#include "tests/unit/fixed_random.h"

#include <stdio.h>

#define START_NS UINT64_C(1000000000)
#define N_PHASES 12 /* of a thread */
#define N_CUTS   4  /* stretches in which clustered losses lie */

static double uniform(uint64_t *random)
{
        return (double)(fixed_random_next(random) >> 11) / 9007199254740992.0;
}

/* The hottest has two fifths; each phase has three functions. */
static uint32_t function_at(const struct lossy_trace *t, double at, uint64_t *random)
{
        double hot = 0.4 * (t->hot_factor > 0 ? t->hot_factor : 1) /
                     (0.6 + 0.4 * (t->hot_factor > 0 ? t->hot_factor : 1));
        uint32_t phase = (uint32_t)(at * N_PHASES);

        if (uniform(random) < hot)
                return 0;
        return 1 + (phase * 2 + (uint32_t)(uniform(random) * 3)) % (LOSSY_TRACE_FUNCTIONS - 1);
}

static bool is_lost(const struct lossy_trace *t, uint32_t thread, double at, double offset, uint64_t *random)
{
        double in_stretch = at * N_CUTS + offset;

        if (t->kind == LOSSY_CLUSTERED)
                return in_stretch - (double)(uint32_t)in_stretch < t->lost;
        if (t->kind == LOSSY_THREAD)
                return thread + at < t->lost * LOSSY_TRACE_THREADS;
        return uniform(random) < t->lost;
}

static uint64_t add_thread(struct trace_builder *b, const struct lossy_trace *t, uint32_t number,
                           uint32_t event, const uint32_t *stacks, uint64_t *random)
{
        uint32_t thread = trace_builder_thread(b, 1, number + 1);
        double factor = 0.6 + 0.4 * (t->hot_factor > 0 ? t->hot_factor : 1), offset = uniform(random);
        uint32_t n = (uint32_t)(t->n_samples * factor * (0.99 + 0.02 * uniform(random)));
        uint64_t n_lost = 0;

        trace_builder_begin_run(b, thread);
        if (!t->has_no_switches)
                trace_builder_event(b, START_NS, TRACE_OP_SWITCH_IN);
        for (uint32_t i = 0; i < n; i++) {
                double at = (double)i / n;
                struct trace_event sample = { .time_ns = START_NS + (i + 1) * LOSSY_TRACE_PERIOD_NS,
                                              .op = TRACE_OP_SAMPLE };

                sample.sample.event = event;
                sample.sample.stack = t->has_no_callstacks ? 0 : stacks[function_at(t, at, random)];
                sample.sample.weight = LOSSY_TRACE_PERIOD_NS;
                sample.sample.state = t->state;
                if (is_lost(t, number, at, offset, random)) {
                        n_lost++;
                        continue;
                }
                if (t->has_copies)
                        trace_builder_text(b, sample.time_ns, TRACE_OP_STACK_COPY, "copy");
                event_encoder_add(&b->encoder, &sample);
        }
        trace_builder_event(b, START_NS + (n + 1) * LOSSY_TRACE_PERIOD_NS,
                            t->has_no_switches ? TRACE_OP_THREAD_EXIT : TRACE_OP_SWITCH_OUT);
        trace_builder_end_run(b);
        return n_lost;
}

static void add_facts(struct trace_builder *b, const struct lossy_trace *t, uint32_t event)
{
        const struct trace_notice refused = { .notice = TRACE_NOTICE_NO_KERNEL_STACKS };
        const struct trace_notice late = { .notice = TRACE_NOTICE_PYTHON_APPROXIMATE };
        const struct trace_counter counter = {
                .event = event, .value = t->counted, .enabled_ns = 1, .running_ns = 1
        };

        if (t->is_kernel_refused)
                trace_builder_row(b, TRACE_TABLE_NOTICES, &refused);
        if (t->is_python_late)
                trace_builder_row(b, TRACE_TABLE_NOTICES, &late);
        if (t->counted != 0)
                trace_builder_row(b, TRACE_TABLE_COUNTERS, &counter);
        if (t->command_user_ns)
                trace_builder_meta(b, "command_user_ns", t->command_user_ns);
        if (t->command_kernel_ns)
                trace_builder_meta(b, "command_kernel_ns", t->command_kernel_ns);
        if (t->python_samples)
                trace_builder_meta(b, "python_samples", t->python_samples);
        if (t->python_bare)
                trace_builder_meta(b, "python_samples_bare", t->python_bare);
}

uint64_t lossy_trace_build(struct trace_builder *b, const struct lossy_trace *t)
{
        struct trace_sample_event sampled = { .mode = TRACE_SAMPLE_MODE_FREQUENCY_HZ, .rate = 1000 };
        struct trace_loss loss = { .reason = TRACE_LOSS_KERNEL_RING_FULL };
        uint32_t stacks[LOSSY_TRACE_FUNCTIONS], event, module, root = 0;
        uint64_t random = t->random * 2654435761 + 1;

        trace_builder_init(b);
        sampled.name = trace_builder_string(b, t->event ? t->event : "cpu-clock");
        sampled.unit = trace_builder_string(b, t->unit ? t->unit : "ns");
        event = trace_builder_row(b, TRACE_TABLE_SAMPLE_EVENTS, &sampled);
        if (t->state >= TRACE_STACK_TRUNCATED)
                root = trace_builder_stack(
                        b, 0,
                        trace_builder_frame(b, trace_builder_module_of(b, TRACE_MODULE_MARK, "[truncated]"),
                                            0));
        module = trace_builder_module(b, "/bin/prog");
        for (uint32_t i = 0; i < LOSSY_TRACE_FUNCTIONS; i++) {
                uint32_t frame = trace_builder_frame(b, module, 16 * (i + 1));
                char name[] = { (char)('a' + i), '\0' };

                stacks[i] = trace_builder_stack(b, root, frame);
                trace_builder_symbol(b, frame, name, 0);
        }
        for (uint32_t i = 0; i < LOSSY_TRACE_THREADS; i++)
                loss.count += add_thread(b, t, i, event, stacks, &random);
        if (loss.count != 0 && !t->is_silent)
                trace_builder_row(b, TRACE_TABLE_LOSSES, &loss);
        add_facts(b, t, event);
        trace_builder_finish(b);
        return loss.count;
}
