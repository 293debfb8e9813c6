/* SPDX-License-Identifier: MIT */
/*
 * w_diff_system [UNITS=480] [SLOWER_PERCENT=0]
 *
 * Truth: the same work in every run, UNITS times the zone "task": bytes go through a pipe and a file
 * in memory ("copy"), memory is mapped, touched and unmapped ("map"), and parse() takes a bit less
 * than half of the time ("parse").  With SLOWER_PERCENT parse() does that much more in each task,
 * and nothing else changes.
 *
 * Most of the rest is in functions of the kernel, whose times depend on what else the machine does.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define N_BYTES    16384
#define MAP_BYTES  ((size_t)1 << 20)
#define MEAN_STEPS 400

static char text[N_BYTES], copy[N_BYTES];

static int check(long result)
{
        if (result < 0)
                abort();
        return (int)result;
}

static __attribute__((noinline)) uint64_t parse(uint64_t n_steps, uint64_t x)
{
        for (uint64_t i = 0; i < n_steps; i++) {
                unsigned char c = (unsigned char)text[i % N_BYTES];

                x = (x + c) * UINT64_C(0x9e3779b97f4a7c15);
                x ^= x >> 31;
        }
        return x;
}

static __attribute__((noinline)) void make_text(uint64_t seed)
{
        for (size_t i = 0; i < N_BYTES; i++) {
                seed = seed * UINT64_C(6364136223846793005) + 1;
                text[i] = (char)(seed >> 56);
        }
}

static __attribute__((noinline)) uint64_t count_lines(void)
{
        const char *at = text, *end = text + N_BYTES;
        uint64_t n = 0;

        while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
                at++;
                n++;
        }
        return n;
}

static __attribute__((noinline)) void copy_text(const int *ends, int file)
{
        check(write(ends[1], text, N_BYTES));
        check(read(ends[0], copy, N_BYTES));
        check(pwrite(file, copy, N_BYTES, 0));
        check(pread(file, copy, N_BYTES, 0));
}

static __attribute__((noinline)) void map_memory(void)
{
        char *memory = mmap(NULL, MAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (memory == MAP_FAILED)
                abort();
        for (size_t i = 0; i < MAP_BYTES; i += 4096)
                memory[i] = 1;
        check(munmap(memory, MAP_BYTES));
}

static uint64_t do_task(uint64_t n, double slower, const int *ends, int file, uint64_t x)
{
        HYPROF_ZONE("task");
        make_text(n);
        x += count_lines();
        {
                HYPROF_ZONE("copy");
                for (uint64_t i = 0; i < n / 8; i++)
                        copy_text(ends, file);
        }
        {
                HYPROF_ZONE("map");
                for (uint64_t i = 0; i < n / 64; i++)
                        map_memory();
        }
        {
                HYPROF_ZONE("parse");
                x = parse((uint64_t)(4400 * (double)n * slower), x);
        }
        return x;
}

/* From half of the mean to one and a half of it. */
static uint64_t steps_of_task(uint32_t *state)
{
        *state = *state * UINT32_C(1664525) + UINT32_C(1013904223);
        return MEAN_STEPS / 2 + (uint64_t)MEAN_STEPS * (*state >> 22) / 1024;
}

int main(int argc, char **argv)
{
        uint64_t n_units = (uint64_t)burn_argument(argc, argv, 1, 480);
        double slower = 1 + burn_argument(argc, argv, 2, 0) / 100;
        int ends[2], file = check(memfd_create("w_diff_system", MFD_CLOEXEC));
        uint32_t state = 1;
        uint64_t x = 1;

        check(pipe(ends));
        for (uint64_t i = 0; i < n_units; i++)
                x = do_task(steps_of_task(&state), slower, ends, file, x);
        return x == 1; /* so that none of it is left out */
}
