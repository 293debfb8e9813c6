/* SPDX-License-Identifier: MIT */
/*
 * analyze/waits/cpu_lanes.c, report_cpus.c: known stretches on known CPUs add up, and
 * half-known ones add nothing
 */
#include "analyze/report/report.h"
#include "base/error.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>

static struct trace_builder b;
static struct report *report;

static void setup(void)
{
        trace_builder_init(&b);
}

static void teardown(void)
{
        report_free(report);
        report = NULL;
        trace_builder_deinit(&b);
}

/* @filter NULL = of all. */
static void load(const struct trace_filter_request *filter)
{
        struct report_options options = { .wants_cpus = true, .filter = filter };
        struct error err = ERROR_NONE;

        trace_builder_finish(&b);
        ck_assert_msg(report_load(b.path, &options, &report, &err) == 0, "%s", err.text);
}

static void run_on(uint32_t thread, uint64_t cpu, uint64_t from_ns, uint64_t to_ns)
{
        trace_builder_begin_run(&b, thread);
        TRACE_BUILDER_ADD(&b, from_ns, SWITCH_IN, cpu);
        TRACE_BUILDER_ADD(&b, to_ns, SWITCH_OUT, cpu);
        trace_builder_end_run(&b);
}

/* The time of each CPU in the report, up to 0. */
static void expect_busy(const uint64_t *busy_ns)
{
        uint32_t i;

        for (i = 0; busy_ns[i] != 0 && i < report->cpus.n_rows; i++)
                ck_assert_uint_eq(report->cpus.rows[i].busy_ns, busy_ns[i]);
        ck_assert_uint_eq(busy_ns[i], 0);
        ck_assert_uint_eq(i, report->cpus.n_rows);
}
#define EXPECT_BUSY(...) expect_busy((const uint64_t[]){ __VA_ARGS__, 0 })

/*
 * Events that come while the recording is being ended belong to it: no CPU is busy for more than its length.
 */
START_TEST(test_events_after_the_end)
{
        run_on(trace_builder_thread(&b, 1, 1), 0, 1000, 2500);
        trace_builder_meta(&b, "start_raw_ns", "1000");
        trace_builder_meta(&b, "end_raw_ns", "2000");
        load(NULL);
        ck_assert_uint_eq(report->cpus.rows[0].busy_ns, 1500);
        ck_assert_uint_eq(report->recording.duration_ns, 1500);
        ck_assert_uint_eq(report->recording.range_ns, 1500);
}
END_TEST

/* Thread 11: on CPU 3 for 100, on 0 for 50 and 7; thread 12 on CPU 3 for 300. */
START_TEST(test_known_stretches)
{
        const struct report_cpu *cpu;
        uint32_t first = trace_builder_thread(&b, 10, 11);
        uint32_t second = trace_builder_thread(&b, 10, 12);

        trace_builder_begin_run(&b, first);
        TRACE_BUILDER_ADD(&b, 1000, SWITCH_IN, 3);
        TRACE_BUILDER_ADD(&b, 1100, SWITCH_OUT, 3);
        TRACE_BUILDER_ADD(&b, 1200, SWITCH_IN, 0);
        trace_builder_end_run(&b);
        run_on(second, 3, 1100, 1400);
        trace_builder_flush(&b);
        trace_builder_begin_run(&b, first);
        TRACE_BUILDER_ADD(&b, 1250, SWITCH_OUT, 0);
        TRACE_BUILDER_ADD(&b, 1300, SWITCH_IN, 0);
        TRACE_BUILDER_ADD(&b, 1307, SWITCH_OUT, 0);
        trace_builder_end_run(&b);
        load(NULL);
        ck_assert_uint_eq(report->cpus.n_rows, 2);
        cpu = &report->cpus.rows[0];
        ck_assert_uint_eq(cpu->cpu, 0);
        ck_assert_uint_eq(cpu->busy_ns, 57);
        ck_assert_uint_eq(cpu->n_switches, 2);
        ck_assert_uint_eq(cpu->n_threads, 1);
        cpu = &report->cpus.rows[1];
        ck_assert_uint_eq(cpu->cpu, 3);
        ck_assert_uint_eq(cpu->busy_ns, 400);
        ck_assert_uint_eq(cpu->n_switches, 2);
        ck_assert_uint_eq(cpu->n_threads, 2);
        ck_assert_uint_eq(cpu->threads[0].tid, 12);
        ck_assert_uint_eq(cpu->threads[0].busy_ns, 300);
        ck_assert_uint_eq(cpu->threads[1].tid, 11);
        ck_assert_uint_eq(cpu->threads[1].n_switches, 1);
}
END_TEST

/* Thread 11 runs from before the range until after it on CPU 3, 12 comes in it, 13 before and 14 after. */
START_TEST(test_a_range)
{
        struct trace_filter_request filter = {
                .from_ns = 1000, .to_ns = 2000, .has_from = true, .has_to = true
        };

        trace_builder_meta(&b, "start_raw_ns", "10000");
        trace_builder_begin_run(&b, trace_builder_thread(&b, 10, 11));
        TRACE_BUILDER_ADD(&b, 10000, SWITCH_IN, 3);
        TRACE_BUILDER_ADD(&b, 11400, SWITCH_OUT, 3);
        TRACE_BUILDER_ADD(&b, 11500, SWITCH_IN, 3);
        TRACE_BUILDER_ADD(&b, 12500, SWITCH_OUT, 3);
        trace_builder_end_run(&b);
        run_on(trace_builder_thread(&b, 10, 12), 3, 11400, 11500);
        run_on(trace_builder_thread(&b, 10, 13), 4, 10500, 10900);
        run_on(trace_builder_thread(&b, 10, 14), 4, 12100, 12900);
        load(&filter);
        ck_assert_uint_eq(report->recording.range_ns, 1000);
        EXPECT_BUSY(1000);
        ck_assert_uint_eq(report->cpus.rows[0].threads[0].busy_ns, 900);
}
END_TEST

/*
 * Runs already and leaves CPU 5; runs on CPU 6 when the recording ends, or until it exits; two switches in of
 * which the first has no end; a thread that is woken first; one that wakes itself first, so that it runs; a
 * fiber, which is on no CPU of its own.
 */
START_TEST(test_ends_that_are_missing)
{
        uint32_t thread;

        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        trace_builder_event(&b, 100, TRACE_OP_FRAME_MARK);
        TRACE_BUILDER_ADD(&b, 140, SWITCH_OUT, 5);
        TRACE_BUILDER_ADD(&b, 500, SWITCH_IN, 6);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 2));
        TRACE_BUILDER_ADD(&b, 100, SWITCH_IN, 7);
        TRACE_BUILDER_ADD(&b, 300, SWITCH_IN, 7);
        TRACE_BUILDER_ADD(&b, 310, SWITCH_OUT, 7);
        TRACE_BUILDER_ADD(&b, 320, SWITCH_OUT, 7);
        TRACE_BUILDER_ADD(&b, 400, SWITCH_IN, 8);
        trace_builder_event(&b, 450, TRACE_OP_THREAD_EXIT);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 3));
        TRACE_BUILDER_ADD(&b, 100, WAKEUP, 1);
        TRACE_BUILDER_ADD(&b, 200, SWITCH_IN, 9);
        TRACE_BUILDER_ADD(&b, 260, SWITCH_OUT, 9);
        trace_builder_end_run(&b);
        thread = trace_builder_thread(&b, 1, 5);
        trace_builder_begin_run(&b, thread);
        TRACE_BUILDER_ADD(&b, 100, WAKEUP, 11, thread);
        TRACE_BUILDER_ADD(&b, 170, SWITCH_OUT, 11);
        trace_builder_end_run(&b);
        run_on(trace_builder_fiber(&b, 1, 4), 10, 100, 200);
        trace_builder_meta(&b, "end_raw_ns", "1000");
        load(NULL);
        EXPECT_BUSY(40, 500, 10, 50, 60, 70);
        ck_assert_uint_eq(report->cpus.rows[0].n_switches, 0);
}
END_TEST

/*
 * Threads 1, 2 and 3 go on CPU 4 one after the other, and the trace lacks when 1 and 2 left it, as if there
 * were others between them that it hides: what is known of them does not overlap, and the CPU is busy for no
 * longer than there is time.
 */
START_TEST(test_one_thread_at_a_time)
{
        const struct report_cpu *cpu;

        run_on(trace_builder_thread(&b, 1, 1), 4, 100, 900);
        run_on(trace_builder_thread(&b, 1, 2), 4, 200, 850);
        run_on(trace_builder_thread(&b, 1, 3), 4, 450, 800);
        trace_builder_meta(&b, "end_raw_ns", "1000");
        load(NULL);
        EXPECT_BUSY(700);
        cpu = &report->cpus.rows[0];
        ck_assert_uint_eq(cpu->n_threads, 3);
        ck_assert_uint_eq(cpu->threads[0].busy_ns, 350); /* the third */
        ck_assert_uint_eq(cpu->threads[1].busy_ns, 250);
        ck_assert_uint_eq(cpu->threads[2].busy_ns, 100);
}
END_TEST

/*
 * Thread 1 ends on CPU 4 without a switch, as most do: the time until thread 2 comes is no thread's.
 * Thread 3, which is first seen on the CPU when it leaves it, has the time since its first event.
 * Thread 4 is switched out after its exit, by the kernel's last work for it.  Thread 5 comes back after that,
 * and its last switch is lost.
 */
START_TEST(test_threads_that_end)
{
        const struct report_cpu *cpu;

        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        TRACE_BUILDER_ADD(&b, 100, SWITCH_IN, 4);
        trace_builder_event(&b, 120, TRACE_OP_THREAD_EXIT);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 2));
        TRACE_BUILDER_ADD(&b, 500, SWITCH_IN, 4);
        trace_builder_event(&b, 540, TRACE_OP_THREAD_EXIT);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 3));
        trace_builder_event(&b, 600, TRACE_OP_FRAME_MARK);
        TRACE_BUILDER_ADD(&b, 700, SWITCH_OUT, 4);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 4));
        TRACE_BUILDER_ADD(&b, 100, SWITCH_IN, 5);
        trace_builder_event(&b, 200, TRACE_OP_THREAD_EXIT);
        TRACE_BUILDER_ADD(&b, 207, SWITCH_OUT, 5);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 5));
        TRACE_BUILDER_ADD(&b, 300, SWITCH_IN, 6);
        trace_builder_event(&b, 350, TRACE_OP_THREAD_EXIT);
        TRACE_BUILDER_ADD(&b, 353, SWITCH_OUT, 6);
        TRACE_BUILDER_ADD(&b, 360, SWITCH_IN, 6);
        trace_builder_end_run(&b);
        run_on(trace_builder_thread(&b, 1, 6), 6, 800, 900);
        trace_builder_meta(&b, "end_raw_ns", "1000");
        load(NULL);
        EXPECT_BUSY(20 + 40 + 100, 107, 53 + 100);
        cpu = &report->cpus.rows[0];
        ck_assert_uint_eq(cpu->threads[0].tid, 3);
        ck_assert_uint_eq(cpu->threads[0].busy_ns, 100);
}
END_TEST

/* The same where all of them run already when the range begins: 850 of them leaves last. */
START_TEST(test_one_thread_at_a_time_in_a_range)
{
        struct trace_filter_request filter = {
                .from_ns = 500, .to_ns = 1500, .has_from = true, .has_to = true
        };
        uint64_t sum = 0;

        trace_builder_meta(&b, "start_raw_ns", "10000");
        for (uint32_t i = 0; i < 4; i++) {
                run_on(trace_builder_thread(&b, 1, 1 + i), 4, 10010 + i, 10900 - 50 * i);
        }
        run_on(trace_builder_thread(&b, 1, 9), 4, 10800, 11600);
        load(&filter);
        ck_assert_uint_eq(report->cpus.n_rows, 1);
        for (uint32_t i = 0; i < report->cpus.rows[0].n_threads; i++)
                sum += report->cpus.rows[0].threads[i].busy_ns;
        ck_assert_uint_eq(sum, report->cpus.rows[0].busy_ns);
        ck_assert_uint_eq(sum, 1000); /* 500 .. 1500: others until 800, then the last one */
}
END_TEST

/* Who runs all the time without a switch is known by its samples. */
START_TEST(test_samples_tell_the_cpu)
{
        struct trace_event sample = { .time_ns = 300, .op = TRACE_OP_SAMPLE };

        sample.sample.event = trace_builder_sample_event(&b, "cpu-clock");
        sample.sample.cpu = 2;
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        trace_builder_event(&b, 100, TRACE_OP_FRAME_MARK);
        event_encoder_add(&b.encoder, &sample);
        trace_builder_end_run(&b);
        trace_builder_meta(&b, "end_raw_ns", "1000");
        load(NULL);
        ck_assert_uint_eq(report->cpus.n_rows, 1);
        ck_assert_uint_eq(report->cpus.rows[0].cpu, 2);
        ck_assert_uint_eq(report->cpus.rows[0].busy_ns, 900);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
