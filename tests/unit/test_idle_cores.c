/* SPDX-License-Identifier: MIT */
/*
 * analyze/cores/idle_cores.c, idle_gaps.c, idle_steps.c, wait_roots.c: a core that does not run the program
 * has a cause, which is what the waiting threads wait for in the end, and each cause is the sum of its steps
 */
#include "analyze/cores/idle_cores.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "tests/unit/thread_scene.h"
#include "tests/unit/unit_test.h"

#include <math.h>

static struct thread_scene s;
static struct idle_cores cores;
static struct past_sweep sweep;
static struct wait_roots roots;
static bool is_taken;

static void teardown(void)
{
        if (is_taken)
                idle_cores_deinit(&cores);
        wait_roots_deinit(&roots);
        past_sweep_deinit(&sweep);
        thread_scene_deinit(&s);
}

UNIT_TEST_PLAN(.teardown = teardown);

#define STEPS 7

static double steps_of(uint32_t cause)
{
        double sum = 0;

        for (uint32_t i = 0; i < cores.steps.n_steps; i++)
                sum += cores.steps.steps[i].cores[cause];
        return sum;
}

/* Not one part of a core is in the rows and not in the steps, or the other way round. */
static void expect_steps(void)
{
        double rows[IDLE_CAUSES] = { 0 };
        uint64_t n_moments = 0;

        for (uint32_t i = 0; i < cores.n_rows; i++)
                rows[idle_cores_key(&cores, cores.order[i])->cause] += cores.rows[cores.order[i] - 1].cores;
        for (uint32_t cause = 0; cause < IDLE_CAUSES; cause++)
                ck_assert_double_eq(steps_of(cause), rows[cause]);
        for (uint32_t i = 0; i < cores.steps.n_steps; i++) {
                const struct idle_step *step = &cores.steps.steps[i];
                double all = step->running;

                for (uint32_t cause = 0; cause < IDLE_CAUSES; cause++)
                        all += step->cores[cause];
                ck_assert_double_eq_tol(all, (double)step->n_moments * cores.n_cpus, 1e-5 * all + 1e-9);
                n_moments += step->n_moments;
        }
        ck_assert_uint_eq(n_moments, cores.n_moments);
}

static void take(const struct trace_filter_request *request)
{
        const struct idle_cores_request idle = { .filter = &s.filter, .n_steps = STEPS };
        struct error err = ERROR_NONE;
        int r;

        thread_scene_open(&s, request);
        r = idle_cores_take(&cores, &s.trace, &idle, &err);
        is_taken = true;
        ck_assert_msg(r == 0, "%s", err.text);
        expect_steps();
}

/* The share of the cores' time that has the cause; by a thread of that name, in that function, if given. */
static double share_of(enum idle_cause cause, const char *thread, const char *function)
{
        const struct path_names *names = &cores.sweep.names;
        double sum = 0;

        for (uint32_t i = 0; i < cores.n_rows; i++) {
                const struct idle_key *key = idle_cores_key(&cores, cores.order[i]);
                enum function_kind kind;
                bool is_thread = !thread ||
                                 (key->group != 0 &&
                                  text_view_is(trace_dictionary_text(s.trace.dictionary,
                                                                     names->groups[key->group - 1].name),
                                               thread));

                if (key->cause == cause && is_thread &&
                    (!function || text_view_is(path_names_function(names, key->own, &kind), function)))
                        sum += cores.rows[cores.order[i] - 1].cores;
        }
        return idle_cores_share(&cores, sum);
}

#define EXPECT_SHARE(cause, thread, function, share) \
        ck_assert_double_eq_tol(share_of((cause), (thread), (function)), (share), 1e-3)

static void expect_whole(void)
{
        double sum = 0;

        for (uint32_t i = 0; i < cores.n_rows; i++)
                sum += cores.rows[cores.order[i] - 1].cores;
        ck_assert_double_eq_tol(sum, cores.cores + cores.others, 1e-6 * sum);
}

/* main runs serial() for 6 of 8 ms alone, then both run bar(). */
static void build_serial(unsigned n_frames)
{
        uint32_t one, two, serial, bar;

        thread_scene_init(&s, "2", 8 * n_frames);
        serial = thread_scene_function(&s, "serial");
        bar = thread_scene_function(&s, "bar");
        one = thread_scene_thread(&s, "main", 0);
        two = thread_scene_thread(&s, "w", 0);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        for (unsigned i = 0; i < n_frames; i++) {
                thread_scene_work(&s, i * 8, i * 8 + 6, serial);
                thread_scene_work(&s, i * 8 + 6, i * 8 + 8, bar);
        }
        thread_scene_end(&s);
        thread_scene_begin(&s, two);
        thread_scene_in(&s, 0);
        for (unsigned i = 0; i < n_frames; i++) {
                thread_scene_wait(&s, i * 8, s.queue, i * 8 + 6, one);
                thread_scene_work(&s, i * 8 + 6, i * 8 + 8, bar);
        }
        thread_scene_end(&s);
}

START_TEST(test_a_serial_section)
{
        const struct idle_row *row;

        build_serial(125);
        take(NULL);
        ck_assert_uint_eq(cores.open_ns, 1000 * THREAD_SCENE_MS);
        ck_assert_uint_eq(cores.n_moments, PAST_SWEEP_MOMENTS);
        ck_assert_double_eq_tol(idle_cores_share(&cores, cores.cores), 0.375, 1e-3);
        ck_assert_double_eq_tol(idle_cores_seconds(&cores, cores.cores), 0.75, 2e-3);
        EXPECT_SHARE(IDLE_RUN, "main", "serial", 0.375);
        row = &cores.rows[cores.order[0] - 1];
        ck_assert_double_eq_tol(row->n_waiting / (double)row->n_moments, 1, 1e-9);
        ck_assert_uint_eq(row->n_alone, row->n_moments);
        expect_whole();
}
END_TEST

/* Nothing waits, or only for what never comes: one thread for two cores, however much it does. */
START_LOOP_TEST(test_too_few_threads, 0, 2)
{
        uint32_t one;

        thread_scene_init(&s, "2", 1000);
        one = thread_scene_thread(&s, "main", 0);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        thread_scene_work(&s, 0, 1000, thread_scene_function(&s, "work"));
        thread_scene_end(&s);
        if (_i == 1) {
                thread_scene_begin(&s, thread_scene_thread(&s, "idle", 0));
                thread_scene_in(&s, 0);
                thread_scene_out(&s, 0, s.queue);
                thread_scene_end(&s);
        }
        take(NULL);
        EXPECT_SHARE(IDLE_TOO_FEW, "main", "work", 0.5);
        ck_assert_uint_eq(cores.n_rows, 1);
}
END_TEST

/* As many threads as cores: nothing is idle. */
START_TEST(test_nothing_idle)
{
        thread_scene_init(&s, "2", 1000);
        for (int i = 0; i < 2; i++) {
                thread_scene_begin(&s, thread_scene_thread(&s, "main", 0));
                thread_scene_in(&s, 0);
                thread_scene_work(&s, 0, 1000, thread_scene_function(&s, "work"));
                thread_scene_end(&s);
        }
        take(NULL);
        ck_assert_double_eq(cores.cores, 0);
        ck_assert_uint_eq(cores.n_rows, 0);
        ck_assert_uint_eq(cores.n_moments, PAST_SWEEP_MOMENTS);
}
END_TEST

/* Both wait for a third in the end, one of them through the other; with a mutex in the place of the wait. */
START_TEST(test_chain_and_lock)
{
        uint32_t one, two, three, work;

        thread_scene_init(&s, "4", 1000);
        work = thread_scene_function(&s, "work");
        one = thread_scene_thread(&s, "main", 0);
        two = thread_scene_thread(&s, "middle", 0);
        three = thread_scene_thread(&s, "last", 0);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        thread_scene_wait(&s, 0, s.queue, 1000, two);
        thread_scene_end(&s);
        thread_scene_begin(&s, two);
        thread_scene_in(&s, 0);
        thread_scene_wait(&s, 0, s.queue, 500, three);
        thread_scene_wait(&s, 500, s.mutex, 1000, three);
        thread_scene_end(&s);
        thread_scene_begin(&s, three);
        thread_scene_in(&s, 0);
        thread_scene_work(&s, 0, 1000, work);
        thread_scene_end(&s);
        take(NULL);
        EXPECT_SHARE(IDLE_RUN, "last", "work", 0.375);
        EXPECT_SHARE(IDLE_LOCK, "last", "work", 0.375);
        ck_assert_double_eq_tol(cores.rows[0].n_waiting / (double)cores.rows[0].n_moments, 2, 1e-9);
        expect_whole();
}
END_TEST

/* main waits for w with a timeout, again and again: for w.  If w never ends it, main waits for its timer. */
START_LOOP_TEST(test_timeouts, 0, 2)
{
        uint32_t one, two;

        thread_scene_init(&s, "2", 1000);
        one = thread_scene_thread(&s, "main", 0);
        two = thread_scene_thread(&s, "w", 0);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        for (unsigned i = 0; i < 10; i++)
                thread_scene_wait(&s, 100 * i + 0.01, s.timer, 100 * i + 100, i == 9 && _i == 0 ? two : 0);
        thread_scene_end(&s);
        thread_scene_begin(&s, two);
        thread_scene_in(&s, 0);
        thread_scene_work(&s, 0, 1000, thread_scene_function(&s, "work"));
        thread_scene_end(&s);
        take(NULL);
        if (_i == 0)
                EXPECT_SHARE(IDLE_RUN, "w", "work", 0.5);
        else
                EXPECT_SHARE(IDLE_TIMER, "main", "nap", 0.5);
        expect_whole();
}
END_TEST

/* Threads of one name are one row; its thread is one that ran. */
START_TEST(test_threads_of_one_name)
{
        uint32_t one, two;

        thread_scene_init(&s, "2", 1000);
        one = thread_scene_thread(&s, "w", 0);
        two = thread_scene_thread(&s, "w", 0);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        thread_scene_wait(&s, 0, s.queue, 1000, two);
        thread_scene_end(&s);
        thread_scene_begin(&s, two);
        thread_scene_in(&s, 0);
        thread_scene_work(&s, 0, 1000, thread_scene_function(&s, "work"));
        thread_scene_end(&s);
        take(NULL);
        EXPECT_SHARE(IDLE_RUN, "w", "work", 0.5);
        ck_assert_uint_eq(cores.rows[cores.order[0] - 1].thread, two);
}
END_TEST

/*
 * Two wait for a third in the end, which runs and has no lock: the one that has it waits for the third at a
 * pipe, so none of both is a lock of the third.
 */
START_TEST(test_lock_of_one_that_waits)
{
        uint32_t one, two, three;

        thread_scene_init(&s, "3", 1000);
        one = thread_scene_thread(&s, "second", 0);
        two = thread_scene_thread(&s, "first", 0);
        three = thread_scene_thread(&s, "reader", 0);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        thread_scene_wait(&s, 0, s.mutex, 1000, two);
        thread_scene_end(&s);
        thread_scene_begin(&s, two);
        thread_scene_in(&s, 0);
        thread_scene_wait(&s, 0, s.queue, 1000, three);
        thread_scene_end(&s);
        thread_scene_begin(&s, three);
        thread_scene_in(&s, 0);
        thread_scene_work(&s, 0, 1000, thread_scene_function(&s, "work"));
        thread_scene_end(&s);
        take(NULL);
        EXPECT_SHARE(IDLE_RUN, "reader", "work", 2 / 3.0);
        EXPECT_SHARE(IDLE_LOCK, "reader", "work", 0);
        expect_whole();
}
END_TEST

/* A lock that the program reports: its holder counts, although the waiter's timer ends the wait. */
START_TEST(test_lock_of_the_program)
{
        uint32_t one, two, work;
        struct trace_lock lock = { .process = 1 };

        thread_scene_init(&s, "2", 1000);
        work = thread_scene_function(&s, "work");
        one = thread_scene_thread(&s, "main", 0);
        two = thread_scene_thread(&s, "holder", 0);
        lock.location = trace_builder_location(&s.b, "lock");
        (void)trace_builder_row(&s.b, TRACE_TABLE_LOCKS, &lock);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        TRACE_BUILDER_ADD(&s.b, THREAD_SCENE_START_NS, LOCK_WAIT, 1);
        thread_scene_wait(&s, 0, s.timer, 1000, 0);
        TRACE_BUILDER_ADD(&s.b, THREAD_SCENE_START_NS + 1000 * THREAD_SCENE_MS, LOCK_OBTAIN, 1);
        thread_scene_end(&s);
        thread_scene_begin(&s, two);
        thread_scene_in(&s, 0);
        TRACE_BUILDER_ADD(&s.b, THREAD_SCENE_START_NS, LOCK_OBTAIN, 1);
        thread_scene_work(&s, 0, 1000, work);
        TRACE_BUILDER_ADD(&s.b, THREAD_SCENE_START_NS + 1000 * THREAD_SCENE_MS, LOCK_RELEASE, 1);
        thread_scene_end(&s);
        take(NULL);
        EXPECT_SHARE(IDLE_LOCK, "holder", "work", 0.5);
        ck_assert_uint_eq(cores.n_rows, 1);
}
END_TEST

/* Free cores are divided by the threads that wait: two for main, which runs, one for its timer. */
START_TEST(test_several_causes)
{
        uint32_t one, work;

        thread_scene_init(&s, "4", 1000);
        work = thread_scene_function(&s, "work");
        one = thread_scene_thread(&s, "main", 0);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        thread_scene_work(&s, 0, 1000, work);
        thread_scene_end(&s);
        for (int i = 0; i < 3; i++) {
                thread_scene_begin(&s, thread_scene_thread(&s, i == 2 ? "sleeper" : "w", 0));
                thread_scene_in(&s, 0);
                thread_scene_wait(&s, 0, i == 2 ? s.timer : s.queue, 1000, i == 2 ? 0 : one);
                thread_scene_end(&s);
        }
        take(NULL);
        EXPECT_SHARE(IDLE_RUN, "main", "work", 0.5);
        EXPECT_SHARE(IDLE_TIMER, "sleeper", "nap", 0.25);
        expect_whole();
}
END_TEST

/* Two threads of which one runs, on CPU 0; the other could run, on @cpu.  400 of 500 ms are the quota's. */
static void take_one_of_two(uint32_t cpu)
{
        uint32_t one, two;

        thread_scene_init(&s, "2", 1000);
        trace_builder_meta(&s.b, "cpu_throttled", "5000000+500000=400000;");
        one = thread_scene_thread(&s, "main", 0);
        two = thread_scene_thread(&s, "w", 0);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        thread_scene_work(&s, 0, 1000, thread_scene_function(&s, "work"));
        thread_scene_end(&s);
        s.cpu = cpu;
        thread_scene_begin(&s, two);
        thread_scene_in(&s, 0);
        thread_scene_preempt(&s, 0);
        thread_scene_in(&s, 1000);
        thread_scene_end(&s);
        take(NULL);
        EXPECT_SHARE(IDLE_QUOTA, NULL, NULL, 0.2);
}

/* Threads that could run: the quota where the control group counted it, else others. */
START_TEST(test_quota_and_others)
{
        take_one_of_two(1);
        EXPECT_SHARE(IDLE_OTHERS, NULL, NULL, 0.3);
        ck_assert_double_eq_tol(idle_cores_share(&cores, cores.cores), 0.2, 1e-3);
        ck_assert_double_eq_tol(idle_cores_share(&cores, cores.others), 0.3, 1e-3);
        expect_whole();
}
END_TEST

/* In the queue of a CPU that a recorded thread has, so nothing says that others had the free one. */
START_TEST(test_behind_a_recorded_thread)
{
        take_one_of_two(0);
        EXPECT_SHARE(IDLE_READY, NULL, NULL, 0.3);
        ck_assert_double_eq_tol(idle_cores_share(&cores, cores.cores), 0.5, 1e-3);
        ck_assert(cores.others == 0);
        expect_whole();
}
END_TEST

/* The same beside a thread that waits to the end; a quota that kept it from all CPUs is the cause of all. */
START_TEST(test_others_have_one)
{
        thread_scene_init(&s, "4", 1000);
        thread_scene_begin(&s, thread_scene_thread(&s, "main", 0));
        thread_scene_in(&s, 0);
        thread_scene_preempt(&s, 0);
        thread_scene_in(&s, 1000);
        thread_scene_end(&s);
        take(NULL);
        EXPECT_SHARE(IDLE_OTHERS, NULL, NULL, 0.25);
        EXPECT_SHARE(IDLE_TOO_FEW, NULL, NULL, 0.75);
        expect_whole();
}
END_TEST

/* The same beside a thread that waits to the end; where a quota kept it from all CPUs, that is the cause. */
START_LOOP_TEST(test_the_only_one_beside_a_wait_to_the_end, 0, 2)
{
        thread_scene_init(&s, "4", 1000);
        if (_i == 1)
                trace_builder_meta(&s.b, "cpu_throttled", "5000000+1000000=1000000;");
        thread_scene_begin(&s, thread_scene_thread(&s, "main", 0));
        thread_scene_in(&s, 0);
        thread_scene_out(&s, 0, s.mutex);
        thread_scene_end(&s);
        thread_scene_begin(&s, thread_scene_thread(&s, "w", 0));
        thread_scene_in(&s, 0);
        thread_scene_preempt(&s, 0);
        thread_scene_in(&s, 1000);
        thread_scene_end(&s);
        take(NULL);
        EXPECT_SHARE(IDLE_TOO_FEW, NULL, NULL, _i == 0 ? 0.75 : 0);
        EXPECT_SHARE(IDLE_QUOTA, NULL, NULL, _i == 0 ? 0 : 1);
        expect_whole();
}
END_TEST

/* The switch of a thread onto a CPU that was idle for @idle_ms since the last thread left it. */
static void in_after_idle(double at_ms, uint64_t cpu, uint64_t idle_ms)
{
        TRACE_BUILDER_ADD(&s.b, THREAD_SCENE_START_NS + (uint64_t)(at_ms * (double)THREAD_SCENE_MS),
                          SWITCH_IN, cpu, 0, 0, idle_ms * THREAD_SCENE_MS);
}

static void out_of(double at_ms, uint64_t cpu)
{
        TRACE_BUILDER_ADD(&s.b, THREAD_SCENE_START_NS + (uint64_t)(at_ms * (double)THREAD_SCENE_MS),
                          SWITCH_OUT, cpu, 0, TRACE_WAIT_SLEEPING, s.queue, TRACE_STACK_COMPLETE);
}

/*
 * The trace has the idle times of CPUs: of the 600 ms in which the worker waits, other programs had its CPU
 * for 400; and of the third CPU, on which no thread ran, for 250 of 1000.
 */
START_TEST(test_idle_times_of_cpus)
{
        uint32_t one, two, work;

        thread_scene_init(&s, "3", 1000);
        trace_builder_meta(&s.b, "idle", "1");
        trace_builder_meta(&s.b, "cpu_idle", "2=750000000;9=1;");
        work = thread_scene_function(&s, "work");
        one = thread_scene_thread(&s, "main", 0);
        two = thread_scene_thread(&s, "w", 0);
        thread_scene_begin(&s, one);
        in_after_idle(0, 0, 0);
        thread_scene_work(&s, 0, 1000, work);
        thread_scene_end(&s);
        thread_scene_begin(&s, two);
        in_after_idle(0, 1, 0);
        out_of(0, 1);
        thread_scene_woken(&s, 600, one);
        in_after_idle(600, 1, 200);
        thread_scene_work(&s, 600, 1000, work);
        thread_scene_end(&s);
        take(NULL);
        ck_assert(idle_gaps_are_known(&cores.gaps));
        /* until 600 ms two CPUs are free, and of these 600 + 600 ms 200 + 450 are idle */
        EXPECT_SHARE(IDLE_RUN, "main", "work", (0.2 + 0.45) / 3);
        EXPECT_SHARE(IDLE_TOO_FEW, NULL, NULL, 0.4 * 0.75 / 3);
        EXPECT_SHARE(IDLE_OTHERS, NULL, NULL, (0.4 + 0.25) / 3);
        ck_assert_double_eq_tol(idle_cores_share(&cores, cores.cores), 0.95 / 3, 1e-3);
        expect_whole();
}
END_TEST

/* A thread could run for 500 ms: for 300 of them another program had the CPU, for 200 it was idle. */
START_TEST(test_ready_beside_an_idle_cpu)
{
        uint32_t one;

        thread_scene_init(&s, "1", 1000);
        trace_builder_meta(&s.b, "idle", "1");
        one = thread_scene_thread(&s, "main", 0);
        thread_scene_begin(&s, one);
        in_after_idle(0, 0, 0);
        thread_scene_preempt(&s, 500);
        in_after_idle(1000, 0, 200);
        thread_scene_end(&s);
        take(NULL);
        /* the gap is one: 60 % of each moment are the other program's */
        EXPECT_SHARE(IDLE_OTHERS, NULL, NULL, 0.3);
        EXPECT_SHARE(IDLE_READY, NULL, NULL, 0.2);
        ck_assert_double_eq_tol(idle_cores_share(&cores, cores.cores), 0.2, 1e-3);
}
END_TEST

/* The thread that could run belongs to the CPU that others had; the idle one to what was waited for. */
START_TEST(test_ready_where_others_run)
{
        uint32_t one, two;

        thread_scene_init(&s, "2", 1000);
        trace_builder_meta(&s.b, "idle", "1");
        trace_builder_meta(&s.b, "cpu_idle", "1=1000000000;");
        one = thread_scene_thread(&s, "main", 0);
        two = thread_scene_thread(&s, "sleeper", 0);
        thread_scene_begin(&s, one);
        in_after_idle(0, 0, 0);
        thread_scene_preempt(&s, 0);
        in_after_idle(1000, 0, 0);
        thread_scene_end(&s);
        thread_scene_begin(&s, two);
        in_after_idle(0, 0, 0);
        thread_scene_wait(&s, 0, s.timer, 1000, 0);
        thread_scene_end(&s);
        take(NULL);
        EXPECT_SHARE(IDLE_OTHERS, NULL, NULL, 0.5);
        EXPECT_SHARE(IDLE_TIMER, "sleeper", "nap", 0.5);
}
END_TEST

/* The last gap of a CPU is in META; a flight recorder has none, and then nothing is said of that time. */
START_LOOP_TEST(test_last_gaps, 0, 3)
{
        static const char *const lists[] = { "0=250000000;", "", "0=25x;" };
        uint32_t one;

        thread_scene_init(&s, "1", 1000);
        trace_builder_meta(&s.b, "idle", "1");
        trace_builder_meta(&s.b, "cpu_idle", lists[_i]);
        if (_i == 1)
                trace_builder_meta(&s.b, "ring", "30s");
        one = thread_scene_thread(&s, "main", 0);
        thread_scene_begin(&s, one);
        in_after_idle(0, 0, 0);
        thread_scene_work(&s, 0, 500, thread_scene_function(&s, "work"));
        out_of(500, 0);
        thread_scene_end(&s);
        take(NULL);
        EXPECT_SHARE(IDLE_OTHERS, NULL, NULL, _i == 0 ? 0.25 : _i == 1 ? 0 : 0.5);
        EXPECT_SHARE(IDLE_OPEN, NULL, NULL, _i == 0 ? 0.25 : _i == 1 ? 0.5 : 0);
}
END_TEST

/* A wait that ends long after the moment counts for who ends it; one that never ends has no say. */
START_TEST(test_long_waits)
{
        uint32_t one, two, three, work;

        thread_scene_init(&s, "2", 60000);
        work = thread_scene_function(&s, "work");
        one = thread_scene_thread(&s, "main", 0);
        two = thread_scene_thread(&s, "w", 0);
        three = thread_scene_thread(&s, "idle", 0);
        for (int i = 0; i < 60; i++) { /* a chunk each second */
                thread_scene_begin(&s, two);
                if (i == 0)
                        thread_scene_in(&s, 0);
                thread_scene_work(&s, i * 1000, (i + 1) * 1000, work);
                thread_scene_end(&s);
                if (i == 0 || i == 59)
                        thread_scene_begin(&s, one);
                if (i == 0) {
                        thread_scene_in(&s, 0);
                        thread_scene_out(&s, 0, s.queue);
                } else if (i == 59) {
                        thread_scene_woken(&s, 60000, two);
                        thread_scene_in(&s, 60000);
                }
                if (i == 0 || i == 59)
                        thread_scene_end(&s);
                if (i == 0) {
                        thread_scene_begin(&s, three);
                        thread_scene_in(&s, 0);
                        thread_scene_out(&s, 0, s.timer);
                        thread_scene_end(&s);
                }
                trace_builder_flush(&s.b);
        }
        take(NULL);
        EXPECT_SHARE(IDLE_RUN, "w", "work", 0.5);
        ck_assert_uint_eq(cores.n_rows, 1);
        ck_assert_uint_eq(cores.roots.n_early, cores.roots.n_moments); /* the third thread's wait */
}
END_TEST

/* All wait to the end: that is the cause. */
START_TEST(test_waits_without_end)
{
        uint32_t one, two;

        thread_scene_init(&s, "2", 1000);
        one = thread_scene_thread(&s, "main", 0);
        two = thread_scene_thread(&s, "w", 0);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        thread_scene_out(&s, 0, s.mutex);
        thread_scene_end(&s);
        thread_scene_begin(&s, two);
        thread_scene_in(&s, 0);
        thread_scene_out(&s, 0, s.mutex);
        thread_scene_end(&s);
        take(NULL);
        EXPECT_SHARE(IDLE_OPEN, NULL, "enter", 1);
}
END_TEST

/* main waits for a thread that is made only later, by one that runs. */
START_TEST(test_a_thread_that_is_not_born)
{
        uint32_t one, two, three, work;

        thread_scene_init(&s, "2", 1000);
        work = thread_scene_function(&s, "work");
        two = thread_scene_thread(&s, "maker", 0); /* the first of its process */
        one = thread_scene_thread(&s, "main", 0);
        three = thread_scene_thread(&s, "late", 900);
        thread_scene_begin(&s, two);
        thread_scene_in(&s, 0);
        thread_scene_work(&s, 0, 1000, work);
        thread_scene_end(&s);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        thread_scene_wait(&s, 0, s.queue, 1000, three);
        thread_scene_end(&s);
        thread_scene_begin(&s, three);
        thread_scene_in(&s, 900);
        thread_scene_work(&s, 900, 1000, work);
        thread_scene_end(&s);
        take(NULL);
        EXPECT_SHARE(IDLE_RUN, "maker", "work", 0.45);
        ck_assert_uint_eq(cores.n_rows, 1);
}
END_TEST

/* Two threads that wait for each other's locks do not hang the walk. */
START_TEST(test_a_circle)
{
        struct trace_lock lock = { .process = 1 };
        uint32_t threads[2];

        thread_scene_init(&s, "2", 1000);
        threads[0] = thread_scene_thread(&s, "main", 0);
        threads[1] = thread_scene_thread(&s, "w", 0);
        for (uint64_t i = 0; i < 2; i++) {
                lock.location = trace_builder_location(&s.b, i == 0 ? "a" : "b");
                (void)trace_builder_row(&s.b, TRACE_TABLE_LOCKS, &lock);
                thread_scene_begin(&s, threads[i]);
                thread_scene_in(&s, 0);
                TRACE_BUILDER_ADD(&s.b, THREAD_SCENE_START_NS, LOCK_OBTAIN, i + 1);
                TRACE_BUILDER_ADD(&s.b, THREAD_SCENE_START_NS, LOCK_WAIT, 2 - i);
                thread_scene_wait(&s, 0, s.mutex, 1000, threads[1 - i]);
                thread_scene_end(&s);
        }
        take(NULL);
        EXPECT_SHARE(IDLE_UNKNOWN, NULL, NULL, 1);
}
END_TEST

/* With a zone, only while it is open, and as many moments. */
START_TEST(test_zone)
{
        const struct trace_filter_request request = { .zone = "frame" };
        uint32_t one, two, work, frame;

        thread_scene_init(&s, "2", 1000);
        work = thread_scene_function(&s, "work");
        frame = trace_builder_location(&s.b, "frame");
        one = thread_scene_thread(&s, "main", 0);
        two = thread_scene_thread(&s, "w", 0);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        thread_scene_work(&s, 0, 600, work);
        trace_builder_begin_zone(&s.b, THREAD_SCENE_START_NS + 600 * THREAD_SCENE_MS, frame);
        thread_scene_work(&s, 600, 700, work);
        thread_scene_wait(&s, 700, s.disk, 800, 0);
        trace_builder_event(&s.b, THREAD_SCENE_START_NS + 800 * THREAD_SCENE_MS, TRACE_OP_ZONE_END);
        thread_scene_end(&s);
        thread_scene_begin(&s, two);
        thread_scene_in(&s, 0);
        thread_scene_work(&s, 0, 1000, work);
        thread_scene_end(&s);
        take(&request);
        ck_assert_uint_eq(cores.open_ns, 200 * THREAD_SCENE_MS);
        ck_assert_uint_ge(cores.n_moments, PAST_SWEEP_MOMENTS - 1);
        EXPECT_SHARE(IDLE_DISK, "main", "save", 0.25);
        ck_assert_uint_eq(cores.n_rows, 1);
}
END_TEST

START_TEST(test_unknown_cpus)
{
        thread_scene_init(&s, NULL, 100);
        thread_scene_begin(&s, thread_scene_thread(&s, "main", 0));
        thread_scene_in(&s, 0);
        thread_scene_end(&s);
        take(NULL);
        ck_assert_uint_eq(cores.n_cpus, 0);
        ck_assert_uint_eq(cores.n_rows, 0);
}
END_TEST

/* ------------------------------------------------------------------ moments that are kept */

struct handed {
        uint32_t n, n_open;
};

static struct handed handed;

static int take_moment(void *context, const struct wait_moment *moment)
{
        (void)context;
        handed.n++;
        for (uint32_t i = 0; i < moment->n_items; i++) {
                const struct wait_root *root = wait_roots_of(&roots, &moment->items[i]);

                handed.n_open += root && root->kind == WAIT_ROOT_OPEN;
        }
        return 0;
}

static int see_moment(void *context, uint64_t time_ns)
{
        (void)context;
        return wait_roots_add(&roots, time_ns, 0);
}

static int see_wait(void *context, uint32_t thread, uint64_t out_ns)
{
        (void)context;
        return wait_roots_over(&roots, thread, out_ns);
}

/* Where too many are kept, the oldest are handed out with what is known, and each exactly once. */
START_LOOP_TEST(test_bounded, 0, 2)
{
        struct past_sweep_request request = { .filter = &s.filter,
                                              .moment = see_moment,
                                              .wait_over = see_wait };
        struct error err = ERROR_NONE;
        uint32_t one, two, work;

        handed = (struct handed){ .n = 0 };
        thread_scene_init(&s, "2", 10000);
        work = thread_scene_function(&s, "work");
        one = thread_scene_thread(&s, "main", 0);
        two = thread_scene_thread(&s, "w", 0);
        for (int i = 0; i < 10; i++) {
                thread_scene_begin(&s, two);
                if (i == 0)
                        thread_scene_in(&s, 0);
                thread_scene_work(&s, i * 1000, (i + 1) * 1000, work);
                thread_scene_end(&s);
                thread_scene_begin(&s, one);
                if (i == 0) {
                        thread_scene_in(&s, 0);
                        thread_scene_out(&s, 0, s.queue);
                } else if (i == 9) {
                        thread_scene_woken(&s, 9500, two);
                        thread_scene_in(&s, 9500);
                }
                thread_scene_end(&s);
                trace_builder_flush(&s.b);
        }
        thread_scene_open(&s, NULL);
        wait_roots_init(&roots, &sweep, take_moment, NULL);
        if (_i == 1)
                roots.n_items_max = 1000;
        ck_assert_msg(past_sweep_run(&sweep, &s.trace, &request, &err) == 0, "%s", err.text);
        ck_assert_int_eq(wait_roots_finish(&roots), 0);
        ck_assert_uint_eq(handed.n, PAST_SWEEP_MOMENTS);
        ck_assert_uint_eq(roots.n_pending, 0);
        ck_assert_uint_eq(roots.n_items, 0);
        ck_assert_uint_eq(handed.n_open, roots.n_early);
        if (_i == 0)
                ck_assert_uint_eq(roots.n_early, 0);
        else
                ck_assert_uint_gt(roots.n_early, PAST_SWEEP_MOMENTS / 2);
}
END_TEST
