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

/* ---- CPUs that no thread of the trace had, while one was ready to run ---------------------------------- */

static int give_unowned(struct cpu_lanes *l, struct cpu_lane *lane, uint64_t cpu, uint32_t thread,
                        uint64_t since_ns, uint64_t until_ns)
{
        if (since_ns < lane->given_ns)
                since_ns = lane->given_ns;
        if (since_ns < lane->wanted_ns)
                since_ns = lane->wanted_ns;
        if (until_ns <= since_ns || lane->thread != 0)
                return 0;
        lane->wanted_ns = until_ns;
        return l->take_unowned(l->context, cpu, thread, since_ns, until_ns);
}

/* The thread was preempted on this CPU, and is ready there until it comes onto any. */
static int begin_preempted(struct cpu_lanes *l, const struct ordered_event *event)
{
        struct cpu_thread *thread = &l->threads[event->thread - 1];
        struct cpu_lane *lane;
        int r = find_lane(l, event->value[0], &lane);

        if (r < 0 || thread->waits_on != 0)
                return r;
        thread->waits_on = event->value[0] + 1;
        if (lane->n_preempted++ == 0)
                lane->preempted_ns = event->time_ns;
        return 0;
}

static int end_preempted(struct cpu_lanes *l, const struct ordered_event *event)
{
        struct cpu_thread *thread = &l->threads[event->thread - 1];
        uint64_t cpu = thread->waits_on - 1;
        struct cpu_lane *lane;
        int r;

        if (thread->waits_on == 0)
                return 0;
        thread->waits_on = 0;
        r = find_lane(l, cpu, &lane);
        if (r < 0)
                return r;
        lane->n_preempted--;
        return give_unowned(l, lane, cpu, event->thread, lane->preempted_ns, event->time_ns);
}

/* Before the thread comes onto a CPU: who had it until then?  value[1]: since when the thread was ready. */
static int end_ready(struct cpu_lanes *l, const struct ordered_event *event)
{
        uint64_t cpu = event->value[0], since_ns = event->value[1];
        struct cpu_lane *lane = NULL;
        int r = end_preempted(l, event);

        if (r == 0)
                r = find_lane(l, cpu, &lane);
        if (r < 0 || !lane)
                return r;
        if (lane->n_preempted != 0 && (since_ns == 0 || lane->preempted_ns < since_ns))
                since_ns = lane->preempted_ns;
        return since_ns == 0 ? 0 : give_unowned(l, lane, cpu, event->thread, since_ns, event->time_ns);
}

static int switch_in(struct cpu_lanes *l, const struct ordered_event *event)
{
        struct cpu_thread *thread = &l->threads[event->thread - 1];
        uint64_t cpu = event->value[0];
        int r = l->take_unowned ? end_ready(l, event) : 0;

        if (r == 0)
                r = take_cpu(l, event->thread, cpu, event->time_ns);
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
        int r;

        (void)err;
        switch (event->op) {
        case TRACE_OP_SWITCH_IN:
                return switch_in(l, event);
        case TRACE_OP_SWITCH_OUT:
                r = switch_out(l, event);
                return r == 0 && l->take_unowned && event->value[1] != 0 ? begin_preempted(l, event) : r;
        case TRACE_OP_THREAD_EXIT:
                r = l->take_unowned ? end_preempted(l, event) : 0;
                return r == 0 ? end(l, event) : r;
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

static int put_in_order(struct cpu_lanes *l, const struct ordered_event *event)
{
        if (!l->order.take)
                event_order_init(&l->order, ORDER_EVENTS_MAX, take_ordered, l);
        return event_order_add(&l->order, event, NULL);
}

/*
 * Returns, of a SWITCH_IN, since when the thread could run, if it was woken, else 0; of a SWITCH_OUT, 1 if
 * the thread was preempted.
 */
static uint64_t follow_readiness(struct cpu_thread *thread, uint32_t id, const struct trace_event *event)
{
        uint64_t ready_ns = thread->ready_ns;

        switch (event->op) {
        case TRACE_OP_WAKEUP:
                if (thread->is_out && ready_ns == 0 && !trace_event_wakes_itself(event, id))
                        thread->ready_ns = event->time_ns;
                return 0;
        case TRACE_OP_SWITCH_OUT:
                thread->ready_ns = 0;
                thread->is_out = event->switch_out.preempted == 0 &&
                                 event->switch_out.wait != TRACE_WAIT_PREEMPTED;
                return !thread->is_out;
        case TRACE_OP_SWITCH_IN:
                thread->is_out = false;
                thread->ready_ns = 0;
                /* Where the CPU was idle for so long, no other program had it. */
                return event->time_ns > ready_ns && event->switch_in.idle_ns >= event->time_ns - ready_ns
                               ? 0
                               : ready_ns;
        default:
                return 0;
        }
}

int cpu_lanes_add(struct cpu_lanes *l, uint32_t id, const struct trace_event *event)
{
        struct cpu_thread *thread = &l->threads[id - 1];
        struct ordered_event ordered = { .time_ns = event->time_ns, .thread = id, .op = ORDER_BEGINS };
        int r = 0;

        if (!thread->has_begun && (event->op != TRACE_OP_WAKEUP || trace_event_wakes_itself(event, id)))
                r = put_in_order(l, &ordered);
        thread->has_begun = true;
        if (r < 0)
                return r;
        ordered.value[1] = follow_readiness(thread, id, event);
        ordered.op = (uint32_t)event->op;
        if (event->op == TRACE_OP_SAMPLE && !thread->was_seen) {
                thread->was_seen = true;
                ordered.op = ORDER_IS_SEEN;
                ordered.value[0] = event->sample.cpu;
                return put_in_order(l, &ordered);
        }
        if (event->op == TRACE_OP_THREAD_EXIT)
                return put_in_order(l, &ordered);
        if (event->op != TRACE_OP_SWITCH_IN && event->op != TRACE_OP_SWITCH_OUT)
                return 0;
        thread->was_seen = event->op == TRACE_OP_SWITCH_IN;
        ordered.value[0] = event->operand[0];
        return put_in_order(l, &ordered);
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
