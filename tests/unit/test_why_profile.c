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

static struct sampled s;

static void setup(void)
{
        s = (struct sampled){ .n_frames = 0 };
        trace_builder_init(&s.b);
        s.module = trace_builder_module(&s.b, "/bin/program");
        s.truncated = trace_builder_frame(&s.b,
                                          trace_builder_module_of(&s.b, TRACE_MODULE_MARK, "[truncated]"), 0);
}

static void teardown(void)
{
        why_profile_deinit(&s.profile);
        why_instances_deinit(&s.instances);
        function_table_deinit(&s.functions);
        trace_builder_deinit(&s.b);
}

/* A callstack, the outermost function first, blanks between; "!" at the front: its callers are not known. */
static uint32_t stack_of(const char *names)
{
        char text[128], *rest = text, *name;
        uint32_t stack = 0;

        ck_assert_uint_lt(strlen(names), sizeof(text));
        (void)strcpy(text, names);
        while ((name = strsep(&rest, " ")) != NULL) {
                uint32_t frame = s.truncated;

                if (strcmp(name, "!") != 0) {
                        frame = trace_builder_frame(&s.b, s.module, 16 * ++s.n_frames);
                        trace_builder_symbol(&s.b, frame, name, 0);
                }
                stack = trace_builder_stack(&s.b, stack, frame);
        }
        return stack;
}

/* So many instances with one sample each. */
static uint32_t add(bool is_slow, int n, const char *names)
{
        struct why_instance instance = { .duration_ns = 1000, .is_slow = is_slow, .n_samples = 1 };
        struct why_draft draft = { .n_rows = 0 };
        uint32_t stack = stack_of(names);

        for (int i = 0; i < n; i++) {
                ck_assert_int_eq(why_draft_add(&draft, WHY_SAMPLE, stack, 1), 0);
                ck_assert_int_eq(why_instances_add(&s.instances, &instance, &draft), 0);
        }
        why_draft_deinit(&draft);
        return stack;
}

static void find(void)
{
        ck_assert_int_eq(function_table_init(&s.functions, &s.b.dictionary), 0);
        ck_assert_int_eq(why_profile_init(&s.profile, &s.b.dictionary, &s.functions, &s.instances), 0);
        s.profile.unit = 1;
        ck_assert_int_eq(why_profile_find(&s.profile), 0);
}

/* "deepest from outer"; "" = there is no such function. */
static const char *found(uint32_t i)
{
        static char text[128];
        struct text_view name, outer = { .n_bytes = 0 };

        if (i >= s.profile.n_labels)
                return "";
        name = trace_dictionary_text(&s.b.dictionary,
                                     function_table_get(&s.functions, s.profile.labels[i])->name);
        if (s.profile.outer[i] != 0)
                outer = trace_dictionary_text(&s.b.dictionary,
                                              function_table_get(&s.functions, s.profile.outer[i])->name);
        (void)snprintf(text, sizeof(text), "%.*s%s%.*s", (int)name.n_bytes, name.bytes,
                       outer.n_bytes != 0 ? " from " : "", (int)outer.n_bytes,
                       outer.n_bytes != 0 ? outer.bytes : "");
        return text;
}

enum { TYPICAL, SLOW };

static const struct {
        const char *name;
        struct {
                int n;
                int kind; /* TYPICAL or SLOW */
                const char *names;
        } instances[6];
        const char *found[2]; /* all that is found */
} ways[] = {
        { "all that slow instances run in addition is in slow_path() and what it calls; main() is in everything",
          { { 200, TYPICAL, "main usual" },
            { 20, SLOW, "main usual" },
            { 80, SLOW, "main slow_path inner deepest" } },
          { "deepest from slow_path" } },
        { "the innermost of a chain with the same share is named: what is below it divides it",
          { { 200, TYPICAL, "main allocate usual" },
            { 20, SLOW, "main allocate usual" },
            { 40, SLOW, "main allocate collect mark trace" },
            { 39, SLOW, "main allocate collect mark sweep" },
            { 1, SLOW, "main allocate collect" } },
          { "mark from collect" } },
        { "equal by chance, but beside each other: neither is below the other",
          { { 300, TYPICAL, "main usual" },
            { 40, SLOW, "main first" },
            { 40, SLOW, "main away loop second" } },
          { "first", "second from away" } },
        { "no callers are known at all, as of code without unwind tables: of what is known, the outermost",
          { { 200, TYPICAL, "! usual" }, { 20, SLOW, "! usual" }, { 80, SLOW, "! slow_path inner" } },
          { "slow_path" } },
        { "an outer function that typical instances run as well is named if it is nearly as good",
          { { 291, TYPICAL, "main usual" },
            { 9, TYPICAL, "main outer usual" },
            { 120, SLOW, "main usual" },
            { 180, SLOW, "main outer inner" } },
          { "inner from outer" } },
        { "and not if they run it more often",
          { { 276, TYPICAL, "main usual" },
            { 24, TYPICAL, "main outer usual" },
            { 120, SLOW, "main usual" },
            { 180, SLOW, "main outer inner" } },
          { "inner" } },
};

START_LOOP_TEST(test_where_ways_part, 0, sizeof(ways) / sizeof(ways[0]))
{
        for (size_t i = 0; i < 6 && ways[_i].instances[i].names; i++)
                add(ways[_i].instances[i].kind == SLOW, ways[_i].instances[i].n, ways[_i].instances[i].names);
        find();
        for (uint32_t i = 0; i < 3; i++) {
                const char *wanted = i < 2 && ways[_i].found[i] ? ways[_i].found[i] : "";

                ck_assert_msg(strcmp(found(i), wanted) == 0, "%s: %s, not %s", ways[_i].name, found(i),
                              wanted);
        }
}
END_TEST

/*
 * Where some callstacks are cut, a caller is in fewer samples than what it calls; it is still
 * the one that is named.
 */
START_TEST(test_callers_that_are_not_known)
{
        uint32_t cut, cut_usual;

        add(false, 200, "main usual");
        cut_usual = add(false, 80, "! usual");
        add(true, 20, "main usual");
        add(true, 50, "main slow_path inner");
        cut = add(true, 30, "! inner");
        find();
        ck_assert_str_eq(found(0), "inner from slow_path");
        ck_assert_str_eq(found(1), "");
        ck_assert_uint_eq(s.profile.stacks[cut], WHY_STACK_FUNCTION);
        ck_assert_uint_eq(s.profile.stacks[cut_usual], WHY_STACK_SAME);
}
END_TEST

/* Two functions beside each other: samples of the one without callers are not the other one's. */
START_TEST(test_callers_of_another_function)
{
        uint32_t cut;

        add(false, 300, "main usual");
        add(true, 40, "main first");
        add(true, 39, "main away loop second");
        cut = add(true, 3, "! second");
        find();
        ck_assert_uint_eq(s.profile.n_labels, 2);
        for (uint32_t i = 0; i < 2; i++)
                if (strcmp(found(i), "first") != 0)
                        ck_assert_uint_eq(s.profile.stacks[cut], WHY_STACK_FUNCTION + i);
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
        if (shares[_i].typical_in > 0)
                add(false, shares[_i].typical_in, "main function");
        add(false, shares[_i].typical_out, "main usual");
        add(true, shares[_i].slow_in, "main function");
        add(true, shares[_i].slow_out, "main usual");
        find();
        ck_assert_str_eq(found(0), shares[_i].is_found ? "function" : "");
}
END_TEST

/* As above, but among many functions that could as well have been found by chance. */
START_TEST(test_many_functions)
{
        static const char *const others[] = { "main a", "main b", "main c", "main d",
                                              "main e", "main f", "main g" };

        add(false, 450, "main function");
        add(false, 550, "main usual");
        add(true, 26, "main function");
        for (int i = 0; i < 7; i++)
                add(true, 2, others[i]);
        find();
        ck_assert_uint_eq(s.profile.n_tested, 9);
        ck_assert_str_eq(found(0), "");
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
