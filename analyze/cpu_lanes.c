/* SPDX-License-Identifier: MIT */
#include "analyze/cpu_lanes.h"

#include "base/array.h"
#include "format/trace_event.h"

#include <stdlib.h>
#include <string.h>

void cpu_lanes_init(struct cpu_lanes *l)
{
        *l = (struct cpu_lanes){ .sums = NULL };
        intern_init(&l->keys, sizeof(struct cpu_lane_key), 0);
}

void cpu_lanes_deinit(struct cpu_lanes *l)
{
        intern_deinit(&l->keys);
        free(l->sums);
        free(l->threads);
        cpu_lanes_init(l);
}

int cpu_lanes_reserve(struct cpu_lanes *l, uint32_t n_threads)
{
        int r;

        if (n_threads <= l->n_threads)
                return 0;
        r = array_reserve(&l->threads, &l->threads_capacity, n_threads, sizeof(*l->threads));
        if (r < 0)
                return r;
        memset(l->threads + l->n_threads, 0, (n_threads - l->n_threads) * sizeof(*l->threads));
        l->n_threads = n_threads;
        return 0;
}

static int add_time(struct cpu_lanes *l, uint32_t thread, uint64_t cpu, struct cpu_lane_sum more)
{
        struct cpu_lane_key key = { .cpu = cpu, .thread = thread };
        uint32_t id;
        int r = array_reserve(&l->sums, &l->sums_capacity, (size_t)l->keys.n_items + 1, sizeof(*l->sums));

        if (r < 0)
                return r;
        r = intern_add(&l->keys, &key, sizeof(key), &id);
        if (r < 0)
                return r;
        if (r == 1)
                l->sums[id - 1] = (struct cpu_lane_sum){ .busy_ns = 0 };
        l->sums[id - 1].busy_ns += more.busy_ns;
        l->sums[id - 1].n_switches += more.n_switches;
        return 0;
}

static int add_stretch(struct cpu_lanes *l, uint32_t thread, uint64_t cpu, uint64_t until_ns)
{
        uint64_t since_ns = l->threads[thread - 1].since_ns;

        if (until_ns <= since_ns)
                return 0;
        return add_time(l, thread, cpu, (struct cpu_lane_sum){ .busy_ns = until_ns - since_ns });
}

void cpu_lanes_expect(struct cpu_lanes *l, uint32_t thread, uint64_t time_ns)
{
        if (!l->threads[thread - 1].has_begun)
                l->threads[thread - 1].since_ns = time_ns;
}

int cpu_lanes_add(struct cpu_lanes *l, uint32_t thread_id, const struct trace_event *event)
{
        struct cpu_thread *thread = &l->threads[thread_id - 1];
        bool was_running;

        if (!thread->has_begun) {
                thread->has_begun = true;
                /* Who is woken does not run; who does anything else does. */
                thread->is_running = event->op != TRACE_OP_WAKEUP;
                if (thread->since_ns == 0)
                        thread->since_ns = event->time_ns;
        }
        thread->last_ns = event->time_ns;
        switch (event->op) {
        case TRACE_OP_SWITCH_IN:
                thread->is_running = thread->is_cpu_known = true;
                thread->since_ns = event->time_ns;
                thread->cpu = event->switch_in.cpu;
                return add_time(l, thread_id, thread->cpu, (struct cpu_lane_sum){ .n_switches = 1 });
        case TRACE_OP_SWITCH_OUT:
                was_running = thread->is_running;
                thread->is_running = thread->is_cpu_known = false;
                return was_running ? add_stretch(l, thread_id, event->switch_out.cpu, event->time_ns) : 0;
        case TRACE_OP_SAMPLE:
                if (!thread->is_cpu_known)
                        thread->cpu = event->sample.cpu;
                thread->is_cpu_known = true;
                break;
        case TRACE_OP_THREAD_EXIT:
                thread->has_ended = true;
                break;
        default:
                break;
        }
        return 0;
}

int cpu_lanes_finish(struct cpu_lanes *l, uint64_t end_ns)
{
        for (uint32_t i = 0; i < l->n_threads; i++) {
                struct cpu_thread *thread = &l->threads[i];
                int r;

                if (!thread->is_running || !thread->is_cpu_known)
                        continue;
                thread->is_running = false;
                r = add_stretch(l, i + 1, thread->cpu, thread->has_ended ? thread->last_ns : end_ns);
                if (r < 0)
                        return r;
        }
        return 0;
}
