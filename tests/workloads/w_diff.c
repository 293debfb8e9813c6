/* SPDX-License-Identifier: MIT */
/*
 * w_diff [UNITS=440] [SLOWER_PERCENT=0]
 *
 * Truth: the same work in every run, UNITS times the zone "unit", in which "input" (read_input, checksum),
 * "work" (transform, order) and "output" (encode, store) follow each other: about a millisecond in each of
 * five functions and four in transform().  With SLOWER_PERCENT transform() does that much more in each unit,
 * and nothing else changes.  No two units are equally long, but the n-th is in every run: equal ones would
 * fall into step with the samples.
 *
 * Each function is another chain in which every step needs the one before, at least four cycles
 * each: what else runs on the processor's core slows such chains little, so that two runs on a busy
 * machine are comparable.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <stddef.h>

#define N_PLACES   1024
#define MEAN_STEPS 600000

/* The compiler neither knows the value nor leaves the step out. */
#define KEEP(x) __asm__ volatile("" : "+r"(x))

static uint16_t places[N_PLACES]; /* one cycle through all of them */
static volatile uint16_t stored[N_PLACES];

static __attribute__((noinline)) uint64_t read_input(uint64_t n_steps, uint64_t x)
{
        for (uint64_t i = 0; i < n_steps; i++) {
                x = (x << 5 | x >> 59) * UINT64_C(0xd6e8feb86659fd93) + i;
                KEEP(x);
        }
        return x;
}

static __attribute__((noinline)) uint64_t checksum(uint64_t n_steps, uint64_t x)
{
        for (uint64_t i = 0; i < n_steps; i++)
                x = x * UINT64_C(6364136223846793005) + i;
        return x;
}

static __attribute__((noinline)) uint64_t transform(uint64_t n_steps, uint64_t x)
{
        for (uint64_t i = 0; i < n_steps; i++) {
                x ^= x >> 7;
                x *= UINT64_C(0x9e3779b97f4a7c15);
                KEEP(x);
        }
        return x;
}

static __attribute__((noinline)) uint64_t order(uint64_t n_steps, uint64_t x)
{
        for (uint64_t i = 0; i < n_steps; i++)
                x = places[x % N_PLACES];
        return x;
}

static __attribute__((noinline)) uint64_t encode(uint64_t n_steps, uint64_t x)
{
        for (uint64_t i = 0; i < n_steps; i++) {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                KEEP(x);
        }
        return x;
}

/*
 * Nothing waits for what is stored.  A chain through memory would not do: how fast that is differs by several
 * percent from run to run, with where the stack lies.
 */
static __attribute__((noinline)) uint64_t store(uint64_t n_steps, uint64_t x)
{
        for (uint64_t i = 0; i < n_steps; i++) {
                x = ((x ^ i) << 7 | (x ^ i) >> 57) * UINT64_C(0xff51afd7ed558ccd);
                stored[i % N_PLACES] = (uint16_t)x;
                KEEP(x);
        }
        return x;
}

/* From half of the mean to one and a half of it. */
static uint64_t steps_of_unit(uint32_t *state)
{
        *state = *state * UINT32_C(1664525) + UINT32_C(1013904223);
        return MEAN_STEPS / 2 + (uint64_t)MEAN_STEPS * (*state >> 22) / 1024;
}

static uint64_t do_unit(uint64_t n, double slower, uint64_t x)
{
        HYPROF_ZONE("unit");
        {
                HYPROF_ZONE("input");
                x = read_input(3 * n / 5, x);
                x = checksum(n, x);
        }
        {
                HYPROF_ZONE("work");
                x = transform((uint64_t)(4 * (double)n * slower), x);
                x += order(3 * n / 5, x);
        }
        {
                HYPROF_ZONE("output");
                x = encode(2 * n / 3, x | 1);
                x = store(3 * n / 5, x);
        }
        return x;
}

int main(int argc, char **argv)
{
        uint64_t n_units = (uint64_t)burn_argument(argc, argv, 1, 440);
        double slower = 1 + burn_argument(argc, argv, 2, 0) / 100;
        uint32_t state = 1;
        uint64_t x = 1;

        for (uint32_t i = 0; i < N_PLACES; i++)
                places[i] = (uint16_t)((i * 517 + 1) % N_PLACES);
        for (uint64_t i = 0; i < n_units; i++)
                x = do_unit(steps_of_unit(&state), slower, x);
        return x == 1; /* so that none of it is left out */
}
