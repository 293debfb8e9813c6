/* SPDX-License-Identifier: MIT */
/*
 * analyze/samples/unsampled_time.c, report_gaps.c: how much has no samples, and why, is said first, in the
 * same words everywhere; nothing is said where nothing is missing
 */
#include "analyze/report/report.h"
#include "analyze/samples/sampled_trace.h"
#include "analyze/samples/unsampled_time.h"
#include "base/error.h"
#include "tests/unit/lossy_trace.h"
#include "tests/unit/unit_test.h"

#include <math.h>
#include <string.h>

#define N_SAMPLES 2000

static const struct case_of_loss {
        struct lossy_trace trace;
        enum unsampled_of of;
        double share;
        const char *words; /* a part of them */
        const char *brief; /* likewise */
        bool has_lost_weight;
} cases[] = {
        { .trace = { .n_samples = N_SAMPLES }, .of = UNSAMPLED_NONE, .words = "", .brief = "" },
        /* By chance, in stretches, of a thread: losses that a row counts, and such that nothing counts. */
        { .trace = { .n_samples = N_SAMPLES, .lost = 0.5 },
          .of = UNSAMPLED_ON_CPU,
          .share = 0.5,
          .words = "lost kernel records; shares are of the rest",
          .brief = "% lost",
          .has_lost_weight = true },
        { .trace = { .n_samples = N_SAMPLES, .lost = 0.2, .kind = LOSSY_CLUSTERED },
          .of = UNSAMPLED_ON_CPU,
          .share = 0.2,
          .words = "lost kernel records",
          .brief = "% lost",
          .has_lost_weight = true },
        { .trace = { .n_samples = N_SAMPLES, .lost = 0.2, .kind = LOSSY_THREAD, .is_silent = true },
          .of = UNSAMPLED_ON_CPU,
          .share = 0.2,
          .words = "the timer came late",
          .brief = "none for",
          .has_lost_weight = true },
        /* Without switches only the number of lost records is known. */
        { .trace = { .n_samples = N_SAMPLES, .lost = 0.5, .has_no_switches = true },
          .of = UNSAMPLED_RECORDS,
          .share = 0.5,
          .words = "up to ",
          .brief = "up to ",
          .has_lost_weight = true },
        /* Less than a hundredth is not worth a word. */
        { .trace = { .n_samples = N_SAMPLES, .lost = 0.004, .has_no_switches = true },
          .of = UNSAMPLED_NONE,
          .words = "",
          .brief = "",
          .has_lost_weight = true },
        { .trace = { .n_samples = N_SAMPLES, .lost = 0.5, .has_no_switches = true, .is_silent = true },
          .of = UNSAMPLED_NONE,
          .words = "",
          .brief = "" },
        /* The kernel is left out, by rights or by wish: no function of the program lost anything. */
        { .trace = { .n_samples = N_SAMPLES, .lost = 0.5, .is_silent = true, .is_kernel_refused = true },
          .of = UNSAMPLED_ON_CPU,
          .share = 0.5,
          .words = "that in the kernel, which this user may not sample; shares",
          .brief = "none for" },
        { .trace = { .n_samples = N_SAMPLES, .lost = 0.1, .is_silent = true, .event = "cpu-clock:u" },
          .of = UNSAMPLED_ON_CPU,
          .share = 0.1,
          .words = "that in the kernel, which the event leaves out; shares",
          .brief = "none for" },
        { .trace = { .n_samples = N_SAMPLES, .lost = 0.1, .is_silent = true, .event = "cpu-clock:k" },
          .of = UNSAMPLED_ON_CPU,
          .share = 0.1,
          .words = "that in user code, which the event leaves out; shares",
          .brief = "none for" },
        { .trace = { .n_samples = N_SAMPLES, .is_kernel_refused = true },
          .of = UNSAMPLED_NONE,
          .words = "",
          .brief = "" },
        { .trace = { .n_samples = N_SAMPLES, .lost = 0.5, .is_kernel_refused = true },
          .of = UNSAMPLED_ON_CPU,
          .share = 0.5,
          .words = "may not sample, and ",
          .brief = "none for",
          .has_lost_weight = true },
        /* Cycles are no time: the command's own, where it is known. */
        { .trace = { .n_samples = N_SAMPLES,
                     .event = "cycles:u",
                     .unit = "cycles",
                     .command_user_ns = "600000000",
                     .command_kernel_ns = "400000000" },
          .of = UNSAMPLED_COMMAND,
          .share = 0.4,
          .words =
                  "400.0 ms of 1.00 s of the command's processor time (40.0%) have no samples: that in the kernel",
          .brief = "none for 40.0% of the time" },
        { .trace = { .n_samples = N_SAMPLES,
                     .event = "cycles:u",
                     .unit = "cycles",
                     .command_user_ns = "995000000",
                     .command_kernel_ns = "5000000" },
          .of = UNSAMPLED_NONE,
          .words = "",
          .brief = "" },
        { .trace = { .n_samples = N_SAMPLES,
                     .event = "cycles",
                     .unit = "cycles",
                     .command_user_ns = "600000000",
                     .command_kernel_ns = "400000000" },
          .of = UNSAMPLED_NONE,
          .words = "",
          .brief = "" },
        /* The counter counted more than the samples stand for. */
        { .trace = { .n_samples = N_SAMPLES,
                     .event = "instructions",
                     .unit = "events",
                     .counted = 10 * LOSSY_TRACE_THREADS * N_SAMPLES * LOSSY_TRACE_PERIOD_NS },
          .of = UNSAMPLED_COUNT,
          .share = 0.9,
          .words = " instructions (90.0%) have no samples: the counter's interrupts came late",
          .brief = "none for 90.0% of the count",
          .has_lost_weight = true },
        { .trace = { .n_samples = N_SAMPLES,
                     .event = "instructions",
                     .unit = "events",
                     .counted = LOSSY_TRACE_THREADS * N_SAMPLES * LOSSY_TRACE_PERIOD_NS },
          .of = UNSAMPLED_NONE,
          .words = "",
          .brief = "" },
        /* A tracepoint has no modifiers: "sched_u" leaves nothing out. */
        { .trace = { .n_samples = N_SAMPLES, .event = "sched:u_k", .unit = "ns" },
          .of = UNSAMPLED_NONE,
          .words = "",
          .brief = "" },
};
#define N_CASES (int)(sizeof(cases) / sizeof(cases[0]))

static struct trace_builder b;
static struct report *report;

static void teardown(void)
{
        report_free(report);
        report = NULL;
        trace_builder_deinit(&b);
}

static void load(const struct lossy_trace *t, const struct report_options *options)
{
        struct error err = ERROR_NONE;

        lossy_trace_build(&b, t);
        ck_assert_msg(report_load(b.path, options, &report, &err) == 0, "%s", err.text);
}

static void check(const struct unsampled_time *u, const struct case_of_loss *c)
{
        char words[UNSAMPLED_TIME_WORDS_BYTES], brief[UNSAMPLED_TIME_WORDS_BYTES];

        unsampled_time_words(u, words);
        unsampled_time_brief(u, brief);
        ck_assert_msg(u->of == c->of, "%u: %s", (unsigned)u->of, words);
        ck_assert_msg(fabs(u->share - c->share) < 0.03, "%g", u->share);
        ck_assert_msg(c->words[0] != '\0' ? strstr(words, c->words) != NULL : words[0] == '\0', "%s", words);
        ck_assert_msg(c->brief[0] != '\0' ? strstr(brief, c->brief) != NULL : brief[0] == '\0', "%s", brief);
        ck_assert(c->has_lost_weight == (u->lost_weight > 0));
        ck_assert(u->whole_weight >= u->lost_weight);
}

/* A report's is its first gap. */
START_LOOP_TEST(test_report, 0, N_CASES)
{
        const struct case_of_loss *c = &cases[_i];

        load(&c->trace, NULL);
        check(&report->unsampled, c);
        if (c->of != UNSAMPLED_NONE) {
                ck_assert_uint_ne(report->gaps.n_rows, 0);
                ck_assert_str_eq(report->gaps.rows[0].code, "TIME_WITHOUT_SAMPLES");
                ck_assert(fabs(report->gaps.rows[0].share - c->share) < 0.03);
        }
        for (uint32_t i = c->of != UNSAMPLED_NONE; i < report->gaps.n_rows; i++)
                ck_assert_str_ne(report->gaps.rows[i].code, "TIME_WITHOUT_SAMPLES");
}
END_TEST

/* What `annotate` reads says the same. */
START_LOOP_TEST(test_sampled_trace, 0, N_CASES)
{
        const struct case_of_loss *c = &cases[_i];
        struct error err = ERROR_NONE;
        struct sampled_trace trace;

        lossy_trace_build(&b, &c->trace);
        ck_assert_int_eq(sampled_trace_load(&trace, b.path, NULL, &err), 0);
        unsampled_time_judge(&trace.unsampled, trace.dictionary, 1, &trace.events[0]);
        check(&trace.unsampled, c);
        sampled_trace_deinit(&trace);
}
END_TEST

/* A thread that lost all that was lost, and one that lost nothing. */
START_LOOP_TEST(test_threads, 0, 2)
{
        struct lossy_trace t = { .n_samples = N_SAMPLES, .lost = 0.2, .kind = LOSSY_THREAD };
        struct trace_filter_request filter = { .thread = _i == 0 ? "1" : "3" };
        struct report_options options = { .filter = &filter };

        load(&t, &options);
        ck_assert_int_eq(report->unsampled.of, _i == 0 ? UNSAMPLED_ON_CPU : UNSAMPLED_NONE);
        ck_assert(fabs(report->unsampled.share - (_i == 0 ? 0.6 : 0)) < 0.03);
}
END_TEST

static const struct report_gap *find_gap(const char *code)
{
        for (uint32_t i = 0; i < report->gaps.n_rows; i++)
                if (strcmp(report->gaps.rows[i].code, code) == 0)
                        return &report->gaps.rows[i];
        return NULL;
}

/* Call stacks that are cut are a share as well; whole ones are not worth a line. */
START_LOOP_TEST(test_callers, 0, 6)
{
        static const enum trace_stack_state states[] = { TRACE_STACK_NO_TABLE, TRACE_STACK_COMPLETE,
                                                         TRACE_STACK_TRUNCATED };
        bool has_copies = _i >= 3, lacks_table = _i % 3 == 0;
        struct lossy_trace t = { .n_samples = N_SAMPLES, .state = states[_i % 3], .has_copies = has_copies };
        const struct report_gap *gap;

        load(&t, NULL);
        gap = find_gap("CALLERS_MISSING");
        ck_assert((gap && strstr(gap->words, "100.0% of the call stacks are truncated")) == (_i % 3 != 1));
        ck_assert(
                (gap && strstr(gap->words, "; most end in prog, which has no unwind tables: compile it with "
                                           "-fasynchronous-unwind-tables")) == lacks_table);
        ck_assert((gap && strstr(gap->words, "--keep-stacks=cut")) == (lacks_table && !has_copies));
        ck_assert((gap && strstr(gap->words, " of these stacks are kept: hyprof symbolize --debug-dir DIR "
                                             "finishes them")) == (lacks_table && has_copies));
}
END_TEST

/* Without a call stack it is not known which file has no tables. */
START_TEST(test_callers_of_nothing)
{
        struct lossy_trace t = { .n_samples = N_SAMPLES,
                                 .state = TRACE_STACK_NO_TABLE,
                                 .has_no_callstacks = true };
        const struct report_gap *gap;

        load(&t, NULL);
        gap = find_gap("CALLERS_MISSING");
        ck_assert_ptr_nonnull(gap);
        ck_assert_ptr_null(strstr(gap->words, "most end in"));
}
END_TEST

static const struct case_of_python {
        const char *n_samples, *n_bare;
        bool is_late;
        const char *words, *clause; /* a part of them; "" = none */
} python_cases[] = {
        { "2000", "964", true,
          "48.2% of the samples in Python code (964 of 2000) have no Python functions: with",
          "48.2% of the samples in Python code have no Python functions" },
        { "2000", "964", false, "(964 of 2000) have no Python functions; shares", "48.2% of the samples" },
        { "2000", "90", true, "", "" },
        { NULL, NULL, true, "", "" },
        { "20", "21", true, "", "" },
};

/* Unless it is small, the share of Python samples without Python functions is also in the first line. */
START_LOOP_TEST(test_python, 0, (int)(sizeof(python_cases) / sizeof(python_cases[0])))
{
        const struct case_of_python *c = &python_cases[_i];
        struct lossy_trace t = { .n_samples = N_SAMPLES,
                                 .python_samples = c->n_samples,
                                 .python_bare = c->n_bare,
                                 .is_python_late = c->is_late };
        char clause[UNSAMPLED_TIME_WORDS_BYTES];
        const struct report_gap *gap;

        load(&t, NULL);
        unsampled_time_clause(&report->unsampled, NULL, clause);
        ck_assert_msg(c->clause[0] != '\0' ? strstr(clause, c->clause) == clause + 2 : clause[0] == '\0',
                      "%s", clause);
        gap = find_gap("PYTHON_FUNCTIONS_MISSING");
        ck_assert((gap != NULL) == (c->words[0] != '\0'));
        if (gap) {
                ck_assert_msg(strstr(gap->words, c->words), "%s", gap->words);
                ck_assert(fabs(gap->share - 0.482) < 1e-9);
        }
}
END_TEST

UNIT_TEST_PLAN(.teardown = teardown);
