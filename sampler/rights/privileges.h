/* SPDX-License-Identifier: MIT */
/*
 * sampler/rights/privileges.h - keeps as few rights as are needed, for as short as they are needed
 *
 * Way of the data:  sudo's environment, capabilities -> [privileges] -> command, output_file, recorder
 *
 * Under sudo the process becomes the invoking user at once, for files, folders and the command that it
 * starts, and keeps a few capabilities; docs/understand/privileges.md says which, when and what for.
 * Capabilities belong to a thread: changes here apply to the calling thread, and threads that it starts
 * later begin with the same.
 */
#ifndef SAMPLER_RIGHTS_PRIVILEGES_H
#define SAMPLER_RIGHTS_PRIVILEGES_H

#include <stdbool.h>
#include <stdint.h>

struct error;

/* The user for whom root works, according to sudo. */
struct invoking_user {
        bool known; /* false: we are not root, or no user was given; then the numbers are 0 */
        uint32_t uid, gid;
};

/* Capabilities that only some recordings need. */
enum privileges_need {
        PRIVILEGES_COMMAND_AS_ROOT = 1 << 0, /* privileges_become_root() works until privileges_narrow() */
        PRIVILEGES_SET_PROBES = 1 << 1,      /* CAP_SYS_ADMIN is held until then, not effective */
};

/* Whether the effective user is root and SUDO_UID and SUDO_GID name a user. */
struct invoking_user invoking_user_read(void);

/*
 * privileges_become_user() - from root under sudo to the invoking user, with capabilities
 * All user and group ids, the user's groups, and HOME, USER, LOGNAME, SHELL in the environment as in its
 * entry in passwd(5); the working directory stays.  Keeps only the capabilities of the first phase
 * (docs/understand/privileges.md).  Nothing happens without a user to become.
 * @needs:  of enum privileges_need; with PRIVILEGES_COMMAND_AS_ROOT the environment stays root's, and root's
 *          other capabilities are held, not effective
 * The process has one thread.  Returns 0, or -errno: then it is in between and has to end.
 */
int privileges_become_user(const struct invoking_user *user, unsigned needs, struct error *err);

/*
 * Makes the process root again, with root's groups; for a child that is about to execve(2).  Returns 0 or
 * -errno.
 */
int privileges_become_root(struct error *err);

/* True if @capability (CAP_*) is effective. */
bool privileges_has(int capability);

/*
 * privileges_raise() - makes one capability effective for a moment
 * Capabilities that override permissions of files (such as CAP_DAC_OVERRIDE, for the cgroup's folder) are
 * held, not effective.
 * Returns true if it is effective now.
 */
bool privileges_raise(int capability);
void privileges_lower(int capability);

/*
 * privileges_narrow() - for the rest of the recording: only the capabilities that reading the
 * recorded data needs
 * Sets no_new_privs and filters system calls (sampler/rights/system_calls.h); children inherit both.  By
 * then everything is open, the command is forked, and other threads have dropped their capabilities
 * (privileges_drop()).
 * @filter_fd:     of system_calls_finish(); borrowed
 * @keeps_cgroup:  a cgroup folder is to be removed at the end, with CAP_DAC_OVERRIDE
 * Returns 0, or -errno: the recording goes on and says so.
 */
int privileges_narrow(bool keeps_cgroup, int filter_fd, struct error *err);

/*
 * privileges_narrow_thread() - keeps only the capabilities to open files of other processes, for a thread
 * beside the collector's
 * System calls are filtered by privileges_narrow() for all threads.  Returns 0 or -errno.
 */
int privileges_narrow_thread(struct error *err);

/* Drops all capabilities of the calling thread, for ever.  Returns 0 or -errno. */
int privileges_drop(struct error *err);

/*
 * The same, but @capability stays permitted, though not effective, if it was before: see
 * privileges_raise().
 */
int privileges_drop_all_but(int capability, struct error *err);

#endif /* SAMPLER_RIGHTS_PRIVILEGES_H */
