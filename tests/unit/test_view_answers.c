/* SPDX-License-Identifier: MIT */
/*
 * A question of a page becomes the command line that asks the same; no value is taken for an option or a
 * path.
 */
#include "base/error.h"
#include "cli/viewer/view_answers.h"
#include "tests/unit/unit_test.h"
#include "web/request/web_question.h"

#include <string.h>

static void expect_with_names(const char *query, int names_fd, const char *wanted)
{
        struct view_traces traces = { .trace = "t.hyp",
                                      .before = "b.hyp",
                                      .source_folders = { .has_current = true } };
        char *argv[VIEW_ANSWERS_WORDS_MAX];
        struct error err = ERROR_NONE;
        struct web_question q;
        char text[1024] = "";
        int n;

        web_question_init(&q);
        ck_assert_int_eq(web_question_parse(&q, query, strlen(query), &err), 0);
        n = view_answers_command(&traces, &q, names_fd, argv);
        ck_assert_int_gt(n, 0);
        for (int i = 0; i < n; i++) {
                strcat(text, i > 0 ? "|" : "");
                strcat(text, argv[i]);
        }
        ck_assert_str_eq(text, wanted);
        view_answers_free(argv);
        web_question_deinit(&q);
}

static void expect(const char *query, const char *wanted)
{
        expect_with_names(query, -1, wanted);
}

START_TEST(a_trace_that_grows_has_its_names_elsewhere)
{
        expect_with_names("question=functions", 5,
                          "report|--functions|--json|--whole|--names-fd=5|--input=t.hyp");
        expect_with_names("question=annotate&function=f", 4,
                          "annotate|--json|--whole|--names-fd=4|--input=t.hyp|--|f");
}
END_TEST

START_TEST(views_of_one_report_are_one_command)
{
        struct view_traces traces = { .trace = "t.hyp", .source_folders = { .has_current = true } };
        const char *const queries[] = { "question=zones", "question=top_down&zones_as_frames=1",
                                        "question=off_cpu" };
        const char *const wanted[] = {
                "report",         "--zones",      "--json", "--whole", "--also=zones-as-frames",
                "--also=off-cpu", "--input=t.hyp"
        };
        char *argv[VIEW_ANSWERS_WORDS_MAX];
        struct web_question q[3];

        for (size_t i = 0; i < 3; i++) {
                web_question_init(&q[i]);
                ck_assert_int_eq(web_question_parse(&q[i], queries[i], strlen(queries[i]), NULL), 0);
                if (i > 0)
                        q[i - 1].also = &q[i];
        }
        ck_assert_int_eq(view_answers_command(&traces, &q[0], -1, argv), 7);
        for (size_t i = 0; i < 7; i++)
                ck_assert_str_eq(argv[i], wanted[i]);
        view_answers_free(argv);
        for (size_t i = 0; i < 3; i++)
                web_question_deinit(&q[i]);
}
END_TEST

START_TEST(questions_are_commands)
{
        expect("question=overview", "report|--json|--whole|--input=t.hyp");
        expect("question=functions&from=5&top=10&side=before",
               "report|--functions|--from=5ns|--limit=10|--json|--whole|--input=b.hyp");
        expect("question=zone&zone=-x&group_by=thread&histogram=1",
               "report|--zone=-x|--histogram|--group-by=thread|--json|--whole|--input=t.hyp");
        expect("question=annotate&function=--source", "annotate|--json|--whole|--input=t.hyp|--|--source");
        expect("question=annotate&context=all&whole_files=1&function=f1",
               "annotate|--context=all|--whole-files|--json|--whole|--input=t.hyp|--|handle:f1");
        expect("question=why&zone=a&slower_than=7",
               "why|--zone=a|--slower-than=7ns|--json|--whole|--input=t.hyp");
        expect("question=path&zone=z4&thread=t1&at=12&top=2000",
               "path|--thread=handle:t1|--zone=handle:z4|--limit=2000|--at=12ns|--json|--whole|--input=t.hyp");
        expect("question=diff&per=z", "diff|--per=z|--json|--whole|--anyway|--before=b.hyp|--after=t.hyp");
        expect("question=page", "html|--notes|--quiet|--output=-|--input=t.hyp");
        expect("question=page&side=before", "html|--notes|--quiet|--output=-|--input=b.hyp");
}
END_TEST
