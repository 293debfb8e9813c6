/* SPDX-License-Identifier: MIT */
/*
 * view/path/path_view.c: the text has no columns in which nothing is known, counts instances in words, and
 * says what would name code that has no names
 */
#include "view/path/path_view.h"

#include "tests/unit/path_lab.h"
#include "tests/unit/unit_test.h"
#include "view/document/answer_schema.h"
#include "view/document/document_format.h"
#include "view/document/view_document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)

static uint32_t m, frame, serial;
static char *words; /* heap */

static void setup(void)
{
        path_lab_init();
        m = path_lab_thread("main", 0);
        frame = trace_builder_location(&path_lab.b, "frame");
        serial = path_lab_function("serial");
}

static void teardown(void)
{
        free(words);
        path_lab_deinit();
}

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);

/* The path of all frames, as a terminal of 100 columns has it. */
static void show(void)
{
        const struct path_request request = { .zone = "frame" };
        const struct path_view_options options = { .path = "t.hyp", .limit = 10, .segments_limit = 10 };
        const struct document_options text = { .format = DOCUMENT_TEXT, .n_columns = 100 };
        struct view_document d;
        FILE *out = tmpfile();
        long n;

        ck_assert_ptr_nonnull(out);
        path_lab_get(&request);
        view_document_init(&d, path_view_schema.name);
        path_view_fill(&d, &path_lab.path, &options);
        ck_assert_int_eq(document_print_text(&d, &text, out), 0);
        view_document_deinit(&d);
        n = ftell(out);
        rewind(out);
        words = calloc(1, (size_t)n + 1);
        ck_assert(words && fread(words, 1, (size_t)n, out) == (size_t)n);
        (void)fclose(out);
}

/* The main thread works and calls nothing, so columns of waits would only hide the times. */
START_TEST(test_columns_without_a_value)
{
        const char *titles;

        for (uint64_t t = 20 * MS; t <= 200 * MS; t += 20 * MS) {
                path_lab_zone(m, t, t + 10 * MS, frame);
                path_lab_samples(m, t, t + 10 * MS, MS, serial);
        }
        show();
        titles = strstr(words, "  share");
        ck_assert_ptr_nonnull(titles);
        *strchr(titles, '\n') = '\0';
        ck_assert_msg(strstr(titles, "an instance") != NULL, "%s", titles);
        ck_assert_msg(strstr(titles, "waited for by") == NULL, "%s", titles);
        ck_assert_msg(strstr(titles, "call") == NULL, "%s", titles);
}
END_TEST

/* Code of a module without symbols is a fifth of the path, and for the rest there are names. */
START_TEST(test_code_without_names)
{
        uint32_t module = trace_builder_module(&path_lab.b, "/opt/my/bin/node");
        uint32_t nameless = trace_builder_stack(&path_lab.b, 0,
                                                trace_builder_frame(&path_lab.b, module, 0x100));

        for (uint64_t t = 20 * MS; t <= 200 * MS; t += 20 * MS) {
                path_lab_zone(m, t, t + 10 * MS, frame);
                path_lab_samples(m, t, t + 8 * MS, MS, serial);
                path_lab_samples(m, t + 8 * MS, t + 10 * MS, MS, nameless);
        }
        show();
        ck_assert_msg(strstr(words, "names of code") != NULL, "%s", words);
        ck_assert_msg(strstr(words, "symbolize --debug-dir DIR t.hyp") != NULL, "%s", words);
}
END_TEST

START_TEST(test_all_code_has_names)
{
        path_lab_zone(m, 20 * MS, 30 * MS, frame);
        path_lab_samples(m, 20 * MS, 30 * MS, MS, serial);
        show();
        ck_assert_msg(strstr(words, "names of code") == NULL, "%s", words);
}
END_TEST

START_TEST(test_one_instance_without_an_end)
{
        path_lab_zone(m, 20 * MS, 30 * MS, frame);
        path_lab_samples(m, 20 * MS, 30 * MS, MS, serial);
        PATH_LAB_EVENT(m, 40 * MS, ZONE_BEGIN, frame);
        show();
        ck_assert_msg(strstr(words, "1 instance: fewer than 8") != NULL, "%s", words);
        ck_assert_msg(strstr(words, "left out: 1 instance without an end") != NULL, "%s", words);
}
END_TEST
