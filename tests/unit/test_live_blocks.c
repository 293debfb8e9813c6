/* SPDX-License-Identifier: MIT */
/* A block is found as long as it lives, with its size, and blocks of other pools and processes are others. */
#include "export/firefox/firefox_profile.h"
#include "tests/unit/unit_test.h"

#include <stdint.h>

#define N_BLOCKS 5000

static struct live_block block_of(uint64_t i)
{
        return (struct live_block){ .address = i / 4 * 16,
                                    .size_bytes = i + 1,
                                    .process = 1 + (uint32_t)(i & 1),
                                    .pool = (uint32_t)(i >> 1 & 1) };
}

START_TEST(blocks_live_until_they_are_removed)
{
        struct live_blocks b = { .n_slots = 0 };
        struct live_block block;
        uint64_t size;

        for (uint64_t i = 0; i < N_BLOCKS; i++) {
                block = block_of(i);
                ck_assert_int_eq(live_blocks_add(&b, &block), 0);
        }
        for (uint64_t i = 0; i < N_BLOCKS; i += 3) { /* holes are closed */
                block = block_of(i);
                ck_assert(live_blocks_remove(&b, &block, &size));
                ck_assert_uint_eq(size, i + 1);
                ck_assert(!live_blocks_remove(&b, &block, &size));
        }
        for (uint64_t i = 0; i < N_BLOCKS; i++) {
                block = block_of(i);
                ck_assert_int_eq(live_blocks_remove(&b, &block, &size), i % 3 != 0);
                ck_assert_uint_eq(size, i % 3 != 0 ? i + 1 : size);
        }
        ck_assert_uint_eq(b.n_used, 0);
        live_blocks_deinit(&b);
}
END_TEST

START_TEST(an_address_that_is_used_again_has_the_new_size)
{
        struct live_blocks b = { .n_slots = 0 };
        struct live_block block = block_of(8);
        uint64_t size = 0;

        ck_assert_int_eq(live_blocks_add(&b, &block), 0);
        block.size_bytes = 77;
        ck_assert_int_eq(live_blocks_add(&b, &block), 0);
        ck_assert(live_blocks_remove(&b, &block, &size));
        ck_assert_uint_eq(size, 77);
        ck_assert(!live_blocks_remove(&b, &block, &size));
        live_blocks_deinit(&b);
}
END_TEST

/* longest_zones: of 1 .. 1000, each three times, the longest 100. */
START_TEST(the_longest_are_kept)
{
        struct longest_zones z = { .n_max = 100 };

        for (uint64_t i = 0; i < 3000; i++)
                ck_assert_int_ge(longest_zones_offer(&z, 1 + i * 7 % 1000), 0);
        ck_assert_uint_eq(longest_zones_limit_ns(&z), 967);
        ck_assert_uint_eq(longest_zones_at_limit(&z), 1); /* 33 lengths are above it */
        ck_assert_int_eq(longest_zones_offer(&z, 966), 0);
        longest_zones_deinit(&z);
}
END_TEST

START_TEST(all_are_kept_if_they_are_few)
{
        struct longest_zones z = { .n_max = 10 };

        for (uint64_t i = 0; i < 10; i++)
                ck_assert_int_eq(longest_zones_offer(&z, i), 1);
        ck_assert_uint_eq(longest_zones_limit_ns(&z), 0);
        ck_assert_uint_eq(longest_zones_at_limit(&z), UINT64_MAX);
        longest_zones_deinit(&z);
}
END_TEST
