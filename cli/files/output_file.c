/* SPDX-License-Identifier: MIT */
#include "cli/files/output_file.h"

#include "base/error.h"
#include "base/io.h"
#include "cli/terminal/standard_output.h"
#include "format/trace_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "NAME.old" on the heap, or NULL. */
static char *old_name(const char *path)
{
        char *name;

        return asprintf(&name, "%s.old", path) < 0 ? NULL : name;
}

/* Whether another recorder is writing the file of this name at this moment. */
static bool is_being_recorded(const char *name)
{
        int fd = name ? open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
        bool is_held = fd >= 0 && trace_lock_is_held(fd);

        io_close(&fd);
        return is_held;
}

/* Returns 1 if NAME.old was made, 0 if it could not be, -EBUSY. */
static int rotate(const char *path)
{
        char *name = old_name(path);
        int r = is_being_recorded(name) ? -EBUSY : name && rename(path, name) == 0;

        free(name);
        return r;
}

/* Whether a file is a standard stream: /dev/stdout links to one if standard output is redirected. */
static bool is_standard_stream(const struct stat *st)
{
        struct stat stream;

        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
                if (fstat(fd, &stream) == 0 && stream.st_dev == st->st_dev && stream.st_ino == st->st_ino)
                        return true;
        return false;
}

/* A device, pipe or socket.  The target of a link can be exchanged before we open it, so we look again. */
static int open_as_it_is(const char *path, bool is_link, int *ret_fd, struct error *err)
{
        struct stat st;
        int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

        if (fd < 0)
                return error_errno(err, "%s", path);
        if (fstat(fd, &st) < 0 || S_ISREG(st.st_mode) || (is_link && S_ISBLK(st.st_mode))) {
                io_close(&fd);
                return error_set(err, -EPERM, "%s: leads to something that a trace would damage", path);
        }
        *ret_fd = fd;
        return 0;
}

/* Makes a file that is not there.  Returns a descriptor or -1. */
static int create(const char *path, unsigned mode)
{
        /*
         * O_EXCL: anything that appears under this name meanwhile, such as a link to a file of root's, is
         * not followed.
         */
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, OUTPUT_FILE_MODE);

        /* Some file systems have no modes: then the file is as its mount says. */
        if (fd >= 0 && mode != 0)
                (void)fchmod(fd, mode);
        return fd;
}

int output_file_open(struct output_file *file, const char *path, unsigned mode, struct error *err)
{
        struct stat st, target;
        bool there = lstat(path, &st) == 0;
        bool is_link = there && S_ISLNK(st.st_mode);

        *file = (struct output_file){ .path = path, .fd = -1 };
        if (is_link && stat(path, &target) == 0)
                st = target;
        if (there && S_ISDIR(st.st_mode))
                return error_set(err, -EISDIR, "%s: is a directory", path);
        if (is_link && S_ISREG(st.st_mode) && is_standard_stream(&st))
                return error_set(err, -EEXIST, "%s: leads to the file of a standard stream", path);
        if (there && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
                return open_as_it_is(path, is_link, &file->fd, err);
        if (there) {
                int r = rotate(path);

                if (r < 0)
                        return error_set(err, r,
                                         "%s: an earlier recording of this name still goes on as %s.old",
                                         path, path);
                file->rotated = r > 0;
        }
        file->fd = create(path, mode);
        if (file->fd < 0) {
                int r = errno == EEXIST ? error_set(err, -EEXIST,
                                                    "%s: exists, and cannot be renamed to %s.old", path, path)
                                        : error_errno(err, "%s", path);

                output_file_discard(file);
                return r;
        }
        file->created = true;
        (void)trace_lock_take(file->fd); /* the lock tells readers that more comes; it may fail */
        return 0;
}

/* Devices, such as terminals and /dev/null, do not count. */
static bool is_one_file(int fd, int other)
{
        struct stat a, b;

        return fstat(fd, &a) == 0 && fstat(other, &b) == 0 && !S_ISCHR(a.st_mode) && a.st_dev == b.st_dev &&
               a.st_ino == b.st_ino;
}

int output_file_take_stdout(struct output_file *file, struct error *err)
{
        int r = standard_output_check_bytes("a trace", err);

        if (r < 0)
                return r;
        if (is_one_file(STDOUT_FILENO, STDERR_FILENO))
                return error_set(
                        err, -EINVAL,
                        "standard error is the same file: the command's output would be in the trace");
        *file = (struct output_file){ .path = "standard output",
                                      .fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) };
        if (file->fd >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
                return 0;
        io_close(&file->fd);
        return error_errno(err, "standard output");
}

static bool has_name(const struct stat *file, const char *name)
{
        struct stat there;

        return name && lstat(name, &there) == 0 && there.st_dev == file->st_dev &&
               there.st_ino == file->st_ino;
}

/*
 * The name by which the kernel knows the open file, on the heap; NULL if it leads to another file or to
 * none.
 */
static char *present_name(int fd, const struct stat *st)
{
        char link[sizeof("/proc/self/fd/") + 3 * sizeof(fd)], name[PATH_MAX];
        ssize_t n_bytes;

        (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        n_bytes = readlink(link, name, sizeof(name) - 1);
        if (n_bytes < 0)
                return NULL;
        name[n_bytes] = '\0';
        return has_name(st, name) ? strdup(name) : NULL;
}

enum output_file_place output_file_find(const struct output_file *file, char **ret_name)
{
        struct stat st;
        char *name;

        *ret_name = NULL;
        /* A file that cannot be looked at may well be there. */
        if (!file->created || fstat(file->fd, &st) < 0 || has_name(&st, file->path))
                return OUTPUT_FILE_IN_PLACE;
        if (st.st_nlink == 0)
                return OUTPUT_FILE_IS_GONE;
        name = old_name(file->path);
        if (!has_name(&st, name)) {
                free(name);
                name = present_name(file->fd, &st);
        }
        *ret_name = name;
        return OUTPUT_FILE_IS_MOVED;
}

void output_file_close(struct output_file *file)
{
        io_close(&file->fd);
}

void output_file_discard(struct output_file *file)
{
        char *name;
        bool is_ours = output_file_find(file, &name) ==
                       OUTPUT_FILE_IN_PLACE; /* else another recording has the name */

        free(name);
        name = is_ours && file->rotated ? old_name(file->path) : NULL;
        if (is_ours && file->created)
                (void)unlink(file->path);
        if (name)
                (void)rename(name, file->path);
        free(name);
        io_close(&file->fd);
}
