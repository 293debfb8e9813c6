/* SPDX-License-Identifier: MIT */
/*
 * analyze/walk/loaded_trace.c, format/thread_state.c: a range of time, read from the states before it, is
 * what a whole walk says of it
 */
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "analyze/walk/trace_walk.h"
#include "analyze/walk/zone_stats.h"
#include "base/error.h"
#include "format/thread_state.h"
#include "format/trace_event.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define N_THREADS   4
#define N_LOCATIONS 5
#define N_CHUNKS    12
#define DEPTH_MAX   8
#define START_NS    1000
#define N_TRACES    60
#define N_RANGES    20

/* A thread as the recorder knows it. */
struct model {
        struct thread_state state;
        uint32_t zones[DEPTH_MAX];
        bool any;
};

struct made {
        struct trace_builder b;
        struct model threads[N_THREADS];
        uint64_t random, now_ns;
};

/* All that a sink hears, and how often it heard anything. */
struct heard {
        uint64_t hash, n;
};

static uint32_t below(uint64_t *random, uint32_t n)
{
        return (uint32_t)((fixed_random_next(random) >> 33) % n);
}

static void put_event(struct made *m, struct model *t)
{
        struct trace_event event = { .time_ns = m->now_ns };
        struct thread_state *s = &t->state;

        /* The first thing of a thread is that it runs, as in every recording that has switches. */
        switch (t->any ? below(&m->random, 10) : 1) {
        case 0:
                event.op = TRACE_OP_SWITCH_OUT;
                event.switch_out.cpu = below(&m->random, 2);
                s->last_switch = event;
                break;
        case 1:
                event.op = TRACE_OP_SWITCH_IN;
                event.switch_in.cpu = below(&m->random, 2);
                s->last_switch = event;
                break;
        case 2:
                event.op = TRACE_OP_SAMPLE;
                event.sample.event = 1;
                event.sample.cpu = below(&m->random, 2);
                s->last_sample = event;
                break;
        case 3:
                event.op = TRACE_OP_MESSAGE;
                break;
        case 4:
                event.op = TRACE_OP_THREAD_NAME;
                event.thread_name.name = 1 + below(&m->random, 3);
                s->name = (uint32_t)event.thread_name.name;
                break;
        case 5:
        case 6:
        case 7:
                if (s->n_zones == DEPTH_MAX)
                        return;
                event.op = TRACE_OP_ZONE_BEGIN;
                event.zone_begin.location = 1 + below(&m->random, N_LOCATIONS);
                t->zones[s->n_zones++] = (uint32_t)event.zone_begin.location;
                s->closed_zone = 0;
                break;
        default:
                if (s->n_zones == 0)
                        return;
                event.op = TRACE_OP_ZONE_END;
                if (--s->n_zones == 0)
                        s->closed_zone = t->zones[0];
                break;
        }
        t->any = true;
        s->time_ns = event.time_ns;
        event_encoder_add(&m->b.encoder, &event);
}

static void put_states(struct made *m)
{
        for (uint32_t i = 0; i < N_THREADS; i++)
                if (m->threads[i].any)
                        thread_state_encode(&m->threads[i].state, &m->b.encoder);
        trace_builder_flush_states(&m->b);
}

static void make(struct made *m, uint64_t seed)
{
        *m = (struct made){ .random = seed, .now_ns = START_NS };
        trace_builder_init(&m->b);
        for (uint32_t i = 0; i < N_LOCATIONS; i++)
                (void)trace_builder_location(&m->b, (const char *[]){ "a", "b", "c", "d", "e" }[i]);
        (void)trace_builder_sample_event(&m->b, "cycles");
        for (uint32_t i = 0; i < N_THREADS; i++)
                m->threads[i].state = (struct thread_state){ .thread = trace_builder_thread(&m->b, 9, 9 + i),
                                                             .zones = m->threads[i].zones };
        for (int chunk = 0; chunk < N_CHUNKS; chunk++) {
                uint64_t begin_ns = m->now_ns;

                /* The threads' times overlap within a chunk, and a little with the next one. */
                for (uint32_t i = 0; i < N_THREADS; i++) {
                        struct model *t = &m->threads[i];

                        m->now_ns = begin_ns > t->state.time_ns ? begin_ns : t->state.time_ns;
                        trace_builder_begin_run(&m->b, t->state.thread);
                        for (uint32_t k = below(&m->random, 12); k > 0; k--) {
                                put_event(m, t);
                                m->now_ns += 1 + below(&m->random, 20);
                        }
                        trace_builder_end_run(&m->b);
                }
                trace_builder_flush(&m->b);
                m->now_ns = begin_ns + 100;
                if (below(&m->random, 3) != 0)
                        put_states(m);
        }
        trace_builder_finish(&m->b);
}

static void hear(struct heard *h, uint64_t a, uint64_t b, uint64_t c)
{
        h->n++;
        h->hash = (h->hash ^ a) * UINT64_C(0x9e3779b97f4a7c15);
        h->hash = (h->hash ^ b) * UINT64_C(0x9e3779b97f4a7c15);
        h->hash = (h->hash ^ c) * UINT64_C(0x9e3779b97f4a7c15) + h->n;
}

static int on_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                    struct error *err)
{
        (void)err;
        hear(context, thread->id << 8 | event->op, event->time_ns, event->operand[0]);
        hear(context, thread->cpu, thread->timeline.n_open, thread->is_out);
        return 0;
}

static int on_zone(void *context, struct walked_thread *thread, const struct zone_instance *zone,
                   struct error *err)
{
        (void)err;
        hear(context, (uint64_t)thread->id << 32 | zone->location, zone->begin_ns, zone->end_ns);
        hear(context, zone->self_ns, zone->on_cpu_ns,
             (uint64_t)zone->depth << 8 | (unsigned)zone->outermost << 4 | (unsigned)zone->closed << 2 |
                     (unsigned)zone->is_named << 1 | zone->is_inside);
        hear(context, zone->path, thread->n_migrations, 0);
        return 0;
}

static int on_wait(void *context, struct walked_thread *thread, const struct thread_wait *wait,
                   struct error *err)
{
        (void)err;
        hear(context, thread->id, wait->out_ns, wait->in_ns);
        hear(context, wait->path, wait->out_cpu, wait->ended);
        return 0;
}

/* Walks through a range; at the end come the sums of the threads that lived in it. */
static struct heard walk(const struct made *m, const struct trace_filter_request *request,
                         const struct zone_pattern *asked, bool may_skip, bool *ret_skipped)
{
        struct heard heard = { .n = 0 };
        struct trace_sink sink = { .context = &heard,
                                   .begin_zone = on_event,
                                   .zone = on_zone,
                                   .sample = on_event,
                                   .wait = on_wait,
                                   .event = on_event,
                                   .asked = asked,
                                   .may_skip = may_skip,
                                   .wants_zone_paths = false };
        struct loaded_trace trace;
        struct trace_filter filter;
        struct trace_walk w;
        int r;

        ck_assert_int_eq(loaded_trace_open(&trace, m->b.path, NULL), 0);
        r = trace_filter_init(&filter, request, &trace, NULL);
        *ret_skipped = false;
        if (r == -ENOENT) { /* it begins after the end of the recording */
                trace_filter_deinit(&filter);
                loaded_trace_close(&trace);
                return heard;
        }
        ck_assert_int_eq(r, 0);
        ck_assert_int_eq(trace_walk_init(&w, &trace, &filter, &sink), 0);
        r = loaded_trace_walk(&trace, &w, NULL);
        ck_assert(r == 0 || r == -ENOENT);
        ck_assert_int_eq(trace.ending, TRACE_ENDING_WHOLE);
        for (uint32_t i = 0; i < w.n_threads; i++) {
                const struct thread_timeline *t = &w.threads[i].timeline;

                *ret_skipped |= t->first_ns > START_NS + 300;
                if (!t->started || t->first_ns >= filter.to_ns || t->last_ns < filter.from_ns)
                        continue;
                hear(&heard, (uint64_t)t->name_before << 32 | i, t->name,
                     trace_walk_ran_ns(&w, &w.threads[i]));
                hear(&heard, w.threads[i].n_migrations, t->n_lost, t->n_unbalanced);
                hear(&heard, w.threads[i].n_zones, w.threads[i].n_samples, t->n_too_deep);
        }
        for (int op = 0; op < TRACE_OP_COUNT; op++)
                hear(&heard, w.n_events[op], w.n_waits, w.n_switches != 0);
        trace_walk_deinit(&w);
        trace_filter_deinit(&filter);
        loaded_trace_close(&trace);
        return heard;
}

START_TEST(test_a_range_is_the_same_as_in_a_whole_walk)
{
        static const char *const zones[] = { NULL, NULL, "a", "b/**" };
        struct zone_pattern asked;
        uint32_t n_skipped = 0;

        ck_assert_int_eq(zone_pattern_init(&asked, "c,a/b", NULL), 0);
        for (uint64_t seed = 1; seed <= N_TRACES; seed++) {
                static struct made m;

                make(&m, seed);
                for (int i = 0; i < N_RANGES; i++) {
                        uint64_t from_ns = below(&m.random, N_CHUNKS * 100);
                        struct trace_filter_request request = {
                                .has_from = i % 5 != 0,
                                .from_ns = i % 5 != 0 ? from_ns : 0,
                                .has_to = i % 3 != 0,
                                .to_ns = from_ns + 1 + below(&m.random, 300),
                                .zone = zones[below(&m.random, 4)],
                        };
                        bool skipped, not_skipped;
                        struct heard whole, part;

                        whole = walk(&m, &request, &asked, false, &not_skipped);
                        part = walk(&m, &request, &asked, true, &skipped);
                        n_skipped += skipped && !not_skipped;
                        ck_assert_msg(whole.n == part.n && whole.hash == part.hash,
                                      "trace %u, range %d: %u and %u things", (unsigned)seed, i,
                                      (unsigned)whole.n, (unsigned)part.n);
                }
                trace_builder_deinit(&m.b);
        }
        ck_assert_uint_gt(n_skipped, N_TRACES * N_RANGES / 20);
        zone_pattern_deinit(&asked);
}
END_TEST
