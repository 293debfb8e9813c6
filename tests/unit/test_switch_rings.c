/* SPDX-License-Identifier: MIT */
/*
 * sampler/switches/switch_rings.c: the records of all CPUs come out in the order of time, each once, and none
 * that came after the look
 */
#include "base/clock.h"
#include "instrument/tick_clock.h"
#include "sampler/bpf/switch_layout.h"
#include "sampler/switches/switch_rings.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>
#include <string.h>

#define N_RINGS    9
#define DATA_BYTES 4096
#define N_ROUNDS   200

static struct switch_rings rings;
static struct tick_clock ticks;
static uint8_t *memory[N_RINGS]; /* heap */

static void setup(void)
{
        ck_assert_int_eq(switch_rings_init(&rings, N_RINGS), 0);
        for (uint32_t i = 0; i < N_RINGS; i++) {
                memory[i] = calloc(1, SWITCH_RING_HEAD_BYTES + 2 * DATA_BYTES);
                ck_assert_ptr_nonnull(memory[i]);
                switch_ring_init(&rings.items[i].ring, memory[i], DATA_BYTES, 2 * DATA_BYTES);
                rings.items[i].cpu = i;
        }
        memset(&ticks, 0, sizeof(ticks));
        tick_clock_add(&ticks, 0, 0, 1);
        tick_clock_add(&ticks, NS_PER_S, NS_PER_S, 1);
}

static void teardown(void)
{
        for (size_t i = 0; i < N_RINGS; i++)
                free(memory[i]);
        switch_rings_deinit(&rings);
}

static struct switch_ring_head *head_of(size_t ring)
{
        return (struct switch_ring_head *)(void *)memory[ring];
}

/* As the BPF program does it: a thread goes, and another one comes.  @n_bytes: what the record says it has */
static void put(size_t ring, uint64_t time_ns, uint32_t n_bytes)
{
        struct switch_record_switch record = {
                .head = { .n_bytes = n_bytes,
                          .kind = SWITCH_RECORD_SWITCH,
                          .flags = SWITCH_FLAG_OUT | SWITCH_FLAG_IN,
                          .time_ns = time_ns },
                .prev_pid = 10,
                .prev_tid = 11,
                .next_pid = 20,
                .next_tid = 21,
        };

        memcpy(memory[ring] + SWITCH_RING_HEAD_BYTES + (head_of(ring)->head & (DATA_BYTES - 1)), &record,
               sizeof(record));
        head_of(ring)->head += sizeof(record);
}

static void look(void)
{
        switch_rings_look(&rings);
        switch_rings_fill(&rings, &ticks);
}

/* Takes what there is up to then, in order.  Returns the number of records. */
static size_t take_all(uint64_t until_ns, uint64_t *before_ns)
{
        const struct perf_record *record;
        size_t n = 0;

        for (; switch_rings_peek(&rings, until_ns, &record); n++) {
                ck_assert_uint_le(*before_ns, record->time_ns);
                ck_assert_uint_le(record->time_ns, until_ns);
                *before_ns = record->time_ns;
                switch_rings_consume(&rings, &ticks);
        }
        switch_rings_release(&rings);
        return n;
}

START_TEST(test_order_of_time)
{
        uint64_t state = 5, now_ns = 0, before_ns = 0;
        size_t n_put = 0, n_taken = 0;

        for (int round = 0; round < N_ROUNDS; round++) {
                for (uint64_t n = fixed_random_next(&state) % 40; n > 0; n--, n_put++) {
                        now_ns += fixed_random_next(&state) % 3; /* some at the same time */
                        put(fixed_random_next(&state) % N_RINGS, now_ns, sizeof(struct switch_record_switch));
                }
                look();
                /* Younger records wait: those of the next round may be as old. */
                n_taken += take_all(now_ns > 5 ? now_ns - 5 : 0, &before_ns);
        }
        look();
        n_taken += take_all(UINT64_MAX, &before_ns);
        ck_assert_uint_eq(n_taken, 2 * n_put); /* who goes, and who comes */
        ck_assert_uint_eq(rings.n_garbage, 0);
        for (size_t i = 0; i < N_RINGS; i++)
                ck_assert_uint_eq(head_of(i)->tail, head_of(i)->head);
}
END_TEST

START_TEST(test_what_comes_after_the_look)
{
        uint64_t before_ns = 0;

        put(3, 100, sizeof(struct switch_record_switch));
        look();
        put(3, 110, sizeof(struct switch_record_switch));
        put(2, 90, sizeof(struct switch_record_switch));
        ck_assert_uint_eq(take_all(UINT64_MAX, &before_ns), 2);
        before_ns = 0;
        look();
        ck_assert_uint_eq(take_all(UINT64_MAX, &before_ns), 4);
}
END_TEST

/* A record without sense costs what was in its ring by then; other rings go on. */
START_TEST(test_garbage)
{
        uint64_t before_ns = 0;

        put(0, 100, 4);
        put(0, 101, sizeof(struct switch_record_switch));
        put(1, 102, sizeof(struct switch_record_switch));
        look();
        ck_assert_uint_eq(take_all(UINT64_MAX, &before_ns), 2);
        ck_assert_uint_eq(rings.n_garbage, 1);
        put(0, 103, sizeof(struct switch_record_switch));
        look();
        ck_assert_uint_eq(take_all(UINT64_MAX, &before_ns), 2);
        ck_assert_uint_eq(before_ns, 103);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
