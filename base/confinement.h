/* SPDX-License-Identifier: MIT */
/*
 * base/confinement.h - takes from a process what it does not need to read files
 *
 * Way of the data:  symbol_process -> fork -> [confinement] -> symbolizer
 *                   command_frame -> reader_confinement -> [confinement] -> a command that reads a trace
 *
 * Afterwards the process has no capabilities and cannot gain any, holds only
 * the descriptors it was left, cannot make a file longer, leave a core, or take
 * memory and processor time without end, and dies with its parent.  It can
 * still read what its user can read.  Where the kernel has Landlock, it cannot
 * open a file for writing either, nor remove, rename or execute one.  A filter
 * of system calls takes programs, sockets, other processes, namespaces and the
 * rarer doors of the kernel from it.
 */
#ifndef BASE_CONFINEMENT_H
#define BASE_CONFINEMENT_H

#include <stddef.h>
#include <stdint.h>

#define CONFINEMENT_DATA_MAX  (UINT64_C(4) << 30) /* bytes of memory more than it had */
#define CONFINEMENT_CPU_MAX_S 120                 /* seconds of processor time */
#define CONFINEMENT_FILES_MAX 64                  /* open at once */

struct error;

/* The user that the process becomes, if it is root; all 0 = it stays root, without capabilities. */
struct confinement_user {
        uint32_t uid;
        uint32_t gid;
};

/*
 * confinement_enter() - for a child right after fork(2); there is no way back
 * @fds:  descriptors that stay open; their new numbers are written back, -1 stays -1.  All others are closed,
 *        and 0, 1 and 2 lead to /dev/null, or to an empty file where there is none
 * Returns 0 or -errno.  After a failure the process has too many rights: it must end, and can report the
 * reason only through @fds, whose numbers are valid then too.
 */
int confinement_enter(struct confinement_user user, int *fds, size_t n_fds, struct error *err);

/* The same for a child that writes files of at most @file_bytes_max; the caller adds Landlock and filter. */
int confinement_enter_writing(struct confinement_user user, int *fds, size_t n_fds, uint64_t file_bytes_max,
                              struct error *err);

/* The same for a child that serves as long as its parent lives: without a bound on its processor time. */
int confinement_enter_serving(struct confinement_user user, int *fds, size_t n_fds, uint64_t file_bytes_max,
                              struct error *err);

/* How far a command that reads foreign files in its own process reaches, beside files in some places. */
enum confinement_reach {
        CONFINEMENT_PLACES,  /* nowhere: no network */
        CONFINEMENT_SERVERS, /* it or a child of it asks servers */
};

/*
 * confinement_bar_rights() - no program that this process starts has more rights than it, for good
 * Sets no_new_privs and empties the bounding set, as far as the process may; rights that it has stay.
 * Returns 0 or -errno.
 */
int confinement_bar_rights(struct error *err);

/*
 * confinement_keep_file_rights() - keeps the capabilities that a command needs for files, and no other
 * Root keeps those to open, make and own files of other users, and to read the kernel's addresses; other
 * processes keep none.  Programs that root starts have all again.  Returns 0 or -errno.
 */
int confinement_keep_file_rights(struct error *err);

/*
 * confinement_enter_here() - for a process that reads foreign files itself, before it looks at any
 * @fds:  folders and files, O_PATH suffices, in which or of which it may make, change and remove files
 * Comes after confinement_bar_rights(), without which neither Landlock nor the filter is allowed to users.
 * Descriptors stay, and so do limits.  Both are left out where the kernel has none.
 */
void confinement_enter_here(enum confinement_reach reach, const int *fds, size_t n_fds);

#endif /* BASE_CONFINEMENT_H */
