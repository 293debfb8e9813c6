/* SPDX-License-Identifier: MIT */
/*
 * sampler/switches/switch_ring.c: records come out whole and in order wherever they lie; a corrupt ring is
 * refused, not read past
 */
#include "base/error.h"
#include "sampler/bpf/switch_layout.h"
#include "sampler/switches/switch_ring.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DATA_BYTES 256
#define ROOM_BYTES (DATA_BYTES + 64)

struct fixture {
        uint8_t *memory; /* heap: what is read past its end, a sanitizer sees */
        struct switch_ring_head *shared;
        struct switch_ring ring;
};

static struct fixture f;

static void set_up(uint64_t start)
{
        f.memory = calloc(1, SWITCH_RING_HEAD_BYTES + ROOM_BYTES);
        ck_assert_ptr_nonnull(f.memory);
        f.shared = (struct switch_ring_head *)(void *)f.memory;
        f.shared->head = f.shared->tail = start;
        switch_ring_init(&f.ring, f.memory, DATA_BYTES, ROOM_BYTES);
        f.ring.tail_bytes = f.ring.told_bytes = f.ring.head_bytes = start;
}

static void teardown(void)
{
        free(f.memory);
}

/* As the BPF program does it. */
static void put(uint32_t n_bytes, uint8_t fill)
{
        uint8_t *at = f.memory + SWITCH_RING_HEAD_BYTES + (f.shared->head & (DATA_BYTES - 1));
        struct switch_record_head head = { .n_bytes = n_bytes, .kind = SWITCH_RECORD_SWITCH, .flags = fill };

        ck_assert_uint_le(f.shared->head - f.shared->tail + n_bytes, DATA_BYTES);
        memset(at, fill, n_bytes);
        memcpy(at, &head, sizeof(head));
        f.shared->head += n_bytes;
}

static void take(size_t wanted_bytes, uint8_t fill)
{
        const uint8_t *record;
        size_t n_bytes;

        ck_assert_int_eq(switch_ring_peek(&f.ring, &record, &n_bytes, NULL), 1);
        ck_assert_uint_eq(n_bytes, wanted_bytes);
        for (size_t i = sizeof(struct switch_record_head); i < n_bytes; i++)
                ck_assert_uint_eq(record[i], fill);
        switch_ring_consume(&f.ring, n_bytes);
}

static void expect_empty(void)
{
        const uint8_t *record;
        size_t n_bytes;

        ck_assert_int_eq(switch_ring_peek(&f.ring, &record, &n_bytes, NULL), 0);
}

/* From every place, also those where records stick out past the end. */
START_LOOP_TEST(test_records_come_out_in_order, 0, DATA_BYTES / 8)
{
        set_up((uint64_t)_i * 8);
        for (uint8_t round = 0; round < 40; round++) {
                put(32, round);
                put(56, (uint8_t)(round + 1));
                expect_empty();
                switch_ring_look(&f.ring);
                take(32, round);
                take(56, (uint8_t)(round + 1));
                expect_empty();
                switch_ring_release(&f.ring);
                ck_assert_uint_eq(f.shared->tail, f.shared->head);
        }
}
END_TEST

START_TEST(test_what_was_written_after_the_look_waits)
{
        set_up(0);
        put(32, 1);
        switch_ring_look(&f.ring);
        put(32, 2);
        take(32, 1);
        expect_empty();
        switch_ring_look(&f.ring);
        take(32, 2);
}
END_TEST

START_TEST(test_space_is_given_back_before_all_is_read)
{
        set_up(0);
        for (uint8_t i = 0; i < 8; i++)
                put(32, i);
        switch_ring_look(&f.ring);
        for (uint8_t i = 0; i < 4; i++)
                take(32, i);
        ck_assert_uint_ge(f.shared->tail, 32);
        ck_assert_uint_le(f.shared->tail, 128);
}
END_TEST

static const uint32_t bad_lengths[] = { 0, 1, 8, 15, 17, 33, 72, 4096, UINT32_MAX, UINT32_MAX - 7 };

START_LOOP_TEST(test_a_length_that_cannot_be_is_refused, 0, sizeof(bad_lengths) / sizeof(bad_lengths[0]))
{
        struct error err = ERROR_NONE;
        const uint8_t *record;
        size_t n_bytes;

        set_up(0);
        put(64, 1);
        memcpy(f.memory + SWITCH_RING_HEAD_BYTES, &bad_lengths[_i], sizeof(uint32_t));
        switch_ring_look(&f.ring);
        ck_assert_int_eq(switch_ring_peek(&f.ring, &record, &n_bytes, &err), -EBADMSG);
        ck_assert_int_eq(err.code, -EBADMSG);
        switch_ring_clear(&f.ring);
        expect_empty();
        ck_assert_uint_eq(f.shared->tail, 64);
}
END_TEST

static const uint64_t bad_heads[] = { 8, DATA_BYTES + 8, UINT64_MAX, UINT64_C(1) << 63 };

START_LOOP_TEST(test_a_head_that_cannot_be_is_refused, 0, sizeof(bad_heads) / sizeof(bad_heads[0]))
{
        const uint8_t *record;
        size_t n_bytes;

        set_up(0);
        f.shared->head = bad_heads[_i];
        switch_ring_look(&f.ring);
        ck_assert_int_eq(switch_ring_peek(&f.ring, &record, &n_bytes, NULL), -EBADMSG);
}
END_TEST

/* The last place where a record may begin, and one that would leave the room after it. */
START_TEST(test_a_record_ends_in_the_room)
{
        const uint8_t *record;
        size_t n_bytes;

        set_up(DATA_BYTES - 8);
        put(72, 3);
        switch_ring_look(&f.ring);
        take(72, 3);
        f.shared->head = f.shared->tail = 2 * DATA_BYTES - 8;
        f.ring.tail_bytes = f.shared->head;
        f.shared->head += 80;
        memcpy(f.memory + SWITCH_RING_HEAD_BYTES + DATA_BYTES - 8, &(uint32_t){ 80 }, sizeof(uint32_t));
        switch_ring_look(&f.ring);
        ck_assert_int_eq(switch_ring_peek(&f.ring, &record, &n_bytes, NULL), -EBADMSG);
}
END_TEST

START_TEST(test_losses_are_the_programs_count)
{
        set_up(0);
        f.shared->n_lost = 17;
        ck_assert_uint_eq(switch_ring_count_lost(&f.ring), 17);
}
END_TEST

/* The program's knowledge of the CPU when the ring was looked at, however long the reader takes. */
START_TEST(test_idle_time_is_that_of_the_look)
{
        set_up(0);
        f.shared->idle_ns = 500;
        f.shared->idle_since_ns = 9000;
        ck_assert_uint_eq(f.ring.idle_since_ns, 0);
        switch_ring_look(&f.ring);
        f.shared->idle_ns = 0;
        f.shared->idle_since_ns = SWITCH_IDLE_BUSY;
        ck_assert_uint_eq(f.ring.idle_ns, 500);
        ck_assert_uint_eq(f.ring.idle_since_ns, 9000);
        switch_ring_set_off(&f.ring, true);
        ck_assert(switch_ring_is_off(&f.ring));
}
END_TEST

UNIT_TEST_PLAN(.teardown = teardown);
