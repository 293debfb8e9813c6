/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/zone_pattern.c, zone_matcher.c, zone_paths.c: patterns mean the paths that docs say, and
 * those inside; nonsense is refused
 */
#include "analyze/trace/zone_matcher.h"
#include "analyze/trace/zone_paths.h"
#include "analyze/trace/zone_pattern.h"
#include "base/error.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <string.h>

enum { A = 1, B, C, SLASHED, CALLED_Z2 };

static struct trace_builder b;

static void teardown(void)
{
        trace_builder_deinit(&b);
}

static void setup(void)
{
        trace_builder_init(&b);
        ck_assert_uint_eq(trace_builder_location(&b, "a"), A);
        ck_assert_uint_eq(trace_builder_location(&b, "b"), B);
        ck_assert_uint_eq(trace_builder_location(&b, "c"), C);
        ck_assert_uint_eq(trace_builder_location(&b, "x/y,z"), SLASHED);
        ck_assert_uint_eq(trace_builder_location(&b, "z2"), CALLED_Z2);
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
        { "handle:z2", { B }, true, true },
        { "handle:z2", { CALLED_Z2 }, false, false },
        { "name:z2", { CALLED_Z2 }, true, true },
        { "name:z2", { B }, false, false },
        { "name:b", { B }, false, false }, /* nothing special before other words */
        { "a/handle:z3", { A, C }, true, true },
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

START_LOOP_TEST(test_patterns, 0, sizeof(cases) / sizeof(cases[0]))
{
        struct zone_pattern pattern;
        struct zone_paths paths;
        uint32_t n = count(cases[_i].path);
        uint32_t path = 0;

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
}
END_TEST

static const struct {
        const char *pattern;
        bool is_refused;
} refusals[] = {
        { "z2", true },       { "a/z2", true },  { "a,z2/b", true },        { "handle:z2", false },
        { "name:z2", false }, { "[z]2", false }, { "z1", false },           { "z99", false },
        { "z5", false },      { "z2*", false },  { "a/name:z2/**", false }, { "a", false },
};

/* Location 2 is called b, and location 5 is called z2. */
START_LOOP_TEST(test_handles_that_are_names, 0, sizeof(refusals) / sizeof(refusals[0]))
{
        struct zone_pattern pattern;

        ck_assert_int_eq(zone_pattern_init(&pattern, refusals[_i].pattern, NULL), 0);
        ck_assert_int_eq(zone_pattern_check_handles(&pattern, &b.dictionary, NULL),
                         refusals[_i].is_refused ? -EINVAL : 0);
        ck_assert(zone_pattern_is_shadowed(&b.dictionary, B));
        ck_assert(!zone_pattern_is_shadowed(&b.dictionary, A));
        zone_pattern_deinit(&pattern);
}
END_TEST

/*
 * Steps of a random pattern: names, globs, "**" and handles, some of them anchored, some of several choices.
 */
static void make_pattern(uint64_t *random, char *text)
{
        static const char *const steps[] = { "a", "b", "[ab]", "?", "**", "z3", "*", "x\\/y\\,z" };
        uint32_t n_choices = 1 + (uint32_t)((fixed_random_next(random) >> 33) % 2);

        *text = '\0';
        for (uint32_t i = 0; i < n_choices; i++) {
                uint32_t n_steps = 1 + (uint32_t)((fixed_random_next(random) >> 33) % 4);

                if (i > 0)
                        strcat(text, ",");
                if ((fixed_random_next(random) >> 33) % 3 == 0)
                        strcat(text, "/");
                for (uint32_t k = 0; k < n_steps; k++) {
                        if (k > 0)
                                strcat(text, "/");
                        strcat(text,
                               steps[(fixed_random_next(random) >> 33) % (sizeof(steps) / sizeof(steps[0]))]);
                }
        }
}

/* Every step of the matcher says what the pattern says of the whole path, and of those around it. */
START_TEST(test_matcher_is_the_pattern)
{
        uint32_t locations[8], n_named = 0, n_inside = 0;
        uint64_t random = 7;

        for (int i = 0; i < 300; i++) {
                struct zone_pattern pattern;
                struct zone_matcher matcher;
                char text[128];

                make_pattern(&random, text);
                ck_assert_int_eq(zone_pattern_init(&pattern, text, NULL), 0);
                ck_assert_int_eq(zone_matcher_init(&matcher, &b.dictionary, &pattern), 0);
                ck_assert_uint_eq(zone_matcher_flags(&matcher, ZONE_MATCHER_OUTSIDE), 0);
                for (int k = 0; k < 20; k++) {
                        uint32_t state = ZONE_MATCHER_OUTSIDE;
                        bool inside = false;

                        for (uint32_t n = 1; n <= 8; n++) {
                                bool named;

                                locations[n - 1] = A +
                                                   (uint32_t)((fixed_random_next(&random) >> 33) % CALLED_Z2);
                                named = zone_pattern_fits(&pattern, &b.dictionary, locations, n);
                                ck_assert_int_eq(zone_matcher_step(&matcher, state, locations[n - 1], &state),
                                                 0);
                                ck_assert_msg(zone_matcher_flags(&matcher, state) ==
                                                      ((named ? ZONE_MATCHER_NAMED : 0U) |
                                                       (inside ? ZONE_MATCHER_INSIDE : 0U)),
                                              "%s, %u zones", text, n);
                                n_named += named;
                                n_inside += inside;
                                inside |= named;
                        }
                }
                zone_matcher_deinit(&matcher);
                zone_pattern_deinit(&pattern);
        }
        ck_assert_uint_gt(n_named, 2000);
        ck_assert_uint_gt(n_inside, 2000);
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

/* A trigger's pattern, before there is a trace. */
START_TEST(test_names_before_a_recording)
{
        static const uint32_t called[] = { CALLED_Z2 }, second[] = { B };
        struct error err = ERROR_NONE;
        struct zone_pattern pattern;

        ck_assert_int_eq(zone_pattern_init(&pattern, "z2", NULL), 0);
        ck_assert_int_eq(zone_pattern_take_names(&pattern, &err), 0);
        ck_assert(zone_pattern_fits(&pattern, &b.dictionary, called, 1));
        ck_assert(!zone_pattern_fits(&pattern, &b.dictionary, second, 1));
        zone_pattern_deinit(&pattern);
        ck_assert_int_eq(zone_pattern_init(&pattern, "a,handle:z2", NULL), 0);
        ck_assert_int_eq(zone_pattern_take_names(&pattern, &err), -EINVAL);
        zone_pattern_deinit(&pattern);
}
END_TEST

/* The trace's own paths keep their numbers, so that samples need no translation. */
START_TEST(test_paths_of_the_trace_keep_their_numbers)
{
        struct zone_paths paths;
        uint32_t outer, inner, path;

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
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
