/* SPDX-License-Identifier: MIT */
/*
 * format/event_batch.c: the events of a body are those of event_decoder, in pieces of any
 * size, up to the same fault
 */
#include "format/event_batch.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/event_encoder.h"
#include "format/trace_dictionary.h"
#include "tests/unit/event_rows.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define N_BODIES 300

/* All that was decoded, one thing after the other. */
struct heard {
        struct byte_buffer things;
        struct error err;
        int result;
        uint64_t n_unknown_ops;
};

static void hear(struct heard *h, uint32_t thread, const struct trace_event *event)
{
        const struct trace_op_schema *schema = trace_op_schema_find(event->op);

        byte_buffer_add_u32(&h->things, thread);
        byte_buffer_add_u64(&h->things, event->time_ns);
        byte_buffer_add_u64(&h->things, event->op);
        byte_buffer_add(&h->things, event->operand, schema->n_operands * sizeof(event->operand[0]));
        if (event->text)
                byte_buffer_add(&h->things, event->text, event->operand[0]);
}

static struct heard hear_events(const struct trace_dictionary *d, const uint8_t *body, size_t n_bytes)
{
        struct heard h = { .err = ERROR_NONE };
        struct event_decoder decoder;
        struct trace_event event;
        struct event_run run;

        h.result = event_decoder_init(&decoder, d, body, n_bytes, &h.err);
        while (h.result == 0 && (h.result = event_decoder_next_run(&decoder, &run, &h.err)) == 1)
                while ((h.result = event_decoder_next(&decoder, &event, &h.err)) == 1)
                        hear(&h, run.thread, &event);
        h.n_unknown_ops = decoder.n_unknown_ops;
        return h;
}

static void hear_batch(struct heard *h, const struct event_batch *b, uint32_t n_max)
{
        const struct packed_event *packed = b->events;
        size_t n_events = 0;

        ck_assert_uint_le(b->n_events, n_max);
        for (size_t i = 0; i < b->n_runs; i++)
                for (uint32_t k = 0; k < b->runs[i].n_events; k++, packed++, n_events++) {
                        struct trace_event event = { .time_ns = packed->time_ns, .op = packed->op };

                        event.zone_begin.location = packed->value;
                        if (packed->op != TRACE_OP_ZONE_BEGIN && packed->op != TRACE_OP_ZONE_END)
                                event = b->others[packed->value];
                        ck_assert_uint_eq(event.time_ns, packed->time_ns);
                        hear(h, b->runs[i].thread, &event);
                }
        ck_assert_uint_eq(n_events, b->n_events);
}

/* The bytes are copied into a block of their own size, so that the sanitizer sees a read past them. */
static struct heard hear_batches(const struct trace_dictionary *d, const uint8_t *body, size_t n_bytes,
                                 uint32_t n_max, bool prepares)
{
        struct heard h = { .err = ERROR_NONE };
        struct event_batch b = { .runs = NULL };
        uint8_t *copy = malloc(n_bytes + 1);

        ck_assert_ptr_nonnull(copy);
        if (n_bytes > 0)
                memcpy(copy + 1, body, n_bytes);
        event_batch_open(&b, d, copy + 1, n_bytes);
        if (prepares)
                event_batch_prepare(&b, n_max);
        while ((h.result = event_batch_next(&b, n_max, &h.err)) == 1)
                hear_batch(&h, &b, n_max);
        h.n_unknown_ops = b.decoder.n_unknown_ops;
        event_batch_deinit(&b);
        free(copy);
        return h;
}

static void expect_same(const struct trace_dictionary *d, const uint8_t *body, size_t n_bytes, uint32_t n_max)
{
        struct heard one = hear_events(d, body, n_bytes);
        struct heard many = hear_batches(d, body, n_bytes, n_max, n_bytes % 2 != 0);

        ck_assert_int_eq(one.result, many.result);
        ck_assert_str_eq(one.err.text, many.err.text);
        ck_assert_uint_eq(one.n_unknown_ops, many.n_unknown_ops);
        ck_assert_uint_eq(one.things.used_bytes, many.things.used_bytes);
        if (one.things.used_bytes > 0)
                ck_assert_mem_eq(one.things.data, many.things.data, one.things.used_bytes);
        byte_buffer_deinit(&one.things);
        byte_buffer_deinit(&many.things);
}

/* Nearly all zones, as in a program's trace; times of all lengths, now and then any other event. */
static void encode(struct byte_buffer *body, uint64_t *random)
{
        uint64_t first_ns, last_ns, n_rare = 1 + fixed_random_next(random) % 20;
        struct event_encoder encoder;
        uint32_t n_events;

        event_encoder_init(&encoder);
        for (uint64_t n_runs = fixed_random_next(random) % 6; n_runs > 0; n_runs--) {
                uint64_t now_ns = fixed_random_next(random) >> 8;

                event_encoder_begin_run(&encoder,
                                        1 + (uint32_t)(fixed_random_next(random) >> 32) % EVENT_ROWS_COUNT);
                for (uint64_t n = fixed_random_next(random) % 200; n > 0; n--) {
                        uint64_t draw = fixed_random_next(random) >> 16,
                                 op = TRACE_OP_ZONE_BEGIN + (draw & 1);
                        struct trace_event event;

                        if (draw / 2 % n_rare == 0)
                                op = 1 + draw / 64 % (TRACE_OP_COUNT - 1);
                        event = event_rows_random_event(op, &now_ns, random);
                        event_encoder_add(&encoder, &event);
                }
                event_encoder_end_run(&encoder);
        }
        ck_assert_int_eq(event_encoder_take(&encoder, body, &first_ns, &last_ns, &n_events), 0);
        event_encoder_deinit(&encoder);
}

START_TEST(test_pieces_of_any_size_are_the_same_events)
{
        static const uint32_t sizes[] = { 1, 2, 3, 7, 64, 4096 };
        struct trace_dictionary d;
        uint64_t random = 5;

        event_rows_fill(&d);
        for (int i = 0; i < N_BODIES; i++) {
                struct byte_buffer body = { .data = NULL };

                encode(&body, &random);
                for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
                        expect_same(&d, body.data, body.used_bytes, sizes[k]);
                byte_buffer_deinit(&body);
        }
        trace_dictionary_deinit(&d);
}
END_TEST

START_TEST(test_the_same_fault_after_the_same_events)
{
        struct trace_dictionary d;
        uint64_t random = 6;
        size_t n_faults = 0;

        event_rows_fill(&d);
        for (int i = 0; i < N_BODIES / 2; i++) {
                struct byte_buffer body = { .data = NULL };

                encode(&body, &random);
                for (int k = 0; k < 60 && body.used_bytes > 0; k++) {
                        size_t at = fixed_random_next(&random) % body.used_bytes;
                        uint8_t before = body.data[at];
                        struct heard h;

                        body.data[at] ^= (uint8_t)(1U << (fixed_random_next(&random) >> 61));
                        h = hear_events(&d, body.data, body.used_bytes);
                        n_faults += h.result == -EBADMSG && h.things.used_bytes > 0;
                        byte_buffer_deinit(&h.things);
                        expect_same(&d, body.data, body.used_bytes, 1 + (uint32_t)k * 3);
                        body.data[at] = before;
                        expect_same(&d, body.data, at, 1 + (uint32_t)k * 3);
                }
                byte_buffer_deinit(&body);
        }
        ck_assert_uint_gt(n_faults, 100);
        trace_dictionary_deinit(&d);
}
END_TEST
