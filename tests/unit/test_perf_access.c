/* SPDX-License-Identifier: MIT */
/*
 * sampler/kernel/perf_access.c: each refusal has the reason that is true, in one line, and
 * the command that helps
 */
#include "sampler/kernel/perf_access.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <string.h>

static const struct {
        long paranoid;
        int code;
        bool wants_kernel, has_perfmon, is_filtered;
        const char *reason, *remedy; /* words in them */
} cases[] = {
        /* a user, by setting: 2 is enough for one's own code, 1 for the kernel's */
        { 2, -EACCES, true, false, false, "perf_event_paranoid is 2; 1 ",
          "sysctl kernel.perf_event_paranoid=1" },
        { 3, -EACCES, true, false, false, "perf_event_paranoid is 3; 1 ",
          "sysctl kernel.perf_event_paranoid=1" },
        { 3, -EACCES, false, false, false, "perf_event_paranoid is 3; 2 ",
          "sysctl kernel.perf_event_paranoid=2" },
        { 4, -EPERM, false, false, false, "perf_event_paranoid is 4; 2 ",
          "sysctl kernel.perf_event_paranoid=2" },
        /* the setting is named first: it has to be changed in any case */
        { 4, -EPERM, false, false, true, "perf_event_paranoid is 4; 2 ",
          "sysctl kernel.perf_event_paranoid=2" },
        /* it is not the setting */
        { 2, -EPERM, false, false, true, "seccomp filter", "docker run --cap-add=PERFMON" },
        { 4, -EPERM, false, true, true, "seccomp filter", "docker run --cap-add=PERFMON" },
        { 1, -EPERM, true, false, true, "seccomp filter", "docker run --cap-add=PERFMON" },
        { 2, -ENOSYS, false, false, true, "seccomp filter", "docker run --cap-add=PERFMON" },
        { 2, -EACCES, false, false, false, "security module", "sudo hyprof record" },
        { 4, -EACCES, false, true, false, "security module", "apparmor=unconfined" },
        { 2, -ENOSYS, false, true, false, "built without performance events", "CONFIG_PERF_EVENTS" },
        { 2, -ENOENT, false, true, false, "this machine has none", "" },
        { 2, -EOPNOTSUPP, false, true, true, "have no interrupt", "" },
        { 2, -EIO, false, true, false, "interrupt never comes", "" },
        { 2, -EBUSY, false, true, false, "busy", "" },
};

/* loop test */
START_LOOP_TEST(test_explain, 0, sizeof(cases) / sizeof(cases[0]))
{
        struct perf_access access = { .paranoid = cases[_i].paranoid,
                                      .has_perfmon = cases[_i].has_perfmon,
                                      .is_filtered = cases[_i].is_filtered };
        struct perf_refusal refusal;

        perf_access_explain(&access, cases[_i].code, cases[_i].wants_kernel, &refusal);
        ck_assert_msg(strstr(refusal.reason, cases[_i].reason), "%s", refusal.reason);
        ck_assert_msg(strstr(refusal.remedy, cases[_i].remedy), "%s", refusal.remedy);
        ck_assert(cases[_i].remedy[0] != '\0' || refusal.remedy[0] == '\0');
        ck_assert(!strchr(refusal.reason, '\n') && !strchr(refusal.remedy, '\n'));
        /* `hyprof doctor` puts 28 and 33 characters before them, in lines of 100. */
        ck_assert_uint_le(strlen(refusal.reason), 72);
        ck_assert_uint_le(strlen(refusal.remedy), 67);
}
END_TEST

/* The heads of /proc/kallsyms of Linux 6.1, 6.18, and for those who may not see addresses. */
START_TEST(test_addresses_are_shown)
{
        static const struct {
                const char *head;
                bool are_shown;
        } heads[] = {
                { "0000000000000000 A fixed_percpu_data\n0000000000001000 A cpu_debug_store\n", true },
                { "ffffffff81000000 T startup_64\n", true },
                { "0000000000000000 A fixed_percpu_data\n0000000000000000 A cpu_debug_store\n", false },
                { "0000000000000000 T startup_64\n0000000000000000 T ", false },
                { "0000000000000000 T a1b2\n000000000000", false }, /* cut off within an address */
                { "", false },
        };

        for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
                ck_assert_int_eq(perf_access_shows_addresses(heads[i].head, strlen(heads[i].head)),
                                 heads[i].are_shown);
}
END_TEST
