/* SPDX-License-Identifier: MIT */
/*
 * sampler/rights/perf_access.c: a counter that goes on counting past its period is told
 * from one that interrupts
 */
#include "sampler/rights/perf_access.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>

#define PERIOD_NS UINT64_C(100000)

static struct perf_event_attr clock_of(uint64_t period)
{
        return (struct perf_event_attr){ .size = sizeof(struct perf_event_attr),
                                         .type = PERF_TYPE_SOFTWARE,
                                         .config = PERF_COUNT_SW_CPU_CLOCK,
                                         .sample_period = period,
                                         .disabled = 1,
                                         .exclude_hv = 1,
                                         .exclude_kernel = 1 };
}

static bool is_permitted(void)
{
        struct perf_event_attr attr = clock_of(PERIOD_NS);

        return counter_probe_run(&attr, UINT64_MAX) == 0;
}

START_TEST(test_one_that_interrupts)
{
        struct perf_event_attr attr = clock_of(PERIOD_NS);

        if (is_permitted())
                ck_assert_int_eq(counter_probe_run(&attr, PERIOD_NS), 0);
}
END_TEST

/* It would in a day: until then it counts, as those do whose interrupt never comes. */
START_TEST(test_one_that_only_counts)
{
        struct perf_event_attr attr = clock_of(UINT64_C(86400) * 1000000000);
        int code = is_permitted() ? 0 : -EIO;

        /* Where others take the CPU for most of a probe's time it cannot tell, and says 0. */
        for (int n = 0; n < 100 && code == 0; n++)
                code = counter_probe_run(&attr, PERIOD_NS);
        ck_assert_int_eq(code, -EIO);
}
END_TEST

/* A hundred periods late, as in an emulated machine that others keep from its timer. */
START_TEST(test_one_that_is_late)
{
        struct perf_event_attr attr = clock_of(100 * PERIOD_NS);
        int code = is_permitted() ? -EIO : 0;

        /* Where others take the CPU for most of a probe's time, it takes another. */
        for (int n = 0; n < 100 && code == -EIO; n++)
                code = counter_probe_run(&attr, PERIOD_NS);
        ck_assert_int_eq(code, 0);
}
END_TEST

START_TEST(test_one_that_is_not_there)
{
        struct perf_event_attr attr = { .size = sizeof(struct perf_event_attr), .type = 0x7fffffff };

        ck_assert_int_lt(counter_probe_run(&attr, 1), 0);
}
END_TEST
