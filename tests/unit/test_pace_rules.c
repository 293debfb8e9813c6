/* SPDX-License-Identifier: MIT */
/* sampler/pace/recorder_pace.c: its rules, one by one; test_recorder_pace.c has all of them at work */
#include "base/clock.h"
#include "sampler/pace/recorder_pace.h"
#include "tests/unit/unit_test.h"

#define MIB (UINT64_C(1) << 20)

static uint64_t least(uint64_t a, uint64_t b)
{
        return a < b ? a : b;
}

/* Work that asks before each piece gets its share of ten seconds, no more, and never starves. */
START_LOOP_TEST(test_allowances, 0, PACED_WORKS)
{
        static const struct {
                uint64_t most, a_s;
                uint64_t dry_ns; /* the longest time without any */
        } rows[PACED_WORKS] = {
                [PACED_IMAGES] = { 100 * NS_PER_MS, 20 * NS_PER_MS, 2 * NS_PER_MS },
                [PACED_WATCHED] = { 200 * NS_PER_MS, 250 * NS_PER_MS, NS_PER_S / 4 },
                [PACED_LATE_STACKS] = { 5 * NS_PER_MS, 10 * NS_PER_MS, 2 * NS_PER_MS },
                [PACED_TABLES] = { 250 * NS_PER_MS, 250 * NS_PER_MS, NS_PER_S },
                [PACED_ROOM] = { 250 * NS_PER_MS, 250 * NS_PER_MS, NS_PER_S },
                [PACED_JIT_REST] = { 500 * NS_PER_MS, 0, UINT64_MAX },
                [PACED_PYTHON] = { UINT64_C(1) << 24, UINT64_C(10) << 24, NS_PER_S / 10 },
        };
        const uint64_t begin_ns = 1000 * NS_PER_S, step_ns = NS_PER_MS - 1;
        uint64_t now_ns = begin_ns, dry_ns = 0, total = 0, left, piece;
        struct recorder_pace p;
        unsigned n = 0;

        recorder_pace_init(&p, begin_ns);
        ck_assert_uint_eq(recorder_pace_left(&p, (enum paced_work)_i, now_ns), rows[_i].most);
        while (now_ns < begin_ns + 10 * NS_PER_S) {
                left = recorder_pace_left(&p, (enum paced_work)_i, now_ns);
                ck_assert(recorder_pace_has(&p, (enum paced_work)_i, 0, 0) == (left > 0));
                ck_assert(!recorder_pace_has(&p, (enum paced_work)_i, left / 2, left - left / 2));
                ck_assert(left == 0 || recorder_pace_has(&p, (enum paced_work)_i, left / 2, (left - 1) / 2));
                if (left == 0)
                        ck_assert_uint_lt(now_ns - dry_ns, rows[_i].dry_ns);
                else
                        dry_ns = now_ns;
                piece = left == 0 ? 0 : rows[_i].most / 4 / (1 + n++ % 7);
                total += piece < left || _i == PACED_WATCHED ? piece : left;
                recorder_pace_spend(&p, (enum paced_work)_i, piece);
                now_ns += step_ns;
        }
        ck_assert_uint_le(total, rows[_i].most * 5 / 4 + 10 * rows[_i].a_s);
        ck_assert_uint_ge(total, rows[_i].most / 2 + 9 * rows[_i].a_s);
        recorder_pace_repay(&p, (enum paced_work)_i, UINT64_MAX);
        ck_assert_uint_eq(recorder_pace_left(&p, (enum paced_work)_i, now_ns), rows[_i].most);
}
END_TEST

START_TEST(test_rests_of_the_loop)
{
        static const struct {
                struct recorder_needs needs;
                int ms;
        } rows[] = {
                { { .rate_hz = 997 }, PACE_LOOP_QUIET_MS },
                { { .is_ending = true }, 20 },
                { { .has_zones = true }, 20 },
                { { .has_zones = true, .opens = true }, 1 },
                { { .has_cuts = true, .rate_hz = PACE_LOOP_CUT_RATE_HZ }, PACE_LOOP_CUT_MS },
                { { .has_cuts = true, .rate_hz = PACE_LOOP_CUT_RATE_HZ + 1 }, PACE_LOOP_QUIET_MS },
                { { .has_parts = true }, PACE_LOOP_CUT_MS },
                { { .reads_python = true, .has_parts = true }, PACE_PYTHON_PAUSE_MS },
                { { .lacks_data = true }, PACE_LANDMARKS_PAUSE_MS },
        };
        const uint64_t now_ns = NS_PER_S;
        struct recorder_pace p;

        recorder_pace_init(&p, now_ns);
        p.rest_ns = 20 * NS_PER_MS;
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                const struct recorder_needs *n = &rows[i].needs;
                uint64_t rest_ns = (uint64_t)rows[i].ms * NS_PER_MS;
                uint64_t told_ns = least(rest_ns, PACE_LOOP_OPEN_MS * NS_PER_MS);

                p.cycled_ns = p.ended_ns = now_ns;
                ck_assert_int_eq(recorder_pace_sleep_ms(&p, n, UINT64_MAX, now_ns + rest_ns - 1), 1);
                ck_assert_int_eq(recorder_pace_sleep_ms(&p, n, UINT64_MAX, now_ns), rows[i].ms);
                ck_assert(!recorder_pace_cycle_is_due(&p, n, true, now_ns + rest_ns - 1));
                ck_assert(recorder_pace_cycle_is_due(&p, n, true, now_ns + rest_ns));
                ck_assert(!recorder_pace_cycle_is_due(&p, n, false, now_ns + told_ns - 1));
                ck_assert(recorder_pace_cycle_is_due(&p, n, false, now_ns + told_ns));
        }
}
END_TEST

/* With no other reason to wake, and a cycle that has just ended. */
static int sleep_at(struct recorder_pace *p, uint64_t stop_ns, uint64_t now_ns)
{
        const struct recorder_needs none = { .rate_hz = 997 };

        p->ended_ns = now_ns;
        return recorder_pace_sleep_ms(p, &none, stop_ns, now_ns);
}

START_TEST(test_reasons_to_come_soon)
{
        const struct recorder_needs none = { .rate_hz = 997 };
        const uint64_t now_ns = NS_PER_S;
        struct recorder_pace p;

        recorder_pace_init(&p, now_ns);
        p.jit_ns = now_ns;
        ck_assert_int_eq(sleep_at(&p, UINT64_MAX, now_ns + PACE_IMAGES_SOON_NS - 1), 1);
        ck_assert_int_eq(sleep_at(&p, UINT64_MAX, now_ns + PACE_IMAGES_SOON_NS), PACE_IMAGES_PAUSE_MS);
        ck_assert_int_eq(sleep_at(&p, UINT64_MAX, now_ns + PACE_IMAGES_EXPECTING_NS), PACE_LOOP_QUIET_MS);
        p.jit_ns = 0;
        p.code_ns = now_ns;
        ck_assert_int_eq(sleep_at(&p, UINT64_MAX, now_ns + PACE_LOOP_YOUNG_NS - 1), PACE_LOOP_OPEN_MS);
        ck_assert_int_eq(sleep_at(&p, UINT64_MAX, now_ns + PACE_LOOP_YOUNG_NS), PACE_LOOP_QUIET_MS);
        p.code_ns = 0;
        ck_assert_int_eq(sleep_at(&p, now_ns + NS_PER_MS, now_ns), 2);
        ck_assert_int_eq(sleep_at(&p, now_ns, now_ns), 0);
        /* Tables that came are a reason for a cycle at the next time out. */
        p.cycled_ns = now_ns;
        ck_assert(!recorder_pace_cycle_is_due(&p, &none, true, now_ns + PACE_LOOP_OPEN_MS * NS_PER_MS));
        p.has_tables = true;
        ck_assert(recorder_pace_cycle_is_due(&p, &none, true, now_ns + PACE_LOOP_OPEN_MS * NS_PER_MS));
}
END_TEST

/* Looks at maps: of one process ever more seldom while they find nothing, of all a share of the time. */
START_TEST(test_looks_at_maps)
{
        struct paced_look look = { .again_ns = 0 }, other = { .again_ns = 0 };
        uint64_t now_ns = NS_PER_S;
        struct recorder_pace p;

        recorder_pace_init(&p, now_ns);
        for (unsigned i = 1; i <= PACE_MAPS_DOUBLED + 2; i++) {
                uint64_t pause_ns = PACE_MAPS_PERIOD_NS << (i < PACE_MAPS_DOUBLED ? i : PACE_MAPS_DOUBLED);

                ck_assert(recorder_pace_may_look(&p, &look, now_ns));
                recorder_pace_note_look(&p, &look, false, now_ns - NS_PER_US, now_ns);
                ck_assert(!recorder_pace_may_look(&p, &other, now_ns + PACE_MAPS_SHARE * NS_PER_US - 1));
                ck_assert(recorder_pace_may_look(&p, &other, now_ns + PACE_MAPS_SHARE * NS_PER_US));
                ck_assert(!recorder_pace_may_look(&p, &look, now_ns + pause_ns - 1));
                now_ns += pause_ns;
        }
        recorder_pace_note_look(&p, &look, true, now_ns, now_ns);
        ck_assert(recorder_pace_may_look(&p, &look, now_ns + PACE_MAPS_PERIOD_NS));
        now_ns += 3 * NS_PER_S; /* a look that lasts so long does not keep the others waiting for minutes */
        recorder_pace_note_look(&p, &look, true, now_ns - 2 * NS_PER_S, now_ns);
        ck_assert(!recorder_pace_may_look(&p, &other, now_ns + PACE_MAPS_PAUSE_MAX_NS - 1));
        ck_assert(recorder_pace_may_look(&p, &other, now_ns + PACE_MAPS_PAUSE_MAX_NS));
}
END_TEST

/* Few maps of JITs are read in each cycle, many now and then; chunks are handed out ever later at first. */
START_TEST(test_periods)
{
        uint64_t now_ns = NS_PER_S, age_ns = PACE_CHUNK_AGE_FIRST_NS;
        struct recorder_pace p;

        recorder_pace_init(&p, now_ns);
        for (int i = 0; i < 3; i++)
                ck_assert(recorder_pace_read_jit_maps(&p, PACE_JIT_MAPS_EACH_CYCLE, now_ns));
        ck_assert(!recorder_pace_read_jit_maps(&p, PACE_JIT_MAPS_EACH_CYCLE + 1,
                                               now_ns + PACE_JIT_MAPS_NS - 1));
        ck_assert(recorder_pace_read_jit_maps(&p, PACE_JIT_MAPS_EACH_CYCLE + 1, now_ns + PACE_JIT_MAPS_NS));
        ck_assert(!recorder_pace_account(&p, now_ns + PACE_MERGE_ACCOUNTS_NS - 1));
        ck_assert(!recorder_pace_read_clocks(&p, now_ns + PACE_MERGE_CLOCKS_NS - 1));
        for (int i = 0; i < 10; i++, now_ns += age_ns, age_ns = least(2 * age_ns, PACE_CHUNK_AGE_NS)) {
                ck_assert(!recorder_pace_flush(&p, now_ns + age_ns - 1));
                ck_assert(recorder_pace_flush(&p, now_ns + age_ns));
        }
        ck_assert_uint_eq(age_ns, PACE_CHUNK_AGE_NS);
        ck_assert(recorder_pace_account(&p, now_ns));
        ck_assert(!recorder_pace_account(&p, now_ns));
        ck_assert(recorder_pace_read_clocks(&p, now_ns));
        ck_assert(!recorder_pace_read_clocks(&p, now_ns));
}
END_TEST

/* Cycles @step_ns apart, in each of which a ring gives @n_bytes; the rest after the last. */
static uint64_t rest_after(unsigned n_cycles, uint64_t step_ns, uint64_t ring_bytes, uint64_t n_bytes)
{
        struct recorder_pace p;

        recorder_pace_init(&p, 0);
        for (unsigned i = 1; i <= n_cycles; i++) {
                recorder_pace_begin_drain(&p, NS_PER_S + i * step_ns);
                recorder_pace_note_drained(&p, ring_bytes, 0, n_bytes);
        }
        return p.rest_ns;
}

START_TEST(test_rings_of_busy_threads)
{
        /* A quarter of the ring in a millisecond: half of it in two. */
        ck_assert_uint_eq(rest_after(20, NS_PER_MS, MIB, MIB / 4), 2 * NS_PER_MS);
        ck_assert_uint_eq(rest_after(20, 10 * NS_PER_MS, 16 * MIB, 8 * MIB), 10 * NS_PER_MS);
        /* It was full: there was too much even for the whole time. */
        ck_assert_uint_le(rest_after(20, 2 * NS_PER_MS, MIB, MIB), NS_PER_MS);
        ck_assert_uint_eq(rest_after(20, 0, MIB, MIB), 0);
        ck_assert_uint_eq(rest_after(20, NS_PER_MS, 0, 100), 0);
}
END_TEST

/* A ring that nothing came from may be filled from now on; the more it can take, the longer it can wait. */
START_TEST(test_rings_at_rest)
{
        ck_assert_uint_eq(rest_after(20, 10 * NS_PER_MS, MIB, 0), 5 * NS_PER_MS);
        ck_assert_uint_eq(rest_after(20, 10 * NS_PER_MS, 320 * UINT64_C(20000), 0), 10 * NS_PER_MS);
        ck_assert_uint_eq(rest_after(20, 10 * NS_PER_MS, 1024 * MIB, 0), 25 * NS_PER_MS);
        ck_assert_uint_eq(rest_after(20, 10 * NS_PER_MS, UINT64_MAX, UINT64_MAX), 5 * NS_PER_MS);
}
END_TEST

/* Spare memory lets a thread at rest wait longer, and changes nothing for one that writes. */
START_TEST(test_spare_memory)
{
        struct recorder_pace p;

        recorder_pace_init(&p, 0);
        for (unsigned i = 1; i <= 20; i++) {
                recorder_pace_begin_drain(&p, NS_PER_S + i * NS_PER_MS);
                recorder_pace_note_drained(&p, MIB, 1024 * MIB, 0);
        }
        ck_assert_uint_eq(p.rest_ns, 25 * NS_PER_MS);
        for (unsigned i = 21; i <= 40; i++) {
                recorder_pace_begin_drain(&p, NS_PER_S + i * NS_PER_MS);
                recorder_pace_note_drained(&p, MIB, 1024 * MIB, MIB / 4);
        }
        ck_assert_uint_eq(p.rest_ns, 2 * NS_PER_MS);
}
END_TEST

START_TEST(test_many_rings)
{
        struct recorder_pace p;

        recorder_pace_init(&p, 0);
        for (unsigned i = 1; i <= 10; i++) {
                recorder_pace_begin_drain(&p, NS_PER_S + i * 2 * NS_PER_MS);
                recorder_pace_note_drained(&p, 16 * MIB, 0, 0);
                recorder_pace_note_drained(&p, MIB, 0, MIB / 4); /* the one that counts */
                recorder_pace_note_drained(&p, 16 * MIB, 0, MIB);
        }
        ck_assert_uint_eq(p.rest_ns, 4 * NS_PER_MS);
}
END_TEST

/* After a burst the rests grow slowly; without any ring they do too. */
START_TEST(test_rests_after_a_burst)
{
        uint64_t now_ns = NS_PER_S, before_ns;
        struct recorder_pace p;

        recorder_pace_init(&p, 0);
        recorder_pace_begin_drain(&p, now_ns);
        recorder_pace_begin_drain(&p, now_ns += NS_PER_MS);
        recorder_pace_note_drained(&p, 1024 * MIB, 0, 1024 * MIB);
        ck_assert_uint_eq(p.rest_ns, NS_PER_MS / 2);
        for (int i = 0; i < 4; i++) {
                before_ns = p.rest_ns;
                recorder_pace_begin_drain(&p, now_ns += NS_PER_MS);
                ck_assert_uint_eq(p.rest_ns, 2 * before_ns + NS_PER_MS);
        }
        for (int i = 0; i < 10; i++)
                recorder_pace_begin_drain(&p, now_ns += NS_PER_MS);
        ck_assert_uint_eq(p.rest_ns, 25 * NS_PER_MS);
}
END_TEST

START_TEST(test_many_forks)
{
        struct recorder_pace b = { .rest_ns = 0 };
        uint64_t now_ns = 1000 * NS_PER_S;

        ck_assert(!recorder_pace_tables_may_wait(&b, false, now_ns));
        recorder_pace_note_fork(&b, now_ns);
        ck_assert(!recorder_pace_tables_may_wait(&b, false, now_ns));
        recorder_pace_note_fork(&b, now_ns - PACE_FORKS_WINDOW_NS / 2);
        ck_assert(recorder_pace_tables_may_wait(&b, false, now_ns));
        ck_assert(recorder_pace_tables_may_wait(&b, false, now_ns + PACE_FORKS_WINDOW_NS / 2 - 1));
        ck_assert(!recorder_pace_tables_may_wait(&b, false, now_ns + PACE_FORKS_WINDOW_NS / 2));
        ck_assert(!recorder_pace_tables_may_wait(&b, true, now_ns));
}
END_TEST

/* An older one, from another CPU's ring, does not take the place of a newer one. */
START_TEST(test_order_of_forks)
{
        struct recorder_pace b = { .rest_ns = 0 };
        uint64_t now_ns = 1000 * NS_PER_S;

        recorder_pace_note_fork(&b, now_ns);
        recorder_pace_note_fork(&b, now_ns - 1);
        recorder_pace_note_fork(&b, now_ns - 2 * PACE_FORKS_WINDOW_NS);
        ck_assert(recorder_pace_tables_may_wait(&b, false, now_ns));
        recorder_pace_note_fork(&b, now_ns + PACE_FORKS_WINDOW_NS);
        ck_assert(!recorder_pace_tables_may_wait(&b, false, now_ns + PACE_FORKS_WINDOW_NS));
        recorder_pace_note_fork(&b, now_ns + PACE_FORKS_WINDOW_NS);
        ck_assert(recorder_pace_tables_may_wait(&b, false, now_ns + PACE_FORKS_WINDOW_NS));
}
END_TEST
