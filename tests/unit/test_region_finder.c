/* SPDX-License-Identifier: MIT */
/*
 * instrument/region_finder.c: finds a process's own region, by descriptor or by mapping,
 * and opens nothing else
 */
#include "base/error.h"
#include "instrument/client_abi.h"
#include "instrument/region_finder.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define REGION_BYTES 65536

START_TEST(test_names)
{
        static const char good[] = "/memfd:hyprof-client (deleted)";

        ck_assert(region_finder_is_region_name(good, sizeof(good) - 1));
        ck_assert(!region_finder_is_region_name(good, sizeof(good) - 2));
        ck_assert(!region_finder_is_region_name(good, sizeof(good)));
        ck_assert(!region_finder_is_region_name("/memfd:hyprof-clienu (deleted)", sizeof(good) - 1));
        ck_assert(!region_finder_is_region_name("", 0));
}
END_TEST

/* A memfd with a region's name, whose header says that it belongs to @pid. */
static int make_region(pid_t pid)
{
        struct client_abi_header h = { .magic = CLIENT_ABI_MAGIC, .pid = (uint32_t)pid };
        int fd = memfd_create(CLIENT_ABI_MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);

        if (ftruncate(fd, REGION_BYTES) < 0 || pwrite(fd, &h, sizeof(h), 0) != sizeof(h))
                return -1;
        return fd;
}

enum what {
        NOTHING,
        OPEN,           /* a descriptor */
        MAPPED,         /* a mapping, the descriptor closed */
        SOMEBODY_ELSES, /* a descriptor of another process's region */
        FIFO,           /* something of another kind with a similar name */
        N_WHATS,
};

/* Starts a process that has @what and waits for its end; returns once it has. */
static pid_t start(enum what what, int *ret_end_fd)
{
        int ready[2], end[2];
        char byte = 0;
        pid_t child;

        ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
        ck_assert_int_eq(pipe2(end, O_CLOEXEC), 0);
        child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
                int fd = make_region(what == SOMEBODY_ELSES ? getppid() : getpid());

                if (what == MAPPED && mmap(NULL, REGION_BYTES, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
                        _exit(1);
                if (what == NOTHING || what == MAPPED || what == FIFO)
                        (void)close(fd);
                if (what == FIFO && (mkfifo("hyprof-client (deleted)", 0600) < 0 ||
                                     open("hyprof-client (deleted)", O_RDWR) < 0))
                        _exit(1);
                (void)close(end[1]);
                if (write(ready[1], &byte, 1) != 1)
                        _exit(1);
                _exit((int)read(end[0], &byte, 1));
        }
        (void)close(end[0]);
        (void)close(ready[1]);
        ck_assert_int_eq(read(ready[0], &byte, 1), 1);
        (void)close(ready[0]);
        *ret_end_fd = end[1];
        return child;
}

/* loop test: one of each */
START_LOOP_TEST(test_finds, 0, N_WHATS)
{
        enum what what = (enum what)_i;
        char folder[] = "/tmp/test_region_finder.XXXXXX";
        struct error err = ERROR_NONE;
        struct client_abi_header h;
        int end_fd, r;
        int fd = -1;
        pid_t child;

        ck_assert_ptr_nonnull(mkdtemp(folder));
        ck_assert_int_eq(chdir(folder), 0);
        child = start(what, &end_fd);
        r = region_finder_open((uint32_t)child, &fd, &err);
        if (what == OPEN || (what == MAPPED && r != -EACCES && r != -ENOENT)) {
                ck_assert_msg(r == 0, "%s", err.text);
                ck_assert_int_eq(pread(fd, &h, sizeof(h), 0), sizeof(h));
                ck_assert_uint_eq(h.pid, (uint32_t)child);
                ck_assert_int_eq(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDWR);
                ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
                (void)close(fd);
        } else {
                ck_assert(r == -ENOENT || r == -EACCES);
                ck_assert_int_eq(err.code, r);
                ck_assert_int_eq(fd, -1);
        }
        /* Only root may look at mappings; then they must be found. */
        if (what == MAPPED && geteuid() == 0)
                ck_assert_int_eq(r, 0);
        (void)close(end_fd);
        ck_assert_int_eq(waitpid(child, NULL, 0), child);
        (void)unlink("hyprof-client (deleted)");
        ck_assert_int_eq(chdir("/"), 0);
        (void)rmdir(folder);
}
END_TEST

START_TEST(test_process_is_gone)
{
        int fd = -1;
        pid_t child = fork();

        if (child == 0)
                _exit(0);
        ck_assert_int_eq(waitpid(child, NULL, 0), child);
        ck_assert_int_eq(region_finder_open((uint32_t)child, &fd, NULL), -ESRCH);
        ck_assert_int_eq(fd, -1);
}
END_TEST
