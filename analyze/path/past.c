/* SPDX-License-Identifier: MIT */
#include "analyze/path/past.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_walk.h"
#include "base/array.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CPUS_MAX  4096
#define TRIM_MIN  16384 /* items that came since the last time */
#define OPEN_ENDS UINT64_MAX

/* ------------------------------------------------------------------ lists */

/* Every item begins with its time. */
static uint64_t time_of(const struct past_list *list, size_t item_bytes, size_t i)
{
        uint64_t time_ns;

        memcpy(&time_ns, (const char *)list->items + i * item_bytes, sizeof(time_ns));
        return time_ns;
}

/* Adds an item at its place in time, which is at the end, or a little before. */
static int list_insert(struct past_list *list, size_t item_bytes, const void *item)
{
        size_t at = list->n;
        uint64_t time_ns;
        char *items;

        memcpy(&time_ns, item, sizeof(time_ns));
        if (list->first > list->n / 2 && list->n == list->capacity) {
                items = list->items;
                memmove(items, items + list->first * item_bytes, (list->n - list->first) * item_bytes);
                list->n -= list->first;
                list->first = 0;
                at = list->n;
        }
        if (array_reserve(&list->items, &list->capacity, list->n + 1, item_bytes) < 0)
                return -ENOMEM;
        items = list->items;
        while (at > list->first && time_of(list, item_bytes, at - 1) > time_ns)
                at--;
        memmove(items + (at + 1) * item_bytes, items + at * item_bytes, (list->n - at) * item_bytes);
        memcpy(items + at * item_bytes, item, item_bytes);
        list->n++;
        return 0;
}

/* How many items, from items[0] on, have a time before @time_ns. */
static size_t list_before(const struct past_list *list, size_t item_bytes, uint64_t time_ns)
{
        if (time_ns == 0 || list->n == list->first)
                return list->first;
        return list->first + array_count_to((const char *)list->items + list->first * item_bytes,
                                            list->n - list->first, item_bytes, 0, time_ns - 1);
}

static struct past_wait *last_wait(const struct past_thread *t)
{
        return t->waits.n > t->waits.first ? (struct past_wait *)t->waits.items + t->waits.n - 1 : NULL;
}

/* The latest span that has not ended; of @id, unless that is 0.  NULL = there is none. */
static struct past_span *find_open(const struct past_list *list, uint32_t id)
{
        struct past_span *spans = list->items;

        for (size_t i = list->n; i-- > list->first;)
                if (spans[i].end_ns == OPEN_ENDS && (id == 0 || spans[i].id == id))
                        return &spans[i];
        return NULL;
}

static int open_span(struct past_list *list, uint64_t time_ns, uint32_t id)
{
        const struct past_span span = { .begin_ns = time_ns, .end_ns = OPEN_ENDS, .id = id };

        return list_insert(list, sizeof(span), &span);
}

static void close_span(struct past_list *list, uint64_t time_ns, uint32_t id)
{
        struct past_span *span = find_open(list, id);

        if (span)
                span->end_ns = time_ns;
}

/* ------------------------------------------------------------------ the object */

int past_init(struct past *p, const struct loaded_trace *trace, uint32_t event)
{
        *p = (struct past){ .trace = trace, .event = event };
        return wait_ends_init(&p->ends, trace->dictionary);
}

static void deinit_thread(struct past_thread *t)
{
        free(t->waits.items);
        free(t->samples.items);
        free(t->wakes.items);
        free(t->lock_waits.items);
        free(t->fibers.items);
}

static void deinit_lists(struct past_list *lists, uint32_t n)
{
        for (uint32_t i = 0; i < n; i++)
                free(lists[i].items);
        free(lists);
}

void past_deinit(struct past *p)
{
        for (uint32_t i = 0; i < p->n_threads; i++)
                deinit_thread(&p->threads[i]);
        free(p->threads);
        deinit_lists(p->holds, p->n_locks);
        deinit_lists(p->cpus, p->n_cpus);
        wait_ends_deinit(&p->ends);
        *p = (struct past){ .threads = NULL };
}

static void begin_thread(const struct past *p, uint32_t id)
{
        const struct trace_thread *row = trace_dictionary_row(p->trace->dictionary, TRACE_TABLE_THREADS, id);
        struct past_thread *t = past_of(p, id);

        t->process = row->process;
        t->is_fiber = row->kind == TRACE_THREAD_FIBER;
        t->born_ns = row->start_ns > p->trace->start_ns ? row->start_ns : 0;
        t->end_ns = UINT64_MAX;
}

/* Makes room for all threads that the trace has by now. */
static int reach_threads(struct past *p)
{
        uint32_t n = trace_dictionary_count(p->trace->dictionary, TRACE_TABLE_THREADS),
                 n_before = p->n_threads;

        if (n <= n_before)
                return 0;
        if (array_reach(&p->threads, &p->threads_capacity, &p->n_threads, n, sizeof(*p->threads)) < 0)
                return -ENOMEM;
        for (uint32_t id = n_before + 1; id <= n; id++)
                begin_thread(p, id);
        return 0;
}

static struct past_thread *see(struct past *p, const struct walked_thread *thread, uint64_t time_ns)
{
        if (thread->id > p->n_threads && reach_threads(p) < 0)
                return NULL;
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

/* ------------------------------------------------------------------ events */

int past_sample(struct past *p, const struct walked_thread *thread, const struct trace_event *event)
{
        struct past_thread *t = see(p, thread, event->time_ns);
        const struct past_sample sample = { .time_ns = event->time_ns,
                                            .stack = (uint32_t)event->sample.stack,
                                            .path = (uint32_t)event->sample.path,
                                            .weight = (float)event->sample.weight };

        if (!t)
                return -ENOMEM;
        t->is_known = true;
        if (event->sample.event != p->event)
                return 0;
        p->n_samples++;
        return list_insert(&t->samples, sizeof(sample), &sample);
}

static uint16_t short_cpu(uint32_t cpu)
{
        return cpu < CPUS_MAX ? (uint16_t)cpu : PAST_NO_CPU;
}

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
        to->is_lock = wait_ends_is_lock(&p->ends, from->stack);
        to->is_network = wait_ends_is_network(&p->ends, from->stack);
}

static int note_wake(struct past *p, uint32_t waker, uint64_t time_ns)
{
        if (waker == 0 || waker > p->n_threads)
                return 0;
        return list_insert(&past_of(p, waker)->wakes, sizeof(time_ns), &time_ns);
}

static int begin_wait(struct past *p, struct past_thread *t, uint32_t id, const struct thread_wait *wait)
{
        struct past_wait item = { .in_ns = OPEN_ENDS, .in_cpu = PAST_NO_CPU };
        struct past_wait *before = last_wait(t);

        if (before && before->in_ns == OPEN_ENDS) /* the trace lacks its switch back */
                before->in_ns = wait->out_ns;
        fill_wait(p, id, wait, &item);
        p->n_waits++;
        return list_insert(&t->waits, sizeof(item), &item);
}

int past_wait_over(struct past *p, const struct walked_thread *thread, const struct thread_wait *wait)
{
        struct past_thread *t = see(p, thread, wait->in_ns);
        struct past_wait *item;

        if (!t)
                return -ENOMEM;
        item = last_wait(t);
        if (!item || item->out_ns != wait->out_ns || !wait->ended)
                return 0;
        fill_wait(p, thread->id, wait, item);
        item->in_ns = wait->in_ns;
        item->in_cpu = short_cpu(wait->in_cpu);
        if (!wait->is_woken)
                item->woken_ns = wait->in_ns;
        return 0;
}

/* A thread comes onto a CPU without having left one: it is new, or it was away when the recording began. */
static int begin_late(struct past *p, struct past_thread *t, uint64_t time_ns)
{
        struct past_wait item = { .out_ns = t->born_ns, .in_ns = time_ns, .woken_ns = time_ns };

        item.out_cpu = item.in_cpu = PAST_NO_CPU;
        item.preempted = t->born_ns != 0;
        p->n_waits++;
        return time_ns > item.out_ns ? list_insert(&t->waits, sizeof(item), &item) : 0;
}

static int switch_in(struct past *p, struct past_thread *t, uint32_t id, const struct trace_event *event)
{
        uint64_t cpu = event->operand[0];
        struct past_list *lane;
        int r = 0;

        p->has_switches = true;
        if (!t->is_known && t->waits.n == 0)
                r = begin_late(p, t, event->time_ns);
        if (r < 0 || cpu >= CPUS_MAX)
                return r;
        lane = list_at(&p->cpus, &p->cpus_capacity, &p->n_cpus, (uint32_t)cpu);
        return lane ? open_span(lane, event->time_ns, id) : -ENOMEM;
}

static int switch_out(struct past *p, struct past_thread *t, uint32_t id, const struct walked_thread *thread,
                      const struct trace_event *event)
{
        uint64_t cpu = event->operand[0];
        struct past_list *lane;
        int r = 0;

        p->has_switches = true;
        if (thread->is_out && thread->wait.out_ns == event->time_ns)
                r = begin_wait(p, t, id, &thread->wait);
        if (r < 0 || cpu >= CPUS_MAX)
                return r;
        lane = list_at(&p->cpus, &p->cpus_capacity, &p->n_cpus, (uint32_t)cpu);
        if (!lane)
                return -ENOMEM;
        if (!t->is_known && !find_open(lane, id) && open_span(lane, t->born_ns, id) < 0)
                return -ENOMEM;
        close_span(lane, event->time_ns, id);
        return 0;
}

static int take_wakeup(struct past *p, struct past_thread *t, const struct walked_thread *thread)
{
        struct past_wait *item = last_wait(t);

        if (!thread->is_out || !item || item->out_ns != thread->wait.out_ns || item->woken_ns != UINT64_MAX)
                return 0;
        fill_wait(p, thread->id, &thread->wait, item);
        return note_wake(p, item->by, item->woken_ns);
}

static int take_lock(struct past *p, struct past_thread *t, uint32_t id, const struct trace_event *event)
{
        uint32_t lock = (uint32_t)event->operand[0];
        struct past_list *holds = list_at(&p->holds, &p->holds_capacity, &p->n_locks, lock - 1);

        if (!holds)
                return -ENOMEM;
        if (event->op == TRACE_OP_LOCK_RELEASE) {
                close_span(holds, event->time_ns, id);
                return 0;
        }
        close_span(&t->lock_waits, event->time_ns, 0);
        return event->op == TRACE_OP_LOCK_WAIT ? open_span(&t->lock_waits, event->time_ns, lock)
                                               : open_span(holds, event->time_ns, id);
}

/* The fiber was suspended until now; the thread that goes on with it ended that. */
static int resume_fiber(struct past *p, struct past_thread *t, uint32_t id, uint32_t fiber, uint64_t time_ns)
{
        struct past_thread *f;
        struct past_wait *item;
        int r = 0;

        if (reach_threads(p) < 0)
                return -ENOMEM;
        f = past_of(p, fiber);
        item = last_wait(f);
        if (!item && f->carrier == 0) {
                const struct past_wait first = { .out_ns = f->born_ns, .in_ns = OPEN_ENDS };

                p->n_waits++;
                r = list_insert(&f->waits, sizeof(first), &first);
                item = last_wait(f);
        }
        if (r == 0 && item && item->in_ns == OPEN_ENDS) {
                item->in_ns = item->woken_ns = time_ns;
                item->by = id;
                item->end = WAIT_END_THREAD;
        }
        f->carrier = id;
        t->fiber = fiber;
        return r < 0 ? r : open_span(&t->fibers, time_ns, fiber);
}

static int suspend_fiber(struct past *p, struct past_thread *t, uint64_t time_ns)
{
        const struct past_wait item = { .out_ns = time_ns, .in_ns = OPEN_ENDS, .state = TRACE_WAIT_SLEEPING };
        uint32_t fiber = t->fiber;

        if (fiber == 0)
                return 0;
        t->fiber = 0;
        close_span(&t->fibers, time_ns, fiber);
        p->n_waits++;
        return list_insert(&past_of(p, fiber)->waits, sizeof(item), &item);
}

static int take_fiber(struct past *p, struct past_thread *t, uint32_t id, const struct trace_event *event)
{
        int r = suspend_fiber(p, t, event->time_ns);

        if (r == 0 && event->op == TRACE_OP_FIBER_ENTER)
                r = resume_fiber(p, t, id, (uint32_t)event->operand[0], event->time_ns);
        return r;
}

static int take_event(struct past *p, struct past_thread *t, const struct walked_thread *thread,
                      const struct trace_event *event)
{
        switch (event->op) {
        case TRACE_OP_SWITCH_IN:
                return t->is_fiber ? 0 : switch_in(p, t, thread->id, event);
        case TRACE_OP_SWITCH_OUT:
                return t->is_fiber ? 0 : switch_out(p, t, thread->id, thread, event);
        case TRACE_OP_WAKEUP:
                return take_wakeup(p, t, thread);
        case TRACE_OP_LOCK_WAIT:
        case TRACE_OP_LOCK_OBTAIN:
        case TRACE_OP_LOCK_RELEASE:
                return take_lock(p, t, thread->id, event);
        case TRACE_OP_FIBER_ENTER:
        case TRACE_OP_FIBER_LEAVE:
                return take_fiber(p, t, thread->id, event);
        case TRACE_OP_THREAD_EXIT:
                t->end_ns = event->time_ns;
                return 0;
        default:
                return 0;
        }
}

int past_event(struct past *p, const struct walked_thread *thread, const struct trace_event *event)
{
        struct past_thread *t = see(p, thread, event->time_ns);
        int r = t ? take_event(p, t, thread, event) : -ENOMEM;

        if (r == 0 && event->op != TRACE_OP_WAKEUP)
                past_of(p, thread->id)->is_known = true;
        return r;
}

/* ------------------------------------------------------------------ forgetting */

static void trim_times(struct past_list *list, size_t item_bytes, uint64_t time_ns)
{
        list->first = list_before(list, item_bytes, time_ns);
}

static void trim_spans(struct past_list *list, uint64_t time_ns)
{
        const struct past_span *spans = list->items;

        while (list->first < list->n && spans[list->first].end_ns < time_ns)
                list->first++;
}

static void trim(struct past *p, uint64_t time_ns)
{
        p->n_waits = p->n_samples = 0;
        for (uint32_t i = 0; i < p->n_threads; i++) {
                struct past_thread *t = &p->threads[i];
                const struct past_wait *waits = t->waits.items;

                while (t->waits.first < t->waits.n && waits[t->waits.first].in_ns < time_ns)
                        t->waits.first++;
                trim_times(&t->samples, sizeof(struct past_sample), time_ns);
                trim_times(&t->wakes, sizeof(uint64_t), time_ns);
                trim_spans(&t->lock_waits, time_ns);
                trim_spans(&t->fibers, time_ns);
                p->n_waits += t->waits.n - t->waits.first;
                p->n_samples += t->samples.n - t->samples.first;
        }
        for (uint32_t i = 0; i < p->n_locks; i++)
                trim_spans(&p->holds[i], time_ns);
        for (uint32_t i = 0; i < p->n_cpus; i++)
                trim_spans(&p->cpus[i], time_ns);
        if (time_ns > p->kept_ns)
                p->kept_ns = time_ns;
        p->n_trimmed = p->n_waits + p->n_samples;
}

void past_forget(struct past *p, uint64_t time_ns)
{
        if (time_ns > p->kept_ns && p->n_waits + p->n_samples > 2 * p->n_trimmed + TRIM_MIN)
                trim(p, time_ns);
}

/* When the oldest wait that is kept began. */
static uint64_t find_oldest(const struct past *p)
{
        uint64_t oldest_ns = p->latest_ns;

        for (uint32_t i = 0; i < p->n_threads; i++) {
                const struct past_list *list = &p->threads[i].waits;

                if (list->first < list->n && time_of(list, sizeof(struct past_wait), list->first) < oldest_ns)
                        oldest_ns = time_of(list, sizeof(struct past_wait), list->first);
        }
        return oldest_ns > p->kept_ns ? oldest_ns : p->kept_ns;
}

void past_forget_oldest(struct past *p)
{
        size_t n_before = p->n_waits, n_wanted = PAST_WAITS_MAX / 4 * 3,
               n_samples_wanted = PAST_SAMPLES_MAX / 4 * 3;
        uint64_t from_ns = find_oldest(p);

        while ((p->n_waits > n_wanted || p->n_samples > n_samples_wanted) && from_ns + 1 < p->latest_ns) {
                from_ns += (p->latest_ns - from_ns) / 4 + 1;
                trim(p, from_ns);
        }
        p->n_forgotten += n_before - p->n_waits;
}

/* ------------------------------------------------------------------ questions */

size_t past_waits_before(const struct past_thread *t, uint64_t time_ns)
{
        return list_before(&t->waits, sizeof(struct past_wait), time_ns);
}

const struct past_wait *past_wait_at(const struct past *p, uint32_t thread, uint64_t time_ns)
{
        const struct past_thread *t = past_of(p, thread);
        size_t n = past_waits_before(t, time_ns + 1);

        if (n == t->waits.first || past_waits(t)[n - 1].in_ns <= time_ns)
                return NULL;
        return &past_waits(t)[n - 1];
}

size_t past_samples(const struct past_thread *t, uint64_t begin_ns, uint64_t end_ns,
                    const struct past_sample **ret_first)
{
        size_t from = list_before(&t->samples, sizeof(struct past_sample), begin_ns);
        size_t to = list_before(&t->samples, sizeof(struct past_sample), end_ns);

        *ret_first = (const struct past_sample *)t->samples.items + from;
        return to > from ? to - from : 0;
}

bool past_woke(const struct past_thread *t, uint64_t begin_ns, uint64_t end_ns)
{
        size_t i = list_before(&t->wakes, sizeof(uint64_t), begin_ns);

        return i < t->wakes.n && ((const uint64_t *)t->wakes.items)[i] <= end_ns;
}

size_t past_spans(const struct past_list *list, uint64_t begin_ns, uint64_t end_ns, size_t *ret_first)
{
        const struct past_span *spans = list->items;
        size_t to = list_before(list, sizeof(*spans), end_ns);
        size_t from = list_before(list, sizeof(*spans), begin_ns);

        /* hardly any overlap: holders that share a lock, threads whose switch was missed */
        while (from > list->first && spans[from - 1].end_ns > begin_ns)
                from--;
        *ret_first = from;
        return to;
}

const struct past_span *past_lock_wait(const struct past_thread *t, uint64_t time_ns)
{
        const struct past_span *spans = t->lock_waits.items;
        size_t n = list_before(&t->lock_waits, sizeof(*spans), time_ns + 1);

        return n > t->lock_waits.first && spans[n - 1].end_ns >= time_ns ? &spans[n - 1] : NULL;
}

/* The first thread of a process; 0 = none. */
static uint32_t first_of(const struct past *p, uint32_t process)
{
        for (uint32_t id = 1; id <= p->n_threads && process != 0; id++)
                if (p->threads[id - 1].process == process && !p->threads[id - 1].is_fiber)
                        return id;
        return 0;
}

uint32_t past_creator(const struct past *p, uint32_t thread)
{
        const struct trace_thread *known = trace_dictionary_row(p->trace->dictionary, TRACE_TABLE_THREADS,
                                                                thread);
        uint32_t process = past_of(p, thread)->process, first;
        const struct trace_process *row;

        if (known->creator != 0)
                return known->creator;
        first = first_of(p, process);
        if (first != thread || process == 0)
                return first;
        row = trace_dictionary_row(p->trace->dictionary, TRACE_TABLE_PROCESSES, process);
        return first_of(p, row->parent);
}
