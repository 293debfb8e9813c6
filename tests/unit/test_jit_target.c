/* SPDX-License-Identifier: MIT */
/* sampler/jit/jit_target.c: of another user's process only a map is opened that it could have read itself */
#include "base/error.h"
#include "base/io.h"
#include "sampler/jit/jit_target.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

/* A child of another user, which lives until the pipe is closed. */
static pid_t start_as_nobody(int *ret_go_fd)
{
        int go[2], ready[2];
        char byte;
        pid_t pid;

        ck_assert_int_eq(pipe(go), 0);
        ck_assert_int_eq(pipe(ready), 0);
        pid = fork();
        if (pid == 0) {
                (void)close(go[1]);
                (void)!setuid(NOBODY);
                (void)close(ready[1]);
                (void)close(ready[0]);
                (void)!read(go[0], &byte, 1);
                _exit(0);
        }
        io_close(&go[0]);
        io_close(&ready[1]);
        (void)!read(ready[0], &byte, 1); /* the end: it has become the user */
        io_close(&ready[0]);
        *ret_go_fd = go[1];
        return pid;
}

static void expect(const struct jit_target *t, int expected)
{
        int fd = jit_target_open_map(t, NULL);

        ck_assert_int_eq(fd < 0 ? fd : 0, expected);
        io_close(&fd);
}

/* A program with a mount namespace of its own puts any file that it can name into its /tmp. */
START_TEST(test_map_of_root)
{
        struct jit_target target;
        char path[64];
        int go_fd, fd;
        pid_t pid;

        if (geteuid() != 0) {
                printf("skipped: not root\n");
                return;
        }
        pid = start_as_nobody(&go_fd);
        (void)snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        ck_assert_int_ge(fd, 0);
        io_close(&fd);
        jit_target_open(&target, (uint32_t)pid, 0);
        expect(&target, -EACCES);
        ck_assert_int_eq(chmod(path, 0644), 0);
        expect(&target, 0);
        ck_assert_int_eq(chmod(path, 0600), 0);
        ck_assert_int_eq(chown(path, NOBODY, NOBODY), 0);
        expect(&target, 0);
        jit_target_close(&target);
        ck_assert_int_eq(unlink(path), 0);
        io_close(&go_fd);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST
