/* SPDX-License-Identifier: MIT */
/*
 * format/event_encoder.c: every event of every run comes out of the decoder as it went in, chunk after chunk
 */
#include "format/event_encoder.h"

#include "format/trace_dictionary.h"
#include "format/trace_schema.h"
#include "tests/unit/event_list.h"
#include "tests/unit/event_rows.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define N_CHUNKS 3
#define N_RUNS   500

/* Random runs of all threads, each with its own time; the same ones for the same @state. */
struct run_maker {
        uint64_t state;
        uint64_t now_ns[EVENT_ROWS_COUNT + 1];
};

/* Ops in turn, then random ones: each occurs in each chunk. */
static uint64_t choose_op(uint64_t n_before, uint64_t *state)
{
        return n_before < TRACE_OP_COUNT - 1 ? n_before + 1
                                             : 1 + fixed_random_next(state) % (TRACE_OP_COUNT - 1);
}

/*
 * Mostly short ones, also of nothing, which leaves no trace; some longer than what room is made for at once.
 */
static uint64_t choose_length(int run, uint64_t *state)
{
        return fixed_random_next(state) % (run % 100 == 50 ? 3000 : 20);
}

static uint32_t encode_runs(struct event_encoder *encoder, struct run_maker *maker)
{
        uint32_t n_events = 0;

        for (int run = 0; run < N_RUNS; run++) {
                uint32_t thread = (uint32_t)(1 + fixed_random_next(&maker->state) % EVENT_ROWS_COUNT);
                uint64_t n = choose_length(run, &maker->state);

                event_encoder_begin_run(encoder, thread);
                for (uint64_t i = 0; i < n; i++) {
                        uint64_t op = choose_op(n_events, &maker->state);
                        struct trace_event event = event_rows_random_event(op, &maker->now_ns[thread],
                                                                           &maker->state);

                        event_encoder_add(encoder, &event);
                        n_events++;
                }
                event_encoder_end_run(encoder);
        }
        return n_events;
}

/* The same runs again: now they must come out. */
static void expect_runs(const struct event_list *list, struct run_maker *maker)
{
        size_t at = 0;
        uint64_t n_events = 0;

        for (int run = 0; run < N_RUNS; run++) {
                uint32_t thread = (uint32_t)(1 + fixed_random_next(&maker->state) % EVENT_ROWS_COUNT);
                uint64_t n = choose_length(run, &maker->state);

                for (uint64_t i = 0; i < n; i++, at++) {
                        uint64_t op = choose_op(n_events++, &maker->state);
                        struct trace_event wanted = event_rows_random_event(op, &maker->now_ns[thread],
                                                                            &maker->state);
                        const struct listed_event *got = &list->events[at];

                        ck_assert_uint_lt(at, list->n_events);
                        ck_assert_uint_eq(got->thread, thread);
                        ck_assert_uint_eq(got->event.op, wanted.op);
                        ck_assert_uint_eq(got->event.time_ns, wanted.time_ns);
                        for (uint32_t k = 0; k < trace_op_schema_find(op)->n_operands; k++)
                                ck_assert_uint_eq(got->event.operand[k], wanted.operand[k]);
                        if (trace_op_schema_find(op)->operands[0].encoding == TRACE_ENCODING_TEXT)
                                ck_assert(memcmp(got->event.text, wanted.text, wanted.operand[0]) == 0);
                        else
                                ck_assert_ptr_null(got->event.text);
                }
        }
        ck_assert_uint_eq(at, list->n_events);
}

START_TEST(test_events_come_back)
{
        struct run_maker in = { .state = 1, .now_ns = { 0, 5, UINT64_C(1) << 62, 1000000 } };
        struct run_maker again = in;
        struct trace_dictionary dictionary;
        struct event_encoder encoder;

        event_rows_fill(&dictionary);
        event_encoder_init(&encoder);
        for (int chunk = 0; chunk < N_CHUNKS; chunk++) {
                struct event_list list = { .events = NULL };

                (void)encode_runs(&encoder, &in);
                event_list_take(&list, &dictionary, &encoder);
                expect_runs(&list, &again);
                event_list_deinit(&list);
        }
        event_encoder_deinit(&encoder);
        trace_dictionary_deinit(&dictionary);
}
END_TEST

START_TEST(test_time_range_and_size)
{
        struct event_encoder encoder;
        struct byte_buffer body = { .data = NULL };
        struct trace_event event = { .op = TRACE_OP_ZONE_END };
        static const uint64_t times_ns[] = { 50, 90, 20, 70 }; /* two runs */
        uint64_t first_ns, last_ns;
        size_t n_bytes;
        uint32_t n;

        event_encoder_init(&encoder);
        for (int again = 0; again < 2; again++) {
                byte_buffer_clear(&body);
                ck_assert_uint_eq(event_encoder_count_bytes(&encoder), 0);
                for (uint32_t i = 0; i < 4; i++) {
                        if (i % 2 == 0)
                                event_encoder_begin_run(&encoder, 1 + i / 2);
                        event.time_ns = times_ns[i] + (uint64_t)again * 1000;
                        event_encoder_add(&encoder, &event);
                        if (i % 2 == 1)
                                event_encoder_end_run(&encoder);
                }
                n_bytes = event_encoder_count_bytes(&encoder);
                ck_assert_int_eq(event_encoder_take(&encoder, &body, &first_ns, &last_ns, &n), 0);
                ck_assert_uint_eq(first_ns, 20 + (uint64_t)again * 1000);
                ck_assert_uint_eq(last_ns, 90 + (uint64_t)again * 1000);
                ck_assert_uint_eq(n, 4);
                ck_assert_uint_ge(body.used_bytes, n_bytes);
                ck_assert_uint_le(body.used_bytes, n_bytes + 20);
        }
        byte_buffer_deinit(&body);
        event_encoder_deinit(&encoder);
}
END_TEST

START_TEST(test_nothing_leaves_no_body)
{
        struct byte_buffer body = { .data = NULL };
        struct event_encoder encoder;
        uint64_t first_ns, last_ns;
        uint32_t n = 77;

        event_encoder_init(&encoder);
        event_encoder_begin_run(&encoder, 1);
        event_encoder_end_run(&encoder);
        byte_buffer_add_u8(&body, 'x');
        ck_assert_int_eq(event_encoder_take(&encoder, &body, &first_ns, &last_ns, &n), 0);
        ck_assert_uint_eq(n, 0);
        ck_assert_uint_eq(body.used_bytes, 1);
        byte_buffer_deinit(&body);
        event_encoder_deinit(&encoder);
}
END_TEST

/* A chunk with a hole in a column would be read wrongly, so it is not made; the next one is whole again. */
START_TEST(test_events_that_found_no_memory_are_not_half_written)
{
        struct trace_event event = { .op = TRACE_OP_SWITCH_IN, .time_ns = 1 };
        struct byte_buffer body = { .data = NULL };
        struct event_encoder encoder;
        uint64_t first_ns, last_ns;
        uint32_t n;

        event_encoder_init(&encoder);
        event_encoder_begin_run(&encoder, 1);
        event_encoder_add(&encoder, &event);
        encoder.operands[encoder.first_operand[TRACE_OP_SWITCH_IN]].failed =
                true; /* as a failed realloc() leaves it */
        event_encoder_end_run(&encoder);
        ck_assert_int_eq(event_encoder_take(&encoder, &body, &first_ns, &last_ns, &n), -ENOMEM);
        ck_assert_uint_eq(body.used_bytes, 0);

        event_encoder_begin_run(&encoder, 1);
        event_encoder_add(&encoder, &event);
        event_encoder_end_run(&encoder);
        ck_assert_int_eq(event_encoder_take(&encoder, &body, &first_ns, &last_ns, &n), 0);
        ck_assert_uint_eq(n, 1);
        ck_assert_uint_gt(body.used_bytes, 0);
        byte_buffer_deinit(&body);
        event_encoder_deinit(&encoder);
}
END_TEST
