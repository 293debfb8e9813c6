/* SPDX-License-Identifier: MIT */
/*
 * sampler/recording/command_cgroup.h - a cgroup (v2) of its own for the command, so that events can be
 * opened on all that it starts
 *
 * Way of the data:  cgroup_folder -> [command_cgroup] -> event_set
 *
 * Made below the cgroup that hyprof is in, so that its limits go on to hold, or at the root of the mount
 * where that cannot be seen; no controller is enabled in it.  Removed at the end: processes that the command
 * left behind are moved up first.
 *
 * The end is the work of a small process, the keeper, which is forked while we
 * have the right to it and waits for the end of the recording, or of hyprof,
 * whatever ended it.  Where both were killed, the folder stays, empty, and
 * the next recording there removes it.
 */
#ifndef SAMPLER_RECORDING_COMMAND_CGROUP_H
#define SAMPLER_RECORDING_COMMAND_CGROUP_H

#include <limits.h>
#include <sys/types.h>

struct error;

struct command_cgroup {
        char path[PATH_MAX]; /* "" = none */
        int fd;              /* the folder, owned, for PERF_FLAG_PID_CGROUP; -1 = none */
        pid_t keeper_pid;    /* 0 = none */
        /* a pipe: a byte in it, or its end, tells the keeper to begin; owned; -1 = none */
        int keeper_fd;
};

void command_cgroup_init(struct command_cgroup *c);

/*
 * command_cgroup_open() - make it, empty
 * To be called while there is one thread only.  Returns 0; -ENOENT without cgroup2, -EACCES, -EROFS, -errno:
 * then the command has none.
 */
int command_cgroup_open(struct command_cgroup *c, struct error *err);

/*
 * command_cgroup_fork() - as fork(2), with a child that is born in the folder @cgroup_fd
 * To be called while there is one thread only.  Returns 0 in the child, its number, or -errno: an old
 * kernel, or no right to it.
 */
pid_t command_cgroup_fork(int cgroup_fd);

/* Moves @pid in, which takes long: the kernel waits until no process forks.  Returns 0 or -errno. */
int command_cgroup_add(const struct command_cgroup *c, pid_t pid, struct error *err);

/*
 * Opens a cgroup that exists already, by the name that the user gave; it is left as it is.  Returns 0; as
 * cgroup_folder_open().
 */
int command_cgroup_find(struct command_cgroup *c, const char *name, struct error *err);

/* Moves the remaining processes up to the parent and removes the folder; waits for that. */
void command_cgroup_close(struct command_cgroup *c);

#endif /* SAMPLER_RECORDING_COMMAND_CGROUP_H */
