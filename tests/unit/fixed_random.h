/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/fixed_random.h - numbers that look random and are the same in every run
 *
 * Way of the data:  [fixed_random] -> unit test
 */
#ifndef TESTS_UNIT_FIXED_RANDOM_H
#define TESTS_UNIT_FIXED_RANDOM_H

#include <stdint.h>

/* xorshift64*; @state is any number but 0. */
static inline uint64_t fixed_random_next(uint64_t *state)
{
        *state ^= *state >> 12;
        *state ^= *state << 25;
        *state ^= *state >> 27;
        return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* A number whose magnitude is itself random: 1 bit as often as 64. */
static inline uint64_t fixed_random_magnitude(uint64_t *state)
{
        uint64_t shift = fixed_random_next(state) >> 58;

        return fixed_random_next(state) >> shift;
}

#endif /* TESTS_UNIT_FIXED_RANDOM_H */
