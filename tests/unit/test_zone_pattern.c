/* SPDX-License-Identifier: MIT */
/* analyze/zone_pattern.c, zone_paths.c: patterns mean the paths that docs say, and those inside; nonsense is refused */
#include "analyze/zone_paths.h"
#include "analyze/zone_pattern.h"
#include "base/error.h"
#include "tests/unit/trace_builder.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { A = 1, B, C, SLASHED, CALLED_Z2 };

static void build(struct trace_builder *b)
{
        trace_builder_init(b);
        ck_assert_uint_eq(trace_builder_location(b, "a"), A);
        ck_assert_uint_eq(trace_builder_location(b, "b"), B);
        ck_assert_uint_eq(trace_builder_location(b, "c"), C);
        ck_assert_uint_eq(trace_builder_location(b, "x/y,z"), SLASHED);
        ck_assert_uint_eq(trace_builder_location(b, "z2"), CALLED_Z2);
}

static const struct {
        const char *pattern;
        uint32_t path[6]; /* ends with 0 */
        bool fits, wanted;
} cases[] = {
        { "a", { A }, true, true },
        { "a", { A, B }, false, true }, /* inside of it */
        { "a", { B, A }, true, true },
        { "a", { B }, false, false },
        { "/a", { A }, true, true },
        { "/a", { B, A }, false, false },
        { "a/b", { A, B }, true, true },
        { "a/b", { C, A, B }, true, true },
        { "a/b", { A, C, B }, false, false },
        { "a/b", { A, B, C }, false, true },
        { "a/**", { A }, false, false },
        { "a/**", { A, B }, true, true },
        { "a/**", { A, B, C }, true, true },
        { "a/**", { C, A, B }, true, true },
        { "a/**/c", { A, B, B, C }, true, true },
        { "a/**/c", { A, C }, true, true },
        { "a/**/c", { A, B }, false, false },
        { "/a/**/c", { B, A, C }, false, false },
        { "**", { A }, true, true },
        { "[ab]", { B }, true, true },
        { "?/c", { A, C }, true, true },
        { "b,c", { C }, true, true },
        { "b,c", { A }, false, false },
        { "z2", { B }, true, true },
        { "z2", { A }, false, false },
        { "z2", { CALLED_Z2 }, false, false }, /* a handle is one zone's alone */
        { "[z]2", { CALLED_Z2 }, true, true },
        { "z99", { B }, false, false },
        { "a/z3", { A, C }, true, true },
        { "x\\/y\\,z", { SLASHED }, true, true },
        { "x/y,z", { SLASHED }, true, true }, /* as reports print it */
        { "x/y,z", { A, SLASHED, B }, false, true },
        { "x/y,z2", { SLASHED }, false, false },
        { "x*", { SLASHED }, true, true },
        { "a/b/a", { A, B, A, B, A }, true, true },
};

static uint32_t count(const uint32_t *path)
{
        uint32_t n = 0;

        while (n < 6 && path[n] != 0)
                n++;
        return n;
}

START_TEST(test_patterns)
{
        struct zone_pattern pattern;
        struct zone_paths paths;
        struct trace_builder b;
        uint32_t n = count(cases[_i].path);
        uint32_t path = 0;

        build(&b);
        ck_assert_int_eq(zone_pattern_init(&pattern, cases[_i].pattern, NULL), 0);
        ck_assert_msg(zone_pattern_fits(&pattern, &b.dictionary, cases[_i].path, n) == cases[_i].fits, "%s",
                      cases[_i].pattern);
        ck_assert_int_eq(zone_paths_init(&paths, &b.dictionary, &pattern), 0);
        for (uint32_t i = 0; i < n; i++)
                ck_assert_int_eq(zone_paths_step(&paths, path, cases[_i].path[i], &path), 0);
        ck_assert_msg(zone_paths_wanted(&paths, path) == cases[_i].wanted, "%s", cases[_i].pattern);
        ck_assert(!zone_paths_wanted(&paths, 0));
        zone_paths_deinit(&paths);
        zone_pattern_deinit(&pattern);
        trace_builder_deinit(&b);
}
END_TEST

START_TEST(test_nonsense_is_refused)
{
        static const char *const patterns[] = { "", "a//b", "a/", "a,", ",a", "/" };

        for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
                struct zone_pattern pattern;
                struct error err = ERROR_NONE;

                ck_assert_msg(zone_pattern_init(&pattern, patterns[i], &err) == -EINVAL, "%s", patterns[i]);
                ck_assert_uint_gt(strlen(err.text), 0);
                zone_pattern_deinit(&pattern);
        }
}
END_TEST

START_TEST(test_long_patterns_are_refused)
{
        char text[2 * (ZONE_PATTERN_STEPS_MAX + 1)];
        struct zone_pattern pattern;
        struct error err = ERROR_NONE;

        for (size_t i = 0; i < sizeof(text) - 1; i++)
                text[i] = i % 2 == 0 ? 'a' : '/';
        text[sizeof(text) - 1] = '\0';
        ck_assert_int_eq(zone_pattern_init(&pattern, text, &err), -EINVAL);
        zone_pattern_deinit(&pattern);
        text[sizeof(text) - 3] = '\0';
        ck_assert_int_eq(zone_pattern_init(&pattern, text, &err), 0);
        zone_pattern_deinit(&pattern);
}
END_TEST

/* The trace's own paths keep their numbers, so that samples need no translation. */
START_TEST(test_paths_of_the_trace_keep_their_numbers)
{
        struct zone_paths paths;
        struct trace_builder b;
        uint32_t outer, inner, path;

        build(&b);
        outer = trace_builder_path(&b, 0, A);
        inner = trace_builder_path(&b, outer, B);
        ck_assert_int_eq(zone_paths_init(&paths, &b.dictionary, NULL), 0);
        ck_assert_int_eq(zone_paths_step(&paths, outer, B, &path), 0);
        ck_assert_uint_eq(path, inner);
        ck_assert_int_eq(zone_paths_step(&paths, inner, C, &path), 0);
        ck_assert_uint_eq(path, inner + 1);
        ck_assert_uint_eq(zone_paths_parent(&paths, path), inner);
        ck_assert_uint_eq(zone_paths_location(&paths, path), C);
        ck_assert(zone_paths_wanted(&paths, path) && zone_paths_wanted(&paths, 0));
        zone_paths_deinit(&paths);
        trace_builder_deinit(&b);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("analyze/zone_pattern");
        TCase *tests = tcase_create("all");
        SRunner *runner = srunner_create(suite);
        int n_failed;

        tcase_add_loop_test(tests, test_patterns, 0, sizeof(cases) / sizeof(cases[0]));
        tcase_add_test(tests, test_nonsense_is_refused);
        tcase_add_test(tests, test_long_patterns_are_refused);
        tcase_add_test(tests, test_paths_of_the_trace_keep_their_numbers);
        suite_add_tcase(suite, tests);
        srunner_run_all(runner, CK_ENV);
        n_failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
