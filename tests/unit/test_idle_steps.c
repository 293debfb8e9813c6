/* SPDX-License-Identifier: MIT */
/*
 * analyze/cores/idle_steps.c: a cause has its cores in the step of the time in which they did not run the
 * program; that the steps of a cause are all of it is shown of every scene in test_idle_cores.c
 */
#include "analyze/cores/idle_steps.h"

#include "analyze/cores/idle_cores.h"
#include "base/error.h"
#include "tests/unit/thread_scene.h"
#include "tests/unit/unit_test.h"

#define STEPS 7

static struct thread_scene s;
static struct idle_cores cores;
static bool is_taken;

static void teardown(void)
{
        if (is_taken)
                idle_cores_deinit(&cores);
        is_taken = false;
        thread_scene_deinit(&s);
}

UNIT_TEST_PLAN(.teardown = teardown);

static void take(void)
{
        const struct idle_cores_request idle = { .filter = &s.filter, .n_steps = STEPS };
        struct error err = ERROR_NONE;
        int r;

        thread_scene_open(&s, NULL);
        r = idle_cores_take(&cores, &s.trace, &idle, &err);
        is_taken = true;
        ck_assert_msg(r == 0, "%s", err.text);
}

/* Cores of a step, on average. */
static double mean_of(uint32_t step, double sum)
{
        return sum / (double)cores.steps.steps[step].n_moments;
}

/* In the first half main runs alone while the other waits, in the second half both run. */
START_TEST(test_steps_are_where_it_was)
{
        uint32_t one, two, work;

        thread_scene_init(&s, "2", 1400);
        work = thread_scene_function(&s, "work");
        one = thread_scene_thread(&s, "main", 0);
        two = thread_scene_thread(&s, "w", 0);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        thread_scene_work(&s, 0, 1400, work);
        thread_scene_end(&s);
        thread_scene_begin(&s, two);
        thread_scene_in(&s, 0);
        thread_scene_wait(&s, 0, s.queue, 700, one);
        thread_scene_work(&s, 700, 1400, work);
        thread_scene_end(&s);
        take();
        ck_assert_uint_eq(cores.steps.n_steps, STEPS);
        for (uint32_t i = 0; i < STEPS; i++) {
                double expected = i < 3 ? 1 : i == 3 ? 0.5 : 0;

                ck_assert_double_eq_tol(mean_of(i, cores.steps.steps[i].cores[IDLE_RUN]), expected, 1e-3);
                ck_assert_double_eq_tol(mean_of(i, cores.steps.steps[i].running), 2 - expected, 1e-3);
        }
}
END_TEST

/* Many threads have few moments, and a step is not made of less than some of them. */
START_TEST(test_steps_have_moments)
{
        struct idle_steps steps = { .steps = NULL };

        ck_assert_int_eq(idle_steps_begin(&steps, 500, 1000, 2000, 10), 0);
        ck_assert_uint_eq(steps.n_steps, 100 / IDLE_STEP_MOMENTS_MIN);
        idle_steps_add_moment(&steps, 0, 1); /* outside of the range: the steps at its ends */
        idle_steps_add_moment(&steps, 9000, 1);
        ck_assert_uint_eq(steps.steps[0].n_moments + steps.steps[steps.n_steps - 1].n_moments, 2);
        idle_steps_deinit(&steps);
        ck_assert_int_eq(idle_steps_begin(&steps, 500, 1000, 1000, 10), 0);
        ck_assert_uint_eq(steps.n_steps, 1);
        idle_steps_deinit(&steps);
}
END_TEST

/* The quota takes a third of each step of a row, and the rounded parts are a third of the row. */
START_TEST(test_parts_of_a_row)
{
        struct idle_steps steps = { .steps = NULL };
        double quota = 0, rest = 0, all = 0;

        ck_assert_int_eq(idle_steps_begin(&steps, 100, 0, 1000, 1), 0);
        for (uint64_t at = 0; at < 1000; at += 7) {
                double part = idle_steps_round((double)(at % 13) / 3);

                ck_assert_int_eq(idle_steps_keep(&steps, at, 1 + at % 2, part), 0);
                all += at % 2 == 0 ? part : 0;
        }
        idle_steps_split(&steps, 1, IDLE_READY, 1.0 / 3);
        for (uint32_t i = 0; i < steps.n_steps; i++) {
                quota += steps.steps[i].cores[IDLE_QUOTA];
                rest += steps.steps[i].cores[IDLE_READY];
        }
        ck_assert_double_eq(quota, idle_steps_round(all / 3));
        ck_assert_double_eq(quota + rest, all);
        ck_assert(steps.steps[0].cores[IDLE_READY] > 0 || steps.steps[1].cores[IDLE_READY] > 0);
        idle_steps_deinit(&steps);
}
END_TEST
