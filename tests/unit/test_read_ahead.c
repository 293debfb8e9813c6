/* SPDX-License-Identifier: MIT */
/*
 * format/read_ahead.c: any number of helpers hands out the events that trace_reader does, in order, up to the
 * same end in the same words
 */
#include "format/read_ahead.h"

#include "base/content_hash.h"
#include "base/error.h"
#include "format/trace_spec.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define N_CHUNKS         48
#define EVENTS_PER_CHUNK 30000 /* about 100 KiB: helpers are started in the middle of the trace */
#define N_COUNTS         4     /* of helpers: 0 .. 3 */

struct made {
        struct trace_builder b;
        uint64_t n_bytes;
};

static struct made m;

static void setup(void)
{
        uint64_t random = 11, now_ns = 1000;
        uint32_t threads[2], locations[3];

        trace_builder_init(&m.b);
        for (uint32_t i = 0; i < 2; i++)
                threads[i] = trace_builder_thread(&m.b, 9, 9 + i);
        for (uint32_t i = 0; i < 3; i++)
                locations[i] = trace_builder_location(&m.b, (const char *[]){ "a", "b", "c" }[i]);
        for (int chunk = 0; chunk < N_CHUNKS; chunk++) {
                trace_builder_begin_run(&m.b, threads[chunk % 2]);
                for (int i = 0; i < EVENTS_PER_CHUNK / 2; i++) {
                        uint64_t draw = fixed_random_next(&random) >> 32;

                        trace_builder_begin_zone(&m.b, now_ns, locations[draw % 3]);
                        trace_builder_event(&m.b, now_ns + draw % 500, TRACE_OP_ZONE_END);
                        now_ns += 500 + draw % 9000;
                        if (draw % 1000 == 0)
                                trace_builder_event(&m.b, now_ns, TRACE_OP_SWITCH_OUT);
                }
                trace_builder_end_run(&m.b);
                trace_builder_flush(&m.b);
        }
        trace_builder_finish(&m.b);
        m.n_bytes = (uint64_t)lseek(m.b.fd, 0, SEEK_END);
}

static struct trace_reader *open_trace(void)
{
        struct trace_reader *reader;
        uint64_t first_ns, last_ns;

        ck_assert_int_eq(trace_reader_open(m.b.path, &reader, NULL), 0);
        ck_assert_int_eq(trace_reader_read_tables(reader, &first_ns, &last_ns, NULL), 0);
        return reader;
}

/* A reader is told about every chunk, and about the end. */
struct heard {
        uint64_t hash, n_chunks, n_events;
        enum trace_ending ending;
        char words[ERROR_TEXT_BYTES];
        uint64_t whole_bytes;
        int result;
};

static void add(struct heard *h, const void *bytes, size_t n_bytes)
{
        h->hash = h->hash * UINT64_C(0x9e3779b97f4a7c15) + content_hash(bytes, n_bytes);
}

static void hear_chunk(struct heard *h, const struct trace_item *item)
{
        const uint64_t numbers[] = { item->header.kind, item->file_offset_bytes, item->header.n_items };

        add(h, numbers, sizeof(numbers));
        add(h, item->header_bytes, TRACE_CHUNK_HEADER_BYTES);
        add(h, item->stored, item->header.stored_bytes);
        add(h, item->body, item->body_bytes);
        h->n_chunks++;
}

static void hear_events(struct heard *h, struct event_batch *events)
{
        while ((h->result = event_batch_next(events, EVENT_BATCH_EVENTS, NULL)) == 1) {
                for (size_t i = 0; i < events->n_events; i++) {
                        const struct packed_event *e = &events->events[i];
                        const uint64_t numbers[] = { e->time_ns, e->op };

                        add(h, numbers, sizeof(numbers));
                }
                h->n_events += events->n_events;
        }
}

static void hear_end(struct heard *h, struct trace_reader *reader)
{
        const char *words;

        h->ending = trace_reader_ending(reader, &words, &h->whole_bytes);
        (void)strcpy(h->words, words);
        trace_reader_close(reader);
}

static struct heard read_alone(void)
{
        struct trace_reader *reader = open_trace();
        struct event_batch events = { .runs = NULL };
        struct heard h = { .hash = 0 };
        struct trace_item item;
        int r;

        while ((r = trace_reader_next(reader, &item, NULL)) == 1) {
                if (item.header.kind != TRACE_CHUNK_EVENTS)
                        continue;
                hear_chunk(&h, &item);
                event_batch_open(&events, trace_reader_dictionary(reader), item.body, item.body_bytes);
                hear_events(&h, &events);
        }
        ck_assert_int_eq(r, 0);
        event_batch_deinit(&events);
        hear_end(&h, reader);
        return h;
}

/* @n_chunks: then trace_reader_next() goes on, which the helpers must have left where it is wanted. */
static struct heard read_helped(unsigned n_helpers, uint64_t n_chunks)
{
        const struct read_ahead_options options = { .n_helpers = n_helpers };
        struct trace_reader *reader = open_trace();
        struct event_batch events = { .runs = NULL };
        struct heard h = { .hash = 0 };
        struct read_ahead_item next;
        struct trace_item item;
        struct read_ahead *a;
        int r = 0;

        ck_assert_int_eq(read_ahead_open(reader, &options, &a, NULL), 0);
        while (h.n_chunks < n_chunks && (r = read_ahead_next(a, &next, NULL)) == 1) {
                ck_assert_uint_eq(next.item.header.kind, TRACE_CHUNK_EVENTS);
                hear_chunk(&h, &next.item);
                hear_events(&h, next.events);
        }
        if (h.n_chunks < n_chunks) {
                ck_assert_int_eq(r, 0);
                ck_assert_int_eq(read_ahead_next(a, &next, NULL), 0);
        }
        ck_assert_int_eq(read_ahead_close(a, NULL), 0);
        while ((r = trace_reader_next(reader, &item, NULL)) == 1) {
                if (item.header.kind != TRACE_CHUNK_EVENTS)
                        continue;
                hear_chunk(&h, &item);
                event_batch_open(&events, trace_reader_dictionary(reader), item.body, item.body_bytes);
                hear_events(&h, &events);
        }
        ck_assert_int_eq(r, 0);
        event_batch_deinit(&events);
        hear_end(&h, reader);
        return h;
}

static void expect_same(const struct heard *a, const struct heard *b)
{
        ck_assert_uint_eq(a->n_chunks, b->n_chunks);
        ck_assert_uint_eq(a->n_events, b->n_events);
        ck_assert_uint_eq(a->hash, b->hash);
        ck_assert_int_eq(a->ending, b->ending);
        ck_assert_str_eq(a->words, b->words);
        ck_assert_uint_eq(a->whole_bytes, b->whole_bytes);
}

static void expect_same_with_helpers(enum trace_ending ending)
{
        struct heard alone = read_alone();

        ck_assert_int_eq(alone.ending, ending);
        for (unsigned n = 0; n < N_COUNTS; n++) {
                struct heard helped = read_helped(n, UINT64_MAX);

                expect_same(&alone, &helped);
        }
}

START_TEST(test_a_whole_trace)
{
        ck_assert_uint_gt(read_alone().n_events, (uint64_t)N_CHUNKS * EVENTS_PER_CHUNK - 1);
        expect_same_with_helpers(TRACE_ENDING_WHOLE);
        trace_builder_deinit(&m.b);
}
END_TEST

START_TEST(test_an_early_stop_leaves_the_reader_there)
{
        struct heard alone = read_alone();

        for (unsigned n = 0; n < N_COUNTS; n++)
                for (uint64_t n_chunks = 0; n_chunks <= alone.n_chunks; n_chunks += 9) {
                        struct heard helped = read_helped(n, n_chunks);

                        expect_same(&alone, &helped);
                }
        trace_builder_deinit(&m.b);
}
END_TEST

/* Helpers are far beyond it when the damage is found. */
START_TEST(test_a_damaged_chunk_ends_the_trace)
{
        for (uint64_t k = 1; k < 8; k++) {
                off_t at = (off_t)(m.n_bytes - m.n_bytes * k / 9);
                uint8_t before, other;

                ck_assert_int_eq(pread(m.b.fd, &before, 1, at), 1);
                other = before ^ 0x40;
                ck_assert_int_eq(pwrite(m.b.fd, &other, 1, at), 1);
                expect_same_with_helpers(TRACE_ENDING_DAMAGED);
                ck_assert_int_eq(pwrite(m.b.fd, &before, 1, at), 1);
        }
        trace_builder_deinit(&m.b);
}
END_TEST

START_TEST(test_a_trace_that_is_cut_off)
{
        for (uint64_t k = 1; k < 8; k++) {
                ck_assert_int_eq(ftruncate(m.b.fd, (off_t)(m.n_bytes - k * (m.n_bytes / 20))), 0);
                expect_same_with_helpers(TRACE_ENDING_CUT_OFF);
        }
        trace_builder_deinit(&m.b);
}
END_TEST

/* Nothing from there on is read before it is asked for; what is asked for comes all the same. */
START_TEST(test_a_limit_holds_for_helpers)
{
        struct read_ahead_options options = { .n_helpers = 3, .until_bytes = 1 };
        struct heard alone, helped = { .hash = 0 };
        struct trace_reader *reader;
        struct read_ahead_item next;
        struct read_ahead *a;

        alone = read_alone();
        reader = open_trace();
        ck_assert_int_eq(read_ahead_open(reader, &options, &a, NULL), 0);
        while (read_ahead_next(a, &next, NULL) == 1) {
                hear_chunk(&helped, &next.item);
                hear_events(&helped, next.events);
                ck_assert_uint_eq(trace_reader_position(reader), read_ahead_position(a));
        }
        ck_assert_int_eq(read_ahead_close(a, NULL), 0);
        hear_end(&helped, reader);
        expect_same(&alone, &helped);
        trace_builder_deinit(&m.b);
}
END_TEST

UNIT_TEST_PLAN(.timeout_s = 120, .setup = setup);
