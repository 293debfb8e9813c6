/* SPDX-License-Identifier: MIT */
#include "sampler/keep/keep_policy.h"

#include "base/clock.h"
#include "base/mapped_path.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define VIEW_PATH_BYTES 32 /* "/proc/PID/ns/mnt" */

static const char memfd[] = "/memfd:";

/* Folders that the next start of the machine, or a clean-up, empties. */
static const char *const temporary_folders[] = { "/tmp", "/var/tmp", "/dev/shm", "/run" };

int keep_policy_init(struct keep_policy *p, const char *temporary_folder)
{
        struct timespec now;
        struct stat status;

        *p = (struct keep_policy){ .temporary_folder = NULL };
        /* The clock of file systems, which may be a tick late. */
        (void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
        p->began_ns = now.tv_sec * (int64_t)NS_PER_S + now.tv_nsec;
        if (stat("/proc/self/ns/mnt", &status) == 0) {
                p->namespace_device = status.st_dev;
                p->namespace_inode = status.st_ino;
        }
        if (stat("/", &status) == 0) {
                p->root_device = status.st_dev;
                p->root_inode = status.st_ino;
        }
        /* The root directory makes no sense as the folder for temporary files. */
        if (!temporary_folder || temporary_folder[0] != '/' || temporary_folder[1] == '\0')
                return 0;
        p->temporary_folder = realpath(temporary_folder, NULL); /* as the kernel's paths are */
        return p->temporary_folder || errno != ENOMEM ? 0 : -ENOMEM;
}

void keep_policy_deinit(struct keep_policy *p)
{
        free(p->temporary_folder);
        p->temporary_folder = NULL;
}

static bool is_below(const char *path, size_t path_bytes, const char *folder)
{
        size_t n = strlen(folder);

        return path_bytes > n && memcmp(path, folder, n) == 0 && path[n] == '/';
}

bool keep_policy_wants_path(const struct keep_policy *p, const char *path, size_t path_bytes)
{
        if (mapped_path_count(path, path_bytes) < path_bytes ||
            (path_bytes >= sizeof(memfd) - 1 && memcmp(path, memfd, sizeof(memfd) - 1) == 0))
                return true;
        for (size_t i = 0; i < sizeof(temporary_folders) / sizeof(temporary_folders[0]); i++)
                if (is_below(path, path_bytes, temporary_folders[i]))
                        return true;
        return p->temporary_folder && is_below(path, path_bytes, p->temporary_folder);
}

/*
 * Does this entry of the process's folder in /proc lead to another inode than ours?
 * False if that is not known.
 */
static bool leads_elsewhere(uint32_t pid, const char *entry, uint64_t device, uint64_t inode)
{
        char path[VIEW_PATH_BYTES];
        struct stat status;

        (void)snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", pid, entry);
        return inode != 0 && stat(path, &status) == 0 && (status.st_ino != inode || status.st_dev != device);
}

/* In a container, or after chroot(2), paths mean other files. */
static bool is_elsewhere(const struct keep_policy *p, uint32_t pid)
{
        return leads_elsewhere(pid, "ns/mnt", p->namespace_device, p->namespace_inode) ||
               leads_elsewhere(pid, "root", p->root_device, p->root_inode);
}

/* Whether the path leads to the same file here.  Most paths of a container do not. */
static bool is_here(const char *path, size_t path_bytes, const struct stat *status)
{
        char name[PATH_MAX];
        struct stat ours;

        if (path_bytes == 0 || path_bytes >= sizeof(name) || path[0] != '/')
                return false;
        memcpy(name, path, path_bytes);
        name[path_bytes] = '\0';
        return stat(name, &ours) == 0 && ours.st_dev == status->st_dev && ours.st_ino == status->st_ino;
}

bool keep_policy_wants_file(const struct keep_policy *p, uint32_t pid, const char *path, size_t path_bytes,
                            const struct stat *status)
{
        int64_t changed_ns = status->st_ctim.tv_sec * (int64_t)NS_PER_S + status->st_ctim.tv_nsec;

        /* A file that was deleted, or changed during the recording, may be gone soon in any folder. */
        if (status->st_nlink == 0 || changed_ns >= p->began_ns)
                return true;
        return keep_policy_wants_path(p, path, path_bytes) ||
               (is_elsewhere(p, pid) && !is_here(path, path_bytes, status));
}
