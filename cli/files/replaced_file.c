/* SPDX-License-Identifier: MIT */
#include "cli/files/replaced_file.h"

#include "base/error.h"
#include "base/io.h"
#include "base/text_view.h"
#include "cli/files/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODE_BITS 0777
#define KEPT_MAX  99 /* earlier files of one name: NAME.unrepaired to NAME.unrepaired-99 */

/* The last part of the path; the folder is open. */
static const char *name_of(const struct replaced_file *f)
{
        const char *slash = strrchr(f->path, '/');

        return slash ? slash + 1 : f->path;
}

static int open_folder(struct replaced_file *f, struct error *err)
{
        char *slash = strrchr(f->path, '/');

        if (!slash) {
                f->folder_fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        } else {
                *slash = '\0';
                f->folder_fd = open(slash == f->path ? "/" : f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                *slash = '/';
        }
        if (f->folder_fd < 0 && errno == ENOENT)
                return error_set(err, -ENOENT, "%s: its folder does not exist", f->path);
        return f->folder_fd < 0 ? error_errno(err, "%s: its folder", f->path) : 0;
}

/* Not all file systems have files without a name. */
static int open_part(struct replaced_file *f, bool is_by_name, mode_t mode, struct error *err)
{
        if (!is_by_name)
                f->fd = openat(f->folder_fd, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, mode);
        if (asprintf(&f->part, "%s.part-%ld", name_of(f), (long)getpid()) < 0) {
                f->part = NULL;
                return error_set(err, -ENOMEM, "no memory for a path");
        }
        if (f->fd >= 0)
                return 0;
        (void)unlinkat(f->folder_fd, f->part, 0);
        f->fd = openat(f->folder_fd, f->part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        return f->fd < 0 ? error_errno(err, "writing beside %s", f->path) : 0;
}

/* An earlier file, or none: sets `path`.  A device or pipe: opens it. */
static int find_target(struct replaced_file *f, const char *path, const struct replaced_file_options *options,
                       struct error *err)
{
        struct stat status;

        if (strcmp(path, "-") == 0 && !options->is_by_name) {
                f->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
                return f->fd < 0 ? error_errno(err, "standard output") : 0;
        }
        if (stat(path, &status) < 0) {
                if (errno != ENOENT)
                        return error_errno(err, "%s", path);
                f->path = strdup(path);
        } else if (S_ISDIR(status.st_mode)) {
                return error_set(err, -EISDIR, "%s: is a directory", path);
        } else if (!S_ISREG(status.st_mode) && options->is_by_name) {
                return error_set(err, -ESPIPE, "%s: is not a file", path);
        } else if (!S_ISREG(status.st_mode)) {
                f->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
                return f->fd < 0 ? error_errno(err, "%s", path) : 0;
        } else if (options->only_new) {
                return error_set(err, -EEXIST, "%s: the file exists", path);
        } else {
                f->has_earlier = true;
                f->mode = status.st_mode & MODE_BITS;
                f->owner_uid = status.st_uid;
                f->owner_gid = status.st_gid;
                f->path = realpath(path, NULL);
        }
        return f->path ? 0 : error_set(err, -ENOMEM, "no memory for a path");
}

int replaced_file_open(struct replaced_file *f, const char *path, const struct replaced_file_options *options,
                       struct error *err)
{
        int r;

        *f = (struct replaced_file){ .folder_fd = -1, .fd = -1 };
        r = find_target(f, path, options, err);
        if (options->mode != 0)
                f->mode = options->mode;
        if (r == 0 && f->path)
                r = open_folder(f, err);
        if (r == 0 && f->path)
                r = open_part(f, options->is_by_name,
                              options->is_recording || f->mode != 0 ? OUTPUT_FILE_MODE : 0666, err);
        if (r < 0)
                replaced_file_close(f);
        return r;
}

char *replaced_file_part(const struct replaced_file *f)
{
        int n_folder = (int)(name_of(f) - f->path); /* with the slash */
        char *path;

        return asprintf(&path, "%.*s%s", n_folder, f->path, f->part) < 0 ? NULL : path;
}

/* A replacement belongs to the owner of the file it replaces; without root there is no choice. */
static void give_to_owner(const struct replaced_file *f)
{
        if (f->has_earlier && geteuid() == 0)
                (void)!fchown(f->fd, f->owner_uid, f->owner_gid);
}

/* Writes the part to the disk and gives it its name beside the target. */
static int name_part(struct replaced_file *f, struct error *err)
{
        char fd_path[32];

        give_to_owner(f);
        if (fsync(f->fd) < 0 || (f->mode != 0 && fchmod(f->fd, f->mode) < 0))
                return error_errno(err, "%s", f->path);
        (void)snprintf(fd_path, sizeof(fd_path), "/proc/self/fd/%d", f->fd);
        /* Fails where the file has this name already. */
        if (linkat(AT_FDCWD, fd_path, f->folder_fd, f->part, AT_SYMLINK_FOLLOW) < 0 && errno != EEXIST)
                return error_errno(err, "a name for %s.unrepaired", f->path);
        return 0;
}

static int replace(struct replaced_file *f, struct error *err)
{
        if (renameat(f->folder_fd, f->part, f->folder_fd, name_of(f)) < 0)
                return error_errno(err, "%s", f->path);
        free(f->part);
        f->part = NULL;
        (void)fsync(f->folder_fd); /* may fail: the file has its name, and not all file systems can do this */
        return 0;
}

int replaced_file_commit(struct replaced_file *f, struct error *err)
{
        int r = f->path ? name_part(f, err) : 0;

        return r == 0 && f->path ? replace(f, err) : r;
}

/*
 * Gives the earlier file a second name.  On file systems without hard links the new name replaces its own.
 */
static int name_earlier(struct replaced_file *f, const char *kept)
{
        const char *name = strrchr(kept, '/');

        name = name ? name + 1 : kept;
        if (linkat(f->folder_fd, name_of(f), f->folder_fd, name, 0) == 0)
                return 0;
        if (errno == EEXIST)
                return -EEXIST;
        return renameat2(f->folder_fd, name_of(f), f->folder_fd, name, RENAME_NOREPLACE) == 0 ? 0 : -errno;
}

static int keep_earlier(struct replaced_file *f, char **ret_kept, struct error *err)
{
        int r = -EEXIST;

        for (unsigned n = 1; r == -EEXIST && n <= KEPT_MAX; n++) {
                char number[16] = "";
                char *kept;

                if (n > 1)
                        (void)snprintf(number, sizeof(number), "-%u", n);
                if (asprintf(&kept, "%s.unrepaired%s", f->path, number) < 0)
                        return error_set(err, -ENOMEM, "no memory for a path");
                r = name_earlier(f, kept);
                if (r == 0)
                        *ret_kept = kept;
                else
                        free(kept);
        }
        if (r < 0)
                return error_set(err, r, "%s: the file cannot be kept as %s.unrepaired: %s", f->path, f->path,
                                 strerrordesc_np(-r));
        return 0;
}

int replaced_file_commit_and_keep(struct replaced_file *f, char **ret_kept, struct error *err)
{
        char *kept = NULL;
        int r = name_part(f, err);

        if (r == 0)
                r = keep_earlier(f, &kept, err);
        if (r < 0)
                return r;
        r = replace(f, err);
        if (r < 0) {
                (void)rename(kept, f->path);
                free(kept);
                return r;
        }
        *ret_kept = kept;
        return 0;
}

void replaced_file_close(struct replaced_file *f)
{
        if (f->part && f->folder_fd >= 0)
                (void)unlinkat(f->folder_fd, f->part, 0);
        io_close(&f->fd);
        io_close(&f->folder_fd);
        free(f->path);
        free(f->part);
        *f = (struct replaced_file){ .folder_fd = -1, .fd = -1 };
}

char *replaced_file_name_after(const char *trace, const char *extension)
{
        const char *stem = strcmp(trace, "-") == 0 ? "hyprof" : trace;
        size_t n = strlen(stem) - (text_ends_with(stem, ".hyp") ? strlen(".hyp") : 0);
        char *path;

        return asprintf(&path, "%.*s%s", (int)n, stem, extension) < 0 ? NULL : path;
}
