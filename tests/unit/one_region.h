/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/one_region.h - one made-up region and the recorder's side of it, for tests that look at one
 *
 * Way of the data:  tests -> [one_region] -> client_region
 *
 * A test fills `h`, begins, and writes into `p` what a program would; its plan ends with one_region_end().
 */
#ifndef TESTS_UNIT_ONE_REGION_H
#define TESTS_UNIT_ONE_REGION_H

#include "base/byte_buffer.h"
#include "instrument/client_region.h"
#include "tests/unit/fake_region.h"

#include <fcntl.h>
#include <stddef.h>

static struct client_abi_header h;   /* that the region is made with */
static struct fake_region p;         /* the program's side */
static struct client_region *region; /* the recorder's side */
static struct byte_buffer bytes;     /* that were read */

static inline void one_region_make(void)
{
        fake_region_make(&p, &h, F_SEAL_SHRINK);
}

static inline void one_region_begin(void)
{
        one_region_make();
        region = fake_region_open(&p);
}

static inline void one_region_close(void)
{
        client_region_close(region);
        region = NULL;
}

static inline void one_region_end(void)
{
        one_region_close();
        if (p.base)
                fake_region_destroy(&p);
        p.base = NULL;
        byte_buffer_deinit(&bytes);
}

#endif /* TESTS_UNIT_ONE_REGION_H */
