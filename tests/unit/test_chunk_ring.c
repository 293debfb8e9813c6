/* SPDX-License-Identifier: MIT */
/* format/chunk_ring.c: a snapshot has exactly the last events, and begins with what the others left open */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/chunk_ring.h"
#include "format/event_decoder.h"
#include "format/event_encoder.h"
#include "tests/unit/event_list.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>
#include <string.h>

#define S      UINT64_C(1000000000)
#define THREAD 3
#define OTHER  7

struct fixture {
        struct chunk_ring ring;
        struct event_encoder encoder;
        struct chunk_snapshot snapshot;
        struct event_list list; /* of the snapshot */
};

static struct fixture f;

static void set_up(uint64_t keep_ns, uint64_t bytes_max)
{
        memset(&f, 0, sizeof(f));
        chunk_ring_init(&f.ring, &(struct chunk_ring_options){ .keep_ns = keep_ns, .bytes_max = bytes_max });
        event_encoder_init(&f.encoder);
}

static void tear_down(void)
{
        event_list_deinit(&f.list);
        chunk_snapshot_deinit(&f.ring, &f.snapshot);
        chunk_ring_deinit(&f.ring);
        event_encoder_deinit(&f.encoder);
}

/* One event of a thread; `number` is its first operand. */
static void add(uint32_t thread, uint64_t time_ns, enum trace_op op, uint64_t number)
{
        struct trace_event event = { .op = op, .time_ns = time_ns, .operand = { number, number } };

        event_encoder_begin_run(&f.encoder, thread);
        event_encoder_add(&f.encoder, &event);
        event_encoder_end_run(&f.encoder);
}

static void flush(void)
{
        struct trace_chunk_header header = { .kind = TRACE_CHUNK_EVENTS };
        struct byte_buffer body = { .data = NULL };
        struct error err = ERROR_NONE;

        ck_assert_int_eq(
                event_encoder_take(&f.encoder, &body, &header.first_ns, &header.last_ns, &header.n_items), 0);
        ck_assert_msg(chunk_ring_add(&f.ring, header, body.data, body.used_bytes, &err) == 0, "%s", err.text);
        byte_buffer_deinit(&body);
}

/* Reads the events of the snapshot into `list`. */
static void read_snapshot(void)
{
        struct byte_buffer raw = { .data = NULL };
        struct event_decoder decoder;
        struct trace_event event;
        struct event_run run;

        event_list_deinit(&f.list);
        for (size_t i = 0; i < f.snapshot.events.n_chunks; i++) {
                const struct ring_chunk *chunk = f.snapshot.events.chunks[i];

                ck_assert_int_eq(trace_chunk_decode_body(&chunk->header, chunk->bytes,
                                                         chunk->bytes + TRACE_CHUNK_HEADER_BYTES, &raw, NULL),
                                 0);
                ck_assert_int_eq(
                        event_decoder_init(&decoder, &f.ring.any_ids, raw.data, raw.used_bytes, NULL), 0);
                while (event_decoder_next_run(&decoder, &run, NULL) == 1)
                        while (event_decoder_next(&decoder, &event, NULL) == 1) {
                                event_encoder_begin_run(&f.encoder, run.thread);
                                event_encoder_add(&f.encoder, &event);
                                event_encoder_end_run(&f.encoder);
                        }
        }
        event_list_take(&f.list, &f.ring.any_ids, &f.encoder);
        byte_buffer_deinit(&raw);
}

static void take(uint64_t end_ns)
{
        struct error err = ERROR_NONE;

        chunk_snapshot_deinit(&f.ring, &f.snapshot);
        ck_assert_msg(chunk_ring_snapshot(&f.ring, end_ns, &f.snapshot, &err) == 0, "%s", err.text);
        read_snapshot();
}

static void expect(uint32_t thread, size_t n, enum trace_op op, uint64_t time_ns, uint64_t number)
{
        const struct trace_event *event = event_list_get(&f.list, thread, n);

        ck_assert_ptr_nonnull(event);
        ck_assert_uint_eq(event->op, op);
        ck_assert_uint_eq(event->time_ns, time_ns);
        if (op != TRACE_OP_ZONE_END)
                ck_assert_uint_eq(event->operand[0], number);
}

static void expect_no_more(uint32_t thread, size_t n)
{
        ck_assert_ptr_null(event_list_get(&f.list, thread, n));
}

/* A mark at each half of a second, two in each chunk; the first chunk begins a zone as well. */
static void add_marks(unsigned n_seconds)
{
        add(THREAD, S, TRACE_OP_ZONE_BEGIN, 5);
        for (unsigned i = 1; i <= n_seconds; i++) {
                add(THREAD, i * S, TRACE_OP_FRAME_MARK, UINT64_C(2) * i);
                add(THREAD, i * S + S / 2, TRACE_OP_FRAME_MARK, UINT64_C(2) * i + 1);
                flush();
        }
}

/* Whole chunks are dropped, and a snapshot begins in the middle of one. */
START_TEST(test_last_seconds)
{
        set_up(3 * S + S / 4, UINT64_C(1) << 30);
        add_marks(20); /* until 20.5 s */
        ck_assert_uint_le(f.ring.events.n_chunks, 5);
        ck_assert(!f.ring.was_full);
        take(20 * S + S / 2);
        ck_assert_uint_eq(f.snapshot.from_ns, 17 * S + S / 4);
        ck_assert(f.snapshot.is_cut);
        ck_assert_uint_eq(f.snapshot.n_open, 1);
        expect(THREAD, 0, TRACE_OP_ZONE_BEGIN, 17 * S + S / 4, 5);
        for (unsigned i = 1; i <= 7; i++)
                expect(THREAD, i, TRACE_OP_FRAME_MARK, 17 * S + i * S / 2, UINT64_C(34) + i);
        expect_no_more(THREAD, 8);

        /* Later nothing happened: the same instant is further back, and what is open is known still. */
        take(30 * S);
        expect(THREAD, 0, TRACE_OP_ZONE_BEGIN, 30 * S - 3 * S - S / 4, 5);
        expect_no_more(THREAD, 1);
}
END_TEST

/* A ring that is not full yet is the whole recording, chunk by chunk. */
START_TEST(test_all_of_it)
{
        set_up(60 * S, UINT64_C(1) << 30);
        add_marks(20);
        take(20 * S + S / 2);
        ck_assert(!f.snapshot.is_cut);
        ck_assert_uint_eq(f.snapshot.n_open, 0);
        ck_assert_uint_eq(f.snapshot.events.n_chunks, 20);
        expect(THREAD, 0, TRACE_OP_ZONE_BEGIN, S, 5);
        expect_no_more(THREAD, 41);
}
END_TEST

/* The bytes are bounded whatever comes, and the newest are there. */
START_TEST(test_bytes)
{
        set_up(0, 2000);
        add_marks(100);
        ck_assert_uint_le(f.ring.listed_bytes, 2000);
        ck_assert_uint_le(f.ring.events_bytes_peak, 2200);
        ck_assert(f.ring.was_full);
        take(101 * S);
        ck_assert(f.snapshot.is_cut);
        ck_assert_uint_eq(f.snapshot.from_ns, f.ring.dropped_ns);
        expect(THREAD, 0, TRACE_OP_ZONE_BEGIN, f.snapshot.from_ns, 5);
        expect(THREAD, f.list.n_events - 1, TRACE_OP_FRAME_MARK, 100 * S + S / 2, 201);
        /* No mark between is missing. */
        for (size_t i = 2; i < f.list.n_events; i++)
                ck_assert_uint_eq(f.list.events[i].event.operand[0],
                                  f.list.events[i - 1].event.operand[0] + 1);
}
END_TEST

/* Chunks that a snapshot shares stay as they were while the ring goes on, and are freed with it. */
START_TEST(test_goes_on)
{
        size_t n_events;

        set_up(5 * S, UINT64_C(1) << 30);
        add_marks(10);
        take(10 * S + S / 2);
        n_events = f.list.n_events;
        for (unsigned i = 0; i < 20; i++) {
                add(THREAD, (30 + i) * S, TRACE_OP_FRAME_MARK, 900);
                flush();
        }
        ck_assert_uint_gt(f.ring.events_bytes, f.ring.listed_bytes);
        read_snapshot();
        ck_assert_uint_eq(f.list.n_events, n_events);
        expect(THREAD, n_events - 1, TRACE_OP_FRAME_MARK, 10 * S + S / 2, 21);
        chunk_snapshot_drop(&f.ring, &f.snapshot, 0);
        chunk_snapshot_deinit(&f.ring, &f.snapshot);
        ck_assert_uint_eq(f.ring.events_bytes, f.ring.listed_bytes);
}
END_TEST

/*
 * Another thread's events may come late, in a later chunk: those before the beginning are
 * taken out there as well.
 */
START_TEST(test_late_events)
{
        set_up(3 * S, UINT64_C(1) << 30);
        add_marks(9);
        add(OTHER, 6 * S, TRACE_OP_ZONE_BEGIN, 8);
        add(OTHER, 6 * S + 1, TRACE_OP_ZONE_BEGIN, 9);
        add(OTHER, 9 * S, TRACE_OP_ZONE_END, 0);
        flush();
        take(10 * S);
        ck_assert_uint_eq(f.snapshot.from_ns, 7 * S);
        ck_assert_uint_eq(f.snapshot.n_open, 3);
        expect(OTHER, 0, TRACE_OP_ZONE_BEGIN, 7 * S, 8);
        expect(OTHER, 1, TRACE_OP_ZONE_BEGIN, 7 * S, 9);
        expect(OTHER, 2, TRACE_OP_ZONE_END, 9 * S, 0);
        expect_no_more(OTHER, 3);
}
END_TEST

static void add_states(void)
{
        add(THREAD, 1, TRACE_OP_THREAD_NAME, 40);
        add(THREAD, 2, TRACE_OP_THREAD_GROUP, 41);
        add(THREAD, 3, TRACE_OP_ZONE_BEGIN, 1);
        add(THREAD, 4, TRACE_OP_ZONE_BEGIN, 2);
        add(THREAD, 5, TRACE_OP_ZONE_END, 0);
        add(THREAD, 6, TRACE_OP_SWITCH_IN, 1);
        add(THREAD, 7, TRACE_OP_LOCK_NAME, 2);
        add(THREAD, 8, TRACE_OP_FIBER_ENTER, OTHER);
        add(OTHER, 8, TRACE_OP_ZONE_BEGIN, 3);
        add(OTHER, 9, TRACE_OP_SWITCH_OUT, 4);
        add(9, 1, TRACE_OP_ZONE_BEGIN, 1);
        add(9, 2, TRACE_OP_THREAD_EXIT, 0);
        add(9, 3, TRACE_OP_SWITCH_OUT, 0); /* the kernel is done with it */
        add(12, 1, TRACE_OP_ZONE_BEGIN, 1);
        add(12, 2, TRACE_OP_ZONES_GONE, 0);
        add(12, 3, TRACE_OP_SWITCH_IN, 2);
        flush();
}

/* Names, groups, switches, fibers and zones of who lives; nothing of who has ended. */
START_TEST(test_states)
{
        set_up(S, UINT64_C(1) << 30);
        add_states();
        add(11, 4 * S, TRACE_OP_FRAME_MARK, 1);
        flush();
        ck_assert_uint_eq(f.ring.events.n_chunks, 1); /* the other one was dropped */
        take(4 * S);
        ck_assert_uint_eq(f.snapshot.n_open, 2);
        expect(THREAD, 0, TRACE_OP_LOCK_NAME, 3 * S, 2);
        expect(THREAD, 1, TRACE_OP_THREAD_NAME, 3 * S, 40);
        expect(THREAD, 2, TRACE_OP_THREAD_GROUP, 3 * S, 41);
        expect(THREAD, 3, TRACE_OP_SWITCH_IN, 3 * S, 1);
        expect(THREAD, 4, TRACE_OP_ZONE_BEGIN, 3 * S, 1);
        expect(THREAD, 5, TRACE_OP_FIBER_ENTER, 3 * S, OTHER);
        expect_no_more(THREAD, 6);
        expect(OTHER, 0, TRACE_OP_SWITCH_OUT, 3 * S, 4);
        expect(OTHER, 1, TRACE_OP_ZONE_BEGIN, 3 * S, 3);
        expect_no_more(OTHER, 2);
        expect_no_more(9, 0);
        expect(12, 0, TRACE_OP_SWITCH_IN, 3 * S, 2); /* and not in a zone of the program that was replaced */
        expect_no_more(12, 1);
        expect(11, 0, TRACE_OP_FRAME_MARK, 4 * S, 1);
}
END_TEST

UNIT_TEST_PLAN(.teardown = tear_down);
