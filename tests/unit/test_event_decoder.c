/* SPDX-License-Identifier: MIT */
/* format/event_decoder.c: a body is taken as the specification says or refused, and no id leads nowhere */
#include "format/event_decoder.h"

#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/error.h"
#include "format/event_encoder.h"
#include "format/trace_column.h"
#include "format/trace_dictionary.h"
#include "format/trace_schema.h"
#include "tests/unit/event_rows.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The result of a whole walk over a body. */
struct walk {
        int result; /* 0, or of the call that failed */
        uint32_t n_runs, n_events;
        uint64_t n_unknown_ops;
        struct trace_event last;
};

/* The bytes are copied into a block of their own size, so that the sanitizer sees a read past them. */
static struct walk walk_bytes(const struct trace_dictionary *dictionary, const uint8_t *bytes, size_t n_bytes)
{
        uint8_t *body = malloc(n_bytes + 1);
        struct walk w = { .result = 0 };
        struct error err = ERROR_NONE;
        struct event_decoder d;
        struct event_run run;

        ck_assert_ptr_nonnull(body);
        memcpy(body + 1, bytes, n_bytes);
        w.result = event_decoder_init(&d, dictionary, body + 1, n_bytes, &err);
        while (w.result == 0 && (w.result = event_decoder_next_run(&d, &run, &err)) == 1) {
                w.n_runs++;
                while ((w.result = event_decoder_next(&d, &w.last, &err)) == 1)
                        w.n_events++;
        }
        w.n_unknown_ops = d.n_unknown_ops;
        ck_assert_int_eq(w.result < 0, err.text[0] != '\0');
        free(body);
        return w;
}

static struct walk walk_body(const uint8_t *bytes, size_t n_bytes)
{
        struct trace_dictionary dictionary;
        struct walk w;

        event_rows_fill(&dictionary);
        w = walk_bytes(&dictionary, bytes, n_bytes);
        trace_dictionary_deinit(&dictionary);
        return w;
}

/* A body of one run of thread 1 with @n events. */
static void encode(struct byte_buffer *body, const struct trace_event *events, size_t n)
{
        struct event_encoder encoder;
        uint64_t first_ns, last_ns;
        uint32_t n_events;

        event_encoder_init(&encoder);
        event_encoder_begin_run(&encoder, 1);
        for (size_t i = 0; i < n; i++)
                event_encoder_add(&encoder, &events[i]);
        event_encoder_end_run(&encoder);
        ck_assert_int_eq(event_encoder_take(&encoder, body, &first_ns, &last_ns, &n_events), 0);
        event_encoder_deinit(&encoder);
}

/* A body that has several runs and every op. */
static void encode_all_ops(struct byte_buffer *body)
{
        struct event_encoder encoder;
        uint64_t first_ns, last_ns;
        uint64_t state = 8;
        uint32_t n_events;

        event_encoder_init(&encoder);
        for (uint32_t thread = 1; thread <= EVENT_ROWS_COUNT; thread++) {
                uint64_t now_ns = UINT64_C(1000000) * thread;

                event_encoder_begin_run(&encoder, thread);
                for (uint64_t op = 1; op < TRACE_OP_COUNT; op++) {
                        struct trace_event event = event_rows_random_event(op, &now_ns, &state);

                        event_encoder_add(&encoder, &event);
                }
                event_encoder_end_run(&encoder);
        }
        ck_assert_int_eq(event_encoder_take(&encoder, body, &first_ns, &last_ns, &n_events), 0);
        event_encoder_deinit(&encoder);
}

START_TEST(test_cut_anywhere_is_refused)
{
        struct byte_buffer body = { .data = NULL };
        struct walk w;

        encode_all_ops(&body);
        for (size_t cut = 0; cut < body.used_bytes; cut++)
                ck_assert_int_eq(walk_body(body.data, cut).result, -EBADMSG);
        w = walk_body(body.data, body.used_bytes);
        ck_assert_int_eq(w.result, 0);
        ck_assert_uint_eq(w.n_runs, EVENT_ROWS_COUNT);
        ck_assert_uint_eq(w.n_events, EVENT_ROWS_COUNT * (TRACE_OP_COUNT - 1));
        ck_assert_uint_eq(w.n_unknown_ops, 0);
        byte_buffer_add_u8(&body, 0);
        ck_assert_int_eq(walk_body(body.data, body.used_bytes).result, -EBADMSG);
        byte_buffer_deinit(&body);
}
END_TEST

/* Who wants only some threads goes from run to run. */
START_TEST(test_runs_can_be_skipped)
{
        struct byte_buffer body = { .data = NULL };
        struct trace_dictionary dictionary;
        struct trace_event event;
        struct event_decoder d;
        struct event_run run;

        event_rows_fill(&dictionary);
        encode_all_ops(&body);
        ck_assert_int_eq(event_decoder_init(&d, &dictionary, body.data, body.used_bytes, NULL), 0);
        for (uint32_t thread = 1; thread <= EVENT_ROWS_COUNT; thread++) {
                ck_assert_int_eq(event_decoder_next_run(&d, &run, NULL), 1);
                ck_assert_uint_eq(run.thread, thread);
                ck_assert_uint_eq(run.n_events, TRACE_OP_COUNT - 1);
        }
        for (uint64_t op = 1; op < TRACE_OP_COUNT; op++) {
                ck_assert_int_eq(event_decoder_next(&d, &event, NULL), 1);
                ck_assert_uint_eq(event.op, op);
                if (op == 1)
                        ck_assert_uint_eq(event.time_ns, UINT64_C(1000000) * EVENT_ROWS_COUNT);
        }
        ck_assert_int_eq(event_decoder_next(&d, &event, NULL), 0);
        ck_assert_int_eq(event_decoder_next_run(&d, &run, NULL), 0);
        ck_assert_int_eq(event_decoder_next_run(&d, &run, NULL), 0);
        byte_buffer_deinit(&body);
        trace_dictionary_deinit(&dictionary);
}
END_TEST

/* loop test: op by op; every operand that is an id, at its limits and beyond */
START_LOOP_TEST(test_ids_out_of_range_are_refused, 1, TRACE_OP_COUNT)
{
        const struct trace_op_schema *schema = trace_op_schema_find((uint64_t)_i);

        for (uint32_t i = 0; i < schema->n_operands; i++) {
                const struct trace_operand *operand = &schema->operands[i];
                uint64_t above = operand->reference == TRACE_REFERENCE_SUCCESSOR ? TRACE_SUCCESSOR_OTHER : 0;
                uint64_t limit = EVENT_ROWS_COUNT + above;
                const uint64_t values[] = { 0, 1, limit, limit + 1, UINT64_MAX };

                if (operand->encoding == TRACE_ENCODING_TEXT)
                        continue;
                for (size_t v = 0; v < 5; v++) {
                        struct trace_event event = { .op = (uint64_t)_i,
                                                     .operand = { 1, 1, 1, 1, 1, 1 },
                                                     .text = "x" };
                        struct byte_buffer body = { .data = NULL };
                        bool fits = operand->reference == TRACE_REFERENCE_NONE ||
                                    (values[v] <= limit &&
                                     (values[v] > 0 || operand->reference != TRACE_REFERENCE_REQUIRED));
                        struct walk w;

                        event.operand[i] = values[v];
                        encode(&body, &event, 1);
                        w = walk_body(body.data, body.used_bytes);
                        ck_assert_int_eq(w.result, fits ? 0 : -EBADMSG);
                        ck_assert_uint_eq(w.n_events, fits);
                        if (fits)
                                ck_assert_uint_eq(w.last.operand[i], values[v]);
                        byte_buffer_deinit(&body);
                }
        }
}
END_TEST

struct body {
        uint8_t bytes[24];
        size_t n_bytes;
        int result;
        uint32_t n_events;
};

/* n_runs; thread, events, first time; n_columns; column, length; columns */
START_TEST(test_bodies_made_by_hand)
{
        static const struct body bodies[] = {
                { { 0, 0 }, 2, 0, 0 },                                             /* nothing */
                { { 1, 1, 0, 2, 0 }, 5, 0, 0 },                                    /* a run of nothing */
                { { 1, 1, 1, 2, 2, 0, 1, 1, 1, 2, 0 }, 11, 0, 1 },                 /* a zone's end */
                { { 1, 0, 1, 2, 2, 0, 1, 1, 1, 2, 0 }, 11, -EBADMSG, 0 },          /* thread 0 */
                { { 1, 4, 1, 2, 2, 0, 1, 1, 1, 2, 0 }, 11, -EBADMSG, 0 },          /* thread 4 of 3 */
                { { 1, 1, 2, 2, 2, 0, 1, 1, 1, 2, 0 }, 11, -EBADMSG, 0 },          /* fewer ops than stated */
                { { 1, 1, 1, 2, 2, 0, 2, 1, 2, 2, 2, 0, 0 }, 13, -EBADMSG, 1 },    /* more ops */
                { { 1, 1, 1, 2, 1, 0, 1, 2 }, 8, -EBADMSG, 0 },                    /* no times */
                { { 1, 1, 1, 2, 1, 1, 1, 0 }, 8, -EBADMSG, 0 },                    /* no ops */
                { { 1, 1, 1, 2, 2, 0, 1, 1, 1, 1, 0 }, 11, -EBADMSG, 0 },          /* no operands */
                { { 1, 1, 1, 2, 3, 0, 1, 0, 1, 1, 1, 2, 2, 0 }, 14, -EBADMSG, 0 }, /* ops twice */
                { { 1, 1, 1, 2, 3, 0, 1, 1, 1, 1, 1, 2, 0, 0 }, 14, -EBADMSG, 0 }, /* times twice */
                { { 1, 1, 1, 2, 4, 0, 1, 1, 1, 8, 1, 8, 1, 1, 0, 1, 1 },
                  17,
                  -EBADMSG,
                  0 }, /* operands twice */
                { { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0 }, 11, -EBADMSG, 0 },
                { { 1, 1, 0xff, 0xff, 0xff, 0xff, 0x1f, 2, 2, 0, 1, 1, 1, 2, 0 }, 15, -EBADMSG, 0 },
                { { 1, 1, 0x81, 0x80, 0x80, 0x80, 0x10, 2, 2, 0, 1, 1, 1, 2, 0 },
                  15,
                  -EBADMSG,
                  0 }, /* 2^32 + 1 */
        };

        for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
                struct walk w = walk_body(bodies[i].bytes, bodies[i].n_bytes);

                ck_assert_msg(w.result == bodies[i].result && w.n_events == bodies[i].n_events,
                              "body %zu: result %d, %u events", i, w.result, w.n_events);
        }
}
END_TEST

/*
 * Ops 100 and 200 of a newer version, with operands of their own and in two more columns of known ops, among
 * SWITCH_IN and ZONE_END: the known ones come as if nothing were between them.
 */
START_TEST(test_ops_of_a_newer_version_are_skipped_and_counted)
{
        static const uint8_t bytes[] = {
                1,    1,   5,   20,        /* a run of thread 1 with 5 events from 10 ns on */
                7,                         /* columns: */
                0,    5,   1,   5,  40, 2, /* ops, times, operand 0 of SWITCH_IN */
                0xa0, 6,   2,              /* operand 0 of op 100 */
                0xc0, 12,  9,              /* operand 0 of op 200 */
                47,   1,   23,  1,         /* operands 7 of SWITCH_IN and of ZONE_END: not known either */
                5,    100, 200, 5,  2,     /* ops */
                0,    1,   2,   3,  4,     /* times */
                6,    7,                   /* CPUs */
                0x80, 1,                   /* of op 100 */
                1,    2,   3,   4,  5,  6, 7, 8, 9, /* of op 200 */
                1,    1,
        };
        struct trace_dictionary dictionary;
        struct trace_event event;
        struct event_decoder d;
        struct event_run run;

        event_rows_fill(&dictionary);
        ck_assert_int_eq(event_decoder_init(&d, &dictionary, bytes, sizeof(bytes), NULL), 0);
        ck_assert_int_eq(event_decoder_next_run(&d, &run, NULL), 1);
        ck_assert_int_eq(event_decoder_next(&d, &event, NULL), 1);
        ck_assert(event.op == TRACE_OP_SWITCH_IN && event.time_ns == 10 && event.switch_in.cpu == 6);
        ck_assert_int_eq(event_decoder_next(&d, &event, NULL), 1);
        ck_assert(event.op == TRACE_OP_SWITCH_IN && event.time_ns == 16 && event.switch_in.cpu == 7);
        ck_assert_int_eq(event_decoder_next(&d, &event, NULL), 1);
        ck_assert(event.op == TRACE_OP_ZONE_END && event.time_ns == 20);
        ck_assert_int_eq(event_decoder_next(&d, &event, NULL), 0);
        ck_assert_int_eq(event_decoder_next_run(&d, &run, NULL), 0);
        ck_assert_uint_eq(d.n_unknown_ops, 2);
        trace_dictionary_deinit(&dictionary);
}
END_TEST

/*
 * A ZONE_TEXT whose column has five bytes: the length that is stated, and four of text.  Only what is there
 * is taken, and bytes that are left over do no harm.
 */
START_TEST(test_texts_end_where_their_column_does)
{
        static const struct {
                uint8_t length[5];
                uint64_t n_bytes;
                int result;
        } texts[] = {
                { { 4, 'a', 'b', 'c', 'd' }, 4, 0 },
                { { 0, 'a', 'b', 'c', 'd' }, 0, 0 },
                { { 5, 'a', 'b', 'c', 'd' }, 0, -EBADMSG },
                { { 0xff, 0xff, 0xff, 0xff, 0x0f }, 0, -EBADMSG },
                { { 0x84, 0x80, 0x80, 0x80, 0x80 }, 0, -EBADMSG },
        };

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
                uint8_t bytes[] = { 1,
                                    1,
                                    1,
                                    2,
                                    4,
                                    0,
                                    1,
                                    1,
                                    1,
                                    96,
                                    5,
                                    97,
                                    1, /* ops, times, texts, levels */
                                    TRACE_OP_ZONE_TEXT,
                                    0,
                                    0,
                                    0,
                                    0,
                                    0,
                                    0,
                                    3 };
                struct walk w;

                memcpy(bytes + 15, texts[i].length, 5);
                w = walk_body(bytes, sizeof(bytes));
                ck_assert_int_eq(w.result, texts[i].result);
                ck_assert_uint_eq(w.n_events, texts[i].result == 0);
                if (texts[i].result < 0)
                        continue;
                ck_assert_uint_eq(w.last.zone_text.text_bytes, texts[i].n_bytes);
                ck_assert_uint_eq(w.last.zone_text.level, 3);
        }
}
END_TEST

/* The text lies in the body itself, wherever that is. */
START_TEST(test_texts_are_borrowed_from_the_body)
{
        struct trace_event event = { .op = TRACE_OP_MESSAGE_TEXT,
                                     .text = "\0two\xff",
                                     .operand = { 5, 1, 2 } };
        struct byte_buffer body = { .data = NULL };
        struct trace_dictionary dictionary;
        struct event_decoder d;
        struct event_run run;

        event_rows_fill(&dictionary);
        encode(&body, &event, 1);
        ck_assert_int_eq(event_decoder_init(&d, &dictionary, body.data, body.used_bytes, NULL), 0);
        ck_assert_int_eq(event_decoder_next_run(&d, &run, NULL), 1);
        ck_assert_int_eq(event_decoder_next(&d, &event, NULL), 1);
        ck_assert_uint_eq(event.message_text.text_bytes, 5);
        ck_assert_mem_eq(event.text, "\0two\xff", 5);
        ck_assert((const uint8_t *)event.text > body.data &&
                  (const uint8_t *)event.text + 5 <= body.data + body.used_bytes);
        byte_buffer_deinit(&body);
        trace_dictionary_deinit(&dictionary);
}
END_TEST

/* A run that begins at the last nanosecond there is, and goes on by @_i. */
START_LOOP_TEST(test_time_beyond_64_bits_is_refused, 0, 3)
{
        uint8_t bytes[] = { 1, 1, 2, 1, 2, 0, 2, 1, 2, 2, 2, 0, (uint8_t)_i };
        struct walk w = walk_body(bytes, sizeof(bytes));

        ck_assert_int_eq(w.result, _i == 0 ? 0 : -EBADMSG);
        ck_assert_uint_eq(w.n_events, _i == 0 ? 2 : 1);
        ck_assert_uint_eq(w.last.time_ns, UINT64_MAX);
}
END_TEST

/*
 * A copy of @body that lacks the columns whose bit is set in @left_out, of the appended ones in their order.
 */
static void leave_columns_out(const struct byte_buffer *body, uint32_t left_out, struct byte_buffer *copy)
{
        struct byte_buffer columns = { .data = NULL };
        struct byte_buffer table = { .data = NULL };
        struct byte_reader in = byte_reader_of(body->data, body->used_bytes);
        struct trace_column_entry entry;
        struct trace_column_list list;
        uint64_t n_runs = bytes_varint(&in);
        uint32_t n_columns = 0;

        for (uint64_t i = 0; i < 3 * n_runs; i++)
                (void)bytes_varint(&in);
        byte_buffer_add(copy, body->data, body->used_bytes - in.left);
        ck_assert_int_eq(trace_column_list_init(&list, in, NULL), 0);
        while (trace_column_list_next(&list, &entry, NULL) == 1) {
                const struct trace_op_schema *schema;

                schema = trace_op_schema_find(entry.column / TRACE_COLUMNS_PER_OP);
                if (schema && schema->operands[entry.column % TRACE_COLUMNS_PER_OP].appended) {
                        bool out = left_out & 1;

                        left_out >>= 1;
                        if (out)
                                continue;
                }
                n_columns++;
                byte_buffer_add_varint(&table, entry.column);
                byte_buffer_add_varint(&table, entry.bytes.left);
                byte_buffer_add(&columns, entry.bytes.at, entry.bytes.left);
        }
        byte_buffer_add_varint(copy, n_columns);
        byte_buffer_add(copy, table.data, table.used_bytes);
        byte_buffer_add(copy, columns.data, columns.used_bytes);
        byte_buffer_deinit(&table);
        byte_buffer_deinit(&columns);
}

/*
 * state of SAMPLE; wait, stack, stack_state, successor of SWITCH_OUT; three of SWITCH_IN; space and text of
 * DEVICE_SPAN; below of WAKEUP; level of ZONE_KEY
 */
#define N_APPENDED 12

static void read_without(uint32_t left_out)
{
        static const struct trace_event events[] = {
                { .op = TRACE_OP_SAMPLE, .time_ns = 5, .operand = { 1, 2, 3, 1, 300, 8 } },
                { .op = TRACE_OP_SWITCH_OUT, .time_ns = 6, .operand = { 7, 0, 3, 2, 1, 4 } },
                { .op = TRACE_OP_SWITCH_OUT, .time_ns = 7, .operand = { 6, 1, 1, 0, 0 } },
                { .op = TRACE_OP_SAMPLE, .time_ns = 8, .operand = { 2, 1, 1, 2, 200, 300 } },
                { .op = TRACE_OP_SWITCH_IN, .time_ns = 9, .operand = { 5, 2, 1, 300 } },
                { .op = TRACE_OP_WAKEUP, .time_ns = 10, .operand = { 5, 1, 2, 3, 1, 2 } },
                { .op = TRACE_OP_DEVICE_SPAN, .time_ns = 11, .operand = { 1, 2, 3, 4, 5, UINT64_MAX, 3, 2 } },
                { .op = TRACE_OP_ZONE_KEY, .time_ns = 12, .operand = { 2, 5, 300 } },
        };
        struct byte_buffer body = { .data = NULL };
        struct byte_buffer old = { .data = NULL };
        struct trace_dictionary dictionary;
        struct event_decoder d;
        struct event_run run;
        struct trace_event event;

        encode(&body, events, 8);
        leave_columns_out(&body, left_out, &old);
        ck_assert(left_out == 0 ? old.used_bytes == body.used_bytes : old.used_bytes < body.used_bytes);
        for (size_t cut = 0; cut < old.used_bytes; cut++)
                ck_assert_int_eq(walk_body(old.data, cut).result, -EBADMSG);

        event_rows_fill(&dictionary);
        ck_assert_int_eq(event_decoder_init(&d, &dictionary, old.data, old.used_bytes, NULL), 0);
        ck_assert_int_eq(event_decoder_next_run(&d, &run, NULL), 1);
        for (size_t i = 0; i < 8; i++) {
                const struct trace_op_schema *schema = trace_op_schema_find(events[i].op);
                uint32_t appended = events[i].op == TRACE_OP_SAMPLE       ? 0
                                    : events[i].op == TRACE_OP_SWITCH_OUT ? 1
                                    : events[i].op == TRACE_OP_SWITCH_IN  ? 5
                                    : events[i].op == TRACE_OP_WAKEUP     ? 10
                                    : events[i].op == TRACE_OP_ZONE_KEY   ? 11
                                                                          : 8;

                memset(&event, 0xff, sizeof(event));
                ck_assert_int_eq(event_decoder_next(&d, &event, NULL), 1);
                ck_assert_uint_eq(event.op, events[i].op);
                for (uint32_t o = 0; o < schema->n_operands; o++) {
                        bool absent = schema->operands[o].appended && (left_out >> appended++ & 1);

                        ck_assert_uint_eq(event.operand[o], absent ? 0 : events[i].operand[o]);
                }
        }
        ck_assert_int_eq(event_decoder_next(&d, &event, NULL), 0);
        ck_assert_int_eq(event_decoder_next_run(&d, &run, NULL), 0);
        trace_dictionary_deinit(&dictionary);
        byte_buffer_deinit(&old);
        byte_buffer_deinit(&body);
}

/*
 * loop test: any of them may be absent; what is there is whole, and nothing else is disturbed.  The sets of
 * the last three columns go with many of the others, since all sets of all would take seconds.
 */
START_LOOP_TEST(test_appended_columns_may_be_absent, 0, 1 << (N_APPENDED - 3))
{
        uint32_t others = (uint32_t)_i;

        read_without(others | ((others ^ others >> 3 ^ others >> 6) & 7) << (N_APPENDED - 3));
}
END_TEST

/* The ids are judged by the dictionary at that place of the trace, not by that of its end. */
START_TEST(test_empty_dictionary)
{
        struct trace_event event = { .op = TRACE_OP_ZONE_BEGIN, .operand = { 1 } };
        struct byte_buffer body = { .data = NULL };
        struct trace_dictionary nothing;

        trace_dictionary_init(&nothing, 0);
        encode(&body, &event, 1);
        ck_assert_int_eq(walk_bytes(&nothing, body.data, body.used_bytes).result, -EBADMSG);
        ck_assert_int_eq(walk_body(body.data, body.used_bytes).result, 0);
        byte_buffer_deinit(&body);
        trace_dictionary_deinit(&nothing);
}
END_TEST
