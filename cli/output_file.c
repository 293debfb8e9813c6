/* SPDX-License-Identifier: MIT */
#include "cli/output_file.h"

#include "base/error.h"
#include "base/io.h"
#include "cli/invoking_user.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* "NAME.old" on the heap, or NULL. */
static char *old_name(const char *path)
{
        char *name;

        return asprintf(&name, "%s.old", path) < 0 ? NULL : name;
}

static bool rotate(const char *path)
{
        char *name = old_name(path);
        bool rotated = name && rename(path, name) == 0;

        free(name);
        return rotated;
}

static void give_to_user(int fd)
{
        struct invoking_user user = invoking_user_read();

        if (user.known)
                (void)!fchown(fd, user.uid, user.gid); /* a file system without owners is no reason to fail */
}

int output_file_open(struct output_file *file, const char *path, struct error *err)
{
        struct stat st;
        bool there = lstat(path, &st) == 0;

        *file = (struct output_file){ .path = path, .fd = -1 };
        if (there && S_ISDIR(st.st_mode))
                return error_set(err, -EISDIR, "%s: is a directory", path);
        if (there && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) {
                file->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
                return file->fd < 0 ? error_errno(err, "%s", path) : 0;
        }
        if (there)
                file->rotated = rotate(path);
        /* O_EXCL: whatever appears under this name meanwhile, a link to a file of root's say, is not followed. */
        file->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0644);
        if (file->fd < 0) {
                int r = error_errno(err, "%s", path);

                output_file_discard(file);
                return r;
        }
        file->created = true;
        give_to_user(file->fd);
        return 0;
}

void output_file_close(struct output_file *file)
{
        io_close(&file->fd);
}

void output_file_discard(struct output_file *file)
{
        char *name = old_name(file->path);

        if (file->created)
                (void)unlink(file->path);
        if (file->rotated && name)
                (void)rename(name, file->path);
        free(name);
        io_close(&file->fd);
}
