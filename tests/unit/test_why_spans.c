/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_spans.c, why_span_parts.c, why_span_causes.c: each planted reason for slow zones of a
 * device is named, with its time and zone; where they are alike but for chance, none is
 */
#include "base/error.h"
#include "format/trace_event.h"
#include "tests/unit/asked_why.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define N_KERNELS  1000
#define SLOW_EVERY 50
#define PERIOD_NS  UINT64_C(10000000)
#define LAUNCH_NS  UINT64_C(2000)
#define DELAY_NS   UINT64_C(10000)
#define KERNEL_NS  UINT64_C(200000)
#define EXTRA_NS   UINT64_C(3000000)
#define N_SEEDS    20

enum plant { NOTHING, LONGER, QUEUED, HOST_LATE, LATE_LAUNCH };
enum { LANE = 7, OTHER_LANE = 8 };

static struct {
        struct trace_builder b;
        struct asked_why asked;
        uint32_t host, device, gemm, copy, step, launch, fetch, space, small, large;
        uint64_t random;
} f;

static void init(uint64_t seed)
{
        struct trace_device device = { .number = 1, .process = 1 };
        struct trace_device_clock clock = { .ticks = 500, .raw_ns = 500, .device = 1 };
        double period_ns = 1;

        memset(&f, 0, sizeof(f));
        f.random = 7919 * (seed + 1);
        trace_builder_init(&f.b);
        f.host = trace_builder_thread(&f.b, 10, 11);
        f.gemm = trace_builder_location(&f.b, "gemm");
        f.copy = trace_builder_location(&f.b, "copy");
        f.step = trace_builder_location(&f.b, "step");
        f.launch = trace_builder_location(&f.b, "launch");
        f.fetch = trace_builder_location(&f.b, "fetch");
        f.space = trace_builder_string(&f.b, "submission");
        f.small = trace_builder_string(&f.b, "n=1024");
        f.large = trace_builder_string(&f.b, "n=4096");
        device.name = trace_builder_string(&f.b, "gpu");
        memcpy(&device.period_bits, &period_ns, sizeof(period_ns));
        f.device = trace_builder_row(&f.b, TRACE_TABLE_DEVICES, &device);
        (void)trace_builder_row(&f.b, TRACE_TABLE_DEVICE_CLOCKS, &clock);
}

static void teardown(void)
{
        asked_why_deinit(&f.asked);
        trace_builder_deinit(&f.b);
}

/* @ns and up to @percent more or less, the sum of four draws. */
static uint64_t about(uint64_t ns, uint64_t percent)
{
        uint64_t width = ns * percent / 50, sum = 0;

        for (int i = 0; i < 4; i++)
                sum += fixed_random_next(&f.random) % (width / 4 + 1);
        return ns - width / 2 + sum;
}

static void span(uint64_t said_ns, uint32_t location, uint32_t lane, uint64_t begin_ns, uint64_t length_ns)
{
        struct trace_event event = { .time_ns = said_ns, .op = TRACE_OP_DEVICE_SPAN };

        event.device_span.device = f.device;
        event.device_span.location = location;
        event.device_span.lane = lane;
        event.device_span.begin_ticks = begin_ns;
        event.device_span.length_ticks = length_ns;
        event_encoder_add(&f.b.encoder, &event);
}

static void gemm(uint64_t said_ns, uint64_t begin_ns, uint64_t length_ns, uint64_t key, uint32_t text)
{
        struct trace_event event = { .time_ns = said_ns, .op = TRACE_OP_DEVICE_SPAN };

        event.device_span.device = f.device;
        event.device_span.location = f.gemm;
        event.device_span.lane = LANE;
        event.device_span.begin_ticks = begin_ns;
        event.device_span.length_ticks = length_ns;
        event.device_span.key = key;
        event.device_span.space = key != 0 ? f.space : 0;
        event.device_span.text = text;
        event_encoder_add(&f.b.encoder, &event);
}

/* The thread hands a kernel over in "launch", which is in "step"; the device begins it a little later. */
static void launch(uint32_t i, enum plant plant, bool has_key)
{
        uint64_t begin_ns = PERIOD_NS * (i + 1), end_ns = begin_ns + about(LAUNCH_NS, 20);
        uint64_t kernel_ns = end_ns + about(DELAY_NS, 20), length_ns = about(KERNEL_NS, 3);
        bool is_planted = plant != NOTHING && i % SLOW_EVERY == 0;

        trace_builder_begin_zone(&f.b, begin_ns - 1000, f.step);
        trace_builder_begin_zone(&f.b, begin_ns, f.launch);
        if (has_key)
                TRACE_BUILDER_ADD(&f.b, begin_ns, ZONE_KEY, f.space, i + 1);
        if (is_planted && plant == HOST_LATE) {
                trace_builder_begin_zone(&f.b, begin_ns + 100, f.fetch);
                trace_builder_event(&f.b, begin_ns + 100 + EXTRA_NS, TRACE_OP_ZONE_END);
                end_ns += EXTRA_NS;
                kernel_ns += EXTRA_NS;
        }
        trace_builder_event(&f.b, end_ns, TRACE_OP_ZONE_END);
        if (is_planted && plant == LATE_LAUNCH)
                kernel_ns += EXTRA_NS;
        if (is_planted && plant == LONGER)
                length_ns += EXTRA_NS;
        if (is_planted && plant == QUEUED) {
                span(end_ns, f.copy, LANE, begin_ns - 5000, EXTRA_NS + 5000);
                kernel_ns = begin_ns + EXTRA_NS + 100;
        }
        trace_builder_event(&f.b, begin_ns + PERIOD_NS / 2, TRACE_OP_ZONE_END);
        span(begin_ns + PERIOD_NS / 2, f.copy, OTHER_LANE, begin_ns - 1000, EXTRA_NS); /* delays nothing */
        gemm(begin_ns + PERIOD_NS / 2, kernel_ns, length_ns, has_key ? i + 1 : 0,
             is_planted && plant == LONGER ? f.large : f.small);
}

static void build(enum plant plant, bool has_key, uint64_t seed)
{
        init(seed);
        trace_builder_begin_run(&f.b, f.host);
        for (uint32_t i = 0; i < N_KERNELS; i++)
                launch(i, plant, has_key);
        /* A zone around all of them is no earlier work. */
        span(PERIOD_NS * (N_KERNELS + 1), f.step, LANE, 600, PERIOD_NS * (N_KERNELS + 2));
        trace_builder_end_run(&f.b);
        trace_builder_finish(&f.b);
}

static void ask(const char *zone)
{
        const struct why_request request = { .zone = zone, .slowest = 0.02, .by = WHY_BY_AUTOMATIC };

        asked_why_ask(&f.asked, f.b.path, &request);
}

static const struct {
        enum plant plant;
        enum why_cause_kind kind;
        const char *answer; /* its begin */
} plants[] = {
        { LONGER, WHY_CAUSE_DEVICE, "Slow instances themselves run longer on the device (" },
        { QUEUED, WHY_CAUSE_BEHIND, "Slow instances wait for earlier work on their lane, 'copy' (" },
        { HOST_LATE, WHY_CAUSE_HOST_LATE,
          "Slow instances begin late: their lane was idle while the host was in the zone 'fetch' (" },
        { LATE_LAUNCH, WHY_CAUSE_HANDED_OVER,
          "Slow instances begin late, though they were handed over and their lane was idle (" },
};

START_LOOP_TEST(test_each_reason_is_named, 0, sizeof(plants) / sizeof(plants[0]))
{
        const struct why *w = &f.asked.why;
        const struct why_cause *answer;

        build(plants[_i].plant, true, 0);
        ask("gemm");
        ck_assert(w->are_spans);
        ck_assert_uint_eq(w->spans.n_hosts, N_KERNELS);
        ck_assert_uint_eq(w->collector.n_slow, N_KERNELS / SLOW_EVERY);
        answer = why_find_answer(w);
        ck_assert_ptr_nonnull(answer);
        ck_assert_int_eq(answer->kind, plants[_i].kind);
        ck_assert_int_eq(answer->confidence, WHY_CONFIDENCE_HIGH);
        ck_assert_double_eq_tol(answer->share.value, 1, 0.02);
        ck_assert_double_eq_tol(w->extra_ns, (double)EXTRA_NS, 0.02 * (double)EXTRA_NS);
        ck_assert_msg(strncmp(f.asked.answer, plants[_i].answer, strlen(plants[_i].answer)) == 0, "%s",
                      f.asked.answer);
}
END_TEST

START_TEST(test_what_goes_with_a_longer_kernel_is_said)
{
        build(LONGER, true, 0);
        ask("gemm");
        ck_assert_msg(
                strstr(f.asked.answer, "; all 20 slow ones have the text 'n=4096', and 0% of the others"),
                "%s", f.asked.answer);
}
END_TEST

/* The parts of all instances together are their durations, and each is what was built. */
START_TEST(test_the_parts_are_the_durations)
{
        double slow = 0, typical = 0;

        build(HOST_LATE, true, 0);
        ask("gemm");
        for (size_t i = 0; i < f.asked.why.n_causes; i++) {
                slow += f.asked.why.causes[i].share.slow_ns;
                typical += f.asked.why.causes[i].share.typical_ns;
        }
        ck_assert_double_eq_tol(slow, f.asked.why.groups[WHY_SLOW].duration / (N_KERNELS / SLOW_EVERY), 1);
        ck_assert_double_eq_tol(
                typical, f.asked.why.groups[WHY_TYPICAL].duration / (N_KERNELS - N_KERNELS / SLOW_EVERY), 1);
        /* The others: nothing is before them, "launch" is the host's, the delay after it is not. */
        for (size_t i = 0; i < f.asked.why.n_causes; i++) {
                const struct why_cause *cause = &f.asked.why.causes[i];

                ck_assert_int_ne(cause->kind, WHY_CAUSE_BEHIND);
                if (cause->kind == WHY_CAUSE_HOST_LATE)
                        ck_assert_double_eq_tol(cause->share.typical_ns, (double)LAUNCH_NS, 100);
                if (cause->kind == WHY_CAUSE_HANDED_OVER)
                        ck_assert_double_eq_tol(cause->share.typical_ns, (double)DELAY_NS, 500);
        }
}
END_TEST

START_LOOP_TEST(test_chance_is_no_reason, 0, N_SEEDS)
{
        build(NOTHING, _i % 2 == 0, (uint64_t)_i);
        ask("gemm");
        ck_assert(f.asked.why.are_spans);
        ck_assert_uint_ge(f.asked.why.collector.n_slow, WHY_SLOW_MIN);
        ck_assert_msg(!why_find_answer(&f.asked.why), "%s", f.asked.answer);
}
END_TEST

START_TEST(test_without_a_key_the_zone_itself_is_measured)
{
        build(HOST_LATE, false, 0);
        ask("gemm");
        ck_assert_uint_eq(f.asked.why.spans.n_hosts, 0);
        ck_assert_double_lt(f.asked.why.rank.median_ns, 1.01 * (double)KERNEL_NS);
        ck_assert_msg(!why_find_answer(&f.asked.why), "%s", f.asked.answer);
}
END_TEST

/* "step" is a zone of the thread, and encloses the work of the device. */
START_TEST(test_zones_of_threads_come_first)
{
        struct why_request request = { .zone = "step", .slowest = 0.02, .by = WHY_BY_AUTOMATIC };

        build(NOTHING, true, 0);
        ask("step");
        ck_assert(!f.asked.why.are_spans);
        ck_assert_uint_eq(f.asked.why.n_other_spans, 1);
        asked_why_deinit(&f.asked);
        request.wants_devices = true;
        asked_why_ask(&f.asked, f.b.path, &request);
        ck_assert(f.asked.why.are_spans);
        ck_assert_uint_eq(f.asked.why.survey.durations.n, 1);
}
END_TEST

/* "step" is also a zone of a device, "launch" is of the thread alone, and "copi" of nothing. */
START_TEST(test_no_zone_of_a_device)
{
        static const struct {
                const char *zone, *words;
        } missing[] = {
                { "launch", "no zone of a device is called 'launch'" },
                { "gem", "no zone of a device is called 'gem'; did you mean 'gemm'?" },
                { "copi", "no zone of a device is called 'copi'; did you mean 'copy'?" },
        };
        struct loaded_trace trace;
        struct error err = ERROR_NONE;
        struct why why;

        build(NOTHING, true, 0);
        ck_assert_int_eq(loaded_trace_open(&trace, f.b.path, &err), 0);
        for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
                const struct why_request request = { .zone = missing[i].zone,
                                                     .slowest = 0.02,
                                                     .by = WHY_BY_AUTOMATIC,
                                                     .wants_devices = true };

                ck_assert_int_eq(why_init(&why, &trace, NULL, &request, &err), -ENOENT);
                ck_assert_str_eq(err.text, missing[i].words);
                why_deinit(&why);
        }
        loaded_trace_close(&trace);
}
END_TEST

UNIT_TEST_PLAN(.teardown = teardown);
