/* SPDX-License-Identifier: MIT */
/*
 * w_syscalls [ROUNDS=200000] [bench]
 *
 * Truth: calls of the kernel that nothing else makes.  The first thread, in ROUNDS rounds:
 *   pwritev      ROUNDS times 16 bytes, by turns from even_file() and odd_file(), in the zone "dump"
 *   unlinkat     5000 times, each fails, from remove_file(), in the zone "clean"
 *   sched_yield  10 times, from give_way(), in no zone
 * The thread "reader", which ends before them:
 *   readv        20000 times 8 bytes, from read_index()
 * A child:
 *   pwritev      1000 times 16 bytes, from child_file()
 *
 * With `bench`, only ROUNDS times getppid and a write of 16 bytes, and the time for them is printed, in us.
 */
#include <hyprof/hyprof.h>

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define N_UNLINKS  5000
#define N_YIELDS   10
#define N_READS    20000
#define N_OF_CHILD 1000

static char text[16] = "0123456789abcde";

/* Not the last call of its function, so that the function stays on the stack. */
#define WRITER(name, at)                                           \
        static __attribute__((noinline)) int name(int fd)          \
        {                                                          \
                const struct iovec piece = { text, sizeof(text) }; \
                ssize_t n = pwritev(fd, &piece, 1, at);            \
                                                                   \
                return n == (ssize_t)sizeof(text) ? 0 : 1;         \
        }

/* At different places, or the compiler makes one function of them. */
WRITER(even_file, 0)
WRITER(odd_file, 16)
WRITER(child_file, 32)

static __attribute__((noinline)) int remove_file(void)
{
        int r = unlink("/nothing/is/here");

        return r < 0 ? 0 : 1;
}

static __attribute__((noinline)) int give_way(void)
{
        int r = sched_yield();

        return r < 0 ? 1 : 0;
}

static __attribute__((noinline)) int read_index(int fd)
{
        char bytes[8];
        struct iovec piece = { bytes, sizeof(bytes) };
        ssize_t n = readv(fd, &piece, 1);

        return n == (ssize_t)sizeof(bytes) ? 0 : 1;
}

static void *reader(void *arg)
{
        int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
        int *failed = arg;

        (void)prctl(PR_SET_NAME, "reader");
        for (int i = 0; i < N_READS; i++)
                *failed |= read_index(fd);
        (void)close(fd);
        return NULL;
}

static int64_t now_us(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_MONOTONIC, &t);
        return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int run_bench(long rounds, int fd)
{
        int64_t begin_us = now_us();

        for (long i = 0; i < rounds; i++)
                if (syscall(SYS_getppid) < 0 || write(fd, text, sizeof(text)) < 0)
                        return 1;
        printf("%" PRId64 "\n", now_us() - begin_us);
        return 0;
}

static int run_child(int fd)
{
        int failed = 0, status = 1;
        pid_t pid = fork();

        if (pid == 0) {
                for (int i = 0; i < N_OF_CHILD; i++)
                        failed |= child_file(fd);
                _exit(failed);
        }
        return pid > 0 && waitpid(pid, &status, 0) == pid ? status : 1;
}

int main(int argc, char **argv)
{
        long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 200000;
        int fd = open("/dev/null", O_WRONLY | O_CLOEXEC), failed = 0;
        pthread_t thread;

        if (argc > 2 && strcmp(argv[2], "bench") == 0)
                return run_bench(rounds, fd);
        if (pthread_create(&thread, NULL, reader, &failed) != 0)
                return 1;
        (void)pthread_join(thread, NULL);
        {
                HYPROF_ZONE("dump");
                for (long i = 0; i < rounds; i++)
                        failed |= i % 2 == 0 ? even_file(fd) : odd_file(fd);
        }
        {
                HYPROF_ZONE("clean");
                for (int i = 0; i < N_UNLINKS; i++)
                        failed |= remove_file();
        }
        for (int i = 0; i < N_YIELDS; i++)
                failed |= give_way();
        failed |= run_child(fd);
        return failed;
}
