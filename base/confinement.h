/* SPDX-License-Identifier: MIT */
/*
 * base/confinement.h - takes from a process what it does not need to read files
 *
 * Way of the data:  symbol_process -> fork -> [confinement] -> symbolizer
 *
 * Afterwards the process has no capabilities and cannot gain any, holds only
 * the descriptors it was left, cannot make a file longer, leave a core, or take
 * memory and processor time without end, and dies with its parent.  It can
 * still read what its user can read.  Where the kernel has Landlock, it cannot
 * open a file for writing either, nor remove, rename or execute one.
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

/* The same without Landlock, for a child that writes files of at most @file_bytes_max. */
int confinement_enter_writing(struct confinement_user user, int *fds, size_t n_fds, uint64_t file_bytes_max,
                              struct error *err);

/* The same for a child that serves as long as its parent lives: without a bound on its processor time. */
int confinement_enter_serving(struct confinement_user user, int *fds, size_t n_fds, uint64_t file_bytes_max,
                              struct error *err);

#endif /* BASE_CONFINEMENT_H */
