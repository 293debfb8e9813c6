/* SPDX-License-Identifier: MIT */
/*
 * sampler/rights/privileges.c: under sudo nothing of root is left but the named capabilities, and
 * after narrowing few of them
 */
#include "base/error.h"
#include "sampler/rights/privileges.h"
#include "sampler/rights/system_calls.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* These numbers belong to no user, so there is no entry in passwd(5). */
#define UID 12345
#define GID 23456

static const struct {
        const char *uid, *gid;
        bool known;
} users[] = {
        { "12345", "23456", true },   { "12345", NULL, false },     { NULL, "23456", false },
        { "", "23456", false },       { "-1", "23456", false },     { "12345x", "23456", false },
        { "0", "23456", false },      { " 12345", "23456", false }, { "4294967295", "1", false },
        { "4294967296", "1", false }, { "4294967294", "1", true },  { "99999999999999999999", "1", false },
};

static void set_sudo(const char *uid, const char *gid)
{
        ck_assert_int_eq(uid ? setenv("SUDO_UID", uid, 1) : unsetenv("SUDO_UID"), 0);
        ck_assert_int_eq(gid ? setenv("SUDO_GID", gid, 1) : unsetenv("SUDO_GID"), 0);
}

/* loop test, as root */
START_LOOP_TEST_IF(geteuid() == 0, test_who_called_sudo, 0, sizeof(users) / sizeof(users[0]))
{
        struct invoking_user user;

        set_sudo(users[_i].uid, users[_i].gid);
        user = invoking_user_read();
        ck_assert(user.known == users[_i].known);
        if (user.known)
                ck_assert_uint_eq(user.uid, strtoul(users[_i].uid, NULL, 10));
        else
                ck_assert(user.uid == 0 && user.gid == 0);
}
END_TEST

/*
 * The line of the first failure in a child; nothing here comes back, so each case has a process of its own.
 */
#define EXPECT(condition)                                                              \
        do                                                                             \
                if (!(condition)) {                                                    \
                        dprintf(STDERR_FILENO, "line %d: %s\n", __LINE__, #condition); \
                        _exit(EXIT_FAILURE);                                           \
                }                                                                      \
        while (0)

static void run_in_child(void (*body)(void))
{
        pid_t pid = fork();
        int status;

        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                body();
                _exit(EXIT_SUCCESS);
        }
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
}

static bool has(cap_value_t capability, cap_flag_t flag)
{
        cap_flag_value_t value = CAP_CLEAR;
        cap_t set = cap_get_proc();

        (void)cap_get_flag(set, capability, flag, &value);
        (void)cap_free(set);
        return value == CAP_SET;
}

/* A bit for each capability. */
static uint64_t count_in(cap_flag_t flag)
{
        uint64_t bits = 0;

        for (cap_value_t c = 0; c <= CAP_LAST_CAP; c++)
                bits |= (uint64_t)has(c, flag) << c;
        return bits;
}

static uint64_t bits_of(const cap_value_t *list, size_t n, uint64_t there)
{
        uint64_t bits = 0;

        for (size_t i = 0; i < n; i++)
                bits |= UINT64_C(1) << list[i];
        return bits & there;
}

#define BITS(there, ...)                              \
        bits_of((const cap_value_t[]){ __VA_ARGS__ }, \
                sizeof((const cap_value_t[]){ __VA_ARGS__ }) / sizeof(cap_value_t), there)

static const struct invoking_user somebody = { true, UID, GID };

/* Only root may read it. */
static char closed_file[] = "/tmp/test_privileges.XXXXXX";

static void setup(void)
{
        int fd;

        (void)strcpy(closed_file + strlen(closed_file) - 6, "XXXXXX");
        fd = mkostemp(closed_file, O_CLOEXEC);
        ck_assert_int_ge(fd, 0);
        (void)close(fd);
}

static void teardown(void)
{
        (void)unlink(closed_file);
}

static bool can_read_closed_file(void)
{
        int fd = open(closed_file, O_RDONLY | O_CLOEXEC);

        if (fd < 0)
                EXPECT(errno == EACCES);
        else
                (void)close(fd);
        return fd >= 0;
}

static void become_somebody(void)
{
        uid_t uid[3];
        gid_t gid[3], groups[4];
        uint64_t there = count_in(CAP_PERMITTED);

        EXPECT(setenv("HOME", "/root", 1) == 0 && setenv("SUDO_COMMAND", "x", 1) == 0);
        EXPECT(setgroups(2, (const gid_t[]){ 0, 4 }) == 0);
        EXPECT(privileges_become_user(&somebody, 0, NULL) == 0);
        EXPECT(getresuid(&uid[0], &uid[1], &uid[2]) == 0 && getresgid(&gid[0], &gid[1], &gid[2]) == 0);
        for (int i = 0; i < 3; i++)
                EXPECT(uid[i] == UID && gid[i] == GID);
        EXPECT(getgroups(4, groups) == 1 && groups[0] == GID);
        EXPECT(!getenv("HOME") && !getenv("SUDO_COMMAND")); /* there is no entry for this user */
        EXPECT(count_in(CAP_INHERITABLE) == 0);
        EXPECT(count_in(CAP_EFFECTIVE) == BITS(there, CAP_PERFMON, CAP_BPF, CAP_IPC_LOCK, CAP_SYS_RESOURCE,
                                               CAP_SYS_NICE, CAP_SYSLOG, CAP_SYS_PTRACE,
                                               CAP_CHECKPOINT_RESTORE, CAP_KILL));
        EXPECT(count_in(CAP_PERMITTED) ==
               (count_in(CAP_EFFECTIVE) | BITS(there, CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE, CAP_SETPCAP)));
        /* Root's way to files is closed, and opens for a moment only. */
        EXPECT(!can_read_closed_file());
        EXPECT(privileges_raise(CAP_DAC_READ_SEARCH) && privileges_has(CAP_DAC_READ_SEARCH));
        EXPECT(can_read_closed_file());
        privileges_lower(CAP_DAC_READ_SEARCH);
        EXPECT(!can_read_closed_file());
        EXPECT(!privileges_raise(CAP_SYS_MODULE) && !privileges_raise(CAP_SETUID));
        EXPECT(privileges_become_root(NULL) == -EPERM);
        EXPECT(setuid(0) < 0);
}

static int make_filter(struct error *err)
{
        struct system_calls_maker maker = system_calls_begin();

        return system_calls_finish(&maker, err);
}

static void expect_narrow(uint64_t there, bool keeps_cgroup)
{
        struct error err = ERROR_NONE;
        int r = privileges_narrow(keeps_cgroup, make_filter(&err), &err);

        if (r < 0)
                dprintf(STDERR_FILENO, "%s\n", err.text);
        EXPECT(r == 0);
        EXPECT(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
        EXPECT(count_in(CAP_EFFECTIVE) == BITS(there, CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE, CAP_KILL));
        EXPECT(count_in(CAP_PERMITTED) == (count_in(CAP_EFFECTIVE) | BITS(there, CAP_DAC_READ_SEARCH) |
                                           (keeps_cgroup ? BITS(there, CAP_DAC_OVERRIDE) : 0)));
}

/* Probes need what no other recording does. */
static void set_probes(void)
{
        uint64_t there = count_in(CAP_PERMITTED);

        EXPECT(privileges_become_user(&somebody, PRIVILEGES_SET_PROBES, NULL) == 0);
        EXPECT(!has(CAP_SYS_ADMIN, CAP_EFFECTIVE));
        EXPECT(privileges_raise(CAP_SYS_ADMIN));
        privileges_lower(CAP_SYS_ADMIN);
        EXPECT(!has(CAP_SYS_ADMIN, CAP_EFFECTIVE));
        EXPECT(!privileges_raise(CAP_SETUID) && !privileges_raise(CAP_SYS_MODULE));
        expect_narrow(there, false);
        EXPECT(!privileges_raise(CAP_SYS_ADMIN));
}

/* As it is for all that hyprof starts: nothing is handed on through execve(2). */
static void start_a_command(void)
{
        char grep[] = "grep", what[] = "-qE", sets[] = "^Cap[IPEA][^:]*:[[:space:]]0*[1-9a-f]",
             file[] = "/proc/self/status";
        char *argv[] = { grep, what, sets, file, NULL };
        pid_t pid;
        int status;

        EXPECT(privileges_become_user(&somebody, 0, NULL) == 0);
        pid = fork();
        if (pid == 0) {
                (void)execvp(argv[0], argv);
                _exit(2);
        }
        EXPECT(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

static void keep_the_command_root(void)
{
        EXPECT(setenv("HOME", "/root", 1) == 0);
        EXPECT(privileges_become_user(&somebody, PRIVILEGES_COMMAND_AS_ROOT, NULL) == 0);
        EXPECT(getuid() == UID && geteuid() == UID && getegid() == GID);
        EXPECT(strcmp(getenv("HOME"), "/root") == 0);
        EXPECT(!has(CAP_SETUID, CAP_EFFECTIVE) && setuid(0) < 0);
        EXPECT(privileges_become_root(NULL) == 0);
        EXPECT(getuid() == 0 && geteuid() == 0 && getgid() == 0);
}

static void nobody_to_become(void)
{
        const struct invoking_user nobody = { .known = false };
        uint64_t before = count_in(CAP_EFFECTIVE);

        EXPECT(privileges_become_user(&nobody, 0, NULL) == 0);
        EXPECT(getuid() == 0 && count_in(CAP_EFFECTIVE) == before);
        /* Capabilities that root had in effect before stay. */
        EXPECT(privileges_raise(CAP_DAC_OVERRIDE));
        privileges_lower(CAP_DAC_OVERRIDE);
        EXPECT(count_in(CAP_EFFECTIVE) == before);
}

static void narrow_the_user(void)
{
        uint64_t there = count_in(CAP_PERMITTED);

        EXPECT(privileges_become_user(&somebody, PRIVILEGES_COMMAND_AS_ROOT, NULL) == 0);
        expect_narrow(there, false);
        EXPECT(privileges_become_root(NULL) < 0);
        EXPECT(!privileges_raise(CAP_DAC_OVERRIDE) && !privileges_raise(CAP_PERFMON));
}

static void narrow_root(void)
{
        expect_narrow(count_in(CAP_PERMITTED), true);
        EXPECT(privileges_raise(CAP_DAC_OVERRIDE));
        privileges_lower(CAP_DAC_OVERRIDE);
        EXPECT(!has(CAP_DAC_OVERRIDE, CAP_EFFECTIVE) && has(CAP_DAC_OVERRIDE, CAP_PERMITTED));
        EXPECT(privileges_drop(NULL) == 0);
        EXPECT(count_in(CAP_PERMITTED) == 0);
}

/* A process without capabilities loses none, and is filtered all the same. */
static void narrow_without(void)
{
        EXPECT(privileges_drop(NULL) == 0);
        EXPECT(privileges_narrow(true, make_filter(NULL), NULL) == 0);
        EXPECT(count_in(CAP_PERMITTED) == 0);
        EXPECT(socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM);
}

static void (*const bodies[])(void) = {
        become_somebody, start_a_command, keep_the_command_root, nobody_to_become,
        narrow_the_user, narrow_root,     narrow_without,        set_probes,
};

/* loop test, as root */
START_LOOP_TEST_IF(geteuid() == 0, test_process, 0, sizeof(bodies) / sizeof(bodies[0]))
{
        run_in_child(bodies[_i]);
}
END_TEST

START_TEST(test_without_root)
{
        run_in_child(narrow_without);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
