/* SPDX-License-Identifier: MIT */
#include "instrument/region_finder.h"

#include "base/error.h"
#include "base/io.h"
#include "instrument/client_abi.h"
#include "instrument/own_number.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REGION_NAME  "/memfd:" CLIENT_ABI_MEMFD_NAME " (deleted)"
#define NUMBER_BYTES 32 /* room for "/proc/self/fd/" and a number */

bool region_finder_is_region_name(const char *name, size_t name_bytes)
{
        return name_bytes == sizeof(REGION_NAME) - 1 && memcmp(name, REGION_NAME, name_bytes) == 0;
}

/*
 * True if the header of the file behind @fd states that it is the region of the process that calls itself
 * @own_pid.
 */
static bool is_region_of(int fd, uint32_t own_pid)
{
        struct client_abi_header h;
        size_t got = 0;

        return io_pread_full(fd, &h, sizeof(h), 0, &got, NULL) == 0 && got == sizeof(h) &&
               h.magic == CLIENT_ABI_MAGIC && h.pid == own_pid;
}

/* Reads a symbolic link and tells whether it names a region.  Returns 1, 0 or -errno. */
static int names_region(int dir_fd, const char *link)
{
        char name[sizeof(REGION_NAME) + 1];
        ssize_t n = readlinkat(dir_fd, link, name, sizeof(name));

        if (n < 0)
                return -errno;
        return region_finder_is_region_name(name, (size_t)n);
}

/*
 * Opens an entry if it is the region.  The program may exchange the file between two of our calls, and
 * opening a device can have effects.  So the file is first pinned with O_PATH, which does nothing to it,
 * and checked before it is opened.
 * Returns the descriptor, -ENOENT if it is something else, -errno.
 */
static int open_entry(int dir_fd, const char *link, uint32_t own_pid)
{
        char self_path[NUMBER_BYTES];
        struct stat st;
        int fd = -1;
        int code = -ENOENT;
        int path_fd = openat(dir_fd, link, O_PATH | O_CLOEXEC);

        if (path_fd < 0)
                return -errno;
        (void)snprintf(self_path, sizeof(self_path), "/proc/self/fd/%d", path_fd);
        if (names_region(AT_FDCWD, self_path) != 1 || fstat(path_fd, &st) < 0 || !S_ISREG(st.st_mode))
                goto done;
        fd = open(self_path, O_RDWR | O_CLOEXEC | O_NOCTTY);
        if (fd < 0)
                code = -errno;
        else if (!is_region_of(fd, own_pid))
                io_close(&fd);
done:
        io_close(&path_fd);
        return fd >= 0 ? fd : code;
}

/*
 * Looks through /proc/PID/@name, a directory of links to files.
 * Returns the region's descriptor, -ENOENT if it is not there, or the last entry's -errno if an entry that
 * may have been the region could not be examined.
 */
static int scan(int proc_fd, const char *name, uint32_t own_pid)
{
        int dir_fd = openat(proc_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int found = -ENOENT;
        const struct dirent *entry;
        DIR *dir;

        if (dir_fd < 0)
                return -errno;
        dir = fdopendir(dir_fd);
        if (!dir) {
                found = -errno;
                io_close(&dir_fd);
                return found;
        }
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): only this function uses the directory stream */
        while (found < 0 && (entry = readdir(dir)) != NULL) {
                int r = entry->d_name[0] == '.' ? 0 : names_region(dirfd(dir), entry->d_name);

                if (r > 0)
                        r = open_entry(dirfd(dir), entry->d_name, own_pid);
                else if (r == 0 || r == -ENOENT) /* something else, or closed meanwhile */
                        continue;
                if (r != -ENOENT)
                        found = r;
        }
        (void)closedir(dir);
        return found;
}

int region_finder_open(uint32_t pid, int *ret_fd, struct error *err)
{
        char proc_path[NUMBER_BYTES];
        uint32_t own_pid = pid;
        int proc_fd, r;

        (void)snprintf(proc_path, sizeof(proc_path), "/proc/%u", pid);
        proc_fd = open(proc_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (proc_fd < 0 && errno == ENOENT)
                return error_set(err, -ESRCH, "process %u is gone", pid);
        if (proc_fd < 0)
                return error_errno(err, "%s", proc_path);

        r = own_number_read(proc_fd, pid, &own_pid, err);
        if (r < 0)
                goto done;
        r = scan(proc_fd, "fd", own_pid);
        if (r < 0) {
                int mapped = scan(proc_fd, "map_files", own_pid);

                /* Without the capability for map_files, what /proc/PID/fd told is all that can be known. */
                if (mapped >= 0 || (mapped != -EPERM && mapped != -EACCES))
                        r = mapped;
        }
        if (r >= 0) {
                *ret_fd = r;
                r = 0;
        } else if (r == -EACCES || r == -EPERM) {
                r = error_set(err, -EACCES,
                              "the zones of process %u: permission denied; record as its user or as root",
                              pid);
        } else {
                r = error_set(err, r, "process %u: no client region", pid);
        }
done:
        io_close(&proc_fd);
        return r;
}
