/* SPDX-License-Identifier: MIT */
#include "base/landlock.h"

#include <errno.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Values of <linux/landlock.h> in newer kernels, and the version that each came with. */
#define FS_TRUNCATE  (UINT64_C(1) << 14) /* 3 */
#define FS_IOCTL_DEV (UINT64_C(1) << 15) /* 5 */
#define NET_TCP      UINT64_C(3)         /* 4: bind and connect */
/* 6: to processes outside */
#define SCOPE_SOCKETS (UINT64_C(1) << 0) /* abstract ones */
#define SCOPE_SIGNALS (UINT64_C(1) << 1)

#define FS_READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define FS_CHANGE                                                                                      \
        (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |  \
         LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | \
         LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |   \
         LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM)

/*
 * struct landlock_ruleset_attr in its present form; older kernels accept the longer struct if the members
 * they do not know are zero.
 */
struct ruleset {
        uint64_t fs, net, scopes;
};

int landlock_version(void)
{
        long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

        return version > 0 ? (int)version : 0;
}

/* Leaves out what the kernel's version does not know. */
static void fit_to_version(struct ruleset *ruleset, int version)
{
        if (version < 3)
                ruleset->fs &= ~FS_TRUNCATE;
        if (version < 4)
                ruleset->net = 0;
        if (version < 5)
                ruleset->fs &= ~FS_IOCTL_DEV;
        if (version < 6)
                ruleset->scopes = 0;
}

/* Excepts one folder and all below it, or one file. */
static void except(int ruleset_fd, uint64_t changes, int fd)
{
        struct landlock_path_beneath_attr rule = { .allowed_access = changes, .parent_fd = fd };
        struct stat status;

        if (fstat(fd, &status) < 0)
                return;
        if (!S_ISDIR(status.st_mode))
                rule.allowed_access &= LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV;
        (void)syscall(SYS_landlock_add_rule, ruleset_fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

static int restrict_to(struct ruleset ruleset, const int *fds, size_t n_fds)
{
        int version = landlock_version();
        int fd, r = 0;

        if (version == 0)
                return -ENOTSUP;
        fit_to_version(&ruleset, version);
        fd = (int)syscall(SYS_landlock_create_ruleset, &ruleset, sizeof(ruleset), 0);
        if (fd < 0)
                return -errno;
        for (size_t i = 0; i < n_fds; i++)
                except(fd, ruleset.fs & ~(uint64_t)LANDLOCK_ACCESS_FS_EXECUTE, fds[i]);
        if (syscall(SYS_landlock_restrict_self, fd, 0) < 0)
                r = -errno;
        (void)close(fd);
        return r;
}

int landlock_restrict(enum landlock_ban ban)
{
        const struct ruleset ruleset = {
                .fs = (ban == LANDLOCK_BAN_FILES ? FS_CHANGE | FS_READ : FS_CHANGE) | FS_TRUNCATE |
                      FS_IOCTL_DEV,
                .net = NET_TCP,
                .scopes = SCOPE_SOCKETS | SCOPE_SIGNALS,
        };

        return restrict_to(ruleset, NULL, 0);
}

int landlock_restrict_except(const int *fds, size_t n_fds, bool uses_tcp)
{
        const struct ruleset ruleset = { .fs = FS_CHANGE | FS_TRUNCATE | FS_IOCTL_DEV,
                                         .net = uses_tcp ? 0 : NET_TCP,
                                         .scopes = SCOPE_SOCKETS };

        return restrict_to(ruleset, fds, n_fds);
}
