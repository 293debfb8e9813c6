/* SPDX-License-Identifier: MIT */
#include "base/kept_folder.h"

#include "base/array.h"
#include "base/error.h"
#include "base/io.h"
#include "base/text_view.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PART_AGE_S 3600

/* ---- the folder ---------------------------------------------------------------------------------------- */

/* Makes the folder, with all missing folders above it. */
static int make(const char *folder, struct error *err)
{
        char *path = strdup(folder);

        if (!path)
                return error_set(err, -ENOMEM, "no memory for a path");
        for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
                *slash = '\0';
                (void)mkdir(path, 0700); /* the last one tells */
                *slash = '/';
        }
        (void)mkdir(path, 0700);
        free(path);
        return 0;
}

/*
 * Makes and opens the folder with the user and group of its owner for access to files (setfsuid, setfsgid);
 * its other rights stay.  Returns the descriptor, or -errno.
 */
static int open_as_owner(const struct kept_folder *f, const char *folder, struct error *err)
{
        int fd, r;

        (void)setfsgid(f->owner_gid);
        (void)setfsuid(f->owner_uid);
        r = make(folder, err);
        fd = r == 0 ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        if (r == 0 && fd < 0)
                r = error_errno(err, "%s", folder);
        (void)setfsuid(geteuid());
        (void)setfsgid(getegid());
        return r < 0 ? r : fd;
}

static int check_owner(const struct kept_folder *f, const char *folder, struct error *err)
{
        struct stat status;

        if (fstat(f->fd, &status) < 0)
                return error_errno(err, "%s", folder);
        if (status.st_uid != f->owner_uid || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
                return error_set(err, -EPERM, "%s: others can write into it", folder);
        return 0;
}

int kept_folder_open(struct kept_folder *f, const char *path, uint32_t uid, uint32_t gid, struct error *err)
{
        int r;

        *f = (struct kept_folder){ .fd = -1, .owner_uid = uid, .owner_gid = gid };
        r = open_as_owner(f, path, err);
        if (r < 0)
                return r;
        f->fd = r;
        r = check_owner(f, path, err);
        if (r < 0)
                kept_folder_close(f);
        return r;
}

void kept_folder_close(struct kept_folder *f)
{
        io_close(&f->fd);
}

void kept_folder_give(const struct kept_folder *f, int fd)
{
        if (f->owner_uid != geteuid())
                (void)!fchown(fd, f->owner_uid, f->owner_gid); /* not all file systems have owners */
}

/* ---- its bound ----------------------------------------------------------------------------------------- */

struct old_file {
        char name[64];
        uint64_t n_bytes;
        int64_t time_s;
};

struct old_files {
        struct old_file *files; /* heap */
        size_t n_files, capacity;
        uint64_t n_bytes;
};

static void take_file(const struct kept_folder *f, struct old_files *all, const char *suffix,
                      const char *name)
{
        struct old_file file = { .n_bytes = 0 };
        bool is_part = text_ends_with(name, KEPT_FOLDER_PART_SUFFIX);
        struct stat status;

        if (strlen(name) >= sizeof(file.name) || (!text_ends_with(name, suffix) && !is_part) ||
            fstatat(f->fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(status.st_mode))
                return;
        if (is_part) {
                if (status.st_mtim.tv_sec < time(NULL) - PART_AGE_S)
                        (void)unlinkat(f->fd, name, 0);
                return;
        }
        if (array_reserve(&all->files, &all->capacity, all->n_files + 1, sizeof(*all->files)) < 0)
                return;
        memcpy(file.name, name, strlen(name) + 1);
        file.n_bytes = (uint64_t)status.st_size;
        file.time_s = status.st_mtim.tv_sec;
        all->files[all->n_files++] = file;
        all->n_bytes += file.n_bytes;
}

static int compare_ages(const void *a, const void *b)
{
        const struct old_file *x = a, *y = b;

        if (x->time_s != y->time_s)
                return x->time_s < y->time_s ? -1 : 1;
        return strcmp(x->name, y->name);
}

void kept_folder_remove_oldest(const struct kept_folder *f, const char *suffix, const char *newest,
                               uint64_t bytes_max)
{
        struct old_files all = { .files = NULL };
        int fd = openat(f->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
        const struct dirent *entry;

        if (!folder) {
                io_close(&fd);
                return;
        }
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        while ((entry = readdir(folder)))
                take_file(f, &all, suffix, entry->d_name);
        (void)closedir(folder);
        if (all.n_files > 0)
                qsort(all.files, all.n_files, sizeof(*all.files), compare_ages);
        for (size_t i = 0; i < all.n_files && all.n_bytes > bytes_max; i++) {
                if (strcmp(all.files[i].name, newest) == 0 || unlinkat(f->fd, all.files[i].name, 0) < 0)
                        continue;
                all.n_bytes -= all.files[i].n_bytes;
        }
        free(all.files);
}
