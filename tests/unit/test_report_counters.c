/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/report_counters.c, report.c: counters of a group belong to functions
 * and zones, marks to none
 */
#include "analyze/report/report.h"
#include "base/error.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <math.h>
#include <string.h>

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

static void load(const char *event)
{
        struct report_options options = { .event = event };
        struct error err = ERROR_NONE;

        trace_builder_finish(&b);
        ck_assert_msg(report_load(b.path, &options, &report, &err) == 0, "%s", err.text);
}

static uint32_t add_event(const char *name, uint32_t mode, uint32_t leader)
{
        struct trace_sample_event row = {
                .name = trace_builder_string(&b, name), .mode = mode, .rate = 1000, .leader = leader
        };

        return trace_builder_row(&b, TRACE_TABLE_SAMPLE_EVENTS, &row);
}

struct group {
        uint32_t cycles, instructions, cache, branches;
};

static struct group add_group(void)
{
        struct group g = { .cycles = add_event("cycles:u", TRACE_SAMPLE_MODE_PERIOD, 0) };

        g.instructions = add_event("instructions:u", TRACE_SAMPLE_MODE_WITH_LEADER, g.cycles);
        g.cache = add_event("cache-misses", TRACE_SAMPLE_MODE_WITH_LEADER, g.cycles);
        g.branches = add_event("branch-misses:k", TRACE_SAMPLE_MODE_WITH_LEADER, g.cycles);
        return g;
}

static void add_sample(uint64_t time_ns, uint32_t event, uint32_t path, uint32_t stack, uint64_t weight)
{
        TRACE_BUILDER_ADD(&b, time_ns, SAMPLE, event, 0, stack, path, weight);
}

static void add_group_sample(uint64_t time_ns, const struct group *g, uint32_t path, uint32_t stack,
                             const uint64_t weights[4])
{
        add_sample(time_ns, g->cycles, path, stack, weights[0]);
        add_sample(time_ns, g->instructions, path, stack, weights[1]);
        add_sample(time_ns, g->cache, path, stack, weights[2]);
        add_sample(time_ns, g->branches, path, stack, weights[3]);
}

/*
 * fast: 2 samples of 1000 cycles with 3000 and 2000 instructions; slow, in a zone: one
 * with 500, 4 and 1 misses.
 */
static void build_known(void)
{
        struct group g = add_group();
        uint32_t module = trace_builder_module(&b, "/bin/program");
        uint32_t fast = trace_builder_frame(&b, module, 0x100);
        uint32_t slow = trace_builder_frame(&b, module, 0x200);
        uint32_t in_fast = trace_builder_stack(&b, 0, fast);
        uint32_t in_slow = trace_builder_stack(&b, in_fast, slow);
        uint32_t path = trace_builder_path(&b, 0, trace_builder_location(&b, "zone"));

        trace_builder_symbol(&b, fast, "fast", 0);
        trace_builder_symbol(&b, slow, "slow", 0);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        add_group_sample(100, &g, 0, in_fast, (const uint64_t[]){ 1000, 3000, 0, 5 });
        add_group_sample(200, &g, 0, in_fast, (const uint64_t[]){ 1000, 2000, 0, 5 });
        add_group_sample(300, &g, path, in_slow, (const uint64_t[]){ 1000, 500, 4, 1 });
        trace_builder_end_run(&b);
}

static uint32_t row_of(const char *name)
{
        for (uint32_t i = 0; i < report->functions.n_rows; i++)
                if (report->functions.rows[i].name.n_bytes == strlen(name) &&
                    memcmp(report->functions.rows[i].name.bytes, name, strlen(name)) == 0)
                        return i;
        ck_abort_msg("no function %s", name);
}

/* loop test: whichever event of the group is shown, the counters are the same */
START_LOOP_TEST(test_counters_of_functions_and_zones, 0, 2)
{
        static const char *const shown[] = { NULL, "instructions:u" };
        const struct report_counters *c;
        struct report_ratios ratios;
        uint32_t fast, slow;

        build_known();
        load(shown[_i]);
        c = &report->counters;
        ck_assert_uint_eq(report->event->event, (uint32_t)_i + 1);
        ck_assert_uint_eq(report->event->sum.weight, _i == 0 ? 3000 : 5500);
        ck_assert_uint_eq(report->threads[0].n_samples, 3);
        ck_assert_uint_eq(c->n_counters, 4);
        ck_assert_uint_eq(c->all[0], 3000);
        ck_assert_uint_eq(c->all[1], 5500);
        ck_assert_uint_eq(c->all[2], 4); /* what counted nothing weighs nothing */
        ck_assert_uint_eq(c->all[3], 11);
        fast = row_of("fast");
        slow = row_of("slow");
        ck_assert_uint_eq(c->functions_self[(size_t)fast * 4 + 1], 5000);
        ck_assert_uint_eq(c->functions_total[(size_t)fast * 4 + 1], 5500);
        ck_assert_uint_eq(c->functions_self[(size_t)slow * 4 + 2], 4);
        ratios = report_counters_ratios(c, &c->functions_self[(size_t)fast * 4]);
        ck_assert(fabs(ratios.instructions_per_cycle - 2.5) < 1e-9);
        ck_assert(fabs(ratios.cache_misses) < 1e-9);
        ck_assert(fabs(ratios.branch_misses - 2.0) < 1e-9);
        ratios = report_counters_ratios(c, &c->functions_self[(size_t)slow * 4]);
        ck_assert(fabs(ratios.instructions_per_cycle - 0.5) < 1e-9);
        ck_assert(fabs(ratios.cache_misses - 8.0) < 1e-9);
        ck_assert_uint_eq(report->n_zones, 1);
        ck_assert_uint_eq(c->zones[1], 500);
        ck_assert_uint_eq(c->zones[2], 4);
}
END_TEST

/*
 * Another event that is sampled by itself has no counters; nor has one whose samples outnumber the leader's.
 */
START_TEST(test_an_event_without_a_group)
{
        uint32_t alone;

        build_known();
        alone = add_event("page-faults", TRACE_SAMPLE_MODE_PERIOD, 0);
        trace_builder_begin_run(&b, 1);
        for (uint64_t i = 0; i < 5; i++)
                add_sample(1000 + i, alone, 0, 0, 1);
        trace_builder_end_run(&b);
        load(NULL);
        ck_assert_uint_eq(report->event->event, alone);
        ck_assert_uint_eq(report->counters.n_counters, 0);
        ck_assert_uint_eq(report->threads[0].n_samples, 8);
}
END_TEST

START_TEST(test_kinds_by_name)
{
        static const struct {
                const char *name;
                enum report_counter_kind kind;
        } names[] = {
                { "cycles", REPORT_COUNTER_CYCLES },
                { "cpu-cycles:ppp", REPORT_COUNTER_CYCLES },
                { "instructions:u", REPORT_COUNTER_INSTRUCTIONS },
                { "cache-misses:k", REPORT_COUNTER_CACHE_MISSES },
                { "branch-misses", REPORT_COUNTER_BRANCH_MISSES },
                { "cycles-ct", REPORT_COUNTER_OTHER },
                { "cycle", REPORT_COUNTER_OTHER },
                { "L1-dcache-load-misses", REPORT_COUNTER_OTHER },
                { ":u", REPORT_COUNTER_OTHER },
                { "", REPORT_COUNTER_OTHER },
        };

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                struct text_view name = { names[i].name, strlen(names[i].name) };

                ck_assert_int_eq(report_counter_kind_of(name), names[i].kind);
        }
        ck_assert_int_eq(report_counter_kind_of((struct text_view){ NULL, 0 }), REPORT_COUNTER_OTHER);
}
END_TEST

START_TEST(test_totals)
{
        const struct report_total *totals;
        uint32_t instructions, cycles, misses, never;

        instructions = add_event("instructions", TRACE_SAMPLE_MODE_COUNTED, 0);
        cycles = add_event("cycles", TRACE_SAMPLE_MODE_COUNTED, 0);
        misses = add_event("cache-misses", TRACE_SAMPLE_MODE_COUNTED, 0);
        never = add_event("branch-misses", TRACE_SAMPLE_MODE_COUNTED, 0);
#define COUNTED(...) (void)trace_builder_row(&b, TRACE_TABLE_COUNTERS, &(struct trace_counter){ __VA_ARGS__ })
        COUNTED(.event = cycles, .value = 7, .enabled_ns = 10, .running_ns = 10);
        COUNTED(.event = instructions, .value = 3000, .enabled_ns = 4000, .running_ns = 3000);
        COUNTED(.event = cycles, .value = 2000, .enabled_ns = 4000, .running_ns = 4000);
        COUNTED(.event = misses, .value = 8, .enabled_ns = 4000, .running_ns = 4000);
        COUNTED(.event = never, .value = 0, .enabled_ns = 4000);
        load(NULL);
        totals = report->counters.totals;
        ck_assert_ptr_null(report->event);
        ck_assert_uint_eq(report->counters.n_totals, 4);
        ck_assert_uint_eq(totals[0].value, 3000);
        ck_assert_uint_eq(totals[0].scaled, 4000);
        ck_assert(fabs(totals[0].share_of_time - 0.75) < 1e-9);
        ck_assert_uint_eq(totals[1].counter.event, cycles);
        ck_assert_uint_eq(totals[1].scaled, 2000);
        ck_assert(totals[3].has_never_run && !totals[2].has_never_run);
        ck_assert(fabs(report->counters.totals_ratios.instructions_per_cycle - 2.0) < 1e-9);
        ck_assert(fabs(report->counters.totals_ratios.cache_misses - 2.0) < 1e-9);
        ck_assert(report->counters.totals_ratios.branch_misses < 0);
}
END_TEST

/* The numbers are a trace's: no overflow, and no value beyond 64 bits. */
START_TEST(test_totals_at_their_limits)
{
        uint32_t event = add_event("cycles", TRACE_SAMPLE_MODE_COUNTED, 0);

        COUNTED(.event = event, .value = UINT64_MAX, .enabled_ns = UINT64_MAX, .running_ns = 1);
        load(NULL);
        ck_assert_uint_eq(report->counters.totals[0].scaled, UINT64_MAX);
}
END_TEST

static void add_state(uint32_t event, uint32_t stack, uint64_t state)
{
        TRACE_BUILDER_ADD(&b, 100, SAMPLE, event, 0, stack, 0, 1, state);
}

START_TEST(test_states_of_callstacks)
{
        const struct report_callstacks *c;
        struct group g = add_group();

        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        add_state(g.cycles, 0, TRACE_STACK_UNKNOWN);
        for (uint64_t state = TRACE_STACK_COMPLETE; state < TRACE_STACK_STATE_COUNT; state++) {
                add_state(g.cycles, 0, state);
                add_state(g.instructions, 0, state); /* the same sample */
        }
        add_state(g.cycles, 0, 99);
        add_state(g.cycles, 0, UINT64_MAX);
        trace_builder_end_run(&b);
        load(NULL);
        c = &report->callstacks;
        ck_assert_uint_eq(c->n_samples, 4 + TRACE_STACK_STATE_COUNT - TRACE_STACK_TRUNCATED + 2);
        ck_assert_uint_eq(c->n_complete, 3);
        ck_assert_uint_eq(c->n_stitched, 1);
        ck_assert_uint_eq(c->n_approximate, 1);
        ck_assert_uint_eq(c->n_frame_pointers, 1);
        ck_assert_uint_eq(c->n_truncated, TRACE_STACK_STATE_COUNT - TRACE_STACK_TRUNCATED + 2);
        ck_assert_uint_eq(c->by_state[TRACE_STACK_NO_TABLE], 1);
        ck_assert_uint_eq(c->by_state[TRACE_STACK_STATE_COUNT], 2);
}
END_TEST

/* The mark of missing callers is the root of call stacks, and nothing that time was spent in. */
START_TEST(test_marks_are_no_functions)
{
        const struct report_function *mark;
        uint32_t event, module, mark_frame, leaf, stack;

        event = trace_builder_sample_event(&b, "cpu-clock");
        module = trace_builder_module_of(&b, TRACE_MODULE_MARK, "[truncated]");
        mark_frame = trace_builder_frame(&b, module, 0);
        leaf = trace_builder_frame(&b, trace_builder_module(&b, "/bin/program"), 0x10);
        trace_builder_symbol(&b, leaf, "leaf", 0);
        stack = trace_builder_stack(&b, 0, mark_frame);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        for (uint64_t i = 0; i < 3; i++)
                add_state(event, trace_builder_stack(&b, stack, leaf), TRACE_STACK_TRUNCATED);
        add_state(event, stack, TRACE_STACK_TRUNCATED);
        trace_builder_end_run(&b);
        load(NULL);
        mark = &report->functions.rows[row_of("[truncated]")];
        ck_assert_int_eq(mark->kind, FUNCTION_MARK);
        ck_assert_uint_eq(mark->module.n_bytes, 0);
        ck_assert_uint_eq(mark->self.n_samples, 0);
        ck_assert_uint_eq(mark->total.n_samples, 3);
        ck_assert_uint_eq(report->functions.rows[row_of("leaf")].self.n_samples, 3);
        ck_assert_int_eq(report->functions.rows[1].kind, FUNCTION_NO_CALLSTACK);
        for (uint32_t i = 0; i < report->gaps.n_rows; i++)
                ck_assert_str_ne(report->gaps.rows[i].code, "NO_SYMBOLS");
}
END_TEST

static uint64_t count_gap(const char *code)
{
        for (uint32_t i = 0; i < report->gaps.n_rows; i++)
                if (strcmp(report->gaps.rows[i].code, code) == 0)
                        return report->gaps.rows[i].count;
        return 0;
}

/* loop test: before Linux 6.16 the others of a group count on while their leader is throttled */
START_LOOP_TEST(test_throttled_ratios, 0, 5)
{
        static const struct {
                const char *kernel;
                uint64_t n_wanted;
        } cases[] = { { "6.1.0-42-amd64", 5 }, { "6.15.9", 5 }, { "6.16.0", 0 }, { "7.0", 0 }, { NULL, 5 } };
        struct trace_loss loss = { .reason = TRACE_LOSS_THROTTLED, .count = 5 };

        build_known();
        if (cases[_i].kernel)
                trace_builder_meta(&b, "kernel", cases[_i].kernel);
        (void)trace_builder_row(&b, TRACE_TABLE_LOSSES, &loss);
        load(NULL);
        ck_assert_uint_eq(count_gap("THROTTLED"), 5);
        ck_assert_uint_eq(count_gap("RATIOS_THROTTLED"), cases[_i].n_wanted);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
