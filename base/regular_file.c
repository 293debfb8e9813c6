/* SPDX-License-Identifier: MIT */
#include "base/regular_file.h"

#include "base/error.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

/* "/proc/self/fd/" and an int */
#define FD_PATH_BYTES 32

int regular_file_reopen(int name_fd, const char *name, int *ret_fd, struct error *err)
{
        char fd_path[FD_PATH_BYTES];
        struct stat status;
        int fd;

        if (fstat(name_fd, &status) < 0)
                return error_errno(err, "%s", name);
        if (!S_ISREG(status.st_mode))
                return error_set(err, -EINVAL, "%s: not a regular file", name);
        (void)snprintf(fd_path, sizeof(fd_path), "/proc/self/fd/%d", name_fd);
        fd = open(fd_path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (fd < 0)
                return error_errno(err, "%s", name);
        *ret_fd = fd;
        return 0;
}

/*
 * Looking first and opening then would be a race with the program that owns the name.  An O_PATH descriptor
 * names the file without opening it; the file that was checked is the one that is opened.
 */
int regular_file_open(const char *path, int *ret_fd, struct error *err)
{
        int name_fd = open(path, O_PATH | O_CLOEXEC);
        int r;

        if (name_fd < 0)
                return error_errno(err, "%s", path);
        r = regular_file_reopen(name_fd, path, ret_fd, err);
        io_close(&name_fd);
        return r;
}
