/* SPDX-License-Identifier: MIT */
#include "analyze/path/past_timeouts.h"

#include "analyze/path/past.h"
#include "analyze/path/path_names.h"
#include "analyze/path/path_walk.h"
#include "analyze/stats/flow_match.h"
#include "analyze/trace/event_order.h"
#include "analyze/walk/loaded_trace.h"
#include "format/trace_event.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* A call stack that was not recorded is like any other one. */
static bool are_one_place(struct path_names *names, uint32_t a, uint32_t b)
{
        uint32_t place_a, place_b;

        return a == b || a == 0 || b == 0 ||
               (path_names_place(names, a, &place_a) == 0 && path_names_place(names, b, &place_b) == 0 &&
                place_a == place_b);
}

static bool is_timeout(const struct past_wait *wait)
{
        return wait->end == WAIT_END_TIMER && wait->by == 0 && wait->state == TRACE_WAIT_SLEEPING;
}

/* The rules of a join: path_walk.c. */
const struct past_wait *past_timeouts_before(const struct past *p, struct path_names *names, uint32_t thread,
                                             const struct past_wait *wait)
{
        const struct past_thread *t = past_of(p, thread);
        const struct past_wait *waits = past_waits(t), *first = wait;
        uint64_t ran_ns = 0;

        if (t->is_fiber || wait->state != TRACE_WAIT_SLEEPING)
                return wait;
        for (const struct past_wait *at = wait; at > waits + t->waits.first && wait - at < PAST_TIMEOUTS_MAX;
             at--) {
                const struct past_wait *before = at - 1;

                ran_ns += at->out_ns > before->in_ns ? at->out_ns - before->in_ns : 0;
                if (ran_ns > PATH_WALK_JOIN_RAN_NS)
                        break;
                if (before->preempted)
                        continue;
                if (!is_timeout(before) || !are_one_place(names, before->stack, wait->stack) ||
                    past_woke(t, before->in_ns - 1, first->out_ns))
                        break;
                first = before;
                ran_ns = 0;
        }
        return first;
}

const struct past_wait *past_timeouts_after(const struct past *p, struct path_names *names, uint32_t thread,
                                            const struct past_wait *wait)
{
        const struct past_thread *t = past_of(p, thread);
        const struct past_wait *end = past_waits(t) + t->waits.n, *last = wait;
        uint64_t ran_ns = 0;

        if (t->is_fiber)
                return wait;
        for (const struct past_wait *at = wait; at + 1 < end && at - wait < PAST_TIMEOUTS_MAX; at++) {
                const struct past_wait *after = at + 1;

                if (!at->preempted && !is_timeout(at))
                        break;
                ran_ns += after->out_ns > at->in_ns ? after->out_ns - at->in_ns : 0;
                if (ran_ns > PATH_WALK_JOIN_RAN_NS)
                        break;
                if (after->preempted)
                        continue;
                if (after->state != TRACE_WAIT_SLEEPING || !are_one_place(names, wait->stack, after->stack) ||
                    past_woke(t, last->in_ns - 1, after->out_ns))
                        break;
                last = after;
                ran_ns = 0;
        }
        return last;
}

const struct past_wait *past_first_timeout(const struct past *p, struct path_names *names, uint32_t thread,
                                           const struct past_wait *wait)
{
        return wait->by != 0 && wait->by != thread ? past_timeouts_before(p, names, thread, wait) : wait;
}

/* ------------------------------------------------------------------ flows */

struct past_flows {
        struct event_order order;
        struct flow_match match;
        struct past *past; /* borrowed */
};

/* The last wait of a thread that was over at @time_ns, but those in which it could run; NULL = none. */
static struct past_wait *find_last(const struct past_thread *t, uint64_t time_ns)
{
        struct past_wait *waits = t->waits.items;
        size_t n = past_waits_before(t, time_ns);

        while (n > t->waits.first && waits[n - 1].preempted)
                n--;
        return n > t->waits.first && waits[n - 1].in_ns <= time_ns ? &waits[n - 1] : NULL;
}

static int add_link(struct past *p, const struct flow_link *link)
{
        struct past_thread *t = past_of(p, link->to.thread);
        struct past_wait *wait = find_last(t, link->to.time_ns);
        const struct past_span handed = { .begin_ns = link->from.time_ns,
                                          .end_ns = link->to.time_ns,
                                          .id = link->from.thread };
        bool has_waker = !wait || (wait->by != 0 && wait->by != link->to.thread);

        if (has_waker || t->is_fiber || wait->is_lock || link->from.thread == link->to.thread ||
            link->from.time_ns < wait->out_ns || link->from.time_ns >= wait->woken_ns)
                return 0;
        if (past_list_insert(&t->handed, sizeof(handed), &handed) < 0)
                return -ENOMEM;
        p->used_bytes += sizeof(handed);
        wait->by = link->from.thread;
        wait->is_flow = true;
        return 0;
}

static int take_event(void *context, const struct ordered_event *event, struct error *err)
{
        struct past_flows *f = context;
        const struct flow_point point = flow_match_point(&f->match, event);
        struct flow_link link;
        int r = flow_match_add(&f->match, &point, &link);

        (void)err;
        if (r == 1 && link.from.thread <= f->past->n_threads && link.to.thread <= f->past->n_threads)
                r = add_link(f->past, &link);
        return r < 0 ? r : 0;
}

int past_flows_add(struct past *p, uint32_t thread, const struct trace_event *event)
{
        const struct ordered_event item = {
                .time_ns = event->time_ns,
                .op = TRACE_OP_FLOW,
                .thread = thread,
                .subject = (uint32_t)event->flow.space,
                .value = { event->flow.id, event->flow.phase },
        };

        if (!p->flows) {
                p->flows = calloc(1, sizeof(*p->flows));
                if (!p->flows)
                        return -ENOMEM;
                p->flows->past = p;
                event_order_init(&p->flows->order, 0, take_event, p->flows);
                flow_match_init(&p->flows->match, p->trace->dictionary);
        }
        return event_order_add(&p->flows->order, &item, NULL);
}

void past_flows_free(struct past_flows *f)
{
        if (!f)
                return;
        event_order_deinit(&f->order);
        flow_match_deinit(&f->match);
        free(f);
}

int past_flows_settle(const struct past *p, uint64_t until_ns)
{
        return p->flows ? event_order_hand_out(&p->flows->order, until_ns, NULL) : 0;
}

uint64_t past_flows_handed_ns(const struct past *p, uint32_t thread, const struct past_wait *wait,
                              uint64_t begin_ns, uint64_t woken_ns)
{
        const struct past_list *handed = &past_of(p, thread)->handed;
        const struct past_span *spans = past_list_spans(handed);
        size_t n;

        if (!wait->is_flow)
                return woken_ns;
        n = past_list_before(handed, sizeof(*spans), wait->woken_ns);
        if (n == handed->first || spans[n - 1].begin_ns < wait->out_ns || spans[n - 1].begin_ns > woken_ns)
                return woken_ns;
        return spans[n - 1].begin_ns > begin_ns ? spans[n - 1].begin_ns : begin_ns;
}
