/* SPDX-License-Identifier: MIT */
/*
 * base/landlock.h - limits what a process that reads hostile files may do with files by name: landlock(7)
 *
 * Way of the data:  symbol_process -> fork -> confinement -> [landlock] -> symbolizer
 *
 * Descriptors that are open go on to work.  The ban holds for the calling thread and for all threads and
 * processes that it starts later; there is no way back.  Nothing is allocated.
 */
#ifndef BASE_LANDLOCK_H
#define BASE_LANDLOCK_H

#include <stdbool.h>
#include <stddef.h>

enum landlock_ban {
        /* no file is opened for writing, made, removed, renamed, truncated or executed */
        LANDLOCK_BAN_CHANGES,
        LANDLOCK_BAN_FILES, /* the same, and no file or folder is opened for reading */
};

/* The version of Landlock that the kernel has; 0 = none, or it is turned off. */
int landlock_version(void);

/*
 * landlock_restrict() - puts a ban on this thread; no_new_privs must be set before
 * Adds the bans that the kernel's version knows: no TCP connections, no signals to processes outside, no
 * abstract sockets of such processes.
 * Returns 0, -ENOTSUP if the kernel has no Landlock, -errno.
 */
int landlock_restrict(enum landlock_ban ban);

/*
 * landlock_restrict_except() - LANDLOCK_BAN_CHANGES but for files in folders, and for single files
 * @fds:  of these, O_PATH suffices; programs in them are not executed either.  If the kernel refuses one, it
 *        is banned like all others.
 * @uses_tcp:  TCP connections stay free
 * Signals stay free: the process may have to end what it started before.  Returns as landlock_restrict().
 */
int landlock_restrict_except(const int *fds, size_t n_fds, bool uses_tcp);

#endif /* BASE_LANDLOCK_H */
