/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/path_devices.c, path_walk.c: a wait that a device ended goes on in its queue, and no other one
 */
#include "analyze/path/path.h"
#include "format/trace_event.h"
#include "tests/unit/path_lab.h"
#include "tests/unit/unit_test.h"

#include <math.h>

static uint32_t m, irq, other; /* threads */
static uint32_t here;          /* a stack in which a thread waits */
static uint32_t gpu;

static void setup(void)
{
        path_lab_init();
        m = path_lab_thread("m", 0);
        irq = path_lab_thread("irq", 1);
        other = path_lab_thread("other", 2);
        here = path_lab_kernel(path_lab_function("wait_here"), "eventfd_read");
        gpu = path_lab_device("gpu", 100);
}

UNIT_TEST_PLAN(.setup = setup, .teardown = path_lab_deinit);

static uint32_t nap(void)
{
        return path_lab_kernel(path_lab_call(path_lab_function("poll_it"), "nanosleep"), "do_nanosleep");
}

/* An interrupt wakes the thread that had asked, 10 us after the end of the work. */
START_TEST(test_interrupt)
{
        path_lab_work(m, 10000, gpu, 0, "matmul", 30000, 500000);
        path_lab_wait(m, 20000, 510000, 512000, 0, here);
        ck_assert_str_eq(path_lab_walk(m, 0, 600000),
                         "0-20000 m run, 20000-30000 .m launch, 30000-500000 .m matmul, 500000-510000 m "
                         "unknown, 510000-512000 m ready, 512000-600000 m run");
        /* a part of the time is a part of the same path */
        ck_assert_str_eq(path_lab_walk(m, 25000, 400000), "25000-30000 .m launch, 30000-400000 .m matmul");
}
END_TEST

/* A thread that sleeps until the device is done wakes the one that had asked. */
static void add_looker(uint64_t woken_ns)
{
        path_lab_wait(irq, 15000, woken_ns, woken_ns + 1000, 0, nap());
        path_lab_wait(m, 20000, woken_ns + 3000, woken_ns + 4000, irq, here);
}

START_TEST(test_thread_that_looks_after_it)
{
        path_lab_work(m, 10000, gpu, 0, "matmul", 20000, 500000);
        add_looker(505000);
        ck_assert_str_eq(
                path_lab_walk(m, 0, 600000),
                "0-20000 m run, 20000-500000 .m matmul, 500000-505000 .irq timer, 505000-506000 .irq "
                "ready, 506000-508000 .irq run, 508000-509000 m ready, 509000-600000 m run");
}
END_TEST

/* Works before it on the lane are the cause of the time until it began; other lanes are not. */
START_TEST(test_queue)
{
        path_lab_work(other, 1000, gpu, 0, "convolve", 2000, 300000);
        path_lab_work(other, 5000, gpu, 1, "copy", 6000, 490000);
        path_lab_work(m, 10000, gpu, 0, "matmul", 310000, 500000);
        add_looker(505000);
        ck_assert_str_eq(
                path_lab_walk(m, 0, 509000),
                "0-20000 m run, 20000-300000 .m convolve, 300000-310000 .m launch, 310000-500000 .m "
                "matmul, 500000-505000 .irq timer, 505000-506000 .irq ready, 506000-508000 .irq run, "
                "508000-509000 m ready");
}
END_TEST

/* A part of a work does not hide what lies around it. */
START_TEST(test_nested)
{
        path_lab_work(m, 10000, gpu, 0, "outer", 20000, 500000);
        path_lab_work(m, 10010, gpu, 0, "inner", 30000, 400000);
        path_lab_wait(m, 20000, 510000, 510000, 0, here);
        ck_assert_str_eq(path_lab_walk(m, 0, 510000),
                         "0-20000 m run, 20000-500000 .m outer, 500000-510000 m unknown");
}
END_TEST

/* The thread that looks after the device came late: the work had ended when it woke up for the one before. */
START_TEST(test_late_thread)
{
        path_lab_work(other, 1000, gpu, 0, "convolve", 2000, 300000);
        path_lab_work(m, 10000, gpu, 0, "matmul", 300000, 350000);
        path_lab_wait(irq, 1500, 301000, 400000, 0, nap());
        path_lab_wait(m, 20000, 410000, 410000, irq, here);
        ck_assert_str_eq(path_lab_walk(m, 0, 410000),
                         "0-20000 m run, 20000-300000 .m convolve, 300000-301000 .irq timer, 301000-400000 "
                         ".irq ready, 400000-410000 .irq run");
}
END_TEST

/* Before the thread asked it did something else: here it worked on its own. */
START_TEST(test_host_is_late)
{
        path_lab_wait(m, 1000, 508000, 508000, other, here);
        path_lab_work(other, 200000, gpu, 0, "matmul", 210000, 500000);
        path_lab_wait(other, 201000, 505000, 506000, 0, here);
        ck_assert_str_eq(path_lab_walk(m, 0, 508000),
                         "0-1000 m run, 1000-201000 .other run, 201000-210000 ..other launch, 210000-500000 "
                         "..other matmul, 500000-505000 .other unknown, 505000-506000 .other ready, "
                         "506000-508000 .other run");
}
END_TEST

static void add_naps(void)
{
        uint32_t stack = nap();

        for (uint64_t at = 20000; at < 500000; at += 60000)
                path_lab_wait(m, at, at + 50000, at + 50000, 0, stack);
}

/* Naps at one place in a row, the last of which the end of the work is in. */
START_TEST(test_polls)
{
        path_lab_work(m, 10000, gpu, 0, "matmul", 20000, 485000);
        add_naps();
        ck_assert_str_eq(path_lab_walk(m, 0, 550000),
                         "0-20000 m run, 20000-485000 .m matmul, 485000-490000 m timer, 490000-550000 m run");
}
END_TEST

/* ------------------------------------------------------------------ other causes */

/* One sleep is the thread's own, though the device was done by chance. */
START_TEST(test_own_sleep)
{
        path_lab_work(m, 10000, gpu, 0, "matmul", 20000, 500000);
        path_lab_wait(m, 20000, 505000, 505000, 0, nap());
        ck_assert_str_eq(path_lab_walk(m, 0, 505000), "0-20000 m run, 20000-505000 m timer");
}
END_TEST

/* The thread that ended the wait ran all the time. */
START_TEST(test_thread_that_runs)
{
        path_lab_work(m, 10000, gpu, 0, "matmul", 20000, 500000);
        path_lab_wait(m, 20000, 505000, 505000, other, here);
        ck_assert_str_eq(path_lab_walk(m, 0, 505000), "0-20000 m run, 20000-505000 .other run");
}
END_TEST

/* The holder of a lock slept, and the device was done by chance. */
START_TEST(test_lock)
{
        uint32_t stack = path_lab_call(path_lab_function("take_it"), "pthread_mutex_lock");

        path_lab_work(m, 10000, gpu, 0, "matmul", 20000, 500000);
        path_lab_wait(other, 15000, 505000, 506000, 0, nap());
        path_lab_wait(m, 20000, 508000, 508000, other, stack);
        ck_assert_str_eq(path_lab_walk(m, 0, 508000),
                         "0-20000 m run, 20000-505000 .other timer, 505000-506000 .other ready, "
                         "506000-508000 .other run");
}
END_TEST

/* Another one had asked for it; it ended long before; after; or before the wait began. */
START_LOOP_TEST(test_no_evidence, 0, 4)
{
        static const struct {
                uint64_t begin_ns, end_ns;
                bool by_other;
        } works[] = { { 20000, 500000, true },
                      { 20000, 304000, false },
                      { 20000, 506000, false },
                      { 12000, 19000, false } };

        if (works[_i].by_other)
                path_lab_work(other, 10000, gpu, 0, "matmul", works[_i].begin_ns, works[_i].end_ns);
        else
                path_lab_work(m, 10000, gpu, 0, "matmul", works[_i].begin_ns, works[_i].end_ns);
        path_lab_wait(m, 20000, 505000, 505000, 0, here);
        ck_assert_str_eq(path_lab_walk(m, 0, 505000), "0-20000 m run, 20000-505000 m unknown");
}
END_TEST

/* ------------------------------------------------------------------ sums */

static double share_of(enum path_row_kind kind, const char *kernel)
{
        const struct path *p = &path_lab.path;

        for (uint32_t i = 0; i < p->n_rows; i++) {
                const struct path_row_key *key = path_sums_key(&p->sums, p->order[i]);
                const struct device_work_name *name = key->work != 0
                                                              ? intern_get(&p->works.names, key->work, NULL)
                                                              : NULL;
                const struct trace_location *row;

                if (!name || key->kind != kind)
                        continue;
                row = trace_dictionary_row(path_lab.trace.dictionary, TRACE_TABLE_LOCATIONS, name->location);
                if (text_view_is(trace_dictionary_text(path_lab.trace.dictionary, row->name), kernel))
                        return path_row_share(p, p->order[i]);
        }
        return 0;
}

/* A clock that may be as wrong as what is asked of it lowers the confidence; a worse one proves nothing. */
START_LOOP_TEST(test_confidence, 0, 4)
{
        static const struct {
                uint64_t error_ns;
                enum path_confidence confidence;
                double share;
        } clocks[] = { { 1000, PATH_CONFIDENCE_HIGH, 0.6 },
                       { 0, PATH_CONFIDENCE_MEDIUM, 0.6 },
                       { 300000, PATH_CONFIDENCE_MEDIUM, 0.6 },
                       { 5000000, PATH_CONFIDENCE_LOW, 0 } };
        const uint32_t zone = trace_builder_location(&path_lab.b, "frame");
        const uint32_t chip = path_lab_device("chip", clocks[_i].error_ns);

        path_lab_samples(irq, 0, 1000, 100, 0); /* it is known */
        for (uint64_t i = 0; i < 10; i++) {
                uint64_t at = 10000 + i * 1000000;

                PATH_LAB_EVENT(m, at, ZONE_BEGIN, zone);
                path_lab_samples(m, at, at + 400000, 1000, path_lab_function("prepare"));
                path_lab_work(m, at + 399000, chip, 7, "matmul", at + 500000, at + 1000000 - 10);
                path_lab_wait(m, at + 400000, at + 1000000 - 10, at + 1000000 - 10, 0, here);
                PATH_LAB_EVENT(m, at + 1000000 - 10, ZONE_END, 0);
        }
        path_lab_get(&(struct path_request){ .zone = "frame" });
        path_lab_whole();
        ck_assert_msg(fabs(share_of(PATH_ROW_DEVICE, "matmul") + share_of(PATH_ROW_LAUNCH, "matmul") -
                           clocks[_i].share) < 0.001,
                      "%f", share_of(PATH_ROW_DEVICE, "matmul"));
        ck_assert_int_eq(path_lab.path.confidence, clocks[_i].confidence);
}
END_TEST
