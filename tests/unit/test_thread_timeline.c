/* SPDX-License-Identifier: MIT */
/*
 * analyze/walk/thread_timeline.c, zone_stats.c: times of zones are those that the events were written to have
 */
#include "analyze/walk/thread_timeline.h"
#include "analyze/walk/zone_stats.h"
#include "tests/unit/unit_test.h"

#include <stdint.h>
#include <stdlib.h>

enum { A = 1, B = 2, N_LOCATIONS = 70 };

struct step {
        uint64_t time_ns;
        char what;    /* ( begins, ) ends, + switch in, - switch out, x exit */
        int location; /* of ( */
};

struct fixture {
        struct thread_timeline thread;
        struct zone_stats zones;
};

static struct fixture f;

static void setup(void)
{
        f = (struct fixture){ .thread = { .n_open = 0 } };
        ck_assert_int_eq(zone_stats_reserve(&f.zones, N_LOCATIONS), 0);
}

static void teardown(void)
{
        thread_timeline_deinit(&f.thread);
        zone_stats_deinit(&f.zones);
}

static int end_zone(uint64_t time_ns)
{
        struct zone_instance zone;

        return thread_timeline_end_zone(&f.thread, time_ns, &zone) ? zone_stats_add(&f.zones, &zone) : 0;
}

static int drop_zones(uint64_t time_ns)
{
        struct zone_instance zone;
        int r = 0;

        while (r == 0 && thread_timeline_drop_zone(&f.thread, time_ns, &zone))
                r = zone_stats_add(&f.zones, &zone);
        return r;
}

static int end_thread(uint64_t time_ns)
{
        int r = drop_zones(time_ns);

        thread_timeline_exit(&f.thread);
        return r;
}

static int finish(uint64_t end_ns)
{
        thread_timeline_finish(&f.thread, end_ns);
        return drop_zones(f.thread.last_ns);
}

static void play(const struct step *steps, size_t n_steps)
{
        for (size_t i = 0; i < n_steps; i++) {
                const struct step *s = &steps[i];
                int r = 0;

                thread_timeline_advance(&f.thread, s->time_ns);
                if (s->what == '(')
                        r = thread_timeline_begin_zone(&f.thread, s->time_ns, (uint32_t)s->location);
                else if (s->what == ')')
                        r = end_zone(s->time_ns);
                else if (s->what == '+')
                        thread_timeline_switch_in(&f.thread, s->time_ns);
                else if (s->what == '-')
                        thread_timeline_switch_out(&f.thread, s->time_ns);
                else
                        r = end_thread(s->time_ns);
                ck_assert_int_eq(r, 0);
        }
}

#define PLAY(...)                                  \
        play((const struct step[]){ __VA_ARGS__ }, \
             sizeof((const struct step[]){ __VA_ARGS__ }) / sizeof(struct step))

static const struct zone_stat *zone_of(int location)
{
        return &f.zones.zones[location - 1];
}

START_TEST(test_nested_zones)
{
        PLAY({ 100, '(', A }, { 110, '(', B }, { 130, ')', 0 }, { 150, '(', B }, { 155, ')', 0 },
             { 200, ')', 0 });
        ck_assert_int_eq(finish(500), 0);
        ck_assert_uint_eq(zone_of(A)->durations_ns.n_values, 1);
        ck_assert_uint_eq(zone_of(A)->total_ns, 100);
        ck_assert_uint_eq(zone_of(A)->self_ns, 75);
        ck_assert_uint_eq(zone_of(B)->durations_ns.n_values, 2);
        ck_assert_uint_eq(zone_of(B)->total_ns, 25);
        ck_assert_uint_eq(zone_of(B)->self_ns, 25);
        ck_assert_uint_eq(zone_of(B)->durations_ns.smallest, 5);
        ck_assert_uint_eq(zone_of(B)->durations_ns.largest, 20);
        ck_assert_uint_eq(f.thread.n_zones, 3);
}
END_TEST

/* A in B in A in A: the times of the inner A are part of the outermost A's. */
START_TEST(test_recursion_counts_time_once)
{
        PLAY({ 0, '(', A }, { 10, '(', B }, { 20, '(', A }, { 30, '(', A }, { 40, ')', 0 }, { 60, ')', 0 },
             { 80, ')', 0 }, { 100, ')', 0 });
        ck_assert_uint_eq(zone_of(A)->durations_ns.n_values, 3);
        ck_assert_uint_eq(zone_of(A)->durations_ns.sum, 100 + 40 + 10);
        ck_assert_uint_eq(zone_of(A)->total_ns, 100);
        ck_assert_uint_eq(zone_of(A)->self_ns, 30 + 30 + 10);
        ck_assert_uint_eq(zone_of(A)->on_cpu_ns, 100);
        ck_assert_uint_eq(zone_of(B)->total_ns, 70);
        ck_assert_uint_eq(zone_of(B)->self_ns, 30);
}
END_TEST

/* Locations 64 apart share a bit of the quick check: they must not be taken for each other. */
START_TEST(test_recursion_is_told_from_a_shared_bit)
{
        PLAY({ 0, '(', 1 }, { 10, '(', 65 }, { 30, ')', 0 }, { 100, ')', 0 });
        ck_assert_uint_eq(zone_of(65)->total_ns, 20);
}
END_TEST

START_TEST(test_switches_split_zones)
{
        PLAY({ 0, '+', 0 }, { 10, '(', A }, { 20, '-', 0 }, { 50, '+', 0 }, { 60, '(', B }, { 65, '-', 0 },
             { 75, '+', 0 }, { 80, ')', 0 }, { 110, ')', 0 }, { 120, '-', 0 });
        ck_assert_int_eq(finish(1000), 0);
        ck_assert_uint_eq(zone_of(A)->total_ns, 100);
        ck_assert_uint_eq(zone_of(A)->on_cpu_ns, 60);
        ck_assert_uint_eq(zone_of(B)->total_ns, 20);
        ck_assert_uint_eq(zone_of(B)->on_cpu_ns, 10);
        ck_assert_uint_eq(f.thread.ran_ns, 80);
        ck_assert_uint_eq(f.thread.n_switches, 6);
}
END_TEST

/* A new thread has its name, at 100, long before a CPU is free for it. */
START_TEST(test_a_new_thread_waits_for_a_cpu)
{
        thread_timeline_advance(&f.thread, 100);
        PLAY({ 900, '+', 0 }, { 920, '(', A }, { 930, '-', 0 }, { 980, '+', 0 }, { 990, ')', 0 },
             { 1000, '-', 0 });
        ck_assert_int_eq(finish(2000), 0);
        ck_assert_uint_eq(f.thread.first_ns, 100);
        ck_assert_uint_eq(f.thread.ran_ns, 30 + 20);
        ck_assert_uint_eq(zone_of(A)->on_cpu_ns, 10 + 10);
}
END_TEST

/*
 * It was preempted before switches were recorded, and waited for long: its sample at 110
 * is what is known of it.
 */
START_TEST(test_who_is_met_on_a_cpu)
{
        thread_timeline_advance(&f.thread, 100);
        thread_timeline_advance(&f.thread, 110);
        f.thread.n_samples = 1;
        PLAY({ 900, '+', 0 }, { 930, '-', 0 });
        ck_assert_int_eq(finish(2000), 0);
        ck_assert_uint_eq(f.thread.ran_ns, 10 + 30);
}
END_TEST

/* The switch out is lost: as it had a zone before, it ran, until an unknown time. */
START_TEST(test_a_thread_with_a_zone_ran)
{
        PLAY({ 100, '(', A }, { 200, '+', 0 }, { 300, ')', 0 }, { 400, '-', 0 });
        ck_assert_uint_eq(f.thread.ran_ns, 300);
        ck_assert_uint_eq(zone_of(A)->on_cpu_ns, 200);
}
END_TEST

/* A fiber runs only between its switches: when it was entered and left, and when its thread was switched. */
START_TEST(test_a_fiber_runs_while_it_is_entered)
{
        f.thread.is_fiber = true;
        PLAY({ 0, '(', A }, { 10, '+', 0 }, { 30, '(', B }, { 40, '-', 0 }, { 90, '+', 0 }, { 95, ')', 0 },
             { 100, '-', 0 }, { 200, ')', 0 });
        ck_assert_int_eq(finish(1000), 0);
        ck_assert_uint_eq(zone_of(A)->total_ns, 200);
        ck_assert_uint_eq(zone_of(A)->on_cpu_ns, 40);
        ck_assert_uint_eq(zone_of(B)->total_ns, 65);
        ck_assert_uint_eq(zone_of(B)->on_cpu_ns, 15);
        ck_assert_uint_eq(f.thread.ran_ns, 40);
}
END_TEST

START_TEST(test_a_zone_spent_waiting)
{
        PLAY({ 0, '(', A }, { 0, '-', 0 }, { 90, '+', 0 }, { 100, ')', 0 });
        ck_assert_uint_eq(zone_of(A)->on_cpu_ns, 10);
}
END_TEST

START_TEST(test_lost_switches_never_give_more_than_there_is)
{
        PLAY({ 0, '(', A }, { 10, '+', 0 }, { 20, '-', 0 }, { 30, '-', 0 }, { 40, '+', 0 }, { 100, ')', 0 });
        ck_assert_uint_eq(zone_of(A)->on_cpu_ns, 80);
        ck_assert_uint_eq(f.thread.n_lost, 1); /* before the first one it may have run */
}
END_TEST

START_TEST(test_unclosed_at_exit)
{
        PLAY({ 100, '(', A }, { 120, '(', B }, { 150, 'x', 0 });
        ck_assert_uint_eq(zone_of(A)->n_unclosed, 1);
        ck_assert_uint_eq(zone_of(A)->durations_ns.n_values, 0);
        ck_assert_uint_eq(zone_of(A)->total_ns, 50);
        ck_assert_uint_eq(zone_of(A)->self_ns, 20);
        ck_assert_uint_eq(zone_of(B)->total_ns, 30);
        ck_assert_int_eq(finish(900), 0);
        ck_assert_uint_eq(f.thread.last_ns, 150); /* exited: it did not live until 900 */
        ck_assert_uint_eq(zone_of(A)->n_unclosed, 1);
}
END_TEST

START_TEST(test_unclosed_at_the_end)
{
        PLAY({ 100, '(', A }, { 150, '-', 0 });
        ck_assert_int_eq(finish(300), 0);
        ck_assert_uint_eq(zone_of(A)->n_unclosed, 1);
        ck_assert_uint_eq(zone_of(A)->total_ns, 200);
        ck_assert_uint_eq(zone_of(A)->on_cpu_ns, 50);
}
END_TEST

START_TEST(test_ends_without_begin_are_left_out)
{
        PLAY({ 10, ')', 0 }, { 20, '(', A }, { 30, ')', 0 }, { 40, ')', 0 });
        ck_assert_uint_eq(f.thread.n_unbalanced, 2);
        ck_assert_uint_eq(zone_of(A)->total_ns, 10);
}
END_TEST

START_TEST(test_too_deep_is_counted_and_stays_balanced)
{
        for (uint64_t i = 0; i < THREAD_TIMELINE_DEPTH_MAX + 5; i++)
                PLAY({ i, '(', A });
        for (uint64_t i = 0; i < THREAD_TIMELINE_DEPTH_MAX + 5; i++)
                PLAY({ THREAD_TIMELINE_DEPTH_MAX + 5 + i, ')', 0 });
        ck_assert_uint_eq(f.thread.n_too_deep, 5);
        ck_assert_uint_eq(f.thread.n_unbalanced, 0);
        ck_assert_uint_eq(f.thread.n_open, 0);
        ck_assert_uint_eq(zone_of(A)->durations_ns.n_values, THREAD_TIMELINE_DEPTH_MAX);
        ck_assert_uint_eq(zone_of(A)->total_ns, 2 * (THREAD_TIMELINE_DEPTH_MAX + 5) - 1);
}
END_TEST

START_TEST(test_time_that_goes_back_is_no_time)
{
        PLAY({ 100, '(', A }, { 50, ')', 0 }, { 40, '-', 0 }, { 30, '+', 0 });
        ck_assert_int_eq(finish(10), 0);
        ck_assert_uint_eq(zone_of(A)->total_ns, 0);
        ck_assert_uint_le(f.thread.ran_ns, 100);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
