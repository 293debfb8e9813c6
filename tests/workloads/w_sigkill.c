/* SPDX-License-Identifier: MIT */
/*
 * w_sigkill FILE DELAY_US
 *
 * Truth: zones "step" one after the other, about 2 us each, until a child
 * process kills the program with SIGKILL, DELAY_US after the first zone.  FILE
 * outlives both.  Words of 8 bytes: nanoseconds of CLOCK_MONOTONIC_RAW right
 * after the kill; how many zones had ended; when each of them had.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define ZONES_MAX (1 << 20)
#define STEP_NS   2000

struct progress {
        _Atomic int64_t killed_ns;
        _Atomic uint64_t n_ended;
        int64_t ended_ns[ZONES_MAX];
};

static struct progress *map_progress(const char *path)
{
        int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        void *p = MAP_FAILED;

        if (fd >= 0 && ftruncate(fd, (off_t)sizeof(struct progress)) == 0)
                p = mmap(NULL, sizeof(struct progress), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (fd >= 0)
                (void)close(fd);
        return p == MAP_FAILED ? NULL : p;
}

static void sleep_us(long us)
{
        struct timespec left = { us / 1000000, us % 1000000 * 1000 };

        while (nanosleep(&left, &left) != 0 && errno == EINTR)
                ;
}

static int kill_later(struct progress *p, pid_t victim, long delay_us)
{
        while (atomic_load(&p->n_ended) == 0)
                sleep_us(100);
        sleep_us(delay_us);
        if (kill(victim, SIGKILL) != 0)
                return EXIT_FAILURE;
        atomic_store(&p->killed_ns, burn_clock_ns(CLOCK_MONOTONIC_RAW));
        return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
        struct progress *p = argc == 3 ? map_progress(argv[1]) : NULL;
        pid_t self = getpid();
        pid_t killer;

        if (!p) {
                (void)fprintf(stderr, "usage: w_sigkill FILE DELAY_US\n");
                return EXIT_FAILURE;
        }
        killer = fork();
        if (killer < 0)
                return EXIT_FAILURE;
        if (killer == 0)
                return kill_later(p, self, strtol(argv[2], NULL, 10));
        for (uint64_t n = 0; n < ZONES_MAX; n++) {
                int64_t begin_ns = burn_clock_ns(CLOCK_MONOTONIC_RAW);

                {
                        HYPROF_ZONE("step");
                        while (burn_clock_ns(CLOCK_MONOTONIC_RAW) - begin_ns < STEP_NS)
                                ;
                }
                p->ended_ns[n] = burn_clock_ns(CLOCK_MONOTONIC_RAW);
                atomic_store_explicit(&p->n_ended, n + 1, memory_order_release);
        }
        for (;;)
                (void)pause();
}
