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
#include <string.h>

static struct report *load(const struct trace_builder *b)
{
        struct report_options options = { .wants_cpus = true };
        struct report *report = NULL;
        struct error err = ERROR_NONE;

        ck_assert_msg(report_load(b->path, &options, &report, &err) == 0, "%s", err.text);
        return report;
}

static void add(struct trace_builder *b, uint64_t time_ns, enum trace_op op, uint64_t cpu)
{
        struct trace_event event = { .time_ns = time_ns, .op = op, .operand = { cpu } };

        event_encoder_add(&b->encoder, &event);
}

/*
 * Events that come while the recording is being ended belong to it: no CPU is busy for more than its length.
 */
START_TEST(test_events_after_the_end)
{
        struct trace_builder b;
        struct report *report;

        trace_builder_init(&b);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        add(&b, 1000, TRACE_OP_SWITCH_IN, 0);
        add(&b, 2500, TRACE_OP_SWITCH_OUT, 0);
        trace_builder_end_run(&b);
        trace_builder_meta(&b, "start_raw_ns", "1000");
        trace_builder_meta(&b, "end_raw_ns", "2000");
        trace_builder_finish(&b);
        report = load(&b);
        ck_assert_uint_eq(report->cpus.rows[0].busy_ns, 1500);
        ck_assert_uint_eq(report->recording.duration_ns, 1500);
        ck_assert_uint_eq(report->recording.range_ns, 1500);
        report_free(report);
        trace_builder_deinit(&b);
}
END_TEST

/* Thread 11: on CPU 3 for 100, on 0 for 50 and 7; thread 12 on CPU 3 for 300. */
START_TEST(test_known_stretches)
{
        struct trace_builder b;
        struct report *report;
        const struct report_cpu *cpu;
        uint32_t first, second;

        trace_builder_init(&b);
        first = trace_builder_thread(&b, 10, 11);
        second = trace_builder_thread(&b, 10, 12);
        trace_builder_begin_run(&b, first);
        add(&b, 1000, TRACE_OP_SWITCH_IN, 3);
        add(&b, 1100, TRACE_OP_SWITCH_OUT, 3);
        add(&b, 1200, TRACE_OP_SWITCH_IN, 0);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, second);
        add(&b, 1100, TRACE_OP_SWITCH_IN, 3);
        add(&b, 1400, TRACE_OP_SWITCH_OUT, 3);
        trace_builder_end_run(&b);
        trace_builder_flush(&b);
        trace_builder_begin_run(&b, first);
        add(&b, 1250, TRACE_OP_SWITCH_OUT, 0);
        add(&b, 1300, TRACE_OP_SWITCH_IN, 0);
        add(&b, 1307, TRACE_OP_SWITCH_OUT, 0);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        report = load(&b);
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
        report_free(report);
        trace_builder_deinit(&b);
}
END_TEST

/* Thread 11 runs from before the range until after it on CPU 3, 12 comes in it, 13 before and 14 after. */
START_TEST(test_a_range)
{
        struct trace_filter_request filter = {
                .from_ns = 1000, .to_ns = 2000, .has_from = true, .has_to = true
        };
        struct report_options options = { .wants_cpus = true, .filter = &filter };
        struct report *report = NULL;
        struct error err = ERROR_NONE;
        struct trace_builder b;

        trace_builder_init(&b);
        trace_builder_meta(&b, "start_raw_ns", "10000");
        trace_builder_begin_run(&b, trace_builder_thread(&b, 10, 11));
        add(&b, 10000, TRACE_OP_SWITCH_IN, 3);
        add(&b, 11400, TRACE_OP_SWITCH_OUT, 3);
        add(&b, 11500, TRACE_OP_SWITCH_IN, 3);
        add(&b, 12500, TRACE_OP_SWITCH_OUT, 3);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 10, 12));
        add(&b, 11400, TRACE_OP_SWITCH_IN, 3);
        add(&b, 11500, TRACE_OP_SWITCH_OUT, 3);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 10, 13));
        add(&b, 10500, TRACE_OP_SWITCH_IN, 4);
        add(&b, 10900, TRACE_OP_SWITCH_OUT, 4);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 10, 14));
        add(&b, 12100, TRACE_OP_SWITCH_IN, 4);
        add(&b, 12900, TRACE_OP_SWITCH_OUT, 4);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        ck_assert_msg(report_load(b.path, &options, &report, &err) == 0, "%s", err.text);
        ck_assert_uint_eq(report->recording.range_ns, 1000);
        ck_assert_uint_eq(report->cpus.n_rows, 1);
        ck_assert_uint_eq(report->cpus.rows[0].busy_ns, 1000);
        ck_assert_uint_eq(report->cpus.rows[0].threads[0].busy_ns, 900);
        report_free(report);
        trace_builder_deinit(&b);
}
END_TEST

/*
 * Runs already and leaves CPU 5; runs on CPU 6 when the recording ends, or until it exits; two switches in of
 * which the first has no end; a thread that is woken first; a fiber, which is on no CPU of its own.
 */
START_TEST(test_ends_that_are_missing)
{
        struct trace_builder b;
        struct report *report;

        trace_builder_init(&b);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        trace_builder_event(&b, 100, TRACE_OP_FRAME_MARK);
        add(&b, 140, TRACE_OP_SWITCH_OUT, 5);
        add(&b, 500, TRACE_OP_SWITCH_IN, 6);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 2));
        add(&b, 100, TRACE_OP_SWITCH_IN, 7);
        add(&b, 300, TRACE_OP_SWITCH_IN, 7);
        add(&b, 310, TRACE_OP_SWITCH_OUT, 7);
        add(&b, 320, TRACE_OP_SWITCH_OUT, 7);
        add(&b, 400, TRACE_OP_SWITCH_IN, 8);
        trace_builder_event(&b, 450, TRACE_OP_THREAD_EXIT);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 3));
        add(&b, 100, TRACE_OP_WAKEUP, 1);
        add(&b, 200, TRACE_OP_SWITCH_IN, 9);
        add(&b, 260, TRACE_OP_SWITCH_OUT, 9);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, trace_builder_fiber(&b, 1, 4));
        add(&b, 100, TRACE_OP_SWITCH_IN, 10);
        add(&b, 200, TRACE_OP_SWITCH_OUT, 10);
        trace_builder_end_run(&b);
        trace_builder_meta(&b, "end_raw_ns", "1000");
        trace_builder_finish(&b);
        report = load(&b);
        ck_assert_uint_eq(report->cpus.n_rows, 5);
        ck_assert_uint_eq(report->cpus.rows[0].busy_ns, 40);
        ck_assert_uint_eq(report->cpus.rows[0].n_switches, 0);
        ck_assert_uint_eq(report->cpus.rows[1].busy_ns, 500);
        ck_assert_uint_eq(report->cpus.rows[2].busy_ns, 10);
        ck_assert_uint_eq(report->cpus.rows[3].busy_ns, 50);
        ck_assert_uint_eq(report->cpus.rows[4].busy_ns, 60);
        report_free(report);
        trace_builder_deinit(&b);
}
END_TEST

/*
 * Threads 1, 2 and 3 go on CPU 4 one after the other, and the trace lacks when 1 and 2 left it, as if there
 * were others between them that it hides: what is known of them does not overlap, and the CPU is busy for no
 * longer than there is time.
 */
START_TEST(test_one_thread_at_a_time)
{
        struct trace_builder b;
        struct report *report;
        const struct report_cpu *cpu;

        trace_builder_init(&b);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        add(&b, 100, TRACE_OP_SWITCH_IN, 4);
        add(&b, 900, TRACE_OP_SWITCH_OUT, 4);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 2));
        add(&b, 200, TRACE_OP_SWITCH_IN, 4);
        add(&b, 850, TRACE_OP_SWITCH_OUT, 4);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 3));
        add(&b, 450, TRACE_OP_SWITCH_IN, 4);
        add(&b, 800, TRACE_OP_SWITCH_OUT, 4);
        trace_builder_end_run(&b);
        trace_builder_meta(&b, "end_raw_ns", "1000");
        trace_builder_finish(&b);
        report = load(&b);
        ck_assert_uint_eq(report->cpus.n_rows, 1);
        cpu = &report->cpus.rows[0];
        ck_assert_uint_eq(cpu->busy_ns, 700);
        ck_assert_uint_eq(cpu->n_threads, 3);
        ck_assert_uint_eq(cpu->threads[0].busy_ns, 350); /* the third */
        ck_assert_uint_eq(cpu->threads[1].busy_ns, 250);
        ck_assert_uint_eq(cpu->threads[2].busy_ns, 100);
        report_free(report);
        trace_builder_deinit(&b);
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
        struct trace_builder b;
        struct report *report;
        const struct report_cpu *cpu;

        trace_builder_init(&b);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        add(&b, 100, TRACE_OP_SWITCH_IN, 4);
        trace_builder_event(&b, 120, TRACE_OP_THREAD_EXIT);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 2));
        add(&b, 500, TRACE_OP_SWITCH_IN, 4);
        trace_builder_event(&b, 540, TRACE_OP_THREAD_EXIT);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 3));
        trace_builder_event(&b, 600, TRACE_OP_FRAME_MARK);
        add(&b, 700, TRACE_OP_SWITCH_OUT, 4);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 4));
        add(&b, 100, TRACE_OP_SWITCH_IN, 5);
        trace_builder_event(&b, 200, TRACE_OP_THREAD_EXIT);
        add(&b, 207, TRACE_OP_SWITCH_OUT, 5);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 5));
        add(&b, 300, TRACE_OP_SWITCH_IN, 6);
        trace_builder_event(&b, 350, TRACE_OP_THREAD_EXIT);
        add(&b, 353, TRACE_OP_SWITCH_OUT, 6);
        add(&b, 360, TRACE_OP_SWITCH_IN, 6);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 6));
        add(&b, 800, TRACE_OP_SWITCH_IN, 6);
        add(&b, 900, TRACE_OP_SWITCH_OUT, 6);
        trace_builder_end_run(&b);
        trace_builder_meta(&b, "end_raw_ns", "1000");
        trace_builder_finish(&b);
        report = load(&b);
        ck_assert_uint_eq(report->cpus.n_rows, 3);
        cpu = &report->cpus.rows[0];
        ck_assert_uint_eq(cpu->busy_ns, 20 + 40 + 100);
        ck_assert_uint_eq(cpu->threads[0].tid, 3);
        ck_assert_uint_eq(cpu->threads[0].busy_ns, 100);
        ck_assert_uint_eq(report->cpus.rows[1].busy_ns, 107);
        ck_assert_uint_eq(report->cpus.rows[2].busy_ns, 53 + 100);
        report_free(report);
        trace_builder_deinit(&b);
}
END_TEST

/* The same where all of them run already when the range begins: 850 of them leaves last. */
START_TEST(test_one_thread_at_a_time_in_a_range)
{
        struct trace_filter_request filter = {
                .from_ns = 500, .to_ns = 1500, .has_from = true, .has_to = true
        };
        struct report_options options = { .wants_cpus = true, .filter = &filter };
        struct report *report = NULL;
        struct trace_builder b;
        uint64_t sum = 0;

        trace_builder_init(&b);
        trace_builder_meta(&b, "start_raw_ns", "10000");
        for (uint32_t i = 0; i < 4; i++) {
                trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1 + i));
                add(&b, 10010 + i, TRACE_OP_SWITCH_IN, 4);
                add(&b, 10900 - 50 * i, TRACE_OP_SWITCH_OUT, 4);
                trace_builder_end_run(&b);
        }
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 9));
        add(&b, 10800, TRACE_OP_SWITCH_IN, 4);
        add(&b, 11600, TRACE_OP_SWITCH_OUT, 4);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        ck_assert_int_eq(report_load(b.path, &options, &report, NULL), 0);
        ck_assert_uint_eq(report->cpus.n_rows, 1);
        for (uint32_t i = 0; i < report->cpus.rows[0].n_threads; i++)
                sum += report->cpus.rows[0].threads[i].busy_ns;
        ck_assert_uint_eq(sum, report->cpus.rows[0].busy_ns);
        ck_assert_uint_eq(sum, 1000); /* 500 .. 1500: others until 800, then the last one */
        report_free(report);
        trace_builder_deinit(&b);
}
END_TEST

/* Who runs all the time without a switch is known by its samples. */
START_TEST(test_samples_tell_the_cpu)
{
        struct trace_event sample = { .time_ns = 300, .op = TRACE_OP_SAMPLE };
        struct trace_builder b;
        struct report *report;

        trace_builder_init(&b);
        sample.sample.event = trace_builder_sample_event(&b, "cpu-clock");
        sample.sample.cpu = 2;
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        trace_builder_event(&b, 100, TRACE_OP_FRAME_MARK);
        event_encoder_add(&b.encoder, &sample);
        trace_builder_end_run(&b);
        trace_builder_meta(&b, "end_raw_ns", "1000");
        trace_builder_finish(&b);
        report = load(&b);
        ck_assert_uint_eq(report->cpus.n_rows, 1);
        ck_assert_uint_eq(report->cpus.rows[0].cpu, 2);
        ck_assert_uint_eq(report->cpus.rows[0].busy_ns, 900);
        report_free(report);
        trace_builder_deinit(&b);
}
END_TEST
