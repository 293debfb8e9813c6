/* SPDX-License-Identifier: MIT */
#include "analyze/cores/idle_gaps.h"

#include "analyze/path/past.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "analyze/walk/trace_walk.h"
#include "base/error.h"
#include "format/trace_event.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int no_memory(struct error *err)
{
        return error_set(err, -ENOMEM, "idle times of CPUs: out of memory");
}

/* ------------------------------------------------------------------ gaps */

/* Spreads a gap, and the idle time in it, over the steps. */
static void add_gap(struct idle_gaps *g, uint64_t begin_ns, uint64_t end_ns, uint64_t idle_ns)
{
        double share;

        if (end_ns <= begin_ns)
                return;
        share = fmin((double)idle_ns / (double)(end_ns - begin_ns), 1);
        if (begin_ns < g->begin_ns)
                begin_ns = g->begin_ns;
        if (end_ns > g->end_ns)
                end_ns = g->end_ns;
        while (begin_ns < end_ns) {
                double step = floor((double)(begin_ns - g->begin_ns) / g->step_ns);
                uint64_t until_ns = g->begin_ns + (uint64_t)ceil((step + 1) * g->step_ns);
                struct idle_gap *to = &g->steps[(size_t)fmin(step, IDLE_GAPS_STEPS - 1)];

                if (until_ns > end_ns || until_ns <= begin_ns)
                        until_ns = end_ns;
                to->gap_ns += (double)(until_ns - begin_ns);
                to->idle_ns += (double)(until_ns - begin_ns) * share;
                begin_ns = until_ns;
        }
}

/* In the order of time. */
static int take_ordered(void *context, const struct ordered_event *event, struct error *err)
{
        struct idle_gaps *g = context;
        struct idle_gap_cpu *cpu = &g->cpus[event->subject];

        (void)err;
        if (event->op == TRACE_OP_SWITCH_OUT) {
                cpu->n_threads -= cpu->n_threads != 0;
                if (cpu->n_threads == 0)
                        cpu->free_ns = event->time_ns;
                return 0;
        }
        if (cpu->n_threads == 0)
                add_gap(g, cpu->free_ns, event->time_ns, event->value[0]);
        cpu->n_threads = 1; /* where the trace lacks the switch of another one, that one has left by now */
        return 0;
}

static int take_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        struct idle_gaps *g = context;
        struct ordered_event ordered = { .time_ns = event->time_ns, .op = (uint32_t)event->op };

        if ((event->op != TRACE_OP_SWITCH_IN && event->op != TRACE_OP_SWITCH_OUT) ||
            thread->timeline.is_fiber || event->operand[0] >= g->n_cpus)
                return 0;
        ordered.subject = (uint32_t)event->operand[0];
        if (event->op == TRACE_OP_SWITCH_IN)
                ordered.value[0] = event->switch_in.idle_ns;
        return event_order_add(&g->order, &ordered, err);
}

/* ------------------------------------------------------------------ the end */

static bool take_number(struct text_view *text, char after, uint64_t *ret)
{
        size_t i = 0;

        *ret = 0;
        for (; i < text->n_bytes && text->bytes[i] >= '0' && text->bytes[i] <= '9'; i++)
                *ret = *ret * 10 + (uint64_t)(text->bytes[i] - '0');
        if (i == 0 || i > 19 || i == text->n_bytes || text->bytes[i] != after)
                return false;
        text->bytes += i + 1;
        text->n_bytes -= i + 1;
        return true;
}

/* "0=1200;3=70;": what came after the last recorded thread of each CPU; a malformed list up to its fault. */
static int add_last_gaps(struct idle_gaps *g, const struct loaded_trace *trace)
{
        struct text_view text = loaded_trace_meta(trace, "cpu_idle");
        uint64_t *idle_ns = calloc((size_t)g->n_cpus + 1, sizeof(*idle_ns));
        uint64_t cpu, ns;

        if (!idle_ns)
                return -ENOMEM;
        while (take_number(&text, '=', &cpu) && take_number(&text, ';', &ns))
                if (cpu < g->n_cpus)
                        idle_ns[cpu] = ns;
        for (uint32_t i = 0; i < g->n_cpus; i++)
                if (g->cpus[i].n_threads == 0)
                        add_gap(g, g->cpus[i].free_ns, trace->end_ns, idle_ns[i]);
        free(idle_ns);
        return 0;
}

static int walk_trace(struct idle_gaps *g, struct loaded_trace *trace, const struct trace_filter *filter,
                      bool is_bounded, struct error *err)
{
        struct trace_sink sink = { .context = g, .event = take_event, .may_skip = true };
        struct trace_filter range = { .is_empty = true };
        struct trace_walk walk;
        int r = 0;

        if (is_bounded)
                past_bound_sink(&sink, filter, trace);
        else
                r = past_make_range(&range, filter, trace, err);
        if (r < 0)
                return r;
        r = trace_walk_init(&walk, trace, is_bounded ? NULL : &range, &sink);
        r = r == 0 ? loaded_trace_walk(trace, &walk, err) : no_memory(err);
        if (r == 0)
                r = event_order_finish(&g->order, err);
        trace_walk_deinit(&walk);
        trace_filter_deinit(&range);
        return r;
}

int idle_gaps_read(struct idle_gaps *g, struct loaded_trace *trace, const struct trace_filter *filter,
                   uint32_t n_cpus, bool is_bounded, struct error *err)
{
        int r;

        *g = (struct idle_gaps){ .n_cpus = n_cpus < IDLE_GAPS_CPUS_MAX ? n_cpus : IDLE_GAPS_CPUS_MAX };
        event_order_init(&g->order, 0, take_ordered, g);
        g->begin_ns = filter->from_ns > trace->start_ns ? filter->from_ns : trace->start_ns;
        g->end_ns = filter->to_ns < trace->end_ns ? filter->to_ns : trace->end_ns;
        if (loaded_trace_meta_number(trace, "idle") == 0 || g->end_ns <= g->begin_ns)
                return 0;
        g->step_ns = (double)(g->end_ns - g->begin_ns) / IDLE_GAPS_STEPS;
        g->steps = calloc(IDLE_GAPS_STEPS, sizeof(*g->steps));
        g->cpus = calloc((size_t)g->n_cpus + 1, sizeof(*g->cpus));
        if (!g->steps || !g->cpus)
                return no_memory(err);
        for (uint32_t i = 0; i < g->n_cpus; i++)
                g->cpus[i].free_ns = trace->start_ns;
        r = walk_trace(g, trace, filter, is_bounded, err);
        if (r < 0)
                return r;
        /* a flight recorder does not know the last gaps, and a range of time may lack what is before them */
        if (filter->to_ns == UINT64_MAX && loaded_trace_meta(trace, "ring").n_bytes == 0)
                r = add_last_gaps(g, trace);
        return r < 0 ? no_memory(err) : 0;
}

void idle_gaps_deinit(struct idle_gaps *g)
{
        event_order_deinit(&g->order);
        free(g->steps);
        free(g->cpus);
        *g = (struct idle_gaps){ .steps = NULL };
}

double idle_gaps_share(const struct idle_gaps *g, uint64_t time_ns)
{
        const struct idle_gap *step;

        if (!g->steps || time_ns < g->begin_ns || time_ns >= g->end_ns)
                return 1;
        step = &g->steps[(size_t)fmin((double)(time_ns - g->begin_ns) / g->step_ns, IDLE_GAPS_STEPS - 1)];
        return step->gap_ns > 0 ? step->idle_ns / step->gap_ns : 1;
}
