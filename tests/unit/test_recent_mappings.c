/* SPDX-License-Identifier: MIT */
/*
 * Memory that was made executable after a record, and before it was looked at, is known; other memory and
 * other times do not count.
 */
#include "sampler/images/code_images_parts.h"
#include "tests/unit/unit_test.h"

#include <string.h>

static struct recent_mappings recent;
static const struct recent_mapping code = {
        .start_avma = 0x2000, .end_avma = 0x3000, .time_ns = 100, .pid = 7
};

static void setup(void)
{
        memset(&recent, 0, sizeof(recent));
}

static void add(uint32_t pid, uint64_t start_avma, uint64_t end_avma, uint64_t time_ns)
{
        const struct recent_mapping mapping = {
                .start_avma = start_avma, .end_avma = end_avma, .time_ns = time_ns, .pid = pid
        };

        recent_mappings_add(&recent, &mapping);
}

START_TEST(what_came_in_between_is_newer)
{
        ck_assert(!recent_mappings_have_newer(&recent, &code, 200));
        add(7, 0x2fff, 0x4000, 101);
        ck_assert(recent_mappings_have_newer(&recent, &code, 200));
        ck_assert(recent_mappings_have_newer(&recent, &code, 101));
        ck_assert(!recent_mappings_have_newer(&recent, &code, 100));
}
END_TEST

START_TEST(the_record_itself_is_not_newer)
{
        add(7, 0x2000, 0x3000, 100);
        ck_assert(!recent_mappings_have_newer(&recent, &code, 200));
}
END_TEST

START_TEST(other_memory_does_not_count)
{
        add(7, 0x3000, 0x4000, 150);
        add(7, 0x1000, 0x2000, 150);
        add(8, 0x2000, 0x3000, 150);
        ck_assert(!recent_mappings_have_newer(&recent, &code, 200));
}
END_TEST

START_TEST(the_last_time_counts)
{
        ck_assert_uint_eq(recent_mappings_find_last_ns(&recent, &code, 200), 0);
        add(7, 0x2000, 0x3000, 90);
        add(7, 0x1000, 0x9000, 140);
        add(7, 0x2800, 0x2900, 130);
        add(8, 0x2000, 0x3000, 150);
        add(7, 0x4000, 0x5000, 160);
        ck_assert_uint_eq(recent_mappings_find_last_ns(&recent, &code, 200), 140);
        ck_assert_uint_eq(recent_mappings_find_last_ns(&recent, &code, 139), 130);
        ck_assert_uint_eq(recent_mappings_find_last_ns(&recent, &code, 89), 0);
}
END_TEST

/* A forgotten mapping may have been anywhere, but not later than it was. */
START_TEST(what_may_be_forgotten_is_newer)
{
        struct recent_mapping later = code;

        later.time_ns = 150;
        add(8, 0x2000, 0x3000, 150);
        for (size_t i = 1; i < RECENT_MAPPINGS_MAX; i++)
                add(8, 0x2000, 0x3000, 140);
        ck_assert(!recent_mappings_have_newer(&recent, &code, 200));
        add(8, 0x2000, 0x3000, 160);
        ck_assert(recent_mappings_have_newer(&recent, &code, 200));
        ck_assert(!recent_mappings_have_newer(&recent, &later, 200));
        add(8, 0x2000, 0x3000, 170);
        ck_assert(!recent_mappings_have_newer(&recent, &later, 200));
}
END_TEST

UNIT_TEST_PLAN(.setup = setup);
