/* SPDX-License-Identifier: MIT */
/*
 * w_kill COUNTER_FILE
 *
 * Truth: zones "endless" around endless_busy(), about 20 us each, until a signal
 * ends the program.  COUNTER_FILE holds the number of ended zones (64 bits) and
 * outlives the program.  "ready" is printed after the first 1000 zones.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define CALL_NS     20000
#define READY_ZONES 1000

BURN_FUNCTION(endless_busy);

static _Atomic uint64_t *map_counter(const char *path)
{
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        void *p = MAP_FAILED;

        if (fd >= 0 && ftruncate(fd, (off_t)sizeof(uint64_t)) == 0)
                p = mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (fd >= 0)
                (void)close(fd);
        return p == MAP_FAILED ? NULL : p;
}

int main(int argc, char **argv)
{
        _Atomic uint64_t *n_ended = argc == 2 ? map_counter(argv[1]) : NULL;
        uint64_t n_rounds = burn_rounds_of(CALL_NS);

        if (!n_ended) {
                (void)fprintf(stderr, "usage: w_kill COUNTER_FILE\n");
                return EXIT_FAILURE;
        }
        for (uint64_t n = 1;; n++) {
                {
                        HYPROF_ZONE("endless");
                        endless_busy(n_rounds);
                }
                atomic_store_explicit(n_ended, n, memory_order_relaxed);
                if (n == READY_ZONES && (puts("ready") < 0 || fflush(stdout) != 0))
                        return EXIT_FAILURE;
        }
}
