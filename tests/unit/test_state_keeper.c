/* SPDX-License-Identifier: MIT */
/*
 * sampler/tracks/state_keeper.c: states come once for so many bytes of events, and say what a reader has
 * to know of each thread
 */
#include "sampler/tracks/state_keeper.h"

#include "base/byte_buffer.h"
#include "format/event_decoder.h"
#include "format/trace_dictionary.h"
#include "sampler/tracks/process_table.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>

#define WAIT_BYTES 1000
#define SETS_MAX   64

struct keeping {
        struct trace_builder b; /* for the rows that events refer to */
        struct process_table processes;
        struct state_keeper keeper;
        uint32_t outer, inner, name;
};

static void set_up(struct keeping *k)
{
        trace_builder_init(&k->b);
        process_table_init(&k->processes, &k->b.dictionary);
        state_keeper_init(&k->keeper, WAIT_BYTES);
        k->outer = trace_builder_location(&k->b, "outer");
        k->inner = trace_builder_location(&k->b, "inner");
        k->name = trace_builder_string(&k->b, "worker");
        (void)trace_builder_sample_event(&k->b, "cycles");
}

static void tear_down(struct keeping *k)
{
        state_keeper_deinit(&k->keeper);
        process_table_deinit(&k->processes);
        trace_builder_deinit(&k->b);
}

static struct thread_track *add_thread(struct keeping *k, uint32_t tid)
{
        struct thread_track *thread = NULL;

        ck_assert_int_eq(process_table_add_thread(&k->processes, 1, tid, 0, 5, &thread), 0);
        return thread;
}

static void open_zone(struct thread_track *thread, uint32_t location)
{
        if (!thread->zones) {
                thread->zones = calloc(4, sizeof(*thread->zones));
                thread->zones_capacity = 4;
        }
        ck_assert_ptr_nonnull(thread->zones);
        thread->zones[thread->n_zones++].location = location;
}

/* All events of the states, each as one number: thread, op, and its first operand. */
static size_t read_back(const struct keeping *k, const struct byte_buffer *body, uint64_t *seen)
{
        struct event_decoder decoder;
        struct trace_event event;
        struct event_run run;
        size_t n = 0;
        int r;

        ck_assert_int_eq(event_decoder_init(&decoder, &k->b.dictionary, body->data, body->used_bytes, NULL),
                         0);
        while ((r = event_decoder_next_run(&decoder, &run, NULL)) == 1)
                while ((r = event_decoder_next(&decoder, &event, NULL)) == 1) {
                        ck_assert_uint_lt(n, SETS_MAX);
                        ck_assert_uint_eq(event.time_ns, 100 * run.thread);
                        seen[n++] = run.thread * 10000 + event.op * 100 +
                                    (event.op == TRACE_OP_ZONE_END ? 0 : event.operand[0]);
                }
        ck_assert_int_eq(r, 0);
        return n;
}

static struct trace_event event_of(enum trace_op op, uint64_t time_ns, uint64_t operand)
{
        return (struct trace_event){ .time_ns = time_ns, .op = op, .operand = { operand } };
}

/*
 * Thread 1 has a name, a sample, then a switch, and two zones; 2 had a zone that is over, and a switch before
 * its sample; of 3 nothing was written; 4 has ended.
 */
START_TEST(test_each_thread_has_its_state)
{
        struct byte_buffer body = { .data = NULL };
        struct trace_chunk_header header;
        struct thread_track *t;
        uint64_t seen[SETS_MAX];
        static struct keeping k;

        set_up(&k);
        t = add_thread(&k, 1);
        t->last_ns = 100;
        t->written_name = k.name;
        t->last_sample = event_of(TRACE_OP_SAMPLE, 80, 1);
        t->last_switch = event_of(TRACE_OP_SWITCH_OUT, 90, 3);
        open_zone(t, k.outer);
        open_zone(t, k.inner);
        t = add_thread(&k, 2);
        t->last_ns = 200;
        t->last_switch = event_of(TRACE_OP_SWITCH_IN, 80, 4);
        t->last_sample = event_of(TRACE_OP_SAMPLE, 90, 1);
        open_zone(t, k.outer);
        t->n_zones = 0;
        (void)add_thread(&k, 3);
        t = add_thread(&k, 4);
        t->last_ns = 400;
        t->exited = true;

        ck_assert_int_eq(state_keeper_note(&k.keeper, &k.processes, WAIT_BYTES - 1, &body, &header), 0);
        ck_assert_uint_eq(body.used_bytes, 0);
        ck_assert_int_eq(state_keeper_note(&k.keeper, &k.processes, 1, &body, &header), 1);
        ck_assert_uint_eq(header.kind, TRACE_CHUNK_STATES);
        ck_assert_uint_eq(header.n_items, 10);
        ck_assert_uint_eq(header.first_ns, 100);
        ck_assert_uint_eq(header.last_ns, 200);
        ck_assert_uint_eq(read_back(&k, &body, seen), 10);
        ck_assert_uint_eq(seen[0], 10000 + 100 * TRACE_OP_THREAD_NAME + k.name);
        ck_assert_uint_eq(seen[1], 10000 + 100 * TRACE_OP_SAMPLE + 1);
        ck_assert_uint_eq(seen[2], 10000 + 100 * TRACE_OP_SWITCH_OUT + 3);
        ck_assert_uint_eq(seen[3], 10000 + 100 * TRACE_OP_ZONE_BEGIN + k.outer);
        ck_assert_uint_eq(seen[4], 10000 + 100 * TRACE_OP_ZONE_BEGIN + k.inner);
        ck_assert_uint_eq(seen[5], 20000 + 100 * TRACE_OP_THREAD_NAME);
        ck_assert_uint_eq(seen[6], 20000 + 100 * TRACE_OP_SWITCH_IN + 4);
        ck_assert_uint_eq(seen[7], 20000 + 100 * TRACE_OP_SAMPLE + 1);
        ck_assert_uint_eq(seen[8], 20000 + 100 * TRACE_OP_ZONE_BEGIN + k.outer);
        ck_assert_uint_eq(seen[9], 20000 + 100 * TRACE_OP_ZONE_END);
        byte_buffer_deinit(&body);
        tear_down(&k);
}
END_TEST

/* Once for WAIT_BYTES of events, and less often where the states themselves are long. */
START_TEST(test_how_often)
{
        struct byte_buffer body = { .data = NULL };
        struct trace_chunk_header header;
        static struct keeping k;
        int n = 0;

        set_up(&k);
        ck_assert_int_eq(state_keeper_note(&k.keeper, &k.processes, 2 * WAIT_BYTES, &body, &header),
                         0); /* none */
        add_thread(&k, 1)->last_ns = 100;
        for (int i = 0; i < 100; i++) {
                byte_buffer_clear(&body);
                n += state_keeper_note(&k.keeper, &k.processes, WAIT_BYTES / 10, &body, &header);
        }
        ck_assert_int_eq(n, 10);
        for (uint32_t i = 2; i < 400; i++)
                add_thread(&k, i)->last_ns = 100 * i;
        n = 0;
        for (int i = 0; i < 4000; i++) {
                byte_buffer_clear(&body);
                if (state_keeper_note(&k.keeper, &k.processes, WAIT_BYTES / 10, &body, &header) != 1)
                        continue;
                n++;
                ck_assert_uint_gt(body.used_bytes, WAIT_BYTES / 2);
        }
        ck_assert_int_gt(n, 1);
        ck_assert_int_lt(n, 14);
        byte_buffer_deinit(&body);
        tear_down(&k);
}
END_TEST
