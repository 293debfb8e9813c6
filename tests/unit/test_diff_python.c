/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_settle.c: of Python programs, Python functions are compared, with the native code that
 * they called; a change of their native callees is theirs; where a recording has no Python functions, or only
 * native ones are asked for, native functions are compared
 */
#include "analyze/diff/diff_comparison.h"
#include "analyze/diff/diff_run.h"
#include "analyze/diff/diff_settle.h"
#include "analyze/walk/loaded_trace.h"
#include "base/clock.h"
#include "base/error.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"
#include "view/diff/diff_view.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"

#include <stdlib.h>
#include <string.h>

#define SAMPLE_NS NS_PER_US /* the weight of a sample of trace_builder */

/*
 * The places of a program's samples, which come in turns, so that no function runs in bursts.
 *
 *      main > run (Python) > build (Python) > copy
 *      main > run (Python) > build (Python) > move
 *      main > run (Python) > sort > sort_key (Python)
 *      main > spin
 */
enum { COPY, MOVE, SORT_KEY, SPIN, N_PLACES };

struct program {
        uint32_t n_samples[N_PLACES];
        uint32_t n_zones;
        bool has_no_python;
};

static uint32_t push_python(struct trace_builder *b, const struct program *p, uint32_t stack, uint32_t module,
                            uint64_t offset, const char *name)
{
        return p->has_no_python ? stack : trace_builder_push(b, stack, module, offset, name);
}

static void add_stacks(struct trace_builder *b, const struct program *p, uint32_t stacks[N_PLACES])
{
        uint32_t native = trace_builder_module(b, "/usr/bin/python3.11"), python, main, run, build, sort;
        struct trace_module module = { .kind = TRACE_MODULE_PYTHON };

        module.path = trace_builder_string(b, "/srv/work.py");
        python = p->has_no_python ? 0 : trace_builder_row(b, TRACE_TABLE_MODULES, &module);
        main = trace_builder_push(b, 0, native, 0x10, "main");
        run = push_python(b, p, main, python, 1, "run");
        build = push_python(b, p, run, python, 2, "build");
        sort = trace_builder_push(b, run, native, 0x30, "sort");
        stacks[COPY] = trace_builder_push(b, build, native, 0x20, "copy");
        stacks[MOVE] = trace_builder_push(b, build, native, 0x60, "move");
        stacks[SORT_KEY] = push_python(b, p, sort, python, 3, "sort_key");
        stacks[SPIN] = trace_builder_push(b, main, native, 0x50, "spin");
}

/* That with the largest part still to come. */
static uint32_t next_place(const struct program *p, const uint32_t n_left[N_PLACES])
{
        uint32_t most = 0;

        for (uint32_t place = 1; place < N_PLACES; place++)
                if (n_left[most] == 0 || (uint64_t)n_left[place] * p->n_samples[most] >
                                                 (uint64_t)n_left[most] * p->n_samples[place])
                        most = place;
        return most;
}

static void build_program(struct trace_builder *b, const struct program *p)
{
        struct trace_sample_event sampled = { .mode = TRACE_SAMPLE_MODE_FREQUENCY_HZ, .rate = 1000 };
        uint32_t stacks[N_PLACES], thread, event, zone, n_left[N_PLACES], n_all = 0;
        uint64_t now_ns = NS_PER_S;

        trace_builder_init(b);
        thread = trace_builder_thread(b, 1, 1);
        sampled.name = trace_builder_string(b, "cpu-clock");
        sampled.unit = trace_builder_string(b, "ns");
        event = trace_builder_row(b, TRACE_TABLE_SAMPLE_EVENTS, &sampled);
        zone = trace_builder_location(b, "step");
        add_stacks(b, p, stacks);
        memcpy(n_left, p->n_samples, sizeof(n_left));
        for (int place = 0; place < N_PLACES; place++)
                n_all += n_left[place];
        trace_builder_begin_run(b, thread);
        trace_builder_event(b, now_ns, TRACE_OP_SWITCH_IN);
        for (uint32_t n = 0; n < n_all; n++) {
                uint32_t most = next_place(p, n_left);

                n_left[most]--;
                if (n < p->n_zones)
                        trace_builder_begin_zone(b, now_ns, zone);
                trace_builder_sample(b, now_ns += SAMPLE_NS, event, 0, stacks[most]);
                if (n < p->n_zones)
                        trace_builder_event(b, now_ns, TRACE_OP_ZONE_END);
        }
        trace_builder_event(b, now_ns + 1, TRACE_OP_THREAD_EXIT);
        trace_builder_end_run(b);
        trace_builder_finish(b);
}

/* The pair that was compared last. */
static struct {
        struct diff_names names;
        struct diff_run runs[2];
        struct diff_comparison comparison;
} pair;

static void forget(void)
{
        diff_comparison_deinit(&pair.comparison);
        diff_run_deinit(&pair.runs[0]);
        diff_run_deinit(&pair.runs[1]);
        diff_names_deinit(&pair.names);
        memset(&pair, 0, sizeof(pair));
}

static void compare(const struct program programs[2], bool shows_native, const char *only)
{
        const struct diff_run *const list[] = { &pair.runs[0], &pair.runs[1] };
        struct diff_run_request request = { .shows_native = shows_native };
        struct diff_options options = diff_options_default();
        struct error err = ERROR_NONE;

        forget();
        UNIT_TEST_SPOIL(pair);
        options.only = only;
        diff_names_init(&pair.names);
        for (int i = 0; i < 2; i++) {
                struct loaded_trace trace;
                struct trace_builder b;

                build_program(&b, &programs[i]);
                ck_assert_int_eq(loaded_trace_open(&trace, b.path, &err), 0);
                ck_assert_int_eq(diff_run_load(&pair.runs[i], &pair.names, &trace, &request, &err), 0);
                loaded_trace_close(&trace);
                trace_builder_deinit(&b);
        }
        ck_assert_int_eq(diff_python_settle(&pair.names, pair.runs, 2, only), 0);
        ck_assert_int_eq(diff_identity_settle(&pair.names, pair.runs, 1, 1), 0);
        ck_assert_int_eq(diff_comparison_init(&pair.comparison, &pair.names, list, 1, 1, &options), 0);
}

static const struct diff_item *item_of(const char *name)
{
        const struct diff_comparison *c = &pair.comparison;

        for (size_t i = 0; i < c->n_items; i++)
                if (text_view_is(diff_names_shown(&pair.names, diff_item_key(&c->items[i])), name))
                        return &c->items[i];
        return NULL;
}

static char *answer_of(void)
{
        struct diff_view_options options = { .threshold = 0 };
        struct view_document document;
        char *answer;

        view_document_init(&document, diff_view_schema.name);
        diff_view_fill(&document, &pair.comparison, &options);
        ck_assert(!document.failed);
        answer = strndup((const char *)document.title.data, document.title.used_bytes);
        view_document_deinit(&document);
        ck_assert_ptr_nonnull(answer);
        return answer;
}

static void check_answer(const char *begin)
{
        char *answer = answer_of();

        ck_assert_msg(strncmp(answer, begin, strlen(begin)) == 0, "%s", answer);
        free(answer);
}

/* Before the fix 600 ms in copy(), after it 60 in move(): build() is what was mended. */
static const struct program slow = { .n_samples = { 600, 0, 300, 50 }, .n_zones = 40 };
static const struct program mended = { .n_samples = { 0, 60, 300, 50 }, .n_zones = 40 };

START_TEST(a_fix_is_named_by_the_python_function)
{
        const struct program programs[] = { slow, mended };
        const struct diff_item *item;

        compare(programs, false, NULL);
        ck_assert(pair.comparison.is_folded);
        check_answer("faster: build -90.0% (");
        item = item_of("build");
        ck_assert(item && item->is_significant);
        ck_assert_double_eq_tol(item->value_before - item->value_after, 540.0 * SAMPLE_NS, 1);
        ck_assert_ptr_null(item_of("copy"));
        ck_assert_ptr_null(item_of("move"));
        /* The others are as before; so are native functions outside of Python, and zones. */
        item = item_of("sort_key");
        ck_assert(item && !item->is_significant && item->n_before == 300);
        ck_assert_ptr_nonnull(item_of("spin"));
        item = item_of("step");
        ck_assert(item && item->n_before == 40 && item->n_after == 40);
        ck_assert_double_eq(pair.comparison.weight_before, 950.0 * SAMPLE_NS);
        ck_assert_uint_eq(pair.comparison.python_before.native, 600 * SAMPLE_NS);
        ck_assert_uint_eq(pair.comparison.python_before.python, 300 * SAMPLE_NS);
}
END_TEST

START_TEST(nothing_is_named_if_nothing_changed)
{
        const struct program programs[] = { slow, slow };

        compare(programs, false, NULL);
        ck_assert(pair.comparison.is_folded);
        ck_assert_uint_eq(pair.comparison.n_significant, 0);
        check_answer("build +0.0%, not certain from one pair");
}
END_TEST

/* A Python function calls another native function for as long: its own time stays the same. */
START_TEST(what_moves_below_a_python_function_is_no_change)
{
        struct program programs[] = { slow, slow };

        programs[1].n_samples[COPY] = 0;
        programs[1].n_samples[MOVE] = 600;
        compare(programs, false, NULL);
        ck_assert_uint_eq(pair.comparison.n_significant, 0);
}
END_TEST

/* Native functions between two Python functions are no callers. */
START_TEST(callers_are_python_functions)
{
        const struct program programs[] = { slow, mended };
        const struct diff_item *item;

        compare(programs, false, NULL);
        item = item_of("sort_key");
        ck_assert(item && text_view_is(diff_names_string(&pair.names, item->caller_before), "run"));
        compare(programs, true, NULL);
        item = item_of("sort_key");
        ck_assert(item && text_view_is(diff_names_string(&pair.names, item->caller_before), "sort"));
}
END_TEST

static void check_native(const struct program programs[2], bool shows_native, const char *only,
                         uint64_t n_wanted)
{
        const struct diff_item *item;

        compare(programs, shows_native, only);
        ck_assert(!pair.comparison.is_folded);
        item = item_of("copy");
        ck_assert(item && item->n_before == n_wanted);
        forget();
}

START_TEST(native_functions_are_compared_where_that_is_asked_or_all_there_is)
{
        struct program programs[] = { slow, mended };

        check_native(programs, true, NULL, 600);
        check_native(programs, false, "cop*", 600);
        compare(programs, false, "bui*");
        ck_assert(pair.comparison.is_folded);
        compare(programs, false, "functions");
        ck_assert(pair.comparison.is_folded);
        programs[1].has_no_python = true;
        check_native(programs, false, NULL, 600);
        programs[1] = slow;
        /* Half is not more than half, and one recording with more is enough. */
        programs[0].n_samples[SPIN] = programs[1].n_samples[SPIN] = 900;
        check_native(programs, false, NULL, 600);
        for (int i = 0; i < 2; i++) {
                programs[i].n_samples[SPIN] = 899;
                compare(programs, false, NULL);
                ck_assert(pair.comparison.is_folded);
                forget();
                programs[i].n_samples[SPIN] = 900;
        }
}
END_TEST

/* A recording of zones alone does not count for the rule; two of them have no functions to compare. */
START_TEST(a_run_without_samples_does_not_decide)
{
        const struct program none = { .n_zones = 0 };
        struct program programs[] = { slow, none };

        compare(programs, false, NULL);
        ck_assert(pair.runs[0].is_folded);
        programs[0] = none;
        compare(programs, false, NULL);
        ck_assert(!pair.comparison.is_folded);
}
END_TEST

UNIT_TEST_PLAN(.teardown = forget);
