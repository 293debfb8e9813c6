/* SPDX-License-Identifier: MIT */
/*
 * w_ranks FILE RANKS RANK STEPS LATE
 *
 * One of RANKS processes that share FILE, in which they wait for each other, as ranks of MPI do.
 *
 * Truth: STEPS zones "step", in each a zone "compute" and then a zone "barrier", which ends when all ranks
 * have come to it.  "compute" takes 5 ms, in rank LATE 60 ms; LATE may be no rank (-1).  At its end, each
 * process prints how often it came last.
 */
#include <hyprof/hyprof.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS 1000000L

static void rest(long ns)
{
        const struct timespec t = { .tv_nsec = ns };

        (void)nanosleep(&t, NULL);
}

/* Returns whether this process came last. */
static bool wait_for_all(_Atomic uint64_t *n_come, uint64_t n)
{
        HYPROF_ZONE("barrier");
        bool is_last = atomic_fetch_add(n_come, 1) + 1 == n;

        while (atomic_load(n_come) < n)
                rest(NS_PER_MS / 10);
        return is_last;
}

static void compute(bool is_late)
{
        HYPROF_ZONE("compute");
        rest(is_late ? 60 * NS_PER_MS : 5 * NS_PER_MS);
}

int main(int argc, char **argv)
{
        _Atomic uint64_t *n_come;
        uint64_t n_ranks, n_steps, n_last = 0;
        int fd;

        if (argc < 6)
                return EXIT_FAILURE;
        n_ranks = strtoull(argv[2], NULL, 10);
        n_steps = strtoull(argv[4], NULL, 10);
        fd = open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0 || ftruncate(fd, sizeof(*n_come)) < 0)
                return EXIT_FAILURE;
        n_come = mmap(NULL, sizeof(*n_come), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (n_come == MAP_FAILED)
                return EXIT_FAILURE;
        (void)atomic_fetch_add(n_come, 1); /* all begin together */
        while (atomic_load(n_come) < n_ranks)
                rest(NS_PER_MS / 10);
        for (uint64_t i = 1; i <= n_steps; i++) {
                HYPROF_ZONE("step");
                compute(strtol(argv[5], NULL, 10) == strtol(argv[3], NULL, 10));
                n_last += wait_for_all(n_come, (i + 1) * n_ranks);
        }
        (void)printf("%" PRIu64 "\n", n_last);
        return EXIT_SUCCESS;
}
