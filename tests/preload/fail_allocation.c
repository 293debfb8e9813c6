/* SPDX-License-Identifier: MIT */
/*
 * LD_PRELOAD library: lets one allocation of a process fail, or all from one on
 *
 * FAIL_AT=N        the N-th allocation of the process fails; 0 = none does
 * FAIL_ALL=1       and all that follow
 * FAIL_COUNT=FILE  at the end the number of allocations is written there
 *
 * Programs that the process starts are not concerned: LD_PRELOAD is taken away.  Its forked children go on
 * counting from where they began.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t n_bytes);
void *__libc_calloc(size_t n, size_t n_bytes);
void *__libc_realloc(void *block, size_t n_bytes);

static atomic_long n_allocations;
static long fail_at;
static bool fail_all;
static int count_fd =
        -1; /* open from the beginning: who may make no file at the end can write into this one */
static pid_t process;

static bool fails(void)
{
        long n = atomic_fetch_add(&n_allocations, 1) + 1;

        if (fail_at <= 0 || (n != fail_at && !(fail_all && n > fail_at)))
                return false;
        errno = ENOMEM;
        return true;
}

void *malloc(size_t n_bytes)
{
        return fails() ? NULL : __libc_malloc(n_bytes);
}

void *calloc(size_t n, size_t n_bytes)
{
        return fails() ? NULL : __libc_calloc(n, n_bytes);
}

void *realloc(void *block, size_t n_bytes)
{
        return fails() ? NULL : __libc_realloc(block, n_bytes);
}

__attribute__((constructor)) static void begin(void)
{
        const char *at = getenv("FAIL_AT");

        fail_at = at ? strtol(at, NULL, 10) : 0;
        fail_all = getenv("FAIL_ALL") != NULL;
        if (getenv("FAIL_COUNT"))
                count_fd = open(getenv("FAIL_COUNT"), O_WRONLY | O_CLOEXEC);
        process = getpid();
        (void)unsetenv("LD_PRELOAD");
        atomic_store(&n_allocations, 0);
}

__attribute__((destructor)) static void end(void)
{
        long n = atomic_load(&n_allocations);
        char text[24];
        int n_bytes = snprintf(text, sizeof(text), "%ld\n", n);

        if (count_fd >= 0 && getpid() == process)
                (void)!write(count_fd, text, (size_t)n_bytes);
}
