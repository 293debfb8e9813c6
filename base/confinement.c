/* SPDX-License-Identifier: MIT */
#include "base/confinement.h"

#include "base/byte_buffer.h"
#include "base/call_filter.h"
#include "base/error.h"
#include "base/io.h"
#include "base/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STANDARD_FDS    3 /* stdin, stdout, stderr */
#define CAPABILITY_LAST 63

/* Root reads and writes files that may be another user's. */
#define BIT(capability) (UINT64_C(1) << (capability))
#define ROOTS_CAPABILITIES                                                                     \
        (BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_FOWNER) | \
         BIT(CAP_FSETID) | BIT(CAP_SYSLOG))

#define STATM_BYTES_MAX  4096
#define STATM_DATA_FIELD 6 /* "data" of proc(5), in pages */

/* The parent's signal handlers would act on state that belongs to the parent. */
static void reset_signals(void)
{
        const struct sigaction standard = { .sa_handler = SIG_DFL };
        sigset_t none;

        for (int number = 1; number < NSIG; number++)
                (void)sigaction(number, &standard, NULL); /* fails for SIGKILL and SIGSTOP, which have none */
        /*
         * Exceeding the file size limit must fail the call only: overlayfs copies a file to change its
         * time.
         */
        (void)signal(SIGXFSZ, SIG_IGN);
        (void)sigemptyset(&none);
        (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
}

/* Opens a file that stays empty: every write to it fails. */
static int open_sealed(void)
{
        int fd = memfd_create("null", MFD_CLOEXEC | MFD_ALLOW_SEALING);

        if (fd >= 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_GROW | F_SEAL_WRITE) < 0)
                io_close(&fd);
        return fd;
}

/*
 * A confined process may no longer open /dev/null, but its standard input, which its children inherit, is
 * already that file.  Other roots (chroot) often have no /dev/null.
 */
static int open_null(void)
{
        struct stat null, own;
        int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

        if (fd < 0 && errno == ENOENT)
                return open_sealed();
        if (fd >= 0 || errno != EACCES)
                return fd;
        if (stat("/dev/null", &null) == 0 && fstat(STDIN_FILENO, &own) == 0 && S_ISCHR(own.st_mode) &&
            own.st_rdev == null.st_rdev)
                return STDIN_FILENO;
        errno = EACCES;
        return -1;
}

/*
 * First moves each kept descriptor out of the way of the final numbers, to the lowest free number above them:
 * the limit of open files may be low.  At every return each of @fds is open: the caller reports a failure to
 * its parent through one of them.
 */
static int keep_files(int *fds, size_t n_fds, struct error *err)
{
        int aside = STANDARD_FDS + (int)n_fds;
        int next = STANDARD_FDS;
        int null_fd;

        for (size_t i = 0; i < n_fds; i++) {
                int moved;

                if (fds[i] < 0 || fds[i] >= aside)
                        continue;
                moved = fcntl(fds[i], F_DUPFD_CLOEXEC, aside);
                if (moved < 0)
                        return error_errno(err, "moving a descriptor");
                fds[i] = moved;
        }
        null_fd = open_null();
        if (null_fd < 0)
                return error_errno(err, "/dev/null");
        for (int i = 0; i < STANDARD_FDS; i++)
                if (dup2(null_fd, i) < 0)
                        return error_errno(err, "dup2 of /dev/null");
        for (size_t i = 0; i < n_fds; i++) {
                if (fds[i] < 0)
                        continue;
                if (dup2(fds[i], next) < 0)
                        return error_errno(err, "dup2 of a descriptor");
                fds[i] = next++;
        }
        if (close_range((unsigned)next, ~0U, 0) == 0)
                return 0;
        for (long i = sysconf(_SC_OPEN_MAX); i > next; i--) /* before Linux 5.9 */
                (void)close((int)i - 1);
        return 0;
}

static int change_user(struct confinement_user user, struct error *err)
{
        if (geteuid() != 0 || (user.uid == 0 && user.gid == 0))
                return 0;
        if (setgroups(0, NULL) < 0 || setresgid(user.gid, user.gid, user.gid) < 0 ||
            setresuid(user.uid, user.uid, user.uid) < 0)
                return error_errno(err, "becoming user %u, group %u", user.uid, user.gid);
        return 0;
}

/* Calls capget(2) and capset(2) directly, so that no library is needed; see capabilities(7). */
static int keep_capabilities(uint64_t kept, struct error *err)
{
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

        if (syscall(SYS_capget, &header, sets) < 0)
                return error_errno(err, "looking at capabilities");
        for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
                uint32_t mask = (uint32_t)(kept >> (32 * i));

                sets[i].effective &= mask;
                sets[i].permitted &= mask;
                sets[i].inheritable = 0;
        }
        (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
        if (syscall(SYS_capset, &header, sets) < 0)
                return error_errno(err, "dropping capabilities");
        return 0;
}

/* Makes CAP_SETPCAP effective where it is held. */
static void raise_setpcap(void)
{
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

        if (syscall(SYS_capget, &header, sets) < 0)
                return;
        sets[0].effective |= sets[0].permitted & (uint32_t)BIT(CAP_SETPCAP);
        (void)syscall(SYS_capset, &header, sets);
}

int confinement_bar_rights(struct error *err)
{
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return error_errno(err, "giving up new privileges");
        raise_setpcap();
        /* Fails for a user without rights, who has no capability to drop. */
        for (int i = 0; i <= CAPABILITY_LAST; i++)
                (void)prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
        return 0;
}

static int drop_rights(struct confinement_user user, struct error *err)
{
        int r = confinement_bar_rights(err);

        if (r == 0)
                r = change_user(user, err);
        return r < 0 ? r : keep_capabilities(0, err);
}

static int lower_limit(int resource, uint64_t value, struct error *err)
{
        struct rlimit limit;

        if (getrlimit((__rlimit_resource_t)resource, &limit) < 0)
                return error_errno(err, "getrlimit %d", resource);
        if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > value)
                limit.rlim_max = value;
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit((__rlimit_resource_t)resource, &limit) < 0)
                return error_errno(err, "setrlimit %d", resource);
        return 0;
}

/* The bytes that count against RLIMIT_DATA now: the child has inherited them from its parent. */
static uint64_t count_data_bytes(void)
{
        struct byte_buffer text = { .data = NULL };
        unsigned long long pages = 0;

        if (io_read_file(AT_FDCWD, "/proc/self/statm", STATM_BYTES_MAX, &text, NULL) == 0) {
                char *at = (char *)text.data;

                for (int field = 0; field < STATM_DATA_FIELD; field++)
                        pages = strtoull(at, &at, 10);
        }
        byte_buffer_deinit(&text);
        return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int lower_limits(uint64_t file_bytes_max, struct error *err)
{
        int r = lower_limit(RLIMIT_DATA, count_data_bytes() + CONFINEMENT_DATA_MAX, err);

        if (r < 0)
                return r;
        r = lower_limit(RLIMIT_NOFILE, CONFINEMENT_FILES_MAX, err);
        if (r < 0)
                return r;
        r = lower_limit(RLIMIT_FSIZE, file_bytes_max, err);
        if (r < 0)
                return r;
        return lower_limit(RLIMIT_CORE, 0, err);
}

int confinement_enter_serving(struct confinement_user user, int *fds, size_t n_fds, uint64_t file_bytes_max,
                              struct error *err)
{
        int r;

        reset_signals();
        r = keep_files(fds, n_fds, err);
        if (r == 0)
                r = lower_limits(file_bytes_max, err);
        if (r == 0)
                r = drop_rights(user, err);
        if (r < 0)
                return r;
        /* Comes after the change of user, which resets both. */
        if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
                return error_errno(err, "prctl");
        return 0;
}

int confinement_enter_writing(struct confinement_user user, int *fds, size_t n_fds, uint64_t file_bytes_max,
                              struct error *err)
{
        int r = confinement_enter_serving(user, fds, n_fds, file_bytes_max, err);

        return r < 0 ? r : lower_limit(RLIMIT_CPU, CONFINEMENT_CPU_MAX_S, err);
}

int confinement_enter(struct confinement_user user, int *fds, size_t n_fds, struct error *err)
{
        int r = confinement_enter_writing(user, fds, n_fds, 0, err);

        if (r < 0)
                return r;
        /* Both are optional: the other restrictions hold without them. */
        (void)landlock_restrict(LANDLOCK_BAN_CHANGES);
        (void)call_filter_enter(CALL_FILTER_BAN_CHANGES, NULL);
        return 0;
}

int confinement_keep_file_rights(struct error *err)
{
        return keep_capabilities(geteuid() == 0 ? ROOTS_CAPABILITIES : 0, err);
}

void confinement_enter_here(enum confinement_reach reach, const int *fds, size_t n_fds)
{
        (void)landlock_restrict_except(fds, n_fds, reach == CONFINEMENT_SERVERS);
        (void)call_filter_enter(
                reach == CONFINEMENT_SERVERS ? CALL_FILTER_BAN_PROGRAMS : CALL_FILTER_BAN_NETWORK, NULL);
}
