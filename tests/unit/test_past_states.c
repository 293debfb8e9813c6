/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/past.c, path_pass.c: what a thread is at a moment, also before its first switch, and whatever
 * the order in which threads' events come within a chunk
 */
#include "analyze/cores/past_sweep.h"
#include "analyze/path/path.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "tests/unit/thread_scene.h"
#include "tests/unit/unit_test.h"

#define LENGTH_MS 1000

static struct thread_scene s;
static struct past_sweep sweep;
static struct path path;

static void teardown(void)
{
        past_sweep_deinit(&sweep);
        path_deinit(&path);
        thread_scene_deinit(&s);
}

UNIT_TEST_PLAN(.teardown = teardown);

/* By thread id and ms. */
static enum past_state states[4][LENGTH_MS];

static int take_moment(void *context, uint64_t time_ns)
{
        const struct past_wait *wait;

        (void)context;
        for (uint32_t id = 1; id <= sweep.past.n_threads && id < 4; id++)
                states[id][(time_ns - THREAD_SCENE_START_NS) / THREAD_SCENE_MS] = past_state_at(
                        &sweep.past, id, time_ns, &wait);
        return 0;
}

static void run(const struct trace_filter_request *filter)
{
        const struct past_sweep_request request = { .filter = &s.filter, .moment = take_moment };
        struct error err = ERROR_NONE;

        thread_scene_open(&s, filter);
        ck_assert_msg(past_sweep_run(&sweep, &s.trace, &request, &err) == 0, "%s", err.text);
}

static void expect(uint32_t thread, unsigned from_ms, unsigned to_ms, enum past_state state)
{
        for (unsigned ms = from_ms; ms < to_ms; ms++)
                ck_assert_msg(states[thread][ms] == state, "at %u ms: %d", ms, (int)states[thread][ms]);
}

START_TEST(test_states)
{
        uint32_t one;

        thread_scene_init(&s, "1", LENGTH_MS);
        one = thread_scene_thread(&s, "main", 100);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 200); /* it has a name since 100 ms, but ran no earlier */
        thread_scene_out(&s, 300, s.queue);
        thread_scene_woken(&s, 400, 0);
        thread_scene_in(&s, 500);
        thread_scene_preempt(&s, 600);
        thread_scene_in(&s, 700);
        thread_scene_out(&s, 750, s.queue);
        thread_scene_in(&s, 800); /* without a wake-up in the trace */
        thread_scene_exit(&s, 900);
        thread_scene_end(&s);
        thread_scene_begin(&s, thread_scene_thread(&s, "other", 0));
        thread_scene_work(&s, 0, LENGTH_MS, s.none);
        thread_scene_end(&s);
        run(NULL);
        expect(one, 0, 100, PAST_ABSENT);
        expect(one, 100, 200, PAST_READY);
        expect(one, 200, 300, PAST_RUNS);
        expect(one, 300, 400, PAST_WAITS);
        expect(one, 400, 500, PAST_READY);
        expect(one, 500, 600, PAST_RUNS);
        expect(one, 600, 700, PAST_READY);
        expect(one, 700, 750, PAST_RUNS);
        expect(one, 750, 800, PAST_WAITS);
        expect(one, 800, 900, PAST_RUNS);
        expect(one, 900, LENGTH_MS, PAST_ABSENT);
        expect(2, 0, LENGTH_MS, PAST_RUNS);
}
END_TEST

/* A thread of the kernel without work is no wait of the walk, and does not run either. */
START_TEST(test_idle_kernel_threads)
{
        uint32_t one;

        thread_scene_init(&s, "1", LENGTH_MS);
        one = thread_scene_thread(&s, "kworker/0:1", 0);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        for (uint64_t ms = 100; ms < LENGTH_MS; ms += 200) {
                TRACE_BUILDER_ADD(&s.b, THREAD_SCENE_START_NS + ms * THREAD_SCENE_MS, SWITCH_OUT, 0, 0,
                                  TRACE_WAIT_IDLE);
                thread_scene_in(&s, (double)ms + 100);
        }
        thread_scene_end(&s);
        run(NULL);
        for (unsigned ms = 0; ms < LENGTH_MS; ms += 200) {
                expect(one, ms, ms + 100, PAST_RUNS);
                expect(one, ms + 100, ms + 200, PAST_WAITS);
        }
}
END_TEST

/* A thread that began long before the range of time, and sleeps in it, is not one that waits for a CPU. */
START_TEST(test_sleeper_in_a_range)
{
        const struct trace_filter_request filter = { .from_ns = 5000 * THREAD_SCENE_MS,
                                                     .to_ns = 5900 * THREAD_SCENE_MS,
                                                     .has_from = true,
                                                     .has_to = true };
        const struct past_wait *wait;
        uint32_t one, two;

        thread_scene_init(&s, "1", 6000);
        one = thread_scene_thread(&s, "main", 0);
        two = thread_scene_thread(&s, "sleeper", 1000);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        for (int i = 0; i < 6000; i += 100)
                thread_scene_wait(&s, i, s.timer, i + 50, 0);
        thread_scene_end(&s);
        thread_scene_begin(&s, two);
        thread_scene_in(&s, 1000);
        thread_scene_out(&s, 1100, s.queue);
        thread_scene_in(&s, 5800);
        thread_scene_end(&s);
        thread_scene_open(&s, &filter);
        {
                const struct past_sweep_request request = { .filter = &s.filter };
                struct error err = ERROR_NONE;

                ck_assert_msg(past_sweep_run(&sweep, &s.trace, &request, &err) == 0, "%s", err.text);
        }
        ck_assert_int_eq(
                past_state_at(&sweep.past, two, THREAD_SCENE_START_NS + 5700 * THREAD_SCENE_MS, &wait),
                PAST_WAITS);
        ck_assert(wait && !wait->preempted);
        ck_assert_int_eq(
                past_state_at(&sweep.past, two, THREAD_SCENE_START_NS + 5850 * THREAD_SCENE_MS, &wait),
                PAST_RUNS);
}
END_TEST

/*
 * The worker's events come after a second of main's, in one chunk: that main waits for the worker is seen in
 * the first instance as in the last.
 */
START_TEST(test_path_of_late_threads)
{
        const struct path_request request = { .zone = "frame" };
        uint32_t one, two, frame, work;
        struct error err = ERROR_NONE;

        thread_scene_init(&s, "2", LENGTH_MS);
        frame = trace_builder_location(&s.b, "frame");
        work = thread_scene_function(&s, "work");
        one = thread_scene_thread(&s, "main", 0);
        two = thread_scene_thread(&s, "w", 0);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        for (int i = 0; i < LENGTH_MS; i += 10) {
                trace_builder_begin_zone(&s.b, THREAD_SCENE_START_NS + (uint64_t)i * THREAD_SCENE_MS, frame);
                thread_scene_wait(&s, i, s.queue, i + 10, two);
                trace_builder_event(&s.b, THREAD_SCENE_START_NS + (uint64_t)(i + 10) * THREAD_SCENE_MS,
                                    TRACE_OP_ZONE_END);
        }
        thread_scene_end(&s);
        thread_scene_begin(&s, two);
        thread_scene_in(&s, 0);
        for (int i = 0; i < LENGTH_MS; i += 10) {
                thread_scene_wait(&s, i, s.timer, i + 5, 0);
                thread_scene_work(&s, i + 5, i + 10, work);
        }
        thread_scene_end(&s);
        thread_scene_open(&s, NULL);
        ck_assert_msg(path_init(&path, &s.trace, &s.filter, &request, &err) == 0, "%s", err.text);
        ck_assert_uint_eq(path.n_examined, 100);
        ck_assert_uint_eq(path.n_rows, 2);
        for (uint32_t i = 0; i < 2; i++)
                ck_assert_double_eq_tol(path_row_share(&path, path.order[i]), 0.5, 1e-6);
        ck_assert_uint_eq(path_sums_key(&path.sums, path.order[0])->group,
                          path_names_group(&path.names, two));
}
END_TEST
