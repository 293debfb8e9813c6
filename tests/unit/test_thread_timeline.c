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

static void setup(struct fixture *f)
{
        *f = (struct fixture){ .thread = { .n_open = 0 } };
        ck_assert_int_eq(zone_stats_reserve(&f->zones, N_LOCATIONS), 0);
}

static void teardown(struct fixture *f)
{
        thread_timeline_deinit(&f->thread);
        zone_stats_deinit(&f->zones);
}

static int end_zone(struct fixture *f, uint64_t time_ns)
{
        struct zone_instance zone;

        return thread_timeline_end_zone(&f->thread, time_ns, &zone) ? zone_stats_add(&f->zones, &zone) : 0;
}

static int drop_zones(struct fixture *f, uint64_t time_ns)
{
        struct zone_instance zone;
        int r = 0;

        while (r == 0 && thread_timeline_drop_zone(&f->thread, time_ns, &zone))
                r = zone_stats_add(&f->zones, &zone);
        return r;
}

static int end_thread(struct fixture *f, uint64_t time_ns)
{
        int r = drop_zones(f, time_ns);

        thread_timeline_exit(&f->thread);
        return r;
}

static int finish(struct fixture *f, uint64_t end_ns)
{
        thread_timeline_finish(&f->thread, end_ns);
        return drop_zones(f, f->thread.last_ns);
}

static void play(struct fixture *f, const struct step *steps, size_t n_steps)
{
        for (size_t i = 0; i < n_steps; i++) {
                const struct step *s = &steps[i];
                int r = 0;

                thread_timeline_advance(&f->thread, s->time_ns);
                if (s->what == '(')
                        r = thread_timeline_begin_zone(&f->thread, s->time_ns, (uint32_t)s->location);
                else if (s->what == ')')
                        r = end_zone(f, s->time_ns);
                else if (s->what == '+')
                        thread_timeline_switch_in(&f->thread, s->time_ns);
                else if (s->what == '-')
                        thread_timeline_switch_out(&f->thread, s->time_ns);
                else
                        r = end_thread(f, s->time_ns);
                ck_assert_int_eq(r, 0);
        }
}

#define PLAY(f, ...)                                  \
        play(f, (const struct step[]){ __VA_ARGS__ }, \
             sizeof((const struct step[]){ __VA_ARGS__ }) / sizeof(struct step))

static const struct zone_stat *zone_of(const struct fixture *f, int location)
{
        return &f->zones.zones[location - 1];
}

START_TEST(test_nested_zones)
{
        struct fixture f;

        setup(&f);
        PLAY(&f, { 100, '(', A }, { 110, '(', B }, { 130, ')', 0 }, { 150, '(', B }, { 155, ')', 0 },
             { 200, ')', 0 });
        ck_assert_int_eq(finish(&f, 500), 0);
        ck_assert_uint_eq(zone_of(&f, A)->durations_ns.n_values, 1);
        ck_assert_uint_eq(zone_of(&f, A)->total_ns, 100);
        ck_assert_uint_eq(zone_of(&f, A)->self_ns, 75);
        ck_assert_uint_eq(zone_of(&f, B)->durations_ns.n_values, 2);
        ck_assert_uint_eq(zone_of(&f, B)->total_ns, 25);
        ck_assert_uint_eq(zone_of(&f, B)->self_ns, 25);
        ck_assert_uint_eq(zone_of(&f, B)->durations_ns.smallest, 5);
        ck_assert_uint_eq(zone_of(&f, B)->durations_ns.largest, 20);
        ck_assert_uint_eq(f.thread.n_zones, 3);
        teardown(&f);
}
END_TEST

/* A in B in A in A: the times of the inner A are part of the outermost A's. */
START_TEST(test_recursion_counts_time_once)
{
        struct fixture f;

        setup(&f);
        PLAY(&f, { 0, '(', A }, { 10, '(', B }, { 20, '(', A }, { 30, '(', A }, { 40, ')', 0 },
             { 60, ')', 0 }, { 80, ')', 0 }, { 100, ')', 0 });
        ck_assert_uint_eq(zone_of(&f, A)->durations_ns.n_values, 3);
        ck_assert_uint_eq(zone_of(&f, A)->durations_ns.sum, 100 + 40 + 10);
        ck_assert_uint_eq(zone_of(&f, A)->total_ns, 100);
        ck_assert_uint_eq(zone_of(&f, A)->self_ns, 30 + 30 + 10);
        ck_assert_uint_eq(zone_of(&f, A)->on_cpu_ns, 100);
        ck_assert_uint_eq(zone_of(&f, B)->total_ns, 70);
        ck_assert_uint_eq(zone_of(&f, B)->self_ns, 30);
        teardown(&f);
}
END_TEST

/* Locations 64 apart share a bit of the quick check: they must not be taken for each other. */
START_TEST(test_recursion_is_told_from_a_shared_bit)
{
        struct fixture f;

        setup(&f);
        PLAY(&f, { 0, '(', 1 }, { 10, '(', 65 }, { 30, ')', 0 }, { 100, ')', 0 });
        ck_assert_uint_eq(zone_of(&f, 65)->total_ns, 20);
        teardown(&f);
}
END_TEST

START_TEST(test_switches_split_zones)
{
        struct fixture f;

        setup(&f);
        PLAY(&f, { 0, '+', 0 }, { 10, '(', A }, { 20, '-', 0 }, { 50, '+', 0 }, { 60, '(', B },
             { 65, '-', 0 }, { 75, '+', 0 }, { 80, ')', 0 }, { 110, ')', 0 }, { 120, '-', 0 });
        ck_assert_int_eq(finish(&f, 1000), 0);
        ck_assert_uint_eq(zone_of(&f, A)->total_ns, 100);
        ck_assert_uint_eq(zone_of(&f, A)->on_cpu_ns, 60);
        ck_assert_uint_eq(zone_of(&f, B)->total_ns, 20);
        ck_assert_uint_eq(zone_of(&f, B)->on_cpu_ns, 10);
        ck_assert_uint_eq(f.thread.ran_ns, 80);
        ck_assert_uint_eq(f.thread.n_switches, 6);
        teardown(&f);
}
END_TEST

/* A new thread has its name, at 100, long before a CPU is free for it. */
START_TEST(test_a_new_thread_waits_for_a_cpu)
{
        struct fixture f;

        setup(&f);
        thread_timeline_advance(&f.thread, 100);
        PLAY(&f, { 900, '+', 0 }, { 920, '(', A }, { 930, '-', 0 }, { 980, '+', 0 }, { 990, ')', 0 },
             { 1000, '-', 0 });
        ck_assert_int_eq(finish(&f, 2000), 0);
        ck_assert_uint_eq(f.thread.first_ns, 100);
        ck_assert_uint_eq(f.thread.ran_ns, 30 + 20);
        ck_assert_uint_eq(zone_of(&f, A)->on_cpu_ns, 10 + 10);
        teardown(&f);
}
END_TEST

/*
 * It was preempted before switches were recorded, and waited for long: its sample at 110
 * is what is known of it.
 */
START_TEST(test_who_is_met_on_a_cpu)
{
        struct fixture f;

        setup(&f);
        thread_timeline_advance(&f.thread, 100);
        thread_timeline_advance(&f.thread, 110);
        f.thread.n_samples = 1;
        PLAY(&f, { 900, '+', 0 }, { 930, '-', 0 });
        ck_assert_int_eq(finish(&f, 2000), 0);
        ck_assert_uint_eq(f.thread.ran_ns, 10 + 30);
        teardown(&f);
}
END_TEST

/* The switch out is lost: as it had a zone before, it ran, until an unknown time. */
START_TEST(test_a_thread_with_a_zone_ran)
{
        struct fixture f;

        setup(&f);
        PLAY(&f, { 100, '(', A }, { 200, '+', 0 }, { 300, ')', 0 }, { 400, '-', 0 });
        ck_assert_uint_eq(f.thread.ran_ns, 300);
        ck_assert_uint_eq(zone_of(&f, A)->on_cpu_ns, 200);
        teardown(&f);
}
END_TEST

/* A fiber runs only between its switches: when it was entered and left, and when its thread was switched. */
START_TEST(test_a_fiber_runs_while_it_is_entered)
{
        struct fixture f;

        setup(&f);
        f.thread.is_fiber = true;
        PLAY(&f, { 0, '(', A }, { 10, '+', 0 }, { 30, '(', B }, { 40, '-', 0 }, { 90, '+', 0 },
             { 95, ')', 0 }, { 100, '-', 0 }, { 200, ')', 0 });
        ck_assert_int_eq(finish(&f, 1000), 0);
        ck_assert_uint_eq(zone_of(&f, A)->total_ns, 200);
        ck_assert_uint_eq(zone_of(&f, A)->on_cpu_ns, 40);
        ck_assert_uint_eq(zone_of(&f, B)->total_ns, 65);
        ck_assert_uint_eq(zone_of(&f, B)->on_cpu_ns, 15);
        ck_assert_uint_eq(f.thread.ran_ns, 40);
        teardown(&f);
}
END_TEST

START_TEST(test_a_zone_spent_waiting)
{
        struct fixture f;

        setup(&f);
        PLAY(&f, { 0, '(', A }, { 0, '-', 0 }, { 90, '+', 0 }, { 100, ')', 0 });
        ck_assert_uint_eq(zone_of(&f, A)->on_cpu_ns, 10);
        teardown(&f);
}
END_TEST

START_TEST(test_lost_switches_never_give_more_than_there_is)
{
        struct fixture f;

        setup(&f);
        PLAY(&f, { 0, '(', A }, { 10, '+', 0 }, { 20, '-', 0 }, { 30, '-', 0 }, { 40, '+', 0 },
             { 100, ')', 0 });
        ck_assert_uint_eq(zone_of(&f, A)->on_cpu_ns, 80);
        ck_assert_uint_eq(f.thread.n_lost, 1); /* before the first one it may have run */
        teardown(&f);
}
END_TEST

START_TEST(test_unclosed_at_exit_and_at_the_end)
{
        struct fixture f;

        setup(&f);
        PLAY(&f, { 100, '(', A }, { 120, '(', B }, { 150, 'x', 0 });
        ck_assert_uint_eq(zone_of(&f, A)->n_unclosed, 1);
        ck_assert_uint_eq(zone_of(&f, A)->durations_ns.n_values, 0);
        ck_assert_uint_eq(zone_of(&f, A)->total_ns, 50);
        ck_assert_uint_eq(zone_of(&f, A)->self_ns, 20);
        ck_assert_uint_eq(zone_of(&f, B)->total_ns, 30);
        ck_assert_int_eq(finish(&f, 900), 0);
        ck_assert_uint_eq(f.thread.last_ns, 150); /* exited: it did not live until 900 */
        ck_assert_uint_eq(zone_of(&f, A)->n_unclosed, 1);
        teardown(&f);

        setup(&f);
        PLAY(&f, { 100, '(', A }, { 150, '-', 0 });
        ck_assert_int_eq(finish(&f, 300), 0);
        ck_assert_uint_eq(zone_of(&f, A)->n_unclosed, 1);
        ck_assert_uint_eq(zone_of(&f, A)->total_ns, 200);
        ck_assert_uint_eq(zone_of(&f, A)->on_cpu_ns, 50);
        teardown(&f);
}
END_TEST

START_TEST(test_ends_without_begin_are_left_out)
{
        struct fixture f;

        setup(&f);
        PLAY(&f, { 10, ')', 0 }, { 20, '(', A }, { 30, ')', 0 }, { 40, ')', 0 });
        ck_assert_uint_eq(f.thread.n_unbalanced, 2);
        ck_assert_uint_eq(zone_of(&f, A)->total_ns, 10);
        teardown(&f);
}
END_TEST

START_TEST(test_too_deep_is_counted_and_stays_balanced)
{
        struct fixture f;

        setup(&f);
        for (uint64_t i = 0; i < THREAD_TIMELINE_DEPTH_MAX + 5; i++)
                PLAY(&f, { i, '(', A });
        for (uint64_t i = 0; i < THREAD_TIMELINE_DEPTH_MAX + 5; i++)
                PLAY(&f, { THREAD_TIMELINE_DEPTH_MAX + 5 + i, ')', 0 });
        ck_assert_uint_eq(f.thread.n_too_deep, 5);
        ck_assert_uint_eq(f.thread.n_unbalanced, 0);
        ck_assert_uint_eq(f.thread.n_open, 0);
        ck_assert_uint_eq(zone_of(&f, A)->durations_ns.n_values, THREAD_TIMELINE_DEPTH_MAX);
        ck_assert_uint_eq(zone_of(&f, A)->total_ns, 2 * (THREAD_TIMELINE_DEPTH_MAX + 5) - 1);
        teardown(&f);
}
END_TEST

START_TEST(test_time_that_goes_back_is_no_time)
{
        struct fixture f;

        setup(&f);
        PLAY(&f, { 100, '(', A }, { 50, ')', 0 }, { 40, '-', 0 }, { 30, '+', 0 });
        ck_assert_int_eq(finish(&f, 10), 0);
        ck_assert_uint_eq(zone_of(&f, A)->total_ns, 0);
        ck_assert_uint_le(f.thread.ran_ns, 100);
        teardown(&f);
}
END_TEST
