/* SPDX-License-Identifier: MIT */
/*
 * sampler/command_cgroup.h - a cgroup (v2) of its own for the command, so that events can be opened on all that it starts
 *
 * Way of the data:  /proc/self/mountinfo, cgroup2 -> [command_cgroup] -> event_set
 *
 * Made below the cgroup that hyprof is in, or else at the root of the mount;
 * removed at the end, unless the command left something behind that runs on:
 * then it is moved up first.  Limits of the cgroup above go on to hold.
 */
#ifndef SAMPLER_COMMAND_CGROUP_H
#define SAMPLER_COMMAND_CGROUP_H

#include <limits.h>
#include <sys/types.h>

struct error;

struct command_cgroup {
        char path[PATH_MAX]; /* "" = none */
        int fd;              /* the folder, for PERF_FLAG_PID_CGROUP; -1 = none */
};

/* Makes it and moves @pid in.  Returns 0; -ENOENT without cgroup2, -EACCES, -EROFS, -errno: then without. */
int command_cgroup_open(struct command_cgroup *c, pid_t pid, struct error *err);

/* Moves what is left up to the parent and removes the folder. */
void command_cgroup_close(struct command_cgroup *c);

#endif /* SAMPLER_COMMAND_CGROUP_H */
