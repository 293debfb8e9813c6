/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff, analyze/samples/unsampled_time.c: samples that were lost make nothing faster or slower,
 * whosever they were, and changes that are larger than the losses are found all the same
 */
#include "analyze/diff/diff_comparison.h"
#include "analyze/diff/diff_run.h"
#include "analyze/walk/loaded_trace.h"
#include "base/error.h"
#include "tests/unit/lossy_trace.h"
#include "tests/unit/unit_test.h"
#include "view/diff/diff_view.h"
#include "view/document/answer_schema.h"
#include "view/document/document_format.h"
#include "view/document/view_document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sanitizers look for other faults than too many claims, and make all of this ten times as slow, or fifty. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define N_COMPARISONS 5
#else
#define N_COMPARISONS 100
#endif
#define N_OF_SETS (N_COMPARISONS / 5)
#define N_RUNS    5 /* on each side of a comparison of sets */
#define N_SAMPLES 700

UNIT_TEST_PLAN(.timeout_s = 600);

static void load_run(struct diff_run *run, struct diff_names *names, const struct lossy_trace *t)
{
        struct diff_run_request request = { .filter = NULL };
        struct error err = ERROR_NONE;
        struct loaded_trace trace;
        struct trace_builder b;

        lossy_trace_build(&b, t);
        ck_assert_int_eq(loaded_trace_open(&trace, b.path, &err), 0);
        ck_assert_int_eq(diff_run_load(run, names, &trace, &request, &err), 0);
        loaded_trace_close(&trace);
        trace_builder_deinit(&b);
}

struct compared {
        struct diff_names names;
        struct diff_run runs[2 * N_RUNS];
        const struct diff_run *list[2 * N_RUNS];
        struct diff_comparison comparison;
        uint32_t n;
};

/* @n runs like @before, then @n like @after; each is another run. */
static void compare(struct compared *c, uint32_t n, struct lossy_trace before, struct lossy_trace after,
                    uint64_t number)
{
        struct diff_options options = diff_options_default();

        c->n = n;
        diff_names_init(&c->names);
        for (uint32_t i = 0; i < 2 * n; i++) {
                struct lossy_trace *t = i < n ? &before : &after;

                t->random = number * 100 + i + 1;
                load_run(&c->runs[i], &c->names, t);
                c->list[i] = &c->runs[i];
        }
        ck_assert_int_eq(diff_comparison_init(&c->comparison, &c->names, c->list, n, n, &options), 0);
}

static void forget(struct compared *c)
{
        diff_comparison_deinit(&c->comparison);
        for (uint32_t i = 0; i < 2 * c->n; i++)
                diff_run_deinit(&c->runs[i]);
        diff_names_deinit(&c->names);
}

static const double lost_shares[] = { 0.005, 0.05, 0.2, 0.5 };

static uint32_t count_claims(uint32_t n, const struct lossy_trace *before, const struct lossy_trace *after,
                             uint32_t n_comparisons)
{
        struct compared c;
        uint32_t n_claims = 0;

        for (uint32_t i = 0; i < n_comparisons; i++) {
                compare(&c, n, *before, *after, i);
                n_claims += c.comparison.n_significant;
                for (size_t k = 0; k < c.comparison.n_items; k++)
                        n_claims += c.comparison.items[k].doubt == DIFF_ONE_SIDED;
                forget(&c);
        }
        return n_claims;
}

/* _i: share, kind, whether the loss is in "after" */
START_LOOP_TEST(test_losses_are_no_change, 0, 4 * LOSSY_KIND_COUNT * 2)
{
        struct lossy_trace whole = { .n_samples = N_SAMPLES };
        struct lossy_trace lossy = { .n_samples = N_SAMPLES,
                                     .lost = lost_shares[_i % 4],
                                     .kind = (enum lossy_trace_kind)(_i / 4 % LOSSY_KIND_COUNT) };
        bool is_after = _i / 4 / LOSSY_KIND_COUNT == 1;

        ck_assert_uint_eq(
                count_claims(1, is_after ? &whole : &lossy, is_after ? &lossy : &whole, N_COMPARISONS), 0);
        ck_assert_uint_eq(
                count_claims(N_RUNS, is_after ? &whole : &lossy, is_after ? &lossy : &whole, N_OF_SETS), 0);
        ck_assert_uint_eq(count_claims(N_RUNS, &lossy, &lossy, (N_OF_SETS + 1) / 2), 0);
}
END_TEST

/* No row of LOSSES and no context switches: one of them is enough. */
START_LOOP_TEST(test_one_sign_is_enough, 0, 4)
{
        struct lossy_trace whole = { .n_samples = N_SAMPLES, .has_no_switches = _i < 2 };
        struct lossy_trace lossy = whole;

        lossy.lost = 0.5;
        lossy.kind = _i % 2 == 0 ? LOSSY_RANDOM : LOSSY_CLUSTERED;
        lossy.is_silent = _i >= 2;
        ck_assert_uint_eq(count_claims(1, &whole, &lossy, 30), 0);
        ck_assert_uint_eq(count_claims(N_RUNS, &whole, &lossy, 10), 0);
}
END_TEST

static const struct diff_item *hottest(const struct compared *c)
{
        const struct diff_item *items = c->comparison.items;
        size_t best = 0;

        ck_assert_uint_ne(c->comparison.n_items, 0);
        for (size_t i = 1; i < c->comparison.n_items; i++)
                if (items[i].share_before > items[best].share_before)
                        best = i;
        return &items[best];
}

/*
 * _i: the loss in "after": none, 5 % by chance, 5 % in stretches.  The hottest function takes twice as
 * long.
 */
START_LOOP_TEST(test_larger_changes_are_found, 0, 3)
{
        struct lossy_trace before = { .n_samples = N_SAMPLES }, after = before;
        struct compared c;
        double low, high;

        after.hot_factor = 2;
        after.lost = _i == 0 ? 0 : 0.05;
        after.kind = _i == 2 ? LOSSY_CLUSTERED : LOSSY_RANDOM;
        for (uint32_t i = 0; i < 5; i++) {
                compare(&c, N_RUNS, before, after, i);
                ck_assert(hottest(&c)->is_significant && hottest(&c)->verdict.change > 0);
                diff_comparison_interval(&hottest(&c)->verdict, &low, &high);
                ck_assert_msg(low < 1 && high > 1, "%g to %g", low, high);
                ck_assert(c.comparison.whole.is_significant);
                forget(&c);
        }
}
END_TEST

/* Threads are scaled to the time that they ran: the change that is shown is not that of the losses. */
START_LOOP_TEST(test_threads_are_scaled, 0, 2)
{
        struct lossy_trace before = { .n_samples = 3000 }, after = before;
        struct compared c;

        after.lost = 0.5;
        after.has_no_switches = _i == 1;
        compare(&c, 1, before, after, 1);
        if (_i == 0)
                ck_assert(fabs(hottest(&c)->verdict.change) < 0.1);
        else
                ck_assert(hottest(&c)->verdict.change < -0.5); /* null: there is nothing to scale by */
        ck_assert(!hottest(&c)->is_significant);
        forget(&c);
}
END_TEST

static char *show(const struct compared *c)
{
        struct diff_view_options options = { .threshold = 0 };
        struct document_options text = { .format = DOCUMENT_TEXT };
        struct view_document d;
        FILE *out = tmpfile();
        char *words;
        long n;

        ck_assert_ptr_nonnull(out);
        view_document_init(&d, diff_view_schema.name);
        diff_view_fill(&d, &c->comparison, &options);
        ck_assert_int_eq(document_print_text(&d, &text, out), 0);
        view_document_deinit(&d);
        n = ftell(out);
        rewind(out);
        words = calloc(1, (size_t)n + 1);
        ck_assert(words && fread(words, 1, (size_t)n, out) == (size_t)n);
        fclose(out);
        return words;
}

/* The answer and the first warning; nothing of it where nothing was lost. */
START_LOOP_TEST(test_losses_are_said, 0, 2)
{
        struct lossy_trace before = { .n_samples = N_SAMPLES }, after = before;
        struct compared c;
        char *words;

        after.lost = _i == 0 ? 0.5 : 0;
        compare(&c, 1, before, after, 1);
        words = show(&c);
        ck_assert_msg((strstr(words, "of the time has no samples") != NULL) == (_i == 0), "%s", words);
        ck_assert_msg((strstr(words, "the recording after: ") != NULL) == (_i == 0), "%s", words);
        ck_assert_msg((strstr(words, "lost kernel records") != NULL) == (_i == 0), "%s", words);
        free(words);
        forget(&c);
}
END_TEST
