/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_profile.c: the function in which ways part, at each threshold, and
 * where callers are not known
 */
#include "analyze/samples/function_table.h"
#include "analyze/why/why_profile.h"
#include "base/text_view.h"
#include "format/trace_dictionary.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <stdio.h>
#include <string.h>

struct sampled {
        struct trace_builder b;
        uint32_t module, truncated; /* frame */
        uint64_t n_frames;
        struct function_table functions;
        struct why_instances instances;
        struct why_profile profile;
};

static void sampled_init(struct sampled *s)
{
        struct trace_module mark = { .kind = TRACE_MODULE_MARK };

        *s = (struct sampled){ .n_frames = 0 };
        trace_builder_init(&s->b);
        s->module = trace_builder_module(&s->b, "/bin/program");
        mark.path = trace_builder_string(&s->b, "[truncated]");
        s->truncated = trace_builder_frame(&s->b, trace_builder_row(&s->b, TRACE_TABLE_MODULES, &mark), 0);
}

static void sampled_deinit(struct sampled *s)
{
        why_profile_deinit(&s->profile);
        why_instances_deinit(&s->instances);
        function_table_deinit(&s->functions);
        trace_builder_deinit(&s->b);
}

/* A callstack, the outermost function first, blanks between; "!" at the front: its callers are not known. */
static uint32_t stack_of(struct sampled *s, const char *names)
{
        char text[128], *rest = text, *name;
        uint32_t stack = 0;

        ck_assert_uint_lt(strlen(names), sizeof(text));
        (void)strcpy(text, names);
        while ((name = strsep(&rest, " ")) != NULL) {
                uint32_t frame = s->truncated;

                if (strcmp(name, "!") != 0) {
                        frame = trace_builder_frame(&s->b, s->module, 16 * ++s->n_frames);
                        trace_builder_symbol(&s->b, frame, name, 0);
                }
                stack = trace_builder_stack(&s->b, stack, frame);
        }
        return stack;
}

/* So many instances with one sample each. */
static uint32_t add(struct sampled *s, bool is_slow, int n, const char *names)
{
        struct why_instance instance = { .duration_ns = 1000, .is_slow = is_slow, .n_samples = 1 };
        struct why_draft draft = { .n_rows = 0 };
        uint32_t stack = stack_of(s, names);

        for (int i = 0; i < n; i++) {
                ck_assert_int_eq(why_draft_add(&draft, WHY_SAMPLE, stack, 1), 0);
                ck_assert_int_eq(why_instances_add(&s->instances, &instance, &draft), 0);
        }
        why_draft_deinit(&draft);
        return stack;
}

static void find(struct sampled *s)
{
        ck_assert_int_eq(function_table_init(&s->functions, &s->b.dictionary), 0);
        ck_assert_int_eq(why_profile_init(&s->profile, &s->b.dictionary, &s->functions, &s->instances), 0);
        s->profile.unit = 1;
        ck_assert_int_eq(why_profile_find(&s->profile), 0);
}

/* "deepest from outer"; "" = there is no such function. */
static const char *found(const struct sampled *s, uint32_t i)
{
        static char text[128];
        struct text_view name, outer = { .n_bytes = 0 };

        if (i >= s->profile.n_labels)
                return "";
        name = trace_dictionary_text(&s->b.dictionary,
                                     function_table_get(&s->functions, s->profile.labels[i])->name);
        if (s->profile.outer[i] != 0)
                outer = trace_dictionary_text(&s->b.dictionary,
                                              function_table_get(&s->functions, s->profile.outer[i])->name);
        (void)snprintf(text, sizeof(text), "%.*s%s%.*s", (int)name.n_bytes, name.bytes,
                       outer.n_bytes != 0 ? " from " : "", (int)outer.n_bytes,
                       outer.n_bytes != 0 ? outer.bytes : "");
        return text;
}

/* All that slow instances run in addition is in slow_path() and what it calls; main() is in everything. */
START_TEST(test_where_ways_part)
{
        struct sampled s;

        sampled_init(&s);
        add(&s, false, 200, "main usual");
        add(&s, true, 20, "main usual");
        add(&s, true, 80, "main slow_path inner deepest");
        find(&s);
        ck_assert_str_eq(found(&s, 0), "deepest from slow_path");
        ck_assert_str_eq(found(&s, 1), "");
        sampled_deinit(&s);
}
END_TEST

/*
 * Where some callstacks are cut, a caller is in fewer samples than what it calls; it is still
 * the one that is named.
 */
START_TEST(test_callers_that_are_not_known)
{
        struct sampled s;
        uint32_t cut, cut_usual;

        sampled_init(&s);
        add(&s, false, 200, "main usual");
        cut_usual = add(&s, false, 80, "! usual");
        add(&s, true, 20, "main usual");
        add(&s, true, 50, "main slow_path inner");
        cut = add(&s, true, 30, "! inner");
        find(&s);
        ck_assert_str_eq(found(&s, 0), "inner from slow_path");
        ck_assert_str_eq(found(&s, 1), "");
        ck_assert_uint_eq(s.profile.stacks[cut], WHY_STACK_FUNCTION);
        ck_assert_uint_eq(s.profile.stacks[cut_usual], WHY_STACK_SAME);
        sampled_deinit(&s);
}
END_TEST

/* The innermost of a chain with the same share is named: what is below it divides it. */
START_TEST(test_the_deepest_of_equals)
{
        struct sampled s;

        sampled_init(&s);
        add(&s, false, 200, "main allocate usual");
        add(&s, true, 20, "main allocate usual");
        add(&s, true, 40, "main allocate collect mark trace");
        add(&s, true, 39, "main allocate collect mark sweep");
        add(&s, true, 1, "main allocate collect");
        find(&s);
        ck_assert_str_eq(found(&s, 0), "mark from collect");
        ck_assert_str_eq(found(&s, 1), "");
        sampled_deinit(&s);
}
END_TEST

/* Equal by chance, but beside each other: neither is below the other. */
START_TEST(test_equals_beside_each_other)
{
        struct sampled s;

        sampled_init(&s);
        add(&s, false, 300, "main usual");
        add(&s, true, 40, "main first");
        add(&s, true, 40, "main away loop second");
        find(&s);
        ck_assert_uint_eq(s.profile.n_labels, 2);
        ck_assert_str_eq(found(&s, 0), "first");
        ck_assert_str_eq(found(&s, 1), "second from away");
        sampled_deinit(&s);
}
END_TEST

/* Two functions beside each other: samples of the one without callers are not the other one's. */
START_TEST(test_callers_of_another_function)
{
        struct sampled s;
        uint32_t cut;

        sampled_init(&s);
        add(&s, false, 300, "main usual");
        add(&s, true, 40, "main first");
        add(&s, true, 39, "main away loop second");
        cut = add(&s, true, 3, "! second");
        find(&s);
        ck_assert_uint_eq(s.profile.n_labels, 2);
        for (uint32_t i = 0; i < 2; i++)
                if (strcmp(found(&s, i), "first") != 0)
                        ck_assert_uint_eq(s.profile.stacks[cut], WHY_STACK_FUNCTION + i);
        sampled_deinit(&s);
}
END_TEST

/* No callers are known at all, as of code without unwind tables: of what is known, the outermost. */
START_TEST(test_no_callers)
{
        struct sampled s;

        sampled_init(&s);
        add(&s, false, 200, "! usual");
        add(&s, true, 20, "! usual");
        add(&s, true, 80, "! slow_path inner");
        find(&s);
        ck_assert_str_eq(found(&s, 0), "slow_path");
        sampled_deinit(&s);
}
END_TEST

static const struct {
        int typical_in, typical_out, slow_in, slow_out;
        bool is_found;
} shares[] = {
        { 0, 200, 10, 10, true },        { 0, 200, 9, 1, false },          /* samples of it */
        { 780, 1220, 1000, 1000, true }, { 820, 1180, 1000, 1000, false }, /* the share grows by a tenth */
        { 450, 550, 26, 14, true },      { 45, 55, 12, 8, false },         /* more than chance */
};

START_LOOP_TEST(test_thresholds, 0, sizeof(shares) / sizeof(shares[0]))
{
        struct sampled s;

        sampled_init(&s);
        if (shares[_i].typical_in > 0)
                add(&s, false, shares[_i].typical_in, "main function");
        add(&s, false, shares[_i].typical_out, "main usual");
        add(&s, true, shares[_i].slow_in, "main function");
        add(&s, true, shares[_i].slow_out, "main usual");
        find(&s);
        ck_assert_str_eq(found(&s, 0), shares[_i].is_found ? "function" : "");
        sampled_deinit(&s);
}
END_TEST

/* As above, but among many functions that could as well have been found by chance. */
START_TEST(test_many_functions)
{
        static const char *const others[] = { "main a", "main b", "main c", "main d",
                                              "main e", "main f", "main g" };
        struct sampled s;

        sampled_init(&s);
        add(&s, false, 450, "main function");
        add(&s, false, 550, "main usual");
        add(&s, true, 26, "main function");
        for (int i = 0; i < 7; i++)
                add(&s, true, 2, others[i]);
        find(&s);
        ck_assert_uint_eq(s.profile.n_tested, 9);
        ck_assert_str_eq(found(&s, 0), "");
        sampled_deinit(&s);
}
END_TEST

/* An outer function that typical instances run as well is named if it is nearly as good. */
START_LOOP_TEST(test_nearly_as_good, 0, 2)
{
        struct sampled s;

        sampled_init(&s);
        add(&s, false, 300 - 3 * (_i == 0 ? 3 : 8), "main usual");
        add(&s, false, 3 * (_i == 0 ? 3 : 8), "main outer usual");
        add(&s, true, 120, "main usual");
        add(&s, true, 180, "main outer inner");
        find(&s);
        ck_assert_str_eq(found(&s, 0), _i == 0 ? "inner from outer" : "inner");
        sampled_deinit(&s);
}
END_TEST
