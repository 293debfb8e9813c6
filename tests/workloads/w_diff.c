/* SPDX-License-Identifier: MIT */
/*
 * w_diff [UNITS=300] [SLOWER_PERCENT=0]
 *
 * Truth: the same work in every run, UNITS times the zone "unit", in which "input" (read_input, checksum), "work"
 * (transform, order) and "output" (encode, store) follow each other: about a millisecond in each of the six
 * functions.  With SLOWER_PERCENT transform() does that much more in each unit, and nothing else changes.
 * No two units are equally long, but the n-th is in every run: equal ones would fall into step with the samples.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <stddef.h>

#define N_WORDS (1U << 15) /* 128 KiB: what a function reads lies in the second cache */
#define ROUNDS  600000

BURN_FUNCTION(read_input);
BURN_FUNCTION(transform);

static uint32_t words[N_WORDS];

/* A chain of multiplications. */
static __attribute__((noinline)) uint64_t checksum(uint64_t n_rounds, uint64_t sum)
{
        for (uint64_t i = 0; i < n_rounds; i++)
                sum = sum * UINT64_C(6364136223846793005) + i;
        return sum;
}

/* A chain of loads. */
static __attribute__((noinline)) uint64_t order(uint64_t n_rounds, uint64_t at)
{
        for (uint64_t i = 0; i < n_rounds; i++)
                at = words[at % N_WORDS];
        return at;
}

/* Branches that are hard to foresee. */
static __attribute__((noinline)) uint64_t encode(uint64_t n_rounds, uint64_t state)
{
        uint64_t n_bits = 0;

        for (uint64_t i = 0; i < n_rounds; i++) {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                if ((state & 3) == 0)
                        __asm__ volatile("" : "+r"(n_bits));
                n_bits += state & 1;
        }
        return n_bits;
}

/* Stores. */
static __attribute__((noinline)) void store(uint64_t n_rounds, uint32_t *buffer)
{
        for (uint64_t i = 0; i < n_rounds; i++) {
                buffer[i * 17 % N_WORDS] = (uint32_t)i;
                __asm__ volatile("" : : : "memory");
        }
}

static uint32_t stored[N_WORDS];

/* From half of the mean to one and a half of it. */
static uint64_t rounds_of_unit(uint32_t *state)
{
        *state = *state * UINT32_C(1664525) + UINT32_C(1013904223);
        return ROUNDS / 2 + (uint64_t)ROUNDS * (*state >> 22) / 1024;
}

static uint64_t do_unit(uint64_t n, double slower, uint64_t sum)
{
        HYPROF_ZONE("unit");
        {
                HYPROF_ZONE("input");
                read_input(4 * n);
                sum = checksum(n, sum);
        }
        {
                HYPROF_ZONE("work");
                transform((uint64_t)((double)(4 * n) * slower));
                sum += order(n / 2, sum);
        }
        {
                HYPROF_ZONE("output");
                sum += encode(n / 2, sum | 1);
                store(2 * n, stored);
        }
        return sum;
}

int main(int argc, char **argv)
{
        uint64_t n_units = (uint64_t)burn_argument(argc, argv, 1, 300);
        double slower = 1 + burn_argument(argc, argv, 2, 0) / 100;
        uint32_t state = 1;
        uint64_t sum = 0;

        for (uint32_t i = 0; i < N_WORDS; i++)
                words[i] = i * UINT32_C(2654435761) >> 3;
        for (uint64_t i = 0; i < n_units; i++)
                sum = do_unit(rounds_of_unit(&state), slower, sum);
        return sum == 1 && stored[0] == UINT32_MAX; /* so that none of it is left out */
}
