/* SPDX-License-Identifier: MIT */
/* sampler/proc/idle_stat.c: the idle time of each CPU that is listed, and no other number of /proc/stat */
#include "sampler/proc/idle_stat.h"

#include "tests/unit/unit_test.h"

#define N_CPUS  4
#define TICK_NS 10

START_TEST(test_lines)
{
        static const char text[] = "cpu  9 9 9 9 9 9 9 0 0 0\n"
                                   "cpu0 1 2 3 40 5 6 7 0 0 0\n"
                                   "cpu2 1 2 3 100 0\n"
                                   "cpu3 1 2 3\n"
                                   "cpu4 1 2 3 77 0 0\n" /* beyond the table */
                                   "intr 5 5 5 5 5\n"
                                   "cpux 1 2 3 4 5";
        uint64_t idle_ns[N_CPUS] = { 1, 2, 3, 4 };

        idle_stat_parse(text, TICK_NS, idle_ns, N_CPUS);
        ck_assert_uint_eq(idle_ns[0], 450); /* with the time that it waited for a disk */
        ck_assert_uint_eq(idle_ns[1], 2);   /* not listed */
        ck_assert_uint_eq(idle_ns[2], 1000);
        ck_assert_uint_eq(idle_ns[3], 0); /* cut */
        idle_stat_parse("", TICK_NS, idle_ns, N_CPUS);
        ck_assert_uint_eq(idle_ns[2], 1000);
}
END_TEST

START_TEST(test_this_machine)
{
        uint64_t idle_ns[N_CPUS] = { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };

        idle_stat_read(idle_ns, N_CPUS);
        ck_assert_uint_ne(idle_ns[0], UINT64_MAX);
}
END_TEST
