/* SPDX-License-Identifier: MIT */
/*
 * zone_ranks.c: the rank that comes late to the barrier is named, whether the barrier is the zone, inside of
 * it or after its last inner zone; balanced ranks have no late one; what cannot be compared is not
 */
#include "analyze/walk/zone_stats.h"
#include "analyze/zones/zone_ranks.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <string.h>

#define MS    UINT64_C(1000000)
#define RANKS 4
#define STEPS 100

static struct trace_dictionary d;
static struct zone_ranks z;
static uint64_t chance;

static void setup(void)
{
        trace_dictionary_init(&d, 0);
}

static void teardown(void)
{
        zone_ranks_deinit(&z);
        trace_dictionary_deinit(&d);
}

/* Thread 2 i + 1 and 2 i + 2 are of process i + 1, which is of recording i + 1 if @clock is not 0. */
static void make_processes(uint32_t clock, uint64_t error_ns)
{
        setup();
        for (uint32_t i = 0; i < RANKS; i++) {
                struct trace_recording recording = { .clock = i == 0 ? TRACE_ALIGNMENT_REFERENCE : clock,
                                                     .error_ns = i == 0 ? 0 : error_ns };
                struct trace_process process = { .pid = 100 + i, .recording = clock != 0 ? i + 1 : 0 };
                uint32_t id;

                if (clock != 0)
                        ck_assert_int_eq(trace_dictionary_add(&d, TRACE_TABLE_RECORDINGS, &recording, &id),
                                         0);
                ck_assert_int_eq(trace_dictionary_add(&d, TRACE_TABLE_PROCESSES, &process, &id), 0);
                for (uint32_t j = 0; j < 2; j++) {
                        struct trace_thread thread = { .process = i + 1, .tid = 100 + 10 * i + j };

                        ck_assert_int_eq(trace_dictionary_add(&d, TRACE_TABLE_THREADS, &thread, &id), 0);
                }
        }
        ck_assert_int_eq(zone_ranks_init(&z, &d), 0);
}

static void add(uint32_t thread, uint64_t begin_ns, uint64_t end_ns, uint32_t depth, bool is_named)
{
        const struct zone_instance zone = {
                .begin_ns = begin_ns, .end_ns = end_ns, .depth = depth, .is_named = is_named, .closed = true
        };

        ck_assert_int_eq(zone_ranks_add(&z, thread, &zone), 0);
}

static uint64_t noise(uint64_t most_ns)
{
        return fixed_random_next(&chance) % most_ns;
}

enum shape { STEP_AND_BARRIER, BARE_STEP, BARRIER, SHAPES };

/* All work 10 to 12 ms, the late one @more_ns longer in @n_late of the steps; 0 = none is late. */
static void run(enum shape shape, uint32_t late, uint64_t more_ns, uint64_t n_late, uint64_t n_steps)
{
        uint64_t now_ns = 1000 * MS;

        for (uint64_t k = 0; k < n_steps; k++) {
                uint64_t done_ns[RANKS], open_ns = 0;

                for (uint32_t i = 0; i < RANKS; i++) {
                        done_ns[i] = now_ns + 10 * MS + noise(2 * MS) +
                                     (i + 1 == late && k * n_late / n_steps != (k + 1) * n_late / n_steps
                                              ? more_ns
                                              : 0);
                        open_ns = done_ns[i] > open_ns ? done_ns[i] : open_ns;
                }
                for (uint32_t i = 0; i < RANKS; i++) {
                        uint64_t begin_ns = now_ns + noise(10000), end_ns = open_ns + 20000 + noise(10000);

                        if (shape != BARRIER)
                                add(2 * i + 1, begin_ns, done_ns[i], 1, false);
                        if (shape != BARE_STEP)
                                add(2 * i + 1, done_ns[i], end_ns - 1000, 1, shape == BARRIER);
                        if (shape != BARRIER)
                                add(2 * i + 1, begin_ns, end_ns, 0, true);
                }
                now_ns = open_ns + MS;
        }
        ck_assert_int_eq(zone_ranks_finish(&z), 0);
}

/* loop test: in each shape, each rank */
START_LOOP_TEST(the_late_rank_is_named, 0, SHAPES *RANKS)
{
        static const enum zone_gate gates[SHAPES] = { ZONE_GATE_INNER_BEGIN, ZONE_GATE_INNER_END,
                                                      ZONE_GATE_BEGIN };
        uint32_t late = (uint32_t)_i % RANKS + 1;

        chance = (uint64_t)_i + 1;
        make_processes(0, 0);
        run((enum shape)(_i / RANKS), late, 12 * MS, 95, STEPS);
        ck_assert_int_eq(z.state, ZONE_RANKS_COMPARED);
        ck_assert_int_eq(z.gate, gates[_i / RANKS]);
        ck_assert_uint_eq(z.n_compared, STEPS);
        ck_assert_uint_eq(z.late, late);
        ck_assert_uint_ge(z.ranks[late - 1].n_last, 95);
        ck_assert_uint_ge(z.ranks[late - 1].late_ns, 9 * MS);
        ck_assert_uint_le(z.ranks[late - 1].late_ns, 14 * MS);
        teardown();
}
END_TEST

/* loop test: nothing planted, in each shape */
START_LOOP_TEST(balanced_ranks_have_no_late_one, 0, SHAPES * 100)
{
        uint64_t n_last = 0;

        chance = (uint64_t)_i + 1000;
        make_processes(0, 0);
        z.looks_at_slow = true;
        run((enum shape)(_i % SHAPES), 0, 0, 0, 5 + noise(STEPS));
        ck_assert_uint_eq(z.late, 0);
        for (uint32_t i = 0; i < RANKS && z.state == ZONE_RANKS_COMPARED; i++)
                n_last += z.ranks[i].n_last;
        ck_assert_uint_eq(n_last, z.n_compared);
        teardown();
}
END_TEST

/* loop test: late in less than half, late by next to nothing, too few to tell */
START_LOOP_TEST(what_is_not_enough, 0, 3)
{
        chance = (uint64_t)_i + 5;
        make_processes(0, 0);
        if (_i == 0)
                run(STEP_AND_BARRIER, 2, 12 * MS, 30, STEPS);
        else if (_i == 1)
                run(STEP_AND_BARRIER, 2, MS / 4, STEPS, STEPS);
        else
                run(STEP_AND_BARRIER, 2, 12 * MS, 3, 3);
        ck_assert_uint_eq(z.late, 0);
        teardown();
}
END_TEST

/* loop test: one process, two threads of one, unequal counts, unknown clocks, clocks that are too inexact */
START_LOOP_TEST(what_cannot_be_compared, 0, 5)
{
        static const enum zone_ranks_state states[] = { ZONE_RANKS_NONE, ZONE_RANKS_THREADS,
                                                        ZONE_RANKS_COUNTS, ZONE_RANKS_CLOCKS,
                                                        ZONE_RANKS_COMPARED };

        chance = (uint64_t)_i + 5;
        make_processes(_i == 3   ? TRACE_ALIGNMENT_REALTIME_FREE
                       : _i == 4 ? TRACE_ALIGNMENT_EXCHANGED
                                 : 0,
                       _i == 4 ? 20 * MS : 0);
        if (_i == 1)
                add(2, 1, 2, 0, true);
        if (_i == 2)
                add(3, 1, 2, 0, true);
        if (_i == 0) {
                add(1, 1, 2, 0, true);
                ck_assert_int_eq(zone_ranks_finish(&z), 0);
        } else {
                run(STEP_AND_BARRIER, 2, 12 * MS, STEPS, STEPS);
        }
        ck_assert_int_eq(z.state, states[_i]);
        ck_assert_uint_eq(z.late, 0);
        ck_assert_uint_gt(z.mean_ns, 0);
        teardown();
}
END_TEST

/* Late in one of ten, which are the slow ones: only where these are asked for. */
START_LOOP_TEST(late_in_the_slow_ones, 0, 2)
{
        chance = 77;
        make_processes(0, 0);
        z.looks_at_slow = _i == 1;
        run(STEP_AND_BARRIER, 3, 12 * MS, 30, 300);
        ck_assert_uint_eq(z.late, _i == 1 ? 3 : 0);
        ck_assert_uint_eq(z.n_judged, _i == 1 ? 31 : 300); /* from the 270th of the 300 on */
        teardown();
}
END_TEST

/* Without a barrier each goes on by itself: the work is uneven, and no one was late. */
START_TEST(without_a_barrier)
{
        make_processes(0, 0);
        for (uint64_t k = 0; k < STEPS; k++)
                for (uint32_t i = 0; i < RANKS; i++)
                        add(2 * i + 1, k * (i + 1) * 3 * MS + MS, k * (i + 1) * 3 * MS + (i + 2) * MS, 0,
                            true);
        ck_assert_int_eq(zone_ranks_finish(&z), 0);
        ck_assert_int_eq(z.state, ZONE_RANKS_NO_BARRIER);
        ck_assert_uint_eq(z.late, 0);
        ck_assert_uint_eq(z.most_ns, 4 * STEPS * MS);
        ck_assert_uint_eq(z.mean_ns, 5 * STEPS * MS / 2);
}
END_TEST
