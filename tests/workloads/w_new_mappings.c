/* SPDX-License-Identifier: MIT */
/*
 * w_new_mappings [ROUNDS=2000]
 *
 * Truth: load() and work() run by turns, called by hold(), whose frame of 64 KiB is larger than what a sample
 * copies of the stack.  Several times a millisecond new code is mapped and the old unmapped, as where a
 * program loads one plugin after the other.  Nothing runs in that code, and hold() goes on, so each call
 * stack can be known.
 */
#include "tests/workloads/burn.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef __clang__
#pragma GCC diagnostic ignored "-Wstack-usage="
#endif

#define FRAME_BYTES 65536
#define MAP_BYTES   4096
#define N_LOOPS     200000

BURN_FUNCTION(load);
BURN_FUNCTION(work);

__attribute__((noinline)) static void hold(int fd, unsigned n)
{
        char frame[FRAME_BYTES];

        frame[0] = (char)n;
        __asm__ volatile("" : : "r"(frame) : "memory");
        for (unsigned i = 0; i < n; i++) {
                void *code = mmap(NULL, MAP_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

                if (code == MAP_FAILED)
                        abort();
                load(N_LOOPS);
                work(N_LOOPS);
                (void)munmap(code, MAP_BYTES);
        }
        __asm__ volatile("" : : "r"(frame) : "memory");
}

int main(int argc, char **argv)
{
        unsigned n = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2000;
        int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

        if (fd < 0)
                return 1;
        hold(fd, n);
        return 0;
}
