/* SPDX-License-Identifier: MIT */
#include "analyze/waits/cpu_lanes.h"

#include "base/array.h"
#include "format/trace_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The most switches that are kept to sort them by time.  A trace has some milliseconds of one thread, then of
 * the next: if a thread has more switches than this in one such stretch, they come out of order.
 */
#define ORDER_EVENTS_MAX (UINT32_C(1) << 16)

/*
 * Entries that are ordered along with the switches and exits: the first event of a running thread, and a
 * sample with its CPU.
 */
enum { ORDER_BEGINS = 1000, ORDER_IS_SEEN };

void cpu_lanes_init(struct cpu_lanes *l)
{
        *l = (struct cpu_lanes){ .sums = NULL };
        intern_init(&l->keys, sizeof(struct cpu_lane_key), 0);
        intern_init(&l->cpus, sizeof(uint64_t), 0);
}

void cpu_lanes_deinit(struct cpu_lanes *l)
{
        intern_deinit(&l->keys);
        intern_deinit(&l->cpus);
        event_order_deinit(&l->order);
        free(l->sums);
        free(l->threads);
        free(l->lanes);
        cpu_lanes_init(l);
}

int cpu_lanes_reserve(struct cpu_lanes *l, uint32_t n_threads)
{
        return array_reach(&l->threads, &l->threads_capacity, &l->n_threads, n_threads, sizeof(*l->threads));
}

static int add_time(struct cpu_lanes *l, uint32_t thread, uint64_t cpu, struct cpu_lane_sum more)
{
        struct cpu_lane_key key = { .cpu = cpu, .thread = thread };
        uint32_t id;
        int r = intern_add_row(&l->keys, &key, &l->sums, &l->sums_capacity, sizeof(*l->sums), &id);

        if (r < 0)
                return r;
        l->sums[id - 1].busy_ns += more.busy_ns;
        l->sums[id - 1].n_switches += more.n_switches;
        return 0;
}

static int find_lane(struct cpu_lanes *l, uint64_t cpu, struct cpu_lane **ret_lane)
{
        uint32_t id;
        int r = intern_add_row(&l->cpus, &cpu, &l->lanes, &l->lanes_capacity, sizeof(*l->lanes), &id);

        if (r < 0)
                return r;
        *ret_lane = &l->lanes[id - 1];
        return 0;
}

/* Gives the thread the CPU's time until @until_ns, except for time that another thread has got already. */
static int give(struct cpu_lanes *l, struct cpu_lane *lane, uint32_t thread, uint64_t cpu, uint64_t until_ns)
{
        uint64_t since_ns = l->threads[thread - 1].since_ns;
        int r = 0;

        if (since_ns < lane->given_ns)
                since_ns = lane->given_ns;
        if (until_ns <= since_ns)
                return 0;
        lane->given_ns = until_ns;
        if (l->take)
                r = l->take(l->context, cpu, thread, since_ns, until_ns);
        if (r < 0)
                return r;
        return add_time(l, thread, cpu, (struct cpu_lane_sum){ .busy_ns = until_ns - since_ns });
}

/* The thread is on no CPU any more; since when is unknown. */
static int leave_cpu(struct cpu_lanes *l, uint32_t id)
{
        struct cpu_thread *thread = &l->threads[id - 1];
        struct cpu_lane *lane;
        int r;

        if (!thread->is_cpu_known)
                return 0;
        thread->is_cpu_known = false;
        r = find_lane(l, thread->cpu, &lane);
        if (r == 0 && lane->thread == id)
                lane->thread = 0;
        return r;
}

/* The thread is on the CPU, so another thread that was there no longer is. */
static int take_cpu(struct cpu_lanes *l, uint32_t id, uint64_t cpu, uint64_t time_ns)
{
        struct cpu_thread *thread = &l->threads[id - 1];
        struct cpu_lane *lane;
        int r = leave_cpu(l, id);

        if (r == 0)
                r = find_lane(l, cpu, &lane);
        if (r != 0)
                return r;
        if (lane->thread != 0) {
                l->threads[lane->thread - 1].is_running = l->threads[lane->thread - 1].is_cpu_known = false;
                r = give(l, lane, lane->thread, cpu, time_ns);
        }
        lane->thread = thread->has_ended ? 0 : id;
        thread->is_cpu_known = true;
        thread->cpu = cpu;
        return r;
}

static int switch_in(struct cpu_lanes *l, const struct ordered_event *event)
{
        struct cpu_thread *thread = &l->threads[event->thread - 1];
        uint64_t cpu = event->value[0];
        int r = take_cpu(l, event->thread, cpu, event->time_ns);

        thread->is_running = true;
        thread->since_ns = event->time_ns;
        return r < 0 ? r : add_time(l, event->thread, cpu, (struct cpu_lane_sum){ .n_switches = 1 });
}

/* A thread that was not seen on its CPU ran there until another thread came. */
static int switch_out(struct cpu_lanes *l, const struct ordered_event *event)
{
        struct cpu_thread *thread = &l->threads[event->thread - 1];
        uint64_t cpu = event->value[0], until_ns = event->time_ns;
        struct cpu_lane *lane;
        int r;

        if (!thread->is_running)
                return 0;
        thread->is_running = false;
        if (thread->is_cpu_known && thread->cpu != cpu)
                return leave_cpu(l, event->thread);
        thread->is_cpu_known = false;
        r = find_lane(l, cpu, &lane);
        if (r < 0)
                return r;
        if (lane->thread != 0 && lane->thread != event->thread &&
            l->threads[lane->thread - 1].since_ns < until_ns)
                until_ns = l->threads[lane->thread - 1].since_ns;
        r = give(l, lane, event->thread, cpu, until_ns);
        if (lane->thread == event->thread)
                lane->thread = 0;
        return r;
}

/*
 * Most threads are not reported to leave the CPU after their exit, so the exit ends their time there.  If a
 * SWITCH_OUT follows, the thread then gets the time until it: the kernel's last work for the thread.
 */
static int end(struct cpu_lanes *l, const struct ordered_event *event)
{
        struct cpu_thread *thread = &l->threads[event->thread - 1];
        struct cpu_lane *lane;
        int r;

        thread->has_ended = true;
        if (!thread->is_running || !thread->is_cpu_known)
                return 0;
        r = find_lane(l, thread->cpu, &lane);
        if (r < 0)
                return r;
        if (lane->thread == event->thread)
                lane->thread = 0;
        return give(l, lane, event->thread, thread->cpu, event->time_ns);
}

/* A thread that another one wakes is not running; a thread with any other event is. */
static void begin(struct cpu_lanes *l, const struct ordered_event *event)
{
        struct cpu_thread *thread = &l->threads[event->thread - 1];

        thread->is_running = true;
        thread->since_ns = thread->expected_ns != 0 ? thread->expected_ns : event->time_ns;
}

static int take_ordered(void *context, const struct ordered_event *event, struct error *err)
{
        struct cpu_lanes *l = context;
        struct cpu_thread *thread = &l->threads[event->thread - 1];

        (void)err;
        switch (event->op) {
        case TRACE_OP_SWITCH_IN:
                return switch_in(l, event);
        case TRACE_OP_SWITCH_OUT:
                return switch_out(l, event);
        case TRACE_OP_THREAD_EXIT:
                return end(l, event);
        case ORDER_BEGINS:
                begin(l, event);
                return 0;
        default:
                break;
        }
        return thread->is_running && !thread->is_cpu_known
                       ? take_cpu(l, event->thread, event->value[0], event->time_ns)
                       : 0;
}

void cpu_lanes_expect(struct cpu_lanes *l, uint32_t thread, uint64_t time_ns)
{
        if (!l->threads[thread - 1].has_begun)
                l->threads[thread - 1].expected_ns = time_ns;
}

static int put_in_order(struct cpu_lanes *l, uint32_t thread, uint64_t time_ns, uint32_t op, uint64_t cpu)
{
        const struct ordered_event event = {
                .time_ns = time_ns, .op = op, .thread = thread, .value = { cpu }
        };

        if (!l->order.take)
                event_order_init(&l->order, ORDER_EVENTS_MAX, take_ordered, l);
        return event_order_add(&l->order, &event, NULL);
}

int cpu_lanes_add(struct cpu_lanes *l, uint32_t id, const struct trace_event *event)
{
        struct cpu_thread *thread = &l->threads[id - 1];
        int r = 0;

        if (!thread->has_begun && (event->op != TRACE_OP_WAKEUP || trace_event_wakes_itself(event, id)))
                r = put_in_order(l, id, event->time_ns, ORDER_BEGINS, 0);
        thread->has_begun = true;
        if (r < 0)
                return r;
        if (event->op == TRACE_OP_SAMPLE && !thread->was_seen) {
                thread->was_seen = true;
                return put_in_order(l, id, event->time_ns, ORDER_IS_SEEN, event->sample.cpu);
        }
        if (event->op == TRACE_OP_THREAD_EXIT)
                return put_in_order(l, id, event->time_ns, TRACE_OP_THREAD_EXIT, 0);
        if (event->op != TRACE_OP_SWITCH_IN && event->op != TRACE_OP_SWITCH_OUT)
                return 0;
        thread->was_seen = event->op == TRACE_OP_SWITCH_IN;
        return put_in_order(l, id, event->time_ns, (uint32_t)event->op, event->operand[0]);
}

int cpu_lanes_hand_out(struct cpu_lanes *l, uint64_t until_ns)
{
        return l->order.take ? event_order_hand_out(&l->order, until_ns, NULL) : 0;
}

struct cpu_lane_open cpu_lanes_open(const struct cpu_lanes *l, uint32_t index)
{
        const struct cpu_lane *lane = &l->lanes[index];
        struct cpu_lane_open open = { .thread = lane->thread, .since_ns = lane->given_ns };

        memcpy(&open.cpu, intern_get(&l->cpus, index + 1, NULL), sizeof(open.cpu));
        if (lane->thread != 0 && l->threads[lane->thread - 1].since_ns > open.since_ns)
                open.since_ns = l->threads[lane->thread - 1].since_ns;
        return open;
}

int cpu_lanes_finish(struct cpu_lanes *l, uint64_t end_ns)
{
        int r = event_order_finish(&l->order, NULL);

        for (uint32_t i = 0; i < l->cpus.n_items && r == 0; i++) {
                struct cpu_lane *lane = &l->lanes[i];

                if (lane->thread == 0)
                        continue;
                r = give(l, lane, lane->thread, l->threads[lane->thread - 1].cpu, end_ns);
                lane->thread = 0;
        }
        return r;
}
