/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff: waits and system calls of two recordings.  Sleeps and waits for a disk are certain from one
 * pair; waits for others are named as recorded; two equal recordings have no significant item
 */
#include "analyze/diff/diff_comparison.h"
#include "analyze/diff/diff_run.h"
#include "analyze/samples/function_table.h"
#include "base/clock.h"
#include "tests/unit/diff_lab.h"
#include "tests/unit/unit_test.h"
#include "view/diff/diff_view.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"

#include <math.h>
#include <string.h>

#define CPU_NS (NS_PER_S / 4) /* that each run is on a CPU */

static struct view_document d; /* of the answer */

static void tear_down(void)
{
        view_document_deinit(&d);
        diff_lab_deinit();
}

static uint32_t wait_key(enum diff_kind kind, const char *call, const char *from)
{
        struct function function = { .kind = FUNCTION_NAMED };
        struct diff_caller caller = { .function = from ? &function : NULL };
        uint32_t key;

        function.name = from ? trace_builder_string(lab.builder, from) : 0;
        function.module = trace_builder_string(lab.builder, "prog");
        ck_assert_int_eq(diff_names_add_call(&lab.names, &lab.builder->dictionary, kind,
                                             (struct text_view){ call, strlen(call) }, &caller, &key),
                         0);
        return key;
}

/* A run with 250 ms of samples in 18 functions, and as yet no wait. */
static void begin_run(int run)
{
        struct diff_run *r = &lab.runs[run];

        diff_lab_add_run(run, 0, -1, 1);
        r->weight_is_ns = true;
        r->has_waits = r->has_calls = true;
        r->unsampled.on_cpu_ns = CPU_NS;
}

/* @n waits of @ns, evenly in time. */
static void add_waits(int run, uint32_t key, double n, double ns, bool is_outside)
{
        struct diff_wait wait = { .n = n, .n_seen = n, .ns = n * ns, .squares = n * ns * ns };

        wait.outside_ns = is_outside ? wait.ns : 0;
        for (int i = 0; i < DIFF_RUN_BLOCKS; i++)
                wait.blocks[i] = wait.ns / (n < DIFF_RUN_BLOCKS ? 1 : DIFF_RUN_BLOCKS) *
                                 (i == 0 || n >= DIFF_RUN_BLOCKS);
        ck_assert_int_eq(diff_run_add_wait(&lab.runs[run], key, &wait), 0);
        lab.runs[run].waited_ns += wait.ns;
}

static void begin_runs(int n_runs)
{
        for (int run = 0; run < n_runs; run++)
                begin_run(run);
}

static const char *answer(void)
{
        static const struct diff_view_options options = { .limit = 0 };

        UNIT_TEST_SPOIL(d);
        view_document_init(&d, diff_view_schema.name);
        diff_view_fill(&d, &lab.comparison, &options);
        ck_assert(!d.failed);
        byte_buffer_add_u8(&d.title, '\0');
        byte_buffer_add_u8(&d.warnings, '\0');
        ck_assert(!d.title.failed && !d.warnings.failed);
        return (const char *)d.title.data;
}

/*
 * 0: 60 sleeps are gone; 1: new; 2: 1,000 waits on a disk are gone; 3: fewer than chance; 4: for others;
 * 5: one long one; 6: as many, a tenth as long; 7: half as long on a disk.
 */
START_LOOP_TEST(test_pair, 0, 8)
{
        static const bool is_certain[] = { true, true, true, false, false, false, true, false };
        bool is_disk = _i == 2 || _i == 7;
        const struct diff_item *item;
        uint32_t key;

        begin_runs(2);
        key = wait_key(DIFF_WAIT, is_disk ? "fdatasync" : _i == 4 ? "poll" : "clock_nanosleep", "pause_here");
        add_waits(_i == 1, key,
                  _i == 3   ? 12
                  : _i == 5 ? 1
                  : is_disk ? 1000
                            : 60,
                  _i == 5   ? 1e9
                  : is_disk ? 1e6
                            : 1e7,
                  _i == 4);
        if (_i >= 6) /* as many, shorter */
                add_waits(1, key, is_disk ? 1000 : 60, is_disk ? 5e5 : 1e6, false);
        diff_lab_compare(1, 1);
        item = diff_lab_find(key);
        ck_assert_int_eq(item->is_significant, is_certain[_i]);
        ck_assert_uint_eq(lab.comparison.n_significant, is_certain[_i]);
        ck_assert_ptr_eq(diff_comparison_leading(&lab.comparison), item);
        if (_i < 2)
                ck_assert_str_eq(answer(), _i == 0 ? "gone: waiting in clock_nanosleep from pause_here, "
                                                     "-600 ms of 850 ms"
                                                   : "new: waiting in clock_nanosleep from pause_here, "
                                                     "+600 ms of 850 ms");
        else
                ck_assert_ptr_nonnull(strstr(answer(), "waiting in "));
}
END_TEST

/* Of 20,000 sleeps a tenth has a call stack; then all are shorter.  0: equal in a run; 1: differ widely. */
START_LOOP_TEST(test_many_sleeps, 0, 2)
{
        struct diff_wait wait = { .n = 20000, .n_seen = 2000, .ns = 1e9 };
        const struct diff_item *item;
        uint32_t key;

        begin_runs(2);
        key = wait_key(DIFF_WAIT, "usleep", "pause_here");
        for (int run = 0; run < 2; run++) {
                wait.ns = run == 0 ? 1e9 : 1e8;
                wait.squares = wait.ns * wait.ns / wait.n_seen * (_i == 0 ? 1 : 16);
                for (int i = 0; i < DIFF_RUN_BLOCKS; i++)
                        wait.blocks[i] = wait.ns / DIFF_RUN_BLOCKS;
                ck_assert_int_eq(diff_run_add_wait(&lab.runs[run], key, &wait), 0);
                lab.runs[run].waited_ns += wait.ns;
        }
        diff_lab_compare(1, 1);
        item = diff_lab_find(key);
        ck_assert_int_eq(item->is_significant, _i == 0);
}
END_TEST

/* A wait, or its number, is no reason to fail unless it was asked for. */
START_LOOP_TEST(test_gate, 0, 4)
{
        static const char *const only[] = { NULL, "waits", "clock_nano*", "functions" };
        const struct diff_item *item;
        uint32_t key;

        begin_runs(2);
        key = wait_key(DIFF_WAIT, "clock_nanosleep", "pause_here");
        add_waits(1, key, 60, 1e7, false);
        lab.options.only = only[_i];
        diff_lab_compare(1, 1);
        ck_assert_int_eq(diff_comparison_worst(&lab.comparison, &item) > 0.5, _i == 1 || _i == 2);
        ck_assert_int_eq(diff_comparison_count_gates(&lab.comparison) == 1, _i == 1 || _i == 2);
}
END_TEST

/* A wait for others is no suspicion in a pair, and has no interval: equal runs may have much more. */
START_LOOP_TEST(test_no_suspicion, 0, 3)
{
        const struct diff_item *item;
        double change;
        uint32_t key;

        begin_runs(2);
        key = wait_key(DIFF_WAIT, _i == 1 ? "clock_nanosleep" : "poll", "ask");
        add_waits(0, key, 1000, 1e6, _i != 1);
        add_waits(1, key, 1000, _i == 1 ? 1.7e6 : 3e7, _i != 1);
        lab.options.only = _i == 2 ? "poll from *" : "waits";
        diff_lab_compare(1, 1);
        ck_assert_uint_eq(lab.comparison.n_significant, 0);
        change = diff_comparison_suspected(&lab.comparison, &item);
        ck_assert_int_eq(change > 0.2, _i == 1);
        ck_assert_int_eq(diff_comparison_has_interval(&lab.comparison, diff_lab_find(key)), _i == 1);
        (void)answer();
}
END_TEST

/* A wait comes before a function that saved less time, and after one that saved more. */
START_LOOP_TEST(test_order, 0, 2)
{
        uint32_t wait, function;

        begin_runs(2);
        wait = wait_key(DIFF_WAIT, "clock_nanosleep", "pause_here");
        function = diff_lab_key("burn");
        add_waits(0, wait, 60, _i == 0 ? 1e7 : 1e6, false);
        diff_lab_add_samples(0, function, 16000);
        lab.runs[0].weight = 4.1e8;
        lab.runs[0].unsampled.on_cpu_ns = 410000000;
        for (int run = 0; run < 2; run++)
                for (uint32_t i = 0; i < lab.runs[run].n_sums; i++)
                        if (diff_names_key(&lab.names, i + 1)->kind == DIFF_FUNCTION)
                                lab.runs[run].sums[i].cpu *= 1000; /* samples of 10 us */
        diff_lab_compare(1, 1);
        ck_assert_int_eq(diff_lab_find(wait)->moved_share > diff_lab_find(function)->moved_share, _i == 0);
}
END_TEST

/* Waits for threads of the recording follow from what those do: as many as wait for it. */
START_TEST(test_waits_for_others)
{
        struct diff_wait wait = { .n = 100, .ns = 8e9, .by_others_ns = 8e9, .squares = 6.4e17 };
        uint32_t helpers, sleeps;

        begin_runs(2);
        helpers = wait_key(DIFF_WAIT, "pthread_cond_wait", "helper");
        sleeps = wait_key(DIFF_WAIT, "clock_nanosleep", "pause_here");
        ck_assert_int_eq(diff_run_add_wait(&lab.runs[0], helpers, &wait), 0);
        add_waits(0, sleeps, 100, 1e7, false);
        lab.runs[0].duration_ns = 2 * NS_PER_S;
        diff_lab_compare(1, 1);
        ck_assert(diff_lab_find(helpers)->is_outer);
        ck_assert(!diff_lab_find(sleeps)->is_outer);
        ck_assert_ptr_eq(diff_comparison_leading(&lab.comparison), diff_lab_find(sleeps));
}
END_TEST

/*
 * 0: 1,000 calls become one; 1: 10 % fewer; 2: 12 become none, as chance may do; 3: many fewer of those whose
 * number depends on others.
 */
START_LOOP_TEST(test_calls, 0, 4)
{
        static const uint64_t n[][2] = { { 1000, 1 }, { 1000, 900 }, { 12, 0 }, { 1000, 1 } };
        uint32_t key;

        begin_runs(2);
        key = wait_key(DIFF_CALL, _i == 3 ? "futex" : "fdatasync", NULL);
        for (int run = 0; run < 2; run++)
                if (n[_i][run] != 0)
                        ck_assert_int_eq(
                                diff_run_add_calls(&lab.runs[run], key, n[_i][run], 1e5 * (double)n[_i][run]),
                                0);
        diff_lab_compare(1, 1);
        ck_assert_int_eq(diff_lab_find(key)->is_significant, _i == 0);
        if (_i == 0)
                ck_assert_str_eq(answer(), "system calls: fdatasync 1,000 -> 1");
        else
                (void)answer();
}
END_TEST

/* A recording without places of waits: those of the other are not taken for new. */
START_LOOP_TEST(test_recorded_once, 0, 2)
{
        uint32_t key;

        begin_runs(2);
        key = wait_key(DIFF_WAIT, "clock_nanosleep", "pause_here");
        add_waits(1, key, 100, 1e7, false);
        ck_assert_int_eq(diff_run_add_calls(&lab.runs[1], wait_key(DIFF_CALL, "write", NULL), 1000, 1e8), 0);
        lab.runs[0].has_waits = lab.runs[0].has_calls = _i == 1;
        diff_lab_compare(1, 1);
        ck_assert_int_eq(lab.comparison.has_kind[DIFF_WAIT], _i == 1);
        ck_assert_uint_eq(lab.comparison.n_significant, _i == 1 ? 2 : 0);
        (void)answer();
        ck_assert_int_eq(strstr((const char *)d.warnings.data, "record --off-cpu") != NULL, _i == 0);
}
END_TEST

/*
 * Sets: a single long wait in each run of one side; in two of five it is chance, and where both sides wait
 * for others it says nothing.
 */
START_LOOP_TEST(test_sets, 0, 3)
{
        uint32_t key;

        begin_runs(10);
        key = wait_key(DIFF_WAIT, "poll", "ask");
        for (int run = 0; run < (_i == 1 ? 2 : 5); run++)
                add_waits(run, key, 1, 1e9 * (1 + run * 0.01), true);
        for (int run = 5; run < 10 && _i == 2; run++)
                add_waits(run, key, 1, 2e9 * (1 + run * 0.01), true);
        diff_lab_compare(5, 5);
        ck_assert_int_eq(diff_lab_find(key)->is_significant, _i == 0);
}
END_TEST

/*
 * Sets: what is small is hardly a change, and where it is one, all say it as it is.  0: calls 20 -> 30;
 * 1: waits of 20 ms -> 10 ms; 2: nothing.
 */
START_LOOP_TEST(test_sets_of_little, 0, 3)
{
        static const double times[] = { 1.5, 0.5, 1 };
        const struct diff_item *item;
        struct diff_verdict v;
        double low, high;
        uint32_t key;

        begin_runs(10);
        key = _i == 0 ? wait_key(DIFF_CALL, "write", NULL)
                      : wait_key(DIFF_WAIT, "clock_nanosleep", "pause_here");
        for (int run = 0; run < 10; run++) {
                double n = run < 5 ? 20 : 20 * times[_i];

                if (_i == 0)
                        ck_assert_int_eq(diff_run_add_calls(&lab.runs[run], key, (uint64_t)n, 1e7), 0);
                else
                        add_waits(run, key, n, 1e6, false);
        }
        lab.options.share_min = 0.05; /* 13 ms */
        lab.options.only = _i == 0 ? "writ*" : "*pause_here";
        diff_lab_compare(5, 5);
        v = diff_lab_find(key)->verdict;
        ck_assert_double_eq_tol(expm1(v.change), times[_i] - 1, 1e-9);
        diff_comparison_interval(&v, &low, &high);
        ck_assert(low <= times[_i] - 1 && times[_i] - 1 <= high);
        ck_assert_int_eq(low > 0 || high < 0, v.p < 0.05);
        ck_assert_int_eq(diff_lab_find(key)->is_significant, _i != 2);
        ck_assert_double_eq_tol(diff_comparison_worst(&lab.comparison, &item), _i == 0 ? 0.5 : 0, 1e-9);
}
END_TEST

/* Equal numbers of calls lead no answer; what five runs would detect of waits is not known. */
START_LOOP_TEST(test_what_a_pair_does_not_say, 0, 2)
{
        uint32_t key;

        begin_runs(2);
        key = _i == 0 ? wait_key(DIFF_CALL, "write", NULL)
                      : wait_key(DIFF_WAIT, "clock_nanosleep", "pause_here");
        for (int run = 0; run < 2; run++)
                if (_i == 0)
                        ck_assert_int_eq(diff_run_add_calls(&lab.runs[run], key, 1000, 1e8 * (1 + run)), 0);
                else
                        add_waits(run, key, 60, 1e7 * (1 + 0.1 * run), false);
        diff_lab_compare(1, 1);
        ck_assert_int_eq(diff_lab_find(key) == diff_comparison_leading(&lab.comparison), _i == 1);
        ck_assert_int_eq(strstr(answer(), "would detect") != NULL, _i == 0);
}
END_TEST

/* Calls of a unit of work may be less than one. */
START_TEST(test_calls_of_a_unit)
{
        uint32_t key;

        begin_runs(2);
        key = wait_key(DIFF_CALL, "fdatasync", NULL);
        lab.options.basis.per_unit = true;
        for (int run = 0; run < 2; run++) {
                lab.runs[run].n_units = 1000;
                ck_assert_int_eq(diff_run_add_calls(&lab.runs[run], key, run == 0 ? 400 : 10, 1e8), 0);
        }
        diff_lab_compare(1, 1);
        ck_assert_ptr_nonnull(strstr(answer(), "fdatasync 0.4 -> 0.01"));
}
END_TEST

/* A trace that is cut off has an unknown part of the run: 0: data lost; 1: its units of work are compared. */
START_LOOP_TEST(test_cut, 0, 2)
{
        diff_lab_add_sets(1, 0, DIFF_LAB_HOT, 2);
        lab.runs[0].is_cut = true;
        lab.options.basis.per_unit = _i == 1;
        lab.runs[0].n_units = lab.runs[1].n_units = 100;
        diff_lab_compare(1, 1);
        ck_assert_int_eq(diff_lab_letter(DIFF_LAB_HOT)->doubt, _i == 0 ? DIFF_LOST : DIFF_JUDGED);
        ck_assert_int_eq(lab.comparison.whole.is_judged, _i == 1);
}
END_TEST

/* The same wait of a function in another library: what it depends on afterwards counts as well. */
START_TEST(test_moved_to_another_library)
{
        const struct diff_item *item;
        uint32_t keys[2];

        begin_runs(2);
        for (int run = 0; run < 2; run++) {
                struct function function = { .kind = FUNCTION_NAMED };
                struct diff_caller caller = { .function = &function };

                function.name = trace_builder_string(lab.builder, "commit");
                function.module = trace_builder_string(lab.builder, run == 0 ? "one" : "other");
                ck_assert_int_eq(diff_names_add_call(&lab.names, &lab.builder->dictionary, DIFF_WAIT,
                                                     (struct text_view){ "write", 5 }, &caller, &keys[run]),
                                 0);
                add_waits(run, keys[run], 1000, run == 0 ? 1e6 : 1e5, run == 1);
        }
        diff_lab_compare(1, 1);
        item = diff_lab_find(keys[0]);
        ck_assert_uint_eq(item->key_after, keys[1]);
        ck_assert(item->is_outside && !item->is_significant);
}
END_TEST

/* Equal runs: waits on a disk vary by two thirds, sleeps hardly, those for others by a factor of 4. */
static void add_equal_run(int run, const uint32_t *keys)
{
        diff_lab_add_run(run, 0.025, -1, 1);
        lab.runs[run].weight_is_ns = lab.runs[run].has_waits = lab.runs[run].has_calls = true;
        lab.runs[run].unsampled.on_cpu_ns = CPU_NS;
        add_waits(run, keys[0], 500, 1e6 * exp(0.6 * diff_lab_normal()), false);
        add_waits(run, keys[1], 60, 5e6 * exp(0.03 * diff_lab_normal()), false);
        add_waits(run, keys[2], 500, 1e6 * exp(1.4 * diff_lab_normal()), true);
        ck_assert_int_eq(diff_run_add_calls(&lab.runs[run], keys[3],
                                            (uint64_t)(1000 * exp(0.15 * diff_lab_normal())), 1e8),
                         0);
        ck_assert_int_eq(diff_run_add_calls(&lab.runs[run], keys[4],
                                            (uint64_t)(1000 * exp(2 * diff_lab_normal())), 1e8),
                         0);
}

START_LOOP_TEST(test_equal, 0, 2)
{
        int n = _i == 0 ? 1 : 5, n_draws = _i == 0 ? 760 : 400;
        uint32_t keys[5], n_false = 0;

        keys[0] = wait_key(DIFF_WAIT, "fdatasync", "commit");
        keys[1] = wait_key(DIFF_WAIT, "clock_nanosleep", "pause_here");
        keys[2] = wait_key(DIFF_WAIT, "epoll_wait", "serve");
        keys[3] = wait_key(DIFF_CALL, "write", NULL);
        keys[4] = wait_key(DIFF_CALL, "sched_yield", NULL);
        for (int draw = 0; draw < n_draws; draw++) {
                diff_lab_forget_runs();
                for (int run = 0; run < 2 * n; run++)
                        add_equal_run(run, keys);
                diff_lab_compare((uint32_t)n, (uint32_t)n);
                n_false += lab.comparison.n_significant > 0;
        }
        ck_assert_msg(n_false <= (_i == 0 ? 4U : 28U), "%u of %d", n_false, n_draws);
}
END_TEST

UNIT_TEST_PLAN(.setup = diff_lab_init, .teardown = tear_down);
