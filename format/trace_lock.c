/* SPDX-License-Identifier: MIT */
#include "format/trace_lock.h"

#include <fcntl.h>
#include <unistd.h>

bool trace_lock_take(int fd)
{
        struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

        return fcntl(fd, F_SETLK, &lock) == 0;
}

bool trace_lock_is_held(int fd)
{
        struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

        return fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_WRLCK;
}
