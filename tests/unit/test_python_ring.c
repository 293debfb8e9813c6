/* SPDX-License-Identifier: MIT */
/*
 * sampler/python/python_ring.c: a sample gets the record of its thread that is nearest in time, and no other;
 * what a record says of itself is not believed
 */
#include "instrument/client_abi.h"
#include "instrument/tick_clock.h"
#include "sampler/bpf/switch_layout.h"
#include "sampler/pace/pace.h"
#include "sampler/python/python_functions.h"
#include "sampler/python/python_source.h"
#include "sampler/switches/switch_ring.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <string.h>

#define RING_BYTES 8192
#define ROOM_BYTES 16384
#define TID        7
#define OTHER_TID  8
#define AT_NS      UINT64_C(10000000000)
#define US         UINT64_C(1000)

struct ring_fixture {
        struct switch_ring ring;
        struct tick_clock clock;
        struct python_sample sample;
        _Alignas(64) uint8_t memory[SWITCH_RING_HEAD_BYTES + ROOM_BYTES];
};

static struct ring_fixture fixture;

static void setup(void)
{
        memset(&fixture, 0, sizeof(fixture));
        switch_ring_init(&fixture.ring, fixture.memory, RING_BYTES, ROOM_BYTES);
        tick_clock_add(&fixture.clock, 1, 1, 0);
        tick_clock_add(&fixture.clock, 2 * AT_NS, 2 * AT_NS, 0);
}

UNIT_TEST_PLAN(.setup = setup);

static void *first_head(void)
{
        return fixture.memory;
}

static void *first_record(void)
{
        return fixture.memory + SWITCH_RING_HEAD_BYTES;
}

/* A record of one frame, whose code is @code. */
static void put_record(uint32_t tid, uint64_t time_ns, uint32_t flags, uint64_t code)
{
        const struct python_raw_frame frame = { .code = code };
        const struct python_record record = { .n_bytes = sizeof(record) + sizeof(frame),
                                              .tid = tid,
                                              .time_ns = time_ns,
                                              .n_frames = 1,
                                              .flags = flags };
        struct switch_ring_head *head = first_head();

        memcpy((uint8_t *)first_record() + head->head, &record, sizeof(record));
        memcpy((uint8_t *)first_record() + head->head + sizeof(record), &frame, sizeof(frame));
        head->head += record.n_bytes;
}

static uint32_t n_copies, n_copied_bytes;

static void take_copies(void *context, const struct python_copies *copies)
{
        (void)context;
        n_copies++;
        n_copied_bytes += (uint32_t)copies->n_bytes;
}

static const struct python_copies_sink sink = { .take = take_copies };

/* The code of the frame that a sample gets; 0 = it gets none. */
static uint64_t find_at(uint64_t time_ns, uint32_t flag)
{
        const struct python_sample_key key = { .pid = TID, .tid = TID, .time_ns = time_ns };
        int r;

        switch_ring_look(&fixture.ring);
        r = python_ring_find(&fixture.ring, &fixture.clock, &key, flag, &sink, &fixture.sample);
        ck_assert_int_ge(r, 0);
        return r == 1 ? fixture.sample.frames[0].code : 0;
}

START_TEST(test_before_or_after_its_sample)
{
        put_record(TID, AT_NS - 5 * US, 0, 16);
        put_record(TID, AT_NS + 1000 * US, 0, 32);
        ck_assert_uint_eq(find_at(AT_NS, 0), 16);
        ck_assert_uint_eq(find_at(AT_NS + 990 * US, 0), 32);
        ck_assert_uint_eq(find_at(AT_NS + 2000 * US, 0), 0);
}
END_TEST

/* The places of the outermost frames were used in turn, so the first one of them is anywhere. */
START_TEST(test_frames_that_are_left_out)
{
        static const uint32_t left_out[] = { 0, 1, 31, 32, 700 };

        for (size_t round = 0; round < sizeof(left_out) / sizeof(left_out[0]); round++) {
                const uint32_t n = left_out[round], n_all = PYTHON_FRAMES_MAX + n;
                const uint64_t at_ns = AT_NS + round * 1000 * US;
                struct switch_ring_head *head = first_head();
                struct python_raw_frame frames[PYTHON_FRAMES_MAX] = { { .code = 0 } };
                const struct python_record record = { .n_bytes = PYTHON_FRAMES_BYTES,
                                                      .tid = TID,
                                                      .time_ns = at_ns,
                                                      .n_frames = PYTHON_FRAMES_MAX,
                                                      .n_left_out = (uint16_t)n,
                                                      .n_left_out_entries = UINT16_MAX };
                uint8_t *at = (uint8_t *)first_record() + head->head % RING_BYTES;

                for (uint32_t i = 0; i < n_all; i++)
                        frames[python_frame_place(i)].code = 8 + 8 * i;
                memcpy(at, &record, sizeof(record));
                memcpy(at + sizeof(record), frames, sizeof(frames));
                head->head += record.n_bytes;
                ck_assert_uint_eq(find_at(at_ns + US, 0), 8);
                ck_assert_uint_eq(fixture.sample.n_frames, PYTHON_FRAMES_MAX);
                ck_assert_uint_eq(fixture.sample.n_left_out, n);
                ck_assert_uint_eq(fixture.sample.n_left_out_entries, n);
                for (uint32_t i = 0; i < PYTHON_FRAMES_MAX; i++)
                        ck_assert_uint_eq(fixture.sample.frames[i].code,
                                          8 + 8 * (i < PYTHON_INNER_FRAMES ? i : i + n));
        }
}
END_TEST

START_TEST(test_another_threads_is_not_taken)
{
        put_record(OTHER_TID, AT_NS - 5 * US, 0, 16);
        ck_assert_uint_eq(find_at(AT_NS, 0), 0);
        put_record(OTHER_TID, AT_NS + 105 * US, 0, 32);
        ck_assert_uint_eq(find_at(AT_NS + 100 * US, 0), 0);
}
END_TEST

START_TEST(test_one_that_is_too_old_is_not_taken)
{
        put_record(TID, AT_NS - PACE_PYTHON_BEFORE_NS, 0, 16);
        ck_assert_uint_eq(find_at(AT_NS, 0), 0);
        put_record(TID, AT_NS + 1 * US, 0, 32);
        ck_assert_uint_eq(find_at(AT_NS + PACE_PYTHON_BEFORE_NS, 0), 32);
}
END_TEST

START_TEST(test_one_that_is_too_late_is_left_to_the_next_sample)
{
        put_record(TID, AT_NS + PACE_PYTHON_AFTER_NS + 1, 0, 16);
        ck_assert_uint_eq(find_at(AT_NS, 0), 0);
        ck_assert_uint_eq(find_at(AT_NS + PACE_PYTHON_AFTER_NS, 0), 16);
}
END_TEST

/* The sample before was lost. */
START_TEST(test_the_nearest_one_is_taken)
{
        put_record(TID, AT_NS - 1000 * US, 0, 16);
        put_record(TID, AT_NS + 3 * US, 0, 32);
        put_record(TID, AT_NS + 50 * US, 0, 48);
        ck_assert_uint_eq(find_at(AT_NS, 0), 32);
        ck_assert_uint_eq(find_at(AT_NS + 48 * US, 0), 48);
        put_record(TID, AT_NS + 9000 * US, 0, 64);
        put_record(TID, AT_NS + 9090 * US, 0, 80);
        ck_assert_uint_eq(find_at(AT_NS + 9001 * US, 0), 64);
        ck_assert_uint_eq(find_at(AT_NS + 9091 * US, 0), 80);
}
END_TEST

START_TEST(test_samples_and_switches_are_told_apart)
{
        put_record(TID, AT_NS - 2 * US, PYTHON_FLAG_SWITCH, 16);
        ck_assert_uint_eq(find_at(AT_NS, 0), 0);
        put_record(TID, AT_NS + 500 * US, PYTHON_FLAG_SWITCH, 32);
        ck_assert_uint_eq(find_at(AT_NS + 501 * US, PYTHON_FLAG_SWITCH), 32);
}
END_TEST

/* A switch before the end of a call has the frames of another moment, and so has a sample. */
START_TEST(test_ends_of_calls_are_told_apart)
{
        put_record(TID, AT_NS - 2 * US, PYTHON_FLAG_CALL, 16);
        put_record(TID, AT_NS - 1 * US, PYTHON_FLAG_SWITCH, 32);
        ck_assert_uint_eq(find_at(AT_NS, PYTHON_FLAG_CALL), 16);
        put_record(TID, AT_NS + 500 * US, PYTHON_FLAG_CALL, 48);
        ck_assert_uint_eq(find_at(AT_NS + 501 * US, PYTHON_FLAG_SWITCH), 0);
        put_record(TID, AT_NS + 900 * US, PYTHON_FLAG_CALL, 64);
        ck_assert_uint_eq(find_at(AT_NS + 901 * US, 0), 0);
}
END_TEST

/* With the sample's record, and with one that is passed over. */
START_TEST(test_copies_are_handed_out)
{
        struct switch_ring_head *head = first_head();

        for (uint64_t i = 0; i < 3; i++) {
                struct python_record *record = (void *)((uint8_t *)first_record() + head->head);

                put_record(i == 0 ? OTHER_TID : TID, AT_NS + i * 1000 * US, 0, 16);
                record->n_bytes += 24;
                head->head += 24;
        }
        ck_assert_uint_eq(find_at(AT_NS + 1000 * US, 0), 16);
        ck_assert_uint_eq(n_copies, 2);
        ck_assert_uint_eq(n_copied_bytes, 2 * 24);
        ck_assert_uint_eq(find_at(AT_NS + 2000 * US, 0), 16);
        ck_assert_uint_eq(n_copies, 3);
}
END_TEST

START_TEST(test_a_number_of_frames_is_not_believed)
{
        struct python_record *record = first_record();

        put_record(TID, AT_NS, 0, 16);
        record->n_frames = UINT32_MAX;
        ck_assert_uint_eq(find_at(AT_NS, 0), 16);
        ck_assert_uint_eq(fixture.sample.n_frames, 1);
}
END_TEST

START_TEST(test_a_corrupt_ring_is_emptied)
{
        const struct python_sample_key key = { .pid = TID, .tid = TID, .time_ns = AT_NS };
        struct python_record *record = first_record();

        put_record(TID, AT_NS, 0, 16);
        record->n_bytes = 8;
        switch_ring_look(&fixture.ring);
        ck_assert_int_eq(python_ring_find(&fixture.ring, &fixture.clock, &key, 0, &sink, &fixture.sample),
                         -EBADMSG);
        ck_assert_int_eq(python_ring_find(&fixture.ring, &fixture.clock, &key, 0, &sink, &fixture.sample), 0);
}
END_TEST
