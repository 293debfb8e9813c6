/* SPDX-License-Identifier: MIT */
/*
 * sampler/rights/perf_access.c: each refusal has the reason that is true, in one line, and
 * the command that helps
 */
#include "sampler/rights/perf_access.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* The first line of a static program that is loaded anywhere may be the heap. */
START_TEST(test_a_mapped_file)
{
        unsigned long start = 0, end = 0;

        ck_assert(perf_access_find_mapped_file("aaaac000-aaaae000 rw-p 00000000 00:00 0  [heap]\n"
                                               "ffff0000-ffff2000 r-xp 00000000 fe:01 12 /bin/true\n",
                                               &start, &end));
        ck_assert_uint_eq(start, 0xffff0000);
        ck_assert_uint_eq(end, 0xffff2000);
        ck_assert(!perf_access_find_mapped_file("aaaac000-aaaae000 rw-p 00000000 00:00 0  [heap]\n", &start,
                                                &end));
        ck_assert(!perf_access_find_mapped_file("", &start, &end));
}
END_TEST

START_TEST(test_explain_copies)
{
        static const struct {
                struct perf_access access;
                const char *reason, *remedy;
        } copies[] = {
                { { .stack_copy_error = -EACCES, .paranoid = 2 }, "to this user", "sudo hyprof record" },
                { { .stack_copy_error = -EPERM, .has_perfmon = true }, "to this user", "" },
                { { .stack_copy_error = -EOPNOTSUPP }, "on this machine", "" },
                { { .stack_copy_error = -EACCES, .user_error = -EACCES, .paranoid = 3 },
                  "paranoid is 3",
                  "=2" },
        };

        for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
                struct perf_refusal refusal;

                perf_access_explain_copies(&copies[i].access, &refusal);
                ck_assert_msg(strstr(refusal.reason, copies[i].reason), "%s", refusal.reason);
                ck_assert_msg(strstr(refusal.remedy, copies[i].remedy), "%s", refusal.remedy);
        }
}
END_TEST

/* By what the kernel says elsewhere: the tests may run under a filter themselves. */
static bool is_under_a_filter(void)
{
        FILE *status = fopen("/proc/self/status", "r");
        char line[256];
        bool is = false;

        ck_assert_ptr_nonnull(status);
        while (fgets(line, sizeof(line), status))
                is = is || (strncmp(line, "Seccomp:", 8) == 0 && !strchr(line, '0'));
        (void)fclose(status);
        return is;
}

/* In a process with a filter that allows everything. */
static bool finds_a_filter(void)
{
        struct sock_filter allow[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
        struct sock_fprog program = { .len = 1, .filter = allow };
        struct perf_access access;

        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
                return false;
        perf_access_read(&access);
        return access.is_filtered;
}

START_TEST(test_a_filter_is_found_where_one_is)
{
        struct perf_access access;
        int status = -1;
        pid_t child;

        perf_access_read(&access);
        ck_assert_int_eq(access.is_filtered, is_under_a_filter());
        child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0)
                _exit(finds_a_filter() ? 0 : 1);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
}
END_TEST
