/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/event_attr.c: each event asks the kernel for what it was meant for; clocks are never in
 * step with round timers
 */
#include "base/clock.h"
#include "sampler/events/event_attr.h"
#include "sampler/events/event_request.h"
#include "tests/unit/unit_test.h"

#include <string.h>

static const struct event_attr_options defaults = { .ring_bytes = 1u << 20, .inherit = true };

static struct event_spec spec_of(uint32_t type, uint64_t config, uint32_t leader)
{
        return (struct event_spec){ .type = type, .config = config, .leader = leader, .unit = "events" };
}

/*
 * loop test: the period meets a timer of any round period at points all over it.  As many samples as one
 * second has, but at least a hundred, must leave no gap of a tenth of the timer's period.
 */
START_LOOP_TEST(test_clock_period, 0, 13)
{
        static const uint64_t rates_hz[] = { 1,    7,     10,    50,    60,    97,    99,    100,  101,
                                             200,  250,   333,   499,   500,   600,   997,   998,  999,
                                             1000, 1001,  2000,  2500,  4000,  5000,  6000,  8000, 9973,
                                             9999, 10000, 20000, 49999, 50000, 99999, 100000 };
        static const uint64_t timers_ns[] = { 100000,   125000,    200000,    250000,   500000,
                                              1000000,  2000000,   4000000,   10000000, 16666667,
                                              20000000, 100000000, 1000000000 };

        for (size_t i = 0; i < sizeof(rates_hz) / sizeof(rates_hz[0]); i++) {
                uint64_t period_ns = event_attr_clock_period_ns(rates_hz[i]);
                uint64_t wanted_ns = NS_PER_S / rates_hz[i];
                uint64_t off_ns = period_ns > wanted_ns ? period_ns - wanted_ns : wanted_ns - period_ns;
                uint64_t timer_ns = timers_ns[_i], n_samples = rates_hz[i] < 1000 ? 1000 : rates_hz[i];
                bool seen[10] = { false };

                ck_assert_msg(off_ns <= wanted_ns / 100, "%llu Hz: %llu ns", (unsigned long long)rates_hz[i],
                              (unsigned long long)period_ns);
                if (timer_ns > NS_PER_S / rates_hz[i] * 50) /* slower than a sample sees in steps */
                        n_samples *= 1 + timer_ns / NS_PER_S;
                for (uint64_t n = 0; n < n_samples; n++)
                        seen[n * period_ns % timer_ns * 10 / timer_ns] = true;
                for (size_t tenth = 0; tenth < 10; tenth++)
                        ck_assert_msg(seen[tenth], "%llu Hz, %llu ns, timer of %llu ns: tenth %zu",
                                      (unsigned long long)rates_hz[i], (unsigned long long)period_ns,
                                      (unsigned long long)timer_ns, tenth);
        }
}
END_TEST

START_TEST(test_known_periods)
{
        ck_assert_uint_eq(event_attr_clock_period_ns(997), 1003009);
        ck_assert_uint_eq(event_attr_clock_period_ns(1000), 1002685);
        ck_assert_uint_eq(event_attr_clock_period_ns(9973), 100271);
        ck_assert_uint_eq(event_attr_clock_period_ns(10000), 100268);
}
END_TEST

/* Mappings of data are reported where they are asked for. */
START_TEST(test_mappings_of_data)
{
        struct event_attr_options options = defaults;

        ck_assert(event_attr_of_tracker(&options).mmap && !event_attr_of_tracker(&options).mmap_data);
        options.data = true;
        ck_assert(event_attr_of_tracker(&options).mmap && event_attr_of_tracker(&options).mmap_data);
}
END_TEST

/* Debian 13's kernel refuses an ordinary user call stacks that could have a part in the kernel. */
START_TEST(test_call_stacks_in_the_kernel)
{
        struct event_request request = { .n_specs = 2, .rate_hz = 997 };
        struct event_attr_options options = defaults;

        options.request = &request;
        request.specs[0] = spec_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0);
        request.specs[0].exclude_kernel = true;
        request.specs[1] = spec_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1);
        for (enum unwind_mode mode = UNWIND_AUTO; mode <= UNWIND_DWARF; mode++) {
                options.unwinder.mode = mode;
                ck_assert(event_attr_of_spec(&options, 0).exclude_callchain_kernel);
                ck_assert(!event_attr_of_spec(&options, 1).exclude_callchain_kernel);
        }
}
END_TEST

/* The number of a system call is in the bytes of its tracepoint, and records of all events are alike. */
START_TEST(test_bytes_of_system_calls)
{
        struct event_request request = { .n_specs = 2, .rate_hz = 997 };
        struct event_attr_options options = defaults;

        options.request = &request;
        request.specs[0] = spec_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0);
        request.specs[1] = spec_of(PERF_TYPE_TRACEPOINT, 17, 1);
        for (size_t i = 0; i < 2; i++)
                ck_assert((event_attr_of_spec(&options, i).sample_type & PERF_SAMPLE_RAW) == 0);
        request.specs[1].is_syscall = true;
        for (size_t i = 0; i < 2; i++)
                ck_assert((event_attr_of_spec(&options, i).sample_type & PERF_SAMPLE_RAW) != 0);
}
END_TEST

START_TEST(test_rates)
{
        struct event_request request = { .n_specs = 3, .rate_hz = 997, .rate_is_default = true };
        struct event_attr_options options = defaults;
        struct perf_event_attr attr;

        options.request = &request;
        request.specs[0] = spec_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0);
        request.specs[0].is_clock = true;
        request.specs[1] = spec_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1);
        request.specs[1].precise = 2;
        request.specs[2] = spec_of(PERF_TYPE_TRACEPOINT, 316, 2);
        request.specs[2].is_tracepoint = true;

        attr = event_attr_of_spec(&options, 0);
        ck_assert(!attr.freq && attr.sample_period == 1003009);
        attr = event_attr_of_spec(&options, 1);
        ck_assert(attr.freq && attr.sample_freq == 997 && attr.precise_ip == 2);
        attr = event_attr_of_spec(&options, 2); /* each one */
        ck_assert(!attr.freq && attr.sample_period == 1);

        request.rate_is_default = false; /* -F */
        attr = event_attr_of_spec(&options, 2);
        ck_assert(attr.freq && attr.sample_freq == 997);
        request.rate_hz = 0; /* -c */
        request.period = 1000;
        for (size_t i = 0; i < 3; i++) {
                attr = event_attr_of_spec(&options, i);
                ck_assert(!attr.freq && attr.sample_period == 1000);
                ck_assert_uint_eq(attr.sample_type & PERF_SAMPLE_READ, 0);
                ck_assert_uint_eq(attr.read_format & PERF_FORMAT_GROUP, 0);
        }
        request.specs[1].only_counts = true;
        ck_assert_uint_eq(event_attr_of_spec(&options, 1).sample_period, 0);
}
END_TEST

/* As soon as one group is read with its samples, all samples look the same: they share rings. */
START_TEST(test_groups)
{
        struct event_request request = { .n_specs = 4, .rate_hz = 997 };
        struct event_attr_options options = defaults;
        struct perf_record_layout layout;
        struct perf_event_attr attrs[4];

        options.request = &request;
        options.enable_on_exec = true;
        options.switches = true;
        request.specs[0] = spec_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0);
        request.specs[1] = spec_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1);
        request.specs[1].reads_group = true;
        request.specs[2] = spec_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 1);
        request.specs[2].only_counts = true;
        request.specs[3] = spec_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, 3);
        request.specs[3].only_counts = true;
        layout = event_attr_layout(&options);
        for (size_t i = 0; i < 4; i++) {
                attrs[i] = event_attr_of_spec(&options, i);
                ck_assert_uint_eq(attrs[i].sample_type, layout.sample_type);
                ck_assert_uint_eq(attrs[i].read_format, layout.read_format);
                ck_assert_uint_ne(attrs[i].sample_type & PERF_SAMPLE_READ, 0);
                ck_assert_uint_eq(attrs[i].read_format,
                                  PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
                                          PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_LOST);
                ck_assert(attrs[i].context_switch == (i == 0));
                ck_assert((attrs[i].sample_period != 0) == (i < 2));
                /* A member begins with its leader. */
                ck_assert(attrs[i].disabled == (i != 2) && attrs[i].enable_on_exec == (i != 2));
        }
}
END_TEST

/* Each CPU's switches are told once, also where no event is on all of them. */
START_TEST(test_switches)
{
        struct event_request request = { .n_specs = 4, .rate_hz = 997 };
        struct event_attr_options options = defaults;

        options.request = &request;
        options.switches = true;
        for (uint32_t i = 0; i < 4; i++) {
                request.specs[i] = spec_of(PERF_TYPE_RAW, i, i);
                request.specs[i].on_some_cpus = true;
                request.specs[i].cpus[i % 2] = 1;
        }
        request.specs[0].only_counts = true;
        ck_assert_uint_eq(event_attr_of_spec(&options, 0).context_switch, 0);
        ck_assert_uint_eq(event_attr_of_spec(&options, 1).context_switch, 1);
        ck_assert_uint_eq(event_attr_of_spec(&options, 2).context_switch, 1);
        ck_assert_uint_eq(event_attr_of_spec(&options, 3).context_switch, 0);
        options.switches = false;
        ck_assert_uint_eq(event_attr_of_spec(&options, 1).context_switch, 0);
}
END_TEST
