/* SPDX-License-Identifier: MIT */
#include "sampler/keep/module_file.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "base/mapped_path.h"
#include "base/regular_file.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/proc/process_maps.h"
#include "symbolize/elf/elf_image.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libelf.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PATH_BYTES_MAX   4096 /* PATH_MAX; the kernel gives no longer ones */
#define LINK_BYTES       96   /* "/proc/PID/map_files/START-END" */
#define STATUS_BYTES_MAX 65536
#define BCACHEFS_MAGIC   0xca451a4eU /* which older headers do not name */

static const char vdso_name[] = "[vdso]";

/*
 * The vdso of a 64-bit process is above this: a 32-bit process has another one, within its address range.
 */
#define VDSO_AVMA_MIN (UINT64_C(1) << 32)

/* ------------------------------------------------------------------------ vdso */

static int open_vdso(struct error *err)
{
        struct elf_image *image = NULL;
        const char *bytes;
        size_t n_bytes = 0;
        int memory_fd, fd = -1;
        int r = elf_image_open_vdso(&image, err);

        if (r < 0)
                return r;
        bytes = elf_rawfile(image->elf, &n_bytes);
        memory_fd = memfd_create("vdso", MFD_CLOEXEC);
        r = memory_fd < 0 ? error_errno(err, "memory for the vdso")
                          : io_write_all(memory_fd, bytes, bytes ? n_bytes : 0, err);
        if (r == 0) /* for reading only */
                r = regular_file_reopen(memory_fd, "memory for the vdso", &fd, err);
        io_close(&memory_fd);
        elf_image_close(image);
        return r < 0 ? r : fd;
}

/* ----------------------------------------------------------------------- files */

/* File systems reuse the inode number of a deleted file for the next one; most of them count how often. */
static bool is_next_of_inode(int fd, const struct perf_mmap *mmap)
{
        int generation; /* whatever the request's number says */

        return mmap->inode_generation != 0 && ioctl(fd, FS_IOC_GETVERSION, &generation) == 0 &&
               (uint32_t)generation != mmap->inode_generation;
}

/*
 * Finds the user who owns the files that a living process makes.  The owner of its folder in /proc may be
 * another user if the program likes.
 */
static bool find_user(uint32_t pid, uid_t *ret_user)
{
        static const char name[] = "\nUid:";
        struct byte_buffer text = { .data = NULL };
        char path[LINK_BYTES];
        const char *at = NULL;
        char *end = NULL;

        (void)snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", pid);
        if (io_read_file(AT_FDCWD, path, STATUS_BYTES_MAX, &text, NULL) == 0)
                at = strstr((const char *)text.data, name);
        at = at ? at + sizeof(name) - 1 : NULL;
        for (int i = 0; at && i < 4; i++) { /* real, effective, saved, of files */
                *ret_user = (uid_t)strtoul(at, &end, 10);
                at = end == at ? NULL : end;
        }
        byte_buffer_deinit(&text);
        return at != NULL;
}

/*
 * Whether the process could have read the file.  In a user namespace any user can put any file that he can
 * name at any path, and unmap the mapped one: the file at that path would then be read with our rights, not
 * with the user's.
 */
static bool is_readable_by(uint32_t pid, const struct perf_mmap *mmap, const struct stat *status)
{
        uid_t user = 0;

        if (!S_ISREG(status->st_mode) || /* which is refused for that */
            (status->st_mode & S_IROTH) ||
            (mmap->inode != 0 && status->st_dev == makedev(mmap->device_major, mmap->device_minor)))
                return true;
        if (!find_user(pid, &user))
                return geteuid() != 0;
        return user == 0 || user == status->st_uid || user == geteuid();
}

/*
 * The same inode number on another device is another file: each new tmpfs counts from one.  Some file
 * systems have other devices in stat(2) than in the kernel's records.
 */
static bool is_on_other_device(int fd, const struct stat *status, const struct perf_mmap *mmap)
{
        struct statfs fs;

        if ((mmap->device_major == 0 && mmap->device_minor == 0) ||
            status->st_dev == makedev(mmap->device_major, mmap->device_minor) || fstatfs(fd, &fs) < 0)
                return false;
        return (unsigned long)fs.f_type != BTRFS_SUPER_MAGIC &&
               (unsigned long)fs.f_type != OVERLAYFS_SUPER_MAGIC &&
               (unsigned long)fs.f_type != BCACHEFS_MAGIC;
}

/*
 * Opens for reading the file that an O_PATH descriptor names, if it is the one that was mapped.  Takes the
 * descriptor.
 */
static int reopen(int name_fd, const struct perf_mmap *mmap, const char *name, struct error *err)
{
        struct stat status;
        int fd = -1;
        int r;

        if (fstat(name_fd, &status) < 0)
                r = error_errno(err, "%s", name);
        else if (mmap->inode != 0 &&
                 (status.st_ino != mmap->inode || is_on_other_device(name_fd, &status, mmap)))
                r = error_set(err, -ENOENT, "%s: another file by now", name);
        else
                r = regular_file_reopen(name_fd, name, &fd, err);
        io_close(&name_fd);
        if (r == 0 && is_next_of_inode(fd, mmap)) {
                io_close(&fd);
                r = error_set(err, -ENOENT, "%s: another file by now", name);
        }
        return r < 0 ? r : fd;
}

/* The file that is mapped at a range of the process. */
static int open_range(uint32_t pid, const struct perf_mmap *range, const struct perf_mmap *mmap,
                      struct error *err)
{
        char link[LINK_BYTES];
        int name_fd;

        (void)snprintf(link, sizeof(link), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, pid,
                       range->start_avma, range->start_avma + range->length_bytes);
        name_fd = open(link, O_PATH | O_CLOEXEC);
        return name_fd < 0 ? error_errno(err, "%s", link) : reopen(name_fd, mmap, link, err);
}

static bool is_same_file(const struct perf_mmap *a, const struct perf_mmap *b)
{
        size_t n_bytes = mapped_path_count(a->path, a->path_bytes);

        if (a->build_id_bytes > 0 && b->build_id_bytes > 0)
                return a->build_id_bytes == b->build_id_bytes &&
                       memcmp(a->build_id, b->build_id, a->build_id_bytes) == 0;
        if (a->inode != 0 && b->inode != 0)
                return a->inode == b->inode && a->device_major == b->device_major &&
                       a->device_minor == b->device_minor;
        return n_bytes == mapped_path_count(b->path, b->path_bytes) && memcmp(a->path, b->path, n_bytes) == 0;
}

/*
 * A loader first maps the whole file and then parts of it over that mapping, so the first mapping that the
 * kernel reported is gone a moment later.  The file is still mapped, at another range.
 */
static int open_current_range(uint32_t pid, const struct perf_mmap *mmap, struct error *err)
{
        struct process_maps maps;
        struct perf_mmap range;
        int fd = -ENOENT;
        int r = process_maps_open(&maps, pid, err);

        if (r < 0)
                return r == -ESRCH ? -ENOENT : r;
        while (fd < 0 && process_maps_next(&maps, &range) == 1)
                if (range.executable && is_same_file(mmap, &range))
                        fd = open_range(pid, &range, mmap, err);
        process_maps_close(&maps);
        return fd;
}

/*
 * Whether the file's name now ends in the name that the kernel reported, which begins at the process's own
 * root.
 */
static bool has_reported_name(int fd, const struct perf_mmap *mmap)
{
        size_t n_wanted = mapped_path_count(mmap->path, mmap->path_bytes), n_found;
        char link[LINK_BYTES], path[PATH_BYTES_MAX];
        ssize_t n;

        (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        n = readlink(link, path, sizeof(path));
        if (n <= 0)
                return true;
        n_found = mapped_path_count(path, (size_t)n);
        return n_found >= n_wanted && memcmp(path + n_found - n_wanted, mmap->path, n_wanted) == 0;
}

/*
 * The range may belong to another file by now, for example where libraries are loaded one after the other;
 * for a file with a build-id, no inode is known.
 */
static int open_mapped(uint32_t pid, const struct perf_mmap *mmap, struct error *err)
{
        int fd = open_range(pid, mmap, mmap, err);

        if (fd >= 0 && mmap->inode == 0 && !has_reported_name(fd, mmap)) {
                io_close(&fd);
                fd = -ENOENT;
        }
        return fd == -ENOENT ? open_current_range(pid, mmap, err) : fd;
}

/*
 * Opens a path below @root_fd.  The kernel's paths have no links in them; a link in the path was put there
 * by the program, and leads to whatever it likes us to read.  The path is opened one folder at a time, and
 * not by openat2(2), whose flags a filter of system calls cannot see.
 */
static int open_below(int root_fd, uint32_t pid, const char *path, const struct perf_mmap *mmap,
                      struct error *err)
{
        int folder_fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 0);
        const char *at = path + strspn(path, "/");
        struct stat status;

        while (folder_fd >= 0 && *at != '\0') {
                char part[NAME_MAX + 1];
                size_t n = strcspn(at, "/");
                int part_fd = -1;

                if (n >= sizeof(part) || (n == 2 && memcmp(at, "..", 2) == 0)) {
                        errno = ENOENT;
                } else {
                        memcpy(part, at, n);
                        part[n] = '\0';
                        part_fd = openat(folder_fd, part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
                }
                n += strspn(at + n, "/");
                at += n;
                io_close(&folder_fd);
                folder_fd = part_fd;
        }
        if (folder_fd < 0 || fstat(folder_fd, &status) < 0) {
                int r = error_errno(err, "%s", path);

                io_close(&folder_fd);
                return r;
        }
        if (!is_readable_by(pid, mmap, &status)) {
                io_close(&folder_fd);
                return error_set(err, -EACCES, "%s: not readable by the process", path);
        }
        return reopen(folder_fd, mmap, path, err);
}

/* In our own root now. */
static int open_here(uint32_t pid, const char *path, const struct perf_mmap *mmap, struct error *err)
{
        int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        int fd = root_fd < 0 ? error_errno(err, "/") : open_below(root_fd, pid, path, mmap, err);

        io_close(&root_fd);
        return fd;
}

/*
 * The process has changed its root since it mapped the file, for example by chroot(2): before that, its
 * root was likely ours.  Where only an inode's number identifies the file, it has to be on the same device.
 */
static int open_outside(uint32_t pid, const char *path, const struct perf_mmap *mmap, struct error *err)
{
        int fd = open_here(pid, path, mmap, err);
        struct stat status;

        if (fd >= 0 && mmap->build_id_bytes == 0 &&
            (fstat(fd, &status) < 0 || status.st_dev != makedev(mmap->device_major, mmap->device_minor))) {
                io_close(&fd);
                return error_set(err, -ENOENT, "%s: another file", path);
        }
        return fd;
}

static int open_by_path(uint32_t pid, const char *path, const struct perf_mmap *mmap, struct error *err)
{
        char root[LINK_BYTES];
        int root_fd, fd;

        (void)snprintf(root, sizeof(root), "/proc/%" PRIu32 "/root", pid);
        root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
        /* The process has ended, or we may not look into it; it likely has the files that we have. */
        if (root_fd < 0)
                return open_here(pid, path, mmap, err);
        fd = open_below(root_fd, pid, path, mmap, err);
        io_close(&root_fd);
        return fd == -ENOENT || fd == -ENOTDIR ? open_outside(pid, path, mmap, err) : fd;
}

bool module_file_is_vdso(const struct perf_mmap *mmap)
{
        return mmap->path_bytes == sizeof(vdso_name) - 1 &&
               memcmp(mmap->path, vdso_name, mmap->path_bytes) == 0;
}

bool module_file_is_vdso_32(const struct perf_mmap *mmap)
{
        return module_file_is_vdso(mmap) && mmap->start_avma < VDSO_AVMA_MIN;
}

int module_file_open(uint32_t pid, const struct perf_mmap *mmap, struct error *err)
{
        size_t n_bytes = mapped_path_count(mmap->path, mmap->path_bytes);
        char path[PATH_BYTES_MAX + 1];
        int mapped_fd, fd;

        if (module_file_is_vdso(mmap))
                return module_file_is_vdso_32(mmap) ? error_set(err, -ENOENT, "the vdso of a 32-bit process")
                                                    : open_vdso(err);
        mapped_fd = open_mapped(pid, mmap, err);
        if (mapped_fd >= 0 || mapped_fd == -EMFILE || mapped_fd == -ENFILE || mapped_fd == -ENOMEM)
                return mapped_fd;
        if (mmap->path_bytes == 0 || mmap->path[0] != '/' || mmap->path_bytes > PATH_BYTES_MAX ||
            (mmap->inode == 0 && mmap->build_id_bytes == 0)) /* it cannot be verified as that file */
                return mapped_fd;
        memcpy(path, mmap->path, mmap->path_bytes);
        path[mmap->path_bytes] = '\0';
        fd = open_by_path(pid, path, mmap, err);
        if (fd < 0 && n_bytes < mmap->path_bytes) {
                path[n_bytes] = '\0'; /* it may have got its name back */
                fd = open_by_path(pid, path, mmap, err);
        }
        if (fd == -ENOENT && mmap->inode == 0)
                fd = open_range(pid, mmap, mmap, err); /* it may have another name now */
        return fd == -EPERM ? -EACCES : fd;
}
