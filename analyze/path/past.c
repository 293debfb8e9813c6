/* SPDX-License-Identifier: MIT */
#include "analyze/path/past.h"

#include "analyze/path/past_timeouts.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "analyze/walk/trace_walk.h"
#include "base/array.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <stdlib.h>

#define CPUS_MAX  4096
#define TRIM_MIN  (UINT64_C(1) << 20) /* bytes that came since the last time */
#define OPEN_ENDS UINT64_MAX
/* Before a range of time, this much more is read: waits that reach into it. */
#define RANGE_BEFORE_NS UINT64_C(1000000000)

static struct past_wait *last_wait(const struct past_thread *t)
{
        return past_list_count(&t->waits) != 0 ? (struct past_wait *)t->waits.items + t->waits.n - 1 : NULL;
}

/* ------------------------------------------------------------------ the object */

uint32_t past_choose_event(const struct trace_dictionary *d)
{
        uint32_t n = trace_dictionary_count(d, TRACE_TABLE_SAMPLE_EVENTS), first = 0;

        for (uint32_t id = 1; id <= n; id++) {
                const struct trace_sample_event *row = trace_dictionary_row(d, TRACE_TABLE_SAMPLE_EVENTS, id);
                struct text_view unit = trace_dictionary_text(d, row->unit);

                if (row->mode == TRACE_SAMPLE_MODE_WITH_LEADER)
                        continue;
                if (text_view_is(unit, "ns") || text_view_is(unit, "cycles"))
                        return id;
                if (first == 0)
                        first = id;
        }
        return first;
}

int past_make_range(struct trace_filter *ret_range, const struct trace_filter *filter,
                    struct loaded_trace *trace, struct error *err)
{
        struct trace_filter_request request = {
                .has_from = filter->from_ns > trace->start_ns + RANGE_BEFORE_NS,
                .has_to = filter->to_ns != UINT64_MAX,
        };

        if (request.has_from)
                request.from_ns = filter->from_ns - trace->start_ns - RANGE_BEFORE_NS;
        if (request.has_to && filter->to_ns > trace->start_ns)
                request.to_ns = filter->to_ns - trace->start_ns + 2 * PAST_LATE_NS;
        return trace_filter_init(ret_range, &request, trace, err);
}

void past_bound_sink(struct trace_sink *sink, const struct trace_filter *filter,
                     const struct loaded_trace *trace)
{
        if (filter->from_ns > trace->start_ns + RANGE_BEFORE_NS)
                sink->skip_to_ns = filter->from_ns - RANGE_BEFORE_NS;
        if (filter->to_ns < UINT64_MAX - 2 * PAST_LATE_NS)
                sink->stop_at_ns = filter->to_ns + 2 * PAST_LATE_NS;
}

static void deinit_thread(struct past_thread *t)
{
        past_list_deinit(&t->waits);
        past_list_deinit(&t->samples);
        past_list_deinit(&t->wakes);
        past_list_deinit(&t->lock_waits);
        past_list_deinit(&t->fibers);
        past_list_deinit(&t->handed);
}

static void deinit_lists(struct past_list *lists, uint32_t n)
{
        for (uint32_t i = 0; i < n; i++)
                past_list_deinit(&lists[i]);
        free(lists);
}

void past_deinit(struct past *p)
{
        for (uint32_t i = 0; i < p->n_threads; i++)
                deinit_thread(&p->threads[i]);
        free(p->threads);
        free(p->first_threads);
        deinit_lists(p->holds, p->n_locks);
        deinit_lists(p->cpus, p->n_cpus);
        wait_ends_deinit(&p->ends);
        past_flows_free(p->flows);
        *p = (struct past){ .threads = NULL };
}

static void begin_thread(struct past *p, uint32_t id)
{
        const struct trace_thread *row = trace_dictionary_row(p->trace->dictionary, TRACE_TABLE_THREADS, id);
        struct past_thread *t = past_of(p, id);

        t->process = row->process;
        t->is_fiber = row->kind == TRACE_THREAD_FIBER;
        t->born_ns = row->start_ns > p->trace->start_ns ? row->start_ns : 0;
        t->end_ns = UINT64_MAX;
        t->cpu = PAST_NO_CPU;
        if (t->process != 0 && !t->is_fiber && p->first_threads[t->process - 1] == 0)
                p->first_threads[t->process - 1] = id;
}

/*
 * Makes room for all threads that the trace has by now: first in each event of one that grows, so that no
 * thread is moved later in it.
 */
static int reach_threads(struct past *p)
{
        const struct trace_dictionary *d = p->trace->dictionary;
        uint32_t n = trace_dictionary_count(d, TRACE_TABLE_THREADS), n_before = p->n_threads;

        if (n <= n_before)
                return 0;
        if (array_reach(&p->first_threads, &p->first_threads_capacity, &p->n_processes,
                        trace_dictionary_count(d, TRACE_TABLE_PROCESSES), sizeof(*p->first_threads)) < 0 ||
            array_reach(&p->threads, &p->threads_capacity, &p->n_threads, n, sizeof(*p->threads)) < 0)
                return -ENOMEM;
        for (uint32_t id = n_before + 1; id <= n; id++)
                begin_thread(p, id);
        return 0;
}

int past_init(struct past *p, const struct loaded_trace *trace, uint32_t event)
{
        *p = (struct past){ .trace = trace, .event = event, .bytes_max = PAST_BYTES_MAX };
        return wait_ends_init(&p->ends, trace->dictionary) < 0 || reach_threads(p) < 0 ? -ENOMEM : 0;
}

static struct past_thread *see(struct past *p, const struct walked_thread *thread, uint64_t time_ns)
{
        if (reach_threads(p) < 0)
                return NULL;
        if (p->first_ns == 0)
                p->first_ns = time_ns;
        if (time_ns > p->latest_ns)
                p->latest_ns = time_ns;
        return past_of(p, thread->id);
}

/* The list of a lock, or a CPU; NULL if there is no memory. */
static struct past_list *list_at(struct past_list **lists, size_t *capacity, uint32_t *n, uint32_t index)
{
        if (index >= *n && array_reach(lists, capacity, n, index + 1, sizeof(**lists)) < 0)
                return NULL;
        return &(*lists)[index];
}

/* Counts what was added, or that it was refused.  Returns 0 or -ENOMEM. */
static int count(struct past *p, size_t item_bytes, int r)
{
        if (r == 0)
                p->used_bytes += item_bytes;
        else if (r == 1)
                p->n_forgotten++;
        return r < 0 ? r : 0;
}

static int add(struct past *p, struct past_list *list, size_t item_bytes, const void *item)
{
        return count(p, item_bytes, past_list_insert(list, item_bytes, item));
}

static int add_wait(struct past *p, struct past_thread *t, const struct past_wait *wait)
{
        return add(p, &t->waits, sizeof(*wait), wait);
}

static int open_span(struct past *p, struct past_list *list, uint64_t time_ns, uint32_t id, bool is_alone)
{
        return count(p, sizeof(struct past_span), past_list_open(list, time_ns, id, is_alone));
}

/* ------------------------------------------------------------------ samples and waits */

static uint16_t short_cpu(uint64_t cpu)
{
        return cpu < CPUS_MAX ? (uint16_t)cpu : PAST_NO_CPU;
}

int past_sample(struct past *p, const struct walked_thread *thread, const struct trace_event *event)
{
        struct past_thread *t = see(p, thread, event->time_ns);
        const struct past_sample sample = { .time_ns = event->time_ns,
                                            .stack = (uint32_t)event->sample.stack,
                                            .path = (uint32_t)event->sample.path,
                                            .weight = (float)event->sample.weight,
                                            .cpu = short_cpu(event->sample.cpu) };

        if (!t)
                return -ENOMEM;
        return event->sample.event == p->event && !p->only_cpus ? add(p, &t->samples, sizeof(sample), &sample)
                                                                : 0;
}

/* Takes what is known of a wait that has not ended, and may have been woken. */
static void fill_wait(struct past *p, uint32_t thread, const struct thread_wait *from, struct past_wait *to)
{
        struct wait_end end = wait_ends_find(&p->ends, thread, from);

        to->out_ns = from->out_ns;
        to->stack = from->stack;
        to->state = (uint8_t)from->state;
        to->preempted = from->preempted;
        to->out_cpu = short_cpu(from->out_cpu);
        to->end = (uint8_t)end.kind;
        to->by = end.thread;
        to->name = from->is_woken ? from->waker_name : 0;
        to->woken_ns = from->is_woken ? from->woken_ns : UINT64_MAX;
        if (from->is_woken && wait_ends_is_mover(p->trace->dictionary, from->waker_name)) {
                /* it could run, and was moved to another CPU */
                to->woken_ns = from->out_ns;
                to->by = to->name = 0;
        }
        to->is_lock = wait_ends_is_lock(&p->ends, from->stack);
        to->is_sent = end.is_sent;
}

static void end_wait(struct past_wait *wait, uint64_t time_ns, uint16_t cpu)
{
        wait->in_ns = time_ns;
        wait->in_cpu = cpu;
        if (wait->woken_ns > time_ns)
                wait->woken_ns = time_ns;
}

static int note_wake(struct past *p, uint32_t waker, uint64_t time_ns)
{
        return waker != 0 ? add(p, &past_of(p, waker)->wakes, sizeof(time_ns), &time_ns) : 0;
}

static int begin_wait(struct past *p, struct past_thread *t, uint32_t id, const struct thread_wait *wait)
{
        struct past_wait item = { .in_ns = OPEN_ENDS, .in_cpu = PAST_NO_CPU };
        struct past_wait *before = last_wait(t);

        if (before && before->in_ns == OPEN_ENDS) /* the trace lacks its switch back */
                end_wait(before, wait->out_ns, PAST_NO_CPU);
        fill_wait(p, id, wait, &item);
        return add_wait(p, t, &item);
}

int past_wait_over(struct past *p, const struct walked_thread *thread, const struct thread_wait *wait)
{
        struct past_thread *t = see(p, thread, wait->in_ns);
        struct past_wait *item;

        if (!t)
                return -ENOMEM;
        item = last_wait(t); /* none where only CPUs are kept */
        if (!item || item->out_ns != wait->out_ns || !wait->ended)
                return 0;
        fill_wait(p, thread->id, wait, item);
        end_wait(item, wait->in_ns, short_cpu(wait->in_cpu));
        return 0;
}

/* ------------------------------------------------------------------ switches */

/*
 * The first that is known of a thread is that it comes onto a CPU, or is woken: it is new, or was away when
 * the recording began.  Until then nothing but its name was seen, or else it ran until about then.
 */
static int begin_late(struct past *p, struct past_thread *t, const struct walked_thread *thread,
                      const struct past_wait *from)
{
        bool ran = thread->timeline.n_samples != 0 || thread->timeline.n_zones != 0;
        struct past_wait item = *from;

        item.out_ns = ran ? thread->timeline.before_ns : t->born_ns;
        item.out_cpu = PAST_NO_CPU;
        item.preempted = !ran && t->born_ns != 0 && item.in_ns != OPEN_ENDS;
        return item.in_ns > item.out_ns ? add_wait(p, t, &item) : 0;
}

/* The wait that ends may be one that the walk does not report: it began before the range of time. */
static int find_wait(struct past *p, struct past_thread *t, const struct walked_thread *thread,
                     uint64_t time_ns)
{
        const struct thread_wait *wait = &thread->wait;
        struct past_wait item = { .in_ns = time_ns, .woken_ns = time_ns, .in_cpu = short_cpu(thread->cpu) };
        struct past_wait *last = last_wait(t);

        if (last && last->in_ns == OPEN_ENDS)
                end_wait(last, time_ns, item.in_cpu);
        if (last || t->has_switched)
                return 0;
        if (!wait->ended || wait->in_ns != time_ns)
                return begin_late(p, t, thread, &item);
        fill_wait(p, thread->id, wait, &item);
        end_wait(&item, time_ns, item.in_cpu);
        return add_wait(p, t, &item);
}

/* The thread is on its CPU no more, whether the trace has that switch or not. */
static void leave_cpu(struct past *p, struct past_thread *t, uint32_t id, uint64_t time_ns)
{
        if (t->cpu != PAST_NO_CPU)
                past_list_close(&p->cpus[t->cpu], time_ns, id);
        t->cpu = PAST_NO_CPU;
}

static int switch_in(struct past *p, struct past_thread *t, const struct walked_thread *thread,
                     const struct trace_event *event)
{
        uint64_t cpu = event->operand[0];
        struct past_list *lane;
        int r = p->only_cpus ? 0 : find_wait(p, t, thread, event->time_ns);

        leave_cpu(p, t, thread->id, event->time_ns);
        if (r < 0 || cpu >= CPUS_MAX || p->skips_cpus)
                return r;
        lane = list_at(&p->cpus, &p->cpus_capacity, &p->n_cpus, (uint32_t)cpu);
        if (!lane)
                return -ENOMEM;
        t->cpu = (uint16_t)cpu;
        return open_span(p, lane, event->time_ns, thread->id, true);
}

/* It ran on the CPU from its beginning on, if its first switch is away from there. */
static int add_first_run(struct past *p, const struct past_thread *t, struct past_list *lane, uint32_t id,
                         uint64_t end_ns)
{
        size_t n = past_list_before(lane, sizeof(struct past_span), end_ns);
        uint64_t begin_ns = t->born_ns;

        if (n > lane->first && past_list_spans(lane)[n - 1].end_ns <= end_ns &&
            past_list_spans(lane)[n - 1].end_ns > begin_ns)
                begin_ns = past_list_spans(lane)[n - 1].end_ns;
        return open_span(p, lane, begin_ns, id, true);
}

static int switch_out(struct past *p, struct past_thread *t, const struct walked_thread *thread,
                      const struct trace_event *event)
{
        const struct thread_wait unreported = { .out_ns = event->time_ns,
                                                .stack = (uint32_t)event->switch_out.stack,
                                                .state = (uint32_t)event->switch_out.wait,
                                                .out_cpu = thread->cpu };
        bool is_reported = thread->is_out && thread->wait.out_ns == event->time_ns;
        uint64_t cpu = event->operand[0];
        struct past_list *lane;
        int r = 0;

        /* the walk reports no waits of threads that have ended, nor of idle ones */
        if (!p->only_cpus && (is_reported || event->switch_out.wait == TRACE_WAIT_ENDED ||
                              event->switch_out.wait == TRACE_WAIT_IDLE))
                r = begin_wait(p, t, thread->id, is_reported ? &thread->wait : &unreported);
        if (r < 0 || cpu >= CPUS_MAX || p->skips_cpus)
                return r;
        lane = list_at(&p->cpus, &p->cpus_capacity, &p->n_cpus, (uint32_t)cpu);
        if (!lane)
                return -ENOMEM;
        if (!t->has_switched) {
                r = add_first_run(p, t, lane, thread->id, event->time_ns);
                t->cpu = (uint16_t)cpu;
        }
        leave_cpu(p, t, thread->id, event->time_ns);
        return r;
}

static int take_switch(struct past *p, struct past_thread *t, const struct walked_thread *thread,
                       const struct trace_event *event)
{
        int r;

        if (t->is_fiber)
                return 0;
        r = event->op == TRACE_OP_SWITCH_IN ? switch_in(p, t, thread, event)
                                            : switch_out(p, t, thread, event);
        t->has_switched = p->has_switches = true;
        return r;
}

/* The wait that a wake-up ends.  The walk knows none of idle threads, nor before a thread's first switch. */
static struct thread_wait find_woken(const struct past_thread *t, const struct past_wait *item,
                                     const struct walked_thread *thread, const struct trace_event *event)
{
        struct thread_wait wait = { .out_ns = t->born_ns,
                                    .woken_ns = event->time_ns,
                                    .waker_thread = (uint32_t)event->wakeup.waker,
                                    .waker_name = (uint32_t)event->wakeup.name,
                                    .out_cpu = TRACE_WALK_NO_CPU,
                                    .is_woken = true };

        if (thread->is_out)
                return thread->wait;
        if (item) {
                wait.out_ns = item->out_ns;
                wait.stack = item->stack;
                wait.state = item->state;
                wait.out_cpu = item->out_cpu;
        }
        return wait;
}

static int take_wakeup(struct past *p, struct past_thread *t, const struct walked_thread *thread,
                       const struct trace_event *event)
{
        struct past_wait *item = last_wait(t), first = { .in_ns = OPEN_ENDS, .in_cpu = PAST_NO_CPU };
        const struct thread_wait wait = find_woken(t, item, thread, event);
        int r = 0;

        if (t->is_fiber || trace_event_wakes_itself(event, thread->id) || (!item && t->has_switched) ||
            (item && (item->in_ns != OPEN_ENDS || item->woken_ns != UINT64_MAX || item->preempted)))
                return 0;
        fill_wait(p, thread->id, &wait, item ? item : &first);
        if (!item)
                r = thread->is_out ? add_wait(p, t, &first) : begin_late(p, t, thread, &first);
        return r == 0 ? note_wake(p, item ? item->by : first.by, event->time_ns) : r;
}

/* ------------------------------------------------------------------ locks */

/* A thread that uses another lock has given up waiting, it is not known when: that wait counts as none. */
static void end_lock_wait(struct past_thread *t, uint32_t lock, uint64_t time_ns)
{
        struct past_list *list = &t->lock_waits;
        struct past_span *last = past_list_count(list) != 0 ? (struct past_span *)list->items + list->n - 1
                                                            : NULL;

        if (last && last->end_ns == OPEN_ENDS)
                last->end_ns = last->id == lock ? time_ns : last->begin_ns;
}

static int take_lock(struct past *p, struct past_thread *t, uint32_t id, const struct trace_event *event)
{
        uint32_t lock = (uint32_t)event->lock_wait.lock;
        bool is_alone = event->lock_wait.shared == 0;
        struct past_list *holds = list_at(&p->holds, &p->holds_capacity, &p->n_locks, lock - 1);

        if (!holds)
                return -ENOMEM;
        if (event->op == TRACE_OP_LOCK_RELEASE) {
                past_list_close(holds, event->time_ns, id);
                return 0;
        }
        end_lock_wait(t, lock, event->time_ns);
        return event->op == TRACE_OP_LOCK_WAIT ? open_span(p, &t->lock_waits, event->time_ns, lock, true)
                                               : open_span(p, holds, event->time_ns, id, is_alone);
}

/* ------------------------------------------------------------------ fibers */

/*
 * Threads enter and leave a fiber, each in its own stream, so one may be behind another.  A fiber's waits are
 * the gaps between its runs; a run splits the gap in which it lies.
 */
static struct past_wait *first_wait_after(const struct past_thread *fiber, uint64_t time_ns)
{
        struct past_wait *waits = fiber->waits.items, *found = NULL;

        for (size_t i = fiber->waits.n; i-- > fiber->waits.first && waits[i].in_ns > time_ns &&
                                        fiber->waits.n - i <= PAST_LIST_LATE_MAX;)
                found = &waits[i];
        return found;
}

/* The fiber was suspended until now; the thread that goes on with it ended that. */
static int resume_fiber(struct past *p, struct past_thread *fiber, uint32_t by, uint64_t time_ns)
{
        struct past_wait *gap = first_wait_after(fiber, time_ns);
        struct past_wait item = { .out_ns = time_ns,
                                  .in_ns = time_ns,
                                  .woken_ns = time_ns,
                                  .by = by,
                                  .out_cpu = PAST_NO_CPU,
                                  .in_cpu = PAST_NO_CPU,
                                  .end = WAIT_END_THREAD,
                                  .state = TRACE_WAIT_SLEEPING };

        if (gap && gap->in_ns == OPEN_ENDS) {
                item.out_ns = gap->out_ns < time_ns ? gap->out_ns : time_ns;
                *gap = item;
                return 0;
        }
        if (gap && gap->out_ns <= time_ns) {
                item.out_ns = gap->out_ns;
                gap->out_ns = time_ns;
        } else if (past_list_count(&fiber->waits) == 0) {
                item.out_ns = fiber->born_ns < time_ns ? fiber->born_ns : time_ns;
        }
        return add_wait(p, fiber, &item);
}

static int suspend_fiber(struct past *p, struct past_thread *fiber, uint64_t begin_ns, uint64_t end_ns)
{
        struct past_wait *gap = first_wait_after(fiber, begin_ns);
        const struct past_wait item = { .out_ns = end_ns,
                                        .in_ns = OPEN_ENDS,
                                        .woken_ns = UINT64_MAX,
                                        .out_cpu = PAST_NO_CPU,
                                        .in_cpu = PAST_NO_CPU,
                                        .state = TRACE_WAIT_SLEEPING };

        if (!gap)
                return add_wait(p, fiber, &item);
        if (gap->in_ns >= end_ns)
                gap->out_ns = end_ns;
        return 0;
}

static int leave_fiber(struct past *p, struct past_thread *t, uint64_t time_ns)
{
        uint32_t fiber = t->fiber;

        if (fiber == 0)
                return 0;
        t->fiber = 0;
        past_list_close(&t->fibers, time_ns, fiber);
        return suspend_fiber(p, past_of(p, fiber), t->fiber_ns, time_ns);
}

static int take_fiber(struct past *p, struct past_thread *t, uint32_t id, const struct trace_event *event)
{
        uint32_t fiber = event->op == TRACE_OP_FIBER_ENTER ? (uint32_t)event->fiber_enter.fiber : 0;
        int r;

        if (t->is_fiber)
                return 0;
        r = leave_fiber(p, t, event->time_ns);
        if (r < 0 || fiber == 0 || !past_of(p, fiber)->is_fiber)
                return r;
        t->fiber = fiber;
        t->fiber_ns = event->time_ns;
        r = resume_fiber(p, past_of(p, fiber), id, event->time_ns);
        return r == 0 ? open_span(p, &t->fibers, event->time_ns, fiber, true) : r;
}

/* ------------------------------------------------------------------ events */

static int take_event(struct past *p, struct past_thread *t, const struct walked_thread *thread,
                      const struct trace_event *event)
{
        bool is_of_cpus = event->op == TRACE_OP_SWITCH_IN || event->op == TRACE_OP_SWITCH_OUT ||
                          event->op == TRACE_OP_THREAD_EXIT;

        if (p->only_cpus && !is_of_cpus)
                return 0;
        switch (event->op) {
        case TRACE_OP_SWITCH_IN:
        case TRACE_OP_SWITCH_OUT:
                return take_switch(p, t, thread, event);
        case TRACE_OP_WAKEUP:
                return take_wakeup(p, t, thread, event);
        case TRACE_OP_LOCK_WAIT:
        case TRACE_OP_LOCK_OBTAIN:
        case TRACE_OP_LOCK_RELEASE:
                return take_lock(p, t, thread->id, event);
        case TRACE_OP_FIBER_ENTER:
        case TRACE_OP_FIBER_LEAVE:
                return take_fiber(p, t, thread->id, event);
        case TRACE_OP_FLOW:
                return past_flows_add(p, thread->id, event);
        case TRACE_OP_THREAD_EXIT:
                t->end_ns = event->time_ns;
                leave_cpu(p, t, thread->id, event->time_ns);
                return leave_fiber(p, t, event->time_ns);
        default:
                return 0;
        }
}

int past_event(struct past *p, const struct walked_thread *thread, const struct trace_event *event)
{
        struct past_thread *t = see(p, thread, event->time_ns);

        return t ? take_event(p, t, thread, event) : -ENOMEM;
}

/* ------------------------------------------------------------------ forgetting */

static void trim_thread(struct past *p, struct past_thread *t, uint64_t time_ns)
{
        const struct past_wait *waits = t->waits.items;

        while (t->waits.first < t->waits.n && waits[t->waits.first].in_ns < time_ns)
                t->waits.first++;
        past_list_trim(&t->samples, sizeof(struct past_sample), time_ns);
        past_list_trim(&t->wakes, sizeof(uint64_t), time_ns);
        past_list_trim_spans(&t->lock_waits, time_ns);
        past_list_trim_spans(&t->fibers, time_ns);
        past_list_trim_spans(&t->handed, time_ns);
        p->used_bytes += past_list_count(&t->waits) * sizeof(struct past_wait) +
                         past_list_count(&t->samples) * sizeof(struct past_sample) +
                         past_list_count(&t->wakes) * sizeof(uint64_t) +
                         (past_list_count(&t->lock_waits) + past_list_count(&t->fibers) +
                          past_list_count(&t->handed)) *
                                 sizeof(struct past_span);
}

/* Of CPUs, where only those are kept: stretches. */
static uint64_t count_waits(const struct past *p)
{
        uint64_t n = 0;

        for (uint32_t i = 0; i < p->n_cpus && p->only_cpus; i++)
                n += past_list_count(&p->cpus[i]);
        for (uint32_t i = 0; i < p->n_threads; i++)
                n += past_list_count(&p->threads[i].waits);
        return n;
}

static void trim(struct past *p, uint64_t time_ns)
{
        uint64_t n_spans = 0;

        p->used_bytes = 0;
        for (uint32_t i = 0; i < p->n_threads; i++)
                trim_thread(p, &p->threads[i], time_ns);
        for (uint32_t i = 0; i < p->n_locks; i++) {
                past_list_trim_spans(&p->holds[i], time_ns);
                n_spans += past_list_count(&p->holds[i]);
        }
        for (uint32_t i = 0; i < p->n_cpus; i++) {
                past_list_trim_alone(&p->cpus[i], time_ns);
                n_spans += past_list_count(&p->cpus[i]);
        }
        p->used_bytes += n_spans * sizeof(struct past_span);
        p->trimmed_bytes = p->used_bytes;
        if (time_ns > p->kept_ns)
                p->kept_ns = time_ns;
}

void past_forget(struct past *p, uint64_t time_ns)
{
        if (time_ns > p->kept_ns && (past_is_crowded(p) || p->used_bytes > 2 * p->trimmed_bytes + TRIM_MIN))
                trim(p, time_ns);
}

/* When the oldest wait that is kept began, or the oldest time on a CPU where there are no waits. */
static uint64_t find_oldest(const struct past *p)
{
        uint64_t oldest_ns = p->latest_ns;

        for (uint32_t i = 0; i < p->n_cpus && p->only_cpus; i++) {
                const struct past_list *lane = &p->cpus[i];

                if (past_list_count(lane) != 0 && past_list_spans(lane)[lane->first].begin_ns < oldest_ns)
                        oldest_ns = past_list_spans(lane)[lane->first].begin_ns;
        }
        for (uint32_t i = 0; i < p->n_threads; i++) {
                const struct past_thread *t = &p->threads[i];

                if (past_list_count(&t->waits) != 0 && past_waits(t)[t->waits.first].out_ns < oldest_ns)
                        oldest_ns = past_waits(t)[t->waits.first].out_ns;
        }
        return oldest_ns > p->kept_ns ? oldest_ns : p->kept_ns;
}

void past_forget_oldest(struct past *p)
{
        uint64_t from_ns = find_oldest(p), n_before = count_waits(p);

        while (p->used_bytes > p->bytes_max / 4 * 3 && from_ns + 1 < p->latest_ns) {
                from_ns += (p->latest_ns - from_ns) / 4 + 1;
                trim(p, from_ns);
        }
        p->n_forgotten += n_before - count_waits(p);
}

/* ------------------------------------------------------------------ questions */

size_t past_waits_before(const struct past_thread *t, uint64_t time_ns)
{
        return past_list_before(&t->waits, sizeof(struct past_wait), time_ns);
}

const struct past_wait *past_wait_at(const struct past *p, uint32_t thread, uint64_t time_ns)
{
        const struct past_thread *t = past_of(p, thread);
        size_t n = past_waits_before(t, time_ns + 1);
        const struct past_wait *wait = n > t->waits.first ? &past_waits(t)[n - 1] : NULL;

        return wait && wait->in_ns > time_ns && wait->state != TRACE_WAIT_ENDED ? wait : NULL;
}

/* Whether the thread began after the part of the trace that is read. */
static bool is_new(const struct past *p, const struct past_thread *t)
{
        return t->born_ns != 0 && t->born_ns + PAST_LATE_NS >= p->first_ns;
}

enum past_state past_state_at(const struct past *p, uint32_t thread, uint64_t time_ns,
                              const struct past_wait **ret_wait)
{
        const struct past_thread *t = past_of(p, thread);

        *ret_wait = NULL;
        if (time_ns < t->born_ns || time_ns >= t->end_ns)
                return PAST_ABSENT;
        *ret_wait = past_wait_at(p, thread, time_ns);
        if (*ret_wait)
                return (*ret_wait)->preempted || time_ns >= (*ret_wait)->woken_ns ? PAST_READY : PAST_WAITS;
        if (past_is_known(t))
                return PAST_RUNS;
        return is_new(p, t) ? PAST_READY : PAST_ABSENT;
}

size_t past_samples(const struct past_thread *t, uint64_t begin_ns, uint64_t end_ns,
                    const struct past_sample **ret_first)
{
        const struct past_sample *samples = t->samples.items;
        size_t from = past_list_before(&t->samples, sizeof(*samples), begin_ns), to = from;

        while (to < t->samples.n && samples[to].time_ns < end_ns)
                to++;
        *ret_first = samples ? samples + from : NULL;
        return to - from;
}

bool past_woke(const struct past_thread *t, uint64_t begin_ns, uint64_t end_ns)
{
        size_t i = past_list_before(&t->wakes, sizeof(uint64_t), begin_ns);

        return i < t->wakes.n && ((const uint64_t *)t->wakes.items)[i] <= end_ns;
}

struct past_owners past_owners_of(const struct past *p, uint32_t cpu, uint64_t begin_ns, uint64_t end_ns)
{
        struct past_owners o = { .at_ns = begin_ns, .end_ns = end_ns };

        if (cpu >= p->n_cpus)
                return o;
        o.lane = &p->cpus[cpu];
        o.to = past_spans(o.lane, begin_ns, end_ns, &o.i);
        return o;
}

bool past_owners_next(struct past_owners *o, struct past_span *ret)
{
        const struct past_span *spans = o->lane ? o->lane->items : NULL;

        for (; spans && o->i < o->to; o->i++) {
                uint64_t end_ns = spans[o->i].end_ns < o->end_ns ? spans[o->i].end_ns : o->end_ns;

                *ret = spans[o->i];
                if (o->i + 1 < o->lane->n && spans[o->i + 1].begin_ns < end_ns)
                        end_ns = spans[o->i + 1].begin_ns;
                if (ret->begin_ns < o->at_ns)
                        ret->begin_ns = o->at_ns;
                ret->end_ns = end_ns;
                if (end_ns <= ret->begin_ns)
                        continue;
                o->at_ns = end_ns;
                o->i++;
                return true;
        }
        return false;
}

const struct past_span *past_lock_wait(const struct past_thread *t, uint64_t time_ns)
{
        const struct past_span *spans = past_list_spans(&t->lock_waits);
        size_t n = past_list_before(&t->lock_waits, sizeof(*spans), time_ns + 1);

        return n > t->lock_waits.first && spans[n - 1].end_ns >= time_ns ? &spans[n - 1] : NULL;
}

/* The thread that made this one, by their processes. */
static uint32_t guess_creator(const struct past *p, uint32_t thread)
{
        uint32_t process = past_of(p, thread)->process, first = past_first_of(p, process);
        const struct trace_process *row;

        if (first != thread || process == 0)
                return first;
        row = trace_dictionary_row(p->trace->dictionary, TRACE_TABLE_PROCESSES, process);
        return past_first_of(p, row->parent);
}

uint32_t past_creator(const struct past *p, uint32_t thread)
{
        const struct trace_thread *row = trace_dictionary_row(p->trace->dictionary, TRACE_TABLE_THREADS,
                                                              thread);
        uint32_t guess;

        if (row->creator != 0)
                return row->creator;
        guess = guess_creator(p, thread);
        /* who waits makes no threads */
        return guess != 0 && !past_wait_at(p, guess, past_of(p, thread)->born_ns) ? guess : 0;
}
