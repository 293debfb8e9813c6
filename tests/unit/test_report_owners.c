/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/report_owners.c, analyze/path/ready_owners.c: the time in which threads were ready to run
 * is that of the threads that had their CPU, of the quota and of stops; it adds up, and the rest is not known
 */
#include "analyze/path/ready_owners.h"
#include "analyze/report/report.h"
#include "analyze/waits/ready_times.h"
#include "analyze/walk/loaded_trace.h"
#include "base/error.h"
#include "base/intern.h"
#include "format/trace_event.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <math.h>

#define US UINT64_C(1000)

struct fixture {
        struct trace_builder b;
        struct report *report;
        uint32_t worker, hog, rival;
};

static struct fixture f;

static void setup(void)
{
        trace_builder_init(&f.b);
        f.worker = trace_builder_thread(&f.b, 10, 11);
        f.hog = trace_builder_thread(&f.b, 10, 12);
        f.rival = trace_builder_thread(&f.b, 20, 20);
}

static void load(void)
{
        const struct report_options options = { .wants_waits = true,
                                                .wants_cpus = true,
                                                .wants_ready = true };
        struct error err = ERROR_NONE;

        trace_builder_finish(&f.b);
        ck_assert_msg(report_load(f.b.path, &options, &f.report, &err) == 0, "%s", err.text);
}

static void on_cpu(uint32_t thread, uint64_t cpu, uint64_t from_us, uint64_t to_us)
{
        trace_builder_begin_run(&f.b, thread);
        TRACE_BUILDER_ADD(&f.b, from_us * US, SWITCH_IN, cpu);
        TRACE_BUILDER_ADD(&f.b, to_us * US, SWITCH_OUT, cpu, 0, TRACE_WAIT_SLEEPING);
        trace_builder_end_run(&f.b);
}

/*
 * The worker is preempted on CPU 0 from 100 to 200 us: the hog has 30 of them, the rival 20; is stopped from
 * 300 to 340; waits, is ready on CPU 1 from 460 to 500, and the hog has 10 of these.
 * @quota: of [0, 600) us, 25 were throttled.
 */
static void build_known(bool quota)
{
        if (quota)
                trace_builder_meta(&f.b, "cpu_throttled", "0+600=25;");
        trace_builder_begin_run(&f.b, f.worker);
        TRACE_BUILDER_ADD(&f.b, 1 * US, SWITCH_IN, 0);
        TRACE_BUILDER_ADD(&f.b, 100 * US, SWITCH_OUT, 0, 1, TRACE_WAIT_PREEMPTED);
        TRACE_BUILDER_ADD(&f.b, 200 * US, SWITCH_IN, 0);
        TRACE_BUILDER_ADD(&f.b, 300 * US, SWITCH_OUT, 0, 0, TRACE_WAIT_STOPPED);
        TRACE_BUILDER_ADD(&f.b, 340 * US, SWITCH_IN, 0);
        TRACE_BUILDER_ADD(&f.b, 400 * US, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING);
        TRACE_BUILDER_ADD(&f.b, 460 * US, WAKEUP, 0, 0, 0, 0);
        TRACE_BUILDER_ADD(&f.b, 500 * US, SWITCH_IN, 1);
        TRACE_BUILDER_ADD(&f.b, 600 * US, SWITCH_OUT, 1, 0, TRACE_WAIT_SLEEPING);
        trace_builder_end_run(&f.b);
        on_cpu(f.hog, 0, 110, 140);
        on_cpu(f.rival, 0, 150, 170);
        on_cpu(f.hog, 1, 450, 470);
        load();
}

static void teardown(void)
{
        report_free(f.report);
        f.report = NULL;
        trace_builder_deinit(&f.b);
}

static double ns_of(const struct report_owner *rows, size_t n, uint32_t subject, enum ready_owner_kind kind,
                    uint32_t owner)
{
        double ns = 0;
        int n_found = 0;

        for (size_t i = 0; i < n; i++)
                if (rows[i].subject == subject && rows[i].kind == kind && rows[i].owner == owner) {
                        ns = rows[i].ns;
                        n_found++;
                }
        ck_assert_int_le(n_found, 1);
        return ns;
}

static void check_ns(double found, double wanted_us)
{
        ck_assert_msg(fabs(found - wanted_us * 1000) < 1, "%f", found);
}

START_LOOP_TEST(test_by_thread, 0, 2)
{
        const struct report_owners *o;
        double shares = 0;

        build_known(_i == 1);
        o = &f.report->owners;
        check_ns(ns_of(o->by_thread, o->n_by_thread, f.worker, READY_OWNER_OWN, f.hog), 40);
        check_ns(ns_of(o->by_thread, o->n_by_thread, f.worker, READY_OWNER_PROGRAM, f.rival), 20);
        check_ns(ns_of(o->by_thread, o->n_by_thread, f.worker, READY_OWNER_STOPPED, 0), 40);
        check_ns(ns_of(o->by_thread, o->n_by_thread, f.worker, READY_OWNER_QUOTA, 0), _i == 1 ? 25 : 0);
        check_ns(ns_of(o->by_thread, o->n_by_thread, f.worker, READY_OWNER_OTHERS, 0), _i == 1 ? 55 : 80);
        for (size_t i = 0; i < o->n_by_thread; i++) {
                ck_assert_uint_eq(o->by_thread[i].subject, f.worker);
                ck_assert(i == 0 || o->by_thread[i].ns <= o->by_thread[i - 1].ns);
                shares += o->by_thread[i].share;
        }
        ck_assert_double_lt(fabs(shares - 1), 1e-9);
}
END_TEST

START_TEST(test_by_cpu)
{
        const struct report_owners *o;

        build_known(false);
        o = &f.report->owners;
        check_ns(ns_of(o->by_cpu, o->n_by_cpu, 0, READY_OWNER_OWN, f.hog), 30);
        check_ns(ns_of(o->by_cpu, o->n_by_cpu, 0, READY_OWNER_PROGRAM, f.rival), 20);
        check_ns(ns_of(o->by_cpu, o->n_by_cpu, 0, READY_OWNER_OTHERS, 0), 50);
        check_ns(ns_of(o->by_cpu, o->n_by_cpu, 1, READY_OWNER_OWN, f.hog), 10);
        check_ns(ns_of(o->by_cpu, o->n_by_cpu, 1, READY_OWNER_OTHERS, 0), 30);
        ck_assert_uint_eq(o->n_by_cpu, 5);
}
END_TEST

/*
 * The worker, and in some rows another thread, is ready on CPU 0 from 100 to 200 us, while no thread has it.
 * A time of the quota is counted at its end, so it may lie up to its length before; no more than there is.
 */
static const struct {
        const char *quota;
        bool has_second;
        double throttled_us; /* of each thread */
} quotas[] = {
        { "0+600=25;", false, 25 },
        { "0+600=25;", true, 25 },
        { "0+600=250;", false, 100 },
        { "210+50=25;", false, 25 },
        { "100+50=0;150+50=80;", false, 80 },
        { "100+20=0;160+20=60;", false, 40 },
        { "100+20=20;130+40=60;", false, 70 },
        { "100+90=0;190+10=100;", false, 20 },
};

static void be_ready(uint32_t thread)
{
        trace_builder_begin_run(&f.b, thread);
        TRACE_BUILDER_ADD(&f.b, 100 * US, SWITCH_OUT, 0, 1, TRACE_WAIT_PREEMPTED);
        TRACE_BUILDER_ADD(&f.b, 200 * US, SWITCH_IN, 0);
        trace_builder_end_run(&f.b);
}

START_LOOP_TEST(test_when_the_quota_was_in_force, 0, sizeof(quotas) / sizeof(quotas[0]))
{
        double throttled_us = quotas[_i].throttled_us;
        const struct report_owners *o;

        trace_builder_meta(&f.b, "cpu_throttled", quotas[_i].quota);
        be_ready(f.worker);
        if (quotas[_i].has_second)
                be_ready(f.hog);
        load();
        o = &f.report->owners;
        for (uint32_t thread = f.worker; thread <= (quotas[_i].has_second ? f.hog : f.worker); thread++) {
                check_ns(ns_of(o->by_thread, o->n_by_thread, thread, READY_OWNER_QUOTA, 0), throttled_us);
                check_ns(ns_of(o->by_thread, o->n_by_thread, thread, READY_OWNER_OTHERS, 0),
                         100 - throttled_us);
        }
}
END_TEST

/* One whose first switch is off a CPU had it since the one before left it; no CPU has the number 2^32. */
START_TEST(test_where_a_thread_ran)
{
        const struct report_owners *o;

        be_ready(f.worker);
        trace_builder_begin_run(&f.b, f.hog);
        trace_builder_begin_zone(&f.b, 110 * US, trace_builder_location(&f.b, "zone"));
        TRACE_BUILDER_ADD(&f.b, 140 * US, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING);
        trace_builder_end_run(&f.b);
        on_cpu(f.rival, UINT64_C(1) << 32, 150, 170);
        load();
        o = &f.report->owners;
        check_ns(ns_of(o->by_thread, o->n_by_thread, f.worker, READY_OWNER_OWN, f.hog), 40);
        check_ns(ns_of(o->by_thread, o->n_by_thread, f.worker, READY_OWNER_OTHERS, 0), 60);
}
END_TEST

/* Where every second time was left out, each counts double. */
START_TEST(test_times_that_were_left_out)
{
        struct ready_times times = { .n_halved = 1 };
        struct error err = ERROR_NONE;
        struct ready_owners owners;
        struct loaded_trace trace;
        double ns[READY_OWNER_KINDS] = { 0 };

        trace_builder_meta(&f.b, "cpu_throttled", "0+600=50;");
        on_cpu(f.hog, 0, 110, 140);
        trace_builder_finish(&f.b);
        ck_assert_int_eq(loaded_trace_open(&trace, f.b.path, &err), 0);
        ck_assert_int_eq(ready_times_add(&times, &(struct ready_time){ .begin_ns = 100 * US,
                                                                       .end_ns = 200 * US,
                                                                       .thread = f.worker }),
                         0);
        ck_assert_int_eq(ready_owners_take(&owners, &trace, &times, &err), 0);
        for (uint32_t i = 1; i <= owners.keys.n_items; i++)
                ns[((const struct ready_owner_key *)intern_get(&owners.keys, i, NULL))->kind] +=
                        owners.ns[i - 1];
        check_ns(ns[READY_OWNER_OWN], 60);
        check_ns(ns[READY_OWNER_QUOTA], 50);
        check_ns(ns[READY_OWNER_OTHERS], 90);
        ready_owners_deinit(&owners);
        ready_times_deinit(&times);
        loaded_trace_close(&trace);
}
END_TEST

/* A program that always has its CPU: there is nothing to say. */
START_TEST(test_no_thread_was_ready)
{
        on_cpu(f.worker, 0, 1, 100);
        load();
        ck_assert_uint_eq(f.report->owners.n_by_thread, 0);
        ck_assert_uint_eq(f.report->owners.n_by_cpu, 0);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
