/* SPDX-License-Identifier: MIT */
/* sampler/event_spec.c: every name means what perf means by it; a wrong one is refused with the one that was meant */
#include "base/error.h"
#include "sampler/event_spec.h"

#include <check.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

enum { NEITHER, USER_ONLY, KERNEL_ONLY };

static const struct {
        const char *text;
        uint32_t type;
        uint64_t config;
        int side;
        const char *unit;
} known[] = {
        { "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, NEITHER, "ns" },
        { "task-clock:u", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, USER_ONLY, "ns" },
        { "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, NEITHER, "faults" },
        { "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, NEITHER, "faults" },
        { "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, NEITHER, "switches" },
        { "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, NEITHER, "cycles" },
        { "cpu-cycles:k", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, KERNEL_ONLY, "cycles" },
        { "cycles:uk", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, NEITHER, "cycles" },
        { "cycles:uu", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, USER_ONLY, "cycles" },
        { "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, NEITHER, "branches" },
        { "cache-misses:k", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, KERNEL_ONLY, "misses" },
        { "r01c2", PERF_TYPE_RAW, 0x1c2, NEITHER, "events" },
        { "rC0:u", PERF_TYPE_RAW, 0xc0, USER_ONLY, "events" },
        { "rffffffffffffffff", PERF_TYPE_RAW, UINT64_MAX, NEITHER, "events" },
};

/* loop test */
START_TEST(test_known)
{
        struct error err = ERROR_NONE;
        struct event_spec spec;
        char text[EVENT_SPEC_NAME_BYTES];
        size_t n_bytes = strlen(known[_i].text);

        /* What follows the name in a list is not part of it. */
        memcpy(text, known[_i].text, n_bytes);
        memcpy(text + n_bytes, ",:x", 4);
        ck_assert_msg(event_spec_parse(text, n_bytes, &spec, &err) == 0, "%s", err.text);
        ck_assert_str_eq(spec.name, known[_i].text);
        ck_assert_uint_eq(spec.type, known[_i].type);
        ck_assert_uint_eq(spec.config, known[_i].config);
        ck_assert_str_eq(spec.unit, known[_i].unit);
        ck_assert(spec.is_clock == (strcmp(known[_i].unit, "ns") == 0));
        ck_assert(spec.exclude_kernel == (known[_i].side == USER_ONLY));
        ck_assert(spec.exclude_user == (known[_i].side == KERNEL_ONLY));
}
END_TEST

static const struct {
        const char *text;
        const char *words; /* that the explanation has; NULL = any */
} unknown[] = {
        { "cpu-clok", "'cpu-clock'" },
        { "cycels", "'cycles'" },
        { "Cycles", "'cycles'" },
        { "cylces:u", "'cycles'" },
        { "branch-mises", "'branch-misses'" },
        { "instruction", "'instructions'" },
        { "cpu-cloc", "'cpu-clock'" },
        { "page-faultss", "'page-faults'" },
        { "", NULL },
        { ":u", NULL },
        { "cycles:", "modifiers" },
        { "cycles:x", "modifiers" },
        { "cycles:u:", "modifiers" },
        { "cycles:u,k", "modifiers" },
        { "r", NULL },
        { "rg0", NULL },
        { "r0x1", NULL },
        { "r-1", NULL },
        { "r10000000000000000", NULL }, /* 17 digits */
};

/* loop test */
START_TEST(test_unknown)
{
        struct event_spec spec = { .name = "untouched" };
        struct error err = ERROR_NONE;

        ck_assert_int_eq(event_spec_parse(unknown[_i].text, strlen(unknown[_i].text), &spec, &err), -EINVAL);
        ck_assert_str_eq(spec.name, "untouched");
        ck_assert_int_eq(err.code, -EINVAL);
        if (unknown[_i].words)
                ck_assert_msg(strstr(err.text, unknown[_i].words) != NULL, "%s", err.text);
}
END_TEST

/* loop test: names of every length, also those that fill the room for one, and more */
START_TEST(test_length)
{
        size_t n_bytes = (size_t)_i;
        struct event_spec spec;
        char text[256];

        memset(text, '0', sizeof(text)); /* "r000...": good as long as it has not over 16 digits */
        text[0] = 'r';
        ck_assert_int_eq(event_spec_parse(text, n_bytes, &spec, NULL),
                         n_bytes >= 2 && n_bytes <= 17 ? 0 : -EINVAL);
        memset(text, 'u', sizeof(text)); /* "cycles:uuu...": good as long as it fits */
        memcpy(text, "cycles:", 7);
        ck_assert_int_eq(event_spec_parse(text, n_bytes, &spec, NULL),
                         n_bytes == 6 || (n_bytes >= 8 && n_bytes < EVENT_SPEC_NAME_BYTES) ? 0 : -EINVAL);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("sampler/event_spec");
        TCase *tc = tcase_create("parse");
        SRunner *runner;
        int n_failed;

        tcase_add_loop_test(tc, test_known, 0, (int)(sizeof(known) / sizeof(known[0])));
        tcase_add_loop_test(tc, test_unknown, 0, (int)(sizeof(unknown) / sizeof(unknown[0])));
        tcase_add_loop_test(tc, test_length, 0, 200);
        suite_add_tcase(suite, tc);
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        n_failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
