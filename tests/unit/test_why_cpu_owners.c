/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_cpu_owners.c, analyze/path/ready_owners.c: who had the CPU while slow instances were ready
 * to run is named, in the order own threads, other programs, quota, stopped, others; who is not known is not
 */
#include "analyze/trace/throttled_times.h"
#include "analyze/why/why.h"
#include "format/trace_event.h"
#include "tests/unit/asked_why.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"
#include "view/why/why_owner_words.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define N_INSTANCES 400
#define SLOW_EVERY  20 /* of which one is kept from running */
#define N_SLOW      (N_INSTANCES / SLOW_EVERY)
#define USUAL_NS    UINT64_C(100000)
#define EXTRA_NS    UINT64_C(1000000)
#define SHORT_NS    UINT64_C(20000) /* every instance is preempted for so long by the thread "often" */

/* Of EXTRA_NS, in thousandths: what each has, one after the other; no one has the rest. */
struct plan {
        unsigned hog, second, rival, stopped;
        bool often;          /* the short preemptions */
        bool on_other_cpu;   /* the hog and the rival are elsewhere */
        bool wakes;          /* the worker waits briefly, and is ready to run after a wake-up */
        unsigned throttled;  /* what the control group says, in thousandths */
        unsigned own;        /* after that it takes so much of EXTRA_NS of its own, in thousandths */
        bool late;           /* it says so of a time at the end of the recording alone */
        bool outside;        /* after each slow instance as much is missing again */
        uint32_t second_pid; /* of the thread "second"; 0 = that of the worker */
        const char *words, *never;
        enum ready_owner_kind lead;
};

struct program {
        struct trace_builder b;
        uint32_t worker, hog, second, rival, often;
        uint64_t out_ns[N_INSTANCES]; /* when each left its CPU */
        uint64_t end_ns;
};

static struct program p;
static struct asked_why a;

static void setup(void)
{
        memset(&p, 0, sizeof(p));
        trace_builder_init(&p.b);
}

static void teardown(void)
{
        asked_why_deinit(&a);
        trace_builder_deinit(&p.b);
}

static uint32_t named(uint32_t pid, uint32_t tid)
{
        return trace_builder_thread(&p.b, pid, tid);
}

static void run_beside(const struct plan *plan, uint32_t thread, const char *name, unsigned from, unsigned to)
{
        uint64_t cpu = plan->on_other_cpu;

        trace_builder_begin_run(&p.b, thread);
        TRACE_BUILDER_ADD(&p.b, 10, WAKEUP, 0, 0, 0, 0);
        TRACE_BUILDER_ADD(&p.b, 11, THREAD_NAME, trace_builder_string(&p.b, name));
        for (uint32_t i = 0; i < N_INSTANCES; i++) {
                uint64_t begin_ns = p.out_ns[i] + EXTRA_NS / 1000 * from;

                if (i % SLOW_EVERY != 7 || from == to)
                        continue;
                TRACE_BUILDER_ADD(&p.b, begin_ns, SWITCH_IN, cpu);
                TRACE_BUILDER_ADD(&p.b, p.out_ns[i] + EXTRA_NS / 1000 * to, SWITCH_OUT, cpu, 0,
                                  TRACE_WAIT_SLEEPING);
        }
        trace_builder_end_run(&p.b);
}

/* Has the CPU for a short time in each instance, the slow ones too. */
static void run_often(void)
{
        trace_builder_begin_run(&p.b, p.often);
        TRACE_BUILDER_ADD(&p.b, 10, WAKEUP, 0, 0, 0, 0);
        TRACE_BUILDER_ADD(&p.b, 11, THREAD_NAME, trace_builder_string(&p.b, "often"));
        for (uint32_t i = 0; i < N_INSTANCES; i++) {
                TRACE_BUILDER_ADD(&p.b, p.out_ns[i] - SHORT_NS, SWITCH_IN, 0);
                TRACE_BUILDER_ADD(&p.b, p.out_ns[i], SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING);
        }
        trace_builder_end_run(&p.b);
}

static void be_slow(const struct plan *plan, uint64_t now_ns)
{
        uint64_t stopped_ns = EXTRA_NS / 1000 * plan->stopped;

        if (plan->wakes) {
                TRACE_BUILDER_ADD(&p.b, now_ns - USUAL_NS / 2, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING);
                TRACE_BUILDER_ADD(&p.b, now_ns, WAKEUP, 0, 0, 0, 0);
                TRACE_BUILDER_ADD(&p.b, now_ns + EXTRA_NS, SWITCH_IN, 0);
                return;
        }
        if (stopped_ns != 0) {
                TRACE_BUILDER_ADD(&p.b, now_ns, SWITCH_OUT, 0, 0, TRACE_WAIT_STOPPED);
                TRACE_BUILDER_ADD(&p.b, now_ns + stopped_ns, SWITCH_IN, 0);
        }
        if (stopped_ns == EXTRA_NS)
                return;
        TRACE_BUILDER_ADD(&p.b, now_ns + stopped_ns, SWITCH_OUT, 0, 1, TRACE_WAIT_PREEMPTED);
        TRACE_BUILDER_ADD(&p.b, now_ns + EXTRA_NS, SWITCH_IN, 0);
}

static void run_worker(const struct plan *plan)
{
        uint32_t request = trace_builder_location(&p.b, "request");
        uint64_t now_ns = 100000;

        trace_builder_begin_run(&p.b, p.worker);
        TRACE_BUILDER_ADD(&p.b, 10, THREAD_NAME, trace_builder_string(&p.b, "worker"));
        TRACE_BUILDER_ADD(&p.b, 20, SWITCH_IN, 0);
        for (uint32_t i = 0; i < N_INSTANCES; i++) {
                trace_builder_begin_zone(&p.b, now_ns, request);
                now_ns += USUAL_NS + i % 40 * 100;
                if (plan->often) {
                        TRACE_BUILDER_ADD(&p.b, now_ns, SWITCH_OUT, 0, 1, TRACE_WAIT_PREEMPTED);
                        now_ns += SHORT_NS;
                        TRACE_BUILDER_ADD(&p.b, now_ns, SWITCH_IN, 0);
                }
                p.out_ns[i] = now_ns;
                if (i % SLOW_EVERY == 7) {
                        be_slow(plan, now_ns);
                        now_ns += EXTRA_NS + EXTRA_NS / 1000 * plan->own;
                }
                now_ns += 100;
                trace_builder_event(&p.b, now_ns, TRACE_OP_ZONE_END);
                if (plan->outside && i % SLOW_EVERY == 7) {
                        be_slow(plan, now_ns);
                        now_ns += EXTRA_NS;
                }
                now_ns += 1000;
        }
        trace_builder_end_run(&p.b);
        p.end_ns = now_ns;
}

static void add_quota(const struct plan *plan)
{
        unsigned long long all_us = p.end_ns / 1000;
        unsigned long long throttled_us = N_SLOW * EXTRA_NS / 1000 * plan->throttled / 1000;
        char text[96];

        if (plan->throttled == 0)
                return;
        (void)snprintf(text, sizeof(text), "%llu+%llu=%llu;", plan->late ? all_us : 0,
                       plan->late ? 100 : all_us, throttled_us);
        trace_builder_meta(&p.b, "cpu_throttled", text);
}

static void program_init(const struct plan *plan)
{
        p.worker = named(10, 11);
        p.hog = named(10, 12);
        p.second = named(plan->second_pid != 0 ? plan->second_pid : 10, 13);
        p.rival = named(20, 20);
        p.often = named(10, 14);
        run_worker(plan);
        add_quota(plan);
        run_beside(plan, p.hog, "hog", plan->stopped, plan->stopped + plan->hog);
        run_beside(plan, p.second, "second", plan->stopped + plan->hog,
                   plan->stopped + plan->hog + plan->second);
        run_beside(plan, p.rival, "rival", plan->stopped + plan->hog + plan->second,
                   plan->stopped + plan->hog + plan->second + plan->rival);
        if (plan->often)
                run_often();
        trace_builder_finish(&p.b);
}

static void ask(enum why_by by)
{
        const struct why_request request = { .zone = "request", .slowest = 0.05, .by = by };

        asked_why_ask(&a, p.b.path, &request);
}

static const struct plan plans[] = {
        { .hog = 1000,
          .words = "thread t2 'hog' had the CPU for 100% of the extra time",
          .never = "no cause" },
        { .hog = 1000, .wakes = true, .words = "thread t2 'hog' had the CPU for 100%", .never = "no cause" },
        { .hog = 500, .second = 500, .words = "2 of its own threads, above all thread t", .never = "others" },
        { .rival = 1000,
          .words = "no cause in the program: the program 'rival' (pid 20) had the CPU for 100%",
          .lead = READY_OWNER_PROGRAM },
        { .hog = 600,
          .rival = 300,
          .words =
                  "thread t2 'hog' had the CPU for 60% of the extra time of the slowest instances; the program "
                  "'rival' (pid 20) had the CPU for 30%; others had the CPU for 10%" },
        { .throttled = 1000,
          .words = "no cause in the program: it was throttled by the CPU quota for 100%",
          .never = "others",
          .lead = READY_OWNER_QUOTA },
        { .hog = 300,
          .throttled = 700,
          .words =
                  "it was throttled by the CPU quota for 70% of the extra time of the slowest instances; thread "
                  "t2 'hog' had the CPU for 30%",
          .never = "others",
          .lead = READY_OWNER_QUOTA },
        { .throttled = 300,
          .words =
                  "others had the CPU for 70% of the extra time of the slowest instances; it was throttled by "
                  "the CPU quota for 30%",
          .lead = READY_OWNER_KINDS },
        { .stopped = 1000,
          .words = "no cause in the program: it was stopped (SIGSTOP or a debugger) for 100%",
          .never = "others",
          .lead = READY_OWNER_STOPPED },
        { .stopped = 700,
          .hog = 300,
          .words = "; thread t2 'hog' had the CPU for 30%",
          .never = "others",
          .lead = READY_OWNER_STOPPED },
        /* the thread that takes the same from every instance is not why some are slow */
        { .often = true, .hog = 1000, .words = "thread t2 'hog' had the CPU for 100%", .never = "often" },
        /* where a good part is its own, that is said as well */
        { .own = 500,
          .words =
                  "others had the CPU for 67% of the extra time of the slowest instances; ranked without that time: ",
          .never = "no cause in the program",
          .lead = READY_OWNER_KINDS },
        /* a small part, but twice what is usual */
        { .own = 200,
          .words =
                  "others had the CPU for 83% of the extra time of the slowest instances; ranked without that time: ",
          .never = "no cause in the program: others",
          .lead = READY_OWNER_KINDS },
        /* nulls: no one is blamed who was not there, or at another time */
        { .words = "no cause in the program: others had the CPU for 100%",
          .lead = READY_OWNER_KINDS,
          .never = "quota" },
        { .hog = 500,
          .rival = 500,
          .on_other_cpu = true,
          .words = "others had the CPU for 100%",
          .never = "hog",
          .lead = READY_OWNER_KINDS },
        { .often = true,
          .words = "others had the CPU for 100%",
          .never = "often",
          .lead = READY_OWNER_KINDS },
        { .throttled = 1000,
          .late = true,
          .words = "others had the CPU for 100%",
          .never = "quota",
          .lead = READY_OWNER_KINDS },
        { .throttled = 1000,
          .outside = true,
          .words = "it was throttled by the CPU quota for 50% of the extra time",
          .lead = READY_OWNER_QUOTA },
};

START_LOOP_TEST(test_owner_is_named, 0, 2 * sizeof(plans) / sizeof(plans[0]))
{
        const struct plan *plan = &plans[_i / 2];
        const struct why_owner *lead;

        program_init(plan);
        ask(_i % 2 == 0 ? WHY_BY_AUTOMATIC : WHY_BY_WALL);
        if (_i % 2 == 0)
                ck_assert_msg(strstr(a.answer, plan->words) != NULL, "%s", a.answer);
        ck_assert_msg(!plan->never || !strstr(a.answer, plan->never), "%s", a.answer);
        ck_assert_msg(!strstr(a.answer, "the same code"), "%s", a.answer);
        lead = why_owner_words_find_lead(&a.why);
        ck_assert_msg((lead != NULL) == (plan->lead != READY_OWNER_KINDS), "%s", a.answer);
        ck_assert(!lead || lead->kind == plan->lead);
}
END_TEST

/* The thread of those that took more in slow instances, and how many threads or programs did so. */
static const struct {
        struct plan plan;
        enum ready_owner_kind kind;
        uint32_t n;
        size_t thread; /* offset in struct program */
} most[] = {
        { { .often = true, .hog = 15 }, READY_OWNER_OWN, 1, offsetof(struct program, hog) },
        { { .second = 600, .rival = 400, .second_pid = 30 },
          READY_OWNER_PROGRAM,
          2,
          offsetof(struct program, second) },
        { { .second = 700, .rival = 300, .second_pid = 20 },
          READY_OWNER_PROGRAM,
          1,
          offsetof(struct program, second) },
};

START_LOOP_TEST(test_who_took_the_most, 0, sizeof(most) / sizeof(most[0]))
{
        const struct why_owner *row = NULL;

        program_init(&most[_i].plan);
        ask(WHY_BY_AUTOMATIC);
        for (size_t i = 0; i < a.why.collector.owners.n_rows; i++)
                if (a.why.collector.owners.rows[i].kind == most[_i].kind)
                        row = &a.why.collector.owners.rows[i];
        ck_assert_ptr_nonnull(row);
        ck_assert_uint_eq(row->n, most[_i].n);
        ck_assert_mem_eq(&row->thread, (const char *)&p + most[_i].thread, sizeof(row->thread));
}
END_TEST

/* Parts are of all the time that slow ones have more of: together they are all of it. */
START_TEST(test_parts_add_up)
{
        const struct plan plan = {
                .stopped = 100, .hog = 200, .second = 100, .rival = 300, .throttled = 150
        };
        double parts[READY_OWNER_KINDS] = { 0 }, sum = 0;

        program_init(&plan);
        ask(WHY_BY_AUTOMATIC);
        for (size_t i = 0; i < a.why.collector.owners.n_rows; i++) {
                parts[a.why.collector.owners.rows[i].kind] = a.why.collector.owners.rows[i].part;
                sum += a.why.collector.owners.rows[i].part;
        }
        ck_assert_double_lt(fabs(sum - 1), 1e-9);
        ck_assert_double_lt(fabs(parts[READY_OWNER_STOPPED] - 0.1), 0.01);
        ck_assert_double_lt(fabs(parts[READY_OWNER_OWN] - 0.3), 0.01);
        ck_assert_double_lt(fabs(parts[READY_OWNER_PROGRAM] - 0.3), 0.01);
        ck_assert_double_lt(fabs(parts[READY_OWNER_QUOTA] - 0.15), 0.01);
        ck_assert_double_lt(fabs(parts[READY_OWNER_OTHERS] - 0.15), 0.01);
}
END_TEST

/* Others have what is left when all that is known had its time, and no time of their own. */
START_LOOP_TEST(test_others_have_the_rest, 0, 5)
{
        static const struct {
                struct plan plan;
                double slow_ns;
        } rests[] = {
                { { .hog = 1000 }, 0 },
                { { .stopped = 700, .hog = 300 }, 0 },
                { { .hog = 600, .rival = 300 }, 0.1 * (double)EXTRA_NS },
                { { .hog = 600, .rival = 400, .often = true }, 0 },
                { { .stopped = 0 }, (double)EXTRA_NS },
        };
        const struct why_owner *others = NULL;

        program_init(&rests[_i].plan);
        ask(WHY_BY_AUTOMATIC);
        for (size_t i = 0; i < READY_OWNER_KINDS; i++)
                if (a.why.collector.owners.rows[i].kind == READY_OWNER_OTHERS)
                        others = &a.why.collector.owners.rows[i];
        ck_assert_ptr_nonnull(others);
        ck_assert_double_eq_tol(others->ns[WHY_SLOW], rests[_i].slow_ns, 1e-3);
        ck_assert_double_eq_tol(others->ns[WHY_TYPICAL], 0, 1e-3);
}
END_TEST

/* Times are left out by a hash when there are too many; the shares stay. */
START_TEST(test_many_times_keep_their_shares)
{
        struct ready_times t = { .items = NULL };
        double ns[2] = { 0, 0 }, n_all = 3.0 * READY_TIMES_MAX;

        for (uint32_t i = 0; i < 3 * READY_TIMES_MAX; i++) {
                struct ready_time time = { .begin_ns = i, .thread = 1, .tag = i % 4 == 0 };

                time.end_ns = time.begin_ns + 10;
                ck_assert_int_eq(ready_times_add(&t, &time), 0);
        }
        ck_assert_uint_le(t.n_items, READY_TIMES_MAX);
        for (size_t i = 0; i < t.n_items; i++)
                ns[t.items[i].tag] += (double)ready_time_ns(&t.items[i]) * ready_times_weight(&t);
        ck_assert_double_lt(fabs(ns[1] / (10 * n_all / 4) - 1), 0.02);
        ck_assert_double_lt(fabs(ns[0] / (10 * n_all * 3 / 4) - 1), 0.02);
        ready_times_deinit(&t);
}
END_TEST

/* A list that a trace has made up counts up to its fault. */
START_TEST(test_malformed_quota)
{
        static const struct {
                const char *text;
                size_t n_spans;
        } texts[] = {
                { "", 0 },
                { "1+2=3;", 1 },
                { "1+2=3;3+1=0;", 2 },
                { "1+2=3;2+1=0;", 1 },
                { "1+2=3", 0 },
                { "1+2=3;x", 1 },
                { "-1+2=3;", 0 },
                { "99999999999999999999999+1=1;", 0 },
                { "1+99999999999999999999999=1;", 0 },
                { "1+2=3;+", 1 },
        };

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
                struct throttled_times t;
                struct trace_builder b;

                trace_builder_init(&b);
                trace_builder_meta(&b, "cpu_throttled", texts[i].text);
                ck_assert_int_eq(throttled_times_read(&t, &b.dictionary), 0);
                ck_assert_msg(t.n_spans == texts[i].n_spans, "%s: %zu", texts[i].text, t.n_spans);
                if (t.n_spans != 0) {
                        ck_assert_uint_eq(t.spans[0].begin_ns, 1000);
                        ck_assert_uint_eq(t.spans[0].end_ns, 3000);
                        ck_assert_uint_eq(t.spans[0].throttled_ns, 3000);
                }
                throttled_times_deinit(&t);
                trace_builder_deinit(&b);
        }
}
END_TEST

/* A span has its beginning, not its end; no more than all of the time is throttled. */
START_TEST(test_find_throttled)
{
        struct throttled_times t;
        struct trace_builder b;

        trace_builder_init(&b);
        trace_builder_meta(&b, "cpu_throttled", "1+2=3;3+1=0;6+1=1;");
        ck_assert_int_eq(throttled_times_read(&t, &b.dictionary), 0);
        ck_assert_uint_eq(throttled_times_find(&t, 999), 0);
        ck_assert_uint_eq(throttled_times_find(&t, 1000), 1);
        ck_assert_uint_eq(throttled_times_find(&t, 2999), 1);
        ck_assert_uint_eq(throttled_times_find(&t, 3000), 2);
        ck_assert_uint_eq(throttled_times_find(&t, 4000), 0);
        ck_assert_uint_eq(throttled_times_find(&t, 6500), 3);
        ck_assert_uint_eq(throttled_times_find(&t, UINT64_MAX), 0);
        ck_assert_double_eq_tol(throttled_times_share(&t, 1, 12000), 0.25, 1e-9);
        ck_assert_double_eq_tol(throttled_times_share(&t, 1, 2000), 1, 1e-9);
        ck_assert_double_eq_tol(throttled_times_share(&t, 2, 2000), 0, 1e-9);
        ck_assert_double_eq_tol(throttled_times_share(&t, 1, 0), 0, 1e-9);
        throttled_times_deinit(&t);
        trace_builder_deinit(&b);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
