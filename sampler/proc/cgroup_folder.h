/* SPDX-License-Identifier: MIT */
/*
 * sampler/proc/cgroup_folder.h - where the cgroups are, and which processes are in one
 *
 * Way of the data:  /proc -> [cgroup_folder] -> command_cgroup, attachment, cpu_quota, spare_memory
 */
#ifndef SAMPLER_PROC_CGROUP_FOLDER_H
#define SAMPLER_PROC_CGROUP_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct error;
struct running_numbers;

/* A mount of cgroup2, or of a hierarchy of cgroup v1. */
struct cgroup_mount {
        const char *controller; /* static: of cgroup v1, "memory"; NULL = cgroup2 */
        char path[PATH_MAX];    /* where */
        /* the cgroup of the hierarchy that is mounted there: "/", except in containers */
        char root[PATH_MAX];
};

/* Finds the first mount of cgroup2 in the text of a mountinfo file.  Returns 0, or -ENOENT. */
int cgroup_mount_parse(struct cgroup_mount *mount, const char *text);

/* Finds this process's mount of cgroup2.  Returns 0, -ENOENT with words, -errno. */
int cgroup_mount_read(struct cgroup_mount *mount, struct error *err);

/* The same for the hierarchy of cgroup v1 with a @controller: "memory", "cpu". */
int cgroup_mount_parse_v1(struct cgroup_mount *mount, const char *controller, const char *text);

/* The hierarchy that limits by a @controller: cgroup v1 if it has it, else cgroup2.  False: no mount. */
bool cgroup_mount_find(struct cgroup_mount *mount, const char *controller);

/*
 * cgroup_mount_parse_folder() - the folder of a process's cgroup below the mount
 * @text:      of /proc/PID/cgroup
 * @ret_path:  PATH_MAX bytes
 * Returns false if that cgroup cannot be seen from here.
 */
bool cgroup_mount_parse_folder(const struct cgroup_mount *mount, const char *text, char *ret_path);

/* The same for a running process; 0 = this one. */
bool cgroup_mount_find_folder(const struct cgroup_mount *mount, uint32_t pid, char *ret_path);

/*
 * cgroup_mount_own_folder() - the folder of the cgroup that this process is in
 * @ret_path:  PATH_MAX bytes; the mount itself where that cgroup cannot be seen from here
 * Returns 0, -errno.
 */
int cgroup_mount_own_folder(const struct cgroup_mount *mount, char *ret_path, struct error *err);

/*
 * cgroup_folder_open() - opens a cgroup by the name that the user gave
 * @name:      a path from the mount on, with or without a slash before it, or a path of the file system
 * @ret_path:  PATH_MAX bytes: its folder; undefined after a failure
 * Returns a descriptor of the folder, the caller's; -ENOENT (no such cgroup), -ENOTDIR, -errno.
 */
int cgroup_folder_open(const char *name, char *ret_path, struct error *err);

/*
 * Reads the processes in the cgroup at @path and in all cgroups below.  Returns 0, -ENOENT, -ENOMEM,
 * -errno.
 */
int cgroup_folder_read_pids(const char *path, struct running_numbers *ret_pids, struct error *err);

#endif /* SAMPLER_PROC_CGROUP_FOLDER_H */
