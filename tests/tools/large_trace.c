/* SPDX-License-Identifier: MIT */
/* large_trace OUT ZONES [ZONES_PER_SAMPLE=100 [THREADS=12]] - writes the trace of zones of the benchmarks */
#include "tests/bench/zone_trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define N_THREADS 12

int main(int argc, char **argv)
{
        uint64_t zones_per_sample = argc > 3 ? strtoull(argv[3], NULL, 10) : ZONE_TRACE_ZONES_PER_SAMPLE;
        uint64_t n_threads = argc > 4 ? strtoull(argv[4], NULL, 10) : N_THREADS;
        int fd;

        if (argc < 3) {
                (void)fprintf(stderr, "usage: large_trace OUT ZONES [ZONES_PER_SAMPLE [THREADS]]\n");
                return 2;
        }
        fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0) {
                perror(argv[1]);
                return EXIT_FAILURE;
        }
        zone_trace_write(fd, strtoull(argv[2], NULL, 10), (uint32_t)n_threads, (uint32_t)zones_per_sample);
        return close(fd) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
