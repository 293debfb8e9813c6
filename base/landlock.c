/* SPDX-License-Identifier: MIT */
#include "base/landlock.h"

#include <errno.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Values of <linux/landlock.h> in newer kernels, and the version that each came with. */
#define FS_TRUNCATE  (UINT64_C(1) << 14) /* 3 */
#define FS_IOCTL_DEV (UINT64_C(1) << 15) /* 5 */
#define NET_TCP      UINT64_C(3)         /* 4: bind and connect */
#define SCOPES       UINT64_C(3)         /* 6: abstract sockets and signals */

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

int landlock_restrict(enum landlock_ban ban)
{
        struct ruleset ruleset = { .fs = ban == LANDLOCK_BAN_FILES ? FS_CHANGE | FS_READ : FS_CHANGE };
        int version = landlock_version();
        int fd, r = 0;

        if (version == 0)
                return -ENOTSUP;
        if (version >= 3)
                ruleset.fs |= FS_TRUNCATE;
        if (version >= 4)
                ruleset.net = NET_TCP;
        if (version >= 5)
                ruleset.fs |= FS_IOCTL_DEV;
        if (version >= 6)
                ruleset.scopes = SCOPES;
        fd = (int)syscall(SYS_landlock_create_ruleset, &ruleset, sizeof(ruleset), 0);
        if (fd < 0)
                return -errno;
        if (syscall(SYS_landlock_restrict_self, fd, 0) < 0) /* no rule: nothing is excepted */
                r = -errno;
        (void)close(fd);
        return r;
}
