/* SPDX-License-Identifier: MIT */
#include "analyze/stats/flow_match.h"

#include "analyze/walk/ordered_events.h"
#include "base/array.h"
#include "base/content_hash.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "format/trace_spec.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define SLOTS (UINT32_C(1) << 18)

/* Numbers of flows count from 1; 0 = none. */
struct open_flow {
        struct flow_point begin, last;
        uint64_t number;
        uint32_t own_next;                 /* of its slot in `own` */
        uint32_t shared_next, shared_last; /* of its slot in `shared`, where the newest comes first */
        uint32_t older, newer;             /* of all; `newer` of a free one: the next free one */
};

void flow_match_init(struct flow_match *m, const struct trace_dictionary *dictionary)
{
        *m = (struct flow_match){ .dictionary = dictionary, .n_open_max = FLOW_MATCH_OPEN_MAX };
}

void flow_match_deinit(struct flow_match *m)
{
        free(m->flows);
        free(m->own);
        free(m->shared);
        *m = (struct flow_match){ .flows = NULL };
}

void flow_match_find_owner(const struct flow_match *m, struct flow_point *point)
{
        const struct trace_thread *thread = trace_dictionary_row(m->dictionary, TRACE_TABLE_THREADS,
                                                                 point->thread);
        const struct trace_process *process = trace_dictionary_row(m->dictionary, TRACE_TABLE_PROCESSES,
                                                                   thread->process);

        point->process = thread->process;
        point->recording = process->recording;
}

struct flow_point flow_match_point(const struct flow_match *m, const struct ordered_event *event)
{
        struct flow_point point = {
                .time_ns = event->time_ns,
                .id = event->value[0],
                .space = event->subject,
                .thread = event->thread,
                .phase = event->value[1] <= TRACE_FLOW_END ? (uint32_t)event->value[1] : 0,
                .place = event->path,
        };

        flow_match_find_owner(m, &point);
        return point;
}

/* ------------------------------------------------------------------ the flows that are not over */

static struct open_flow *flow_of(const struct flow_match *m, uint32_t number)
{
        return &m->flows[number - 1];
}

/* @process: 0 = whichever it is */
static uint32_t slot_of(const struct flow_point *p, uint32_t process)
{
        const uint64_t common[] = { p->id, (uint64_t)p->space << 32 | p->recording, process };

        return (uint32_t)content_hash(common, sizeof(common)) % SLOTS;
}

static bool is_same(const struct flow_point *a, const struct flow_point *b)
{
        return a->id == b->id && a->space == b->space && a->recording == b->recording;
}

/* The flow of the process, else the newest of another one; 0 = none. */
static uint32_t find(const struct flow_match *m, const struct flow_point *p, bool any_process)
{
        uint32_t number = m->own ? m->own[slot_of(p, p->process)] : 0;

        while (number != 0 &&
               (!is_same(&flow_of(m, number)->begin, p) || flow_of(m, number)->begin.process != p->process))
                number = flow_of(m, number)->own_next;
        if (number != 0 || !any_process || !m->shared)
                return number;
        number = m->shared[slot_of(p, 0)];
        while (number != 0 && !is_same(&flow_of(m, number)->begin, p))
                number = flow_of(m, number)->shared_next;
        return number;
}

static void remove_flow(struct flow_match *m, uint32_t number)
{
        struct open_flow *flow = flow_of(m, number);
        uint32_t *own = &m->own[slot_of(&flow->begin, flow->begin.process)];

        while (*own != number)
                own = &flow_of(m, *own)->own_next;
        *own = flow->own_next;
        if (flow->shared_next != 0)
                flow_of(m, flow->shared_next)->shared_last = flow->shared_last;
        if (flow->shared_last != 0)
                flow_of(m, flow->shared_last)->shared_next = flow->shared_next;
        else
                m->shared[slot_of(&flow->begin, 0)] = flow->shared_next;
        *(flow->older != 0 ? &flow_of(m, flow->older)->newer : &m->oldest) = flow->newer;
        *(flow->newer != 0 ? &flow_of(m, flow->newer)->older : &m->newest) = flow->older;
        flow->newer = m->first_free;
        m->first_free = number;
        m->n_open--;
}

static void forget(struct flow_match *m, uint32_t number)
{
        if (m->forget)
                m->forget(m->context, &flow_of(m, number)->begin);
        remove_flow(m, number);
}

/* Room for one more; 0 = no memory. */
static uint32_t take_room(struct flow_match *m)
{
        uint32_t number = m->first_free;

        if (number != 0) {
                m->first_free = flow_of(m, number)->newer;
                return number;
        }
        if (!m->own)
                m->own = calloc(SLOTS, sizeof(*m->own));
        if (!m->shared)
                m->shared = calloc(SLOTS, sizeof(*m->shared));
        if (!m->own || !m->shared ||
            array_reserve(&m->flows, &m->capacity, (size_t)m->n_flows + 1, sizeof(*m->flows)) < 0)
                return 0;
        return ++m->n_flows;
}

static int begin_flow(struct flow_match *m, const struct flow_point *p)
{
        uint32_t before = find(m, p, false), number;
        uint32_t *own, *shared;

        m->n_begun++;
        if (before != 0) {
                m->n_begun_again++;
                forget(m, before);
        }
        if (m->n_open == m->n_open_max) {
                m->n_given_up++;
                forget(m, m->oldest);
        }
        number = take_room(m);
        if (number == 0)
                return -ENOMEM;
        own = &m->own[slot_of(p, p->process)];
        shared = &m->shared[slot_of(p, 0)];
        *flow_of(m, number) = (struct open_flow){
                .begin = *p,
                .last = *p,
                .number = m->n_begun,
                .own_next = *own,
                .shared_next = *shared,
                .older = m->newest,
        };
        if (*shared != 0)
                flow_of(m, *shared)->shared_last = number;
        *(m->newest != 0 ? &flow_of(m, m->newest)->newer : &m->oldest) = number;
        *own = *shared = m->newest = number;
        m->n_open++;
        return 0;
}

int flow_match_add(struct flow_match *m, const struct flow_point *point, struct flow_link *ret_link)
{
        bool is_end = point->phase == TRACE_FLOW_END;
        uint32_t number;

        if (point->phase == TRACE_FLOW_BEGIN)
                return begin_flow(m, point);
        if (!is_end && point->phase != TRACE_FLOW_STEP)
                return 0;
        number = find(m, point, true);
        if (number == 0) {
                ++*(is_end ? &m->n_ends_of_none : &m->n_steps_of_none);
                return 0;
        }
        *ret_link = (struct flow_link){ .begin = flow_of(m, number)->begin,
                                        .from = flow_of(m, number)->last,
                                        .to = *point,
                                        .number = flow_of(m, number)->number };
        flow_of(m, number)->last = *point;
        if (is_end) {
                m->n_ended++;
                remove_flow(m, number);
        }
        return 1;
}

void flow_match_each_open(const struct flow_match *m, flow_match_take_open *take, void *context)
{
        for (uint32_t number = m->oldest; number != 0; number = flow_of(m, number)->newer)
                take(context, &flow_of(m, number)->begin);
}
