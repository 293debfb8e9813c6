/* SPDX-License-Identifier: MIT */
/*
 * sampler/kernel/cgroup_folder.h - where the cgroups (v2) are, and who is in one
 *
 * Way of the data:  /proc/self/mountinfo, cgroup2 -> [cgroup_folder] -> command_cgroup, attachment
 */
#ifndef SAMPLER_KERNEL_CGROUP_FOLDER_H
#define SAMPLER_KERNEL_CGROUP_FOLDER_H

#include <limits.h>
#include <stdint.h>

struct error;
struct running_numbers;

/* A mount of cgroup2. */
struct cgroup_mount {
        char path[PATH_MAX]; /* where */
        char root[PATH_MAX]; /* which cgroup of the whole hierarchy is seen there: "/", but for containers */
};

/* From the text of a mountinfo file, the first one.  Returns 0, or -ENOENT. */
int cgroup_mount_parse(struct cgroup_mount *mount, const char *text);

/* This process's.  Returns 0, -ENOENT with words, -errno. */
int cgroup_mount_read(struct cgroup_mount *mount, struct error *err);

/* The same for the hierarchy of cgroup v1 that limits memory. */
int cgroup_mount_read_memory(struct cgroup_mount *mount, struct error *err);
int cgroup_mount_parse_memory(struct cgroup_mount *mount, const char *text);

/*
 * cgroup_mount_own_folder() - the folder of the cgroup that this process is in
 * @ret_path:  PATH_MAX bytes; the mount itself where that cgroup cannot be seen from here
 * Returns 0, -errno.
 */
int cgroup_mount_own_folder(const struct cgroup_mount *mount, char *ret_path, struct error *err);

/*
 * cgroup_folder_open() - a cgroup that people name
 * @name:      a path from the mount on, with or without a slash before it, or a path of the file system
 * @ret_path:  PATH_MAX bytes: its folder; undefined after a failure
 * Returns a descriptor of the folder, the caller's; -ENOENT (no such cgroup), -ENOTDIR, -errno.
 */
int cgroup_folder_open(const char *name, char *ret_path, struct error *err);

/* The processes in it and in all cgroups below.  Returns 0, -ENOENT, -ENOMEM, -errno. */
int cgroup_folder_read_pids(const char *path, struct running_numbers *ret_pids, struct error *err);

#endif /* SAMPLER_KERNEL_CGROUP_FOLDER_H */
