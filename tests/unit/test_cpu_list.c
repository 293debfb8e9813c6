/* SPDX-License-Identifier: MIT */
/* sampler/proc/cpu_list.c: a list names the CPUs that it says, and what is no list is refused */
#include "base/error.h"
#include "sampler/proc/cpu_list.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const struct {
        const char *text;
        size_t n_cpus;
        int cpus[8];
} lists[] = {
        { "0", 1, { 0 } },
        { "0\n", 1, { 0 } },
        { "0-3,6\n", 5, { 0, 1, 2, 3, 6 } },
        { "7,9-10,65535", 4, { 7, 9, 10, 65535 } },
        { "4-4", 1, { 4 } },
        { "0-1\nanything", 2, { 0, 1 } },
};

/* loop test */
START_LOOP_TEST(test_list, 0, sizeof(lists) / sizeof(lists[0]))
{
        struct error err = ERROR_NONE;
        struct cpu_list list;

        ck_assert_msg(cpu_list_parse(&list, lists[_i].text, &err) == 0, "%s", err.text);
        ck_assert_uint_eq(list.n_cpus, lists[_i].n_cpus);
        for (size_t i = 0; i < list.n_cpus; i++)
                ck_assert_int_eq(list.cpus[i], lists[_i].cpus[i]);
        cpu_list_deinit(&list);
        ck_assert_uint_eq(list.n_cpus, 0);
}
END_TEST

static const char *const no_lists[] = {
        "",    "\n",  ",",   "x",     "0,x",   "0-",      "-1",   "3-1",
        "1,,", "0 1", "0;1", "0-1-2", "65536", "0-65536", "1--2", "99999999999999999999",
};
#define N_NO_LISTS ((int)(sizeof(no_lists) / sizeof(no_lists[0])))

/* loop test */
START_LOOP_TEST(test_no_list, 0, N_NO_LISTS)
{
        struct error err = ERROR_NONE;
        struct cpu_list list;

        ck_assert_int_eq(cpu_list_parse(&list, no_lists[_i], &err), -EBADMSG);
        ck_assert_int_eq(err.code, -EBADMSG);
        ck_assert_ptr_null(list.cpus);
        ck_assert_uint_eq(list.n_cpus, 0);
}
END_TEST

/* The requested CPUs are sorted, each once, and all must be online. */
START_TEST(test_choose)
{
        int cpus[] = { 0, 1, 2, 3, 6 };
        const struct cpu_list online = { .cpus = cpus, .n_cpus = 5 };
        struct error err = ERROR_NONE;
        struct cpu_list list;

        ck_assert_int_eq(cpu_list_choose_from(&list, "6,1-2,1", &online, &err), 0);
        ck_assert_uint_eq(list.n_cpus, 3);
        ck_assert_int_eq(list.cpus[0], 1);
        ck_assert_int_eq(list.cpus[1], 2);
        ck_assert_int_eq(list.cpus[2], 6);
        cpu_list_deinit(&list);
        ck_assert_int_eq(cpu_list_choose_from(&list, "0-6", &online, &err), -ENODEV);
        ck_assert_ptr_nonnull(strstr(err.text, "CPU 4 "));
        ck_assert_ptr_null(list.cpus);
        ck_assert_int_eq(cpu_list_choose_from(&list, "x", &online, &err), -EBADMSG);
        ck_assert_ptr_null(list.cpus);
}
END_TEST

START_TEST(test_online)
{
        struct error err = ERROR_NONE;
        struct cpu_list list;

        ck_assert_msg(cpu_list_read_online(&list, &err) == 0, "%s", err.text);
        ck_assert_int_eq((long)list.n_cpus, sysconf(_SC_NPROCESSORS_ONLN));
        for (size_t i = 1; i < list.n_cpus; i++)
                ck_assert_int_lt(list.cpus[i - 1], list.cpus[i]);
        cpu_list_deinit(&list);
}
END_TEST

/* Lines of /proc/stat: the sum of all CPUs, some that are online, and others. */
START_TEST(test_lines_of_stat)
{
        static const char text[] =
                "cpu  10 20 30\ncpu0 1 2\ncpu7 3 4\ncpu99999 1\ncpux 2\ncpu8\nintr 9 cpu3 1\nirq5 1\nctxt 5\n";
        static const int online[] = { 0, 7 };
        struct cpu_list list;

        ck_assert_int_eq(cpu_list_parse_stat(&list, text, NULL), 0);
        ck_assert_uint_eq(list.n_cpus, 2);
        ck_assert_mem_eq(list.cpus, online, sizeof(online));
        cpu_list_deinit(&list);
        ck_assert_int_eq(cpu_list_parse_stat(&list, "cpu  10 20 30\nintr 9\n", NULL), -EBADMSG);
        ck_assert_int_eq(cpu_list_parse_stat(&list, "", NULL), -EBADMSG);
        ck_assert_ptr_null(list.cpus);
}
END_TEST
