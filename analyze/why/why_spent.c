/* SPDX-License-Identifier: MIT */
#include "analyze/why/why_spent.h"

#include "analyze/samples/sample_cost.h"
#include "analyze/waits/wait_ends.h"
#include "analyze/walk/trace_walk.h"
#include "analyze/walk/zone_stats.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"

#include <math.h>
#include <string.h>

struct why_wait_parts why_wait_parts_of(const struct trace_dictionary *d, const struct thread_wait *wait,
                                        uint64_t begin_ns)
{
        struct why_wait_parts p = { .begin_ns = begin_ns, .ready_ns = wait->in_ns };

        p.is_moved = wait->in_cpu != wait->out_cpu;
        p.is_preempted = wait->preempted;
        if (wait->preempted) {
                p.ready_ns = begin_ns;
                return p;
        }
        p.is_stopped = wait->state == TRACE_WAIT_STOPPED;
        p.is_sent = p.is_moved && wait->is_woken && wait_ends_is_mover(d, wait->waker_name);
        if (wait->is_woken && !p.is_sent && wait->woken_ns < wait->in_ns)
                p.ready_ns = wait->woken_ns > begin_ns ? wait->woken_ns : begin_ns;
        return p;
}

void why_spending_begin(struct why_spending *s, uint64_t time_ns)
{
        s->begin_ns = time_ns;
        s->waiting_ns = 0;
}

void why_spending_wait(struct why_spending *s, const struct trace_dictionary *d,
                       const struct thread_wait *wait)
{
        uint64_t begin_ns = wait->out_ns > s->begin_ns ? wait->out_ns : s->begin_ns;
        struct why_wait_parts parts;

        if (!wait->ended || wait->in_ns <= begin_ns)
                return;
        parts = why_wait_parts_of(d, wait, begin_ns);
        if (!parts.is_stopped)
                s->waiting_ns += parts.ready_ns - begin_ns;
}

uint64_t why_spending_fiber(struct why_spending *s, const struct trace_event *event)
{
        uint64_t begin_ns = s->out_ns > s->begin_ns ? s->out_ns : s->begin_ns;
        bool was_out = s->out_ns != 0;

        if (event->op == TRACE_OP_SWITCH_OUT) {
                s->out_ns = event->time_ns;
                s->is_preempted = event->switch_out.preempted != 0;
                return 0;
        }
        s->out_ns = 0;
        if (!was_out || event->time_ns <= begin_ns)
                return 0;
        if (!s->is_preempted)
                s->waiting_ns += event->time_ns - begin_ns;
        return event->time_ns - begin_ns;
}

struct why_spent why_spent_of(const struct why_spending *s, const struct zone_instance *zone,
                              bool has_switches)
{
        struct why_spent spent = { .wall_ns = zone_instance_duration_ns(zone), .n_samples = zone->n_samples };
        uint64_t off_ns;

        spent.on_cpu_ns = spent.wall_ns;
        if (!has_switches)
                return spent;
        if (zone->on_cpu_ns < spent.wall_ns)
                spent.on_cpu_ns = zone->on_cpu_ns;
        off_ns = spent.wall_ns - spent.on_cpu_ns;
        /*
         * The time after a switch that the kernel did not report is not a wait, so it does not count as the
         * program's own.
         */
        spent.waiting_ns = s->waiting_ns < off_ns ? s->waiting_ns : off_ns;
        spent.machine_ns = off_ns - spent.waiting_ns;
        return spent;
}

double why_spent_value(const struct why_spent *s, enum why_by by, const struct sample_cost *cost)
{
        double n = (double)s->n_samples;

        switch (by) {
        case WHY_BY_OWN:
                return sample_cost_without(cost, (double)(s->on_cpu_ns + s->waiting_ns), n);
        case WHY_BY_ON_CPU:
                return sample_cost_without(cost, (double)s->on_cpu_ns, n);
        case WHY_BY_WAITING:
                return (double)s->waiting_ns;
        case WHY_BY_WALL:
        case WHY_BY_AUTOMATIC:
                break;
        }
        return sample_cost_without(cost, (double)s->wall_ns, n);
}
