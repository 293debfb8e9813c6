/* SPDX-License-Identifier: MIT */
/*
 * sampler/keep/module_file.c: what is mapped is what is opened, wherever it went since, and nothing else is
 */
#include "base/error.h"
#include "base/io.h"
#include "sampler/keep/module_file.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/proc/process_maps.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_BYTES 8192

static char folder[32];
static char path[64], other_path[64];
static void *mapped;
static bool reads_map_files; /* this machine lets us */

/* A file of 8 KiB that begins with @text. */
static int make_file(const char *name, const char *text)
{
        int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0755);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(io_write_all(fd, text, strlen(text), NULL), 0);
        ck_assert_int_eq(ftruncate(fd, FILE_BYTES), 0);
        return fd;
}

static struct perf_mmap map(int fd, const char *name)
{
        struct perf_mmap m = { .executable = true, .path = name, .path_bytes = strlen(name) };
        struct stat status;

        ck_assert_int_eq(fstat(fd, &status), 0);
        mapped = mmap(NULL, FILE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
        ck_assert_ptr_ne(mapped, MAP_FAILED);
        m.start_avma = (uint64_t)(uintptr_t)mapped;
        m.length_bytes = FILE_BYTES;
        m.inode = status.st_ino;
        return m;
}

/* The file, as another process that is not looked at closely has it. */
static struct perf_mmap mapped_elsewhere(uint8_t build_id_bytes)
{
        return (struct perf_mmap){ .executable = true,
                                   .start_avma = 4096,
                                   .length_bytes = 4096,
                                   .path = path,
                                   .path_bytes = strlen(path),
                                   .build_id_bytes = build_id_bytes };
}

static void setup(void)
{
        struct perf_mmap m;
        char link[96];
        int fd;

        (void)snprintf(folder, sizeof(folder), "/tmp/hyprof-module-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(folder));
        (void)snprintf(path, sizeof(path), "%s/file", folder);
        (void)snprintf(other_path, sizeof(other_path), "%s/other", folder);
        fd = make_file(path, "first");
        m = map(fd, path);
        (void)snprintf(link, sizeof(link), "/proc/self/map_files/%lx-%lx", (unsigned long)m.start_avma,
                       (unsigned long)(m.start_avma + m.length_bytes));
        io_close(&fd);
        fd = open(link, O_PATH | O_CLOEXEC);
        reads_map_files = fd >= 0;
        io_close(&fd);
        ck_assert_int_eq(munmap(mapped, FILE_BYTES), 0);
}

static void teardown(void)
{
        (void)unlink(path);
        (void)unlink(other_path);
        ck_assert_int_eq(rmdir(folder), 0);
}

static bool needs_map_files(void)
{
        if (!reads_map_files)
                printf("skipped: /proc/PID/map_files cannot be opened here\n");
        return reads_map_files;
}

static void expect_text(int fd, const char *text)
{
        char bytes[16] = "";

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(pread(fd, bytes, strlen(text), 0), (ssize_t)strlen(text));
        ck_assert_str_eq(bytes, text);
        ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
        ck_assert_int_eq(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
        io_close(&fd);
}

/* A process that is gone. */
static uint32_t ended_pid(void)
{
        pid_t pid = fork();

        if (pid == 0)
                _exit(0);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        return (uint32_t)pid;
}

static uint32_t own_pid(void)
{
        return (uint32_t)getpid();
}

START_TEST(test_mapped_file)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        struct perf_mmap m = map(fd, path);

        expect_text(module_file_open(own_pid(), &m, NULL), "first");
        m.inode = 0; /* as with a build-id */
        m.build_id_bytes = 20;
        expect_text(module_file_open(own_pid(), &m, NULL), "first");
        io_close(&fd);
}
END_TEST

START_TEST(test_deleted_file)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        struct perf_mmap m = map(fd, path);
        char name[96];

        (void)snprintf(name, sizeof(name), "%s (deleted)", path);
        ck_assert_int_eq(link(path, other_path), 0);
        ck_assert_int_eq(unlink(path), 0);
        io_close(&fd);
        if (needs_map_files())
                expect_text(module_file_open(own_pid(), &m, NULL), "first");
        ck_assert_int_eq(module_file_open(ended_pid(), &m, NULL), -ENOENT);
        /* The kernel says that it was deleted when it was mapped; it has its name again. */
        m.path = name;
        m.path_bytes = strlen(name);
        ck_assert_int_eq(rename(other_path, path), 0);
        expect_text(module_file_open(ended_pid(), &m, NULL), "first");
}
END_TEST

START_TEST(test_replaced_file)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        struct perf_mmap m = map(fd, path);

        io_close(&fd);
        fd = make_file(other_path, "second");
        io_close(&fd);
        ck_assert_int_eq(rename(other_path, path), 0);
        if (needs_map_files())
                expect_text(module_file_open(own_pid(), &m, NULL), "first");
        ck_assert_int_eq(module_file_open(ended_pid(), &m, NULL), -ENOENT);
        m.inode = 0; /* a reader must compare */
        m.build_id_bytes = 20;
        expect_text(module_file_open(ended_pid(), &m, NULL), "second");
}
END_TEST

/* The range is another since: the one that the file has now is looked up. */
START_TEST(test_range_that_is_another_now)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        struct perf_mmap m = map(fd, path), now = { .length_bytes = 0 };
        struct process_maps maps;

        ck_assert_int_eq(munmap((char *)mapped + 4096, FILE_BYTES - 4096), 0);
        ck_assert_int_eq(unlink(path), 0);
        io_close(&fd);
        if (!needs_map_files())
                return;
        ck_assert_int_eq(process_maps_open(&maps, own_pid(), NULL), 0);
        while (process_maps_next(&maps, &now) == 1 && now.start_avma != m.start_avma)
                ;
        ck_assert_uint_eq(now.length_bytes, 4096);
        m.device_major = now.device_major; /* the kernel's own number */
        m.device_minor = now.device_minor;
        expect_text(module_file_open(own_pid(), &m, NULL), "first");
        m.device_minor++;
        ck_assert_int_eq(module_file_open(own_pid(), &m, NULL), -ENOENT);
        m.device_minor--;
        m.inode++;
        ck_assert_int_eq(module_file_open(own_pid(), &m, NULL), -ENOENT);
        process_maps_close(&maps);
}
END_TEST

/* A library is loaded where another one was: of the first one only the name and the build-id are known. */
START_TEST(test_range_of_another_file_now)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC), other_fd = make_file(other_path, "second");
        struct perf_mmap m = map(fd, path);

        m.inode = 0;
        m.build_id_bytes = 20;
        ck_assert_ptr_ne(
                mmap(mapped, FILE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, other_fd, 0),
                MAP_FAILED);
        expect_text(module_file_open(own_pid(), &m, NULL), "first");
        io_close(&other_fd);
        io_close(&fd);
}
END_TEST

START_TEST(test_renamed_file)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        struct perf_mmap m = map(fd, path);

        m.inode = 0;
        m.build_id_bytes = 20;
        ck_assert_int_eq(rename(path, other_path), 0);
        io_close(&fd);
        if (needs_map_files())
                expect_text(module_file_open(own_pid(), &m, NULL), "first");
}
END_TEST

/* Seen from another root, as the program's own, its name is shorter, and may be another file's in ours. */
START_TEST(test_name_in_another_root)
{
        struct perf_mmap m;
        char inner[64], name[sizeof(inner) + 8];
        int fd;

        (void)snprintf(inner, sizeof(inner), "%s/etc", folder);
        (void)snprintf(name, sizeof(name), "%s/passwd", inner);
        ck_assert_int_eq(mkdir(inner, 0755), 0);
        fd = make_file(name, "inside");
        m = map(fd, name + strlen(folder));
        m.inode = 0;
        m.build_id_bytes = 20;
        io_close(&fd);
        if (needs_map_files())
                expect_text(module_file_open(own_pid(), &m, NULL), "inside");
        ck_assert_int_eq(unlink(name), 0);
        ck_assert_int_eq(rmdir(inner), 0);
}
END_TEST

START_TEST(test_memfd)
{
        int fd = memfd_create("code", MFD_CLOEXEC);
        struct perf_mmap m;

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(io_write_all(fd, "memory", 6, NULL), 0);
        ck_assert_int_eq(ftruncate(fd, FILE_BYTES), 0);
        m = map(fd, "/memfd:code (deleted)");
        io_close(&fd);
        if (needs_map_files())
                expect_text(module_file_open(own_pid(), &m, NULL), "memory");
        ck_assert_int_eq(module_file_open(ended_pid(), &m, NULL), -ENOENT);
}
END_TEST

/* To open one of these may block, or do something. */
START_TEST(test_what_is_no_file)
{
        struct perf_mmap m = { .executable = true, .start_avma = 4096, .length_bytes = 4096 };
        struct stat status;

        ck_assert_int_eq(mkfifo(other_path, 0600), 0);
        ck_assert_int_eq(stat(other_path, &status), 0);
        m.path = other_path;
        m.path_bytes = strlen(other_path);
        m.inode = status.st_ino;
        ck_assert_int_eq(module_file_open(ended_pid(), &m, NULL), -EINVAL);
        ck_assert_int_eq(module_file_open(own_pid(), &m, NULL), -EINVAL);
        ck_assert_int_eq(stat("/dev/zero", &status), 0);
        m.path = "/dev/zero";
        m.path_bytes = 9;
        m.inode = status.st_ino;
        ck_assert_int_eq(module_file_open(own_pid(), &m, NULL), -EINVAL);
        m.path = "/";
        m.path_bytes = 1;
        ck_assert_int_eq(stat("/", &status), 0);
        m.inode = status.st_ino;
        ck_assert_int_eq(module_file_open(own_pid(), &m, NULL), -EINVAL);
}
END_TEST

/* A mapped file has no links in its path: one that is there now leads elsewhere. */
START_TEST(test_link)
{
        struct perf_mmap m = { .executable = true, .start_avma = 4096, .length_bytes = 4096 };
        struct stat status;

        ck_assert_int_eq(symlink(path, other_path), 0);
        ck_assert_int_eq(stat(path, &status), 0);
        m.inode = status.st_ino;
        m.path = other_path;
        m.path_bytes = strlen(other_path);
        ck_assert_int_eq(module_file_open(own_pid(), &m, NULL), -ENOENT);
        ck_assert_int_eq(module_file_open(ended_pid(), &m, NULL), -ENOENT);
        m.path = path;
        m.path_bytes = strlen(path);
        expect_text(module_file_open(own_pid(), &m, NULL), "first");
}
END_TEST

/* Nothing tells whether it is that file. */
START_TEST(test_file_without_identity)
{
        struct perf_mmap m = mapped_elsewhere(0);

        ck_assert_int_lt(module_file_open(own_pid(), &m, NULL), 0);
        m.path_bytes = 0;
        ck_assert_int_lt(module_file_open(own_pid(), &m, NULL), 0);
}
END_TEST

/* File systems count alike: the same number on another device is another file. */
START_TEST(test_other_device)
{
        struct perf_mmap m = mapped_elsewhere(0);
        uint32_t pid = ended_pid();
        struct stat status;
        struct statfs fs;

        ck_assert_int_eq(stat(path, &status), 0);
        ck_assert_int_eq(statfs(path, &fs), 0);
        if ((unsigned long)fs.f_type == BTRFS_SUPER_MAGIC ||
            (unsigned long)fs.f_type == OVERLAYFS_SUPER_MAGIC) {
                printf("skipped: stat(2) has other devices here\n");
                return;
        }
        m.inode = status.st_ino;
        m.device_major = major(status.st_dev);
        m.device_minor = minor(status.st_dev);
        expect_text(module_file_open(pid, &m, NULL), "first");
        m.device_minor++;
        ck_assert_int_eq(module_file_open(pid, &m, NULL), -ENOENT);
        m.device_minor--;
        m.device_major++;
        ck_assert_int_eq(module_file_open(own_pid(), &m, NULL), -ENOENT);
}
END_TEST

static void see_other_folder(int ready_fd, int go_fd)
{
        struct stat status;
        char byte = 'x';
        int fd;

        if (unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
            mount("none", folder, "tmpfs", 0, NULL) == 0) {
                fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
                if (write(fd, "hidden", 6) == 6 && fstat(fd, &status) == 0)
                        (void)!write(ready_fd, &status.st_ino, sizeof(status.st_ino));
        }
        (void)close(ready_fd);
        (void)!read(go_fd, &byte, 1);
        _exit(0);
}

/* The same path is another file for a process in other folders. */
START_TEST(test_other_mount_namespace)
{
        struct perf_mmap m = mapped_elsewhere(0);
        int ready[2], go[2];
        ino_t inode;
        pid_t pid;

        ck_assert_int_eq(pipe(ready), 0);
        ck_assert_int_eq(pipe(go), 0);
        pid = fork();
        if (pid == 0) {
                (void)close(go[1]);
                see_other_folder(ready[1], go[0]);
        }
        io_close(&ready[1]);
        if (read(ready[0], &inode, sizeof(inode)) == sizeof(inode)) {
                m.inode = inode;
                expect_text(module_file_open((uint32_t)pid, &m, NULL), "hidden");
        } else {
                printf("skipped: not permitted to make a mount namespace\n");
        }
        io_close(&go[1]);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        io_close(&ready[0]);
        io_close(&go[0]);
}
END_TEST

static int become_nobody(void)
{
        return setuid(65534);
}

static int enter_folder(void)
{
        return chroot(folder);
}

/* A child that has done this, and lives until the pipe is closed. */
static pid_t start_after(int (*done)(void), int *ret_go_fd)
{
        int go[2], ready[2];
        char byte;
        pid_t pid;

        ck_assert_int_eq(pipe(go), 0);
        ck_assert_int_eq(pipe(ready), 0);
        pid = fork();
        if (pid == 0) {
                (void)close(go[1]);
                (void)!done();
                (void)close(ready[1]);
                (void)close(ready[0]);
                (void)!read(go[0], &byte, 1);
                _exit(0);
        }
        io_close(&go[0]);
        io_close(&ready[1]);
        (void)!read(ready[0], &byte, 1); /* the end: it is done */
        io_close(&ready[0]);
        *ret_go_fd = go[1];
        return pid;
}

/* A file at the path of another user's mapping is only read if that user may read it. */
START_TEST(test_file_of_others)
{
        struct perf_mmap m = mapped_elsewhere(20);
        struct stat status;
        int go_fd;
        pid_t pid;

        if (geteuid() != 0) {
                printf("skipped: not root\n");
                return;
        }
        pid = start_after(become_nobody, &go_fd);
        expect_text(module_file_open((uint32_t)pid, &m, NULL), "first");
        ck_assert_int_eq(chmod(path, 0700), 0);
        ck_assert_int_eq(module_file_open((uint32_t)pid, &m, NULL), -EACCES);
        ck_assert_int_eq(module_file_open(ended_pid(), &m, NULL), -EACCES);
        expect_text(module_file_open(own_pid(), &m, NULL), "first");
        ck_assert_int_eq(stat(path, &status), 0);
        m.build_id_bytes = 0;
        m.inode = status.st_ino;
        ck_assert_int_eq(module_file_open((uint32_t)pid, &m, NULL), -EACCES);
        m.device_major = major(status.st_dev);
        m.device_minor = minor(status.st_dev);
        expect_text(module_file_open((uint32_t)pid, &m, NULL), "first");
        m.device_major = 0;
        m.device_minor = 0;
        ck_assert_int_eq(chown(path, 65534, 65534), 0);
        expect_text(module_file_open((uint32_t)pid, &m, NULL), "first");
        io_close(&go_fd);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

/* A program that has gone into another root has its files from ours. */
START_TEST(test_other_root)
{
        struct perf_mmap m = mapped_elsewhere(20);
        struct stat status;
        int go_fd;
        pid_t pid;

        if (geteuid() != 0) {
                printf("skipped: not root\n");
                return;
        }
        pid = start_after(enter_folder, &go_fd);
        expect_text(module_file_open((uint32_t)pid, &m, NULL), "first");
        ck_assert_int_eq(stat(path, &status), 0);
        m.build_id_bytes = 0;
        m.inode = status.st_ino;
        ck_assert_int_eq(module_file_open((uint32_t)pid, &m, NULL), -ENOENT); /* of another device */
        m.device_major = major(status.st_dev);
        m.device_minor = minor(status.st_dev);
        expect_text(module_file_open((uint32_t)pid, &m, NULL), "first");
        io_close(&go_fd);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

START_TEST(test_vdso)
{
        struct perf_mmap m = { .executable = true,
                               .start_avma = UINT64_C(0x7fff00000000),
                               .length_bytes = 8192,
                               .path = "[vdso]",
                               .path_bytes = 6 };

        expect_text(module_file_open(own_pid(), &m, NULL), "\177ELF");
        m.start_avma = 0xf7fc0000;
        ck_assert_int_eq(module_file_open(own_pid(), &m, NULL), -ENOENT);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
